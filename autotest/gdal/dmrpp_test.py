"""DMR++ sidecars against the files that they are of: all elements of all arrays of numbers. h5py reads HDF5
files, pyhdf or GDAL's own driver HDF4 files. The files are those of shared_data.py. Skips without h5py.
"""

import os
import sys

import numpy as np
from osgeo import gdal, gdal_array

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from shared_data import files  # noqa: E402
from this_build import need  # noqa: E402

need("expat")

# Files of which the sidecar says something else, and what.
EXCEPTIONS = {
    "FletcherShuffle.nc4": "all offsets are those of another writing of the file, 40 bytes less",
    "FValue_chunk.h5": "chunks that were never written: HDF5 was told not to fill them, the sidecar has a fill value",
}

# Dimensions of netCDF that are no variables; and how netCDF calls variables that are no dimensions.
NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"
NO_COORDINATE = "_nc4_non_coord_"

gdal.UseExceptions()


def arrays(group, path=""):
    for name in group.GetMDArrayNames(["SHOW_ALL=YES"]) or []:
        yield path + "/" + name, group.OpenMDArray(name)
    for name in group.GetGroupNames() or []:
        yield from arrays(group.OpenGroup(name), path + "/" + name)


def text(value):
    return value.decode("latin-1") if isinstance(value, bytes) else value


def flat(values):
    return [text for value in values for text in flat(value)] if isinstance(values, list) else [values.rstrip()]


def strings(array):
    """In a list: it is no array of numbers."""
    try:
        return flat(array.Read())
    except (RuntimeError, TypeError) as problem:
        return [str(problem)]


def ours(path, options=()):
    """All arrays of numbers, by path; the reason where one cannot be read."""
    found = {}
    root = gdal.OpenEx("REFS:" + path, gdal.OF_MULTIDIM_RASTER, open_options=options).GetRootGroup()
    for name, array in arrays(root):
        if array.GetDataType().GetClass() == gdal.GEDTC_STRING:
            found[name] = strings(array)
            continue
        kind = gdal_array.GDALTypeCodeToNumericTypeCode(array.GetDataType().GetNumericDataType())
        try:
            read = array.Read()
            found[name] = np.frombuffer(read, kind).reshape([d.GetSize() for d in array.GetDimensions()])
        except RuntimeError as problem:
            found[name] = str(problem)
    return found


def of_hdf5(path):
    import h5py

    found = {}

    def visit(name, thing):
        is_variable = isinstance(thing, h5py.Dataset) and not thing.attrs.get("NAME", b"").startswith(NO_VARIABLE)
        if not is_variable or thing.shape is None:
            return
        if thing.dtype.kind in "SO":
            found["/" + name] = [text(value).rstrip("\0") for value in np.atleast_1d(thing[()]).ravel()]
        elif thing.dtype.kind in "iufb":
            found["/" + name.replace(NO_COORDINATE, "")] = thing[()]

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return found


def of_hdf4(path):
    """By name alone: SDS are in no group for pyhdf."""
    from pyhdf.SD import SD, SDC

    file = SD(path, SDC.READ)
    found = {}
    for name in file.datasets():
        dataset = file.select(name)
        if not dataset.iscoordvar():
            found[name] = np.asarray(dataset[:])
    return found


def compare(sidecar, counts):
    path = sidecar[: -len(".dmrpp")]
    file = os.path.basename(path)
    is_hdf4 = path.endswith(".hdf")
    theirs, read = of_hdf4(path) if is_hdf4 else of_hdf5(path), ours(sidecar)
    if is_hdf4:
        read = {name.rsplit("/", 1)[1]: values for name, values in read.items()}
    for name, values in theirs.items():
        found = read.get(name, "is not listed")
        if isinstance(values, list):
            if isinstance(found, np.ndarray):  # of one character each
                found = [chr(value) for value in found.ravel()]
            is_equal = found == flat(values)
            counts["equal strings" if is_equal else "other strings"] += 1
            if not is_equal:
                print(file, name, str(found)[:200], "and not", str(values)[:100])
            continue
        if isinstance(found, str):
            print(file, name, found)
        elif found.shape != values.shape or not np.array_equal(found, values, equal_nan=values.dtype.kind == "f"):
            print(file, name, "differs:", found.ravel()[:8], values.ravel()[:8])
        else:
            counts["equal"] += 1
            continue
        counts["excepted" if file in EXCEPTIONS else "wrong"] += 1
    for name in set(read) - set(theirs):
        is_elsewhere = isinstance(read[name], str) and "_mvs.h5" in read[name]
        counts["in another file" if is_elsewhere else "wrong"] += 1
        print(file, name, read[name] if is_elsewhere else "is in the sidecar, but no array of numbers in the file")


def main():
    sidecars = files("dmrpp/*.dmrpp")
    try:
        import h5py  # noqa: F401
        import pyhdf.SD  # noqa: F401
    except ImportError as problem:
        print(problem, "(Debian: python3-h5py, python3-hdf4)")
        return 77
    counts = {"equal": 0, "equal strings": 0, "other strings": 0, "excepted": 0, "in another file": 0, "wrong": 0}
    for sidecar in sidecars:
        compare(sidecar, counts)
    print(f"{len(sidecars)} DMR++: {counts}")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
