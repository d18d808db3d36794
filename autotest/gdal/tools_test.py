#!/usr/bin/env python3
"""The programs that people use every day, on the sample: what each makes of it is compared with the
pixels that GDAL's Python reads from it, or with what it makes of the sample's netCDF file."""
import itertools
import os
import shutil
import subprocess
import sys
import unittest

import numpy as np
from osgeo import gdal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))
from own_folder import OwnFolder  # noqa: E402

gdal.UseExceptions()

DATA = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data"))
T2M = f'REFS:"{DATA}/sample.json":/t2m'
NETCDF = f'NETCDF:"{DATA}/sample.nc":t2m'


def has_driver(name):
    return gdal.GetDriverByName(name) is not None


class Tools(OwnFolder):
    @classmethod
    def setUpClass(cls):
        cls.t2m = gdal.Open(T2M).ReadAsArray()

    def run_tool(self, *command, warns=""):
        """What it prints; it may say nothing else but `warns`."""
        printed, said = self.hear_tool(*command)
        self.assertEqual(said, warns, " ".join(command))
        return printed

    def hear_tool(self, *command):
        """What it prints, and what it says of troubles."""
        if shutil.which(command[0]) is None:
            self.skipTest(f"{command[0]} is not installed")
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, f"{' '.join(command)}: {done.stderr}")
        return done.stdout, done.stderr

    def read(self, name):
        return gdal.Open(self.path(name)).ReadAsArray()

    def test_gdal_translate_makes_a_cog(self):
        self.run_tool("gdal_translate", "-q", "-b", "3", "-of", "COG", T2M, self.path("t2m.tif"))
        np.testing.assert_array_equal(self.read("t2m.tif"), self.t2m[2])

    def test_gdal_translate_makes_a_netcdf_file_with_times(self):
        if not has_driver("netCDF"):
            self.skipTest("this GDAL has no netCDF driver")
        self.run_tool("gdal_translate", "-q", "-of", "netCDF", T2M, self.path("t2m.nc"))
        made = gdal.Open(self.path("t2m.nc"))
        self.assertEqual(made.RasterCount, 24)
        np.testing.assert_array_equal(made.ReadAsArray(), self.t2m)
        self.assertEqual(made.GetMetadataItem("time#units"), "hours since 2024-06-01 00:00:00")
        self.assertEqual(made.GetRasterBand(14).GetMetadataItem("NETCDF_DIM_time"), "13")

    def test_gdalwarp_gives_what_it_gives_of_the_netcdf_file(self):
        if not has_driver("netCDF"):
            self.skipTest("this GDAL has no netCDF driver")
        for name, source in (("refs.tif", T2M), ("netcdf.tif", NETCDF)):
            self.run_tool("gdalwarp", "-q", "-s_srs", "EPSG:4326", "-t_srs", "EPSG:3035", source,
                          self.path(name))
        np.testing.assert_array_equal(self.read("refs.tif"), self.read("netcdf.tif"))

    def test_gdalbuildvrt_joins_bands_and_subdatasets(self):
        z = f'REFS:"{DATA}/sample.json":/z'
        self.run_tool("gdal_translate", "-q", "-of", "VRT", "-b", "9", T2M, self.path("t2m.vrt"))
        self.run_tool("gdal_translate", "-q", "-of", "VRT", "-b", "2", z, self.path("z.vrt"))
        self.run_tool("gdalbuildvrt", "-q", "-separate", self.path("both.vrt"), self.path("t2m.vrt"),
                      self.path("z.vrt"))
        np.testing.assert_array_equal(self.read("both.vrt")[0], self.t2m[8])
        self.run_tool("gdalbuildvrt", "-q", "-b", "5", "-b", "2", self.path("two.vrt"), T2M)
        np.testing.assert_array_equal(self.read("two.vrt"), self.t2m[[4, 1]])

    def test_gdal_translate_takes_windows_between_pixels(self):
        """-srcwin is whole pixels to some versions; the bounds of -projwin lie between them."""
        self.run_tool("gdal_translate", "-q", "-co", "INTERLEAVE=BAND", T2M, self.path("copy.tif"))
        windows = (("-srcwin", "10.5", "10.5", "20", "20"), ("-srcwin", "10.25", "3.5", "20.5", "7.75"),
                   ("-projwin", "-10.1", "60.3", "9.7", "40.2"))
        sizes = ((), ("-outsize", "50%", "50%"), ("-outsize", "64", "48"))
        resamplings = ("nearest", "bilinear", "cubic", "average")
        for options in itertools.product(windows, sizes, resamplings):
            for source, made in ((T2M, "refs.tif"), (self.path("copy.tif"), "tiff.tif")):
                self.run_tool("gdal_translate", "-q", "-r", options[2], *options[0], *options[1],
                              source, self.path(made))
            np.testing.assert_array_equal(self.read("refs.tif"), self.read("tiff.tif"), str(options))

    def test_gdalbuildvrt_takes_extents_between_pixels(self):
        self.run_tool("gdal_translate", "-q", "-co", "INTERLEAVE=BAND", T2M, self.path("copy.tif"))
        for resampling, grid in itertools.product(("nearest", "bilinear", "cubic", "average"),
                                                  ((), ("-tr", "0.3", "0.7"))):
            for source, made in ((T2M, "refs.vrt"), (self.path("copy.tif"), "tiff.vrt")):
                self.run_tool("gdalbuildvrt", "-q", "-te", "-10", "40", "10", "60", "-r", resampling,
                              *grid, self.path(made), source)
            np.testing.assert_array_equal(self.read("refs.vrt"), self.read("tiff.vrt"),
                                          f"{resampling} {grid}")

    def test_gdaldem_makes_a_relief(self):
        with open(self.path("colours"), "w") as out:
            out.write("-200 blue\n400 red\nnv black\n")
        self.run_tool("gdal_translate", "-q", "-b", "14", T2M, self.path("t2m.tif"))
        # Newer versions of GDAL say that they do not know kelvins as a unit of heights.
        _, said = self.hear_tool("gdaldem", "color-relief", "-q", self.path("t2m.tif"),
                                 self.path("colours"), self.path("tiff.tif"))
        self.run_tool("gdaldem", "color-relief", "-q", "-b", "14", T2M, self.path("colours"),
                      self.path("refs.tif"), warns=said)
        self.assertEqual(self.read("refs.tif").shape, (3, 81, 121))
        np.testing.assert_array_equal(self.read("refs.tif"), self.read("tiff.tif"))

    def test_gdal_calc_computes(self):
        self.run_tool("gdal_calc.py", "--quiet", "-A", T2M, "--A_band=2", "--calc=A+1",
                      f"--outfile={self.path('calc.tif')}")
        valid = self.t2m[1] != -32767
        np.testing.assert_array_equal(self.read("calc.tif")[valid], self.t2m[1][valid] + 1)

    def test_gdallocationinfo_tells_all_bands(self):
        told = self.run_tool("gdallocationinfo", "-valonly", T2M, "60", "40")
        self.assertEqual([int(line) for line in told.split()], self.t2m[:, 40, 60].tolist())

    def test_gdal_rasterize_burns_into_a_copy(self):
        self.run_tool("gdal_translate", "-q", "-b", "1", T2M, self.path("copy.tif"))
        with open(self.path("box.geojson"), "w") as out:
            out.write('{"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":'
                      '[[[0,50],[5,50],[5,55],[0,55],[0,50]]]}}')
        self.run_tool("gdal_rasterize", "-q", "-burn", "7", self.path("box.geojson"),
                      self.path("copy.tif"))
        self.assertTrue((self.read("copy.tif")[36:44, 52:58] == 7).all())

    def test_rasterio_reads_the_same(self):
        script = ("import sys, numpy, rasterio\n"
                  "with rasterio.open(sys.argv[1]) as source:\n"
                  "    print(source.count, source.crs, source.descriptions[13])\n"
                  "    numpy.save(sys.argv[2], source.read(window=((10, 20), (30, 50))))\n")
        if subprocess.run([sys.executable, "-c", "import rasterio"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("rasterio is not installed")
        said = self.run_tool(sys.executable, "-c", script, T2M, self.path("window.npy"))
        self.assertEqual(said.split(), ["24", "EPSG:4326", "time=2024-06-01T13:00:00"])
        np.testing.assert_array_equal(np.load(self.path("window.npy")), self.t2m[:, 10:20, 30:50])


if __name__ == "__main__":
    unittest.main()
