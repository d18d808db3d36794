"""Sets of GRIB messages against GDAL's GRIB driver on the same messages: values, geotransform and
CRS. The files are those of shared_data.py.
"""

import os
import sys

import numpy as np
from osgeo import gdal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from shared_data import files  # noqa: E402
from this_build import need  # noqa: E402

need("eccodes")

gdal.UseExceptions()
gdal.SetConfigOption("GRIB_NORMALIZE_UNITS", "NO")
gdal.SetConfigOption("GDAL_PAM_ENABLED", "NO")


def variables(name):
    """The variables below a name, lists of sets gone through, but for coordinates."""
    dataset = gdal.Open(name)
    subdatasets = [inner for inner, _ in dataset.GetSubDatasets()]
    if not subdatasets:
        return [name]
    if dataset.RasterCount > 0:
        return [dataset.GetDescription()]
    found = [inner for one in subdatasets for inner in variables(one)]
    return [one for one in found if one.rsplit("/", 1)[-1] not in ("latitude", "longitude")]


def eastwards(dataset, of):
    """How many columns `dataset` begins east of `of`, which may be shown from 180 degrees west."""
    a, b = dataset.GetGeoTransform(), of.GetGeoTransform()
    columns = (a[0] - b[0]) / b[1]
    return round(columns) if abs(columns - round(columns)) < 1e-6 else None


def differs(name, path):
    """What is wrong with a variable, if anything."""
    refs, grib = gdal.Open(name), gdal.Open(path)
    band = grib.GetRasterBand(1)
    columns = eastwards(refs, grib)
    ours, theirs = refs.GetGeoTransform(), grib.GetGeoTransform()
    if columns is None or not np.allclose(ours[1:], theirs[1:], rtol=1e-9, atol=1e-9):
        return f"geotransform {ours} is not {theirs}"
    if columns != 0 and not grib.GetSpatialRef().IsGeographic():
        return f"geotransform {ours} is not {theirs}"
    if refs.GetSpatialRef() is None or not refs.GetSpatialRef().IsSame(grib.GetSpatialRef()):
        return f"CRS {refs.GetSpatialRef()} is not {grib.GetSpatialRef()}"
    values, expected = refs.ReadAsArray(), np.roll(band.ReadAsArray(), -columns, axis=1)
    nodata = band.GetNoDataValue()
    if nodata is not None:
        expected = np.where(expected == nodata, np.nan, expected)
    if not np.isnan(refs.GetRasterBand(1).GetNoDataValue()):
        return "nodata is not NaN"
    if not np.array_equal(values, expected, equal_nan=True):
        return f"{np.sum(~np.isclose(values, expected, rtol=0, atol=0, equal_nan=True))} pixels differ"
    return None


def main():
    sets = files("grib2/*.json")
    wrong = n = 0
    for path in sets:
        for name in variables("REFS:" + path):
            n += 1
            try:
                problem = differs(name, path.removesuffix(".json"))
            except RuntimeError as error:
                problem = str(error)
            if problem is not None:
                print(name, problem)
                wrong += 1
    print(f"{n - wrong} of {n} variables in {len(sets)} sets of GRIB messages are as GDAL has them")
    return 1 if wrong else 0


sys.exit(main())
