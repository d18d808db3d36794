"""Reads take memory of a limited size: that of buffers that convert pixels, and that of chunks.

usage: buffers_test.py
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib

import numpy as np

MOST_MIB = 64 + 40  # the buffers, and what else a read takes

SCRIPT = """
import resource, sys
import numpy as np
from osgeo import gdal
gdal.UseExceptions()
dataset = gdal.Open(sys.argv[1])
right = np.fromfile(sys.argv[2], sys.argv[3]).reshape(dataset.RasterYSize, dataset.RasterXSize)
if sys.argv[4] == "flipped":
    right = right[::-1]
values = np.ones(right.shape, sys.argv[5])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
dataset.ReadAsArray(buf_obj=values)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, (values == right).all())
"""

WINDOWS = """
import resource, sys
from osgeo import gdal
gdal.UseExceptions()
gdal.SetCacheMax(1 << 20)
dataset = gdal.OpenEx(sys.argv[1], gdal.OF_RASTER, open_options=[sys.argv[2]])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
right = all(dataset.GetRasterBand(band).ReadAsArray(row, row, 64, 64).min() == band
            for row in (0, 900) for band in range(1, dataset.RasterCount + 1))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, right)
"""


class Buffers(unittest.TestCase):
    def check(self, dtype, chunk_rows, flipped=False, target="f4"):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        height, width = 9000, 8000
        values = (np.arange(height, dtype="i4")[:, None] * 7 + np.arange(width, dtype="i4")) % 2000
        values.astype(dtype).tofile(os.path.join(folder, "v.bin"))
        size = np.dtype(dtype).itemsize
        common = {"zarr_format": 2, "fill_value": None, "order": "C", "compressor": None, "filters": None}
        lat = (np.arange(height) if flipped else -np.arange(height)) / 1000
        refs = {"v/.zarray": json.dumps({**common, "shape": [height, width], "chunks": [chunk_rows, width],
                                         "dtype": np.dtype(dtype).str}),
                "v/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["lat", "lon"]})}
        for name, axis in (("lat", lat), ("lon", np.arange(width) / 1000)):
            axis.astype("<f8").tofile(os.path.join(folder, name))
            refs[f"{name}/.zarray"] = json.dumps({**common, "shape": [len(axis)], "chunks": [len(axis)], "dtype": "<f8"})
            refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": [name], "units": {
                "lat": "degrees_north", "lon": "degrees_east"}[name]})
            refs[f"{name}/0"] = [name, 0, 8 * len(axis)]
        for row in range(0, height, chunk_rows):
            refs[f"v/{row // chunk_rows}.0"] = ["v.bin", row * width * size, chunk_rows * width * size]
        with open(os.path.join(folder, "refs.json"), "w", encoding="utf-8") as file:
            json.dump(refs, file)
        done = subprocess.run([sys.executable, "-c", SCRIPT, f'REFS:"{folder}/refs.json":/v', f"{folder}/v.bin",
                               np.dtype(dtype).str, "flipped" if flipped else "-", target],
                              stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, "REFS_CACHE_MAX": "1"})
        taken, right = done.stdout.split()
        self.assertEqual(right, "True")
        self.assertLess(int(taken), MOST_MIB)

    def test_a_plane_that_is_larger_is_read_by_rows(self):
        for chunk_rows in (100, 900):
            for flipped in (False, True):
                with self.subTest(chunk_rows=chunk_rows, flipped=flipped):
                    self.check("<i2", chunk_rows, flipped)

    def test_both_buffers_count(self):
        self.check("<f2", 100, target="f8")


class Memory(unittest.TestCase):
    def peak(self, option):
        """MiB that windows of 16 bands take, each of a chunk of 16 MiB."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        refs = {"v/.zarray": json.dumps({"zarr_format": 2, "fill_value": None, "order": "C", "filters": None,
                                         "compressor": {"id": "zlib", "level": 1}, "dtype": "|u1",
                                         "shape": [16, 4096, 4096], "chunks": [1, 4096, 4096]})}
        with open(os.path.join(folder, "v.bin"), "wb") as file:
            for band in range(16):
                chunk = zlib.compress(bytes([band + 1]) * (16 << 20), 1)
                refs[f"v/{band}.0.0"] = ["v.bin", file.tell(), len(chunk)]
                file.write(chunk)
        with open(os.path.join(folder, "refs.json"), "w", encoding="utf-8") as file:
            json.dump(refs, file)
        done = subprocess.run([sys.executable, "-c", WINDOWS, f"{folder}/refs.json", option],
                              stdout=subprocess.PIPE, text=True, check=True)
        taken, right = done.stdout.split()
        self.assertEqual(right, "True")
        return int(taken)

    def test_is_the_most_that_is_kept_also_of_partly_read_chunks(self):
        for limit in (20, 100):
            with self.subTest(limit=limit):
                self.assertLess(self.peak(f"MEMORY={limit}MB"), limit + 3 * 16, "and chunks that are decoded")


if __name__ == "__main__":
    unittest.main()
