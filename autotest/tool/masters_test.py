"""Masters as sources: what is combined of them is what is combined of their files, and what netCDF4-python reads of these.

    masters_test.py PROGRAM [test ...]
"""

import filecmp
import json
import os
import shutil
import unittest

import numpy as np
from osgeo import gdal
from properties import Property, take_arguments  # ends without netCDF4

import netCDF4

take_arguments(rounds=1, seed=1)

VERSIONS = ("0.4", "0.5", "1.13")
OUTPUTS = {"json": (), "nc": (), "nca": ("--format", "cfa")}
LON = np.arange(40.)


def write(name, times, *, variables=("v",), lon=LON, group=None, scale=None, more=False):
    """A file whose values are those of no other time; with `more`, a small variable, bounds and names of stations."""
    with netCDF4.Dataset(name, "w") as file:
        to = file.createGroup(group) if group else file
        for dim, size in (("time", None if more else len(times)), ("lat", 2), ("lon", len(lon)), ("bnds", 2)):
            to.createDimension(dim, size)
        for dim, values, units in (("time", times, "hours since 2000-01-01"), ("lat", (10, 20), "degrees_north"), ("lon", lon, "degrees_east")):
            axis = to.createVariable(dim, "f8", (dim,))
            axis.units, axis[:] = units, values
        for variable in variables:
            v = to.createVariable(variable, "i2", ("time", "lat", "lon"), fill_value=-999, chunksizes=(1, 2, len(lon)))
            v.set_auto_maskandscale(False)
            if scale:
                v.scale_factor = scale
            v[:] = 500 * np.array(times)[:, None, None] + np.arange(2)[:, None] * 200 + np.array(lon)
        if more:
            to["time"].bounds = "time_bnds"
            to.createVariable("time_bnds", "f8", ("time", "bnds"))[:] = np.array(times)[:, None] + (0, 1)
            to.createVariable("flag", "i4", ("time",))[:] = times
            to.createVariable("station", str, ("lat",))[:] = np.array(["a", "bc"], dtype=object)
    return name


def write_master(name, files, *, first=0, length=1, variable="v", more=None):
    """A master of CF-1.13 as others write it: one fragment of `length` steps in each file, or None for none; times count from `first`.
    With tuples of files, which are copies, one of CFA-0.6."""
    with netCDF4.Dataset(name, "w") as file:
        file.Conventions = "CF-1.13"
        for dim, size in (("time", len(files) * length), ("lat", 2), ("lon", len(LON)), ("f_time", len(files)), ("f_one", 1), ("map", 3)):
            file.createDimension(dim, size)
        for dim, values, units in (("time", first + np.arange(len(files) * length), "hours since 2000-01-01"), ("lat", (10, 20), "degrees_north"),
                                   ("lon", LON, "degrees_east")):
            axis = file.createVariable(dim, "f8", (dim,))
            axis.units, axis[:] = units, values
        v = file.createVariable("v", "i2", (), fill_value=-999)
        v.aggregated_dimensions = "time lat lon"
        v.aggregated_data = "map: v_map uris: v_uris identifiers: v_identifiers"
        sizes = file.createVariable("v_map", "i4", ("map", "f_time"), fill_value=-1)
        sizes[0, :], sizes[1, 0], sizes[2, 0] = length, 2, len(LON)
        copies = len(files[0]) if isinstance(files[0], tuple) else 0
        if copies:
            v.aggregated_data = "location: v_map file: v_uris address: v_identifiers format: v_format"
            file.createVariable("v_format", str, ())[...] = "nc"
            file.createDimension("f_copy", copies)
        uris = file.createVariable("v_uris", str, ("f_time", "f_one", "f_one", "f_copy")[:3 + (copies > 0)])
        for i, uri in enumerate(files):
            uris[i, 0, 0] = np.array(uri, dtype=object) if copies else uri or ""
        file.createVariable("v_identifiers", str, ())[...] = variable
        if more:
            more(file)
    return name


def write_values(name):
    """A master without files: each fragment is one value."""
    write_master(name, [None, None])
    with netCDF4.Dataset(name, "a") as file:
        file["v"].aggregated_data = "map: v_map unique_values: v_values"
        file.createVariable("v_values", "i2", ("f_time", "f_one", "f_one"))[:] = ((1,), (2,))
    return name


def read(name, *, variable="v"):
    root = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    array = root.OpenMDArrayFromFullname(f"/{variable}")
    return np.array(array.Read()) if array.GetDataType().GetClass() == gdal.GEDTC_STRING else array.ReadAsArray()


class Masters(Property):
    def run_refs(self, *arguments):
        done = self.attempt(*arguments)
        self.assertEqual(done.returncode, 0, (arguments, done.stderr))
        return done

    def fail(self, *arguments):
        done = self.attempt(*arguments)
        self.assertEqual(done.returncode, 1, arguments)
        return done.stderr

    def combine(self, output, *names, options=()):
        self.run_refs("combine", "-q", *names, "-o", output, *options)
        return output

    def make_masters(self, files, version="1.13"):
        """Two masters, each of half of the files."""
        half = len(files) // 2
        return [self.combine(f"{name}.{version}.nca", *some, options=("--format", "cfa", "--cfa-version", version))
                for name, some in (("a", files[:half]), ("b", files[half:]))]

    def check_same(self, one, other):
        done = self.attempt("diff", one, other)
        self.assertEqual(done.returncode, 0, (one, other, done.stdout, done.stderr))

    def check_values(self, name, files, variable="v"):
        expected = []
        for file in files:
            with netCDF4.Dataset(file) as source:
                source.set_auto_maskandscale(False)
                expected.append(source[variable][:])
        np.testing.assert_array_equal(read(name, variable=variable), np.concatenate(expected))

    def test_each_encoding_to_each_output_is_as_all_files_at_once(self):
        files = [write(f"f{i}.nc", [2 * i, 2 * i + 1], more=True) for i in range(4)]
        for end, options in OUTPUTS.items():
            self.combine(f"all.{end}", *files, options=options)
            for version in VERSIONS:
                masters = self.make_masters(files, version)
                with self.subTest(end=end, version=version):
                    result = self.combine(f"of.{version}.{end}", *reversed(masters), options=options)
                    self.assertTrue(filecmp.cmp(result, f"all.{end}", shallow=False) or end == "nca")
                    self.check_same(result, f"all.{end}")
                    self.check_values(result, files)

    def test_masters_of_all_encodings_with_files_and_sets(self):
        files = [write(f"f{i}.nc", [i], scale=(None, .5)[i % 2]) for i in range(7)]
        masters = [self.combine(f"m{i}.nca", *files[2 * i:2 * i + 2], options=("--format", "cfa", "--cfa-version", version))
                   for i, version in enumerate(VERSIONS[:2])]
        indexed = self.combine("i.nc", files[4], files[5])
        one = self.combine("one.json", "f6.nc", options=("--along", "time"))
        for output in ("x.json", "x.parq", "x.icechunk"):
            self.combine(output, one, indexed, *masters)
            self.combine(f"all.{output}", *files)
            self.check_same(output, f"all.{output}")
        self.combine("grown.json", "f0.nc", "f1.nc")
        self.run_refs("append", "-q", "grown.json", masters[1], indexed, "f6.nc")
        self.check_same("grown.json", "all.x.json")
        self.assertIn("already has this source", self.fail("append", "grown.json", masters[1]))
        self.combine("grown.nca", "f0.nc", options=("--format", "cfa"))
        self.combine("all.nca", *files[:4], options=("--format", "cfa"))
        self.run_refs("append", "-q", "grown.nca", self.combine("rest.nc", *files[1:4]))
        self.check_same("grown.nca", "all.nca")

    def test_grow_by_masters_of_all_encodings(self):
        files = [write(f"f{i}.nc", [2 * i, 2 * i + 1]) for i in range(4)]
        for version in VERSIONS:
            made = ("--format", "cfa", "--cfa-version", version)
            grown, added = (self.combine(f"{k}.nca", *files[2 * k:2 * k + 2], options=made) for k in range(2))
            with self.subTest(version=version):
                self.run_refs("append", "-q", grown, added)
                self.check_same(grown, self.combine("all.nca", *files, options=made))
                self.check_values(grown, files)

    def test_tiles_whose_masters_lack_some(self):
        files = {(i, k): write(f"f{i}{k}.nc", [i], lon=LON + 40 * k) for i in range(2) for k in range(3)}
        along = ("--along", "time", "--along", "lon")
        self.combine("all.json", *files.values(), options=along)
        for name, places in (("a", [(0, 0), (0, 1), (1, 1), (1, 2)]), ("b", [(0, 2), (1, 0)])):
            self.combine(f"{name}.nc", *(files[place] for place in places), options=along)
            self.combine(f"{name}.nca", *(files[place] for place in places), options=(*along, "--format", "cfa"))
        for end in ("nc", "nca"):
            self.combine(f"{end}.json", f"a.{end}", f"b.{end}")
            self.check_same(f"{end}.json", "all.json")

    def test_names_are_relative_to_each_master(self):
        os.makedirs("made/files")
        files = [write(f"made/files/f{i}.nc", [i]) for i in range(4)]
        masters = [write_master(f"made/{name}.nca", [f"files/f{i}.nc" for i in numbers], first=numbers[0]) for name, numbers in (("a", (0, 1)), ("b", (2, 3)))]
        os.mkdir("new")
        self.combine("new/x.json", *masters, options=("--relative",))
        self.combine("new/x.nca", *masters, options=("--format", "cfa"))
        self.check_values("new/x.json", files)
        self.check_values("new/x.nca", files)
        shutil.move("new", "made/new")
        shutil.move("made", "moved")
        os.mkdir("made")
        shutil.move("moved/new", "new")
        shutil.move("moved/files", "made/files")
        self.check_values("new/x.json", files)

    def test_masters_of_masters_are_their_files(self):
        files = [write(f"f{i}.nc", [i]) for i in range(4)]
        write_master("a.nca", files[:2])
        write_master("b.nca", files[2:], first=2)
        write_master("top.nca", ["a.nca", "b.nca"], length=2)
        self.combine("all.json", *files)
        self.combine("x.json", "top.nca", options=("--along", "time"))
        self.check_same("x.json", "all.json")

    def test_masters_in_the_place_of_files_have_their_steps(self):
        files = [write(f"f{i}.nc", [i]) for i in range(4)]
        shutil.copy("f0.nc", "same.nc")
        anyway = ("--along", "time", "--changed", "IGNORE")
        for version in VERSIONS:
            options = ("--format", "cfa", "--cfa-version", version, "--along", "time")
            self.combine("top.nca", *files[:2], options=options)
            for name, some in (("same", ["same.nc"]), ("other", files[2:3]), ("longer", files[2:])):
                self.combine(f"{name}.nca", *some, options=options)
            for name, problem in (("same", None), ("other", "top.nca and its file f0.nc differ: element 0 of time is 0 and 2"),
                                  ("longer", "/v: expected 1 x 2 x 40 elements, as in its fragment in top.nca, found 2 x 2 x 40")):
                shutil.copy(f"{name}.nca", "f0.nc")
                for end, to in OUTPUTS.items():
                    with self.subTest(version=version, name=name, end=end):
                        if not problem:
                            self.check_values(self.combine(f"x.{end}", "top.nca", options=(*to, *anyway)), ["same.nc", "f1.nc"])
                            continue
                        self.assertIn(problem, self.fail("combine", "top.nca", *anyway, "-o", f"y.{end}", *to))
                        self.assertIn("f0.nc: it changed after", self.fail("combine", "top.nca", "--along", "time", "-o", f"y.{end}", *to))
                        both = "top.nca: expected 1 elements of time in its file f0.nc, found 2" if name == "longer" else problem
                        self.assertIn(both, self.fail("combine", "top.nca", "f0.nc", *anyway, "-o", f"y.{end}", *to))
                shutil.copy("same.nc", "f0.nc")

    def test_cycles_of_masters_are_errors(self):
        file = write("f.nc", [2])
        for names in (("a.nca",), ("a.nca", "b.nca"), ("a.nca", "b.nca", "c.nca")):
            for number, name in enumerate(names):
                write_master(name, [names[(number + 1) % len(names)]], first=number % 2)
            for sources in (names[:1], names):
                for end, options in OUTPUTS.items():
                    message = self.fail("combine", *sources, file, "--along", "time", "-o", f"x.{end}", *options)
                    self.assertIn("found a cycle", message)
                    self.assertIn("a.nca", message)

    def test_of_each_file_what_the_masters_have(self):
        files = [write(f"f{i}.nc", [i], variables=("v", "u", "w")) for i in range(4)]
        for variable in "uv":
            self.combine(f"{variable}.nc", *files, options=("--variables", variable))
        self.combine("uv.json", "u.nc", "v.nc")
        self.assertEqual(["/u", "/v"], [word for word in self.run_refs("ls", "uv.json").stdout.split() if word in ("/u", "/v", "/w")])
        self.combine("whole.json", write_master("m.nca", files[:2]), *files)
        self.assertIn("/w ", self.run_refs("ls", "whole.json").stdout)

    def test_variables_in_a_group(self):
        files = [write(f"f{i}.nc", [i], group="g") for i in range(4)]
        for end in ("json", "nc"):
            self.combine(f"all.{end}", *files, options=("--group", "g"))
        masters = [self.combine(f"m{i}.nc", *files[2 * i:2 * i + 2], options=("--group", "g")) for i in range(2)]
        for end in ("json", "nc"):
            self.check_same(self.combine(f"x.{end}", *masters), f"all.{end}")
        self.assertIn("f0.nc is a source itself and, by its group /g, a fragment of m0.nc", self.fail("combine", "f0.nc", masters[0], "-o", "y.json"))

    def test_a_coordinate_of_one_name_in_two_groups(self):
        """Those of the root order all sources, in whatever order a source has its arrays."""
        files = [write(f"f{i}.nc", [i], group="g") for i in range(5)]
        for i, name in enumerate(files):
            with netCDF4.Dataset(name, "a") as file:
                file.createDimension("time", 1)
                file.createVariable("time", "f8", ("time",))[:] = 500 + i
                file["time"].units = "hours since 2000-01-01"
        self.combine("b.json", *files[3:])
        for version in VERSIONS:
            self.combine("x.nca", *files[:2], options=("--format", "cfa", "--cfa-version", version))
            self.run_refs("append", "x.nca", files[2])
            self.run_refs("append", "x.nca", "b.json")
            self.check_values("x.nca", files, "g/v")
            self.check_values("x.nca", files, "g/time")
            self.check_values("x.nca", files, "time")

    def test_what_a_master_alone_has_is_kept(self):
        files = [write(f"f{i}.nc", [i], more=True) for i in range(6)]
        def add(master):
            master.createVariable("area", "f8", ("lat", "lon"))[:] = np.arange(80).reshape(2, 40)
            master.createVariable("note", "i4", ("time",))[:] = (7, 8, 9)
        write_master("a.nca", files[:3], more=add)
        write_master("b.nca", [*files[3:5], None, files[5]])
        with netCDF4.Dataset("b.nca", "a") as master:
            master["time"][:] = (3, 4, 4.5, 5)
        for end, options in OUTPUTS.items():
            output = self.combine(f"x.{end}", "a.nca", "b.nca", options=options)
            self.assertEqual((7, 2, 40), read(output).shape)
            np.testing.assert_array_equal(read(output)[5], np.full((2, 40), -999))
            np.testing.assert_array_equal(read(output)[6], read(files[5])[0])
            np.testing.assert_array_equal(read(output, variable="area"), np.arange(80).reshape(2, 40))
            self.assertEqual([7, 8, 9], read(output, variable="note")[:3].tolist())

    def test_what_a_master_alone_has_may_lack_dimensions(self):
        files = [write(f"f{i}.nc", [i]) for i in range(4)]
        masters = self.make_masters(files)
        with netCDF4.Dataset(masters[1], "a") as master:
            master.createVariable("note", "f8", ())[...] = 7
        for end, options in OUTPUTS.items():
            with self.subTest(end):
                output = self.combine(f"x.{end}", *masters, options=options)
                self.check_values(output, files)
                self.assertEqual(7, read(output, variable="note"))

    def test_what_files_of_others_have_too(self):
        """The numbers of its steps are those of a master whose files have none, whatever other sources have."""
        def add(file, values):
            file.createVariable("note", "i4", ("time",))[:] = values
        files = [write(f"f{i}.nc", [i]) for i in range(4)]
        for name, value in ((files[2], 7), (files[3], 9)):
            with netCDF4.Dataset(name, "a") as file:
                add(file, value)
        write_master("a.nca", files[:2], more=lambda master: add(master, (3, 5)))
        for end, options in OUTPUTS.items():
            with self.subTest(end):
                output = self.combine(f"x.{end}", "a.nca", *files[2:], options=options)
                self.check_values(output, files)
                self.assertEqual([3, 5, 7, 9], read(output, variable="note").tolist())

    def test_fragments_without_the_concat_dimension(self):
        """A file for each fragment of each variable, as split and S3netCDF4 write them."""
        with netCDF4.Dataset(write("all.nc", range(4)), "a") as file:
            file.createDimension("run", 2)
            run = file.createVariable("run", "f8", ("run",))
            run[:] = (1, 2)
            file.createVariable("w", "f4", ("run", "lat"))[:] = ((1, 2), (3, 4))
            file.createVariable("area", "f8", ("lat", "lon"))[:] = np.arange(80).reshape(2, 40)
            file.createVariable("scalar", "f4", ())[...] = 3.5
        self.run_refs("split", "all.nc", "-o", "m.nca", "--subarray-shape", "time=2")
        for end, options in OUTPUTS.items():
            with self.subTest(end):
                output = self.combine(f"x.{end}", "m.nca", options=(*options, "--along", "time"))
                for name in ("v", "w", "area", "scalar"):
                    with netCDF4.Dataset("all.nc") as file:
                        file[name].set_auto_maskandscale(False)
                        np.testing.assert_array_equal(read(output, variable=name), file[name][:], name)

    def test_what_was_made_of_masters_grows(self):
        """Whether masters have all of a variable themselves, a file for each variable, or files without the concat dimension."""
        def add(file, times):
            file.createVariable("q", "f4", ("time",))[:] = times
            file.createVariable("name", str, ("time",))[:] = np.array([f"n{time}" for time in times], dtype=object)

        def make(name, times, area=True):
            with netCDF4.Dataset(write(name, times), "a") as file:
                add(file, times)
                if area:
                    file.createVariable("area", "f8", ("lat", "lon"))[:] = np.arange(80).reshape(2, 40)
            return name

        def make_split(number, times):
            self.run_refs("split", make("whole.nc", times), "-o", f"s{number}.nca", "--subarray-shape", "time=1")
            return f"s{number}.nca"

        def make_own(number, times):
            return write_master(f"o{number}.nca", [write(f"o{number}.{time}.nc", [time]) for time in times], first=times[0], more=lambda file: add(file, times))

        expected = make("all.nc", range(6))
        make("later.nc", (4, 5))
        for kind, first, second in (("split", make_split(0, (0, 1)), make_split(1, (2, 3))), ("own", make_own(0, (0, 1)), make_own(1, (2, 3)))):
            for end, options in {**OUTPUTS, "parq": (), "icechunk": ()}.items():
                with self.subTest(kind=kind, end=end):
                    output = self.combine(f"{kind}.{end}", first, options=(*options, "--along", "time"))
                    self.run_refs("append", "-q", output, second)
                    self.run_refs("append", "-q", output, "later.nc")
                    for name in ("time", "v", "q", "name", "area"):
                        with netCDF4.Dataset(expected) as file:
                            file[name].set_auto_maskandscale(False)
                            self.assertEqual(file[name][:].tolist(), np.reshape(read(output, variable=name), file[name].shape).tolist(), name)

    def test_files_without_a_dimension_that_no_master_has(self):
        """Each file is a step of a new dimension; with files that have the dimension, it is an error."""
        for number in range(2):
            with netCDF4.Dataset(write(f"f{number}.nc", [number]), "a") as file:
                file.renameVariable("time", "hour")
            self.combine(f"m{number}.nca", f"f{number}.nc", options=("--format", "cfa", "--along", "time"))
        later = write("later.nc", [5], variables=("w",))
        for options in ((), ("--strict",)):
            self.assertIn("cannot be ordered along time", self.fail("combine", "m0.nca", "m1.nca", later, "--along", "time", "-o", "x.json", *options))
        self.combine("x.json", "m0.nca", "m1.nca", options=("--along", "run"))
        self.assertEqual((2, 1, 2, 40), read("x.json").shape)

    def test_dimensions_that_files_omit_are_not_lost(self):
        """A file may lack a dimension of one element that its master has."""
        with netCDF4.Dataset("p.nc", "w") as file:
            file.createDimension("lat", 2)
            for name, value in (("time", 5), ("level", 7)):
                file.createVariable(name, "f8", ())[...] = value
            file.createVariable("v", "f4", ("lat",))[:] = (1, 2)
        self.run_refs("index", "p.nc", "-o", "p.json")
        self.combine("m.nca", "p.json", options=("--format", "cfa", "--along", "time"))
        message = "m.nca: v has the dimension time, of one element, which its file p.json omits: name it (combine --along)"
        for options in (("combine", "m.nca", "-o", "x.json", "--along", "level"), ("combine", "p.json", "m.nca", "-o", "x.json", "--along", "level"),
                        ("combine", "p.json", "m.nca", "-o", "x.json"), ("append", "p.json", "m.nca")):
            with self.subTest(options=options):
                self.assertIn(message, self.fail(*options))
                self.assertFalse(os.path.exists("x.json"))
        self.assertEqual((1, 1, 2), read(self.combine("y.json", "m.nca", options=("--along", "time", "--along", "level"))).shape)

    def test_dimensions_that_one_variable_of_a_file_omits_are_not_lost(self):
        with netCDF4.Dataset("p.nc", "w") as file:
            for name in ("lat", "time"):
                file.createDimension(name, 2)
                file.createVariable(name, "f8", (name,))[:] = (1, 2)
            file.createVariable("v", "f4", ("lat",))[:] = (1, 2)
        self.run_refs("index", "p.nc", "-o", "p.json")
        self.run_refs("index", "p.json", "-o", "m.nc", "--along", "time", "--variables", "v")
        self.assertEqual((1, 2), read("m.nc").shape)
        self.assertIn("which its file p.json omits: leave out this variable (--variables)",
                      self.fail("combine", "p.json", "m.nc", "-o", "x.json", "--along", "time"))

    def test_masters_that_hold_all_values(self):
        """They are their files as long as these are there and as they were."""
        files = [write(f"f{i}.nc", [i], lon=LON[:3]) for i in range(4)]
        masters = [self.combine(f"m{i}.nc", *files[2 * i:2 * i + 2]) for i in range(2)]
        self.combine("all.json", *files)
        self.check_same(self.combine("x.json", *masters), "all.json")
        expected = read("all.json")
        os.remove("f0.nc")
        np.testing.assert_array_equal(read(self.combine("y.json", *masters)), expected)

    def test_masters_that_hold_all_values_of_a_group(self):
        for i in range(2):
            with netCDF4.Dataset(write(f"f{i}.nc", [i], lon=LON[:3], group="g"), "a") as file:  # others of the same names
                file.createDimension("time", 1)
                for name in "time", "v":
                    file.createVariable(name, "i2", ("time",))[:] = -1 - i
        self.combine("g.nc", "f0.nc", "f1.nc", options=("--group", "g", "--along", "time"))
        for end, options in OUTPUTS.items():
            np.testing.assert_array_equal(read(self.combine(f"x.{end}", "g.nc", options=("--along", "time", *options))), read("g.nc"))

    def test_coordinates_of_masters_are_compared_with_those_of_their_files(self):
        """As those of sources are, in their units."""
        *files, later = [write(f"f{i}.nc", [2 * i, 2 * i + 1]) for i in range(4)]

        def change(coordinate, values, units=None):
            def more(file):
                file[coordinate][:] = values
                if units:
                    file[coordinate].units = units
            return write_master("m.nca", files, length=2, more=more)

        for coordinate, values, said in (("time", [0, 1, 2, 4, 5, 6], 'element 3 of time is 4 and 3'), ("lat", [10, 30], "element 1 of lat is 30 and 20"),
                                         ("lon", LON[::-1], "element 0 of lon is 39 and 0")):
            master = change(coordinate, values)
            for options in ((), ("--format", "cfa"), ("--variables", "v")):
                output = "out.nca" if "cfa" in options else "out.json"
                self.assertIn(f"m.nca and its file {files[1] if coordinate == 'time' else files[0]} differ: {said}: expected the coordinates of the files",
                              self.fail("combine", master, "-o", output, "--along", "time", *options))
            self.run_refs("index", later, "-o", "grows.json")
            self.assertIn("differ: element", self.fail("append", "grows.json", master))
        for coordinate, values, units in (("time", np.arange(6) / 24, "days since 2000-01-01"), ("lat", np.radians([10, 20]), "radians"),
                                          ("time", np.arange(6) - 24, "hours since 2000-01-02")):
            self.check_values(self.combine("same.json", change(coordinate, values, units), options=("--along", "time")), files)

    def test_files_that_changed_are_compared_as_readers_do(self):
        files = [write(f"f{i}.nc", [2 * i, 2 * i + 1]) for i in range(3)]
        changed = r"f1\.nc: it changed after"
        for kind in (("index",), ("combine", "--format", "cfa")):
            for output, options in OUTPUTS.items():
                with self.subTest(kind=kind, output=output):
                    write(files[1], [2, 3])
                    self.run_refs(*kind, *files[:2], "-o", "m.nca", "-q")
                    arguments = ("combine", "m.nca", files[2], "-o", f"x.{output}", *options)
                    os.utime(files[1], (1e9, 1e9))  # a copy, perhaps, if its name is relative
                    if kind == ("index",):
                        self.assertRegex(self.fail(*arguments), changed)
                    else:
                        self.assertRegex(self.run_refs(*arguments).stderr, r"warning: .*f1\.nc changed after")
                    self.assertRegex(self.fail(*arguments, "--changed", "ERROR"), changed)
                    write(files[1], [2, 3], variables=("v", "w"))
                    self.assertRegex(self.fail(*arguments), changed)
                    self.assertRegex(self.run_refs(*arguments, "--changed", "WARN").stderr, r"warning: .*f1\.nc changed after")
                    self.assertEqual(self.run_refs(*arguments, "--changed", "IGNORE").stderr.count("changed after"), 0)
                    self.assertEqual(len(read(f"x.{output}", variable="time")), 6)

    def test_files_that_programs_make_of_masters_are_their_own(self):
        """They have the master's attributes, which name its source files."""
        files = [write(f"f{i}.nc", [i], lon=LON[:3]) for i in range(4)]
        masters = [self.combine(f"m{i}.nc", *files[2 * i:2 * i + 2]) for i in range(2)]
        for name, attribute in (("v", None), ("time", "units")):
            with self.subTest(name):
                for number, master in enumerate(masters):
                    shutil.copy(master, f"n{number}.nc")
                    with netCDF4.Dataset(f"n{number}.nc", "a") as file:
                        file.set_auto_mask(False)
                        if attribute:
                            file[name].setncattr(attribute, "hours since 2001-01-01")
                        else:
                            file[name][:] = file[name][:] + 1
                self.combine("x.json", "n0.nc", "n1.nc")
                if attribute:
                    root = gdal.OpenEx('REFS:"x.json"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
                    self.assertEqual("hours since 2001-01-01", root.OpenMDArray(name).GetUnit())
                else:
                    expected = [netCDF4.Dataset(file)["v"][:].filled() for file in files]
                    np.testing.assert_array_equal(read("x.json"), np.concatenate(expected) + 1)

    def test_coordinates_that_files_lack_are_missed_in_a_selection_too(self):
        files = [write(f"f{i}.nc", [i]) for i in range(2)]
        for name in files:
            with netCDF4.Dataset(name, "a") as file:
                file.renameVariable("time", "hour")
        write_master("a.nca", files)
        for selection in ((), ("--variables", "v")):
            self.assertIn("none in f0.nc, a file of a.nca: add it to all files of this master", self.fail("combine", "a.nca", "--along", "time", "-o", "x.json", *selection))

    def test_what_cannot_be_said_is_an_error(self):
        files = [write(f"f{i}.nc", [2 * i, 2 * i + 1]) for i in range(3)]
        for problem, master in (("only whole variables", write_master("a.nca", files[:2])),
                                ("expected variables of this name, found x", write_master("b.nca", files[:2], length=2, variable="x")),
                                ("gone.nc: No such file or directory: it is a file of c.nca: restore it", write_master("c.nca", ["f0.nc", "gone.nc"], length=2)),
                               ("expected each file at one place, found f0.nc at several", write_master("d.nca", ["f0.nc", "f0.nc"], length=2)),
                               ("fragments of one value each", write_values("e.nca"))):
            for options in ((), ("--format", "cfa")):
                with self.subTest(problem=problem, options=options):
                    message = self.fail("combine", master, "f2.nc", "-o", "x.nca" if options else "x.json", *options)
                    self.assertIn(problem, message)
                    self.assertFalse(os.path.exists("x.json") or os.path.exists("x.nca"))

    def test_append_names_files_that_are_there_already(self):
        files = [write(f"f{i}.nc", [i]) for i in range(4)]
        for output in ("s.json", "s.parq", "s.nc", "s.nca"):
            options = ("--format", "cfa") if output.endswith(".nca") else ()
            for added, new in (("some.nca", files[1:3]), ("none.nca", files[:2])):
                self.combine(output, *files[:2], options=options)
                self.combine(added, *new, options=("--format", "cfa"))
                said = self.fail("append", output, added)
                self.assertRegex(said, rf"{new[0]} of .*{added}: {output} already has this (source|fragment).*: leave it out")
                self.check_values(output, files[:2])
                self.run_refs("append", output, added, files[3], "--skip-errors")
                self.check_values(output, sorted({*files[:2], *new, files[3]}))

    def test_one_master_becomes_another_without_its_dimensions(self):
        files = [write(f"f{i}.nc", [i]) for i in range(3)]
        for version in VERSIONS:
            self.combine("m.nca", *files[:2], options=("--format", "cfa", "--cfa-version", version))
            self.run_refs("index", "m.nca", "-o", "x.nc")
            self.run_refs("append", "x.nc", files[2])
            self.check_values("x.nc", files)
            self.run_refs("index", "m.nca", "-o", "copy.json")
            self.assertIn("copy.json: cannot append to a copy of a master", self.fail("append", "copy.json", files[2]))

    def test_append_finds_files_as_readers_do(self):
        """By the base of CFA-0.4, and by the substitutions of the drafts after it."""
        os.mkdir("sub")
        files = [write(f"sub/f{i}.nc", [i]) for i in range(3)]
        self.combine("base.nca", *files[:2], options=("--format", "cfa", "--cfa-version", "0.4"))
        with netCDF4.Dataset("base.nca", "a") as master:
            made = json.loads(master["v"].cfa_array)
            for partition in made["Partitions"]:
                partition["subarray"]["file"] = os.path.basename(partition["subarray"]["file"])
            master["v"].cfa_array = json.dumps({**made, "base": "sub"})
            master.delncattr("_refs_sources")
        write_master("words.nca", ["${WHERE}f0.nc", "${WHERE}f1.nc"],
                     more=lambda master: master["v_uris"].setncattr("substitutions", "${WHERE}: sub/"))
        for name in ("base.nca", "words.nca"):
            with self.subTest(name):
                self.run_refs("append", name, files[2])
                self.check_values(name, files)

    def test_copies_of_files(self):
        """The first copy that exists is read, as by readers of the master (CFA-0.6)."""
        files = [write(f"f{i}.nc", [i]) for i in range(4)]
        for name, first in (("a.nca", 0), ("b.nca", 2)):
            write_master(name, [(f"gone/{files[first]}", files[first]), (files[first + 1], "gone.nc")], first=first)
        for end, options in OUTPUTS.items():
            with self.subTest(end):
                self.combine(f"all.{end}", *files, options=options)
                self.check_same(self.combine(f"x.{end}", "a.nca", "b.nca", options=("--along", "time", *options)), f"all.{end}")
        self.run_refs("append", "a.nca", *files[2:])
        self.check_values("a.nca", files)

    def test_patterns_that_masters_record(self):
        """Values that names of files have cannot be found without the pattern; growing masters use the recorded one."""
        files = [write(f"f{i}.nc", [0], scale=1) for i in range(4)]
        for number, name in enumerate(files):
            with netCDF4.Dataset(name, "a") as file:
                file["v"][:] += number
        for name, some in (("a.nc", files[:2]), ("b.nc", files[2:])):
            self.run_refs("index", *some, "--pattern", "f{run:d}.nc", "-o", name)
        for options in ((), ("--along", "run"), ("--format", "cfa"), ("--format", "cfa", "--along", "run")):
            with self.subTest(options):
                message = self.fail("combine", "a.nc", "b.nc", "-o", "x.nca" if "cfa" in options else "x.json", *options)
                self.assertIn("a.nc was made with --pattern 'f{run:d}.nc'" if options else "--pattern if file names", message)
                self.assertEqual("cfa" in options, "use refs index SOURCE... -o NAME.nc" in message)
        self.combine("x.json", "a.nc", "b.nc", options=("--pattern", "f{run:d}.nc"))
        self.run_refs("append", "a.nc", files[2], "b.nc")
        expected = [netCDF4.Dataset(name)["v"][:].filled() for name in files]
        for name in ("x.json", "a.nc"):
            np.testing.assert_array_equal(read(name), expected)

    def test_masters_record_the_chosen_variables(self):
        """Sources that are added later have more variables, and a coordinate of this name in the root."""
        files = [write(f"f{i}.nc", [i], group="g", variables=("v", "w")) for i in range(6)]
        for name in files:
            with netCDF4.Dataset(name, "a") as file:
                file.createDimension("time", 2)
                file.createVariable("time", "f8", ("time",))[:] = 500, 501
        for name, options in (*((f"x{version}{end}", ("--format", "cfa", "--cfa-version", version)) for version in VERSIONS for end in (".nc", ".nca")),
                              ("y.nc", ()), ("y.json", ())):
            with self.subTest(name):
                chosen = (*options, "--variables", "g/v", "--along", "time")
                self.combine(name, *files[:2], options=chosen)
                self.combine(f"later-{name}", *files[3:5], options=chosen)
                for some in (files[2], f"later-{name}", files[5]):
                    self.run_refs("append", "-q", name, some)
                self.check_values(name, files, "g/v")
                self.check_values(name, files, "g/time")
                listed = self.run_refs("ls", name).stdout
                self.assertNotIn("/w ", listed)
                self.assertNotIn("\n/time ", f"\n{listed}")

    def test_append_selects_variables_of_its_sources_alone(self):
        files = [write(f"f{i}.nc", [i], variables=("v", "w")) for i in range(4)]
        for name, options in (*((f"x{version}.nca", ("--format", "cfa", "--cfa-version", version)) for version in VERSIONS),
                              ("x.json", ()), ("x.parq", ()), ("x.icechunk", ())):
            with self.subTest(name):
                self.combine(name, *files[:2], options=options)
                said = self.run_refs("append", name, files[2], "--variables", "w").stderr
                self.assertRegex(said, r"v is missing in 1 of \d sources, first in f2.nc: .* or --variables left it out")
                self.run_refs("append", "-q", name, files[3])
                self.check_values(name, files, "w")
                self.assertEqual([0, 500, -999, 1500], read(name)[:, 0, 0].tolist())
        more = [write(f"f{i}.nc", [i], variables=("v", "w"), more=True) for i in range(4)]
        self.run_refs("index", *more[:2], "-o", "x.nc")
        self.run_refs("append", "-q", "x.nc", more[2], "--variables", "w")
        self.run_refs("append", "-q", "x.nc", more[3])
        self.check_values("x.nc", more, "w")
        self.assertEqual([0, 500, 1500], read("x.nc")[[0, 1, 3], 0, 0].tolist())
        self.assertEqual([0, 1], read("x.nc", variable="flag")[:2].tolist())

    def test_masters_and_sets_of_a_group_are_added_to_those_of_it(self):
        files = [write(f"f{i}.nc", [i], group="g", variables=("v", "w")) for i in range(4)]
        group, chosen = ("--group", "g", "--along", "time"), ("--group", "g", "--variables", "v", "--along", "time")
        kinds = {"g.json": group, "v.json": chosen, "g.nc": group, "v.nc": chosen}
        for name, options in kinds.items():
            self.combine(name, *files[2:], options=options)
        self.combine("m.nca", "g.nc", options=("--format", "cfa", "--along", "time"))
        for name, options in (("x.nc", group), ("x.nc", chosen), ("x.json", group), ("x.json", chosen)):
            for source in (*kinds, "m.nca"):
                with self.subTest(name=name, options=options, source=source):
                    self.combine(name, *files[:2], options=options)
                    self.run_refs("append", "-q", name, source)
                    np.testing.assert_array_equal(read(name), np.concatenate([read(file, variable="g/v") for file in files]))
                    self.assertEqual([0, 1, 2, 3], read(name, variable="time").tolist())

    def test_options_that_select_or_name(self):
        files = [write(f"f{i}.nc", [i], variables=("v", "w")) for i in range(2)]
        self.combine("x.nca", *files, options=("--format", "cfa", "--variables", "w"))
        self.run_refs("append", "x.nca", write("f2.nc", [2], variables=("v", "w")), "--variables", "w")
        with netCDF4.Dataset("x.nca") as master:
            self.assertIn("w", master.variables)
            self.assertNotIn("v", master.variables)
            self.assertEqual(3, len(master.dimensions["time"]))
        with open("map.json", "w", encoding="utf-8") as file:
            json.dump({"f": "g"}, file)
        with open("none.json", "w", encoding="utf-8") as file:
            json.dump({"none": "g"}, file)
        for option in (("--group", "g"), ("--pattern", "f{run:d}.nc"), ("--rewrite", "f=>g"), ("--uri-map", "map.json")):
            with self.subTest(option):
                message = self.fail("combine", "--format", "cfa", *files, "-o", "y.nca", *option)
                self.assertIn(f"{option[0]}: not supported with --format cfa", message)
        for command in (("combine", "--format", "cfa", *files, "-o", "y.nca"), ("append", "x.nca", files[0])):
            self.assertIn("--variables with a selection needs a set as output", self.fail(*command, "--variables", "w[time=#0]"))
        self.assertIn("--uri-map none=>g: no source has this prefix", self.run_refs("index", *files, "-o", "x.json", "--uri-map", "none.json").stderr)

    def test_variables_that_describe_others_may_be_selected(self):
        """A small variable with time that formula_terms name, and the coordinate that has these."""
        files = [write(f"f{i}.nc", [i], variables=("v", "w", "ps")) for i in range(3)]
        for name in files:
            with netCDF4.Dataset(name, "a") as file:
                file["lat"].setncatts({"standard_name": "atmosphere_sigma_coordinate", "formula_terms": "sigma: lat ps: ps"})
        for options in ((), ("--along", "time")):
            for name in ("ps", "lat"):
                with self.subTest(name=name, options=options):
                    self.combine("x.nca", *files[:2], options=("--format", "cfa", "--variables", name, *options))
                    self.run_refs("append", "x.nca", files[2], "--variables", name)
                    self.check_values("x.nca", files, "ps")
                    with netCDF4.Dataset("x.nca") as master:
                        self.assertEqual({"time", "lat", "lon", "ps"}, set(master.variables) & {"time", "lat", "lon", "ps", "v", "w"})

    def test_strict_refuses_packing_that_differs(self):
        """Nothing else of how fragments are stored is compared, nor are small variables, which are stored as values."""
        files = [write(f"f{i}.nc", [i], scale=1 + i // 2, lon=np.arange(4000.), more=i == 1) for i in range(3)]
        for options, name in ((("--format", "cfa"), "x.nca"), ((), "x.nc")):
            with self.subTest(name):
                said = "f2.nc: scale_factor 1 and 2: leave out --strict"
                self.assertIn(said, self.fail("combine", *files, "-o", name, "--strict", *options))
                self.combine(name, *files[:2], options=("--strict", *options))
                self.run_refs("append", name, write("f3.nc", [3], scale=1, lon=np.arange(4000.)), "--strict")
                self.assertIn(said, self.fail("append", name, files[2], "--strict"))
                self.run_refs("append", name, files[2])

    def test_aggregations_without_fragments_are_told_unless_others_have_values(self):
        files = [write(f"f{i}.nc", [i], variables=("v", "hail") if i == 2 else ("v",)) for i in range(3)]
        self.combine("a.nca", *files[:2], options=("--format", "cfa", "--cfa-version", "0.4"))
        with netCDF4.Dataset("a.nca", "a") as master:
            hail = master.createVariable("hail", "i2", ())
            hail.cf_role, hail.cfa_dimensions = "cfa_variable", "lat"
            hail.cfa_array = '{"base":"","pmshape":[1],"pmdimensions":["lat"],"Partitions":[]}'
        for name, options in OUTPUTS.items():
            with self.subTest(name=name):
                told = "a.nca: hail is left out: it has no fragments"
                self.assertIn(told, self.run_refs("index", "a.nca", "--along", "time", "-o", f"all.{name}").stderr)
                self.assertNotIn("hail", self.run_refs("combine", "a.nca", "-v", "v", "-o", f"some.{name}", *options).stderr)
                self.assertNotIn(told, self.run_refs("combine", "a.nca", files[2], "-o", f"more.{name}", *options).stderr)
        with netCDF4.Dataset(write("gaps.nc", [0, 1], variables=("v", "hail")), "a") as file:
            file["hail"][:] = np.ma.masked
        for version in VERSIONS:  # of CF-1.13, with a file of the fill value in the place of each fragment
            self.run_refs("split", "gaps.nc", "-o", f"s{version}.nca", "--subarray-shape", "time=1", "--cfa-version", version)
            said = self.run_refs("index", f"s{version}.nca", "-o", f"s{version}.json", "--along", "time").stderr
            self.assertIn("hail is left out: it has no fragments", said)

    def test_files_of_one_step_have_the_order_of_their_master(self):
        files = [f"row{lat}.nc" for lat in (10, 20, 30)]
        for lat, name in zip((10, 20, 30), files):
            with netCDF4.Dataset(name, "w") as file:
                for dim, values, units in (("lat", [lat], "degrees_north"), ("lon", np.arange(4000) / 16, "degrees_east")):
                    file.createDimension(dim, len(values))
                    axis = file.createVariable(dim, "f8", (dim,))
                    axis.units, axis[:] = units, values
                file.createVariable("v", "i2", ("lat", "lon"))[:] = lat
        self.combine("up.nca", *files, options=("--format", "cfa", "--cfa-version", "1.13", "--along", "lat"))
        with netCDF4.Dataset("up.nca", "a") as master:
            self.assertEqual([10, 20, 30], list(master["lat"][:]))
            master["lat"][:] = (30, 20, 10)
            master["v_uris"][:] = master["v_uris"][::-1]
        for name, options in OUTPUTS.items():
            for verb in ("combine", "convert") if name == "nca" else ("combine",):
                with self.subTest(name=name, verb=verb):
                    self.run_refs(verb, "up.nca", "-o", f"{verb}.{name}", *(options if verb == "combine" else ()), *(("--along", "lat") if verb == "combine" else ()))
                    band = gdal.Open(f'REFS:"{verb}.{name}":/v')
                    self.assertEqual([[30], [20], [10]], band.ReadAsArray(0, 0, 1, 3).tolist())
                    self.assertLess(band.GetGeoTransform()[5], 0)

    def test_the_driver_combines_masters(self):
        files = [write(f"f{i}.nc", [i]) for i in range(4)]
        os.mkdir("m")
        for name, first in (("a", 0), ("b", 2)):
            write_master(f"m/{name}.nca", [f"../{file}" for file in files[first:first + 2]], first=first)
        self.check_values("m/*.nca", files)


if __name__ == "__main__":
    unittest.main()
