"""gdalmdimtranslate -of REFS keeps what the source says: reference systems, lists of strings, large integers.

usage: mdim_copy_test.py
"""

import os
import shutil
import sys
import tempfile
import unittest

import netCDF4
import numpy as np
from osgeo import gdal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))
from this_build import need  # noqa: E402

need("netcdf")
gdal.UseExceptions()

LAYOUTS = (["LAYOUT=CFA", "CFA_VERSION=0.4"], ["LAYOUT=CFA", "CFA_VERSION=0.5"], ["LAYOUT=CFA", "CFA_VERSION=1.13"],
           ["LAYOUT=NETCDF4"], ["LAYOUT=NETCDF3"])
MAPPINGS = {
    "sphere": ("lat", "lon", {"grid_mapping_name": "latitude_longitude", "semi_major_axis": 6371229.0,
                              "inverse_flattening": 0.0}),
    "lambert": ("y", "x", {"grid_mapping_name": "lambert_conformal_conic", "standard_parallel": [25.0, 35.0],
                           "longitude_of_central_meridian": 10.0, "latitude_of_projection_origin": 30.0,
                           "earth_radius": 6371229.0}),
    "none": ("lat", "lon", None)}
UNITS = {"lat": "degrees_north", "lon": "degrees_east", "x": "m", "y": "m", "time": "days since 2000-01-01"}


class Copies(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, kind):
        y, x, mapping = MAPPINGS[kind]
        with netCDF4.Dataset(self.path(name), "w") as file:
            for axis, size in (("time", 2), (y, 4), (x, 5)):
                file.createDimension(axis, size)
                values = file.createVariable(axis, "f8", (axis,))
                values.units = UNITS[axis]
                if axis in "xy":
                    values.standard_name = f"projection_{axis}_coordinate"
                values[:] = -np.arange(size) if axis == y else np.arange(size)
            if mapping is not None:
                file.createVariable("crs", "i4", ()).setncatts(mapping)
            for variable in ("v", "w"):
                made = file.createVariable(variable, "f4", ("time", y, x))
                made[:] = 1
                if mapping is not None:
                    made.grid_mapping = "crs"
            file.variables["v"].setncattr_string("words", ["one", "two, three", "four"])
            file.variables["v"].setncattr("large", np.int64(2 ** 62 + 1))
        return self.path(name)

    def test_keep_the_reference_system(self):
        for kind in MAPPINGS:
            source = self.write(f"{kind}.nc", kind)
            right = gdal.Open(f'REFS:"{source}":/v').GetSpatialRef()
            for number, layout in enumerate(LAYOUTS):
                for prefix in ("", "REFS:"):
                    with self.subTest(kind=kind, layout=layout, prefix=prefix):
                        copy = self.path(f"{kind}{number}{prefix[:1]}.nca")
                        gdal.MultiDimTranslate(copy, prefix + source, format="REFS", creationOptions=layout)
                        for variable in ("v", "w"):
                            found = gdal.Open(f'REFS:"{copy}":/{variable}').GetSpatialRef()
                            self.assertTrue(found is not None and found.IsSame(right))

    def test_of_one_array_keep_it_too(self):
        source = self.write("lambert.nc", "lambert")
        right = gdal.Open(f'REFS:"{source}":/v').GetSpatialRef()
        copy = self.path("copy.nca")
        gdal.MultiDimTranslate(copy, source, format="REFS", creationOptions=["LAYOUT=NETCDF4"], arraySpecs=["v"])
        self.assertTrue(gdal.Open(f'REFS:"{copy}":/v').GetSpatialRef().IsSame(right))

    def test_have_no_grid_mapping_where_there_was_none(self):
        source = self.write("none.nc", "none")
        gdal.MultiDimTranslate(self.path("copy.nca"), source, format="REFS", creationOptions=["LAYOUT=NETCDF4"])
        with netCDF4.Dataset(self.path("copy.nca")) as file:
            self.assertNotIn("grid_mapping", file.variables["v"].ncattrs())

    def test_keep_attributes_of_several_values(self):
        source = self.write("sphere.nc", "sphere")
        for number, layout in enumerate(LAYOUTS):
            with self.subTest(layout=layout):
                copy = self.path(f"copy{number}.nca")
                gdal.MultiDimTranslate(copy, f"REFS:{source}", format="REFS", creationOptions=layout)
                with netCDF4.Dataset(copy) as file:
                    text = str(file.variables["v"].words)
                    for word in ("one", "two, three", "four"):
                        self.assertIn(word, text)

    def test_keep_integers_of_64_bits(self):
        source = self.write("sphere.nc", "sphere")
        copy = self.path("copy.nca")
        gdal.MultiDimTranslate(copy, f"REFS:{source}", format="REFS", creationOptions=["LAYOUT=NETCDF4"])
        with netCDF4.Dataset(copy) as file:
            self.assertEqual(int(file.variables["v"].large), 2 ** 62 + 1)


if __name__ == "__main__":
    unittest.main()
