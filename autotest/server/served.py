"""The test server as a child of a Python test: a folder, its log, and the reference sets it serves."""

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
CERTIFICATE = os.path.join(HERE, "tls", "certificate.pem")
KEY = os.path.join(HERE, "tls", "key.pem")


class Folder:
    """A folder to serve, gone at the end."""

    def __init__(self):
        self.path = tempfile.mkdtemp()
        self.served = os.path.join(self.path, "served")
        os.mkdir(self.served)

    def close(self):
        shutil.rmtree(self.path)

    def file(self, name):
        return os.path.join(self.path, name)

    def write(self, name, content):
        """A file that is served."""
        path = os.path.join(self.served, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def read(self, name):
        with open(os.path.join(self.served, name), "rb") as file:
            return file.read()

    def write_array(self, bands, width, url="v.bin", name="refs.json", chunk_gap=0):
        """An array v of so many bands of one row, a chunk each, whose values count up; the chunks lie
        in v.bin, so many bytes apart."""
        size = 4 * width + chunk_gap
        self.write("v.bin", b"".join(
            struct.pack(f"<{width}i", *range(band * width, (band + 1) * width)) + bytes(chunk_gap)
            for band in range(bands)))
        refs = {".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps(
            {"zarr_format": 2, "shape": [bands, 1, width], "chunks": [1, 1, width], "dtype": "<i4",
             "fill_value": -1, "order": "C", "compressor": None, "filters": None})}
        for band in range(bands):
            refs[f"v/{band}.0.0"] = [url, band * size, 4 * width]
        self.write(name, json.dumps(refs))

    TERABYTE = 1024, 1024  # chunks across and down, bytes across and down of each

    def write_terabyte(self, name="refs.json"):
        """An array v of 2^40 bytes: a million chunks, each with a URL of its own, which are all the same
        few bytes."""
        n, size = self.TERABYTE
        self.write("v.bin", zlib.compress(bytes(i % 251 for i in range(size)) * size, 9))
        array = {"zarr_format": 2, "shape": [n * size] * 2, "chunks": [size] * 2, "dtype": "|u1",
                 "fill_value": None, "order": "C", "compressor": {"id": "zlib", "level": 9},
                 "filters": None}
        self.write(name, json.dumps({
            "version": 1, "refs": {".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps(array)},
            "gen": [{"key": "v/{{y}}.{{x}}", "url": "@{{y}}.{{x}}/v.bin",
                     "dimensions": {"y": {"stop": n}, "x": {"stop": n}}}]}))


class Server:
    """Serves a folder from construction to close()."""

    def __init__(self, folder, faults=None, tls=False, options=(), name=""):
        self._log = folder.file(f"log{name}")
        self.detail = folder.file(f"detail{name}")
        self._process = None
        command = [sys.executable, os.path.join(HERE, "range_server.py"), folder.served, self._log,
                   "--detail", self.detail, *options]
        if tls:
            command += ["--tls", CERTIFICATE, KEY]
        if faults:
            with open(folder.file(f"faults{name}"), "w", encoding="utf-8") as file:
                json.dump(faults, file)
            command += ["--faults", folder.file(f"faults{name}")]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.port = int(self._process.stdout.readline())
        self.base = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"

    def close(self):
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()

    def url(self, name):
        return f"{self.base}/{name}"

    def counts(self):
        """How many requests there were, and how many were made to fail."""
        counts = {"all": 0, "failed": 0}
        with open(self.detail, encoding="utf-8") as file:
            for line in file:
                counts["all"] += 1
                counts["failed"] += '"fault": true' in line
        return counts

    def requests(self, path=None):
        """What was asked for so far: see --detail of range_server.py."""
        with open(self.detail, encoding="utf-8") as file:
            entries = [json.loads(line) for line in file]
        return [entry for entry in entries if path is None or entry["path"].endswith(path)]
