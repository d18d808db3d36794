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


if __name__ == "__main__":
    unittest.main()
