#!/usr/bin/env python3
"""Where statistics are kept: beside a local set, for each of its variables; of a remote one nowhere,
unless GDAL_PAM_PROXY_DIR is set."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from osgeo import gdal

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.normpath(os.path.join(HERE, "..", "..", "data"))
SHARED = os.environ.get("REFS_SHARED_DATA", os.path.join(HERE, "..", "..", "..", "shared", "data"))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
from served import Folder, Server  # noqa: E402

gdal.UseExceptions()

NOBODY = 65534

# Prints the mean that is kept of band 1, or None, and computes it where a second argument says so.
PROGRAM = """
import os, sys
from osgeo import gdal
if os.environ.get("AS_NOBODY"):
    os.setuid(int(os.environ["AS_NOBODY"]))
gdal.UseExceptions()
dataset = gdal.Open(sys.argv[1])
band = dataset.GetRasterBand(1)
print(band.GetMetadataItem("STATISTICS_MEAN"))
if len(sys.argv) > 2:
    print(band.ComputeStatistics(False)[2])
"""


class Statistics(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = {}

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def run_program(self, *arguments):
        done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True,
                              env=dict(os.environ, **self.environment))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stderr
        return done.stdout.split()

    def kept(self, name):
        """The mean that another process finds."""
        found = self.run_program(name)[0]
        return None if found == "None" else float(found)

    def compute(self, name):
        return float(self.run_program(name, "compute")[1])

    def assert_kept_apart(self, *names):
        """Computed for one after the other, each name keeps its own."""
        self.assertEqual([self.kept(name) for name in names], [None] * len(names))
        computed = []
        for i, name in enumerate(names):
            computed.append(self.compute(name))
            kept = [self.kept(name) for name in names]
            self.assertEqual(kept[i + 1:], [None] * (len(names) - i - 1))
            for mean, expected in zip(kept, computed):
                self.assertAlmostEqual(mean, expected, places=6)
        self.assertEqual(len(set(computed)), len(names), "all the same: the test tells nothing")


class OfLocalSets(Statistics):
    def setUp(self):
        super().setUp()
        for name in ("sample.json", "sample.nc"):
            shutil.copy(os.path.join(DATA, name), self.folder)
        self.set = self.path("sample.json")
        self.t2m, self.z = (f'REFS:"{self.set}":/{name}' for name in ("t2m", "z"))

    def test_are_kept_beside_it_for_each_variable_and_selection(self):
        self.assert_kept_apart(self.t2m, self.z, self.t2m + "[time=2024-06-01T13:00]")
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["sample.json", "sample.json.aux.xml", "sample.nc"])

    def test_are_found_by_every_name(self):
        mean = self.compute(self.t2m)
        for name in (f"REFS:{self.set}:t2m", f"REFS:{self.set}:/t2m",
                     f'REFS:"{os.path.dirname(self.set)}/./sample.json":t2m'):
            self.assertAlmostEqual(self.kept(name), mean, places=6)

    def test_outlive_what_is_said_of_the_whole_set(self):
        mean = self.compute(self.t2m)
        for value in ("yes", None):
            whole = gdal.Open(f'REFS:"{self.set}"')
            whole.SetMetadataItem("CHECKED", value)
            del whole
            self.assertAlmostEqual(self.kept(self.t2m), mean, places=6)

    def test_are_not_kept_where_pam_is_off(self):
        self.environment = {"GDAL_PAM_ENABLED": "NO"}
        self.compute(self.t2m)
        self.assertEqual(sorted(os.listdir(self.folder)), ["sample.json", "sample.nc"])

    def test_overviews_are_built_beside_it_for_each_variable(self):
        mean = self.compute(self.t2m)
        for name in (self.t2m, self.z):
            dataset = gdal.Open(name)
            self.assertEqual(dataset.GetRasterBand(2).GetOverviewCount(), 0)
            dataset.BuildOverviews("NEAREST", [3])
        for name in (self.t2m, self.z):
            dataset = gdal.Open(name)
            copy = gdal.GetDriverByName("MEM").CreateCopy("", dataset)
            copy.BuildOverviews("NEAREST", [3])
            overviews = [each.GetRasterBand(2).GetOverview(0) for each in (dataset, copy)]
            self.assertEqual((overviews[0].XSize, overviews[0].YSize), (41, 27))
            np.testing.assert_array_equal(*(overview.ReadAsArray() for overview in overviews))
        self.assertAlmostEqual(self.kept(self.t2m), mean, places=6)
        self.assertEqual(len(glob.glob(self.set + "*.ovr")), 2)

    def make_read_only(self):
        """So that nobody can write, which root can everywhere: the program is another user then."""
        os.chmod(self.folder, 0o555)
        self.addCleanup(os.chmod, self.folder, 0o755)
        if os.getuid() == 0:
            self.environment["AS_NOBODY"] = str(NOBODY)

    def test_of_a_folder_that_cannot_be_written_are_computed_all_the_same(self):
        self.make_read_only()
        self.assertGreater(self.compute(self.t2m), 0)
        self.assertIn("Unable to save auxiliary information", self.said)
        self.assertIsNone(self.kept(self.t2m))
        self.assertEqual(sorted(os.listdir(self.folder)), ["sample.json", "sample.nc"])

    def test_of_a_folder_that_cannot_be_written_are_kept_in_the_proxy_folder(self):
        self.make_read_only()
        with tempfile.TemporaryDirectory() as proxies:
            os.chmod(proxies, 0o777)
            self.environment["GDAL_PAM_PROXY_DIR"] = proxies
            self.assert_kept_apart(self.t2m, self.z)


class OfParquetSets(Statistics):
    def test_are_kept_beside_the_folder(self):
        array = {"zarr_format": 2, "shape": [2, 3], "chunks": [2, 3], "dtype": "<f4",
                 "fill_value": 0, "order": "C", "compressor": None, "filters": None}
        os.mkdir(self.path("set.parq"))
        with open(self.path("set.parq", ".zmetadata"), "w", encoding="utf-8") as file:
            json.dump({"metadata": {".zgroup": {"zarr_format": 2}, "v/.zarray": array,
                                    "w/.zarray": array}, "record_size": 10}, file)
        self.assertEqual(self.compute(f"REFS:{self.path('set.parq')}:v"), 0)
        for spelling in ("set.parq", "set.parq/", "set.parq//", "set.parq/.zmetadata"):
            self.assertEqual(self.kept(f'REFS:"{self.path(spelling)}":/v'), 0, spelling)
            self.assertIsNone(self.kept(f'REFS:"{self.path(spelling)}":/w'))
        self.assertEqual(os.listdir(self.path("set.parq")), [".zmetadata"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["set.parq", "set.parq.aux.xml"])

    def test_of_a_real_file_are_kept_beside_the_folder(self):
        name = "goes-16_C_M6_2000.nc"
        if not os.path.isdir(SHARED):
            self.skipTest(f"{SHARED} is absent")
        for source in (name, name + ".parq"):
            subprocess.run(["cp", "-r", os.path.join(SHARED, "netcdf4", source), self.folder],
                           check=True)
        subprocess.run(["chmod", "-R", "u+w", self.folder], check=True)
        folder = self.path(name + ".parq")
        whole = gdal.Open(f"REFS:{folder}")
        arrays = [entry[0].rsplit(":", 1)[1] for entry in whole.GetSubDatasets()] or \
            [whole.GetDescription().rsplit(":", 1)[1]]
        inside = sorted(os.listdir(folder))
        names = [f'REFS:"{folder}":{array}' for array in arrays]
        means = [self.compute(name) for name in names]
        for spelling in (folder, folder + "/", folder + "/.zmetadata"):
            for array, mean in zip(arrays, means):
                self.assertAlmostEqual(self.kept(f'REFS:"{spelling}":{array}') or 0, mean, places=4)
        self.assertEqual(sorted(os.listdir(folder)), inside, "the set itself was changed")
        self.assertTrue(os.path.exists(folder + ".aux.xml"))


class OfRemoteSets(Statistics):
    def setUp(self):
        super().setUp()
        served = Folder()
        self.addCleanup(served.close)
        for name in ("sample.json", "sample.nc"):
            with open(os.path.join(DATA, name), "rb") as file:
                served.write(name, file.read())
        self.server = Server(served)
        self.addCleanup(self.server.close)
        self.t2m, self.z = (f'REFS:"{self.server.url("sample.json")}":/{name}'
                            for name in ("t2m", "z"))

    def asked(self):
        return {(request["method"], request["path"]) for request in self.server.requests()}

    def test_are_kept_nowhere(self):
        os.chdir(self.folder)
        self.assertGreater(self.compute(self.t2m), 0)
        self.assertEqual(self.said, "")
        self.assertIsNone(self.kept(self.t2m))
        self.assertEqual(os.listdir(self.folder), [])
        self.assertEqual(self.asked(), {("GET", "/sample.json"), ("GET", "/sample.nc")})

    def test_are_kept_in_the_proxy_folder(self):
        self.environment = {"GDAL_PAM_PROXY_DIR": self.folder}
        self.assert_kept_apart(self.t2m, self.z)
        self.assertEqual(self.said, "")
        self.assertEqual(self.asked(), {("GET", "/sample.json"), ("GET", "/sample.nc")})

    def test_that_are_only_looked_at_leave_nothing_in_the_proxy_folder(self):
        self.environment = {"GDAL_PAM_PROXY_DIR": self.folder}
        self.assertIsNone(self.kept(self.t2m))
        self.assertEqual(os.listdir(self.folder), [])

    def test_of_names_with_secrets_are_kept_nowhere(self):
        """Without its query a URL may be that of another set."""
        self.environment = {"GDAL_PAM_PROXY_DIR": self.folder}
        name = f'REFS:"{self.server.url("sample.json")}?token=hidden":/t2m'
        self.assertGreater(self.compute(name), 0)
        self.assertIsNone(self.kept(name))
        self.assertEqual(glob.glob(self.path("*")), [])


if __name__ == "__main__":
    unittest.main()
