"""Sets of HDF5 files, as JSON and as Parquet, against GDAL's HDF5 driver on the same files: all elements
of all arrays. The files are those of shared_data.py.
"""

import os
import sys

import numpy as np
from osgeo import gdal, gdal_array

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from shared_data import files  # noqa: E402

gdal.UseExceptions()


def arrays(group, path=""):
    for name in group.GetMDArrayNames() or []:
        yield path + "/" + name, group.OpenMDArray(name)
    for name in group.GetGroupNames() or []:
        yield from arrays(group.OpenGroup(name), path + "/" + name)


def elements(array):
    """All elements as numbers; None for other types."""
    if array.GetDataType().GetClass() != gdal.GEDTC_NUMERIC:
        return None
    kind = gdal_array.GDALTypeCodeToNumericTypeCode(array.GetDataType().GetNumericDataType())
    read = array.Read()
    if read is None:
        raise RuntimeError(gdal.GetLastErrorMsg())
    return np.asarray(read, kind) if isinstance(read, list) else np.frombuffer(read, kind)


def compare(path, counts):
    file = path.rsplit(".", 1)[0]
    written = dict(arrays(gdal.OpenEx(file, gdal.OF_MULTIDIM_RASTER, ["HDF5", "netCDF"]).GetRootGroup()))
    for name, array in arrays(gdal.OpenEx("REFS:" + path, gdal.OF_MULTIDIM_RASTER).GetRootGroup()):
        try:
            ours = elements(array)
        except RuntimeError as problem:
            print(os.path.basename(path), name, problem)
            counts["wrong"] += 1
            continue
        try:
            theirs = elements(written[name])
        except (KeyError, RuntimeError):
            theirs = None
        if ours is None or theirs is None:
            counts["not comparable"] += 1
            print(os.path.basename(path), name, "cannot be compared")
        elif np.array_equal(ours, theirs, equal_nan=ours.dtype.kind in "fc"):
            counts["equal"] += 1
        else:
            print(os.path.basename(path), name, "differs")
            counts["wrong"] += 1


def main():
    sets = files("hdf5/*.json", "hdf5/*.parq")
    counts = {"equal": 0, "not comparable": 0, "wrong": 0}
    for path in sets:
        compare(path, counts)
    print(f"{len(sets)} sets of HDF5 files: {counts}")
    return 1 if counts["wrong"] else 0


sys.exit(main())
