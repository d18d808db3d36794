#!/usr/bin/env python3
"""Swaths of a product like EOPF's Sentinel-3 OLCI, whose longitudes and latitudes are packed integers: gdalwarp -geoloc
places the image by them. The metadata are those of tests/_test_data/optimized_olci_examples of EOPF-Explorer/data-model
(Apache 2.0), on a small grid."""

import base64
import json
import os
import sys
import tempfile
import unittest

import numpy as np
from osgeo import gdal

gdal.UseExceptions()
N = 16


def coordinate(name, axis, most):
    return {"dimensions": ["rows", "columns"], "dtype": "<i4", "eopf_is_masked": True, "eopf_target_dtype": "<f8",
            "fill_value": -2147483648, "long_name": "DEM corrected " + name, "scale_factor": 1e-06,
            "standard_name": name, "units": "degrees_" + axis, "valid_max": most, "valid_min": -most}


RADIANCE = {"_FillValue": 65535, "add_offset": 0.0, "coordinates": "altitude latitude longitude time_stamp", "dtype": "<u2",
            "long_name": "TOA radiance for OLCI acquisition band oa01", "scale_factor": 0.0139465,
            "standard_name": "toa_upwelling_spectral_radiance", "units": "mW.m-2.sr-1.nm-1"}


def put(refs, path, values, attributes):
    types = {"i2": "int16", "i4": "int32", "i8": "int64", "u2": "uint16", "u8": "uint64"}
    refs[path + "/zarr.json"] = json.dumps(
        {"zarr_format": 3, "node_type": "array", "shape": values.shape, "data_type": types[values.dtype.str[1:]],
         "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": values.shape}},
         "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": 0,
         "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "dimension_names": ["rows", "columns"],
         "attributes": attributes, "storage_transformers": []})
    refs[path + "/c/0/0"] = "base64:" + base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()


class Geolocation(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        group = json.dumps({"zarr_format": 3, "node_type": "group", "attributes": {}})
        refs = {name + "zarr.json": group for name in ("", "measurements/", "measurements/r0/")}
        rows, columns = np.mgrid[0:N, 0:N]
        self.latitude, self.longitude = 0.05 - 0.01 * rows, -0.07 + 0.01 * columns  # 0 and 0 are in it
        for name, axis, values, most in (("latitude", "north", self.latitude, 90000000),
                                         ("longitude", "east", self.longitude, 180000000)):
            put(refs, "measurements/r0/" + name, np.round(values * 1e6).astype("<i4"), coordinate(name, axis, most))
        put(refs, "measurements/r0/altitude", np.zeros((N, N), "<i2"), {"standard_name": "altitude", "units": "m"})
        self.values = (1000 + rows * N + columns).astype("<u2")
        put(refs, "measurements/r0/oa01_radiance", self.values, RADIANCE)
        self.set = os.path.join(self.folder.name, "a & b.json")
        with open(self.set, "w") as file:
            json.dump({"version": 1, "refs": refs}, file)

    def open(self):
        return gdal.Open(f'REFS:"{self.set}":/measurements/r0/oa01_radiance')

    def test_coordinates_are_unpacked(self):
        """In the order of the image, whose rows are turned."""
        items = self.open().GetMetadata("GEOLOCATION")
        for name, values in (("X_DATASET", self.longitude), ("Y_DATASET", self.latitude)):
            dataset = gdal.Open(items[name])
            np.testing.assert_allclose(dataset.ReadAsArray(), values[::-1], atol=1e-9)

    def test_missing_coordinates_of_64_bits_are_missing(self):
        """Missing values of 64-bit integers are no doubles."""
        for dtype, missing in (("<i8", -2**63), ("<i8", 2**62), ("<u8", 2**64 - 2**11), ("<u8", 2**63)):
            with self.subTest(dtype=dtype, missing=missing):
                packed = np.round((self.longitude + 1) * 1e6).astype(dtype)
                packed[0, 0] = missing
                with open(self.set) as file:
                    refs = json.load(file)["refs"]
                put(refs, "measurements/r0/longitude", packed,
                    {"_FillValue": missing, "scale_factor": 1e-06, "add_offset": -1., "standard_name": "longitude", "units": "degrees_east"})
                with open(self.set, "w") as file:
                    json.dump({"version": 1, "refs": refs}, file)
                found = gdal.Open(self.open().GetMetadata("GEOLOCATION")["X_DATASET"]).ReadAsArray()[::-1]
                self.assertEqual(found[0, 0], -1e30)
                np.testing.assert_allclose(found.ravel()[1:], self.longitude.ravel()[1:], atol=1e-9)

    def test_the_image_is_placed_by_them(self):
        warped = gdal.Warp("", self.open(), format="MEM", geoloc=True, dstSRS="EPSG:4326", xRes=0.01, yRes=0.01,
                           outputBounds=(-0.075, -0.105, 0.085, 0.055))
        np.testing.assert_array_equal(warped.ReadAsArray(), self.values)


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False, argv=sys.argv[:1]).result.wasSuccessful())
