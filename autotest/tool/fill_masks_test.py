"""Elements are missing where their own source says so, and nowhere else: whatever fill values sources have, whether or
not one lacks the variable, and in every form of the result. The netCDF library says what each source has.

    fill_masks_test.py PROGRAM [test ...]
"""

import base64
import glob
import itertools
import json
import math
import os
import subprocess
import sys
import unittest

import netCDF4
import numpy as np
from osgeo import gdal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
from own_folder import VerbsInOwnFolder  # noqa: E402
from this_build import need  # noqa: E402

need("netcdf")
REFS = os.path.abspath(sys.argv.pop(1))
gdal.UseExceptions()

LACKING = object()  # no such variable
UNFILLED = False  # filling is off, which is what HDF5 files of others look like
PAIRS = ((None, 0), (None, 7), (7, 0), (None, UNFILLED), (7, UNFILLED), (UNFILLED, UNFILLED))
FORMS = ("o.json", "o.parq", "o.icechunk", "o.nc", "o.nca", "o.nca by split")
PADDING = 64  # elements that make steps too large to be put into the set


def default_of(dtype):
    return netCDF4.default_fillvals[dtype]


def row_of(dtype, size=0):
    """All values that some source takes for a missing one, and the extreme ones."""
    values = [1, 2, 0, 7, default_of(dtype)]
    values += [1e30, -1e30, math.nan] if dtype[0] == "f" else [np.iinfo(dtype).max, np.iinfo(dtype).min]
    return np.array(values + [3] * size, dtype)


def write(name, step, row, fill, file_format="NETCDF4"):
    """A step of v, or of another variable alone. Returns what the library shows: None where an element is missing."""
    with netCDF4.Dataset(name, "w", format=file_format) as file:
        file.createDimension("t", 1)
        file.createDimension("x", row.size)
        file.createVariable("t", "f8", ("t",))[:] = step
        file.createVariable("other", "i4", ("t", "x"))[:] = 1
        if fill is not LACKING:
            variable = file.createVariable("v", row.dtype.str[1:], ("t", "x"), fill_value=fill)
            variable.set_auto_mask(False)
            variable[:] = row[None]
    return [None] * row.size if fill is LACKING else library(name, fill)


def write_set(name, step, **arrays):
    """A step of arrays of version 2: of each, a row and a fill value that no attribute has."""
    refs = {".zgroup": '{"zarr_format":2}', "t/.zattrs": '{"_ARRAY_DIMENSIONS":["t"]}', "t/0": inline(np.array([float(step)]))}
    for path, row, fill in (("t", np.zeros(1), None), *((path, *array) for path, array in arrays.items())):
        shape = [1] if path == "t" else [1, row.size]
        refs[f"{path}/.zarray"] = json.dumps({"zarr_format": 2, "shape": shape, "chunks": shape, "dtype": row.dtype.str, "compressor": None,
                                              "filters": None, "fill_value": fill, "order": "C"})  # fmt: skip
        if path != "t":
            refs |= {f"{path}/.zattrs": '{"_ARRAY_DIMENSIONS":["t","x"]}', f"{path}/0.0": inline(row)}
    with open(name, "w", encoding="utf-8") as file:
        json.dump({"version": 1, "refs": refs}, file)
    return name


def inline(values):
    return "base64:" + base64.b64encode(values.tobytes()).decode()


def library(name, fill=None):
    """NUG, "Fill Values": bytes have no default, nor have files that are not filled, which netCDF4-python masks nevertheless."""
    with netCDF4.Dataset(name) as file:
        values = np.ma.masked_array(file["v"][0])
        mask = np.ma.getmaskarray(values)
        if fill is UNFILLED or (fill is None and values.dtype.itemsize == 1):
            mask = np.zeros_like(mask)
        return shown(values.data, mask)


def shown(values, mask):
    return [None if is_missing or number != number else number for number, is_missing in zip(values.tolist(), mask.tolist())]


def rows(name, path="v"):
    """As rasters show them."""
    dataset = gdal.Open(f'REFS:"{name}":/{path}')
    band = dataset.GetRasterBand(1)
    masks = band.GetMaskBand().ReadAsArray() == 0
    return [shown(row, mask) for row, mask in zip(band.ReadAsArray(), masks)][::-1]


class MaskTest(VerbsInOwnFolder):
    refs = REFS

    def make(self, form, *sources):
        name, *is_split = form.split(" by ")
        if is_split:
            self.run_verb("index", *sources, "--along", "t", "-o", "s.json")
            self.run_verb("split", "s.json", "-o", name)
        elif form.endswith(".nca"):
            self.run_verb("combine", *sources, "--format", "cfa", "--cfa-version", "0.4", "--along", "t", "-o", name)
        else:
            self.run_verb("index", *sources, "--along", "t", "-o", name, *["--format", "icechunk"] * name.endswith(".icechunk"))
        return name


class FillMasks(MaskTest):
    def sources(self, dtype, fills, size):
        """A file for each fill value, whose values are those of one row, each time turned by one."""
        names = [f"{step}.nc" for step in range(len(fills))]
        return names, [write(name, step, np.roll(row_of(dtype, size), step), fill) for step, (name, fill) in enumerate(zip(names, fills))]

    def test_each_source_has_its_own_missing_values(self):
        for dtype, pair, lacking in itertools.product(("i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"), PAIRS, ((), (LACKING,))):
            names, expected = self.sources(dtype, (*pair, *lacking), 0)
            self.assertEqual(rows(self.make("o.json", *names)), expected, f"{dtype} {pair} {lacking}")

    def test_each_source_has_its_own_missing_values_in_every_form(self):
        for dtype, pair, lacking in itertools.product(("u2", "f4"), PAIRS, ((), (LACKING,))):
            names, expected = self.sources(dtype, (*pair, *lacking), PADDING)
            for form in FORMS:
                self.assertEqual(rows(self.make(form, *names)), expected, f"{dtype} {pair} {lacking}: {form}")

    def test_fragments_have_their_own_missing_values_for_the_netcdf_library(self):
        for dtype, pair in itertools.product(("u2", "f4"), PAIRS):
            names, expected = self.sources(dtype, (*pair, LACKING), PADDING)
            self.make("o.nca by split", *names)
            for file in glob.glob("o/*.v.*.nc"):
                self.assertIn(library(file), expected, f"{dtype} {pair}: {file}")

    def test_no_value_of_unfilled_sources_is_missing_where_they_have_a_range(self):
        """Sources that differ in their chunks alone become an aggregation, which fills nothing either."""
        for attributes in ({"valid_range": [-32768, 100]}, {"_Unsigned": "true", "valid_range": [0, -6]}):
            for step in range(2):
                with netCDF4.Dataset(f"{step}.nc", "w") as file:
                    file.createDimension("t", 2)
                    file.createDimension("x", PADDING)
                    file.createVariable("t", "f8", ("t",))[:] = (2 * step, 2 * step + 1)
                    variable = file.createVariable("v", "i2", ("t", "x"), fill_value=UNFILLED, chunksizes=(step + 1, PADDING))
                    variable.set_auto_maskandscale(False)
                    variable.setncatts({name: np.array(value, "i2") if name == "valid_range" else value for name, value in attributes.items()})
                    variable[:] = default_of("i2")
            for form in FORMS:
                missing = [number for row in rows(self.make(form, "0.nc", "1.nc")) for number in row if number is None]
                self.assertEqual(missing, [], f"{attributes} {form}")

    def test_missing_value_alone_stands_for_what_a_source_lacks(self):
        """In masters of CF-1.13, files stand for sources that lack the variable: netCDF's default would be a value in them."""
        for dtype, missing in (*((dtype, 98) for dtype in ("i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")), ("u2", [98, 97])):
            names = ["0.nc", "1.nc"]
            row = np.array([98, 97, 0, 7] * (PADDING // 4), dtype)
            expected = [write(name, step, row, fill) for step, (name, fill) in enumerate(zip(names, (LACKING, None)))]
            with netCDF4.Dataset("1.nc", "a") as file:
                file["v"].missing_value = np.array(missing, dtype)
            expected[1] = shown(row, np.isin(row, missing))
            for form in ("o.json", "o.nc", "o.nca"):
                self.assertEqual(rows(self.make(form, *names)), expected, f"{dtype} {missing} {form}")
                for file in glob.glob("o/o.v.fill.*.nc"):
                    with netCDF4.Dataset(file) as opened:
                        self.assertEqual(np.ma.masked_array(opened["v"][0]).compressed().tolist(), [], f"{dtype} {missing} {file}")
                        self.assertEqual(np.unique(opened["v"][0].data).tolist(), [98], f"{dtype} {missing} {file}")

    def test_integers_of_64_bits_are_right(self):
        """There are no wider ones that would have room for a missing value: where netCDF's default is a value, another one is missing."""
        for dtype, pair, lacking in itertools.product(("i8", "u8"), PAIRS, ((), (LACKING,))):
            fills = (*pair, *lacking)
            names, expected = self.sources(dtype, fills, PADDING)
            for form in ("o.json", "o.icechunk", "o.nca", "o.nca by split"):
                self.assertEqual(rows(self.make(form, *names)), expected, f"{dtype} {fills}: {form}")

    def test_fill_values_that_metadata_alone_have_stay(self):
        for dtype, size, fills in itertools.product(("u2", "f4"), (0, PADDING), ((7, 7), (7, 0), (0, 0), (0, None), (None, 7))):
            names, expected = [], []
            for step, fill in enumerate(fills):
                row = np.roll(row_of(dtype, size), step)
                names.append(write_set(f"{step}.json", step, v=(row, fill), other=(row, fill)))
                expected += rows(names[-1])
            write("2.nc", 2, row, LACKING)
            for n in (2, 3):
                for form in ("o.json", "o.icechunk"):
                    name = self.make(form, *names, *["2.nc"] * (n == 3))
                    self.assertEqual(rows(name), (expected + [[None] * row.size])[:n], f"{dtype} {size} {fills} {form}")

    def test_what_is_joined_in_groups_is_the_same(self):
        for dtype, fill in itertools.product(("u2", "i4", "f4"), (None, 7, UNFILLED)):
            names, expected = self.sources(dtype, (fill, LACKING, fill), PADDING)
            self.run_verb("index", *names, "--along", "t", "-o", "whole.json")
            self.run_verb("index", *names[:2], "--along", "t", "-o", "part.json")
            self.assertEqual(rows(self.make("o.json", "part.json", names[2])), expected, f"{dtype} {fill}")
            with open("o.json", "rb") as one, open("whole.json", "rb") as other:
                self.assertEqual(one.read(), other.read(), f"{dtype} {fill}")

    def test_small_steps_keep_their_type_if_none_of_their_values_is_the_default(self):
        for dtype in ("i2", "u4", "i8"):
            names = [f"{step}.nc" for step in range(3)]
            row = np.array([1, 2, 0, 7], dtype)
            expected = [write(name, step, row, fill) for step, (name, fill) in enumerate(zip(names, (UNFILLED, LACKING, UNFILLED)))]
            self.assertEqual(rows(self.make("o.json", *names)), expected)
            with open("o.json", encoding="utf-8") as file:
                array = json.loads(json.load(file)["refs"]["v/.zarray"])
            self.assertEqual((array["dtype"][1:], array["fill_value"]), (dtype, default_of(dtype)))

    def test_packed_integers_that_a_source_lacks_keep_their_fractions(self):
        for dtype in ("u1", "i2"):
            for step in range(2):
                write(f"{step}.nc", step, np.array([1, 2, 0, 7] * 16, dtype), UNFILLED if step == 0 else LACKING)
            with netCDF4.Dataset("0.nc", "a") as file:
                file["v"].scale_factor = 0.25
            for form in FORMS:
                self.assertEqual(rows(self.make(form, "0.nc", "1.nc")), [[0.25, 0.5, 0, 1.75] * 16, [None] * 64], f"{dtype} {form}")


class Icechunk(MaskTest):
    """Version 3 has no fill value that is null."""

    def forms(self, *sources):
        """Made of the sources and of each other."""
        for name in glob.glob("made.*"):
            subprocess.run(["rm", "-r", name], check=True)
        self.run_verb("index", *sources, "--along", "t", "-o", "o.parq")
        yield "o.parq"
        self.run_verb("index", *sources, "--along", "t", "-o", "made.json")
        self.run_verb("index", *sources, "--along", "t", "--format", "icechunk", "-o", "made.icechunk")
        yield "made.icechunk"
        for arguments in (("convert", "made.icechunk", "-o", "o.json"),
                          ("convert", "made.json", "--format", "icechunk", "-o", "o.icechunk")):  # fmt: skip
            self.run_verb(*arguments)
            yield arguments[-1]

    def test_what_netcdf_3_fills_with_is_missing(self):
        for dtype in ("i2", "i4", "f4", "f8"):
            for fill in (None, 0, 7):
                names = ["0.nc", "1.nc"]
                expected = [write(name, step, np.roll(row_of(dtype, PADDING), step), fill, "NETCDF3_64BIT_OFFSET") for step, name in enumerate(names)]
                for n in (1, 2):
                    for name in self.forms(*names[:n]):
                        self.assertEqual(rows(name), expected[:n], f"{dtype} {fill}: {name}")

    def test_what_writers_of_sets_moved_is_missing(self):
        """Zero counts where arrays of the set are left without a fill value (decision 12)."""
        row = np.array([1, 0, -999, 7], "<i2")
        write_set("made.json", 0, zero=(row, 0), number=(row, -999), none=(row, None))
        self.run_verb("convert", "made.json", "--format", "icechunk", "-o", "o.icechunk")
        for name in ("made.json", "o.icechunk"):
            self.assertEqual(rows(name, "zero"), [[1, None, -999, 7]], name)
            self.assertEqual(rows(name, "number"), [[1, 0, None, 7]], name)
            self.assertEqual(rows(name, "none"), [[1, 0, -999, 7]], name)

    def test_fill_values_of_floats_are_in_base64_as_xarray_reads_them(self):
        for dtype, fill in itertools.product(("f4", "f8"), (7, -999.9, 1e20, 1e-5, math.nan)):
            expected = [write(name, step, row_of(dtype), fill) for step, name in enumerate(("0.nc", "1.nc"))]
            for form in self.forms("0.nc"):
                self.assertEqual(rows(form), expected[:1], f"{dtype} {fill}: {form}")
            said = subprocess.run([REFS, "cat", "made.icechunk", "v/zarr.json"], capture_output=True, check=True).stdout
            self.assertEqual(base64.b64decode(json.loads(said)["attributes"]["_FillValue"]), np.array(np.array(fill, dtype), "<f8").tobytes())
            read = []
            for source in ("made.icechunk", "0.nc"):
                self.run_verb("index", source, "1.nc", "--along", "t", "-o", "o.json")
                with open("o.json", "rb") as file:
                    read.append(file.read())
            self.assertEqual(*read, f"{dtype} {fill}")

    def test_fill_values_of_floats_in_base64_are_those_of_their_source(self):
        for dtype, name in (("f4", "float32"), ("f8", "float64")):
            expected = []
            for step, fill in enumerate((7, 0)):
                row = np.roll(row_of(dtype, PADDING), step)
                refs = {"zarr.json": '{"zarr_format":3,"node_type":"group"}', "v/c/0/0": inline(row), "t/c/0": inline(np.array([float(step)]))}
                for path, shape, kind, dims in (("v", [1, row.size], name, ["t", "x"]), ("t", [1], "float64", ["t"])):
                    refs[f"{path}/zarr.json"] = json.dumps({
                        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": kind, "dimension_names": dims, "fill_value": 0.0,
                        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
                        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
                        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
                        "attributes": {"_FillValue": base64.b64encode(np.array(fill, "<f8")).decode()} if path == "v" else {}})  # fmt: skip
                with open(f"{step}.json", "w", encoding="utf-8") as file:
                    json.dump({"version": 1, "refs": refs}, file)
                expected.append([None if number in (fill, None) else number for number in shown(row, np.isnan(row))])
            for form in FORMS:
                self.assertEqual(rows(self.make(form, "0.json", "1.json")), expected, f"{dtype}: {form}")

    def test_chunks_that_are_absent_stay_zero_without_fill_value(self):
        write_set("made.json", 0, v=(np.array([5], "<f4"), None))
        with open("made.json", encoding="utf-8") as file:
            document = json.load(file)
        del document["refs"]["v/0.0"]
        with open("made.json", "w", encoding="utf-8") as file:
            json.dump(document, file)
        self.run_verb("convert", "made.json", "--format", "icechunk", "-o", "o.icechunk")
        for name in ("made.json", "o.icechunk"):
            self.assertEqual(rows(name), [[0]], name)


if __name__ == "__main__":
    unittest.main()
