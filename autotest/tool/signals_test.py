"""Ctrl-C, SIGTERM and SIGHUP end the program refs soon, whatever it waits for: servers that are silent,
slow, endless, busy or too full to connect, pipes that nobody writes to or reads from. Nothing that was
being written is left. A second signal ends the program at once, and libncrefs leaves signals alone.

    signals_test.py PROGRAM LIBRARY [test ...]
"""

import concurrent.futures
import contextlib
import http.server
import itertools
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

REFS = os.path.abspath(sys.argv.pop(1))
NCREFS = os.path.abspath(sys.argv.pop(1)) if sys.argv[1:2] and sys.argv[1].endswith(".so") else ""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
MODES = ("silent", "slow", "endless", "busy", "full")

# A program ends at once; how long that takes on a machine that does much else, nobody knows.
SOON_S = 30

# Programs inherit signals that are ignored, as under nohup: those that are sent here end them.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def wait_for_handler(process, number):
    """Waits until the program has a handler of its own for the signal."""
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            caught = next(line for line in status if line.startswith("SigCgt:"))
        if int(caught.split()[1], 16) >> (number - 1) & 1:
            return
        time.sleep(0.02)


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers as the first folder of the path says, and never whole."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self):
        mode = self.path.split("/")[1].split("?")[0]
        self.server.note(self.path)
        with contextlib.suppress(OSError):
            getattr(self, "be_" + mode)()
        self.close_connection = True

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = answer

    def be_silent(self):
        self.server.over.wait()

    def be_busy(self):
        self.send_response(503)
        self.send_header("Retry-After", "30")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def begin(self):
        self.send_response(200)
        self.send_header("Connection", "close")
        self.send_header("ETag", "\"1\"")  # as stores have one of each object
        self.end_headers()

    def be_slow(self):
        self.begin()
        while not self.server.over.wait(1):
            self.wfile.write(b" ")
            self.wfile.flush()

    def be_endless(self):
        self.begin()
        while not self.server.over.wait(0.001):
            self.wfile.write(b" " * 65536)


@contextlib.contextmanager
def started(command, **options):
    """A process that does not outlive a test that fails."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.kill()


class Server(http.server.ThreadingHTTPServer):
    """Knows which paths were asked for."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.over = threading.Event()
        self.asked = set()
        self.changed = threading.Condition()
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.root = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *arguments):
        pass

    def note(self, path):
        with self.changed:
            self.asked.add(path)
            self.changed.notify_all()

    def was_asked(self, text, process):
        """Waits for a request whose path has a text in it; false where the program ends before."""
        with self.changed:
            for _ in range(600):
                if any(text in path for path in self.asked):
                    return True
                if process.poll() is not None:
                    return False
                self.changed.wait(0.1)
        return False

    def close(self):
        self.over.set()
        self.shutdown()
        self.server_close()


class Full:
    """A port where nobody takes connections, and no more fit in the queue: connecting never ends."""

    def __init__(self):
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.socket.listen(0)
        self.root = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.clients = []
        for _ in range(8):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(self.socket.getsockname())
            self.clients.append(client)

    def close(self):
        for each in (*self.clients, self.socket):
            each.close()


def reference_set(url, inline_axis=True):
    """A set with a(t) in two chunks at a URL; so is the axis t, unless it is in the set."""
    def array(shape, chunks, dtype):
        return json.dumps({"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "order": "C",
                           "fill_value": 0, "compressor": None, "filters": None})
    refs = {".zgroup": '{"zarr_format": 2}',
            "a/.zarray": array([2], [1], "<i4"), "a/.zattrs": '{"_ARRAY_DIMENSIONS": ["t"]}',
            "a/0": [url, 0, 4], "a/1": [url, 4, 4],
            "t/.zarray": array([2], [2], "|u1"), "t/.zattrs": '{"_ARRAY_DIMENSIONS": ["t"], "units": "days since 2000-01-01"}',
            "t/0": "\x00\x01" if inline_axis else [url, 8, 2]}
    return json.dumps({"version": 1, "refs": refs})


# Verbs and what they get: {remote} is a name on the server, {chunks} a local set whose values are there,
# {axis} one whose coordinates are, too, {local} one that needs no server.
CASES = {
    "ls": ("ls", "{remote}"),
    "info": ("info", "{remote}"),
    "info of a key": ("info", "{remote}", "a[0]"),
    "cat": ("cat", "{chunks}", "a/0"),
    "cat of a set": ("cat", "{remote}", "a/0"),
    "check": ("check", "{remote}"),
    "check of targets": ("check", "{chunks}"),
    "check --deep": ("check", "--deep", "{chunks}"),
    "diff": ("diff", "{local}", "{remote}"),
    "convert": ("convert", "{remote}", "-o", "{out}.json"),
    "convert --inline": ("convert", "{chunks}", "--inline", "100", "-o", "{out}.json"),
    "convert to Parquet": ("convert", "{remote}", "-o", "{out}.parq"),
    "index": ("index", "{data}", "-o", "{out}.json"),
    "index of many": ("index", "{local}", "{data}", "-o", "{out}.json"),
    "index --skip-errors": ("index", "{local}", "{data}", "--skip-errors", "-o", "{out}.json"),
    "combine": ("combine", "{local}", "{remote}", "--along", "t", "-o", "{out}.json"),
    "combine of axes": ("combine", "{local}", "{axis}", "--along", "t", "-o", "{out}.json"),
    "combine to netCDF": ("combine", "{local}", "{axis}", "--along", "t", "-o", "{out}.nc"),
    "combine as CFA": ("combine", "--format", "cfa", "{remote}", "{data}", "-o", "{out}.nca"),
    "append": ("append", "{copy}", "{remote}", "--along", "t"),
    "split": ("split", "{chunks}", "-o", "{out}.nca"),
    "split of a set": ("split", "{remote}", "-o", "{out}.nca"),
    "a list of a bucket": ("index", "s3://{mode}/{token}/*.nc", "-o", "{out}.json"),
    "a document of STAC": ("index", "{remote}", "{data}", "-o", "{out}.json"),
    "an upload": ("split", "{local}", "-o", "s3://{mode}/{token}.nca"),
    "append to an object": ("append", "s3://{mode}/{token}.nca", "{local}", "--along", "t"),
    "mv of an object": ("mv", "s3://{mode}/{token}.nca", "--rewrite", "a=>b"),
    "keys of a service": ("ls", "s3://bucket/x.json"),
}

# Some bytes are enough for these: an endless answer does not keep them waiting.
ENOUGH = {"{chunks}", "{axis}", "s3://bucket/x.json"}


class Case(unittest.TestCase):
    """A server, a port where nobody connects, and a folder."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.server = Server()
        self.full = Full()
        self.numbers = itertools.count()
        self.environment = {**{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
                            "AWS_NO_SIGN_REQUEST": "YES", "HOME": self.folder, "TMPDIR": self.folder,
                            "AWS_EC2_METADATA_DISABLED": "true"}

    def tearDown(self):
        self.server.close()
        self.full.close()
        shutil.rmtree(self.folder)

class Signals(Case):
    """What a run waits for when it is interrupted is a server."""

    def prepare(self, name, mode):
        """The folder of a case, its command, its environment, and what is in the path of its requests."""
        token = f"k{next(self.numbers)}"
        folder = os.path.join(self.folder, token)
        os.mkdir(folder)
        root = self.full.root if mode == "full" else self.server.root
        url = f"{root}/{mode}/{token}"
        for file, text in (("local.json", reference_set("x.bin")), ("chunks.json", reference_set(url + ".bin")),
                           ("axis.json", reference_set(url + ".bin", False)), ("copy.json", reference_set("x.bin"))):
            with open(os.path.join(folder, file), "w", encoding="utf-8") as written:
                written.write(text)
        with open(os.path.join(folder, "x.bin"), "wb") as file:
            file.write(bytes(8))
        command = [part.format(remote=url + ".json", data=url + ".nc", chunks="chunks.json", axis="axis.json",
                               local="local.json", copy="copy.json", out="out", mode=mode, token=token)
                   for part in CASES[name]]
        environment = {**self.environment, "AWS_ENDPOINT_URL": root}
        if name == "keys of a service":
            environment["REFS_TOKEN_URL"] = f"s3://bucket/=>{url}"
        return folder, command, environment, token

    def interrupt(self, name, mode, number):
        """What is wrong with a case, or None."""
        folder, command, environment, token = self.prepare(name, mode)
        before = sorted(os.listdir(folder))
        case = f"{name}, {mode}, {signal.Signals(number).name}"
        with started([REFS, *command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            if mode == "full":
                wait_for_handler(process, number)
                time.sleep(1)
            elif not self.server.was_asked(token, process):
                return f"{case}: ended before it asked: {process.communicate()}"
            time.sleep(0.1)
            if process.poll() is not None:
                return f"{case}: ended before the signal: {process.communicate()}"
            process.send_signal(number)
            began = time.monotonic()
            try:
                said = process.communicate(timeout=SOON_S)[1]
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                return f"{case}: still there after {SOON_S} s"
            took = time.monotonic() - began
        if process.returncode != -number:
            return f"{case}: status {process.returncode} after {took:.1f} s: {said}"
        if said != b"refs: interrupted\n":
            return f"{case}: says {said}"
        if sorted(os.listdir(folder)) != before:
            return f"{case}: leaves {sorted(set(os.listdir(folder)) - set(before))}"
        return None

    def expect_ends(self, cases):
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            wrong = [text for text in pool.map(lambda case: self.interrupt(*case), cases) if text]
        self.assertEqual(wrong, [], f"{len(wrong)} of {len(cases)}: " + "\n".join(wrong))
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("refs-")], [])

    def test_end_every_verb_at_a_silent_server(self):
        self.expect_ends([(name, "silent", number) for name in CASES for number in SIGNALS])

    def test_end_every_verb_at_servers_that_bring_little_or_too_much(self):
        self.expect_ends([(name, mode, SIGNALS[i % 3]) for mode in ("slow", "endless")
                          for i, name in enumerate(CASES)
                          if mode == "slow" or not ENOUGH & set(CASES[name])])

    def test_end_every_verb_at_servers_that_are_tried_again(self):
        self.expect_ends([(name, mode, SIGNALS[i % 3]) for mode in ("busy", "full")
                          for i, name in enumerate(CASES)])


class Others(Case):
    def end(self, command, number, **options):
        """Status of a program that is sent a signal when it has had time to wait."""
        with started(command, env=self.environment, cwd=self.folder, **options) as process:
            time.sleep(0.7)
            self.assertIsNone(process.poll())
            process.send_signal(number)
            try:
                return process.wait(SOON_S)
            except subprocess.TimeoutExpired:
                process.kill()
                return None

    def test_end_who_waits_for_a_list_of_names(self):
        reading, writing = os.pipe()
        os.write(writing, b"half a na")
        for number in SIGNALS:
            with self.subTest(number):
                self.assertEqual(self.end([REFS, "index", "-", "-o", "a.json"], number, stdin=reading), -number)
        os.close(reading)
        os.close(writing)
        self.assertEqual(os.listdir(self.folder), [])

    def test_end_who_waits_for_a_reader(self):
        array = json.dumps({"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "|u1", "order": "C",
                            "fill_value": 0, "compressor": None, "filters": None})
        with open(os.path.join(self.folder, "many.json"), "w", encoding="utf-8") as file:
            json.dump({"version": 1, "refs": {f"array_{i:070}/.zarray": array for i in range(4000)}}, file)
        for number in SIGNALS:
            reading, writing = os.pipe()
            with self.subTest(number):
                self.assertEqual(self.end([REFS, "ls", "many.json"], number, stdout=writing), -number)
            os.close(reading)
            os.close(writing)

    def test_end_walks_over_any_number_of_chunks(self):
        """A classic file that is nothing but holes: 8 10^8 records, each a chunk of its own."""
        n, dims = 8 * 10**8, (b"t\0\0\0" + struct.pack(">I", 0), b"x\0\0\0" + struct.pack(">I", 1250))
        path = os.path.join(self.folder, "many.nc")
        with open(path, "wb") as file:
            file.write(b"CDF\1" + struct.pack(">III", n, 10, 2) + b"".join(struct.pack(">I", 1) + dim for dim in dims)
                       + struct.pack(">IIIII", 0, 0, 11, 1, 1) + b"v\0\0\0" + struct.pack(">III", 2, 0, 1)
                       + struct.pack(">IIIII", 0, 0, 5, 5000, 400))
            try:
                file.truncate(400 + 5000 * n)
            except OSError:
                self.skipTest("files cannot be of 4 TB")
        for verb in ("ls", "check", "check --deep", "diff many.nc", "index -o a.json", "convert -o a.json", "split -o a.nca"):
            name, *options = verb.split()
            with self.subTest(verb):
                self.assertEqual(self.end([REFS, name, "many.nc", *options], signal.SIGTERM, stdout=subprocess.DEVNULL),
                                 -signal.SIGTERM)
        self.assertEqual(os.listdir(self.folder), ["many.nc"])

    def test_end_the_script_that_runs_it(self):
        script = f'"$1" ls {self.server.root}/silent/script.json; echo goes on'
        with started(["bash", "-c", script, "script", REFS], cwd=self.folder, env=self.environment,
                     start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            self.assertTrue(self.server.was_asked("script.json", process))
            os.killpg(process.pid, signal.SIGINT)
            self.assertEqual(process.communicate(timeout=SOON_S)[0], b"")
            self.assertEqual(process.returncode, -signal.SIGINT)

    def test_that_are_ignored_stay_so_where_a_terminal_ends(self):
        with started(["nohup", REFS, "ls", self.server.root + "/silent/set.json"], cwd=self.folder,
                              env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            self.assertTrue(self.server.was_asked("set.json", process))
            process.send_signal(signal.SIGHUP)
            time.sleep(0.5)
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(SOON_S), -signal.SIGTERM)

    def test_that_are_ignored_at_its_start_stay_so(self):
        """A shell has programs that it runs in the background ignore SIGINT."""
        for number in SIGNALS:
            url = f"{self.server.root}/silent/ignored{number}.json"
            with self.subTest(number), \
                    started([REFS, "ls", url], env=self.environment, stderr=subprocess.DEVNULL,
                            preexec_fn=lambda number=number: signal.signal(number, signal.SIG_IGN)) as process:
                self.assertTrue(self.server.was_asked(f"ignored{number}.json", process))
                with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                    ignored = next(line for line in status if line.startswith("SigIgn:"))
                self.assertTrue(int(ignored.split()[1], 16) >> (number - 1) & 1, ignored)

    def test_end_at_once_when_they_come_again(self):
        with started([REFS, "ls", self.server.root + "/silent/set.json"], env=self.environment,
                              stderr=subprocess.DEVNULL) as process:
            self.assertTrue(self.server.was_asked("set.json", process))
            for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
                process.send_signal(number)
            self.assertIn(process.wait(SOON_S), (-signal.SIGINT, -signal.SIGTERM))

    def test_end_programs_of_others_that_read_by_libncrefs(self):
        if shutil.which("ncdump") is None or not os.path.exists(NCREFS):
            self.skipTest("there is no ncdump")
        for mode in ("silent", "slow"):
            for number in SIGNALS:
                path = f"/{mode}/n{number}.json"
                with self.subTest(path), \
                     started(["ncdump", "-h", self.server.root + path],
                                      env={**self.environment, "LD_PRELOAD": NCREFS},
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                    self.assertTrue(self.server.was_asked(path, process))
                    process.send_signal(number)
                    self.assertEqual(process.wait(SOON_S), -number)


if __name__ == "__main__":
    unittest.main()
