"""An object store that this project did not write, versitygw, on folders of a test's own. It checks signatures
of version 4, in headers and in URLs, and takes uploads in parts.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request


def program():
    """Its path, or None: where REFS_VERSITYGW says, in PATH, or where get_versitygw.sh puts it."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    for path in (os.environ.get("REFS_VERSITYGW"), shutil.which("versitygw"), os.path.join(cache, "refs", "versitygw")):
        if path and os.access(path, os.X_OK):
            return path
    return None


PROGRAM = program()
WHY_NOT = None if PROGRAM else "needs the S3 server versitygw: autotest/server/get_versitygw.sh"


class ObjectStore:
    """One tenancy: a server with a key of its own, and buckets."""

    def __init__(self, key, secret, *buckets):
        self.key, self.secret = key, secret
        self.folder = tempfile.mkdtemp(prefix="refs-store-")
        self.root = os.path.join(self.folder, "buckets")
        for bucket in buckets:
            os.makedirs(os.path.join(self.root, bucket))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log_path = os.path.join(self.folder, "log")
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "--port", f"127.0.0.1:{self.port}", "posix", self.root], stdout=log, stderr=log,
                env={**os.environ, "ROOT_ACCESS_KEY": key, "ROOT_SECRET_KEY": secret})
        self.wait()

    def wait(self):
        for _ in range(200):
            try:
                urllib.request.urlopen(self.url, timeout=5)
            except urllib.error.HTTPError:
                return
            except OSError:
                time.sleep(0.05)
        self.close()
        raise RuntimeError("the object store does not start")

    def requests(self):
        """(status, method, path) of all requests so far. Of two that are logged at once, lines may begin with
        the beginning of another."""
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            rows = [line.rsplit(" | vgw | ", 1)[1].split(" | ") for line in log if " | vgw | " in line]
        return [(int(row[0]), row[3].strip(), row[4].strip()) for row in rows if len(row) > 4 and row[0].isdigit()]

    def files(self, bucket):
        found = []
        for folder, _, names in os.walk(os.path.join(self.root, bucket)):
            found += [os.path.relpath(os.path.join(folder, name), os.path.join(self.root, bucket)) for name in names]
        return sorted(name for name in found if not name.startswith("."))

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
