"""The plugin loads where libgdal is loaded privately, as in Python, and reads a band there."""

import json
import math
import os
import tempfile
import unittest

from osgeo import gdal

gdal.UseExceptions()
SAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/sample.json")


def write_many_chunks(folder, across=40, size=32):
    """A picture of so many chunks across and down; how many it has, and the set, open."""
    with open(os.path.join(folder, "v.bin"), "wb") as file:
        for number in range(across * across * size * size):
            file.write((number % 65536).to_bytes(2, "little"))
    refs = {".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps(
        {"zarr_format": 2, "shape": [across * size] * 2, "chunks": [size] * 2, "dtype": "<u2",
         "fill_value": None, "order": "C", "compressor": None, "filters": None})}
    for number in range(across * across):
        refs[f"v/{number // across}.{number % across}"] = [
            "v.bin", number * 2 * size * size, 2 * size * size]
    with open(os.path.join(folder, "refs.json"), "w", encoding="utf-8") as file:
        json.dump(refs, file)
    return across * across, gdal.Open(f'REFS:"{folder}/refs.json":/v')


def decoded(dataset):
    return int(dataset.GetMetadataItem("CHUNKS_DECODED", "REFS"))


class PythonTest(unittest.TestCase):
    def test_reads_a_band(self):
        dataset = gdal.Open(f'REFS:"{SAMPLE}":/t2m')
        self.assertEqual(dataset.GetDriver().ShortName, "REFS")
        band = dataset.GetRasterBand(14)
        kelvin = band.ReadAsArray() * band.GetScale() + band.GetOffset()
        self.assertEqual(kelvin.shape, (81, 121))
        self.assertTrue(((kelvin > 250) & (kelvin < 320)).all())

    def test_lists_variables(self):
        names = [name for name, _ in gdal.Open("REFS:" + SAMPLE).GetSubDatasets()]
        self.assertEqual(names, [f'REFS:"{SAMPLE}":/t2m', f'REFS:"{SAMPLE}":/z'])

    def test_raises_what_goes_wrong(self):
        with self.assertRaisesRegex(RuntimeError, "absent"):
            gdal.Open(f'REFS:"{SAMPLE}":/absent')

    def test_estimates_read_few_chunks(self):
        with tempfile.TemporaryDirectory() as folder:
            chunks, dataset = write_many_chunks(folder)
            few = 2 * math.isqrt(chunks)
            band = dataset.GetRasterBand(1)
            for estimate in (lambda: band.ComputeStatistics(True),
                             lambda: band.GetHistogram(0, 65536, 256, approx_ok=True),
                             lambda: band.GetDefaultHistogram(),
                             lambda: band.ComputeRasterMinMax(True)):
                before = decoded(dataset)
                self.assertIsNotNone(estimate())
                self.assertLessEqual(decoded(dataset) - before, few)
            self.assertTrue(0 < decoded(dataset) <= few)
            band.ComputeStatistics(False)
            self.assertEqual(band.GetMetadataItem("STATISTICS_MAXIMUM"), "65535")
            self.assertGreaterEqual(decoded(dataset), chunks)
            del band, dataset


if __name__ == "__main__":
    unittest.main()
