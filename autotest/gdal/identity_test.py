"""Options that are set for one thread alone (gdal.config_options, rasterio.Env) hold for all that is
done for its reads, and what one identity may read is not given to another.

usage: identity_test.py REFS [TEST...]
"""

import contextlib
import os
import subprocess
import sys
import threading
import unittest

import netCDF4
import numpy as np
from osgeo import gdal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
from served import Folder, Server  # noqa: E402

gdal.UseExceptions()

REFS = os.path.abspath(sys.argv.pop(1))
NAME, VALUE = "X-Caller", "me"
HEADERS = f"{NAME}: {VALUE}"
BANDS, WIDTH = 400, 2000


@contextlib.contextmanager
def thread_options(**options):
    """Options of this thread, as gdal.config_options and rasterio.Env set them."""
    for name, value in options.items():
        gdal.SetThreadLocalConfigOption(name, value)
    try:
        yield
    finally:
        for name in options:
            gdal.SetThreadLocalConfigOption(name, None)


@contextlib.contextmanager
def process_options(**options):
    """Options of the process, which are not set before."""
    for name, value in options.items():
        gdal.SetConfigOption(name, value)
    try:
        yield
    finally:
        for name in options:
            gdal.SetConfigOption(name, None)


class Identity(unittest.TestCase):
    def setUp(self):
        gdal.VSICurlClearCache()
        self.folder = Folder()
        self.addCleanup(self.folder.close)

    def serve(self, *paths):
        """A server that answers requests of the caller alone."""
        refused = {"status": 401, "require": {NAME: f"^{VALUE}$"}}
        server = Server(self.folder, faults={path: refused for path in paths})
        self.addCleanup(server.close)
        return server

    def write_file(self, number):
        path = os.path.join(self.folder.served, f"{number:02}.nc")
        with netCDF4.Dataset(path, "w") as file:
            for name, size in (("time", 1), ("lat", 3), ("lon", 4)):
                file.createDimension(name, size)
                axis = file.createVariable(name, "f8", (name,))
                axis.units = {"time": "days since 2000-01-01", "lat": "degrees_north", "lon": "degrees_east"}[name]
                axis[:] = np.arange(size) + (number if name == "time" else 0)
            file.createVariable("v", "f4", ("time", "lat", "lon"))[:] = number
        return path

    def assertNoneRefused(self, server):
        counts = server.counts()
        self.assertEqual(counts["failed"], 0, counts)
        self.assertTrue(all(request["headers"].get(NAME.lower()) == VALUE for request in server.requests()))


class Threads(Identity):
    def test_bands_that_are_prefetched(self):
        self.folder.write_array(BANDS, WIDTH)
        server = self.serve("/refs.json", "/v.bin")
        with thread_options(GDAL_HTTP_HEADERS=HEADERS):
            dataset = gdal.Open(f'REFS:"{server.url("refs.json")}":/v')
            for band in range(BANDS):
                row = dataset.GetRasterBand(band + 1).ReadAsArray()[0]
                self.assertEqual(row[0], band * WIDTH)
        self.assertNoneRefused(server)

    def test_arrays_that_are_read_step_by_step(self):
        self.folder.write_array(BANDS, WIDTH)
        server = self.serve("/refs.json", "/v.bin")
        with thread_options(GDAL_HTTP_HEADERS=HEADERS):
            dataset = gdal.OpenEx(f'REFS:{server.url("refs.json")}', gdal.OF_MULTIDIM_RASTER)
            array = dataset.GetRootGroup().OpenMDArray("v")
            for band in range(BANDS):
                row = array.ReadAsArray([band, 0, 0], [1, 1, WIDTH])
                self.assertEqual(row[0, 0, 0], band * WIDTH)
        self.assertNoneRefused(server)

    def test_lists_of_files(self):
        for number in range(6):
            self.write_file(number)
        server = self.serve(*(f"/{number:02}.nc" for number in range(6)))
        name = self.folder.file("list.txt")
        with open(name, "w", encoding="utf-8") as file:
            file.write("".join(server.url(f"{number:02}.nc") + "\n" for number in range(6)))
        with thread_options(GDAL_HTTP_HEADERS=HEADERS):
            dataset = gdal.OpenEx(f"REFS:{name}", gdal.OF_MULTIDIM_RASTER, open_options=["ALONG=time"])
            array = dataset.GetRootGroup().OpenMDArray("v")
            self.assertEqual(array.ReadAsArray()[:, 0, 0].tolist(), [0, 1, 2, 3, 4, 5])
        self.assertNoneRefused(server)

    def test_fragments_that_are_opened_in_the_background(self):
        files = [self.write_file(number) for number in range(24)]
        master = os.path.join(self.folder.served, "all.nca")
        subprocess.run([REFS, "combine", "--format", "cfa", "-q", *files, "-o", master], check=True)
        server = self.serve(*(f"/{number:02}.nc" for number in range(24)), "/all.nca")
        with thread_options(GDAL_HTTP_HEADERS=HEADERS):
            dataset = gdal.Open(f'REFS:"{server.url("all.nca")}":/v')
            for band in range(24):
                self.assertEqual(dataset.GetRasterBand(band + 1).ReadAsArray()[0, 0], band)
        self.assertNoneRefused(server)

    def test_services_that_give_out_access(self):
        """They are asked by the caller, and what one caller was given goes with no request of another."""
        self.folder.write_array(BANDS, WIDTH)
        self.folder.write("token", "sv=1&sig=gift")
        server = self.serve("/token")
        options = {"REFS_TOKEN_URL": f"{server.url('v.bin')}=>{server.url('token')}"}
        name = f'REFS:"{server.url("refs.json")}":/v'
        with thread_options(GDAL_HTTP_HEADERS=HEADERS, **options):
            dataset = gdal.Open(name)
            for band in range(BANDS):
                dataset.GetRasterBand(band + 1).ReadAsArray()
        paths = [request["path"] for request in server.requests() if "/v.bin" in request["path"]]
        self.assertEqual([path for path in paths if not path.endswith("?sv=1&sig=gift")], [])
        self.assertGreater(len(paths), 0)
        self.assertEqual(len(server.requests("/token")), 1)
        with thread_options(**options), self.assertRaisesRegex(RuntimeError, "REFS_TOKEN_URL.*HTTP 401"):
            gdal.Open(name).ReadAsArray()
        asked = [request for request in server.requests() if "/v.bin" in request["path"]]
        self.assertEqual(len(asked), len(paths))

    def test_two_callers_at_a_time(self):
        self.folder.write_array(BANDS, WIDTH)
        server = Server(self.folder, faults={"/v.bin": {"status": 401, "require": {NAME: "^[ab]$"}}})
        self.addCleanup(server.close)
        problems = []

        def read(who):
            try:
                with thread_options(GDAL_HTTP_HEADERS=f"{NAME}: {who}"):
                    dataset = gdal.Open(f'REFS:"{server.url("refs.json")}":/v')
                    for band in range(BANDS):
                        dataset.GetRasterBand(band + 1).ReadAsArray()
            except RuntimeError as error:
                problems.append(error)

        threads = [threading.Thread(target=read, args=(who,)) for who in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(problems, [])
        asked = {who: [request for request in server.requests("v.bin")
                       if request["headers"].get(NAME.lower()) == who] for who in "ab"}
        self.assertEqual(server.counts()["failed"], 0)
        self.assertTrue(asked["a"] and asked["b"], "what one has read is not given to the other")


class Notes(Identity):
    """What is worth a warning is raised on the thread that reads, for whose handlers it is."""

    def test_missing_fragments_are_told_to_the_caller(self):
        files = [self.write_file(number) for number in range(24)]
        master = os.path.join(self.folder.served, "all.nca")
        subprocess.run([REFS, "combine", "--format", "cfa", "-q", *files, "-o", master], check=True)
        for number in range(3, 24, 4):
            os.remove(files[number])
        script = ("import sys, threading; from osgeo import gdal; gdal.UseExceptions()\n"
                  "told = []\n"
                  "gdal.PushErrorHandler(lambda kind, number, text: told.append((threading.get_ident(), text)))\n"
                  "gdal.SetConfigOption('CPL_DEBUG', 'REFS')\n"
                  "dataset = gdal.OpenEx(f'REFS:\"{sys.argv[1]}\":/v', open_options=['MISSING=WARN'])\n"
                  "for band in range(dataset.RasterCount): dataset.GetRasterBand(band + 1).ReadAsArray()\n"
                  "gdal.SetConfigOption('CPL_DEBUG', None)\n"
                  "assert {who for who, text in told} == {threading.get_ident()}\n"
                  "print(len([text for who, text in told if '.nc' in text and 'nodata' in text]))\n")
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", script, master], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=True)
        self.assertEqual(done.stderr, "")
        self.assertGreaterEqual(int(done.stdout), 6, done.stdout)


class Caches(Identity):
    """Neither what was read nor what was prefetched."""

    def read(self, server, **options):
        with thread_options(**options):
            dataset = gdal.Open(f'REFS:"{server.url("refs.json")}":/v')
            return [dataset.GetRasterBand(band + 1).ReadAsArray() for band in range(4)]

    def test_another_identity_gets_nothing_of_it(self):
        self.folder.write_array(8, WIDTH)
        server = self.serve("/v.bin")
        with thread_options(GDAL_HTTP_HEADERS=HEADERS):
            dataset = gdal.Open(f'REFS:"{server.url("refs.json")}":/v')
            dataset.ReadAsArray()
            for other in ({}, {"GDAL_HTTP_HEADERS": f"{NAME}: other"}):
                with self.assertRaises(RuntimeError) as caught:
                    with thread_options(GDAL_HTTP_HEADERS=None if not other else other["GDAL_HTTP_HEADERS"]):
                        again = gdal.Open(f'REFS:"{server.url("refs.json")}":/v')
                        again.ReadAsArray()
                self.assertIn("401", str(caught.exception))

    def test_keys_tell_identities_apart(self):
        self.folder.write_array(8, WIDTH)
        server = self.serve("/none")
        gdal.SetConfigOption("REFS_TRUST_SECONDS", "3600")  # a busy machine takes longer than the default
        self.addCleanup(gdal.SetConfigOption, "REFS_TRUST_SECONDS", None)
        options = ("GDAL_HTTP_USERPWD", "GDAL_HTTP_COOKIE", "GDAL_HTTP_BEARER", "AWS_ACCESS_KEY_ID",
                   "AWS_SESSION_TOKEN", "AWS_PROFILE", "GS_ACCESS_KEY_ID", "GOOGLE_APPLICATION_CREDENTIALS",
                   "AZURE_STORAGE_SAS_TOKEN", "REFS_TOKEN_URL", "GDAL_HTTP_COOKIEFILE", "OSS_ACCESS_KEY_ID",
                   "GDAL_HTTP_SSLKEY", "AWS_NO_SIGN_REQUEST", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_HTTPS",
                   "AWS_VIRTUAL_HOSTING")
        first = gdal.Open(f'REFS:"{server.url("refs.json")}":/v')
        first.ReadAsArray()
        before = len(server.requests("v.bin"))
        for name in options:
            value = "NO" if name == "AWS_NO_SIGN_REQUEST" else "s3://b/=>http://127.0.0.1:1/" \
                if name == "REFS_TOKEN_URL" else "x:y"
            with thread_options(**{name: value}):
                gdal.Open(f'REFS:"{server.url("refs.json")}":/v').ReadAsArray()
            now = len(server.requests("v.bin"))
            self.assertGreater(now, before, name)
            before = now
        again = gdal.Open(f'REFS:"{server.url("refs.json")}":/v')
        again.ReadAsArray()
        self.assertEqual(len(server.requests("v.bin")), before, "the same identity shares what is open")

    def read_with(self, dataset, header, band, with_options):
        with with_options(GDAL_HTTP_HEADERS=f"{NAME}: {header}"):
            return dataset.GetRasterBand(band).ReadRaster()

    def check_reads_of_another(self, with_options, read=None):
        """What a dataset reads for another identity than it was opened with is in no cache of the first."""
        self.folder.write_array(8, WIDTH)
        server = self.serve("/v.bin")
        name = f'REFS:"{server.url("refs.json")}":/v'
        read = read or self.read_with
        with with_options(GDAL_HTTP_HEADERS=f"{NAME}: other"):
            dataset = gdal.Open(name)
        values = read(dataset, VALUE, 5, with_options)
        self.assertEqual(np.frombuffer(values, "<i4")[0], 4 * WIDTH)
        for again in (dataset, None):
            with self.assertRaisesRegex(RuntimeError, "401"):
                with with_options(GDAL_HTTP_HEADERS=f"{NAME}: other"):
                    again = again or gdal.Open(name)
                self.read_with(again, "other", 5, with_options)
        n = len(server.requests("v.bin"))
        with with_options(GDAL_HTTP_HEADERS=HEADERS):
            own = gdal.Open(name)
            self.assertEqual(own.GetRasterBand(5).ReadRaster(), values)
        self.assertEqual(len(server.requests("v.bin")), n, "it is in the cache of who has read it")

    def test_reads_of_another_thread_option(self):
        self.check_reads_of_another(thread_options)

    def test_reads_of_another_option_of_the_process(self):
        self.check_reads_of_another(process_options)

    def test_reads_by_ways_that_load_first(self):
        """GDAL resamples what was loaded before."""
        def read(dataset, header, band, with_options):
            with with_options(GDAL_HTTP_HEADERS=f"{NAME}: {header}"):
                dataset.GetRasterBand(band).ReadRaster(buf_xsize=WIDTH // 2, resample_alg=gdal.GRIORA_Average)
            return self.read_with(dataset, header, band, with_options)
        self.check_reads_of_another(thread_options, read)

    def test_options_of_a_path(self):
        self.folder.write_array(8, WIDTH)
        server = Server(self.folder, faults={"/v.bin": {"status": 401, "require": {"cookie": "^me$"}}})
        self.addCleanup(server.close)
        path, name = f"/vsicurl/{server.base}", f'REFS:"{server.url("refs.json")}":/v'
        self.addCleanup(gdal.SetPathSpecificOption, path, "GDAL_HTTP_COOKIE", None)
        gdal.SetPathSpecificOption(path, "GDAL_HTTP_COOKIE", "other")
        dataset = gdal.Open(name)
        gdal.SetPathSpecificOption(path, "GDAL_HTTP_COOKIE", "me")
        dataset.GetRasterBand(5).ReadRaster()
        gdal.SetPathSpecificOption(path, "GDAL_HTTP_COOKIE", "other")
        with self.assertRaisesRegex(RuntimeError, "401"):
            gdal.Open(name).ReadAsArray()

    def test_arrays_that_another_reads(self):
        self.folder.write_array(8, WIDTH)
        server = self.serve("/v.bin")

        def open_array():
            dataset = gdal.OpenEx(f'REFS:{server.url("refs.json")}', gdal.OF_MULTIDIM_RASTER)
            return dataset.GetRootGroup().OpenMDArray("v")

        array = open_array()
        with thread_options(GDAL_HTTP_HEADERS=HEADERS):
            self.assertEqual(array.ReadAsArray()[4, 0, 0], 4 * WIDTH)
        for again in (array, open_array()):
            with self.assertRaisesRegex(RuntimeError, "401"):
                again.ReadAsArray()

    def test_fragments_that_another_reads(self):
        files = [self.write_file(number) for number in range(4)]
        master = os.path.join(self.folder.served, "all.nca")
        subprocess.run([REFS, "combine", "--format", "cfa", "-q", *files, "-o", master], check=True)
        server = self.serve(*(f"/{number:02}.nc" for number in range(4)))
        name = f'REFS:"{server.url("all.nca")}":/v'
        dataset = gdal.Open(name)
        with thread_options(GDAL_HTTP_HEADERS=HEADERS):
            self.assertEqual(dataset.ReadAsArray()[:, 0, 0].tolist(), [0, 1, 2, 3])
        with self.assertRaisesRegex(RuntimeError, "401"):
            gdal.Open(name).ReadAsArray()

    def test_threads_of_two_identities(self):
        """They read one array at a time, each by its own."""
        self.folder.write_array(BANDS, WIDTH)
        server = self.serve("/v.bin")
        dataset = gdal.OpenEx(f'REFS:{server.url("refs.json")}', gdal.OF_MULTIDIM_RASTER)
        array = dataset.GetRootGroup().OpenMDArray("v")
        outcomes = {}

        def read(who):
            refused = 0
            with thread_options(GDAL_HTTP_HEADERS=f"{NAME}: {who}"):
                for band in range(0, BANDS, 4):
                    try:
                        self.assertEqual(array.ReadAsArray([band, 0, 0], [1, 1, WIDTH])[0, 0, 0], band * WIDTH)
                    except RuntimeError:
                        refused += 1
            outcomes[who] = refused

        threads = [threading.Thread(target=read, args=(who,)) for who in (VALUE, "other")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(outcomes, {VALUE: 0, "other": BANDS // 4})


class Captured(Identity):
    """A read uses the options of its beginning for all of its requests."""

    def headers_of_a_read(self, during, with_options):
        """The headers of the requests of one read, and of another after it; during(dataset) is called once
        while the first one reads."""
        self.folder.write_array(BANDS, WIDTH, chunk_gap=4096)
        server = Server(self.folder)
        self.addCleanup(server.close)
        called = []

        def progress(done, message, user):
            if done > 0.1 and not called:
                called.append(done)
                during(dataset)
            return 1

        with with_options(GDAL_HTTP_HEADERS=f"{NAME}: first", REFS_MAX_GAP="0", REFS_HTTP_MAX_REQUESTS="2",
                          REFS_READ_AHEAD="NO", REFS_CACHE_MAX="0"):
            dataset = gdal.Open(f'REFS:"{server.url("refs.json")}":/v')
            headers = []
            for _ in range(2):
                n = len(server.requests("v.bin"))
                values = dataset.ReadAsArray(callback=progress)
                self.assertTrue((values[:, 0, 0] == np.arange(BANDS) * WIDTH).all())
                headers.append([request["headers"].get(NAME.lower()) for request in server.requests("v.bin")[n:]])
        self.assertEqual(len(called), 1)
        self.assertGreaterEqual(len(headers[0]), BANDS // 4)
        return set(headers[0]), set(headers[1])

    def test_what_a_callback_sets_is_for_what_comes_after_the_read(self):
        for set_option, with_options in ((gdal.SetThreadLocalConfigOption, thread_options),
                                         (gdal.SetConfigOption, process_options)):
            with self.subTest(set_option.__name__):
                headers = self.headers_of_a_read(
                    lambda _: set_option("GDAL_HTTP_HEADERS", f"{NAME}: second"), with_options)
                self.assertEqual(headers, ({"first"}, {"second"}))

    def test_a_callback_sees_the_options_of_its_caller(self):
        seen = []

        def during(_):
            seen.append((gdal.GetThreadLocalConfigOption("GDAL_HTTP_HEADERS"),
                         gdal.GetConfigOption("GDAL_HTTP_HEADERS")))

        self.assertEqual(self.headers_of_a_read(during, process_options), ({"first"}, {"first"}))
        self.assertEqual(seen, [(None, f"{NAME}: first")])
        self.assertIsNone(gdal.GetThreadLocalConfigOption("GDAL_HTTP_HEADERS"))

    def test_what_a_callback_reads_is_a_read_of_its_own(self):
        def during(dataset):
            gdal.SetThreadLocalConfigOption("GDAL_HTTP_HEADERS", f"{NAME}: nested")
            self.assertEqual(dataset.GetRasterBand(BANDS).ReadAsArray()[0, 0], (BANDS - 1) * WIDTH)
            gdal.SetThreadLocalConfigOption("GDAL_HTTP_HEADERS", f"{NAME}: first")

        first, second = self.headers_of_a_read(during, thread_options)
        self.assertEqual((first, second), ({"first", "nested"}, {"first"}))


if __name__ == "__main__":
    unittest.main()
