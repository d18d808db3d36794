#!/usr/bin/env python3
"""Forecasts as dynamical.org publishes them: GRIB messages by the codec gribberish, times along init_time and
lead_time, a reference system that only "coordinates" names. The metadata are those in shared/data/weather beside
the repository, where that is (REFS_SHARED_DATA names another folder of data), on a small grid; messages are the
samples of ../conform/data.

usage: forecast_test.py REFS    with GDAL_DRIVER_PATH; REFS is the program refs
"""

import base64
import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from osgeo import gdal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../server"))
from served import Folder, Server  # noqa: E402
from this_build import need  # noqa: E402

need("eccodes")

DATA = os.environ.get("REFS_SHARED_DATA", os.path.join(HERE, "../../../shared/data"))
TEMPLATE = os.path.join(DATA, "weather/aifs_template")
SAMPLE = os.path.join(HERE, "../conform/data/gribberish-both.json")
VARIABLE = "convective_precipitation_run_total_surface"
RUNS, STEPS, ROWS, COLUMNS = 2, 3, 7, 12
gdal.UseExceptions()


def inline(array):
    return "base64:" + base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def describe(name, shape, chunks):
    """The published metadata of an array, for another grid; coordinates are not compressed."""
    with open(os.path.join(TEMPLATE, name, "zarr.json")) as file:
        metadata = json.load(file)
    metadata["shape"] = shape
    metadata["chunk_grid"]["configuration"]["chunk_shape"] = chunks
    if name != VARIABLE:
        metadata["codecs"] = metadata["codecs"][:1]
    return json.dumps(metadata)


@unittest.skipUnless(os.path.isdir(TEMPLATE), "there is no folder shared/data/weather")
class Forecast(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        with open(SAMPLE) as file:
            sample = json.load(file)
        message = base64.b64decode(sample["encoded"])
        cls.values = np.frombuffer(base64.b64decode(sample["decoded"])).reshape(ROWS, COLUMNS)
        grib = os.path.join(cls.folder.name, "m.grib2")
        with open(grib, "wb") as file:
            file.write(message)
        runs = 1785542400 + np.arange(RUNS) * 21600  # 2026-08-01
        coordinates = {"init_time": runs, "lead_time": np.arange(STEPS) * 21600.0,
                       "latitude": 90 - 30.0 * np.arange(ROWS), "longitude": -180 + 30.0 * np.arange(COLUMNS)}
        refs = {"zarr.json": json.dumps({"zarr_format": 3, "node_type": "group"}),
                "spatial_ref/zarr.json": describe("spatial_ref", [], []), "spatial_ref/c": inline(np.zeros(1, "<i8"))}
        for name, values in coordinates.items():
            refs[name + "/zarr.json"] = describe(name, list(values.shape), list(values.shape))
            refs[name + "/c/0"] = inline(values)
        refs[VARIABLE + "/zarr.json"] = describe(VARIABLE, [RUNS, STEPS, ROWS, COLUMNS], [1, 1, ROWS, COLUMNS])
        for run in range(RUNS):
            for step in range(STEPS):
                refs[f"{VARIABLE}/c/{run}/{step}/0/0"] = [grib, 0, len(message)]
        cls.set = os.path.join(cls.folder.name, "set.json")
        with open(cls.set, "w") as file:
            json.dump({"version": 1, "refs": refs}, file)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def open(self, selection=""):
        return gdal.Open(f'REFS:"{self.set}":/{VARIABLE}{selection}')

    def test_values_are_those_of_gribberish(self):
        dataset = self.open()
        np.testing.assert_array_equal(dataset.GetRasterBand(4).ReadAsArray(), self.values)

    def test_reference_system_is_that_of_the_scalar(self):
        dataset = self.open()
        self.assertEqual(dataset.GetSpatialRef().GetSemiMajor(), 6371229)
        self.assertEqual(dataset.GetGeoTransform(), (-195, 30, 0, 105, 0, -30))

    def test_missing_values_are_those_of_base64(self):
        dataset = self.open()
        self.assertTrue(np.isnan(dataset.GetRasterBand(1).GetNoDataValue()))

    def test_bands_have_all_three_times(self):
        dataset = self.open()
        items = dataset.GetRasterBand(5).GetMetadata()
        self.assertEqual(items["TIME"], "2026-08-01T12:00:00")
        self.assertEqual(items["NETCDF_DIM_init_time"], "1785564000")
        self.assertEqual(items["NETCDF_DIM_lead_time"], "21600")

    def test_selection_is_by_run_and_duration(self):
        for selection in ("[init_time=2026-08-01T00,lead_time=6h]", "[init_time=2026-08-01T00,lead_time=PT6H]"):
            dataset = self.open(selection)
            self.assertEqual(dataset.RasterCount, 1)
            self.assertEqual(dataset.GetRasterBand(1).GetMetadataItem("TIME"), "2026-08-01T06:00:00")
        self.assertEqual(self.open("[lead_time=6h:12h]").RasterCount, 4)


READ_ONE = """
import sys
import numpy
from osgeo import gdal, gdal_array
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
gdal.UseExceptions()
gdal.GetDriverByName("REFS")
before = peak()
root = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER).GetRootGroup()
values = root.OpenMDArray(sys.argv[2]).ReadAsArray([int(sys.argv[3]), int(sys.argv[4]), 0, 0], [1, 1, 7, 12])
print(float(numpy.nanmax(values)), peak() - before)
"""


@unittest.skipUnless(os.path.isdir(TEMPLATE), "there is no folder shared/data/weather")
class Archive(unittest.TestCase):
    """An Icechunk repository of a million references."""

    RUNS, STEPS = 16394, 61
    MOST_KIB = 100 * 1024

    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.close)
        self.server = Server(self.folder)
        self.addCleanup(self.server.close)
        with open(SAMPLE) as file:
            sample = json.load(file)
        self.message = base64.b64decode(sample["encoded"])
        self.values = np.frombuffer(base64.b64decode(sample["decoded"]))
        group = json.dumps({"zarr_format": 3, "node_type": "group"})
        array = describe(VARIABLE, [self.RUNS, self.STEPS, ROWS, COLUMNS], [1, 1, ROWS, COLUMNS])
        generator = {"key": VARIABLE + "/c/{{run}}/{{step}}/0/0", "url": self.server.url("runs/{{run}}/{{step}}.grib2"),
                     "offset": "{{step * 1000}}", "length": "{{%d}}" % len(self.message),
                     "dimensions": {"run": {"stop": self.RUNS}, "step": {"stop": self.STEPS}}}
        with open(self.folder.file("set.json"), "w") as file:
            json.dump({"version": 1, "refs": {"zarr.json": group, VARIABLE + "/zarr.json": array}, "gen": [generator]}, file)
        subprocess.run([sys.argv[1], "convert", self.folder.file("set.json"), "-o",
                        os.path.join(self.folder.served, "all.icechunk"), "-q"], check=True)

    def test_one_message_takes_four_requests_and_little_memory(self):
        for run, step in ((0, 4), (self.RUNS // 2, 60), (self.RUNS - 1, 0)):
            self.folder.write(f"runs/{run}/{step}.grib2", bytes(step * 1000) + self.message)
            before = len(self.server.requests())
            done = subprocess.run([sys.executable, "-c", READ_ONE, f'REFS:"{self.server.url("all.icechunk")}"', VARIABLE,
                                   str(run), str(step)], check=True, stdout=subprocess.PIPE, text=True)
            most, memory = map(float, done.stdout.split())
            self.assertEqual(most, np.nanmax(self.values))
            self.assertLessEqual(len(self.server.requests()) - before, 4, self.server.requests()[before:])
            self.assertLess(memory, self.MOST_KIB)


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False, argv=sys.argv[:1]).result.wasSuccessful())
