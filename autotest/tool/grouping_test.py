"""Sources of one grid combined in any groups: the bytes of all at once, and the values that netCDF4-python reads of the files.

    grouping_test.py PROGRAM [--rounds N] [--seed S] [test ...]
"""

import itertools
import os
import random
import shutil
import sys
import unittest

import numpy as np
from osgeo import gdal

from properties import Property, take_arguments
import netCDF4

ROUNDS, SEED, _ = take_arguments(8, 8)

KINDS = {"time": {"standard_name": "time", "units": "hours since 2020-01-01"},
         "run": {"standard_name": "forecast_reference_time", "units": "hours since 2020-01-01"},
         "step": {"standard_name": "forecast_period", "units": "hours"},
         "member": {"standard_name": "realization"},
         "level": {"standard_name": "air_pressure", "units": "hPa"},
         "x": {"standard_name": "projection_x_coordinate", "units": "m"},
         "y": {"standard_name": "projection_y_coordinate", "units": "m"}}
X = np.arange(4.)


def write_file(name, dims, coordinates, values=None, chunks=None, **attributes):
    """A file of one variable, whose coordinates without a dimension are scalars; `values` may be a function that writes some."""
    with netCDF4.Dataset(name, "w") as file:
        for key, value in coordinates.items():
            is_axis = np.ndim(value) > 0
            if is_axis:
                file.createDimension(key, len(value))
            axis = file.createVariable(key, "f8", (key,) if is_axis else ())
            axis.setncatts(KINDS[key])
            axis[...] = value
        if dims is None:
            return name
        t = file.createVariable("t", "f4", dims, chunksizes=chunks)
        scalars = [key for key, value in coordinates.items() if np.ndim(value) == 0]
        t.setncatts({**attributes, **({"coordinates": " ".join(scalars)} if scalars else {})})
        if callable(values):
            values(t)
        else:
            t[...] = values
    return name


def read(name, path="/t"):
    """Values and where they are missing."""
    variable = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArrayFromFullname(path)
    return variable.ReadAsArray(), variable.GetMask().ReadAsArray() == 0


def cut(box, chance):
    """Boxes that fill a box."""
    dims = [dim for dim, (begin, end) in enumerate(box) if end - begin > 1]
    if not dims or chance.random() < .25:
        return [box]
    dim = chance.choice(dims)
    begin, end = box[dim]
    at = chance.randrange(begin + 1, end)
    parts = [[*box[:dim], ends, *box[dim + 1:]] for ends in ((begin, at), (at, end))]
    return [found for part in parts for found in cut(part, chance)]


class Grouping(Property):
    def refs(self, *arguments):
        done = self.attempt(*arguments)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")
        return done.stderr

    def content(self, name):
        with open(name, encoding="utf-8") as file:
            return file.read()

    def write_grid(self, dims, sides, shared, chunks=None):
        """A file for each combination of what `sides` lists along each dimension: {indices: name}."""
        files = {}
        for index in itertools.product(*[range(len(side)) for side in sides.values()]):
            own = {dim: side[i] for (dim, side), i in zip(sides.items(), index)}
            coordinates = {**own, **shared}
            values = np.random.default_rng(len(files)).random([len(coordinates[dim]) for dim in dims])
            name = "_".join(f"{dim}{i}" for dim, i in zip(sides, index)) + ".nc"
            files[index] = write_file(name, dims, coordinates, values, chunks)
        return files

    def check(self, dims, sides, shared, chunks=None):
        """Combines groups of any boxes, each a set: the bytes of all."""
        files = self.write_grid(dims, sides, shared, chunks)
        self.refs("index", *files.values(), "-q", "-o", "all.json")
        whole = [(0, len(side)) for side in sides.values()]
        for number in range(ROUNDS):
            chance = random.Random(SEED + number)
            groups = []
            for box in cut(whole, chance):
                names = [files[index] for index in itertools.product(*[range(*ends) for ends in box])]
                chance.shuffle(names)
                groups.append(f"group_{len(groups)}.json")
                self.refs("index", *names, "-q", "-o", groups[-1])
            chance.shuffle(groups)
            with self.subTest(round=number, groups=len(groups)):
                self.refs("combine", *groups, "-q", "-o", "groups.json")
                if len(groups) > 1:
                    self.assertEqual(self.content("groups.json"), self.content("all.json"))
        return files

    def test_tiles_become_one_grid(self):
        files = self.check(("y", "x"), {"x": [X, X + 4, X + 8], "y": [X, X + 4]}, {})
        values, _ = read("all.json")
        for (x, y), name in files.items():
            with netCDF4.Dataset(name) as file:
                self.assertTrue((values[4 * y:4 * y + 4, 4 * x:4 * x + 4] == file["t"][...]).all())

    def test_tiles_of_times_become_one_grid(self):
        self.check(("time", "y", "x"), {"x": [X, X + 4], "y": [X, X + 4], "time": [[0], [1]]}, {}, (1, 4, 4))

    def test_scalars_become_dimensions_in_one_order(self):
        self.check(("x",), {"time": [0, 1, 2], "member": [0, 1, 2]}, {"x": X})

    def test_three_scalars_become_dimensions_in_one_order(self):
        self.check(("x",), {"member": [0, 1], "run": [0, 1, 2], "level": [500, 850]}, {"x": X})
        values, _ = read("all.json")
        self.assertEqual(values.shape, (2, 3, 2, 4), "member, run, level")

    def test_scalars_stand_before_the_dimensions_of_files(self):
        files = self.check(("level", "x"), {"time": [0, 1, 2], "member": [0, 1]}, {"level": [500, 850], "x": X})
        values, _ = read("all.json")
        for (time, member), name in files.items():
            with netCDF4.Dataset(name) as file:
                self.assertTrue((values[member, time] == file["t"][...]).all())

    def test_dimensions_of_files_keep_their_order(self):
        self.check(("time", "x"), {"time": [[0], [1], [2]], "member": [0, 1, 2]}, {"x": X})
        self.assertEqual(read("all.json")[0].shape, (3, 3, 4))

    def test_scalars_of_groups_stand_where_those_of_all_do(self):
        self.check(("time", "x"), {"time": [[0, 1], [2, 3]], "level": [500, 850, 925]}, {"x": X}, (1, 4))
        self.assertEqual(read("all.json")[0].shape, (3, 4, 4), "level, time")

    def test_holes_are_filled_by_the_file_that_was_missing(self):
        """Whichever it is, and without --along, as far as all are a grid."""
        for dims, sides, shared, along in (
                (("x",), {"time": [0, 1, 2], "member": [0, 1, 2]}, {"x": X}, ()),
                (("time", "x"), {"time": [[0], [1], [2]], "member": [0, 1]}, {"x": X}, ()),
                (("time", "x"), {"time": [[0], [1]], "x": [X, X + 4, X + 8]}, {}, ("--along", "time", "--along", "x"))):
            files = self.write_grid(dims, sides, shared)
            self.refs("index", *files.values(), "-q", "-o", "all.json")
            for late in files.values():
                others = [name for name in files.values() if name != late]
                self.refs("index", *others, *along, "-q", "-o", "holes.json")
                with self.subTest(late=late, dims=list(sides)):
                    self.refs("combine", "holes.json", late, "-q", "-o", "filled.json")
                    self.assertEqual(self.content("filled.json"), self.content("all.json"))
                    self.refs("append", "holes.json", late, "-q")
                    np.testing.assert_array_equal(read("holes.json"), read("all.json"))
            for name in files.values():
                os.remove(name)

    def test_ensembles_with_holes_grow(self):
        """By what was missing, or by the next time of some members."""
        times, members = [0, 1, 2, 3], [0, 1, 2]
        for late in (0, 4, 8):
            files = list(self.write_grid(("x",), {"time": times, "member": members}, {"x": X}).values())
            first, added = [files[i] for i in range(9) if i != late], files[9:]
            for more in ([files[late]], added[1:2], added, [files[late], *added]):
                for suffix in (".json", ".parq"):
                    name = "grown" + suffix
                    shutil.rmtree(name, ignore_errors=True)
                    self.refs("index", *first, "-q", "-o", name)
                    self.refs("append", name, *more, "-q")
                    self.refs("index", *first, *more, "-q", "-o", "once.json")
                    np.testing.assert_array_equal(read(name), read("once.json"), f"{late} {more} {suffix}")

    def test_groups_that_are_no_boxes_give_the_bytes_of_all(self):
        """Also if what they begin with is an aggregation, since files differ in type and fill value."""
        names = []
        for number, (level, step) in enumerate(itertools.product(([500, 850], [1000]), (0, 6, 12))):
            names.append(write_file(f"{number}.nc", None, {"level": level, "step": step, "x": X}))
            with netCDF4.Dataset(names[-1], "a") as file:
                t = file.createVariable("t", ("f4", "f8")[number % 2], ("level", "x"), fill_value=-number)
                t.coordinates = "step"
                t[...] = number
        along = ("-q", "--along", "level", "--along", "step")
        self.refs("index", *names, *along, "-o", "all.json")
        for group in itertools.combinations(names, 2):
            self.refs("index", *group, *along, "-o", "first.json")
            self.refs("index", *[name for name in names if name not in group], *along, "-o", "second.json")
            self.refs("combine", "second.json", "first.json", *along, "-o", "groups.json")
            self.assertEqual(self.content("groups.json"), self.content("all.json"), group)

    def test_sets_that_lack_tiles_become_one_grid_that_lacks_some(self):
        """Their dimensions are those of the result, without --along."""
        files = self.write_grid(("step", "level", "time", "x"), {"step": [[0], [6]], "level": [[850], [1000]], "time": [[0, 24], [48]]}, {"x": X})
        for index in ((0, 1, 1), (1, 0, 1)):
            del files[index]
        self.refs("index", *files.values(), "-q", "-o", "all.json")
        for group in ([(0, 1, 0), (1, 1, 0)], [(1, 0, 0), (1, 1, 0)], [(0, 0, 0), (1, 1, 0)]):
            self.refs("index", *[files[index] for index in group], "-q", "-o", "first.json")
            self.refs("index", *[name for index, name in files.items() if index not in group], "-q", "-o", "second.json")
            with self.subTest(group=group):
                self.refs("combine", "second.json", "first.json", "-q", "-o", "groups.json")
                self.assertEqual(self.content("groups.json"), self.content("all.json"))

    def test_single_tiles_find_their_place_beside_a_set(self):
        """One file and a set of others, which has all levels of those that it has."""
        files = self.write_grid(("member", "level", "x"), {"member": [[0], [1], [2]], "level": [[850], [1000]]}, {"x": X})
        for lacking in ((2, 0),), ((1, 1), (2, 0)), ((0, 0), (2, 0)):
            there = {index: name for index, name in files.items() if index not in lacking}
            self.refs("index", *there.values(), "-q", "-o", "all.json")
            for index, name in there.items():
                self.refs("index", *[other for other in there.values() if other != name], "-q", "-o", "rest.json")
                for sources in ("rest.json", name), (name, "rest.json"):
                    with self.subTest(lacking=lacking, sources=sources):
                        self.refs("combine", *sources, "-q", "-o", "groups.json")
                        self.assertEqual(self.content("groups.json"), self.content("all.json"))

    def test_tiles_are_appended_to_masters_in_any_order(self):
        """Tiles of unequal length, whose variables are stored in the master, or lack one of the dimensions."""
        files = self.write_grid(("member", "x"), {"level": [500, 850, 1000], "member": [[1, 2], [3]]}, {"x": X})
        for name in files.values():
            with netCDF4.Dataset(name, "a") as file:
                file.createVariable("o", "f4", ("x",))[...] = X
        along = ("-q", "--along", "level", "--along", "member")
        for number in range(ROUNDS):
            chance = random.Random(SEED + number)
            indices = list(files)
            chance.shuffle(indices)
            n = chance.randint(3, len(indices))
            with self.subTest(order=indices[:n]):
                self.refs("index", files[indices[0]], *along, "-o", "grown.nc")
                for index in indices[1:n]:
                    self.refs("append", "grown.nc", files[index], "-q")
                self.refs("index", *[files[index] for index in indices[:n]], *along, "-o", "once.nc")
                for path in ("/t", "/o", "/level", "/member"):
                    np.testing.assert_array_equal(read("grown.nc", path), read("once.nc", path), path)
                levels, members = (read("grown.nc", path)[0].tolist() for path in ("/level", "/member"))
                for index in indices[:n]:
                    with netCDF4.Dataset(files[index]) as file:
                        rows = [members.index(member) for member in file["member"]]
                        np.testing.assert_array_equal(read("grown.nc")[0][levels.index(file["level"][...]), rows], file["t"][...])
                for made in ("grown.nc", "once.nc"):
                    os.remove(made)

    def test_chunks_that_were_never_written_have_one_value_from_every_route(self):
        """Chunks that were never written have the fill value, which missing_value does not name; steps that lack the variable
        are missing."""
        for size in (4, 20):  # elements of a chunk: steps of 32 bytes are stored as values in some sets
            x = np.arange(2. * size)
            for name, written in (("0.nc", (0, 1)), ("1.nc", (0,)), ("2.nc", (0, 1)), ("3.nc", (1,)), ("4.nc", None)):
                def fill(variable, written=written):
                    for part in written:
                        variable[:, size * part:size * (part + 1)] = part + 1
                write_file(name, ("time", "x") if written else None, {"time": [int(name[0])], "x": x}, fill, (1, size), missing_value=np.float32(-99))
                with netCDF4.Dataset(name, "a") as file:
                    file.createVariable("other", "f4", ("time",))[...] = 0
            default = np.float32(netCDF4.default_fillvals["f4"])
            expected = np.array([[1, 2], [1, default], [1, 2], [default, 2], [-99, -99]], "f4").repeat(size, axis=1)
            names = [f"{i}.nc" for i in range(5)]
            for suffix in (".json", ".parq", ".nc", ".icechunk"):
                made = [name + suffix for name in ("once", "appended", "prepended", "groups", "single")]
                for name in made:
                    shutil.rmtree(name, ignore_errors=True)
                    if os.path.exists(name):
                        os.remove(name)
                once, appended, prepended, groups, _ = made
                self.refs("index", *names, "-q", "-o", once)
                self.refs("index", *names[:4], "-q", "-o", appended)
                self.refs("append", appended, names[4], "-q")
                self.refs("index", *names[1:], "-q", "-o", prepended)
                self.refs("append", prepended, names[0], "-q")
                routes = [once, appended, prepended]
                if suffix != ".nc":
                    for group, part in (("first", names[:2]), ("second", names[2:])):
                        self.refs("index", *part, "-q", "-o", group + ".json")
                    self.refs("combine", "first.json", "second.json", "-q", "-o", groups)
                    routes.append(groups)
                for name in routes:
                    values, missing = read(name)
                    np.testing.assert_array_equal(values, expected, f"{name}, {size}")
                    np.testing.assert_array_equal(missing, expected == -99, f"{name}, {size}")

    def test_files_of_several_variables_come_in_any_order(self):
        """Also if the first and the last have the same coordinates, or no variable in common."""
        names = []
        for name, time in (("u", 0), ("u", 1), ("v", 1), ("v", 0)):
            names.append(write_file(f"{name}{time}.nc", ("time", "x"), {"time": [time], "x": X}, time))
            with netCDF4.Dataset(names[-1], "a") as file:
                file.renameVariable("t", name)
                file.createVariable("crs", "i4", ()).grid_mapping_name = "latitude_longitude"
        for order in itertools.permutations(names):
            self.refs("index", *order, "-q", "-o", "all.json")
            for name in "uv":
                self.assertEqual(read("all.json", "/" + name)[0][:, 0].tolist(), [0, 1], order)
        with open("all.txt", "w", encoding="utf-8") as file:
            file.write("\n".join(names))
        self.assertEqual(read("all.txt", "/v")[0][:, 0].tolist(), [0, 1])
        self.assertIn("no variable in common: u0.nc has u, v0.nc has v: combine files of one data set",
                      self.attempt("index", "u0.nc", "v0.nc", "-o", "two.json").stderr)

    def test_groups_of_a_master_keep_dimensions_that_no_variable_has(self):
        write_file("whole.nc", ("time", "x"), {"time": [0, 1], "x": np.arange(40.)}, 1)
        with netCDF4.Dataset("whole.nc", "a") as file:
            for group in ("a", "b"):
                file.createGroup(group).createDimension("spare", 3)
        self.refs("split", "whole.nc", "-o", "split.nca", "--subarray-shape", "time=1")
        self.refs("combine", "--format", "cfa", *sorted(os.path.join("split", name) for name in os.listdir("split")), "-o", "again.nca")
        for name in ("split.nca", "again.nca"):
            with netCDF4.Dataset(name) as file:
                self.assertEqual([len(file[group].dimensions["spare"]) for group in ("a", "b")], [3, 3], name)

    def test_tiles_that_overlap_are_refused(self):
        for x in (0, 2):
            for y in (0, 4):
                write_file(f"{x}_{y}.nc", ("y", "x"), {"x": X + x, "y": X + y}, 1)
        done = self.attempt("index", "0_0.nc", "0_4.nc", "2_0.nc", "2_4.nc", "-o", "all.json")
        self.assertIn("are not tiles of one grid along", done.stderr)


if __name__ == "__main__":
    unittest.main()
