"""Masters that the driver writes, read by others: each encoding as its specification has it, with netCDF4
alone, and CF-1.13 by cfdm, the reference implementation of CF aggregation.

usage: cfa_readers_test.py    with GDAL_DRIVER_PATH

cfdm is that of this Python, or of the one that REFS_CFDM_PYTHON names (a virtual environment with cfdm).
"""

import importlib.util
import itertools
import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy
from osgeo import gdal

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cfa_write_test import FILL, raster, values  # noqa: E402

try:
    import netCDF4
except ImportError:
    print("there is no module netCDF4")
    sys.exit(77)

CFDM = os.environ.get("REFS_CFDM_PYTHON") or (sys.executable if importlib.util.find_spec("cfdm") else None)
BY_CFDM = """
import sys, cfdm, numpy
field, = cfdm.read(sys.argv[1])
numpy.save(sys.argv[2], numpy.ma.filled(field.array, float(sys.argv[3])))
"""
gdal.UseExceptions()


def partitions(file):
    """(slices of the master, name of the file, variable) of CFA-0.4, 0.5 and CF-1.13."""
    container = file["tas"]
    if "cfa_array" in container.ncattrs():
        for part in json.loads(container.cfa_array)["Partitions"]:
            sub = part["subarray"]
            yield [slice(a, b + 1) for a, b in part["location"]], sub["file"], sub["ncvar"]
    elif "cfa_group" in container.ncattrs():
        group = file[container.cfa_group]
        assert str(group["pmdimensions"][...]) == ", ".join(container.cfa_dimensions.split())
        for index in itertools.product(*map(range, group["pmshape"][:])):
            if group["file"][index]:
                assert group["index"][index].tolist() == list(index)
                where = [slice(a, b) for a, b in group["location"][index]]
                assert group["shape"][index].tolist() == [part.stop - part.start for part in where]
                yield where, group["file"][index], group["ncvar"][index]
    else:
        words = container.aggregated_data.split()
        terms = dict(zip((word.rstrip(":") for word in words[::2]), (file[name] for name in words[1::2])))
        ends = [numpy.cumsum(row.compressed()) for row in numpy.ma.asarray(terms["map"][:])]
        for index in itertools.product(*(range(len(row)) for row in ends)):
            where = [slice(int(row[i - 1]) if i else 0, int(row[i])) for row, i in zip(ends, index)]
            yield where, terms["uris"][index], str(terms["identifiers"][...])


def read_by_specification(path):
    with netCDF4.Dataset(path) as file:
        names = file["tas"].getncattr("cfa_dimensions" if "cfa_dimensions" in file["tas"].ncattrs()
                                      else "aggregated_dimensions").split()
        whole = numpy.full([len(file.dimensions[name]) for name in names], file["tas"]._FillValue)
        for where, name, variable in partitions(file):
            with netCDF4.Dataset(os.path.join(os.path.dirname(path), name)) as fragment:
                fragment.set_auto_mask(False)
                whole[tuple(where)] = fragment[variable][...]
        return whole


class Readers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.data = values()
        self.data[2:, :3, 4:] = FILL

    def write(self, version, shape):
        path = os.path.join(self.folder, f"m{version}.nca")
        options = ["LAYOUT=CFA", f"CFA_VERSION={version}", f"SUBARRAY_SHAPE={shape}"]
        gdal.GetDriverByName("REFS").CreateCopy(path, raster(self.data), options=options)
        return path

    def test_all_encodings_are_what_their_specifications_say(self):
        for version in ("0.4", "0.5", "1.13"):
            for shape in ("2,3,4", "3,4,5", "4,6,8"):
                with self.subTest(version=version, shape=shape):
                    numpy.testing.assert_array_equal(read_by_specification(self.write(version, shape)), self.data)

    @unittest.skipUnless(CFDM, "needs cfdm")
    def test_cfdm_reads_what_is_written_as_cf(self):
        for shape in ("2,3,4", "3,4,5"):
            found = os.path.join(self.folder, "found.npy")
            # cfdm looks for relative names where it runs.
            subprocess.run([CFDM, "-c", BY_CFDM, self.write("1.13", shape), found, str(FILL)], check=True,
                           cwd=self.folder)
            numpy.testing.assert_array_equal(numpy.load(found), self.data)


if __name__ == "__main__":
    unittest.main()
