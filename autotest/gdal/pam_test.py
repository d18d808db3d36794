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
import time
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

    def copy_sample(self):
        for name in ("sample.json", "sample.nc"):
            shutil.copy(os.path.join(DATA, name), self.folder)
        self.set = self.path("sample.json")
        self.t2m, self.z = (f'REFS:"{self.set}":/{name}' for name in ("t2m", "z"))

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
        self.copy_sample()

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


class OfReplacedSets(Statistics):
    """Nothing of the old one is shown; what is found out of the new one is kept."""

    def setUp(self):
        super().setUp()
        self.copy_sample()
        for name in (self.t2m, self.z):
            gdal.Open(name).BuildOverviews("NEAREST", [3])
            self.compute(name)
        self.assert_shown(self.t2m, self.z)

    def replace(self):
        time.sleep(0.02)
        shutil.copyfile(os.path.join(DATA, "sample.json"), self.set)

    def shown(self, name):
        """In this process, and in another."""
        dataset = gdal.Open(name)
        band = dataset.GetRasterBand(1)
        mean = band.GetMetadataItem("STATISTICS_MEAN")
        self.assertEqual(mean is None, self.kept(name) is None)
        return mean is not None, band.GetOverviewCount()

    def assert_shown(self, *names):
        self.assertEqual([self.shown(name) for name in (self.t2m, self.z)],
                         [(True, 1) if name in names else (False, 0) for name in (self.t2m, self.z)])

    def test_are_not_shown(self):
        self.replace()
        self.assert_shown()

    def test_are_not_shown_once_those_of_another_array_are_new(self):
        self.replace()
        gdal.Open(self.t2m).BuildOverviews("NEAREST", [3])
        self.compute(self.t2m)
        self.assert_shown(self.t2m)
        self.assertEqual(len(glob.glob(self.set + "*.ovr")), 1, "old overviews pile up")

    def test_are_not_shown_where_overviews_alone_are_old(self):
        time.sleep(0.02)
        os.utime(self.set)
        time.sleep(0.02)
        os.utime(self.set + ".aux.xml")
        self.assertEqual(self.shown(self.z), (True, 0))

    def test_are_not_kept_by_who_has_the_old_set_open(self):
        dataset = gdal.Open(self.z + "[level=850]")
        dataset.GetRasterBand(1).ComputeStatistics(False)
        self.replace()
        del dataset
        self.assertIsNone(self.kept(self.z + "[level=850]"))

    def test_are_shown_where_the_set_is_no_younger(self):
        kept = os.stat(self.set + ".aux.xml")
        os.utime(self.set, ns=(kept.st_atime_ns, kept.st_mtime_ns))
        for file in glob.glob(self.set + "*.ovr"):
            os.utime(file, ns=(kept.st_atime_ns, kept.st_mtime_ns))
        self.assert_shown(self.t2m, self.z)


class Files(Statistics):
    """What is listed, copied, renamed and deleted with a set."""

    beside = ["sample.json.aux.xml", "sample.json_0.ovr", "sample.json_1.ovr"]

    def setUp(self):
        super().setUp()
        self.copy_sample()
        self.driver = gdal.GetDriverByName("REFS")
        for array in ("t2m", "z"):
            gdal.Open(self.name(self.set, array)).BuildOverviews("NEAREST", [3])
        self.mean = self.compute(self.name(self.set, "z"))
        for other in ("sample.json.bak", "sample.json_x.ovr", "sample.json_0.ovr.txt"):
            with open(self.path(other), "w", encoding="utf-8"):
                pass

    @staticmethod
    def name(path, array):
        return f'REFS:"{path}":/{array}'

    def files(self):
        return sorted(name for name in os.listdir(self.folder)
                      if name not in ("sample.json.bak", "sample.json_x.ovr", "sample.json_0.ovr.txt"))

    def contents(self):
        found = {}
        for name in os.listdir(self.folder):
            with open(self.path(name), "rb") as file:
                found[name] = file.read()
        return found

    def assert_complete(self, path):
        self.assertAlmostEqual(self.kept(self.name(path, "z")), self.mean, places=6)
        for array in ("t2m", "z"):
            dataset = gdal.Open(self.name(path, array))
            self.assertEqual(dataset.GetRasterBand(1).GetOverviewCount(), 1)

    def test_that_are_listed_are_the_set_and_what_lies_beside(self):
        expected = [self.path(name) for name in ["sample.json"] + self.beside]
        for name in (self.set, f'REFS:"{self.set}"', self.name(self.set, "z")):
            self.assertEqual(gdal.Open(name).GetFileList(), expected)
        os.chdir(self.folder)
        self.assertEqual(gdal.Open("sample.json").GetFileList(), ["sample.json"] + self.beside)

    def test_are_renamed_together(self):
        self.driver.Rename(self.path("other.json"), self.set)
        self.assertEqual(self.files(), [name.replace("sample.json", "other.json") for name in
                                        ["sample.json"] + self.beside] + ["sample.nc"])
        self.assert_complete(self.path("other.json"))

    def test_are_copied_together(self):
        self.driver.CopyFiles(self.path("other & more.json"), f'REFS:"{self.set}"')
        self.assertEqual(len(self.files()), 9)
        self.assert_complete(self.set)
        self.assert_complete(self.path("other & more.json"))
        self.driver.Rename(self.path("last.json"), self.path("other & more.json"))
        self.assert_complete(self.path("last.json"))

    def test_are_not_copied_to_themselves(self):
        """Copying would begin by emptying what it is to copy."""
        os.chdir(self.folder)
        os.symlink(self.set, self.path("link.json"))
        os.link(self.set, self.path("other.json"))
        before = self.contents()
        for to in (self.set, "sample.json", "./sample.json", f'REFS:"{self.set}"', "link.json",
                   "other.json"):
            for source in (self.set, "link.json"):
                with self.assertRaisesRegex(RuntimeError, "is the same file", msg=to):
                    self.driver.CopyFiles(to, source)
        self.assertEqual(self.contents(), before)
        memory = "/vsimem/set.json"
        gdal.FileFromMemBuffer(memory, before["sample.json"])
        self.addCleanup(gdal.Unlink, memory)
        with self.assertRaisesRegex(RuntimeError, "is the same file"):
            self.driver.CopyFiles(memory, memory)
        self.assertEqual(gdal.VSIStatL(memory).size, len(before["sample.json"]))

    def test_are_deleted_together_but_for_the_data(self):
        self.driver.Delete(self.set)
        self.assertEqual(self.files(), ["sample.nc"])

    def test_are_deleted_where_another_file_is_written_in_their_place(self):
        source = gdal.GetDriverByName("MEM").Create("", 2, 2)
        gdal.GetDriverByName("GTiff").CreateCopy(self.set, source)
        self.assertEqual(self.files(), ["sample.json", "sample.nc"])

    def test_of_a_part_of_a_set_are_not_deleted(self):
        before = self.files()
        for name in (self.name(self.set, "z"), self.set + ".no", "REFS:http://127.0.0.1:1/s.json"):
            with self.assertRaises(RuntimeError):
                self.driver.Delete(name)
            with self.assertRaises(RuntimeError):
                self.driver.Rename(self.path("other.json"), name)
        self.assertEqual(self.files(), before)

    def test_of_tools_are_the_same(self):
        for action, left in ((["copy", self.set, self.path("other.json")], 9),
                             (["delete", self.set], 5)):
            done = subprocess.run(["gdalmanage", *action], stdout=subprocess.PIPE, check=False)
            self.assertEqual((done.returncode, len(self.files())), (0, left), action)


class FilesOfParquetSets(Statistics):
    array = {"zarr_format": 2, "shape": [2, 3], "chunks": [2, 3], "dtype": "<f4", "fill_value": 0,
             "order": "C", "compressor": None, "filters": None}

    def setUp(self):
        super().setUp()
        self.driver = gdal.GetDriverByName("REFS")
        self.set = self.path("set.parq")
        self.write("set.parq/.zmetadata", json.dumps({"metadata": {
            ".zgroup": {"zarr_format": 2}, "v/.zarray": self.array}, "record_size": 10}))
        self.write("set.parq/v/refs.1.parq", "")
        self.write("set.parq/v/data.nc", "")
        self.compute(f'REFS:"{self.set}":/v')

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def files(self):
        return sorted(os.path.relpath(os.path.join(folder, file), self.folder)
                      for folder, _, files in os.walk(self.folder) for file in files)

    def test_are_copied_renamed_and_deleted_with_the_folder(self):
        before = self.files()
        self.assertEqual(gdal.Open(f'REFS:"{self.set}":/v').GetFileList(),
                         [self.set, self.set + ".aux.xml"])
        self.driver.CopyFiles(self.path("b.parq"), self.set)
        copied = ["b.parq.aux.xml", "b.parq/.zmetadata", "b.parq/v/refs.1.parq"]
        self.assertEqual(self.files(), sorted(copied + before))
        self.assertEqual(self.kept(f'REFS:"{self.path("b.parq")}":/v'), 0)
        self.driver.Delete(self.set)
        self.assertEqual(self.files(), sorted(copied + ["set.parq/v/data.nc"]), "data are no set's")
        self.driver.Rename(self.path("c.parq"), self.path("b.parq"))
        self.assertEqual(self.kept(f'REFS:"{self.path("c.parq")}":/v'), 0)
        self.driver.Delete(self.path("c.parq"))
        self.assertEqual(os.listdir(self.folder), ["set.parq"])


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
        served = self.served = Folder()
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

    def test_of_an_older_set_are_not_taken_from_the_proxy_folder(self):
        self.environment = {"GDAL_PAM_PROXY_DIR": self.folder}
        os.utime(os.path.join(self.served.served, "sample.json"), (time.time() - 1800,) * 2)
        mean = self.compute(self.z)
        self.assertAlmostEqual(self.kept(self.z), mean, places=6)
        for file in glob.glob(self.path("*.aux.xml")):
            os.utime(file, (time.time() - 3600,) * 2)
        self.assertIsNone(self.kept(self.z))

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
