"""What netCDF fills with by default (65535, -32767, 9.97e36) stays a value where the source is filled with something
else, and stays missing where it is not: in every form that refs writes, read by the driver and by the netCDF library.

    default_fill_test.py PROGRAM [test ...]
"""

import base64
import glob
import itertools
import json
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

TYPES = ("i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")
WIDER = {"i2": "i4", "u2": "i4", "i4": "i8", "u4": "i8", "f4": "f8"}
VERSIONS = ("0.4", "0.5", "1.13")
KEPT, MISSING = "a value", "missing"


def default_of(dtype):
    return netCDF4.default_fillvals[dtype]


def inline(values):
    return "base64:" + base64.b64encode(values.tobytes()).decode()


def zarr2(fill, chunk=4, file_of_chunks=None):
    """Rows in chunks of so many columns, in the set or in a file."""

    def write(name, step, values, **attributes):
        refs = {".zgroup": '{"zarr_format":2}'}
        for path, data, dims, own in (("v", values[None], ["t", "x"], fill), ("t", np.array([float(step)]), ["t"], None)):
            refs[f"{path}/.zarray"] = json.dumps({"zarr_format": 2, "shape": data.shape, "chunks": [1, chunk][: data.ndim], "dtype": data.dtype.str,
                                                  "compressor": None, "filters": None, "fill_value": own, "order": "C"})  # fmt: skip
            refs[f"{path}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": dims, **(attributes if path == "v" else {})})
            for i in range(0, data.shape[-1], chunk):
                part = np.zeros((1, chunk)[2 - data.ndim :], data.dtype)
                part[..., : data[..., i : i + chunk].shape[-1]] = data[..., i : i + chunk]
                refs[f"{path}/" + ("0." * (data.ndim - 1)) + str(i // chunk)] = inline(part if data.ndim > 1 else data)
        if file_of_chunks is not None:
            with open(name + file_of_chunks, "wb") as file:
                for key in [key for key in refs if key.startswith("v/0")]:
                    refs[key] = [file.name, file.tell(), file.write(base64.b64decode(refs[key][len("base64:"):]))]
        with open(name + ".json", "w", encoding="utf-8") as file:
            json.dump({"version": 1, "refs": refs}, file)
        return name + ".json"

    return write


def zarr3(fill):
    def write(name, step, values, **attributes):
        refs = {"zarr.json": '{"zarr_format":3,"node_type":"group"}'}
        for path, data, dims, own in (("v", values[None], ["t", "x"], fill), ("t", np.array([float(step)]), ["t"], 0.0)):
            refs[f"{path}/zarr.json"] = json.dumps({
                "zarr_format": 3, "node_type": "array", "shape": data.shape, "data_type": data.dtype.name,
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": data.shape}},
                "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": own,
                "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "dimension_names": dims,
                "attributes": attributes if path == "v" else {}})  # fmt: skip
            refs[f"{path}/c/" + "/".join("0" * data.ndim)] = inline(data)
        with open(name + ".json", "w", encoding="utf-8") as file:
            json.dump({"version": 1, "refs": refs}, file)
        return name + ".json"

    return write


def netcdf(fill, file_format="NETCDF4"):
    """fill False: filling is off, which is what HDF5 files of others look like."""

    def write(name, step, values, **attributes):
        with netCDF4.Dataset(name + ".nc", "w", format=file_format) as file:
            file.set_auto_mask(False)
            file.createDimension("t", 1)
            file.createDimension("x", values.size)
            file.createVariable("t", "f8", ("t",))[:] = step
            variable = file.createVariable("v", values.dtype.str[1:], ("t", "x"), fill_value=fill)
            variable.set_auto_mask(False)
            variable[:] = values[None]
            variable.setncatts({key: np.array(value, values.dtype) for key, value in attributes.items()})
        return name + ".nc"

    return write


SOURCES = {
    "Zarr 2 filled with 0": (zarr2(0), KEPT),
    "Zarr 2 without fill value, as of netCDF-3": (zarr2(None), MISSING),
    "Zarr 3 filled with 0": (zarr3(0), KEPT),
    "netCDF-4": (netcdf(None), MISSING),
    "netCDF-4 with another fill value": (netcdf(7), KEPT),
    "HDF5": (netcdf(False), KEPT),
}


class DefaultFill(VerbsInOwnFolder):
    refs = REFS

    def forms(self, *sources):
        """Writes the sources in each form that there is of them."""
        masters = [("combine", *sources, "--format", "cfa", "--cfa-version", version, "--along", "t", "-o", "o.nca") for version in VERSIONS]
        verbs = [("index", *sources, "--along", "t", "-o", "o.json"), ("index", *sources, "--along", "t", "-o", "o.nc"), *masters]
        if len(sources) == 1:
            verbs += [("split", *sources, "--cfa-version", version, "-o", "o.nca") for version in VERSIONS]
        for arguments in verbs:
            self.run_verb(*arguments)
            yield arguments[-1], " ".join(arguments)

    def masters_of_netcdf_3(self, source, dtype):
        """None where netCDF-3 has no such type."""
        for version in ("0.4", "1.13") if dtype in ("i2", "i4", "f4", "f8") else ():
            arguments = ("split", source, "--format", "NETCDF3", "--cfa-version", version, "-o", "o.nca")
            self.run_verb(*arguments)
            yield "o.nca", " ".join(arguments)

    def rows(self, name):
        """As rasters show them: rows of numbers, None where one is missing."""
        dataset = gdal.Open(f'REFS:"{name}":/v')
        band = dataset.GetRasterBand(1)
        masks = band.GetMaskBand().ReadAsArray()
        rows = [[number if mask else None for number, mask in zip(*row)] for row in zip(band.ReadAsArray().tolist(), masks.tolist())]
        return rows[::-1]

    def library(self, name):
        """What netCDF4-python shows of a variable that is no aggregation; None where there is none in the file."""
        with netCDF4.Dataset(name) as file:
            if file["v"].ndim == 0:
                return None
            values = np.ma.masked_array(file["v"][:])
            return [[None if values.mask is not np.ma.nomask and values.mask[row, i] else values.data[row, i].item()
                     for i in range(values.shape[1])] for row in range(values.shape[0])]  # fmt: skip

    def expect(self, name, expected, what):
        self.assertEqual(self.rows(name), expected, what)
        for file in [name] * (not name.endswith(".json")) + glob.glob("o/*.nc"):
            if ".v." not in file and file != name:
                continue
            found = self.library(file)
            self.assertIn(found, (None, expected), f"{what}: {file} by the netCDF library")

    def test_is_a_value_or_missing_as_in_the_source(self):
        for (called, (write, means)), dtype in itertools.product(SOURCES.items(), TYPES):
            fill = default_of(dtype)
            values = np.array([[fill, 1, 0, 2], [3, fill, 4, 5]], dtype)
            expected = [[None if means is MISSING and number == fill else number for number in row] for row in values.tolist()]
            sources = [write(f"{step}", step, row) for step, row in enumerate(values)]
            self.assertEqual([self.rows(source)[0] for source in sources], expected, f"{dtype} {called}")
            for n in (1, 2):
                for name, what in self.forms(*sources[:n]):
                    self.expect(name, expected[:n], f"{dtype} {called}: {what}")

    def test_is_a_value_where_filling_is_off_though_no_fill_value_is_recorded(self):
        """Other readers mask the fill_value of version 2; what was never written reads as zero."""
        for dtype in TYPES:
            fill = default_of(dtype)
            sources = [netcdf(False)(f"{step}", step, np.array([fill, 0, step], dtype)) for step in range(3)]
            expected = [[fill, 0, 0], [fill, 0, 1], [fill, 0, 2]]
            self.run_verb("index", *sources[:2], "--along", "t", "-o", "set.json")
            self.run_verb("convert", "set.json", "-o", "set.parq")
            self.run_verb("convert", "set.json", "-o", "set.icechunk", "--format", "icechunk")
            self.run_verb("index", "set.icechunk", "2.nc", "--along", "t", "-o", "again.json")
            self.run_verb("index", "0.nc", "-o", "grown.json")
            self.run_verb("append", "grown.json", "1.nc", "--along", "t")
            for name in "set.json", "again.json", "grown.json":
                with open(name, encoding="utf-8") as file:
                    self.assertIsNone(json.loads(json.load(file)["refs"]["v/.zarray"])["fill_value"], name)
            for name in "set.json", "set.parq", "set.icechunk", "again.json", "grown.json":
                self.assertEqual(self.rows(name), expected[: 3 if name == "again.json" else 2], f"{dtype}: {name}")
            with open("set.json", encoding="utf-8") as file:
                document = json.load(file)
            for key in [key for key in document["refs"] if key.startswith("v/1.")]:
                del document["refs"][key]
            with open("gap.json", "w", encoding="utf-8") as file:
                json.dump(document, file)
            self.assertEqual(self.rows("gap.json"), [[fill, 0, 0], [0, 0, 0]], dtype)

    def test_is_a_value_or_missing_where_types_of_sources_differ(self):
        """The set is an aggregation."""
        for (called, (write, means)), dtype in itertools.product(SOURCES.items(), WIDER):
            if called == "netCDF-4 with another fill value":
                continue
            fill = default_of(dtype)
            sources = [write("0", 0, np.array([fill, 1], dtype)), write("1", 1, np.array([2, 3], WIDER[dtype]))]
            expected = [[fill if means is KEPT else None, 1], [2, 3]]
            for name, what in self.forms(*sources):
                self.expect(name, expected, f"{dtype} {called}: {what}")

    def test_is_a_value_or_missing_where_a_set_is_joined_again(self):
        for (called, (write, means)), dtype in itertools.product(SOURCES.items(), ("i2", "u4", "i8", "f4")):
            fill = default_of(dtype)
            sources = [write("0", 0, np.array([fill, 1], dtype)), write("1", 1, np.array([2, fill], dtype)), write("2", 2, np.array([3, 4], dtype))]
            missing = fill if means is KEPT else None
            self.run_verb("index", *sources[:2], "--along", "t", "-o", "s.json")
            for name, what in self.forms("s.json", sources[2]):
                self.expect(name, [[missing, 1], [2, missing], [3, 4]], f"{dtype} {called}: {what}")

    def test_is_a_value_or_missing_where_chunks_of_sources_differ(self):
        """The set is an aggregation of one type, and so is what it is joined to again."""
        for dtype in TYPES:
            fill = default_of(dtype)
            for own, missing in ((0, fill), (fill, None)):
                own = own if isinstance(own, int) else float(own)
                rows = np.tile(np.array([[fill, 1, 2, 3], [4, 5, 6, fill], [7, 8, fill, 9]], dtype), 256)
                sources = [zarr2(own, chunk, ".bin")(f"{step}", step, rows[step]) for step, chunk in enumerate((1024, 768, 512))]
                expected = [[missing if number == fill else number for number in row] for row in rows.tolist()]
                for name, what in self.forms(*sources[:2]):
                    self.expect(name, expected[:2], f"{dtype} {own}: {what}")
                self.run_verb("index", *sources[:2], "--along", "t", "-o", "s.json")
                with open("s.json", encoding="utf-8") as file:
                    self.assertIn("v_fragments/0/v/.zarray", json.load(file)["refs"])
                self.run_verb("index", "s.json", sources[2], "--along", "t", "-o", "o.json")
                self.expect("o.json", expected, f"{dtype} {own}: again")

    def test_is_each_for_itself_where_sources_differ(self):
        for dtype in TYPES:
            fill = default_of(dtype)
            sources = [netcdf(None)("0", 0, np.array([fill, 1], dtype)), zarr2(0)("1", 1, np.array([2, fill], dtype))]
            for name, what in itertools.chain(self.forms(*sources), self.forms(*sources[::-1])):
                if name != "o.nc" or self.library(name) is None:
                    self.assertEqual(self.rows(name), [[None, 1], [2, fill]], f"{dtype}: {what}")

    def test_is_a_value_of_64_bits_where_a_source_lacks_the_variable(self):
        """There is no wider type in which it would be free for missing values."""
        for dtype in "i8", "u8":
            fill = default_of(dtype)
            first, last = (netcdf(False)(f"{step}", step, np.array([fill, step], dtype)) for step in (0, 2))
            with netCDF4.Dataset("1.nc", "w") as file:
                file.createDimension("t", 1)
                file.createVariable("t", "f8", ("t",))[:] = 1
                file.createVariable("w", "f8", ("t",))[:] = 1
            expected = [[fill, 0], [None, None], [fill, 2]]
            for name, what in self.forms(first, "1.nc", last):
                self.assertEqual(self.rows(name), expected, f"{dtype}: {what}")
            for name in f"{dtype}.nc", f"{dtype}.json":
                self.run_verb("index", first, "--along", "t", "-o", name)
                self.run_verb("append", name, "1.nc")
                self.assertEqual(self.rows(name), expected[:2], f"{dtype}: {name}")
                self.run_verb("append", name, last)
                self.assertEqual(self.rows(name), expected, f"{dtype}: {name}")

    def test_is_missing_where_a_valid_range_of_netcdf_holds_it(self):
        """That attribute does not switch filling off."""
        for dtype in TYPES[:6]:
            fill, info = default_of(dtype), np.iinfo(dtype)
            source = netcdf(None)("0", 0, np.array([fill, 1, 2], dtype), valid_range=[info.min, info.max])
            for name, what in itertools.chain(self.forms(source), self.masters_of_netcdf_3(source, dtype)):
                self.assertEqual(self.rows(name), [[None, 1, 2]], f"{dtype}: {what}")

    def test_is_missing_in_masters_of_netcdf_3_of_others(self):
        """They record no fragments, and missing ones are filled with the default."""
        for dtype in ("i2", "i4"):
            fill = default_of(dtype)
            for name, what in self.masters_of_netcdf_3(zarr2(0)("0", 0, np.array([fill, 1, 2], dtype)), dtype):
                with netCDF4.Dataset(name, "a") as file:
                    file.delncattr("_refs_sources")
                self.assertEqual(self.rows(name), [[None, 1, 2]], f"{dtype}: {what}")

    def test_is_a_value_in_a_valid_range_of_sources(self):
        for dtype in ("u2", "u4"):
            fill = default_of(dtype)
            source = zarr2(0)("0", 0, np.array([fill, 1, 2], dtype), valid_min=1)
            for name, what in self.forms(source):
                self.expect(name, [[fill, 1, 2]], f"{dtype}: {what}")

    def test_missing_value_fills_what_a_source_lacks(self):
        """Files for missing fragments (CF-1.13) need no other fill value."""
        for dtype in "i1", "i2", "f4":
            names = [netcdf(False)(str(step), step, np.array([step, 1], dtype), missing_value=-9) for step in (0, 1)]
            with netCDF4.Dataset("2.nc", "w") as file:
                file.createDimension("t", 1)
                file.createVariable("t", "f8", ("t",))[:] = 2
                file.createVariable("w", "f8", ("t",))[:] = 1
            self.run_verb("combine", "--format", "cfa", "--cfa-version", "1.13", *names, "2.nc", "-o", "o.nca")
            self.assertEqual(self.rows("o.nca"), [[0, 1], [1, 1], [None, None]], dtype)

    def test_is_a_value_beside_nan(self):
        """Fragments name no NaN as missing that the source has as a value."""
        for dtype in "f4", "f8":
            values = np.array([default_of(dtype), np.nan, np.finfo(dtype).max, 1], dtype)
            source = netcdf(False)("0", 0, values)
            self.run_verb("split", source, "-o", "o.nca")
            (fragment,) = glob.glob("o/*.v.*.nc")
            with netCDF4.Dataset(source) as before, netCDF4.Dataset(fragment) as after:
                before["v"].set_auto_mask(False)
                self.assertFalse(np.ma.is_masked(after["v"][:]), dtype)
                np.testing.assert_array_equal(after["v"][:], before["v"][:])

    def test_is_a_value_of_netcdf_3_too(self):
        for dtype in ("i2", "i4", "f4", "f8"):
            fill = default_of(dtype)
            for attributes in {}, {"valid_max": 9}, {"valid_min": fill}:
                if attributes and dtype[0] == "f":
                    continue
                source = zarr2(0)("0", 0, np.array([fill, 1, 2], dtype), **attributes)
                for name, what in self.masters_of_netcdf_3(source, dtype):
                    self.assertEqual(self.rows(name), [[fill, 1, 2]], f"{dtype} {attributes}: {what}")
                    (fragment,) = glob.glob("o/*.v.*.nc")
                    self.assertEqual(self.library(fragment), [[fill, 1, 2]])
                    self.assertEqual(self.rows(fragment), [[fill, 1, 2]])

    def test_is_a_value_beside_all_others(self):
        """No value is left that an attribute _FillValue could name: netCDF-4 says that filling is off."""
        for dtype in ("u2", "i2"):
            info = np.iinfo(dtype)
            values = np.arange(info.min, info.max + 1).astype(dtype)
            source = zarr2(0)("0", 0, values)
            for name, what in self.forms(source):
                self.assertEqual(self.rows(name), [values.tolist()], f"{dtype}: {what}")
                for file in [name] * (not name.endswith(".json")) + glob.glob("o/*.v.*.nc"):
                    header = subprocess.run(["ncdump", "-hs", file], capture_output=True, text=True, check=True).stdout
                    self.assertIn('v:_NoFill = "true"', header, f"{dtype}: {what}: {file}")
        source = zarr2(0)("0", 0, np.arange(-32768, 32768).astype("i2"))
        said = self.run_verb("split", source, "--format", "NETCDF3", "--cfa-version", "0.4", "-o", "o.nca", status=1)
        self.assertIn("/v uses every integer of its type as a value, but readers of netCDF-3 treat -32767 as missing: write netCDF-4", said)


if __name__ == "__main__":
    unittest.main()
