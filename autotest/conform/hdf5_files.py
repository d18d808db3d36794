#!/usr/bin/python3
"""Compares HDF5 files as REFS lists and reads them with h5py, dataset by dataset.

    GDAL_DRIVER_PATH=build/release/gdalplugins python3 autotest/conform/hdf5_files.py [-v] FOLDER...

FOLDER holds files, at any depth; with the test files of Debian's source packages "hdf5" and "netcdf":
`apt-get source hdf5 netcdf`. Needs GDAL's Python, NumPy and h5py. Prints a line for each file of which not
every numeric dataset is equal, and a table; exits with 1 where values differ.
"""
import os
import sys

import h5py
import numpy as np
from osgeo import gdal, gdal_array

gdal.UseExceptions()

SUFFIXES = (".h5", ".hdf5", ".nc", ".nc4", ".he5", ".hdf")
MAX_ELEMENTS = 1 << 24


def is_hdf5(path):
    with open(path, "rb") as file:
        size = os.path.getsize(path)
        at = 0
        while at < size:
            file.seek(at)
            if file.read(8) == b"\x89HDF\r\n\x1a\n":
                return True
            at = 512 if at == 0 else 2 * at
    return False


def files_in(folders):
    for folder in folders:
        if os.path.isfile(folder):
            yield folder
        for root, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                path = os.path.join(root, name)
                if name.endswith(SUFFIXES) and is_hdf5(path):
                    yield path


def is_only_dimension(dataset):
    name = dataset.attrs.get("NAME", b"")
    name = name if isinstance(name, bytes) else str(name).encode()
    return name.startswith(b"This is a netCDF dimension but not a netCDF variable")


def numeric_datasets(file):
    found = []

    def visit(name, thing):
        if not isinstance(thing, h5py.Dataset):
            return
        try:
            kind = thing.dtype.base.kind
        except Exception:  # a type that NumPy does not have
            return
        if kind in "iufcb" and thing.shape is not None and not is_only_dimension(thing):
            found.append(name)

    file.visititems(visit)
    return found


def refs_array(group, name):
    parts = name.split("/")
    for part in parts[:-1]:
        group = group.OpenGroup(part)
    return group.OpenMDArray(parts[-1])


def equal(expected, got):
    expected, got = np.asarray(expected), np.asarray(got)
    if expected.size != got.size:
        return False
    expected = expected.reshape(-1)
    got = got.reshape(-1)
    if expected.dtype.kind in "fc":
        return bool(np.array_equal(expected.astype(got.dtype), got, equal_nan=True))
    if got.dtype.kind == "u" and expected.dtype.kind == "i":  # netCDF's attribute _Unsigned
        expected = expected.astype(got.dtype)
    if expected.dtype.kind == "b":
        expected = expected.astype("u1")
    return bool(np.array_equal(expected, got))


def scalar(array):
    """GDAL 3.6 leaves the only element of ReadAsArray as it was."""
    got = np.empty((1,), dtype=gdal_array.codes[array.GetDataType().GetNumericDataType()])
    got[:] = np.frombuffer(bytes(array.Read()), dtype=got.dtype)
    return got


def compare(file, group, name):
    """What became of one dataset: "equal", "error …", "differs", "skipped …"."""
    dataset = file[name]
    if dataset.size == 0 or dataset.size * int(np.prod(dataset.dtype.shape)) > MAX_ELEMENTS:
        return "skipped: empty or large"
    if dataset.id.get_create_plist().get_fill_time() == h5py.h5d.FILL_TIME_NEVER and \
            dataset.id.get_space_status() != h5py.h5d.SPACE_STATUS_ALLOCATED:
        return "skipped: what was never written has no value"
    try:
        expected = dataset[()]
    except Exception as error:
        return "skipped: h5py: " + str(error).split("\n")[0]
    try:
        array = refs_array(group, name)
        if array is None:
            return "error: is not listed"
        got = array.ReadAsArray() if array.GetDimensionCount() else scalar(array)
    except Exception as error:
        return "error: " + str(error).split("\n")[0]
    if got.ndim == expected.ndim:  # longer, where an unlimited dimension is in another dataset
        got = got[tuple(slice(n) for n in expected.shape)]
    return "equal" if equal(expected, got) else "differs"


def check(path):
    try:
        file = h5py.File(path, "r")
        names = numeric_datasets(file)
    except Exception as error:
        file, names = None, "h5py: " + str(error).split("\n")[0]
    try:
        dataset = gdal.OpenEx('REFS:"%s"' % path, gdal.OF_MULTIDIM_RASTER)
        group = dataset.GetRootGroup()
    except Exception as error:
        if file is not None and not names:
            return "equal", {}  # nothing to read
        return ("both" if file is None else "error"), {"": str(error).split("\n")[0]}
    if file is None:
        return "only REFS", {"": names}
    results = {name: compare(file, group, name) for name in names}
    if any(result == "differs" for result in results.values()):
        return "differs", results
    if any(result.startswith("error") for result in results.values()):
        return "error", results
    return "equal", results


def main(arguments):
    verbose = "-v" in arguments
    counts = {}
    datasets = {}
    for path in files_in([a for a in arguments if a != "-v"]):
        state, results = check(path)
        counts[state] = counts.get(state, 0) + 1
        for name, result in results.items():
            kind = result.split(":")[0]
            datasets[kind] = datasets.get(kind, 0) + (name != "")
            if verbose or (state != "equal" and result != "equal"):
                print("%-8s %s /%s: %s" % (state, os.path.basename(path), name, result))
    print("files:", ", ".join("%d %s" % (n, state) for state, n in sorted(counts.items())))
    print("datasets:", ", ".join("%d %s" % (n, state) for state, n in sorted(datasets.items()) if n))
    return 1 if "differs" in counts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
