"""What docs/differences.md says of this driver and of GDAL's own reader of reference sets, measured.

usage: differences_test.py ROOT      Left out (77) where GDAL has no such reader: before 3.11.

Each row of the page's table has a test here, which is called like it.
"""

import base64
import bz2
import gzip
import json
import os
import re
import shutil
import struct
import sys
import unittest

from osgeo import gdal

ROOT = sys.argv.pop(1)
sys.path.insert(0, os.path.join(ROOT, "autotest", "server"))
from served import Folder, Server  # noqa: E402

PAGE = os.path.join(ROOT, "docs", "differences.md")
gdal.UseExceptions()


def rows():
    """The first cells of the page's table of differences."""
    with open(PAGE, encoding="utf-8") as page:
        cells = [line.split("|")[1].strip() for line in page if line.startswith("| ")]
    return [cell for cell in cells if cell]


def test_name(row):
    return "test_" + re.sub(r"\W+", "_", row.replace("`", "")).strip("_").lower()


def array(shape, chunks=None, dtype="<f4", **more):
    return json.dumps({"zarr_format": 2, "shape": shape, "chunks": chunks or shape, "dtype": dtype,
                       "fill_value": None, "order": "C", "compressor": None, "filters": None, **more})


def inline(values):
    data = struct.pack(f"<{len(values)}f", *values)
    return "base64:" + base64.b64encode(data).decode()


def variable(name, dims, values, attributes=None, **more):
    """References of an array of 32-bit floats in one chunk."""
    shape = [size for _, size in dims]
    attrs = {"_ARRAY_DIMENSIONS": [dim for dim, _ in dims], **(attributes or {})}
    return {f"{name}/.zarray": array(shape, **more), f"{name}/.zattrs": json.dumps(attrs),
            f"{name}/" + ".".join("0" * len(shape)): inline(values)}


def grid(x, y, attributes=None, x_attributes=None, y_attributes=None, **more):
    """References of v(y, x) with both coordinate variables."""
    n = len(x) * len(y)
    return {".zgroup": '{"zarr_format":2}',
            **variable("v", [("y", len(y)), ("x", len(x))], list(range(n)), attributes, **more),
            **variable("y", [("y", len(y))], y, y_attributes),
            **variable("x", [("x", len(x))], x, x_attributes)}


LATITUDE = {"units": "degrees_north", "standard_name": "latitude"}
LONGITUDE = {"units": "degrees_east", "standard_name": "longitude"}
METRE_X = {"standard_name": "projection_x_coordinate", "units": "m"}
METRE_Y = {"standard_name": "projection_y_coordinate", "units": "m"}
CRS = {"crs/.zarray": array([], dtype="<i4"), "crs/0": "AAAA"}


class Differences(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.close)
        self.server = None

    def serve(self):
        self.server = Server(self.folder)
        self.addCleanup(self.server.close)

    def names(self, content, name="refs.json", array_name="/v"):
        """The names of a set for this driver and for GDAL's."""
        if not isinstance(content, (str, bytes)):
            content = json.dumps(content, separators=(",", ":"))
        self.folder.write(name, content)
        path = os.path.join(self.folder.served, name)
        theirs = path
        if self.server:
            path, theirs = self.server.url(name), "/vsicurl/" + self.server.url(name)
        return (f'REFS:"{path}":{array_name}',
                f'ZARR:"/vsikerchunk_json_ref/{{{theirs}}}":{array_name}')

    def both(self, *arguments, **more):
        return [gdal.Open(name) for name in self.names(*arguments, **more)]

    def assert_only_ours_opens(self, ours, theirs):
        self.assertIsNotNone(gdal.Open(ours).ReadRaster())
        with self.assertRaises(RuntimeError):
            gdal.Open(theirs).ReadRaster()

    # -- forms of sets --

    def test_templates_and_generators(self):
        refs = {"version": 1, "templates": {"u": "v.bin"}, "refs": grid([1, 2], [3, 4])}
        self.assert_only_ours_opens(*self.names(refs))
        refs = {"version": 1, "gen": [], "refs": grid([1, 2], [3, 4])}
        self.assert_only_ours_opens(*self.names(refs, "gen.json"))

    def test_lists_of_sets(self):
        ours, theirs = self.names([grid([1, 2], [3, 4]), grid([1, 2], [3, 4])])
        self.assert_only_ours_opens(ours.replace(":/v", ":#1/v"), theirs)

    def test_compressed_sets(self):
        self.assert_only_ours_opens(*self.names(
            gzip.compress(json.dumps(grid([1, 2], [3, 4])).encode()), "refs.json.gz"))

    def test_names_without_a_prefix(self):
        for i, refs in enumerate(({"refs": grid([1, 2], [3, 4]), "version": 1},
                                  {"v/.zarray": array([2, 2])})):
            ours, _ = self.names(refs, f"refs{i}.json")
            path = ours.split('"')[1]
            self.assertEqual(gdal.OpenEx(path, allowed_drivers=["REFS"]).GetDriver().ShortName, "REFS")
            with self.assertRaises(RuntimeError):
                gdal.OpenEx(path, allowed_drivers=["Zarr"])

        known = self.names(grid([1, 2], [3, 4]), "known.json")[0].split('"')[1]
        for drivers, expected in ((["REFS", "Zarr"], "REFS"), (["Zarr"], "Zarr")):
            dataset = gdal.OpenEx(known, allowed_drivers=drivers)
            self.assertEqual(dataset.GetDriver().ShortName, expected)

    def test_parquet_sets(self):
        """Where libarrow is there, GDAL's reads them too."""
        shared = os.environ.get("REFS_SHARED_DATA", os.path.join(ROOT, "..", "shared", "data"))
        source = os.path.join(shared, "netcdf4", "goes-16_C_M6_2000.nc")
        if not os.path.exists(source) or gdal.GetDriverByName("Parquet"):
            self.skipTest("there is no such set, or there is libarrow")
        shutil.copy(source, self.folder.served)
        shutil.copytree(source + ".parq", os.path.join(self.folder.served, "goes.parq"))
        path = os.path.join(self.folder.served, "goes.parq")
        subdatasets = gdal.Open(f"REFS:{path}").GetSubDatasets()
        array_name = subdatasets[0][0].rsplit(":", 1)[1] if subdatasets else "/offset"
        self.assert_only_ours_opens(f'REFS:"{path}":{array_name}', f'ZARR:"{path}":{array_name}')

    # -- codecs --

    def test_codecs(self):
        for codec, packed in (("bz2", bz2.compress(bytes(16))), ("fletcher32", bytes(16 + 4))):
            refs = grid([1, 2], [3, 4], filters=[{"id": codec}])
            refs["v/0.0"] = "base64:" + base64.b64encode(packed).decode()
            self.assert_only_ours_opens(*self.names(refs, codec + ".json"))

    # -- meaning --

    def test_longitude_and_latitude_without_a_grid_mapping(self):
        ours, theirs = self.both(grid([1, 2], [4, 3], None, LONGITUDE, LATITUDE))
        self.assertEqual(ours.GetSpatialRef().GetAuthorityCode(None), "4326")
        self.assertIsNone(theirs.GetSpatialRef())

    def test_global_attributes_and_those_of_axes(self):
        ours, theirs = self.both({**grid([1, 2], [4, 3], {"title": "one"}, LONGITUDE, LATITUDE),
                                  ".zattrs": '{"title": "all"}'})
        self.assertEqual([ours.GetMetadataItem(name) for name in
                          ("v#title", "NC_GLOBAL#title", "y#units")], ["one", "all", "degrees_north"])
        self.assertEqual(theirs.GetMetadataItem("title"), "one")
        self.assertNotIn("degrees_north", theirs.GetMetadata().values())
        self.assertNotIn("all", theirs.GetMetadata().values())

    def test_rows_from_south_to_north(self):
        ours, theirs = self.both(grid([1, 2], [3, 4], None, LONGITUDE, LATITUDE))
        self.assertEqual(ours.GetGeoTransform()[5], -1)
        self.assertEqual(theirs.GetGeoTransform()[5], 1)

    def test_geostationary_grids_in_radians(self):
        refs = {**grid([-.1, 0, .1], [.1, 0, -.1], {"grid_mapping": "crs"},
                       {"standard_name": "projection_x_coordinate", "units": "rad"},
                       {"standard_name": "projection_y_coordinate", "units": "rad"}), **CRS,
                "crs/.zattrs": json.dumps({
                    "_ARRAY_DIMENSIONS": [], "grid_mapping_name": "geostationary",
                    "perspective_point_height": 35786023.0, "semi_major_axis": 6378137.0,
                    "semi_minor_axis": 6356752.31414, "sweep_angle_axis": "x",
                    "longitude_of_projection_origin": -75.0, "latitude_of_projection_origin": 0.0})}
        ours, theirs = self.both(refs)
        self.assertAlmostEqual(ours.GetGeoTransform()[1], 3578602.3, delta=1)
        self.assertAlmostEqual(theirs.GetGeoTransform()[1], .1, places=6)
        self.assertEqual(theirs.GetSpatialRef().GetLinearUnits(), 1)

    def test_kilometres(self):
        refs = {**grid([10, 20], [20, 10], {"grid_mapping": "crs"}, {**METRE_X, "units": "km"},
                       {**METRE_Y, "units": "km"}), **CRS,
                "crs/.zattrs": json.dumps({
                    "_ARRAY_DIMENSIONS": [], "grid_mapping_name": "polar_stereographic",
                    "straight_vertical_longitude_from_pole": 0.0, "standard_parallel": 70.0,
                    "latitude_of_projection_origin": 90.0, "false_easting": 0.0,
                    "false_northing": 0.0})}
        ours, theirs = self.both(refs)

        def step(dataset):
            return dataset.GetGeoTransform()[1] * dataset.GetSpatialRef().GetLinearUnits()
        self.assertAlmostEqual(step(ours), 10000)
        self.assertAlmostEqual(step(theirs), 10)

    def test_coordinates_in_two_dimensions(self):
        refs = {".zgroup": '{"zarr_format":2}',
                **variable("v", [("j", 2), ("i", 2)], range(4), {"coordinates": "lat lon"}),
                **variable("lat", [("j", 2), ("i", 2)], [4, 4.1, 3, 3.1], LATITUDE),
                **variable("lon", [("j", 2), ("i", 2)], [1, 2.1, 1.1, 2], LONGITUDE)}
        ours, theirs = self.both(refs)
        self.assertTrue(ours.GetMetadata("GEOLOCATION"))
        self.assertFalse(theirs.GetMetadata("GEOLOCATION"))

    def test_nodata(self):
        ours, theirs = self.both(grid([1, 2], [4, 3], {"_FillValue": 3}))
        self.assertEqual(ours.GetRasterBand(1).GetNoDataValue(), 3)
        self.assertIsNone(theirs.GetRasterBand(1).GetNoDataValue())

    def test_times(self):
        refs = {".zgroup": '{"zarr_format":2}',
                **variable("v", [("time", 2), ("y", 2), ("x", 2)], range(8)),
                **variable("time", [("time", 2)], [0, 6],
                           {"units": "hours since 2020-01-01", "standard_name": "time"})}
        ours, theirs = self.both(refs)
        self.assertEqual(ours.GetRasterBand(2).GetMetadataItem("TIME"), "2020-01-01T06:00:00")
        self.assertEqual(ours.GetRasterBand(2).GetDescription(), "time=2020-01-01T06:00:00")
        self.assertEqual(theirs.GetRasterBand(2).GetDescription(), "")
        self.assertEqual(theirs.GetRasterBand(2).GetMetadataItem("DIM_time_VALUE"), "6")

    # -- bytes --

    def served_grid(self):
        """An array of 3 x 3 chunks of 100 KiB that lie side by side in a file."""
        self.serve()
        size = 4 * 160 * 160
        self.folder.write("v.bin", bytes(9 * size))
        refs = {".zgroup": '{"zarr_format":2}', "v/.zarray": array([480, 480], [160, 160])}
        for i in range(9):
            refs[f"v/{i // 3}.{i % 3}"] = ["v.bin", size * i, size]
        return self.names(refs)

    def requests(self, name):
        before = len(self.server.requests("v.bin"))
        gdal.Open(name).ReadRaster()
        return len(self.server.requests("v.bin")) - before

    def test_requests_for_nine_adjacent_chunks(self):
        ours, theirs = self.served_grid()
        self.assertEqual((self.requests(ours), self.requests(theirs)), (1, 10))

    def test_a_set_that_is_rewritten(self):
        ours, theirs = self.names(grid([1, 2], [4, 3]))
        for name in (ours, theirs):
            gdal.Open(name).ReadRaster()
        self.names(grid([1, 2, 3], [4, 3]))
        self.assertEqual(gdal.Open(ours).RasterXSize, 3)
        self.assertEqual(gdal.Open(theirs).RasterXSize, 2)

    def test_remote_sets_that_name_local_files(self):
        self.serve()
        secret = self.folder.file("secret")
        with open(secret, "wb") as file:
            file.write(bytes(16))
        refs = grid([1, 2], [4, 3])
        refs["v/0.0"] = ["file://" + secret, 0, 16]
        ours, theirs = self.names(refs)
        with self.assertRaises(RuntimeError):
            gdal.Open(ours).ReadRaster()
        self.assertEqual(gdal.Open(theirs).ReadRaster(), bytes(16))


class Page(unittest.TestCase):
    def test_has_a_row_for_each_test_and_a_test_for_each_row(self):
        tests = [name for name in dir(Differences) if name.startswith("test_")]
        self.assertEqual(sorted(map(test_name, rows())), sorted(tests))


if __name__ == "__main__":
    has_reader = int(gdal.VersionInfo()) >= 3110000 and gdal.GetDriverByName("Zarr") is not None
    if not has_reader:
        del Differences.setUp
        result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Page))
        sys.exit(77 if result.wasSuccessful() else 1)
    unittest.main()
