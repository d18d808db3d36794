"""Real netCDF files: each variable, its attributes and those of groups are as netCDF4 has them.

usage: shared_files_test.py FOLDER_OF_PACKAGE PROGRAM

Skips without the folder of shared_data.py.
"""

import glob
import os
import sys
import unittest
import warnings

sys.path[:0] = sys.argv[1], os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server")
FOLDERS = ("netcdf3/*.nc", "netcdf4/*.nc", "netcdf4/*.nc4", "refs/**/*.nc")

try:
    import netCDF4
    import numpy as np
except ImportError as error:
    print(f"left out: {error}")
    sys.exit(77)

import gdal_refs  # noqa: E402
from shared_data import DATA  # noqa: E402

LEAST_VARIABLES = 200  # raise it when there are more files; never lower it


def groups_of(group, path=""):
    yield path, group
    for name, child in group.groups.items():
        yield from groups_of(child, f"{path}/{name}")


def is_same(found, expected):
    """Whether an attribute is the same: NaN is, and netCDF4 has an empty array for an empty text."""
    found, expected = np.asarray(found), np.asarray(expected)
    if expected.size == 0:
        return found.size == 0 or found.item() == ""
    return np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f")


class Files(unittest.TestCase):
    n_variables = 0

    def check_attributes(self, found, of):
        self.assertLessEqual(set(of.ncattrs()), set(found))
        for name in of.ncattrs():
            self.assertTrue(is_same(found[name], of.getncattr(name)),
                            (name, found[name], of.getncattr(name)))

    def check_variable(self, array, variable):
        expected = variable[...]
        kind = getattr(expected, "dtype", np.dtype(object)).kind
        found = array[...]
        self.assertTrue(np.array_equal(found, expected, equal_nan=kind in "fc"), "other values")
        if kind in "iufc":
            self.assertEqual(array.dtype.kind, kind)
            self.assertEqual(array.dtype.itemsize, expected.dtype.itemsize)
        self.check_attributes(array.attrs, variable)
        Files.n_variables += 1

    def check_file(self, name, file):
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        dataset = gdal_refs.open(name)
        for path, group in groups_of(file):
            self.check_attributes(dataset.groups[path], group)
            for key, variable in group.variables.items():
                with self.subTest(name=os.path.relpath(name, DATA), variable=f"{path}/{key}"):
                    self.check_variable(dataset[f"{path}/{key}"], variable)

    def test_are_as_netcdf4_has_them(self):
        warnings.simplefilter("ignore")
        for pattern in FOLDERS:
            for name in sorted(glob.glob(os.path.join(DATA, pattern), recursive=True)):
                try:
                    file = netCDF4.Dataset(name)
                except OSError:
                    continue  # it is no file that the library reads
                with file, self.subTest(name=os.path.relpath(name, DATA)):
                    self.check_file(name, file)
        self.assertGreaterEqual(Files.n_variables, LEAST_VARIABLES)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
