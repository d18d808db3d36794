#!/usr/bin/env python3
"""Aggregations as GDAL shows them: the sets in the folder shared/data/cfa beside the repository against the
arrays that came with them, files that are unlike each other against GDAL's netCDF driver, and
aggregations over HTTP. What needs that folder, the netCDF driver or h5py is left out without it."""

import base64
import json
import multiprocessing
import os
import random
import struct
import sys
import tempfile
import threading
import time
import unittest

import numpy as np
from osgeo import gdal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
import served

DATA = os.environ.get("REFS_SHARED_DATA", os.path.join(HERE, "../../../shared/data"))
SETS = os.path.join(DATA, "cfa")
NETCDF = gdal.GetDriverByName("netCDF")

gdal.UseExceptions()

# -- writers -------------------------------------------------------------------------------------------

CDF_TYPES = {"S1": 2, "i1": 1, "i2": 3, "i4": 4, "f4": 5, "f8": 6}


def cdf_name(text):
    data = text.encode()
    return struct.pack(">i", len(data)) + data + bytes(-len(data) % 4)


def cdf_attributes(attributes):
    if not attributes:
        return bytes(8)
    out = struct.pack(">ii", 12, len(attributes))
    for name, value in attributes.items():
        if isinstance(value, str):
            kind, data, count = 2, value.encode(), len(value.encode())
        else:
            array = np.atleast_1d(value)
            kind, count = CDF_TYPES[array.dtype.str[1:]], array.size
            data = array.astype(array.dtype.newbyteorder(">")).tobytes()
        out += cdf_name(name) + struct.pack(">ii", kind, count) + data + bytes(-len(data) % 4)
    return out


def write_cdf1(path, dims, variables):
    """A netCDF-3 file, by its specification alone: dims name -> length, variables name -> (names of
    dimensions, array, attributes). Strings are arrays of letters."""
    order = list(dims)

    def header(begins):
        out = b"CDF\x01" + bytes(4) + struct.pack(">ii", 10, len(dims))
        for name, length in dims.items():
            out += cdf_name(name) + struct.pack(">i", length)
        out += bytes(8) + struct.pack(">ii", 11, len(variables))
        for (name, (names, array, attributes)), begin in zip(variables.items(), begins):
            out += cdf_name(name) + struct.pack(">i", len(names))
            out += b"".join(struct.pack(">i", order.index(dim)) for dim in names)
            out += cdf_attributes(attributes)
            size = array.nbytes + -array.nbytes % 4
            out += struct.pack(">iii", CDF_TYPES[array.dtype.str[1:]], size, begin)
        return out

    begins, at = [], len(header([0] * len(variables)))
    for _, array, _ in variables.values():
        begins.append(at)
        at += array.nbytes + -array.nbytes % 4
    with open(path, "wb") as file:
        file.write(header(begins))
        for _, array, _ in variables.values():
            data = array.astype(array.dtype.newbyteorder(">")).tobytes()
            file.write(data + bytes(-len(data) % 4))


def letters(texts, shape):
    size = max(max(map(len, texts)), 1)
    return np.array([list(text.ljust(size, "\0")) for text in texts], "S1").reshape(*shape, size)


def cf_master(path, sizes, files, variable="v", dtype="f8", **attributes):
    """A CF-1.13 aggregation v of dimensions d0, d1 …, as a netCDF-3 file: `sizes` has a list for each
    dimension, `files` a name for each fragment or ""."""
    names = [f"d{i}" for i in range(len(sizes))]
    width = max(map(len, sizes))
    table = np.full((len(sizes), width), -1, "i4")
    for row, of_dim in zip(table, sizes):
        row[:len(of_dim)] = of_dim
    uris = letters(files, [len(of_dim) for of_dim in sizes])
    names_of = letters([variable], [])
    dims = {"j": len(sizes), "i": width, "letters": uris.shape[-1], "name": names_of.shape[-1]}
    dims.update({f"f{i}": len(of_dim) for i, of_dim in enumerate(sizes)})
    write_cdf1(path, dims, {
        "v": ((), np.zeros((), dtype), {
            "aggregated_dimensions": " ".join(names), "_FillValue": np.array(-9999, dtype),
            "aggregated_data": "map: m uris: u identifiers: n", **attributes}),
        "m": (("j", "i"), table, {"_FillValue": np.int32(-1)}),
        "u": (tuple(f"f{i}" for i in range(len(sizes))) + ("letters",), uris, {}),
        "n": (("name",), names_of, {})})


def cdf_fragment(path, array, name="v", **attributes):
    dims = {f"d{i}": n for i, n in enumerate(array.shape)}
    write_cdf1(path, dims, {name: (tuple(dims), array, attributes)})


def rows(folder, n, width=8):
    """An aggregation of n rows, each in a file of its own, and its values."""
    values = np.arange(n * width, dtype="i2").reshape(n, 1, width)
    for i in range(n):
        cdf_fragment(os.path.join(folder, f"f{i}.nc"), values[i])
    cf_master(os.path.join(folder, "m.nc"), [[1] * n, [width]], [f"f{i}.nc" for i in range(n)])
    return values[:, 0].astype("f8")


def opened(path, kind=gdal.OF_RASTER, **options):
    return gdal.OpenEx(path, kind, open_options=[f"{name}={value}" for name, value in options.items()])


def array_of(path, name="v", **options):
    return opened(path, gdal.OF_MULTIDIM_RASTER, **options).GetRootGroup().OpenMDArrayFromFullname("/" + name)


def values_of(path, **options):
    return array_of(path, **options).ReadAsArray()


class InFolder(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = self._folder.name

    def tearDown(self):
        self._folder.cleanup()

    def file(self, *names):
        return os.path.join(self.folder, *names)

    def fails(self, *parts, what=None, read=None):
        """That reading fails, in a message that has these parts."""
        with self.assertRaises(RuntimeError) as failed:
            read() if read else values_of(what or self.file("m.nc"))
        for part in parts:
            self.assertIn(part, str(failed.exception))


# -- the sets that came with their arrays --------------------------------------------------------------


@unittest.skipUnless(os.path.isdir(SETS), "there is no folder shared/data/cfa")
class Sets(unittest.TestCase):
    def all(self):
        """Name, master, options, what is expected."""
        for name in sorted(os.listdir(SETS)):
            folder = os.path.join(SETS, name)
            if not os.path.isdir(folder):
                continue
            master, = (file for file in os.listdir(folder) if file.startswith("master.n"))
            options = {"MISSING": "FILL"}
            if name == "cfa05_s3":
                options["URL_REWRITE"] = f"s3://tenancy-0/bucket/=>{folder}/"
            with self.subTest(name):
                yield os.path.join(folder, master), options, np.load(os.path.join(folder, "expected.npy"))

    @staticmethod
    def raster(master, options):
        return opened(f'REFS:"{master}":/tas', **options)

    def test_are_sixteen(self):
        self.assertEqual(sum(1 for _ in self.all()), 16)

    def test_open_without_a_prefix(self):
        for master, options, _ in self.all():
            self.assertEqual(opened(master, **options).GetDriver().ShortName, "REFS")
            self.assertEqual(gdal.IdentifyDriver(master).ShortName, "REFS")

    def test_have_the_expected_bands(self):
        for master, options, expected in self.all():
            dataset = self.raster(master, options)
            self.assertEqual(dataset.RasterCount, len(expected))
            for i, band in enumerate(expected):
                np.testing.assert_array_equal(dataset.GetRasterBand(i + 1).ReadAsArray(), band)
                self.assertEqual(dataset.GetRasterBand(i + 1).GetNoDataValue(), -9999)

    def test_have_the_expected_windows(self):
        rng = random.Random(21)
        for master, options, expected in self.all():
            dataset = self.raster(master, options)
            memory = gdal.GetDriverByName("MEM").Create(
                "", dataset.RasterXSize, dataset.RasterYSize, len(expected), gdal.GDT_Float32)
            for i, values in enumerate(expected):
                memory.GetRasterBand(i + 1).WriteArray(values)
                memory.GetRasterBand(i + 1).SetNoDataValue(-9999)
            for _ in range(60):
                x, y = rng.randrange(dataset.RasterXSize), rng.randrange(dataset.RasterYSize)
                nx, ny = rng.randint(1, dataset.RasterXSize - x), rng.randint(1, dataset.RasterYSize - y)
                size = {"buf_xsize": rng.randint(1, 2 * nx), "buf_ysize": rng.randint(1, 2 * ny),
                        "resample_alg": rng.choice((gdal.GRIORA_NearestNeighbour, gdal.GRIORA_Bilinear,
                                                    gdal.GRIORA_Average))}
                np.testing.assert_array_equal(dataset.ReadAsArray(x, y, nx, ny, **size),
                                              memory.ReadAsArray(x, y, nx, ny, **size))

    def test_have_the_expected_elements_in_any_direction(self):
        rng = random.Random(21)
        for master, options, expected in self.all():
            array = array_of(master, "tas", **options)
            for _ in range(100):
                start, count, step, index = [], [], [], []
                for n in expected.shape:
                    by = rng.choice((-3, -2, -1, 1, 2, 3))
                    first = rng.randrange(n)
                    left = (n - 1 - first if by > 0 else first) // abs(by) + 1
                    many = rng.randint(1, left)
                    start.append(first)
                    count.append(many)
                    step.append(by)
                    index.append([first + i * by for i in range(many)])
                np.testing.assert_array_equal(array.ReadAsArray(start, count, step), expected[np.ix_(*index)])

    def test_have_the_expected_flags_without_asking_a_fragment(self):
        for master, options, _ in self.all():
            expected = os.path.join(os.path.dirname(master), "expected_qc.npy")
            if os.path.exists(expected):
                np.testing.assert_array_equal(values_of(master, name="qc", MISSING="ERROR"),
                                              np.load(expected))

    def test_move_with_their_folder(self):
        for master, options, expected in self.all():
            if "URL_REWRITE" in options:
                continue
            with tempfile.TemporaryDirectory() as folder:
                moved = os.path.join(folder, "elsewhere")
                os.symlink(os.path.dirname(master), moved)
                found = values_of(os.path.join(moved, os.path.basename(master)), name="tas", **options)
                np.testing.assert_array_equal(found, expected)


@unittest.skipUnless(os.path.isdir(DATA), "there is no folder shared/data")
class PlainFiles(unittest.TestCase):
    def test_are_not_claimed(self):
        plain = [os.path.join(folder, name) for folder, _, names in os.walk(DATA) for name in names
                 if name.endswith((".nc", ".nc4", ".h5", ".he5", ".hdf5", ".cdf")) and
                 not (name.startswith("master.nc") and "/cfa/" in folder)]
        claimed = [path for path in plain
                   if gdal.IdentifyDriverEx(path, allowed_drivers=["REFS"]) is not None]
        self.assertEqual(claimed, [])
        print(f"{len(plain)} plain files are not claimed", file=sys.stderr)


class Identified(InFolder):
    def test_are_aggregations_only(self):
        rows(self.folder, 2)
        self.assertEqual(gdal.IdentifyDriver(self.file("m.nc")).ShortName, "REFS")
        cdf_fragment(self.file("words.nc"), np.arange(4.0).reshape(2, 2), title="aggregated_data cfa_array",
                     Conventions="CF-1.13 CFA-0.6.2")
        cdf_fragment(self.file("words.nca"), np.arange(4.0).reshape(2, 2), cf_role="timeseries_id")
        for name in ("f0.nc", "words.nc", "words.nca"):
            self.assertIsNone(gdal.IdentifyDriverEx(self.file(name), allowed_drivers=["REFS"]), name)


# -- files that are unlike each other ------------------------------------------------------------------

TYPES = {gdal.GDT_Byte: "u1", gdal.GDT_Int16: "i2", gdal.GDT_Int32: "i4", gdal.GDT_Float32: "f4",
         gdal.GDT_Float64: "f8"}


@unittest.skipUnless(NETCDF, "there is no netCDF driver")
class Unlike(InFolder):
    DAYS, SHAPE = 60, (23, 31)
    GONE, SQUEEZED = 17, (5, 29)

    def write(self, day):
        """A day's file: format, type, packing, fill value, chunks and codec are its own."""
        rng = np.random.default_rng(day)
        kind = ("NC", "NC4", "NC2", "NC4", "NC4C")[day % 5]
        types = [gdal.GDT_Int16, gdal.GDT_Float32, gdal.GDT_Float64, gdal.GDT_Int32]
        dtype = types[day % 4] if kind != "NC4" else (types + [gdal.GDT_Byte])[day // 2 % 5]
        path = self.file(f"day{day:02}.nc")
        dataset = NETCDF.CreateMultiDimensional(path, [], ["FORMAT=" + kind])
        group = dataset.GetRootGroup()
        dims = [group.CreateDimension(name, None, None, n) for name, n in zip("yx", self.SHAPE)]
        if day not in self.SQUEEZED:
            dims.insert(0, group.CreateDimension("t", None, None, 1))
        options = []
        if kind == "NC4":
            chunks = [1] * (len(dims) - 2) + [int(rng.integers(3, 24)), int(rng.integers(3, 32))]
            options = ["BLOCKSIZE=" + ",".join(map(str, chunks))]
            if day % 3:
                options += ["COMPRESS=DEFLATE", f"ZLEVEL={day % 9 + 1}"]
        array = group.CreateMDArray("sst", dims, gdal.ExtendedDataType.Create(dtype), options)
        fill = {gdal.GDT_Byte: 200, gdal.GDT_Int16: -32768}.get(dtype, -1000 - day)
        if dtype in (gdal.GDT_Int16, gdal.GDT_Byte) or day % 7 == 0:
            array.SetScale((0.01, 0.25, 0.1, 0.003)[day % 4])
            array.SetOffset((292.17, 288.44, 288.75)[day % 3])
        if day % 6 or dtype == gdal.GDT_Byte:
            array.SetNoDataValueDouble(fill)
        values = rng.integers(0, 180, self.SHAPE).astype(TYPES[dtype])
        if day % 6 or dtype == gdal.GDT_Byte:
            values[rng.random(self.SHAPE) < 0.2] = fill
        dataset = group = array = dims = None
        again = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE, allowed_drivers=["netCDF"])
        again.GetRootGroup().OpenMDArray("sst").Write(values.tobytes())
        return path

    def expected(self, path):
        """By GDAL's netCDF driver."""
        dataset = gdal.OpenEx(f'NETCDF:"{path}":sst', allowed_drivers=["netCDF"])
        band = dataset.GetRasterBand(1)
        stored = band.ReadAsArray()[::-1]
        scale, offset = band.GetScale(), band.GetOffset()
        values = stored.astype("f8") * (1 if scale is None else scale) + (0 if offset is None else offset)
        nodata = band.GetNoDataValue()
        return values if nodata is None else np.where(stored == nodata, -9999, values)

    def setUp(self):
        super().setUp()
        self.values = np.empty((self.DAYS,) + self.SHAPE)
        names = []
        for day in range(self.DAYS):
            path = self.write(day)
            names.append(os.path.basename(path))
            self.values[day] = self.expected(path)
        os.remove(self.file(names[self.GONE]))
        self.values[self.GONE] = -9999
        cf_master(self.file("m.nc"), [[1] * self.DAYS, [self.SHAPE[0]], [self.SHAPE[1]]], names, "sst")

    def test_are_one_array(self):
        np.testing.assert_array_equal(values_of(self.file("m.nc"), MISSING="FILL"), self.values)
        dataset = opened(self.file("m.nc"), MISSING="FILL")
        self.assertEqual(dataset.GetDriver().ShortName, "REFS")
        # Without coordinates a picture is upside down, as the netCDF driver has it.
        np.testing.assert_array_equal(dataset.ReadAsArray(), self.values[:, ::-1])

    def test_have_windows(self):
        rng = random.Random(60)
        array = array_of(self.file("m.nc"), MISSING="FILL")
        for _ in range(50):
            start = [rng.randrange(n) for n in self.values.shape]
            count = [rng.randint(1, n - first) for n, first in zip(self.values.shape, start)]
            where = tuple(slice(a, a + n) for a, n in zip(start, count))
            np.testing.assert_array_equal(array.ReadAsArray(start, count), self.values[where])

    def test_lack_a_variable(self):
        cdf_fragment(self.file("day03.nc"), np.zeros((1,) + self.SHAPE), name="other")
        self.fails("m.nc: /v partition (3, 0, 0)", "day03.nc", "the file lacks the variable sst",
                   read=lambda: values_of(self.file("m.nc"), MISSING="FILL"))


# -- files that are missing, broken, moved -------------------------------------------------------------


class Dimensions(InFolder):
    def test_without_variables_have_the_size_that_the_file_tells(self):
        values = np.arange(12.0).reshape(4, 3)
        cdf_fragment(self.file("part.nc"), values)
        partition = {"index": [0], "location": [[0, 3], [0, 2]],
                     "subarray": {"file": "part.nc", "ncvar": "v", "shape": [4, 3]}}
        text = {"base": "", "pmdimensions": ["x"], "pmshape": [2], "Partitions": [partition]}
        write_cdf1(self.file("all.nca"), {"y": 4, "x": 6}, {
            "v": ((), np.array(0.0), {"_FillValue": np.float64(-9), "cf_role": "cfa_variable",
                                      "cfa_dimensions": "y x", "cfa_array": json.dumps(text)})})
        array = opened(self.file("all.nca"), gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("v")
        wanted = np.full((4, 6), -9.0)
        wanted[:, :3] = values
        np.testing.assert_array_equal(values_of(self.file("all.nca")), wanted)


class Missing(InFolder):
    def setUp(self):
        super().setUp()
        self.values = rows(self.folder, 4)
        os.remove(self.file("f2.nc"))
        self.filled = self.values.copy()
        self.filled[2] = -9999

    def test_are_errors(self):
        for options in ({}, {"MISSING": "ERROR"}):
            self.fails("m.nc: /v partition (2, 0)", "f2.nc", read=lambda: values_of(self.file("m.nc"), **options))
            array = array_of(self.file("m.nc"), **options)
            np.testing.assert_array_equal(array.ReadAsArray([0, 0], [2, 8]), self.values[:2])

    def test_are_filled(self):
        np.testing.assert_array_equal(values_of(self.file("m.nc"), MISSING="FILL"), self.filled)

    def test_are_warned_of_once(self):
        said = []
        gdal.PushErrorHandler(lambda kind, number, text: said.append((kind, text)))
        try:
            array = array_of(self.file("m.nc"), MISSING="WARN")
            for _ in range(2):
                np.testing.assert_array_equal(array.ReadAsArray(), self.filled)
        finally:
            gdal.PopErrorHandler()
        told = [text for kind, text in said if kind == gdal.CE_Warning and "f2.nc" in text]
        self.assertEqual(len(told), 1, said)


class Times(InFolder):
    """An aggregation in a set of its own, with times that are one, too."""

    def array(self, name, values, dims, **attributes):
        meta = {"zarr_format": 2, "shape": values.shape, "chunks": values.shape, "order": "C",
                "dtype": values.dtype.str, "compressor": None, "filters": None, "fill_value": None}
        self.refs[name + "/.zarray"] = json.dumps(meta)
        self.refs[name + "/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": dims, **attributes})
        self.refs[name + "/" + (".".join("0" * values.ndim) or "0")] = (
            "base64:" + base64.b64encode(values.tobytes()).decode())

    def aggregate(self, name, dims, sizes, files, **attributes):
        shape = [len(files)] + [1] * (len(dims) - 1)
        self.array(name + "_map", np.array(sizes, "i4"), ["j", "i"])
        self.array(name + "_uris", np.array(files, "S8").reshape(shape), list("fgh"[:len(shape)]))
        self.array(name + "_names", np.array(["/a/" + name] * len(files), "S8").reshape(shape),
                   list("fgh"[:len(shape)]))
        self.array(name, np.array(0, "f8"), [], aggregated_dimensions=" ".join(dims),
                   aggregated_data=f"map: {name}_map uris: {name}_uris identifiers: {name}_names",
                   **attributes)

    def test_of_missing_files_are_not_shown(self):
        self.refs = {".zgroup": '{"zarr_format": 2}'}
        self.array("a/v", np.zeros((1, 3, 4), "f4"), ["t", "y", "x"])
        self.array("a/time", np.array([5], "i4"), ["time"])
        self.aggregate("time", ["time"], [[1, 1]], ["", "gone.nc"], units="days since 2001-01-01",
                       standard_name="time")
        self.aggregate("v", ["time", "y", "x"], [[1, 1], [3, -1], [4, -1]], ["", "gone.nc"])
        with open(self.file("set.json"), "w", encoding="ascii") as out:
            json.dump({"version": 1, "refs": self.refs}, out)
        gdal.PushErrorHandler("CPLQuietErrorHandler")
        try:
            raster = opened('REFS:"%s":/v' % self.file("set.json"), MISSING="FILL")
        finally:
            gdal.PopErrorHandler()
        self.assertEqual([raster.GetRasterBand(i).GetDescription() for i in (1, 2)],
                         ["time=#0", "time=#1"])


class Texts(InFolder):
    """Strings, as netCDF-4 has them, of fragments of netCDF-4 and netCDF-3."""

    def setUp(self):
        super().setUp()
        try:
            import netCDF4
        except ImportError:
            self.skipTest("needs netCDF4")
        self.netcdf = netCDF4.Dataset

    def strings(self, file, name, dims, values):
        variable = file.createVariable(name, str, dims)
        variable[...] = np.array(values, dtype=object)
        return variable

    def master(self, **fragments):
        """An aggregation "v" along x, two elements each, and "w": one value for each of the fragments."""
        path = self.file("m.nc")
        with self.netcdf(path, "w") as file:
            for name, size in {"x": 2 * len(fragments), "j": 1, "f": len(fragments)}.items():
                file.createDimension(name, size)
            file.createVariable("map", "i4", ("j", "f"))[...] = 2
            self.strings(file, "uris", ("f",), [name + ".nc" for name in fragments])
            self.strings(file, "id", (), "v")
            self.strings(file, "each", ("f",), list(fragments.values()))
            for name, terms in {"v": "map: map uris: uris identifiers: id", "w": "map: map unique_values: each"}.items():
                file.createVariable(name, str, ()).setncatts({"aggregated_dimensions": "x", "aggregated_data": terms})
        return path

    def test_are_strings_of_the_multidimensional_api(self):
        with self.netcdf(self.file("a.nc"), "w") as file:
            file.createDimension("x", 2)
            self.strings(file, "v", ("x",), ["M\u00fcnchen", ""])
        write_cdf1(self.file("b.nc"), {"x": 2, "n": 5}, {"v": (("x", "n"), letters(["Rom", "Paris"], (2,)), {})})
        path = self.master(a="first", b="second one")
        group = gdal.OpenEx(f"REFS:{path}", gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        self.assertEqual(sorted(group.GetMDArrayNames()), ["v", "w"])
        self.assertEqual(group.OpenMDArray("v").Read(), ["M\u00fcnchen", "", "Rom", "Paris"])
        self.assertEqual(group.OpenMDArray("v").Read([2], [2], [-1]), ["Rom", ""])
        self.assertEqual(group.OpenMDArray("w").Read(), ["first", "first", "second one", "second one"])

    def test_are_no_numbers(self):
        with self.netcdf(self.file("a.nc"), "w") as file:
            file.createDimension("x", 2)
            file.createVariable("v", "f4", ("x",))[...] = 1
        group = gdal.OpenEx(f"REFS:{self.master(a='one')}", gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        with self.assertRaisesRegex(RuntimeError, r"/v partition \(0\) of .*a.nc: /v: expected text, as the aggregation has, found other elements"):
            group.OpenMDArray("v").Read()

    def test_name_variables_as_netcdf_does(self):
        with self.netcdf(self.file("a.nc"), "w") as file:
            file.createDimension("x", 2)
            file.createDimension("v", 3)
            file.createVariable("v", "f4", ("x",))[...] = 1  # called as a dimension, and not its coordinate
        group = gdal.OpenEx(f"REFS:{self.master(a='one')}", gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        with self.assertRaisesRegex(RuntimeError, "a.nc: /v: expected text, as the aggregation has"):
            group.OpenMDArray("v").Read()


class Damaged(InFolder):
    def setUp(self):
        super().setUp()
        self.values = rows(self.folder, 3)

    def test_files_are_errors(self):
        with open(self.file("f1.nc"), "rb") as file:
            whole = file.read()
        for damaged in (b"", b"CDF", whole[:40], b"CDF\x09" + whole[4:], whole[:-10]):
            with open(self.file("f1.nc"), "wb") as file:
                file.write(damaged)
            for missing in ("ERROR", "FILL", "WARN"):
                self.fails("m.nc: /v partition (1, 0)", "f1.nc",
                           read=lambda: values_of(self.file("m.nc"), MISSING=missing))

    def test_shapes_are_errors(self):
        cdf_fragment(self.file("f1.nc"), np.zeros((1, 9), "i2"))
        self.fails("m.nc: /v partition (1, 0)", "f1.nc", "has the shape (1, 9): expected (1, 8), the shape of its partition",
                   read=lambda: values_of(self.file("m.nc"), MISSING="FILL"))

    def test_values_that_do_not_fit_are_errors(self):
        cf_master(self.file("m.nc"), [[1] * 3, [8]], [f"f{i}.nc" for i in range(3)], dtype="i2")
        cdf_fragment(self.file("f1.nc"), np.full((1, 8), 40000.0))
        self.fails("m.nc: /v partition (1, 0)", "f1.nc", "value 40000 does not fit type i2 of the aggregation")


class Moved(InFolder):
    def test_folders_take_their_names_along(self):
        os.mkdir(self.file("a"))
        values = rows(self.file("a"), 3)
        os.rename(self.file("a"), self.file("b"))
        before = os.getcwd()
        for folder in (self.folder, "/"):
            os.chdir(folder)
            try:
                np.testing.assert_array_equal(values_of(self.file("b", "m.nc")), values)
            finally:
                os.chdir(before)

    def test_files_are_found_by_the_option(self):
        values = rows(self.folder, 3)
        os.mkdir(self.file("new"))
        cf_master(self.file("m.nc"), [[1] * 3, [8]], [f"/gone/f{i}.nc" for i in range(3)])
        np.testing.assert_array_equal(values_of(self.file("m.nc"), URL_REWRITE=f"/gone/=>{self.folder}/"), values)


# -- over HTTP -----------------------------------------------------------------------------------------


class Replaced(InFolder):
    """Masters that were replaced while they are open."""

    def replace(self, fragments, hours):
        """Another version, of which the fragments are copied, with times that are long past."""
        master_file = self.file("m.nc")
        with open(master_file, "rb") as file:
            master = file.read()
        for name, content in ((f"f{i}.nc", -np.ones((1, 8), "i2")) for i in fragments):
            cdf_fragment(self.file("new"), content)
            os.utime(self.file("new"), (time.time() - 3600 * hours,) * 2)
            os.replace(self.file("new"), self.file(name))
        with open(self.file("new"), "wb") as file:
            file.write(master)
        os.replace(self.file("new"), master_file)

    def test_have_the_fragments_that_they_had(self):
        values = rows(self.folder, 3)
        time.sleep(0.05)
        array = array_of(self.file("m.nc"))
        self.replace((), 0)
        np.testing.assert_array_equal(array.ReadAsArray(), values)

    def test_have_no_fragments_of_another_version(self):
        for hours in (0, 1):
            rows(self.folder, 3)
            time.sleep(0.05)
            array = array_of(self.file("m.nc"))
            self.replace((1,), hours)
            self.fails("was replaced after it was opened", "f1.nc may be newer", read=array.ReadAsArray)


class Remote(unittest.TestCase):
    def setUp(self):
        self.folder = served.Folder()
        self.values = rows(self.folder.served, 8)

    def tearDown(self):
        self.folder.close()

    def serve(self, faults=None):
        server = served.Server(self.folder, faults)
        self.addCleanup(server.close)
        return server

    def test_names_are_relative_to_the_url(self):
        server = self.serve()
        np.testing.assert_array_equal(values_of(f'REFS:"{server.url("m.nc")}"'), self.values)

    def test_pixel_asks_one_fragment(self):
        server = self.serve()
        array = array_of(f'REFS:"{server.url("m.nc")}"')
        before = len(server.requests())
        self.assertEqual(array.ReadAsArray([3, 5], [1, 1])[0, 0], self.values[3, 5])
        asked = [entry["path"] for entry in server.requests()[before:]]
        self.assertEqual({path.rsplit("/", 1)[1] for path in asked if path.rsplit("/", 1)[1].startswith("f")}, {"f3.nc"})
        self.assertLessEqual(sum(path.endswith("f3.nc") for path in asked), 4, asked)
        before = len(server.requests())
        array.ReadAsArray([3, 0], [1, 8])
        self.assertLessEqual(len(server.requests()) - before, 1)

    def test_forbidden_files_are_errors(self):
        server = self.serve({"/f3.nc": {"status": 403}, "/f5.nc": {"status": 404}})
        for missing in ("ERROR", "FILL", "WARN"):
            with self.assertRaises(RuntimeError) as failed:
                array_of(f'REFS:"{server.url("m.nc")}"', MISSING=missing).ReadAsArray([3, 0], [1, 8])
            for part in ("m.nc: /v partition (3, 0)", "f3.nc", "403"):
                self.assertIn(part, str(failed.exception))
        array = array_of(f'REFS:"{server.url("m.nc")}"', MISSING="FILL")
        np.testing.assert_array_equal(array.ReadAsArray([5, 0], [1, 8]), np.full((1, 8), -9999.0))

    def test_may_not_name_local_files(self):
        cf_master(os.path.join(self.folder.served, "m.nc"), [[1], [8]], ["file:///etc/passwd"])
        server = self.serve()
        with self.assertRaises(RuntimeError) as failed:
            values_of(f'REFS:"{server.url("m.nc")}"')
        self.assertIn("local", str(failed.exception))
        self.assertIn("partition (0, 0)", str(failed.exception))

    def test_files_may_be_in_several_places(self):
        server, other = self.serve(), self.serve()
        names = [other.url(f"f{i}.nc") if i % 2 else server.url(f"f{i}.nc") for i in range(7)]
        names.append(os.path.join(self.folder.served, "f7.nc"))
        local = self.folder.file("local.nc")
        cf_master(local, [[1] * 8, [8]], names)
        np.testing.assert_array_equal(values_of(local), self.values)


# -- many partitions -----------------------------------------------------------------------------------

MANY = 100000


class Many(InFolder):
    def timed(self, path, kind):
        """Opens and reads the last but one pixel; asserts what is opened meanwhile, prints the times."""
        cdf_fragment(self.file("f.nc"), np.array([[7, 8]], "i2"))
        begin = time.monotonic()
        array = array_of(path, MISSING="FILL")
        opening = time.monotonic() - begin
        self.assertEqual([dim.GetSize() for dim in array.GetDimensions()], [MANY, 2])
        begin = time.monotonic()
        self.assertEqual(array.ReadAsArray([MANY - 2, 1], [1, 1])[0, 0], 8)
        first = time.monotonic() - begin
        begin = time.monotonic()
        self.assertEqual(array.ReadAsArray([MANY // 2, 0], [1, 1])[0, 0], 7)
        print(f"{MANY} partitions of {kind}: opened in {opening:.3f} s, the first pixel in {first:.3f} s, "
              f"the next in {time.monotonic() - begin:.3f} s", file=sys.stderr)

    def test_of_cf_are_quick(self):
        cf_master(self.file("m.nc"), [[1] * MANY, [2]], ["f.nc"] * MANY)
        self.timed(self.file("m.nc"), "CF-1.13")

    def test_of_files_of_their_own_are_quick(self):
        names = [f"g{i}.nc" for i in range(MANY)]
        names[MANY - 2] = names[MANY // 2] = "f.nc"
        cf_master(self.file("m.nc"), [[1] * MANY, [2]], names)
        self.timed(self.file("m.nc"), "CF-1.13, files of their own")

    def set_of(self, arrays):
        """A reference set of arrays, whose values are in files beside it."""
        refs = {".zgroup": '{"zarr_format": 2}'}
        for name, (array, attributes) in arrays.items():
            refs[name + "/.zarray"] = json.dumps({
                "zarr_format": 2, "shape": array.shape, "chunks": array.shape, "dtype": array.dtype.str,
                "compressor": None, "filters": None, "order": "C", "fill_value": None})
            refs[name + "/.zattrs"] = json.dumps(attributes)
            file = name.replace("/", "_") + ".bin"
            array.tofile(self.file(file))
            refs[name + "/" + (".".join("0" for _ in array.shape) or "0")] = [file]
        with open(self.file("m.json"), "w", encoding="ascii") as out:
            json.dump({"version": 1, "refs": refs}, out)
        return self.file("m.json")

    def test_of_cfa_05_are_quick(self):
        location = np.empty((MANY, 1, 2, 2), "<i4")
        location[:, 0, 0, 0] = np.arange(MANY)
        location[:, 0, 0, 1] = np.arange(MANY) + 1
        location[:, 0, 1] = 0, 2
        self.timed(self.set_of({
            "v": (np.zeros((), "<f8"), {"cf_role": "cfa_variable", "cfa_dimensions": "y x", "cfa_group": "g"}),
            "g/location": (location, {}), "g/file": (np.full((MANY, 1), "f.nc", "S4"), {}),
            "g/ncvar": (np.full((MANY, 1), "v", "S1"), {})}), "CFA-0.5")

    def test_of_cfa_04_are_quick(self):
        partitions = [{"index": [i], "location": [[i, i], [0, 1]],
                       "subarray": {"file": "f.nc", "ncvar": "v", "shape": [1, 2]}} for i in range(MANY) if i]
        self.timed(self.set_of({"v": (np.zeros((), "<f8"), {
            "cf_role": "cfa_variable", "cfa_dimensions": "y x", "cfa_array": json.dumps(
                {"pmdimensions": ["y"], "pmshape": [MANY], "Partitions": partitions})})}), "CFA-0.4")


# -- threads and processes -----------------------------------------------------------------------------

inherited = None


def read_inherited(row):
    return inherited.GetRasterBand(1).ReadAsArray(0, row, 8, 1)


class Together(InFolder):
    def test_threads_read_the_same(self):
        values = rows(self.folder, 40)[::-1]  # without coordinates a picture is upside down
        wrong = []

        def work(seed):
            rng = random.Random(seed)
            dataset = opened(self.file("m.nc"))
            for _ in range(100):
                y = rng.randrange(40)
                n = rng.randint(1, 40 - y)
                if not np.array_equal(dataset.ReadAsArray(0, y, 8, n), values[y:y + n]):
                    wrong.append(y)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_children_read_what_they_inherit(self):
        global inherited
        values = rows(self.folder, 40)[::-1]  # without coordinates a picture is upside down
        inherited = opened(self.file("m.nc"))
        np.testing.assert_array_equal(inherited.ReadAsArray(0, 0, 8, 20), values[:20])
        with multiprocessing.get_context("fork").Pool(2) as pool:
            parts = pool.map_async(read_inherited, range(40)).get(timeout=100)
        np.testing.assert_array_equal(np.concatenate(parts), values)
        np.testing.assert_array_equal(inherited.ReadAsArray(), values)
        inherited = None


if __name__ == "__main__":
    unittest.main()
