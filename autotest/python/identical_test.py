"""The engine "refs" on real files, and on a set made of each: datasets are identical to those of netCDF4.

usage: identical_test.py FOLDER_OF_PACKAGE PROGRAM

Skips without the folder of shared_data.py.
"""

import glob
import os
import subprocess
import sys
import tempfile
import unittest
import warnings

PACKAGE, PROGRAM = sys.argv[1:3]
sys.path[:0] = PACKAGE, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server")
PATTERNS = ("netcdf3/*.nc", "netcdf4/*.nc*", "refs/**/*.nc", "hdf5/*.*", "dmrpp/*.h5", "cfa/**/expected.nc")
FORMS = {"json": "index", "parq": "index", "icechunk": "index", "nca": "split"}

try:
    import netCDF4
    import numpy as np
    import xarray as xr
except ImportError as error:
    print(f"left out: {error}")
    sys.exit(77)

import gdal_refs  # noqa: E402, F401
from shared_data import DATA  # noqa: E402

LEAST_GROUPS = 150  # raise it when there are more files; never lower it

CRASHES = {"dmrpp/FValue_string.h5"}  # netCDF4 ends the process
if netCDF4.__version__ < "1.7":  # strings of fixed length damage its memory
    PATTERNS = tuple(pattern for pattern in PATTERNS if not pattern.startswith("dmrpp"))

# Files that no set can describe, with the message.
REFUSED = {"hdf5/hdf5_mali_chunk2.h5": "some chunks skipped filters and some did not"}

# Variables that differ, and why.
FILL = "the fill value that the dataset of HDF5 defines masks values; netCDF4 masks those of attributes only"
PHONY = "netCDF4 has a dimension of its own for each unlimited one without a name"
PADDED = "netCDF4 leaves spaces of padded strings in lists in attributes; HDF5 and h5py remove them"
RANK = "netCDF4 omits attributes of arrays of rank 2"
TEXT = "netCDF4 has the first letter only of strings of fixed length in compounds"
OPAQUE = "a member is of variable length: elements are opaque bytes"
DIFFERENT = {
    "dmrpp/FValue_chunk.h5": {"chunks_all_fill": FILL},
    "dmrpp/FValue_scalar_compact.h5": {"compact_scalar_fill": FILL},
    "dmrpp/Scalar_compact.h5": {"compact_scalar": FILL},
    "dmrpp/chunked_enum.h5": {"DS1": RANK},
    "dmrpp/compound_array_fix_vlen_str.h5": {"DSC_array": OPAQUE},
    "dmrpp/compound_simple_array_fix_str.h5": {"DSC": TEXT},
    "dmrpp/compound_simple_array_fix_str_only.h5": {"DSC": TEXT},
    "dmrpp/special_fixed_str.h5": {"One_chunk_unlimited": PHONY, "One_chunk_unlimited_comp": PHONY},
    "dmrpp/t_string_chunk.h5": {"array_1d": PADDED, "array_2d": PADDED},
    "dmrpp/t_string_compact.h5": {"array_1d": PADDED, "array_2d": PADDED},
}

# The same for masters.
DECLARED = "scalars are no aggregations: netCDF's default may have been declared, as in a set"
DIFFERENT_IN_MASTERS = {"netcdf3/test_lcc.nc": {"lambert_conformal_conic": DECLARED}}


def groups_of(group, path=""):
    yield path
    for name, child in group.groups.items():
        yield from groups_of(child, f"{path}/{name}")


def is_structured(variable):
    return variable.dtype.kind == "V" and variable.dtype.names is not None


def as_here(found, expected):
    """A variable of netCDF4 in the type of ours, where they mean the same: texts of fixed length are
    bytes here, as with h5netcdf, and compounds have the padding of the file, not of the machine."""
    if found.dtype.kind == "S" and expected.dtype.kind in "OU":
        values = np.char.encode(expected.values.astype("U"), "utf-8").astype(found.dtype)
        return expected.copy(data=values)
    if is_structured(found) and is_structured(expected):
        return expected.copy(data=expected.values.astype(found.dtype))
    return expected


def without_marks(found, expected):
    """A group of a master without what makes it one, and signed bytes in it."""
    words = found.attrs.pop("Conventions", "").split()
    rest = " ".join(word for word in words if not word.startswith("CFA-"))
    attrs = {name: rest if name == "Conventions" else found.attrs.get(name) for name in expected.attrs}
    found.attrs = {**{name: value for name, value in attrs.items() if value is not None}, **found.attrs}
    for key, variable in found.variables.items():
        if variable.dtype == "i1" and "valid_range" not in expected.variables[key].attrs:
            variable.attrs.pop("valid_range", None)
    return found


class Files(unittest.TestCase):
    n_groups = 0

    @classmethod
    def setUpClass(cls):
        warnings.simplefilter("ignore")
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def forms_of(self, path):
        """The file and its sets."""
        yield path
        for form, verb in FORMS.items():
            if form == "nca" and not os.path.relpath(path, DATA).startswith("netcdf"):
                continue
            output = os.path.join(self.folder.name, f"{len(os.listdir(self.folder.name))}.{form}")
            done = subprocess.run([PROGRAM, verb, path, "-o", output], capture_output=True, text=True, check=False)
            if os.path.relpath(path, DATA) in REFUSED:
                self.assertIn(REFUSED[os.path.relpath(path, DATA)], done.stderr)
            else:
                self.assertEqual(done.returncode, 0, done.stderr)
                yield output

    def check_encoding(self, form, found, expected):
        keys = ["original_shape", "scale_factor", "add_offset", "_FillValue", "missing_value", "units", "calendar"]
        if form != "nca":  # which compresses in its own way
            keys += ["zlib", "shuffle", "fletcher32", *(["complevel"] if expected.encoding.get("zlib") else [])]
        for key in keys:
            if expected.encoding.get(key):
                np.testing.assert_equal(found.encoding.get(key), expected.encoding[key], err_msg=key)

    def check_group(self, name, form, found, expected):
        exempt = {*DIFFERENT.get(name, ())}
        if form == "nca":
            exempt |= {*DIFFERENT_IN_MASTERS.get(name, ())}
        if form == "icechunk":  # compounds are raw bytes there
            exempt |= {key for key, variable in expected.variables.items() if is_structured(variable)}
        found, expected = (one.drop_vars([key for key in exempt if key in one.variables]) for one in (found, expected))
        if form == "nca":
            found = without_marks(found, expected)
        for key, variable in expected.variables.items():
            with self.subTest(name=name, variable=key):
                here = as_here(found.variables[key], variable)
                if here.dtype.kind != "O" and here.dtype.kind != "U":
                    self.assertEqual(found.variables[key].dtype, here.dtype)
                xr.testing.assert_identical(found.variables[key], here)
                self.check_encoding(form, found.variables[key], variable)
        order = sorted if form == "icechunk" else list  # repositories sort their arrays
        self.assertEqual(order(found.variables), order(expected.variables))
        self.assertEqual(order(found.coords), order(expected.coords))
        xr.testing.assert_identical(xr.Dataset(attrs=found.attrs), xr.Dataset(attrs=expected.attrs))
        Files.n_groups += 1

    def check_file(self, name):
        path = os.path.join(DATA, name)
        try:
            with netCDF4.Dataset(path) as file:
                groups = list(groups_of(file))
            whole = [xr.open_dataset(path, engine="netcdf4", group=group or None).load() for group in groups]
        except (OSError, RuntimeError, ValueError, TypeError, AttributeError):
            return  # netCDF4 or xarray cannot open it
        for form in self.forms_of(path):
            kind = form.rpartition(".")[2]
            for group, expected in zip(groups, whole):
                with self.subTest(name=name, form=kind, group=group):
                    found = xr.open_dataset(form, engine="refs", group=group or None).load()
                    self.check_group(name, kind, found, expected)

    def test_are_as_netcdf4_has_them(self):
        names = {os.path.relpath(path, DATA) for pattern in PATTERNS
                 for path in glob.glob(os.path.join(DATA, pattern), recursive=True)}
        for name in sorted(names - CRASHES):
            self.check_file(name)
        self.assertGreaterEqual(Files.n_groups, LEAST_GROUPS)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
