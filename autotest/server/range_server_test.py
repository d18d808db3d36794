"""The test server does what it says: ranges, HEAD, faults, and a line of log for each request."""

import concurrent.futures
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "range_server.py")


class RangeServerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.log_path = os.path.join(folder.name, "log")
        served = os.path.join(folder.name, "served")
        faults = os.path.join(folder.name, "faults.json")
        os.mkdir(served)
        with open(os.path.join(served, "digits"), "wb") as file:
            file.write(b"0123456789")
        with open(os.path.join(served, "large"), "wb") as file:
            file.write(bytes(100000))
        os.utime(os.path.join(served, "digits"), (946684800, 946684800))
        with open(faults, "w", encoding="utf-8") as file:
            json.dump({"/digits": {"status": 503, "times": 1}, "/never": {"status": 403},
                       "/@more/digits": {"more": 2}, "/@whole/digits": {"ignore_range": True},
                       "/@chunked/digits": {"chunked": True}, "/@most/digits": {"at_most": 2},
                       "/@shift/digits": {"shift": 1}, "/@http10/digits": {"http10": True},
                       "/@reset/digits": {"reset": True}, "/@cut/digits": {"close_after": 4},
                       "/@dated/digits": {"headers": {"Date": "{modified}",
                                                      "ETag": '"{modified_s:x}-{hash}"'}},
                       "/@to/digits": {"status": 302, "headers": {"Location": "/@x{path}"}}}, file)
        self.start(served, "--faults", faults)
        self.served = served

    def start(self, served, *options):
        self.server = subprocess.Popen([sys.executable, SERVER, served, self.log_path, *options],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.port = int(self.server.stdout.readline())
        self.addCleanup(self.stop)

    def stop(self):
        if self.server.stdin.closed:
            return
        self.server.stdin.close()
        self.server.wait(10)
        self.server.stdout.close()

    def ask(self, method, path, byte_range=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        self.addCleanup(connection.close)
        connection.request(method, path, headers={"Range": byte_range} if byte_range else {})
        answer = connection.getresponse()
        return answer.status, answer.headers.get("Content-Range"), answer.read()

    def test_misbehaves_as_told(self):
        rows = [
            ("/@more/digits", "bytes=2-4", 206, b"23456"),
            ("/@whole/digits", "bytes=2-4", 200, b"0123456789"),
            ("/@chunked/digits", "bytes=2-4", 206, b"234"),
            ("/@most/digits", "bytes=2-4", 206, b"23"),
            ("/@shift/digits", "bytes=2-4", 206, b"345"),
            ("/@http10/digits", "bytes=2-4", 206, b"234"),
            ("/@to/digits", "bytes=2-4", 302, b""),
        ]
        for path, byte_range, status, body in rows:
            with self.subTest(path):
                answer = self.ask("GET", path, byte_range)
                self.assertEqual((answer[0], answer[2]), (status, body))
        for path, error in (("/@reset/digits", ConnectionResetError),
                            ("/@cut/digits", http.client.IncompleteRead)):
            with self.subTest(path), self.assertRaises(error):
                self.ask("GET", path)

    def test_puts_up_with_so_many_requests(self):
        self.stop()
        self.start(self.served, "--latency-ms", "300", "--max-under-way", "2", "--retry-after", "7")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            answers = list(pool.map(lambda _: self.ask("GET", "/large")[0], range(3)))
        self.assertEqual(sorted(answers), [200, 200, 503])
        self.stop()
        self.start(self.served, "--requests-per-second", "5", "--burst", "2")
        statuses = [self.ask("GET", "/large")[0] for _ in range(3)]
        time.sleep(0.25)
        statuses.append(self.ask("GET", "/large")[0])
        self.assertEqual(statuses, [200, 200, 429, 200])

    def test_connections_share_a_line(self):
        self.stop()
        self.start(self.served, "--bytes-per-second", "400000")
        start = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            answers = list(pool.map(lambda _: self.ask("GET", "/large")[2], range(2)))
        self.assertGreater(time.monotonic() - start, 0.49)
        self.assertEqual(answers, [bytes(100000)] * 2)

    def test_says_of_files_what_it_is_told_to(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        self.addCleanup(connection.close)
        connection.request("GET", "/@dated/digits")
        answer = connection.getresponse()
        self.assertEqual(answer.read(), b"0123456789")
        self.assertEqual([answer.headers[name] for name in ("Date", "Last-Modified", "ETag")],
                         ["Sat, 01 Jan 2000 00:00:00 GMT"] * 2 + ['"386d4380-a684c7c6"'])

    def test_serves_ranges_logs_them_and_fails_on_demand(self):
        rows = [
            ("GET", "/digits", None, 503, None, b""),
            ("GET", "/digits", None, 200, None, b"0123456789"),
            ("GET", "/digits", "bytes=2-4", 206, "bytes 2-4/10", b"234"),
            ("GET", "/digits", "bytes=8-100", 206, "bytes 8-9/10", b"89"),
            ("GET", "/digits", "bytes=7-", 206, "bytes 7-9/10", b"789"),
            ("GET", "/digits", "bytes=-2", 206, "bytes 8-9/10", b"89"),
            ("GET", "/digits", "bytes=10-11", 416, "bytes */10", b""),
            ("HEAD", "/digits", None, 200, None, b""),
            ("GET", "/never", None, 403, None, b""),
            ("GET", "/absent", None, 404, None, b""),
            ("GET", "/../log", None, 404, None, b""),
        ]
        for method, path, byte_range, *expected in rows:
            with self.subTest(method=method, path=path, byte_range=byte_range):
                self.assertEqual(self.ask(method, path, byte_range), tuple(expected))
        with open(self.log_path, encoding="utf-8") as file:
            lines = [line.rstrip("\n").split("\t") for line in file]
        self.assertEqual(lines, [
            [method, path, byte_range or "-", str(status), str(len(body))]
            for method, path, byte_range, status, _, body in rows])


if __name__ == "__main__":
    unittest.main()
