"""gdal_refs where something goes wrong: one exception, which says what, and nothing hangs.

usage: failures_test.py FOLDER_OF_PACKAGE PROGRAM
"""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
import unittest

PACKAGE = sys.argv[1]
sys.path.insert(0, PACKAGE)
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
SAMPLE = os.path.join(HERE, "..", "..", "data", "sample.json")

try:
    import numpy as np
except ImportError as error:
    print(f"left out: {error}")
    sys.exit(77)

SIGINT_AT_START = signal.getsignal(signal.SIGINT)

import served  # noqa: E402
import gdal_refs  # noqa: E402

os.environ["GDAL_HTTP_RETRY_DELAY"] = "0.01"
os.environ["GDAL_HTTP_MAX_RETRY"] = "2"

INTERRUPTED = """
import os, signal, sys, threading, time
sys.path.insert(0, {package!r})
import gdal_refs
signal.signal(signal.SIGINT, signal.default_int_handler)
began = None
def interrupt():
    global began
    began = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.5, interrupt).start()
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - began < 0.5)
"""


class Served(unittest.TestCase):
    def serve(self, faults=None):
        folder = served.Folder()
        self.addCleanup(folder.close)
        folder.write_array(16, 64)
        server = served.Server(folder, faults)
        self.addCleanup(server.close)
        return server

    def test_reads_over_http_are_few_requests(self):
        server = self.serve()
        dataset = gdal_refs.open(server.url("refs.json"))
        np.testing.assert_array_equal(dataset["v"][...].ravel(), np.arange(16 * 64))
        self.assertEqual(dataset.counters["requests"], 1)
        self.assertEqual(len(server.requests("v.bin")), 1)

    def test_refusals_are_permission_errors(self):
        for status in (401, 403):
            server = self.serve({"/v.bin": {"status": status}})
            dataset = gdal_refs.open(server.url("refs.json"))
            with self.assertRaises(PermissionError) as raised:
                dataset["v"][3]
            self.assertEqual(raised.exception.code, "FORBIDDEN")
            self.assertIn(f"HTTP {status}", str(raised.exception))

    def test_points_over_http_are_one_plan(self):
        server = self.serve()
        dataset = gdal_refs.open(server.url("refs.json"))
        bands, columns = np.array([15, 0, 7, 7]), np.array([63, 0, 5, 6])
        np.testing.assert_array_equal(dataset["v"].vindex[bands, 0 * bands, columns],
                                      bands * 64 + columns)
        self.assertEqual(len(server.requests("v.bin")), 1)

    def test_servers_that_fail_are_named(self):
        server = self.serve({"/v.bin": {"status": 500}})
        dataset = gdal_refs.open(server.url("refs.json"))
        with self.assertRaises(gdal_refs.RefsError) as raised:
            dataset["v"][3]
        error = raised.exception
        self.assertEqual(error.code, "IO")
        self.assertEqual(error.key, "v/3.0.0")
        self.assertEqual(error.url, server.url("v.bin"))
        self.assertEqual(error.name, server.url("refs.json"))
        self.assertIn("500", str(error))
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(copy), copy.code, copy.key), (str(error), "IO", "v/3.0.0"))

    def test_what_is_not_on_a_server_is_not_fill(self):
        server = self.serve({"/v.bin": {"status": 404}})
        dataset = gdal_refs.open(server.url("refs.json"))
        with self.assertRaises(gdal_refs.RefsError):
            dataset["v"][...]

    def test_reads_that_end_after_close_succeed(self):
        import threading

        server = self.serve({"/v.bin": {"stall_s": 1}})
        dataset = gdal_refs.open(server.url("refs.json"))
        array, found = dataset["v"], []
        reader = threading.Thread(target=lambda: found.append(array[...]))
        reader.start()
        while not server.requests("v.bin"):
            time.sleep(0.01)
        dataset.close()
        reader.join()
        self.assertEqual([int(values.sum()) for values in found], [sum(range(16 * 64))])

    def write_state(self, folder, value):
        array = {"zarr_format": 2, "shape": [], "chunks": [], "dtype": "|u1", "fill_value": value,
                 "order": "C", "compressor": None, "filters": None}
        folder.write("state.json", json.dumps({
            ".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps(array), "v/.zattrs": "{}"}))

    def test_pickled_datasets_have_the_state_that_theirs_has(self):
        folder = served.Folder()
        self.addCleanup(folder.close)
        server = served.Server(folder)
        self.addCleanup(server.close)
        local = os.path.join(folder.served, "state.json")
        for name in (server.url("state.json"), "file://" + local, local):
            for value in (1, 7):
                with self.subTest(name=name, value=value):
                    self.write_state(folder, value)
                    dataset = gdal_refs.open(name)
                    copies = [pickle.loads(pickle.dumps(dataset)) for _ in range(2)]
                    self.assertEqual([int(dataset["v"][()]), int(copies[0]["v"][()])], [value] * 2)
                    self.assertIs(copies[0], copies[1])
                    self.assertIs(pickle.loads(pickle.dumps(copies[0])), copies[0])

    def test_pickled_datasets_are_kept_in_bounds_and_open(self):
        from gdal_refs import dataset as module

        for _ in range(module.MAX_KEPT + 3):
            copy = pickle.loads(pickle.dumps(gdal_refs.open(SAMPLE)))
        self.assertEqual(len(module._datasets), module.MAX_KEPT)
        text = pickle.dumps(copy)
        copy.close()
        self.assertEqual(pickle.loads(text)["t2m"][:1].shape, (1, 81, 121))

    def run_interrupted(self, call):
        code = INTERRUPTED.format(package=PACKAGE, call=call)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              timeout=30, check=False)
        self.assertEqual(done.stdout, "interrupted True\n", done.stderr)

    def test_ctrl_c_ends_a_read(self):
        server = self.serve({"/v.bin": {"stall_s": 20}})
        self.run_interrupted(f"gdal_refs.open({server.url('refs.json')!r})['v'][...]")

    def serve_texts(self, faults):
        folder = served.Folder()
        self.addCleanup(folder.close)
        server = served.Server(folder, faults)
        self.addCleanup(server.close)
        array = {"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "|O", "fill_value": None,
                 "order": "C", "compressor": None, "filters": [{"id": "vlen-utf8"}]}
        with open(os.path.join(folder.served, "texts.bin"), "wb") as file:
            file.write(b"\1\0\0\0\3\0\0\0one")
        folder.write("texts.json", json.dumps({
            ".zgroup": '{"zarr_format": 2}', "s/.zarray": json.dumps(array), "s/.zattrs": "{}",
            "s/0": [server.url("texts.bin"), 0, 11]}))
        return server.url("texts.json")

    def test_ctrl_c_ends_a_read_of_texts(self):
        self.assertEqual(gdal_refs.open(self.serve_texts({}))["s"][...].tolist(), ["one"])
        name = self.serve_texts({"/texts.bin": {"stall_s": 20}})
        self.run_interrupted(f"gdal_refs.open({name!r})['s'][...]")

    def test_ctrl_c_ends_an_open(self):
        server = self.serve({"/refs.json": {"stall_s": 20}})
        self.run_interrupted(f"gdal_refs.open({server.url('refs.json')!r})")

    def test_cancel_ends_reads_of_other_threads(self):
        import threading

        server = self.serve({"/v.bin": {"stall_s": 20}})
        dataset = gdal_refs.open(server.url("refs.json"))
        threading.Timer(0.3, dataset.cancel).start()
        began = time.monotonic()
        with self.assertRaises(gdal_refs.RefsError) as raised:
            dataset["v"][...]
        self.assertEqual(raised.exception.code, "CANCELLED")
        self.assertLess(time.monotonic() - began, 10)


class Sets(unittest.TestCase):
    def setUp(self):
        self.folder = served.Folder()
        self.addCleanup(self.folder.close)

    def write(self, **changes):
        array = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i4", "fill_value": -1,
                 "order": "C", "compressor": None, "filters": None, **changes}
        self.folder.write("a.json", json.dumps({
            ".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps(array),
            "v/.zattrs": "{}", "v/0": "base64:AAAAAAEAAAACAAAAAwAAAA=="}))
        return os.path.join(self.folder.served, "a.json")

    def fails(self, call, code):
        with self.assertRaises(gdal_refs.RefsError) as raised:
            call()
        self.assertEqual(raised.exception.code, code, raised.exception)
        return raised.exception

    def test_missing_files_are_file_not_found_errors(self):
        error = self.fails(lambda: gdal_refs.open("/nowhere/set.json"), "NOT_FOUND")
        self.assertIsInstance(error, FileNotFoundError)
        self.assertIn("/nowhere/set.json", str(error))

    def test_what_is_no_set_is_refused(self):
        self.folder.write("text", "This is no set.\n")
        self.fails(lambda: gdal_refs.open(os.path.join(self.folder.served, "text")), "INVALID")

    def test_unknown_options_are_refused(self):
        error = self.fails(lambda: gdal_refs.open(SAMPLE, misssing="FILL"), "INVALID")
        self.assertIn("did you mean MISSING?", str(error))

    def test_missing_codecs_are_named_when_an_array_is_read(self):
        dataset = gdal_refs.open(self.write(compressor={"id": "snake-oil"}))
        error = self.fails(lambda: dataset["v"][...], "UNSUPPORTED")
        self.assertIn("snake-oil", str(error))
        self.assertEqual(error.key, "v/0")

    def test_chunks_that_are_too_short_are_errors(self):
        dataset = gdal_refs.open(self.write(chunks=[8], shape=[8]))
        error = self.fails(lambda: dataset["v"][...], "CORRUPT")
        self.assertEqual(error.key, "v/0")

    def test_arrays_that_make_no_sense_say_so_when_they_are_read(self):
        dataset = gdal_refs.open(self.write(dtype="<q9"))
        self.assertIsNotNone(dataset["v"].problem)
        self.fails(lambda: dataset["v"][...], "UNSUPPORTED")

    def test_keys_and_options_with_nul_are_refused(self):
        dataset = gdal_refs.open(SAMPLE)
        with self.assertRaises(ValueError):
            dataset._handle.get([".zgroup\0junk"])
        with self.assertRaises(ValueError):
            gdal_refs.open(SAMPLE, missing="FILL\0junk")

    def test_signals_are_left_to_handlers_of_the_program(self):
        self.assertEqual(signal.getsignal(signal.SIGINT), SIGINT_AT_START)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
