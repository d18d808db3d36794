"""The four tools of S3netCDF4 as verbs of refs: split, combine --format cfa, info --partition, mv; on one
archive, in a folder and, where there is versitygw, in an object store.

    cfa_test.py PROGRAM [test ...]
"""

import fcntl
import glob
import http.server
import itertools
import json
import math
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

import numpy as np
from osgeo import gdal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
import object_store  # noqa: E402
import s3_server  # noqa: E402
import served  # noqa: E402
from own_folder import OwnFolder  # noqa: E402
from this_build import need  # noqa: E402

need("netcdf")
try:
    import netCDF4
except ImportError:
    print("there is no module netCDF4")
    sys.exit(77)

# Programs go on ignoring what is ignored when they start: shells may have this one ignore SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)
REFS = os.path.abspath(sys.argv.pop(1))
SHARED = os.path.join(HERE, "..", "..", "..", "shared", "data", "cfa")
MASTER = "s3://store/archive/m.nca"
VERSIONS = ("0.4", "0.5", "1.13")
gdal.UseExceptions()


def run(*arguments, status=0):
    done = subprocess.run([REFS, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr if status else done.stdout


def read(name, variable="tas"):
    dataset = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER)
    return dataset.GetRootGroup().OpenMDArrayFromFullname("/" + variable).ReadAsArray()


def dump(name):
    """All that ncdump shows, but for the name."""
    shown = subprocess.run(["ncdump", name], capture_output=True, text=True, check=True).stdout
    return shown.split("{", 1)[1]


class Folder(OwnFolder):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        os.environ["HOME"] = self.folder

    def values(self, times=4):
        t, y, x = np.meshgrid(np.arange(times), np.arange(6), np.arange(8), indexing="ij")
        return (1000 * t + 10 * y + x + 0.25).astype("f4")

    def write(self, name="source.nc", times=(0, 1, 2, 3), units="days since 2000-01-01", data=None):
        with netCDF4.Dataset(name, "w") as file:
            file.title = "Archive"
            for dim, n in (("time", len(times)), ("lat", 6), ("lon", 8)):
                file.createDimension(dim, n)
            axes = [file.createVariable(dim, "f8", (dim,)) for dim in ("time", "lat", "lon")]
            axes[0].units = units
            axes[0][:] = times
            axes[1].units, axes[2].units = "degrees_north", "degrees_east"
            axes[1][:], axes[2][:] = np.arange(50, 44, -1), np.arange(8)
            tas = file.createVariable("tas", "f4", ("time", "lat", "lon"), fill_value=-9999)
            tas.units = "K"
            tas[:] = self.values(len(times)) if data is None else data
        return name

    def split(self, name="m.nca", source="source.nc", **options):
        if not os.path.exists(source):
            self.write(source)
        pairs = [part for key, value in options.items() for part in ("--" + key.replace("_", "-"), value)]
        run("split", source, "-o", name, *pairs)
        return name


class Split(Folder):
    def test_makes_masters_that_are_read_equal(self):
        for version in VERSIONS:
            for size in ({"subarray_shape": "2,3,4"}, {"subarray_size": "120"}, {}):
                self.split(cfa_version=version, **size)
                np.testing.assert_array_equal(read("m.nca"), self.values())

    def write_dimensions(self, name, **more):
        """A file with dimensions without limit, with one that no variable has, and with bounds."""
        with netCDF4.Dataset(name, "w", **more) as file:
            for dim, n in (("time", None), ("x", 6), ("nv", 2), ("unused", 5)):
                file.createDimension(dim, n)
            time = file.createVariable("time", "f8", ("time",))
            time.units, time.bounds = "days since 2000-01-01", "time_bnds"
            time[:] = np.arange(4)
            file.createVariable("time_bnds", "f8", ("time", "nv"))[:] = np.arange(8).reshape(4, 2)
            file.createVariable("tas", "f4", ("time", "x"), fill_value=-1)[:] = np.arange(24).reshape(4, 6)
            file["tas"][3] = -1
            if file.data_model != "NETCDF4":
                return name
            group = file.createGroup("stations")
            group.createDimension("station", None)
            group.createDimension("alone", 7)
            group.createVariable("station", "i4", ("station",))[:] = np.arange(3)
            group.createVariable("height", "f4", ("time", "station"))[:] = np.arange(12).reshape(4, 3)
            group.createVariable("lat", "f4", ("time", "station")).units = "degrees_north"
            group["lat"][:] = np.arange(12).reshape(4, 3)
            group["height"].coordinates = "lat"
        return name

    def dimensions(self, group):
        """Those of a file by their names: masters have them in the root where they can."""
        found = {name: (len(dim), dim.isunlimited()) for name, dim in group.dimensions.items()}
        for inner in group.groups.values():
            found = {**self.dimensions(inner), **found}
        return found

    def test_keeps_what_the_source_has_of_dimensions(self):
        for model in ("NETCDF4", "NETCDF3_CLASSIC"):
            self.write_dimensions("source.nc", format=model)
            with netCDF4.Dataset("source.nc") as file:
                expected = self.dimensions(file)
            for version in VERSIONS if model == "NETCDF4" else ("0.4",):
                with self.subTest(model=model, version=version):
                    options = {"format": "NETCDF3"} if model != "NETCDF4" else {}
                    self.split(cfa_version=version, subarray_shape="time=2", **options)
                    with netCDF4.Dataset("m.nca") as file:
                        found = self.dimensions(file)
                        np.testing.assert_array_equal(file["time_bnds"][:], np.arange(8).reshape(4, 2))
                        if model == "NETCDF4":
                            np.testing.assert_array_equal(file["stations/lat"][:], np.arange(12).reshape(4, 3))
                    self.assertEqual({name: found.get(name) for name in expected}, expected)
                    with netCDF4.Dataset("m/m.tas.1.0.nc") as file:
                        self.assertEqual((len(file.dimensions["time"]), file.dimensions["time"].isunlimited()), (2, True))
                        np.testing.assert_array_equal(file["tas"][:].filled(), [np.arange(12, 18), 6 * [-1]])
                    np.testing.assert_array_equal(read("m.nca")[:3], np.arange(18).reshape(3, 6))
                    if model == "NETCDF4":
                        np.testing.assert_array_equal(read("m.nca", "stations/height"), np.arange(12).reshape(4, 3))

    def test_splits_masters_anew(self):
        self.split(subarray_shape="1,6,8")
        self.split("n.nca", "m.nca", subarray_shape="4,3,8")
        np.testing.assert_array_equal(read("n.nca"), self.values())
        self.assertEqual(sorted(os.listdir("n")), ["n.outline.nca", "n.tas.0.0.0.nc", "n.tas.0.1.0.nc"])

    def test_splits_sets_that_are_aggregations_without_their_parts(self):
        for day in (0, 1):
            self.write(f"d{day}.nc", (day,), data=self.values()[day : day + 1])
            with netCDF4.Dataset(f"d{day}.nc", "a") as file:
                file["tas"].valid_min = np.float32(day)
        run("index", "d0.nc", "d1.nc", "-o", "all.json", "-q")
        with open("all.json", encoding="utf-8") as file:
            self.assertIn("tas_fragments", file.read())
        for options in ({}, {"cfa_version": "0.4", "format": "NETCDF3"}):
            self.split(source="all.json", **options)
            self.assertNotIn("fragments", dump("m.nca"))
            np.testing.assert_array_equal(read("m.nca"), self.values(2))

    def test_variables_without_elements_are_in_the_master(self):
        with netCDF4.Dataset("empty.nc", "w") as file:
            for dim, n in (("time", None), ("station", None), ("x", 4)):
                file.createDimension(dim, n)
            file.createVariable("time", "f8", ("time",)).units = "days since 2000-01-01"
            for name, dims in (("t", ("time", "x")), ("s", ("x", "station")), ("both", ("time", "station"))):
                file.createVariable(name, "f4", dims).units = "K"
            file.createVariable("names", str, ("station", "x"))
            file.createVariable("full", "f4", ("x",))[:] = np.arange(4)
        for version, shape in itertools.product(VERSIONS, ({}, {"subarray_shape": "x=2"})):
            with self.subTest(version=version, shape=shape):
                self.split(source="empty.nc", cfa_version=version, **shape)
                run("combine", "--format", "cfa", "--cfa-version", version, "empty.nc", "-o", "combined.nca", "-q")
                for name in ("m.nca", "combined.nca"):
                    root = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
                    for array, expected in (("t", (0, 4)), ("s", (4, 0)), ("both", (0, 0)), ("full", (4,))):
                        self.assertEqual(root.OpenMDArray(array).shape, expected)
                    self.assertEqual(root.OpenMDArray("t").GetUnit(), "K")
                    np.testing.assert_array_equal(read(name, "full"), np.arange(4))

    def test_full_disks_of_any_size_are_one_message_and_leave_nothing(self):
        self.write()
        os.mkdir("full")
        for kilobytes in (16, 24, 40, 56, 64, 72, 88, 104, 128):
            mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", "full"],
                                     capture_output=True, check=False)
            if mounted.returncode != 0:
                self.skipTest("mounts no file system of its own")
            try:
                done = subprocess.run([REFS, "split", "source.nc", "-o", "full/m.nca", "--subarray-shape", "time=1"],
                                      capture_output=True, text=True, check=False)
                if done.returncode == 0:
                    np.testing.assert_array_equal(read("full/m.nca"), self.values())
                    continue
                self.assertEqual((done.returncode, os.listdir("full")), (1, []), done.stderr)
                self.assertIn("No space left on device", done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            finally:
                subprocess.run(["umount", "full"], check=True)

    def test_says_what_names_of_masters_end_with(self):
        self.write()
        for name in ("m.json", "m"):
            self.assertIn(f"{name}: cannot be a master with fragments: expected a name that ends with .nc or .nca",
                          run("split", "source.nc", "-o", name, status=1))
            self.assertFalse(os.path.exists(name))

    def test_says_what_options_may_be(self):
        self.write()
        self.assertIn("0.4, 0.5 or 1.13", run("split", "source.nc", "-o", "m.nca", "--cfa-version", "2", status=1))
        self.assertIn("CFA-0.4", run("split", "source.nc", "-o", "m.nca", "--format", "NETCDF3", status=1))
        self.assertIn("50MB", run("split", "source.nc", "-o", "m.nca", "--subarray-size", "big", status=1))
        self.assertEqual(os.listdir("."), ["source.nc"])


    def test_shapes_that_are_of_no_variable_are_an_error(self):
        self.write()
        for shape, said in (("1,2", "2 dimensions"), ("1,2,3,4", "4 dimensions"), ("tim=1", "tim=1"),
                            ("time=1,lta=2", "lta=2")):
            self.assertIn(said, run("split", "source.nc", "-o", "m.nca", "--subarray-shape", shape, status=1))
        self.assertEqual(os.listdir("."), ["source.nc"])


class Combine(Folder):
    def combine(self, *sources, version="0.5", name="again.nca", options=(), status=0):
        done = subprocess.run([REFS, "combine", "--format", "cfa", "--cfa-version", version, *options, *sources, "-o", name],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout + done.stderr

    def test_makes_a_lost_master_again(self):
        for version in VERSIONS:
            self.split(cfa_version=version, subarray_shape="2,3,4")
            before = dump("m.nca")
            os.remove("m.nca")
            self.combine(*glob.glob("m/*.nc"), version=version, name="m.nca")
            self.assertEqual(dump("m.nca"), before)

    def write_packed(self, name, times, missing=()):
        with netCDF4.Dataset(self.write(name, times), "a") as file:
            t2m = file.createVariable("t2m", "i2", ("time", "lat", "lon"), fill_value=-1)
            t2m.scale_factor, t2m.add_offset, t2m.units = 0.05, 280.0, "K"
            t2m.set_auto_maskandscale(False)
            t2m[:] = np.arange(48 * len(times)).reshape(-1, 6, 8) + 1000 * times[0]
            for time in missing:
                t2m[time] = -1
        return name

    def describe_packed(self, name):
        with netCDF4.Dataset(name) as file:
            t2m = file["t2m"]
            return str(t2m.dtype), *(float(getattr(t2m, key, 1)) for key in ("_FillValue", "scale_factor", "add_offset"))

    def test_keeps_packing_that_all_fragments_share(self):
        self.write_packed("all.nc", range(8), missing=(2, 3))
        self.write_packed("late.nc", range(8, 10))
        for version in VERSIONS:
            with self.subTest(version=version):
                self.split(source="all.nc", cfa_version=version, subarray_shape="time=2")
                expected = ("float64", math.nan, 1, 1) if version == "1.13" else ("int16", -1, 0.05, 280)
                np.testing.assert_equal(self.describe_packed("m.nca"), expected)
                before, values = dump("m.nca"), read("m.nca", "t2m")
                os.remove("m.nca")
                self.combine(*sorted(glob.glob("m/*.nc")), version=version, name="m.nca")
                self.assertEqual(dump("m.nca"), before)
                np.testing.assert_array_equal(read("m.nca", "t2m"), values)
                run("append", "m.nca", "late.nc", "-q")
                np.testing.assert_equal(self.describe_packed("m.nca"), expected)
                self.combine("all.nc", "late.nc", version=version)
                np.testing.assert_equal(self.describe_packed("again.nca"), expected)
                np.testing.assert_array_equal(read("m.nca", "t2m"), read("again.nca", "t2m"))
                np.testing.assert_array_equal(read("m.nca", "t2m")[:8], values)

    def write_unlimited(self, name, step, kind="NETCDF4"):
        with netCDF4.Dataset(name, "w", format=kind) as file:
            for dim, n in (("time", None), ("x", 3), ("record", None if kind == "NETCDF4" else 2)):
                file.createDimension(dim, n)
            file.createVariable("time", "f8", ("time",))[:] = [step]
            file["time"].units = "days since 2000-01-01"
            file.createVariable("v", "f4", ("time", "x"))[:] = [[step, 1, 2]]
            file.createVariable("w", "f4", ("time", "record"))[:] = [[step, 7]]
        return name

    def test_keeps_dimensions_without_limit_that_have_a_coordinate(self):
        for kind, version in itertools.product(("NETCDF4", "NETCDF3_CLASSIC"), VERSIONS):
            with self.subTest(kind=kind, version=version):
                names = [self.write_unlimited(f"{step}.nc", step, kind) for step in range(3)]
                self.combine(*names[:2], version=version)
                run("index", *names[:2], "--along", "time", "-q", "-o", "index.nc")
                for master in ("again.nca", "index.nc"):
                    for n in (2, 3):
                        with netCDF4.Dataset(master) as file:
                            self.assertTrue(file.dimensions["time"].isunlimited(), master)
                            self.assertFalse(file.dimensions["x"].isunlimited())
                            # No coordinate in the master says how long it is.
                            self.assertFalse(file.dimensions["record"].isunlimited())
                            self.assertEqual(file["time"][:].tolist(), list(range(n)))
                        if n == 2:
                            run("append", master, names[2], "-q")
                    self.assertEqual(read(master, "w").tolist(), [[0, 7], [1, 7], [2, 7]])

    def test_makes_it_again_where_fragments_of_nothing_were_left_out(self):
        data = self.values()
        data[2:, :3, 4:] = -9999
        self.write(data=data)
        for version in VERSIONS:
            self.split(subarray_shape="2,3,4", cfa_version=version)
            before = dump("m.nca")
            self.combine(*sorted(glob.glob("m/*.nc")), name="m.nca", version=version)
            self.assertEqual(dump("m.nca"), before)
        np.testing.assert_array_equal(read("m.nca"), data)

    def test_makes_dimensions_without_limit_again_where_they_were(self):
        """In the root, readers take one for that of all variables."""
        with netCDF4.Dataset("source.nc", "w") as file:
            for name, n in (("t", None), ("x", 2)):
                file.createDimension(name, n)
            file.createVariable("t", "f8", ("t",))[:] = np.arange(4)
            file.createVariable("tas", "f4", ("t", "x"), fill_value=-1)[:] = [[1, 2], [3, 4], [5, 6], [-1, -1]]
            outer = file.createGroup("outer")
            outer.createDimension("turn", None)
            outer.createVariable("turn", "i4", ("turn",))[:] = np.arange(3)
            outer.createGroup("inner").createVariable("w", "f4", ("t", "turn", "x"))[:] = np.arange(24).reshape(4, 3, 2)
        for version in VERSIONS:
            self.split(cfa_version=version, subarray_shape="t=2")
            os.remove("m.nca")
            self.combine(*sorted(glob.glob("m/*.nc")), version=version, name="m.nca")
            with netCDF4.Dataset("m.nca") as file:
                self.assertTrue(file.dimensions["t"].isunlimited(), version)
                self.assertNotIn("turn", file.dimensions, version)
                turn = file["outer"].dimensions["turn"]
                self.assertEqual((len(turn), turn.isunlimited()), (3, True), version)
            np.testing.assert_array_equal(read("m.nca", "outer/inner/w"), np.arange(24).reshape(4, 3, 2))

    def write_hidden_dimensions(self, step, above, unlimited):
        """A dimension x of the file, or of the innermost group, that one of the group in between hides."""
        with netCDF4.Dataset(f"{step}.nc", "w") as file:
            outer = file.createGroup("g")
            inner = outer.createGroup("inner")
            file.createDimension("t", 1)
            file.createVariable("t", "f8", ("t",))[:] = step
            (file if above else inner).createDimension("x", None if unlimited else 3)
            for path, group, size in (("", file, 3), ("g/inner/", inner, 3), ("g/", outer, 5)):
                if group is outer:
                    outer.createDimension("x", None if unlimited else 5)  # netCDF4 takes the nearest there is
                for name, dims in (("a", ("t", "x")), ("z", ("x",))) if group is not file or above else ():
                    values = np.arange(size, dtype="f4") + 10 * size + 100 * step * (name == "a")
                    group.createVariable(name, "f4", dims)[:] = values.reshape((1, size)[-len(dims):])
                    yield path + name, values

    def test_keeps_dimensions_that_a_group_in_between_hides(self):
        for version, above, unlimited in itertools.product(VERSIONS, (True, False), (False, True)):
            with self.subTest(version=version, above=above, unlimited=unlimited):
                steps = [dict(self.write_hidden_dimensions(step, above, unlimited)) for step in range(2)]
                self.combine("0.nc", "1.nc", version=version)
                for path in steps[0]:
                    expected = [step[path] for step in steps] if path.endswith("a") else steps[0][path]
                    np.testing.assert_array_equal(read("again.nca", path), np.array(expected), path)
                with netCDF4.Dataset("again.nca") as file:
                    np.testing.assert_array_equal(file["g/inner/z"][:], steps[0]["g/inner/z"])
                    np.testing.assert_array_equal(file["g/z"][:], steps[0]["g/z"])

    def test_of_sources_in_any_order_are_one(self):
        """Sources that have their variables in different orders."""
        for i, names in enumerate((("w", "v"), ("v", "w", "u"))):
            with netCDF4.Dataset(f"{i}.nc", "w") as file:
                for dim, n in (("t", 1), ("x", 3000)):
                    file.createDimension(dim, n)
                file.createVariable("t", "f8", ("t",))[:] = i
                for name in names:
                    file.createVariable(name, "f4", ("t", "x"))[:] = i
        for version in VERSIONS:
            self.combine("0.nc", "1.nc", version=version)
            before = dump("again.nca")
            os.remove("again.nca")
            self.combine("1.nc", "0.nc", version=version)
            self.assertEqual(dump("again.nca"), before)

    def test_of_one_source_need_the_name_of_a_dimension(self):
        with netCDF4.Dataset("one.nc", "w") as file:
            file.createDimension("t", 2)
            file.createDimension("x", 3)
            file.createVariable("v", "f4", ("t", "x"))[:] = 1
        for output in ("m.nc", "m.nca"):
            said = run("index", "one.nc", "-o", output, status=1)
            expected = "one.nc: a master of one source requires the name of a concat dimension: use refs combine with --along; existing dimensions: t, x"
            self.assertIn(expected, said)
            self.assertIn(expected, run("convert", "one.nc", "-o", output, status=1))
            run("index", "one.nc", "--along", "t", "-o", output)
            run("combine", "one.nc", "--along", "t", "-o", f"again.{output}")

    def test_of_sets_with_aggregations_say_what_to_do(self):
        for step, kind in enumerate(("f4", "i2")):
            with netCDF4.Dataset(f"{step}.nc", "w") as file:
                file.createDimension("t", 1)
                file.createDimension("x", 3)
                file.createVariable("t", "f8", ("t",))[:] = step
                file.createVariable("v", kind, ("t", "x"))[:] = [[10 * step + x for x in range(3)]]
        run("index", "0.nc", "1.nc", "-o", "set.json")
        expected = ("v of set.json is an aggregation, which cannot be a fragment: combine its source files, or write its values to new "
                    "fragments with refs split")
        for arguments in (("convert", "set.json"), ("combine", "set.json"), ("combine", "set.json", "--along", "t")):
            self.assertIn(expected, run(*arguments, "-o", "m.nc", status=1))
        run("combine", "0.nc", "1.nc", "-o", "files.nc")
        run("split", "set.json", "-o", "new.nca")
        for name in "set.json", "files.nc", "new.nca":
            self.assertEqual(read(name, "v").tolist(), [[0, 1, 2], [10, 11, 12]], name)

    def test_names_in_arrays_of_zarr_version_3_are_not_rewritten(self):
        run("index", self.write("a.nc", times=(0,)), self.write("b.nc", times=(1,)), "-o", "m.nc")
        run("convert", "m.nc", "-o", "x.icechunk")
        said = "refs: x.icechunk: /tas: cannot rewrite names of fragments in arrays of Zarr version 3: leave out "
        for option in ("--relative",), ("--rewrite", f"{self.folder}=>s3://store"):
            heard = run("convert", "x.icechunk", *option, "-o", "y.icechunk", status=1)
            self.assertEqual(heard.strip(), said + option[0])

    def write_step(self, name, step, member, group):
        """A file without dimensions of time and member, which are scalars, and without a coordinate of x."""
        with netCDF4.Dataset(name, "w") as file:
            root = file.createGroup(group) if group else file
            root.createDimension("x", 2)
            root.createDimension("nv", 2)
            for scalar, value in ("time", step), ("realization", member):
                root.createVariable(scalar, "f8", ())[...] = value
                root[scalar].standard_name = scalar
            root["time"].setncatts({"units": "days since 2000-01-01", "bounds": "time_bounds"})
            root.createVariable("time_bounds", "f8", ("nv",))[:] = step, step + 1
            root.createVariable("v", "f4", ("x",), fill_value=-1)[:] = 100 * step + 10 * member + np.arange(2)
            root["v"].coordinates = "time realization"
        return name

    def test_scalars_become_dimensions_as_those_of_index_do(self):
        for group, members, version in itertools.product(("", "g"), (1, 2), VERSIONS):
            pairs = list(itertools.product(range(3), range(members)))
            files = [self.write_step(f"s{k}_{m}.nc", k, m, group) for k, m in pairs]
            axes = ("realization", "time") if members > 1 else ("time",)
            named = [part for axis in axes for part in ("--along", axis)]
            variables = [f"{group}/{v}".lstrip("/") for v in ("v", "time", "time_bounds", *axes)]
            run("index", *files, "-o", "all.nc")
            for along, n in ((), len(files)), (named, len(files)), (named, members):
                with self.subTest(group=group, members=members, version=version, along=along, n=n):
                    self.combine(*files[:n], *along, version=version, name="m.nca")
                    if n < len(files):
                        run("append", "m.nca", *files[n:])
                    for variable in variables:
                        np.testing.assert_array_equal(read("m.nca", variable), read("all.nc", variable))
                    steps = [[100 * k + 10 * m + i for i in range(2)] for k, m in pairs]
                    found = read("m.nca", variables[0]).reshape(members, 3, 2)
                    np.testing.assert_array_equal(found.transpose(1, 0, 2).reshape(-1, 2), steps)

    def test_levels_that_differ_become_a_dimension_as_those_of_index_do(self):
        self.write_parts("a.nc", 1)
        self.write_parts("b.nc", 2, height=(10, "m"))
        run("index", "a.nc", "b.nc", "-o", "all.nc")
        for version in VERSIONS:
            self.assertIn("(2 of 4 tiles): values are missing", self.combine("a.nc", "b.nc", version=version))
            self.combine("a.nc", version=version, name="m.nca")
            run("append", "m.nca", "b.nc")
            for name, variable in itertools.product(("again.nca", "m.nca"), ("v", "time", "height")):
                np.testing.assert_array_equal(read(name, variable), read("all.nc", variable))
        along = ("--along", "time")
        said = "height: differs between a.nc and b.nc, element 0 of height is 2 and 10"
        self.assertIn(said, self.combine("a.nc", "b.nc", options=along, status=1))

    def test_times_that_no_variable_names_are_an_error_as_of_index(self):
        for k in range(2):
            with netCDF4.Dataset(self.write_step(f"s{k}.nc", k, 0, ""), "a") as file:
                file["v"].delncattr("coordinates")
        for verb in ("index", "-o", "all.nc"), ("combine", "--format", "cfa", "-o", "m.nca"):
            self.assertIn("differ in time", run(*verb, "s0.nc", "s1.nc", status=1))

    def test_info_names_the_fragment_of_an_element(self):
        for step in range(2):
            with netCDF4.Dataset(f"{step}.nc", "w") as file:
                for dim, n in (("t", 1), ("x", 3)):
                    file.createDimension(dim, n)
                file.createVariable("t", "f8", ("t",))[:] = step
                file.createVariable("v", "f4" if step else "i2", ("t", "x"))[:] = step
        run("index", "0.nc", "1.nc", "-o", "set.json")
        self.assertEqual(run("info", "set.json", "v[1,2]"), "v_fragments/1/v/0.0: 12 bytes in the set\n")
        for version in VERSIONS:
            run("combine", "--format", "cfa", "--cfa-version", version, "0.nc", "1.nc", "-o", "m.nc")
            self.assertRegex(run("info", "m.nc", "/v[1,2]"), r"^v\[1,2\]: fragment v of (.*/)?1\.nc\n$", version)
            found = json.loads(run("info", "--json", "m.nc", "v[0,0]"))
            self.assertEqual((os.path.basename(found["url"]), found["variable"]), ("0.nc", "v"))
            self.assertIn("v[2,0]: t has 2 elements: expected 0 to 1, found 2", run("info", "m.nc", "v[2,0]", status=1))
            self.assertIn("v[0]: expected 2 indices in brackets", run("info", "m.nc", "v[0]", status=1))
            self.assertIn("v[0,0]: expected an element of a chunk, found one of an aggregation: refs info with the same arguments says "
                          "which fragment has it", run("cat", "m.nc", "v[0,0]", status=1))

    def test_a_dimension_of_a_group_hides_the_coordinate_of_the_file(self):
        """The group's dimension has none, and another length."""
        for step in range(2):
            with netCDF4.Dataset(f"{step}.nc", "w") as file:
                group = file.createGroup("g")
                for where, level in ((file, 3), (group, 4)):
                    for dim, n in (("t", 1), ("level", level), ("y", 2), ("x", 3))[where is group:2 if where is group else 4]:
                        where.createDimension(dim, n)
                        if where is file:
                            file.createVariable(dim, "f8", (dim,))[:] = np.arange(n) + (step if dim == "t" else 0)
                    where.createVariable("v", "f4", ("t", "level", "y", "x"))[:] = np.arange(level * 6).reshape(1, level, 2, 3)
                file["level"].setncatts({"units": "hPa", "positive": "down"})
        for output in ("m.nc", "m.nca", "m.json"):
            run("index", "0.nc", "1.nc", "-g", "g", "--along", "t", "-o", output)
            names = gdal.OpenEx(f'REFS:"{output}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup().GetMDArrayNames()
            self.assertEqual(sorted(names), ["t", "v", "x", "y"])
            self.assertEqual(read(output, "v").shape, (2, 4, 2, 3))
        run("index", "0.nc", "-o", "all.json")
        run("convert", "all.json", "--variables", "/g/v[level=#1:#2]", "-o", "cut.json")
        self.assertEqual(read("cut.json", "g/v")[0, :, 0, 0].tolist(), [6, 12])
        run("convert", "all.json", "--variables", "/g/v", "-o", "cut.json")
        self.assertEqual(sorted(gdal.OpenEx('REFS:"cut.json"', gdal.OF_MULTIDIM_RASTER).GetRootGroup().GetMDArrayNames()), ["t", "x", "y"])

    def test_makes_it_again_whatever_was_left_out(self):
        t, y, x = self.values().shape
        lost = {
            "behind": (np.s_[1:],), "in front": (np.s_[:3],), "between": (np.s_[1:3],), "rows": (np.s_[:, 3:],),
            "columns": (np.s_[:, :, :4],), "all": (np.s_[:],),
            "all but two corners": (np.s_[:2, :3, :4], np.s_[2:, :3], np.s_[:2, 3:], np.s_[2:, 3:, :4]),
        }
        for version, (what, boxes) in itertools.product(VERSIONS, lost.items()):
            with self.subTest(version=version, lost=what):
                data = self.values()
                for box in boxes:
                    data[box] = -9999
                self.write(data=data)
                with netCDF4.Dataset("source.nc", "a") as file:
                    file.createVariable("version", "i4")[...] = 7
                    file.createVariable("cell", "f8", ("lat", "lon"))[:] = np.arange(y * x).reshape(y, x)
                    file["tas"].coordinates = "cell"
                    file.createGroup("notes").said = "something"
                self.split(cfa_version=version, subarray_shape="1,3,4")
                before = dump("m.nca")
                os.remove("m.nca")
                given = sorted(glob.glob("m/*.nc")) if what != "all" else ["m/m.outline.nca"]
                done = self.combine(*given, version=version, name="m.nca")
                self.assertEqual(dump("m.nca"), before)
                self.assertEqual(done, "")
                shutil.rmtree("m")

    def test_makes_it_again_whatever_the_order_of_sources(self):
        with netCDF4.Dataset("source.nc", "w") as file:
            for dim, n in (("time", 4), ("y", 2), ("x", 6)):
                file.createDimension(dim, n)
            file.createVariable("time", "f8", ("time",)).units = "hours since 2024-01-01"
            file["time"][:] = np.arange(4)
            file.createVariable("y", "f4", ("y",))[:] = range(2)
            file.createVariable("a", "i4", ("time",))[:] = np.arange(4)
            file.createVariable("c", "i4", ("y", "x"))[:] = np.arange(12).reshape(2, 6)
        self.split(subarray_shape="time=2,y=1,x=3")
        fragments, outline = sorted(glob.glob("m/*.nc")), "m/m.outline.nca"
        for given in ([outline, *fragments], [*fragments, outline], fragments, ["m/"], [outline, *fragments[::-1], outline],
                      [fragments[0], outline, *fragments[1:]]):
            self.assertEqual(self.combine(*given), "")
            np.testing.assert_array_equal(read("again.nca", "c"), np.arange(12).reshape(2, 6))
            np.testing.assert_array_equal(read("again.nca", "a"), range(4))
        # Two outlines of one variable: nothing says where fragments are along x.
        shutil.copy(outline, "m/other.outline.nca")
        self.assertIn("c: cannot distinguish m/m.c.0.0.nc and m/m.c.0.1.nc: expected a coordinate for each dimension",
                      self.combine(*fragments, "m/other.outline.nca", status=1))

    def test_leaves_out_what_cannot_be_read_where_that_is_asked_for(self):
        self.write("a.nc", (0, 1), data=self.values(2))
        for version in VERSIONS:
            said = self.combine("a.nc", "nope.nc", version=version, options=("--skip-errors",), status=1)
            self.assertIn("refs: left out: nope.nc: ", said)
            np.testing.assert_array_equal(read("again.nca"), self.values(2))
            os.remove("again.nca")
            said = self.combine("nope.nc", version=version, options=("--skip-errors",), status=1)
            self.assertIn("none of the sources could be read: nope.nc: ", said)
            self.assertFalse(os.path.exists("again.nca"))

    def test_makes_it_again_of_netcdf_3(self):
        data = self.values()
        data[2:] = -9999
        self.write(data=data)
        self.split(cfa_version="0.4", format="NETCDF3", subarray_shape="1,3,4")
        before = read("m.nca"), read("m.nca", "time")
        os.remove("m.nca")
        self.combine("m/", version="0.4", name="m.nca")
        for one, other in zip(before, (read("m.nca"), read("m.nca", "time"))):
            np.testing.assert_array_equal(one, other)

    def test_makes_variables_again_that_held_nothing(self):
        self.write()
        with netCDF4.Dataset("source.nc", "a") as file:
            file.createVariable("pr", "f4", ("time", "lat", "lon"), fill_value=-1).units = "mm"
            file.createVariable("depth", "f4", ("time", "lat"), fill_value=-1)[1] = 2
        for version in VERSIONS:
            self.split(cfa_version=version, subarray_shape="time=2")
            before = dump("m.nca")
            self.combine("m/", version=version, name="m.nca")
            self.assertEqual(dump("m.nca"), before)

    def test_knows_which_dimensions_may_grow(self):
        self.write()
        for version in VERSIONS:
            options = ["LAYOUT=CFA", "CFA_VERSION=" + version, "SUBARRAY_SHAPE=time=2", "UNLIMITED=time"]
            gdal.MultiDimTranslate("m.nca", 'REFS:"source.nc"', format="REFS", creationOptions=options)
            before = dump("m.nca")
            self.assertIn("time = UNLIMITED", before)
            self.combine("m/", version=version, name="m.nca")
            self.assertEqual(dump("m.nca"), before)
            self.write("later.nc", (4, 5))
            run("append", "m.nca", "later.nc")
            self.assertIn("time = UNLIMITED ; // (6 currently)", dump("m.nca"))

    def test_leaves_out_what_is_not_given_and_says_so(self):
        self.split(subarray_shape="1,6,8")
        done = self.combine("m/m.tas.0.0.0.nc", "m/m.tas.2.0.0.nc")
        self.assertIn("tas: 1 of 3 fragments were written, but are not among the sources", done)
        self.assertIn("expected 4 fragments along time, found 3: the last 1 are missing", done)
        values = self.values()[:3]
        values[1] = -9999
        np.testing.assert_array_equal(read("again.nca"), values)

    def test_knows_of_nothing_in_several_archives(self):
        data = self.values()
        data[2:] = -9999
        for name, times in (("a", (0, 1, 2, 3)), ("b", (4, 5, 6, 7))):
            self.write(f"{name}s.nc", times, data=data)
            self.split(f"{name}.nca", f"{name}s.nc", subarray_shape="1,6,8")
        self.combine("a/", "b/")
        np.testing.assert_array_equal(read("again.nca", "time"), np.arange(8))
        np.testing.assert_array_equal(read("again.nca"), np.concatenate([data, data]))
        run("append", "a.nca", *glob.glob("b/*.nc"))
        np.testing.assert_array_equal(read("a.nca"), np.concatenate([data, data]))
        self.write("c.nc", (8,), data=self.values()[:1])
        run("append", "a.nca", "c.nc")
        self.assertEqual(read("a.nca").shape, (9, 6, 8))

    def test_takes_numbers_of_two_archives_for_no_one_archives(self):
        before, after = self.values(), self.values()
        before[2:], after[:2] = -9999, -9999
        self.write("a.nc", (0, 1, 2, 3), data=before)
        self.write("b.nc", (4, 5, 6, 7), data=after)
        for name in ("a", "b"):
            self.split(f"{name}.nca", f"{name}.nc", subarray_shape="1,6,8")
        self.combine("a/", "b/", name="all.nca")
        run("append", "a.nca", *glob.glob("b/*.nc"))
        for master in ("all.nca", "a.nca"):
            np.testing.assert_array_equal(read(master, "time"), np.arange(8))
            np.testing.assert_array_equal(read(master), np.concatenate([before, after]))

    def test_knows_of_nothing_in_archives_of_other_units(self):
        data = self.values()
        for box in np.s_[:2, :3, :4], np.s_[2:, :3], np.s_[:2, 3:], np.s_[2:, 3:, :4]:
            data[box] = -9999
        heights = np.arange(48.0).reshape(6, 8)
        for name, times, unit, scale in (("a", (0, 1, 2, 3), "m", 1), ("b", (4, 5, 6, 7), "km", 1000)):
            self.write(f"{name}.nc", times, data=data)
            with netCDF4.Dataset(f"{name}.nc", "a") as file:
                height = file.createVariable("height", "f8", ("lat", "lon"))
                height.units, height[:] = unit, heights / scale
                file["tas"].coordinates = "height"
            self.split(f"{name}.nca", f"{name}.nc", subarray_shape="2,3,4")
        self.combine("a/", "b/")
        np.testing.assert_allclose(read("again.nca", "height"), heights)

    def test_outlines_are_no_fragments(self):
        self.split(subarray_shape="1,6,8")
        run("index", "m/", "-o", "all.json", "-q")
        np.testing.assert_array_equal(read("all.json"), self.values())
        np.testing.assert_array_equal(read("m/m.outline.nca"), self.values())

    def test_makes_it_again_wherever_one_fragment_of_each_slice_is_there(self):
        chance = random.Random(3)
        for shape in ("1,2,3", "3,4,5", "2,6,3", "4,3,8"):
            steps = [int(step) for step in shape.split(",")]
            boxes = [tuple(slice(at, at + step) for at, step in zip(begin, steps))
                     for begin in itertools.product(*(range(0, n, step) for n, step in zip((4, 6, 8), steps)))]
            data = self.values()
            kept = chance.sample(boxes, max(len(boxes) // 2, 1))
            for box in boxes:
                is_needed = any(all(box[d] != other[d] for other in kept) for d in range(3))
                if is_needed:
                    kept.append(box)
                elif box not in kept:
                    data[box] = -9999
            for version in VERSIONS:
                with self.subTest(shape=shape, version=version):
                    self.write(data=data)
                    self.split(subarray_shape=shape, cfa_version=version)
                    before, files = dump("m.nca"), sorted(glob.glob("m/*.nc"))
                    os.remove("m.nca")
                    chance.shuffle(files)
                    done = subprocess.run([REFS, "combine", "--format", "cfa", "--cfa-version", version, *files, "-o", "m.nca"],
                                          capture_output=True, text=True, check=True)
                    self.assertEqual(dump("m.nca"), before)
                    self.assertEqual(done.stderr, "")
                    np.testing.assert_array_equal(read("m.nca"), data)
                    shutil.rmtree("m")

    def test_says_that_nothing_tells_of_steps_behind_the_last_fragment(self):
        data = self.values()
        data[3:] = -9999
        self.write(data=data)
        for version in VERSIONS:
            self.split(cfa_version=version, subarray_shape="1,6,8")
            os.remove("m/m.outline.nca")
            done = subprocess.run([REFS, "combine", "--format", "cfa", "--cfa-version", version, *glob.glob("m/*.nc"), "-o", "m.nca"],
                                  capture_output=True, text=True, check=True)
            self.assertEqual(len(read("m.nca")), 3)
            self.assertIn("tas: its length is that of the existing fragments", done.stderr)
            shutil.rmtree("m")

    def test_says_what_files_are_that_stand_for_fragments_alone(self):
        self.write(data=np.full((4, 6, 8), -9999, "f4"))
        self.split(cfa_version="1.13", subarray_shape="1,6,8")
        os.remove("m/m.outline.nca")
        said = self.combine(*glob.glob("m/*.nc"), version="1.13", status=1)
        self.assertIn("m.tas.fill.1x6x8.nc: a manifest of empty fragments has no values", said)

    def test_takes_files_of_others_for_what_they_are(self):
        """Only a file with one array and nothing else, called as that is, stands for missing fragments."""
        for name in "sst.fill.nc", "obs.fill.2.nc", "obs.version.fill.nc", "m.tas.fill.2x6x8.nc", "tas.fill.2x6x8.nc":
            for version in VERSIONS:
                with self.subTest(name=name, version=version):
                    self.write("a.nc", (0, 1), data=self.values()[:2])
                    self.write(name, (2, 3), data=self.values()[2:])
                    with netCDF4.Dataset(name, "a") as file:
                        file.createVariable("version", "i4")[...] = 7
                    self.combine("a.nc", name, version=version, name="m.nca")
                    np.testing.assert_array_equal(read("m.nca"), self.values())
                    self.write("b.nc", (4,), data=self.values()[:1])
                    run("append", "m.nca", "b.nc")
                    np.testing.assert_array_equal(read("m.nca"), np.concatenate([self.values(), self.values()[:1]]))
                    os.remove("m.nca")
            os.remove(name)

    def test_what_is_in_no_fragment_cannot_be_made_again(self):
        self.write()
        with netCDF4.Dataset("source.nc", "a") as file:
            file.createVariable("version", "i4")[...] = 7
        for version in VERSIONS:
            self.split(subarray_shape="2,6,8", cfa_version=version)
            self.assertEqual(int(read("m.nca", "version")), 7)
            os.remove("m.nca")
            os.remove("m/m.outline.nca")
            self.combine(*glob.glob("m/*.nc"), version=version, name="m.nca")
            with netCDF4.Dataset("m.nca") as file:
                self.assertEqual(file.title, "Archive")
                self.assertNotIn("version", file.variables)

    def test_joins_files_by_their_times_in_any_order(self):
        for version in VERSIONS:
            self.write("late.nc", (2, 3), data=self.values()[2:])
            self.write("early.nc", (0, 1), data=self.values()[:2])
            self.combine("late.nc", "early.nc", version=version)
            np.testing.assert_array_equal(read("again.nca"), self.values())

    def test_counts_times_from_a_common_date(self):
        self.write("early.nc", (0, 1), data=self.values()[:2])
        self.write("late.nc", (0, 24), "hours since 2000-01-03", data=self.values()[2:])
        self.combine("late.nc", "early.nc", options=("--common-date", "days since 1999-12-31"))
        np.testing.assert_array_equal(read("again.nca"), self.values())
        with netCDF4.Dataset("again.nca") as file:
            self.assertEqual(file["time"][:].tolist(), [1, 2, 3, 4])
            self.assertEqual(file["time"].units, "days since 1999-12-31")

    def test_adds_steps_to_a_master(self):
        for version in VERSIONS:
            self.write("source.nc", (0, 1), data=self.values()[:2])
            self.split(cfa_version=version, subarray_shape="1,6,8")
            self.write("next.nc", (2,), data=self.values()[2:3])
            self.write("last.nc", (3,), data=self.values()[3:])
            run("append", "m.nca", "next.nc")
            np.testing.assert_array_equal(read("m.nca"), self.values()[:3])
            run("append", "m.nca", "last.nc")
            np.testing.assert_array_equal(read("m.nca"), self.values())
            with netCDF4.Dataset("m.nca") as file:
                self.assertIn(version, file.Conventions)
            os.remove("source.nc")

    def test_adds_earlier_steps_to_a_master_without_a_word(self):
        """Attributes that say where fragments are are none of the variable, which the earlier file lacks."""
        self.write("early.nc", (0, 1), data=self.values(2))
        self.write("late.nc", (2, 3), data=self.values()[2:])
        for version in VERSIONS:
            self.combine("late.nc", version=version, name="m.nca")
            run("index", "late.nc", "--along", "time", "-o", "all.nc")
            for master in ("m.nca", "all.nc"):
                done = subprocess.run([REFS, "append", master, "early.nc"], capture_output=True, text=True, check=True)
                self.assertEqual(done.stderr, "")
                np.testing.assert_array_equal(read(master), self.values())

    def test_adds_to_masters_of_any_name(self):
        for day in range(3):
            self.write(f"d{day}.nc", (day,), data=self.values()[day:day + 1])
        run("index", "d0.nc", "d1.nc", "-q", "-o", "index.nc")
        for version in VERSIONS:
            self.combine("d0.nc", "d1.nc", version=version, name=f"v{version}.nc")
        for master in ("index.nc", *(f"v{version}.nc" for version in VERSIONS)):
            run("append", master, "d2.nc")
            np.testing.assert_array_equal(read(master), self.values()[:3])
        self.assertIn("expected a set, found a data file", run("append", "d0.nc", "d1.nc", status=2))

    def test_adds_what_was_split_as_the_master_is(self):
        self.write("source.nc", (0, 1), data=self.values()[:2])
        self.split(subarray_shape="1,3,8")
        self.write("next.nc", (2, 3), data=self.values()[2:])
        self.assertIn("fragments differ from those of", run("append", "m.nca", "next.nc", status=1))
        self.split("next.nca", "next.nc", subarray_shape="1,3,8")
        run("append", "m.nca", *glob.glob("next/*.nc"))
        np.testing.assert_array_equal(read("m.nca"), self.values())

    def test_refuses_what_lies_elsewhere(self):
        def mapped(name, time, **attributes):
            self.write(name, (time,), data=self.values()[time : time + 1])
            with netCDF4.Dataset(name, "a") as file:
                file.createVariable("crs", "i4").setncatts(attributes)
                file["tas"].grid_mapping = "crs"
            return name

        one = {"grid_mapping_name": "latitude_longitude", "earth_radius": 6371229.0}
        for other, said in (({**one, "earth_radius": 6378137.0}, "6378137"),
                            ({**one, "grid_mapping_name": "mercator"}, "mercator")):
            said_all = self.combine(mapped("a.nc", 0, **one), mapped("b.nc", 1, **other), status=1)
            self.assertIn("grids of a.nc and b.nc differ: crs", said_all)
            self.assertIn(said, said_all)
        mapped("b.nc", 1, **one)
        self.combine("a.nc", "b.nc")
        with netCDF4.Dataset("b.nc", "a") as file:
            file["lat"][2:] = [10, 9, 8, 7]
        self.assertIn("differ in value 2 (48 and 10)", self.combine("a.nc", "b.nc", status=1))

    def write_pair(self, times, lat=None, lon=None, calendar="standard"):
        """Two files; the second has other coordinates."""
        self.write("a.nc", (0, 1), data=self.values()[:2])
        self.write("b.nc", times, data=self.values()[2:])
        for name, said in (("a.nc", "standard"), ("b.nc", calendar)):
            with netCDF4.Dataset(name, "a") as file:
                file["time"].calendar = said
                if name == "b.nc" and lat is not None:
                    file["lat"][:] = lat
                if name == "b.nc" and lon is not None:
                    file["lon"][:] = lon

    def write_parts(self, name, time, *, shift=0.0, mask=1.0, height=(2.0, "m"), units="Pa", values="u1", **more):
        with netCDF4.Dataset(name, "w") as file:
            for dim, n in (("time", 1), ("y", 4), ("x", 5)):
                file.createDimension(dim, n)
            file.createVariable("time", "f8", ("time",))[:] = time
            file["time"].units = "days since 2000-01-01"
            for axis, unit in (("lat", "degrees_north"), ("lon", "degrees_east")):
                file.createVariable(axis, more.get("grid", "f8"), ("y", "x")).units = unit
                file[axis][:] = np.arange(20.0).reshape(4, 5) + shift
            file.createVariable("mask", "f4", ("y", "x"))[:] = mask
            file.createVariable("height", "f8", ()).units = height[1]
            file["height"][:] = height[0]
            if values == "text":
                file.createVariable("v", str, ("time", "y", "x"))
            else:
                v = file.createVariable("v", values, ("time", "y", "x"))
                v.setncatts({"units": units, "coordinates": "lat lon height", **more.get("attributes", {})})
                v[:] = time

    def test_compares_what_all_files_have(self):
        """As refs index does: grids, static variables, scalar coordinates, types, units."""
        self.write_parts("a.nc", 1)
        for change, said, status in (
            (dict(grid="f4"), None, 0),
            (dict(shift=0.5), "the grids of a.nc and b.nc differ: element 0 of lat is 0 and 0.5", 1),
            (dict(shift=0.5, grid="f4"), "element 0 of lat is 0 and 0.5", 1),
            (dict(mask=2), "mask: differs between a.nc and b.nc, element 0 of mask is 1 and 2: keeping the first", 0),
            (dict(height=(0.002, "km")), None, 0),
            (dict(height=(10, "K")), 'height: cannot convert its units "m" (a.nc) and "K" (b.nc)', 1),
            (dict(units="hPa"), None, 0),
            (dict(values="text"), "v: its type differs between a.nc and b.nc", 1),
            (dict(attributes={"cell_methods": "time: mean"}), 'v: cell_methods is "" in a.nc and "time: mean"', 0),
        ):
            with self.subTest(**change):
                self.write_parts("b.nc", 2, **change)
                for version in VERSIONS:
                    heard = self.combine("a.nc", "b.nc", version=version, status=status)
                    self.assertIn(said, heard) if said else self.assertEqual(heard, "")
                    self.combine("a.nc", version=version, name="m.nca")
                    heard = run("append", "m.nca", "b.nc", status=status)
                    if status != 0:
                        self.assertIn(said, heard)
                        continue
                    for name in "again.nca", "m.nca":
                        values = gdal.Open(f'REFS:"{name}":/v').ReadAsArray()[:, 0, 0].tolist()
                        self.assertEqual(values, [1, 200 if "units" in change else 2])

    def test_compares_fields_without_the_joined_dimension(self):
        """Though no other field has more dimensions than they."""
        for name, time in (("a.nc", 1), ("b.nc", 2)):
            with netCDF4.Dataset(name, "w") as file:
                for dim, n in (("time", 1), ("y", 2), ("x", 3)):
                    file.createDimension(dim, n)
                file.createVariable("time", "f8", ("time",)).units = "days since 2000-01-01"
                file["time"][:] = time
                file.createVariable("v", "f4", ("time", "x"))[:] = time
                file.createVariable("s", "u8", ("y", "x"))[:] = time
        said = self.combine("a.nc", "b.nc")
        self.assertIn("s: differs between a.nc and b.nc, element 0 of s is 1 and 2: keeping the first", said)
        self.assertEqual(read("again.nca", "s").tolist(), [[1] * 3] * 2)

    def test_compares_large_fields_without_the_concat_dimension(self):
        """As refs index does, whether the dimension is named or found."""
        for name, time in (("a.nc", 1), ("b.nc", 2)):
            with netCDF4.Dataset(name, "w") as file:
                file.createDimension("time", 1)
                file.createDimension("x", 20000)
                file.createVariable("time", "f8", ("time",)).units = "days since 2000-01-01"
                file["time"][:] = time
                file.createVariable("v", "f4", ("time", "x"))[:] = time
                file.createVariable("s", "f4", ("x",))[:] = np.arange(20000)
                file["s"][-1] = time
        for options in (), ("--along", "time"):
            said = self.combine("a.nc", "b.nc", options=options)
            self.assertIn("s: differs between a.nc and b.nc, s differs in rows 13333 to 19999: keeping the first", said)

    def test_variables_named_like_those_that_describe_fragments(self):
        with netCDF4.Dataset("a.nc", "w") as file:
            file.createDimension("time", 1)
            for name in "time", "v", "v_identifiers":
                file.createVariable(name, "f8", ("time",) if name != "v_identifiers" else ())[...] = 1
            file["time"].units = "days since 2000-01-01"
        said = self.combine("a.nc", version="1.13", status=1)
        self.assertIn("v_identifiers cannot be written: expected unique names, found a variable of this name and one that describes fragments", said)
        self.assertIn("leave it out (--variables)", said)

    def test_integers_in_other_units_are_converted(self):
        for values, attributes in (("i4", {}), ("i2", {}), ("i4", {"valid_max": np.int32(50)})):
            with self.subTest(values=values, attributes=attributes):
                self.write_parts("a.nc", 1, values=values, attributes=attributes)
                self.write_parts("b.nc", 2, values=values, units="hPa", attributes=attributes)
                self.combine("a.nc", "b.nc")
                bands = gdal.Open('REFS:"again.nca":/v').ReadAsArray()
                self.assertEqual(bands[:, 0, 0].tolist(), [1, 200])

    def write_days(self, name, day, *, units="days since 2000-01-01", bounds=True, packed=None, data=True, lon=0):
        """A day, whose time has bounds; orog is what all have."""
        since = int(units.split("-")[-1]) - 1
        with netCDF4.Dataset(name, "w") as file:
            for dim, n in (("time", 1), ("lat", 2), ("lon", 2), ("nv", 2)):
                file.createDimension(dim, n)
            for axis, unit, values in (("lat", "degrees_north", [1, 0]), ("lon", "degrees_east", [lon, lon + 1])):
                file.createVariable(axis, "f8", (axis,)).units = unit
                file[axis][:] = values
            time = file.createVariable("time", "i2" if packed else "f8", ("time",))
            time.setncatts({"units": units, **({"bounds": "time_bnds"} if bounds else {})})
            if packed:
                time.setncatts({"scale_factor": 0.5, "add_offset": float(packed)})
            time[:] = day - since
            if bounds:
                file.createVariable("time_bnds", "f8", ("time", "nv"))[:] = [[day - since, day - since + 1]]
            file.createVariable("orog", "f4", ("lat", "lon"))[:] = lon
            if data:
                file.createVariable("v", "f4", ("time", "lat", "lon"))[:] = day + lon
        return name

    def test_flags_that_differ_are_left_out_or_with_strict_an_error(self):
        names = [self.write_days(f"{day}.nc", day) for day in range(3)]
        for name, meanings in zip(names, ("sea land", "sea land", "land sea")):
            with netCDF4.Dataset(name, "a") as file:
                file["v"].setncatts({"flag_values": np.float32([0, 1]), "flag_meanings": meanings})
        for version in VERSIONS:
            self.combine(*names[:2], version=version, options=("--strict",))
            with netCDF4.Dataset("again.nca") as file:
                self.assertEqual(file["v"].flag_meanings, "sea land")
            self.assertIn("v: 0.nc and 2.nc differ in flag_values", run("append", "--strict", "again.nca", names[2], status=1))
            with netCDF4.Dataset("again.nca") as file:
                self.assertEqual(file["v"].flag_meanings, "sea land")
            done = subprocess.run([REFS, "append", "again.nca", names[2]], capture_output=True, text=True, check=True)
            self.assertIn("v: 0.nc and 2.nc differ in flag_values", done.stderr)
            self.assertIn("v: 0.nc and 2.nc differ in flag_values", self.combine(*names, version=version, name="new.nca"))
            for name in "again.nca", "new.nca":
                with netCDF4.Dataset(name) as file:
                    self.assertNotIn("flag_meanings", file["v"].ncattrs(), name)
                    self.assertNotIn("flag_values", file["v"].ncattrs(), name)
            os.remove("new.nca")
            self.assertIn("leave out --strict", self.combine(*names, version=version, name="new.nca", options=("--strict",), status=1))
            self.assertFalse(os.path.exists("new.nca"))

    def test_dimensions_that_are_named_are_the_joined_ones(self):
        a, b, tile = self.write_days("a.nc", 1), self.write_days("b.nc", 2), self.write_days("tile.nc", 2, lon=10)
        for version in VERSIONS:
            self.combine(a, b, version=version, options=("--along", "time"))
            np.testing.assert_array_equal(read("again.nca", "v")[:, 0, 0], [1, 2])
            before = dump("again.nca")
            self.assertIn("a.nc and tile.nc differ: element 0 of lon is 0 and 10",
                          self.combine(a, tile, version=version, name="new.nca", options=("--along", "time"), status=1))
            for name, said in (("tim", 'no source has a dimension "tim": did you mean time? existing dimensions: '),
                               ("nonsense", 'no source has a dimension "nonsense": existing dimensions: '), ("v", '"v": existing dimensions: ')):
                for names in (a,), (a, b):
                    self.assertIn(said, self.combine(*names, version=version, name="new.nca", options=("--along", name), status=1))
                self.assertIn(said, run("append", "--along", name, "again.nca", tile, status=1))
            self.assertEqual(dump("again.nca"), before)
            self.assertFalse(os.path.exists("new.nca"))

    def test_a_lost_fragment_is_told_beside_those_of_nothing(self):
        data = self.values()
        data[1] = -9999
        self.write("source.nc", data=data)
        self.split(cfa_version="1.13", subarray_shape="1,6,8")
        names = sorted(glob.glob("m/*.nc"))
        self.assertTrue([name for name in names if ".fill." in name], names)
        self.combine(*names, version="1.13")
        said = self.combine(*(name for name in names if not name.endswith("tas.2.0.0.nc")), version="1.13")
        self.assertIn("tas: 1 of 4 fragments were written, but are not among the sources", said)

    def test_an_outline_of_other_fragments_is_an_error(self):
        data = self.values()
        data[1] = -9999
        for version in VERSIONS:
            for name, times in (("n.nca", (100, 101, 102, 103)), ("m.nca", (0, 1, 2, 3))):
                self.write("source.nc", times, data=data)
                self.split(name, cfa_version=version, subarray_shape="1,6,8")
            shutil.copy("n/n.outline.nca", "m/m.outline.nca")
            said = self.combine(*sorted(glob.glob("m/*.nc")), version=version, status=1)
            self.assertRegex(said, r"element (\d) of time is \1, but 10\1 in the manifest of empty fragments, which belongs to another split")

    def test_times_that_are_converted_leave_what_was_told_of_them_before(self):
        for version in VERSIONS:
            for day, units in ((0, "days since 2000-01-01"), (31, "days since 2000-01-11")):
                with netCDF4.Dataset(self.write_days(f"{day}.nc", day, units=units, bounds=False), "a") as file:
                    file["time"].setncatts({"missing_value": 31.0, "valid_range": np.array([0.0, 25.0]), "actual_range": [0.0, 21.0],
                                            "long_name": "time"})
            self.combine("0.nc", "31.nc", version=version)
            with netCDF4.Dataset("again.nca") as file:
                self.assertEqual(file["time"][:].filled(-1).tolist(), [0, 31])
                self.assertEqual({"units", "long_name"}, set(file["time"].ncattrs()) - {"_FillValue"})

    def test_bounds_have_the_units_of_their_coordinate(self):
        for version in VERSIONS:
            self.combine(self.write_days("a.nc", 0), self.write_days("b.nc", 31, units="days since 2000-01-11"),
                         version=version)
            with netCDF4.Dataset("again.nca") as file:
                np.testing.assert_array_equal(file["time"][:], [0, 31])
                np.testing.assert_array_equal(file["time_bnds"][:], [[0, 1], [31, 32]])

    def write_missing(self, name, day, *, units="days since 2000-01-01", unit="m", bounds=(-9999, -9999), heights=(-9999, -9999), kind="f8"):
        with netCDF4.Dataset(name, "w") as file:
            for dim, n in (("time", 1), ("x", 2), ("nv", 2)):
                file.createDimension(dim, n)
            file.createVariable("time", "f8", ("time",)).setncatts({"units": units, "bounds": "time_bnds"})
            file["time"][:] = day
            if bounds is not None:
                file.createVariable("time_bnds", kind, ("time", "nv"), fill_value=-9999)[:] = bounds
            file.createVariable("h", "f4", ("time", "x"), fill_value=-9999).units = unit
            file["h"][:] = heights
            file.createVariable("v", "f4", ("time", "x"), fill_value=-1).coordinates = "h"
            file["v"][:] = day
        return name

    def test_missing_values_are_not_converted(self):
        for version, kind, options in itertools.product(VERSIONS, ("f8", "i4"), ((), ("--common-date", "days since 1999-12-31"))):
            first = 1 if options else 0
            names = (self.write_missing("a.nc", 0, bounds=(0, -9999), heights=(2, -9999), kind=kind),
                     self.write_missing("b.nc", 0, units="days since 2000-01-05", unit="km", bounds=(-9999, 1), heights=(-9999, 3), kind=kind),
                     self.write_missing("c.nc", 1, units="days since 2000-01-05", unit="km", kind=kind))
            self.combine(*names, version=version, options=options)
            with netCDF4.Dataset("again.nca") as file:
                self.assertEqual(file["time"][:].tolist(), [first, first + 4, first + 5])
                self.assertEqual(file["time_bnds"][:].filled(-1).tolist(), [[first, -1], [-1, first + 5], [-1, -1]])
                self.assertEqual(file["h"][:].filled(-1).tolist(), [[2, -1], [-1, 3000], [-1, -1]])
        self.combine(self.write_missing("a.nc", 0), self.write_missing("b.nc", 1, unit="km", heights=(np.nan, 3)))
        with netCDF4.Dataset("again.nca") as file:
            file.set_auto_mask(False)
            np.testing.assert_array_equal(file["h"][1], [np.nan, 3000])

    def test_missing_values_stay_missing_where_times_become_double(self):
        for version in VERSIONS:
            names = (self.write_missing("a.nc", 0, bounds=(0, 1), kind="f4"),
                     self.write_missing("b.nc", 0, units="days since 2000-01-05", bounds=(-9999, 1), kind="f4"),
                     self.write_missing("c.nc", 5, bounds=None), self.write_missing("d.nc", 6, kind="f4"))
            self.assertIn("time_bnds: 2 of 8 values are missing: no source has them", self.combine(*names, version=version))
            with netCDF4.Dataset("again.nca") as file:
                self.assertEqual(file["time_bnds"].dtype, "f8")
                file.set_auto_mask(False)
                self.assertEqual(file["time_bnds"][:].tolist(), [[0, 1], [-9999, 5], [-9999, -9999], [-9999, -9999]])
                self.assertEqual(file["time_bnds"]._FillValue, -9999)

    def test_bounds_that_a_source_lacks_are_missing(self):
        for version in VERSIONS:
            said = self.combine(self.write_days("a.nc", 0), self.write_days("b.nc", 1, bounds=False), version=version)
            self.assertIn("time_bnds: 2 of 4 values are missing: no source has them", said)
            with netCDF4.Dataset("again.nca") as file:
                self.assertEqual(file["time_bnds"][:].filled(-1).tolist(), [[0, 1], [-1, -1]])

    def test_times_are_packed_alike(self):
        for second, status in ((10, 0), (20, 1)):
            said = self.combine(self.write_days("a.nc", 10, packed=10, bounds=False),
                                self.write_days("b.nc", 12, packed=second, bounds=False), status=status)
            self.assertIn("time of a.nc and of b.nc cannot be combined" if status else "", said)
        self.combine("a.nc", self.write_days("b.nc", 12, packed=10, bounds=False))
        with netCDF4.Dataset("again.nca") as file:
            np.testing.assert_array_equal(file["time"][:], [10, 12])
        self.combine("a.nc", "b.nc", options=("--common-date", "days since 1999-12-31"))
        with netCDF4.Dataset("again.nca") as file:
            np.testing.assert_array_equal(file["time"][:], [11, 13])
            self.assertEqual(file["time"].ncattrs(), ["units"])

    def test_a_source_without_data_has_coordinates_all_the_same(self):
        for version in VERSIONS:
            said = self.combine(self.write_days("a.nc", 0, data=False), self.write_days("b.nc", 1), version=version)
            self.assertIn("v is missing in 1 of 2 sources", said)
            values = gdal.Open('REFS:"again.nca":/v').ReadAsArray()
            self.assertEqual(values[1].tolist(), [[1, 1], [1, 1]])

    def test_tiles_share_what_does_not_vary(self):
        for version in VERSIONS:
            names = [self.write_days(f"d{day}-{lon}.nc", day, lon=lon) for day in (0, 1) for lon in (0, 2)]
            self.assertEqual(self.combine(*names, version=version), "refs: warning: the sources are treated as tiles, and "
                             "combined along time (2) and lon (2)\n")
            orog, values = (gdal.Open(f'REFS:"again.nca":/{name}').ReadAsArray() for name in ("orog", "v"))
            self.assertEqual(orog[0].tolist(), [0, 0, 2, 2])
            self.assertEqual(values[1, 0].tolist(), [1, 1, 3, 3])

    def test_holds_coordinates_to_what_index_asks_of_them(self):
        lat, lon = np.arange(50.0, 44, -1), np.arange(8.0)
        for case, said in (
            (dict(times=(2, 3), lat=lat[::-1]), "lat"),
            (dict(times=(2, 3), lat=lat + 1e-7), "a.nc (50 to 45, 6 values)"),
            (dict(times=(1, 2)), "a.nc and b.nc overlap along time"),
            (dict(times=(3, 2)), "time ascends in a.nc and descends in b.nc: expected one direction in all sources"),
            (dict(times=(-1, 2)), "b.nc: cannot be one fragment: its steps along time are not ascending"),
            (dict(times=(2, 3), lon=lon + 180), "differ, and are not tiles of one grid"),
            (dict(times=(2, 3), calendar="noleap"), '(standard) and "days since 2000-01-01" (noleap)'),
        ):
            with self.subTest(**case):
                self.write_pair(**case)
                is_reversed = "lat" in case and case["lat"][0] < case["lat"][1]
                for version in VERSIONS:
                    self.assertIn(said, self.combine("a.nc", "b.nc", version=version, status=1))
                    self.assertFalse(os.path.exists("again.nca"))
                    self.combine("a.nc", version=version, name="m.nca")
                    before = dump("m.nca")
                    self.assertIn(said, run("append", "m.nca", "b.nc", status=1))
                    self.assertEqual(dump("m.nca"), before)
                if not is_reversed:  # see below
                    self.assertIn(said, run("index", "a.nc", "b.nc", "-o", "all.nc", status=1))

    def test_large_arrays_that_are_upside_down_in_a_source_are_an_error(self):
        lat = np.arange(60.0, -61, -2)
        for i, name in enumerate(("a.nc", "b.nc", "c.nc")):
            with netCDF4.Dataset(name, "w") as file:
                for dim, n in (("time", 1), ("lat", 61), ("lon", 120)):
                    file.createDimension(dim, n)
                file.createVariable("time", "f8", ("time",)).units = "days since 2000-01-01"
                file["time"][:] = i
                file.createVariable("lat", "f8", ("lat",)).units = "degrees_north"
                file["lat"][:] = lat[::-1] if name == "c.nc" else lat
                file.createVariable("lon", "f8", ("lon",))[:] = np.arange(120)
                file.createVariable("v", "f4", ("time", "lat", "lon"), chunksizes=(1, 31, 60))[:] = i
        said = "lat descends in a.nc and ascends in c.nc: expected one direction in all sources: reverse the second (ncpdq -a -lat)"
        for names in itertools.permutations(("a.nc", "c.nc")):
            for output in ("all.json", "all.nc"):
                self.assertIn(said, run("index", *names, "-q", "-o", output, status=1))
            self.assertIn(said, self.combine(*names, status=1))
        self.assertIn(said, run("index", "a.nc", "b.nc", "c.nc", "-q", "-o", "all.json", status=1))

    def test_a_set_of_steps_without_a_direction_is_no_fragment_among_those_that_descend(self):
        for name, lat in (("a.nc", (60, 30)), ("b.nc", (0,)), ("c.nc", (-30,))):
            with netCDF4.Dataset(name, "w") as file:
                file.createDimension("lat", len(lat))
                file.createDimension("lon", 40)
                file.createVariable("lat", "f8", ("lat",))[:] = lat
                file.createVariable("v", "f4", ("lat", "lon"), chunksizes=(1, 40))[:] = 1
        run("index", "b.nc", "c.nc", "-o", "bc.json")
        said = "lat descends in a.nc and ascends in bc.json"
        self.assertRegex(self.combine("a.nc", "bc.json", "--along", "lat", status=1), f"{said}.*use the files of a set")
        run("combine", "a.nc", "bc.json", "--along", "lat", "-o", "all.json")
        self.assertEqual(self.combine("a.nc", "b.nc", "c.nc", "--along", "lat"), "")

    def test_small_arrays_that_are_upside_down_in_a_source_are_turned(self):
        """Those that refs index puts into a master: fragments are not turned."""
        self.write_pair((2, 3), lat=np.arange(45.0, 51))
        run("index", "a.nc", "b.nc", "-q", "-o", "all.nc")
        values = self.values()
        values[2:] = values[2:, ::-1]
        order = np.argsort(-read("all.nc", "lat"))
        np.testing.assert_array_equal(read("all.nc")[:, order], values)

    def test_scalar_times_that_differ_vary_along_time(self):
        for day in range(4):
            self.write(f"{day}.nc", (day,))
            with netCDF4.Dataset(f"{day}.nc", "a") as file:
                valid = file.createVariable("valid", "f8", ())
                valid.units = "hours since 2000-01-01" if day else "days since 2000-01-01"
                valid[...] = 24 * max(day, 1) + 6 if day else 1.25
        for version in VERSIONS:
            run("combine", "--format", "cfa", "--cfa-version", version, "0.nc", "1.nc", "-o", "m.nca")
            self.assertEqual(read("m.nca", "valid").tolist(), 1.25)
            for grow in (("append", "m.nca", "2.nc", "3.nc"),
                         ("combine", "--format", "cfa", "--cfa-version", version, *[f"{day}.nc" for day in range(4)], "-o", "m.nca")):
                run(*grow)
                self.assertEqual(read("m.nca", "valid").tolist(), [1.25, 1.25, 2.25, 3.25])

    def test_warns_of_steps_between_files(self):
        self.write_pair((5, 6))
        for output, *arguments in (("all.nc", "combine", "--format", "cfa"), ("all.nc", "index"), ("all.json", "index")):
            done = subprocess.run([REFS, *arguments, "a.nc", "b.nc", "-o", output],
                                  capture_output=True, text=True, check=True)
            self.assertIn("time: 1 gap between 2000-01-02T00:00:00 (a.nc) and 2000-01-06T00:00:00 (b.nc), where a step is 1 (days)", done.stderr)
            for name, day, said in (("c.nc", 7, ""), ("d.nc", 10, "time: 1 gap between 2000-01-08T00:00:00")):
                self.write(name, (day,), data=self.values()[:1])
                done = subprocess.run([REFS, "append", output, name], capture_output=True, text=True, check=True)
                self.assertIn(said, done.stderr)
                self.assertEqual("gap" in done.stderr, said != "")

    def test_tiles_that_are_not_there_are_missing_where_dimensions_are_named(self):
        names = [f"{t}{y}.nc" for t, y in ((0, 0), (0, 1), (1, 0))]
        for name in names:
            t, y = int(name[0]), int(name[1])
            with netCDF4.Dataset(name, "w") as file:
                for dim, values in (("time", [t]), ("lat", np.arange(3) + 3 * y), ("lon", np.arange(8))):
                    file.createDimension(dim, len(values))
                    file.createVariable(dim, "f8", (dim,))[:] = values
                file["time"].units = "days since 2000-01-01"
                file.createVariable("tas", "f4", ("time", "lat", "lon"), fill_value=-9999)[:] = 10 * t + y
        self.assertIn("name the concat dimensions", self.combine(*names, status=1))
        self.combine(*names, options=("--along", "time", "--along", "lat"))
        self.assertEqual(read("again.nca")[:, ::3, 0].tolist(), [[0, 1], [10, -9999]])

    def test_units_of_a_common_date_that_are_none_are_an_error(self):
        self.write_pair((2, 3))
        said = self.combine("a.nc", "b.nc", options=("--common-date", "days sinc 1970-01-01"), status=1)
        self.assertIn('--common-date: expected units of time such as "days since 1970-01-01", found "days sinc', said)

    def test_refuses_what_has_no_place(self):
        self.write("a.nc", (0, 1), data=self.values()[:2])
        self.write("b.nc", (0, 1), data=self.values()[:2])
        self.assertIn("a.nc and b.nc cover the same region", self.combine("a.nc", "b.nc", status=1))
        self.split(subarray_shape="1,6,8")
        os.remove("m/m.tas.1.0.0.nc")
        os.remove("m/m.outline.nca")
        said = self.combine(*glob.glob("m/*.nc"), status=1)
        self.assertIn("the size of fragment number 1 along time is unknown", said)
        self.assertIn("split the source again", said)
        self.assertFalse(os.path.exists("again.nca"))


class Steps(Folder):
    """Where combine --format cfa and append put what files have."""

    def tiles(self, name, time, units, lon, dtype="f8", lon_dtype="f8"):
        with netCDF4.Dataset(name, "w") as file:
            for dim, n in (("time", 1), ("lat", 2), ("lon", 3)):
                file.createDimension(dim, n)
            axes = [file.createVariable(dim, kind, (dim,)) for dim, kind in (("time", dtype), ("lat", "f8"), ("lon", lon_dtype))]
            axes[0].units, axes[1].units, axes[2].units = units, "degrees_north", "degrees_east"
            axes[0][:], axes[1][:], axes[2][:] = time, (50, 49), lon + np.arange(3) * 0.1
            file.createVariable("tas", "f4", ("time", "lat", "lon"), fill_value=-9999)[:] = lon
        return name

    def combine(self, *sources, options=(), status=0):
        return run("combine", *sources, "-o", "m.nca", "--format", "cfa", *options, status=status)

    def test_of_one_instant_in_two_units_are_one(self):
        days, hours = "days since 2000-01-01", "hours since 2000-01-01"
        for one, other in ((0.1, 2.4), (0.7, 16.8), (1.1, 26.4)):
            a, b = self.tiles("a.nc", one, days, 10), self.tiles("b.nc", other, hours, 10.3)
            c, d = self.tiles("c.nc", one + 1, days, 10), self.tiles("d.nc", other + 24, hours, 10.3)
            self.combine(a, b, c, d, options=("--along", "time", "--along", "lon"))
            np.testing.assert_array_equal(read("m.nca", "time"), [one, one + 1])
            np.testing.assert_array_equal(read("m.nca"), np.tile(np.float32([10] * 3 + [10.3] * 3), (2, 2, 1)))

    def test_in_integers_of_nanoseconds_stay_exact_or_are_refused(self):
        start = 1700000000 * 10**9
        for name, units, times in (("a.nc", "nanoseconds since 1970-01-01", start + np.array((1, 2))),
                                   ("b.nc", "nanoseconds since 1970-01-01", start + np.array((3, 4))),
                                   ("c.nc", "nanoseconds since 1970-01-02", start + np.array((5, 6))),
                                   ("d.nc", "days since 1970-01-01", np.array((1, 2)))):
            with netCDF4.Dataset(name, "w") as file:
                file.createDimension("time", 2)
                file.createDimension("x", 2)
                file.createVariable("time", "i8", ("time",)).units = units
                file["time"][:] = times
                file.createVariable("v", "f4", ("time", "x"))[:] = 1
        self.combine("a.nc", "b.nc", options=("--along", "time"))
        self.assertEqual(read("m.nca", "time").tolist(), [start + i for i in (1, 2, 3, 4)])
        self.combine("a.nc", "c.nc", options=("--along", "time"))
        self.assertEqual(read("m.nca", "time").tolist(), [start + i for i in (1, 2, 5 + 86400 * 10**9, 6 + 86400 * 10**9)])
        self.assertIn("c.nc: time: cannot convert the time 1700000000000000005 to the units of the first source exactly",
                      self.combine("c.nc", "d.nc", options=("--along", "time"), status=1))

    def test_a_second_apart_are_two(self):
        names = [self.tiles(f"{k}.nc", 1700000000 + k, "seconds since 1970-01-01", 10) for k in range(3)]
        self.combine(*names)
        np.testing.assert_array_equal(read("m.nca", "time"), 1700000000 + np.arange(3))

    def test_of_coordinates_in_single_and_double_precision_are_one(self):
        a, b = self.tiles("a.nc", 0, "days since 2000-01-01", 10.1), self.tiles("b.nc", 1, "days since 2000-01-01", 10.1, lon_dtype="f4")
        self.combine(a, b)
        self.assertEqual(read("m.nca").shape, (2, 2, 3))

    def test_are_not_guessed_where_a_coordinate_is_lacking(self):
        first, second = (self.tiles(f"{k}.nc", k, "days since 2000-01-01", 10) for k in range(2))
        with netCDF4.Dataset("other.nc", "w") as file:
            file.createDimension("time", 1)
            file.createDimension("station", 2)
            file.createVariable("wind", "f4", ("station",), fill_value=-1)[:] = 7
            file["wind"].coordinates = "height"
            file.createVariable("height", "f8", ("time",))[:] = 5
        said = self.combine(first, second, "other.nc", status=1)
        self.assertIn("no variable in common: 0.nc has ", said)
        with netCDF4.Dataset("bare.nc", "w") as file:
            for dim, n in (("time", 1), ("lat", 2), ("lon", 3)):
                file.createDimension(dim, n)
            file.createVariable("tas", "f4", ("time", "lat", "lon"), fill_value=-9999)[:] = 3
        self.assertIn("0.nc and bare.nc cannot be ordered along time: expected its coordinate in both, of one type, found none in bare.nc: "
                      "leave one of them out, or combine along other dimensions", self.combine(first, "bare.nc", status=1))

    def test_of_numbered_fragments_may_lack_a_coordinate(self):
        self.split(subarray_shape="2,6,8")
        with netCDF4.Dataset("m/m.tas.1.0.0.nc") as old, netCDF4.Dataset("bare.nc", "w") as new:
            for dim in old.dimensions.values():
                new.createDimension(dim.name, dim.size)
            for name in ("lat", "lon", "tas"):
                old[name].set_auto_mask(False)
                copy = new.createVariable(name, old[name].dtype, old[name].dimensions,
                                          fill_value=getattr(old[name], "_FillValue", None))
                copy.setncatts({key: old[name].getncattr(key) for key in old[name].ncattrs() if key != "_FillValue"})
                copy[:] = old[name][:]
        os.replace("bare.nc", "m/m.tas.1.0.0.nc")
        os.remove("m/m.outline.nca")
        for units in ("days since 2000-01-01", "hours since 1970-01-01"):
            done = subprocess.run([REFS, "combine", "--format", "cfa", "--common-date", units, "m/m.tas.0.0.0.nc", "m/m.tas.1.0.0.nc",
                                   "-o", "g.nca"], capture_output=True, text=True, check=True)
            self.assertIn("missing", done.stderr)
            np.testing.assert_array_equal(read("g.nca"), self.values())
            self.assertTrue((read("g.nca", "time")[2:] > 9e36).all())

    def test_without_a_coordinate_follow_those_of_the_master(self):
        def write(name, values, dims):
            with netCDF4.Dataset(name, "w") as file:
                file.createDimension("time", len(values))
                file.createDimension("x", 3)
                file.createVariable("v", "f4", dims, fill_value=-1)[:] = values
            return name

        for version, dims in itertools.product(VERSIONS, (("time",), ("time", "x"))):
            whole = np.arange(6 if len(dims) == 1 else 18, dtype="f4").reshape([6, 3][:len(dims)])
            self.combine(write("a.nc", whole[:2], dims), write("b.nc", whole[2:3], dims), options=("--cfa-version", version))
            run("split", write("source.nc", whole[:3], dims), "-o", "s.nca", "--cfa-version", version, "--subarray-shape", "time=2")
            for master in ("m.nca", "s.nca"):
                run("append", master, write("c.nc", whole[3:4], dims))
                run("append", master, write("d.nc", whole[4:], dims))
                np.testing.assert_array_equal(read(master, "v"), whole)
                said = run("append", master, "file://" + self.path("c.nc"), status=1)
                self.assertIn(f"{self.path('c.nc')}: {master} already has this fragment: leave it out", said)
            whole[:2] = -1
            run("split", write("source.nc", whole[:4], dims), "-o", "s.nca", "--cfa-version", version, "--subarray-shape", "time=2")
            said = run("append", "s.nca", "d.nc", status=1)
            self.assertIn("time has no coordinate, and its 4 steps are not those of the files of s.nca", said)

    def test_of_files_with_numbers_that_no_fragment_has_follow_their_coordinates(self):
        self.write("source.nc", range(4), data=self.values())
        for number in (2**25, 2**32, 2**64 - 1):
            self.split(subarray_shape="1,6,8")
            last = f"m/m.tas.{number}.0.0.nc"
            os.rename("m/m.tas.3.0.0.nc", last)
            self.combine(*(f"m/m.tas.{i}.0.0.nc" for i in range(3)), last)
            np.testing.assert_array_equal(read("m.nca"), self.values())
            shutil.rmtree("m")

    def test_of_one_dimension_with_two_lengths_are_an_error(self):
        def array(shape):
            return json.dumps({"zarr_format": 2, "dtype": "<f4", "shape": shape, "chunks": shape, "compressor": None, "filters": None,
                               "order": "C", "fill_value": None})
        names = json.dumps({"_ARRAY_DIMENSIONS": ["t", "x"]})
        for name in ("a.json", "b.json"):
            with open(name, "w", encoding="ascii") as file:
                json.dump({"refs": {".zgroup": '{"zarr_format": 2}', "u/.zarray": array([2, 4]), "u/.zattrs": names,
                                    "w/.zarray": array([2, 5]), "w/.zattrs": names}}, file)
        self.assertIn("dimension x has different sizes: 4 and 5",
                      self.combine("a.json", "b.json", options=("--along", "t"), status=1))


class Others(Folder):
    """Programs that write or replace what is read or written."""

    def days(self, n):
        names = [self.write(f"d{day}.nc", (day,), data=self.values(n)[day : day + 1]) for day in range(n)]
        return names[0], names[1:]

    def make(self, output, first, version="0.5"):
        if output.endswith(".nca"):
            run("combine", "--format", "cfa", "--cfa-version", version, first, "-o", output)
        else:
            run("index", first, "-q", "--along", "time", "-o", output)

    def test_that_append_are_told(self):
        first, (second, *_) = self.days(2)
        for output in ("m.nca", "all.json"):
            self.make(output, first)
            with open(output, "r+b") as file:
                fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqixxxx", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
                self.assertIn("another program appends to it", run("append", output, second, status=1))
                self.assertEqual(len(read(output)), 1)
            run("append", output, second, "-q")
            np.testing.assert_array_equal(read(output), self.values(2))

    @unittest.skipIf(os.geteuid() != 0, "needs root to run append as a user who may only read the output")
    def test_that_append_are_told_to_those_who_may_only_read(self):
        first, (second, *_) = self.days(2)
        self.make("all.json", first)
        os.chmod(self.folder, 0o777)
        append = [REFS, "append", "all.json", second]
        for hold in (lambda file: fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqixxxx", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)),
                     lambda file: fcntl.flock(file, fcntl.LOCK_EX)):
            with open("all.json", "r+b") as file:
                hold(file)
                done = subprocess.run(append, user=65534, capture_output=True, text=True)
                self.assertIn("another program appends to it", done.stderr)
                self.assertEqual(done.returncode, 1)
        subprocess.run(append, user=65534, check=True)
        np.testing.assert_array_equal(read("all.json"), self.values(2))

    def serve(self, name, before):
        """The URL of a file; `before` is called before each answer."""
        class Handler(http.server.SimpleHTTPRequestHandler):
            def do_GET(self):
                before()
                super().do_GET()

            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        for clean in (server.server_close, thread.join, server.shutdown):
            self.addCleanup(clean)
        return f"http://127.0.0.1:{server.server_port}/{name}"

    def test_that_replace_the_output_while_append_reads_are_not_undone(self):
        first, (second, third) = self.days(3)
        for output in ("m.nca", "m.nc", "all.json", "all.parq"):
            with self.subTest(output):
                replacing = [third]
                self.make(output, first)
                url = self.serve(second, lambda: self.make(output, replacing.pop()) if replacing else None)
                run("append", output, url, "-q")
                np.testing.assert_array_equal(read(output), self.values(3)[1:])

    def test_that_edit_a_master_while_append_reads_are_told_of(self):
        def edit():
            subprocess.run([sys.executable, "-c", "import netCDF4\nnetCDF4.Dataset('m.nc', 'a')['time'].long_name = 'edited'"], check=True)
        first, (second,) = self.days(2)
        self.make("m.nc", first)
        done = subprocess.run([REFS, "append", "m.nc", self.serve(second, edit)], capture_output=True, text=True, check=False)
        self.assertIn("m.nc: other programs changed it during 20 attempts: try again later", done.stderr)
        self.assertEqual(done.returncode, 1)
        with netCDF4.Dataset("m.nc") as file:
            self.assertEqual((file["time"].long_name, len(file["time"])), ("edited", 1))

    def test_that_remove_the_output_while_append_reads_are_not_undone(self):
        first, (second,) = self.days(2)
        for output in ("m.nca", "all.json"):
            self.make(output, first)
            self.assertIn(output, run("append", output, self.serve(second, lambda: os.path.exists(output) and os.remove(output)), "-q", status=1))
            self.assertFalse(os.path.exists(output))

    def test_that_read_a_master_do_not_stop_append(self):
        first, (second, third) = self.days(3)
        self.make("m.nca", first, "1.13")
        for n, name in enumerate((second, third), 2):
            with netCDF4.Dataset("m.nca") as opened, open("m.nca", "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)  # as HDF5 does, unless HDF5_USE_FILE_LOCKING is FALSE
                run("append", "m.nca", name, "-q")
                self.assertEqual(len(opened["time"][:]), n - 1)
            np.testing.assert_array_equal(read("m.nca"), self.values(n))

    def test_that_append_at_one_time_lose_nothing(self):
        first, others = self.days(6)
        for output in ("m.nca", "all.json"):
            self.make(output, first)
            running = [subprocess.Popen([REFS, "append", output, name, "-q"], stderr=subprocess.DEVNULL) for name in others]
            n = sum(one.wait() == 0 for one in running)
            self.assertGreater(n, 0)
            self.assertEqual(len(read(output)), 1 + n)

    def test_that_replace_a_master_are_told_of(self):
        first, others = self.days(6)
        self.make("one.nca", first)
        run("combine", "--format", "cfa", first, *others, "-o", "six.nca")
        exchange = ("import itertools, os, shutil\n"
                    "for name in itertools.cycle(('one.nca', 'six.nca')):\n"
                    "    shutil.copyfile(name, 'next')\n    os.replace('next', 'm.nca')")
        shutil.copyfile("one.nca", "m.nca")
        other = subprocess.Popen([sys.executable, "-c", exchange])
        try:
            for _ in range(100):
                done = subprocess.run([REFS, "info", "m.nca", "--partition", "all"], capture_output=True, text=True, check=False)
                if done.returncode:
                    self.assertIn("replaced", done.stderr)
                else:
                    self.assertIn(done.stdout.count("d0.nc"), (1,))
                    self.assertIn(done.stdout.count(".nc  tas"), (1, 6))
        finally:
            other.kill()
            other.wait()


    def test_that_split_anew_are_told_of(self):
        for version in VERSIONS:
            self.split(subarray_shape="1,6,8", cfa_version=version)
            dataset = gdal.Open('REFS:"m.nca":tas')
            np.testing.assert_array_equal(dataset.GetRasterBand(1).ReadAsArray(), self.values()[0])
            self.write("other.nc", data=self.values() + 1)
            self.split(source="other.nc", subarray_shape="1,6,8", cfa_version=version)
            with self.assertRaisesRegex(RuntimeError, "m.nca was replaced after it was opened"):
                dataset.GetRasterBand(2).ReadAsArray()
            dataset = None
            np.testing.assert_array_equal(read("m.nca"), self.values() + 1)


class Unlike(Folder):
    """Sources of which some lack a variable, or have it otherwise."""

    def write_day(self, name, day, variables, **attributes):
        """Variables of one step: 10 * day in each element, 10 * day + 1 of the second variable."""
        with netCDF4.Dataset(name, "w") as file:
            for dim, n in (("time", 1), ("lat", 3), ("lon", 4)):
                file.createDimension(dim, n)
                file.createVariable(dim, "f8", (dim,))[:] = np.arange(n) + (dim == "time") * day
            file["time"].units = "days since 2000-01-01"
            for i, variable in enumerate(("t2m", "rh")):
                if variable not in variables:
                    continue
                dtype, fill = attributes.get("dtype", "f4"), attributes.get("fill", -9999)
                made = file.createVariable(variable, dtype, ("time", "lat", "lon"), fill_value=fill)
                made.set_auto_maskandscale(False)
                if "scale" in attributes:
                    made.scale_factor = attributes["scale"]
                made[:] = 10 * day + i

    def days(self, *with_rh):
        names = [f"d{day}.nc" for day in range(len(with_rh))]
        for day, name in enumerate(names):
            self.write_day(name, day, ("t2m", "rh") if with_rh[day] else ("t2m",))
        return names

    def expect(self, name, with_rh):
        rh = read(name, "rh")[:, 0, 0].tolist()
        self.assertEqual(read(name, "t2m")[:, 0, 0].tolist(), [10 * day for day in range(len(with_rh))])
        for day, is_there in enumerate(with_rh):
            if is_there:
                self.assertEqual(rh[day], 10 * day + 1, rh)
            else:
                self.assertEqual(rh[day], -9999, rh)

    def combine(self, *names, version="0.5", output="m.nca"):
        arguments = [REFS, "combine", "--format", "cfa", "--cfa-version", version, *names, "-o", output]
        return subprocess.run(arguments, capture_output=True, text=True, check=False)

    def test_what_a_source_lacks_is_missing_at_its_place(self):
        for version in VERSIONS:
            for with_rh in ((0, 1, 1, 1), (1, 0, 0, 1), (1, 1, 1, 0)):
                with self.subTest(version=version, with_rh=with_rh):
                    done = self.combine(*self.days(*with_rh), version=version)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.expect("m.nca", with_rh)
                    lacking = [day for day, is_there in enumerate(with_rh) if not is_there]
                    self.assertIn(f"rh is missing in {len(lacking)} of 4 sources", done.stderr)
                    self.assertIn(f"d{lacking[0]}.nc", done.stderr)

    def test_what_is_appended_lands_at_its_time(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                names = self.days(1, 0, 1, 0, 1)
                self.combine(names[0], version=version)
                for n, name in enumerate(names[1:], 2):
                    run("append", "m.nca", name)
                    self.expect("m.nca", (1, 0, 1, 0, 1)[:n])

    def write_serving(self, dtype, **attributes):
        """Four days; only the first and the last have the bounds of time and a coordinate of v."""
        for day in range(4):
            with netCDF4.Dataset(f"s{day}.nc", "w") as file:
                for dim, n in (("time", 1), ("x", 2), ("nv", 2)):
                    file.createDimension(dim, n)
                file.createVariable("time", "f8", ("time",)).units = "days since 2000-01-01"
                file["time"][:] = day
                file["time"].bounds = "bounds"
                file.createVariable("v", "f4", ("time", "x")).coordinates = "level"
                file["v"][:] = day
                if day in (0, 3):
                    file.createVariable("bounds", dtype, ("time", "nv")).setncatts(attributes)
                    file.createVariable("level", dtype, ("time",)).setncatts(attributes)
                    file["bounds"][:] = day
                    file["level"][:] = day

    def expect_missing(self, name, missing, days):
        group = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        for variable in "bounds", "level":
            array = group.OpenMDArray(variable)
            self.assertEqual(array.GetNoDataValueAsDouble(), missing)
            self.assertEqual(array.ReadAsArray().reshape(days, -1)[:, 0].tolist(), [0, missing, missing, 3][:days])

    def test_the_fill_value_of_what_serves_others_is_declared(self):
        default = 9.969209968386869e36
        for dtype, missing, attributes in (("f8", default, {}), ("f4", default, {}), ("i2", -32767, {}),
                                           ("f8", -99, {"missing_value": -99.0}), ("u1", 9, {"missing_value": np.uint8(9)})):
            self.write_serving(dtype, **attributes)
            for version in VERSIONS:
                with self.subTest(dtype=dtype, version=version, **attributes):
                    self.assertEqual(self.combine("s0.nc", "s1.nc", version=version).returncode, 0)
                    self.expect_missing("m.nca", missing, 2)
                    for day in 2, 3:
                        run("append", "m.nca", f"s{day}.nc", "-q")
                        self.expect_missing("m.nca", missing, day + 1)
            run("index", *(f"s{day}.nc" for day in range(4)), "-q", "-o", "s.json")
            self.expect_missing("s.json", missing, 4)

    def test_bytes_that_serve_others_have_no_fill_value(self):
        for dtype in "u1", "i1":
            self.write_serving(dtype)
            for version in VERSIONS:
                done = self.combine("s0.nc", "s1.nc", version=version)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, "(bounds|level) is missing in some sources, and has no fill value .*sources$")

    def test_bytes_that_a_source_lacks_become_integers(self):
        for dtype, values in (("u1", (0, 255)), ("i1", (-128, 127))):
            for day in range(2):
                self.write_day(f"b{day}.nc", day, ("t2m",))
            with netCDF4.Dataset("b0.nc", "a") as file:
                file.createVariable("b", dtype, file["t2m"].dimensions)[:] = values[0]
                file["b"][0, 0, 0] = values[1]
            for version in VERSIONS:
                with self.subTest(dtype=dtype, version=version):
                    self.assertEqual(self.combine("b0.nc", "b1.nc", version=version).returncode, 0)
                    array = gdal.OpenEx('REFS:"m.nca"', gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("b")
                    self.assertEqual(array.GetNoDataValueAsDouble(), -2147483647)
                    self.assertEqual(array.ReadAsArray()[:, 0, :2].tolist(), [[values[1], values[0]], [-2147483647] * 2])

    def test_what_is_missing_in_all_of_a_step_stays_when_a_master_grows(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                for day, variables in enumerate((("rh", "t2m"), (), (), ("rh", "t2m"))):
                    self.write_day(f"d{day}.nc", day, variables)
                self.assertEqual(self.combine("d0.nc", "d1.nc", "d2.nc", version=version).returncode, 0)
                run("append", "m.nca", "d3.nc", "-q")
                for variable, add in (("t2m", 0), ("rh", 1)):
                    self.assertEqual(read("m.nca", variable)[:, 0, 0].tolist(), [add, -9999, -9999, 30 + add])
                self.assertEqual(read("m.nca", "time").tolist(), [0, 1, 2, 3])
                run("append", "m.nca", self.late_fill(), "-q")
                self.assertEqual(read("m.nca", "t2m")[:, 0, 0].tolist(), [0, 10, -9999, 30])

    def test_masters_grow_whose_fragments_have_names_that_are_escaped(self):
        for name in ("a b", "é", "100%", "a%20b", "#{}"):
            for version in (*VERSIONS, None):
                for folder in ("", self.folder + "/"):
                    names = [f"{folder}{name}{day}.nc" for day in range(3)]
                    for day, one in enumerate(names):
                        self.write_day(one, day, ("t2m",))
                    with self.subTest(name, version=version, folder=folder):
                        if version is None:
                            run("index", *names[:2], "-q", "--along", "time", "-o", "m.nca")
                        else:
                            self.assertEqual(self.combine(*names[:2], version=version).returncode, 0)
                        run("append", "m.nca", names[2], "-q")
                        self.assertEqual(read("m.nca", "t2m")[:, 0, 0].tolist(), [0, 10, 20])

    def test_masters_grow_that_name_a_file_in_two_ways(self):
        for day in range(3):
            self.write_day(f"d{day}.nc", day, ("t2m", "rh"))
        for other in ("./d0.nc", "d%30.nc", f"../{os.path.basename(self.folder)}/d0.nc"):
            with self.subTest(other):
                self.assertEqual(self.combine("d0.nc", "d1.nc", version="1.13").returncode, 0)
                with netCDF4.Dataset("m.nca", "a") as file:
                    file["rh_uris"][0, 0, 0] = other
                run("append", "m.nca", "d2.nc", "-q")
                self.assertEqual(read("m.nca", "t2m")[:, 0, 0].tolist(), [0, 10, 20])
                self.assertEqual(read("m.nca", "rh")[:, 0, 0].tolist(), [1, 11, 21])

    def test_files_that_stand_for_missing_fragments_are_no_sources(self):
        os.mkdir("days")
        for day in range(3):
            with netCDF4.Dataset(self.write(f"days/d{day}.nc", (day,)), "a") as file:
                if day != 1:
                    file.createVariable("rh", "f4", ("time", "lat", "lon"), fill_value=-1)[:] = day
        run("index", "days", "-o", "days/all.nc", "-r", "-q")
        self.assertEqual(os.listdir("days/all"), ["all.rh.fill.1x6x8.nc"])
        before = dump("days/all.nc")
        run("index", "days", "-o", "days/all.nc", "-r", "-q")
        self.assertEqual(dump("days/all.nc"), before)
        self.assertEqual(run("check", "days/all.nc"), "3 sources, 0 problems\n")
        os.remove("days/all.nc")
        done = subprocess.run([REFS, "index", "days", "-o", "days.json"], capture_output=True, text=True, check=True)
        self.assertIn("all.rh.fill.1x6x8.nc in days/all is skipped: it stands for missing fragments of a master", done.stderr)

    def test_files_are_no_placeholders_as_they_are_called_so(self):
        names = [f"rain.fill.{2020 + day}.nc" for day in range(4)]
        for day, name in enumerate(names):
            self.write_day(name, day, ("t2m",))
        for version in (*VERSIONS, None):
            with self.subTest(version=version):
                if version is None:
                    run("index", *names[:2], "-q", "--along", "time", "-o", "m.nca")
                else:
                    self.assertEqual(self.combine(*names[:2], version=version).returncode, 0)
                for name in names[2:]:
                    run("append", "m.nca", name, "-q")
                self.assertEqual(read("m.nca", "t2m")[:, 0, 0].tolist(), [0, 10, 20, 30])

    def test_masters_grow_by_unlike_steps_where_files_have_all_of_theirs(self):
        for version in VERSIONS:
            for day, variables in enumerate((("t2m",), ("rh",), ("t2m",))):
                self.write_day(f"d{day}.nc", day, variables)
            self.write_day("d3.nc", 3, ("t2m",), dtype="i2", scale=0.5, fill=-1)
            self.combine("d0.nc", "d1.nc", "d2.nc", version=version)  # neither variable has all steps
            run("append", "m.nca", "d3.nc")
            t2m, rh = (gdal.Open(f'REFS:"m.nca":/{name}').ReadAsArray()[:, 0, 0].tolist() for name in ("t2m", "rh"))
            self.assertEqual((t2m[0], t2m[2:]), (0, [20, 15]))
            self.assertEqual(rh[1], 11)
            self.assertEqual(len({t2m[1], rh[0], rh[2], rh[3]} - {0, 11, 15, 20}), len({t2m[1], rh[0]}))  # missing

    def test_steps_that_only_the_master_knows_are_never_lost(self):
        data = self.values()
        data[1] = -9999
        for version in VERSIONS:
            self.write("source.nc", data=data)
            self.split(cfa_version=version, subarray_shape="1,6,8")
            with netCDF4.Dataset(self.write("late.nc", (4,), data=self.values()[:1]), "a") as file:
                file["tas"].scale_factor = 0.5
            run("append", "m.nca", "late.nc")
            bands = gdal.Open('REFS:"m.nca":/tas').ReadAsArray()
            np.testing.assert_array_equal(bands[[0, 2, 3]], data[[0, 2, 3]])
            np.testing.assert_array_equal(bands[4], self.values()[0] / 2)
            self.assertEqual(len(set(bands[1].ravel()) & set(data.ravel())), 0)  # missing
            np.testing.assert_array_equal(read("m.nca", "time"), np.arange(5))

    def late_fill(self):
        """The file of a day that was missing."""
        self.write_day("late.nc", 1, ("rh", "t2m"))
        return "late.nc"

    def test_what_is_stored_otherwise_is_unpacked(self):
        for attributes, scale in (({"fill": -5}, 1), ({"dtype": "i2"}, 1), ({"scale": 0.5}, 0.5)):
            for version in VERSIONS:
                with self.subTest(version=version, **attributes):
                    self.write_day("d0.nc", 0, ("t2m",))
                    self.write_day("d1.nc", 1, ("t2m",), **attributes)
                    self.assertEqual(self.combine("d0.nc", "d1.nc", version=version).returncode, 0)
                    with netCDF4.Dataset("m.nca") as file:
                        self.assertNotIn("scale_factor", file["t2m"].ncattrs())
                    bands = gdal.Open('REFS:"m.nca":/t2m').ReadAsArray()
                    self.assertEqual(bands[:, 0, 0].tolist(), [0, 10 * scale])
                    os.remove("m.nca")

    def test_sets_beside_data_files_do_not_speak_for_them(self):
        names = self.days(1, 1, 1)
        run("index", names[0], "--variables", "t2m", "-o", "part.json")
        run("combine", "part.json", names[1], "--along", "time", "-q", "-o", "mix.json")
        with open("mix.json") as file:
            self.assertEqual(json.loads(json.load(file)["refs"][".zsources/.zattrs"])["joined"], {"along": ["time"]})
        run("append", "mix.json", names[2], "-q")
        self.assertEqual(read("mix.json", "rh")[1:, 0, 0].tolist(), [11, 21])

    def test_a_master_that_grows_keeps_its_own_sources_whatever_is_skipped(self):
        names = self.days(1, 1, 1)
        run("index", *names[:2], "--along", "time", "--inline", "0", "-q", "-o", "m.nc")
        for lost in names[:2]:
            with self.subTest(lost=lost):
                os.rename(lost, "away.nc")
                before = dump("m.nc")
                self.assertIn(lost, run("append", "m.nc", names[2], "--skip-errors", status=1))
                self.assertEqual(dump("m.nc"), before)
                os.rename("away.nc", lost)

    def test_steps_of_one_source_that_was_given_twice_are_never_lost(self):
        for name in ("a.nc", "b.nc"):
            with netCDF4.Dataset(name, "w") as file:
                file.createDimension("x", 3000)
                file.createVariable("t", "f8", ("x",))[:] = 1
        run("combine", "a.nc", "a.nc", "-o", "m.nc", "--along", "time", "-q")
        self.assertEqual(gdal.Open('REFS:"m.nc":/t').RasterYSize, 2)
        before = dump("m.nc")
        self.assertIn("a.nc covers more than one step",
                      run("append", "m.nc", "b.nc", "--along", "time", status=1))
        self.assertEqual(dump("m.nc"), before)

    def test_names_may_have_as_many_letters_as_there_are_fragments(self):
        with netCDF4.Dataset("a.nc", "w") as file:
            file.createDimension("x", 4)
            for name in ("gust", "w", "wind"):
                file.createVariable(name, "i2", ("x",))[:] = range(4)
        for size in ("1", "4"):
            run("split", "a.nc", "-o", "m.nc", "--cfa-version", "1.13", "--format", "NETCDF3", "--subarray-shape", f"x={size}")
            for name in ("gust", "w", "wind"):
                self.assertEqual(read("m.nc", name).tolist(), [0, 1, 2, 3])

    def test_values_of_a_source_that_was_given_twice_are_never_lost(self):
        with netCDF4.Dataset("a.nc", "w") as file:
            file.createDimension("t", 2)
            file.createVariable("v", "i2", ("t",))[:] = 1, 2
        run("index", "a.nc", "-o", "a.json", "--inline", "100")
        for source in ("a.nc", "a.json"):
            run("index", *[source] * 3, "-o", "m.nc", "--along", "t", "-q")
            run("index", "m.nc", "-o", "o.json", "-q")
            run("index", "m.nc", "a.nc", "-o", "p.json", "--along", "t", "-q")
            self.assertEqual(read("o.json", "v").tolist(), [1, 2] * 3)
            self.assertEqual(read("p.json", "v").tolist(), [1, 2] * 4)

    def test_values_in_names_of_sets_stay_when_a_master_grows(self):
        for year in (2020, 2021, 2022):
            with netCDF4.Dataset(f"d_{year}.nc", "w") as file:
                file.createDimension("x", 3000)
                file.createVariable("v", "f8", ("x",))[:] = year
            run("index", f"d_{year}.nc", "-o", f"d_{year}.json")
            run("index", f"d_{year}.nc", "--pattern", "d_{time:%Y}.nc", "-q", "-o", f"x_{year}.json")
        for names, pattern in (("d_{}.json", ("--pattern", "d_{time:%Y}.json")), ("x_{}.json", ())):
            with self.subTest(names=names):
                first, second, third = (names.format(year) for year in (2020, 2021, 2022))
                run("combine", first, second, *pattern, "-q", "-o", "m.nc")
                run("append", "m.nc", third)
                run("combine", first, second, third, *pattern, "-q", "-o", "once.nc")
                self.assertEqual(run("diff", "m.nc", "once.nc"), "")
                with netCDF4.Dataset("m.nc") as file:
                    self.assertEqual(len(file["time"][:]), 3)

    def test_what_lies_in_a_joined_master_itself_stays_when_it_grows(self):
        names = self.days(1, 1, 1)
        for size in (3, 3000):  # all is in the master, or large variables are in fragments
            for day, name in enumerate(names):
                with netCDF4.Dataset(name, "a") as file:
                    file.createDimension(f"x{size}", size)
                    file.createVariable(f"t{size}", "f8", ("time", f"x{size}"))[:] = day
            for day in range(2):
                with netCDF4.Dataset(f"s{day}.nc", "w") as file:
                    file.createDimension("time", 1)
                    file.createVariable("time", "f8", ("time",))[:] = day
                    file["time"].units = "days since 2000-01-01"
                    file.createVariable("s", "f4", ("time",))[:] = day + 1
            with self.subTest(size=size):
                run("index", *names[:2], "s0.nc", "s1.nc", "--along", "time", "-q", "-o", "m.nc")
                run("append", "m.nc", names[2], "-q")
                run("index", *names, "s0.nc", "s1.nc", "--along", "time", "-q", "-o", "once.nc")
                self.assertEqual(read("m.nc", "s")[:2].tolist(), [1, 2])
                self.assertEqual(run("diff", "m.nc", "once.nc"), "")

    def test_values_that_a_master_has_itself_stay_whoever_they_are_of(self):
        names = self.days(1, 1, 1)
        for name in names:
            with netCDF4.Dataset(name, "a") as file:
                file.createDimension("x", 3000)
                file.createVariable("t", "f8", ("time", "x"))[:] = 1
        run("index", *names, "--along", "time", "-q", "-o", "m.nc")
        with netCDF4.Dataset("m.nc", "a") as file:
            file.delncattr("_refs_sources")
            file.createDimension("y", 2)
            file.createVariable("own", "f4", ("time", "y"))[:] = np.arange(6).reshape(3, 2)
            file.createVariable("height", "f4", ())[...] = 2
        self.write_day("other.nc", 3, ("t2m",), scale=0.5)
        with netCDF4.Dataset("other.nc", "a") as file:
            file.createDimension("x", 3000)
            file.createVariable("t", "i2", ("time", "x"))[:] = 1
        run("append", "m.nc", "other.nc", "-q")
        self.assertEqual(gdal.Open('REFS:"m.nc":/t2m').ReadAsArray()[:, 0, 0].tolist(), [0, 10, 20, 15])
        self.assertTrue((gdal.Open('REFS:"m.nc":/t').ReadAsArray() == 1).all())
        self.assertEqual(read("m.nc", "own")[:3].tolist(), [[0, 1], [2, 3], [4, 5]])
        self.assertEqual(float(read("m.nc", "height")), 2)

    def test_masters_of_others_with_grid_mappings_and_bounds_take_files_that_are_packed_otherwise(self):
        for day, scale in enumerate((0.5, 0.5, 0.25)):
            self.write_day(f"d{day}.nc", day, ("t2m",), dtype="i2", scale=scale)
            with netCDF4.Dataset(f"d{day}.nc", "a") as file:
                file.createDimension("bnds", 2)
                file["time"].bounds, file["t2m"].grid_mapping = "time_bnds", "crs"
                file.createVariable("time_bnds", "f8", ("time", "bnds"))[:] = [[day, day + 1]]
                file.createVariable("crs", "i4", ()).grid_mapping_name = "latitude_longitude"
        for version in VERSIONS:
            with self.subTest(version=version):
                self.assertEqual(self.combine("d0.nc", "d1.nc", version=version).returncode, 0)
                with netCDF4.Dataset("m.nca", "a") as file:
                    file.delncattr("_refs_sources")
                run("append", "m.nca", "d2.nc", "-q")
                self.assertEqual(read("m.nca", "time_bnds").tolist(), [[0, 1], [1, 2], [2, 3]])
                self.assertEqual(read("m.nca", "t2m").shape, (3, 3, 4))
                self.assertIn("latitude_longitude", dump("m.nca"))
                self.assertEqual(self.combine("d0.nc", "d1.nc", version=version).returncode, 0)
                with netCDF4.Dataset("m.nca", "a") as file:
                    file.delncattr("_refs_sources")
                    file.createVariable("height", "f4", ())[...] = 2
                run("append", "m.nca", "d2.nc", "-q")
                self.assertEqual(float(read("m.nca", "height")), 2)
                self.assertEqual(read("m.nca", "time_bnds").tolist(), [[0, 1], [1, 2], [2, 3]])

    def test_how_a_master_was_joined_is_no_attribute_of_the_data(self):
        for day in range(2):
            self.write(f"d{day}.nc", (day,), data=np.zeros((1, 6, 8)))
            with netCDF4.Dataset(f"d{day}.nc", "a") as file:
                file.createDimension("x", 3000)
                file.createVariable("large", "f8", ("time", "x"))[:] = day
        run("index", "d0.nc", "d1.nc", "--along", "time", "-q", "-o", "n.nc")
        run("convert", "n.nc", "-q", "-o", "n.json")
        run("split", "n.nc", "-o", "split.nc")
        with open("n.json") as file:
            self.assertNotIn("refs_joined", file.read())
        self.assertNotIn("along", dump("split.nc"))
        with netCDF4.Dataset("n.nc") as file:
            self.assertNotIn("refs_joined", file.ncattrs())
        where = "file://" + os.path.realpath(self.folder)
        run("mv", "n.nc", "--rewrite", f"{where}/d1=>{where}/e1")
        with netCDF4.Dataset("n.nc") as file:
            self.assertEqual(json.loads(file.getncattr("_refs_sources"))["joined"], {"along": ["time"]})

    def test_masters_are_their_files(self):
        self.combine(*self.days(1, 1))
        done = self.combine("m.nca", output="n.nca")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(dump("n.nca"), dump("m.nca").replace("netcdf m ", "netcdf n "))
        np.testing.assert_array_equal(read("n.nca", "t2m"), read("m.nca", "t2m"))

    def test_files_of_two_variables_are_not_numbered(self):
        """Names of fragments say where one variable is: coordinates say it here."""
        for day in range(3):
            self.write_day(f"x.t2m.{2 - day}.0.0.nc", day, ("t2m", "rh"))
        self.assertEqual(self.combine(*glob.glob("x.t2m.*.nc")).returncode, 0)
        self.expect("m.nca", (1, 1, 1))

    def test_masters_in_stores_name_no_files_of_this_machine(self):
        done = self.combine(*self.days(1), output="s3://tenancy-0/bucket/m.nca")
        self.assertEqual(done.returncode, 1)
        self.assertIn("d0.nc: a remote master, ", done.stderr)
        for arguments in (("mv", "http://127.0.0.1:1/m.nca", "--prefix", "x"),
                          ("combine", "--format", "cfa", "s3://bucket/a.nc", "-o", "az://bucket/m.nca")):
            done = subprocess.run([REFS, *arguments], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)


class Outputs(Folder):
    def refuses(self, name, *arguments):
        with open(name, "rb") as file:
            before = file.read()
        done = subprocess.run([REFS, *arguments], capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (1, 2), done.stderr)
        self.assertIn(name, done.stderr)
        with open(name, "rb") as file:
            self.assertEqual(file.read(), before)

    def test_are_no_sources(self):
        self.write("a.nc", (0, 1), data=self.values()[:2])
        self.write("b.nc", (2, 3), data=self.values()[2:])
        os.symlink("a.nc", "link.nc")
        for name in ("a.nc", "link.nc", "./a.nc"):
            self.refuses(name, "combine", "--format", "cfa", "a.nc", "b.nc", "-o", name)
            self.refuses(name, "split", "a.nc", "-o", name)
            self.refuses(name, "index", "a.nc", "b.nc", "-o", name)
        run("index", "a.nc", "b.nc", "-q", "-o", "all.nc")
        self.refuses("all.nc", "split", "all.nc", "-o", "all.nc")
        self.refuses("all.nc", "index", "all.nc", "-o", "all.nc")

    def test_are_no_data_files(self):
        self.write("a.nc", (0, 1), data=self.values()[:2])
        self.write("b.nc", (2, 3), data=self.values()[2:])
        self.refuses("b.nc", "split", "a.nc", "-o", "b.nc")
        self.refuses("b.nc", "combine", "--format", "cfa", "a.nc", "-o", "b.nc")

    def test_may_be_masters_that_are_there(self):
        self.write("a.nc", (0, 1), data=self.values()[:2])
        self.write("b.nc", (2, 3), data=self.values()[2:])
        for _ in range(2):
            run("index", "a.nc", "b.nc", "-q", "-o", "all.nc")
            run("split", "a.nc", "-o", "split.nc")
            run("combine", "--format", "cfa", "a.nc", "b.nc", "-o", "combined.nca")
        np.testing.assert_array_equal(read("all.nc"), self.values())


class Empty(Folder):
    """Files that have no records yet."""

    def write_records(self, name, n, begin=0, **more):
        with netCDF4.Dataset(name, "w", **more) as file:
            file.createDimension("time", None)
            file.createDimension("x", 40)
            time = file.createVariable("time", "f8", ("time",))
            time.units = "days since 2000-01-01"
            tas = file.createVariable("tas", "f4", ("time", "x"))
            if n > 0:
                time[:] = np.arange(begin, begin + n)
                tas[:] = np.arange(begin, begin + n)[:, None] * np.ones(40)
        return name

    def check(self, name, n):
        values = read(name)
        self.assertEqual(values.shape, (n, 40))
        np.testing.assert_array_equal(values[:, 3], np.arange(n))
        np.testing.assert_array_equal(read(name, "time"), np.arange(n))

    def test_add_nothing(self):
        self.write_records("none.nc", 0)
        self.write_records("a.nc", 2)
        self.write_records("b.nc", 3, begin=2)
        for version in VERSIONS:
            for files in (("none.nc", "a.nc", "b.nc"), ("a.nc", "none.nc", "b.nc"), ("a.nc", "b.nc", "none.nc")):
                with self.subTest(version=version, files=files):
                    run("combine", "--format", "cfa", "--cfa-version", version, *files, "-o", "m.nca", "-q")
                    self.check("m.nca", 5)
            run("combine", "--format", "cfa", "--cfa-version", version, "a.nc", "-o", "m.nca", "-q")
            run("append", "m.nca", "none.nc", "-q")
            self.check("m.nca", 2)

    def test_are_added_to(self):
        self.write_records("none.nc", 0)
        self.write_records("a.nc", 2)
        for version in VERSIONS:
            with self.subTest(version=version):
                run("combine", "--format", "cfa", "--cfa-version", version, "none.nc", "-o", "m.nca", "-q")
                root = gdal.OpenEx('REFS:"m.nca"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
                self.assertEqual(root.OpenMDArray("tas").shape, (0, 40))
                del root
                run("append", "m.nca", "a.nc", "-q")
                self.check("m.nca", 2)


class Recorded(Folder):
    """Masters know what size and time their fragments had."""

    def masters(self):
        """Masters of all encodings, relative and absolute, and a fragment of each that is replaced."""
        for step in (0, 1):
            self.write(f"day {step}.nc", (step,), data=self.values(2)[step : step + 1])
        days = ("day 0.nc", "day 1.nc")
        run("index", *days, "-o", "indexed.nca", "-q")
        yield "indexed.nca", "day 1.nc", True
        for version in VERSIONS:
            run("combine", "--format", "cfa", "--cfa-version", version, *days, "-o", "combined.nca", "-q")
            yield "combined.nca", "day 1.nc", False
            for formats in ({}, {"format": "NETCDF3"}) if version != "0.5" else ({},):
                if version == "1.13" and formats:
                    continue
                for _ in range(2):  # fragments keep their state when they get another name
                    self.split("split.nca", cfa_version=version, subarray_shape="1,6,8", **formats)
                yield "split.nca", "split/split.tas.1.0.0.nc", False

    def error_of(self, name, **options):
        try:
            dataset = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER, open_options=[f"{k}={v}" for k, v in options.items()])
            dataset.GetRootGroup().OpenMDArray("tas").ReadAsArray()
        except RuntimeError as error:
            return str(error)
        return ""

    def test_tell_when_another_takes_their_place(self):
        n = 0
        for master, fragment, is_absolute in self.masters():
            n += 1
            with self.subTest(master=master, n=n):
                self.assertEqual(self.error_of(master), "")
                self.assertIn(" 0 problems", run("check", master))
                with open(fragment, "rb") as file:
                    was = file.read()
                state = os.stat(fragment)
                with open(fragment, "ab") as file:
                    file.write(b"x")
                told = f"{fragment}: .* {len(was) + 1} .* {len(was)} "
                self.assertRegex(self.error_of(master), told)
                self.assertEqual(self.error_of(master, CHANGED="IGNORE"), "")
                self.assertRegex(run("check", master, status=1), told)
                with open(fragment, "wb") as file:
                    file.write(was)
                os.utime(fragment, ns=(0, state.st_mtime_ns - 5 * 10**9))
                if is_absolute:
                    self.assertRegex(self.error_of(master), f"{fragment}: .* 20..-")
                else:  # it may have been copied together with its master
                    self.assertEqual(self.error_of(master), "")
                self.assertRegex(self.error_of(master, CHANGED="ERROR"), f"{fragment}: .* 20..-")
                self.assertIn("1 problem", run("check", master, status=1))
                os.utime(fragment, ns=(0, state.st_mtime_ns))
                self.assertIn(" 0 problems", run("check", master))
        self.assertEqual(n, 8)

    def test_that_are_sets_in_folders_tell_when_another_takes_their_place(self):
        for step in range(4):
            self.write(f"{step}.nc", (step,), data=self.values(4)[step : step + 1])
        for name in ("s.parq", "s.icechunk"):
            for kind in (("index", "--relative"), ("combine", "--format", "cfa")):
                with self.subTest(name=name, kind=kind):
                    run("index", "0.nc", "-o", name, "-q")
                    run(*kind, name, "1.nc", "-o", "m.nca", "-q")
                    self.assertEqual(self.error_of("m.nca", CHANGED="ERROR"), "")
                    self.assertIn(" 0 problems", run("check", "m.nca"))
                    run("append", "m.nca", name, "--skip-errors")  # unchanged: no error
                    run("append", "m.nca", "3.nc", "-q")
                    np.testing.assert_array_equal(read("m.nca"), self.values(4)[[0, 1, 3]])
                    shutil.rmtree(name)
                    run("index", "2.nc", "-o", name, "-q")
                    self.assertRegex(self.error_of("m.nca", CHANGED="ERROR"), f"{name}: it changed after")
                    self.assertRegex(run("check", "m.nca", status=1), f"{name}: .*it changed after")
                    os.remove("m.nca")
                    shutil.rmtree(name)

    def test_that_are_sets_whose_values_are_all_in_the_master(self):
        for step in range(3):
            with netCDF4.Dataset(f"{step}.nc", "w") as file:
                file.createDimension("time", 1)
                file.createVariable("time", "f8", ("time",))[:] = step
        for name in ("s.parq", "s.icechunk"):
            with self.subTest(name=name):
                run("index", "0.nc", "-o", name, "-q")
                run("index", name, "1.nc", "-o", "m.nca", "--along", "time", "-q")
                self.assertIn(" 0 problems", run("check", "m.nca"))
                shutil.rmtree(name)
                run("index", "2.nc", "-o", name, "-q")
                self.assertRegex(run("check", "m.nca", status=1), f"{name}: it ")

    def test_stay_known_when_they_are_renamed_and_when_others_are_added(self):
        for step in range(3):
            self.write(f"d{step}.nc", (step,), data=self.values(3)[step : step + 1])
        for version in VERSIONS:
            with self.subTest(version=version):
                run("combine", "--format", "cfa", "--cfa-version", version, "d0.nc", "d1.nc", "-o", "m.nca", "-q")
                os.rename("d1.nc", "e1.nc")
                run("mv", "m.nca", "--rewrite", "d1=>e1")
                run("append", "m.nca", "d2.nc", "-q")
                self.assertIn(" 0 problems", run("check", "m.nca"))
                with open("e1.nc", "ab") as file:
                    file.write(b"x")
                self.assertIn("1 problem", run("check", "m.nca", status=1))
                run("append", "m.nca", self.write("d3.nc", (3,), data=self.values(4)[3:]), "-q")
                self.assertIn("1 problem", run("check", "m.nca", status=1))
                os.rename("e1.nc", "d1.nc")

    def test_stay_known_in_copies_of_masters(self):
        """Which convert and index make, and the driver."""
        def translate(source, target):
            gdal.GetDriverByName("REFS").CreateCopy(target, gdal.Open(f"REFS:{source}"))

        ways = {"copy.json": lambda source, target: run("convert", source, "-o", target, "-q"),
                "sub/copy.parq": lambda source, target: run("index", source, "--relative", "-o", target, "-q"),
                "sub/copy.json": translate}
        os.mkdir("sub")
        for master, fragment, _ in self.masters():
            with open(fragment, "rb") as file:
                was = file.read()
            state = os.stat(fragment)
            for copy, way in ways.items():
                with self.subTest(master=master, copy=copy):
                    way(master, copy)
                    run("convert", copy, "-o", "again.json", "-q")
                    for name in (copy, "again.json"):
                        self.assertEqual(self.error_of(name), "")
                        with open(fragment, "ab") as file:
                            file.write(b"x")
                        self.assertRegex(self.error_of(name), f"{fragment}: .* {len(was) + 1} .* {len(was)} ")
                        os.remove(fragment)
                        self.assertIn(fragment, run("split", name, "-o", "again.nca", status=1))
                        with open(fragment, "wb") as file:
                            file.write(was)
                        os.utime(fragment, ns=(0, state.st_mtime_ns))
                        self.assertIn(" 0 problems", run("check", name))
            os.utime(fragment, ns=(0, state.st_mtime_ns + 10**10))  # as of a copy
            for copy, way in ways.items() if self.error_of(master) == "" else ():  # which has relative names
                with self.subTest(master=master, copy=copy, of="copied fragments"):
                    way(master, copy)
                    self.assertEqual(self.error_of(copy), "")

    def test_are_no_attribute_of_the_data(self):
        for master, _, _ in self.masters():
            self.assertNotIn("_refs_sources", gdal.MultiDimInfo(f'REFS:"{master}"').get("attributes", {}))
            self.assertNotIn("_refs_sources", run("info", master))
            with netCDF4.Dataset(master) as file:
                self.assertGreater(len(json.loads(file.getncattr("_refs_sources"))["sources"]), 1)

    def test_that_are_many_and_a_record_that_is_damaged(self):
        self.write(times=range(1500))
        self.split(subarray_shape="1,6,8")
        with netCDF4.Dataset("m.nca", "a") as file:
            record = file.getncattr("_refs_sources")
            self.assertGreater(len(record), 100000)
            self.assertIn(" 0 problems", run("check", "m.nca"))
            file.setncattr("_refs_sources", record[:-9])
        self.assertIn(".zsources/.zattrs", self.error_of("m.nca"))
        with netCDF4.Dataset("m.nca", "a") as file:
            file.delncattr("_refs_sources")
        with open("m/m.tas.1.0.0.nc", "ab") as file:
            file.write(b"x")
        self.assertEqual(self.error_of("m.nca"), "")


class Served(Folder):
    """Fragments that a server has, and what a master of them asks for."""

    N_FILES = 40

    def setUp(self):
        super().setUp()
        there = served.Folder()
        self.addCleanup(there.close)
        self.names = [os.path.join(there.served, f"{i:02}.nc") for i in range(self.N_FILES + 2)]
        for i, name in enumerate(self.names):
            self.write(name, times=[i], data=self.values(1) + i)
            os.utime(name, (1700000000 + i,) * 2)
        self.server = served.Server(there, options=["--latency-ms", "50"])
        self.addCleanup(self.server.close)

    def urls(self, first, end):
        return [self.server.url(f"{i:02}.nc") for i in range(first, end)]

    def requests_of(self, *arguments):
        """How many there are of a run, and how many were under way together."""
        before = len(self.server.requests())
        run(*arguments, "-q")
        requests = self.server.requests()[before:]
        return len(requests), max(request["under_way"] for request in requests)

    def test_are_combined_by_a_request_of_each_several_at_a_time(self):
        for version in VERSIONS:
            n, under_way = self.requests_of("combine", "--format", "cfa", "--cfa-version", version, *self.urls(0, self.N_FILES),
                                            "-o", "m.nca")
            self.assertEqual(n, self.N_FILES)
            self.assertGreaterEqual(under_way, 8)


    def test_are_appended_by_a_request_of_the_new_one(self):
        ways = [["combine", "--format", "cfa", "--cfa-version", version] for version in VERSIONS] + [["index", "--along", "time"]]
        for way in ways:
            run(*way, *self.urls(0, self.N_FILES), "-o", "m.nc", "-q")
            for i in range(self.N_FILES, self.N_FILES + 2):
                self.assertEqual(self.requests_of("append", "m.nc", *self.urls(i, i + 1))[0], 1)
            run(*way, *self.urls(0, self.N_FILES + 2), "-o", "once.nc", "-q")
            self.assertEqual(dump("m.nc"), dump("once.nc"))
            os.remove("m.nc")

    def test_are_appended_by_a_request_of_the_new_one_where_values_are_missing(self):
        """A file that has one of its values of a variable does not lack that."""
        for i, name in enumerate(self.names):
            self.write(name, times=[2 * i, 2 * i + 1], data=self.values(2) + i)
            with netCDF4.Dataset(name, "a") as file:
                file.createVariable("height", "f8", ("time",), fill_value=-1.)[:] = np.ma.masked_equal([i, i + .5], 3)
                file["tas"].coordinates = "height"
            os.utime(name, (1700000000 + i,) * 2)
        for version in VERSIONS:
            way = ["combine", "--format", "cfa", "--cfa-version", version]
            run(*way, *self.urls(0, self.N_FILES), "-o", "m.nc", "-q")
            self.assertEqual(self.requests_of("append", "m.nc", *self.urls(self.N_FILES, self.N_FILES + 1))[0], 1)
            run(*way, *self.urls(0, self.N_FILES + 1), "-o", "once.nc", "-q")
            self.assertEqual(dump("m.nc"), dump("once.nc"))


class Grown(Folder):
    """A master to which files are appended is that of all files at once, whatever differs among them: those that it has are
    not read again."""

    N_FILES = 4
    WAYS = [["combine", "--format", "cfa", "--cfa-version", version] for version in VERSIONS] + [["index", "--along", "time"]]

    def write_step(self, i, model="NETCDF4", origin=1, scale=None, lacks="", dtype="f4", fill=-99, group="", bounds=False):
        with netCDF4.Dataset(f"{i}.nc", "w", format=model) as file:
            file.title, file.history = "Archive", f"made as number {i}"
            root = file.createGroup(group) if group else file
            for dim, n in (("time", None), ("lat", 3), ("lon", 4), ("nv", 2), ("station", 2)):
                root.createDimension(dim, n)
            time = root.createVariable("time", "f8", ("time",))
            time.units = f"days since 2000-01-{origin:02}"
            time[:] = [i + 1 - origin]
            if bounds:
                time.bounds = "time_bnds"
                root.createVariable("time_bnds", "f8", ("time", "nv"))[:] = [[i - origin, i + 1 - origin]]
            for dim, n in (("lat", 3), ("lon", 4)):
                axis = root.createVariable(dim, "f4", (dim,))
                axis.units = {"lat": "degrees_north", "lon": "degrees_east"}[dim]
                axis[:] = np.arange(n)
            for name in "ab":
                if name in lacks:
                    continue
                variable = root.createVariable(name, dtype, ("time", "lat", "lon"), fill_value=fill)
                variable.units, variable.coordinates = "K", "height"
                if scale:
                    variable.scale_factor, variable.add_offset = scale, 200.0
                variable.set_auto_maskandscale(False)
                variable[:] = np.arange(12).reshape(1, 3, 4) + 10 * i
            root.createVariable("height", "f8", ())[...] = 2
            root.createVariable("land", "i4", ("lat", "lon"))[:] = np.arange(12).reshape(3, 4)
            if model == "NETCDF4":
                names = root.createVariable("name", str, ("station",))
                names[0], names[1] = "north", "south"

    def grow(self, way):
        """Dumps of a master that grew, and of one that was made at once; each is called m.nc, as placeholders have its name."""
        names = [f"{i}.nc" for i in range(self.N_FILES)]
        found = []
        for first in (len(names) - 2, len(names)):
            run(*way, *names[:first], "-o", "m.nc", "-q")
            for name in names[first:]:
                run("append", "m.nc", name, "-q")
            found.append(dump("m.nc"))
            shutil.rmtree("m", ignore_errors=True)
            os.remove("m.nc")
        return found

    def expect_one(self, ways=None, **differences):
        for i in range(self.N_FILES):
            self.write_step(i, **{name: of(i) for name, of in differences.items()})
        for way in ways or self.WAYS:
            grown, once = self.grow(way)
            self.assertEqual(grown, once, way)

    def test_of_files_that_are_alike(self):
        self.expect_one()
        self.expect_one(bounds=lambda i: True)
        self.expect_one(fill=lambda i: None)

    def test_of_packed_files(self):
        self.expect_one(dtype=lambda i: "i2", scale=lambda i: 0.25)
        self.expect_one(dtype=lambda i: "i2", scale=lambda i: 0.25 if i < 3 else 0.5)

    def test_of_files_whose_types_differ(self):
        self.expect_one(dtype=lambda i: "f8" if i == 3 else "f4")
        self.expect_one(dtype=lambda i: "i2" if i % 2 else "i1")
        self.expect_one(dtype=lambda i: "u1", fill=lambda i: None)

    def test_of_files_that_lack_a_variable(self):
        for lacking in range(self.N_FILES):
            self.expect_one(lacks=lambda i, lacking=lacking: "b" if i == lacking else "")
        self.expect_one(lacks=lambda i: "b" if i == 1 else "", dtype=lambda i: "u1", fill=lambda i: None)

    def test_of_files_with_other_units_and_formats(self):
        self.expect_one(origin=lambda i: 1 + i % 2)
        self.expect_one(model=lambda i: "NETCDF4" if i % 2 else "NETCDF3_CLASSIC", fill=lambda i: None)

    def test_of_groups(self):
        self.expect_one(group=lambda i: "g")
        self.expect_one(ways=[["index", "--along", "time", "--group", "g"], ["index", "--along", "time", "--group", "g", "--variables", "a"]],
                        group=lambda i: "g")


class Characters(Folder):
    """Strings as rows of characters, as netCDF-3 has them."""

    def test_stay_what_netcdf_c_shows(self):
        for model in ("NETCDF4", "NETCDF3_CLASSIC"):
            for i in range(2):
                with netCDF4.Dataset(f"{i}.nc", "w", format=model) as file:
                    for dim, n in (("time", None), ("nc", 5), ("x", 50)):
                        file.createDimension(dim, n)
                    file.createVariable("time", "f8", ("time",))[:] = [2 * i, 2 * i + 1]
                    file.createVariable("station", "S1", ("time", "nc"))[:] = netCDF4.stringtochar(np.array(["abc", "de"], "S5"))
                    file.createVariable("label", "S1", ("nc",))[:] = netCDF4.stringtochar(np.array(["hello"], "S5"))[0]
                    file.createVariable("v", "f4", ("time", "x"))[:] = i
            run("split", "0.nc", "-o", "split.nca")
            run("index", "0.nc", "1.nc", "--along", "time", "-o", "index.nc")
            run("combine", "--format", "cfa", "0.nc", "1.nc", "-o", "combine.nca")
            for name, n in (("split.nca", 1), ("index.nc", 2), ("combine.nca", 2)):
                with netCDF4.Dataset(name) as file:
                    self.assertEqual([str(row) for row in netCDF4.chartostring(file["station"][:])], ["abc", "de"] * n, name)
                    self.assertEqual(file["station"].dtype, "S1")
                    self.assertEqual(str(netCDF4.chartostring(file["label"][:])), "hello")
            os.remove("index.nc")


class Appended(Folder):
    """What is added to a set or a master, by names or by the order alone."""

    def setUp(self):
        super().setUp()
        for day in range(1, 4):
            with netCDF4.Dataset(f"a_2020010{day}.nc", "w") as file:
                file.createDimension("x", 50)
                file.createVariable("v", "f4", ("x",))[:] = day

    def days(self, name):
        return read(name, "v")[:, 0].tolist()

    def test_sets_without_a_time_have_that_of_their_names(self):
        run("index", "a_20200101.nc", "a_20200102.nc", "--pattern", "a_{time:%Y%m%d}.*", "-o", "all.json")
        run("index", "a_20200103.nc", "-o", "a_20200103.json")
        run("append", "all.json", "a_20200103.json")
        self.assertEqual(self.days("all.json"), [1, 2, 3])
        self.assertEqual(np.diff(read("all.json", "time")).tolist(), [86400, 86400])

    def test_sources_are_added_once_where_they_have_no_coordinate(self):
        for name in ("all.json", "all.nc"):
            run("index", "a_20200101.nc", "a_20200102.nc", "--along", "time", "-q", "-o", name)
            for again in ("a_20200102.nc", os.path.abspath("a_20200102.nc")):
                self.assertIn(f"{again}: {name} already has this source", run("append", name, again, status=1))
            run("append", name, "a_20200103.nc", "-q")
            self.assertEqual(self.days(name), [1, 2, 3])

    def test_sources_with_coordinates_are_added_once_too(self):
        for i in range(3):
            self.write(f"day {i}.nc", times=[i], data=self.values(1) + i)
        for name in ("all.json", "all.nc"):
            run("index", "day 0.nc", "day 1.nc", "--along", "time", "-o", name)
            self.assertIn(f"day 1.nc: {name} already has this source", run("append", name, "day 1.nc", "day 2.nc", status=1))
            run("append", name, "day 2.nc")
            self.assertEqual(read(name, "time").tolist(), [0, 1, 2])

    def write_missing(self, name, step, model):
        """A variable for each way of telling what is missing."""
        kinds = {"float": ("f4", None, {}), "short": ("i2", None, {}), "byte": ("i1", None, {}), "filled": ("i4", 7, {}),
                 "missing": ("i2", None, {"missing_value": np.int16(-5)}), "nan": ("f4", None, {"missing_value": np.float32(np.nan)}),
                 "both": ("i2", -5, {"missing_value": np.int16(-6)}), "packed": ("i2", None, {"scale_factor": 0.5}),
                 "valid": ("i2", None, {"valid_range": np.array([0, 100], "i2")}), "all": ("i2", None, {"valid_range": np.array([-32768, 32767], "i2")}),
                 "unsigned": ("i4", None, {"_Unsigned": "true"})}  # fmt: skip
        with netCDF4.Dataset(name, "w", format=model) as file:
            file.createDimension("t", 1)
            file.createDimension("x", 3)
            file.createVariable("t", "f8", ("t",))[:] = step
            for kind, (dtype, fill, attributes) in kinds.items():
                variable = file.createVariable(kind, dtype, ("t", "x"), fill_value=fill)
                variable.setncatts(attributes)
                variable.set_auto_maskandscale(False)
                variable[:] = np.array([[1, 2, step]], dtype)
        return name

    def test_masters_are_those_made_at_once_whatever_is_missing(self):
        for model, version in itertools.product(("NETCDF3_CLASSIC", "NETCDF4"), VERSIONS):
            sources = [self.write_missing(f"{step}.nc", step, model) for step in range(3)]
            for given, name in ((sources, "once.nca"), (sources[:2], "grown.nca")):
                run("combine", "--format", "cfa", "--cfa-version", version, *given, "-o", name)
            run("append", "grown.nca", sources[2])
            self.assertEqual(sorted(dump("grown.nca").splitlines()), sorted(dump("once.nca").splitlines()), f"{model} {version}")

    def test_sources_that_cannot_be_read_keep_no_others_out(self):
        """Whatever the set is, and also where names arrive on standard input."""
        for i in range(4):
            self.write(f"d{i}.nc", times=[i], data=self.values(1) + i)
        with open("bad.nc", "wb") as file:
            file.write(b"\x89HDF\r\n\x1a\n" + bytes(100))
        makers = {"all.json": ("index",), "all.parq": ("index",), "all.icechunk": ("index",), "all.nc": ("index",)}
        makers.update({f"m{version}.nca": ("combine", "--format", "cfa", "--cfa-version", version) for version in VERSIONS})
        for (name, made), bad in itertools.product(makers.items(), ("bad.nc", "nope.nc")):
            with self.subTest(name=name, bad=bad):
                run(*made, "d0.nc", *(("--along", "time") if made[0] == "index" else ()), "-o", name)
                self.assertIn(f"left out: {bad}: ", run("append", "--skip-errors", name, bad, "d1.nc", status=1))
                self.assertEqual(read(name, "time").tolist(), [0, 1])
                self.assertIn(f"none of the sources could be read: {bad}: ", run("append", "--skip-errors", name, bad, status=1))
                self.assertIn(f"refs: {bad}: ", run("append", name, bad, "d2.nc", status=1))
                for arriving, status, left_out, n_known in ((f"{bad}\nd2.nc\n", 1, [bad], 0), ("d2.nc\nd3.nc\nd3.nc\nd1.nc\n", 0, [], 2),
                                                            ("d3.nc", 0, [], 1)):
                    done = subprocess.run([REFS, "append", "--stdin", name], input=arriving, text=True, capture_output=True, check=False)
                    self.assertEqual(done.returncode, status, done.stderr)
                    self.assertEqual(re.findall("left out: ([^:]*): ", done.stderr), left_out)
                    self.assertEqual(f"{n_known} source" in done.stderr, n_known > 0, done.stderr)
                os.utime("d3.nc", (1e9, 1e9))
                self.assertIn(f"left out: d3.nc: {name} already has this", run("append", name, "d3.nc", "d1.nc", "--skip-errors", status=1))
                os.utime("d3.nc")
                self.assertEqual(read(name, "time").tolist(), [0, 1, 2, 3])
                shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)

    def test_names_with_a_backslash_are_refused(self):
        self.write()
        self.assertIn("a\\b.nca: expected a name without a backslash", run("split", "source.nc", "-o", "a\\b.nca", status=1))

    def test_files_without_records_have_no_place(self):
        for n in (2, 0):
            with netCDF4.Dataset(f"{n}.nc", "w") as file:
                file.createDimension("time", None)
                file.createDimension("x", 50)
                file.createVariable("time", "f8", ("time",))[:] = np.arange(n)
                file.createVariable("v", "f4", ("time", "x"))[:] = np.ones((n, 50))
        run("index", "2.nc", "0.nc", "-o", "all.nc")
        self.assertEqual(self.days("all.nc"), [1, 1])


class Ended(Folder):
    """Programs that are ended while they write."""

    def end(self, how):
        """What is left of a split that is ended by a signal in its midst."""
        if not os.path.exists("source.nc"):
            self.write(times=range(200))
        running = subprocess.Popen([REFS, "split", "source.nc", "-o", "m.nca", "--subarray-shape", "1,1,1"])
        while not glob.glob("m.tmp-*/m.tas.0.0.4.nc"):
            self.assertIsNone(running.poll())
        running.send_signal(how)
        return running.wait(), sorted(glob.glob("m.*"))

    def test_by_signals_that_can_be_heard_leave_nothing(self):
        for how in (signal.SIGINT, signal.SIGTERM):
            self.assertEqual(self.end(how), (-how, []))

    def test_at_once_leave_what_the_next_of_the_same_result_removes(self):
        status, left = self.end(signal.SIGKILL)
        self.assertEqual((status, len(left)), (-9, 2))
        name, process = re.match(r"(m\.nca\.tmp-[0-9a-f]{8}-)(\d+)-0$", left[0]).groups()
        mine = f"{name}{os.getpid()}-0"  # of a process that is there
        elsewhere = f"m.nca.tmp-00000000-{process}-0"  # of another machine
        moved = f"{name}{process}-0.old"  # all that is there, until m.nca is
        kept = [mine, elsewhere, "m.nca.tmp-1-0"]
        for other in (*kept, moved):
            with open(other, "w"):
                pass
        run("split", "source.nc", "-o", "n.nca")
        run("index", "source.nc", "-q", "-o", "all.json")
        others = ["all.json", "n", "n.nca", "source.nc"]
        self.assertEqual(sorted(os.listdir(".")), sorted([*left, *kept, moved, *others]))
        run("split", "source.nc", "-o", "m.nca")
        self.assertEqual(sorted(os.listdir(".")), sorted(["m", "m.nca", *kept, moved, *others]))
        run("split", "source.nc", "-o", "m.nca")
        self.assertEqual(sorted(os.listdir(".")), sorted(["m", "m.nca", *kept, *others]))

    def test_leave_nothing_that_is_taken_for_a_source(self):
        os.mkdir("days")
        self.write("days/0.nc")
        os.mkdir("days/m.tmp-00000000-7-0")
        for name in ("all.json.tmp-00000000-7-0", "m.nca.tmp-00000000-7-1", "m.tmp-00000000-7-0/m.tas.0.0.0.nc"):
            shutil.copyfile("days/0.nc", "days/" + name)
        for sources in ("days", "days/*"):
            run("index", sources, "-o", "all.json")
            np.testing.assert_array_equal(read("all.json"), self.values())
        np.testing.assert_array_equal(read("days"), self.values())


class Info(Folder):
    def test_partitions_out_of_range_are_an_error(self):
        self.split(subarray_shape="2,6,8")
        self.assertIn("m/m.tas.1.0.0.nc", run("info", "m.nca", "--partition", "1,0,0"))
        self.assertIn("no partition 2 along dimension 0", run("info", "m.nca", "--partition", "2,0,0", status=1))

    def test_check_looks_at_fragments(self):
        for version in VERSIONS:
            self.split(subarray_shape="2,6,8", cfa_version=version)
            self.assertIn("2 sources, 0 problems", run("check", "m.nca"))
            run("check", "m.nca", "--deep")
            with open("m/m.tas.1.0.0.nc", "r+b") as file:
                file.truncate(os.path.getsize("m/m.tas.1.0.0.nc") // 2)
            self.assertIn("m/m.tas.1.0.0.nc", run("check", "m.nca", "--deep", status=1))
            self.assertIn("m/m.tas.1.0.0.nc", run("check", "m.nca", status=1))
            os.remove("m/m.tas.1.0.0.nc")
            self.assertIn("2 sources, 1 problem", run("check", "m.nca", status=1))
            shutil.rmtree("m")
            os.remove("m.nca")

    def test_shows_all_partitions_or_one_or_none(self):
        for version in VERSIONS:
            self.split(cfa_version=version, subarray_shape="2,6,8")
            shown = run("info", "m.nca", "--partition", "all")
            self.assertIn("/tas  (time 4, lat 6, lon 8)", shown)
            self.assertIn("[0,0,0]  0:2, 0:6, 0:8  m/m.tas.0.0.0.nc  tas", shown)
            self.assertIn("[1,0,0]  2:4, 0:6, 0:8  m/m.tas.1.0.0.nc  tas", shown)
            shown = run("info", "m.nca", "--partition", "1,0,0", "--variables", "tas")
            self.assertNotIn("[0,0,0]", shown)
            self.assertNotIn("[1,0,0]", run("info", "m.nca", "--partition", "none"))
            told = json.loads(run("info", "m.nca", "--partition", "all", "--json"))["arrays"][0]
            self.assertEqual(told["partitions"][1]["file"], "m/m.tas.1.0.0.nc")
            self.assertEqual(told["partitions"][1]["begin"], [2, 0, 0])
            self.assertIn('units: "K"', run("info", "m.nca", "--metadata"))
            self.assertIn('title: "Archive"', run("info", "m.nca", "--metadata", "--group", "root"))
            run("info", "m.nca", "--partition", "all", "--variables", "pr", status=1)
            self.assertIn("3 numbers", run("info", "m.nca", "--partition", "1,0", status=1))


class Move(Folder):
    def test_says_where_fragments_are_now(self):
        for version in VERSIONS:
            self.split(cfa_version=version, subarray_shape="2,6,8")
            os.makedirs("elsewhere", exist_ok=True)
            shutil.rmtree("elsewhere")
            os.rename("m", "elsewhere")
            self.assertEqual(run("mv", "m.nca", "--prefix", "elsewhere"), "2 fragments\n")
            np.testing.assert_array_equal(read("m.nca"), self.values())
            os.rename("elsewhere/m.tas.1.0.0.nc", "one.nc")
            shutil.copy("one.nc", "m.tas.1.0.0.nc")
            run("mv", "m.nca", "--rewrite", "elsewhere/=>./", "--partition", "1,0,0")
            np.testing.assert_array_equal(read("m.nca"), self.values())

    def test_of_parts_records_each_file_by_the_names_of_its_fragments(self):
        for step in range(3):
            self.write(f"d{step}.nc", (step,), data=self.values(3)[step : step + 1])
            with netCDF4.Dataset(f"d{step}.nc", "a") as file:
                file.createVariable("pr", "f4", ("time", "lat", "lon"))[:] = file["tas"][:]
        here = os.path.realpath(".")
        kinds = [("index",), *(("combine", "--format", "cfa", "--cfa-version", version) for version in VERSIONS)]
        for kind in kinds:
            for parts in ([("--partition", "0"), ("--partition", "1")], [("-v", "tas"), ("-v", "pr")]):
                with self.subTest(kind=kind, parts=parts):
                    run(*kind, "d0.nc", "d1.nc", "-o", "m.nc", "-q")
                    os.mkdir("new")
                    for name in ("d0.nc", "d1.nc"):
                        shutil.copy2(name, "new")
                    run("mv", "m.nc", "--prefix", "new", *parts[0])
                    with netCDF4.Dataset("m.nc") as master:
                        recorded = json.loads(master.getncattr("_refs_sources"))["sources"]
                    names = [os.path.relpath(os.path.join(here, source["url"].removeprefix("file://")), here) for source in recorded]
                    of_both = ["d0.nc", "d1.nc", "new/d0.nc", "new/d1.nc"]
                    self.assertEqual(sorted(names), of_both if parts[0][0] == "-v" else of_both[1:3])
                    run("mv", "m.nc", "--prefix", "new", *parts[1])
                    for name in ("d0.nc", "d1.nc"):
                        os.remove(name)
                    self.assertIn("2 sources, 0 problems", run("check", "m.nc"))
                    run("append", "m.nc", "d2.nc", "-q")
                    np.testing.assert_array_equal(read("m.nc", "pr"), self.values(3))
                    for name in ("d0.nc", "d1.nc"):
                        os.rename(f"new/{name}", name)
                    os.rmdir("new")

    def test_of_reference_sets_names_the_verb_for_them(self):
        self.split()
        for name in ("set.json", "set.parq"):
            run("index", "source.nc", "-q", "-o", name)
            self.assertIn(f"{name}: cannot rename fragments: expected a master, which is a netCDF file, found a reference set: "
                          "use refs convert --rewrite", run("mv", name, "--prefix", "x", status=1))

    def test_gives_no_two_fragments_one_name(self):
        for year in (2001, 2002):
            os.mkdir(str(year))
            with netCDF4.Dataset(f"{year}/t.nc", "w") as file:
                file.createDimension("time", 1)
                file.createVariable("time", "f8", ("time",))[:] = year
                file.createVariable("v", "f4", ("time",))[:] = year
        for version in VERSIONS:
            run("combine", "--format", "cfa", "-q", "--cfa-version", version, "2001/t.nc", "2002/t.nc", "-o", "m.nca")
            for arguments in (("--prefix", "new"), ("--rewrite", "2001/=>new/", "--rewrite", "2002/=>new/")):
                self.assertIn('m.nca: expected a new name for each fragment, found "new/t.nc" for both "2001/t.nc" and "2002/t.nc": '
                              "use --rewrite OLD=>NEW, which keeps folders and file names", run("mv", "m.nca", *arguments, status=1))
            np.testing.assert_array_equal(read("m.nca", "v"), [2001, 2002])

    def test_of_a_master_without_fragments_says_so(self):
        with netCDF4.Dataset("x.nc", "w") as file:
            file.createDimension("x", 1)
            file.createVariable("x", "f8", ("x",))[:] = 1
        run("index", "x.nc", "-q", "--along", "x", "-o", "whole.nc")
        self.assertIn("whole.nc: expected arrays whose values are in fragments, found none: it has all values itself",
                      run("mv", "whole.nc", "--prefix", "x", status=1))

    def test_says_so_where_nothing_changes(self):
        self.split()
        self.assertIn('m.nca: no fragment has a name to change: expected names that begin with OLD of --rewrite, or lie outside '
                      '--prefix, found "m/m.tas.0.0.0.nc" first: give OLD as the master has it',
                      run("mv", "m.nca", "--rewrite", os.path.abspath("m/") + "=>y", status=1))

    def test_says_so_where_a_selected_partition_has_no_fragment(self):
        for t, y in ((0, 0), (0, 1), (1, 0)):
            with netCDF4.Dataset(f"{t}{y}.nc", "w") as file:
                for name in "ty":
                    file.createDimension(name, 1)
                    file.createVariable(name, "f8", (name,))[:] = {"t": t, "y": y}[name]
                file.createVariable("v", "f4", ("t", "y"))[:] = 1
        run("combine", "--format", "cfa", "-q", "00.nc", "01.nc", "10.nc", "--along", "t", "--along", "y", "-o", "m.nca")
        self.assertIn("m.nca: expected fragments in what --partition, --variables and --group select, found none",
                      run("mv", "m.nca", "--prefix", "z", "--partition", "1,1", status=1))

    def test_names_what_is_not_there(self):
        self.split(subarray_shape="2,6,8")
        for arguments in (("mv", "m.nca", "--prefix", "x"), ("info", "m.nca", "--partition", "all")):
            self.assertIn("has no aggregation tsa: it has /tas", run(*arguments, "--variables", "tsa", status=1))
        self.assertIn("no partition 7", run("mv", "m.nca", "--prefix", "x", "--partition", "7,7,7", status=1))

    def test_sees_folders_from_where_it_runs(self):
        for version in VERSIONS:
            for master, folder, named in (("sub/m.nca", "sub/moved", "moved"), ("sub/m.nca", "moved", os.path.realpath("moved")),
                                          ("sub/m.nca", "sub", "")):
                with self.subTest(version=version, folder=folder):
                    shutil.rmtree("sub", ignore_errors=True)
                    shutil.rmtree("moved", ignore_errors=True)
                    self.split("m.nca", cfa_version=version, subarray_shape="2,6,8")
                    os.makedirs("sub")
                    os.makedirs(folder, exist_ok=True)
                    os.rename("m.nca", master)
                    for name in os.listdir("m"):
                        os.rename("m/" + name, os.path.join(folder, name))
                    os.rmdir("m")
                    run("mv", master, "--prefix", folder)
                    np.testing.assert_array_equal(read(master), self.values())
                    self.assertIn("  " + os.path.join(named, "m.tas.0.0.0.nc"), run("info", master, "--partition", "all"))

    def test_names_folders_that_are_called_like_the_beginning_of_a_url(self):
        for version in VERSIONS:
            for folder in ("file:", "local:", "C:", "simplecache::", "http:"):
                with self.subTest(version=version, folder=folder):
                    shutil.rmtree("sub", ignore_errors=True)
                    os.makedirs("sub")
                    self.split("sub/m.nca", cfa_version=version, subarray_shape="2,6,8")
                    os.rename("sub/m", "sub/" + folder)
                    run("mv", "sub/m.nca", "--prefix", folder)
                    np.testing.assert_array_equal(read("sub/m.nca"), self.values())
                    run("combine", "--format", "cfa", "--cfa-version", version, *sorted(glob.glob(f"./sub/{folder}/*.nc")),
                        "-o", "sub/combined.nca")
                    np.testing.assert_array_equal(read("sub/combined.nca"), self.values())
                    shutil.rmtree("sub/" + folder)
                    self.split(f"sub/{folder}.nca", cfa_version=version, subarray_shape="2,6,8")
                    np.testing.assert_array_equal(read(f"sub/{folder}.nca"), self.values())

    def test_warns_of_folders_that_are_not_there(self):
        self.split(subarray_shape="2,6,8")
        done = subprocess.run([REFS, "mv", "m.nca", "--prefix", "nowhere"], capture_output=True, text=True, check=True)
        self.assertIn("nowhere: there is no such folder", done.stderr)
        os.makedirs("sub")
        self.split("sub/m.nca", subarray_shape="2,6,8")
        run("mv", "sub/m.nca", "--prefix", "sub/later/")
        os.rename("sub/m", "sub/later")
        np.testing.assert_array_equal(read("sub/m.nca"), self.values())
        run("index", "m.nca", "-q", "-o", "set.json")
        failed = subprocess.run([REFS, "mv", "set.json", "--prefix", "nowhere"], capture_output=True, text=True)
        self.assertIn("cannot rename fragments", failed.stderr)
        self.assertNotIn("there is no such folder", failed.stderr)

    def write_master(self, *, terms="map: m uris: u identifiers: i", names=("m/m.tas.0.0.0.nc",), format="NETCDF3_CLASSIC"):
        """A master of CF-1.13 by hand: characters along a dimension that other variables share, and one that may grow."""
        self.split(subarray_shape="4,6,8")
        width = max((len(name) for name in names), default=1)
        with netCDF4.Dataset("hand.nc", "w", format=format) as file:
            for dim, n in (("time", 4), ("lat", 6), ("lon", 8), ("one", 1), ("j", 3), ("text", width), ("grows", None)):
                file.createDimension(dim, n)
            file.title, file.numbers = "by hand", np.float32([1, 2])
            tas = file.createVariable("tas", "f4", (), fill_value=-9999)
            tas.units, tas.aggregated_dimensions, tas.aggregated_data = "K", "time lat lon", terms
            file.createVariable("m", "i4", ("j", "one"))[:] = np.array([[4], [6], [8]])
            uris = file.createVariable("u", "S1", ("one", "one", "one", "text") if names else ())
            if names:
                uris[:] = netCDF4.stringtochar(np.array(names, f"S{width}")).reshape(1, 1, 1, width)
            file.createVariable("i", "S1", ("j",))[:] = netCDF4.stringtochar(np.array(["tas"], "S3"))[0]
            file.createVariable("note", "S1", ("text",))[:] = netCDF4.stringtochar(np.array(["n" * width], f"S{width}"))[0]
            file.createVariable("series", "i2", ("grows", "lat"))[:] = np.arange(18).reshape(3, 6)
            file.createVariable("more", "f8", ("grows",))[:] = np.arange(3) / 3
        return "hand.nc"

    def test_takes_the_index_that_info_shows(self):
        """Of dimensions that are not split, CFA-0.4 may leave out the number."""
        self.split(cfa_version="0.4", subarray_shape="2,6,8")
        with netCDF4.Dataset("m.nca", "a") as file:
            array = json.loads(file["tas"].cfa_array)
            array.update(pmdimensions=["time"], pmshape=[2])
            for partition in array["Partitions"]:
                del partition["index"][1:]
            file["tas"].cfa_array = json.dumps(array)
        shutil.copytree("m", "n")
        self.assertEqual(run("mv", "m.nca", "--prefix", "n", "--partition", "1,0,0"), "1 fragments\n")
        shown = run("info", "m.nca", "--partition", "all")
        self.assertIn("n/m.tas.1.0.0.nc", shown)
        self.assertIn("m/m.tas.0.0.0.nc", shown)
        np.testing.assert_array_equal(read("m.nca"), self.values())

    def write_two(self):
        """A master of two variables whose names of files are those of one variable."""
        name = self.write_master()
        with netCDF4.Dataset(name, "a") as file:
            other = file.createVariable("other", "f4", (), fill_value=-9999)
            other.aggregated_dimensions, other.aggregated_data = file["tas"].aggregated_dimensions, file["tas"].aggregated_data
        return name

    def test_changes_a_name_once_that_two_variables_have(self):
        name = self.write_two()
        os.rename("m", "mm")
        self.assertEqual(run("mv", name, "--rewrite", "m=>mm"), "1 fragments\n")
        for variable in ("tas", "other"):
            np.testing.assert_array_equal(read(name, variable), self.values())

    def test_changes_each_variable_that_is_named(self):
        for version in VERSIONS:
            with netCDF4.Dataset("many.nc", "w") as file:
                file.createDimension("t", 4)
                for variable in ("a", "b", "c"):
                    file.createVariable(variable, "f4", ("t",))[:] = np.arange(4)
            self.split("many.nca", "many.nc", cfa_version=version, subarray_shape="t=2")
            self.assertEqual(run("mv", "many.nca", "--prefix", "n", "-v", "a", "-v", "c"), "4 fragments\n")
            shown = run("info", "many.nca", "--partition", "all")
            self.assertEqual([shown.count(f"n/many.{variable}.") for variable in "abc"], [2, 0, 2], version)

    def test_makes_room_for_longer_names_in_netcdf_3(self):
        for format in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET"):
            name = self.write_master(format=format)
            before = dump(name)
            folder = "a_much_longer_name_of_a_folder/than_there_was"
            os.makedirs(os.path.dirname(folder), exist_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            os.rename("m", folder)
            self.assertEqual(run("mv", name, "--prefix", folder), "1 fragments\n")
            np.testing.assert_array_equal(read(name), self.values())
            self.assertEqual(sorted(os.listdir(".")), sorted(["a_much_longer_name_of_a_folder", name, "m.nca", "source.nc"]))
            run("mv", name, "--prefix", "m")
            os.rename(folder, "m")
            after = dump(name)
            added = re.search(r"\n\trefs_name_\d+_0 = \d+ ;", after).group(0)
            self.assertEqual(re.sub(r"refs_name_\d+_0", "text", after.replace(added, "")), before)
            with netCDF4.Dataset(name) as file:
                self.assertEqual((file.data_model, file.dimensions["grows"].isunlimited()), (format, True))

    def test_reads_terms_in_any_case(self):
        name = self.write_master(terms="Map: m URIS: u Identifiers: i")
        os.rename("m", "n")
        self.assertEqual(run("mv", name, "--prefix", "n"), "1 fragments\n")
        np.testing.assert_array_equal(read(name), self.values())

    def test_refuses_what_is_not_read_whole(self):
        def refuse(name, said):
            with open(name, "rb") as file:
                before = file.read()
            self.assertIn(said, run("mv", name, "--prefix", "x", status=1))
            with open(name, "rb") as file:
                self.assertEqual(file.read(), before)

        refuse(self.write_master(names=()), "")
        name = self.write_master()
        with open(name, "rb") as file:
            master = file.read()
        at = master.index(b"by hand") - 4  # how long this attribute is
        with open("wild.nc", "wb") as file:
            file.write(master[:at] + b"\xff\xff\xfe\xfc" + master[at + 4 :])
        refuse("wild.nc", "a name or an attribute has")
        self.split("four.nca", cfa_version="1.13")
        with open("four.nca", "r+b") as file:
            file.truncate(os.path.getsize("four.nca") - 40)
        refuse("four.nca", "four.nca")

    @unittest.skipUnless(os.path.isdir(SHARED), "needs samples that are not in the repository")
    def test_knows_every_encoding(self):
        for name, last in (("cfa04", "nca"), ("cfa05", "nca"), ("cfa06", "nca"), ("cfa06_alternatives", "nca"),
                           ("draft112", None), ("cf113_uneven", None), ("cfa04_nc4_uneven", None)):
            with self.subTest(name):
                master = glob.glob(os.path.join(SHARED, name, "master.nc*"))[0]
                before = read(master)
                shutil.copy(master, "copy.nca")
                run("mv", "copy.nca", "--prefix", os.path.join(SHARED, name, "master"))
                np.testing.assert_array_equal(read("copy.nca"), before)


@unittest.skipIf(object_store.WHY_NOT, object_store.WHY_NOT)
class NamesOfStores(Folder):
    def test_are_in_messages_what_users_call_them(self):
        with open(".s3nc.json", "w") as file:
            json.dump({"version": "9", "hosts": {"s3://store": {
                "alias": "store", "url": "http://127.0.0.1:1", "backend": "s3aioFileObject",
                "credentials": {"accessKey": "id", "secretKey": "topsecret"}}}, "backends": {}}, file)
        said = run("info", "s3://store/archive/m.nca", status=1)
        self.assertIn("s3://store/archive/m.nca", said)
        self.assertNotIn("/vsi", said)
        self.assertNotIn("~", said)


class CopiedNames(Folder):
    """Sets whose variables are aggregations of CFA-0.4 and CF-1.13, copied into another folder."""

    ZARRAY = {"zarr_format": 2, "shape": [], "chunks": [], "dtype": "<f8", "fill_value": None, "order": "C",
              "compressor": None, "filters": None}

    def put(self, *names):
        for name in names:
            os.makedirs(os.path.dirname(name), exist_ok=True)
            with open(name, "w", encoding="utf-8") as file:
                file.write(name)

    def copied(self, *variables):
        """The names in a copy of in/m.json, of CFA-0.4 variables with these names each."""
        refs = {".zgroup": '{"zarr_format":2}'}
        for i, names in enumerate(variables):
            parts = [{"index": [k], "location": [[k, k]], "subarray": {"file": name, "ncvar": "v", "shape": [1]}}
                     for k, name in enumerate(names)]
            refs[f"v{i}/.zarray"] = json.dumps(self.ZARRAY)
            refs[f"v{i}/.zattrs"] = json.dumps(
                {"_ARRAY_DIMENSIONS": [], "cf_role": "cfa_variable", "cfa_dimensions": "x", "cfa_array": json.dumps(
                    {"pmdimensions": ["x"], "pmshape": [len(names)], "Partitions": parts})})
        with open("in/m.json", "w", encoding="utf-8") as file:
            json.dump({"version": 1, "refs": refs}, file)
        os.makedirs("out", exist_ok=True)
        run("convert", "in/m.json", "-o", "out/c.json")
        with open("out/c.json", encoding="utf-8") as file:
            refs = json.load(file)["refs"]
        arrays = [json.loads(json.loads(refs[f"v{i}/.zattrs"])["cfa_array"]) for i in range(len(variables))]
        return [[os.path.relpath(os.path.realpath(part["subarray"]["file"]), os.path.realpath("in"))
                 for part in array["Partitions"]] for array in arrays]

    def test_are_decided_for_each_variable(self):
        self.put("in/a.nc", "in/m/b.nc")
        self.assertEqual(self.copied(["a.nc"], ["b.nc"]), [["a.nc"], ["m/b.nc"]])
        self.assertEqual(self.copied(["b.nc"], ["a.nc"]), [["m/b.nc"], ["a.nc"]])

    def test_are_decided_for_names_that_are_escaped_and_others(self):
        self.put("in/m/b c.nc", "in/m/a.nc")
        self.assertEqual(self.copied(["a.nc", "b%20c.nc", "later.nc"])[0][::2], ["m/a.nc", "m/later.nc"])
        self.put("in/d e.nc", "in/f.nc")
        self.assertEqual(self.copied(["d%20e.nc", "f.nc"]), [["d e.nc", "f.nc"]])

    def test_of_absent_files_are_those_of_files_found_later(self):
        self.put("in/m/b.nc")
        self.assertEqual(self.copied(["absent.nc", "b.nc"]), [["m/absent.nc", "m/b.nc"]])

    def test_are_not_decided_by_a_file_that_cannot_be_opened(self):
        self.put("in/m/b.nc")
        os.symlink("loop.nc", "in/loop.nc")
        with self.assertRaisesRegex(AssertionError, "status 1(.|\n)*loop.nc"):
            self.copied(["loop.nc", "b.nc"])


class Copied(Folder):
    def test_masters_of_netcdf_3_have_each_key_once(self):
        self.write()
        run("split", "source.nc", "--subarray-shape", "time=2", "--cfa-version", "1.13", "--format", "NETCDF3",
            "-o", "m.nca")
        run("index", "m.nca", "-o", "a.json")
        run("convert", "a.json", "-o", "b.json")
        with open("b.json", encoding="utf-8") as file:
            pairs = json.loads(file.read(), object_pairs_hook=list)
        keys = [key for key, _ in dict(pairs)["refs"]]
        self.assertEqual(sorted(keys), sorted(set(keys)))


class Neighbours(Folder):
    def test_with_another_ending_keep_their_fragments(self):
        for ending in ".nc4", ".cdf", ".nc":
            self.write()
            run("split", "source.nc", "--subarray-shape", "time=2", "-o", "m.nca")
            os.rename("m.nca", f"m{ending}")
            before = read(f"m{ending}")
            run("split", "source.nc", "--subarray-shape", "time=1", "-o", "m.nca")
            np.testing.assert_array_equal(read(f"m{ending}"), before)
            for name in glob.glob("m*"):
                shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)


class Misspelt(Folder):
    def test_aliases_are_told_with_the_file_that_has_none(self):
        hosts = {"s3://tenancy-0": {"alias": "tenancy-0", "url": "http://127.0.0.1:1"}}
        with open(".s3nc.json", "w", encoding="utf-8") as file:
            json.dump({"version": "9", "hosts": hosts}, file)
        environment = {**os.environ, "AWS_S3_ENDPOINT": "http://127.0.0.1:1", "AWS_NO_SIGN_REQUEST": "YES", "GDAL_HTTP_MAX_RETRY": "0"}
        done = subprocess.run([REFS, "info", "s3://tenancy-O/bucket/m.nca"], env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("s3://tenancy-O/bucket/m.nca", done.stderr)
        self.assertIn("no alias", done.stderr)
        self.assertIn(".s3nc.json", done.stderr)


class Together(Folder):
    """Programs that add to one master in an object store at a time."""

    def setUp(self):
        super().setUp()
        self.server = s3_server.S3Server({"/archive/here": b""}, {"id": "topsecret"})
        self.addCleanup(self.server.close)
        with open(".s3nc.json", "w") as file:
            json.dump({"version": "9", "hosts": {"s3://store": {
                "alias": "store", "url": self.server.url, "backend": "s3aioFileObject",
                "credentials": {"accessKey": "id", "secretKey": "topsecret"}}}, "backends": {}}, file)
        for day in range(3):
            self.write(f"d{day}.nc", (day,), data=self.values()[day:day + 1])
            run("split", f"d{day}.nc", "-o", f"s3://store/archive/d{day}.nca")
        run("combine", "--format", "cfa", self.part(0), "-o", MASTER)

    def part(self, day):
        return f"s3://store/archive/d{day}/d{day}.tas.0.0.0.nc"

    def when(self, method, path, then):
        """Has `then` done before the next such request is answered."""
        def before(*request):
            if request == (method, path):
                self.server.before = lambda *request: None
                then()
        self.server.before = before

    def test_masters_take_days_that_are_packed_otherwise(self):
        days = []
        for day in range(5):
            name = self.write(f"p{day}.nc", (day,), data=self.values()[:1])
            with netCDF4.Dataset(name, "a") as file:
                if day > 1:
                    file["tas"].scale_factor = 0.5
                file.createVariable("small", "f4", ("time",))[:] = day
            with open(name, "rb") as file:
                self.server.objects[f"/archive/{name}"] = file.read()
            days.append(f"s3://store/archive/{name}")
        expected = np.stack([self.values()[0] * (0.5 if day > 1 else 1) for day in range(5)])
        run("index", *days[:2], "-o", "local.nc", "-q")
        run("combine", "--format", "cfa", *days[:2], "-o", "s3://store/archive/two.nca")
        with open("local.nc", "rb") as file:
            self.server.objects["/archive/joined.nc"] = file.read()
        for master in "s3://store/archive/joined.nc", "s3://store/archive/two.nca":
            for day in range(2, 5):
                self.assertEqual(run("append", master, days[day], "-q"), "")
                gdal.VSICurlClearCache()
                np.testing.assert_array_equal(read(master), expected[:day + 1])
                self.assertEqual(read(master, "small").tolist(), list(range(day + 1)))
        self.assertIn("cannot refer to a local file", run("append", "s3://store/archive/joined.nc", "p0.nc", status=1))

    def test_the_second_is_told_and_changes_nothing(self):
        self.when("PUT", "/archive/m.nca", lambda: run("append", MASTER, self.part(2)))
        said = run("append", MASTER, self.part(1), status=1)
        self.assertIn("s3://store/archive/m.nca: not overwritten: another program changed it", said)
        self.assertIn("run the command again", said)
        self.assertEqual(said.count("\n"), 1, said)
        np.testing.assert_array_equal(read(MASTER), self.values()[[0, 2]])
        run("append", MASTER, self.part(1))
        np.testing.assert_array_equal(read(MASTER), self.values()[:3])

    def test_who_moves_fragments_is_told_too(self):
        self.when("PUT", "/archive/m.nca", lambda: run("append", MASTER, self.part(2)))
        said = run("mv", MASTER, "--rewrite", "s3://store/archive/d0/=>s3://store/archive/x/", status=1)
        self.assertIn("another program", said)
        np.testing.assert_array_equal(read(MASTER), self.values()[[0, 2]])

    def test_a_master_that_was_removed_is_not_made_again(self):
        self.when("PUT", "/archive/m.nca", lambda: self.server.objects.pop("/archive/m.nca"))
        self.assertIn("another program", run("append", MASTER, self.part(1), status=1))
        self.assertNotIn("/archive/m.nca", self.server.objects)

    def test_what_arrived_is_written_though_its_answer_is_lost(self):
        """The store does what it is asked, and says that it failed: the next attempt finds the first."""
        lost = []

        def lose_once(path):
            lost.append(path)
            return path == "/archive/m.nca" and lost.count(path) == 1

        self.server.is_lost = lose_once
        environment = {**os.environ, "GDAL_HTTP_MAX_RETRY": "2", "GDAL_HTTP_RETRY_DELAY": "0.01"}
        for day in (1, 2):
            lost.clear()
            done = subprocess.run([REFS, "append", MASTER, self.part(day), "-q"], capture_output=True, text=True, check=False, env=environment)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(lost, ["/archive/m.nca"])
            np.testing.assert_array_equal(read(MASTER), self.values()[:day + 1])

    def test_are_not_grown_where_states_of_them_cannot_be_told_apart(self):
        before = dict(self.server.objects)
        for tag in (lambda content: None, lambda content: f'W/"{len(content)}"'):
            self.server.tag = tag
            for arguments in (("append", MASTER, self.part(1)), ("mv", MASTER, "--rewrite", "s3://=>s4://")):
                self.assertIn("expected a strong ETag", run(*arguments, status=1))
            self.assertEqual(self.server.objects, before)

    def test_stores_without_conditions_are_asked_again(self):
        for conditions in ((501, "NotImplemented"), "passed over"):
            self.server.conditions = conditions
            run("combine", "--format", "cfa", self.part(0), "-o", MASTER)
            run("append", MASTER, self.part(1))
            np.testing.assert_array_equal(read(MASTER), self.values()[:2])
            run("combine", "--format", "cfa", self.part(0), "-o", MASTER)
            self.when("GET", "/archive/d1/d1.tas.0.0.0.nc", lambda: run("append", MASTER, self.part(2)))
            self.assertRegex(run("append", MASTER, self.part(1), status=1), "another program|replaced while it was read")
            np.testing.assert_array_equal(read(MASTER), self.values()[[0, 2]])
            self.when("GET", "/archive/m.nca", lambda: run("append", MASTER, self.part(1)))
            self.assertIn("another program", run("mv", MASTER, "--rewrite", "s3://=>s4://", status=1))
            np.testing.assert_array_equal(read(MASTER), self.values()[:3])


class Timeouts(Folder):
    """Servers that do not answer, and those that cannot be reached."""

    def name_store(self, **backend):
        self.server = socket.socket()
        self.addCleanup(self.server.close)
        self.server.bind(("127.0.0.1", 0))
        self.server.listen(0)
        with open(".s3nc.json", "w") as file:
            json.dump({"version": "9", "hosts": {"s3://slow": {
                "alias": "slow", "url": "http://127.0.0.1:%d" % self.server.getsockname()[1], "backend": "s3aioFileObject",
                "credentials": {"accessKey": "id", "secretKey": "topsecret"}}}, "backends": {"s3aioFileObject": backend}}, file)

    def expect_failure(self, *arguments):
        begin = time.monotonic()
        done = subprocess.run([REFS, *arguments], capture_output=True, text=True, check=False, timeout=50,
                              env={**os.environ, "GDAL_HTTP_MAX_RETRY": "0"})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("s3://slow/bucket/m", done.stderr)
        self.assertLess(time.monotonic() - begin, 10)

    def test_of_a_server_that_does_not_answer_are_those_of_the_alias(self):
        self.name_store(connect_timeout=1, read_timeout=1)
        self.expect_failure("info", "s3://slow/bucket/m.nca")
        self.expect_failure("mv", "s3://slow/bucket/m.nca", "--prefix", "x")

    def test_of_a_server_that_cannot_be_reached_are_those_of_the_alias(self):
        self.name_store(connect_timeout=1, read_timeout=45)
        waiting = []  # as many as it keeps; who comes later is not heard
        for _ in range(4):
            waiting.append(socket.socket())
            self.addCleanup(waiting[-1].close)
            waiting[-1].setblocking(False)
            waiting[-1].connect_ex(self.server.getsockname())
        self.expect_failure("info", "s3://slow/bucket/m.nca")
        self.write()
        self.expect_failure("split", "source.nc", "-o", "s3://slow/bucket/m.nca")


@unittest.skipIf(object_store.WHY_NOT, object_store.WHY_NOT)
class Stores(Folder):
    def setUp(self):
        super().setUp()
        self.store = object_store.ObjectStore("id", "topsecret", "archive")
        self.addCleanup(self.store.close)
        with open(".s3nc.json", "w") as file:
            json.dump({"version": "9", "hosts": {"s3://store": {
                "alias": "store", "url": self.store.url, "backend": "s3aioFileObject",
                "credentials": {"accessKey": "id", "secretKey": "topsecret"}}}, "backends": {}}, file)
        for name, value in (("HOME", self.folder), ("AWS_S3_ENDPOINT", self.store.url[7:]), ("AWS_HTTPS", "NO"), ("AWS_ACCESS_KEY_ID", "id"),
                            ("AWS_SECRET_ACCESS_KEY", "topsecret"), ("AWS_VIRTUAL_HOSTING", "FALSE"),
                            ("AWS_EC2_METADATA_DISABLED", "YES")):
            gdal.SetConfigOption(name, value)
            self.addCleanup(gdal.SetConfigOption, name, None)
        for name, value in (("AWS_ENDPOINT_URL", self.store.url), ("AWS_ACCESS_KEY_ID", "id"),
                            ("AWS_SECRET_ACCESS_KEY", "topsecret"), ("TMPDIR", os.path.join(self.folder, "scratch"))):
            before = os.environ.get(name)
            os.environ[name] = value
            self.addCleanup(lambda name, before: os.environ.update({name: before}) if before is not None
                            else os.environ.pop(name), name, before)
        os.mkdir("scratch")

    def path(self, name):
        return os.path.join(self.store.root, "archive", name)

    def expect(self, name, values):
        gdal.VSICurlClearCache()
        np.testing.assert_array_equal(read(name), values)
        self.assertEqual(os.listdir("scratch"), [])

    def test_one_archive_goes_through_all_tools(self):
        for version in VERSIONS:
            for folder in ("s3://store/archive", "s3://archive"):
                with self.subTest(version=version, folder=folder):
                    self.go_through_all_tools(version, folder)
                shutil.rmtree(self.path("2000"))

    def go_through_all_tools(self, version, folder):
        master = folder + "/2000/m.nca"
        self.write(times=(0, 1), data=self.values()[:2])
        self.split(master, cfa_version=version, subarray_shape="1,3,4")
        self.expect(master, self.values()[:2])
        shown = run("info", master, "--partition", "1,1,1")
        within = "" if version == "1.13" else folder + "/2000/"
        self.assertIn(f" {within}m/m.tas.1.1.1.nc", shown)
        # The fragments are moved.
        first = dump(self.path("2000/m.nca"))
        os.rename(self.path("2000/m"), self.path("2000/n"))
        self.assertEqual(run("mv", master, "--rewrite", within + "m/=>" + within + "n/"), "8 fragments\n")
        self.expect(master, self.values()[:2])
        os.rename(self.path("2000/n"), self.path("2000/m"))
        run("mv", master, "--prefix", within + "m")
        self.expect(master, self.values()[:2])
        # The master is lost.
        os.remove(self.path("2000/m.nca"))
        before = len(self.store.requests())
        run("combine", "--format", "cfa", "--cfa-version", version, folder + "/2000/m/", "-o", master)
        self.assertEqual([(method, path) for _, method, path in self.store.requests()[before:] if method != "GET" and method != "HEAD"],
                         [("PUT", "/archive/2000/m.nca")])
        self.assertEqual(dump(self.path("2000/m.nca")), first)
        # Steps are added.
        self.write("more.nc", times=(2, 3), data=self.values()[2:])
        run("split", "more.nc", "-o", folder + "/2000/more.nca", "--cfa-version", version, "--subarray-shape", "1,3,4")
        run("append", master, folder + "/2000/more/")
        self.expect(master, self.values())
        self.assertIn("more/more.tas.1.0.0.nc", run("info", master, "--partition", "3,0,0"))
        self.assertIn("16 sources, 0 problems", run("check", master))

    def test_names_of_gdal_are_names_of_stores(self):
        self.split("/vsis3/archive/2000/m.nca", subarray_shape="2,6,8")
        self.expect("/vsis3/archive/2000/m.nca", self.values())
        os.remove(self.path("2000/m.nca"))
        run("combine", "--format", "cfa", "/vsis3/archive/2000/m/", "-o", "/vsis3/archive/2000/m.nca")
        self.expect("/vsis3/archive/2000/m.nca", self.values())
        self.assertIn(" s3://archive/2000/m/m.tas.0.0.0.nc", run("info", "/vsis3/archive/2000/m.nca", "--partition", "all"))
        run("mv", "/vsis3/archive/2000/m.nca", "--prefix", "m")
        self.expect("/vsis3/archive/2000/m.nca", self.values())
        self.write("next.nc", times=(4, 5), data=self.values()[:2])
        run("split", "next.nc", "-o", "/vsis3/archive/2000/n.nca", "--subarray-shape", "2,6,8")
        run("append", "/vsis3/archive/2000/m.nca", "/vsis3/archive/2000/n/n.tas.0.0.0.nc")
        self.expect("s3://archive/2000/m.nca", np.concatenate([self.values(), self.values()[:2]]))

    def test_programs_that_append_at_one_time_lose_nothing(self):
        names = [self.write(f"d{day}.nc", (day,), data=self.values(6)[day:day + 1]) for day in range(6)]
        for name in names:
            shutil.copyfile(name, self.path(name))
        run("combine", "--format", "cfa", "s3://store/archive/d0.nc", "-o", MASTER)
        running = [subprocess.Popen([REFS, "append", MASTER, f"s3://store/archive/{name}", "-q"],
                                    stderr=subprocess.PIPE, text=True) for name in names[1:]]
        n = 1
        for one in running:
            said = one.communicate()[1]
            n += one.returncode == 0
            self.assertTrue(one.returncode == 0 or "another program" in said or "replaced" in said, said)
        self.assertGreater(n, 1)
        self.assertEqual(len(read(MASTER)), n)

    def test_what_fails_leaves_what_was_there(self):
        self.split("s3://store/archive/m.nca", subarray_shape="2,6,8")
        with open(self.path("m.nca"), "rb") as file:
            before = file.read()
        self.assertIn("no aggregation pr", run("mv", "s3://store/archive/m.nca", "--prefix", "m", "--variables", "pr", status=1))
        self.assertIn("s3://store/archive/gone.nc", run("append", "s3://store/archive/m.nca", "s3://store/archive/gone.nc", status=1))
        said = run("combine", "--format", "cfa", "s3://store/archive/m/", "-o", "s3://store/archive/m/m.tas.0.0.0.nc", status=1)
        self.assertIn("s3://store/archive/m/m.tas.0.0.0.nc: is a source", said)
        os.environ["AWS_SECRET_ACCESS_KEY"] = "wrong"
        said = run("combine", "--format", "cfa", "s3://store/archive/m/", "-o", "s3://archive/m.nca", status=1)
        self.assertIn("SignatureDoesNotMatch", said)
        self.assertNotIn("/vsi", said)
        with open(self.path("m.nca"), "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(os.listdir("scratch"), [])

    def test_what_stands_for_missing_fragments_is_sent_before_the_master(self):
        os.mkdir(self.path("days"))
        for day in range(2):
            self.write(self.path(f"days/{day}.nc"), (day,), data=self.values()[day:day + 1])
        with netCDF4.Dataset(self.path("days/1.nc"), "a") as file:
            file.renameVariable("tas", "other")
        before = len(self.store.requests())
        run("combine", "--format", "cfa", "--cfa-version", "1.13", "s3://store/archive/days/", "-q", "-o", "s3://store/archive/m.nca")
        sent = [path for _, method, path in self.store.requests()[before:] if method == "PUT"]
        self.assertEqual(sent[-1], "/archive/m.nca")
        self.assertEqual(sorted(sent[:-1]), ["/archive/m/m.other.fill.1x6x8.nc", "/archive/m/m.tas.fill.1x6x8.nc"])
        self.expect("s3://store/archive/m.nca", np.stack([self.values()[0], np.full((6, 8), -9999)]))
        with netCDF4.Dataset(self.path("m.nca")) as file:
            self.assertEqual(file["tas_uris"][:].ravel().tolist(), ["days/0.nc", "m/m.tas.fill.1x6x8.nc"])

    def test_problems_are_told_of_names_as_users_write_them(self):
        self.split("s3://store/archive/m.nca", subarray_shape="2,6,8")
        os.remove(self.path("m/m.tas.1.0.0.nc"))
        said = run("check", "s3://store/archive/m.nca", status=1)
        self.assertIn("s3://store/archive/m/m.tas.1.0.0.nc: ", said)
        self.assertNotIn("/vsi", said)
        told = json.loads(run("check", "s3://store/archive/m.nca", "--json", status=1).splitlines()[0])
        self.assertEqual(told["source"], "s3://store/archive/m/m.tas.1.0.0.nc")
        self.assertNotIn("/vsi", told["problem"])

    def test_local_masters_name_fragments_in_stores(self):
        self.split("s3://store/archive/2000/m.nca", subarray_shape="2,3,4")
        self.assertEqual(len(self.store.files("archive")), 10)
        run("combine", "--format", "cfa", "s3://store/archive/2000/m/", "-o", "local.nca")
        self.expect("local.nca", self.values())
        run("mv", "local.nca", "--rewrite", "s3://store/archive/2000=>s3://store/archive/moved")
        os.rename(self.path("2000"), self.path("moved"))
        self.expect("local.nca", self.values())


class Masters(OwnFolder):
    """Masters in other sets: their fragments are found, or it is an error."""

    def setUp(self):
        super().setUp()
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)

    def write(self, name, times):
        with netCDF4.Dataset(name, "w") as file:
            for dim, values in (("time", times), ("lat", [10., 0.]), ("lon", [0., 10., 20.])):
                file.createDimension(dim, len(values))
                axis = file.createVariable(dim, "f8", (dim,))
                axis.units = {"time": "days since 2000-01-01", "lat": "degrees_north", "lon": "degrees_east"}[dim]
                axis[:] = values
            values = np.arange(6).reshape(2, 3) + 100. * np.array(times)[:, None, None]
            file.createVariable("v", "f4", ("time", "lat", "lon"), fill_value=-9)[:] = values
        return values

    def test_are_combined_as_their_fragments(self):
        for version, steps in itertools.product(VERSIONS, (3, 4)):
            expected = np.concatenate([self.write(name + ".nc", [*times]) for name, times in (("a", range(4)), ("b", range(4, 4 + steps)))])
            for name in ("a", "b"):
                run("split", name + ".nc", "-q", "-o", name + ".nca", "--cfa-version", version, "--subarray-shape", "time=1")
                run("convert", name + ".nca", "-q", "-o", name + ".json")
            for end, output in itertools.product(("nca", "json"), ("all.json", "all.nc")):
                for along in ((), ("--along", "time")):
                    run("combine", "a." + end, "b." + end, "-q", "-o", output, *along)
                    np.testing.assert_array_equal(read(output, "v"), expected, (version, steps, end, output))

    def test_are_found_from_another_folder(self):
        os.mkdir("other")
        expected = self.write("a b.nc", [*range(4)])
        for version in VERSIONS:
            formats = ("NETCDF4", "NETCDF3") if version != "0.5" else ("NETCDF4",)
            for form, verb, end in itertools.product(formats, ("index", "convert"), ("json", "parq")):
                master, where = f"m{version}.{form}.nca", f"other/{version}{form}{verb}.{end}"
                run("split", "a b.nc", "-q", "-o", master, "--cfa-version", version, "--format", form, "--subarray-shape",
                    "time=2")
                run(verb, master, "-q", "-o", where)
                np.testing.assert_array_equal(read(where, "v"), expected, where)
                run(verb, master, "-q", "-o", "relative.json", "--relative")
                run("convert", "relative.json", "-q", "-o", "other/relative.json", "--relative")
                np.testing.assert_array_equal(read("other/relative.json", "v"), expected, where)
                fragments = master.rsplit(".", 1)[0]
                run("convert", where, "-q", "-o", "moved.json", "--rewrite",
                    f"{self.folder}/{fragments}/=>{self.folder}/new/{fragments}/")
                os.mkdir("new")
                os.rename(fragments, "new/" + fragments)
                np.testing.assert_array_equal(read("moved.json", "v"), expected, where)
                shutil.rmtree("new")
                for name in ("relative.json", "moved.json", "other/relative.json"):
                    os.remove(name)

    def test_named_absolutely_are_found_where_the_tree_is_moved(self):
        for name in ("tree/data files", "tree/masters", "tree/sets"):
            os.makedirs(name)
        expected = self.write("tree/data files/a.nc", [*range(4)])
        for version in VERSIONS:
            master = f"tree/masters/m{version}.nca"
            run("combine", "--format", "cfa", "--cfa-version", version, "tree/data files/a.nc", "-q", "-o", master)
            for end in ("json", "parq"):
                run("index", master, "-q", "-o", f"tree/sets/{version}.{end}", "--relative")
        os.rename("tree", "moved")
        for version, end in itertools.product(VERSIONS, ("json", "parq")):
            np.testing.assert_array_equal(read(f"moved/sets/{version}.{end}", "v"), expected, version)


if __name__ == "__main__":
    unittest.main()
