"""Grids of longitudes that the open option LONGITUDES turns: whatever is read of them is what GDAL
reads of a GeoTIFF copy whose columns NumPy has rolled, which this driver did not make.
"""

import base64
import json
import os
import random
import sys
import tempfile
import unittest
import zlib

import numpy as np
from osgeo import gdal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from served import Folder, Server  # noqa: E402

gdal.UseExceptions()
TURNED = ["LONGITUDES=-180"]
RESAMPLINGS = [gdal.GRIORA_NearestNeighbour, gdal.GRIORA_Bilinear, gdal.GRIORA_Cubic,
               gdal.GRIORA_Average, gdal.GRIORA_Mode]


def metadata(values, chunks, fill=None):
    return json.dumps({"zarr_format": 2, "shape": values.shape, "chunks": chunks,
                       "dtype": values.dtype.str, "fill_value": fill, "order": "C",
                       "compressor": {"id": "zlib", "level": 1}, "filters": None})


def put(refs, path, values, chunks, dims, fill=None, **attributes):
    """Adds an array to the references of a set, each chunk in full."""
    refs[f"{path}/.zarray"] = metadata(values, chunks, fill)
    refs[f"{path}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": dims, **attributes})
    counts = [-(-size // chunk) for size, chunk in zip(values.shape, chunks)]
    for index in np.ndindex(*counts):
        begin = [i * chunk for i, chunk in zip(index, chunks)]
        part = values[tuple(slice(b, b + c) for b, c in zip(begin, chunks))]
        full = np.zeros(chunks, values.dtype)
        full[tuple(slice(0, n) for n in part.shape)] = part
        packed = base64.b64encode(zlib.compress(full.tobytes())).decode()
        refs[f"{path}/{'.'.join(map(str, index))}"] = "base64:" + packed


def axis(first, step, n):
    return first + step * np.arange(n, dtype=np.float64)


class Grid:
    """A set with an array v (time, lat, lon) in a folder of its own."""

    def __init__(self, folder, dtype="<f4", chunks=(2, 7, 10), first=0.0, step=10.0, n=36, south_first=True):
        random_numbers = np.random.default_rng(7)
        self.values = random_numbers.integers(0, 200, (5, 18, n)).astype(dtype)
        lat = axis(-85, 10, 18) if south_first else axis(85, -10, 18)
        refs = {".zgroup": '{"zarr_format": 2}'}
        put(refs, "v", self.values, chunks, ["time", "lat", "lon"], -9, _FillValue=-9)
        put(refs, "lat", lat, lat.shape, ["lat"], units="degrees_north")
        put(refs, "lon", axis(first, step, n), (n,), ["lon"], units="degrees_east")
        self.refs, self.path = refs, os.path.join(folder, "grid.json")
        self.save()
        self.shown = self.values[:, ::-1, :] if south_first else self.values

    def save(self):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.refs, file)

    def open(self, options=TURNED):
        return gdal.OpenEx(f'REFS:"{self.path}":/v', open_options=options)

    def copy(self, roll, corner, step):
        """A GeoTIFF file with what is to be seen."""
        path = self.path + f"{roll}.tif"
        values = np.roll(self.shown, -roll, axis=2)
        kind = {"f4": gdal.GDT_Float32, "i2": gdal.GDT_Int16, "i8": gdal.GDT_Int64
                if hasattr(gdal, "GDT_Int64") else gdal.GDT_Unknown}[values.dtype.str[1:]]
        n, rows, columns = values.shape
        copy = gdal.GetDriverByName("GTiff").Create(path, columns, rows, n, kind)
        copy.SetGeoTransform((corner, step, 0, 90, 0, -10))
        copy.SetProjection(self.open().GetProjection())
        for number in range(n):
            copy.GetRasterBand(number + 1).SetNoDataValue(-9)
            copy.GetRasterBand(number + 1).WriteArray(values[number])
        copy.FlushCache()
        copy = None
        return gdal.Open(path)


class Turned(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(42)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def pairs(self):
        """Grids of several kinds as they are turned, each with its copy."""
        kinds = [({}, 18, -185.0), ({"south_first": False}, 18, -185.0),
                 ({"dtype": "<i2", "chunks": (1, 18, 36)}, 18, -185.0),
                 ({"dtype": "<i8", "chunks": (5, 5, 5)}, 18, -185.0),
                 ({"first": 45.0}, 14, -180.0),
                 ({"first": 2.0, "step": 1.0, "n": 360, "chunks": (5, 18, 100)}, 178, -180.5),
                 ({"first": 350.0, "step": -10.0}, 18, 175.0)]
        for options, roll, corner in kinds:
            grid = Grid(self.folder.name, **options)
            step = options.get("step", 10.0)
            yield grid.open(), grid.copy(roll, corner, step)

    def windows(self, dataset, n=60):
        for _ in range(n):
            x, y = self.random.randrange(dataset.RasterXSize), self.random.randrange(dataset.RasterYSize)
            yield (x, y, self.random.randint(1, dataset.RasterXSize - x),
                   self.random.randint(1, dataset.RasterYSize - y))
        yield 0, 0, dataset.RasterXSize, dataset.RasterYSize

    def assertSame(self, ours, theirs, *where):
        self.assertTrue(np.array_equal(ours, theirs), where)

    def test_lies_where_its_copy_lies(self):
        for turned, copy in self.pairs():
            self.assertEqual(turned.GetGeoTransform(), copy.GetGeoTransform())
            self.assertTrue(turned.GetSpatialRef().IsSame(copy.GetSpatialRef()))

    def test_has_the_pixels_of_its_copy_in_every_window(self):
        for turned, copy in self.pairs():
            for window in self.windows(turned):
                self.assertSame(turned.ReadAsArray(*window), copy.ReadAsArray(*window), window)
                number = self.random.randint(1, 5)
                self.assertSame(turned.GetRasterBand(number).ReadAsArray(*window),
                                copy.GetRasterBand(number).ReadAsArray(*window), window, number)

    def test_has_them_in_every_order_type_and_spacing(self):
        for turned, copy in self.pairs():
            for x, y, width, height in self.windows(turned, 20):
                bands = self.random.sample([1, 2, 3, 4, 5], self.random.randint(1, 5))
                kind, size = self.random.choice([(gdal.GDT_Byte, 1), (gdal.GDT_Int16, 2),
                                                 (gdal.GDT_Float64, 8)])
                pixel = size * len(bands) + self.random.choice([0, 3])
                how = dict(buf_type=kind, band_list=bands, buf_pixel_space=pixel,
                           buf_line_space=pixel * width + self.random.choice([0, 5]),
                           buf_band_space=size)
                ours, theirs = (bytes(dataset.ReadRaster(x, y, width, height, **how))
                                for dataset in (turned, copy))
                mask = np.ones(len(ours), bool)
                if len(ours) == len(theirs):
                    mask = self.bytes_of_pixels(len(ours), width, height, how, size)
                self.assertSame(np.frombuffer(ours, "u1")[mask], np.frombuffer(theirs, "u1")[mask], how)

    @staticmethod
    def bytes_of_pixels(n, width, height, how, size):
        """Which bytes of a buffer GDAL has to fill: what lies between is what it was."""
        mask = np.zeros(n, bool)
        for row in range(height):
            for column in range(width):
                begin = row * how["buf_line_space"] + column * how["buf_pixel_space"]
                mask[begin:begin + size * len(how["band_list"])] = True
        return mask

    def test_has_them_block_by_block(self):
        for turned, copy in self.pairs():
            whole = copy.ReadAsArray()
            for number in (1, 5):
                band = turned.GetRasterBand(number)
                width, height = band.GetBlockSize()
                for y in range(-(-band.YSize // height)):
                    for x in range(-(-band.XSize // width)):
                        shape = band.GetActualBlockSize(x, y)
                        block = np.frombuffer(band.ReadBlock(x, y), whole.dtype).reshape(height, width)
                        left, top = x * width, y * height
                        self.assertSame(block[:shape[1], :shape[0]],
                                        whole[number - 1, top:top + shape[1], left:left + shape[0]], x, y)

    def test_is_resampled_as_its_copy(self):
        for turned, copy in self.pairs():
            for x, y, width, height in self.windows(turned, 20):
                how = dict(buf_xsize=self.random.randint(1, 50), buf_ysize=self.random.randint(1, 30),
                           resample_alg=self.random.choice(RESAMPLINGS))
                self.assertSame(turned.ReadAsArray(x, y, width, height, **how),
                                copy.ReadAsArray(x, y, width, height, **how), how)

    def test_is_warped_cut_and_measured_as_its_copy(self):
        for turned, copy in self.pairs():
            if copy.GetGeoTransform()[1] < 0:
                continue  # GDAL warps no such grids
            warped = [gdal.Warp("", dataset, format="MEM", outputBounds=(-40, -30, 50, 40), width=31,
                                height=23, resampleAlg="bilinear").ReadAsArray() for dataset in (turned, copy)]
            self.assertSame(*warped)
            cut = [gdal.Translate("/vsimem/cut.vrt", dataset, projWin=(-40, 40, 50, -30)).ReadAsArray()
                   for dataset in (turned, copy)]
            self.assertSame(*cut)
            for number in (1, 5):
                ours, theirs = turned.GetRasterBand(number), copy.GetRasterBand(number)
                self.assertEqual(ours.Checksum(), theirs.Checksum())
                self.assertTrue(np.allclose(ours.ComputeStatistics(False), theirs.ComputeStatistics(False),
                                            rtol=1e-12, atol=0))
                self.assertEqual(ours.GetHistogram(0, 200, 20, False, False),
                                 theirs.GetHistogram(0, 200, 20, False, False))

    def test_may_be_advised(self):
        grid = Grid(self.folder.name)
        turned, values = grid.open(), np.roll(grid.shown, -18, axis=2)
        for window in self.windows(turned, 10):
            x, y, width, height = window
            self.assertEqual(turned.AdviseRead(*window), gdal.CE_None)
            self.assertSame(turned.ReadAsArray(*window), values[:, y:y + height, x:x + width])

    def test_tells_progress_that_rises_to_one(self):
        turned, said = Grid(self.folder.name).open(), []
        turned.ReadAsArray(callback=lambda done, message, data: said.append(done) or 1)
        self.assertEqual(said, sorted(said))
        self.assertEqual(said[-1], 1)


class Costs(unittest.TestCase):
    """Columns before the seam and behind it lie side by side in a file: they are fetched together."""

    SHAPE, CHUNKS = (8, 180, 3600), (1, 45, 450)

    def served(self, folder):
        """References to chunks of zeros, one behind the other, in the order of the array."""
        refs, path = {".zgroup": '{"zarr_format": 2}'}, os.path.join(folder.served, "v.bin")
        put(refs, "lat", axis(89.5, -1, 180), (180,), ["lat"], units="degrees_north")
        put(refs, "lon", axis(0, 0.1, 3600), (3600,), ["lon"], units="degrees_east")
        refs["v/.zarray"] = metadata(np.zeros(self.SHAPE, "<i4"), self.CHUNKS).replace(
            '{"id": "zlib", "level": 1}', "null")
        refs["v/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["time", "lat", "lon"]})
        size = 4 * int(np.prod(self.CHUNKS))
        for i, index in enumerate(np.ndindex(8, 4, 8)):
            refs[f"v/{'.'.join(map(str, index))}"] = ["v.bin", i * size, size]
        with open(path, "wb") as file:
            file.truncate(8 * 4 * 8 * size)
        folder.write("refs.json", json.dumps(refs))

    def requests(self, server, options, read):
        dataset = gdal.OpenEx(f'REFS:"{server.url("refs.json")}":/v', open_options=options)
        self.assertEqual(dataset.GetGeoTransform()[0] < -100, bool(options))
        read(dataset)
        return int(dataset.GetMetadataItem("REQUESTS", "REFS"))

    def test_no_more_requests_than_the_grid_as_it_is(self):
        def by_rows(dataset):
            for y in range(180):
                dataset.GetRasterBand(1).ReadRaster(0, y, 3600, 1)

        def by_bands(dataset):
            for number in range(1, 9):
                dataset.GetRasterBand(number).ReadRaster()

        folder = Folder()
        self.addCleanup(folder.close)
        self.served(folder)
        server = Server(folder)
        self.addCleanup(server.close)
        for read in (gdal.Dataset.ReadRaster, by_rows, by_bands):
            stored, turned = (self.requests(server, options, read) for options in ([], TURNED))
            self.assertLessEqual(turned, stored + 3, "which differ by when threads come to run")


class Options(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_leave_grids_alone_unless_they_are_given(self):
        grid = Grid(self.folder.name)
        for options in ([], ["LONGITUDES=AS_IS"], ["LONGITUDES=0"]):
            dataset = grid.open(options)
            self.assertEqual(dataset.GetGeoTransform()[0], -5)
            self.assertTrue(np.array_equal(dataset.ReadAsArray(), grid.shown))

    def test_turn_back(self):
        grid = Grid(self.folder.name, first=-180.0)
        dataset = grid.open(["LONGITUDES=0"])
        self.assertEqual(dataset.GetGeoTransform()[0], -5)
        self.assertTrue(np.array_equal(dataset.ReadAsArray(), np.roll(grid.shown, -18, axis=2)))

    def test_of_configuration_turn_nothing_and_say_once_what_does(self):
        grid, said = Grid(self.folder.name), []
        gdal.PushErrorHandler(lambda kind, number, text: said.append(text))
        try:
            with gdal.config_option("REFS_LONGITUDES", "-180") if hasattr(gdal, "config_option") else Configured():
                self.assertEqual(grid.open().GetGeoTransform()[0], -185)
                self.assertEqual(said, [])
                for _ in range(2):
                    self.assertEqual(grid.open([]).GetGeoTransform()[0], -5)
        finally:
            gdal.PopErrorHandler()
        self.assertEqual(len(said), 1, said)
        self.assertIn("REFS_LONGITUDES=-180 is ignored: expected ?LONGITUDES=-180 after the name", said[0])

    def test_say_once_why_a_grid_stays(self):
        grid, said = Grid(self.folder.name, step=7.0), []
        gdal.PushErrorHandler(lambda kind, number, text: said.append(text))
        try:
            dataset = grid.open()
            dataset.ReadAsArray()
        finally:
            gdal.PopErrorHandler()
        self.assertEqual(dataset.GetGeoTransform()[0], -3.5)
        self.assertEqual(len(said), 1, said)
        self.assertIn("36 columns of 7 degrees cross 180", said[0])


class Configured:
    """What GDAL 3.6 has no name for."""

    def __enter__(self):
        gdal.SetConfigOption("REFS_LONGITUDES", "-180")

    def __exit__(self, *_):
        gdal.SetConfigOption("REFS_LONGITUDES", None)


class Overviews(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def pyramid(self):
        """Images of 360, 180, 90 and 45 columns; the seam lies inside of a column of the last."""
        path, refs = os.path.join(self.folder.name, "pyramid.json"), {".zgroup": '{"zarr_format": 2}'}
        refs[".zattrs"] = json.dumps({"Conventions": "CF-1.8", "multiscales": [
            {"datasets": [{"path": str(level)} for level in range(4)]}]})
        images = []
        for level in range(4):
            size = 2 ** level
            images.append(np.random.default_rng(level).integers(0, 99, (16 // size, 360 // size), "<i4"))
            put(refs, f"{level}/v", images[-1], (4, 50), ["lat", "lon"])
            put(refs, f"{level}/lat", axis(80, -10 * size, 16 // size), (16 // size,), ["lat"],
                units="degrees_north")
            put(refs, f"{level}/lon", axis(size / 2, size, 360 // size), (360 // size,), ["lon"],
                units="degrees_east")
            refs[f"{level}/.zgroup"] = refs[".zgroup"]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(refs, file)
        return path, images

    def test_of_the_set_are_turned_where_they_can_be(self):
        path, images = self.pyramid()
        name = f'REFS:"{path}":/0/v'
        stored = gdal.Open(name)
        self.assertEqual(stored.GetRasterBand(1).GetOverviewCount(), 3)
        dataset = gdal.OpenEx(name, open_options=TURNED)
        if dataset.GetGeoTransform()[0] == 0:
            self.fail("is not turned")
        band = dataset.GetRasterBand(1)
        self.assertEqual(band.GetOverviewCount(), 2, "one of 45 columns has its seam inside of one")
        for level in (1, 2):
            overview = band.GetOverview(level - 1)
            turned = np.roll(images[level], -overview.XSize // 2, axis=1)
            self.assertTrue(np.array_equal(overview.ReadAsArray(), turned))
        self.assertTrue(np.array_equal(band.ReadAsArray(0, 0, 360, 16, 90, 4),
                                       np.roll(images[2], -45, axis=1)))

    def test_that_are_built_are_of_the_turned_grid_alone(self):
        grid = Grid(self.folder.name)
        for options, roll in (([], 0), (TURNED, 18)):
            for _ in range(2):
                dataset = grid.open(options)
                dataset.BuildOverviews("NEAREST", [2])
                dataset = None
            copy = grid.copy(roll, -5.0 - 10 * roll, 10.0)
            copy = gdal.GetDriverByName("MEM").CreateCopy("", copy)
            copy.BuildOverviews("NEAREST", [2])
            again = grid.open(options)
            self.assertTrue(np.array_equal(again.GetRasterBand(1).GetOverview(0).ReadAsArray(),
                                           copy.GetRasterBand(1).GetOverview(0).ReadAsArray()), options)
        stored = grid.open([])
        overview = stored.GetRasterBand(1).GetOverview(0).ReadAsArray()
        self.assertTrue(np.array_equal(overview[:, 0], grid.shown[0, ::2, 0]))


unittest.main()
