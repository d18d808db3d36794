"""Reads that convert pixels take buffers of a limited size, and give what others do.

usage: buffers_test.py
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

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


if __name__ == "__main__":
    unittest.main()
