"""Sets of TIFF files against GDAL's GeoTIFF driver on the same files: values of all images,
geotransform, CRS, nodata and overviews. The files are those of shared_data.py.
"""

import os
import sys

import numpy as np
from osgeo import gdal

from compared_files import compare

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from shared_data import files  # noqa: E402

gdal.UseExceptions()
gdal.SetConfigOption("GDAL_PAM_ENABLED", "NO")


def first_image(path):
    """The set's image in full size: the set itself where it has no other."""
    dataset = gdal.Open("REFS:" + path)
    return dataset if dataset.RasterCount > 0 else gdal.Open(f'REFS:"{path}":/0')


def is_same_crs(refs, tiff):
    ours, theirs = refs.GetSpatialRef(), tiff.GetSpatialRef()
    return ours is None if theirs is None else ours is not None and bool(ours.IsSame(theirs))


def problems(path):
    """What is wrong with a set."""
    refs, tiff = first_image(path), gdal.Open(path.removesuffix(".json"))
    if refs.GetGeoTransform() != tiff.GetGeoTransform():
        yield f"geotransform {refs.GetGeoTransform()} is not {tiff.GetGeoTransform()}"
    if not is_same_crs(refs, tiff):
        yield f"CRS {refs.GetSpatialRef()} is not {tiff.GetSpatialRef()}"
    if refs.GetMetadataItem("AREA_OR_POINT") != tiff.GetMetadataItem("AREA_OR_POINT"):
        yield f"AREA_OR_POINT is {refs.GetMetadataItem('AREA_OR_POINT')}"
    if refs.RasterCount != tiff.RasterCount:
        yield f"{refs.RasterCount} bands are not {tiff.RasterCount}"
        return
    for number in range(1, tiff.RasterCount + 1):
        ours, theirs = refs.GetRasterBand(number), tiff.GetRasterBand(number)
        # A set does not tell a nodata value of zero from none.
        if ours.GetNoDataValue() != (theirs.GetNoDataValue() or None):
            yield f"band {number}: nodata {ours.GetNoDataValue()} is not {theirs.GetNoDataValue()}"
        if ours.GetOverviewCount() != theirs.GetOverviewCount():
            yield f"band {number}: {ours.GetOverviewCount()} overviews are not {theirs.GetOverviewCount()}"
            continue
        levels = [(ours, theirs)] + [(ours.GetOverview(i), theirs.GetOverview(i))
                                     for i in range(theirs.GetOverviewCount())]
        for level, (a, b) in enumerate(levels):
            is_float = a.DataType in (gdal.GDT_Float32, gdal.GDT_Float64, gdal.GDT_CFloat32)
            if not np.array_equal(a.ReadAsArray(), b.ReadAsArray(), equal_nan=is_float):
                yield f"band {number}: pixels of level {level} differ"


def main():
    return compare(files("tiff/*.json"), problems, "sets of TIFF files are as GDAL has the files")


sys.exit(main())
