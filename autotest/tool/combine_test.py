"""What refs combine makes of sets that are written here by hand: nothing is lost or invented, and sets that make no
sense end with a message.

    combine_test.py PROGRAM [test ...]
"""

import base64
import itertools
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import unittest
import zlib

import netCDF4
import numpy as np
from osgeo import gdal

try:
    import netCDF4
except ImportError:
    netCDF4 = None

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from own_folder import OwnFolder  # noqa: E402

REFS = os.path.abspath(sys.argv.pop(1))
gdal.UseExceptions()


def attempt(*arguments):
    return subprocess.run([REFS, *arguments], capture_output=True, text=True, check=False, timeout=300)


def run(*arguments, status=0):
    """Standard error."""
    done = attempt(*arguments)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stderr


def read(name, variable):
    dataset = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER)
    return dataset.GetRootGroup().OpenMDArrayFromFullname("/" + variable).ReadAsArray()


def inline(values):
    return "base64:" + base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()


def array(path, dims, values, chunks=None, **attributes):
    """References of an array in one chunk, or with declared chunks and none of them."""
    values = np.asarray(values)
    shape = list(values.shape)
    document = {"zarr_format": 2, "shape": shape, "chunks": chunks or [max(n, 1) for n in shape], "dtype": values.dtype.str,
                "fill_value": None, "order": "C", "compressor": None, "filters": None}
    found = {path + "/.zarray": json.dumps(document), path + "/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": dims, **attributes})}
    if values.size > 0 and chunks is None:
        found[path + "/" + ".".join("0" * max(values.ndim, 1))] = inline(values)
    return found


def strings(path, dims, values):
    """The same of strings of any length."""
    found = array(path, dims, np.zeros(np.shape(values), "<i4"))
    found[path + "/.zarray"] = json.dumps({**json.loads(found[path + "/.zarray"]), "dtype": "|O", "filters": [{"id": "vlen-utf8"}]})
    texts = [text.encode() for text in np.asarray(values).ravel()]
    data = len(texts).to_bytes(4, "little") + b"".join(len(text).to_bytes(4, "little") + text for text in texts)
    found[path + "/" + ".".join("0" * np.ndim(values))] = "base64:" + base64.b64encode(data).decode()
    return found


def write(name, *arrays, **more):
    refs = {".zgroup": '{"zarr_format":2}', **more}
    for found in arrays:
        refs.update(found)
    with open(name, "w", encoding="utf-8") as file:
        json.dump({"version": 1, "refs": refs}, file)
    return name


class InFolder(OwnFolder):
    def setUp(self):
        super().setUp()
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)


class BoundsOfScalars(InFolder):
    """Bounds of a scalar coordinate get its dimension, with the values of each source."""

    def write_day(self, i, attribute="bounds"):
        """A day, counted from itself."""
        name = f"{i}.nc"
        with netCDF4.Dataset(name, "w") as file:
            for dim, n in (("bnds", 2), ("y", 2), ("x", 2)):
                file.createDimension(dim, n)
            time = file.createVariable("time", "f8")
            time.setncatts({"units": f"days since 2000-01-{i + 1:02}", "standard_name": "time", attribute: "time_bnds"})
            time[...] = 0.5
            file.createVariable("time_bnds", "f8", ("bnds",))[:] = [0, 1]
            field = file.createVariable("t", "f4", ("y", "x"))
            field.coordinates = "time"
            field[:] = i
        return name

    def test_hold_those_of_each_source_in_all_formats_and_however_they_grow(self):
        for attribute in ("bounds", "climatology"):
            names = [self.write_day(i, attribute) for i in range(3)]
            for output in ("all.json", "all.parq", "all.nc", "all.icechunk"):
                for append in (False, True):
                    with self.subTest(attribute=attribute, output=output, append=append):
                        run("index", *names[:2 if append else 3], "-o", output)
                        if append:
                            run("append", output, names[2])
                        self.assertEqual(read(output, "time").tolist(), [0.5, 1.5, 2.5])
                        self.assertEqual(read(output, "time_bnds").tolist(), [[0, 1], [1, 2], [2, 3]])
                        shutil.rmtree(output) if os.path.isdir(output) else os.remove(output)

    def test_get_the_dimension_of_their_coordinate_alone(self):
        for member, day in itertools.product(range(2), range(2)):
            write(f"{member}{day}.json", array("number", [], np.int32(member), standard_name="realization"),
                  array("time", [], np.float64(day), units="days since 2000-01-01", bounds="time_bnds"),
                  array("time_bnds", ["b"], np.array([day, day + 1.0])),
                  array("t", ["x"], np.zeros(2, "f4"), coordinates="number time"))
        run("combine", "00.json", "01.json", "10.json", "11.json", "-o", "all.json")
        self.assertEqual(read("all.json", "time_bnds").tolist(), [[0, 1], [1, 2]])

    def test_are_in_the_units_of_a_coordinate_in_another_group(self):
        for i, group in itertools.product(range(2), ("", "g/")):
            write(f"{i}{group[:1]}.json", array("time", [], np.float64(24 * i), units="hours since 2000-01-01"), array("vb", ["b"], np.array([5.0, 6])),
                  array(group + "vt", [], np.float64(6), units=f"hours since 2000-01-0{i + 1}", bounds="vb"),
                  array(group + "v", ["x"], np.zeros(3, "f4"), coordinates="vt"), **({"g/.zgroup": '{"zarr_format":2}'} if group else {}))
        for group in ("", "g/"):
            run("combine", f"0{group[:1]}.json", f"1{group[:1]}.json", "-o", "all.json", "--along", "time")
            self.assertEqual(read("all.json", group + "vt").tolist(), [6, 30])
            self.assertEqual(read("all.json", "vb").tolist(), [[5, 6], [29, 30]])

    def test_of_valid_times_follow_these_to_other_units(self):
        for i in range(3):
            write(f"{i}.json", array("step", [], np.float64(6 * i), units="hours", standard_name="forecast_period"),
                  array("valid_time", [], np.float64(0), units=f"hours since 2000-01-01 {6 * i:02}:00", bounds="valid_bnds",
                        standard_name="time"),
                  array("valid_bnds", ["b"], np.array([-6.0, 0])), array("t", ["x"], np.zeros(2, "f4"), coordinates="step valid_time"))
        run("combine", "0.json", "1.json", "2.json", "-o", "all.json", "--along", "step")
        self.assertEqual(read("all.json", "valid_time").tolist(), [0, 6, 12])
        self.assertEqual(read("all.json", "valid_bnds").tolist(), [[-6, 0], [0, 6], [6, 12]])
        run("combine", "0.json", "1.json", "-o", "two.json", "--along", "step")
        run("append", "two.json", "2.json")
        self.assertEqual(read("two.json", "valid_bnds").tolist(), [[-6, 0], [0, 6], [6, 12]])


def read_texts(name, variable):
    dataset = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER)
    return dataset.GetRootGroup().OpenMDArrayFromFullname("/" + variable).Read()


class StringsAlongTime(InFolder):
    """Strings of variable length of netCDF-4 files, whose chunks along an unlimited dimension are never full."""

    def write_day(self, i, labels=None, stations=("north", "s\u00fcd"), fill=None):
        name = f"{i}.nc"
        with netCDF4.Dataset(name, "w") as file:
            file.createDimension("time", None)
            file.createDimension("station", 2)
            file.createVariable("time", "f8", ("time",)).units = "hours since 2000-01-01"
            file["time"][:] = [2 * i, 2 * i + 1]
            file.createVariable("name", str, ("station",))[:] = np.array(stations, dtype=object)
            field = file.createVariable("t", "f4", ("time", "station"))
            field.coordinates = "name"
            field[:] = i
            if labels is not None:
                file.createVariable("label", str, ("time",), fill_value=fill)[:] = np.array(labels, dtype=object)
                file.createVariable("cell", str, ("time", "station"))[:] = np.array([[x + y for y in "xy"] for x in labels], dtype=object)
        return name

    def test_are_combined_and_grow(self):
        names = [self.write_day(i, labels) for i, labels in enumerate((["", "b"], ["c\u00e9", "dd"], ["e", "a longer one"]))]
        expected = ["", "b", "c\u00e9", "dd", "e", "a longer one"]
        for output in ("all.json", "all.parq", "all.icechunk"):
            for append in (False, True):
                with self.subTest(output=output, append=append):
                    run("index", *names[:2 if append else 3], "-o", output)
                    if append:
                        run("append", output, names[2])
                    self.assertEqual(read_texts(output, "label"), expected)
                    self.assertEqual(read_texts(output, "cell"), [x + y for x in expected for y in "xy"])
                    shutil.rmtree(output) if os.path.isdir(output) else os.remove(output)
        for name in names:
            run("index", name, "-o", name[0] + ".json")
        run("index", *names, "-o", "all.json")
        run("combine", "0.json", "2.json", "-o", "two.json", "--along", "time")
        run("combine", "two.json", "1.json", "-o", "again.json", "--along", "time")
        run("combine", "0.json", "1.json", "2.json", "-o", "once.json", "--along", "time")
        with open("once.json", "rb") as once, open("again.json", "rb") as again:
            self.assertEqual(once.read(), again.read())

    def test_are_empty_where_a_source_lacks_them(self):
        said = run("index", self.write_day(0, ["a", "b"]), self.write_day(1), "-o", "all.json")
        self.assertIn("label is missing in 1 of 2 sources, first in 1.nc: it has no values there, because the file lacks it or --variables left it out", said)
        self.assertEqual(read_texts("all.json", "label"), ["a", "b", "", ""])
        run("append", "all.json", self.write_day(2, ["e", "f"]))
        self.assertEqual(read_texts("all.json", "label"), ["a", "b", "", "", "e", "f"])

    def test_are_their_fill_value_where_a_source_lacks_them(self):
        names = [self.write_day(i, labels, fill="none") for i, labels in enumerate((["a", ""], None, ["e", "f"], None))]
        for output in ("all.json", "all.parq", "all.icechunk", "all.nc"):
            with self.subTest(output=output):
                run("index", *names[:2], "-o", output)
                run("append", output, *names[2:])
                self.assertEqual(read_texts(output, "label"), ["a", "", "none", "none", "e", "f", "none", "none"])
        for name in "all.nc", "0.nc":
            with netCDF4.Dataset(name) as file:
                self.assertEqual(file["label"]._FillValue, "none")
        run("index", *names, "-o", "once.json")
        self.assertEqual(run("diff", "once.json", "all.json"), "")

    def test_are_compared_where_a_selection_cuts_them(self):
        for i, stations in enumerate((["north", "west", "up"], ["north", "east", "up"])):
            names = strings("name", ["station"], stations)
            names["name/.zarray"] = names["name/.zarray"].replace('"chunks": [3]', '"chunks": [1]')
            for k, station in enumerate(stations):
                names[f"name/{k}"] = strings("name", ["station"], [station])["name/0"]
            write(f"{i}.json", array("time", ["time"], [i], units="hours since 2000-01-01"), names, array("station", ["station"], [0, 1, 2]),
                  array("t", ["time", "station", "y", "x"], np.zeros((1, 3, 2, 2), "u1"), chunks=[1, 1, 2, 2], coordinates="name"))
        for selected, differs in (("#0", False), ("#2", False), ("#1", True), ("#1:#2", True), ("#0:#1", True)):
            with self.subTest(selected=selected):
                said = run("combine", "0.json", "1.json", "-o", "all.json", "--along", "time", "--variables", f"t[station={selected}]", status=int(differs))
                self.assertEqual("name: differs between 0.json and 1.json" in said, differs, said)
                first, _, last = selected.replace("#", "").partition(":")
                if not differs:
                    self.assertEqual(read_texts("all.json", "name"), ["north", "west", "up"][int(first):int(last or first) + 1])

    def test_of_any_number_are_in_a_master(self):
        n = 1000001
        for i in range(2):
            write(f"{i}.json", array("time", ["time"], [i], units="hours since 2000-01-01"), strings("name", ["station"], ["a"] * n),
                  array("t", ["time", "station"], np.zeros((1, n), "u1")))
        run("combine", "0.json", "1.json", "-o", "all.nca", "--along", "time", "--format", "cfa")
        with netCDF4.Dataset("all.nca") as master:
            self.assertEqual(master["name"].shape, (n,))
            self.assertEqual(set(master["name"][:]), {"a"})

    def test_of_many_are_in_a_master_of_files(self):
        n, names = 20000, []
        for i in range(2):
            names.append(f"{i}.nc")
            with netCDF4.Dataset(names[-1], "w") as file:
                file.createDimension("time", None)
                file.createDimension("station", n)
                file.createVariable("time", "f8", ("time",)).units = "hours since 2000-01-01"
                file["time"][:] = [i]
                file.createVariable("name", str, ("station",))[:] = np.array([f"s{k}" for k in range(n)], dtype=object)
                file.createVariable("t", "u1", ("time", "station"))[:] = 0
        run("index", *names, "-o", "all.nc")
        with netCDF4.Dataset("all.nc") as master:
            self.assertEqual(master["name"][:].tolist(), [f"s{k}" for k in range(n)])

    def test_that_are_not_stored_take_no_memory(self):
        """Files of a few kilobytes that declare gigabytes."""
        for i in range(2):
            found = [strings(f"s{k}", ["n"], ["a"]) for k in range(40)]
            for k, one in enumerate(found):
                document = json.loads(one[f"s{k}/.zarray"])
                one[f"s{k}/.zarray"] = json.dumps({**document, "shape": [10**6], "chunks": [10**6], "fill_value": f"{i}{k}".ljust(60, "x")})
                del one[f"s{k}/0"]
            write(f"{i}.json", array("t", ["t"], np.array([float(i)])), *found)
        most = resource.RLIMIT_AS, (500 << 20, resource.getrlimit(resource.RLIMIT_AS)[1])
        done = subprocess.run([REFS, "combine", "0.json", "1.json", "-o", "all.json", "--along", "t"], capture_output=True, text=True, check=False,
                              timeout=300, preexec_fn=lambda: resource.setrlimit(*most))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_are_compared_however_many_there_are(self):
        for n in 1000, 40000, 1000000:
            for i in range(3):
                write(f"{i}.json", array("t", ["t"], np.array([float(i)])), strings("s", ["n"], ["a"] * (n - 1) + ["aba"[i]]))
            said = run("combine", "0.json", "1.json", "-o", "all.json", "--along", "t")
            self.assertIn(f'element {n - 1} of s is "a" and "b": keeping the first', said)
            self.assertEqual(run("combine", "0.json", "2.json", "-o", "all.json", "--along", "t"), "", n)

    def test_of_several_types_are_compared_as_text(self):
        v = array("v", ["t", "n"], np.zeros((1, 2), "f4"), coordinates="name")
        write("0.json", array("t", ["t"], np.array([0.0])), strings("name", ["n"], ["ab", "c\u00e9"]), v)
        for text, dtype, status in (("c\u00e9", "<U4", 0), ("c\u00e9", "S4", 0), ("cd", "<U2", 1), ("cd", "S2", 1)):
            names = [x if dtype[0] == "<" else x.encode() for x in ("ab", text)]
            write("1.json", array("t", ["t"], np.array([1.0])), array("name", ["n"], np.array(names, dtype)), v)
            with self.subTest(text=text, dtype=dtype):
                said = run("combine", "0.json", "1.json", "-o", "all.json", "--along", "t", status=status)
                if status == 1:
                    self.assertIn('element 1 of name is "c\u00e9" and "cd"', said)

    def test_of_several_types_are_compared_however_many_there_are(self):
        names = [f"s{i:05}" for i in range(30000)]
        other = [*names[:-1], "s"]
        parts = [write(f"{i}.json", array("t", ["t"], np.array([float(i)])), found) for i, found in enumerate((
            strings("s", ["n"], names), array("s", ["n"], np.array(names, "S6")), array("s", ["n"], np.array(other, "S6")),
            strings("s", ["n"], other), array("s", ["n"], np.array(other, "S6"), chunks=[30000])))]
        for first, second in itertools.product(parts[:4], parts[:4]):
            if first != second:
                same = (first in parts[:2]) == (second in parts[:2])
                with self.subTest(first=first, second=second):
                    self.assertEqual(run("combine", first, second, "--along", "t", "-o", "all.json") == "", same)
        run("combine", parts[0], parts[4], "--along", "t", "-o", "all.json")  # nothing is stored in it

    def test_of_an_unreadable_source_do_not_hide_differences_of_others(self):
        """Values that are missing with their file are skipped, with a warning. Damaged ones are an error."""
        v = array("v", ["t", "n"], np.zeros((1, 2), "f4"), coordinates="name")
        for i, names in enumerate(("ab", "ab", "ac", "ab")):
            found = strings("name", ["n"], list(names))
            if i == 0:
                found["name/0"] = ["file:///gone", 0, 10]
            elif i == 3:
                found["name/0"] = inline(np.array([2, 255], "<i4"))
            write(f"{i}.json", array("t", ["t"], np.array([float(i)])), found, v)
        self.assertIn("name: cannot be compared with other sources: 0.json: ", run("combine", "0.json", "1.json", "-o", "all.json", "--along", "t"))
        self.assertIn("the grids of 1.json and 2.json differ", run("combine", "0.json", "1.json", "2.json", "-o", "all.json", "--along", "t", status=1))
        self.assertRegex(run("combine", "1.json", "3.json", "-o", "all.json", "--along", "t", status=1), "^refs: 3.json: name/0: vlen-utf8: .* is truncated")

    def test_of_repositories_are_combined_and_grow(self):
        """Long values are files of the repository."""
        for i in range(2):
            with netCDF4.Dataset(f"{i}.nc", "w") as file:
                file.createDimension("time", None)
                file.createVariable("time", "f8", ("time",)).units = "hours since 2000-01-01"
                file["time"][:] = np.arange(300) + 300 * i
                file.createVariable("label", str, ("time",))[:] = np.array([f"label number {k + 300 * i}" for k in range(300)], dtype=object)
            run("index", f"{i}.nc", "-o", f"{i}.icechunk")
        run("combine", "0.icechunk", "1.icechunk", "-o", "two.json", "--along", "time")
        run("append", "0.icechunk", "1.nc")
        for name in ("two.json", "0.icechunk"):
            self.assertEqual(read_texts(name, "label"), [f"label number {i}" for i in range(600)])


class Strict(InFolder):
    def test_refuses_sets_that_hold_aggregations_and_names_each_once(self):
        for i, dtype in enumerate(("<f4", "<i2", "<f4")):
            write(f"{i}.json", array("time", ["time"], [float(i)], units="days since 2000-01-01"), array("t", ["time", "x"], np.full((1, 20), i, dtype)))
        run("combine", "0.json", "1.json", "-o", "both.json")
        for names in (("both.json", "2.json"), ("2.json", "both.json")):
            said = run("combine", *names, "--strict", "-o", "all.json", status=1)
            self.assertIn("t of both.json is an aggregation: its sources differ", said)
            self.assertEqual(said.count("both.json"), 1)
        run("combine", "both.json", "2.json", "-o", "all.json")
        self.assertEqual(read("all.json", "t")[:, 0].tolist(), [0, 1, 2])


class Auxiliaries(InFolder):
    def test_of_numbers_must_be_equal_and_may_be_missing_in_one_source(self):
        def part(i, values, is_named):
            return write(f"{i}.json", array("time", ["time"], [float(i)], units="days since 2000-01-01"), array("z", ["station"], np.array(values), _FillValue=-1.0),
                         array("t", ["time", "station"], np.zeros((1, 2)), **({"coordinates": "z"} if is_named else {})))
        for other, named, status in (([1.0, 3.0], True, 1), ([1.0, 3.0], False, 0), ([1.0, 2.0], True, 0), ([1.0, -1.0], True, 0)):
            with self.subTest(other=other, named=named):
                names = part(0, [1.0, 2.0], named), part(1, other, named)
                for order in (names, names[::-1]):
                    said = run("combine", *order, "-o", "all.json", "--along", "time", status=status)
                    self.assertEqual("element 1 of z is 2 and 3" in said, other[1] == 3.0, said)
                    if status == 0:
                        self.assertEqual(read("all.json", "z").tolist(), [1, 2])


class CutDimensions(InFolder):
    def setUp(self):
        super().setUp()
        for i in range(3):
            with netCDF4.Dataset(f"{i}.nc", "w") as file:
                for dim, n in (("time", None), ("layer", 3), ("y", 2), ("x", 2)):
                    file.createDimension(dim, n)
                file.createVariable("time", "f8", ("time",)).units = "days since 2000-01-01"
                file["time"][:] = [i]
                file.createVariable("t", "i4", ("time", "layer", "y", "x"), chunksizes=(1, 1, 2, 2))[:] = 100 * i + np.arange(12).reshape(1, 3, 2, 2)

    def test_lie_without_a_coordinate_at_the_same_indices(self):
        for selected, rows in (("#1:#2", slice(1, 3)), ("#2", slice(2, 3)), ("#0:#2", slice(0, 3))):
            with self.subTest(selected=selected):
                expected = [[100 * i + 4 * k for k in range(3)][rows] for i in range(3)]
                self.assertEqual(run("index", "0.nc", "1.nc", "2.nc", "-q", "-o", "all.json", "--variables", f"t[layer={selected}]"), "")
                self.assertEqual(read("all.json", "t")[..., 0, 0].tolist(), expected)
                for again in ((), ("--variables", f"t[layer={selected}]"), ("--variables", f"t[time=2000-01-03, layer = {selected}]")):
                    run("index", "0.nc", "1.nc", "-o", "two.json", "--variables", f"t[layer={selected}]")
                    self.assertEqual(run("append", "two.json", "2.nc", *again), "")
                    self.assertEqual(read("two.json", "t")[..., 0, 0].tolist(), expected)

    def test_without_a_coordinate_do_not_get_other_indices_of_what_is_appended(self):
        for recorded in ("t[layer=#0:#1]", "t[time=#0]", "t"):
            with self.subTest(recorded=recorded):
                run("index", "0.nc", "1.nc", "-o", "two.json", "--variables", recorded)
                before = read("two.json", "t").tolist()
                said = run("append", "two.json", "2.nc", "--variables", "t[layer=#1:#2]", status=1)
                self.assertIn("two.json: --variables selects #1:#2 along layer: expected the recorded selection "
                              f"({'#0:#1' if 'layer' in recorded else 'none'}), since layer has no coordinate", said)
                self.assertEqual(read("two.json", "t").tolist(), before)
        run("index", "2.nc", "-q", "-o", "part.json", "--variables", "t[layer=#1:#2]")
        run("index", "0.nc", "1.nc", "-o", "two.json", "--variables", "t[layer=#0:#1]")
        run("append", "two.json", "part.json")
        self.assertEqual(read("two.json", "t")[..., 0, 0].tolist(), [[0, 4], [100, 104], [204, 208]])

    def test_name_sources_that_have_a_part_of_the_selection(self):
        for selected in ("#1:#3", "1:3"):
            said = run("index", "0.nc", self.longer("3.nc"), "-o", "all.json", "--variables", f"t[layer={selected}]", status=1)
            self.assertIn(f"0.nc: --variables t: [layer={selected}]: dimension \"layer\" has no value {selected}, only one end of it: select "
                          "less; there are 3: #0, #1, #2", said)
            self.assertFalse(os.path.exists("all.json"))
            said = run("index", "0.nc", "3.nc", "-o", "all.json", "--variables", f"t[layer={selected}]", "--skip-errors", status=1)
            self.assertIn("left out: 0.nc: --variables t", said)
            self.assertEqual(read("all.json", "t").shape, (1, 3, 2, 2))
            os.remove("all.json")
        self.assertEqual(run("index", "0.nc", "3.nc", "-o", "all.json", "--variables", "t[layer=#3]"), "")

    def longer(self, name):
        with netCDF4.Dataset(name, "w") as file, netCDF4.Dataset("2.nc") as other:
            for dim, n in (("time", None), ("layer", 4), ("y", 2), ("x", 2)):
                file.createDimension(dim, n)
            file.createVariable("time", "f8", ("time",)).units = other["time"].units
            file["time"][:] = [3]
            file.createVariable("t", "i4", ("time", "layer", "y", "x"), chunksizes=(1, 1, 2, 2))[:] = np.arange(16).reshape(1, 4, 2, 2)
        return name


class Members(InFolder):
    def test_give_times_of_others_no_dimension_if_a_variable_names_them(self):
        for dims, values in ((["step"], np.arange(3.0)), (["time", "step"], np.arange(6.0).reshape(2, 3))):
            for named in (True, False):
                with self.subTest(dims=dims, named=named):
                    for i in range(2):
                        write(f"{i}.json", array("number", [], np.int32(i), standard_name="realization"),
                              array("valid_time", dims, values, units="hours since 2000-01-01", standard_name="time"),
                              array("t", [*dims, "x"], np.full((*values.shape, 2), i, "f4"),
                                    coordinates="number valid_time" if named else "number"))
                    run("combine", "0.json", "1.json", "-o", "all.json", "--along", "number")
                    np.testing.assert_array_equal(read("all.json", "valid_time"), values if named else [values, values])
                    np.testing.assert_array_equal(read("all.json", "t")[:, ..., 0].mean(axis=tuple(range(1, values.ndim + 1))), [0, 1])


class Rewrites(InFolder):
    def test_match_paths_and_urls_of_files_by_the_rule_of_the_driver(self):
        """Whichever way the set, and whichever way the option says it; info shows the former."""
        with open("x.bin", "wb") as file:
            file.write(bytes((7, 7, 7, 7)))
        for said in ("/old/place", "file:///old/place"):
            write("a.json", array("v", ["y", "x"], np.zeros((2, 2), "u1"), chunks=[2, 2]), **{"v/0.0": [said + "/x.bin", 0, 4]})
            for old in ("/old/place", "file:///old/place", "file:/old/place", "file://localhost/old"):
                with self.subTest(said=said, old=old):
                    rewritten = f"{old}=>{self.folder}" if old.endswith("place") else f"{old}/place=>{self.folder}"
                    run("convert", "a.json", "-o", "b.json", "--rewrite", rewritten)
                    self.assertEqual(read("b.json", "v").tolist(), [[7, 7], [7, 7]])
                    dataset = gdal.OpenEx('REFS:"a.json":/v', open_options=["URL_REWRITE=" + rewritten])
                    self.assertEqual(dataset.ReadAsArray().tolist(), [[7, 7], [7, 7]])
            run("convert", "a.json", "-o", "b.json", "--rewrite", "file:///ol/=>/tmp/", status=0)
            self.assertIn("/old/place/x.bin", attempt("info", "b.json", "v/0.0").stdout)


class Version3(OwnFolder):
    """Arrays of Zarr version 3, which sets of VirtualiZarr and repositories of Icechunk have."""

    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def array(self, path, dims, values, codecs=(), **attributes):
        """References of an array under keys as "v/c/0/1": a chunk for each element of the first dimension."""
        chunk = [1, *values.shape[1:]] if values.ndim else []
        document = {"zarr_format": 3, "node_type": "array", "shape": values.shape, "data_type": values.dtype.name,
                    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
                    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": 0,
                    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, *codecs], "dimension_names": dims,
                    "attributes": attributes}
        refs = {path + "/zarr.json": json.dumps(document)}
        for i in range(values.shape[0] if values.ndim else 1):
            data = (values[i] if values.ndim else values).tobytes()
            numbers = "".join(f"/{k}" for k in [i] + [0] * (values.ndim - 1)) if values.ndim else ""
            refs[f"{path}/c{numbers}"] = "base64:" + base64.b64encode(zlib.compress(data) if codecs else data).decode()
        return refs

    def write(self, name, step, codecs):
        group = {"zarr_format": 3, "node_type": "group", "attributes": {"title": "Archive"}}
        refs = {"zarr.json": json.dumps(group), "g/zarr.json": json.dumps({**group, "attributes": {"of": "g"}})}
        refs |= self.array("time", ["time"], np.arange(2.0) + 2 * step, units="days since 2000-01-01")
        refs |= self.array("g/v", ["time", "x"], np.arange(60, dtype="<f4").reshape(2, 30) + 100 * step, codecs, units="K")
        refs |= self.array("crs", [], np.array(1, "<i4"), grid_mapping_name="latitude_longitude")
        with open(name, "w", encoding="utf-8") as file:
            json.dump({"version": 1, "refs": refs}, file)

    def test_is_combined_with_itself_and_with_version_2(self):
        wanted = np.concatenate([np.arange(60).reshape(2, 30) + 100 * step for step in range(3)])
        for codecs in (), ({"name": "numcodecs.zlib", "configuration": {"level": 1}},):
            for step in range(3):
                self.write(f"{step}.json", step, codecs)
            run("combine", "0.json", "1.json", "-q", "-o", "two.json")  # of version 2
            for output in "all.json", "all.parq", "all.nc":
                run("combine", "two.json", "2.json", "-q", "--along", "time", "-o", output)
                np.testing.assert_array_equal(read(output, "g/v"), wanted)
                self.assertEqual(read(output, "time").tolist(), list(range(6)))
                self.assertEqual(int(read(output, "crs")), 1)
            with open("all.json", encoding="utf-8") as file:
                refs = json.load(file)["refs"]
            self.assertEqual((json.loads(refs[".zattrs"])["title"], json.loads(refs["g/.zattrs"])["of"]), ("Archive", "g"))
            self.assertFalse([key for key in refs if key.endswith("zarr.json")])

    def test_is_refused_by_what_version_2_does_not_have(self):
        for step in range(2):
            self.write(f"{step}.json", step, ({"name": "crc32c"},))
        self.assertIn('sets are combined in Zarr version 2, which cannot express its codec "crc32c"',
                      attempt("combine", "0.json", "1.json", "-o", "all.json").stderr)


class Nothing(InFolder):
    """Nothing is lost without a word."""

    def part(self, name, times, values, *more, **documents):
        return write(name, array("t", ["t"], np.array(times, "<f8")), array("v", ["t"], np.array(values, "<i4")), *more,
                     **documents)

    def test_is_lost_where_a_coordinate_repeats_a_value(self):
        self.part("a.json", [0, 0, 1, 1], [1, 2, 3, 4])
        run("combine", "a.json", "-o", "all.json", "--along", "t")
        np.testing.assert_array_equal(read("all.json", "v"), [1, 2, 3, 4])
        self.part("b.json", [2, 2, 3], [5, 6, 7])
        run("combine", "b.json", "a.json", "-o", "all.json", "--along", "t")
        np.testing.assert_array_equal(read("all.json", "v"), [1, 2, 3, 4, 5, 6, 7])
        np.testing.assert_array_equal(read("all.json", "t"), [0, 0, 1, 1, 2, 2, 3])

    def test_is_lost_of_the_same_repeated_steps_in_two_sources(self):
        for name in ("a.json", "b.json"):
            self.part(name, [0, 0, 1], [1, 2, 3])
        run("combine", "a.json", "b.json", "-o", "all.json", "--along", "t")
        np.testing.assert_array_equal(read("all.json", "v"), [1, 2, 3])

    def test_is_lost_of_strings_that_differ_between_files_of_a_master(self):
        self.part("a.json", [0], [1], array("s", ["x"], np.array([b"one"], "|S3")))
        self.part("b.json", [1], [2], array("s", ["x"], np.array([b"two"], "|S3")))
        said = run("combine", "a.json", "b.json", "-o", "all.nca", "--along", "t", "--format", "cfa")
        self.assertIn('s: differs between a.json and b.json, element 0 of s is "one" and "two": keeping the first', said)
        self.part("b.json", [1], [2], array("s", ["x"], np.array([b"one"], "|S3")))
        self.assertEqual(run("combine", "a.json", "b.json", "-o", "all.nca", "--along", "t", "--format", "cfa"), "")

    def test_is_lost_of_text_of_unlike_chunks(self):
        names = np.array([[b"%0100d" % i] for i in range(2)])
        self.part("a.json", [0, 1], [1, 2], array("s", ["t", "x"], names))
        self.part("b.json", [2, 3], [3, 4], array("s", ["t", "x"], names, chunks=[1, 1]))
        said = run("combine", "a.json", "b.json", "-o", "all.json", "--along", "t", status=1)
        self.assertIn("s differs between a.json and b.json: chunks [2,1] and [1,1]: one array cannot hold chunks of both, and only numbers become "
                      "an aggregation: name the variables to combine without it (--variables)", said)
        run("combine", "a.json", "b.json", "-o", "all.json", "--along", "t", "--variables", "v")
        np.testing.assert_array_equal(read("all.json", "v"), [1, 2, 3, 4])

    def strings_part(self, step, coordinates, *names):
        v = array("v", ["t", "n"], np.zeros((1, 3), "<f4"), **({"coordinates": coordinates} if coordinates else {}))
        return write(f"{step}.json", array("t", ["t"], np.array([float(step)])), v, *names)

    def test_is_lost_of_strings_of_any_length_that_differ(self):
        """Strings without the concat dimension are compared: of coordinates along a dimension, a difference is an error."""
        one, two = ["rome", "oslo", "bern"], ["rome", "bern", "oslo"]
        letters = [np.array(names, "S4").view("S1").reshape(3, 4) for names in (one, two)]
        scalars = [strings("s", [], name) for name in ("exp0", "exp1")]
        words = [array("s", ["l"], np.array([name]).view("S1")) for name in (b"exp0", b"exp1")]
        for name, coordinates, both in (
                ("n", None, [strings("n", ["n"], names) for names in (one, two)]),
                ("s", "s", [strings("s", ["n"], names) for names in (one, two)]),
                ("s", "s", scalars),
                ("s", "s", words),
                ("s", "s", [array("s", ["n", "l"], names) for names in letters]),
                ("s", None, [strings("s", ["n"], names) for names in (one, two)])):
            a, b, same = (self.strings_part(step, coordinates, both[i]) for step, i in ((0, 0), (1, 1), (2, 0)))
            run("index", a, "--along", "t", "-o", "set.json")
            for output, *command in (("o.json", "index", a, b, "--along", "t"), ("p.json", "index", a, b, "--along", "t", "--strict"),
                                     ("o.parq", "combine", a, b, "--along", "t"), ("o.nca", "combine", a, b, "--along", "t", "--format", "cfa"),
                                     ("", "append", "set.json", b)):
                with self.subTest(name=name, coordinates=coordinates, command=command, output=output):
                    is_coordinate = name == "n" or (coordinates is not None and both not in (scalars, words))
                    said = run(*command, *(["-o", output] if output else []), status=int(is_coordinate))
                    self.assertIn("differ" if is_coordinate else "s: differs between", said)
                    self.assertIn("0.json" if output else "set.json", said)
                    self.assertIn("1.json", said)
                    self.assertEqual("keeping the first" in said, not is_coordinate, said)
            self.assertEqual(run("index", a, same, "--along", "t", "-o", "same.json"), "")

    def large_part(self, step, values, coordinates=None, **more):
        found = array("s", ["n", "l"] if values.ndim > 1 else ["n"], values)
        found["s/.zarray"] = json.dumps({**json.loads(found["s/.zarray"]), **more})
        v = array("v", ["t", "n"], np.zeros((1, len(values)), "u1"), **({"coordinates": coordinates} if coordinates else {}))
        return write(f"{step}.json", array("t", ["t"], np.array([float(step)])), v, found)

    def test_is_lost_of_large_arrays_that_differ(self):
        """They are too large for all of their values to be kept while sources are compared."""
        for coordinates, n, dtype in itertools.product((None, "s"), (80000, 2000000), ("f4", "S1")):
            one = np.zeros((n // 4, 4), dtype) if dtype == "S1" else np.zeros(n, dtype)
            other = one.copy()
            other[n // 6] = 1
            names = [self.large_part(i, values, coordinates) for i, values in enumerate((one, other, one))]
            for output, *more in ("o.json",), ("o.nca", "--format", "cfa"):
                with self.subTest(coordinates=coordinates, n=n, dtype=dtype, output=output):
                    said = run("combine", *names[:2], "--along", "t", "-o", output, *more, status=int(coordinates is not None))
                    self.assertIn("0.json and 1.json", said)
                    self.assertEqual("keeping the first" in said, coordinates is None)
                    self.assertEqual(run("combine", names[0], names[2], "--along", "t", "-o", output, *more), "")

    def test_is_lost_where_the_values_of_the_first_source_cannot_be_read(self):
        """Values that are only compared may have any codec."""
        for n in 10, 40000:
            values = [np.zeros(n, "f4"), np.zeros(n, "f4"), np.ones(n, "f4")]
            names = [self.large_part(i, one, **({"filters": [{"id": "nobody's"}]} if i == 0 else {})) for i, one in enumerate(values)]
            self.assertIn("s: differs between 1.json and 2.json", run("combine", *names, "--along", "t", "-o", "o.json"))

    def test_is_lost_of_attributes_that_later_files_of_a_master_have(self):
        self.part("a.json", [0], [1], **{".zattrs": '{"kept":"a"}'})
        self.part("b.json", [1], [2], **{".zattrs": '{"kept":"b","title":"b","Conventions":"CF-1.11"}'})
        said = run("combine", "a.json", "b.json", "-o", "all.nca", "--along", "t", "--format", "cfa")
        self.assertRegex(said, r"\Arefs: warning: .* left out: title of /\n\Z")

    def test_is_lost_of_attributes_that_arrays_of_later_files_of_a_master_have(self):
        def part(name, first, **attributes):
            write(name, array("t", ["t"], np.array([first], "<f8"), axis="T", **attributes),
                  array("x", ["x"], np.arange(2, dtype="<f8"), **attributes),
                  array("v", ["t", "x"], np.full((1, 2), first, "<i4"), **attributes))

        part("a.json", 0, comment="a")
        part("b.json", 1, comment="b", source="b")
        said = run("combine", "a.json", "b.json", "-o", "all.nca", "--along", "t", "--format", "cfa")
        self.assertRegex(said, r"\Arefs: warning: .* left out: source of /t, source of /x, source of /v\n\Z")

    def test_is_lost_of_values_that_another_file_calls_missing(self):
        x = np.arange(2, dtype="<f8")
        self.part("a.json", [0], [1], array("x", ["x"], x, _FillValue=0), array("h", ["z"], np.array([7, 8], "<i4"), missing_value=8))
        self.part("b.json", [1], [2], array("x", ["x"], x), array("h", ["z"], np.array([7, 8], "<i4")))
        for name in ("all.json", "all.nc"):
            self.assertIn("element 0 of x is missing and 0", run("combine", "a.json", "b.json", "-o", name, "--along", "t", status=1))
            said = run("combine", "a.json", "b.json", "-o", name, "--along", "t", "--variables", "v,h")
            self.assertIn("element 1 of h is missing and 8", said)

    def test_is_lost_of_long_integers_beside_missing_ones(self):
        """A double holds no more than 53 bits of them."""
        for dtype, missing, one, other in (("<i8", 2**60, 2**60 + 1, 2**60 + 2), ("<i8", -2**63, 1 - 2**63, 2 - 2**63),
                                           ("<u8", 2**64 - 1, 2**64 - 2, 2**64 - 3), ("<u8", 2**60, 2**60 + 1, 2**60 + 2)):
            for name in "missing_value", "_FillValue":
                with self.subTest(dtype=dtype, missing=missing, name=name):
                    told = {name: missing}
                    self.part("a.json", [0], [1], array("h", ["z"], np.array([missing, one], dtype), **told))
                    self.part("b.json", [1], [2], array("h", ["z"], np.array([missing, other], dtype), **told))
                    said = run("combine", "a.json", "b.json", "-o", "all.json", "--along", "t")
                    self.assertIn("element 1 of h is ", said)
                    self.part("b.json", [1], [2], array("h", ["z"], np.array([missing, one], dtype)))
                    said = run("combine", "a.json", "b.json", "-o", "all.json", "--along", "t")
                    self.assertIn("element 0 of h is missing and ", said)

    def filled(self, name, step, values, fill):
        """A set that declares a fill value as kerchunk does."""
        found = array("v", ["t", "x"], np.array([values], "<i2"))
        found["v/.zarray"] = found["v/.zarray"].replace('"fill_value": null', f'"fill_value": {fill}')
        write(name, array("t", ["t"], np.array([step], "<f8")), found)

    def test_is_lost_of_fragments_whose_values_the_first_calls_missing(self):
        self.filled("a.json", 0, [1, 255], 255)
        self.filled("b.json", 1, [2, 255], 0)
        self.filled("c.json", 2, [3, 255], 255)
        for names, last in (("a.json", "b.json"), 255), (("a.json", "c.json"), None):
            run("combine", *names, "-o", "all.nca", "--along", "t", "--format", "cfa")
            array = gdal.OpenEx('REFS:"all.nca"', gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("v")
            missing = array.GetNoDataValueAsDouble()
            values = [None if value == missing else value for value in array.ReadAsArray()[:, 1].tolist()]
            self.assertEqual(values, [None, last])

    def test_is_lost_of_missing_values_of_files_that_declare_others(self):
        self.filled("a.json", 0, [1, 255], 0)
        self.filled("b.json", 1, [2, 255], 255)
        for name in ("all.json", "all.nc"):
            run("combine", "a.json", "b.json", "-o", name, "--along", "t")
            dataset = gdal.Open(f'REFS:"{name}":/v')
            masks = [dataset.GetRasterBand(1).GetMaskBand().ReadAsArray()[i].tolist() for i in range(2)]
            self.assertEqual(sorted(masks), [[255, 0], [255, 255]], name)

    def test_is_lost_of_holes_where_the_fill_value_is_no_value_of_the_type(self):
        self.part("a.json", [0], [1], array("w", ["t", "x"], np.array([[1, 2]], "<u2"), _FillValue=-9999))
        self.part("b.json", [1], [2])
        run("combine", "a.json", "b.json", "-o", "all.json", "--along", "t")
        dataset = gdal.Open('REFS:"all.json":/w')
        masks = [row.tolist() for row in dataset.GetRasterBand(1).GetMaskBand().ReadAsArray()]
        self.assertEqual(sorted(masks), [[0, 0], [255, 255]])

    def test_is_lost_of_holes_where_the_fill_value_of_bytes_has_a_sign(self):
        found = array("w", ["t", "x"], np.array([[1, 2]], "|i1"), _FillValue=200)
        found["w/.zarray"] = found["w/.zarray"].replace('"fill_value": null', '"fill_value": -127')
        self.part("a.json", [0], [1], found)
        self.part("b.json", [1], [2])
        run("combine", "a.json", "b.json", "-o", "all.json", "--along", "t")
        self.assertEqual(sorted(read("all.json", "w").tolist()), [[-127, -127], [1, 2]])
        with open("all.json", encoding="utf-8") as file:
            refs = json.load(file)["refs"]
        told = [json.loads(refs["w/" + name])[key] for name, key in ((".zarray", "fill_value"), (".zattrs", "_FillValue"))]
        self.assertEqual(told, [-127, -127])

    def test_is_added_to_a_master_of_a_group_but_that_group(self):
        for step, name in enumerate(("a.json", "b.json")):
            write(name, array("t", ["t"], [float(step)]), array("u", ["t"], [5.0]), array("g/v", ["t", "x"], np.full((1, 9), step, "<f8")),
                  **{"g/.zgroup": '{"zarr_format":2}'})
        for option, path in (("--group", "v"), ("--variables", "g/v")):
            run("combine", "a.json", "-o", "all.nca", "--along", "t", option, "g" if option == "--group" else path)
            run("append", "all.nca", "b.json")
            self.assertEqual(read("all.nca", path)[:, 0].tolist(), [0, 1])
            group = gdal.OpenEx('REFS:"all.nca"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
            self.assertNotIn("u", group.GetMDArrayNames())

    def test_is_lost_of_variables_whose_fragments_are_no_sources(self):
        self.part("a.json", [0, 1], [1, 2], array("w", ["t"], np.array([3, 4], "<i4")))
        run("split", "a.json", "-o", "m.nca", "--subarray-shape", "1")
        names = sorted(os.listdir("m"))
        outline = [name for name in names if "outline" in name]
        of_w = [name for name in names if name.startswith("m.w.")]
        self.assertEqual((len(outline), len(of_w)), (1, 2), names)
        said = run("combine", *("m/" + name for name in outline + of_w), "-o", "n.nca", "--along", "t", "--format", "cfa")
        self.assertIn(f"v: left out: none of its fragments that m/{outline[0]} lists is a source", said)


class Hostile(InFolder):
    """Sets that no program writes."""

    def fragments(self, name, lengths, first, dims=("x", "x")):
        """v(t, x) of one step for each length, as an aggregation whose fragments are in the set."""
        arrays = [array("t", ["t"], np.arange(first, first + len(lengths), dtype="<f8"))]
        for i, length in enumerate(lengths):
            arrays.append(array(f"v_fragments/{i}/v", ["t", dims[i]], np.full((1, length), i, "<f4" if i == 0 else "<f8")))
        sizes = np.full((2, len(lengths)), -1, "<i4")
        sizes[0] = 1
        sizes[1, 0] = lengths[0]
        arrays.append(array("v_fragments/map", ["a", "b"], sizes))
        arrays.append(array("v_fragments/uris", ["a", "b"], np.zeros((len(lengths), 1), "|S1")))
        names = np.array([[f"v_fragments/{i}/v"] for i in range(len(lengths))], "|S15")
        arrays.append(array("v_fragments/identifiers", ["a", "b"], names))
        terms = " ".join(f"{term}: v_fragments/{term}" for term in ("map", "uris", "identifiers"))
        arrays.append(array("v", [], np.float32(0), chunks=[], aggregated_dimensions="t x", aggregated_data=terms))
        groups = {f"v_fragments{path}/.zgroup": '{"zarr_format":2}' for path in ("", "/0", "/1")}
        return write(name, *arrays, **groups)

    def test_fragments_of_other_shapes_are_refused(self):
        for lengths in ((16, 1), (16, 17), (128, 1), (1, 128)):
            self.fragments("a.json", lengths, 0)
            self.fragments("b.json", lengths, 2)
            said = run("combine", "a.json", "b.json", "-o", "all.json", "--along", "t", status=1)
            self.assertIn(f"v has different lengths along x, {lengths[0]} in a.json and {lengths[1]} in a.json: expected sources on one grid", said, lengths)
            self.assertFalse(os.path.exists("all.json"))
        self.fragments("a.json", (16, 16), 0)
        self.fragments("b.json", (16, 16), 2)
        run("combine", "a.json", "b.json", "-o", "all.json", "--along", "t")
        np.testing.assert_array_equal(read("all.json", "v"), np.repeat([[0], [1], [0], [1]], 16, axis=1))
        self.fragments("b.json", (16, 16), 2, ("x", "y"))
        said = run("combine", "a.json", "b.json", "-o", "new.json", "--along", "t", status=1)
        self.assertIn("v has different dimensions in a.json and b.json, (t 1, x 16) and (t 1, y 16)", said)
        self.assertFalse(os.path.exists("new.json"))

    def test_dimensions_without_names_are_of_one_length(self):
        for i in range(3):
            write(f"{i}.json", array("t", ["t"], np.array([i], "<f8")),
                  array("v", ["t", f"phony_dim_{i}" if i < 2 else "x"], np.full((1, 5), i, "<f4")))
        run("combine", "0.json", "1.json", "-o", "all.json", "--along", "t")
        self.assertEqual(read("all.json", "v").tolist(), [[0] * 5, [1] * 5])
        said = run("combine", "0.json", "2.json", "-o", "new.json", "--along", "t", status=1)
        self.assertIn("(t 1, phony_dim_0 5) and (t 1, x 5)", said)

    def test_fragments_without_a_map_are_refused(self):
        for name, first in (("a.json", 0), ("b.json", 2)):
            self.fragments(name, (4, 4), first)
        with open("b.json", encoding="utf-8") as file:
            found = json.load(file)
        for key in [key for key in found["refs"] if "/map/" in key]:
            del found["refs"][key]
        with open("b.json", "w", encoding="utf-8") as file:
            json.dump(found, file)
        said = run("combine", "a.json", "b.json", "-o", "all.json", "--along", "t", status=1)
        self.assertIn("but no record of their positions", said)

    def test_dimensions_without_coordinates_cost_no_memory_for_each_step(self):
        def part(name, n):
            return write(name, array("v", ["t"], np.broadcast_to(np.uint8(0), (n,)), chunks=[n]))
        part("a.json", 8 << 20)
        done = subprocess.run(["/bin/sh", "-c", 'ulimit -v 1000000; exec "$0" combine a.json a.json -o b.json --along t', REFS],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for n in (10**9, 10**15, 2**62):
            part("a.json", n)
            said = run("combine", "a.json", "a.json", "-o", "b.json", "--along", "t", status=1)
            self.assertIn("steps, expected no more than", said)

    def test_have_no_more_values_of_a_coordinate_than_are_sorted_in_bounded_memory(self):
        n = 10_000_000
        write("a.json", array("t", ["t"], np.broadcast_to(0., (n,)), chunks=[n]), array("v", ["t"], np.broadcast_to(np.uint8(0), (n,)), chunks=[n]))
        for output in ("b.json", "b.nca"):
            said = run("combine", "a.json", "a.json", "-o", output, "--along", "t", status=1)
            self.assertIn("a.json: /t: coordinate t: expected at most 67108864 bytes of values in one source, found 10000000 values", said)

    def test_have_no_more_dimensions_than_an_array_can(self):
        names = []
        for i in range(2):
            document = {"zarr_format": 2, "shape": [1] * 32, "chunks": [1] * 32, "dtype": "|u1", "fill_value": None, "order": "C",
                        "compressor": None, "filters": None}
            names.append(write(f"{i}.json", {"v/.zarray": json.dumps(document), "v/.zattrs": json.dumps(
                {"_ARRAY_DIMENSIONS": [f"d{k}" for k in range(32)]})}, array("t", [], np.float64(i))))
        self.assertIn("v: expected at most 32 dimensions, found 33",
                      run("combine", *names, "-o", "all.json", "--along", "t", status=1))

    def test_maps_are_counted_before_they_are_kept(self):
        for rank, columns in ((2, 1 << 23), (32, 1 << 22), (32, 1 << 26)):
            names = " ".join(f"d{i}" for i in range(rank))
            sizes = array("m", ["a", "b"], np.broadcast_to(np.int32(1), (rank, columns)), chunks=[rank, columns])
            sizes["m/.zarray"] = sizes["m/.zarray"].replace('"fill_value": null', '"fill_value": 1')
            write("a.json", sizes, array("u", ["c"], np.zeros(1, "<i4")),
                  array("v", [], np.int32(0), chunks=[], aggregated_dimensions=names,
                        aggregated_data="map: m unique_values: u"))
            done = subprocess.run(["/bin/sh", "-c", 'ulimit -v 1500000; exec "$0" check a.json', REFS], capture_output=True,
                                  text=True, check=False)
            self.assertGreaterEqual(done.returncode, 0)
            self.assertNotIn("memory", done.stdout + done.stderr, (rank, columns))

    def test_sets_without_steps_need_no_coordinate(self):
        def part(name, n, units, times):
            arrays = [array("v", ["t", "x"], np.zeros((n, 2), "<f4"))]
            if units:
                arrays.append(array("t", ["t"], np.array(times, "<f8"), units=units))
            return write(name, *arrays)
        part("a.json", 2, "days since 2000-01-01", [0, 1])
        part("b.json", 2, "hours since 2000-01-01", [48, 72])
        part("c.json", 0, None, [])
        run("combine", "a.json", "b.json", "c.json", "-o", "all.json", "--along", "t")
        np.testing.assert_array_equal(read("all.json", "t"), [0, 1, 2, 3])

    def test_holes_that_are_more_than_an_array_are_no_holes(self):
        axes = [array(dim, [dim], [0., 1.]) for dim in ("time", "lon")]
        for name, steps, text in (("across", [[0, 2, 0, 2], [0, 1, 0, 1]], "steps 1: expected two ascending numbers"),
                                  ("apart", [[0, 1, 0, 2], [0, 2, 1, 2]], "steps 1: expected two ascending numbers"),
                                  ("twice", [[0, 1, 0, 1], [0, 1, 0, 1]], "steps 1: expected two ascending numbers"),
                                  ("behind", [[0, 1, 1, 3]], "box 0 ends at index 3 of a dimension: expected at most 2"),
                                  ("named", [[0, 1, 0, 1]], "\"refs_holes\": along has time twice"),
                                  ("one", [[0, 2]], "steps 0: expected two ascending numbers")):
            write(f"{name}.json", *axes, array("v", ["time", "lon"], [[1., 2.], [3., 4.]]))
            with open(f"{name}.json", encoding="utf-8") as file:
                made = json.load(file)
            refs = made.get("refs", made)
            document = json.loads(refs["v/.zarray"]) if isinstance(refs["v/.zarray"], str) else refs["v/.zarray"]
            along = ["time", "time"] if name == "named" else ["time", "lon"]
            refs["v/.zarray"] = json.dumps({**document, "refs_holes": {"along": along, "steps": steps}})
            with open(f"{name}.json", "w", encoding="utf-8") as file:
                json.dump(made, file)
            done = attempt("combine", f"{name}.json", "-o", "all.json", "--along", "time", "--along", "lon")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(text, done.stderr)

    def tile(self, time, step, value):
        return write(f"{time}_{step}_{value}.json", array("time", ["time"], [float(time)]), array("step", ["step"], [float(step)]),
                     array("lead", ["time", "step"], [[float(value)]]))

    def test_holes_that_a_set_does_not_place_take_late_tiles(self):
        along = ("--along", "time", "--along", "step")
        tiles = [self.tile(time, step, 10 * time + step) for time in range(2) for step in range(2)]
        run("combine", *tiles[:3], "-q", "-o", "all.json", *along)
        with open("all.json", encoding="utf-8") as file:
            made = json.load(file)
        document = json.loads(made["refs"]["lead/.zarray"])
        self.assertEqual(document["refs_holes"]["steps"], [[1, 2, 1, 2]])
        document["refs_holes"]["steps"] = []
        made["refs"]["lead/.zarray"] = json.dumps(document)
        with open("all.json", "w", encoding="utf-8") as file:
            json.dump(made, file)
        self.assertIn(" differ between ", run("append", "all.json", self.tile(1, 0, 99), status=1))
        run("append", "all.json", tiles[3])
        np.testing.assert_array_equal(read("all.json", "lead"), [[0, 1], [10, 11]])


class Times(InFolder):
    """Times in single precision, and other units."""

    HOURS = np.arange(24, dtype="f8")

    def part(self, name, units, times, dtype):
        times = np.asarray(times).astype(dtype)
        return write(name, array("time", ["time"], times, units=units, bounds="time_bnds"),
                     array("time_bnds", ["time", "b"], np.stack([times, times], axis=-1)),
                     array("issued", ["time"], times, units=units),
                     array("v", ["time", "x"], np.zeros((len(times), 2), "<f4")))

    def seconds(self, name, variable, origin):
        dataset = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER)
        root = dataset.GetRootGroup()
        unit = root.OpenMDArrayFromFullname("/time").GetUnit().split()[0]
        values = root.OpenMDArrayFromFullname("/" + variable).ReadAsArray()
        self.assertEqual(values.dtype, "f8")
        return values * {"days": 86400, "hours": 3600, "seconds": 1}[unit] + origin

    def test_in_single_precision_become_double(self):
        day = 16436  # from 1979-01-01 to 2024-01-01
        self.part("a.json", "days since 1979-01-01", self.HOURS / 24, "<f4")
        self.part("b.json", "days since 2024-01-01", self.HOURS / 24, "<f4")
        self.part("c.json", "days since 1979-01-01", self.HOURS / 24 + 1, "<f8")
        self.part("d.json", "seconds since 2024-01-02", self.HOURS * 3600, "<f4")
        seconds = self.HOURS * 3600  # which are what the floats were rounded from
        expected = np.concatenate([seconds, seconds + 86400, seconds + day * 86400, seconds + (day + 1) * 86400])
        names = ["a.json", "b.json", "c.json", "d.json"]
        run("combine", *names, "-o", "all.json", "--along", "time")
        for variable in ("time", "time_bnds", "issued"):
            found = self.seconds("all.json", variable, 0)
            np.testing.assert_allclose(found if found.ndim == 1 else found[:, 0], expected, rtol=0, atol=1e-5)
        for first in (("a.json", "b.json"), ("d.json", "a.json"), ("c.json", "b.json"), ("b.json", "d.json")):
            rest = [name for name in names if name not in first]
            run("combine", *first, "-o", "part.json", "--along", "time")
            run("combine", *rest, "-o", "rest.json", "--along", "time")
            run("combine", "rest.json", "part.json", "-o", "again.json", "--along", "time")
            with open("all.json", "rb") as one, open("again.json", "rb") as other:
                self.assertEqual(one.read(), other.read(), first)

    def test_of_numpy_in_other_units_are_one(self):
        """datetime64 counts in units of its own: the shortest of all."""
        for name, dates, unit in (("a.json", ("2000-01-03", "2000-01-04"), "D"), ("b.json", ("2000-01-01", "2000-01-02T12"), "s"), ("c.json", ("2000-01-05",), "ms")):
            write(name, array("time", ["time"], np.array(dates, f"M8[{unit}]")), array("v", ["time", "x"], np.zeros((len(dates), 20), "<f4")))
        run("combine", "a.json", "b.json", "c.json", "-o", "all.json", "--along", "time")
        with open("all.json", encoding="utf-8") as file:
            self.assertEqual(json.loads(json.load(file)["refs"]["time/.zarray"])["dtype"], "<M8[ms]")
        found = read("all.json", "time").astype("i8").astype("M8[ms]")
        np.testing.assert_array_equal(found, np.array(("2000-01-01", "2000-01-02T12", "2000-01-03", "2000-01-04", "2000-01-05"), "M8[ms]"))
        write("d.json", array("time", ["time"], np.array(("2000-01-04",), "M8[ns]")), array("v", ["time", "x"], np.zeros((1, 20), "<f4")))
        self.assertIn("v: duplicate step 1 of time", run("combine", "a.json", "d.json", "-o", "all.json", "--along", "time", status=1))
        write("e.json", array("time", ["time"], np.array((1.,)), units="days since 2000-01-01"), array("v", ["time", "x"], np.zeros((1, 20), "<f4")))
        self.assertIn("a.json and e.json cannot be ordered along time", run("combine", "a.json", "e.json", "-o", "all.json", "--along", "time", status=1))

    def test_beyond_all_calendars_are_compared(self):
        """datetime64 has seconds of 10^11 years, of which no calendar has a date."""
        for name, day, far in (("a.json", 0, 5 * 10**18), ("b.json", 1, 6 * 10**18)):
            write(name, array("time", ["time"], np.array((day,), "i4"), units="days since 2000-01-01"),
                  array("far", ["x"], np.array((far,)).astype("M8[s]")), array("v", ["time", "x"], np.zeros((1, 20), "<f4")))
        said = run("combine", "a.json", "b.json", "-o", "all.json", "--along", "time")
        self.assertIn("far: differs between a.json and b.json, element 0 of far is 5000000000000000000 and 6000000000000000000", said)

    def forecast(self, time, step):
        """One field of a forecast, as files of GRIB are: its times are scalars."""
        return write(f"{time}_{step}.json", array("time", [], np.float64(24 * time), units="hours since 2020-01-01", standard_name="forecast_reference_time"),
                     array("step", [], np.float64(step), units="hours", standard_name="forecast_period"),
                     array("valid_time", [], np.float64(24 * time + step), units="hours since 2020-01-01", standard_name="time"),
                     array("y", ["y"], np.arange(2.), units="degrees_north"), array("x", ["x"], np.arange(3.), units="degrees_east"),
                     array("v", ["y", "x"], np.zeros((2, 3), "<f4"), coordinates="time step valid_time"))

    def test_of_forecasts_are_those_of_each_step(self):
        for along, cases in (("time", [(time, 6) for time in range(3)]), ("step", [(1, step) for step in (0, 3, 6)])):
            names = [self.forecast(*case) for case in cases]
            expected = [24 * time + step for time, step in cases]
            run("combine", *names, "-o", "all.json", "--along", along)
            self.assertEqual(read("all.json", "valid_time").tolist(), expected)
            dataset = gdal.Open('REFS:"all.json":/v')
            bands = [dataset.GetRasterBand(i + 1).GetMetadataItem("TIME") for i in range(3)]
            self.assertEqual(bands, [f"2020-01-{1 + hours // 24:02}T{hours % 24:02}:00:00" for hours in expected])
            run("combine", *names[1:], "-o", "part.json", "--along", along)
            run("combine", "part.json", names[0], "-o", "again.json", "--along", along)
            with open("all.json", "rb") as one, open("again.json", "rb") as other:
                self.assertEqual(one.read(), other.read())
            run("combine", *names[:2], "-o", "grown.json", "--along", along)
            run("append", "grown.json", names[2])
            self.assertEqual(read("grown.json", "valid_time").tolist(), expected)

    def test_of_members_and_steps_that_are_scalar_are_told_by_the_sources(self):
        names = [write(f"m{member}.f{step:03}.json", array("number", [], np.float64(member), units="1", standard_name="realization"),
                       array("step", [], np.float64(step), units="hours", standard_name="forecast_period"),
                       array("v", ["y", "x"], np.full((2, 3), 100 * member + step, "<f4"), coordinates="number step"))
                 for member in range(3) for step in (0, 6)]
        for given, expected in ((names, [[0, 6], [100, 106], [200, 206]]), (names[::2], [0, 100, 200]), (names[:2], [0, 6])):
            run("index", *given, "-o", "all.json")
            self.assertEqual(read("all.json", "v")[..., 0, 0].tolist(), expected)

    def run_of(self, time, has_axis):
        """All steps of a forecast, as one file of GRIB has them: its time is a scalar, or an axis of one element."""
        steps, dims = np.arange(0., 12., 3), ["time"] if has_axis else []
        return write(f"run{time}.json", array("time", dims, np.full([1] * has_axis, 24. * time), units="hours since 2020-01-01", standard_name="forecast_reference_time"),
                     array("step", ["step"], steps, units="hours", standard_name="forecast_period"),
                     array("valid_time", ["step"], 24. * time + steps, units="hours since 2020-01-01", standard_name="time"),
                     array("y", ["y"], np.arange(2.), units="degrees_north"), array("x", ["x"], np.arange(3.), units="degrees_east"),
                     array("v", [*dims, "step", "y", "x"], np.zeros([1] * has_axis + [4, 2, 3], "<f4"), coordinates="time valid_time"))

    def test_of_whole_forecasts_are_those_of_each_run_and_step(self):
        expected = [[24 * time + step for step in (0, 3, 6, 9)] for time in range(3)]
        for has_axis in (False, True):
            names = [self.run_of(time, has_axis) for time in range(3)]
            for along in ([], ["--along", "time"]):
                messages = run("combine", *names, "-o", "all.json", *along)
                self.assertNotIn("valid_time", messages)
                self.assertEqual(read("all.json", "valid_time").tolist(), expected)
            dataset = gdal.Open('REFS:"all.json":/v')
            self.assertEqual([dataset.GetRasterBand(i).GetMetadataItem("TIME") for i in (2, 5, 12)],
                             ["2020-01-01T03:00:00", "2020-01-02T00:00:00", "2020-01-03T09:00:00"])
            run("combine", *names[:2], "-o", "grown.json", "--along", "time")
            run("append", "grown.json", names[2])
            self.assertEqual(read("grown.json", "valid_time").tolist(), expected)
            run("combine", names[0], "-o", "one.json", "--along", "time")
            run("append", "one.json", *names[1:])
            self.assertEqual(read("one.json", "valid_time").tolist(), expected)

    def test_of_the_next_run_are_added_to_a_set_of_one_run(self):
        """A set of one run is joined along its steps; the next one differs in its reference time, whichever way it comes."""
        runs = [[self.forecast(time, step) for step in (0, 6, 12)] for time in range(3)]
        run("index", *runs[0], *runs[1], "-o", "two.json", "-q")
        for output in ("all.json", "all.parq"):
            for groups in ([runs[1]], [runs[1][::-1]], [[name] for name in runs[1]], [runs[1][:1], runs[1][1:]]):
                with self.subTest(output=output, groups=groups):
                    run("index", *runs[0], "-o", output)
                    for group in groups:
                        self.assertNotIn("aggregation", run("append", output, *group))
                    self.assertEqual(attempt("diff", output, "two.json").stdout, "")
                    self.assertEqual(read(output, "valid_time").tolist(), [[0, 6, 12], [24, 30, 36]])
                    self.assertEqual(read(output, "time").tolist(), [0, 24])
                    run("append", output, *runs[2])
                    self.assertEqual(read(output, "valid_time").tolist(), [[0, 6, 12], [24, 30, 36], [48, 54, 60]])
        run("index", *runs[0], "-o", "named.json")
        run("append", "named.json", *runs[1], "--along", "time", "--along", "step")
        with open("two.json", "rb") as one, open("named.json", "rb") as other:
            self.assertEqual(one.read(), other.read())
        run("index", *runs[0][:2], "-o", "late.json")
        run("append", "late.json", runs[0][2], runs[1][0])
        self.assertEqual(read("late.json", "time").tolist(), [0, 24])

    def test_of_the_next_run_are_found_among_sources_in_any_order(self):
        runs = [[self.forecast(time, step) for step in (0, 6, 12, 18)] for time in range(2)]
        expected = [[0, 6, 12, 18], [24, 30, 36, 42]]
        for mixed in ([runs[0][2], *runs[1], runs[0][3]], [runs[0][2], *runs[1][::-1], runs[0][3]], [*runs[1][:2], runs[0][2], *runs[1][2:], runs[0][3]]):
            run("index", *runs[0][:2], "-o", "all.json")
            run("append", "all.json", *mixed)
            self.assertEqual(read("all.json", "valid_time").tolist(), expected)
            self.assertEqual(read("all.json", "time").tolist(), [0, 24])

    def test_of_another_run_between_sources_are_found(self):
        """The first and the last are of one run, and their coordinates those of all but one."""
        names = [self.forecast(0, 0), self.forecast(1, 6), self.forecast(0, 12)]
        self.assertIn("(3 of 6 tiles): values are missing there", run("index", *names, "-o", "all.json"))
        run("index", *names, "-q", "--along", "time", "--along", "step", "-o", "named.json")
        with open("all.json", "rb") as one, open("named.json", "rb") as other:
            self.assertEqual(one.read(), other.read())
        self.assertEqual(read('all.json', "v").shape, (2, 3, 2, 3))
        run("index", *names, "-q", "--along", "step", "-o", "named.json")
        self.assertEqual(read("named.json", "v").shape, (3, 2, 3))
        self.assertIn("differ, and are not tiles of one grid along time, step: name the concat dimensions (--along time --along step, or fewer)", run("index", *names[:2], "-o", "two.json", status=1))

    def test_of_runs_with_some_lead_times_in_common_need_both_dimensions(self):
        """No two have the same run, so that runs might follow from lead times: no advice to remove one."""
        names = [write(f"run{run_time}.json", array("run", [], np.float64(run_time), units="hours since 2020-01-01", standard_name="forecast_reference_time"),
                       array("step", ["step"], np.arange(float(n)), units="hours", standard_name="forecast_period"),
                       array("v", ["step", "x"], np.full((n, 20), run_time, "<f4"), chunks=[1, 20], coordinates="run")) for run_time, n in ((0, 2), (12, 3))]
        said = run("index", *names, "-o", "all.json", status=1).splitlines()[-1]
        self.assertIn("run: differs between run0.json and run12.json, step 0 of step (", said)
        run("index", *names, *said[said.rindex("(") + 1:-1].split(), "-o", "all.json")
        self.assertEqual(read("all.json", "v").shape, (2, 3, 20))

    def test_of_longitudes_a_turn_apart_are_not_tiles(self):
        def part(name, time, first):
            return write(name, array("time", ["time"], np.array([time], "f8"), units="days since 2020-01-01"),
                         array("lat", ["lat"], np.arange(2.), units="degrees_north"), array("lon", ["lon"], first + np.arange(4.), units="degrees_east"),
                         array("v", ["time", "lat", "lon"], np.zeros((1, 2, 4), "<f4")))

        names = [part("a.json", 0, 5), part("b.json", 1, 5), part("c.json", 2, 365)]
        self.assertIn("lon of a.json (5 to 8, 4 values) and of c.json (365 to 368, 4 values) differ by 360: write one range of longitudes into all sources, "
                      "or leave one of them out\n", run("index", *names, "-o", "all.json", status=1))

    def test_of_runs_with_another_lead_time_each_need_both_dimensions(self):
        """A set that kept the lead time of the first run would take fields of another run in place of those that it has."""
        def part(time, step, kind, values):
            return write(f"{kind}{time}_{step}.json", array("time", ["time"], np.array([time], "f8"), units="hours since 2020-01-01", standard_name="forecast_reference_time"),
                         array("other", [], np.float64(step), **values),
                         array("y", ["y"], np.arange(2.), units="degrees_north"), array("x", ["x"], np.arange(3.), units="degrees_east"),
                         array("v", ["time", "y", "x"], np.full((1, 2, 3), time + step, "<f4"), coordinates="other"))

        for kind, values in (("step", {"units": "hours", "standard_name": "forecast_period"}),
                             ("number", {"units": "1", "standard_name": "realization"}),
                             ("level", {"units": "hPa", "standard_name": "air_pressure"})):
            names = [part(0, 3, kind, values), part(24, 6, kind, values), part(0, 6, kind, values), part(24, 3, kind, values)]
            for output in ("two.json", "two.nc"):
                said = run("index", *names[:2], "--along", "time", "-o", output, status=1)
                self.assertIn(f"other: differs between {names[0]} and {names[1]}, element 0 of other is 3 and 6, but they are combined along time "
                              "alone: name all dimensions (--along time --along other)", said)
            both = ["--along", "other", "--along", "time"] if kind == "number" else ["--along", "time", "--along", "other"]
            for of in (names[:2], [*names[:2], part(48, 12, kind, values)]):  # no two have the same value
                n = len(of) ** 2
                self.assertIn(f"({n - len(of)} of {n} tiles): values are missing there", run("index", *of, "-o", "all.json"))
                run("index", *of, *both, "-o", "named.json", "-q")
                with open("all.json", "rb") as one, open("named.json", "rb") as other:
                    self.assertEqual(one.read(), other.read())
                run("index", *of, "-o", "all.nc")
                run("index", of[0], "-o", "grown.json")
                run("append", "grown.json", *of[1:])
                with open("all.json", "rb") as one, open("grown.json", "rb") as other:
                    self.assertEqual(one.read(), other.read())
            both = ["--along", "time", "--along", "other"]
            run("index", *names[:2], *both, "-o", "two.json")
            self.assertEqual(np.ma.filled(np.ma.masked_greater(read("two.json", "v")[..., 0, 0], 1e30), -1).tolist(), [[3, -1], [-1, 30]])
            run("append", "two.json", *names[2:])
            self.assertEqual(read("two.json", "v")[..., 0, 0].tolist(), [[3, 27], [6, 30]])
            run("index", names[0], part(24, 3, kind, values), "-o", "equal.json")
            self.assertEqual(read("equal.json", "other").tolist(), 3)

    def levels(self, name, step, level, variables):
        return write(name, array("step", [], np.float64(step), units="hours", standard_name="forecast_period"),
                     array("level", [], np.float64(level), units="hPa", standard_name="air_pressure"),
                     array("y", ["y"], np.arange(2.), units="degrees_north"), array("x", ["x"], np.arange(3.), units="degrees_east"),
                     *[array(variable, ["y", "x"], np.full((2, 3), level + step, "<f8"), coordinates="step level") for variable in variables])

    def test_of_levels_are_those_of_each_variable_whichever_sources_lack_others(self):
        """A level belongs to variables: those that both of two sources have tell whether it differs. With one step for all, the first
        and the last source have to have one in common."""
        for kinds in (("tu", "u"), ("tu", "t"), ("tu", "tu", "u"), ("tu", "u", "t"), ("t", "tu", "tu"), ("t", "u", "u"), ("t", "u", "tu"), ("u", "t", "tu", "t")):
            found = set()
            for one_step in (True, False):
                names = [self.levels(f"{i}.json", 0 if one_step else 3 * i, 1000 - 100 * i, kind) for i, kind in enumerate(kinds)]
                for order in itertools.permutations(names):
                    if one_step and not set(kinds[names.index(order[0])]) & set(kinds[names.index(order[-1])]):
                        continue
                    run("index", *order, "-q", "-o", "all.json")
                    self.assertEqual(read("all.json", "level").tolist(), sorted(1000 - 100 * i for i in range(len(kinds))), (kinds, order))
                    values = read("all.json", kinds[-1][0])
                    self.assertEqual(values.ndim, 3 if one_step else 4)
                    found.add(tuple(sorted(set(values[values < 1e30].ravel().tolist()))))
            self.assertEqual(len(found), 2, kinds)

    def test_of_scalars_are_those_of_each_variable_whatever_their_names(self):
        """A level or member belongs to the variables whose attribute names it: it is no dimension where names differ, and is never lost."""
        def part(name, time, scalars, variables, kind):
            return write(name, array("time", ["time"], np.array([time], "f8"), units="hours since 2020-01-01", standard_name="time"),
                         *[array(scalar, [], np.float64(value), **kind) for scalar, value in scalars.items()],
                         array("y", ["y"], np.arange(2.), units="degrees_north"), array("x", ["x"], np.arange(3.), units="degrees_east"),
                         *[array(variable, ["time", "y", "x"], np.full((1, 2, 3), time, "<f8"), **({"coordinates": names} if names else {}))
                           for variable, names in variables.items()])

        for kind, units in (({"units": "hPa", "standard_name": "air_pressure"}, " hPa"), ({"units": "1", "standard_name": "realization"}, "")):
            a = part("a.json", 0, {"lev": 5}, {"t": "lev", "r": "lev"}, kind)
            more = part("more.json", 3, {"lev": 5}, {"t": "lev", "r": "lev"}, kind)
            cases = (({"lev": 5, "lev_2": 8}, {"t": "lev", "r": "lev_2"}, f"r: lev is 5{units} in a.json, but lev_2 is 8{units} in b.json"),
                     ({"lev_b": 8}, {"t": "lev_b", "r": "lev_b"}, f"lev is 5{units} in a.json, but lev_b is 8{units} in b.json"),
                     ({"lev": 5}, {"t": "lev", "r": None}, f"r: lev is 5{units} in a.json, but it has no such coordinate in b.json"),
                     ({}, {"t": None, "r": None}, f"lev is 5{units} in a.json, but it has no such coordinate in b.json"))
            for scalars, variables, said in cases:
                b = part("b.json", 1, scalars, variables, kind)
                for output in ("all.json", "all.nc"):
                    self.assertIn(f"{said}: combine sources in which it has one coordinate of this kind, of one name, or leave it out (--variables)",
                                  run("index", a, b, "-o", output, status=1))
                run("index", b, more, a, "-o", "all.json", status=1)
                run("index", a, "-o", "grown.json")
                run("append", "grown.json", b, "--along", "time", status=1)
            run("index", a, part("b.json", 1, {"lev_b": 5}, {"t": "lev_b", "r": "lev_b"}, kind), "-o", "all.json")
            run("index", a, part("b.json", 1, {"lev": 5, "lev_2": 8}, {"t": "lev", "r": "lev_2"}, kind), "-v", "t", "-o", "all.json")
            two = part("two.json", 0, {"lev": 5, "lev_2": 8}, {"t": "lev", "r": "lev lev_2"}, kind)
            run("index", two, part("b.json", 1, {"lev": 5, "lev_2": 8}, {"t": "lev", "r": "lev_2 lev"}, kind), "-o", "all.json")
            said = run("index", two, part("b.json", 1, {"lev": 6, "lev_2": 8}, {"t": "lev", "r": "lev_2 lev"}, kind), "--along", "time", "-o", "all.json", status=1)
            self.assertIn("lev: differs between two.json and b.json, element 0 of lev is 5 and 6, but they are combined along time alone", said)
            # another scalar has the name of a dimension
            said = run("index", a, part("b.json", 0, {"lev": 6, "lev_2": 8}, {"t": "lev", "r": "lev_2"}, kind), "-o", "all.json", status=1)
            self.assertIn(f"r: lev is 6{units} in b.json, but lev_2 is 8{units} in b.json", said)

    def test_of_scalars_that_one_source_has_without_units_are_still_needed_in_the_rest(self):
        """A coordinate without units is compared by its name, and excuses no source without any."""
        def part(name, time, coordinates, *scalar):
            return write(name, array("time", ["time"], np.array([time], "f8"), units="hours since 2020-01-01", standard_name="time"),
                         *scalar, array("y", ["y"], np.arange(2.), units="degrees_north"), array("x", ["x"], np.arange(3.), units="degrees_east"),
                         array("t", ["time", "y", "x"], np.full((1, 2, 3), time, "<f8"), **coordinates))

        level = part("level.json", 0, {"coordinates": "lev"}, array("lev", [], np.float64(5), units="hPa"))
        other = part("other.json", 1, {"coordinates": "lev"}, array("lev", [], np.float64(5)))
        none = part("none.json", 2, {})
        run("index", level, other, "-q", "--along", "time", "-o", "all.json")
        for order in itertools.permutations((level, other, none)):
            self.assertIn("t: lev is 5 hPa in level.json, but it has no such coordinate in none.json",
                          run("index", *order, "--along", "time", "-o", "all.json", status=1), order)

    def test_of_levels_of_other_variables_have_names_of_their_own(self):
        """The height of temperature is not that of wind, whose sources call it the same: names are in the order of values."""
        def part(name, time, heights, of, group="", more=()):
            return write(name, array("time", ["time"], np.array([time], "f8"), units="hours since 2020-01-01", standard_name="time"),
                         *[array(os.path.normpath(group + height), [], np.float64(value), units="m", standard_name="height", **{k: v for k, v in more})
                           for height, value in heights.items()],
                         array("y", ["y"], np.arange(2.), units="degrees_north"), array("x", ["x"], np.arange(3.), units="degrees_east"),
                         *[array(os.path.normpath(group + variable), ["time", "y", "x"], np.full((1, 2, 3), time, "<f8"), coordinates=f"time {names}")
                           for variable, names in of.items()])

        def seen(group=""):
            with open("all.json") as file:
                refs = json.load(file)
            refs = refs.get("refs", refs)
            found = {}
            for variable in "tas", "uas", "wsgs":
                if f"{group}{variable}/.zattrs" in refs:
                    names = json.loads(refs[f"{group}{variable}/.zattrs"])["coordinates"].split()
                    found[variable] = [(name, read("all.json", group + name).tolist()) for name in names if name != "time"]
            return found

        tas = [part(f"tas{i}.json", i, {"height": 2}, {"tas": "height"}) for i in range(2)]
        uas = [part(f"uas{i}.json", i, {"height": 10}, {"uas": "height"}) for i in range(2)]
        both = part("both.json", 2, {"height": 10, "height_2": 50}, {"uas": "height", "wsgs": "height_2"})
        for order in itertools.permutations([*tas, *uas]):
            run("index", *order, "--along", "time", "-q", "-o", "all.json")
            self.assertEqual(seen(), {"tas": [("height", 2)], "uas": [("height_2", 10)]}, order)
        for order in itertools.permutations([*tas, uas[0], both]):
            run("index", *order, "--along", "time", "-q", "-o", "all.json")
            self.assertEqual(seen(), {"tas": [("height", 2)], "uas": [("height_2", 10)], "wsgs": [("height_3", 50)]}, order)
        # a name that is another array's
        other = part("other.json", 0, {"height": 10, "height_2": 7}, {"uas": "height"})
        run("index", *tas, other, "--along", "time", "-q", "-o", "all.json")
        self.assertEqual(seen(), {"tas": [("height", 2)], "uas": [("height_3", 10)]})
        # groups
        run("index", part("g0.json", 0, {"height": 2}, {"tas": "height"}, "g/"), part("g1.json", 1, {"height": 10}, {"uas": "height"}, "g/"),
            "--along", "time", "-q", "-o", "all.json")
        self.assertEqual(seen("g/"), {"tas": [("height", 2)], "uas": [("height_2", 10)]})
        # another group has a height of its own, which stays what it is
        other = {"../k/wsgs": "height"}
        run("index", part("g0.json", 0, {"height": 2, "../k/height": 7}, {"tas": "height", **other}, "g/"),
            part("g1.json", 1, {"height": 10, "../k/height": 7}, {"uas": "height", **other}, "g/"), "--along", "time", "-q", "-o", "all.json")
        self.assertEqual(seen("g/"), {"tas": [("height", 2)], "uas": [("height_2", 10)]})
        self.assertEqual(seen("k/"), {"wsgs": [("height", 7)]})
        # a dimension that is named
        run("index", tas[0], uas[0], "--along", "height", "-q", "-o", "all.json")
        self.assertEqual(read("all.json", "height").tolist(), [2, 10])
        # masters have the names that sets have
        for order in itertools.permutations([*tas, *uas]):
            run("index", *order, "--along", "time", "-q", "-o", "all.nc")
            for name, value in (("height", 2), ("height_2", 10)):
                self.assertEqual(read("all.nc", name), value)
            with netCDF4.Dataset("all.nc") as file:
                self.assertEqual((file["tas"].coordinates, file["uas"].coordinates), ("time height", "time height_2"))

    def test_of_levels_beside_one_of_another_variable_are_dimensions_of_those_that_have_them(self):
        """As in a file of GRIB with fields at a pressure, and temperature at 2 m: what the message says works."""
        names = []
        for step, level in itertools.product((0, 6), (500, 850)):
            names.append(write(f"{step}_{level}.json", array("step", [], np.float64(step), units="hours", standard_name="forecast_period"),
                               array("isobaric", [], np.float64(level), units="hPa"), array("height", [], np.float64(2), units="m", standard_name="height"),
                               *[array(name, ["x"], np.full(3, level + step + i, "f8"), coordinates=f"step {coordinate}")
                                 for i, (name, coordinate) in enumerate((("t", "isobaric"), ("u", "isobaric"), ("t2m", "height")))]))
        said = run("index", *names, "--along", "step", "-o", "all.json", status=1)
        self.assertIn("name all dimensions (--along step --along isobaric --variables t --variables u)\n", said)
        run("index", *names, *said[said.rindex("(") + 1:-2].split(), "-o", "all.json")
        for i, name in enumerate("tu"):
            self.assertEqual(read("all.json", name)[..., 0].tolist(), [[step + level + i for level in (500, 850)] for step in (0, 6)])
        write("height.json", array("step", [], np.float64(6), units="hours", standard_name="forecast_period"),
              array("t2m", ["x"], np.zeros(3), coordinates="step"))
        self.assertRegex(run("index", names[0], "height.json", "--along", "step", "--along", "isobaric", "-o", "all.json", status=1),
                         "cannot be ordered along isobaric: .* none in height.json: ")

    def axes_part(self, i, axes):
        name = f"{i}.nc"
        with netCDF4.Dataset(name, "w") as file:
            for dim, n in (("time", 1), ("x", 40), ("b", 2)):
                file.createDimension(dim, n)
            time = file.createVariable("time", "f8", ("time",))
            time.units, time[:] = "hours since 2000-01-01", i
            for variable, (axis, values) in axes.items():
                file.createDimension(axis, len(values))
                level = file.createVariable(axis, "f8", (axis,))
                level.setncatts({"units": "m", "positive": "up", "bounds": axis + "_bnds"})
                level[:] = values
                file.createVariable(axis + "_bnds", "f8", (axis, "b"))[:] = np.stack([values, values], 1)
                file.createVariable(variable, "f4", ("time", axis, "x"))[:] = i
        return name

    def test_of_axes_that_are_numbered_otherwise_are_those_of_each_variable(self):
        u, v = np.arange(10., 40), np.arange(3.)
        names = [self.axes_part(0, {"u": ("lev", u), "v": ("lev_2", v)}), self.axes_part(1, {"u": ("lev_2", u), "v": ("lev", v)}),
                 self.axes_part(2, {"u": ("lev", u), "v": ("lev_2", v)}), self.axes_part(3, {"v": ("lev", v)})]
        expected = {"lev": v.tolist(), "lev_2": u.tolist(), "lev_bnds": [[x, x] for x in v], "lev_2_bnds": [[x, x] for x in u]}
        for output, verb, *more in (("all.json", "index"), ("all.nc", "index"), ("all.nca", "combine", "--format", "cfa")):
            for first in 1, 2, 4:
                with self.subTest(output=output, first=first):
                    run(verb, *names[:first], *(["--along", "time"] if first == 1 else []), "-q", "-o", output, *more)
                    for name in names[first:]:
                        run("append", "-q", output, name)
                    self.assertEqual({name: read(output, name).tolist() for name in expected}, expected)
                    for variable, n, axis in (("u", 3, "lev_2"), ("v", 4, "lev")):
                        array = gdal.OpenEx(f'REFS:"{output}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray(variable)
                        self.assertEqual([dim.GetName() for dim in array.GetDimensions()], ["time", axis, "x"])
                        self.assertEqual(array.ReadAsArray()[:n, -1, 0].tolist(), list(range(n)))
                    os.remove(output)

    def test_of_axes_of_other_variables_need_another_name(self):
        first = self.axes_part(0, {"u": ("lev", [10., 20.])})
        for values in [1., 2.], [1., 2., 3.]:
            for output in "all.json", "all.nc":
                said = run("index", first, self.axes_part(1, {"v": ("lev", values)}), "--along", "time", "-q", "-o", output, status=1)
                self.assertIn("; levels of other variables need an axis of another name (lev_2)", said)

    def field(self, time, step, number):
        return write(f"h{time}_{step}_{number}.json",
                     array("time", [], np.float64(24 * time), units="hours since 2020-01-01", standard_name="forecast_reference_time"),
                     array("step", [], np.float64(step), units="hours", standard_name="forecast_period"),
                     array("number", [], np.float64(number), units="1", standard_name="realization"),
                     array("valid_time", [], np.float64(24 * time + step), units="hours since 2020-01-01", standard_name="time"),
                     array("y", ["y"], np.arange(2.), units="degrees_north"), array("x", ["x"], np.arange(3.), units="degrees_east"),
                     array("v", ["y", "x"], np.full((2, 3), 100 * number + 10 * time + step, "<f8"), coordinates="time step number valid_time"))

    def test_of_groups_with_missing_tiles_are_those_of_all_sources(self):
        """Dimensions along which a set records missing tiles are those of what it is combined to."""
        first = [self.field(0, 0, 0), self.field(0, 3, 0), self.field(1, 3, 0)]
        second = [self.field(time, step, 1) for time in range(2) for step in (0, 3)]
        made = set()
        run("index", *first, "-q", "-o", "h0.json")
        run("index", *second, "-q", "-o", "h1.json")
        for groups in (("h0.json", "h1.json"), ("h1.json", "h0.json")):
            said = run("combine", *groups, "-o", "all.json")
            self.assertNotIn("aggregation", said)
            self.assertNotIn("differs", said)
            self.assertEqual(np.ma.filled(np.ma.masked_greater(read("all.json", "v")[..., 0, 0], 1e30), -1).tolist(), [[[0, 3], [-1, 13]], [[100, 103], [110, 113]]])
            self.assertEqual(read("all.json", "valid_time").tolist(), [[0, 3], [24, 27]])
            with open("all.json", "rb") as file:
                made.add(file.read())
        self.assertEqual(len(made), 1)

    def places(self, name):
        """The value at each run, lead time and member, whatever the order of the dimensions."""
        root = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        v = root.OpenMDArray("v")
        dims = [dim.GetName() for dim in v.GetDimensions()][:-2]
        found = {}
        for index, value in np.ndenumerate(v.ReadAsArray()[..., 0, 0]):
            at = {axis: root.OpenMDArray(axis).ReadAsArray().ravel()[index[dims.index(axis)] if axis in dims else 0] for axis in ("time", "step", "number")}
            valid = root.OpenMDArray("valid_time")
            valid_at = tuple(index[dims.index(dim.GetName())] for dim in valid.GetDimensions() or [])
            if value < 1e30:
                self.assertEqual(valid.ReadAsArray()[valid_at], at["time"] + at["step"], (name, at))
                found[int(at["time"]) // 24, int(at["step"]), int(at["number"])] = int(value)
        return found

    def test_of_runs_that_lie_along_lead_times_hold_for_all_levels(self):
        """A set that has one run for each lead time has no place for another run of a lead time, on whatever level."""
        def part(time, step, level):
            return write(f"r{time}_{step}_{level}.json",
                         array("time", [], np.float64(time), units="hours since 2020-01-01", standard_name="forecast_reference_time"),
                         array("step", ["step"], np.array([step], "f8"), units="hours", standard_name="forecast_period"),
                         array("level", ["level"], np.array([level], "f8"), units="hPa", standard_name="air_pressure"),
                         array("y", ["y"], np.arange(2.), units="degrees_north"), array("x", ["x"], np.arange(3.), units="degrees_east"),
                         array("v", ["step", "level", "y", "x"], np.full((1, 1, 2, 3), time + step, "<f4"), coordinates="time"))

        run("index", part(0, 0, 1000), part(24, 6, 1000), "-o", "all.json")
        self.assertEqual(read("all.json", "time").tolist(), [0, 24])
        said = run("append", "all.json", part(24, 0, 500), status=1)
        self.assertIn("time: differs between r24_0_500.json and all.json, step 0 of step (0), but they are combined along step, level alone: name all dimensions", said)
        run("append", "all.json", part(0, 0, 500))
        self.assertEqual(read("all.json", "time").tolist(), [0, 24])

    def test_of_complete_groups_are_those_of_all_sources(self):
        """A group has a dimension as an axis where another has it as a scalar, or has one time for all its lead times."""
        cases = [[(0, 0, 0), (0, 3, 0)], [(1, 0, 0), (1, 3, 0)], [(2, 0, 0), (0, 6, 0), (2, 3, 0), (1, 0, 1)]]
        for order in ((0, 1, 2), (0, 2, 1), (1, 2, 0), (2, 1, 0)):  # run, lead time and member of what is run and lead time
            swapped = [[tuple(case[i] for i in order) for case in group] for group in cases]
            for ending in ("json", "parq"):
                for i, group in enumerate(swapped[:2]):
                    run("index", *[self.field(*case) for case in group], "-q", "-o", f"g{i}.{ending}")
                for groups in ((0, 1), (1, 0)):
                    run("combine", *[f"g{i}.{ending}" for i in groups], "-o", f"all.{ending}")
                    done = swapped[0] + swapped[1]
                    for more in swapped[2]:
                        self.assertEqual(self.places(f"all.{ending}"), {case: 100 * case[2] + 10 * case[0] + case[1] for case in done})
                        run("append", f"all.{ending}", self.field(*more))
                        done = [*done, more]
                    self.assertEqual(self.places(f"all.{ending}"), {case: 100 * case[2] + 10 * case[0] + case[1] for case in done})

    def test_of_sources_in_any_order_are_one(self):
        """Sources that list their coordinates in different orders."""
        def part(number, order, time, level, member):
            scalars = {"time": (24 * time, {"units": "hours since 2020-01-01"}), "level": (level, {"units": "hPa", "standard_name": "air_pressure"}),
                       "member": (member, {"units": "1", "standard_name": "realization"})}
            return write(f"o{number}.json", *[array(name, [], np.float64(scalars[name][0]), **scalars[name][1], comment=str(number)) for name in order],
                         array("y", ["y"], np.arange(2.), units="degrees_north"), array("x", ["x"], np.arange(3.), units="degrees_east"),
                         array("v", ["y", "x"], np.full((2, 3), 100 * time + level + member, "<f8"), coordinates=" ".join(order)),
                         array("w", ["y", "x"], np.full((2, 3), 100 * time + level + member, "<f8"), coordinates=" ".join(order)))

        cases = list(itertools.product((0, 1), (850, 500), (0, 1)))
        orders = list(itertools.permutations(("time", "level", "member")))
        names = [part(i, orders[i % 6], *case) for i, case in enumerate(cases)]
        for output in ("all.json", "all.nc"):
            made = set()
            for seed in range(6):
                run("index", *random.Random(seed).sample(names, len(names)), "-q", "-o", output)
                made.add(str(self.content(output)))
            self.assertEqual(len(made), 1, made)

    def content(self, name):
        """The arrays, with their dimensions and their values."""
        root = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        arrays = [root.OpenMDArray(array) for array in root.GetMDArrayNames()]
        return [(array.GetName(), [dim.GetName() for dim in array.GetDimensions() or []], [attribute.Read() for attribute in array.GetAttributes()],
                 np.asarray(array.ReadAsArray()).tolist()) for array in arrays]

    def test_of_groups_may_spell_a_fill_value_differently(self):
        """JSON of other programs spells numbers as these do."""
        def part(name, time, fill, dtype):
            write(name, array("time", ["time"], np.array([time], "f8"), units="hours since 2020-01-01"),
                  array("v", ["time", "x"], np.arange(20, dtype=dtype).reshape(1, 20)))
            with open(name, encoding="utf-8") as file:
                refs = json.load(file)
            refs["refs"]["v/.zarray"] = refs["refs"]["v/.zarray"].replace("null", fill, 1)
            with open(name, "w", encoding="utf-8") as file:
                json.dump(refs, file)
            return name

        for dtype, other, is_one in (("<f8", "9.969209968386869e+36", True), ("<f8", "9.96921e36", False), ("<f4", "9.96921e36", True)):
            names = [part("a.json", 0, "9.969209968386869e36", dtype), part("b.json", 1, other, dtype)]
            self.assertEqual("aggregation" not in run("index", *names, "-o", "all.json"), is_one, (dtype, other))

    def test_of_groups_that_fill_the_missing_tiles_of_each_other_are_those_of_all_sources(self):
        groups = [self.field(0, 0, 0), self.field(1, 0, 0), self.field(2, 3, 0)], [self.field(0, 3, 0), self.field(1, 3, 0), self.field(2, 0, 0)]
        run("index", *groups[0], *groups[1], "-q", "-o", "all.json")
        for i, group in enumerate(groups):
            run("index", *group, "-q", "-o", f"g{i}.json")
        for names in (("g0.json", "g1.json"), ("g1.json", "g0.json")):
            run("combine", *names, "-q", "-o", "again.json")
            self.assertEqual(attempt("diff", "again.json", "all.json").stdout, "")
            self.assertEqual(read("again.json", "v")[..., 0, 0].tolist(), [[0, 3], [10, 13], [20, 23]])
            self.assertEqual(read("again.json", "valid_time").tolist(), [[0, 3], [24, 27], [48, 51]])

    def test_of_lead_times_follow_from_the_times_for_which_forecasts_are(self):
        """A set that kept the lead time of the first would state it for the fields of all others."""
        def part(time, lead, **own):
            return write(f"{time}.json", array("time", ["time"], np.array([time], "f8"), units="hours since 2020-01-01", standard_name="time"),
                         array("lead", [], np.float64(lead), units="hours", standard_name="forecast_period"),
                         array("y", ["y"], np.arange(2.), units="degrees_north"), array("x", ["x"], np.arange(3.), units="degrees_east"),
                         array("v", ["time", "y", "x"], np.full((1, 2, 3), time, "<f4"), coordinates="lead"), **own)

        names = [part(time, time % 24) for time in (21, 24, 27, 30)]
        for along in ([], ["--along", "time"]):
            for output in ("all.json", "all.parq", "all.nc"):
                self.assertNotIn("keeping the first", run("index", *names, *along, "-o", output))
                self.assertEqual(read(output, "lead").tolist(), [21, 0, 3, 6], output)
                self.assertEqual(read(output, "time").tolist(), [21, 24, 27, 30])
                if output == "all.nc":
                    os.remove(output)
        run("index", *names, "-o", "all.json")
        run("index", *names[:2], "-o", "grown.json")
        for name in names[2:]:
            run("append", "grown.json", name)
        self.assertEqual(read("grown.json", "lead").tolist(), [21, 0, 3, 6])
        self.assertEqual(attempt("diff", "all.json", "grown.json").stdout, "")
        run("index", names[0], "-o", "one.json", "--along", "time")
        run("append", "one.json", *names[1:])
        self.assertEqual(read("one.json", "lead").tolist(), [21, 0, 3, 6])
        run("index", *(part(time, 3) for time in (0, 1)), "-o", "equal.json")
        self.assertEqual(read("equal.json", "lead").tolist(), 3)

    def test_of_lead_times_that_are_axes_are_added_to_runs(self):
        """The axis of each file is that of its own lead times, and its reference time a number, whose name netCDF-4 may hide."""
        for name in ("time", "_nc4_non_coord_time"):
            files = {(time, first): self.steps_of(time, (first, first + 6), name) for time in range(2) for first in (0, 12)}
            run("index", *(files[key] for key in sorted(files)), "-q", "-o", "once.json")
            self.assertEqual(read("once.json", "valid_time").tolist(), [[0, 6, 12, 18], [24, 30, 36, 42]])
            self.assertEqual(read("once.json", "time").tolist(), [0, 24])
            orders = ([(0, 0), (1, 0)], [(0, 12), (1, 12)]), ([(0, 0), (0, 12)], [(1, 0), (1, 12)]), ([(0, 0)], [(0, 12)], [(1, 0)], [(1, 12)])
            for groups in orders:
                run("index", *(files[key] for key in groups[0]), "-o", "grown.json")
                for group in groups[1:]:
                    run("append", "grown.json", *(files[key] for key in group))
                self.assertEqual(attempt("diff", "grown.json", "once.json").stdout, "")
                for variable in ("v", "time", "step", "valid_time"):
                    np.testing.assert_array_equal(read("grown.json", variable), read("once.json", variable))

    def steps_of(self, time, steps, name):
        steps = np.array(steps, "f8")
        values = 1000 * time + steps[:, None, None] + np.arange(6).reshape(2, 3) / 10
        return write(f"{name}{time}_{int(steps[0])}.json",
                     array(name, [], np.float64(24 * time), units="hours since 2020-01-01", standard_name="forecast_reference_time"),
                     array("step", ["step"], steps, units="hours", standard_name="forecast_period"),
                     array("valid_time", ["step"], 24 * time + steps, units="hours since 2020-01-01", standard_name="time"),
                     array("y", ["y"], np.arange(2.), units="degrees_north"), array("x", ["x"], np.arange(3.), units="degrees_east"),
                     array("v", ["step", "y", "x"], values.astype("<f4"), coordinates="time valid_time"))

    def test_of_forecasts_are_the_same_however_they_come(self):
        """Members, runs and lead times, at once in any order or one by one: each field has its place."""
        fields = list(itertools.product(range(2), range(2), (0, 6)))
        for seed in range(12):
            chosen = random.Random(seed)
            order = chosen.sample(fields, len(fields))
            names = [self.member(*field[1:], field[0]) for field in order]
            run("index", *names, "-q", "-o", "once.json")
            made = ["once.json"]
            if sum(a != b for a, b in zip(order[0], order[1])) == 1:
                run("index", *names[:2], "-q", "-o", "grown.json")
                for name in names[2:]:
                    run("append", "grown.json", name, "-q")
                made.append("grown.json")
            for output in made:
                dataset = gdal.OpenEx(f'REFS:"{output}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("v")
                dims = [dim.GetName() for dim in dataset.GetDimensions()]
                found = dataset.ReadAsArray().transpose([dims.index(dim) for dim in ("number", "time", "step", "y", "x")])
                for number, time, step in fields:
                    self.assertEqual(found[number, time, step // 6].tolist(), [[100 * time + step + number] * 3] * 2, (seed, order, output))

    def test_that_cannot_be_read_leave_their_source_out_where_that_is_allowed(self):
        """The source opens, first, last or between others, and tells nothing."""
        names = [self.forecast(0, step) for step in (0, 6, 12)]
        with open(self.forecast(1, 0), encoding="utf-8") as file:
            refs = json.load(file)
        refs.get("refs", refs)["time/0"] = ["lost.bin", 0, 8]
        torn = write("torn.json", refs.get("refs", refs))
        for place in range(4):
            given = names[:place] + [torn] + names[place:]
            self.assertIn("lost.bin", run("index", *given, "-o", "all.json", status=1))
            self.assertIn("left out: torn.json", run("index", *given, "-o", "all.json", "--skip-errors", status=1))
            self.assertEqual(read("all.json", "step").tolist(), [0, 6, 12])
        run("index", *names[:2], "-o", "grown.json")
        self.assertIn("left out: torn.json", run("append", "grown.json", torn, names[2], "--skip-errors", status=1))
        self.assertEqual(read("grown.json", "step").tolist(), [0, 6, 12])

    def test_for_which_forecasts_are_follow_from_lead_times_whatever_these_are_called(self):
        """Nobody says of `time` that it is a reference time; it and the valid time are instants."""
        def field(time, step):
            return write(f"{time}_{step}.json", array("time", [], np.float64(24 * time), units="hours since 2020-01-01"),
                         array("step", [], np.float64(step), units="hours", standard_name="forecast_period"),
                         array("valid_time", [], np.float64(24 * time + step), units="hours since 2020-01-01", standard_name="time"),
                         array("v", ["x"], np.full(3, 100 * time + step, "<f4"), coordinates="time step valid_time"))
        fields = list(itertools.product(range(2), (0, 6, 12)))
        run("index", *itertools.starmap(field, fields), "-o", "all.json", "-q")
        self.assertEqual(read("all.json", "valid_time").tolist(), [[0, 6, 12], [24, 30, 36]])
        run("index", *itertools.starmap(field, fields[:2]), "-o", "grown.json")
        for at in fields[2:]:
            run("append", "grown.json", field(*at))
        self.assertEqual(attempt("diff", "grown.json", "all.json").stdout, "")

    def test_of_levels_are_found_where_files_have_one_each(self):
        def level(time, pressure, name="t"):
            return write(f"{name}{time}_{pressure}.json", array("level", [], np.float64(pressure), units="hPa", standard_name="air_pressure"),
                         array("time", ["time"], np.array([time], "f8"), units="hours since 2020-01-01", standard_name="time"),
                         array(name, ["time", "x"], np.full((1, 3), 1000 * time + pressure, "<f4"), coordinates="level"))
        run("index", *(level(time, pressure) for time in range(2) for pressure in (850, 500)), "-o", "all.json")
        self.assertEqual(read("all.json", "level").tolist(), [500, 850])
        self.assertEqual(read("all.json", "t")[..., 0].tolist(), [[500, 1500], [850, 1850]])
        run("index", level(0, 850), "-o", "grown.json", "--along", "time")
        for time, pressure in ((0, 500), (1, 850), (1, 500)):
            run("append", "grown.json", level(time, pressure), "-q")
        self.assertEqual(attempt("diff", "grown.json", "all.json").stdout, "")
        run("index", level(0, 2), level(0, 10, "u"), "-o", "other.json", "--along", "time")

    def member(self, time, step, number):
        """One field of one member of an ensemble."""
        return write(f"{time}_{step}_{number}.json",
                     array("number", [], np.int64(number), units="1", standard_name="realization"),
                     array("time", [], np.float64(24 * time), units="hours since 2020-01-01", standard_name="forecast_reference_time"),
                     array("step", [], np.float64(step), units="hours", standard_name="forecast_period"),
                     array("valid_time", [], np.float64(24 * time + step), units="hours since 2020-01-01", standard_name="time"),
                     array("v", ["y", "x"], np.full((2, 3), 100 * time + step + number, "<f4"), coordinates="number time step valid_time"))

    def check_growth(self, before, added):
        """What is added, whichever way, makes the same set as all at once."""
        run("index", *before, *added, "-q", "-o", "once.json")
        for groups in ([added], [added[::-1]], [[name] for name in added]):
            run("index", *before, "-o", "grown.json")
            for group in groups:
                run("append", "grown.json", *group)
            self.assertEqual(attempt("diff", "grown.json", "once.json").stdout, "")
            for variable in ("v", "time", "step", "number", "valid_time"):
                np.testing.assert_array_equal(read("grown.json", variable), read("once.json", variable))

    def test_of_the_next_member_are_added_to_a_set_of_one_member(self):
        self.check_growth([self.member(0, step, 0) for step in (0, 6)], [self.member(0, step, 1) for step in (0, 6)])
        self.check_growth([self.member(time, 6, 0) for time in (0, 1)], [self.member(time, 6, 1) for time in (0, 1)])

    def test_of_the_next_run_are_added_to_a_set_of_members(self):
        self.check_growth([self.member(0, 6, number) for number in (0, 1)], [self.member(1, 6, number) for number in (0, 1)])
        self.check_growth([self.member(0, 6, number) for number in (0, 1)], [self.member(0, 12, number) for number in (0, 1)])

    def test_of_the_next_lead_time_are_added_to_a_set_of_one_lead_time(self):
        names = [[self.forecast(time, step) for time in range(2)] for step in (6, 12)]
        run("index", *names[0], "-o", "all.json")
        run("append", "all.json", *names[1])
        self.assertEqual(read("all.json", "valid_time").tolist(), [[6, 12], [30, 36]], "in the order of all at once")

    def test_of_the_next_run_are_no_dimension_of_a_master_and_the_message_says_how(self):
        run("index", *[self.forecast(0, step) for step in (0, 6)], "-o", "all.nc")
        self.assertIn("all.nc has one time and 1_0.json another, but a master does not get dimensions: index the files of both again "
                      "(refs index FILE... --along time --along step -o all.nc)", run("append", "all.nc", self.forecast(1, 0), status=1))
        run("index", *[self.forecast(0, step) for step in (0, 6)], "--along", "time", "--along", "step", "-o", "all.nc")
        run("append", "all.nc", self.forecast(1, 0), self.forecast(1, 6))
        self.assertEqual(read("all.nc", "valid_time").tolist(), [[0, 6], [24, 30]])

    def test_of_a_run_are_no_second_axis_beside_valid_times(self):
        def part(name, reference, valid):
            return write(name, array("valid", ["valid"], np.array([valid], "f8"), units="hours since 2020-01-01", standard_name="time"),
                         array("reference", [], np.float64(reference), units="hours since 2020-01-01", standard_name="forecast_reference_time"),
                         array("v", ["valid", "x"], np.zeros((1, 2), "<f4"), coordinates="reference"))

        run("index", part("a.json", 0, 0), part("b.json", 0, 6), "-o", "all.json")
        run("append", "all.json", part("c.json", 12, 12))
        self.assertEqual(read("all.json", "v").shape, (3, 2))
        self.assertEqual(read("all.json", "reference").tolist(), [0, 0, 12])

    def test_that_are_scalar_vary_along_the_concat_dimensions_that_count_times_where_they_differ(self):
        """One value in a part is the value of all its steps, so no grouping of the parts changes anything."""
        def part(name, times, valid, units="hours since 2020-01-01"):
            return write(name, array("time", ["time"], np.array(times, "f8"), units="hours since 2020-01-01"),
                         array("valid_time", [], np.float64(valid), units=units),
                         array("reference", [], np.float64(0), units="hours since 2020-01-01"),
                         array("v", ["time"], np.zeros(len(times), "<f4"), coordinates="valid_time reference"))

        names = [part("0.json", [0, 1], 3), part("1.json", [6], 3), part("2.json", [12], 1, "days since 2020-01-01")]
        made = set()
        for groups in ([names], [names[:2], names[2:]], [names[2:], names[:1], names[1:2]], [names[::2], names[1:2]]):
            for output in ("all.json", "all.nca"):
                for i, group in enumerate(groups):
                    run("combine", *group, "-q", "-o", f"g{i}.json", "--along", "time")
                messages = run("combine", *[f"g{i}.json" for i in range(len(groups))], "-o", output, "--along", "time")
                self.assertNotIn("valid_time", messages)
                self.assertEqual(read(output, "valid_time").tolist(), [3, 3, 3, 24], (groups, output))
                if output == "all.json":
                    with open(output, "rb") as file:
                        made.add(file.read())
                self.assertEqual(read(output, "reference").tolist(), 0)
        self.assertEqual(len(made), 1)
        run("combine", *names[:2], "-o", "grown.json", "--along", "time")
        self.assertEqual(read("grown.json", "valid_time").tolist(), 3)
        run("append", "grown.json", names[2])
        self.assertEqual(read("grown.json", "valid_time").tolist(), [3, 3, 3, 24])


class MastersOfSets(InFolder):
    def test_need_no_chunk(self):
        """Their fragments are whole arrays, so no chunk of a source is put into them, however small."""
        for time in range(2):
            set_ = array("time", ["time"], np.array([time], "f8"), units="days since 2020-01-01")
            set_.update(array("t", ["time", "x"], np.zeros((1, 100), "<f4"), chunks=[1, 100]))
            write(f"{time}.json", set_, {"t/0.0": ["absent", 0, 400]})
        names = ["0.json", "1.json", "--along", "time", "--inline", "1000"]
        self.assertIn("absent", run("index", *names, "-o", "all.json", status=1))
        run("index", *names, "-o", "all.nca")
        self.assertEqual(read("all.nca", "time").tolist(), [0, 1])


class Selections(InFolder):
    """--variables with a selection: six times, two in a chunk, on four levels from above, one in a chunk."""

    TIMES, LEVELS = np.arange(6.) * 24, np.array([1000, 850, 500, 200])

    def setUp(self):
        super().setUp()
        self.values = np.arange(6 * 4 * 2 * 3, dtype="<i4").reshape(6, 4, 2, 3)
        self.small = np.arange(24, dtype="<f4").reshape(6, 4, 1, 1)
        chunks = {}
        with open("v.bin", "wb") as file:
            for time in range(3):
                for level in range(4):
                    chunk = self.values[2 * time:2 * time + 2, level:level + 1].tobytes()
                    chunks[f"v/{time}.{level}.0.0"] = ["v.bin", file.tell(), len(chunk)]
                    file.write(chunk)
        write("a.json", array("time", ["time"], self.TIMES, units="hours since 2024-01-30", standard_name="time"),
              array("level", ["level"], self.LEVELS, units="hPa"), array("y", ["y"], np.array([2., 1.])),
              array("w", ["time", "level", "one", "two"], self.small), array("v", ["time", "level", "y", "x"], self.values, [2, 1, 2, 3]),
              array("u", ["time", "one", "x2"], np.zeros((6, 1, 70000), "<i4"), [2, 1, 70000]), array("s", ["y"], np.array([7., 8.])), **chunks)

    def select(self, *names, output="o.json", status=0):
        options = [option for name in names for option in ("--variables", name)]
        return run("convert", "a.json", "-o", output, *options, status=status)

    def test_take_whole_chunks_and_cut_coordinates(self):
        for output in ("o.json", "o.parq"):
            for text, times, levels in (("time=2024-02", slice(2, 6), slice(0, 4)), ("time=#2:#3", slice(2, 4), slice(0, 4)),
                                        ("level=850:500", slice(0, 6), slice(1, 3)), ("level=200", slice(0, 6), slice(3, 4)),
                                        ("time=2024-02,level=850.", slice(2, 6), slice(1, 2)),
                                        ("time=#0:#5", slice(0, 6), slice(0, 4))):
                with self.subTest(output=output, text=text):
                    self.assertEqual(self.select(f"v[{text}]", "w", output=output), "")
                    np.testing.assert_array_equal(read(output, "v"), self.values[times, levels])
                    np.testing.assert_array_equal(read(output, "w"), self.small[times, levels])
                    np.testing.assert_array_equal(read(output, "time"), self.TIMES[times])
                    np.testing.assert_array_equal(read(output, "level"), self.LEVELS[levels])
                    np.testing.assert_array_equal(read(output, "y"), [2, 1])
                    self.assertEqual(attempt("check", "--deep", output).returncode, 0)

    def test_have_what_their_attributes_name(self):
        """CF-1.11, appendix A; also what those name: a colon is that of a term, or of a grid mapping."""
        named = {"p0": {}, "a": {}, "ps": {"grid_mapping": "other"}, "other": {}, "area": {}, "err": {"coordinates": "alt"}, "alt": {}, "crs": {},
                 "shape": {"node_coordinates": "nx", "node_count": "count", "part_node_count": "parts", "interior_ring": "ring"},
                 "nx": {}, "count": {}, "parts": {}, "ring": {}}
        for i in range(2):
            write(f"{i}.json", array("time", ["time"], np.array([i]), units="days since 2000-01-01", standard_name="time"),
                  array("lev", ["lev"], np.arange(2.), formula_terms="a: a p0:p0 ps: ps"),
                  array("t", ["time", "lev"], np.full((1, 2), i), cell_measures="area: area", ancillary_variables="err", grid_mapping="crs: lev",
                        geometry="shape"), array("u", ["time"], [i]),
                  *[array(name, [], np.array(7.), **attributes) for name, attributes in named.items()])
        for output in ("all.json", "all.nca"):
            run("combine", "0.json", "1.json", "-o", output, "--along", "time", "--variables", "t", "-q")
            listed = [line.split()[0] for line in attempt("ls", output).stdout.splitlines() if line.startswith("/")]
            self.assertEqual(listed, sorted("/" + name for name in ("lev", "t", "time", *named)))

    def test_do_not_cut_dimensions_of_other_groups(self):
        """A set knows dimensions by name: which of two is to be cut is the user's choice, without the other."""
        others = np.arange(6.)[::-1] + 87672
        write("a.json", array("time", ["time"], self.TIMES, units="hours since 2024-01-30", standard_name="time"),
              array("v", ["time"], np.arange(6, dtype="<i4"), [2]), array("w", ["time", "y", "x"], np.zeros((6, 1, 1), "<i4"), [2, 1, 1]),
              array("g/time", ["time"], others, units="hours since 2010-01-01", standard_name="time"),
              array("g/w", ["time", "y", "x"], np.ones((6, 1, 1), "<i4"), [2, 1, 1]), **{"g/.zgroup": '{"zarr_format": 2}'})
        self.assertIn("dimension time has the lengths 4 and 6", self.select("w[time=#0:#3]", "v", "g/w", status=1))
        self.assertFalse(os.path.exists("o.json"))
        self.assertEqual(self.select("w[time=#0:#3]", "v"), "")
        self.assertEqual((read("o.json", "w").shape, read("o.json", "v").shape), ((4, 1, 1), (4,)))
        self.assertEqual(self.select("g/w[time=#4:#5]", output="g.json"), "")
        np.testing.assert_array_equal(read("g.json", "g/time"), others[4:])

    def test_are_the_same_along_a_dimension(self):
        self.select("v[time=2024-02]", "u[time=#2:#5]")
        self.assertTrue((read("o.json", "u") == np.zeros((4, 1, 70000))).all())
        self.assertIn("u: expected indices 2 to 5 along time, as for the variables before it, found 0 to 1",
                      self.select("v[time=2024-02]", "u[time=2024-01]", status=1))

    def test_through_chunks_name_their_boundaries(self):
        for text, wanted in (("#1:#3", "indices 1 to 3; select [time=#0:#3]"), ("#5", "indices 5 to 5; select [time=#4:#5]")):
            self.assertIn("/v: chunks have 2 indices along time: expected whole chunks, found " + wanted,
                          self.select(f"v[time={text}]", status=1))
        self.assertEqual(self.select("w[time=#1:#3]"), "")
        np.testing.assert_array_equal(read("o.json", "w"), self.small[1:4])

    def test_of_a_data_file_are_those_of_its_set(self):
        sample = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/sample.nc")
        run("index", sample, "-q", "-o", "all.json")
        run("index", sample, "-q", "-o", "o.json", "--variables", "t2m[time=#12:#23]")
        for name in ("t2m", "time", "time_bnds"):
            np.testing.assert_array_equal(read("o.json", name), read("all.json", name)[12:])
        self.assertIn("select [time=#0:#11]", run("index", sample, "-o", "p.json", "--variables", "t2m[time=#0:#1]", status=1))
        self.assertFalse(os.path.exists("p.json"))

    def test_of_what_is_not_there_say_what_is(self):
        self.assertIn("refs: --variables v: [time=2023]: dimension \"time\" has no value 2023", self.select("v[time=2023]", status=1))
        self.assertIn("--variables v: [x=#0]: x is an axis of the raster, not of its bands: leave it out, and select a window "
                      "when you read", self.select("v[x=#0]", status=1))
        self.assertIn("--variables v: [x=#0]: x is an axis", self.select("u,v[time=#0:#1,x=#0]", status=1))
        self.assertIn("--variables q[time=#0]: no variable q", self.select("q[time=#0]", status=1))
        self.assertIn("needs a set as output", self.select("v[time=#0:#1]", output="o.nc", status=1))

    def later(self, name, hours):
        """The same of a later month."""
        with open("a.json", encoding="utf-8") as file:
            refs = json.load(file)
        refs = refs.get("refs", refs)
        refs.update(array("time", ["time"], self.TIMES + hours, units="hours since 2024-01-30", standard_name="time"))
        return write(name, refs)

    def test_of_many_sources_take_what_each_has(self):
        names = ["a.json", self.later("b.json", 6 * 24), self.later("c.json", 12 * 24), self.later("d.json", 48 * 24)]
        for output in "o.json", "o.parq":
            run("combine", *names, "-o", output, "--variables", "v[time=2024-02]", "--variables", "w")
            np.testing.assert_array_equal(read(output, "time"), np.arange(2, 18) * 24.)
            np.testing.assert_array_equal(read(output, "v"), np.concatenate([self.values[2:], self.values, self.values]))
            np.testing.assert_array_equal(read(output, "w"), np.concatenate([self.small[2:], self.small, self.small]))
            self.assertEqual(attempt("check", "--deep", output).returncode, 0)
        run("combine", *names[:2], "-o", "p.json", "--variables", "v[level=850,time=2024-01]")
        np.testing.assert_array_equal(read("p.json", "v"), self.values[:2, 1:2])
        self.assertIn("has no value 2023", run("combine", *names, "-o", "q.json", "--variables", "v[time=2023]", status=1))
        self.assertIn("found indices 1 to 5", run("combine", *names, "-o", "q.json", "--variables", "v[time=2024-01-31:2024-02-04]", status=1))
        self.assertFalse(os.path.exists("q.json"))

    def to_file(self, name, hours):
        """A data file with all that a.json has, so many hours later."""
        with netCDF4.Dataset(name, "w") as file:
            for dim, values in (("time", self.TIMES + hours), ("level", self.LEVELS), ("y", [2, 1]), ("x", [1, 2, 3])):
                file.createDimension(dim, None if dim == "time" else len(values))
                file.createVariable(dim, "f8", dim, chunksizes=(len(values),))[:] = values
            file["time"].setncatts({"units": "hours since 2024-01-30", "standard_name": "time"})
            file["level"].units = "hPa"
            file.createVariable("v", "i4", ("time", "level", "y", "x"), chunksizes=(2, 1, 2, 3))[:] = self.values + int(hours)
        return name

    @unittest.skipIf(netCDF4 is None, "there is no netCDF4")
    def test_are_kept_by_append(self):
        names = [self.to_file(f"{i}.nc", i * 144) for i in range(4)]
        chosen = [self.values[:, 1:3] + i * 144 for i in range(4)]
        for output in "o.json", "o.parq", "o.icechunk":
            for first in 1, 2:
                with self.subTest(output=output, first=first):
                    shutil.rmtree(output, ignore_errors=True)
                    run("index", "-q", *names[:first], "-o", output, "--variables", "v[level=850:500]")
                    for name in names[first:]:
                        run("append", "-q", output, name)
                    np.testing.assert_array_equal(read(output, "level"), [850, 500])
                    np.testing.assert_array_equal(read(output, "v"), np.concatenate(chosen))
        self.assertIn("already", run("append", "o.json", names[1], status=1))
        self.assertIn("o.json was made with this selection: repeat --variables",
                      run("append", "o.json", self.other_levels("other.nc"), status=1))

    def other_levels(self, name):
        self.to_file(name, 1000)
        with netCDF4.Dataset(name, "a") as file:
            file["level"][:] = [7, 6, 5, 4]
        return name

    @unittest.skipIf(netCDF4 is None, "there is no netCDF4")
    def test_of_sets_are_kept_when_they_are_cut_again(self):
        run("index", "-q", self.to_file("0.nc", 0), "-o", "one.json", "--variables", "v[level=850:500]")
        run("convert", "-q", "one.json", "-o", "o.json", "--variables", "v[time=2024-02]", "--inline", "0")
        run("append", "-q", "o.json", self.to_file("1.nc", 144))
        np.testing.assert_array_equal(read("o.json", "v"), np.concatenate([self.values[2:, 1:3], self.values[:, 1:3] + 144]))
        run("append", "-q", "o.json", self.to_file("2.nc", 288), "--variables", "v[level=850:500]")
        self.assertEqual(read("o.json", "v").shape, (16, 2, 2, 3))

    @unittest.skipIf(netCDF4 is None, "there is no netCDF4")
    def test_of_aggregations_have_coordinates_and_fragments(self):
        """--variables without a selection, of masters of CF-1.13 and CFA-0.5 and a set with CFA-0.4."""
        files = [self.to_file(f"{i}.nc", i * 144) for i in range(2)]
        both = np.concatenate([self.values, self.values + 144])
        run("index", "-q", *files, "-o", "cf.nca")
        run("split", "-q", files[0], "-o", "cfa.nca")
        for i in range(2):
            write(f"{i}.json", array("time", ["time"], self.TIMES + 144 * i), array("v", ["time", "level"], both[6 * i:6 * i + 6, :, 0, 0],
                                                                                    scale_factor=1.0 + i))
        run("combine", "-q", "0.json", "1.json", "--along", "time", "-o", "packed.json")
        packed = both[:, :, 0, 0] * np.repeat([1., 2.], 6)[:, None]
        times = np.concatenate([self.TIMES, self.TIMES + 144])
        for name, values in (("cf.nca", both), ("cfa.nca", self.values), ("packed.json", packed)):
            with self.subTest(name):
                run("convert", "-q", name, "-o", "o.json", "--variables", "v")
                np.testing.assert_array_equal(read("o.json", "v"), values)
                np.testing.assert_array_equal(read("o.json", "time"), times[:len(values)])
                self.assertEqual(attempt("check", "--deep", "o.json").returncode, 0)

    @unittest.skipIf(netCDF4 is None, "there is no netCDF4")
    def test_recorded_do_not_apply_to_sets(self):
        run("index", "-q", self.to_file("0.nc", 0), "-o", "o.json", "--variables", "v[level=#1:#2]")
        run("index", "-q", self.to_file("1.nc", 144), "-o", "b.json", "--variables", "v[level=850:500]")
        run("append", "-q", "o.json", "b.json")
        np.testing.assert_array_equal(read("o.json", "v"), np.concatenate([self.values[:, 1:3], self.values[:, 1:3] + 144]))

    def test_of_sources_that_cannot_be_read_are_failures(self):
        later, last = self.later("b.json", 6 * 24), self.later("c.json", 48 * 24)
        chosen = ("--along", "time", "--variables", "v[time=2024-02]", "-o", "o.json")
        with open(self.later("torn.json", 12 * 24), encoding="utf-8") as file:
            refs = json.load(file)
        refs.get("refs", refs)["time/0"] = ["lost.bin", 0, 48]
        write("torn.json", refs.get("refs", refs))
        for names in (("a.json", "missing.json", later), ("missing.json", "a.json", later), ("a.json", later, "missing.json")):
            with self.subTest(names=names):
                self.assertIn("missing.json", run("index", *names, *chosen, status=1))
                self.assertFalse(os.path.exists("o.json"))
                self.assertIn("missing.json", run("index", *names, *chosen, "--skip-errors", status=1))
                np.testing.assert_array_equal(read("o.json", "time"), np.arange(2, 12) * 24.)
                os.remove("o.json")
        for names in (("a.json", "torn.json"), ("torn.json", "a.json"), (last, "torn.json", "a.json")):
            self.assertIn("lost.bin", run("index", *names, *chosen, status=1))
            self.assertFalse(os.path.exists("o.json"))
        run("combine", "a.json", "-o", "o.json", "--along", "time", "--variables", "v")
        self.assertIn("missing.json", run("append", "o.json", later, "missing.json", "--variables", "v[time=2024-02]", status=1))
        np.testing.assert_array_equal(read("o.json", "time"), self.TIMES)

    def test_of_what_is_appended_leave_the_set_as_it_is(self):
        for output in "o.json", "o.parq":
            run("combine", "a.json", "-o", output, "--along", "time", "--variables", "v")
            run("append", output, self.later("b.json", 6 * 24), self.later("d.json", 48 * 24), "--variables", "v[time=2024-02-05:2024-02-08]")
            np.testing.assert_array_equal(read(output, "v"), np.concatenate([self.values, self.values[:4]]))
            np.testing.assert_array_equal(read(output, "time"), np.arange(10) * 24.)


class Advice(InFolder):
    """Messages say what is expected, what was found, and what to do."""

    def setUp(self):
        super().setUp()
        for i in range(2):
            write(f"{i}.json", array("time", ["time"], np.array([0., 1.]) + 2 * i, units="hours since 2024-01-30"),
                  array("v", ["time", "x"], np.zeros((2, 3), "<i4")))

    def test_of_a_pattern_that_replaces_other_times(self):
        for day, hour in (1, 0), (2, 12), (3, 12), (4, 0):
            write(f"2024020{day}.json", array("time", ["time"], np.array([24. * day + hour]), units="hours since 2024-01-31"), array("v", ["time"], np.zeros(1)))
        names = ("--pattern", "{time:%Y%m%d}.json", "-o", "o.json")
        self.assertEqual("", run("combine", "20240201.json", "20240204.json", *names))
        told = "20240202.json: time is 2024-02-02T12:00:00 in the source, and 2024-02-02T00:00:00 in its name: using the value in the name"
        self.assertIn(told + "; omit the pattern", run("combine", "20240201.json", "20240202.json", *names))
        said = run("combine", "20240201.json", "20240202.json", "20240203.json", *names)
        self.assertIn(told + ", also of other sources; omit the pattern", said)
        self.assertEqual(1, said.count("warning"))
        for name, value, warns in ("500.json", 850., True), ("850.json", 850., False), ("ab.json", np.array([b"cd"]), True), ("cd.json", np.array([b"cd"]), False):
            write(name, array("level", ["level"], np.atleast_1d(value)), array("v", ["level"], np.zeros(1)))
            pattern = "{level}.json" if isinstance(value, np.ndarray) else "{level:d}.json"
            self.assertEqual(warns, "in its name" in run("combine", name, "-o", "p.json", "--along", "level", "--pattern", pattern), name)

    def test_of_a_pattern_that_names_some_of_the_dimensions(self):
        said = run("combine", "0.json", "1.json", "--pattern", "{run}.json", "-o", "o.json", status=1)
        self.assertIn("element 0 of time is 0 and 2: expected sources on one grid, or all concat dimensions that --pattern "
                      "does not name (--along run --along time)", said)
        run("combine", "0.json", "1.json", "--pattern", "{run}.json", "-o", "o.json", "--along", "run", "--along", "time")

    @unittest.skipIf(netCDF4 is None, "there is no netCDF4")
    def test_of_a_variable_that_is_no_coordinate_of_the_dimension_of_its_name(self):
        for i in range(2):
            with netCDF4.Dataset(f"{i}.nc", "w") as file:
                for dim, size in (("t", None), ("time", 1), ("x", 2)):
                    file.createDimension(dim, size)
                file.createVariable("time", "f8", "t")[:] = [i, i + 1]
                file["time"].units = "days since 2000-01-01"
                file.createVariable("v", "f4", ("time", "x"))[:] = i
        self.assertIn("0.nc: the variable time has 2 values: expected 1, one for each index along the dimension time: name another "
                      "concat dimension (--along), or rename the variable",
                      run("index", "0.nc", "1.nc", "--along", "time", "-o", "o.json", status=1))

    def test_of_keys_that_are_none(self):
        keys = "expected a key, or an array and the index of an element in brackets; there are: time, v"
        for arguments, said in ((("info", "0.json", "v[9,0]"), "v[9,0]: time has 2 elements: expected 0 to 1, found 9"),
                                (("info", "0.json", "v[1,0,0]"), "v[1,0,0]: expected 2 indices in brackets, one for each dimension"),
                                (("info", "0.json", "v[1]"), "v[1]: expected 2 indices in brackets, one for each dimension"),
                                (("info", "0.json", "v[]"), "[]: expected the index of an element"),
                                (("info", "0.json", "w[0,0]"), f"w is not in the set: {keys}"),
                                (("cat", "0.json", "v/9.9"), f"v/9.9 is not in the set: {keys}"),
                                (("cat", "0.json", "v"), "v is an array: expected the index of an element in brackets, with one number "
                                 "for each dimension, or a key, such as v/.zarray")):
            with self.subTest(arguments):
                self.assertEqual(run(*arguments, status=1), f"refs: {said}\n")
        self.assertEqual(run("cat", "0.json", status=2), f"refs: {keys}\n")
        self.assertEqual(run("cat", status=2), "usage: refs cat SET KEY\n")
        self.assertEqual(run("ls", "0.json", "1.json", status=2), "usage: refs ls SET\n")


class Values(InFolder):
    """Values are what they are in the sources, or reading them is an error."""

    def part(self, name, step, values, rows=3, **attributes):
        """A set whose v(t, y, x) has chunks of so many rows."""
        values = np.asarray(values)[np.newaxis]
        found = array("v", ["t", "y", "x"], values, chunks=[1, rows, values.shape[2]], **attributes)
        for i in range(0, values.shape[1], rows):
            part = values[:, i:i + rows]
            pad = np.zeros((1, rows - part.shape[1], values.shape[2]), values.dtype)
            found[f"v/0.{i // rows}.0"] = inline(np.concatenate([part, pad], axis=1))
        return write(name, array("t", ["t"], np.array([step], "<f8")), found)

    def outputs(self, *parts):
        """The same parts as a set and as a master; where they are alike, the set is one array."""
        for name in ("all.json", "all.nc"):
            if os.path.exists(name):
                os.remove(name)
            done = attempt("combine", *parts, "-o", name, "--along", "t")
            if "this build cannot write netCDF" in done.stderr:
                continue
            self.assertEqual(done.returncode, 0, done.stderr)
            yield name

    def unmasked(self, name):
        """Values as numbers, what counts as missing as None; rows as stored, which go up."""
        dataset = gdal.Open(f'REFS:"{name}":/v')
        bands = [dataset.GetRasterBand(i + 1) for i in range(dataset.RasterCount)]
        values = [band.ReadAsArray()[::-1].ravel().tolist() for band in bands]
        masks = [band.GetMaskBand().ReadAsArray()[::-1].ravel().tolist() for band in bands]
        return [[v if m else None for v, m in zip(*pair)] for pair in zip(values, masks)]

    def test_all_bytes_are_values(self):
        for dtype, attributes in (("|u1", {}), ("|i1", {}), ("|i1", {"_Unsigned": "true"}), ("|u1", {"valid_min": 0}),
                                  ("|u1", {"valid_range": [100, 255]}), ("|i1", {"valid_range": [-127, 5]})):
            values = np.arange(256).astype("u1").view(dtype).reshape(4, 64)
            seen = values.view("u1") if "_Unsigned" in attributes else values
            for rows in (4, 3):
                self.part("a.json", 0, values, 4, **attributes)
                self.part("b.json", 1, values, rows, **attributes)
                for name in self.outputs("a.json", "b.json"):
                    self.assertEqual(self.unmasked(name), [seen.ravel().tolist()] * 2, (dtype, attributes, rows, name))

    def test_all_missing_values_are_missing_however_sources_are_joined(self):
        values = np.array([[1, -32768, 3], [-9999, 5, -5], [6, 7, 8]], "<i2")
        expected = [None if v in (-32768, -9999, -5) else v for v in values.ravel().tolist()]
        missing = {"_FillValue": -32768, "missing_value": [-9999, -5]}
        self.part("a.json", 0, values, 3, **missing)
        self.assertEqual(self.unmasked("a.json"), [expected])
        for name in ('REFS:"a.json":/v', 'REFS:"a.json":/v[t=#0]?HONOUR_VALID_RANGE=NO'):
            dataset = gdal.Open(name)
            self.assertEqual(dataset.GetRasterBand(1).ComputeStatistics(False)[:2], [1, 8])
            translated = gdal.Translate("", dataset, format="MEM")
            self.assertEqual(translated.GetRasterBand(1).ReadAsArray().tolist(),
                             [[6, 7, 8], [-32768, 5, -32768], [1, -32768, 3]])
        for rows, other in ((3, missing), (2, missing), (3, {"_FillValue": -9999, "missing_value": [-32768, -5]})):
            self.part("b.json", 1, values, rows, **other)
            for name in self.outputs("a.json", "b.json"):
                self.assertEqual(self.unmasked(name), [expected] * 2, (rows, other, name))

    def test_fill_values_are_those_that_files_declared(self):
        """As attributes, or in the metadata, where the format's own stands where nothing was declared."""
        values = np.array([[0, 7, -9999]], "<i2")
        for fill, attributes in ((None, {"_FillValue": -9999}), (-9999, {}), (0, {"_FillValue": -9999})):
            for i in (0, 1):
                self.part(f"{i}.json", i, values, 1, **attributes)
                with open(f"{i}.json", encoding="utf-8") as file:
                    doc = json.load(file)
                metadata = json.loads(doc["refs"]["v/.zarray"])
                doc["refs"]["v/.zarray"] = json.dumps({**metadata, "fill_value": fill})
                with open(f"{i}.json", "w", encoding="utf-8") as file:
                    json.dump(doc, file)
            for name in self.outputs("0.json", "1.json"):
                self.assertEqual(self.unmasked(name), [[0, 7, None]] * 2, (fill, attributes, name))

    def test_bytes_of_a_joined_set_can_be_joined_again(self):
        values = np.arange(256).astype("u1").reshape(4, 64)
        for i, rows in enumerate((4, 3, 2, 4)):
            self.part(f"{i}.json", i, values, rows)
        run("combine", *[f"{i}.json" for i in range(4)], "-o", "all.json", "--along", "t")
        run("combine", "0.json", "3.json", "-o", "a.json", "--along", "t")
        run("combine", "2.json", "1.json", "-o", "b.json", "--along", "t")
        run("combine", "b.json", "a.json", "-o", "again.json", "--along", "t")
        with open("all.json", "rb") as one, open("again.json", "rb") as other:
            self.assertEqual(one.read(), other.read())
        np.testing.assert_array_equal(self.unmasked("again.json"), [values.ravel().tolist()] * 4)

    def test_integers_of_64_bits_are_exact_or_an_error(self):
        def extremes(dtype):
            if np.dtype(dtype).kind == "f":
                return np.array([[1.5, -2.25, 0.5, 3]], dtype)
            info = np.iinfo(dtype)
            return np.array([[info.min + 5 if info.min else 0, info.max - 3, 1, 7]], dtype)
        types = ("<i1", "<u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")
        for one in types:
            for other in ("<i8", "<u8"):
                sources = [extremes(one), extremes(other)]
                self.part("a.json", 0, sources[0])
                self.part("b.json", 1, sources[1])
                for name in self.outputs("a.json", "b.json"):
                    try:
                        values = read(name, "v")
                    except RuntimeError as failed:
                        self.assertIn("does not fit", str(failed))
                        self.assertNotEqual({one[1], other[1]}, {"u"}, (one, other))
                        continue
                    expected = [source.ravel().tolist() for source in sources]
                    self.assertEqual(values.reshape(2, -1).tolist(), expected, (one, other, name))


class FillValuesOfCoordinates(InFolder):
    def test_of_one_source_are_values_of_others(self):
        """xarray masks what equals the fill value."""
        names = []
        for step, fill in enumerate((1, 0)):
            coordinate = array("t", ["t"], np.array([float(step)]), units="days since 2000-01-01")
            coordinate["t/.zarray"] = json.dumps({**json.loads(coordinate["t/.zarray"]), "fill_value": fill})
            names.append(write(f"{step}.json", coordinate, array("v", ["t"], np.array([step], "<f4"))))
        run("index", *names, "--along", "t", "-o", "all.json")
        run("index", names[0], "--along", "t", "-o", "grown.json")
        run("append", "grown.json", names[1])
        for name in "all.json", "grown.json":
            self.assertEqual(read(name, "t").tolist(), [0, 1])
            with open(name, encoding="utf-8") as file:
                self.assertIsNone(json.loads(json.load(file)["refs"]["t/.zarray"])["fill_value"], name)


class MissingInOne(InFolder):
    """A value that one source lacks is that of another, which has it."""

    def part(self, name, step, values, lat=0, dims=("y", "x"), **own):
        sizes = np.shape(values)
        return write(f"{name}.json", array("t", ["t"], np.array([float(step)])), array("lat", ["lat"], np.array([float(lat)]), units="degrees_north"),
                     array("v", ["t", "lat", "x"], np.full((1, 1, *(sizes[-1:] or (2,))), 10 * step + lat, "<f4")),
                     array("s", list(dims)[len(dims) - len(sizes):], np.array(values, "<f4"), **{"_FillValue": -1.0, **own}))

    def expect(self, names, expected, said=()):
        for output in ("o.json", "o.parq", "o.nc"):
            found = run("index", *names, "--along", "t", "-o", output)
            self.assertEqual(read(output, "s").tolist(), expected, output)
            self.assertEqual([line.split(": ", 2)[2] for line in found.splitlines() if "keeping the first" in line], list(said), output)
            if output == "o.nc":
                os.remove(output)

    def test_of_arrays_without_concat_dimension(self):
        a, b, c = (self.part(name, step, values) for step, (name, values) in
                   enumerate({"a": [[-1, 2], [3, -1]], "b": [[1, -1], [3, -1]], "c": [[-1, 2], [3, 4]]}.items()))
        self.expect([a, b], [[1, 2], [3, -1]])
        self.expect([b, a], [[1, 2], [3, -1]])
        self.expect([a, b, c], [[1, 2], [3, 4]])
        self.expect([a, c], [[-1, 2], [3, 4]])
        run("index", a, b, "--along", "t", "-o", "two.json")
        run("append", "two.json", c)
        self.assertEqual(read("two.json", "s").tolist(), [[1, 2], [3, 4]])
        run("index", b, c, "--along", "t", "-o", "other.json")
        self.expect([a, "other.json"], [[1, 2], [3, 4]])
        d = self.part("d", 3, [[7, 2], [3, 4]])
        self.expect([a, b, d], [[1, 2], [3, 4]], ["s: differs between b.json and d.json: keeping the first"])
        self.expect([b, d], [[1, 2], [3, 4]], ["s: differs between b.json and d.json, element 0 of s is 1 and 7: keeping the first"])
        self.expect([self.part("e", 0, -1), self.part("f", 1, 5)], 5)

    def test_of_arrays_with_some_of_the_concat_dimensions(self):
        names = [self.part(f"{step}{lat}", step, [[value]], lat, ("lat", "x")) for (step, lat, value) in
                 ((0, 0, -1), (0, 1, 6), (1, 0, 5), (1, 1, -1))]
        for order in (names, names[::-1]):
            self.assertNotIn("keeping the first", run("index", *order, "--along", "t", "--along", "lat", "-o", "o.json"))
            self.assertEqual(read("o.json", "s").tolist(), [[5], [6]])

    def test_of_a_master_that_holds_the_value_without_a_fragment(self):
        """The value stays where an added file has none."""
        def part(t, lat, *values):
            return write(f"{t}{lat}.json", array("t", ["t"], np.array([float(t)])), array("lat", ["lat"], np.array([float(lat)]), units="degrees_north"),
                         array("v", ["t", "lat", "x"], np.full((1, 1, 2), lat, "<f4"), coordinates="s"),
                         *[array("s", ["lat"], np.array([value], "<f4"), _FillValue=-1.0) for value in values])

        names = [part(0, 0), part(0, 1)]
        for added in (-1, 4):
            run("combine", *names, "--format", "cfa", "--along", "t", "--along", "lat", "-o", "m.nc")
            with netCDF4.Dataset("m.nc", "r+") as master:
                master.createVariable("s", "f4", ("lat",), fill_value=-1.)[:] = [5, 4]
                master["cfa_v/file"][0, 1, 0] = ""
            run("append", "m.nc", part(1, 0, -1), part(1, 1, added))
            self.assertEqual(read("m.nc", "s").tolist(), [5, 4], added)
            os.remove("m.nc")

    def test_does_not_count_in_coordinates(self):
        names = [write(f"{step}.json", array("t", ["t"], np.array([float(step)])), array("y", ["y"], np.array([0, last], "<f4"), units="degrees_north", _FillValue=-1.0),
                       array("x", ["x"], np.arange(2.), units="degrees_east"), array("v", ["t", "y", "x"], np.zeros((1, 2, 2), "<f4"))) for step, last in enumerate((-1, 1))]
        self.assertIn("the grids of 0.json and 1.json differ", run("index", *names, "--along", "t", "-o", "o.json", status=1))


class Large(InFolder):
    """Integers above the largest of 64 bits with a sign."""

    def test_are_sorted_and_printed_as_they_are(self):
        big = 2**63
        def part(number):
            return write(f"{number}.json", array("n", ["n"], np.array([number], "<u8")), array("v", ["n"], np.array([number % 7], "<i4")))

        names = [part(number) for number in (big + 5, 3, big - 1, big)]
        run("index", *names, "--along", "n", "-o", "all.json")
        self.assertEqual(read("all.json", "n").tolist(), [3, big - 1, big, big + 5])
        said = run("index", names[0], names[1], write("twice.json", array("n", ["n"], np.array([big + 5], "<u8")), array("v", ["n"], np.array([1], "<i4"))),
                   "--along", "n", "-o", "no.json", status=1)
        self.assertIn(str(big + 5), said)

    def test_are_compared_exactly_with_valid_ranges(self):
        for dtype, most in (("<u8", 2**64 - 5), ("<i8", 2**63 - 5)):
            for attributes in ({"valid_max": most}, {"valid_range": [1, most]}):
                def part(step, **own):
                    values = np.array([[most - 1, most, most + 1, most + 2]], dtype)
                    return write(f"{step}.json", array("t", ["t"], np.array([step], "f8")),
                                 array("v", ["t", "x"], values, **attributes, **own))

                name = part(0)
                for opened in name, "two.json":
                    if opened == "two.json":
                        run("index", name, part(1, missing_value=5), "--along", "t", "-o", opened)
                    dataset = gdal.Open(f'REFS:"{opened}":/v')
                    band = dataset.GetRasterBand(1)
                    self.assertEqual((band.GetMaskBand().ReadAsArray() != 0).tolist()[-1], [True, True, False, False], (dtype, attributes, opened))


class ManyReferences(InFolder):
    """Sets of 20480 references each, which take more memory together than combining holds."""

    STEPS, COLUMNS = 128, 160

    @staticmethod
    def position(i, j):
        return [1000 * i + 7 * j * j, 900 + (i * j) % 90]

    def write_parts(self, along, n):
        t, x = np.arange(self.STEPS, dtype="f8"), np.arange(self.COLUMNS, dtype="f8")
        chunks = {f"v/{i}.{j}": ["@.nc", *self.position(i, j)] for i in range(self.STEPS) for j in range(self.COLUMNS)}
        write("template.json", array("t", ["t"], t), array("x", ["x"], x), array("v", ["t", "x"], np.zeros((self.STEPS, self.COLUMNS), "<i4"), [1, 1]), **chunks)
        with open("template.json", encoding="utf-8") as file:
            template = file.read()
        own = t if along == "t" else x
        for number in range(n):
            with open(f"{along}{number:03}.json", "w", encoding="utf-8") as file:
                file.write(template.replace("@", str(number)).replace(f'"{along}/0": "{inline(own)}"', f'"{along}/0": "{inline(own + number * own.size)}"'))

    @staticmethod
    def combine(along, n):
        """MiB of memory that combining takes. A new interpreter starts it: the memory of the process that does is counted, too."""
        measure = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        command = [REFS, "combine", *(f"{along}{i:03}.json" for i in range(n)), "--along", along, "-o", "all.json"]
        return int(subprocess.run([sys.executable, "-c", measure, *command], capture_output=True, check=True).stdout) >> 10

    def test_take_no_more_memory_if_parts_are_more(self):
        for along in ("t", "x"):
            self.write_parts(along, 48)
            few, many = self.combine(along, 12), self.combine(along, 48)
            with open("all.json", encoding="utf-8") as file:
                found = [(key.split("/")[1], value) for key, value in json.load(file)["refs"].items() if key.startswith("v/") and key[2] != "."]
            self.assertEqual(len(found), 48 * self.STEPS * self.COLUMNS)
            for key, (name, *position) in found:
                i, j = map(int, key.split("."))
                number = i // self.STEPS if along == "t" else j // self.COLUMNS
                if position != self.position(i % self.STEPS, j % self.COLUMNS) or not name.endswith(f"/{number}.nc"):
                    self.fail(f"{along} {key}: {name} {position}")
            self.assertLess(many - few, 30, along)

    def test_are_merged_where_parts_have_other_orders(self):
        """The steps of each part descend, and those of the result ascend."""
        t = np.arange(8, dtype="f8")[::-1]
        for number in range(2):
            chunks = {f"v/{i}.0": ["a.nc", 10 * int(2 * t[i] + number), 128] for i in range(8)}
            write(f"{number}.json", array("t", ["t"], 2 * t + number), array("v", ["t", "x"], np.zeros((8, 32), "<i4"), [1, 32]), **chunks)
        run("combine", "0.json", "1.json", "--along", "t", "-o", "all.json")
        with open("all.json", encoding="utf-8") as file:
            refs = json.load(file)["refs"]
        steps = read("all.json", "t").tolist()
        self.assertEqual([refs[f"v/{i}.0"][1] for i in range(16)], [10 * int(step) for step in steps])


class Outputs(InFolder):
    def test_what_parts_of_a_grid_share_is_compared(self):
        """An array that has one of two joined dimensions is in several parts."""
        for change, size in (("w", 1), ("s", 4), (None, 4)):
            for i, (step, x) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
                w = np.array([step + (10 * x if change == "w" else 0)], "<f4")
                s = np.full((1, 100 * size), step + (10 * x if change == "s" else 0), "<f4")
                write(f"{i}.json", array("t", ["t"], np.array([step], "<f8")), array("x", ["x"], np.array([x], "<f8")),
                      array("w", ["t"], w), array("s", ["t", "y"], s), array("v", ["t", "x"], np.array([[i]], "<f4")))
            said = run("combine", *[f"{i}.json" for i in range(4)], "-o", "all.json", "--along", "t", "--along", "x", status=int(change is not None))
            self.assertEqual("differs between" in said, change is not None, said)
            if change is None:
                np.testing.assert_array_equal(read("all.json", "w"), [0, 1])
            else:
                self.assertRegex(said, f"{change}: differs between .*: expected equal values, since it lacks the concat dimension x")

    def test_attributes_of_groups_are_those_of_the_first_part_that_has_them(self):
        for i in range(2):
            more = {".zattrs": '{"title":"second"}', "g/.zattrs": '{"about":"group"}'} if i == 1 else {}
            write(f"{i}.json", array("t", ["t"], np.array([i], "<f8")), array("g/v", ["t"], np.array([i], "<f4")),
                  **{"g/.zgroup": '{"zarr_format":2}', **more})
        for name in ("all.json", "all.nc"):
            done = attempt("combine", "0.json", "1.json", "-o", name, "--along", "t")
            if "this build cannot write netCDF" in done.stderr:
                continue
            self.assertEqual(done.returncode, 0, done.stderr)
            root = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
            self.assertEqual(root.GetAttribute("title").Read(), "second", name)
            self.assertEqual(root.OpenGroup("g").GetAttribute("about").Read(), "group", name)

    def test_attributes_that_masters_have_of_themselves_are_not_told_as_left_out(self):
        for i in range(2):
            attributes = {"title": "of all", **({"refs_combined": "all values are in this file", "note": "of one"} if i == 1 else {})}
            write(f"{i}.json", {".zattrs": json.dumps(attributes)}, array("t", ["t"], np.array([i], "<f8")), array("v", ["t"], np.array([i], "<f4")))
        self.assertIn("left out: note of /\n", run("combine", "0.json", "1.json", "-o", "all.json", "--along", "t"))

    def test_units_that_cannot_be_converted_are_a_problem(self):
        for i, units in enumerate(("K", "m s-1")):
            write(f"{i}.json", array("t", ["t"], np.array([i], "<f8")),
                  array("v", ["t", "x"], np.full((1, 100), i, "<f4"), units=units))
        run("combine", "0.json", "1.json", "-o", "all.json", "--along", "t")
        done = attempt("check", "all.json", "--deep")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("1 problem", done.stdout)
        self.assertIn("not converted", done.stdout + done.stderr)
        np.testing.assert_array_equal(read("all.json", "v")[:, 0], [0, 1])

    def test_masters_whose_values_are_all_small_are_written_again(self):
        for i in range(2):
            write(f"{i}.json", array("t", ["t"], np.array([i], "<f8")), array("v", ["t"], np.array([i], "<f4")))
        done = attempt("combine", "0.json", "1.json", "-o", "all.nc", "--along", "t")
        if "this build cannot write netCDF" in done.stderr:
            self.skipTest("this build does not write netCDF")
        self.assertEqual(done.returncode, 0, done.stderr)
        run("combine", "0.json", "1.json", "-o", "all.nc", "--along", "t")
        np.testing.assert_array_equal(read("all.nc", "v"), [0, 1])

    def read_strings(self, name):
        values = gdal.OpenEx('REFS:"all.nca"', gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray(name).Read()
        return [text for row in values for text in ([row] if isinstance(row, str) else row)]

    def test_strings_along_joined_dimensions_are_put_together(self):
        def part(name, first, words, names):
            n = len(words)
            write(name, array("t", ["t"], np.arange(first, first + n, dtype="<f8")), array("v", ["t", "x"], np.full((n, 9), first, "<f8")),
                  *([strings("word", ["t"], words)] if words[0] else ()), strings("pair", ["t", "k"], names))

        part("b.json", 1, ["two", "tr\u00eas"], [["c", ""], ["", "ddd"]])
        part("a.json", 0, ["a long one"], [["a", "b"]])
        part("c.json", 3, [""], [["e", "f"]])
        run("combine", "--format", "cfa", "b.json", "a.json", "-o", "all.nca", "--along", "t")
        self.assertEqual(self.read_strings("word"), ["a long one", "two", "tr\u00eas"])
        self.assertEqual(self.read_strings("pair"), ["a", "b", "c", "", "", "ddd"])
        self.assertIn("word: 1 of 4 values are missing: ", run("append", "all.nca", "c.json"))
        self.assertEqual(self.read_strings("word"), ["a long one", "two", "tr\u00eas", ""])
        self.assertEqual(self.read_strings("pair"), ["a", "b", "c", "", "", "ddd", "e", "f"])

    def test_strings_are_coordinates_along_which_sources_are_joined(self):
        for name, station in (("a.json", "north"), ("b.json", "east")):
            write(name, strings("station", ["station"], [station]), array("v", ["station", "x"], np.full((1, 9), len(station), "<f8")))
        run("combine", "--format", "cfa", "a.json", "b.json", "-o", "all.nca", "--along", "station")
        self.assertEqual(self.read_strings("station"), ["east", "north"])
        self.assertEqual(read("all.nca", "v")[:, 0].tolist(), [4, 5])

    def test_values_that_are_missing_are_reported_once(self):
        for i, name in enumerate(("a.json", "b.json", "c.json", "d.json")):
            write(name, array("t", ["t"], np.array([i], "<f8")), array("v", ["t", "x"], np.full((1, 9), i, "<f8")),
                  *([array("w", ["t"], np.array([i], "<f8")), array("u", ["x"], np.arange(9.0), coordinates="w")] if i in (0, 2) else ()))
        self.assertIn("w: 1 of 2 values are missing: ", run("combine", "--format", "cfa", "a.json", "b.json", "-o", "all.nca", "--along", "t"))
        self.assertNotIn("are in no source", run("append", "all.nca", "c.json"))
        self.assertIn("w: 1 of 4 values are missing: ", run("append", "all.nca", "d.json"))
        w = read("all.nca", "w")
        self.assertEqual((w[0], w[2], w[1] == w[3]), (0, 2, True))

    def test_tiles_with_the_same_times_have_one_unit_in_any_order(self):
        for y in range(2):
            units, values = (("hours since 2000-01-01", [24.0, 48.0]), ("days since 2000-01-01", [1.0, 2.0]))[y]
            write(f"{y}.json", array("t", ["t"], np.array(values), units=units), array("y", ["y"], np.array([y], "<f8")),
                  array("v", ["t", "y"], np.full((2, 1), y, "<f4")))
        made = []
        for names in (("0.json", "1.json"), ("1.json", "0.json")):
            run("combine", *names, "-o", "all.json", "--along", "t", "--along", "y")
            with open("all.json", encoding="utf-8") as file:
                made.append(json.load(file)["refs"])
            self.assertEqual(json.loads(made[-1]["t/.zattrs"])["units"], "days since 2000-01-01")
        self.assertEqual({key: value for key, value in made[0].items() if not key.startswith("_")},
                         {key: value for key, value in made[1].items() if not key.startswith("_")})

    def test_large_grids_that_files_of_a_master_share_are_compared(self):
        for name, t, moved in (("a.json", 0.0, 0), ("b.json", 1.0, 0.5)):
            grid = np.arange(20000, dtype="<f8").reshape(200, 100)
            grid[100:] += moved
            write(name, array("t", ["t"], np.array([t]), units="days since 2000-01-01"), array("lat2d", ["y", "x"], grid, units="degrees_north"),
                  array("v", ["t", "y", "x"], np.full((1, 200, 100), t, "<f4")))
        said = run("combine", "--format", "cfa", "a.json", "b.json", "-o", "ab.nca", "--along", "t", status=1)
        self.assertIn("the grids of a.json and b.json differ: lat2d differs in rows", said)

    def test_times_that_are_converted_leave_what_was_told_of_them_before(self):
        told = {"missing_value": 31.0, "valid_range": [0.0, 25.0], "actual_range": [0.0, 21.0]}
        for name, day, units, attributes in (("a.json", 0, "days since 2000-01-01", told), ("b.json", 21, "days since 2000-01-11", told),
                                             ("c.json", 12, "days since 2000-01-01", told), ("d.json", 13, "days since 2000-01-01", {})):
            write(name, array("t", ["t"], np.array([day], "<f8"), units=units, long_name="time", **attributes),
                  array("v", ["t", "x"], np.full((1, 50), day, "<f4")))
        made = []
        for names, output in ((("a.json", "b.json", "c.json", "d.json"), "all.json"), (("a.json", "b.json"), "ab.json"), (("c.json", "d.json"), "cd.json"),
                              (("cd.json", "ab.json"), "all.json"), (("a.json", "c.json"), "ac.json"), (("b.json", "d.json"), "bd.json"),
                              (("ac.json", "bd.json"), "all.json")):
            run("combine", *names, "-o", output, "--along", "t")
            with open(output, encoding="utf-8") as file:
                made.append({key: value for key, value in json.load(file)["refs"].items() if not key.startswith("_")})
        self.assertEqual(read("all.json", "t").tolist(), [0, 12, 13, 31])
        self.assertEqual(set(json.loads(made[0]["t/.zattrs"])), {"_ARRAY_DIMENSIONS", "units", "long_name"})
        self.assertEqual(set(json.loads(made[4]["t/.zattrs"])), {"_ARRAY_DIMENSIONS", "units", "long_name", "missing_value", "valid_range"})
        self.assertEqual(made[3], made[0])
        self.assertEqual(made[6], made[0])

    def test_latitudes_of_single_rows_fall_as_those_of_others_do(self):
        for name, rows in (("n.json", [30.0]), ("m.json", [20.0]), ("s.json", [10.0, 0.0])):
            v = array("v", ["y", "x"], np.repeat(np.array(rows, "<f4"), 50).reshape(-1, 50))
            write(name, array("y", ["y"], np.array(rows), units="degrees_north"), v)
        run("combine", "n.json", "m.json", "-o", "rows.json", "--along", "y")
        self.assertEqual(read("rows.json", "y").tolist(), [20, 30])
        made = []
        for names in (("n.json", "m.json", "s.json"), ("s.json", "rows.json"), ("rows.json", "s.json")):
            run("combine", *names, "-o", "all.json", "--along", "y")
            self.assertEqual(read("all.json", "y").tolist(), [30, 20, 10, 0])
            self.assertEqual(read("all.json", "v")[:, 0].tolist(), [30, 20, 10, 0])
            with open("all.json", encoding="utf-8") as file:
                made.append(json.load(file)["refs"])
        self.assertEqual(made[0], made[1])
        self.assertEqual(made[0], made[2])

    def test_relative_names_with_a_colon_are_no_urls(self):
        values = np.arange(1000, dtype="<f4")[np.newaxis]
        for name in ("file:0.bin", "12:00.bin", "data:0.bin"):
            with open(name, "wb") as file:
                file.write(values.tobytes())
            found = array("v", ["t", "x"], values, chunks=[1, 1000])
            found["v/0.0"] = ["file://" + os.path.abspath(name), 0, 4000]
            run("convert", write("a.json", found), "-o", "b.json", "--relative")
            np.testing.assert_array_equal(read("b.json", "v"), values)

    def test_long_lines_are_one_name(self):
        write("a.json", array("t", ["t"], np.array([0], "<f8")))
        for line in ("x" * 70000 + "a.json\n", "a.json\0\n"):
            done = subprocess.run([REFS, "combine", "-", "-o", "b.json"], input=line, capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("invalid name", done.stderr)

    def test_shorter_strings_are_not_mixed_with_longer_ones(self):
        for name, value in (("a.json", b"ab"), ("b.json", b"abc")):
            write(name, array("t", ["t"], np.array([1.0]), units="days since 2000-01-01"),
                  array("name", ["t"], np.array([value], dtype=f"S{len(value)}")))
        done = attempt("combine", "a.json", "b.json", "--along", "t", "-o", "ab.json")
        self.assertNotEqual(0, done.returncode)
        self.assertIn("between a.json and b.json: remove one of them", done.stderr)

    def test_large_arrays_that_sets_share_are_compared(self):
        """A coordinate along one of two dimensions is that of the first part: sets tell as files do where they differ."""
        document = {"zarr_format": 2, "shape": [2000, 36000], "chunks": [1000, 36000], "dtype": "|u1", "fill_value": None,
                    "order": "C", "compressor": None, "filters": None}
        for name, t, first in (("a", 0.0, b"\0"), ("b", 1.0, b"\1")):
            with open(name + ".bin", "wb") as file:
                file.write(first)
                file.truncate(2 * 36000000)
            mask = {"mask/.zarray": json.dumps(document), "mask/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["z", "x"]}),
                    **{f"mask/{z}.0": [name + ".bin", z * 36000000, 36000000] for z in (0, 1)}}
            write(name + ".json", array("t", ["t"], np.array([t]), units="days since 2000-01-01"),
                  array("z", ["z"], np.arange(2000.0), units="m"),
                  array("v", ["t", "z"], np.full((1, 2000), t), coordinates="mask"), mask)
        done = attempt("combine", "a.json", "b.json", "--along", "t", "--along", "z", "-o", "ab.json")
        self.assertIn("mask: differs between a.json and b.json", done.stderr)


class SharedByTiles(InFolder):
    """A variable that lacks a concat dimension is in the tiles of all its steps: once in the result, so it must have the same values."""

    ALONG = ("--along", "time", "--along", "y")
    OUTPUTS = ("o.json", "o.parq", "o.icechunk", "o.nc", "o.nca")

    def tile(self, time, y, width, **changes):
        name = f"{time}_{y}.nc"
        values = {"lon": np.arange(2. * width).reshape(2, width), "alt": np.array([y, y + 1.]), "w": np.array([y, y + 1.]), "s": np.full((2, width), y, "f4")}
        with netCDF4.Dataset(name, "w") as file:
            for dim, n in (("time", 1), ("y", 2), ("x", width)):
                file.createDimension(dim, n)
            axis = file.createVariable("time", "f8", ("time",))
            axis.units = "hours since 2020-01-01"
            axis[:] = time
            file.createVariable("y", "f8", ("y",))[:] = [y, y + 1]
            for path, units in (("lon", "degrees_east"), ("alt", "m"), ("w", None), ("s", None)):
                variable = file.createVariable(path, values[path].dtype, ("y", "x")[:values[path].ndim], fill_value=-1)
                if units is not None:
                    variable.units = units
                variable[...] = changes.get(path, values[path])
            field = file.createVariable("t", "f4", ("time", "y", "x"))
            field.coordinates = "lon alt"
            field[...] = 10 * time + y
        return name

    def make(self, output, *names, **more):
        if os.path.exists(output):
            shutil.rmtree(output) if os.path.isdir(output) else os.remove(output)
        verb = ["combine", "--format", "cfa"] if output.endswith(".nca") else ["index"]
        return run(*verb, *names, "-o", output, *self.ALONG, **more)

    def test_is_an_error_if_it_differs_however_tiles_are_combined(self):
        """lon and s are stored as values if they are narrow, else as references to chunks."""
        for width, path in ((3, "lon"), (3, "alt"), (3, "w"), (300, "lon"), (300, "s")):
            a, b, d = self.tile(0, 0, width), self.tile(0, 2, width), self.tile(1, 2, width)
            c = self.tile(1, 0, width, **{path: 70})
            for output in self.OUTPUTS:
                with self.subTest(width=width, path=path, output=output):
                    said = self.make(output, a, b, c, d, status=1)
                    self.assertRegex(said, f"{path}: differs between 0_0.nc and 1_0.nc")
                    self.make(output, a, d)
                    run("append", output, b, *self.ALONG)
                    before = read(output, path).tolist()
                    said = run("append", output, c, *self.ALONG, status=1)
                    self.assertRegex(said, f"{path}: differs between .* and ")
                    self.assertIn(c, said)
                    self.assertEqual(read(output, path).tolist(), before)
                    self.make(output, c, d)
                    self.assertRegex(run("append", output, a, *self.ALONG, status=1), f"{path}: differs between .* and ")
            with self.assertRaisesRegex(RuntimeError, f"{path}: differs between"):
                gdal.OpenEx('REFS:"*_*.nc"', gdal.OF_MULTIDIM_RASTER, open_options=["ALONG=time,y"])

    def test_is_placed_if_it_is_equal(self):
        """Values that only some tiles have are not different."""
        for width in (3, 300):
            a, b, c = self.tile(0, 0, width), self.tile(0, 2, width), self.tile(1, 0, width)
            for output, append in itertools.product(self.OUTPUTS, (False, True)):
                with self.subTest(width=width, output=output, append=append):
                    d = self.tile(1, 2, width, **({"w": -1} if output != "o.nca" else {}))  # a fragment cannot be of both
                    self.make(output, *((a, d) if append else (a, b, c, d)))
                    for name in (b, c) if append else ():
                        run("append", output, name, *self.ALONG)
                    self.assertEqual(read(output, "lon").tolist(), 2 * np.arange(2. * width).reshape(2, width).tolist())
                    self.assertEqual(read(output, "w").tolist(), [0, 1, 2, 3])
                    self.assertEqual(read(output, "alt").tolist(), [0, 1, 2, 3])
                    self.assertEqual(read(output, "t")[:, :, 0].tolist(), [[0, 0, 2, 2], [10, 10, 12, 12]])


    def test_is_an_error_in_any_tile_of_an_aggregation(self):
        """Values of the mask are too many to be kept; those of few have another type in the next time."""
        def tile(time, y, dtype, width, value=1):
            name = self.tile(time, y, 3)
            with netCDF4.Dataset(name, "a") as file:
                file.createDimension("wide", width)
                file.createVariable("mask", dtype, ("y", "wide"))[...] = value
            return name

        for width, types in ((20000, ("f4", "i4", "f4", "i4")), (100, ("f4", "f4", "f8", "f8"))):
            for value in (1, 2):
                names = [tile(time, y, dtype, width, value if time and y else 1) for (time, y), dtype in zip(itertools.product((0, 1), (0, 2)), types)]
                said = self.make("o.json", *names, status=int(value == 2))
                self.assertIn("it becomes an aggregation", said)
                self.assertEqual("mask: differs between 0_2.nc and 1_2.nc" in said, value == 2, said)

    def test_is_compared_in_all_tiles_or_in_none_if_types_differ(self):
        """No more than 256 MiB of values are kept, whichever tiles are read first; here 8 MiB of each tile."""
        n = 1024
        values = np.arange(n * n)
        for name, dtype in (("same", "f8"), ("other", "f4")):
            values.astype(dtype).tofile(name)
            values[5000] = 2
        def tile(time, name, dtype):
            return write(f"{time}.json", array("time", ["time"], [time], units="hours since 2020-01-01"), array("y", ["y"], np.arange(n)),
                         array("lon", ["y", "x"], np.zeros((n, n), dtype), [n, n], units="degrees_east"),
                         array("t", ["time", "y"], np.zeros((1, n)), coordinates="lon"), **{"lon/0.0": [name, 0, os.path.getsize(name)]})

        for count, status in ((32, 1), (34, 0)):
            for differing in (1, count - 1):
                with self.subTest(count=count, differing=differing):
                    names = [tile(time, *(("other", "f4") if time == differing else ("same", "f8"))) for time in range(count)]
                    self.make("o.json", *names, "-q", status=status)

    def forecast(self, number, run_time, steps, is_axis, first=0):
        with netCDF4.Dataset(f"{number}.nc", "w") as file:
            axes = {"run": [run_time], "step": steps, "x": [0, 1]}
            for dim in ("run", "step", "x")[not is_axis:]:
                file.createDimension(dim, len(axes[dim]))
            for path, dims, values, more in (
                    ("run", ("run",)[:is_axis], run_time, {"units": "hours since 2020-01-01", "standard_name": "forecast_reference_time"}),
                    ("step", ("step",), steps, {"units": "hours", "standard_name": "forecast_period"}),
                    ("valid", ("step",), np.array(steps) + first, {"units": "hours since 2020-01-01", "standard_name": "time", "bounds": "vb"})):
                variable = file.createVariable(path, "f8", dims)
                variable[...] = values
                variable.setncatts(more)
            file.createDimension("bnds", 2)
            file.createVariable("vb", "f8", ("step", "bnds"))[...] = np.array(steps)[:, None] + first + np.array([-1, 0])
            field = file.createVariable("t", "f4", ("run", "step", "x")[not is_axis:])
            field.coordinates = "run valid"
            field[...] = run_time
        return f"{number}.nc"

    def test_gets_the_dimension_if_it_is_a_time(self):
        """As in xarray.combine_nested: the valid times of a forecast follow from the run, too."""
        along = ("-q", "--along", "run", "--along", "step")
        for is_axis in (False, True):
            a, b, c, d = (self.forecast(number, run_time, steps, is_axis, run_time)
                          for number, (run_time, steps) in enumerate(itertools.product((0, 6), ([0, 3], [6, 9]))))
            valid = np.array([[0], [6]]) + np.array([0, 3, 6, 9])
            run("index", a, b, c, d, *along, "-o", "all.json")
            for groups in ([a, d], [b, c]), ([a, b], [c, d]), ([a, c], [b, d]), ([a, b, d], [c]):
                for i, group in enumerate(groups):
                    run("index", *group, *along, "-o", f"group{i}.json")
                run("combine", "group0.json", "group1.json", *along, "-o", "groups.json")
                with self.subTest(is_axis=is_axis, groups=groups), open("all.json", "rb") as one, open("groups.json", "rb") as other:
                    self.assertEqual(one.read(), other.read())
            for output, append in itertools.product(self.OUTPUTS, (False, True)):
                with self.subTest(is_axis=is_axis, output=output, append=append):
                    self.ALONG = along
                    self.make(output, *((a, d) if append else (a, b, c, d)))
                    for name in (c, b) if append else ():
                        run("append", output, name, *along)
                    np.testing.assert_array_equal(read(output, "valid"), valid)
                    np.testing.assert_array_equal(read(output, "vb"), valid[:, :, None] + [-1, 0])
        for number, (run_time, steps) in enumerate(itertools.product((0, 6), ([0, 3], [6, 9]))):
            self.forecast(number, run_time, steps, True)
        run("index", a, b, c, d, *along, "-o", "same.json")
        self.assertEqual(read("same.json", "valid").tolist(), [0, 3, 6, 9])

    def run_of(self, name, run_time, number, dims, shape, steps=(0, 3)):
        """Valid times by their steps alone."""
        valid = np.broadcast_to(np.array(steps, "f8") + number, shape)
        return write(name, array("run", ["run"], [run_time], units="hours since 2020-01-01", standard_name="forecast_reference_time"),
                     array("step", ["step"], np.array(steps, "f8"), units="hours", standard_name="forecast_period"),
                     array("number", ["number"], [number]), array("valid", dims, valid, units="hours since 2020-01-01", standard_name="time"),
                     array("t", ["run", "number", "step"], np.zeros((1, 1, len(steps)), "f4")))

    def test_is_compared_by_steps_whatever_dimensions_parts_have(self):
        along = ("-q", "--along", "run", "--along", "number", "--along", "step")
        parts = [self.run_of(f"{run_time}{number}.json", run_time, number, ["number", "step"][number:], (1, 2)[number:])
                 for run_time, number in itertools.product((0, 6), (0, 1))]
        run("index", *parts, *along, "-o", "all.json")
        self.assertEqual(read("all.json", "valid").tolist(), [[0, 3], [1, 4]])

    def test_may_have_a_dimension_twice(self):
        n = 300
        parts = [self.run_of(f"{run_time}.json", run_time, 0, ["step", "step"], (n, n), range(n)) for run_time in (0, 6)]
        run("index", *parts, "-q", "--along", "run", "--along", "step", "-o", "all.json")
        self.assertEqual(read("all.json", "valid")[0].tolist(), list(range(n)))


class Bounds(InFolder):
    """Times in several units have bounds that state none, with or without missing values."""

    def write_part(self, chance, i, dtype, missing):
        units, offset, factor = chance.choice((("days since 2000-01-01", 0, 1), ("hours since 2000-01-01", 0, 24), ("days since 1999-12-31", 1, 1)))
        times = (np.arange(chance.choice((1, 2))) + 10 * i + offset) * factor
        bounds, attributes = np.stack([times, times + factor], 1), {}
        if missing and chance.random() < .8:
            attributes = {missing: chance.choice((-999, -888))}
            if chance.random() < .6:
                bounds[0, chance.randrange(2)] = attributes[missing]
        return write(f"{i}.json", array("t", ["t"], times.astype("<f8"), units=units, bounds="tb"), array("tb", ["t", "k"], bounds.astype(dtype), **attributes),
                     array("v", ["t", "x"], np.full((len(times), 50), i, "<f4")))

    def combine(self, names, output):
        run("combine", *names, "-q", "-o", output, "--along", "t")
        with open(output, encoding="utf-8") as file:
            return {key: value for key, value in json.load(file)["refs"].items() if not key.startswith("_")}

    def check(self, what):
        array = gdal.OpenEx('REFS:"all.json"', gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("tb")
        times, bounds, missing = read("all.json", "t"), array.ReadAsArray().astype("f8"), array.GetNoDataValueAsDouble()
        step = 1 if "days" in gdal.OpenEx('REFS:"all.json"', gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("t").GetUnit() else 24
        for k in range(2):
            there = ~np.isin(bounds[:, k], (missing, -999, -888)) & ~np.isnan(bounds[:, k])
            np.testing.assert_array_equal(bounds[there, k], times[there] + k * step, str(what))

    def test_are_the_same_in_any_groups(self):
        for seed in range(16):
            chance = random.Random(seed)
            dtype, missing = chance.choice(("<f8", "<f4", "<i4")), chance.choice(("missing_value", "_FillValue", None))
            names = [self.write_part(chance, i, dtype, missing) for i in range(4)]
            wanted = self.combine(names, "all.json")
            self.check((seed, dtype, missing))
            for groups in ((names[:2], names[2:]), (names[1:3], names[::3]), (names[::2], names[1::2])):
                for i, group in enumerate(groups):
                    self.combine(group, f"group{i}.json")
                self.assertEqual(self.combine(["group1.json", "group0.json"], "again.json"), wanted, (seed, dtype, missing, groups))


class Tiles(InFolder):
    """Sources along two dimensions whose packing differs."""

    def tile(self, t, y, scale):
        return write(f"{t}{y}.json", array("t", ["t"], np.array([t], "<f8")), array("y", ["y"], np.array([2.0 * y, 2 * y + 1])),
                     array("w", ["t", "x"], np.full((1, 50), 8 + t, "<i2"), scale_factor=0.5 if t == 0 else 0.25),
                     array("v", ["t", "y", "x"], np.full((1, 2, 50), (10 * t + y) / scale, "<i2"), scale_factor=scale))

    def check(self, name, tiles):
        root = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        v = root.OpenMDArray("v")
        values, missing = v.ReadAsArray() * (v.GetScale() or 1), v.GetNoDataValueAsDouble()
        for (i, t), (k, y) in itertools.product(enumerate(read(name, "t").tolist()), enumerate(read(name, "y").tolist())):
            np.testing.assert_equal(values[i, k, 0], 10 * t + y // 2 if (int(t), int(y) // 2) in tiles else missing * (v.GetScale() or 1), f"{name} {t} {y}")
        np.testing.assert_array_equal(read(name, "w")[:, 0], [(8 + t) * (0.5 if t == 0 else 0.25) for t in read(name, "t")])

    def test_that_are_appended_in_any_order_are_where_they_belong(self):
        for seed in range(6):
            chance = random.Random(seed)
            tiles = {(t, y): self.tile(t, y, chance.choice((0.5, 0.25))) for t in range(3) for y in range(3)}
            if seed % 2:
                del tiles[chance.choice([*tiles])]
            keys = chance.sample([*tiles], len(tiles))
            for name in (f"{seed}.parq", f"{seed}.json"):
                run("combine", *(tiles[key] for key in keys[:4]), "-q", "-o", name, "--along", "t", "--along", "y")
                for group in (keys[4:6], keys[6:]):
                    run("append", name, *(tiles[key] for key in group), "-q")
                self.check(name, tiles)


if __name__ == "__main__":
    unittest.main()
