"""A dataset that was opened with options is the same one as a source of a VRT, which keeps its name alone.

usage: vrt_test.py
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from osgeo import gdal

gdal.UseExceptions()

READ = ("import sys; from osgeo import gdal; gdal.UseExceptions()\n"
        "dataset = gdal.Open(sys.argv[1])\n"
        "print(dataset.GetGeoTransform(), dataset.GetProjection() != '', dataset.ReadAsArray().ravel().tolist())\n")


class Sources(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, url="v.bin"):
        """A global grid from 0 to 360, with a valid range."""
        lat, lon = 45.0 - 30 * np.arange(4), 30.0 * np.arange(12)
        np.arange(48, dtype="<i2").tofile(self.path("v.bin"))
        (np.arange(48, dtype="<i2") + 100).tofile(self.path("other.bin"))
        common = {"zarr_format": 2, "order": "C", "compressor": None, "filters": None}
        refs = {".zgroup": json.dumps({"zarr_format": 2}),
                "v/.zarray": json.dumps({**common, "shape": [4, 12], "chunks": [4, 12], "dtype": "<i2", "fill_value": -1}),
                "v/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["lat", "lon"], "valid_max": 40}), "v/0.0": [url, 0, 96]}
        for name, values, units in (("lat", lat, "degrees_north"), ("lon", lon, "degrees_east")):
            refs[f"{name}/.zarray"] = json.dumps({**common, "shape": [len(values)], "chunks": [len(values)],
                                                  "dtype": "<f8", "fill_value": None})
            refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": [name], "units": units})
            values.astype("<f8").tofile(self.path(name))
            refs[f"{name}/0"] = [name, 0, 8 * len(values)]
        with open(self.path("refs.json"), "w", encoding="utf-8") as file:
            json.dump({"version": 1, "templates": {"which": "v.bin"}, "refs": refs}, file)
        return f'REFS:"{self.path("refs.json")}":/v'

    def listed(self, name, options):
        """The name of v in a container with another array beside it."""
        with open(self.path("refs.json"), encoding="utf-8") as file:
            content = json.load(file)
        refs = content["refs"]
        refs.update({key.replace("v/", "w/"): refs[key] for key in list(refs) if key.startswith("v/")})
        with open(self.path("refs.json"), "w", encoding="utf-8") as file:
            json.dump(content, file)
        names = [item[0] for item in gdal.OpenEx(name, open_options=options).GetSubDatasets()]
        return next(item for item in names if ":/v" in item)

    def said(self, name):
        """In a process of its own."""
        return subprocess.run([sys.executable, "-W", "ignore", "-c", READ, name], stdout=subprocess.PIPE, text=True,
                              check=True).stdout

    def check(self, name, *options):
        dataset = gdal.OpenEx(name, open_options=list(options))
        right = (f"{dataset.GetGeoTransform()} {dataset.GetProjection() != ''} "
                 f"{dataset.ReadAsArray().ravel().tolist()}\n")
        self.assertNotEqual(right, self.said(name), "the option changes something")
        self.assertEqual(self.said(dataset.GetDescription()), right)
        gdal.Translate(self.path("translated.vrt"), dataset, format="VRT")
        self.assertEqual(self.said(self.path("translated.vrt")), right)
        if dataset.GetProjection():
            gdal.BuildVRT(self.path("built.vrt"), [dataset]).FlushCache()
            self.assertEqual(self.said(self.path("built.vrt")), right)

    def test_have_the_longitudes_of_the_dataset(self):
        for bare in (False, True):
            name = self.write()
            self.check(name[:-1].replace('"', "") + "v" if bare else name, "LONGITUDES=-180")

    def test_have_all_else_that_options_change(self):
        self.check(self.write(), "HONOUR_VALID_RANGE=NO")
        self.check(self.write(), "ASSUME_LONGLAT=NO")
        self.check(self.write("{{which}}"), "TEMPLATES=which=other.bin")
        self.check(self.write(), "URL_REWRITE=v.bin=>other.bin")
        self.check(self.write(), "HONOUR_VALID_RANGE=NO", "LONGITUDES=-180", "TEMPLATES=a=b&c?[x:y]=%20 ,d=e")

    def test_stay_without_a_place_when_coordinates_are_there_again(self):
        name = self.write()
        os.rename(self.path("lat"), self.path("elsewhere"))
        gdal.PushErrorHandler("CPLQuietErrorHandler")
        self.addCleanup(gdal.PopErrorHandler)
        dataset = gdal.OpenEx(name, open_options=["COORDINATES=OPTIONAL"])
        gdal.Translate(self.path("translated.vrt"), dataset, format="VRT")
        self.assertIn("?COORDINATES=OPTIONAL", dataset.GetDescription())
        self.assertEqual(gdal.Open(self.path("translated.vrt")).ReadAsArray().tolist(), dataset.ReadAsArray().tolist())

    def test_have_plain_names_without_such_options(self):
        name = self.write()
        for options in ([], ["MEMORY=1MB"], ["CHANGED=WARN"]):
            self.assertEqual(gdal.OpenEx(name, open_options=options).GetDescription(), name)

    def test_have_the_options_of_the_container_that_lists_them(self):
        name = self.write()[:-len(":/v")]
        options = ["LONGITUDES=-180", "HONOUR_VALID_RANGE=NO", "MEMORY=1MB"]
        expected = self.said(name + ":/v?HONOUR_VALID_RANGE=NO&LONGITUDES=-180")
        self.assertNotEqual(expected, self.said(name + ":/v"))
        listed = self.listed(name, options)
        self.assertEqual(listed, name + ":/v?HONOUR_VALID_RANGE=NO&LONGITUDES=-180")
        self.assertEqual(self.said(listed), expected)
        self.assertEqual(self.listed(name, ["MEMORY=1MB"]), name + ":/v")

    def test_lie_where_their_sources_do_whatever_the_configuration_says(self):
        name = self.write()
        gdal.PushErrorHandler("CPLQuietErrorHandler")
        self.addCleanup(gdal.PopErrorHandler)
        gdal.SetConfigOption("REFS_LONGITUDES", "-180")
        self.addCleanup(gdal.SetConfigOption, "REFS_LONGITUDES", None)
        gdal.BuildVRT(self.path("built.vrt"), [name]).FlushCache()
        gdal.Translate(self.path("translated.vrt"), name, format="VRT").FlushCache()
        expected = gdal.Open(name)
        for configured in ("-180", None):
            gdal.SetConfigOption("REFS_LONGITUDES", configured)
            for vrt in ("built.vrt", "translated.vrt"):
                dataset = gdal.Open(self.path(vrt))
                self.assertEqual(dataset.GetGeoTransform(), expected.GetGeoTransform())
                self.assertEqual(dataset.ReadAsArray().tolist(), expected.ReadAsArray().tolist())

    def test_options_of_the_call_go_first(self):
        name = self.write() + "?LONGITUDES=-180"
        self.assertEqual(gdal.Open(name).GetGeoTransform()[0], -195)
        self.assertEqual(gdal.OpenEx(name, open_options=["LONGITUDES=AS_IS"]).GetGeoTransform()[0], -15)

    def test_names_hold_no_other_options(self):
        with self.assertRaises(RuntimeError) as caught:
            gdal.Open(self.write() + "?LONGITUDES=-180&SAVE=x.json")
        self.assertIn("SAVE", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
