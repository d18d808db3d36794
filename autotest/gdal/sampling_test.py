#!/usr/bin/env python3
"""What programs ask for before they show a raster does not read a terabyte: estimates take about the
square root of its chunks, and what is not asked for takes none."""
import os
import subprocess
import sys
import unittest

from osgeo import gdal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))
from served import Folder, Server  # noqa: E402

gdal.UseExceptions()

ACROSS, SIZE = Folder.TERABYTE


class Terabyte(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Folder()
        cls.folder.write_terabyte()
        cls.server = Server(cls.folder)
        cls.name = f'REFS:"{cls.server.url("refs.json")}":/v'
        cls.dataset = gdal.Open(cls.name)  # keeps the set, which takes a second to open

    @classmethod
    def tearDownClass(cls):
        del cls.dataset
        cls.server.close()
        cls.folder.close()

    def setUp(self):
        self.before = len(self.server.requests("v.bin"))

    def chunks(self):
        """How many were asked for since the test began; each is a URL of its own."""
        return len({request["path"] for request in self.server.requests("v.bin")[self.before:]})

    def assert_sampled(self):
        self.assertTrue(ACROSS // 2 <= self.chunks() <= 2 * ACROSS, self.chunks())

    def open_band(self):
        self.opened = gdal.Open(self.name)
        return self.opened.GetRasterBand(1)

    def test_is_one(self):
        self.assertEqual(self.dataset.RasterXSize * self.dataset.RasterYSize, 1 << 40)
        self.assertEqual((ACROSS * SIZE) ** 2, 1 << 40)

    def test_is_described_without_pixels(self):
        said = subprocess.run(["gdalinfo", self.name], check=True, stdout=subprocess.PIPE, text=True)
        self.assertIn("1048576, 1048576", said.stdout)
        subprocess.run(["gdalmdiminfo", self.name[:-len(":/v")]], check=True,
                       stdout=subprocess.DEVNULL)
        self.assertEqual(self.chunks(), 0)

    def test_has_statistics_that_gdalinfo_estimates(self):
        said = subprocess.run(["gdalinfo", "-approx_stats", self.name], check=True,
                              stdout=subprocess.PIPE, text=True)
        self.assertIn("Minimum=0.000, Maximum=250.000", said.stdout)
        self.assert_sampled()

    def test_has_statistics_that_are_estimated(self):
        least, most, mean, _ = self.open_band().ComputeStatistics(True)
        self.assertEqual((least, most, round(mean)), (0, 250, 123))
        self.assert_sampled()

    def test_has_statistics_on_demand(self):
        self.assertEqual(self.open_band().GetStatistics(True, True)[:2], [0, 250])
        self.assert_sampled()

    def test_has_extremes_that_are_estimated(self):
        self.assertEqual(tuple(self.open_band().ComputeRasterMinMax(True)), (0, 250))
        self.assert_sampled()

    def test_has_a_histogram_that_is_estimated(self):
        histogram = self.open_band().GetHistogram(-.5, 255.5, 256, include_out_of_range=False,
                                                  approx_ok=True)
        self.assertEqual([bool(count) for count in histogram], [i < 251 for i in range(256)])
        self.assert_sampled()

    def test_has_no_default_histogram_unless_it_is_computed(self):
        self.open_band().GetDefaultHistogram(force=False)
        self.assertEqual(self.chunks(), 0)

    def test_has_no_statistics_unless_they_are_computed(self):
        self.assertIsNone(self.open_band().GetMinimum())
        self.assertEqual(self.opened.GetRasterBand(1).GetOverviewCount(), 0)
        self.assertEqual(self.chunks(), 0)

    def test_window_reads_the_chunks_under_it(self):
        self.open_band().ReadRaster(10 * SIZE - 5, 20 * SIZE - 5, 10, 10)
        self.assertEqual(self.chunks(), 4)


if __name__ == "__main__":
    unittest.main()
