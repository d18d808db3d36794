"""Samples of TIFF files in sets as tifffile makes them: colours and transparency are those that GDAL's
GeoTIFF driver finds in the same files. Those are written by GDAL, and the sets here.
"""

import json
import os
import tempfile
import unittest

import numpy as np
from osgeo import gdal

gdal.UseExceptions()
gdal.SetConfigOption("GDAL_PAM_ENABLED", "NO")
ROWS, COLUMNS, TILE = 64, 80, 32
FILES = {  # bands, type, options of creation
    "rgb": (3, gdal.GDT_Byte, ["PHOTOMETRIC=RGB"]),
    "rgb_planar": (3, gdal.GDT_Byte, ["PHOTOMETRIC=RGB", "INTERLEAVE=BAND"]),
    "rgba": (4, gdal.GDT_Byte, ["PHOTOMETRIC=RGB", "ALPHA=YES"]),
    "premultiplied": (4, gdal.GDT_Byte, ["PHOTOMETRIC=RGB", "ALPHA=PREMULTIPLIED"]),
    "rgb_and_infrared": (4, gdal.GDT_Byte, ["PHOTOMETRIC=RGB", "ALPHA=NO"]),
    "gray_and_alpha": (2, gdal.GDT_Byte, ["PHOTOMETRIC=MINISBLACK", "ALPHA=YES"]),
    "three_grays": (3, gdal.GDT_UInt16, ["PHOTOMETRIC=MINISBLACK"]),
    "six": (6, gdal.GDT_UInt16, ["PHOTOMETRIC=MINISBLACK"]),
    "rgb_of_16_bits": (3, gdal.GDT_UInt16, ["PHOTOMETRIC=RGB", "BIGTIFF=YES"]),
    "rgba_of_16_bits": (4, gdal.GDT_UInt16, ["PHOTOMETRIC=RGB", "ALPHA=YES"]),
}


def write_tiff(path, bands, kind, options):
    tiff = gdal.GetDriverByName("GTiff").Create(path, COLUMNS, ROWS, bands, kind, [
        "TILED=YES", f"BLOCKXSIZE={TILE}", f"BLOCKYSIZE={TILE}", *options])
    values = np.random.default_rng(1).integers(0, 255, (bands, ROWS, COLUMNS))
    values[-1] = np.where(values[-1] < 100, 0, 255)
    tiff.WriteArray(values.astype("u2" if kind == gdal.GDT_UInt16 else "u1"))


def write_set(path, name):
    """References to the tiles of a file, in the order of axes that tifffile has."""
    tiff = gdal.Open(path)
    planar = tiff.GetMetadataItem("INTERLEAVE", "IMAGE_STRUCTURE") == "BAND"
    n, band = tiff.RasterCount, tiff.GetRasterBand(1)
    dims, shape, chunks = ["Y", "X", "S"], [ROWS, COLUMNS, n], [TILE, TILE, n]
    if planar:
        dims, shape, chunks = ["S", "Y", "X"], [n, ROWS, COLUMNS], [1, TILE, TILE]
    dtype = "|u1" if band.DataType == gdal.GDT_Byte else "<u2"
    refs = {".zattrs": json.dumps({"_ARRAY_DIMENSIONS": dims}), ".zarray": json.dumps(
        {"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "fill_value": 0, "order": "C",
         "compressor": None, "filters": None})}
    for sample in range(n if planar else 1):
        of = tiff.GetRasterBand(sample + 1)
        for y in range(-(-ROWS // TILE)):
            for x in range(-(-COLUMNS // TILE)):
                place = [int(of.GetMetadataItem(f"BLOCK_{what}_{x}_{y}", "TIFF")) for what in ("OFFSET", "SIZE")]
                key = f"{sample}.{y}.{x}" if planar else f"{y}.{x}.0"
                refs[key] = [name, *place]
    with open(path + ".json", "w", encoding="utf-8") as file:
        json.dump(refs, file)
    return path + ".json"


def looks(dataset):
    """What each band is called, and what hides pixels of it."""
    bands = [dataset.GetRasterBand(i + 1) for i in range(dataset.RasterCount)]
    return [(gdal.GetColorInterpretationName(band.GetColorInterpretation()), band.GetMaskFlags(),
             band.GetMaskBand().Checksum(), band.Checksum()) for band in bands]


class Samples(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def made(self, name):
        path = os.path.join(self.folder.name, name + ".tif")
        write_tiff(path, *FILES[name])
        return path, write_set(path, os.path.basename(path))

    def test_of_sparse_files_are_those_of_a_tile_that_is_there(self):
        for interleave in ("PIXEL", "BAND"):
            path = os.path.join(self.folder.name, interleave + ".tif")
            tiff = gdal.GetDriverByName("GTiff").Create(path, COLUMNS, ROWS, 4, gdal.GDT_Byte, [
                "TILED=YES", f"BLOCKXSIZE={TILE}", f"BLOCKYSIZE={TILE}", "SPARSE_OK=TRUE", "PHOTOMETRIC=RGB", "ALPHA=YES",
                "INTERLEAVE=" + interleave])
            for band in range(4):
                tiff.GetRasterBand(band + 1).WriteArray(np.full((TILE, TILE), 200, "u1"), TILE, TILE)
            tiff = None
            self.assertEqual(looks(gdal.Open("REFS:" + path)), looks(gdal.Open(path)))

    def test_have_the_colours_and_masks_of_the_file(self):
        for name in FILES:
            with self.subTest(name):
                path, references = self.made(name)
                self.assertEqual(looks(gdal.Open("REFS:" + references)), looks(gdal.Open(path)))

    def test_that_are_selected_keep_their_colours(self):
        _, references = self.made("rgba")
        dataset = gdal.Open(f'REFS:"{references}":/[S=#1:#3]')
        self.assertEqual([look[0] for look in looks(dataset)], ["Green", "Blue", "Alpha"])

    def test_of_three_are_colours_where_the_file_does_not_tell(self):
        for name, expected in (("rgb", ["Red", "Green", "Blue"]), ("rgba", ["Undefined"] * 4)):
            path, references = self.made(name)
            with open(path, "r+b") as file:
                file.write(b"????")
            self.assertEqual([look[0] for look in looks(gdal.Open("REFS:" + references))], expected)

    def test_of_a_file_that_is_gone_harm_nothing(self):
        path, references = self.made("six")
        os.remove(path)
        band = gdal.Open("REFS:" + references)
        self.assertEqual(band.GetRasterBand(2).GetColorInterpretation(), gdal.GCI_Undefined)


unittest.main()
