"""What verbs of refs write has all that their sources have, or standard error names it. Each test is of a kind that
autotest/fuzz/structured_verbs found.

    lossless_test.py PROGRAM [test ...]
"""

import json
import os
import pathlib
import struct
import subprocess
import sys
import unittest

import netCDF4
import numpy as np
from osgeo import gdal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
from own_folder import OwnFolder  # noqa: E402
from this_build import need  # noqa: E402

need("netcdf")
REFS = os.path.abspath(sys.argv.pop(1))
gdal.UseExceptions()

MASTERS = [("split", "--cfa-version", version) for version in ("0.4", "0.5", "1.13")]
MASTERS += [("combine", "--format", "cfa", "--cfa-version", version) for version in ("0.4", "0.5", "1.13")]


def document(shape, dtype, data=None, fill=0, **attributes):
    """A set of one array "v", and the coordinate of its first dimension."""
    refs = {".zgroup": {"zarr_format": 2}}
    dims = ["x", "y", "z"][: len(shape)]
    for name, size, kind, value in (("v", shape, dtype, fill), ("x", shape[:1], "<f8", None)):
        refs[f"{name}/.zarray"] = {"zarr_format": 2, "shape": size, "chunks": size, "dtype": kind, "compressor": None, "filters": None,
                                   "fill_value": value, "order": "C"}  # fmt: skip
        refs[f"{name}/.zattrs"] = {"_ARRAY_DIMENSIONS": dims[: len(size)], **(attributes if name == "v" else {})}
    refs = {key: json.dumps(value) for key, value in refs.items()}
    if shape:
        refs["x/0"] = {"bytes": struct.pack(f"<{shape[0]}d", *range(shape[0]))}
    if data is not None:
        refs["v/" + ".".join("0" * len(shape) or "0")] = {"bytes": data.tobytes()}
    return refs


class Lossless(OwnFolder):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def write(self, name, refs):
        with open(name + ".bin", "wb") as data, open(name, "w", encoding="utf-8") as file:
            for key, value in refs.items():
                if isinstance(value, dict):
                    refs[key] = [name + ".bin", data.tell(), data.write(value["bytes"])]
            json.dump({"version": 1, "refs": refs}, file)

    def run_verb(self, *arguments, status=0):
        done = subprocess.run([REFS, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, f"{arguments}: {done.stderr}")
        return done.stderr

    def array(self, name, path="/v"):
        dataset = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER)
        return dataset.GetRootGroup().OpenMDArrayFromFullname(path), dataset

    def values(self, name, path="/v"):
        """Those that are missing are NaN."""
        array, _dataset = self.array(name, path)
        values = array.ReadAsArray().astype(float)
        nodata = array.GetNoDataValueAsDouble()
        return np.where(values == nodata, np.nan, values) if nodata is not None else values

    def masters(self):
        """Each way to write a master of the set a.json, and what is said meanwhile."""
        for verb, *options in MASTERS:
            yield self.run_verb(verb, "a.json", "-o", "m.nca", *options, *(("--along", "x") if verb == "combine" else ()))

    def test_zeros_that_nobody_declared_missing_stay_values(self):
        for dtype in ("<i2", "<f4", "<f8"):
            data = np.array([[0, 1, 2], [3, 0, 0]], dtype)
            self.write("a.json", document([2, 3], dtype, data))
            for _ in self.masters():
                np.testing.assert_array_equal(self.values("m.nca"), data)

    def test_what_is_not_stored_stays_the_value_that_it_is_read_as(self):
        self.write("a.json", document([2, 3], "<i2"))
        self.run_verb("split", "a.json", "-o", "m.nca")
        np.testing.assert_array_equal(self.values("m.nca"), np.zeros((2, 3)))

    def test_many_fragments_are_written_of_what_is_stored_only(self):
        few = document([20000], "<i2")
        few["v/.zarray"] = few["v/.zarray"].replace('"chunks": [20000]', '"chunks": [100]')
        self.write("a.json", few)
        said = self.run_verb("split", "a.json", "-o", "m.nca", "--subarray-shape", "1", status=1)
        self.assertIn("/v: expected at most 16384 fragments, as it holds 0 of 200 chunks and has no fill value, found 20000", said)
        self.assertFalse(os.path.exists("m.nca") or os.path.exists("m"))
        self.run_verb("split", "a.json", "-o", "m.nca", "--subarray-shape", "100")
        np.testing.assert_array_equal(self.values("m.nca"), np.zeros(20000))

    def test_declared_values_stay_missing(self):
        data = np.array([-9999, 0, 1], "<i2")
        expected = [np.nan, 0, 1]
        for refs in (document([3], "<i2", data, -9999), document([3], "<i2", data, 0, _FillValue=-9999)):
            self.write("a.json", refs)
            for _ in self.masters():
                np.testing.assert_array_equal(self.values("m.nca"), expected)

    def test_all_bytes_stay_values(self):
        for dtype, numbers in (("|i1", [-128, -127, 0, 127]), ("|u1", [0, 127, 128, 255])):
            self.write("a.json", document([4], dtype, np.array(numbers, dtype)))
            for _ in self.masters():
                np.testing.assert_array_equal(self.values("m.nca"), numbers)

    def test_all_bytes_stay_values_where_none_can_be_missing(self):
        for dtype, numbers in (("|i1", [-128, -127, 0, 127]), ("|u1", [0, 127, 128, 255])):
            for missing in (float("nan"), [float("nan")], float("inf"), "none"):
                self.write("a.json", document([4], dtype, np.array(numbers, dtype), None, missing_value=missing))
                for _ in self.masters():
                    np.testing.assert_array_equal(self.values("m.nca"), numbers)
                self.run_verb("index", "a.json", "-o", "o.json", "--along", "x")
                np.testing.assert_array_equal(self.values("o.json"), numbers)
        self.write("a.json", document([4], "|i1", np.array([1, 2, 3, 4], "|i1"), None, missing_value=2))
        for _ in self.masters():
            np.testing.assert_array_equal(self.values("m.nca"), [1, np.nan, 3, 4])

    def test_all_bytes_stay_values_whatever_attributes_call_valid(self):
        numbers = np.array([0, 1, 2, 255], "|u1")
        self.write("a.json", document([4], "|u1", numbers, flag_values=[0, 1, 2]))
        self.run_verb("index", "a.json", "-o", "o.nc", "--along", "x")
        np.testing.assert_array_equal(self.values("o.nc"), numbers)
        self.write("a.json", document([4], "|u1", numbers, valid_range=[0, 255]))
        self.run_verb("split", "a.json", "-o", "m.nca")
        self.run_verb("split", "m.nca", "-o", "n.nca")
        np.testing.assert_array_equal(self.values("n.nca"), numbers)

    def test_booleans_become_bytes_without_what_would_tell_their_signs(self):
        self.write("a.json", document([2], "|b1", np.array([False, True]), _Unsigned="true", valid_min=-1))
        for _ in self.masters():
            dataset = gdal.Open('REFS:"m.nca":/v')
            self.assertEqual(dataset.GetRasterBand(1).GetMaskBand().ReadAsArray().tolist(), [[255, 255]])

    def test_a_fill_value_that_no_element_can_have_makes_none_missing(self):
        numbers = np.array([0, 1, 65536 - 9999], "<u2")
        self.write("a.json", document([3], "<u2", numbers, _FillValue=-9999))
        for _ in self.masters():
            np.testing.assert_array_equal(self.values("m.nca"), numbers)

    def test_integers_keep_missing_values_that_they_cannot_have(self):
        data = np.array([0, 1, 2], "<i2")
        for missing in (float("nan"), 1.5):
            self.write("a.json", document([3], "<i2", data, None, missing_value=missing))
            for _ in self.masters():
                np.testing.assert_array_equal(self.values("m.nca"), data)
                np.testing.assert_equal(self.array("m.nca")[0].GetAttribute("missing_value").Read(), missing)

    def test_a_scale_of_zero_is_the_scale_of_fragments_too(self):
        data = np.array([1, 2, 3], "<i4")
        self.write("a.json", document([3], "<i4", data, None, scale_factor=0.0))
        for version in ("0.4", "0.5"):
            self.run_verb("split", "a.json", "-o", "m.nca", "--cfa-version", version)
            np.testing.assert_array_equal(self.values("m.nca"), data)

    def test_attributes_that_only_look_like_those_of_aggregations_are_kept(self):
        data = np.array([[1, 2], [3, 4]], "<i4")
        self.write("a.json", document([2, 2], "<i4", data, None, aggregated_dimensions="time x"))
        for _ in self.masters():
            np.testing.assert_array_equal(self.values("m.nca"), data)
        self.run_verb("split", "a.json", "-o", "m.nca", "--cfa-version", "0.5")
        self.assertEqual(self.array("m.nca")[0].GetAttribute("aggregated_dimensions").Read(), "time x")
        scalar = document([], "<i4", np.array(7, "<i4"), None, aggregated_dimensions="time x")
        scalar = {key.replace("v/", "s/"): value for key, value in scalar.items() if key.startswith("v/")}
        self.write("a.json", {**document([2, 2], "<i4", data), **scalar})
        self.run_verb("index", "a.json", "-o", "m.nc", "--along", "x")
        self.assertEqual(self.array("m.nc", "/s")[0].GetAttribute("aggregated_dimensions").Read(), "time x")

    def test_attributes_that_ncdump_also_shows_of_storage_are_kept(self):
        """Files that came by way of OPeNDAP have them as attributes; netCDF-C gives them no meaning."""
        stored = {"_ChunkSizes": [1, 2], "_DeflateLevel": 4, "_Storage": "chunked"}
        self.write("a.json", document([2], "<f4", np.ones(2, "<f4"), **stored))
        for verb in MASTERS:
            with self.subTest(verb):
                self.run_verb(verb[0], "a.json", *verb[1:], "-o", "m.nca")
                array = gdal.OpenEx('REFS:"m.nca"', gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("v")
                found = {item.GetName(): item.Read() for item in array.GetAttributes() if item.GetName() in stored}
                self.assertEqual(found, {"_ChunkSizes": (1, 2), "_DeflateLevel": 4, "_Storage": "chunked"})

    def test_keys_of_no_array_are_named(self):
        self.write("a.json", {**document([2], "<i4", np.array([1, 2], "<i4")), "readme": "text", "v/notes": "more"})
        for said in self.masters():
            self.assertRegex(said, "a.json: .*keys that belong to no array.*: readme, v/notes")
            self.assertEqual(said.count("left out"), 1)

    def test_numbers_that_sources_share_are_compared_whatever_their_type(self):
        for dtype, numbers in (("<f2", (1.5, 2.5)), (">f2", (1.5, 2.5)), ("<c8", (1 + 2j, 1 - 2j)), ("<c16", (1, 3))):
            for k, number in enumerate((*numbers, numbers[0])):
                refs = document([2], "<f8", np.array([1.0, 2.0]))
                refs["x/0"] = {"bytes": struct.pack("<2d", *(range(2, 4) if k else range(2)))}
                shared = document([], dtype, np.array(number, dtype), None)
                refs.update({key.replace("v/", "s/"): value for key, value in shared.items() if key.startswith("v/")})
                self.write(f"{k}.json", refs)
            self.assertIn("s: differs between", self.run_verb("index", "0.json", "1.json", "--along", "x", "-o", "o.json"))
            self.assertEqual(self.run_verb("index", "0.json", "2.json", "--along", "x", "-o", "o.json"), "")

    def test_dimensions_of_one_name_and_two_lengths_are_refused(self):
        longer = document([4], "<i4", np.arange(4, dtype="<i4"))
        longer = {key.replace("v/", "g/w/"): value for key, value in longer.items() if key.startswith("v/")}
        self.write("a.json", {**document([2], "<i4", np.array([1, 2], "<i4")), **longer})
        said = self.run_verb("combine", "a.json", "-o", "m.nca", "--along", "x", "--format", "cfa", status=1)
        self.assertIn("dimension x has the lengths 2 and 4", said)
        self.run_verb("split", "a.json", "-o", "m.nca")
        np.testing.assert_array_equal(self.values("m.nca", "/g/w"), np.arange(4))

    def test_a_variable_with_two_lengths_of_one_dimension_is_refused(self):
        square = document([3, 4], "<i4", np.arange(12, dtype="<i4").reshape(3, 4))
        square = {key.replace("v/", "g/w/"): value for key, value in square.items() if key.startswith("v/")}
        square["g/w/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["y", "y"]})
        self.write("a.json", {**document([2], "<i4", np.array([1, 2], "<i4")), **square})
        said = self.run_verb("index", "a.json", "-o", "m.nc", "--along", "x", status=1)
        self.assertIn("w has 12 elements, but its dimensions 16: dimensions of one name differ in length", said)

    def test_complex_numbers_are_left_out_of_masters_as_other_structures_are(self):
        for name, dtype in (("complex", [("r", "f8"), ("i", "f8")]), ("structure", [("a", "i4"), ("b", "f8")])):
            with netCDF4.Dataset(f"{name}.nc", "w") as file:
                file.createDimension("x", 2)
                for path in "x", "v":
                    file.createVariable(path, "f8", ("x",))[:] = [1, 2]
                kind = file.createCompoundType(np.dtype(dtype), "kind")
                for path, dims in (("z", ("x",)), ("s", ())):
                    file.createVariable(path, kind, dims)[...] = np.zeros([2] * len(dims), dtype)
            said = self.run_verb("index", f"{name}.nc", "-o", "m.nc", "--along", "x")
            self.assertIn("z is left out: aggregations can hold only numbers", said)
            self.assertIn("s is left out: aggregations can hold only numbers", said)
            np.testing.assert_array_equal(self.values("m.nc", "/v"), [1, 2])

    @staticmethod
    def write_steps(names):
        """A file for each letter, with one step of v(t, k)."""
        for name in names:
            with netCDF4.Dataset(f"{name}.nc", "w") as file:
                file.createDimension("t", 1)
                file.createDimension("k", 2)
                file.createVariable("t", "f8", ("t",))[:] = ord(name)
                file.createVariable("v", "f4", ("t", "k"))[:] = 1

    def test_what_only_a_master_has_is_named_where_append_leaves_it_out(self):
        self.write_steps("abc")
        for form in ("index", "--along", "t"), ("combine", "--format", "cfa"):
            self.run_verb(*form, "a.nc", "b.nc", "-o", "m.nca")
            with netCDF4.Dataset("m.nca", "a") as file:
                file.createVariable("scalar", "f8", ())[...] = 7
                file.createVariable("own", "f8", ("k",))[:] = 8
            said = self.run_verb("append", "m.nca", "c.nc")
            for path, value in ("scalar", 7), ("own", 8):
                if form[0] == "index":
                    self.assertIn(f"{path} is left out: only the master has it, none of its sources", said)
                else:
                    self.assertEqual(np.unique(self.values("m.nca", f"/{path}")), value)

    def test_values_of_a_master_that_those_of_an_added_source_replace_are_named(self):
        self.write_steps("abcd")
        for name in "abcd":
            with netCDF4.Dataset(f"{name}.nc", "a") as file:
                file.createVariable("shared", "f4", ("k",))[:] = 1
                if name > "b":
                    file.createVariable("scalar", "f8", ())[...] = 9
                    file.createVariable("own", "f8", ("k",))[:] = 9
        self.run_verb("index", "--along", "t", "a.nc", "b.nc", "-o", "m.nca")
        with netCDF4.Dataset("m.nca", "a") as file:
            file.createVariable("scalar", "f8", ())[...] = 7
            file.createVariable("own", "f8", ("k",))[:] = 8
        said = self.run_verb("append", "m.nca", "c.nc")
        for path in "scalar", "own":
            self.assertRegex(said, f"warning: {path}: values of the master, which none of its sources has, are replaced by those of [^ ]*c.nc: add")
        self.assertEqual(said.count("replaced"), 2)
        self.assertNotIn("replaced", self.run_verb("append", "m.nca", "d.nc"))

    def test_what_a_shared_variable_lacks_is_that_of_others_in_both_forms_of_masters(self):
        shared = {"a": [1, -1, 3, -1], "b": [-1, 2, 3, -1], "c": [1, 2, -1, -1], "d": None}
        for step, (name, values) in enumerate(shared.items()):
            with netCDF4.Dataset(f"{name}.nc", "w") as file:
                file.createDimension("t", 1)
                file.createDimension("k", 4)
                file.createVariable("t", "f8", ("t",))[:] = step
                file.createVariable("v", "f4", ("t", "k"))[:] = step
                if values is not None:
                    file.createVariable("w", "f4", ("k",), fill_value=-1)[:] = values
        for form in ("index", "--along", "t"), ("combine", "--format", "cfa"):
            for first, *others in ("abcd",), ("ab", "c", "d"), ("a", "d", "b"), ("cd", "a"), ("b", "a", "c"), ("d", "a", "b"):
                self.assertEqual(self.run_verb(*form, *(f"{name}.nc" for name in first), "-o", "m.nca"), "")
                for name in others:
                    self.assertEqual(self.run_verb("append", "m.nca", f"{name}.nc"), "")
                np.testing.assert_array_equal(self.values("m.nca", "/w"), [1, 2, 3, np.nan], f"{form} {first} {others}")
                self.assertEqual(self.values("m.nca", "/v").shape[0], len(first) + len(others))

    def test_times_of_numpy_are_no_fragments(self):
        data = np.arange(128).reshape(2, 8, 8)
        self.write("a.json", document([2, 8, 8], "<M8[s]", data.astype("<M8[s]"), None))
        said = self.run_verb("index", "a.json", "-o", "m.nca", "--along", "x")
        self.assertIn("v is left out", said)
        said = self.run_verb("combine", "a.json", "-o", "m.nca", "--along", "x", "--format", "cfa", status=1)
        self.assertIn("a.json: v has the type <M8[s], which fragments cannot have", said)
        self.run_verb("split", "a.json", "-o", "m.nca")
        np.testing.assert_array_equal(self.values("m.nca"), data)

    def test_what_a_source_refers_to_is_not_replaced(self):
        data = np.array([[1, 2], [3, 4]], "<i4")
        self.write("a.json", document([2, 2], "<i4", data, None))
        self.run_verb("split", "a.json", "-o", "m.nca")
        self.run_verb("index", "m.nca", "-o", "of_master.json")
        self.run_verb("index", "m/m.v.0.0.nc", "-o", "of_fragment.json")
        os.mkdir("other")
        os.link("m.nca", "other/linked.nca")
        with open("m.nca", "rb") as master, open("copied.nca", "wb") as copied:
            copied.write(master.read())
        before = {name: pathlib.Path(name).read_bytes() for name in ("m.nca", "m/m.v.0.0.nc")}
        for source in ("of_master.json", "of_fragment.json", "m/m.v.0.0.nc", "copied.nca"):
            for output in ("m.nca", os.path.abspath("m.nca"), "other/../m.nca"):
                said = self.run_verb("split", source, "-o", output, "--cfa-version", "0.5", status=1)
                self.assertIn(f"{output}: would overwrite ", said)
                self.assertEqual(before, {name: pathlib.Path(name).read_bytes() for name in before})
        os.chdir("other")
        said = self.run_verb("split", "../copied.nca", "-o", "../m.nca", status=1)
        self.assertIn("../m.nca: would overwrite ", said)
        os.chdir("..")
        self.assertEqual(before, {name: pathlib.Path(name).read_bytes() for name in before})
        said = self.run_verb("combine", "of_master.json", "-o", "m.nca", "--along", "x", "--format", "cfa", status=1)
        self.assertIn("which", said)
        self.run_verb("combine", "m/m.v.0.0.nc", "-o", "m.nca", "--along", "x", "--format", "cfa")
        np.testing.assert_array_equal(self.values("m.nca"), data)
        self.run_verb("split", "a.json", "-o", "n.nca")
        self.run_verb("split", "m/m.v.0.0.nc", "-o", "n.nca")
        np.testing.assert_array_equal(self.values("n.nca"), data)

    def test_dimensions_that_a_group_hides_are_refused(self):
        """In either order: both arrays are aggregations, and the dimension x of the root is hidden by one of g."""
        for names in (("a", "b"), ("b", "a")):
            refs = {".zgroup": '{"zarr_format":2}', "g/.zgroup": '{"zarr_format":2}'}
            for name, size in zip(names, (2, 1)):
                one = document([size], "<i2", np.arange(size, dtype="<i2"))
                refs.update({key.replace("v/", f"g/{name}/"): value for key, value in one.items() if key.startswith("v/")})
            longer = document([2], "<i2", np.arange(2, dtype="<i2"))
            refs.update({key: value for key, value in longer.items() if key.startswith("x/")})
            self.write("a.json", refs)
            said = self.run_verb("index", "a.json", "-o", "m.nca", "--along", "t", status=1)
            self.assertRegex(said, "dimensions of one name differ in length|dimension x has different sizes: 1 and 2")
            self.assertFalse(os.path.exists("m.nca"))

    def test_an_array_with_one_dimension_twice_is_not_cut(self):
        data = np.arange(9, dtype="<u8").reshape(3, 3)
        square = document([3, 3], "<u8", data)
        square["v/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["x", "x"]})
        self.write("a.json", square)
        for options in (("--subarray-shape", "2,2"), ("--subarray-shape", "x=1"), ("--subarray-size", "16")):
            for version in ("0.4", "0.5", "1.13"):
                self.run_verb("split", "a.json", "-o", "m.nca", "--cfa-version", version, *options)
                np.testing.assert_array_equal(self.values("m.nca"), data)

    def steps(self, name, begin, n, value, **attributes):
        """A set with a coordinate t, and a variable v that does not have it."""
        refs = document([2], "<i4", np.array([value, value + 1], "<i4"), None, **attributes)
        times = document([n], "<f8", np.arange(n, dtype="<f8"))
        times = {key.replace("x/", "t/"): value for key, value in times.items() if key.startswith("x/")}
        times["t/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["t"], "units": "days since 2000-01-01"})
        times["t/0"] = {"bytes": struct.pack(f"<{n}d", *range(begin, begin + n))}
        self.write(name, {**refs, **times})

    def test_append_keeps_steps_that_no_fragment_has(self):
        for version in ("0.4", "0.5", "1.13"):
            self.steps("a.json", 0, 3, 7)
            self.run_verb("split", "a.json", "-o", "m.nca", "--cfa-version", version)
            self.run_verb("append", "m.nca", "m/m.outline.nca", "--along", "t")
            np.testing.assert_array_equal(self.values("m.nca", "/t"), [0, 1, 2])
            self.steps("b.json", 3, 2, 7)
            self.run_verb("append", "m.nca", "b.json", "--along", "t")
            np.testing.assert_array_equal(self.values("m.nca", "/t"), range(5))
            np.testing.assert_array_equal(self.values("m.nca"), [7, 8])

    def test_append_to_an_outline_keeps_steps_of_what_is_added(self):
        self.steps("a.json", 0, 3, 7)
        self.run_verb("split", "a.json", "-o", "m.nca")
        coordinates = {key: value for key, value in document([2], "<i4").items() if not key.startswith("v/")}
        coordinates["t/.zarray"] = coordinates["x/.zarray"]
        coordinates["t/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["t"], "units": "days since 2000-01-01"})
        coordinates["t/0"] = {"bytes": struct.pack("<2d", 3, 4)}
        self.write("b.json", coordinates)
        self.run_verb("append", "m/m.outline.nca", "b.json", "--along", "t")
        np.testing.assert_array_equal(self.values("m/m.outline.nca", "/t"), range(5))

    def test_append_finds_sources_that_have_no_fragment(self):
        for k in range(3):
            self.steps(f"{k}.json", 2 * k, 2, k)
        said = self.run_verb("combine", "0.json", "1.json", "-o", "m.nca", "--along", "t", "--format", "cfa")
        self.assertIn("v: differs between 0.json and 1.json", said)
        said = self.run_verb("append", "m.nca", "1.json", "--along", "t", status=1)
        self.assertIn("1.json: m.nca already has this fragment", said)
        said = self.run_verb("append", "m.nca", "2.json", "--along", "t")
        self.assertIn("v: differs between 0.json and ", said)
        np.testing.assert_array_equal(self.values("m.nca", "/t"), range(6))
        self.assertEqual(self.run_verb("check", "m.nca").strip(), "")

    def test_append_compares_what_fragments_share(self):
        for name, begin, value in (("a.json", 0, 7), ("b.json", 2, 70)):
            self.steps(name, begin, 2, value)
            with open(name, encoding="utf-8") as file:
                refs = json.load(file)["refs"]
            refs.update({"w/" + key[2:]: value for key, value in document([2], "<i4").items() if key.startswith("v/")})
            refs["w/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["t"]})
            with open(name, "w", encoding="utf-8") as file:
                json.dump({"version": 1, "refs": refs}, file)
        for verb, *options in MASTERS:
            self.run_verb(verb, "a.json", "-o", "m.nca", *options, *(("--along", "t") if verb == "combine" else ()))
            said = self.run_verb("append", "m.nca", "b.json", "--along", "t")
            self.assertRegex(said, "v: differs between .*, element 0 of v is 7 and 70")
            np.testing.assert_array_equal(self.values("m.nca"), [7, 8])
            np.testing.assert_array_equal(self.values("m.nca", "/t"), range(4))

    def test_values_that_one_source_calls_invalid_differ(self):
        self.steps("a.json", 0, 2, 7)
        self.steps("b.json", 2, 2, 7, valid_max=7)
        for names in ("ab", "ba"):
            said = self.run_verb("index", *(f"{name}.json" for name in names), "-o", "o.json", "--along", "t")
            self.assertIn("v: differs between a.json and b.json, element 1 of v is 8 and missing", said)

    def test_coordinates_that_sources_share_lose_a_valid_range_that_differs(self):
        for k, limit in enumerate((0.5, 2)):
            self.steps(f"{k}.json", 2 * k, 2, 7)
            with open(f"{k}.json", encoding="utf-8") as file:
                made = json.load(file)
            made["refs"]["x/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["x"], "valid_max": limit})
            with open(f"{k}.json", "w", encoding="utf-8") as file:
                json.dump(made, file)
        for output in ("o.json", "o.nca"):
            self.run_verb("index", "0.json", "1.json", "-o", output, "--along", "t")
            self.assertIsNone(next((a for a in self.array(output, "/x")[0].GetAttributes() if a.GetName() == "valid_max"), None))

    def test_append_refuses_masters_that_have_a_source_twice(self):
        self.write("a.json", document([1], "<i4", np.array([7], "<i4")))
        self.write("b.json", document([1], "<i4", np.array([8], "<i4")))
        for name in ("a.json", "b.json"):
            with open(name, encoding="utf-8") as file:
                refs = {key: value for key, value in json.load(file)["refs"].items() if not key.startswith("x/")}
            with open(name, "w", encoding="utf-8") as file:
                json.dump({"version": 1, "refs": refs}, file)
        self.run_verb("index", *["a.json"] * 3, "-o", "m.nc", "--along", "x")
        before = self.values("m.nc")
        self.assertEqual(before.tolist(), [7, 7, 7])
        said = self.run_verb("append", "m.nc", "b.json", status=1)
        self.assertRegex(said, "cannot append: .*: index all sources again")
        np.testing.assert_array_equal(self.values("m.nc"), before)

    def test_append_refuses_masters_that_do_not_record_where_their_own_values_are_from(self):
        for k in range(2):
            with netCDF4.Dataset(f"{k}.nc", "w") as data:
                data.createDimension("t", 1)
                data.createDimension("x", 40)
                data.createVariable("t", "f8", ("t",))[:] = k
                data.createVariable("v", "f4", ("t", "x"))[:] = k
                data.createVariable("crs", "i4", ())[...] = 1
        self.run_verb("index", "0.nc", "-o", "m.nca", "--along", "t")
        with netCDF4.Dataset("m.nca", "a") as master:
            recorded = json.loads(master.getncattr("_refs_sources"))
            master.setncattr("_refs_sources", json.dumps({**recorded, "sources": []}))
        self.assertIn("cannot append: it holds values itself, and has no record", self.run_verb("append", "m.nca", "1.nc", status=1))

    def day(self, name, time, value):
        with netCDF4.Dataset(name, "w") as data:
            data.createDimension("t", 1)
            data.createDimension("x", 3)
            data.createVariable("t", "f8", ("t",))[:] = time
            data.createVariable("v", "f4", ("t", "x"))[:] = value

    def problems(self, name):
        return subprocess.run([REFS, "check", name], capture_output=True, text=True, check=False).stdout

    def test_append_and_check_name_changed_sources_of_values_in_a_master(self):
        for kind in (("index",), ("combine", "--format", "cfa")):
            for k in range(3):
                self.day(f"{k}.nc", k, k)
            self.run_verb(*kind, "0.nc", "1.nc", "-o", "m.nc", "--along", "t")
            os.utime("1.nc", (1e9, 1e9))
            said = "it was modified at 2001-09-09T01:46:40Z, before at "
            self.assertIn(said, self.problems("m.nc"))
            if kind[0] == "index":
                self.assertRegex(self.run_verb("append", "m.nc", "2.nc", status=1), "m.nc: .*/1.nc: it changed after .*" + said)
                np.testing.assert_array_equal(self.values("m.nc", "/t"), [0, 1])
                self.day("1.nc", 9, 9)
                self.assertIn("1.nc changed after", self.run_verb("append", "m.nc", "2.nc", "--changed", "WARN"))
                np.testing.assert_array_equal(self.values("m.nc", "/t"), [0, 2, 9])
                self.run_verb("check", "m.nc")
            os.remove("1.nc")
            self.assertRegex(self.problems("m.nc"), "1.nc.* (No such file|does not exist)")
            if kind[0] == "index":
                self.assertRegex(self.run_verb("append", "m.nc", "2.nc", status=1), "m.nc: .*/1.nc: No such file .*: restore it or")

    def test_append_warns_that_edited_values_of_a_master_become_those_of_its_sources(self):
        for k in range(4):
            self.day(f"{k}.nc", k, k)
        for edit in (lambda file: file["v"].__setitem__(0, 5), lambda file: file["v"].setncattr("title", "x"), lambda file: file.setncattr("title", "x")):
            self.run_verb("index", "0.nc", "1.nc", "-o", "m.nc", "--along", "t")
            with netCDF4.Dataset("m.nc", "a") as file:
                edit(file)
            self.assertIn("warning: m.nc: another program edited it", self.run_verb("append", "m.nc", "2.nc"))
            np.testing.assert_array_equal(self.values("m.nc")[:, 0], range(3))
            self.assertEqual(self.run_verb("append", "m.nc", "3.nc"), "")

    def test_times_of_numpy_have_no_sign(self):
        data = np.array([-5, 3], "<i8")
        self.write("a.json", document([2], "<M8[s]", data.astype("<M8[s]"), None, units="m", _Unsigned="true", add_offset=0.5))
        self.run_verb("split", "a.json", "-o", "m.nca", "--cfa-version", "1.13")
        np.testing.assert_array_equal(self.values("m.nca"), data + 0.5)

    def test_split_leaves_a_dimension_without_limit_in_its_group(self):
        """In the root CDO took it for the time of all variables."""
        with netCDF4.Dataset("a.nc", "w") as file:
            file.createDimension("x", 2)
            file.createVariable("v", "f4", ("x",))[:] = 1
            group = file.createGroup("outer").createGroup("inner")
            group.createDimension("turn", None)
            group.createVariable("turn", "i4", ("turn",))[:] = np.arange(3)
            group.createVariable("w", "f4", ("turn", "x"))[:] = 2
        for version in ("0.4", "0.5", "1.13"):
            self.run_verb("split", "a.nc", "-o", "m.nca", "--cfa-version", version)
            with netCDF4.Dataset("m.nca") as master:
                self.assertNotIn("turn", master.dimensions, version)
                self.assertTrue(master["outer/inner"].dimensions["turn"].isunlimited(), version)
            self.assertEqual(self.values("m.nca", "/outer/inner/w").tolist(), [[2, 2]] * 3, version)

    def test_only_not_a_time_is_missing_of_times_of_numpy(self):
        """A fill_value that is an instant is that instant where a chunk is absent (xarray)."""
        data = np.array([255, np.iinfo("i8").min, 3, 0], "<i8")
        expected = np.where(data == data[1], np.nan, data)
        for fill, dtype in ((255, "<M8[s]"), (0, "<M8[s]"), (None, "<M8[s]"), ("NaT", "<M8[s]"), (3, "<m8[h]")):
            self.write("a.json", document([4], dtype, data, fill))
            np.testing.assert_array_equal(self.values("a.json"), expected)
            for version in ("0.4", "0.5", "1.13"):
                self.run_verb("split", "a.json", "-o", "m.nca", "--cfa-version", version)
                np.testing.assert_array_equal(self.values("m.nca"), expected, f"{fill} {dtype} {version}")

    def test_fill_values_that_a_set_only_implies_stay_missing(self):
        """Zero is missing in a set of netCDF-3 files; the set that refs writes keeps attributes, and needs one that says so."""
        for k in range(2):
            refs = self.netcdf3(k)
            self.write(f"{k}.json", refs)
        self.run_verb("index", "0.json", "-o", "a.json", "--along", "x")
        self.run_verb("index", "1.json", "-o", "b.json", "--along", "x")
        outputs = {"both.json": ("0.json", "1.json"), "parts.json": ("a.json", "b.json"), "mixed.json": ("a.json", "1.json"), "one.json": ("0.json",)}
        for output, sources in outputs.items():
            self.run_verb("index", *sources, "-o", output, "--along", "x")
            for path in ("/v", "/w"):
                values = self.values(output, path)
                self.assertEqual(np.isnan(values).tolist(), (np.arange(values.size).reshape(values.shape) % 2 == 0).tolist(), (output, path))
        both = pathlib.Path("both.json").read_bytes()
        self.assertEqual((pathlib.Path("parts.json").read_bytes(), pathlib.Path("mixed.json").read_bytes()), (both, both))

    def netcdf3(self, k):
        refs = document([2, 20], ">f4", np.tile(np.array([0, 1], ">f4"), 20).reshape(2, 20))
        thin = document([2], ">f4", np.array([0, 1], ">f4"))
        refs.update({"w/" + key[2:]: value for key, value in thin.items() if key.startswith("v/")})
        refs["x/0"] = {"bytes": struct.pack("<2d", 2 * k, 2 * k + 1)}
        return refs

    def test_attributes_that_an_outline_lacks_are_named(self):
        self.steps("a.json", 0, 2, 7)
        self.run_verb("split", "a.json", "-o", "m.nca")
        self.steps("b.json", 0, 2, 7)
        with open("b.json", encoding="utf-8") as file:
            refs = json.load(file)["refs"]
        refs = {key: value for key, value in refs.items() if not key.startswith("v/")}
        refs[".zattrs"] = json.dumps({"stations": "one"})
        with open("b.json", "w", encoding="utf-8") as file:
            json.dump({"version": 1, "refs": refs}, file)
        said = self.run_verb("combine", "b.json", "m/m.v.0.nc", "-o", "n.nca", "--along", "t", "--format", "cfa")
        self.assertIn("stations of /", said)


class AttributesCalledAsOurs(OwnFolder):
    def test_do_not_keep_a_file_from_being_read(self):
        """What the parsers note of dimensions stands in attributes, whose names others may use."""
        name = os.path.join(self.folder, "others.nc")
        for form in ("NETCDF3_CLASSIC", "NETCDF4"):
            with self.subTest(form), netCDF4.Dataset(name, "w", format=form) as file:
                file.setncatts({"_nc_unused_dimensions": "text", "_nc_unlimited_dimensions": "text"})
                file.createDimension("unused", 3)
                file.createDimension("time", None)
                file.createVariable("time", "i4", ("time",))[:] = [1, 2]
            done = subprocess.run([REFS, "index", name, "-q", "-o", name + ".json"], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), form)
            with open(name + ".json", encoding="utf-8") as made:
                attributes = json.loads(json.load(made)["refs"][".zattrs"])
            self.assertEqual((attributes["_nc_unused_dimensions"], attributes["_nc_unlimited_dimensions"]), ({"unused": 3}, ["time"]), form)


if __name__ == "__main__":
    unittest.main()
