"""The program refs: makes sets of files that this writes, joins them in all ways, and shows and checks
them. What it makes is read by the driver and compared with what netCDF4 reads of the files.

    refs_test.py PROGRAM [test ...]
"""

import contextlib
import glob
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import zipfile

import numpy as np
from osgeo import gdal, osr

try:
    import netCDF4
except ImportError:
    print("there is no module netCDF4")
    sys.exit(77)

# Programs go on ignoring what is ignored when they start: shells may have this one ignore SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)
REFS = os.path.abspath(sys.argv.pop(1))
gdal.UseExceptions()


def run(*arguments, status=0, **options):
    """What the program prints; its messages where it fails as it should."""
    done = subprocess.run([REFS, *arguments], capture_output=True, text=True, check=False, **options)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr if status else done.stdout


def somebody():
    """Options of `run` for a user whom permissions hold for; skips the test where there is none."""
    options = {"user": 65534} if os.getuid() == 0 else {}
    try:
        run("--help", **options)
    except (AssertionError, OSError) as reason:
        raise unittest.SkipTest(f"nobody may run the program: {reason}") from reason
    return options


def read(name, variable):
    """An array by the multidimensional API."""
    dataset = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenMDArrayFromFullname("/" + variable)
    return array.ReadAsArray()


@contextlib.contextmanager
def said_by_gdal():
    """The list of what GDAL says meanwhile."""
    messages = []
    gdal.PushErrorHandler(lambda _, __, text: messages.append(text))
    try:
        yield messages
    finally:
        gdal.PopErrorHandler()


def content(name):
    """All bytes of a set."""
    if os.path.isfile(name):
        with open(name, "rb") as file:
            return file.read()
    files = sorted(os.path.join(folder, file) for folder, _, found in os.walk(name)
                   for file in found)
    return [(os.path.relpath(file, name), content(file)) for file in files]


class Folder(unittest.TestCase):
    """Tests in a folder of their own, which is where they run."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.before = os.getcwd()
        os.chdir(self.folder)

    def tearDown(self):
        os.chdir(self.before)
        shutil.rmtree(self.folder)

    def write(self, name, times, units="hours since 2020-01-01", t_chunk=1, **more):
        """A file with t(time, y, x), its times and their bounds."""
        with netCDF4.Dataset(name, "w") as file:
            file.createDimension("time", None)
            file.createDimension("bnds", 2)
            for dim, n in (("y", 6), ("x", 8)):
                file.createDimension(dim, n)
                axis = file.createVariable(dim, "f4", (dim,))
                axis[:] = np.arange(n) + more.get(dim, 0)
            file.title = name
            axis = file.createVariable("time", more.get("time_type", "f8"), ("time",))
            axis.units, axis.bounds = units, "time_bnds"
            axis.calendar = more.get("calendar", "standard")
            axis[:] = times
            bounds = file.createVariable("time_bnds", "f8", ("time", "bnds"))
            bounds[:] = np.stack([np.array(times), np.array(times) + 1], axis=-1)
            t = file.createVariable("t", "i2", ("time", "y", "x"), zlib=True,
                                    chunksizes=(t_chunk, 3, 4))
            t.scale_factor = more.get("scale", 0.5)
            t.set_auto_maskandscale(False)
            # Values tell hours since 2020, whatever the units.
            hours = [round(netCDF4.date2num(netCDF4.num2date(time, units),
                                            "hours since 2020-01-01")) for time in times]
            for i, hour in enumerate(hours):
                t[i] = 100 * hour + np.arange(48).reshape(6, 8)
        return name

    def expect_any_grouping(self, names, chance, attempts):
        """all.json and all.parq are what sets of single files are, joined in groups by chance."""
        for name in names:
            run("index", name, "-q", "--along", "time", "-o", name + ".json")
        for attempt in range(attempts):
            parts = [name + ".json" for name in names]
            while len(parts) > 1:
                chance.shuffle(parts)
                n = chance.randint(2, min(4, len(parts)))
                new = f"part{attempt}_{len(parts)}" + chance.choice([".json", ".parq", ".json.zst"])
                run("combine", *parts[:n], "-q", "--along", "time", "-o", new)
                parts = [*parts[n:], new]
            run("convert", parts[0], "-o", "again.json")
            self.assertEqual(content("again.json"), content("all.json"))
            run("convert", parts[0], "-o", "again.parq")
            self.assertEqual(content("again.parq"), content("all.parq"))

    def index_as_master(self, *names, output="all.nc"):
        """Skips the rest of the test where this build does not write netCDF."""
        done = subprocess.run([REFS, "index", *names, "-o", output], capture_output=True, text=True, check=False)
        if "this build cannot write netCDF" in done.stderr:
            self.skipTest("this build does not write netCDF")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def expect_hours(self, name, hours):
        values = read(name, "t")
        self.assertEqual(values.shape, (len(hours), 6, 8))
        for i, hour in enumerate(hours):
            np.testing.assert_array_equal(values[i], 100 * hour + np.arange(48).reshape(6, 8))


class Index(Folder):
    def test_one_file_is_its_set(self):
        self.write("a.nc", [0, 1, 2])
        for name in ("a.json", "a.json.gz", "a.json.zst", "a.parq"):
            run("index", "a.nc", "-o", name)
            self.expect_hours(name, [0, 1, 2])
            np.testing.assert_array_equal(read(name, "time"), [0, 1, 2])
        self.assertEqual(sorted(os.listdir()), ["a.json", "a.json.gz", "a.json.zst", "a.nc",
                                                "a.parq"])

    def test_many_files_are_joined_by_their_times(self):
        names = [self.write(f"{name}.nc", [hour]) for name, hour in zip("dbca", (3, 1, 2, 0))]
        run("index", *names, "-o", "all.json")
        self.expect_hours("all.json", [0, 1, 2, 3])
        np.testing.assert_array_equal(read("all.json", "time_bnds")[:, 1], [1, 2, 3, 4])
        self.assertEqual(json.loads(content("all.json"))["refs"]["x/0"][0],
                         os.path.join(os.path.realpath(self.folder), "a.nc"))

    def test_folders_patterns_and_lists_name_sources(self):
        os.mkdir("d")
        for hour in range(3):
            self.write(f"d/{hour}.nc", [hour])
        with open("d/README", "w", encoding="utf-8") as file:
            file.write("nothing to index")
        run("index", "d", "-o", "a.json")
        run("index", "d/*.nc", "-o", "b.json")
        run("index", "-", "-o", "c.json", input="d/0.nc\nd/1.nc\nd/2.nc\n")
        self.assertEqual(content("a.json"), content("b.json"))
        self.assertEqual(content("a.json"), content("c.json"))

    def write_unreadable(self):
        """Files of a folder d that are called as data files are, and are none."""
        os.makedirs("d/deep")
        for hour in range(3):
            self.write(f"d/{hour}.nc", [hour])
        for name, inside in (("3.nc", b""), ("4.H5", b"<html>log in</html>"), ("5.tif", bytes(5000)),
                             ("deep/6.grib2", b"GRI")):
            with open(f"d/{name}", "wb") as file:
                file.write(inside)
        os.symlink("nowhere.nc", "d/7.nc")
        for name in ("README", "x.txt", "_SUCCESS", "notes"):
            with open(f"d/{name}", "wb") as file:
                file.write(b"")
        os.symlink("nowhere", "d/y.txt")
        return ["d/3.nc", "d/4.H5", "d/5.tif", "d/7.nc", "d/deep/6.grib2"]

    def test_a_folder_names_what_cannot_be_read(self):
        bad = self.write_unreadable()
        said = run("index", "d", "-o", "a.json", status=1)
        self.assertTrue(any(f"refs: {name}: " in said for name in bad), said)
        self.assertFalse(os.path.exists("a.json"))
        with self.assertRaisesRegex(RuntimeError, "|".join(bad)):
            gdal.OpenEx('REFS:"d"', gdal.OF_MULTIDIM_RASTER)
        said = run("index", "d", "--skip-errors", "-o", "a.json", status=1)
        self.assertEqual(sorted(line.split(":")[2].strip() for line in said.splitlines()
                                if "left out" in line), bad)
        self.expect_hours("a.json", [0, 1, 2])
        for name in bad:
            os.remove(name)
        run("index", "d", "-o", "a.json")
        self.expect_hours("d", [0, 1, 2])

    def test_a_folder_names_what_may_not_be_read(self):
        somewhere = somebody()
        os.makedirs("d/closed")
        for hour, name in enumerate(("0.nc", "1.nc", "2.nc", "data", "x.txt", "closed/5.nc")):
            self.write(f"d/{name}", [hour])
        for name in ("2.nc", "data", "x.txt", "closed"):
            os.chmod(f"d/{name}", 0)
        os.mkdir("out")
        for name in (".", "out"):
            os.chmod(name, 0o777)
        said = run("index", "d", "--skip-errors", "-o", "out/a.json", status=1, **somewhere)
        os.chmod("d/closed", 0o755)
        for name in ("d/2.nc", "d/data", "d/closed"):
            self.assertIn(f"left out: {name}: Permission denied", said)
        self.assertNotIn("x.txt", said)
        self.expect_hours("out/a.json", [0, 1])

    def test_gdal_names_a_folder_that_may_not_be_listed(self):
        somewhere = somebody()
        os.makedirs("d/closed")
        for hour, name in enumerate(("0.nc", "1.nc", "closed/2.nc")):
            self.write(f"d/{name}", [hour])
        os.chmod(".", 0o755)
        os.chmod("d/closed", 0)
        info = subprocess.run(["gdalinfo", "REFS:d"], capture_output=True, text=True, check=False,
                              **somewhere)
        os.chmod("d/closed", 0o755)
        self.assertNotEqual(info.returncode, 0)
        self.assertIn("d/closed: Permission denied", info.stderr)

    def test_patterns_name_each_dimension_once(self):
        for year, month in ((2019, 1), (2019, 2), (2020, 1)):
            self.write(f"t_{year}_m{month}.nc", [0])
        for pattern, said in (("t_{time:%Y}_m{time:d}.nc", "time is named twice"),
                              ("t_{time:%y}_m*.nc", 'unknown "%y"'),
                              ("t_{time:%Y", '"{" without "}"'), ("t_{:%Y}.nc", "without the name of a dim")):
            for more in ((), ("--along", "time")):
                self.assertIn(said, run("index", *glob.glob("*.nc"), "--pattern", pattern, *more,
                                        "-o", "a.json", status=1))

    def test_names_with_dates_that_do_not_exist_are_refused(self):
        for date, code in (("20200230", "%Y%m%d"), ("2021366", "%Y%j"), ("2021000", "%Y%j"),
                           ("20190229", "%Y%m%d"), ("20191301", "%Y%m%d")):
            name = self.write(f"t_{date}.nc", [0])
            said = run("index", name, "--pattern", f"t_{{run:{code}}}.nc", "-o", "a.json", status=1)
            self.assertIn(f'{name}: "{date}" in its name is not a time', said)
        for date in ("20200229", "20191231"):
            self.write(f"t_{date}.nc", [0])
        run("index", "t_20200229.nc", "t_20191231.nc", "--pattern", "t_{run:%Y%m%d}.nc", "-o",
            "a.json")

    def test_names_of_templates_are_those_that_readers_take(self):
        self.write("a.nc", [0])
        for name in ("u-v", "a b", "1", "true", "not", "in", "if", "u.v", "None"):
            said = run("index", "a.nc", "-t", f"{name}=/tmp", "-o", "a.json", status=1)
            self.assertIn(f'invalid template name "{name}"', said)
        self.assertIn("defined twice", run("index", "a.nc", "-t", "u=/a", "-t", "u=/b", "-o",
                                         "a.json", status=1))
        run("index", "a.nc", "-t", f"u_1={os.path.realpath(self.folder)}", "-o", "a.json")
        self.expect_hours("a.json", [0])

    def test_a_repository_is_a_source_by_its_name(self):
        self.write("a.nc", [0])
        for form in ("1", "2"):
            data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit/references/icechunk/data")
            shutil.copytree(f"{data}/v{form}", f"repo{form}")
            run("convert", f"repo{form}#branch=main", "-o", "main.json")
            for verb in ("index", "convert", "combine"):
                run(verb, f"repo{form}", "-o", "b.json")
                self.assertEqual(content("b.json"), content("main.json"))
        os.mkdir("d")
        os.rename("repo2", "d/repo")
        said = "d/repo: skipped: an Icechunk repository"
        self.assertIn(said, run("index", "d", "-o", "b.json", status=1))
        self.write("d/a.nc", [0])
        done = subprocess.run([REFS, "index", "d", "-o", "b.json"], capture_output=True, text=True,
                              check=True)
        self.assertIn(said, done.stderr)
        self.expect_hours("b.json", [0])

    def test_misspelt_names_are_told_from_those_that_there_are(self):
        os.mkdir("d")
        self.write("d/a.nc", [0])
        self.assertIn("** matches one folder, like *", run("index", "d/**/x/*.nc", "-o", "a.json", status=1))
        said = run("index", "d/a.nc", "-v", "t2", "-o", "a.json", status=1)
        self.assertIn('no array "t2" (it has: y, x, time, time_bnds, t)\n', said)

    def test_a_source_without_a_selected_variable_is_left_out_as_the_message_says(self):
        for i in range(3):
            self.write(f"{i}.nc", [i])
        with netCDF4.Dataset("1.nc", "a") as file:
            file.renameVariable("t", "u")
        said = run("index", "0.nc", "1.nc", "2.nc", "-v", "t", "-o", "a.json", status=1)
        self.assertIn('1.nc: there is no array "t" (it has: y, x, time, time_bnds, u): if other sources have it, omit this source or use --skip-errors', said)
        run("index", "0.nc", "1.nc", "2.nc", "-v", "t", "--skip-errors", "-o", "a.json", status=1)
        self.expect_hours("a.json", [0, 2])

    def test_documents_of_stac_with_too_many_assets_are_named(self):
        with open("many.json", "w", encoding="utf-8") as file:
            json.dump({"type": "Feature", "stac_version": "1.0.0", "id": "many",
                       "assets": {f"a{i}": {"href": f"{i}.nc", "roles": ["data"]} for i in range(70000)}}, file)
        for verb in (("index", "many.json", "-o", "a.json"), ("ls", "many.json")):
            self.assertRegex(run(*verb, status=1), "^refs: many.json: .*more assets than.*\n$")

    def test_sources_that_are_not_there_are_named_once(self):
        self.write("gone.nc", [0])
        run("index", "gone.nc", "-o", "a.json")
        os.remove("gone.nc")
        name = os.path.realpath("gone.nc")
        self.assertIn(f"{name}: No such file or directory\n", run("check", "a.json", status=1).splitlines(keepends=True))

    def test_assets_of_stac_are_sources(self):
        os.makedirs("c/items")
        os.mkdir("c/data")
        for hour in range(3):
            self.write(f"c/data/{hour}.nc", [hour])
            with open(f"c/items/{hour}.json", "w", encoding="utf-8") as file:
                json.dump({"type": "Feature", "stac_version": "1.0.0", "id": str(hour),
                           "links": [{"rel": "collection", "href": "../collection.json"}],
                           "assets": {"image": {"href": "x.png", "roles": ["thumbnail"]},
                                      "values": {"href": f"../data/{hour}.nc",
                                                 "roles": ["data"]}}}, file)
        with open("c/collection.json", "w", encoding="utf-8") as file:
            json.dump({"type": "Collection", "stac_version": "1.0.0", "id": "c",
                       "links": [{"rel": "self", "href": "collection.json"},
                                 *[{"rel": "item", "href": f"./items/{i}.json"} for i in range(3)]]},
                      file)
        with open("list.json", "w", encoding="utf-8") as file:
            json.dump({"type": "FeatureCollection", "features": [
                {"stac_version": "1.0.0", "assets": {
                    "a": {"href": f"c/data/{i}.nc", "type": "application/x-netcdf"},
                    "b": {"href": "b.html", "type": "text/html"}}} for i in range(3)]}, file)
        run("index", "c/data", "-o", "all.json")
        for name in ("c/collection.json", "list.json"):
            run("index", name, "-o", "again.json")
            self.assertEqual(content("again.json"), content("all.json"))
        run("index", "c/items/0.json", "c/items/1.json", "-o", "two.json")
        self.expect_hours("two.json", [0, 1])
        with open("none.json", "w", encoding="utf-8") as file:
            json.dump({"type": "Catalog", "stac_version": "1.0.0",
                       "links": [{"rel": "child", "href": "none.json"}]}, file)
        self.assertIn("with assets that are data, found none", run("index", "none.json", "-o", "x.json", status=1))

    def test_units_of_times_are_made_the_same(self):
        self.write("a.nc", [6, 7], units="hours since 2020-01-01")
        self.write("b.nc", [0, 0.5], units="days since 2020-01-02")
        run("index", "a.nc", "b.nc", "-o", "all.json")
        np.testing.assert_array_equal(read("all.json", "time"), [6, 7, 24, 36])
        self.expect_hours("all.json", [6, 7, 24, 36])
        np.testing.assert_array_equal(read("all.json", "time_bnds")[2], [24, 48])

    def test_parts_of_parts_give_the_same_bytes(self):
        units = ["hours since 2020-01-01", "days since 2020-01-01", "hours since 2019-12-31 12:00"]
        names = []
        for i in range(9):
            start = {0: 24 * i, 1: i, 2: 24 * i + 12}[i % 3]
            names.append(self.write(f"{i}.nc", [start], units=units[i % 3]))
        run("index", *names, "-o", "all.json")
        run("index", *names, "-o", "all.parq")
        self.expect_any_grouping(names, random.Random(1), 12)
        self.expect_hours("all.parq", [24 * i for i in range(9)])

    def test_interleaved_steps_are_sorted(self):
        self.write("a.nc", [0, 2, 4])
        self.write("b.nc", [1, 3, 5])
        run("index", "a.nc", "b.nc", "-o", "all.parq")
        self.expect_hours("all.parq", range(6))

    def test_two_dimensions_are_joined_at_once(self):
        for i, time in enumerate((0, 1)):
            for j, y in enumerate((0, 6)):
                self.write(f"{i}{j}.nc", [time], y=y)
        said = subprocess.run([REFS, "index", "*.nc", "-o", "all.json"], capture_output=True,
                              text=True, check=True).stderr
        values = read("all.json", "t")
        self.assertEqual(values.shape, (2, 12, 8))
        self.assertIn("tiles, and combined along time (2) and y (2)", said)
        np.testing.assert_array_equal(read("all.json", "y"), np.arange(12))
        np.testing.assert_array_equal(values[1, 6:], 100 + np.arange(48).reshape(6, 8))

    def test_grids_that_differ_are_no_second_dimension(self):
        for hour in range(4):
            self.write(f"{hour}.nc", [hour])
        self.write("4.nc", [4], y=0.25)
        said = run("index", *sorted(glob.glob("*.nc")), "-o", "all.json", status=1)
        self.assertRegex(said, r"y of .*\.nc \(0 to 5, 6 values\) and of .*4\.nc \(0.25 to 5.25, "
                               r"6 values\) differ")
        self.write("4.nc", [4], y=100)
        said = run("index", *sorted(glob.glob("*.nc")), "-o", "all.json", status=1)
        self.assertRegex(said, r"y of .*\.nc \(0 to 5, .*4\.nc \(100 to 105")
        self.write("4.nc", [2], y=0.25)
        said = run("index", "2.nc", "4.nc", "-o", "all.json", status=1)
        self.assertIn("differ", said)
        self.write("4.nc", [4])
        self.write("2.nc", [2], y=1)
        said = run("index", *sorted(glob.glob("?.nc")), "-o", "all.json", status=1)
        self.assertRegex(said, r"y of .*0\.nc \(0 to 5, 6 values\) and of .*2\.nc \(1 to 6, 6 values\) differ, and are not tiles")
        with self.assertRaisesRegex(RuntimeError, "differ, and are not tiles"):
            gdal.OpenEx('REFS:"*.nc"', gdal.OF_MULTIDIM_RASTER)

    def test_longitudes_of_two_dimensions_are_compared(self):
        for name, shift in (("a.nc", 0), ("b.nc", 0), ("c.nc", 1)):
            self.write(name, ["abc".index(name[0])])
            with netCDF4.Dataset(name, "a") as file:
                lon = file.createVariable("lon", "f8", ("y", "x"))
                lon.units = "degrees_east"
                lon[:] = np.arange(48).reshape(6, 8) + shift
        run("index", "a.nc", "b.nc", "-o", "all.json")
        said = run("index", "a.nc", "b.nc", "c.nc", "-o", "all.json", status=1)
        self.assertRegex(said, r"a\.nc and c\.nc differ: element 0 of lon is 0 and 1")

    def test_coordinates_of_another_type_are_the_same(self):
        self.write("a.nc", [0], x=0.1)
        self.write("b.nc", [1], x=0.1)
        with netCDF4.Dataset("c.nc", "w") as file, netCDF4.Dataset("b.nc") as old:
            for name, dim in old.dimensions.items():
                file.createDimension(name, dim.size)
            for name, v in old.variables.items():
                v.set_auto_maskandscale(False)
                new = file.createVariable(name, "f8" if name == "x" else v.dtype, v.dimensions,
                                          zlib=name == "t",
                                          chunksizes=(1, 3, 4) if name == "t" else None)
                new.setncatts(v.__dict__)
                new.set_auto_maskandscale(False)
                new[:] = np.arange(8) + 0.1 if name == "x" else v[:]
        run("index", "a.nc", "c.nc", "-o", "all.json")
        self.expect_hours("all.json", [0, 1])

    def test_names_give_values_of_a_new_dimension(self):
        for day in (3, 1, 2):
            self.write(f"t_2021{day:02}07.nc", [0])
        run("index", *glob.glob("*.nc"), "--pattern", "t_{run:%Y%m%d}.nc", "-o", "all.json")
        self.assertEqual(read("all.json", "t").shape, (3, 1, 6, 8))
        np.testing.assert_array_equal(
            read("all.json", "run"),
            [int(time.mktime((2021, m, 7, 0, 0, 0, 0, 0, 0)) - time.timezone) for m in (1, 2, 3)])
        for name in glob.glob("*.nc"):
            run("index", name, "--pattern", "t_{run:%Y%m%d}.nc", "-o", name + ".json")
        run("combine", *glob.glob("*.nc.json"), "-o", "again.json")
        self.assertEqual(content("again.json"), content("all.json"))

    def write_run(self, name, run_number, has_q=False):
        """A file whose steps have no coordinate, with the number of its run."""
        with netCDF4.Dataset(name, "w") as file:
            file.createDimension("step", 2)
            file.createDimension("x", 4)
            v = file.createVariable("v", "i4", ("step", "x"), chunksizes=(1, 4))
            v[:] = np.arange(8).reshape(2, 4) + 10 * run_number
            if has_q:
                file.createVariable("q", "i4", ("step", "x"), chunksizes=(1, 4),
                                    fill_value=-9)[:] = 5
            file.createVariable("run", "i4")[...] = run_number
        return name

    def test_steps_without_coordinate_are_in_the_order_of_sources(self):
        names = [self.write_run(f"{i}.nc", i, has_q=i == 1) for i in (2, 1, 0)]
        run("index", *names, "--along", "step", "-q", "-o", "all.json")
        np.testing.assert_array_equal(read("all.json", "v")[:, 0], [20, 24, 10, 14, 0, 4])
        np.testing.assert_array_equal(read("all.json", "q")[:, 0], [-9, -9, 5, 5, -9, -9])
        self.assertIn("name the concat dimension", run("index", *names, "-o", "all.json", status=1))

    def test_misspelt_dimensions_are_told_from_those_that_there_are(self):
        names = [self.write(f"{i}.nc", [0]) for i in range(2)]
        for asked in ("tme", "Time"):
            said = run("index", *names, "--along", asked, "-o", "all.json", status=1)
            self.assertIn(f'no source has a dimension "{asked}": did you mean time? existing dimensions: ', said)
            self.assertIn("bnds", said)
        for pattern in ("*.nc", "0.n*"):
            with self.assertRaisesRegex(RuntimeError, "did you mean time"):
                gdal.OpenEx(f'REFS:"{pattern}"', gdal.OF_MULTIDIM_RASTER, open_options=["ALONG=tim"])
        self.assertFalse(os.path.exists("all.json"))
        done = subprocess.run([REFS, "index", *names, "--along", "run", "-o", "all.json"],
                              capture_output=True, text=True, check=True)
        self.assertIn('"run": it is added', done.stderr)
        self.assertEqual(read("all.json", "t").shape, (2, 1, 6, 8))

    def test_a_scalar_becomes_the_coordinate_of_a_new_dimension(self):
        names = [self.write_run(f"{i}.nc", i) for i in (2, 0, 1)]
        run("index", *names, "--along", "run", "-o", "all.parq")
        np.testing.assert_array_equal(read("all.parq", "run"), [0, 1, 2])
        np.testing.assert_array_equal(read("all.parq", "v")[:, 1, 0], [4, 14, 24])

    def test_small_chunks_go_into_the_set(self):
        self.write("a.nc", [0])
        run("index", "a.nc", "--inline", "100000", "-o", "a.json")
        os.remove("a.nc")
        self.expect_hours("a.json", [0])

    def test_small_records_are_warned_of_once(self):
        for step in range(2):
            with netCDF4.Dataset(f"{step}.nc", "w", format="NETCDF3_CLASSIC") as file:
                for dim, n in (("time", None), ("x", 50)):
                    file.createDimension(dim, n)
                file.createVariable("time", "f8", ("time",))[:] = [2 * step, 2 * step + 1]
                for name in "vw":
                    file.createVariable(name, "f4", ("time", "x"))[:] = step
        done = subprocess.run([REFS, "index", "0.nc", "1.nc", "-o", "all.json"], capture_output=True,
                              text=True, check=True)
        self.assertEqual(done.stderr.count("codec record_member"), 1, done.stderr)
        self.assertEqual(run("index", "0.nc", "-q", "-o", "one.json", status=0), "")
        self.assertEqual(read("all.json", "v")[:, 0].tolist(), [0, 0, 1, 1])
        self.assertNotIn("record_member", run("index", self.write("a.nc", [0]), "-o", "a.json"))

    def test_one_file_by_two_names_is_no_difference(self):
        self.write("a.nc", [0])
        run("index", "a.nc", "-o", "absolute.json")
        run("index", "a.nc", "--relative", "-o", "relative.json")
        run("diff", "absolute.json", "relative.json")
        run("diff", "a.nc", "absolute.json")
        run("diff", "absolute.json", "a.nc")
        self.write("b.nc", [0])
        run("index", "b.nc", "-o", "b.json")
        said = json.loads(run("diff", "a.nc", "b.json", "--json", status=1))
        self.assertIn({"key": "t/0.0.0", "difference": "other bytes"}, said["differences"])
        self.assertEqual(said["different"], len(said["differences"]))

    def test_attributes_are_shown_as_text_and_as_json(self):
        self.write("a.nc", [0])
        self.assertIn("scale_factor: 0.5", run("info", "a.nc", "--metadata"))
        shown = json.loads(run("info", "a.nc", "--metadata", "--json"))
        arrays = {array["path"]: array for array in shown["arrays"]}
        self.assertEqual(arrays["/t"]["attributes"]["scale_factor"], 0.5)
        self.assertEqual(len(arrays["/t"]["shape"]), 3)

    def test_names_are_relative_where_asked_for(self):
        os.mkdir("data")
        os.mkdir("sets")
        self.write("data/a.nc", [0, 1])
        run("index", "data/a.nc", "--relative", "-o", "sets/a.json")
        self.assertEqual(json.loads(content("sets/a.json"))["refs"]["t/0.0.0"][0], "../data/a.nc")
        run("index", "data/a.nc", "--relative", "-o", "sets/a.parq")
        os.mkdir("moved")
        shutil.move("data", "moved")
        shutil.move("sets", "moved")
        self.expect_hours("moved/sets/a.json", [0, 1])
        self.expect_hours("moved/sets/a.parq", [0, 1])

    def test_takes_what_is_asked_for(self):
        self.write("a.nc", [0])
        run("index", "a.nc", "--variables", "t", "-o", "a.json")
        names = {key.split("/")[0] for key in json.loads(content("a.json"))["refs"] if "/" in key}
        self.assertEqual(names - {".zsources"}, {"t", "time", "time_bnds", "x", "y"})
        self.assertIn("no array", run("index", "a.nc", "-v", "q", "-o", "b.json", status=1))

    def test_takes_a_group(self):
        with netCDF4.Dataset("g.nc", "w") as file:
            group = file.createGroup("deep").createGroup("er")
            group.createDimension("x", 3)
            group.createVariable("v", "i4", ("x",))[:] = [1, 2, 3]
        for name in ("g.json", "g.parq"):
            run("index", "g.nc", "--group", "deep/er", "-o", name)
            np.testing.assert_array_equal(read(name, "v"), [1, 2, 3])
        run("index", "g.nc", "-o", "whole.parq")
        np.testing.assert_array_equal(read("whole.parq", "deep/er/v"), [1, 2, 3])

    def write_groups(self, name, times, own_x=False):
        with netCDF4.Dataset(name, "w") as file:
            file.createDimension("time", None)
            axis = file.createVariable("time", "f8", ("time",))
            axis.units, axis.bounds = "hours since 2020-01-01", "time_bnds"
            axis[:] = times
            file.createDimension("bnds", 2)
            file.createVariable("time_bnds", "f8", ("time", "bnds"))[:] = [[t, t + 1] for t in times]
            file.createDimension("x", 3)
            file.createVariable("x", "f4", ("x",))[:] = [1, 2, 3]
            file.createVariable("unused", "f4", ("x",))[:] = [1, 2, 3]
            file.createVariable("crs", "i4").grid_mapping_name = "latitude_longitude"
            above = file.createGroup("above")
            above.createDimension("y", 2)
            above.createVariable("y", "f4", ("y",))[:] = [10, 20]
            above.createGroup("beside").createVariable("other", "i4")
            group = above.createGroup("group")
            if own_x:
                group.createDimension("x", 3)
                group.createVariable("x", "f4", ("x",))[:] = [7, 8, 9]
            v = group.createGroup("deep").createVariable("v", "i4", ("time", "y", "x"))
            v.grid_mapping, v.coordinates = "crs", "/x"
            v[:] = np.arange(len(times))[:, None, None] + np.zeros((2, 3))
        return name

    def test_takes_the_coordinates_that_a_group_sees(self):
        names = [self.write_groups(f"{i}.nc", [2 * i, 2 * i + 1]) for i in range(2)]
        for options in ((), ("-v", "deep/v")):
            for name in ("g.json", "g.parq"):
                run("index", names[0], "-g", "above/group", *options, "-o", name)
                np.testing.assert_array_equal(read(name, "time"), [0, 1])
                np.testing.assert_array_equal(read(name, "time_bnds"), [[0, 1], [1, 2]])
                np.testing.assert_array_equal(read(name, "y"), [10, 20])
                np.testing.assert_array_equal(read(name, "deep/v")[:, 0, 0], [0, 1])
                keys = {line.split("/")[0] for line in json.loads(content("g.json"))["refs"]}
                self.assertEqual(keys, {".zgroup", ".zsources", "crs", "deep", "time", "time_bnds",
                                        "x", "y"})
            run("index", *names, "-g", "/above/group/", *options, "-o", "all.json")
            np.testing.assert_array_equal(read("all.json", "time"), range(4))
            run("index", "g.json", "-g", "deep", "-o", "deep.json")
            np.testing.assert_array_equal(read("deep.json", "time_bnds"), [[0, 1], [1, 2]])

    def test_takes_the_coordinates_of_the_nearest_group(self):
        self.write_groups("a.nc", [0], own_x=True)
        run("index", "a.nc", "-g", "above/group", "-o", "g.json")
        np.testing.assert_array_equal(read("g.json", "x"), [7, 8, 9])
        np.testing.assert_array_equal(read("g.json", "y"), [10, 20])

    def test_files_may_be_called_as_chains_of_file_systems(self):
        self.write("::.nc", [0, 1])
        run("index", "::.nc", "-o", "a.json")
        self.assertEqual(json.loads(content("a.json"))["refs"]["t/0.0.0"][0], os.path.abspath("::.nc"))
        os.mkdir("b")
        os.rename("a.json", "b/a.json")
        self.expect_hours("b/a.json", [0, 1])

    def test_goes_on_where_it_was_interrupted(self):
        for hour in range(3):
            self.write(f"{hour}.nc", [hour])
        with open("3.nc", "wb") as file:
            file.write(b"\x89HDF\r\n\x1a\nnothing")
        run("index", "0.nc", "1.nc", "2.nc", "-o", "all.json")
        run("index", "0.nc", "1.nc", "2.nc", "3.nc", "--along", "time", "--resume", "-o", "r.json",
            status=1)
        kept = os.listdir("r.json.resume")
        self.assertGreaterEqual(len(kept), 1)
        os.remove("3.nc")
        with open(os.path.join("r.json.resume", 16 * "0" + ".json.tmp-1-0"), "wb") as file:
            file.write(b"left by a run that was killed")
        run("index", "0.nc", "1.nc", "2.nc", "--along", "time", "--resume", "-o", "r.json")
        self.assertEqual(content("r.json"), content("all.json"))
        self.assertFalse(os.path.exists("r.json.resume"))

    def test_going_on_writes_to_no_file_of_others(self):
        name = self.write("0.nc", [0])
        os.mkdir("k.json.resume")
        for link in (True, False):
            kept = "precious.txt" if link else "k.json.resume/values"
            with open(kept, "wb") as file:
                file.write(100 * b"precious ")
            if link:
                os.symlink("../precious.txt", "k.json.resume/values")
            run("index", name, "gone.nc", "--along", "time", "--resume", "-o", "k.json", status=1)
            self.assertEqual(content(kept), 100 * b"precious ")
            os.remove("k.json.resume/values")

    def test_going_on_takes_values_of_sources_as_they_are(self):
        """A record of values that did not fit on the disk leaves that of the file as it was before."""
        def write(name, start):
            with netCDF4.Dataset(name, "w") as file:
                file.createDimension("time", 3000)
                time = file.createVariable("time", "f8", ("time",))
                time.units = "days since 2000-01-01"
                time[:] = start + np.arange(3000)

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            size = os.path.getsize("all.json.resume/values")
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        arguments = ["index", "a.nc", "b.nc", "c.nc", "--along", "time", "--resume", "-o", "all.json"]
        write("a.nc", 0)
        write("b.nc", 10000)
        run(*arguments, status=1)
        write("a.nc", 5000)
        os.utime("a.nc", (1e9, 1e9))
        run(*arguments, status=1, preexec_fn=limit)
        write("c.nc", 20000)
        run(*arguments)
        self.assertEqual(read("all.json", "time")[:3].tolist(), [5000, 5001, 5002])


class WithoutASet(Folder):
    """Many files under one name, by the driver."""

    def setUp(self):
        super().setUp()
        os.mkdir("d")
        for hour in (2, 0, 1):
            self.write(f"d/{hour}.nc", [hour])

    def test_patterns_folders_and_lists_open_joined(self):
        with open("list.txt", "w", encoding="utf-8") as file:
            file.write("d/0.nc\nd/1.nc\nd/2.nc\n")
        for name in ("d/*.nc", "*/[0-9].nc", "d", "list.txt"):
            self.expect_hours(name, [0, 1, 2])
        bands = gdal.Open('REFS:"d/*.nc":/t')
        self.assertEqual(bands.RasterCount, 3)
        self.assertEqual(bands.GetRasterBand(3).ReadAsArray()[-1, 0], 200)

    def test_save_keeps_what_index_writes(self):
        gdal.OpenEx('REFS:"d/*.nc"', gdal.OF_MULTIDIM_RASTER, open_options=["SAVE=all.parq"])
        self.expect_hours("all.parq", [0, 1, 2])
        run("index", "d", "-o", "again.parq")
        run("diff", "all.parq", "again.parq")

    def test_save_records_the_sources_as_index_does(self):
        gdal.OpenEx('REFS:"d/*.nc"', gdal.OF_MULTIDIM_RASTER, open_options=["SAVE=all.json"])
        run("index", "d/*.nc", "-o", "again.json")
        self.assertEqual(content("all.json"), content("again.json"))
        self.write("d/2.nc", [5], t_chunk=2)
        os.utime("d/2.nc", (1e9, 1e9))
        with self.assertRaisesRegex(RuntimeError, "changed|was"):
            read("all.json", "t")

    def test_save_replaces_no_data_and_no_source(self):
        run("index", "d/0.nc", "-o", "d/a.json")
        before = {name: content(name) for name in glob.glob("d/*")}
        for name, said in (("d/1.nc", "d/1.nc: would overwrite a data file"), ("d/a.json", "this file is a source of the set"),
                           ("x.nc", "x.nc: unknown file extension"), ("-", "standard output")):
            with self.assertRaisesRegex(RuntimeError, said):
                gdal.OpenEx('REFS:"d"', gdal.OF_MULTIDIM_RASTER, open_options=[f"SAVE={name}"])
        self.assertEqual({name: content(name) for name in glob.glob("d/*")}, before)
        self.assertEqual(os.listdir(), ["d"])

    def test_append_writes_no_file_of_a_name_that_selects_a_set(self):
        for name in ("s.json", "x.parq", "r.icechunk"):
            run("index", "d/0.nc", "-o", name)
        with zipfile.ZipFile("s.zip", "w") as archive:
            archive.write("s.json")
        with open("list.json", "w", encoding="utf-8") as file:
            json.dump([json.loads(content("s.json"))], file)
        with open("item.json", "w", encoding="utf-8") as file:
            json.dump({"type": "Feature", "stac_version": "1.0.0", "id": "i", "links": [],
                       "assets": {"a": {"href": "s.json", "roles": ["references"], "type": "application/json"}}}, file)
        before = {name: content(name) for name in glob.glob("**", recursive=True) if os.path.isfile(name)}
        for name, said in (("x.parq/.zmetadata", "would overwrite a file in the folder of a set"),
                           ("r.icechunk/repo", "would overwrite a file in the folder of a set"), ("s.zip", "would overwrite a ZIP archive"),
                           ("item.json", "expected a set in JSON or the folder of a set, found another file"),
                           ("list.json#set=0", "found no file or folder of this name"), ("d/*.nc", "found no file or folder of this name"),
                           ("r.icechunk#branch=main", "found no file or folder of this name")):
            with self.subTest(name=name):
                self.assertIn(said, run("append", name, "d/1.nc", status=1))
        self.assertEqual({name: content(name) for name in glob.glob("**", recursive=True) if os.path.isfile(name)}, before)

    def test_tar_archives_are_no_data_files(self):
        """The first member begins where HDF5 looks for a signature."""
        for kind in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
            name = f"{kind}.tar"  # GDAL keeps the list of members of a name
            with tarfile.open(name, "w", format=kind) as archive:
                archive.add("d/0.nc")
                archive.add("d/1.nc")
            shutil.copy(name, "d/two.nc")
            for command in (("index", name, "-o", "o.json"), ("index", "d/0.nc", name, "-o", "o.json"), ("index", "d", "-o", "o.json"),
                            ("check", name), ("ls", "d/two.nc")):
                with self.subTest(kind=kind, command=command):
                    self.assertIn(name if name in command else "d/two.nc", said := run(*command, status=1))
                    self.assertIn(": expected a data file or a reference set, found a TAR archive: unpack it", said)
            self.expect_hours(f"/vsitar/{name}/d/1.nc", [1])
            os.remove("d/two.nc")

    def test_the_only_file_of_a_folder_is_opened(self):
        os.mkdir("only")
        shutil.copy("d/0.nc", "only")
        for name in ("only", "only/*.nc"):
            self.expect_hours(name, [0])
            gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER, open_options=["SAVE=saved.json"])
            self.expect_hours("saved.json", [0])

    def test_save_keeps_the_set_of_one_file(self):
        for name in ("one.json", "one.parq"):
            gdal.OpenEx('REFS:"d/0.nc"', gdal.OF_MULTIDIM_RASTER, open_options=[f"SAVE={name}"])
            self.expect_hours(name, [0])
        run("index", "d/0.nc", "-o", "again.json")
        self.assertEqual(content("one.json"), content("again.json"))
        gdal.OpenEx('REFS:"one.json":/t', open_options=["SAVE=two.parq"])
        self.expect_hours("two.parq", [0])
        with self.assertRaisesRegex(RuntimeError, "this file is a source of the set"):
            gdal.OpenEx('REFS:"one.json"', gdal.OF_MULTIDIM_RASTER, open_options=["SAVE=one.json"])
        with self.assertRaisesRegex(RuntimeError, "would overwrite a data file"):
            gdal.OpenEx('REFS:"d/0.nc"', gdal.OF_MULTIDIM_RASTER, open_options=["SAVE=d/0.nc"])

    def test_a_file_that_changes_is_seen(self):
        self.expect_hours("d/*.nc", [0, 1, 2])
        time.sleep(0.01)
        self.write("d/2.nc", [5])
        self.expect_hours("d/*.nc", [0, 1, 5])

    def test_nothing_that_matches_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, r"e/\*.nc: no file matches this pattern"):
            gdal.OpenEx('REFS:"e/*.nc"', gdal.OF_MULTIDIM_RASTER)

    def test_files_that_differ_are_fragments(self):
        self.write("d/3.nc", [3], scale=0.25)
        messages = []
        gdal.PushErrorHandler(lambda _, __, text: messages.append(text))
        dataset = gdal.Open('REFS:"d/*.nc":/t')
        gdal.PopErrorHandler()
        self.assertEqual(messages, [])
        for hour, scale in enumerate((0.5, 0.5, 0.5, 0.25)):
            np.testing.assert_array_equal(
                dataset.GetRasterBand(hour + 1).ReadAsArray()[::-1],
                (100 * hour + np.arange(48).reshape(6, 8)) * scale)


class Unlike(Folder):
    """Sources that cannot be one array."""

    KINDS = [{"scale": 0.5}, {"scale": 0.25}, {"scale": 0.5, "t_chunk": 2}, {"scale": 0.5, "t_chunk": 3}]

    def expect(self, name, scales):
        """Unpacked values, of each hour by its scale."""
        array = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER)
        array = array.GetRootGroup().OpenMDArrayFromFullname("/t")
        values = array.GetUnscaled().ReadAsArray()
        self.assertEqual(len(values), len(scales))
        for hour, scale in enumerate(scales):
            if scale is None:
                self.assertTrue(np.isnan(values[hour]).all() or
                                (values[hour] == array.GetUnscaled().GetNoDataValueAsDouble()).all())
                continue
            np.testing.assert_array_equal(values[hour],
                                          (100 * hour + np.arange(48).reshape(6, 8)) * scale)

    def expect_nothing_inside(self, name, n):
        """An aggregation of n fragments is shown as the variable that it stands for, and nothing of what it is made of."""
        self.assertRegex(run("ls", name), rf"/t  \(time 4, y 6, x 8\)  <f[48]  {n} fragments\n")
        listed = {array["path"]: array for array in json.loads(run("ls", name, "--json"))}
        self.assertEqual((listed["/t"]["shape"], listed["/t"]["n_fragments"]), ([4, 6, 8], n))
        self.assertEqual(set(listed), {"/t", "/time", "/time_bnds", "/x", "/y"})
        info = json.loads(run("info", name, "--json"))
        self.assertEqual((info["arrays"], info["fragments"]), (len(listed), n))
        self.assertIn(f"{len(listed)} arrays, {n} fragments, ", run("info", name))
        self.assertNotIn("fragments, ", run("info", name, "--all"))
        group = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        self.assertEqual(group.GetGroupNames() or [], [])
        self.assertEqual({dim.GetName() for dim in group.GetDimensions()}, {"time", "bnds", "y", "x"})

    def test_show_nothing_of_what_masters_are_made_of(self):
        for hour, scale in enumerate((0.5, 0.5, 0.25, 0.5)):
            self.write(f"{hour}.nc", [hour], scale=scale)
        run("index", *sorted(glob.glob("*.nc")), "-q", "-o", "all.nc")
        self.expect_nothing_inside("all.nc", 4)
        for version in ("0.4", "0.5", "1.13"):
            run("split", "all.nc", "-q", "-o", "m.nca", "--cfa-version", version, "--subarray-shape", "time=2,y=6,x=8")
            self.expect_nothing_inside("m.nca", 2)

    def test_of_a_pattern_are_told_of_where_a_set_is_saved(self):
        for hour, scale in enumerate((0.5, 0.25)):
            self.write(f"{hour}.nc", [hour], scale=scale)
        for options, told in (([], 0), (["SAVE=all.json"], 1)):
            said = []
            gdal.PushErrorHandler(lambda kind, number, text: said.append(text))
            try:
                gdal.OpenEx('REFS:"*.nc"', gdal.OF_MULTIDIM_RASTER, open_options=options)
            finally:
                gdal.PopErrorHandler()
            self.assertEqual(len([text for text in said if "differ in scale_factor 0.5 and 0.25" in text]), told, said)

    def test_become_fragments_in_the_set(self):
        for hour, scale in enumerate((0.5, 0.5, 0.25, 0.5)):
            self.write(f"{hour}.nc", [hour], scale=scale)
        for name in ("all.json", "all.parq"):
            done = subprocess.run([REFS, "index", *sorted(glob.glob("*.nc")), "-o", name],
                                  capture_output=True, text=True, check=True)
            self.assertEqual(done.stderr.count("differ in scale_factor 0.5 and 0.25"), 1)
            self.expect(name, [0.5, 0.5, 0.25, 0.5])
            listed = {array["path"]: array["shape"] for array in json.loads(run("ls", name, "--all", "--json"))}
            self.assertEqual([listed[f"/t_fragments/{i}/t"][0] for i in range(3)], [2, 1, 1])
            run("check", name, "--deep")
            self.expect_nothing_inside(name, 3)
        dataset = gdal.Open('REFS:"all.json"')
        self.assertEqual(dataset.RasterCount, 4)
        self.assertEqual([name for name, _ in dataset.GetSubDatasets()], ['REFS:"all.json":/t'])
        run("convert", "all.json", "--variables", "t", "-o", "t.json")
        self.expect("t.json", [0.5, 0.5, 0.25, 0.5])

    def test_become_an_aggregation_on_disk(self):
        os.mkdir("in")
        scales = [0.5, 0.25, 0.25, 0.5, 0.5]
        for hour, scale, steps in ((0, 0.5, 1), (1, 0.25, 2), (3, 0.5, 2)):
            self.write(f"in/{hour}.nc", list(range(hour, hour + steps)), scale=scale)
        try:
            run("index", "in", "-q", "--relative", "-o", "all.nc")
        except AssertionError as failed:
            if "this build cannot write netCDF" in str(failed):
                self.skipTest("this build does not write netCDF")
            raise
        self.expect("all.nc", scales)
        self.assertEqual(read("all.nc", "time").tolist(), list(range(5)))
        with netCDF4.Dataset("all.nc") as file:
            self.assertEqual(file["t"].aggregated_dimensions, "time y x")
            self.assertEqual(file["t_map"][0].tolist(), [1, 2, 2])
            self.assertEqual(file["t_uris"][:].ravel().tolist(), [f"in/{i}.nc" for i in (0, 1, 3)])
            self.assertEqual(file["time"].units, "hours since 2020-01-01")
            self.assertNotIn("scale_factor", file["t"].ncattrs())
        os.mkdir("moved")
        os.rename("in", "moved/in")
        os.rename("all.nc", "moved/all.nc")
        self.expect("moved/all.nc", scales)

    def test_of_several_dimensions_become_an_aggregation(self):
        for i, time in enumerate((0, 1)):
            for j, y in enumerate((0, 6)):
                self.write(f"{i}{j}.nc", [time], y=y, scale=0.5 if i == j else 0.25)
        for name in ("all.json", "all.parq", "all.nc"):
            with self.subTest(name):
                try:
                    run("index", "??.nc", "-q", "-o", name)
                except AssertionError as failed:
                    if "this build cannot write netCDF" in str(failed):
                        self.skipTest("this build does not write netCDF")
                    raise
                values = read(name, "t")
                self.assertEqual(values.shape, (2, 12, 8))
                np.testing.assert_array_equal(read(name, "y"), np.arange(12))
                np.testing.assert_array_equal(values[1, 6:], (100 + np.arange(48).reshape(6, 8)) * 0.5)
                np.testing.assert_array_equal(values[1, :6], (100 + np.arange(48).reshape(6, 8)) * 0.25)
        with open("all.json", encoding="utf-8") as file:
            refs = json.load(file)["refs"]
        fragments = json.loads(json.loads(refs["t/.zattrs"])["cfa_array"])["Partitions"]
        self.assertEqual([part["index"] for part in fragments], [[0, 0], [0, 1], [1, 0], [1, 1]])

    def test_of_several_dimensions_are_aggregated_by_as_few_fragments_as_can_be(self):
        for i, time in enumerate((0, 1, 2)):
            for j, y in enumerate((0, 6)):
                self.write(f"{i}{j}.nc", [time], y=y, scale=0.5 if time < 2 else 0.25)
        run("index", "??.nc", "-q", "--along", "time", "--along", "y", "-o", "all.json")
        with open("all.json", encoding="utf-8") as file:
            refs = json.load(file)["refs"]
        fragments = json.loads(json.loads(refs["t/.zattrs"])["cfa_array"])["Partitions"]
        self.assertEqual([part["location"][:2] for part in fragments], [[[0, 1], [0, 11]], [[2, 2], [0, 11]]])
        for groups in (("00", "10"), ("01", "21"), ("11", "20")), (("00", "01"), ("10", "11", "20", "21")):
            for i, group in enumerate(groups):
                run("index", *(f"{name}.nc" for name in group), "-q", "--along", "time", "--along", "y", "-o", f"g{i}.json")
            run("combine", *(f"g{i}.json" for i in range(len(groups))), "-q", "--along", "time", "--along", "y", "-o", "again.json")
            with open("again.json", encoding="utf-8") as file:
                self.assertEqual(json.load(file)["refs"], refs)

    def test_are_an_error_where_asked_for(self):
        self.write("0.nc", [0])
        self.write("1.nc", [1], scale=0.25)
        said = run("index", "0.nc", "1.nc", "--strict", "-o", "all.json", status=1)
        self.assertIn("scale_factor 0.5 and 0.25", said)

    def write_mixed(self, name, hour):
        """As `write`, with a variable of a type that is not supported."""
        self.write(name, [hour])
        with netCDF4.Dataset(name, "a") as file:
            q = file.createVariable("q", file.createVLType("f4", "list"), ("x",))
            q[0] = np.arange(3, dtype="f4")

    def test_variables_of_other_types_are_left_out_with_a_warning(self):
        self.write_mixed("0.nc", 0)
        self.write_mixed("1.nc", 1)
        why = 'unknown data type "sequence of variable length"'
        for names, hours in ((["0.nc"], [0]), (["0.nc", "1.nc"], [0, 1])):
            done = subprocess.run([REFS, "index", *names, "-o", "all.json"], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            warnings = [line for line in done.stderr.splitlines() if "left out" in line]
            self.assertEqual([line[line.index("0.nc"):] for line in warnings], [f"0.nc: q is left out: {why}"])
            self.expect_hours("all.json", hours)
            self.assertNotIn('"q/', content("all.json").decode())
            for options in (["--strict"], ["--variables", "q"]):
                said = run("index", *names, *options, "-o", "no.json", status=1)
                self.assertRegex(said, rf"[01]\.nc: /q: {why}")  # sources are read at a time
        run("index", "0.nc", "--variables", "t", "-o", "t.json")
        said = run("index", "0.nc", "--group", "none", "-o", "no.json", status=1)
        self.assertIn("there is no array in group", said)

    def test_variables_that_one_source_cannot_give_are_an_error(self):
        self.write_mixed("0.nc", 0)
        self.write("1.nc", [1])
        with netCDF4.Dataset("1.nc", "a") as file:
            file.createVariable("q", "f4", ("x",))[:] = 1
        said = run("index", "0.nc", "1.nc", "-o", "all.json", status=1)
        self.assertIn("q of 0.nc: unknown data type", said)
        self.assertIn("1.nc has it", said)

    def test_variables_that_one_source_cannot_give_are_an_error_in_any_grouping(self):
        self.write_mixed("0.nc", 0)
        self.write_mixed("1.nc", 1)
        self.write("2.nc", [2])
        with netCDF4.Dataset("2.nc", "a") as file:
            file.createVariable("q", "f4", ("x",))[:] = 1
        said = "q of .*: unknown data type.*; .*2.nc.* has it"
        for name in ("some.json", "some.parq"):
            run("index", "0.nc", "1.nc", "-q", "-o", name)
            before = content(name)
            self.assertRegex(run("append", name, "2.nc", status=1), said)
            self.assertEqual(content(name), before)
            run("convert", name, "-o", "again.json")
            self.assertRegex(run("combine", "again.json", "2.nc", "-o", "b.json", status=1), said)
            # Nobody asks for it.
            run("index", "2.nc", "-v", "t", "-o", "t.json")
            run("combine", "again.json", "t.json", "-o", "b.json")
        for i in range(2):
            run("index", f"{i}.nc", "-q", "-o", f"{i}.json")
        run("combine", "0.json", "1.json", "-q", "--along", "time", "-o", "parts.json")
        run("index", "0.nc", "1.nc", "-q", "--along", "time", "-o", "all.json")
        self.assertEqual(content("parts.json"), content("all.json"))

    def test_coordinates_of_other_types_are_an_error(self):
        for name in ("0.nc", "1.nc"):
            with netCDF4.Dataset(name, "w") as file:
                file.createDimension("time", 1)
                file.createVariable("time", file.createVLType("f4", "list"), ("time",))
                file.createVariable("t", "f4", ("time",))[:] = 1
        said = run("index", "0.nc", "1.nc", "--along", "time", "-o", "all.json", status=1)
        self.assertRegex(said, "[01].nc: /time: unknown data type")  # read at the same time

    def test_files_of_nothing_else_are_an_error(self):
        with netCDF4.Dataset("q.nc", "w") as file:
            file.createDimension("n", 2)
            file.createVariable("q", file.createVLType("f4", "list"), ("n",))
        said = run("index", "q.nc", "-o", "all.json", status=1)
        self.assertIn("no array can be combined: q: unknown data type", said)

    def test_chunks_that_would_be_cut_are_fragments(self):
        self.write("a.nc", [0, 1, 2], t_chunk=2)
        self.write("b.nc", [3, 4], t_chunk=2)
        run("index", "a.nc", "b.nc", "-q", "-o", "all.json")
        self.expect("all.json", 5 * [0.5])
        self.write("a.nc", [0, 2], t_chunk=2)
        self.write("b.nc", [1, 3], t_chunk=2)
        said = run("index", "a.nc", "b.nc", "-q", "-o", "all.json", status=1)
        self.assertIn("chunks cannot be cut", said)

    def test_steps_without_a_fragment_are_missing(self):
        self.write("0.nc", [0])
        self.write("2.nc", [2], scale=0.25)
        with netCDF4.Dataset("1.nc", "w") as file, netCDF4.Dataset("0.nc") as like:
            for name, dim in like.dimensions.items():
                file.createDimension(name, None if dim.isunlimited() else dim.size)
            for name in ("time", "time_bnds", "x", "y"):
                v = file.createVariable(name, like[name].dtype, like[name].dimensions)
                v.setncatts(like[name].__dict__)
                v[:] = like[name][:] + (1 if "time" in name else 0)
        run("index", "0.nc", "1.nc", "2.nc", "-q", "-o", "all.parq")
        self.expect("all.parq", [0.5, None, 0.25])

    def test_give_the_same_bytes_in_any_grouping(self):
        chance = random.Random(7)
        scales, names, hour = [], [], 0
        while hour < 24:
            kind, n = chance.choice(self.KINDS), chance.randint(1, 4)
            names.append(self.write(f"{hour:02}.nc", list(range(hour, hour + n)), **kind))
            scales += n * [kind["scale"]]
            hour += n
        run("index", *names, "-q", "-o", "all.json")
        run("index", *names, "-q", "-o", "all.parq")
        self.expect("all.json", scales)
        self.expect_any_grouping(names, chance, 12)
        run("append", "all.json", self.write("more.nc", [hour], scale=2), "-q", "--along", "time")
        self.expect("all.json", [*scales, 2])

    def test_types_and_fill_values_are_kept_apart(self):
        values = np.arange(-3, 21, dtype="f8").reshape(1, 4, 6)
        kinds = [("i2", -3), ("i2", 5), ("u1", 255), ("i4", -2147483647), ("f4", 7), ("f8", -3)]
        for i, (dtype, fill) in enumerate(kinds):
            with netCDF4.Dataset(f"{i}.nc", "w") as file:
                for name, n in (("time", 1), ("y", 4), ("x", 6)):
                    file.createDimension(name, n)
                file.createVariable("time", "i4", ("time",))[:] = i
                v = file.createVariable("v", dtype, ("time", "y", "x"), fill_value=fill,
                                        chunksizes=(1, 4, 6))
                v.set_auto_mask(False)
                v[:] = values + (3 if dtype == "u1" else 0)
        for chosen, dtype in (((0, 1), gdal.GDT_Int32), ((0, 2), gdal.GDT_Int32),
                              ((0, 4), gdal.GDT_Float32), ((1, 3, 5), gdal.GDT_Float64)):
            run("index", *[f"{i}.nc" for i in chosen], "-q", "--along", "time", "-o", "all.json")
            dataset = gdal.Open('REFS:"all.json":/v')
            for band, i in enumerate(chosen, 1):
                band = dataset.GetRasterBand(band)
                self.assertEqual(band.DataType, dtype)
                wanted = values[0] + (3 if kinds[i][0] == "u1" else 0)
                wanted = np.where(wanted == kinds[i][1], band.GetNoDataValue(), wanted)
                np.testing.assert_array_equal(band.ReadAsArray()[::-1].astype("f8"), wanted)

    RANGES = [{}, {"valid_range": [0, 12]}, {"valid_range": [0, 500]}, {"valid_min": 3, "valid_max": 9},
              {"valid_range": [0, 255]}, {"valid_min": 5}]

    def write_valid(self, name, step, dtype, attributes, **more):
        """A file with v(time, y, x), valid where its attributes say so."""
        with netCDF4.Dataset(name, "w", format=more.get("form", "NETCDF4")) as file:
            for dim, n in (("time", None), ("y", 4), ("x", more.get("width", 6))):
                file.createDimension(dim, n)
            axis = file.createVariable("time", "f8", ("time",))
            axis.units = "hours since 2020-01-01"
            axis.valid_range = [step - 1.0, step + 1.0]
            axis[:] = step
            v = file.createVariable("v", dtype, ("time", "y", "x"), fill_value=more.get("fill", 1))
            v.set_auto_maskandscale(False)
            if "scale" in more:
                v.scale_factor = more["scale"]
            v.setncatts({key: np.array(value, more.get("range_type", dtype))
                         for key, value in attributes.items()})
            v[:] = np.arange(4 * more.get("width", 6)).reshape(1, 4, -1) - (4 if dtype != "u1" else 0)
        return name

    def values_of(self, name, **options):
        """All bands, NaN where they are nodata."""
        dataset = gdal.OpenEx(name, gdal.OF_RASTER, open_options=[f"{k}={v}" for k, v in options.items()])
        bands = [dataset.GetRasterBand(i + 1) for i in range(dataset.RasterCount)]
        values = [band.ReadAsArray().astype("f8") for band in bands]
        return [np.where(value == band.GetNoDataValue(), np.nan,
                         value * (band.GetScale() or 1) + (band.GetOffset() or 0))
                for band, value in zip(bands, values)]

    def expect_each_as_alone(self, name, files, **options):
        alone = [self.values_of(f'REFS:"{file}":/v', **options)[0] for file in files]
        for step, (got, wanted) in enumerate(zip(self.values_of(f'REFS:"{name}":/v', **options), alone)):
            np.testing.assert_allclose(got, wanted, err_msg=f"{name} {step}")
        return np.isnan(alone).sum()

    def test_valid_ranges_are_those_of_each_source(self):
        kinds = [{"dtype": "f4"}, {"dtype": "i2"}, {"dtype": "i1", "form": "NETCDF3_CLASSIC", "range_type": "i2"},
                 {"dtype": "f4", "width": 2}, {"dtype": "i8"}, {"dtype": "i2", "scale": 0.5},
                 {"dtype": "i2", "scale": 0.5, "range_type": "f8"}, {"dtype": "u1"}]
        for kind in kinds:
            ranges = self.RANGES
            if kind["dtype"] in ("i1", "u1"):
                kind["fill"] = 77
                ranges = ranges[:2] + ranges[3:]
            for i, of_one in enumerate(ranges):
                for of_other in (of_one, ranges[i - 1], ranges[i - 2]):
                    with self.subTest(kind=kind, one=of_one, other=of_other):
                        files = [self.write_valid("0.nc", 0, attributes=of_one, **kind),
                                 self.write_valid("1.nc", 1, attributes=of_other, **kind)]
                        run("index", *files, "-q", "-o", "all.json")
                        self.assertEqual("v_fragments" in content("all.json").decode(),
                                         of_one != of_other)
                        self.expect_each_as_alone("all.json", files)

    def test_valid_ranges_of_fragments_are_ignored_where_asked_for(self):
        files = [self.write_valid("0.nc", 0, "i2", {"valid_range": [0, 12]}),
                 self.write_valid("1.nc", 1, "i2", {}),
                 self.write_valid("2.nc", 2, "i2", {"valid_max": 5}, scale=0.5)]
        run("index", *files, "-q", "-o", "all.json")
        self.assertGreater(self.expect_each_as_alone("all.json", files), 10)
        self.assertEqual(self.expect_each_as_alone("all.json", files, HONOUR_VALID_RANGE="NO"), 3)
        time_axis = gdal.OpenEx('REFS:"all.json"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        time_axis = time_axis.OpenMDArray("time")
        self.assertEqual([a.GetName() for a in time_axis.GetAttributes()], [])
        said = run("index", *files, "--strict", "-o", "no.json", status=1)
        self.assertIn("valid_range [0,12] and none", said)
        run("index", *files, "-q", "-o", "all.parq")
        self.expect_any_grouping(files, random.Random(3), 4)
        self.index_as_master(*files)
        self.expect_each_as_alone("all.nc", files)
        with netCDF4.Dataset("all.nc") as file:
            self.assertNotIn("valid_range", [*file["v"].ncattrs(), *file["time"].ncattrs()])

    def test_one_value_that_differs_makes_no_tiles(self):
        def write(name, time, lat):
            with netCDF4.Dataset(name, "w") as file:
                for dim, values in (("time", [time]), ("lat", lat), ("lon", range(5))):
                    file.createDimension(dim, len(values))
                    file.createVariable(dim, "f8", (dim,))[:] = values
                file["time"].units = "days since 2000-01-01"
                file.createVariable("v", "f4", ("time", "lat", "lon"))[:] = time
            return name

        first, last = write("a.nc", 0, [50, 48, 46, 44, 42, 40]), write("b.nc", 1, [50, 48, 46, 43.9, 42, 40])
        said = run("index", first, last, "-o", "all.json", status=1)
        self.assertIn("lat of a.nc (50 to 40, 6 values) and of b.nc (50 to 40, 6 values) differ in value 3 "
                      "(44 and 43.9)", said)
        run("index", first, write("c.nc", 2, [50, 48, 46, 44, 42, 40]), "-o", "all.parq")
        self.assertIn("the grids of all.parq and b.nc differ: element 3 of lat is 44 and 43.9",
                      run("append", "all.parq", last, status=1))

    def test_large_grids_are_compared(self):
        def write(name, step, change=None, scale=1):
            with netCDF4.Dataset(name, "w") as file:
                for dim, n in (("time", 1), ("y", 1100), ("x", 1000)):
                    file.createDimension(dim, n)
                file.createVariable("time", "f8", ("time",))[:] = step
                lon = np.arange(1100 * 1000, dtype="f8").reshape(1100, 1000) / 1e5
                if change:
                    lon[change] += 1e-6
                for axis, units in (("lon", "degrees_east"), ("lat", "degrees_north")):
                    grid = file.createVariable(axis, "f8", ("y", "x"), zlib=True, chunksizes=(10, 1000))
                    grid.units = units
                    grid[:] = lon * scale
                file.createVariable("v", "i2", ("time", "y", "x"), zlib=True).coordinates = "lat lon"
                file["v"][:] = step
            return name

        first = write("a.nc", 0)
        run("index", first, write("b.nc", 1), "-o", "all.json")
        for change, rows in (((1099, 999), "969 to 1099"), ((484, 3), "484 to 614"), ((0, 0), "0 to 130")):
            for output in ("no.json", "no.nc"):
                said = run("index", first, write("c.nc", 1, change), "-o", output, status=1)
                self.assertIn(f"the grids of a.nc and c.nc differ: lat differs in rows {rows}", said)

    def test_large_grids_of_other_types_are_compared(self):
        def write(name, step, dtype, rows=1100, shift=0):
            with netCDF4.Dataset(name, "w") as file:
                for dim, n in (("time", 1), ("y", rows), ("x", 1000)):
                    file.createDimension(dim, n)
                file.createVariable("time", "f8", ("time",))[:] = step
                grid = np.add.outer(np.arange(rows) / 100, np.arange(1000) / 1000)
                for axis, units in (("lon", "degrees_east"), ("lat", "degrees_north")):
                    file.createVariable(axis, dtype, ("y", "x"), zlib=True).units = units
                    file[axis][:] = grid + shift
                file.createVariable("v", "i2", ("time", "y", "x"), zlib=True).coordinates = "lat lon"
                file["v"][:] = step
            return name

        for rows in (1100, 2100):  # doubles are too large to be compared whole; floats, too
            first = write("a.nc", 0, "f8", rows)
            run("index", first, write("b.nc", 1, "f4", rows), "-o", "all.json")
            for output in ("no.json", "no.nc"):
                said = run("index", first, write("c.nc", 1, "f4", rows, 0.5), "-o", output, status=1)
                self.assertIn("the grids of a.nc and c.nc differ: element 0 of lat is 0 and 0.5", said)

    def test_large_grids_with_other_missing_values_are_one_grid(self):
        def write(name, step, dtype, fill):
            with netCDF4.Dataset(name, "w") as file:
                for dim, n in (("time", 1), ("y", 1100), ("x", 1000)):
                    file.createDimension(dim, n)
                file.createVariable("time", "f8", ("time",))[:] = step
                grid = np.ma.array(np.add.outer(np.arange(1100) / 4, np.arange(1000) / 8), mask=False)
                grid[:3] = np.ma.masked
                for axis, units in (("lon", "degrees_east"), ("lat", "degrees_north")):
                    file.createVariable(axis, dtype, ("y", "x"), zlib=True, fill_value=fill).units = units
                    file[axis][:] = grid
                file.createVariable("v", "i2", ("time", "y", "x"), zlib=True).coordinates = "lat lon"
                file["v"][:] = step
            return name

        first = write("a.nc", 0, "f8", -9999)
        for dtype in ("f4", "f8"):
            run("index", first, write("b.nc", 1, dtype, -9999), "-o", "all.json")
        run("index", first, write("b.nc", 1, "f4", -999), "-o", "all.json")

    def write_level(self, name, step, level, units, **attributes):
        with netCDF4.Dataset(name, "w") as file:
            for dim, n in (("time", 1), ("lat", 5), ("lon", 4)):
                file.createDimension(dim, n)
                file.createVariable(dim, "f8", (dim,))[:] = np.arange(n) + (step if dim == "time" else 0)
            file.createVariable("plev", "f8").units = units
            file["plev"][...] = level
            v = file.createVariable("v", "f4", ("time", "lat", "lon"))
            v.setncatts({"coordinates": "plev", **attributes})
            v[:] = step
        return name

    def test_levels_in_other_units_are_compared(self):
        first = self.write_level("a.nc", 0, 850, "hPa")
        for level, units, said in ((85000, "Pa", None), (500, "hPa", "element 0 of plev is 850 and 500"),
                                   (50000, "Pa", "element 0 of plev is 850 hPa and 50000 Pa")):
            second = self.write_level("b.nc", 1, level, units)
            for options, why in (([], "not tiles of one grid along plev, time: name the concat dimensions (--along plev --along time, or fewer)"),
                                 (["--along", "time"], f"{said}, but they are combined along time alone")):
                done = subprocess.run([REFS, "index", first, second, *options, "-o", "all.json"], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0 if said is None else 1, done.stderr)
                self.assertEqual("plev" in done.stderr, said is not None, done.stderr)
                self.assertIn(why if said else "", done.stderr)
        for output in ("no.json", "no.nc"):
            second = self.write_level("b.nc", 1, 3, "m")
            self.assertIn('a.nc and b.nc differ in units or calendar of plev: "hPa"', run("index", first, second, "-o", output, status=1))
            said = run("index", first, second, "--along", "time", "-o", output, status=1)
            self.assertIn('plev: cannot convert its units "hPa" (a.nc) and "m" (b.nc)', said)

    def test_sources_whose_values_are_in_the_set_stay_recorded(self):
        """Those of a variable of few bytes for each step, although only another one, which is not selected, refers to them."""
        for step in range(2):
            with netCDF4.Dataset(f"{step}.nc", "w") as file:
                for dim, n in (("time", 1), ("x", 400)):
                    file.createDimension(dim, n)
                file.createVariable("time", "f8", ("time",))[:] = step
                file.createVariable("small", "f8", ("time",))[:] = step
                file.createVariable("large", "f4", ("time", "x"))[:] = step
        run("index", "0.nc", "1.nc", "-q", "-o", "all.json")
        for variable, wanted in (("small", ["0.nc", "1.nc"]), ("time", ["0.nc", "1.nc"]), ("large", ["0.nc", "1.nc"])):
            run("convert", "all.json", "--variables", variable, "-o", "part.json")
            with open("part.json", encoding="utf-8") as file:
                recorded = json.loads(json.load(file)["refs"][".zsources/.zattrs"])["sources"]
            self.assertEqual([os.path.basename(source["url"]) for source in recorded], wanted, variable)

    def test_sources_of_arrays_that_are_not_selected_are_left_out(self):
        """Those whose values are in the set alone are kept."""
        for name, step in (("t", 0), ("t", 1), ("p", 0), ("p", 1)):
            with netCDF4.Dataset(f"{name}{step}.nc", "w") as file:
                for dim, n in (("time", 1), ("x", 400)):
                    file.createDimension(dim, n)
                file.createVariable("time", "f8", ("time",))[:] = step
                file.createGroup(name).createVariable(name, "f4", ("time", "x"))[:] = step
        with netCDF4.Dataset("t2.nc", "w") as file:
            file.createDimension("time", 1)
            file.createVariable("time", "f8", ("time",))[:] = 2
        for pattern in ("t", "p"):
            run("index", *sorted(glob.glob(f"{pattern}?.nc")), "--along", "time", "-q", "-o", f"{pattern}.json")
        run("combine", "t.json", "p.json", "--along", "time", "-q", "-o", "all.json")
        for options, wanted in ((["--variables", "t/t"], ["t0.nc", "t1.nc", "t2.nc"]), (["--group", "p"], ["p0.nc", "p1.nc", "t2.nc"]),
                                ([], ["p0.nc", "p1.nc", "t0.nc", "t1.nc", "t2.nc"])):
            run("convert", "all.json", *options, "-o", "part.json")
            with open("part.json", encoding="utf-8") as file:
                recorded = json.loads(json.load(file)["refs"][".zsources/.zattrs"])["sources"]
            self.assertEqual([os.path.basename(source["url"]) for source in recorded], wanted)
            run("check", "part.json")

    def test_recorded_sources_are_no_attributes_of_the_data(self):
        """Only a set that was combined records along which dimensions, in the group in which both record their files."""
        names = [self.write_level(f"{step}.nc", step, 850, "hPa") for step in range(3)]
        run("index", names[0], "-o", "one.json")
        run("index", *names[1:], "-o", "two.json")
        for sources in (("one.json", "two.json"), ("two.json", "one.json")):
            done = subprocess.run([REFS, "combine", *sources, "-o", "all.json"], capture_output=True, text=True, check=True)
            self.assertEqual(done.stderr, "")
        self.assertEqual(read("all.json", "v")[:, 0, 0].tolist(), [0, 1, 2])

    def write_units(self, name, step, units, values=(1, 2), dtype="f4", n=40, since="days since 2000-01-01", **time):
        with netCDF4.Dataset(name, "w") as file:
            for dim, size in (("time", 1), ("y", 1), ("x", n)):
                file.createDimension(dim, size)
            axis = file.createVariable("time", "f8", ("time",))
            axis.setncatts({"units": since, **time})
            axis[:] = step
            v = file.createVariable("v", dtype, ("time", "y", "x"))
            v.units = units
            v[:] = np.resize(values, n)
        return name

    def test_values_in_other_units_are_converted_however_few_they_are(self):
        for n in (2, 40):
            first = self.write_units("a.nc", 0, "K", (280, 281), n=n)
            for units, wanted in (("Celsius", [274.15, 275.15]), ("degrees C", [274.15, 275.15]),
                                  ("0.01 K", [0.01, 0.02]), ("mK", [0.001, 0.002])):
                run("index", first, self.write_units("b.nc", 1, units, n=n), "--along", "time", "-q", "-o", "all.json")
                run("index", first, "b.nc", "--along", "time", "-q", "-o", "all.nca")
                for name in ("all.json", "all.nca"):
                    np.testing.assert_allclose(read(name, "v")[:, 0, :2], [[280, 281], wanted], rtol=1e-6)

    def test_units_of_one_size_are_one_unit(self):
        for n in (2, 40):
            for one, other in (("K", "Kelvin"), ("m", "metre"), ("kg/kg", "1"), ("m s-1", "m/s")):
                done = subprocess.run([REFS, "index", self.write_units("a.nc", 0, one, n=n),
                                       self.write_units("b.nc", 1, other, n=n), "--along", "time", "-o", "all.json"],
                                      capture_output=True, text=True, check=True)
                self.assertNotIn("aggregation", done.stderr)
                self.assertEqual(read("all.json", "v")[:, 0, :2].tolist(), [[1, 2], [1, 2]])

    def test_integers_in_other_units_become_floating_point_numbers(self):
        for n in (2, 40):
            files = [self.write_units("a.nc", 0, "K", (280, 281), "i2", n),
                     self.write_units("b.nc", 1, "degC", (1, 2), "i2", n)]
            for output in ("all.json", "all.parq", "all.nca"):
                run("index", *files, "--along", "time", "-q", "-o", output)
                np.testing.assert_allclose(read(output, "v")[:, 0, :2], [[280, 281], [274.15, 275.15]], rtol=1e-12)
            run("combine", "--format", "cfa", *files, "-q", "-o", "k.nca")
            np.testing.assert_allclose(read("k.nca", "v")[:, 0, :2], [[280, 281], [274.15, 275.15]], rtol=1e-12)
            run("combine", "--format", "cfa", self.write_units("c.nc", 0, "mm", (1, 2), "i4", n),
                self.write_units("d.nc", 1, "m", (1, 2), "i4", n), "-q", "-o", "mm.nca")
            self.assertEqual(read("mm.nca", "v")[:, 0, :2].tolist(), [[1, 2], [1000, 2000]])

    def write_levels(self, name, levels, units, dtype="f8", bounds=True):
        with netCDF4.Dataset(name, "w") as file:
            file.createDimension("depth", None)
            file.createDimension("bnds", 2)
            file.createDimension("x", 4)
            axis = file.createVariable("depth", dtype, ("depth",), chunksizes=(1,))
            axis.units, axis[:] = units, levels
            if bounds:
                axis.bounds = "depth_bnds"
                file.createVariable("depth_bnds", dtype, ("depth", "bnds"))[:] = np.stack(
                    [np.array(levels), 2 * np.array(levels)], axis=-1)
            v = file.createVariable("v", "f4", ("depth", "x"), chunksizes=(1, 4))
            factor = {"m": 1, "cm": 0.01, "km": 1000, "Pa": 1, "hPa": 100}.get(units, 1)
            v[:] = np.array(levels)[:, None] * factor + np.zeros(4)
        return name

    def test_coordinates_in_other_units_are_converted(self):
        for dtype in ("f8", "f4", "i4"):
            names = [self.write_levels("0.nc", [1, 2], "m", dtype), self.write_levels("1.nc", [300, 400], "cm", dtype),
                     self.write_levels("2.nc", [5, 7], "m", dtype)]
            for order in (names, names[::-1]):
                run("index", *order, "--along", "depth", "-q", "-o", "all.json")
                np.testing.assert_array_equal(read("all.json", "depth"), [1, 2, 3, 4, 5, 7])
                np.testing.assert_array_equal(read("all.json", "depth_bnds")[:, 1], [2, 4, 6, 8, 10, 14])
                np.testing.assert_array_equal(read("all.json", "v")[:, 0], [1, 2, 3, 4, 5, 7])
                self.assertIn('"m', json.loads(content("all.json"))["refs"]["depth/.zattrs"])
        # In integers, half a metre is none; in binary, a third of one has no number of centimetres.
        self.write_levels("1.nc", [350, 400], "cm", "i4")
        self.assertIn("cannot convert 350 to the units", run("index", *names, "-a", "depth", "-o", "b.json", status=1))
        names = [self.write_levels("0.nc", [1, 2], "m"), self.write_levels("1.nc", [1000 / 3], "cm")]
        self.assertIn('333.333333 to the units "m" exactly', run("index", *names, "-a", "depth", "-o", "b.json", status=1))
        names = [self.write_levels("0.nc", [10.5, 20], "degC"), self.write_levels("1.nc", [300.15, 310.4], "K")]
        run("index", *names, "-a", "depth", "-q", "-o", "k.json")
        np.testing.assert_array_equal(read("k.json", "depth"), [10.5, 20, 27, 37.25])
        names = [self.write_levels("0.nc", [1, 2], "m"), self.write_levels("1.nc", [300], "hPa")]
        self.assertIn("differ in units or calendar", run("index", *names, "-a", "depth", "-o", "b.json", status=1))
        self.assertFalse(os.path.exists("b.json"))

    def test_coordinates_in_other_units_give_the_same_bytes_in_any_grouping(self):
        chance = random.Random(5)
        for dtype, digits in (("f8", 4), ("f4", 2)):
            levels = sorted(chance.sample(range(1, 10 ** (digits + 1)), 16))
            names = []
            for i in range(8):
                units = chance.choice(["m", "cm", "km"])
                factor = {"m": 10**digits, "cm": 10 ** (digits - 2), "km": 10 ** (digits + 3)}[units]
                names.append(self.write_levels(f"{i}.nc", [level / factor for level in levels[2 * i:2 * i + 2]],
                                               units, dtype))
            chance.shuffle(names)
            for name in ("all.json", "all.parq"):
                run("index", *names, "-q", "--along", "depth", "-o", name)
            for name in names:
                run("index", name, "-q", "--along", "depth", "-o", name + ".json")
            for attempt in range(8):
                parts = [name + ".json" for name in names]
                while len(parts) > 1:
                    chance.shuffle(parts)
                    n = chance.randint(2, min(4, len(parts)))
                    new = f"part{attempt}_{len(parts)}.json"
                    run("combine", *parts[:n], "-q", "--along", "depth", "-o", new)
                    parts = [*parts[n:], new]
                run("convert", parts[0], "-o", "again.json")
                self.assertEqual(content("again.json"), content("all.json"))

    def test_packed_coordinates_in_other_units_are_refused(self):
        for i, units in enumerate(("hours since 2020-01-01", "hours since 2020-01-02")):
            with netCDF4.Dataset(f"{i}.nc", "w") as file:
                file.createDimension("time", None)
                file.createDimension("x", 4)
                axis = file.createVariable("time", "i4", ("time",))
                axis.units, axis.scale_factor = units, 0.5
                axis.set_auto_maskandscale(False)
                axis[:] = [2, 4]
                file.createVariable("v", "i2", ("time", "x"), chunksizes=(1, 4))[:] = i
        said = run("index", "0.nc", "1.nc", "-o", "all.json", status=1)
        self.assertIn("1.nc: time: cannot convert packed values", said)

    def test_units_that_are_not_converted_are_told_at_once(self):
        for n in (2, 40):
            files = [self.write_units("a.nc", 0, "K", n=n), self.write_units("b.nc", 1, "m", n=n),
                     self.write_units("c.nc", 2, "m", n=n)]
            for verb in (["index", "--along", "time"], ["combine", "--format", "cfa"]):
                for output in ("all.json", "all.nca"):
                    if verb[0] == "combine" and output == "all.json":
                        continue
                    done = subprocess.run([REFS, *verb, *files, "-o", output], capture_output=True, text=True, check=True)
                    self.assertEqual(done.stderr.count(
                        'v: cannot convert its units "K" (a.nc) and "m" (b.nc)'), 1, done.stderr)
                    checked = subprocess.run([REFS, "check", "--deep", output], capture_output=True, text=True)
                    self.assertIn("values are not converted", checked.stdout + checked.stderr)

    def test_gregorian_calendars_are_one_from_1582_on(self):
        first = self.write_units("a.nc", 0, "K", calendar="proleptic_gregorian")
        for calendar in ("standard", "gregorian"):
            other = self.write_units("b.nc", 24, "K", calendar=calendar, since="hours since 2000-01-01")
            run("index", first, other, "--along", "time", "-q", "-o", "all.json")
            run("combine", "--format", "cfa", first, other, "-q", "-o", "all.nca")
            for name in ("all.json", "all.nca"):
                self.assertEqual(read(name, "time").tolist(), [0, 1])
        # Days are counted from another one where the origin is before 1582.
        old = self.write_units("b.nc", 730122, "K", calendar="standard", since="days since 0001-01-01")
        run("index", first, old, "--along", "time", "-q", "-o", "all.json")
        wanted = netCDF4.date2num(netCDF4.num2date(730122, "days since 0001-01-01", "standard"),
                                  "days since 2000-01-01", "standard")
        self.assertEqual(read("all.json", "time").tolist(), [0, wanted])
        for calendar, units in (("standard", "days since 1500-01-01"), ("noleap", "days since 2000-01-01")):
            other = self.write_units("b.nc", 5, "K", calendar=calendar, since=units)
            said = run("index", first, other, "--along", "time", "-o", "no.json", status=1)
            self.assertIn(f"({calendar})", said)

    def test_coordinates_of_another_precision_are_one_grid(self):
        for i, dtype in enumerate(("f8", "f4")):
            with netCDF4.Dataset(f"{i}.nc", "w") as file:
                for dim, n, kind in (("time", 1, "f8"), ("lat", 4, dtype), ("lon", 40, "f8")):
                    file.createDimension(dim, n)
                    file.createVariable(dim, kind, (dim,))[:] = np.arange(n) * 0.1 + (i if dim == "time" else 0)
                file.createVariable("v", "f4", ("time", "lat", "lon"))[:] = i
        for names in ("0.nc", "1.nc"), ("1.nc", "0.nc"):  # the earliest has double precision
            run("combine", "--format", "cfa", *names, "-q", "-o", "all.nca")
            np.testing.assert_array_equal(read("all.nca", "lat"), np.arange(4) * 0.1)
            self.assertEqual(read("all.nca", "v").shape, (2, 4, 40))

    def test_bounds_of_times_have_their_calendar(self):
        names = [self.write("a.nc", [59], units="days since 2020-01-01", calendar="noleap"),
                 self.write("b.nc", [0], units="days since 2020-03-02", calendar="noleap")]
        run("index", *names, "--along", "time", "-q", "-o", "all.json")
        self.assertEqual(read("all.json", "time").tolist(), [59, 60])
        self.assertEqual(read("all.json", "time_bnds").tolist(), [[59, 60], [60, 61]])

    def test_what_is_measured_otherwise_is_a_warning_with_both(self):
        first = self.write_level("a.nc", 0, 850, "hPa", standard_name="air_temperature", cell_methods="time: mean")
        for name, other in (("standard_name", "dew_point_temperature"), ("cell_methods", "time: maximum")):
            same = {"standard_name": "air_temperature", "cell_methods": "time: mean"}
            others = [self.write_level(f"{i}.nc", i, 850, "hPa", **{**same, name: other}) for i in (1, 2)]
            done = subprocess.run([REFS, "index", first, *others, "-o", "all.json"], capture_output=True, text=True,
                                  check=True)
            self.assertIn(f'v: {name} is "{same[name]}" in a.nc and "{other}" in 1.nc', done.stderr)
            self.assertEqual(done.stderr.count(f"v: {name} is"), 1)

    def test_aggregations_that_make_no_sense_are_not_joined(self):
        refs = {".zgroup": '{"zarr_format":2}',
                "v/.zarray": json.dumps({"zarr_format": 2, "shape": [], "chunks": [], "dtype": "<f4",
                                         "compressor": None, "filters": None, "order": "C",
                                         "fill_value": None}),
                "v/.zattrs": json.dumps({"aggregated_dimensions": "time",
                                         "aggregated_data": "map: m uris: u identifiers: i"})}
        with open("a.json", "w", encoding="utf-8") as file:
            json.dump(refs, file)
        said = run("combine", "a.json", "a.json", "--along", "time", "-o", "b.json", status=1)
        self.assertIn("aggregated_data names the variable m (map), which the file lacks", said)


    def test_attributes_of_the_type_of_their_variable_have_it(self):
        array = {"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "<f8", "compressor": None, "filters": None,
                 "fill_value": None, "order": "C"}
        with open("a.json", "w", encoding="utf-8") as file:
            json.dump({".zgroup": '{"zarr_format":2}', "v/.zarray": json.dumps(array), "v/0": "12345678",
                       "v/.zattrs": '{"_ARRAY_DIMENSIONS":["x"],"missing_value":18446744073709551615}'}, file)
        run("split", "a.json", "-o", "m.nca")
        with netCDF4.Dataset(glob.glob("m/m.v*.nc")[0]) as file:
            self.assertEqual((file["v"].missing_value.dtype, file["v"].missing_value), (np.float64, 2.0**64))

    def test_damaged_strings_are_an_error_also_where_they_are_only_compared(self):
        for name in ("0.nc", "1.nc"):
            with netCDF4.Dataset(name, "w") as file:
                file.createDimension("time", 1)
                file.createDimension("n", 2)
                time = file.createVariable("time", "f8", ("time",))
                time.units = "days since 2000-01-01"
                time[:] = [int(name[0])]
                file.createVariable("v", "f4", ("time",))[:] = 1
                file.createVariable("s", str, ("n",))[:] = np.array(["one", "two"], dtype=object)
        data = content("1.nc")
        heap = (3).to_bytes(4, "little") + data.index(b"GCOL").to_bytes(8, "little")
        self.assertIn(heap, data)
        with open("1.nc", "wb") as file:
            file.write(data.replace(heap, heap[:4] + (8).to_bytes(8, "little")))
        said = run("combine", "--format", "cfa", "0.nc", "1.nc", "-o", "m.nca", status=1)
        self.assertIn("/s: global heap collection at address 8 is not one", said)
        self.assertFalse(os.path.exists("m.nca"))


class Coordinates(Folder):
    """Sources whose coordinates are stored, or measured, otherwise."""

    def write_lat(self, name, step, values, dtype="f8", **attributes):
        """w(time, lat, lon) with any latitudes."""
        with netCDF4.Dataset(name, "w") as file:
            for dim, n in (("time", None), ("lat", len(values)), ("lon", 9)):
                file.createDimension(dim, n)
            file.createVariable("time", "f8", ("time",))[:] = step
            file["time"].units = "hours since 2020-01-01"
            for axis, kind, found in (("lat", dtype, values), ("lon", "f8", np.arange(9))):
                made = file.createVariable(axis, kind, (axis,))
                made.set_auto_maskandscale(False)
                made[:] = found
            file["lon"].units = attributes.pop("lon_units", "degrees_east")
            file["lat"].setncatts({"units": "degrees_north", **attributes})
            level = file.createVariable("level", "f4", ())
            level[...] = 500
            level.units = "hPa"
            w = file.createVariable("w", "u1", ("time", "lat", "lon"), fill_value=255)
            w.coordinates = "level"
            w[:] = step + 1
        return name

    def join(self, *names, status=0):
        done = subprocess.run([REFS, "index", *names, "--along", "time", "-o", "all.json"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def test_are_compared_unpacked(self):
        degrees = np.arange(30) * 0.1
        self.write_lat("a.nc", 0, np.arange(30), "i2", scale_factor=0.1)
        self.write_lat("b.nc", 1, np.arange(30), "i2", scale_factor=0.2)
        self.assertIn("the grids of a.nc and b.nc differ: element 1 of lat is 0.1 and 0.2",
                      self.join("a.nc", "b.nc", status=1))
        self.assertIn("lat of a.nc and of b.nc cannot be combined: their scale_factor and add_offset differ (0.1 and 0, 0.2 and 0)",
                      run("index", "a.nc", "b.nc", "-o", "all.json", status=1))
        self.write_lat("b.nc", 1, np.arange(30), "i2", scale_factor=0.1, add_offset=-90.0)
        self.assertIn("element 0 of lat is 0 and -90", self.join("a.nc", "b.nc", status=1))
        alike = [self.write_lat("c.nc", 2, np.arange(30) * 10, "i2", scale_factor=0.01),
                 self.write_lat("d.nc", 3, degrees), self.write_lat("e.nc", 4, degrees, "f4"),
                 self.write_lat("f.nc", 5, degrees + 89, add_offset=-89.0)]
        for name in alike:
            self.assertEqual(self.join("a.nc", name), "")
            self.assertEqual(self.join(name, "a.nc"), "")
            run("index", "a.nc", name, "-o", "guessed.json")  # which is not along lat
        signed = np.where(np.arange(30) * 10 < 128, np.arange(30) * 10, np.arange(30) * 10 - 256)
        self.write_lat("h.nc", 7, signed[:26].astype("i1"), "i1", _Unsigned="true")
        self.write_lat("g.nc", 6, np.arange(26, dtype="u1"), "u1", scale_factor=10.0)
        self.assertEqual(self.join("g.nc", "h.nc"), "")

    def test_are_compared_with_their_units(self):
        self.write_lat("a.nc", 0, np.arange(5))
        self.write_lat("b.nc", 1, np.arange(5), lon_units="km")
        self.assertIn("element 0 of lon is 0 degrees_east and 0 km", self.join("a.nc", "b.nc", status=1))
        self.write_lat("c.nc", 2, np.radians(np.arange(5)), units="radians")
        self.write_lat("d.nc", 3, np.arange(5), units="degreeN", lon_units="degree_E")
        for name in ("c.nc", "d.nc"):
            self.assertEqual(self.join("a.nc", name), "")
        self.write_lat("c.nc", 2, np.arange(5), units="radians")
        self.assertIn("element 1 of lat is 1 degrees_north and 1 radians",
                      self.join("a.nc", "c.nc", status=1))
        with netCDF4.Dataset("d.nc", "a") as file:
            file["level"].units = "Pa"
        self.assertIn("level: differs between a.nc and d.nc, element 0 of level is 500 hPa and 500 Pa",
                      self.join("a.nc", "d.nc", status=1))
        with netCDF4.Dataset("d.nc", "a") as file:
            file["level"][...] = 50000
        self.assertEqual(self.join("a.nc", "d.nc"), "")

    def test_meanings_that_differ_are_told_and_left_out(self):
        names = [self.write_lat(f"{i}.nc", i, np.arange(40)) for i in range(3)]
        for i, name in enumerate(names):
            with netCDF4.Dataset(name, "a") as file:
                file["w"].flag_values = np.arange(2, dtype="u1") + 2 * (i // 2)
                file["w"].flag_meanings = "land sea"
        self.assertEqual(self.join(*names[:2]), "")
        self.assertIn("flag_meanings", content("all.json").decode())
        self.assertIn("w: 0.nc and 2.nc differ in flag_values", self.join(*names))
        self.assertNotIn("flag_", content("all.json").decode())
        self.assertIn("w: 0.nc and 2.nc differ in flag_values",
                      run("index", "--strict", *names, "-o", "strict.json", status=1))
        self.assertFalse(os.path.exists("strict.json"))
        self.assertEqual(read("all.json", "w")[:, 0, 0].tolist(), [1, 2, 3])
        run("index", *names, "-q", "-o", "all.parq")
        self.expect_any_grouping(names, random.Random(5), 4)
        with netCDF4.Dataset("1.nc", "a") as file:
            file["w"].missing_value = np.uint8(7)  # and it becomes an aggregation
        self.join(*names)
        self.assertIn("w_fragments", content("all.json").decode())
        self.assertNotIn("flag_", content("all.json").decode())
        run("index", *names, "-q", "-o", "all.parq")
        self.expect_any_grouping(names, random.Random(6), 4)
        self.index_as_master(*names)
        with netCDF4.Dataset("all.nc") as file:
            self.assertNotIn("flag_meanings", file["w"].ncattrs())

    def test_units_that_differ_are_named_with_both_sources(self):
        self.write_lat("a.nc", 0, np.arange(5))
        self.write_lat("lu.nc", 1, np.arange(5), lon_units="km")
        said = run("index", "a.nc", "lu.nc", "-o", "all.json", status=1)
        self.assertIn('a.nc and lu.nc differ in units or calendar of lon: "degrees_east" (no calendar) '
                      'and "km"', said)


class Places(Folder):
    """Sources that lie elsewhere, as attributes tell."""

    def write_tiff(self, day, transform=(10, 0.1, 0, 50, 0, -0.1), epsg=4326, is_point=False):
        name = f"t_202001{day:02}.tif"
        raster = gdal.GetDriverByName("GTiff").Create(name, 40, 30, 1, gdal.GDT_Int16)
        reference = osr.SpatialReference()
        reference.ImportFromEPSG(epsg)
        raster.SetProjection(reference.ExportToWkt())
        raster.SetGeoTransform(transform)
        if is_point:
            raster.SetMetadataItem("AREA_OR_POINT", "Point")
        raster.SetMetadataItem("TIFFTAG_DATETIME", str(day))
        raster.GetRasterBand(1).Fill(day)
        return name

    def test_tiff_files_elsewhere_are_an_error_that_says_what_to_do(self):
        for differ, said in (({"transform": (20, 0.1, 0, 60, 0, -0.1)}, "ModelTiepoint"),
                             ({"transform": (10, 0.2, 0, 50, 0, -0.2)}, "ModelPixelScale"),
                             ({"transform": (10, 0.1, 0, 47, 0, 0.1)}, "ModelPixelScale"),
                             ({"epsg": 32633}, "GTModelTypeGeoKey 2 and 1"),
                             ({"epsg": 4258}, "GeographicTypeGeoKey 4326 and 4258"),
                             ({"is_point": True}, "GTRasterTypeGeoKey 1 and 2")):
            names = [self.write_tiff(1), self.write_tiff(2, **differ)]
            for output in ("all.json", "all.nc"):
                found = run("index", *names, "-p", "t_{time:%Y%m%d}.tif", "-o", output, status=1)
                self.assertIn(f"grids of {names[0]} and {names[1]} differ: {said}", found)
                self.assertIn("gdalbuildvrt", found)
            with self.assertRaisesRegex(RuntimeError, "grids of .* differ"):
                gdal.OpenEx('REFS:"t_*.tif"', gdal.OF_RASTER,
                            open_options=["PATTERN=t_{time:%Y%m%d}.tif"])

    def test_tiff_files_in_one_place_are_joined(self):
        names = [self.write_tiff(day, (10 + 1e-12 * day, 0.1, 0, 50, 0, -0.1)) for day in (1, 2, 3)]
        run("index", *names, "-p", "t_{time:%Y%m%d}.tif", "-o", "all.json")
        dataset = gdal.Open('REFS:"all.json"')
        np.testing.assert_allclose(dataset.GetGeoTransform(), (10, 0.1, 0, 50, 0, -0.1))
        self.assertEqual([dataset.GetRasterBand(i).ReadAsArray()[0, 0] for i in (1, 2, 3)], [1, 2, 3])
        below = self.write_tiff(4, (10, 0.1, 0, 47, 0, -0.1))
        run("index", names[0], below, "--along", "Y", "-o", "high.json")
        self.assertEqual(gdal.Open('REFS:"high.json"').RasterYSize, 60)

    def write_projected(self, name, step, y=0, **attributes):
        with netCDF4.Dataset(name, "w") as file:
            for dim, n in (("time", None), ("y", 20), ("x", 30)):
                file.createDimension(dim, n)
            file.createVariable("time", "f8", ("time",))[:] = step
            file["time"].units = "days since 2000-01-01"
            for axis, first, n in (("y", 4500000 - 600 * y, 20), ("x", 500000, 30)):
                made = file.createVariable(axis, "f8", (axis,))
                made.standard_name, made.units = f"projection_{axis}_coordinate", "m"
                made[:] = first + (-30 if axis == "y" else 30) * np.arange(n)
            file.createVariable("crs", "i4").setncatts({
                "grid_mapping_name": "transverse_mercator", "longitude_of_central_meridian": 15.0,
                "latitude_of_projection_origin": 0.0, "scale_factor_at_central_meridian": 0.9996,
                "false_easting": 500000.0, "false_northing": 0.0, "semi_major_axis": 6378137.0,
                "inverse_flattening": 298.257223563, **attributes})
            w = file.createVariable("w", "f4", ("time", "y", "x"), chunksizes=(1, 20, 30), zlib=True)
            w[:] = step
            w.grid_mapping = "crs"
        return name

    def test_grid_mappings_that_differ_are_named(self):
        reference = osr.SpatialReference()
        reference.ImportFromEPSG(32633)
        first = self.write_projected("a.nc", 0, crs_wkt=reference.ExportToWkt())
        other = osr.SpatialReference()
        other.ImportFromEPSG(32632)
        for differ, said in (
                ({"longitude_of_central_meridian": 9.0}, "longitude_of_central_meridian 15.0 and 9.0"),
                ({"false_northing": 1e7}, "false_northing 0.0 and 10000000.0"),
                ({"towgs84": [1.0, 2.0, 3.0], "crs_wkt": other.ExportToWkt()}, "crs_wkt"),
                ({"grid_mapping_name": "mercator"}, "grid_mapping_name"),
                ({"azimuth_of_central_line": 3.0}, "azimuth_of_central_line none and 3.0")):
            second = self.write_projected("b.nc", 1, **differ)
            for output in ("all.json", "all.nc"):
                found = run("index", first, second, "-o", output, status=1)
                self.assertIn(f"grids of a.nc and b.nc differ: crs: {said}", found)
        run("index", first, "-o", "a.parq", "--along", "time")
        before = content("a.parq")
        run("append", "a.parq", second, "--along", "time", status=1)
        self.assertEqual(content("a.parq"), before)
        for differ in ({"crs_wkt": reference.ExportToWkt(["FORMAT=WKT2"])}, {"long_name": "another"}, {},
                       {"longitude_of_central_meridian": np.float32(15), "earth_radius": 6378137.0},
                       {"GeoTransform": "1 2 3 4 5 6"}):
            second = self.write_projected("b.nc", 1, **differ)
            run("index", first, second, "-o", "all.json")
        tiles = [self.write_projected(f"{i}.nc", 0, y=i, GeoTransform=f"500000 30 0 {4500015 - 600 * i} 0 -30")
                 for i in (0, 1)]
        run("index", *tiles, "-o", "all.json")
        self.assertEqual(gdal.Open('REFS:"all.json":/w').GetGeoTransform()[3], 4500015)
        with netCDF4.Dataset(second, "a") as file:
            file.renameVariable("crs", "utm")
            file["w"].grid_mapping = "utm"
        self.assertIn('w: grid_mapping "crs" and "utm"', run("index", first, second, "-o", "no.json", status=1))


class Holes(Folder):
    """Sources of which one does not have a variable."""

    def write_some(self, dtype, form="NETCDF3_CLASSIC", width=20, **attributes):
        """Four steps: t in all, b in all but the third."""
        for step in range(4):
            with netCDF4.Dataset(f"{step}.nc", "w", format=form) as file:
                for dim, n in (("time", 1), ("x", width)):
                    file.createDimension(dim, n)
                file.createVariable("time", "f8", ("time",))[:] = step
                file["time"].units = "hours since 2020-01-01"
                for name in ("t", "b")[:1 if step == 2 else 2]:
                    made = file.createVariable(name, dtype, ("time", "x"))
                    made.setncatts(attributes)
                    made.set_auto_maskandscale(False)
                    made[:] = 7 + step

    def index(self, output="all.json", status=0, *options):
        done = subprocess.run([REFS, "index", "0.nc", "1.nc", "2.nc", "3.nc", "-o", output, *options],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn("b is missing in 1 of 4 sources, first in 2.nc", done.stderr)
        return done.stderr

    def expect_nodata(self, name, nodata, valid=(7, 8, 10)):
        array = gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("b")
        values = array.ReadAsArray()
        self.assertEqual(array.GetNoDataValueAsDouble(), nodata)
        self.assertTrue((values[2] == nodata).all(), values[2])
        self.assertEqual(values[[0, 1, 3], 0].tolist(), list(valid))

    def test_are_nodata_where_variables_have_no_fill_value(self):
        for dtype, nodata in (("i2", -32767), ("i4", -2147483647), ("f4", 9.969209968386869e36),
                              ("f8", 9.969209968386869e36)):
            for width in (50, 2):  # the second is put into the set as values
                with self.subTest(dtype=dtype, width=width):
                    self.write_some(dtype, width=width)
                    self.index()
                    self.expect_nodata('REFS:"all.json"', nodata)
                    self.expect_nodata('REFS:"[0-3].nc"', nodata)
                    if os.path.exists("all.nc"):
                        os.remove("all.nc")
                    self.index("all.nc")
                    self.expect_nodata("all.nc", nodata)

    def test_are_what_attributes_say_is_missing(self):
        self.write_some("i2", missing_value=np.int16(-5))
        self.index()
        self.expect_nodata('REFS:"all.json"', -5)
        self.write_some("i2", "NETCDF4")
        self.index()
        self.expect_nodata('REFS:"all.json"', -32767)

    def test_of_bytes_have_a_wider_type(self):
        for dtype, form in (("i1", "NETCDF3_CLASSIC"), ("i1", "NETCDF4"), ("u1", "NETCDF4"),
                            ("i1", "NETCDF4_CLASSIC")):
            for width in (100, 2):
                with self.subTest(dtype=dtype, form=form, width=width):
                    self.write_some(dtype, form, width=width)
                    self.assertIn("of a wider type", self.index())
                    self.expect_nodata('REFS:"all.json"', -2147483647)
                    self.expect_nodata('REFS:"[0-3].nc"', -2147483647)
                    self.expect_any_grouping_of_holes()
                    self.assertIn("--variables", self.index("no.json", 1, "--strict"))
                    self.index_as_master(*(f"{i}.nc" for i in range(4)), output="master.nc")
                    self.expect_nodata("master.nc", -2147483647)
                    os.remove("master.nc")

    def expect_any_grouping_of_holes(self):
        run("index", *(f"{i}.nc" for i in range(4)), "-q", "-o", "all.parq")
        self.expect_any_grouping([f"{i}.nc" for i in range(4)], random.Random(7), 3)

    def test_of_bytes_that_mean_something(self):
        self.write_some("u1", "NETCDF4", missing_value=np.uint8(200))
        self.index()
        self.expect_nodata('REFS:"all.json"', 200)
        for width in (100, 2):
            self.write_some("u1", "NETCDF4", width, flag_values=np.arange(9, dtype="u1"), flag_meanings="a b c")
            self.index()
            self.expect_nodata('REFS:"all.json"', 255)
            self.expect_any_grouping_of_holes()

    def write_any(self, chance, i, kinds):
        """A file of some steps whose variables are there, and have a fill value, by chance."""
        n = chance.choice((1, 1, 2))
        with netCDF4.Dataset(f"{i:02}.nc", "w", format="NETCDF4") as file:
            for dim, size in (("time", None), ("x", 20), ("few", 2)):
                file.createDimension(dim, size)
            time_axis = file.createVariable("time", "f8", ("time",))
            time_axis.units = "hours since 2020-01-01"
            time_axis[:] = 2 * i + np.arange(n)
            file.createVariable("t", "i2", ("time", "x"), chunksizes=(1, 20))[:] = i
            for name, dim in (("b", "x"), ("c", "x"), ("d", "few")):
                kind = chance.choice(kinds)
                if kind is None:
                    continue
                made = file.createVariable(name, kind.get("dtype", "f4"), ("time", dim), zlib=True,
                                           chunksizes=(kind.get("chunk", 1), 20 if dim == "x" else 2),
                                           fill_value=kind.get("fill"))
                made.long_name = f"{name} of {i}"
                made.set_auto_maskandscale(False)
                if not kind.get("is_sparse"):
                    made[:] = 100 + i
                elif n > 1:
                    made[1] = 100 + i
        return f"{i:02}.nc"

    def expect_same_bytes(self, seed, kinds):
        """Of all at once, and of any grouping."""
        chance = random.Random(seed)
        names = [self.write_any(chance, i, kinds) for i in range(8)]
        run("index", *names, "-q", "--along", "time", "-o", "all.json")
        run("index", *names, "-q", "--along", "time", "-o", "all.parq")
        self.expect_any_grouping(names, chance, 3)

    def test_give_the_same_bytes_in_any_grouping(self):
        none, has = None, {}
        for kinds in ((none, has), (none, has, {"fill": -9}), (none, has, {"fill": -9}, {"fill": -5}),
                      (none, {"fill": -9}), (none, has, {"is_sparse": True}),
                      (none, {"fill": -9}, {"fill": -9, "is_sparse": True}),
                      (none, has, {"dtype": "f8"}), (none, has, {"fill": -9, "dtype": "i2"}),
                      (none, has, {"fill": -9, "is_sparse": True}, {"fill": -5, "is_sparse": True})):
            for seed in range(2):
                with self.subTest(kinds=kinds, seed=seed):
                    self.expect_same_bytes(seed, kinds)

    def test_are_none_where_other_sources_have_the_steps(self):
        self.write_some("i2")
        with netCDF4.Dataset("2.nc", "a") as file:
            file.createVariable("b", "i2", ("time", "x"))[:] = 9
        done = subprocess.run([REFS, "index", "0.nc", "1.nc", "2.nc", "3.nc", "-o", "all.json"], capture_output=True,
                              text=True, check=True)
        self.assertNotIn("not in", done.stderr)


class SelectionsOfHoles(Folder):
    """Parts of sets of which some sources are missing keep the holes that lie in them."""

    N = 3

    def value(self, time_step, step):
        return 100 * time_step + 10 * step + np.arange(12).reshape(3, 4)

    def write_tile(self, time_step, step):
        name = f"{time_step}_{step}.nc"
        with netCDF4.Dataset(name, "w") as file:
            for dim, n in (("time", 1), ("step", 1), ("y", 3), ("x", 4)):
                file.createDimension(dim, n)
            for dim, number, units in (("time", time_step, "days since 2020-01-01"), ("step", step, "hours")):
                axis = file.createVariable(dim, "f8", (dim,))
                axis.units = units
                axis[:] = number
            file.createVariable("v", "f4", ("time", "step", "y", "x"))[:] = self.value(time_step, step)
        return name

    def test_are_read_and_filled(self):
        names = {(i, k): self.write_tile(i, k) for i in range(self.N) for k in range(self.N)}
        run("index", "-q", *(name for at, name in names.items() if at not in ((1, 2), (2, 1))),
            "--along", "time", "--along", "step", "-o", "all.json")
        for selection, times, steps in (("time=#1:#2,step=#1:#2", (1, 2), (1, 2)), ("time=#2,step=1", (2,), (1,)),
                                        ("time=#0,step=#0:#1", (0,), (0, 1)), ("step=#2", (0, 1, 2), (2,)),
                                        ("time=2020-01-02,step=#0:#2", (1,), (0, 1, 2))):
            for verb in "convert", "combine":
                with self.subTest(selection, verb=verb):
                    run(verb, "all.json", "-v", f"v[{selection}]", "-o", "part.json")
                    run("check", "part.json", "--deep")
                    expected = np.array([[np.full((3, 4), np.nan) if (i, k) in ((1, 2), (2, 1)) else self.value(i, k)
                                          for k in steps] for i in times])
                    found = read("part.json", "v")
                    np.testing.assert_array_equal(np.where(found > 1e30, np.nan, found), expected)
                    missing = [(i, k) for i, k in ((1, 2), (2, 1)) if i in times and k in steps]
                    if len(times) == 1 or len(steps) == 1 or not missing:
                        continue  # a part of one step is no longer joined along that dimension
                    run("append", "-q", "part.json", *(names[at] for at in missing))
                    np.testing.assert_array_equal(read("part.json", "v"), [[self.value(i, k) for k in steps] for i in times])


class ByGdal(Folder):
    """Sets that GDAL writes beside data files."""

    def test_a_copy_of_a_data_file_is_its_set(self):
        self.write("a.nc", [0, 1])
        run("index", "a.nc", "-o", "wanted.json")
        source = gdal.OpenEx('NETCDF:"a.nc":t', gdal.OF_RASTER)
        for name in ("t.json", "t.parq"):
            self.assertIsNotNone(gdal.GetDriverByName("REFS").CreateCopy(name, source))
            self.expect_hours(name, [0, 1])
        names = {key.split("/")[0] for key in json.loads(content("t.json"))["refs"] if "/" in key}
        self.assertEqual(names, {".zsources", "t", "time", "time_bnds", "x", "y"})
        gdal.Translate("all.json", gdal.OpenEx('REFS:"a.nc"', gdal.OF_RASTER), format="REFS")
        run("diff", "all.json", "wanted.json")

    def test_open_options_are_not_dropped(self):
        self.write("a.nc", [0, 1])
        for name, options in (('REFS:"a.nc":/t?LONGITUDES=-180', []), ('REFS:"a.nc":/t', ["LONGITUDES=-180"]),
                              ("REFS:a.nc:t", ["MISSING=FILL"])):
            source = gdal.OpenEx(name, gdal.OF_RASTER, open_options=options)
            with self.assertRaisesRegex(RuntimeError, "sets cannot record open options, found (LONGITUDES=-180|MISSING=FILL): .*LAYOUT"):
                gdal.Translate("t.json", source, format="REFS")
        self.assertEqual(os.listdir(), ["a.nc"])

    def test_what_is_no_data_file_is_refused_in_words(self):
        self.write("a.nc", [0, 1])
        with self.assertRaisesRegex(RuntimeError, "LAYOUT=CFA"):
            gdal.Translate("t.json", 'NETCDF:"a.nc":t', format="REFS", srcWin=[0, 0, 2, 2])
        self.assertEqual(os.listdir(), ["a.nc"])

    def test_one_variable_is_copied_however_it_is_named(self):
        self.write("a.nc", [0, 1])
        with netCDF4.Dataset("a.nc", "a") as file:
            file.createVariable("other", "f4", ("time", "y", "x"))[:] = 1
        for name in ('NETCDF:"a.nc":t', "NETCDF:a.nc:t", 'REFS:"a.nc":/t', "REFS:a.nc:t"):
            gdal.Translate("t.json", name, format="REFS")
            refs = json.loads(content("t.json"))["refs"]
            self.assertIn("t/.zarray", refs, name)
            self.assertNotIn("other/.zarray", refs, name)

    def test_a_copy_of_a_selection_is_refused_in_words(self):
        self.write("a.nc", [0, 1])
        for name in ("REFS:a.nc:t[time=#1]", 'REFS:"a.nc":/t[time=#1]'):
            with self.assertRaisesRegex(RuntimeError, "whole arrays.*t.time=#1.*LAYOUT=NETCDF4"):
                gdal.Translate("t.json", name, format="REFS")
        self.assertEqual(os.listdir(), ["a.nc"])

    def test_a_copy_that_is_called_as_data_is_refused(self):
        self.write("a.nc", [0, 1])
        with self.assertRaisesRegex(RuntimeError, "b.nc: unknown file extension"):
            gdal.Translate("b.nc", "NETCDF:a.nc:t", format="REFS")


class OverHttp(Folder):
    """Sources that a server has."""

    advice = "where files moved, refs convert SET -o NEW --rewrite 'OLD=>NEW' writes a set that names them)"

    def setUp(self):
        super().setUp()
        self.names = [self.write(f"{hour}.nc", [hour]) for hour in range(4)]
        for hour, name in enumerate(self.names):
            os.utime(name, (1e9 + hour, 1e9 + hour))
        server = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                              "../server/range_server.py")
        self.server = subprocess.Popen([sys.executable, server, self.folder, "log", "--latency-ms",
                                        "10"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       text=True)
        self.url = f"http://127.0.0.1:{int(self.server.stdout.readline())}/"

    def tearDown(self):
        self.server.stdin.close()
        self.server.stdout.close()
        self.server.wait()
        super().tearDown()

    def test_urls_are_indexed_and_checked(self):
        run("index", *[self.url + name for name in self.names], "-o", "all.json")
        self.assertEqual(json.loads(content("all.json"))["refs"]["t/0.0.0"][0], self.url + "0.nc")
        self.expect_hours("all.json", range(4))
        run("index", *self.names, "-o", "local.json")
        run("convert", "local.json", "--rewrite", os.path.realpath(self.folder) + "/=>" + self.url,
            "-o", "moved.json")
        run("diff", "all.json", "moved.json")
        self.assertIn("0 problems", run("check", "all.json"))
        os.truncate("2.nc", 500)
        self.assertIn("2.nc: ", run("check", "all.json", status=1))

    def requests(self):
        with open("log", encoding="utf-8") as log:
            return len(log.readlines())

    def test_what_was_interrupted_is_gone_on_with_by_a_request_a_file(self):
        urls = [self.url + name for name in self.names]
        run("index", *urls, "--along", "time", "-o", "whole.json")
        whole = self.requests()
        run("index", *urls, self.url + "gone.nc", "--along", "time", "--threads", "1", "--resume", "-o", "all.json", status=1)
        before = self.requests()
        run("index", *urls, "--along", "time", "--resume", "-o", "all.json")
        self.assertLessEqual(self.requests() - before, min(whole, len(urls)))
        self.assertEqual(content("all.json"), content("whole.json"))
        run("index", *urls, self.url + "gone.nc", "--along", "time", "--threads", "1", "--resume", "-o", "b.json", status=1)
        self.write("1.nc", [7])
        run("index", *urls, "--along", "time", "--resume", "-o", "b.json")
        run("index", *urls, "--along", "time", "-o", "whole.json")
        self.assertEqual(content("b.json"), content("whole.json"))
        self.assertEqual(glob.glob("*.resume"), [])

    def test_chunks_of_an_unknown_packing_are_not_all_fetched(self):
        with open("a.grib", "wb") as file:
            file.write(b"GRIB\0\0\0\x09" + (60).to_bytes(8, "big") + 40 * b"\0" + b"7777")
        refs = {".zgroup": '{"zarr_format":2}',
                "v/.zarray": json.dumps({"zarr_format": 2, "shape": [200], "chunks": [1], "dtype": "<f8", "compressor": None,
                                         "filters": [{"id": "grib", "var": "values", "dtype": "float64"}],
                                         "fill_value": None, "order": "C"})}
        for i in range(200):
            refs[f"v/{i}"] = [self.url + "a.grib", 0, 60]
        with open("g.json", "w", encoding="utf-8") as file:
            json.dump(refs, file)
        said = run("check", "g.json", "--deep", "--threads", "4", status=1)
        self.assertIn("0 problems, 1 array not decoded\n", said)
        self.assertEqual(said.count("GRIB edition 9"), 1)
        self.assertLess(self.requests(), 20)

    def test_a_source_that_is_not_there_is_named(self):
        said = run("index", self.url + "gone.nc", "-o", "all.json", status=1)
        self.assertIn("gone.nc", said)
        self.assertIn("404", said)

    def test_messages_name_urls_as_they_were_written_and_no_secret(self):
        run("index", self.url + "0.nc", "-o", "a.json")
        run("convert", "a.json", "--rewrite", f"{self.url}=>{self.url.replace('//', '//me:secret@')}gone/", "-o", "gone.json")
        said = run("cat", "gone.json", "t/0.0.0", status=1)
        self.assertIn(f": {self.url}gone/0.nc ", said)
        self.assertIn(self.advice, said)
        for form in [], ["--json"]:
            said = run("check", "gone.json", *form, status=1)
            self.assertIn(f"{self.url}gone/0.nc", said)
            self.assertNotIn("secret", said)
        said = run("index", self.url + "0.nc", self.url + "gone.nc?key=secret", self.url + "1.nc", "--skip-errors", "-o", "b.json", status=1)
        self.assertIn(f"left out: {self.url}gone.nc: ", said)
        self.assertNotIn("secret", said)


class Refusals(Folder):
    def test_of_files_that_moved_the_verb_is_named_that_rewrites_their_names(self):
        run("index", self.write("a.nc", [0]), "-o", "a.json")
        os.rename("a.nc", "b.nc")
        said = run("cat", "a.json", "t/0.0.0", status=1)
        self.assertIn("No such file or directory (" + OverHttp.advice, said)
        self.assertNotIn("-oo ", said)
        folder = os.path.realpath(self.folder)
        run("convert", "a.json", "-o", "b.json", "--rewrite", f"{folder}/a=>{folder}/b")
        self.expect_hours("b.json", [0])

    def test_packing_that_differs_is_named(self):
        self.write("a.nc", [0])
        self.write("b.nc", [1], scale=0.25)
        said = run("index", "a.nc", "b.nc", "--strict", "-o", "all.json", status=1)
        for part in ("a.nc", "b.nc", "t differs between", "scale_factor 0.5 and 0.25"):
            self.assertIn(part, said)
        self.assertFalse(os.path.exists("all.json"))

    def test_chunks_that_differ_are_named(self):
        self.write("a.nc", [0, 1])
        self.write("b.nc", [2, 3], t_chunk=2)
        self.assertIn("chunks [1,3,4] and [2,3,4]",
                      run("index", "a.nc", "b.nc", "--strict", "-o", "all.json", status=1))

    def test_chunks_that_would_be_cut_are_named(self):
        self.write("a.nc", [0, 1, 2], t_chunk=2)
        self.write("b.nc", [3, 4], t_chunk=2)
        self.assertIn("a.nc: its 3 steps along time",
                      run("index", "a.nc", "b.nc", "--strict", "-o", "all.json", status=1))
        run("index", "b.nc", self.write("c.nc", [5], t_chunk=2), "-o", "all.json")
        self.expect_hours("all.json", [3, 4, 5])

    def test_steps_that_two_files_have_are_named(self):
        self.write("a.nc", [0, 1])
        self.write("b.nc", [1, 2])
        said = run("index", "a.nc", "b.nc", "-o", "all.json", status=1)
        for part in ("a.nc", "b.nc", "duplicate step 1 of time (2020-01-01T01:00:00)"):
            self.assertIn(part, said)

    def test_values_in_the_set_that_two_files_have_are_named(self):
        for i, (begin, value) in enumerate(((0, 1), (0, 2), (2, 3))):
            with netCDF4.Dataset(f"{i}.nc", "w") as file:
                for dim, n in (("time", None), ("y", 2), ("x", 3)):
                    file.createDimension(dim, n)
                file.createVariable("time", "f8", ("time",))[:] = [begin, begin + 1]
                file["time"].units = "days since 2000-01-01"
                w = file.createVariable("w", "f4", ("time", "y", "x"), chunksizes=(1, 2, 3), zlib=True)
                w[:] = value
        for name in ("all.json", "all.nc"):
            for names in (["0.nc", "1.nc", "2.nc"], ["1.nc", "0.nc", "2.nc"]):
                said = run("index", *names, "-o", name, status=1)
                self.assertRegex(said, rf"w: (duplicate step 0 of time \(2000-01-01T00:00:00\) in|values of step 0 of time \(2000-01-01T00:00:00\) differ between) {names[0]} and {names[1]}: remove")
                self.assertFalse(os.path.exists(name))

    def test_dimensions_of_one_length_in_another_order_are_named(self):
        def make(name, hour, dims):
            with netCDF4.Dataset(name, "w") as file:
                file.createDimension("time", None)
                file.createVariable("time", "f8", ("time",))[:] = [hour]
                file["time"].units = "hours since 2020-01-01"
                for dim in ("lat", "lon", "level"):
                    file.createDimension(dim, 4)
                file.createVariable("v", "f4", ("time", *dims))[0] = np.arange(16).reshape(4, 4)
            run("index", name, "-q", "-o", name + ".json")

        make("0.nc", 0, ("lat", "lon"))
        for dims in (("lon", "lat"), ("lat", "level")):
            make("1.nc", 1, dims)
            shapes = f"(time 1, lat 4, lon 4) and (time 1, {dims[0]} 4, {dims[1]} 4)"
            verbs = [("index", "0.nc", "1.nc", "-o", f"all.{end}") for end in ("json", "parq", "nc")]
            verbs += [("combine", "0.nc.json", "1.nc.json", "--along", "time", "-o", "all.json"),
                      ("combine", "--format", "cfa", "0.nc", "1.nc", "--along", "time", "-o", "all.nca")]
            for verb in verbs:
                said = run(*verb, status=1)
                if "this build cannot write netCDF" in said:
                    continue
                self.assertIn("v has different dimensions in 0.nc", said, verb)
                self.assertIn(" and 1.nc", said, verb)
                self.assertIn(shapes, said, verb)
                self.assertFalse(os.path.exists(verb[-1]), verb)
            before = content("0.nc.json")
            self.assertIn(shapes, run("append", "0.nc.json", "1.nc", status=1))
            self.assertEqual(content("0.nc.json"), before)
            with self.assertRaisesRegex(RuntimeError, re.escape(shapes)):
                read("[01].nc", "v")

    def test_coordinates_that_do_not_agree_are_named(self):
        self.write("a.nc", [0])
        self.write("b.nc", [1], x=1)
        self.assertIn("element 0 of x is 0 and 1", run("index", "a.nc", "b.nc", "--along", "time", "-o",
                                         "all.json", status=1))

    def test_gaps_are_told(self):
        names = [self.write(f"{hour}.nc", [hour]) for hour in (0, 1, 2, 5, 6, 7)]
        done = subprocess.run([REFS, "index", *names, "-o", "all.json"], capture_output=True,
                              text=True, check=True)
        self.assertIn("time: 1 gap between 2020-01-01T02:00:00 (2.nc)", done.stderr)

    def test_tiles_that_are_not_there_are_named(self):
        names = [self.write(f"{hour}{y}.nc", [hour], y=6 * y) for hour in (0, 1, 2, 5, 6, 7) for y in (0, 1)]
        along = ("--along", "time", "--along", "y")
        for missing in (["21.nc"], ["21.nc", "50.nc"], ["20.nc", "21.nc"]):
            there = [name for name in names if name not in missing]
            done = subprocess.run([REFS, "index", *there, *along, "-o", "all.json"], capture_output=True, text=True,
                                  check=True)
            self.assertIn("time: 1 gap between 2020-01-01T0" + "12"[missing[0] == "21.nc"], done.stderr)
            self.assertEqual("no source has time 2020-01-01T02:00:00, y 6 to 11" in done.stderr, missing[0] == "21.nc")
            self.assertEqual("; time 2020-01-01T05:00:00, y 0 to 5 (2 of 12 tiles)" in done.stderr, missing[-1] == "50.nc")
        whole = subprocess.run([REFS, "index", *names, *along, "-o", "all.json"], capture_output=True,
                               text=True, check=True)
        self.assertNotIn("no source has", whole.stderr)
        for name in names[:11]:
            run("index", name, *along, "-q", "-o", name + ".json")
        done = subprocess.run([REFS, "combine", *(name + ".json" for name in names[:11]), *along, "-o", "all.parq"],
                              capture_output=True, text=True, check=True)
        self.assertIn("no source has time 2020-01-01T07:00:00, y 6 to 11 (1 of 12 tiles)", done.stderr)
        self.assertIn("no source has time 2020-01-01T07:00:00, y 6 to 11", self.index_as_master(*names[:11], *along))

    def test_a_bad_file_is_left_out_where_asked_for(self):
        self.write("a.nc", [0])
        self.write("c.nc", [1])
        with open("b.nc", "wb") as file:
            file.write(content("a.nc")[:300])
        said = run("index", "a.nc", "b.nc", "c.nc", "-o", "all.json", status=1)
        self.assertIn("b.nc", said)
        self.assertFalse(os.path.exists("all.json"))
        said = run("index", "a.nc", "b.nc", "c.nc", "-s", "-o", "all.json", status=1)
        self.assertIn("left out: b.nc", said)
        self.expect_hours("all.json", [0, 1])

    def test_a_source_that_is_not_there_is_named(self):
        self.assertIn("gone.nc", run("index", "gone.nc", "-o", "a.json", status=1))
        self.assertIn("*.nc", run("index", "*.nc", "-o", "a.json", status=1))
        self.assertEqual(os.listdir(), [])

    def test_a_place_that_cannot_be_written_is_named(self):
        self.write("a.nc", [0])
        said = run("index", "a.nc", "-o", "nowhere/a.parq", status=1)
        self.assertIn("nowhere/a.parq", said)
        self.assertEqual(said.count("\n"), 1)

    def test_calendars_that_differ_are_named(self):
        self.write("a.nc", [0])
        self.write("b.nc", [1], calendar="360_day")
        said = run("index", "a.nc", "b.nc", "-o", "all.json", status=1)
        self.assertIn('"hours since 2020-01-01" (360_day)', said)

    def test_the_first_and_the_last_source_are_left_out_where_asked_for(self):
        for i in range(4):
            self.write(f"{i}.nc", [i])
        for name in ("0.nc", "3.nc"):
            with open(name, "r+b") as file:
                file.truncate(500)
        said = run("index", "1.nc", "gone.nc", "--skip-errors", "-o", "one.json", status=1)
        self.assertNotIn("are the same", said)
        self.assertTrue(os.path.exists("one.json"), "the one that can be read is joined with nothing")
        run("index", "0.nc", "1.nc", "2.nc", "3.nc", "--skip-errors", "-o", "all.json", status=1)
        self.expect_hours("all.json", [1, 2])

    def test_folders_hold_other_things_than_sources(self):
        os.mkdir("in")
        self.write("in/a.nc", [0])
        self.write("in/b.nc", [1])
        os.mkfifo("in/pipe.nc")
        os.symlink("..", "in/loop")
        for _ in range(2):  # the second time the set is there, too
            run("index", "in", "-o", "in/all.json")
            self.expect_hours("in/all.json", [0, 1])

    def test_a_folder_of_a_set_that_holds_other_files_is_not_replaced(self):
        for i in range(3):
            self.write(f"{i}.nc", [i])
        self.write("before.nc", [-1])
        run("index", "0.nc", "1.nc", "-o", "s.parq")
        others = ("s.parq/notes.txt", "s.parq/mine/d.csv", "s.parq/tas/keep.parq")
        for name in others:
            os.makedirs(os.path.dirname(name), exist_ok=True)
            with open(name, "w", encoding="utf-8") as file:
                file.write(name)
        for arguments in (("index", "0.nc", "1.nc", "-o", "s.parq"), ("convert", "s.parq", "-o", "s.parq"),
                          ("append", "s.parq", "before.nc")):
            with self.subTest(arguments):
                said = run(*arguments, status=1)
                self.assertIn("not replaced: expected only files of a Parquet set, found ", said)
                for name in others:
                    self.assertIn(name[len("s.parq/"):], said)
                    self.assertTrue(os.path.exists(name), name)
                self.expect_hours("s.parq", [0, 1])
        run("append", "s.parq", "2.nc")  # replaces no folder
        self.expect_hours("s.parq", [0, 1, 2])
        self.assertIn("not replaced", run("index", "gone.nc", "-o", "s.parq", status=1))  # asked first
        for name in others:
            os.remove(name)
        os.rename("s.parq/t/refs.0.parq", "s.parq/t/refs.0.parquet")
        run("index", "0.nc", "1.nc", "-o", "s.parq")
        self.expect_hours("s.parq", [0, 1])
        os.remove("s.parq/.zmetadata")  # so it is no set
        self.assertIn("refs.0.parq", run("index", "0.nc", "-o", "s.parq", status=1))

    def test_where_a_key_is_shows_no_secrets(self):
        refs = {".zgroup": '{"zarr_format":2}', "v/0": ["http://u:SECRET@127.0.0.1:1/a.nc?sig=SECRET", 0, 8],
                "v/.zarray": json.dumps({"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "<f8", "fill_value": None,
                                         "order": "C", "compressor": None, "filters": None})}
        with open("s.json", "w", encoding="utf-8") as file:
            json.dump({"version": 1, "refs": refs}, file)
        for arguments in (("info", "s.json", "v/0"), ("info", "--json", "s.json", "v/0")):
            done = subprocess.run([REFS, *arguments], capture_output=True, text=True, check=True)
            self.assertNotIn("SECRET", done.stdout + done.stderr)
            self.assertIn("http://127.0.0.1:1/a.nc", done.stdout)

    def test_what_was_left_behind_is_no_source(self):
        os.mkdir("data")
        names = [self.write(f"data/{hour}.nc", [hour]) for hour in range(2)]
        for name in ("all.json", "all.parq"):
            run("index", *names, "-o", name)
            shutil.move(name, f"data/{name}.tmp-12-0")
        with open("data/cut.json.tmp-3-14", "wb") as file:
            file.write(b'{"version":1,"refs":{')
        shutil.copytree("data/all.parq.tmp-12-0", "data/all.parq.tmp-12-0.old")
        os.mkdir("data/all.json.resume")
        run("index", names[0], "-o", "data/all.json.resume/0123456789abcdef.json")
        for sources in ("data", "data/*"):
            done = subprocess.run([REFS, "index", sources, "-o", "all.json"], capture_output=True,
                                  text=True, check=True)
            self.expect_hours("all.json", range(2))
            for name in ("all.json.tmp-12-0", "all.parq.tmp-12-0", "cut.json.tmp-3-14"):
                self.assertIn(f"{name} in data", done.stderr)
        gdal.PushErrorHandler("CPLQuietErrorHandler")
        self.assertEqual(read("data", "t").shape[0], 2)
        gdal.PopErrorHandler()

    def test_what_is_written_through_a_link_is_where_that_leads_to(self):
        self.write("a.nc", [0])
        os.mkdir("sets")
        for name in ("a.json", "a.parq"):
            os.symlink(f"sets/{name}", "link")
            os.symlink("link", name)
            for _ in range(2):  # the second time the target is there
                run("index", "a.nc", "-o", name)
                self.assertTrue(os.path.islink(name))
                self.expect_hours(f"sets/{name}", [0])
                self.expect_hours(name, [0])
            os.remove("link")
        self.assertEqual(sorted(os.listdir("sets")), ["a.json", "a.parq"])
        os.symlink("circle", "circle")
        self.assertIn("symbolic links", run("index", "a.nc", "-o", "circle", status=1))

    def test_names_that_readers_would_not_read_back_are_refused(self):
        self.write("a.nc", [0])
        os.link("a.nc", "a{{b}}.nc")
        os.link("a.nc", b"a\xff.nc")
        for form in ("all.json", "all.parq"):
            self.assertIn('treat "{{" as', run("index", "a{{b}}.nc", "-o", form, status=1))
            self.assertIn("must be UTF-8", run("index", b"a\xff.nc", "-o", form, status=1,
                                              errors="replace"))
        os.link("a.nc", "a{b}.nc")
        folder = os.path.realpath(self.folder)
        run("index", "a{b}.nc", "-o", "all.json", "--template", f"u={folder}/")
        self.expect_hours("all.json", [0])
        self.assertIn(f'"{folder}/a{{b}}.nc"', content("all.json").decode())

    def test_times_that_are_none_are_named(self):
        self.write("a.nc", [0])
        self.write("b.nc", [1])
        for value, text in ((np.nan, "nan"), (9.969209968386869e36, "9.969")):
            with netCDF4.Dataset("b.nc", "a") as file:
                file["time"][:] = value
            said = run("index", "a.nc", "b.nc", "-o", "all.json", status=1)
            self.assertIn(f"b.nc: time[0] is {text}", said)

    def test_what_does_nothing_is_told(self):
        self.write("a.nc", [0])
        done = subprocess.run([REFS, "index", "a.nc", "-w", "/no=>/yes", "-o", "a.json"],
                              capture_output=True, text=True, check=True)
        self.assertIn("--rewrite /no=>/yes: no source has this prefix", done.stderr)
        self.assertIn("expected OLD=>NEW", run("index", "a.nc", "-w", "x", "-o", "b.json", status=2))

    def test_output_that_cannot_be_written_is_a_failure(self):
        for arguments in (["--help"], ["index", "--help"], ["help", "man"], ["--version"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([REFS, *arguments], stdout=full, stderr=subprocess.PIPE,
                                      text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("cannot be written", done.stderr)

    def test_devices_are_not_replaced(self):
        self.write("a.nc", [0])
        os.mkfifo("pipe")
        self.assertIn("a device or a pipe", run("index", "a.nc", "-o", "pipe", status=2))
        self.assertIn("standard output", run("index", "a.nc", "-o", "-", status=2))
        self.assertFalse(os.path.exists("-"))

    def test_ends_of_names_tell_formats_or_are_refused(self):
        self.write("a.nc", [0])
        for name in ("a.tif", "a.zarr", "a.kerchunk.txt"):
            for verb in ("index", "combine", "convert"):
                said = run(verb, "a.nc", "-o", name, status=2)
                self.assertIn(f"{name}: unknown file extension: expected .json", said)
                self.assertIn(".nc or .nca", said)
        for name in ("a.json", "a", "s3://bucket/a.parq"):
            said = run("combine", "--format", "cfa", "a.nc", "-o", name, status=2)
            self.assertIn(f"{name}: unknown file extension: expected .nc or .nca for a master", said)
        self.assertIn("write a local file, and copy it", run("index", "a.nc", "-o", "s3://bucket/a.json", status=2))
        self.assertEqual(os.listdir(), ["a.nc"])
        for name in ("set", "set.json", "set.gz", "set.zst", "set.parquet", "folder/"):
            run("index", "a.nc", "-o", name)
            self.expect_hours(name, [0])
        os.rename("set.json", "set.ref")
        run("append", "set.ref", self.write("b.nc", [1]), "--along", "time")
        self.expect_hours("set.ref", [0, 1])

    def test_data_files_are_not_written_over(self):
        self.write("a.nc", [0])
        before = content("a.nc")
        self.assertIn("would overwrite a data file", run("index", "a.nc", "-o", "a.nc", status=2))
        said = "a.nc: expected a set, found a data file: refs index makes a set"
        self.assertIn(said, run("append", "a.nc", "a.nc", status=2))
        self.assertEqual(content("a.nc"), before)

    def test_a_full_disk_leaves_nothing(self):
        self.write("a.nc", list(range(400)))
        for name in ("a.json", "a.parq"):
            said = run("index", "a.nc", "--inline", "1000", "-o", name, status=1,
                       preexec_fn=lambda: __import__("resource").setrlimit(
                           __import__("resource").RLIMIT_FSIZE, (8192, 8192)))
            self.assertIn("cannot be written", said)
            self.assertEqual(said.count("\n"), 1)
            self.assertEqual(os.listdir(), ["a.nc"])

    def test_an_interruption_leaves_nothing(self):
        self.write("a.nc", [0])
        pipe = os.path.join(self.folder, "list")
        os.mkfifo(pipe)
        for number in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([REFS, "index", "-", "-o", "a.json"], stdin=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as process:
                time.sleep(0.2)
                process.send_signal(number)
                self.assertEqual(process.communicate(b"a.nc\n")[1], b"refs: interrupted\n")
                self.assertEqual(process.returncode, -number)
        self.assertEqual(sorted(os.listdir()), ["a.nc", "list"])

    def test_the_command_line_is_checked(self):
        self.assertIn("unknown verb", run("frobnicate", status=2))
        self.assertIn("index: unknown option --json", run("index", "--json", "a.nc", status=2))
        self.assertIn("-o NAME", run("index", "a.nc", status=2))
        self.assertIn("needs a value", run("index", "a.nc", "-o", status=2))


class Other(Folder):
    def test_values_may_stand_behind_the_letter_of_an_option(self):
        names = [self.write(f"{day}.nc", [24 * day]) for day in range(2)]
        run("index", "-j1", "-atime", "-vt", *names, "-oall.json")
        run("index", "-j=1", "-a=time", "-v=t", *names, "-o=again.json")
        run("index", "-j", "1", "-a", "time", "-v", "t", *names, "-o", "apart.json")
        self.assertEqual(content("all.json"), content("apart.json"))
        self.assertEqual(content("again.json"), content("apart.json"))
        self.assertIn("-x1", run("ls", "-x1", "all.json", status=2))
        run("index", "-qr", *names, "-roagain.json")
        self.assertNotIn(os.getcwd().encode(), content("again.json"))
        self.assertIn("--relative", run("index", "-r=o", *names, status=2))

    def test_append_names_files_as_the_set_does(self):
        names = [self.write(f"{hour}.nc", [hour]) for hour in range(3)]
        for name in ("named.json", "named.parq"):
            run("index", *names[:2], "-r", "-q", "-o", name)
            self.assertNotIn(os.getcwd().encode(), content(name))
            run("append", name, names[2], "-q")
            self.assertNotIn(os.getcwd().encode(), content(name))
            self.expect_hours(name, range(3))

    def test_append_takes_values_from_names_of_new_sources_alone(self):
        names = [self.write(f"t_2021{month:02}07.nc", [0]) for month in (1, 2, 3, 4)]
        pattern = ("--pattern", "t_{run:%Y%m%d}.nc", "-q")
        run("index", *names, *pattern, "-o", "all.json")
        for name in ("some.json", "t_20210807.nc.json", "some.parq"):
            run("index", *names[:2], *pattern, "-o", name)
            run("append", name, names[2], *pattern)
            run("append", name, names[3], *pattern)
            np.testing.assert_array_equal(read(name, "run"), read("all.json", "run"))
            np.testing.assert_array_equal(read(name, "t"), read("all.json", "t"))
        self.assertEqual(content("some.json"), content("all.json"))
        self.assertIn("a.nc", run("append", "some.json", self.write("a.nc", [0]), *pattern, status=1))

    def test_append_adds_steps(self):
        names = [self.write(f"{hour}.nc", [hour]) for hour in range(4)]
        for name in ("all.json", "all.parq"):
            run("index", *names, "-o", name)
            run("index", *names[:2], "-o", "some-" + name)
            run("append", "some-" + name, names[2])
            run("append", "some-" + name, names[3], "--along", "time")
            self.expect_hours("some-" + name, range(4))
            if name == "all.parq":  # has its times in two chunks
                run("combine", "some-all.parq", "--along", "time", "-o", "some-all.parq")
            self.assertEqual(content("some-" + name), content(name))

    def test_append_needs_the_source_that_has_the_coordinates(self):
        names = [self.write(f"{hour}.nc", [hour]) for hour in range(4)]
        os.mkdir("moved")
        for name in ("all.json", "all.parq"):
            run("index", *names[:3], "-o", name)
            before = content(name)
            os.rename("0.nc", "moved/0.nc")
            said = run("append", name, names[3], status=1)
            for part in ("/0.nc", "combining reads this variable, and the set refers to that file for it"):
                self.assertIn(part, said)
            self.assertEqual(content(name), before)
            folder = os.path.realpath(self.folder)
            run("convert", name, "--rewrite", f"{folder}/0.nc=>{folder}/moved/0.nc", "-o", name)
            run("append", name, names[3])
            self.expect_hours(name, range(4))
            os.rename("moved/0.nc", "0.nc")

    def test_readers_never_see_half_a_set(self):
        names = [self.write(f"{hour}.nc", [hour]) for hour in range(8)]
        run("index", names[0], "--along", "time", "-o", "all.parq")
        with subprocess.Popen(["sh", "-c", 'for i in 1 2 3 4 5 6 7; do "$0" append all.parq $i.nc '
                               '--along time || exit; done', REFS]) as appending:
            seen = set()
            while appending.poll() is None:
                seen.add(next(array["shape"][0] for array in json.loads(run("ls", "all.parq", "--json"))
                              if array["path"] == "/t"))
        self.assertEqual(appending.returncode, 0)
        self.assertLessEqual(seen, set(range(1, 9)))
        self.expect_hours("all.parq", range(8))
        self.assertEqual(sorted(os.listdir()), sorted([*names, "all.parq"]))

    def test_convert_changes_the_form_and_nothing_else(self):
        run("index", self.write("a.nc", [0, 1, 2]), "-o", "a.json")
        run("convert", "a.json", "-o", "a.parq", "--record-size", "7")
        run("convert", "a.parq", "-o", "b.json")
        self.assertEqual(content("a.json"), content("b.json"))
        run("convert", "a.json", "--set-version", "0", "-o", "v0.json")
        self.assertNotIn("version", json.loads(content("v0.json")))
        run("convert", "a.json", "--objects", "--template", "u=/", "-o", "c.json")
        self.assertIsInstance(json.loads(content("c.json"))["refs"]["t/.zarray"], dict)
        self.expect_hours("c.json", [0, 1, 2])
        folder = os.path.realpath(self.folder)
        run("convert", "a.json", "--rewrite", f"{folder}/=>https://host/", "-o", "d.json")
        moved = json.loads(content("d.json"))
        self.assertEqual(moved["refs"]["t/0.0.0"][0], "https://host/a.nc")
        sources = json.loads(moved["refs"][".zsources/.zattrs"])["sources"]
        self.assertEqual(sources[0]["url"], "https://host/a.nc")
        self.assertEqual(sources[0]["size"], os.path.getsize("a.nc"))

    def test_rewrites_fit_the_names_that_a_set_has_and_that_are_shown(self):
        run("index", self.write("a.nc", [0, 1, 2]), "-o", "a.json")
        folder = os.path.realpath(self.folder)
        document = json.loads(content("a.json"))
        for value in document["refs"].values():
            if isinstance(value, list):
                value[0] = f"file://{folder}/a.nc"
        with open("b.json", "w", encoding="utf-8") as file:
            json.dump(document, file)
        for old in (f"file://{folder}/", f"{folder}/"):
            run("convert", "b.json", "--rewrite", f"{old}=>https://host/", "-o", "c.json")
            self.assertEqual(json.loads(content("c.json"))["refs"]["t/0.0.0"][0], "https://host/a.nc")

    def test_prefixes_that_a_file_maps_are_replaced(self):
        run("index", self.write("a.nc", [0]), "-o", "a.json")
        folder = os.path.realpath(self.folder)
        for text, names in (({"/no/such/": "https://other/", f"{folder}/": "https://host/"}, "https://host/a.nc"),
                            ({f"{folder}/": "s3://bucket/é/"}, "s3://bucket/é/a.nc")):
            with open("map.json", "w", encoding="utf-8") as file:
                json.dump(text, file)
            run("convert", "a.json", "--uri-map", "map.json", "-o", "b.json")
            self.assertEqual(json.loads(content("b.json"))["refs"]["t/0.0.0"][0], names)
        for text, found in (("[]", "another value"), ('{"/a/": 1}', "a value that is no text"), ('{"": "b"}', "an empty prefix")):
            with open("map.json", "w", encoding="utf-8") as file:
                file.write(text)
            said = run("convert", "a.json", "--uri-map", "map.json", "-o", "c.json", status=2)
            self.assertIn('--uri-map: map.json: expected a JSON object of prefixes, such as {"/data/": "https://host/data/"}, '
                          f"found {found}", said)
        self.assertIn("--uri-map: none.json: ", run("convert", "a.json", "--uri-map", "none.json", "-o", "c.json", status=2))
        self.assertFalse(os.path.exists("c.json"))

    def test_generators_are_read_and_never_written(self):
        with netCDF4.Dataset("a.nc", "w") as file:
            file.createDimension("time", 100)
            file.createDimension("x", 5)
            both = [file.createVariable(name, "i4", ("time", "x"), chunksizes=(1, 5)) for name in "vw"]
            for i in range(100):
                for add, v in enumerate(both):
                    v.set_var_chunk_cache(0, 0, 0)
                    v[i] = np.arange(5) + 5 * i + add
        run("index", "a.nc", "-o", "a.json")
        for name in ("b.json", "b.parq"):
            said = subprocess.run([REFS, "index", "a.nc", "--generators", "-o", name], capture_output=True, text=True, check=True)
            self.assertIn("--generators has no effect", said.stderr)
            run("diff", "a.json", name)
        self.assertEqual(content("a.json"), content("b.json"))
        whole = json.loads(content("a.json"))
        self.assertNotIn("gen", whole)
        offsets = [whole["refs"][f"w/{i}.0"][1] for i in range(100)]
        url, last, length = whole["refs"]["w/99.0"]
        step = last - offsets[98]
        begin = next(i for i in range(100) if offsets[i:] == [last + (n - 99) * step for n in range(i, 100)])
        self.assertLess(begin, 90)
        for i in range(begin, 100):
            del whole["refs"][f"w/{i}.0"]
        whole["gen"] = [{"key": "w/{{i}}.0", "url": url, "offset": "{{%d + (i - 99) * %d}}" % (last, step),
                         "length": str(length), "dimensions": {"i": {"start": begin, "stop": 100}}}]
        with open("short.json", "w", encoding="utf-8") as file:
            json.dump(whole, file)
        run("diff", "a.json", "short.json")
        run("convert", "short.json", "-o", "again.json")
        self.assertEqual(json.loads(content("again.json"))["refs"].keys(), json.loads(content("a.json"))["refs"].keys())
        np.testing.assert_array_equal(read("short.json", "w"), np.arange(500).reshape(100, 5) + 1)

    def test_what_is_in_a_set_is_shown(self):
        run("index", self.write("a.nc", [0, 1, 2]), "-o", "a.json")
        for name in ("a.nc", "a.json"):
            listed = {array["path"]: array for array in json.loads(run("ls", name, "--json"))}
            self.assertEqual(listed["/t"]["shape"], [3, 6, 8])
            self.assertEqual(listed["/t"]["n_present"], 12)
            self.assertIn("12 of 12 chunks", run("ls", name))
        summary = json.loads(run("info", "a.json", "--json"))
        self.assertEqual((summary["sources"], summary["recorded"]), (1, 1))
        where = json.loads(run("info", "a.json", "t[2,5,7]", "--json"))
        self.assertEqual(where["key"], "t/2.1.1")
        with open("a.nc", "rb") as file:
            file.seek(where["offset"])
            wanted = file.read(where["length"])
        self.assertEqual(subprocess.run([REFS, "cat", "a.json", "t/2.1.1"], capture_output=True,
                                        check=True).stdout, wanted)
        self.assertIn("not in the set", run("cat", "a.json", "t/9.9.9", status=1))
        self.assertIn("expected", run("info", "a.json", "t[3,0,0]", status=1))

    def test_differences_are_told(self):
        names = [self.write(f"{hour}.nc", [hour]) for hour in range(3)]
        run("index", *names, "-o", "a.json")
        run("index", *names, "-o", "a.parq")
        run("diff", "a.json", "a.parq")
        run("index", *names[:2], "-o", "b.json")
        said = run("diff", "a.json", "b.json", status=1)
        self.assertIn("t/2.0.0: only in the first", said)
        self.assertIn("t/.zarray: other metadata", said)

    def test_sources_are_checked(self):
        names = [self.write(f"{hour}.nc", [hour]) for hour in range(4)]
        for name in ("a.json", "a.parq"):
            run("index", *names, "-o", name)
            self.assertIn("4 sources, 0 problems", run("check", name, "--deep"))
        os.utime("0.nc", (1, 1))
        os.truncate("1.nc", 500)
        os.remove("2.nc")
        with open("3.nc", "ab") as file:
            file.write(b"more")
        for name in ("a.json", "a.parq"):
            said = run("check", name, status=1)
            self.assertIn("0.nc: it was modified at 1970-", said)
            self.assertIn("1.nc: has 500 bytes, but /", said)
            self.assertIn("2.nc: ", said)
            self.assertIn("3.nc: it has", said)
            problems = [json.loads(line) for line in run("check", name, "--json",
                                                         status=1).splitlines()]
            self.assertGreaterEqual(len(problems), 4)

    def test_sources_that_nothing_refers_to_are_checked_too(self):
        names = [self.write(f"{hour}.nc", [hour]) for hour in range(3)]
        for options in ((), ("--relative",)):
            run("index", *names, *options, "-v", "time", "--inline", "4000", "-o", "times.json")
            run("index", *names, *options, "-o", "all.json")
            self.assertIn("3 sources, 0 problems", run("check", "all.json"))
            self.assertIn("3 sources (3 of them recorded", run("check", "times.json"))
        os.remove("1.nc")
        said = run("check", "times.json", status=1)
        self.assertIn("1.nc: ", said)
        self.assertIn("1 problem\n", said)

    def test_sources_that_changed_are_not_read(self):
        self.write("a.nc", [0])
        for name in ("a.json", "a.parq", "a.icechunk"):
            self.write("a.nc", [0])
            os.utime("a.nc", (1e9, 1e9))
            run("index", "a.nc", "-o", name)
            os.utime("a.nc", (2e9, 2e9))
            with self.assertRaisesRegex(RuntimeError, "modified at 2033-.*, before at 2001-"):
                read(name, "t")
            with open("a.nc", "ab") as file:
                file.write(b"more")
            for _ in range(2):
                with self.assertRaisesRegex(RuntimeError, r"has \d+ bytes, and had \d+ \(index it again\)"):
                    gdal.Open(f'REFS:"{name}":/t').ReadAsArray()
            messages = []
            gdal.PushErrorHandler(lambda _, __, text: messages.append(text))
            for way in ("WARN", "IGNORE"):
                dataset = gdal.OpenEx(f'REFS:"{name}":/t', open_options=[f"CHANGED={way}"])
                self.assertEqual(dataset.ReadAsArray()[-1, 1], 1)
            gdal.PopErrorHandler()
            self.assertEqual(len([text for text in messages if "bytes, and had" in text]), 1, messages)

    def test_files_of_mirrors_are_compared_by_size_or_as_the_user_says(self):
        os.mkdir("mirror")
        folder = os.path.realpath(self.folder)
        here = f"URL_REWRITE={folder}/=>{folder}/mirror/"

        def values(name, *options):
            return gdal.OpenEx(f'REFS:"{name}":/t', open_options=options).ReadAsArray().tolist()

        for name in "a.json", "a.parq", "a.icechunk", "m.nc":
            with self.subTest(name):
                self.write("a.nc", [0])
                os.utime("a.nc", (1e9, 1e9))
                run("index", "a.nc", "--along", "time", "-o", name)
                expected = values(name)
                shutil.copy("a.nc", "mirror/a.nc")
                os.utime("mirror/a.nc", (2e9, 2e9))
                self.assertEqual(values(name, here), expected)
                said = r"mirror/a\.nc: it changed .*: it was modified at 2033-.*reads it anyway"
                with self.assertRaisesRegex(RuntimeError, said):
                    values(name, here, "CHANGED=ERROR")
                with said_by_gdal() as messages:
                    self.assertEqual(values(name, here, "CHANGED=WARN"), expected)
                self.assertRegex(" ".join(messages), "mirror/a.nc changed .*: it was modified at 2033-")
                with open("mirror/a.nc", "ab") as file:
                    file.write(b"more")
                said = r"mirror/a\.nc: it changed .*: it has \d+ bytes, and had \d+ \(index it again\)"
                for options in (), ("CHANGED=ERROR",):
                    with self.assertRaisesRegex(RuntimeError, said):
                        values(name, here, *options)
                self.assertEqual(values(name, here, "CHANGED=IGNORE"), expected)
                gdal.SetConfigOption("REFS_URL_REWRITE", here.partition("=")[2])
                with self.assertRaisesRegex(RuntimeError, said):
                    values(name)
                gdal.SetConfigOption("REFS_URL_REWRITE", None)

    def test_sets_have_no_number_beyond_those_of_their_file(self):
        os.mkdir("files")
        self.write("files/a.nc", [0])
        for name in "a.json", "a.parq", "a.icechunk", "m.nc":
            run("index", "files/a.nc", "--along", "time", "-o", name)
        for name in "a.json", "a.parq", "a.icechunk", "m.nc", "files", "files/a.nc":
            with self.subTest(name):
                gdal.OpenEx(f'REFS:"{name}"', open_options=["SET=0"])
                with self.assertRaisesRegex(RuntimeError, "no set 7: this is a single set"):
                    gdal.OpenEx(f'REFS:"{name}"', open_options=["SET=7"])
                with self.assertRaisesRegex(RuntimeError, "no set 7: this is a single set"):
                    gdal.Open(f'REFS:"{name}":#7/t')
                if name != "files":
                    self.assertIn("no set 7: this is a single set", run("ls", name + "#set=7", status=1))

    def test_info_of_variables_lists_these(self):
        self.write("a.nc", [0])
        run("index", "a.nc", "-o", "a.json")
        self.assertRegex(run("info", "a.json", "-v", "t"), r"^/t  \(time \d+, .*\n$")
        for name in "tas", "t[time=#0]":
            self.assertIn(f"a.json: has no variable {name}: it has /", run("info", "a.json", "-v", name, status=1))

    def test_options_that_no_name_has_are_named(self):
        self.write("a.nc", [0])
        run("index", "a.nc", "-o", "a.json")
        for name, said in ((":/t?LONGITUDE=-180", "unknown open option LONGITUDE: did you mean LONGITUDES[?]"),
                           (":/t[time=#0]?LONGITUDE=-180", "unknown open option LONGITUDE: did you mean LONGITUDES[?]"),
                           (":/t?NONE_SUCH=1", "unknown open option NONE_SUCH$"),
                           (":/t?CHANGED=IGNORE", "a name cannot have the open option CHANGED: use -oo CHANGED=VALUE"),
                           ("?CHANGED=IGNORE", "a name cannot have the open option CHANGED: use -oo CHANGED=VALUE"),
                           (":/t?LONGITUDES=-180&CHANGED=WARN", "a name cannot have the open option CHANGED"),
                           (":/nope?LONGITUDES=-180", "there is no array /nope; ")):
            with self.subTest(name), self.assertRaisesRegex(RuntimeError, said):
                gdal.Open('REFS:"a.json"' + name)

    def test_fragments_that_vanished_are_read_with_a_warning_and_never_written(self):
        self.write("a.nc", range(0, 192, 24))
        run("split", "a.nc", "-o", "m.nca", "--subarray-shape", "time=1", "-q")
        names = [name for name in glob.glob("m/m.t.*.nc")]
        self.assertGreater(len(names), 2)
        for name in names[1:]:
            os.remove(name)
        with said_by_gdal() as messages:
            read("m.nca", "t")
        self.assertEqual(len(messages), 1, messages)
        self.assertIn("does not exist: its values are nodata, as are those of others that do not exist (", messages[0])
        self.assertIn("MISSING=FILL", messages[0])
        self.assertIn(f"{len(names) - 1} problems", run("check", "m.nca", status=1))
        said = run("split", "m.nca", "-o", "n.nca", "-q", status=1)
        self.assertIn("does not exist (named ", said)
        self.assertIn("REFS_MISSING=FILL in the environment", said)
        self.assertFalse(os.path.exists("n.nca"))
        run("split", "m.nca", "-o", "n.nca", "-q", env={**os.environ, "REFS_MISSING": "FILL"})
        with netCDF4.Dataset("m.nca", "a") as master:
            master.delncattr("_refs_sources")
        done = subprocess.run([REFS, "split", "m.nca", "-o", "o.nca", "-q"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr.count("its values are nodata"), 1, done.stderr)

    def test_append_says_whether_a_source_that_it_knows_has_changed(self):
        self.write("a.nc", [0])
        run("index", "a.nc", "--along", "time", "-o", "a.json")
        for options in (), ("--skip-errors",):
            with self.subTest(options=options):
                os.utime("a.nc", (1e9, 1e9))
                run("index", "a.nc", "--along", "time", "-o", "a.json")
                done = subprocess.run([REFS, "append", *options, "a.json", "a.nc"], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0 if options else 1)
                self.assertIn("refs: warning: 1 source left out: a.json has it, unchanged\n" if options else
                              "a.json already has this source, and it has not changed: leave it out", done.stderr)
                os.utime("a.nc", (2e9, 2e9))
                said = run("append", *options, "a.json", "a.nc", status=1)
                self.assertRegex(said, "changed.* it was modified at 2033-" if not options else
                                 "this source, and it has changed [(]it was modified at 2033-.*[)]: .*[(]refs index SOURCE[.]")

    def test_sources_that_changed_within_a_second_are_not_read(self):
        self.write("a.nc", [0])
        for name in ("a.json", "a.parq", "a.icechunk"):
            os.utime("a.nc", ns=(10**18, 10**18 + 123456789))
            run("index", "a.nc", "-o", name)
            for same in (123456000, 123456999, 0):  # copies keep microseconds, or seconds
                os.utime("a.nc", ns=(10**18, 10**18 + same))
                self.assertIn("0 problems", run("check", name))
                self.assertEqual(read(name, "t").ravel()[-1], 47)
            os.utime("a.nc", ns=(10**18, 10**18 + 123455789))
            said = "modified at 2001-09-09T01:46:40.123455Z, before at 2001-09-09T01:46:40.123456Z"
            self.assertIn(said, run("check", name, status=1))
            with self.assertRaisesRegex(RuntimeError, r"01:46:40\.123455Z"):
                read(name, "t")
        # Sets of old have seconds alone.
        text = content("a.json").replace(b',\\"modified_ns\\":123456789', b"")
        self.assertNotEqual(text, content("a.json"))
        with open("old.json", "wb") as file:
            file.write(text)
        self.assertIn("0 problems", run("check", "old.json"))
        self.assertEqual(read("old.json", "t").ravel()[-1], 47)

    def restore(self, *names):
        """Files as a backup has them: with the bytes that they had, on another day."""
        for name in names:
            os.utime(name, (1e9, 1e9))

    def test_changed_sources_are_refused_or_read_by_one_rule(self):
        """As the driver's option of this name says it; REFS_CHANGED in the environment is for what has no option."""
        for day in range(3):
            self.write(f"{day}.nc", [24 * day])
        run("index", "0.nc", "1.nc", "-o", "a.json")
        run("index", "2.nc", "-o", "2.json")
        value = subprocess.run([REFS, "cat", "a.json", "t/0.0.0"], capture_output=True, check=True).stdout
        self.restore("0.nc", "1.nc")
        verbs = [["cat", "a.json", "t/0.0.0"], ["split", "a.json", "-o", "m.nca"],
                 ["append", "grown.json", "2.nc"], ["combine", "grown.json", "2.nc", "-o", "c.json"],
                 ["convert", "a.json", "-o", "i.json", "--inline", "100000"],
                 ["combine", "a.json", "2.json", "-o", "i.json", "--inline", "100000"]]

        def attempt(verb, *options, **environment):
            shutil.copy("a.json", "grown.json")
            return subprocess.run([REFS, *verb, *options], capture_output=True, env={**os.environ, **environment})

        for verb in verbs:
            with self.subTest(verb[0]):
                for environment, options in (({}, ()), ({"REFS_CHANGED": "ERROR"}, ()),
                                             ({"REFS_CHANGED": "IGNORE"}, ("--changed", "error"))):
                    done = attempt(verb, *options, **environment)
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertIn(b"--changed WARN or IGNORE, or REFS_CHANGED in the environment, reads it anyway", done.stderr)
                for environment, options in (({"REFS_CHANGED": "ignore"}, ()), ({"REFS_CHANGED": "ERROR"}, ("--changed=IGNORE",))):
                    done = attempt(verb, *options, **environment)
                    self.assertEqual((done.returncode, done.stderr), (0, b""))
                done = attempt(verb, "--changed=WARN")
                self.assertEqual(done.returncode, 0)
                self.assertIn(b"refs: warning: ", done.stderr)
        self.assertEqual(attempt(verbs[0], "--changed=IGNORE").stdout, value)
        done = attempt(verbs[0], "--changed=SOMETIMES")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, b'refs: --changed: expected ERROR, WARN or IGNORE, found "SOMETIMES"\n')

    def test_a_check_compares_states_by_the_same_rule(self):
        self.write("0.nc", [0])
        run("index", "0.nc", "-o", "a.json")
        run("index", "0.nc", "--along", "time", "-o", "m.nc")
        self.restore("0.nc")
        for name in "a.json", "m.nc":
            for options in (), ("--deep",):
                with self.subTest(name, options=options):
                    said = run("check", name, *options, status=1)
                    self.assertEqual(said.count("it was modified at"), 1, said)
                    run("check", name, *options, "--changed=ERROR", status=1)
                    self.assertIn(" 0 problems", run("check", name, *options, "--changed=IGNORE"))
                    done = subprocess.run([REFS, "check", name, *options, "--changed=WARN"], capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stdout)
                    self.assertIn("it was modified at", done.stderr)
        with open("0.nc", "ab") as file:
            file.write(b"more")
        os.truncate("0.nc", 4000)
        self.assertIn("has 4000 bytes", run("check", "a.json", "--changed=IGNORE", status=1))

    def test_sources_with_a_colon_in_their_names_may_be_copied_with_their_set(self):
        os.mkdir("set")
        self.write("set/12:00.nc", [0])
        run("index", "set/12:00.nc", "--relative", "-o", "set/a.json")
        shutil.copytree("set", "copy")
        os.utime("copy/12:00.nc", (1e9, 1e9))
        messages = []
        gdal.PushErrorHandler(lambda _, __, text: messages.append(text))
        self.assertEqual(read("copy/a.json", "t").ravel()[-1], 47)
        gdal.PopErrorHandler()
        self.assertIn("modified at 2001-", " ".join(messages))

    def test_what_is_open_is_read_wherever_the_process_goes(self):
        for folder in ("one", "two"):
            os.mkdir(folder)
        os.chdir("one")
        self.write("a.nc", range(50))
        run("index", "a.nc", "--relative", "--record-size", "5", "-o", "a.parq")
        for name in ("a.parq", "a.nc"):
            os.chdir(os.path.join(self.folder, "one"))
            array = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("t")
            truth = read(name, "t")
            os.chdir(os.path.join(self.folder, "two"))
            np.testing.assert_array_equal(array.ReadAsArray(), truth)
            with self.assertRaisesRegex(RuntimeError, "No such file"):
                read(name, "t")
        os.chdir(self.folder)

    def test_messages_say_what_to_do(self):
        self.write("a.nc", [0])
        run("index", "a.nc", "-o", "a.parq")
        run("index", "a.nc", "-o", "a.json")
        os.mkdir("plain")
        with open("a.parq/t/refs.0.parq", "wb") as file:
            file.write(b"<!DOCTYPE html><html></html>")
        for name, said in (("a.parq", "expected a Parquet file, found a web page"),
                           ("a.json#branch=x", "a.json: expected an Icechunk repository, found a file"),
                           ("a.parq#brunch=x", 'unknown "brunch=": expected branch='),
                           ("plain", "expected a file, found a folder without data files")):
            with self.assertRaisesRegex(RuntimeError, said):
                read(name, "t")

    def test_damage_is_found_in_depth(self):
        self.write("a.nc", [0, 1])
        run("index", "a.nc", "-o", "a.json")
        offset = json.loads(content("a.json"))["refs"]["t/1.0.0"][1]
        stamp = os.stat("a.nc")
        with open("a.nc", "r+b") as file:
            file.seek(offset)
            file.write(bytes(10))
        os.utime("a.nc", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        run("check", "a.json")
        self.assertIn("/t: ", run("check", "a.json", "--deep", status=1))
        self.assertIn("/t: ", run("check", "a.json", "--sample", "8", status=1))

    def test_version_3_of_zarr_is_copied(self):
        def array(shape, chunks):
            return json.dumps({
                "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "uint8",
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
                "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
                "codecs": [{"name": "bytes"}]})

        refs = {"zarr.json": '{"zarr_format":3,"node_type":"group"}',
                "s/zarr.json": array([], []), "s/c": "7",
                "v/zarr.json": array([4], [2]), "v/c/0": "ab", "v/c/1": ["/nowhere", 5, 2],
                "d/zarr.json": array([4], [2]).replace('"default"', '"default", "configuration": {"separator": "."}'),
                "d/c.1": ["/nowhere", 7, 2]}
        with open("a.json", "w", encoding="utf-8") as file:
            json.dump({"version": 1, "refs": refs}, file)
        run("convert", "a.json", "-o", "b.json")
        self.assertEqual(json.loads(content("b.json"))["refs"], refs)
        run("diff", "a.json", "b.json")
        self.assertIn("Zarr version 2", run("convert", "a.json", "-o", "b.parq", status=1))

    def test_help_is_there_in_all_forms(self):
        self.assertIn("combine", run("--help"))
        self.assertIn("--resume", run("index", "--help"))
        self.assertIn(".SH OPTIONS", run("help", "man"))
        self.assertIn("combine", run("help"))
        completion = run("help", "bash")
        subprocess.run(["bash", "-n"], input=completion, text=True, check=True)
        self.assertIn("--skip-errors", completion)


if __name__ == "__main__":
    unittest.main()
