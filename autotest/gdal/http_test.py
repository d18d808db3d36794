"""The HTTP engine as users see it: how often it asks, over how many connections, with which
credentials and options of GDAL, where redirects lead, and what it shows of secrets.

usage: http_test.py REFS [TEST...]
"""

import base64
import collections
import ctypes.util
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
import zlib
from contextlib import contextmanager
from email.utils import formatdate

import netCDF4
import numpy as np
from osgeo import gdal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from served import CERTIFICATE, KEY, Folder, Server  # noqa: E402

gdal.UseExceptions()

for variable in ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "http_proxy", "https_proxy", "no_proxy"):
    os.environ.pop(variable, None)

REFS = os.path.abspath(sys.argv.pop(1))
FAST = {"GDAL_HTTP_RETRY_DELAY": "0.01", "REFS_READ_AHEAD": "NO"}


@contextmanager
def options(**values):
    """Configuration options for a while."""
    for name, value in values.items():
        gdal.SetConfigOption(name, value)
    try:
        yield
    finally:
        for name in values:
            gdal.SetConfigOption(name, None)


@contextmanager
def environment(**values):
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def read(url, band=None):
    """The values of an array of Folder.write_array, of one band or all."""
    dataset = gdal.Open(f'REFS:"{url}":/v')
    array = (dataset.GetRasterBand(band) if band else dataset).ReadAsArray()
    return array.ravel().tolist()


class Case(unittest.TestCase):
    bands, width = 3, 1000

    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.close)
        self.folder.write_array(self.bands, self.width)
        for name, value in FAST.items():
            gdal.SetConfigOption(name, value)
            self.addCleanup(gdal.SetConfigOption, name, None)

    def serve(self, **arguments):
        server = Server(self.folder, **arguments)
        self.addCleanup(server.close)
        return server

    @property
    def values(self):
        return list(range(self.bands * self.width))

    def fails(self, url):
        """All failures that reading says. Without exceptions: newer bindings keep from error handlers
        what they raise."""
        errors = []
        gdal.DontUseExceptions()
        gdal.PushErrorHandler(lambda kind, number, text:
                              errors.append(text) if kind >= gdal.CE_Failure else None)
        try:
            dataset = gdal.Open(f'REFS:"{url}":/v')
            self.assertTrue(dataset is None or dataset.ReadAsArray() is None)
        finally:
            gdal.PopErrorHandler()
            gdal.UseExceptions()
        return str(errors)


class Requests(Case):
    def test_opening_and_reading_takes_two(self):
        server = self.serve()
        self.assertEqual(read(server.url("refs.json")), self.values)
        asked = [(r["method"], r["path"], r["headers"].get("range")) for r in server.requests()]
        self.assertEqual(asked, [("GET", "/refs.json", "bytes=0-65535"),
                                 ("GET", "/v.bin", "bytes=0-11999")])

    def test_an_unchanged_set_is_not_read_again(self):
        server = self.serve()
        os.utime(os.path.join(self.folder.served, "refs.json"), (1e9, 1e9))
        for _ in range(3):
            gdal.Open(f"REFS:{server.url('refs.json')}")
        ranges = [r["headers"].get("range") for r in server.requests()]
        self.assertEqual(ranges, ["bytes=0-65535", "bytes=0-0", "bytes=0-0"])

    def test_threads_that_open_a_set_at_the_same_time_share_its_chunks(self):
        server = self.serve(options=["--latency-ms", "30"])
        together, wrong = threading.Barrier(8), []

        def open_and_read():
            together.wait()
            dataset = gdal.Open(f'REFS:"{server.url("refs.json")}":/v')
            together.wait()
            if dataset.ReadAsArray().ravel().tolist() != self.values:
                wrong.append(True)
            together.wait()

        threads = [threading.Thread(target=open_and_read) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(len(server.requests("v.bin")), 1)

    def test_a_reader_waits_for_no_chunk_that_another_has_not_requested_yet(self):
        self.folder.write_array(3000, 10, chunk_gap=100000)
        server = self.serve(options=["--latency-ms", "100"])
        name = f'REFS:"{server.url("refs.json")}":/v'
        began = threading.Event()

        def read_all():
            dataset = gdal.Open(name)
            began.set()
            dataset.ReadAsArray()

        reader, neighbour = threading.Thread(target=read_all), gdal.Open(name)
        reader.start()
        began.wait()
        while not server.requests("v.bin"):
            time.sleep(0.01)
        values = neighbour.GetRasterBand(3000).ReadAsArray().ravel().tolist()
        still_reading = reader.is_alive()
        reader.join()
        self.assertEqual(values, list(range(29990, 30000)))
        self.assertTrue(still_reading, "the neighbour had to wait until all was read")

    def test_a_callback_of_progress_may_read_what_is_on_its_way(self):
        server = self.serve(options=["--latency-ms", "400"])
        name, seen = f'REFS:"{server.url("refs.json")}":/v', []

        def read_it_too(done, message, data):
            if not seen and server.requests("v.bin"):
                seen.append(gdal.Open(name).ReadAsArray().ravel().tolist())
            return 1

        begin = time.monotonic()
        values = gdal.Open(name).ReadAsArray(callback=read_it_too)
        self.assertEqual(values.ravel().tolist(), self.values)
        self.assertEqual(seen, [self.values])
        self.assertLess(time.monotonic() - begin, 20)

    def test_a_callback_of_progress_may_read_by_a_record_that_is_on_its_way(self):
        record = "/set.parq/v/refs.0.parq"
        server = self.serve(faults={record: {"stall_s": 1}})
        subprocess.run([REFS, "convert", server.url("refs.json"), "-o", f"{self.folder.served}/set.parq"],
                       check=True)
        name, seen = f'REFS:"{server.url("set.parq")}":/v', []

        def read_it_too(done, message, data):
            if not seen and server.requests(record[1:]):
                seen.append(gdal.Open(name).ReadAsArray().ravel().tolist())
            return 1

        self.assertEqual(gdal.Open(name).ReadAsArray(callback=read_it_too).ravel().tolist(), self.values)
        self.assertEqual(seen, [self.values])

    def test_references_of_coordinates_are_read_at_the_same_time(self):
        def add(name, dims, units, values):
            attributes = {"_ARRAY_DIMENSIONS": dims, "units": units, **({} if dims == [name] else {"standard_name": "time"})}
            array = {"zarr_format": 2, "shape": values.shape, "chunks": values.shape, "dtype": values.dtype.str, "fill_value": None,
                     "order": "C", "compressor": None, "filters": None}
            content = "base64:" + base64.b64encode(values.tobytes()).decode()
            refs.update({f"{name}/.zarray": json.dumps(array), f"{name}/.zattrs": json.dumps(attributes),
                         f"{name}/" + ".".join("0" * values.ndim): content})

        refs = {".zgroup": '{"zarr_format": 2}'}
        add("run", ["run"], "hours since 2026-08-01", np.arange(2.0) * 6)
        add("step", ["step"], "hours", np.arange(3.0))
        add("lat", ["lat"], "degrees_north", 50 - np.arange(4.0))
        add("lon", ["lon"], "degrees_east", np.arange(5.0))
        add("valid", ["run", "step"], "hours since 2026-08-01", np.arange(2.0)[:, None] * 6 + np.arange(3.0))
        add("v", ["run", "step", "lat", "lon"], "K", np.arange(120.0).reshape(2, 3, 4, 5))
        for name, more in (("run", {"standard_name": "forecast_reference_time"}), ("step", {"standard_name": "forecast_period"}),
                           ("v", {"coordinates": "valid"})):
            refs[name + "/.zattrs"] = json.dumps({**json.loads(refs[name + "/.zattrs"]), **more})
        self.folder.write("forecast.json", json.dumps({"version": 1, "refs": refs}))
        server = self.serve(options=["--latency-ms", "100"])
        for form in ("parq", "icechunk"):
            subprocess.run([REFS, "convert", f"{self.folder.served}/forecast.json", "-o",
                            f"{self.folder.served}/forecast.{form}", "-q"], check=True)
            for folder, _, files in os.walk(f"{self.folder.served}/forecast.{form}"):
                for name in files:
                    os.utime(os.path.join(folder, name), (1e9, 1e9))
            with options(REFS_READ_AHEAD="YES"):
                dataset = gdal.Open(f'REFS:"{server.url("forecast." + form)}":/v')
            self.assertEqual(dataset.GetRasterBand(5).GetMetadataItem("TIME"), "2026-08-01T07:00:00")
            asked = [r for r in server.requests() if re.search(form + r"/(.*/refs\.0\.parq$|manifests/)", r["path"])]
            self.assertEqual(len(asked), 5, asked)
            self.assertGreater(max(r["under_way"] for r in asked), 3)

    def test_a_callback_of_progress_may_read_while_access_is_asked_for(self):
        self.folder.write("token", "sv=1&sig=gift")
        server = self.serve(faults={"/token": {"stall_s": 1}})
        name, seen = f'REFS:"{server.url("refs.json")}":/v', []

        def read_it_too(done, message, data):
            if not seen and server.requests("token"):
                seen.append(gdal.Open(name).ReadAsArray().ravel().tolist())
            return 1

        with options(REFS_TOKEN_URL=f"{server.url('v.bin')}=>{server.url('token')}"):
            values = gdal.Open(name).ReadAsArray(callback=read_it_too)
        self.assertEqual(values.ravel().tolist(), self.values)
        self.assertEqual(seen, [self.values])

    def test_a_callback_of_progress_fails_to_read_by_an_index_that_its_own_read_reads(self):
        with netCDF4.Dataset(f"{self.folder.served}/x.nc", "w") as made:
            for dimension in "yx":
                made.createDimension(dimension, 400)
            for name in "ab":
                variable = made.createVariable(name, "f8", ("y", "x"), chunksizes=(4, 4), zlib=True)
                variable[:] = np.random.default_rng(1).random((400, 400))
        server = self.serve(options=["--latency-ms", "400"])
        first, second = (gdal.Open(f'REFS:"{server.url("x.nc")}":/{name}') for name in "ab")
        opened, said = len(server.requests()), []

        def read_the_other(done, message, data):
            if not said and len(server.requests()) > opened:
                with self.assertRaises(RuntimeError) as caught:
                    second.ReadAsArray()
                said.append(str(caught.exception))
                gdal.ErrorReset()  # GDAL 3.10 takes the last error for one of the outer read
            return 1

        values = first.ReadAsArray(callback=read_the_other)
        self.assertIn("a progress callback", str(said))
        self.assertEqual(values.tolist(), second.ReadAsArray().tolist())

    def write_shard(self, inner, n):
        """A set of one array of bytes that is one shard of n x n chunks, named without a range."""
        size, chunk = inner * n, inner * inner
        values = np.arange(size * size, dtype=np.uint32).reshape(size, size).astype(np.uint8)
        chunks = [values[y:y + inner, x:x + inner].tobytes()
                  for y in range(0, size, inner) for x in range(0, size, inner)]
        index = np.array([(i * chunk, chunk) for i in range(n * n)], "<u8")
        self.folder.write("shard.bin", b"".join(chunks) + index.tobytes())
        little = {"name": "bytes", "configuration": {"endian": "little"}}
        array = {"zarr_format": 3, "node_type": "array", "shape": [size, size], "data_type": "uint8",
                 "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [size, size]}},
                 "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
                 "fill_value": 0, "codecs": [{"name": "sharding_indexed", "configuration": {
                     "chunk_shape": [inner, inner], "codecs": [{"name": "bytes"}],
                     "index_codecs": [little], "index_location": "end"}}]}
        group = {"zarr_format": 3, "node_type": "group"}
        self.folder.write("shard.json", json.dumps({
            "zarr.json": json.dumps(group), "v/zarr.json": json.dumps(array), "v/c/0/0": ["shard.bin"]}))
        return values

    def test_of_a_shard_without_a_range_the_index_and_the_chunks_are_read(self):
        values = self.write_shard(64, 48)  # 9.4 MB
        server = self.serve()
        dataset = gdal.Open(f'REFS:"{server.url("shard.json")}":/v')
        self.assertEqual(dataset.ReadAsArray(1000, 2000, 4, 4).tolist(),
                         values[2000:2004, 1000:1004].tolist())
        ranges = [r["headers"].get("range") for r in server.requests("shard.bin")]
        self.assertEqual(ranges[:2], ["bytes=0-0", f"bytes={values.size}-{values.size + 48 * 48 * 16 - 1}"])
        self.assertEqual(len(ranges), 3)
        begin, end = map(int, ranges[2][len("bytes="):].split("-"))
        self.assertLess(end - begin, 70000)
        self.assertEqual(dataset.ReadAsArray().tolist(), values.tolist())

    def test_a_changed_set_is_read_again(self):
        for stamp in ("ETag", "Last-Modified"):
            with self.subTest(stamp):
                before = {"ETag": '"1"', "Last-Modified": "Sat, 01 Jan 2000 00:00:00 GMT"}
                after = {"ETag": '"2"', "Last-Modified": "Sat, 01 Jan 2000 00:00:01 GMT"}
                other = {"Last-Modified": None} if stamp == "ETag" else {}
                server = self.serve(faults={"/@s/refs.json": [
                    {"headers": {**other, stamp: before[stamp]}, "times": 1},
                    {"headers": {**other, stamp: after[stamp]}}]}, name=stamp)
                for _ in range(2):
                    read(server.url("@s/refs.json"))
                ranges = [r["headers"].get("range") for r in server.requests("refs.json")]
                self.assertEqual(ranges, ["bytes=0-65535", "bytes=0-0", "bytes=0-65535"])

    def test_sets_may_come_compressed(self):
        server = self.serve(faults={"/@z/refs.json": {"gzip": True}})
        self.assertEqual(read(server.url("@z/refs.json")), self.values)
        headers = [r["headers"].get("accept-encoding") for r in server.requests()]
        self.assertEqual(headers, ["identity", "gzip", "identity"])

    def test_larger_sets_take_one_more(self):
        server = self.serve()
        path = os.path.join(self.folder.served, "refs.json")
        with open(path) as f:
            text = f.read()
        with open(path, "w") as f:
            f.write(text + " " * 100000)
        self.assertEqual(read(server.url("refs.json")), self.values)
        asked = [(r["path"], r["headers"].get("range"), r["headers"].get("accept-encoding"))
                 for r in server.requests()]
        self.assertEqual(asked, [("/refs.json", "bytes=0-65535", "identity"),
                                 ("/refs.json", None, "gzip"),
                                 ("/v.bin", "bytes=0-11999", "identity")])

    def test_gaps_that_are_fetched_are_as_wide_as_the_option_says(self):
        self.folder.write("v.bin", bytes(300000))
        array = {"zarr_format": 2, "shape": [2, 10], "chunks": [1, 10], "dtype": "|u1", "order": "C",
                 "fill_value": None, "filters": None, "compressor": None}
        self.folder.write("gap.json", json.dumps({"version": 1, "refs": {
            "v/.zarray": json.dumps(array), "v/0.0": ["v.bin", 0, 10], "v/1.0": ["v.bin", 200000, 10]}}))
        for gap, n in (("65536", 2), ("200000", 1)):
            server = self.serve(name=gap)
            with options(REFS_MAX_GAP=gap):
                gdal.Open(f'REFS:"{server.url("gap.json")}":/v').ReadAsArray()
            self.assertEqual(len(server.requests("v.bin")), n)

    def test_retries_back_off_and_are_bounded(self):
        with options(GDAL_HTTP_MAX_RETRY="3", GDAL_HTTP_RETRY_DELAY="0.05"):
            server = self.serve(faults={"/v.bin": {"status": 503}})
            self.assertIn("after 4 attempts: HTTP 503", self.fails(server.url("refs.json")))
            times = [r["at"] for r in server.requests("v.bin")]
            self.assertEqual(len(times), 4)
            gaps = [b - a for a, b in zip(times, times[1:])]
            for gap, least in zip(gaps, (0.05, 0.1, 0.2)):
                self.assertGreaterEqual(gap, 0.95 * least)

    def test_a_dead_server_costs_its_retries_once(self):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            self.folder.write_array(self.bands, self.width,
                                    url=f"http://127.0.0.1:{closed.getsockname()[1]}/v.bin")
            path = os.path.join(self.folder.served, "refs.json")
            first, again = self.fails(path), self.fails(path)
        self.assertIn("after 2 attempts: Failed to connect", first, "it was never there")
        self.assertIn("Failed to connect", again)
        self.assertNotIn("attempts", again)

    def test_a_host_that_is_not_known_is_tried_once_more(self):
        self.folder.write_array(self.bands, self.width, url="http://nowhere.invalid/v.bin")
        self.assertIn("after 2 attempts: Could not resolve host", self.fails(os.path.join(self.folder.served, "refs.json")))

    def test_parts_of_a_range_are_no_failures(self):
        self.folder.write_array(1, 16384)
        server = self.serve(faults={"/v.bin": {"at_most": 5000}})
        with options(GDAL_HTTP_RETRY_DELAY="5", GDAL_HTTP_MAX_RETRY="2"):
            begin = time.monotonic()
            self.assertEqual(read(server.url("refs.json")), list(range(16384)))
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(len(server.requests("v.bin")), 14)

    def test_parts_of_a_few_bytes_are_tried_again_as_failures_are(self):
        self.folder.write_array(1, 16384)
        server = self.serve(faults={"/v.bin": {"at_most": 10}})
        self.assertIn("50 of 65536 bytes", self.fails(server.url("refs.json")))
        self.assertEqual(len(server.requests("v.bin")), 5)

    def test_a_file_that_is_shorter_than_the_set_says_is_named_so(self):
        server = self.serve()
        for size, status in ((9000, ""), (4000, "HTTP 416: ")):
            self.folder.write("v.bin", self.folder.read("v.bin")[:size])
            said = (f": {status}the file has only {size} bytes: expected bytes 8000 to 11999: it was truncated or "
                    "replaced: open it again")
            with self.assertRaisesRegex(RuntimeError, said):
                read(server.url(f"@{size}/refs.json"), 3)

    def test_interrupts_end_reads_with_a_callback_at_once(self):
        server = self.serve(options=["--latency-ms", "3000"])
        script = ("import os, signal, sys, threading, time\n"
                  "from osgeo import gdal, gdal_array  # which takes long\n"
                  "gdal.UseExceptions()\n"
                  "signal.signal(signal.SIGINT, signal.default_int_handler)  # shells may ignore it\n"
                  "dataset = gdal.Open(sys.argv[1])\n"
                  "timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))\n"
                  "def callback(done, message, data):\n"
                  "    if timer.ident is None:\n"
                  "        timer.start()  # now the read waits\n"
                  "    return True\n"
                  "begin = time.time()\n"
                  "try:\n"
                  "    dataset.ReadAsArray(callback=callback)\n"
                  "except RuntimeError as error:\n"
                  "    print('cancelled' in str(error), time.time() - begin < 2.5)\n")
        done = subprocess.run([sys.executable, "-c", script, f'REFS:"{server.url("refs.json")}":/v'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
        self.assertEqual(done.stdout, "True True\n", done.stderr)

    def serve_silent(self, stall_s):
        """The name of an array of four bands, the last of which takes that long."""
        server = self.serve(faults={"/3.bin": {"stall_s": stall_s}}, name="silent")
        metadata = {"zarr_format": 2, "shape": [4, 1, 100], "chunks": [1, 1, 100], "dtype": "<u1", "order": "C",
                    "compressor": None, "filters": None, "fill_value": None}
        refs = {"v/.zarray": json.dumps(metadata)}
        for band in range(4):
            refs[f"v/{band}.0.0"] = [server.url(f"{band}.bin"), 0, 100]
            with open(os.path.join(self.folder.served, f"{band}.bin"), "wb") as file:
                file.write(bytes(100))
        with open(os.path.join(self.folder.served, "four.json"), "w", encoding="utf-8") as file:
            json.dump({"version": 1, "refs": refs}, file)
        return f'REFS:"{server.url("four.json")}":/v'

    def test_callbacks_are_asked_while_a_server_is_silent(self):
        """That of GDAL's Python bindings is only called for another percent."""
        dataset = gdal.Open(self.serve_silent(6))
        begin = time.monotonic()
        with self.assertRaisesRegex(RuntimeError, "cancel"):
            dataset.ReadAsArray(callback=lambda *told: time.monotonic() - begin < 1)
        self.assertLess(time.monotonic() - begin, 4)

    def test_callbacks_of_copies_are_asked_while_a_server_is_silent(self):
        name = self.serve_silent(30)
        for kind, copy in {
                "raster": lambda to, callback: gdal.GetDriverByName("REFS").CreateCopy(
                    to, gdal.Open(name), options=["LAYOUT=CFA"], callback=callback),
                "multidim": lambda to, callback: gdal.MultiDimTranslate(
                    to, name.rsplit(":", 1)[0], format="REFS", creationOptions=["LAYOUT=CFA"], callback=callback)}.items():
            begin = time.monotonic()
            with self.subTest(kind), self.assertRaisesRegex(RuntimeError, "cancel"):
                copy(os.path.join(self.folder.path, kind + ".nca"), lambda *told: time.monotonic() - begin < 1)
            self.assertLess(time.monotonic() - begin, 15)

    def test_progress_never_falls_while_a_server_is_silent(self):
        server = self.serve(faults={"/v.bin": [{"drip_s": 0.0002, "skip": 0}]}, name="slow")
        dataset = gdal.Open(f'REFS:"{server.url("refs.json")}":/v')
        told = []
        dataset.ReadAsArray(callback=lambda done, *rest: told.append(done) or True)
        self.assertGreater(len(told), 3)
        self.assertEqual(told, sorted(told))
        self.assertEqual(told[-1], 1)

    def test_interrupts_go_on_to_handlers_of_the_program(self):
        """A handler that raises nothing is called once the read has ended, and is set again for what follows."""
        server = self.serve(faults={"/v.bin": {"stall_s": 5}}, name="handled")
        script = ("import os, signal, sys, threading, time\n"
                  "from osgeo import gdal, gdal_array\n"
                  "gdal.UseExceptions()\n"
                  "seen = []\n"
                  "signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))\n"
                  "dataset = gdal.Open(sys.argv[1])\n"
                  "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
                  "begin = time.time()\n"
                  "try:\n"
                  "    dataset.ReadAsArray()\n"
                  "except RuntimeError as error:\n"
                  "    print('cancelled' in str(error), time.time() - begin < 1.5)\n"
                  "print(seen == [signal.SIGINT])\n"
                  "os.kill(os.getpid(), signal.SIGINT)\n"
                  "print(seen == [signal.SIGINT] * 2)\n")
        done = subprocess.run([sys.executable, "-c", script, f'REFS:"{server.url("refs.json")}":/v'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
        self.assertEqual(done.stdout.split(), ["True"] * 4, done.stderr)

    def test_interrupts_end_all_that_a_call_opens_and_reads(self):
        """Also where GDAL goes on after a read that failed: to the coordinates of the next dimension."""
        server = self.serve(faults={"/c.bin": {"stall_s": 60}, "/silent.json": {"stall_s": 60}, "/silent.zip": {"stall_s": 60}},
                            name="opened")
        document = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<f8", "order": "C", "compressor": None, "filters": None,
                    "fill_value": None}
        refs = {"v/.zarray": json.dumps({**document, "shape": [4, 4]}), "v/.zattrs": '{"_ARRAY_DIMENSIONS": ["y", "x"]}'}
        for name in "yx":
            refs.update({f"{name}/.zarray": json.dumps(document), f"{name}/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": [name]}),
                         f"{name}/0": [server.url("c.bin"), 0, 32]})
        for name, content in (("c.bin", bytes(32)), ("silent.json", b"{}"), ("silent.zip", b"PK"),
                              ("grid.json", json.dumps({"version": 1, "refs": refs}))):
            self.folder.write(name, content)
        script = ("import os, signal, sys, threading, time\n"
                  "from osgeo import gdal, gdal_array\n"
                  "gdal.UseExceptions()\n"
                  "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                  "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
                  "begin = time.time()\n"
                  "try:\n"
                  "    try:\n"
                  "        dataset = gdal.OpenEx(sys.argv[1], gdal.OF_RASTER if sys.argv[2] == 'raster' else gdal.OF_MULTIDIM_RASTER)\n"
                  "        if sys.argv[2] == 'view':\n"
                  "            dataset.GetRootGroup().OpenMDArray('v').AsClassicDataset(1, 0)\n"
                  "    except RuntimeError:\n"
                  "        pass\n"
                  "    for _ in range(600):\n"
                  "        time.sleep(0.1)  # Python looks at its signals between calls\n"
                  "except KeyboardInterrupt:\n"
                  "    print(time.time() - begin < 20)\n")
        for name, kind in (("silent.json", "raster"), ("silent.json", "multidim"), ("silent.zip", "raster"), ("grid.json", "raster"),
                           ("grid.json", "view")):
            with self.subTest(name=name, kind=kind):
                within = "zip://x.json::" if name == "silent.zip" else ""
                text = f'REFS:"{within}{server.url(name)}"' + (":/v" if (name, kind) == ("grid.json", "raster") else "")
                done = subprocess.run([sys.executable, "-c", script, text, kind], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                      check=False)
                self.assertIn("True", done.stdout, done.stderr)

    def test_time_outs_end_what_gdal_itself_reads_of_a_silent_server(self):
        """Nothing else ends them: a call of GDAL's file systems cannot be cancelled (docs/security.md)."""
        stall = {"stall_s": 60}
        server = self.serve(faults={"/silent.json": stall, "/silent.zip": stall, "/target.zip": stall}, name="unasked")
        target = {"version": 1, "refs": {"v/.zarray": json.dumps({
            "zarr_format": 2, "shape": [4, 4], "chunks": [4, 4], "dtype": "|u1", "order": "C", "compressor": None, "filters": None,
            "fill_value": None}), "v/.zattrs": '{"_ARRAY_DIMENSIONS": ["y", "x"]}',
            "v/0.0": ["zip://v.bin::" + server.url("target.zip"), 0, 16]}}
        for name, content in (("silent.json", b"{}"), ("silent.zip", b"PK"), ("target.zip", b"PK"), ("target.json", json.dumps(target))):
            self.folder.write(name, content)
        script = ("import sys\n"
                  "from osgeo import gdal\n"
                  "gdal.UseExceptions()\n"
                  "try:\n"
                  "    gdal.OpenEx(sys.argv[1], gdal.OF_RASTER).ReadAsArray()\n"
                  "except RuntimeError:\n"
                  "    print('ended')\n")
        zip_of_gdal = "/vsizip//vsicurl/" + server.url("silent.zip") + "/x.json"
        for name, engine in ((server.url("silent.json"), "VSI"), (zip_of_gdal, "CURL"), (server.url("target.json"), "CURL")):
            for limit in ({"GDAL_HTTP_TIMEOUT": "1"}, {"GDAL_HTTP_LOW_SPEED_TIME": "1", "GDAL_HTTP_LOW_SPEED_LIMIT": "100"}):
                with self.subTest(name=name, limit=limit):
                    done = subprocess.run([sys.executable, "-c", script, f'REFS:"{name}"'], capture_output=True, text=True, check=False,
                                          timeout=50, env={**os.environ, **limit, "GDAL_HTTP_MAX_RETRY": "0", "REFS_HTTP_ENGINE": engine})
                    self.assertEqual(done.stdout, "ended\n", done.stderr)

    def test_interrupts_need_no_lock_of_python(self):
        """One thread reads with Python's lock held, as extensions may, and waits for what the first has requested:
        the first must not wait for that lock."""
        server = self.serve(faults={"/v.bin": {"stall_s": 1.5}}, name="locked")
        script = ("import ctypes, sys, threading, time\n"
                  "from osgeo import gdal, gdal_array\n"
                  "import numpy as np\n"
                  "gdal.UseExceptions()\n"
                  "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                  "library = ctypes.PyDLL(sys.argv[2])\n"
                  "library.GDALOpen.restype = ctypes.c_void_p\n"
                  "library.GDALOpen.argtypes = [ctypes.c_char_p, ctypes.c_int]\n"
                  "library.GDALDatasetRasterIO.argtypes = [ctypes.c_void_p] + [ctypes.c_int] * 5 + [ctypes.c_void_p] + "
                  "[ctypes.c_int] * 4 + [ctypes.c_void_p] + [ctypes.c_int] * 3\n"
                  "other = library.GDALOpen(sys.argv[1].encode(), 0)\n"
                  "dataset = gdal.Open(sys.argv[1])\n"
                  "n, bands = dataset.RasterXSize, dataset.RasterCount\n"
                  "values = np.zeros(n * bands, 'i4')\n"
                  "def read():\n"
                  "    time.sleep(0.3)\n"
                  "    library.GDALDatasetRasterIO(other, 0, 0, 0, n, 1, values.ctypes.data, n, 1, 5, bands, None, 0, 0, 0)\n"
                  "thread = threading.Thread(target=read)\n"
                  "thread.start()\n"
                  "whole = dataset.ReadAsArray()\n"
                  "thread.join()\n"
                  "print((whole.ravel() == values).all())\n")
        library = ctypes.util.find_library("gdal")
        done = subprocess.run([sys.executable, "-c", script, f'REFS:"{server.url("refs.json")}":/v', library],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True, timeout=60)
        self.assertEqual(done.stdout, "True\n", done.stderr)

    def test_interrupts_end_reads_without_a_callback_within_a_second(self):
        server = self.serve(faults={"/v.bin": {"stall_s": 5}}, name="interrupted")
        script = ("import os, signal, sys, threading, time\n"
                  "from osgeo import gdal, gdal_array  # which takes long\n"
                  "gdal.UseExceptions()\n"
                  "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                  "root = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER).GetRootGroup()\n"
                  "for reads in (gdal.Open(f'{sys.argv[1]}:/v'), root.OpenMDArray('v')):\n"
                  "    begin = time.time()\n"
                  "    try:\n"
                  "        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
                  "        try:\n"
                  "            reads.ReadAsArray()\n"
                  "        except RuntimeError as error:\n"
                  "            print('cancelled' in str(error))\n"
                  "        print('not interrupted')\n"
                  "    except KeyboardInterrupt:\n"
                  "        print(time.time() - begin < 1.3)\n")
        done = subprocess.run([sys.executable, "-c", script, f'REFS:"{server.url("refs.json")}"'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("False", done.stdout)
        self.assertNotIn("not interrupted", done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1:], ["True"], done.stderr)

    def test_interrupts_end_reads_of_gdals_file_systems_between_two_calls(self):
        self.folder.write_array(600, 1000, chunk_gap=100000)
        server = self.serve(options=["--latency-ms", "300"], name="interrupted-vsi")
        script = ("import os, signal, sys, threading\n"
                  "from osgeo import gdal, gdal_array  # which takes long\n"
                  "gdal.UseExceptions()\n"
                  "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                  "dataset = gdal.Open(sys.argv[1])\n"
                  "try:\n"
                  "    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
                  "    try:\n"
                  "        dataset.ReadAsArray()\n"
                  "    except RuntimeError as error:\n"
                  "        print('cancelled' in str(error))\n"
                  "    print('not interrupted')\n"
                  "except KeyboardInterrupt:\n"
                  "    print('interrupted')\n")
        done = subprocess.run([sys.executable, "-c", script, f'REFS:"{server.url("refs.json")}":/v'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                              env={**os.environ, "REFS_HTTP_ENGINE": "VSI"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1:], ["interrupted"], done.stdout + done.stderr)
        at_a_time = 64  # ranges of a call, of which one may begin after the signal, on a slow machine a few
        self.assertLessEqual(len(server.requests("v.bin")), 4 * at_a_time)

    def test_interrupts_leave_the_failure_of_their_read_readable(self):
        """Python printed "lost sys.stderr" and a dump of the exception where nobody caught it."""
        server = self.serve(faults={"/v.bin": {"stall_s": 5}}, name="interrupted-print")
        script = ("import os, signal, sys, threading\n"
                  "from osgeo import gdal\n"
                  "gdal.UseExceptions()\n"
                  "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                  "dataset = gdal.Open(sys.argv[1])\n"
                  "band = dataset.GetRasterBand(1)\n"
                  "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n")
        for read in ("band.ReadRaster()", "band.Checksum()", "band.ComputeStatistics(False)"):
            done = subprocess.run([sys.executable, "-c", script + read, f'REFS:"{server.url("refs.json")}":/v'],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            self.assertIn(done.returncode, (1, -signal.SIGINT), done.stderr)
            self.assertNotIn("lost sys.stderr", done.stderr)
            self.assertRegex(done.stderr, "RuntimeError: |KeyboardInterrupt", read)

    def test_interrupts_end_opening_within_a_second(self):
        server = self.serve(faults={"/refs.json": {"stall_s": 5}}, name="interrupted-open")
        script = ("import os, signal, sys, threading, time\n"
                  "from osgeo import gdal\n"
                  "gdal.UseExceptions()\n"
                  "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                  "begin = time.time()\n"
                  "try:\n"
                  "    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
                  "    try:\n"
                  "        gdal.Open(sys.argv[1])\n"
                  "    except RuntimeError as error:\n"
                  "        print('cancelled' in str(error))\n"
                  "    print('not interrupted')\n"
                  "except KeyboardInterrupt:\n"
                  "    print(time.time() - begin < 1.3)\n")
        done = subprocess.run([sys.executable, "-c", script, f'REFS:"{server.url("refs.json")}"'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1:], ["True"], done.stdout + done.stderr)

    def test_a_server_that_went_away_may_come_back(self):
        server = self.serve()
        dataset = gdal.Open(f'REFS:"{server.url("refs.json")}":/v')
        dataset.GetRasterBand(1).ReadAsArray()
        server.close()
        with self.assertRaisesRegex(RuntimeError, "after 5 attempts: Failed to connect"):
            dataset.GetRasterBand(2).ReadAsArray()

    def test_retry_after_is_obeyed(self):
        for name, text in (("seconds", "1"), ("date", "{now+2}")):
            with self.subTest(name):
                server = self.serve(faults={"/v.bin": {
                    "status": 429, "headers": {"Retry-After": text}, "times": 1}}, name=name)
                self.assertEqual(read(server.url("refs.json")), self.values)
                first, second = [r["at"] for r in server.requests("v.bin")]
                self.assertGreaterEqual(second - first, 0.9)

    def test_codes_to_retry_can_be_chosen(self):
        with options(GDAL_HTTP_RETRY_CODES="418,500"):
            server = self.serve(faults={"/v.bin": {"status": 418, "times": 2},
                                        "/@x/v.bin": {"status": 503, "times": 2}})
            self.assertEqual(read(server.url("refs.json")), self.values)
            self.assertIn("HTTP 503", self.fails(server.url("@x/refs.json")))
            self.assertEqual(len(server.requests("/@x/v.bin")), 1)

    def test_what_came_is_not_asked_for_again(self):
        server = self.serve(faults={"/v.bin": {"reset_after": 5000, "times": 1}})
        self.assertEqual(read(server.url("refs.json")), self.values)
        first, second = [r["headers"]["range"] for r in server.requests("v.bin")]
        self.assertEqual(first, "bytes=0-11999")
        begin, last = re.fullmatch(r"bytes=(\d+)-(\d+)", second).groups()
        self.assertTrue(0 < int(begin) <= 5000, second)
        self.assertEqual(last, "11999")

    def test_the_rest_of_an_object_is_not_asked_for_where_it_may_have_changed_since(self):
        """Its date is of the second of the answer, or nearly so where the server does not date answers."""
        now = time.time()
        meta = {"zarr_format": 2, "shape": [len(self.values)], "chunks": [len(self.values)], "dtype": "<i4", "compressor": None,
                "filters": None, "fill_value": None, "order": "C"}  # fmt: skip
        self.folder.write("whole.json", json.dumps({".zgroup": '{"zarr_format":2}', "v/.zarray": json.dumps(meta),
                                                    "v/.zattrs": '{"_ARRAY_DIMENSIONS":["x"]}', "v/0": ["v.bin"]}))  # fmt: skip
        for name, ago, date, resumes in (("now", 0, None, False), ("minute", 30, None, False), ("hour", 3600, None, True),
                                         ("dated", 0, now, False), ("then", 30, now, True)):
            headers = {"ETag": None, "Last-Modified": formatdate(now - ago, usegmt=True), "Date": formatdate(date, usegmt=True) if date else None}
            with self.subTest(name):
                server = self.serve(faults={"/v.bin": [{"reset_after": 5000, "times": 1, "headers": headers}, {"headers": headers}]}, name=name)
                self.assertEqual(read(server.url("whole.json")), self.values)
                asked = [request["headers"].get("range") for request in server.requests("v.bin")]
                self.assertEqual(asked, [None, "bytes=5000-" if resumes else None])

    def test_a_server_without_ranges_is_asked_once_for_each_file(self):
        server = self.serve(faults={"/v.bin": {"ignore_range": True}})
        dataset = gdal.Open(f'REFS:"{server.url("refs.json")}":/v')
        for band in range(1, 4):
            self.assertEqual(dataset.GetRasterBand(band).ReadAsArray().ravel().tolist(),
                             self.values[(band - 1) * 1000:band * 1000])
        # The first answer is given up, for the whole file serves all that follows.
        self.assertEqual([r["headers"].get("range") for r in server.requests("v.bin")],
                         ["bytes=0-3999", None])

    def test_a_large_file_of_such_a_server_takes_little_memory(self):
        with open(os.path.join(self.folder.served, "v.bin"), "r+b") as file:
            data = file.read()
            file.truncate(0)
            file.truncate(150 << 20)
            file.seek(140 << 20)
            file.write(data)
        refs = os.path.join(self.folder.served, "refs.json")
        with open(refs, encoding="utf-8") as file:
            text = file.read()
        for band in range(3):
            text = text.replace(f'"v.bin", {band * 4000},', f'"v.bin", {(140 << 20) + band * 4000},')
        self.folder.write("refs.json", text)
        for name, fault in (("length", {"ignore_range": True}),
                            ("chunked", {"ignore_range": True, "chunked": True})):
            with self.subTest(name):
                server = self.serve(faults={"/v.bin": fault}, name=name)
                code = (f"from osgeo import gdal; import resource, sys\n"
                        f"gdal.UseExceptions()\n"
                        f"gdal.Open('data/x') if 0 else None\n"
                        f"before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
                        f"d = gdal.Open('REFS:\"{server.url('refs.json')}\":/v')\n"
                        f"assert d.ReadAsArray().ravel().tolist() == list(range(3000))\n"
                        f"print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)")
                grown_kib = int(subprocess.run([sys.executable, "-c", code], check=True,
                                               stdout=subprocess.PIPE).stdout)
                self.assertLess(grown_kib, 64 << 10)

    def test_no_head_is_ever_sent(self):
        server = self.serve()
        gdal.Open(f"REFS:{server.url('refs.json')}")
        read(server.url("refs.json"))
        self.assertEqual({r["method"] for r in server.requests()}, {"GET"})


class LongRanges(Case):
    """One chunk of 36 MB, which several connections bring."""
    rows, columns = 6000, 6000

    def setUp(self):
        super().setUp()
        self.pixels = np.random.default_rng(1).integers(0, 256, (self.rows, self.columns), dtype="u1")
        stored = zlib.compress(self.pixels.tobytes(), 0)
        with open(os.path.join(self.folder.served, "long.bin"), "wb") as out:
            out.write(b"before" + stored + b"behind")
        array = {"zarr_format": 2, "shape": [self.rows, self.columns], "chunks": [self.rows, self.columns],
                 "dtype": "|u1", "order": "C", "fill_value": None, "filters": None,
                 "compressor": {"id": "zlib", "level": 0}}
        refs = {".zgroup": '{"zarr_format":2}', "v/.zarray": json.dumps(array),
                "v/0.0": ["long.bin", 6, len(stored)]}
        with open(os.path.join(self.folder.served, "long.json"), "w") as out:
            json.dump({"version": 1, "refs": refs}, out)
        self.size = len(stored)

    def read_long(self, server):
        """Without coordinates the last row is the first one, as with the netCDF driver."""
        return gdal.Open(f'REFS:"{server.url("long.json")}":/v').ReadAsArray()[::-1]

    def ranges(self, server):
        return [tuple(int(n) for n in r["headers"]["range"].removeprefix("bytes=").split("-"))
                for r in server.requests("long.bin") if "range" in r["headers"]]

    def test_come_in_parts_each_byte_once(self):
        server = self.serve(options=["--latency-ms", "20"])
        self.assertTrue((self.read_long(server) == self.pixels).all())
        parts = sorted(self.ranges(server))
        self.assertEqual(len(parts), 17)
        self.assertEqual((parts[0][0], parts[-1][1]), (6, 5 + self.size))
        self.assertTrue(all(b[0] == a[1] + 1 for a, b in zip(parts, parts[1:])))
        self.assertGreater(max(r["under_way"] for r in server.requests("long.bin")), 1)

    def test_a_part_that_fails_is_asked_for_again_alone(self):
        for fault in ({"reset_after": 1000000}, {"status": 503}, {"at_most": 1500000}):
            with self.subTest(fault):
                server = self.serve(faults={"/long.bin": {**fault, "skip": 1, "times": 1}}, name=str(list(fault)))
                self.assertTrue((self.read_long(server) == self.pixels).all())
                self.assertEqual(len(self.ranges(server)), 18)

    def test_parts_are_as_long_as_the_option_says(self):
        server = self.serve()
        with options(REFS_MAX_BLOCK="10000000"):
            self.assertTrue((self.read_long(server) == self.pixels).all())
        self.assertEqual(len(self.ranges(server)), 3)

    def test_come_whole_where_ranges_are_ignored(self):
        server = self.serve(faults={"/long.bin": {"ignore_range": True}})
        self.assertTrue((self.read_long(server) == self.pixels).all())

    def test_parts_of_two_states_are_an_error(self):
        server = self.serve(faults={"/long.bin": [{"headers": {"ETag": '"1"'}, "times": 2},
                                                  {"headers": {"ETag": '"2"'}}]})
        with self.assertRaisesRegex(RuntimeError, "was replaced"):
            self.read_long(server)

    def test_what_is_missing_at_the_end_is_an_error(self):
        server = self.serve()
        os.truncate(os.path.join(self.folder.served, "long.bin"), self.size - 100)
        with self.assertRaisesRegex(RuntimeError, "long.bin.*bytes"):
            self.read_long(server)


class Connections(Case):
    bands, width = 40, 100

    def setUp(self):
        super().setUp()
        # Too far apart to be merged.
        self.folder.write_array(self.bands, self.width, chunk_gap=100000)

    def test_requests_in_flight_are_bounded(self):
        script = ("from osgeo import gdal; import sys\n"
                  "gdal.UseExceptions()\n"
                  "a = gdal.Open(sys.argv[1]).ReadAsArray().ravel().tolist()\n"
                  "assert a == list(range(4000))")
        for most in (1, 3, None):
            with self.subTest(most):
                server = self.serve(options=["--latency-ms", "100"], name=str(most))
                env = {**os.environ, **({"REFS_HTTP_MAX_REQUESTS": str(most)} if most else {})}
                subprocess.run([sys.executable, "-c", script, f'REFS:"{server.url("refs.json")}":/v'],
                               check=True, env=env)
                asked = server.requests("v.bin")
                self.assertEqual(len(asked), self.bands)
                self.assertLessEqual(max(r["under_way"] for r in asked), most or 64)
                if most is None:
                    self.assertGreater(max(r["under_way"] for r in asked), 3)
                self.assertLessEqual(len({r["connection"] for r in asked}), (most or 64) + 1)

    def test_requests_in_flight_grow_where_latency_takes_the_time(self):
        self.folder.write_array(200, self.width, chunk_gap=100000)
        server = self.serve(options=["--latency-ms", "100"])
        begin = time.monotonic()
        self.assertEqual(read(server.url("refs.json")), list(range(200 * self.width)))
        self.assertLess(time.monotonic() - begin, 1.3, "1.4 s with 16 at a time")
        under_way = [r["under_way"] for r in server.requests("v.bin")]
        self.assertGreater(max(under_way[:64]), 40, "as many a second as 16 at 30 ms")

    def test_requests_in_flight_grow_before_the_first_answer(self):
        server = self.serve(options=["--latency-ms", "500"])
        script = ("from osgeo import gdal; import sys; gdal.UseExceptions()\n"
                  "assert gdal.Open(sys.argv[1]).ReadAsArray().ravel().tolist() == list(range(4000))")
        subprocess.run([sys.executable, "-c", script, f'REFS:"{server.url("refs.json")}":/v'], check=True)
        under_way = [r["under_way"] for r in server.requests("v.bin")]
        self.assertEqual(max(under_way), self.bands, "16, and then 24 more")

    def test_bands_that_are_copied_one_by_one_cost_one_round_trip(self):
        bands = 60
        self.folder.write_array(bands, self.width, chunk_gap=100000)
        server = self.serve(options=["--latency-ms", "300"])
        with options(REFS_READ_AHEAD="YES"):
            copy = gdal.Translate("", f'REFS:"{server.url("refs.json")}":/v', format="MEM")
        self.assertEqual(copy.ReadAsArray().ravel().tolist(), list(range(bands * self.width)))
        asked = [r["at"] for r in server.requests("v.bin")]
        self.assertEqual(len(asked), bands)
        self.assertLess(asked[-1] - asked[0], 0.3, "all were asked for before the first answer")

    def test_large_reads_come_in_several_requests(self):
        self.folder.write_array(16, 1 << 18)
        server = self.serve(options=["--latency-ms", "100"])
        self.assertEqual(read(server.url("refs.json")), list(range(16 << 18)))
        asked = [r["headers"]["range"] for r in server.requests("v.bin")]
        self.assertEqual(len(asked), 8, asked)

    def test_are_several_where_they_cannot_be_shared(self):
        server = self.serve(tls=True, options=["--latency-ms", "200"])
        with options(CURL_CA_BUNDLE=CERTIFICATE):
            self.assertEqual(read(server.url("refs.json")), self.values)
        self.assertGreater(max(r["under_way"] for r in server.requests("v.bin")), 1)

    def test_are_used_again_across_datasets_and_threads(self):
        server = self.serve()
        with options(GDAL_NUM_THREADS="1"):
            for label in ("@1", "@2", "@3"):
                read(server.url(f"{label}/refs.json"), 1)
            self.assertEqual(len({r["connection"] for r in server.requests()}), 1)
            threads = [threading.Thread(target=read, args=(server.url(f"@t{n}/refs.json"), 1))
                       for n in range(3)]
            for thread in threads:
                thread.start()
                thread.join()
        # One for each thread that waits at the same time.
        self.assertEqual(len(server.requests()), 12)
        self.assertLessEqual(len({r["connection"] for r in server.requests()}), 3)

    def test_that_the_server_closed_are_opened_again(self):
        server = self.serve(faults={"/v.bin": {"close": True}})
        self.assertEqual(read(server.url("refs.json")), self.values)

    def check_children(self, server):
        dataset = gdal.Open(f'REFS:"{server.url("refs.json")}":/v')
        first = dataset.GetRasterBand(1).ReadAsArray().ravel().tolist()
        self.assertEqual(first, self.values[:100])
        before = {r["connection"] for r in server.requests()}
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            same = dataset.GetRasterBand(2).ReadAsArray().ravel().tolist()
            other = read(server.url("@child/refs.json"))
            dataset = None
            gdal.GetDriverByName("REFS").Deregister()
            os._exit(0 if same == self.values[100:200] and other == self.values else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        third = dataset.GetRasterBand(3).ReadAsArray().ravel().tolist()
        self.assertEqual(third, self.values[200:300])
        asked = server.requests()
        of_child = {r["connection"] for r in asked[2:-1]}
        self.assertFalse(before & of_child, asked)
        self.assertIn(asked[-1]["connection"], before)

    def test_are_not_shared_with_children(self):
        self.check_children(self.serve())

    def test_are_not_closed_by_children(self):
        with options(CURL_CA_BUNDLE=CERTIFICATE):
            self.check_children(self.serve(tls=True))

    def test_are_not_waited_for_by_children(self):
        os.utime(os.path.join(self.folder.served, "refs.json"), (1e9, 1e9))  # so that it is kept
        server = self.serve(options=["--latency-ms", "100"])
        with options(REFS_READ_AHEAD="YES"):
            dataset = gdal.Open(f'REFS:"{server.url("refs.json")}":/v')
            for band in range(1, 5):
                dataset.GetRasterBand(band).ReadAsArray()
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                same = dataset.ReadAsArray().ravel().tolist()
                other = read(server.url("refs.json"))
                os._exit(0 if same == self.values and other == self.values else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(dataset.ReadAsArray().ravel().tolist(), self.values)

    def test_close_with_their_dataset_though_answers_are_due(self):
        refs = json.loads(self.folder.read("refs.json"))
        for band in range(3, self.bands):
            refs[f"v/{band}.0.0"][0] = "ahead.bin"
        self.folder.write("refs.json", json.dumps(refs))
        self.folder.write("ahead.bin", self.folder.read("v.bin"))
        server = self.serve(faults={"/ahead.bin": {"stall_s": 60}})
        script = (
            "from osgeo import gdal; import os, sys\n"
            "gdal.UseExceptions()\n"
            "d = gdal.Open(sys.argv[1])\n"
            "for b in 1, 2, 3: d.GetRasterBand(b).ReadAsArray()\n"
            "while not any('ahead.bin' in line for line in open(sys.argv[2])): pass\n"
            "d = None\n")
        # Far less than the stall, and far more than it takes.
        subprocess.run([sys.executable, "-c", script, f'REFS:"{server.url("refs.json")}":/v',
                        server.detail], check=True, timeout=30,
                       env={**os.environ, "REFS_READ_AHEAD": "YES",
                            "REFS_HTTP_MAX_REQUESTS": "64"})  # for all that is ahead, and more

    def test_close_with_their_dataset_though_answers_are_due_to_others(self):
        others = 12  # more than threads that prefetch
        for number in range(others):
            refs = json.loads(self.folder.read("refs.json"))
            for band in range(3, self.bands):
                refs[f"v/{band}.0.0"][0] = f"ahead{number}.bin"
            self.folder.write(f"other{number}.json", json.dumps(refs))
            self.folder.write(f"ahead{number}.bin", self.folder.read("v.bin"))
        server = self.serve(faults={f"/ahead{number}.bin": {"stall_s": 60}
                                    for number in range(others)})
        script = (
            "from osgeo import gdal; import os, sys, time\n"
            "gdal.UseExceptions()\n"
            "def begin(name):\n"
            "    d = gdal.Open(f'REFS:\"{sys.argv[1]}{name}.json\":/v')\n"
            "    for b in 1, 2, 3: d.GetRasterBand(b).ReadAsArray()\n"
            "    return d\n"
            f"others = [begin(f'other{{number}}') for number in range({others})]\n"
            "while not any('ahead' in line for line in open(sys.argv[2])): pass\n"
            "d = begin('refs')\n"
            "began = time.monotonic()\n"
            "d = None\n"
            "seconds = time.monotonic() - began\n"
            "assert seconds < 1, seconds\n")
        subprocess.run([sys.executable, "-c", script, server.url(""), server.detail], check=True,
                       timeout=30, env={**os.environ, "REFS_READ_AHEAD": "YES",
                                        "REFS_HTTP_MAX_REQUESTS": "64"})


class Limits(Case):
    """Servers that put up with so many requests at a time, or in a second, and no more."""

    bands, width = 200, 100

    def setUp(self):
        super().setUp()
        gdal.SetConfigOption("GDAL_HTTP_RETRY_DELAY", None)  # as by default
        self.folder.write_array(self.bands, self.width, chunk_gap=100000)

    def read_within(self, least_s, times, *arguments, refused=0.1):
        """Reads from a server that cannot be read from faster than so: in the best of three reads,
        each from a new server, since others may be at work on this machine."""
        said = []
        for _ in range(3):
            took, n_refused, n_later = self.read_once(*arguments)
            if took < times * least_s and n_refused <= refused * n_later:
                return
            said.append(f"{took:.2f} s, {n_refused} of {n_later} refused after the first second")
        self.fail("; ".join(said))

    def read_once(self, *arguments):
        """Seconds, and how many requests after the first second were refused, of how many."""
        server = self.serve(options=arguments)
        dataset = gdal.Open(f'REFS:"{server.url("refs.json")}":/v')
        begin = time.monotonic()
        self.assertEqual(dataset.ReadAsArray().ravel().tolist(), self.values)
        took = time.monotonic() - begin
        asked = server.requests("v.bin")
        later = [r["refused"] for r in asked if r["at"] > asked[0]["at"] + 1]
        return took, sum(later), len(later)

    def test_of_requests_at_a_time_are_kept(self):
        self.read_within(2.6, 1.3, "--latency-ms", "50", "--max-under-way", "4")

    def test_of_requests_a_second_are_kept(self):
        self.read_within(9.8, 1.3, "--requests-per-second", "20")

    def test_of_requests_a_second_that_say_when_to_come_back_are_kept(self):
        for status in (429, 503):
            with self.subTest(status):
                self.read_within(9.8, 1.5, "--requests-per-second", "20", "--retry-after", "1")

    def test_of_bursts_are_kept(self):
        self.read_within(9.0, 1.3, "--requests-per-second", "20", "--burst", "20")

    def test_that_say_when_to_come_back_are_kept(self):
        self.read_within(9.0, 1.5, "--requests-per-second", "20", "--burst", "20", "--retry-after", "1",
                         refused=0.15)

    def write_files(self, n):
        """A set of n files of a chunk each; the names of the chunks' paths."""
        self.folder.write_array(n, self.width)
        refs = json.loads(self.folder.read("refs.json"))
        for band in range(n):
            refs[f"v/{band}.0.0"][0] = f"@{band}/v.bin"
        self.folder.write("refs.json", json.dumps(refs))
        return [f"/@{band}/v.bin" for band in range(n)]

    def read_files(self, n, n_refused, *arguments, at_once=True):
        """Seconds of a read of n files, the first request of n_refused of which is refused and asked
        to come back after a second, and the longest time between the first requests for the last
        fifty of them: these do not wait for that second."""
        paths = self.write_files(n)
        server = self.serve(options=arguments, faults={path: {
            "status": 429, "headers": {"Retry-After": "1"}, "times": 1} for path in paths[:n_refused]})
        with options(REFS_READ_AHEAD="NO"):
            dataset = gdal.Open(f'REFS:"{server.url("refs.json")}":/v')
            begin = time.monotonic()
            values = (dataset.ReadAsArray().ravel().tolist() if at_once else
                      [value for band in range(n)
                       for value in dataset.GetRasterBand(band + 1).ReadAsArray()[0].tolist()])
        took = time.monotonic() - begin
        self.assertEqual(values, list(range(n * self.width)))
        first = {}
        for request in server.requests("v.bin"):
            first.setdefault(request["path"], request["at"])
        asked = sorted(first.values())[-50:]
        return took, max(b - a for a, b in zip(asked, asked[1:]))

    def read_files_within(self, seconds, longest_gap, n, n_refused, *arguments, at_once=True):
        """The best of three readings, since others may be at work."""
        for _ in range(3):
            took, gap = self.read_files(n, n_refused, *arguments, at_once=at_once)
            if took < seconds and gap < longest_gap:
                return
        self.fail(f"{took} s, longest gap {gap} s")

    def test_are_not_learned_from_refusals_of_single_files(self):
        self.read_files_within(4, 0.3, 100, 12)  # few are under way together where each takes no time

    def test_are_not_learned_from_refusals_of_single_files_of_a_slow_server(self):
        self.read_files_within(4, 0.3, 200, 12, "--latency-ms", "50")

    def test_are_not_learned_from_one_file_after_the_other(self):
        self.read_files_within(6, 0.5, 60, 4, at_once=False)

    def test_do_not_let_one_object_be_tried_for_ever(self):
        self.folder.write_array(3, self.width, name="three.json")
        for i in range(20):
            asked, n_between = self.ask_for_bad_beside_others(f"bad{i}")
            self.assertLessEqual(asked, 13)
            if n_between >= 2:  # of two answers to a thread the first has arrived
                break
        self.assertGreaterEqual(n_between, 2)
        self.assertGreater(asked, 2)

    def ask_for_bad_beside_others(self, name):
        """How often an object is asked for that is always refused, and how many others were answered
        between the first two times."""
        server = self.serve(faults={"/@bad/v.bin": {"status": 503}}, name=name)
        ended = threading.Event()

        def read_others():
            while not ended.is_set():
                read(server.url("three.json"), 1)

        with options(GDAL_HTTP_MAX_RETRY="1", GDAL_HTTP_RETRY_DELAY="0.02", REFS_TRUST_SECONDS="0"):
            others = threading.Thread(target=read_others)
            others.start()
            try:
                self.assertIn("HTTP 503", self.fails(server.url("@bad/three.json")))
            finally:
                ended.set()
                others.join()
        is_bad = [request["path"] == "/@bad/v.bin" for request in server.requests()
                  if request["path"].endswith("/v.bin")]
        first = is_bad.index(True)
        return sum(is_bad), (is_bad + [True])[first + 1:].index(True)


class Replaced(Case):
    """Objects that change while they are read."""

    def read_bands(self, url):
        dataset = gdal.Open(f'REFS:"{url}":/v')
        return [dataset.GetRasterBand(band).ReadAsArray().ravel().tolist() for band in (1, 2, 3)]

    def expect_error(self, name, first, second):
        server = self.serve(faults={"/v.bin": [{"headers": first, "times": 1}, {"headers": second}]},
                            name=name)
        dataset = gdal.Open(f'REFS:"{server.url("refs.json")}":/v')
        self.assertEqual(dataset.GetRasterBand(1).ReadAsArray().ravel().tolist(),
                         self.values[:1000])
        with self.assertRaisesRegex(RuntimeError, f"replaced while it was read: its {name} differs"):
            dataset.GetRasterBand(2).ReadAsArray()
        # Who opens the set again starts over.
        del dataset
        self.assertEqual(read(server.url("refs.json")), self.values)

    def test_are_known_by_their_etag(self):
        self.expect_error("ETag", {"ETag": '"1"'}, {"ETag": '"2"'})

    def test_are_known_by_their_date(self):
        self.expect_error("Last-Modified", {"Last-Modified": "Sat, 01 Jan 2000 00:00:00 GMT"},
                          {"Last-Modified": "Sat, 01 Jan 2000 00:00:01 GMT"})

    def test_are_known_by_their_size(self):
        nothing = {"Last-Modified": None}
        self.expect_error("size", {**nothing, "Content-Range": "bytes {begin}-{last}/{size}"},
                          {**nothing, "Content-Range": "bytes {begin}-{last}/99999"})

    def test_are_not_those_of_which_an_answer_is_cut(self):
        """The ETag says that it is the same object."""
        same = {"ETag": '"1"'}
        server = self.serve(faults={"/v.bin": [
            {"headers": {**same, "Content-Range": "bytes {begin}-{last}/{size}"}, "times": 1},
            {"headers": {**same, "Content-Range": "bytes {begin}-{last}/99999"}}]}, name="cut")
        dataset = gdal.Open(f'REFS:"{server.url("refs.json")}":/v')
        dataset.GetRasterBand(1).ReadRaster()
        with self.assertRaisesRegex(RuntimeError, "expected [0-9]+ bytes, found 99999 with the same ETag"):
            dataset.GetRasterBand(2).ReadRaster()

    def test_are_known_within_one_request_that_is_resumed(self):
        server = self.serve(faults={"/v.bin": [
            {"headers": {"ETag": '"1"'}, "reset_after": 5000, "times": 1},
            {"headers": {"ETag": '"2"'}}]})
        self.assertIn("replaced while it was read: its ETag differs", self.fails(server.url("refs.json")))

    def test_are_known_within_a_range_that_is_sent_in_parts(self):
        """The object is fresh: its date is that of the answer, so that another one in the same second proves nothing."""
        for number, (what, one, other) in enumerate((("ETag", {"ETag": '"1"'}, {"ETag": '"2"'}),
                                                     ("ETag", {"ETag": 'W/"1"'}, {"ETag": 'W/"2"'}),
                                                     ("size", {}, {"Content-Range": "bytes {begin}-{last}/99999"}),
                                                     ("Last-Modified", {"Date": "{second_after}"},
                                                      {"Date": "{second_after}", "Last-Modified": "{second_after}"}))):
            for later in ({}, {"at_most": 5000}):
                with self.subTest(what, one=one, later=later):
                    os.utime(os.path.join(self.folder.served, "v.bin"))
                    server = self.serve(faults={"/v.bin": [{"headers": {"Last-Modified": "{modified}", **one}, "at_most": 5000, "times": 1},
                                                           {"headers": {"Last-Modified": "{modified}", **other}, **later}]},
                                        name=f"{number}{len(later)}")
                    self.assertIn(f"replaced while it was read: its {what} differs", self.fails(server.url("refs.json")))

    def test_are_not_those_whose_etag_became_weak(self):
        server = self.serve(faults={"/v.bin": [{"headers": {"ETag": '"1"'}, "times": 1},
                                               {"headers": {"ETag": 'W/"1"'}}]})
        self.assertEqual(sum(self.read_bands(server.url("refs.json")), []), self.values)


class Redirects(Case):
    """Where redirects lead, what goes along, and what does not."""

    secrets = {"GDAL_HTTP_HEADERS": "Authorization: Bearer abc,X-Api-Key: key", "GDAL_HTTP_COOKIE": "s=1"}
    sent = {"authorization": "Bearer abc", "x-api-key": "key", "cookie": "s=1"}

    def redirect(self, target, query=""):
        fault = {"status": 302, "headers": {"Location": target + "{path}" + query}}
        return {"/@from/refs.json": fault, "/@from/v.bin": dict(fault)}

    def secrets_of(self, server, label, n=2):
        found = [r["headers"] for r in server.requests() if r["path"].startswith(f"/{label}/")]
        self.assertEqual(len(found), n)
        return [{name: headers.get(name) for name in self.sent} for headers in found]

    def test_within_a_host_take_credentials_along(self):
        server = self.serve(faults=self.redirect("/@to"))
        with options(**self.secrets):
            self.assertEqual(read(server.url("@from/refs.json")), self.values)
        self.assertEqual(self.secrets_of(server, "@from"), [self.sent] * 2)
        self.assertEqual(self.secrets_of(server, "@to"), [self.sent] * 2)

    def test_to_another_host_drop_credentials(self):
        nothing = {name: None for name in self.sent}
        rows = [("host", "http://localhost:{port}/@to", None), ("port", None, {})]
        for name, target, more in rows:
            with self.subTest(name):
                other = self.serve(name=f"{name}-other") if more is not None else None
                server = self.serve(faults=self.redirect(target or other.url("@to")), name=name)
                with options(**self.secrets):
                    self.assertEqual(read(server.url("@from/refs.json")), self.values)
                self.assertEqual(self.secrets_of(server, "@from"), [self.sent] * 2)
                self.assertEqual(self.secrets_of(other or server, "@to"), [nothing] * 2)

    def test_to_another_host_drop_users_and_passwords(self):
        server = self.serve(faults=self.redirect("http://localhost:{port}/@to"))
        with options(GDAL_HTTP_USERPWD="user:pass"):
            self.assertEqual(read(server.url("@from/refs.json")), self.values)
        basic = "Basic dXNlcjpwYXNz"
        self.assertEqual([s["authorization"] for s in self.secrets_of(server, "@from")], [basic] * 2)
        self.assertEqual([s["authorization"] for s in self.secrets_of(server, "@to")], [None] * 2)

    def test_within_a_host_keep_the_user_of_the_url(self):
        server = self.serve(faults=self.redirect("http://127.0.0.1:{port}/@to"))
        url = server.url("@from/refs.json").replace("://", "://user:pass@")
        self.assertEqual(read(url), self.values)
        self.assertEqual([s["authorization"] for s in self.secrets_of(server, "@to")],
                         ["Basic dXNlcjpwYXNz"] * 2)

    def test_and_back_bring_credentials_again(self):
        there = {"status": 302, "headers": {"Location": "http://localhost:{port}/@away{path}"}}
        back = {"status": 302, "headers": {"Location": "http://127.0.0.1:{port}/@to{path}"}}
        server = self.serve(faults={"/@from/refs.json": there, "/@from/v.bin": dict(there),
                                    "/@away/refs.json": back, "/@away/v.bin": dict(back)})
        with options(**self.secrets):
            self.assertEqual(read(server.url("@from/refs.json")), self.values)
        self.assertEqual(self.secrets_of(server, "@away"), [{n: None for n in self.sent}] * 2)
        self.assertEqual(self.secrets_of(server, "@to"), [self.sent] * 2)

    def test_to_a_signed_url_carry_nothing_else(self):
        with open(self.folder.file(".netrc"), "w", encoding="utf-8") as file:
            file.write("default login user password pass\n")
        for query in ("?X-Amz-Signature=0", "?a=1&X-Goog-Signature=0", "?Expires=1&Signature=0&x=1",
                      "?sv=1&sig=0"):
            for host in ("127.0.0.1", "localhost"):
                with self.subTest(query=query, host=host):
                    server = self.serve(faults=self.redirect(f"http://{host}:{{port}}/@to", query),
                                        name=f"{host}{query}")
                    subprocess.run(
                        ["gdalinfo", "-checksum", f"REFS:{server.url('@from/refs.json')}"], check=True,
                        env={**os.environ, **FAST, **self.secrets, "HOME": self.folder.path},
                        stdout=subprocess.DEVNULL)
                    expected = {name: None for name in self.sent}
                    if host == "127.0.0.1":
                        expected["x-api-key"] = "key"
                    n = 1 + self.bands
                    self.assertEqual(self.secrets_of(server, "@to", n), [expected] * n)

    def test_may_be_trusted(self):
        server = self.serve(faults=self.redirect("http://localhost:{port}/@to"))
        with options(**self.secrets, CPL_VSIL_CURL_AUTHORIZATION_HEADER_ALLOWED_IF_REDIRECT="YES"):
            self.assertEqual(read(server.url("@from/refs.json")), self.values)
        self.assertEqual(self.secrets_of(server, "@to"), [self.sent] * 2)

    def test_to_unsafe_places_are_refused(self):
        plain = self.serve(name="plain")
        rows = [("file:///etc/hostname?", False, 'scheme "file"'), ("ftp://127.0.0.1", False, "ftp"),
                ("gopher://127.0.0.1:1", False, "gopher"), ("data:,", False, "redirect rejected"),
                (plain.url("@to"), True, "from https to http")]
        for n, (target, tls, said) in enumerate(rows):
            with self.subTest(target), options(GDAL_HTTP_UNSAFESSL="YES"):
                server = self.serve(faults=self.redirect(target), tls=tls, name=str(n))
                self.assertIn(said, self.fails(server.url("@from/refs.json")))
        self.assertEqual(plain.requests(), [])

    def test_to_link_local_addresses_end_the_search(self):
        faults = self.redirect("http://169.254.169.254/@to")
        server = self.serve(faults={**faults, "/@from/refs/repo": faults["/@from/refs.json"]})
        for n, name in enumerate(("@from/refs.json", "@from/refs"), 1):
            url = server.url(name)
            self.assertIn(f"{url}: redirect rejected: it leads to a link-local address", self.fails(url))
            self.assertEqual(len(server.requests()), n, server.requests())

    def test_are_followed_anew_when_their_target_fails(self):
        faults = self.redirect("/@to")
        faults["/@to/v.bin"] = {"status": 503, "times": 1}
        server = self.serve(faults=faults)
        self.assertEqual(read(server.url("@from/refs.json")), self.values)
        asked = [r["path"].split("/")[1] for r in server.requests("v.bin")]
        self.assertEqual(asked, ["@from", "@to", "@from", "@to"])


class Logins(Case):
    """A server that redirects those without its cookie to another host, where .netrc lets in."""

    bands, width = 60, 100

    def setUp(self):
        super().setUp()
        self.folder.write_array(self.bands, self.width, chunk_gap=100000)
        with open(self.folder.file(".netrc"), "w", encoding="utf-8") as file:
            file.write("machine localhost login user password pass\n")
        self.jar = self.folder.file("jar")
        self.own = {**FAST, "HOME": self.folder.path, "CURL_CA_BUNDLE": CERTIFICATE}
        ask = {"status": 302, "require": {"Cookie": "token=1"},
               "headers": {"Location": "https://localhost:{port}/@login{path}"}}
        refuse = {"status": 401, "require": {"Authorization": "^Basic dXNlcjpwYXNz$"},
                  "headers": {"WWW-Authenticate": 'Basic realm="x"'}}
        admit = {"status": 302, "headers": {"Location": "https://127.0.0.1:{port}/@back{path}"}}
        welcome = {"status": 302, "headers": {"Location": "https://127.0.0.1:{port}{path}",
                                              "Set-Cookie": "token=1; Path=/; Max-Age=1000"}}
        self.faults = {}
        for path in ("/refs.json", "/v.bin"):
            self.faults.update({path: dict(ask), f"/@login{path}": [dict(refuse), dict(admit)],
                                f"/@back{path}": dict(welcome)})

    def read_in_a_child(self, url, **env):
        """In a process of its own, that knows of no cookie and has this .netrc."""
        script = ("import sys; from osgeo import gdal; gdal.UseExceptions()\n"
                  "a = gdal.Open(sys.argv[1]).ReadAsArray().ravel().tolist()\n"
                  f"assert a == list(range({self.bands * self.width}))")
        done = subprocess.run([sys.executable, "-c", script, f'REFS:"{url}":/v'], check=False,
                              stderr=subprocess.PIPE, text=True,
                              env={**os.environ, **self.own, **env})
        self.assertEqual(done.returncode, 0, done.stderr)

    def logins(self, server):
        return len([r for r in server.requests()
                    if r["path"].startswith("/@login/") and "authorization" in r["headers"]])

    def test_are_one_for_all_requests(self):
        cookies = self.folder.file("cookies")
        with open(cookies, "w", encoding="utf-8"):
            pass
        rows = [("netrc alone", {}), ("file", {"GDAL_HTTP_COOKIEFILE": cookies}),
                ("jar", {"GDAL_HTTP_COOKIEFILE": self.jar, "GDAL_HTTP_COOKIEJAR": self.jar})]
        for name, env in rows:
            with self.subTest(name):
                server = self.serve(tls=True, faults=self.faults, name=name,
                                    options=["--latency-ms", "20"])
                self.read_in_a_child(server.url("refs.json"), **env)
                self.assertEqual(self.logins(server), 1)
        with self.subTest("valid jar"):
            server = self.serve(tls=True, faults=self.faults, name="valid")
            self.read_in_a_child(server.url("refs.json"), **rows[-1][1])
            self.assertEqual(self.logins(server), 0)

    def test_over_https_give_nothing_to_http(self):
        """Cookies know no ports, and these are not said to be Secure."""
        for name, env in ("none", {}), ("jar", {"GDAL_HTTP_COOKIEFILE": self.jar, "GDAL_HTTP_COOKIEJAR": self.jar}):
            with self.subTest(name):
                server = self.serve(tls=True, faults=self.faults, name=name)
                leads = {"status": 302, "headers": {"Location": server.url("refs.json")}}
                plain = self.serve(name=name + "-plain", faults={"/to.json": leads})
                script = ("import sys; from osgeo import gdal; gdal.UseExceptions()\n"
                          "for url in sys.argv[1:]: gdal.Open(f'REFS:\"{url}\":/v').ReadAsArray()")
                urls = [plain.url("to.json"), server.url("refs.json"), plain.url("refs.json"), plain.url("to.json")]
                done = subprocess.run([sys.executable, "-c", script, *urls], check=False, stderr=subprocess.PIPE,
                                      text=True, env={**os.environ, **self.own, **env})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.logins(server), 1)
                self.assertEqual({r["headers"].get("cookie") for r in plain.requests()}, {None})

    def test_are_one_where_all_begin_together(self):
        server = self.serve(tls=True, faults={k: v for k, v in self.faults.items() if "refs.json" not in k},
                            options=["--latency-ms", "20"])
        self.read_in_a_child(server.url("refs.json"))
        self.assertEqual(self.logins(server), 1)
        # Those that are under way when the first one is led to the login are asked for again.
        asked = collections.Counter(r["headers"].get("range") for r in server.requests("v.bin") if r["path"] == "/v.bin")
        self.assertLessEqual(max(asked.values()), 2)

    def test_that_fail_end_all_reads(self):
        with open(self.folder.file(".netrc"), "w", encoding="utf-8") as file:
            file.write("machine localhost login user password wrong\n")
        server = self.serve(tls=True, faults={k: v for k, v in self.faults.items() if "refs.json" not in k})
        with self.assertRaisesRegex(AssertionError, "HTTP 401"):
            self.read_in_a_child(server.url("refs.json"))

    def test_hold_up_nobody_where_redirects_are_none(self):
        fault = {"status": 302, "headers": {"Location": "http://localhost:{port}/@to{path}"}}
        server = self.serve(faults={"/v.bin": fault}, options=["--latency-ms", "100"])
        begin = time.monotonic()
        self.read_in_a_child(server.url("refs.json"))
        self.assertGreater(max(r["under_way"] for r in server.requests()), 8)
        self.assertLess(time.monotonic() - begin, 4)

    def test_as_others_are_logins_of_their_own(self):
        server = self.serve(tls=True, faults=self.faults)
        script = ("import sys; from osgeo import gdal; gdal.UseExceptions()\n"
                  "for user in 'one', 'two':\n"
                  "    gdal.SetConfigOption('GDAL_HTTP_USERPWD', f'{user}:x')\n"
                  "    gdal.Open(sys.argv[1]).ReadAsArray()\n")
        subprocess.run([sys.executable, "-c", script, f'REFS:"{server.url("refs.json")}":/v'],
                       check=True, env={**os.environ, **self.own})
        self.assertEqual(self.logins(server), 2)


class Secrets(Case):
    """What lets somebody in is never shown."""

    names = ("url", "user")

    def name_of(self, server, kind, path="refs.json"):
        url = server.url(path)
        return url + "?sig=topsecret&x=1" if kind == "url" else \
            url.replace("://", "://user:topsecret@")

    def said(self, *command, **env):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, **FAST, "GDAL_HTTP_MAX_RETRY": "0", **env})
        return done.stdout

    def test_are_in_no_output_of_programs(self):
        faults = {"/@bad/v.bin": {"status": 403}, "/@none/refs.json": {"status": 500}}
        server = self.serve(faults=faults)
        for kind in self.names:
            for path, expected in (("refs.json", "Block=1000x1"), ("@bad/refs.json", "HTTP 403"),
                                   ("@none/refs.json", "HTTP 500"), ("absent.json", "HTTP 404")):
                for form in ("REFS:%s", 'REFS:"%s":/v', "REFS:/vsicurl/%s", 'REFS:"%s":/absent'):
                    for tool in (("gdalinfo", "-stats", "-mdd", "all", "-json"), ("gdalmdiminfo",)):
                        name = form % self.name_of(server, kind, path)
                        with self.subTest(name=name, tool=tool):
                            said = self.said(*tool, name, CPL_DEBUG="REFS")
                            self.assertNotIn("topsecret", said.replace(name, ""))

    def test_of_signatures_are_in_no_output(self):
        server = self.serve(faults={"/bucket/v.bin": {"status": 403}})
        self.folder.write_array(self.bands, self.width, name="bucket/refs.json")
        said = self.said("gdalinfo", "-stats", "s3://bucket/refs.json", CPL_DEBUG="REFS",
                         **ObjectStores.aws, AWS_S3_ENDPOINT=f"127.0.0.1:{server.port}")
        said += self.said("gdalinfo", "-stats", "REFS:s3://bucket/refs.json", CPL_DEBUG="REFS",
                          **ObjectStores.aws, AWS_S3_ENDPOINT=f"127.0.0.1:{server.port}")
        self.assertIn("HTTP 403", said)
        for secret in ("topsecret", "X-Amz", "Signature"):
            self.assertNotIn(secret, said)

    def test_of_urls_in_sets_are_in_no_error(self):
        server = self.serve(faults={"/v.bin": {"status": 403}})
        for kind, engine in itertools.product(self.names, ("CURL", "VSI")):
            self.folder.write_array(self.bands, self.width, url=self.name_of(server, kind, "v.bin"),
                                    name=f"{kind}{engine}.json")
            with options(REFS_HTTP_ENGINE=engine):
                said = self.fails(server.url(f"{kind}{engine}.json"))
            self.assertIn(server.url("v.bin"), said)
            self.assertNotIn("topsecret", said)

    def test_of_redirects_are_in_no_error(self):
        server = self.serve(faults={
            "/v.bin": {"status": 302, "headers": {"Location": "/@to/v.bin?sig=topsecret"}},
            "/@to/v.bin": {"status": 403}})
        self.assertNotIn("topsecret", self.fails(server.url("refs.json")))

    def test_are_not_needed_to_open_what_was_shown_again(self):
        everything = {"require": {"Authorization": "^Basic "}, "status": 401}
        server = self.serve(faults={"/refs.json": everything, "/v.bin": dict(everything)})
        whole = gdal.Open(f"REFS:{self.name_of(server, 'user')}")
        for name in (whole.GetDescription(), gdal.Open(whole.GetDescription()).GetDescription()):
            self.assertNotIn("topsecret", name)
            self.assertEqual(gdal.Open(name).ReadAsArray().ravel().tolist(), self.values)
        self.assertIn("a secret in this name is hidden",
                      self.said("gdalinfo", whole.GetDescription()))

    def test_tell_sets_apart_that_are_shown_alike(self):
        server = self.serve()
        names = [gdal.Open(f"REFS:{server.url('refs.json')}?x={x}").GetDescription() for x in "12"]
        self.assertNotEqual(*names)

    def test_of_shared_datasets_are_hidden(self):
        server = self.serve()
        name = f'REFS:"{self.name_of(server, "url")}":/v'
        shown = gdal.Open(name).GetDescription()
        datasets = [gdal.OpenShared(shown) for _ in range(2)]
        self.assertEqual([d.ReadAsArray().ravel().tolist() for d in datasets], [self.values] * 2)
        self.assertEqual(datasets[0].GetFileList(), [f"/vsicurl/{server.url('refs.json')}"])


class Options(Case):
    """GDAL's options hold for sets and for chunks."""

    def headers(self, server):
        """Those of the requests for the set and for the chunks."""
        found = [r["headers"] for r in server.requests()]
        self.assertEqual(len(found), 2)
        return found

    def expect(self, header, value, **values):
        server = self.serve()
        with options(**values):
            self.assertEqual(read(server.url("refs.json")), self.values)
        for sent in self.headers(server):
            self.assertEqual(sent.get(header), value)

    def test_headers(self):
        self.expect("x-one", "1", GDAL_HTTP_HEADERS="X-One: 1,X-Two: 2")

    def test_header_file(self):
        path = self.folder.file("headers")
        with open(path, "w", encoding="utf-8") as file:
            file.write("X-File: yes\n")
        self.expect("x-file", "yes", GDAL_HTTP_HEADER_FILE=path)
        with options(GDAL_HTTP_HEADER_FILE=path + ".none"), self.assertRaisesRegex(RuntimeError, "none"):
            read(self.serve().url("refs.json"))

    def test_user_agent(self):
        self.expect("user-agent", "tester/1", GDAL_HTTP_USERAGENT="tester/1")

    def test_user_and_password(self):
        self.expect("authorization", "Basic dXNlcjpwYXNz", GDAL_HTTP_USERPWD="user:pass")

    def test_authentication_that_is_negotiated(self):
        challenge = {"status": 401, "headers": {"WWW-Authenticate": 'Basic realm="x"'},
                     "require": {"Authorization": "^Basic dXNlcjpwYXNz$"}}
        server = self.serve(faults={"/refs.json": challenge, "/v.bin": challenge})
        with options(GDAL_HTTP_AUTH="ANY", GDAL_HTTP_USERPWD="user:pass"):
            self.assertEqual(read(server.url("refs.json")), self.values)

    def test_bearer(self):
        self.expect("authorization", "Bearer abc", GDAL_HTTP_AUTH="BEARER", GDAL_HTTP_BEARER="abc")

    def test_bearer_needs_the_option_that_says_so(self):
        self.expect("authorization", "Basic dXNlcjpwYXNz", GDAL_HTTP_USERPWD="user:pass", GDAL_HTTP_BEARER="abc")

    def test_bearer_alone_is_not_sent(self):
        self.expect("authorization", None, GDAL_HTTP_BEARER="abc")

    def test_netrc(self):
        path = self.folder.file("netrc")
        with open(path, "w", encoding="utf-8") as file:
            file.write("machine 127.0.0.1 login user password pass\n")
        self.expect("authorization", "Basic dXNlcjpwYXNz", GDAL_HTTP_NETRC_FILE=path)
        with environment(HOME=self.folder.path):
            os.rename(path, self.folder.file(".netrc"))
            server = self.serve(name="home")
            subprocess.run(["gdalinfo", f"REFS:{server.url('refs.json')}"], check=True,
                           stdout=subprocess.DEVNULL)
            self.assertEqual(server.requests()[0]["headers"].get("authorization"),
                             "Basic dXNlcjpwYXNz")

    def test_cookies(self):
        self.expect("cookie", "a=b", GDAL_HTTP_COOKIE="a=b")
        path = self.folder.file("cookies")
        with open(path, "w", encoding="utf-8") as file:
            file.write("127.0.0.1\tFALSE\t/\tFALSE\t0\tname\tvalue\n")
        for name, others in ("file", {}), ("jar", {"GDAL_HTTP_COOKIEJAR": path + ".jar"}):
            with options(GDAL_HTTP_COOKIEFILE=path, **others):
                server = self.serve(name=name)
                read(server.url("refs.json"))
                self.assertEqual([sent.get("cookie") for sent in self.headers(server)], ["name=value"] * 2, name)

    def test_proxy(self):
        server = self.serve()
        with options(GDAL_HTTP_PROXY=server.base, GDAL_HTTP_PROXYUSERPWD="user:pass"):
            self.assertEqual(read("http://data.invalid/refs.json"), self.values)
        for request in server.requests():
            self.assertTrue(request["path"].startswith("http://data.invalid/"), request)
            self.assertEqual(request["headers"]["proxy-authorization"], "Basic dXNlcjpwYXNz")

    def test_certificates(self):
        server = self.serve(tls=True)
        said = self.fails(server.url("refs.json"))
        self.assertIn("certificate", said)
        self.assertNotIn("/proc/", said)
        for values in ({"CURL_CA_BUNDLE": CERTIFICATE}, {"GDAL_CURL_CA_BUNDLE": CERTIFICATE},
                       {"SSL_CERT_FILE": CERTIFICATE}, {"GDAL_HTTP_UNSAFESSL": "YES"}):
            with self.subTest(values), options(**values):
                label = f"@{list(values)[0]}"
                self.assertEqual(read(server.url(f"{label}/refs.json")), self.values)

    def test_certificates_of_a_folder_are_read_once(self):
        folder = self.folder.file("certificates")
        os.mkdir(folder)
        script = ("import sys, time; from osgeo import gdal; gdal.UseExceptions()\n"
                  "gdal.Open(sys.argv[1]).ReadAsArray()\n"
                  "print(time.process_time())")
        with open(CERTIFICATE, encoding="utf-8") as file:
            certificate = file.read()
        self.folder.write_array(40, 100, chunk_gap=100000)
        times = []
        for n in (1, 1200):
            for i in range(n):
                with open(os.path.join(folder, f"{i}.pem"), "w", encoding="utf-8") as file:
                    file.write(f"{certificate}# {i}\n")
            server = self.serve(tls=True, name=str(n), options=["--latency-ms", "100"])
            done = subprocess.run([sys.executable, "-c", script, f'REFS:"{server.url("refs.json")}":/v'],
                                  stdout=subprocess.PIPE, check=True,
                                  env={**os.environ, **FAST, "GDAL_HTTP_CAPATH": folder})
            self.assertGreater(len({r["connection"] for r in server.requests()}), 8)
            times.append(float(done.stdout))
        self.assertLess(times[1], times[0] + 0.25, "three times as much where each connection reads them")

    def test_certificates_of_folders_that_change_are_read_anew(self):
        folder = self.folder.file("certificates")
        os.mkdir(folder)
        server = self.serve(tls=True)
        with options(GDAL_HTTP_CAPATH=folder):
            self.assertIn("certificate", self.fails(server.url("@1/refs.json")))
            shutil.copy(CERTIFICATE, folder)
            self.assertEqual(read(server.url("@2/refs.json")), self.values)

    @unittest.skipIf(shutil.which("openssl") is None, "openssl is not installed")
    def test_client_certificates(self):
        server = self.serve(tls=True, options=["--client-certificate", CERTIFICATE])
        key = self.folder.file("key.pem")
        subprocess.run(["openssl", "pkcs8", "-topk8", "-in", KEY, "-out", key, "-passout", "pass:right"],
                       check=True)
        known = {"CURL_CA_BUNDLE": CERTIFICATE, "GDAL_HTTP_SSLCERT": CERTIFICATE}
        for n, more in enumerate(({"GDAL_HTTP_SSLKEY": KEY, "GDAL_HTTP_SSLCERTTYPE": "PEM"},
                                  {"GDAL_HTTP_SSLKEY": key, "GDAL_HTTP_KEYPASSWD": "right"})):
            with self.subTest(more), options(**known, **more):
                self.assertEqual(read(server.url(f"@{n}/refs.json")), self.values)
        other = self.serve(tls=True, name="other")
        with options(**known, GDAL_HTTP_SSLKEY=key, GDAL_HTTP_KEYPASSWD="wrong"):
            said = self.fails(other.url("refs.json"))
        self.assertIn("error reading X.509", said)
        self.assertNotIn("attempts", said)

    def test_of_a_proxy_that_lets_nobody_in_is_told_at_once(self):
        refuse = {"status": 407, "headers": {"Proxy-Authenticate": 'Basic realm="x"'}}
        server = self.serve(faults={"/refs.json": refuse}, options=["--connect-status", "407"])
        for scheme in ("http", "https"):
            with options(GDAL_HTTP_PROXY=server.base):
                said = self.fails(f"{scheme}://data.invalid/refs.json")
            self.assertIn("407", said)
            self.assertNotIn("attempts", said)

    def test_a_set_that_is_not_answered_costs_its_time_once(self):
        names = ("/refs", "/refs/.zmetadata", "/refs/repo", "/refs/refs/branch.main/ref.json")
        server = self.serve(faults={name: {"stall_s": 5} for name in names})
        begin = time.monotonic()
        with options(GDAL_HTTP_TIMEOUT="1", GDAL_HTTP_MAX_RETRY="0"):
            self.assertIn("timed out", self.fails(server.url("refs")))
        self.assertLess(time.monotonic() - begin, 1.9)
        self.assertEqual(len(server.requests()), 1)

    def test_time_outs(self):
        stall = {"/v.bin": {"stall_s": 5}}
        drip = {"/v.bin": {"drip_s": 0.05}}
        rows = [(stall, {"GDAL_HTTP_TIMEOUT": "1"}, "timed out"),
                (stall, {"GDAL_HTTP_LOW_SPEED_TIME": "1"}, "too slow"),
                (drip, {"GDAL_HTTP_LOW_SPEED_TIME": "1", "GDAL_HTTP_LOW_SPEED_LIMIT": "1000"},
                 "Less than 1000 bytes"),
                (stall, {"REFS_HTTP_STALL": "1"}, "too slow")]
        for n, (fault, values, said) in enumerate(rows):
            with self.subTest(values):
                server = self.serve(faults=fault, name=str(n))
                with options(GDAL_HTTP_MAX_RETRY="0", **values):
                    self.assertIn(said, self.fails(server.url("refs.json")))

    def test_of_paths(self):
        server = self.serve()
        prefix = f"/vsicurl/{server.base}/@mine"
        rows = [("GDAL_HTTP_USERPWD", "user:pass", "authorization", "Basic dXNlcjpwYXNz"),
                ("GDAL_HTTP_USERAGENT", "tester/2", "user-agent", "tester/2"),
                ("GDAL_HTTP_COOKIE", "a=b", "cookie", "a=b"), ("GDAL_HTTP_HEADERS", "X-One: 1", "x-one", "1")]
        for name, value, _, _ in rows:
            gdal.SetPathSpecificOption(prefix, name, value)
            self.addCleanup(gdal.SetPathSpecificOption, prefix, name, None)
        read(server.url("@mine/refs.json"))
        read(server.url("@other/refs.json"))
        for request in server.requests():
            for name, _, header, value in rows:
                with self.subTest(name=name, path=request["path"]):
                    same = request["headers"].get(header) == value
                    self.assertEqual(same, request["path"].startswith("/@mine/"))

    def test_of_paths_rule_retries(self):
        server = self.serve(faults={"/@mine/v.bin": {"status": 503}, "/@other/v.bin": {"status": 503}})
        prefix = f"/vsicurl/{server.base}/@mine"
        gdal.SetPathSpecificOption(prefix, "GDAL_HTTP_MAX_RETRY", "1")
        self.addCleanup(gdal.SetPathSpecificOption, prefix, "GDAL_HTTP_MAX_RETRY", None)
        with options(GDAL_HTTP_MAX_RETRY="2"):
            self.fails(server.url("@mine/refs.json"))
            self.fails(server.url("@other/refs.json"))
        self.assertEqual(len(server.requests("/@mine/v.bin")), 2)
        self.assertEqual(len(server.requests("/@other/v.bin")), 3)

    def test_of_the_configuration_file(self):
        server = self.serve()
        path = self.folder.file("gdalrc")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"[configoptions]\nGDAL_HTTP_USERAGENT=from-file\n"
                       f"[credentials]\n[.mine]\npath=/vsicurl/{server.base}/\n"
                       f"GDAL_HTTP_COOKIE=c=d\n")
        subprocess.run(["gdalinfo", "-checksum", f"REFS:{server.url('refs.json')}"], check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "GDAL_CONFIG_FILE": path})
        for sent in (r["headers"] for r in server.requests()):
            self.assertEqual((sent["user-agent"], sent["cookie"]), ("from-file", "c=d"))


class ObjectStores(Case):
    """Names of object stores, against a server that looks at signatures and not into them."""

    aws = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "topsecret",
           "AWS_REGION": "eu-west-1", "AWS_HTTPS": "NO", "AWS_VIRTUAL_HOSTING": "FALSE"}

    def serve_bucket(self, **arguments):
        self.folder.write_array(self.bands, self.width, name="bucket/refs.json")
        os.rename(os.path.join(self.folder.served, "v.bin"),
                  os.path.join(self.folder.served, "bucket/v.bin"))
        return self.serve(**arguments)

    def read(self, name):
        return read(name)

    def test_s3_is_asked_with_a_signature(self):
        server = self.serve_bucket()
        with options(**self.aws, AWS_S3_ENDPOINT=f"127.0.0.1:{server.port}"):
            self.assertEqual(read("s3://bucket/refs.json"), self.values)
        for request in server.requests():
            self.assertRegex(request["path"], r"^/bucket/[^?]*\?.*X-Amz-Signature=[0-9a-f]{64}")
            self.assertEqual(request["method"], "GET")

    def test_signed_requests_carry_no_other_credentials(self):
        with open(self.folder.file(".netrc"), "w", encoding="utf-8") as file:
            file.write("default login user password pass\n")
        rows = [{"GDAL_HTTP_USERPWD": "user:pass"}, {"GDAL_HTTP_COOKIE": "s=1"},
                {"GDAL_HTTP_HEADERS": "authorization : Bearer abc,X-One: 1"},
                {"HOME": self.folder.path}]
        server = self.serve_bucket()
        for values in rows:
            for name in ("s3", "az"):
                with self.subTest(values, name=name):
                    n = len(server.requests())
                    store = self.azure(server) if name == "az" else {
                        **self.aws, "AWS_S3_ENDPOINT": f"127.0.0.1:{server.port}"}
                    subprocess.run(["gdalinfo", "-checksum", f"REFS:{name}://bucket/refs.json"],
                                   check=True, env={**os.environ, **FAST, **store, **values},
                                   stdout=subprocess.DEVNULL)
                    asked = [r["headers"] for r in server.requests()[n:]]
                    self.assertEqual(len(asked), 1 + self.bands)
                    for headers in asked:
                        self.assertNotIn("authorization", headers)
                        self.assertNotIn("cookie", headers)
                        self.assertEqual("x-one" in headers, "GDAL_HTTP_HEADERS" in values)

    def test_s3_session_tokens_go_along(self):
        server = self.serve_bucket()
        with options(**self.aws, AWS_S3_ENDPOINT=f"127.0.0.1:{server.port}",
                     AWS_SESSION_TOKEN="session"):
            self.assertEqual(read("s3://bucket/refs.json"), self.values)
        for request in server.requests():
            self.assertIn("X-Amz-Security-Token=session", request["path"])

    def test_s3_without_a_signature(self):
        server = self.serve_bucket()
        with options(AWS_NO_SIGN_REQUEST="YES", AWS_HTTPS="NO", AWS_VIRTUAL_HOSTING="FALSE",
                     AWS_S3_ENDPOINT=f"127.0.0.1:{server.port}"):
            self.assertEqual(read("s3://bucket/refs.json"), self.values)
        for request in server.requests():
            self.assertNotIn("?", request["path"])
            self.assertNotIn("authorization", request["headers"])

    def test_s3_at_the_expense_of_who_asks(self):
        server = self.serve_bucket()
        with options(**self.aws, AWS_S3_ENDPOINT=f"127.0.0.1:{server.port}",
                     AWS_REQUEST_PAYER="requester"):
            self.assertEqual(read("s3://bucket/refs.json"), self.values)
        self.assertEqual({r["path"].split("?")[0] for r in server.requests()},
                         {"/bucket/refs.json", "/bucket/v.bin"})
        for request in server.requests():
            self.assertRegex(request["path"], "[?&]x-amz-request-payer=requester&?")
            self.assertIn("X-Amz-Signature=", request["path"])

    def test_objects_at_the_expense_of_who_asks_come_in_parallel(self):
        self.folder.write_array(60, self.width, chunk_gap=100000, name="bucket/refs.json")
        os.rename(os.path.join(self.folder.served, "v.bin"),
                  os.path.join(self.folder.served, "bucket/v.bin"))
        server = self.serve(options=["--latency-ms", "50"])
        with options(**self.aws, AWS_S3_ENDPOINT=f"127.0.0.1:{server.port}",
                     AWS_REQUEST_PAYER="requester"):
            self.assertEqual(read("s3://bucket/refs.json"), list(range(60 * self.width)))
        self.assertGreater(max(r["under_way"] for r in server.requests()), 8)

    def test_expired_signatures_are_made_anew_once(self):
        # The clock of the test cannot be moved: the first signature of each file is refused.
        refuse = {"status": 403, "times": 1}
        server = self.serve_bucket(faults={"/bucket/refs.json": refuse, "/bucket/v.bin": dict(refuse)})
        with options(**self.aws, AWS_S3_ENDPOINT=f"127.0.0.1:{server.port}"):
            self.assertEqual(read("s3://bucket/refs.json"), self.values)
        self.assertEqual(len(server.requests()), 4)

    def test_signatures_are_made_when_requests_are_sent(self):
        bands = 40
        self.folder.write_array(bands, self.width, name="bucket/refs.json", chunk_gap=100000)
        os.rename(os.path.join(self.folder.served, "v.bin"), os.path.join(self.folder.served, "bucket/v.bin"))
        expired = {"signed_before_s": 4, "status": 403}
        server = self.serve(faults={"/bucket/v.bin": expired}, options=["--latency-ms", "300"])
        script = ("from osgeo import gdal; import sys; gdal.UseExceptions()\n"
                  "assert gdal.Open(sys.argv[1]).ReadAsArray().ravel().tolist() == list(range(int(sys.argv[2])))")
        env = {**os.environ, **self.aws, "AWS_S3_ENDPOINT": f"127.0.0.1:{server.port}", "REFS_HTTP_MAX_REQUESTS": "1"}
        subprocess.run([sys.executable, "-c", script, 'REFS:"s3://bucket/refs.json":/v', str(bands * self.width)],
                       check=True, env=env)
        refused = [r["fault"] for r in server.requests() if "/v.bin?" in r["path"]]
        self.assertEqual(refused, [False] * bands, "12 s of a queue")

    def test_refused_signatures_are_not_made_again_and_again(self):
        server = self.serve_bucket(faults={"/bucket/v.bin": {"status": 403}})
        with options(**self.aws, AWS_S3_ENDPOINT=f"127.0.0.1:{server.port}"):
            said = self.fails("s3://bucket/refs.json")
        self.assertIn("HTTP 403 (for a public bucket try AWS_NO_SIGN_REQUEST=YES)", said)
        self.assertEqual(len([r for r in server.requests() if "v.bin" in r["path"]]), 2)

    def in_region(self, status, code, **headers):
        """How S3 refuses signatures for another region than that of the bucket."""
        body = (f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code>'
                "<Message>the region 'x' is wrong; expecting 'eu-west-1'</Message>"
                "<Region>eu-west-1</Region></Error>")
        fault = {"status": status, "unless": "eu-west-1(%2F|/)s3", "body": body,
                 "headers": {"Content-Type": "application/xml", **headers}}
        return {f"/bucket/{name}": dict(fault) for name in ("refs.json", "v.bin")}

    def test_s3_in_another_region_is_read_by_that(self):
        header = {"x-amz-bucket-region": "eu-west-1"}
        rows = [(400, "AuthorizationQueryParametersError", {}), (400, "BadRequest", header),
                (301, "PermanentRedirect", header), (403, "AccessDenied", header)]
        for n, (status, code, headers) in enumerate(rows):
            for region in ("us-west-2", None):
                with self.subTest(status=status, headers=headers, region=region):
                    server = self.serve_bucket(faults=self.in_region(status, code, **headers),
                                               name=f"{n}{region}")
                    values = {**self.aws, "AWS_REGION": region,
                              "AWS_S3_ENDPOINT": f"127.0.0.1:{server.port}"}
                    with options(**values), environment(HOME=self.folder.path):
                        self.assertEqual(read("s3://bucket/refs.json"), self.values)
                        refused = [r for r in server.requests() if r["fault"]]
                        self.assertEqual(read("s3://bucket/refs.json"), self.values)
                    self.assertEqual(len(refused), 1, "it is known for the bucket then")
                    self.assertEqual(len([r for r in server.requests() if r["fault"]]), 1)
                    self.assertEqual({r["method"] for r in server.requests()}, {"GET"})

    def test_what_gdal_signs_in_another_way_is_left_to_it(self):
        header_only = {"status": 403, "unless": "SharedKey account:",
                       "body": "<Error><Code>AuthenticationFailed</Code></Error>"}
        server = self.serve_bucket(faults={"/bucket/refs.json": header_only,
                                           "/bucket/v.bin": dict(header_only)})
        said = []
        gdal.PushErrorHandler(lambda kind, number, text: said.append(text))
        try:
            with options(**self.azure(server), CPL_DEBUG="REFS"):
                self.assertEqual(read("az://bucket/refs.json"), self.values)
                n_refused = len([r for r in server.requests() if r["fault"]])
                self.assertEqual(read("az://bucket/refs.json"), self.values)
        finally:
            gdal.PopErrorHandler()
        self.assertLessEqual(n_refused, 2)
        self.assertEqual(len([r for r in server.requests() if r["fault"]]), n_refused)
        notes = [text for text in said if "GDAL's file system" in text]
        self.assertEqual(len(notes), 1, said)
        self.assertIn("/vsiaz/bucket/", notes[0])

    def test_refusals_are_told_by_their_code(self):
        body = "<?xml version='1.0'?><Error><Code>NoSuchBucket</Code><Message>m</Message></Error>"
        server = self.serve_bucket(faults={"/bucket/refs.json": {"status": 404, "body": body},
                                           "/bucket/v.bin": {"status": 404, "body": body}})
        with options(**self.aws, AWS_S3_ENDPOINT=f"127.0.0.1:{server.port}"):
            self.assertIn("HTTP 404 NoSuchBucket (check the URL", self.fails("s3://bucket/refs.json"))

    def test_gs_without_a_signature(self):
        server = self.serve_bucket()
        with options(GS_NO_SIGN_REQUEST="YES", CPL_GS_ENDPOINT=f"{server.base}/"):
            self.assertEqual(read("gs://bucket/refs.json"), self.values)
        for request in server.requests():
            self.assertNotIn("authorization", request["headers"])

    def test_gs_with_keys(self):
        server = self.serve_bucket()
        with options(GS_SECRET_ACCESS_KEY="topsecret", GS_ACCESS_KEY_ID="id",
                     CPL_GS_ENDPOINT=f"{server.base}/"):
            self.assertEqual(read("gs://bucket/refs.json"), self.values)
        for request in server.requests():
            signed = request["headers"].get("authorization", "").startswith("GOOG1 id:")
            self.assertTrue(signed or "Signature=" in request["path"], request)

    def azure(self, server):
        return {"AZURE_STORAGE_CONNECTION_STRING":
                f"DefaultEndpointsProtocol=http;AccountName=account;AccountKey=dG9wc2VjcmV0;"
                f"BlobEndpoint={server.base}"}

    def test_azure_is_asked_with_a_signature(self):
        server = self.serve_bucket()
        with options(**self.azure(server)):
            self.assertEqual(read("az://bucket/refs.json"), self.values)
        for request in server.requests():
            self.assertRegex(request["path"], r"^/bucket/[^?]*\?.*sig=")

    def test_azure_with_a_sas_token(self):
        server = self.serve_bucket()
        with options(AZURE_STORAGE_CONNECTION_STRING=f"BlobEndpoint={server.base};"
                     "SharedAccessSignature=sv=1&sig=topsecret"):
            self.assertEqual(read("az://bucket/refs.json"), self.values)
        for request in server.requests():
            self.assertIn("sig=topsecret", request["path"])

    def test_azure_without_a_signature(self):
        server = self.serve_bucket()
        with options(AZURE_NO_SIGN_REQUEST="YES", AZURE_STORAGE_ACCOUNT="account",
                     CPL_AZURE_ENDPOINT=server.base):
            self.assertEqual(read("az://bucket/refs.json"), self.values)
        for request in server.requests():
            self.assertNotIn("sig=", request["path"])


@unittest.skipIf(shutil.which("nginx") is None, "nginx is not installed")
class Http2(Case):
    """Many requests over one connection, from a server that can."""

    bands, width = 40, 100

    def setUp(self):
        super().setUp()
        self.folder.write_array(self.bands, self.width, chunk_gap=100000)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        os.chmod(self.folder.path, 0o755)
        with open(self.folder.file("nginx.conf"), "w", encoding="utf-8") as file:
            file.write(f"""
                daemon off; master_process off; pid {self.folder.path}/pid;
                error_log {self.folder.path}/error.log;
                events {{}}
                http {{
                    log_format log "$server_protocol $connection $request_uri";
                    access_log {self.folder.path}/access.log log;
                    client_body_temp_path {self.folder.path}/body;
                    proxy_temp_path {self.folder.path}/proxy;
                    fastcgi_temp_path {self.folder.path}/fastcgi;
                    uwsgi_temp_path {self.folder.path}/uwsgi;
                    scgi_temp_path {self.folder.path}/scgi;
                    server {{
                        listen 127.0.0.1:{self.port} ssl http2;
                        ssl_certificate {CERTIFICATE};
                        ssl_certificate_key {KEY};
                        root {self.folder.served};
                    }}
                }}""")
        self.nginx = subprocess.Popen(["nginx", "-c", self.folder.file("nginx.conf")],
                                      stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.nginx.wait)
        self.addCleanup(self.nginx.terminate)
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        self.fail("nginx does not start")

    def test_is_used_where_the_server_can(self):
        with options(CURL_CA_BUNDLE=CERTIFICATE):
            self.assertEqual(read(f"https://127.0.0.1:{self.port}/refs.json"), self.values)
        self.assertEqual(self.log("v.bin"), ({"HTTP/2.0"}, 1, self.bands))

    def test_is_read_again_and_again(self):
        """That none stands still: Http.SleepsShortlyWhereConnectionsMayBeShared."""
        self.bands = 60
        self.folder.write_array(self.bands, 3000, chunk_gap=100000)
        with options(CURL_CA_BUNDLE=CERTIFICATE):
            first = read(f"https://127.0.0.1:{self.port}/refs.json")
            for _ in range(20):
                self.assertEqual(read(f"https://127.0.0.1:{self.port}/refs.json"), first)

    def test_is_not_where_the_user_says_so(self):
        with options(CURL_CA_BUNDLE=CERTIFICATE, GDAL_HTTP_VERSION="1.1"):
            self.assertEqual(read(f"https://127.0.0.1:{self.port}/refs.json"), self.values)
        protocols, _, requests = self.log("v.bin")
        self.assertEqual((protocols, requests), ({"HTTP/1.1"}, self.bands))

    def log(self, path):
        """Protocols, connections and requests for a file, once all were logged."""
        for _ in range(100):
            with open(self.folder.file("access.log"), encoding="utf-8") as file:
                lines = [line.split() for line in file if line.rstrip().endswith(path)]
            if len(lines) >= self.bands:
                break
            time.sleep(0.05)
        return {line[0] for line in lines}, len({line[1] for line in lines}), len(lines)


if __name__ == "__main__":
    unittest.main()
