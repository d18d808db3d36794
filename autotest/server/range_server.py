"""A loopback HTTP server for tests: serves a folder in byte ranges and logs every request.

usage: range_server.py FOLDER LOG [--latency-ms N] [--faults FILE]

Prints the port it listens on, in one line, and serves until its standard input ends. Each request
adds one line to LOG: method, path, range ("-" without one), status and bytes of the body sent, with
tabs between.

FILE is a JSON object: path -> fault, an object that may have
  "status"   answer with this status and no content
  "times"    only for the first so many requests of the path; without it, for all
"""

import argparse
import json
import os
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit


class RangeError(Exception):
    """The range begins behind the end of the file."""


def parse_range(header, size):
    """The bytes [begin, end) that a Range header asks for; None where it asks for all
    (RFC 9110, section 14.1.2; several ranges at once are answered with all)."""
    match = re.fullmatch(r"bytes=(\d*)-(\d*)", header or "")
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if first == "":
        return max(0, size - int(last)), size
    if int(first) >= size:
        raise RangeError
    return int(first), min(size, int(last) + 1) if last else size


class Faults:
    """What is to go wrong, by path."""

    def __init__(self, table):
        self._table = table
        self._lock = threading.Lock()

    def take(self, path):
        """The fault for the next request of `path`, or None."""
        with self._lock:
            fault = self._table.get(path)
            if fault is None or "times" not in fault:
                return fault
            if fault["times"] == 0:
                return None
            fault["times"] -= 1
            return fault


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.respond()

    def do_HEAD(self):
        self.respond()

    def respond(self):
        time.sleep(self.server.latency_s)
        path = unquote(urlsplit(self.path).path)
        fault = self.server.faults.take(path)
        if fault is not None and "status" in fault:
            return self.send(fault["status"])
        content = self.server.content(path)
        if content is None:
            return self.send(404)
        try:
            part = parse_range(self.headers.get("Range"), len(content))
        except RangeError:
            return self.send(416, {"Content-Range": f"bytes */{len(content)}"})
        if part is None:
            return self.send(200, {}, content)
        begin, end = part
        where = {"Content-Range": f"bytes {begin}-{end - 1}/{len(content)}"}
        return self.send(206, where, content[begin:end])

    def send(self, status, headers=None, body=b""):
        sent = b"" if self.command == "HEAD" else body
        # First of all: who has the answer may look at the log at once.
        self.server.log(self.command, self.path, self.headers.get("Range", "-"), status, len(sent))
        self.send_response(status)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *args):
        """Nothing on standard error."""


class RangeServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, folder, log_path, latency_s, faults):
        super().__init__(("127.0.0.1", 0), Handler)
        self.latency_s = latency_s
        self.faults = faults
        self._folder = os.path.realpath(folder)
        self._log_file = open(log_path, "w", encoding="utf-8")
        self._log_lock = threading.Lock()

    def content(self, path):
        """All bytes of a file in the folder, or None."""
        file_path = os.path.realpath(os.path.join(self._folder, path.lstrip("/")))
        if not file_path.startswith(self._folder + os.sep) or not os.path.isfile(file_path):
            return None
        with open(file_path, "rb") as file:
            return file.read()

    def log(self, *fields):
        with self._log_lock:
            print(*fields, sep="\t", file=self._log_file, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("log")
    parser.add_argument("--latency-ms", type=float, default=0)
    parser.add_argument("--faults", type=argparse.FileType(encoding="utf-8"))
    options = parser.parse_args()
    table = json.load(options.faults) if options.faults else {}
    server = RangeServer(options.folder, options.log, options.latency_ms / 1000, Faults(table))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
