"""The program refs: makes sets of files that this writes, joins them in all ways, and shows and checks
them. What it makes is read by the driver and compared with what netCDF4 reads of the files.

    refs_test.py PROGRAM [test ...]
"""

import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np
from osgeo import gdal

try:
    import netCDF4
except ImportError:
    print("there is no module netCDF4")
    sys.exit(77)

REFS = os.path.abspath(sys.argv.pop(1))
gdal.UseExceptions()


def run(*arguments, status=0, **options):
    """What the program prints; its messages where it fails as it should."""
    done = subprocess.run([REFS, *arguments], capture_output=True, text=True, check=False, **options)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr if status else done.stdout


def read(name, variable):
    """An array by the multidimensional API."""
    dataset = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenMDArrayFromFullname("/" + variable)
    return array.ReadAsArray()


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
        for name in names:
            run("index", name, "--along", "time", "-o", name + ".json")
        chance = random.Random(1)
        for attempt in range(12):
            parts = [name + ".json" for name in names]
            while len(parts) > 1:
                chance.shuffle(parts)
                n = chance.randint(2, min(4, len(parts)))
                new = f"part{attempt}_{len(parts)}" + chance.choice([".json", ".parq", ".json.zst"])
                run("combine", *parts[:n], "--along", "time", "-o", new)
                parts = [*parts[n:], new]
            run("convert", parts[0], "-o", "again.json")
            self.assertEqual(content("again.json"), content("all.json"))
            run("convert", parts[0], "-o", "again.parq")
            self.assertEqual(content("again.parq"), content("all.parq"))
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
        run("index", "*.nc", "-o", "all.json")
        values = read("all.json", "t")
        self.assertEqual(values.shape, (2, 12, 8))
        np.testing.assert_array_equal(read("all.json", "y"), np.arange(12))
        np.testing.assert_array_equal(values[1, 6:], 100 + np.arange(48).reshape(6, 8))

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
        self.assertIn("say along", run("index", *names, "-o", "all.json", status=1))

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
        self.assertEqual(names - {"refs_sources"}, {"t", "time", "time_bnds", "x", "y"})
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
        run("index", "0.nc", "1.nc", "2.nc", "--along", "time", "--resume", "-o", "r.json")
        self.assertEqual(content("r.json"), content("all.json"))
        self.assertFalse(os.path.exists("r.json.resume"))


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

    def test_a_file_that_changes_is_seen(self):
        self.expect_hours("d/*.nc", [0, 1, 2])
        time.sleep(0.01)
        self.write("d/2.nc", [5])
        self.expect_hours("d/*.nc", [0, 1, 5])

    def test_nothing_that_matches_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "No such file"):
            gdal.OpenEx('REFS:"e/*.nc"', gdal.OF_MULTIDIM_RASTER)

    def test_files_that_differ_are_named(self):
        self.write("d/3.nc", [3], scale=0.25)
        with self.assertRaisesRegex(RuntimeError, "scale_factor 0.5 and 0.25"):
            gdal.OpenEx('REFS:"d/*.nc"', gdal.OF_MULTIDIM_RASTER)


class OverHttp(Folder):
    """Sources that a server has."""

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

    def test_a_source_that_is_not_there_is_named(self):
        said = run("index", self.url + "gone.nc", "-o", "all.json", status=1)
        self.assertIn("gone.nc", said)
        self.assertIn("404", said)


class Refusals(Folder):
    def test_packing_that_differs_is_named(self):
        self.write("a.nc", [0])
        self.write("b.nc", [1], scale=0.25)
        said = run("index", "a.nc", "b.nc", "-o", "all.json", status=1)
        for part in ("a.nc", "b.nc", "t is not alike", "scale_factor 0.5 and 0.25"):
            self.assertIn(part, said)
        self.assertFalse(os.path.exists("all.json"))

    def test_chunks_that_differ_are_named(self):
        self.write("a.nc", [0, 1])
        self.write("b.nc", [2, 3], t_chunk=2)
        self.assertIn("chunks [1,3,4] and [2,3,4]",
                      run("index", "a.nc", "b.nc", "-o", "all.json", status=1))

    def test_chunks_that_would_be_cut_are_named(self):
        self.write("a.nc", [0, 1, 2], t_chunk=2)
        self.write("b.nc", [3, 4], t_chunk=2)
        self.assertIn("a.nc has 3 steps of time",
                      run("index", "a.nc", "b.nc", "-o", "all.json", status=1))
        run("index", "b.nc", self.write("c.nc", [5], t_chunk=2), "-o", "all.json")
        self.expect_hours("all.json", [3, 4, 5])

    def test_steps_that_two_files_have_are_named(self):
        self.write("a.nc", [0, 1])
        self.write("b.nc", [1, 2])
        said = run("index", "a.nc", "b.nc", "-o", "all.json", status=1)
        for part in ("a.nc", "b.nc", "both", "time 1"):
            self.assertIn(part, said)

    def test_coordinates_that_do_not_agree_are_named(self):
        self.write("a.nc", [0])
        self.write("b.nc", [1], x=1)
        self.assertIn("values of x", run("index", "a.nc", "b.nc", "--along", "time", "-o",
                                         "all.json", status=1))

    def test_gaps_are_told(self):
        names = [self.write(f"{hour}.nc", [hour]) for hour in (0, 1, 2, 5, 6, 7)]
        done = subprocess.run([REFS, "index", *names, "-o", "all.json"], capture_output=True,
                              text=True, check=True)
        self.assertIn("time: 1 gap; the first between 2", done.stderr)

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

    def test_devices_are_not_replaced(self):
        self.write("a.nc", [0])
        os.mkfifo("pipe")
        self.assertIn("a device or a pipe", run("index", "a.nc", "-o", "pipe", status=1))

    def test_data_files_are_not_written_over(self):
        self.write("a.nc", [0])
        before = content("a.nc")
        self.assertIn("is a data file", run("index", "a.nc", "-o", "a.nc", status=2))
        self.assertIn("is a data file", run("append", "a.nc", "a.nc", status=2))
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
        with subprocess.Popen([REFS, "index", "-", "-o", "a.json"], stdin=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            process.stdin.write(b"a.nc\n")
            process.stdin.close()
            self.assertEqual(process.wait(), 130)
            self.assertEqual(process.stderr.read(), b"refs: interrupted\n")
        self.assertEqual(sorted(os.listdir()), ["a.nc", "list"])

    def test_the_command_line_is_checked(self):
        self.assertIn("no verb", run("frobnicate", status=2))
        self.assertIn("no option --json", run("index", "--json", "a.nc", status=2))
        self.assertIn("-o NAME", run("index", "a.nc", status=2))
        self.assertIn("needs a value", run("index", "a.nc", "-o", status=2))


class Other(Folder):
    def test_append_adds_steps(self):
        names = [self.write(f"{hour}.nc", [hour]) for hour in range(4)]
        for name in ("all.json", "all.parq"):
            run("index", *names, "-o", name)
            run("index", *names[:2], "-o", "some-" + name)
            run("append", "some-" + name, names[2])
            run("append", "some-" + name, names[3], "--along", "time")
            self.assertEqual(content("some-" + name), content(name))

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
        sources = json.loads(moved["refs"]["refs_sources/.zattrs"])["sources"]
        self.assertEqual(sources[0]["url"], "https://host/a.nc")
        self.assertEqual(sources[0]["size"], os.path.getsize("a.nc"))

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
        self.assertIn("no element", run("info", "a.json", "t[3,0,0]", status=1))

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
            self.assertIn("0.nc: was modified at 1 seconds", said)
            self.assertIn("1.nc: has 500 bytes, and /", said)
            self.assertIn("2.nc: ", said)
            self.assertIn("3.nc: has", said)
            problems = [json.loads(line) for line in run("check", name, "--json",
                                                         status=1).splitlines()]
            self.assertGreaterEqual(len(problems), 4)

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
        completion = run("help", "bash")
        subprocess.run(["bash", "-n"], input=completion, text=True, check=True)
        self.assertIn("--skip-errors", completion)


if __name__ == "__main__":
    unittest.main()
