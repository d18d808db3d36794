"""Small netCDF files mean the same as reference sets, read by REFS, and as files, read by the netCDF
driver: size, pixels, place, packing, times, and the picture that gdalwarp makes of coordinates in two
dimensions.

The files lie in autotest/golden/cf beside the script that makes them. Skips without netCDF driver.
"""

import glob
import os
import sys

import numpy
from osgeo import gdal, osr

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../golden/cf")
SKIPPED = 77

gdal.UseExceptions()
osr.UseExceptions()


NEW = int(gdal.VersionInfo()) >= 3130000


def variables(root):
    """Names of all rasters by the last part of their name."""
    names = [name for name, _ in gdal.Open(root).GetSubDatasets()] or [root]
    return {name.split(":")[-1].strip('"').strip("/"): name for name in names}


def close(one, other):
    if one is None or other is None:
        return one is other
    return numpy.allclose(one, other, rtol=1e-6, atol=1e-9, equal_nan=True)


def same_geolocation(ours, theirs):
    """The arrays by the last part of their names, and the CRS by its meaning."""
    one, other = (dict(dataset.GetMetadata("GEOLOCATION")) for dataset in (ours, theirs))
    for items in (one, other):
        for name in ("X_DATASET", "Y_DATASET"):
            if name in items:
                items[name] = items[name].split(":")[-1].strip("/")
    srs = [osr.SpatialReference(items.pop("SRS", "")) for items in (one, other)]
    return one == other and bool(not one or srs[0].IsSame(srs[1]))


def names_what_is_not_there(dataset):
    """Before GDAL 3.11 the netCDF driver places arrays of classic files by /location/lon, where it
    finds arrays lon and lat: a name that holds for files of one mission."""
    name = dataset.GetMetadataItem("X_DATASET", "GEOLOCATION")
    return name is not None and name.endswith(":/location/lon")


def same_crs(ours, theirs):
    """The netCDF driver leaves longitude and latitude without a CRS."""
    if theirs is None:
        return ours is None or ours.IsGeographic()
    return ours is not None and bool(ours.IsSame(theirs))


def band_differences(ours, theirs):
    for what in ("NoDataValue", "Scale", "Offset"):
        a, b = (getattr(band, "Get" + what)() for band in (ours, theirs))
        if not close(a, b):
            yield f"{what} {a} != {b}"
    if ours.GetUnitType() != theirs.GetUnitType():
        yield "unit"
    if not numpy.array_equal(ours.ReadAsArray().astype(float), theirs.ReadAsArray().astype(float),
                             equal_nan=True):
        yield "pixels"
    for name, value in theirs.GetMetadata().items():
        if name.startswith("NETCDF_") and ours.GetMetadataItem(name) != value:
            yield f"{name} {ours.GetMetadataItem(name)} != {value}"


def warped(dataset):
    """The first band on a grid of longitude and latitude, by geolocation arrays."""
    return gdal.Warp("", dataset, format="MEM", geoloc=True, dstSRS="EPSG:4326", width=40,
                     height=40, dstNodata=-1e6, outputType=gdal.GDT_Float64)


def differences(ours, theirs):
    if (ours.RasterXSize, ours.RasterYSize, ours.RasterCount) != (
            theirs.RasterXSize, theirs.RasterYSize, theirs.RasterCount):
        yield "size"
        return
    if names_what_is_not_there(theirs):
        if ours.GetMetadata("GEOLOCATION"):
            yield "GEOLOCATION"
    else:
        yield from differences_of_place(ours, theirs)
    for number in range(1, ours.RasterCount + 1):
        for difference in band_differences(ours.GetRasterBand(number),
                                           theirs.GetRasterBand(number)):
            yield f"band {number} {difference}"


def differences_of_place(ours, theirs):
    place = [dataset.GetGeoTransform(can_return_null=True) for dataset in (ours, theirs)]
    # GDAL 3.13's netCDF driver leaves longitudes and latitudes of two dimensions without a place.
    is_coordinate = theirs.GetRasterBand(1).GetUnitType().startswith("degrees_")
    if not close(*place) and not (place[1] is None and is_coordinate and NEW):
        yield f"geotransform {place}"
    if not same_crs(ours.GetSpatialRef(), theirs.GetSpatialRef()):
        yield "CRS"
    if not same_geolocation(ours, theirs):
        yield "GEOLOCATION"
    if ours.GetMetadata("GEOLOCATION2") != theirs.GetMetadata("GEOLOCATION2"):
        yield "GEOLOCATION2"
    if theirs.GetMetadata("GEOLOCATION") and ours.GetMetadata("GEOLOCATION"):
        pictures = [warped(dataset) for dataset in (ours, theirs)]
        if not close(*(picture.GetGeoTransform() for picture in pictures)):
            yield "extent by geolocation"
        a, b = (picture.GetRasterBand(1).ReadAsArray() for picture in pictures)
        if not numpy.array_equal(a, b):
            yield "picture by geolocation"
        if (a == -1e6).all():
            yield "empty picture by geolocation"


def compare(path):
    """How many variables were compared, and what differs."""
    theirs, ours = variables(f'NETCDF:"{path}"'), variables(f'REFS:"{path}.json"')
    failed = []
    if len(theirs) == 1 and len(ours) == 1:
        theirs, ours = {"": f'NETCDF:"{path}"'}, {"": f'REFS:"{path}.json"'}
    elif theirs.keys() != ours.keys():
        failed.append(f"variables {sorted(ours)} != {sorted(theirs)}")
    for name in theirs.keys() & ours.keys():
        for difference in differences(gdal.Open(ours[name]), gdal.Open(theirs[name])):
            failed.append(f"{name}: {difference}")
    return len(theirs), failed


def main():
    if gdal.GetDriverByName("netCDF") is None:
        return SKIPPED
    compared, failed = 0, []
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.nc"))):
        count, found = compare(path)
        compared += count
        failed += [f"{os.path.basename(path)}: {text}" for text in found]
    for text in failed:
        print(text)
    print(f"{compared} variables, {len(failed)} differences")
    return 1 if failed or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
