"""The plugin loads where libgdal is loaded privately, as in Python, and reads a band there."""

import os
import unittest

from osgeo import gdal

gdal.UseExceptions()
SAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/sample.json")


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


if __name__ == "__main__":
    unittest.main()
