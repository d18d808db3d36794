"""A loopback HTTP server for tests: serves a folder in byte ranges, logs every request, and misbehaves
on demand.

usage: range_server.py FOLDER LOG [--latency-ms N] [--faults FILE] [--detail FILE]
                       [--tls CERTIFICATE KEY] [--client-certificate FILE] [--fail-percent N] [--seed N] [--bytes-per-second N]
                       [--max-under-way N] [--requests-per-second N] [--burst N] [--retry-after TEXT]
                       [--connect-status N]

Prints the port it listens on, in one line, and serves until its standard input ends. Each request
adds one line to LOG: method, path, range ("-" without one), status and bytes of the body sent, with
tabs between. --detail adds a JSON object a request to another file: also the headers, the number of
the connection, how many requests were under way, whether it was made to fail, and when it came.

A first folder that begins with "@" is a label: /@slow/a.nc is the file a.nc, with faults of its own.
A request for an absolute URL, as proxies get it, is served as its path.

--client-certificate is believed of who asks, and without one nobody is answered.

--fail-percent makes as many of all requests fail: with 503, by a reset before or in the middle of
the body, in turn.

--bytes-per-second is the rate of a line that the bodies of all connections share.

--max-under-way answers 503 at once where so many requests are under way; --requests-per-second answers
429 to those that come sooner, but for --burst of them; --retry-after is the header of both. --connect-status is what CONNECT is answered with, 501. --detail has
"refused" for such requests, and "fault".

The file of faults is a JSON object: path -> fault, or a list of faults of which the first that still
applies is taken. A fault is an object that may have

  "skip"           let so many requests of the path pass first
  "times"          only for so many requests; without it, for all that follow
  "require"        header -> regular expression: applies only to requests that do not have it
  "unless"         regular expression: applies only where neither the URL nor an Authorization has it
  "method"         applies only to requests of this method
  "signed_before_s"  applies only to URLs that were signed (X-Amz-Date) longer ago
  "status"         answer with this status and no content
  "body_bytes"     ... and so many bytes of a body
  "body"           ... and this body
  "headers"        header -> value of the answer, or null to leave it out; values may hold {begin},
                   {last}, {size}, {path} (without its label), {port} and {now+N}; of a file also
                   {modified}, {second_after} (that), {modified_s} (seconds since 1970) and {hash}
  "reset"          reset the connection instead of answering
  "reset_after"    ... after so many bytes of the body
  "close_after"    close it after so many bytes of the body, which was announced whole
  "claim"          announce so many bytes more than are sent, and close
  "more"           send so many bytes more than were asked for, and announce them
  "ignore_range"   answer with the whole object
  "chunked"        send it in chunks, without its length
  "partial_whole"  answer 206 where no range was asked for
  "at_most"        send so many bytes of a range at most, and say so
  "shift"          send bytes from so much further on, but say nothing of it
  "multipart"      answer with multipart/byteranges
  "gzip"           compress the body
  "stall_s"        wait so long before the answer
  "drip_s"         wait so long before every byte of the body
  "close"          close the connection after the answer, unannounced
  "http10"         answer as HTTP/1.0 does, with the end of the connection as that of the body
"""

import argparse
import calendar
import email.utils
import gzip
import itertools
import json
import os
import random
import re
import socket
import ssl
import struct
import sys
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

PIECE = 1 << 20
LINE_PIECE = 1 << 14  # of a body on a line that is shared
LINE_BUFFER = 1 << 16  # bytes that are on their way of a connection, at most


class RangeError(Exception):
    """The range begins behind the end of the file."""


class Broken(Exception):
    """The connection was ended on purpose."""


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


def age_of_signature(target):
    """Seconds since a URL of S3 was signed, 0 where that is not known; the date in it has no fractions."""
    signed = re.search(r"X-Amz-Date=(\w+)", target)
    return time.time() - calendar.timegm(time.strptime(signed[1], "%Y%m%dT%H%M%SZ")) if signed else 0


class Faults:
    """What is to go wrong, by path."""

    def __init__(self, table, fail_percent, seed):
        self._table = {path: entry if isinstance(entry, list) else [entry]
                       for path, entry in table.items()}
        self._fail_percent = fail_percent
        self._random = random.Random(seed)
        self._kinds = itertools.cycle([{"status": 503}, {"reset": True}, {"reset_after": 100}])
        self._lock = threading.Lock()

    def take(self, target, method, headers):
        """The fault for the next request of a path with its query: {} without one."""
        with self._lock:
            for fault in self._table.get(urlsplit(target).path, []):
                if fault.get("method", method) == method and self._applies(fault, target, headers):
                    return fault
            if self._random.uniform(0, 100) < self._fail_percent:
                return next(self._kinds)
        return {}

    @staticmethod
    def _applies(fault, target, headers):
        require = fault.get("require")
        if require is not None and all(re.search(pattern, headers.get(name, ""))
                                       for name, pattern in require.items()):
            return False
        if "unless" in fault and re.search(
                fault["unless"], f"{target}\n{headers.get('Authorization', '')}"):
            return False
        if "signed_before_s" in fault and age_of_signature(target) <= fault["signed_before_s"]:
            return False
        if fault.get("skip", 0) > 0:
            fault["skip"] -= 1
            return False
        if "times" in fault:
            if fault["times"] == 0:
                return False
            fault["times"] -= 1
        return True


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        self.connection_number = next(self.server.connections)

    def do_GET(self):
        with self.server.under_way as n:
            try:
                self.respond_within_limits(n)
            except (Broken, ConnectionError):
                self.close_connection = True

    do_HEAD = do_GET

    def do_CONNECT(self):
        self.send({}, self.server.connect_status, {"Connection": "close"})
        self.close_connection = True

    def respond_within_limits(self, n_under_way):
        with self.server.limits as refusal:
            if refusal is not None:
                self.server.detail(self, n_under_way, refusal)
                return self.send(refusal, refusal["status"], {})
            parts = urlsplit(self.path)
            path = unquote(parts.path)
            fault = self.server.faults.take(f"{path}?{parts.query}", self.command, self.headers)
            self.server.detail(self, n_under_way, fault)
            self.respond(path, fault)

    def respond(self, path, fault):
        time.sleep(self.server.latency_s)
        time.sleep(fault.get("stall_s", 0))
        if fault.get("reset"):
            self.log_answer(0, 0)
            self.reset()
        if "status" in fault:
            body = fault.get("body", "x" * fault.get("body_bytes", 0))
            return self.send(fault, fault["status"], {}, [body.encode()])
        content = self.server.content(path)
        if content is None:
            return self.send(fault, 404)
        with content:
            self.send_content(fault, content)

    def send_content(self, fault, content):
        size = os.fstat(content.fileno()).st_size
        asked = None if fault.get("ignore_range") else self.headers.get("Range")
        if asked is None and fault.get("partial_whole"):
            asked = "bytes=0-"
        try:
            part = parse_range(asked, size)
        except RangeError:
            return self.send(fault, 416, {"Content-Range": f"bytes */{size}"})
        begin, end = part or (0, size)
        end = min(end, begin + fault.get("at_most", size))
        headers = {"Last-Modified": email.utils.formatdate(os.fstat(content.fileno()).st_mtime,
                                                           usegmt=True)}
        if part is not None:
            headers["Content-Range"] = f"bytes {begin}-{end - 1}/{size}"
        shift = fault.get("shift", 0)
        pieces = self.pieces(content, begin + shift, end + shift + fault.get("more", 0))
        values = {"begin": begin, "last": end - 1, "size": size, **self.validators(fault, content)}
        self.send(fault, 200 if part is None else 206, headers, pieces, values)

    @staticmethod
    def validators(fault, content):
        """What headers may be made of, if there are any: that takes reading the file."""
        if "headers" not in fault:
            return {}
        content.seek(0)
        modified = os.fstat(content.fileno()).st_mtime
        return {"modified": email.utils.formatdate(modified, usegmt=True),
                "second_after": email.utils.formatdate(int(modified) + 1, usegmt=True),
                "modified_s": int(modified), "hash": f"{zlib.crc32(content.read()):08x}"}

    @staticmethod
    def pieces(content, begin, end):
        content.seek(begin)
        while begin < end:
            piece = content.read(min(PIECE, end - begin))
            piece = piece or bytes(min(PIECE, end - begin))
            yield piece
            begin += len(piece)

    def body_of(self, fault, pieces, headers):
        """The body, with what says how it is sent."""
        if fault.get("multipart"):
            part = b"".join(pieces)
            headers["Content-Type"] = "multipart/byteranges; boundary=edge"
            place = headers.pop("Content-Range", "bytes 0-0/1")
            pieces = [f"--edge\r\nContent-Range: {place}\r\n\r\n".encode(), part, b"\r\n--edge--\r\n"]
        if fault.get("gzip"):
            pieces = [gzip.compress(b"".join(pieces))]
            headers["Content-Encoding"] = "gzip"
        if fault.get("chunked"):
            headers["Transfer-Encoding"] = "chunked"
            return itertools.chain(
                (f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in pieces),
                [b"0\r\n\r\n"])
        return pieces

    def send(self, fault, status, headers=None, pieces=(), values=None):
        headers = {"Date": email.utils.formatdate(usegmt=True), "Accept-Ranges": "bytes",
                   **(headers or {})}
        size = int((values or {}).get("last", -1)) - int((values or {}).get("begin", 0)) + 1
        if values is None:
            size = sum(len(piece) for piece in pieces)
        size += fault.get("more", 0)
        if fault.get("gzip") or fault.get("multipart"):
            pieces = list(self.body_of(fault, pieces, headers))
            size = sum(len(piece) for piece in pieces)
        else:
            pieces = self.body_of(fault, pieces, headers)
        if "Transfer-Encoding" not in headers and not fault.get("http10"):
            headers["Content-Length"] = str(size + fault.get("claim", 0))
        for name, value in fault.get("headers", {}).items():
            headers[name] = None if value is None else self.fill_in(value, values or {})
        # First of all: who has the answer may look at the log at once.
        self.log_answer(status, 0 if self.command == "HEAD" else size)
        self.send_head(fault, status, headers)
        if self.command != "HEAD":
            self.send_body(fault, pieces)
        if fault.get("claim") or fault.get("close") or fault.get("http10"):
            self.wfile.flush()
            raise Broken

    def fill_in(self, text, values):
        known = {**values, "port": self.server.server_address[1],
                 "path": self.server.without_label(unquote(urlsplit(self.path).path))}
        text = re.sub(r"\{now\+(\d+)\}",
                      lambda match: email.utils.formatdate(time.time() + int(match[1]), usegmt=True),
                      text)
        return text.format(**{"begin": 0, "last": 0, "size": 0, **known})

    def send_head(self, fault, status, headers):
        if fault.get("http10"):
            self.protocol_version = "HTTP/1.0"
        self.send_response_only(status)
        for name, value in headers.items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()

    def send_body(self, fault, pieces):
        left = min(fault.get("reset_after", sys.maxsize), fault.get("close_after", sys.maxsize))
        for piece in pieces:
            for part in self.parts(fault, piece[:left]):
                self.wfile.write(part)
            left -= len(piece)
            if left <= 0:
                self.wfile.flush()
                if "reset_after" in fault:
                    self.reset()
                raise Broken

    def parts(self, fault, piece):
        line = self.server.line
        if line is not None:
            for begin in range(0, len(piece), LINE_PIECE):
                line.take(min(LINE_PIECE, len(piece) - begin))
                yield piece[begin:begin + LINE_PIECE]
            return
        if "drip_s" not in fault:
            yield piece
            return
        for byte in piece:
            time.sleep(fault["drip_s"])
            yield bytes([byte])

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        raise Broken

    def log_answer(self, status, size):
        self.server.log(self.command, self.path, self.headers.get("Range", "-"), status, size)

    def finish(self):
        try:
            super().finish()
        except OSError:
            pass

    def log_message(self, *args):
        """Nothing on standard error."""


class Line:
    """What all connections share: so many bytes pass in a second."""

    def __init__(self, bytes_per_second):
        self._rate = bytes_per_second
        self._free_at = 0
        self._lock = threading.Lock()

    def take(self, n):
        """Waits until it is the turn of n bytes, in the order of asking."""
        with self._lock:
            self._free_at = max(time.monotonic(), self._free_at) + n / self._rate
            wait_s = self._free_at - time.monotonic()
        time.sleep(max(0, wait_s))


class UnderWay:
    """How many requests are under way."""

    def __init__(self):
        self._n = 0
        self._lock = threading.Lock()

    def __enter__(self):
        with self._lock:
            self._n += 1
            return self._n

    def __exit__(self, *_):
        with self._lock:
            self._n -= 1


class Limits:
    """What a server puts up with: None for a request, or the fault that it is answered with."""

    def __init__(self, options):
        self._most, self._rate = options.max_under_way, options.requests_per_second
        self._burst = options.burst
        self._headers = {"Retry-After": options.retry_after} if options.retry_after else {}
        self._n = 0
        self._tokens, self._filled_at = self._burst, time.monotonic()
        self._lock = threading.Lock()

    def __enter__(self):
        with self._lock:
            status = self._judge()
            self._n += 1 if status is None else 0
        self._entered.value = status is None
        return None if status is None else {"status": status, "headers": self._headers,
                                            "refused": True}

    def __exit__(self, *_):
        if self._entered.value:
            with self._lock:
                self._n -= 1

    _entered = threading.local()

    def _judge(self):
        if self._most is not None and self._n >= self._most:
            return 503
        if self._rate is None:
            return None
        now = time.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._filled_at) * self._rate)
        self._filled_at = now
        if self._tokens < 1:
            return 429
        self._tokens -= 1
        return None


class RangeServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, options, faults):
        super().__init__(("127.0.0.1", 0), Handler)
        self.latency_s = options.latency_ms / 1000
        self.faults = faults
        self.connections = itertools.count()
        self.under_way = UnderWay()
        self.limits = Limits(options)
        self.connect_status = options.connect_status
        self.line = Line(options.bytes_per_second) if options.bytes_per_second else None
        self._folder = os.path.realpath(options.folder)
        self._log_file = open(options.log, "w", encoding="utf-8")
        self._detail_file = open(options.detail, "w", encoding="utf-8") if options.detail else None
        self._log_lock = threading.Lock()
        self._began = time.monotonic()
        self._tls = None
        if options.tls:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(*options.tls)
            if options.client_certificate:
                self._tls.verify_mode = ssl.CERT_REQUIRED
                self._tls.load_verify_locations(options.client_certificate)

    def get_request(self):
        connection, address = super().get_request()
        if self.line is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LINE_BUFFER)
        if self._tls is not None:
            connection = self._tls.wrap_socket(connection, server_side=True,
                                               do_handshake_on_connect=False)
        return connection, address

    def handle_error(self, request, client_address):
        """Connections end in many ways here."""

    @staticmethod
    def without_label(path):
        return re.sub(r"^/@[^/]*", "", path)

    def content(self, path):
        """A file in the folder, opened, or None."""
        file_path = os.path.realpath(
            os.path.join(self._folder, self.without_label(path).lstrip("/")))
        if not file_path.startswith(self._folder + os.sep) or not os.path.isfile(file_path):
            return None
        return open(file_path, "rb")

    def log(self, *fields):
        with self._log_lock:
            print(*fields, sep="\t", file=self._log_file, flush=True)

    def detail(self, handler, n_under_way, fault):
        if self._detail_file is None:
            return
        entry = {"method": handler.command, "path": handler.path,
                 "headers": {name.lower(): value for name, value in handler.headers.items()},
                 "connection": handler.connection_number, "under_way": n_under_way,
                 "fault": bool(fault), "refused": fault.get("refused", False),
                 "at": round(time.monotonic() - self._began, 4)}
        with self._log_lock:
            print(json.dumps(entry), file=self._detail_file, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("log")
    parser.add_argument("--latency-ms", type=float, default=0)
    parser.add_argument("--faults", type=argparse.FileType(encoding="utf-8"))
    parser.add_argument("--detail")
    parser.add_argument("--tls", nargs=2)
    parser.add_argument("--client-certificate")
    parser.add_argument("--fail-percent", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bytes-per-second", type=float)
    parser.add_argument("--max-under-way", type=int)
    parser.add_argument("--requests-per-second", type=float)
    parser.add_argument("--burst", type=int, default=1)
    parser.add_argument("--retry-after")
    parser.add_argument("--connect-status", type=int, default=501)
    options = parser.parse_args()
    table = json.load(options.faults) if options.faults else {}
    server = RangeServer(options, Faults(table, options.fail_percent, options.seed))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    try:
        sys.stdin.buffer.read()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
