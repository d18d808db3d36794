#!/usr/bin/env python3
"""Ground control points of a product like EOPF's Sentinel-1 ones, which gdalwarp places the image by."""

import base64
import json
import os
import sys
import tempfile
import unittest

import numpy as np
from osgeo import gdal

gdal.UseExceptions()
ROWS, COLUMNS = 40, 50


def put(refs, path, values, dims):
    values = np.ascontiguousarray(values)
    refs[path + "/.zarray"] = json.dumps(
        {"zarr_format": 2, "shape": values.shape, "chunks": values.shape, "dtype": values.dtype.str,
         "fill_value": None, "order": "C", "compressor": None, "filters": None})
    refs[path + "/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": dims})
    refs[path + "/" + ".".join("0" for _ in values.shape)] = "base64:" + base64.b64encode(values.tobytes()).decode()


class Gcps(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        refs = {".zgroup": '{"zarr_format": 2}'}
        for group in ("VH", "VH/measurements", "VH/conditions", "VH/conditions/gcp"):
            refs[group + "/.zgroup"] = '{"zarr_format": 2}'
        lines, pixels = np.array([0, 20, 40]), np.array([0, 25, 50])
        dims = ["azimuth_time", "ground_range"]
        put(refs, "VH/conditions/gcp/line", lines, dims[:1])
        put(refs, "VH/conditions/gcp/pixel", pixels, dims[1:])
        put(refs, "VH/conditions/gcp/latitude", np.repeat(50 - lines[:, None] / 10.0, 3, 1), dims)
        put(refs, "VH/conditions/gcp/longitude", np.repeat(5 + pixels[None] / 10.0, 3, 0), dims)
        put(refs, "VH/conditions/gcp/height", np.full((3, 3), 12.0), dims)
        put(refs, "VH/measurements/grd", np.arange(ROWS * COLUMNS, dtype="<u2").reshape(ROWS, COLUMNS), dims)
        put(refs, "VH/measurements/azimuth_time", 1e9 + np.arange(ROWS), dims[:1])
        put(refs, "VH/measurements/ground_range", np.arange(COLUMNS) * 10.0, dims[1:])
        self.set = os.path.join(self.folder.name, "s1.json")
        with open(self.set, "w") as file:
            json.dump({"version": 1, "refs": refs}, file)

    def test_points_are_those_of_the_product(self):
        dataset = gdal.Open(f'REFS:"{self.set}":/VH/measurements/grd')
        points = dataset.GetGCPs()
        self.assertEqual(dataset.GetGCPCount(), 9)
        self.assertEqual({point.Id for point in points}, {f"GCP_{i}" for i in range(1, 10)})
        self.assertEqual({point.GCPZ for point in points}, {12.0})
        self.assertEqual(dataset.GetGCPSpatialRef().GetAuthorityCode(None), "4326")
        self.assertIsNone(dataset.GetGeoTransform(can_return_null=True))

    def test_the_image_is_placed_by_them(self):
        dataset = gdal.Open(f'REFS:"{self.set}":/VH/measurements/grd')
        warped = gdal.Warp("", dataset, format="MEM", xRes=0.1, yRes=0.1)
        transform = warped.GetGeoTransform()
        np.testing.assert_allclose([transform[0], transform[3]], [5, 50], atol=1e-6)
        np.testing.assert_array_equal(warped.ReadAsArray(), np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS))


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False, argv=sys.argv[:1]).result.wasSuccessful())
