"""Masters that the driver and refs write, read by others: each encoding as its specification has it, with netCDF4
alone, and CF-1.13 by cfdm, the reference implementation of CF aggregation, by cf-python and by CFAPyX.

usage: cfa_readers_test.py [REFS]    with GDAL_DRIVER_PATH; REFS is the program refs

Those three are of this Python, or of the one that REFS_CFDM_PYTHON names (a virtual environment with cfdm, cf-python
and CFAPyX); each that is not there is left out.
"""

import itertools
import json
import os
import subprocess
import sys
import unittest

import numpy
from osgeo import gdal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "server")]
from cfa_write_test import FILL, raster, values  # noqa: E402
from own_folder import OwnFolder  # noqa: E402

try:
    import netCDF4
except ImportError:
    print("there is no module netCDF4")
    sys.exit(77)

REFS = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and os.path.exists(sys.argv[1]) else None
PYTHON = os.environ.get("REFS_CFDM_PYTHON") or sys.executable
READERS = {
    "cfdm": "cfdm.read(path)[0].array",
    "cf": "cf.read(path)[0].array",
    "cfapyx": "xarray.open_dataset(path, engine='CFA')['tas'].to_masked_array()",
}
BY_READER = """
import importlib.util, sys, numpy
if not importlib.util.find_spec("{module}"): sys.exit(77)
import {module}
if "{module}" == "cfapyx": import xarray
for path in sys.argv[2:]: numpy.save(path + ".npy", numpy.ma.filled({read}, float(sys.argv[1])))
"""
gdal.UseExceptions()


def partitions(file):
    """(slices of the master, name of the file, variable) of CFA-0.4, 0.5 and CF-1.13."""
    container = file["tas"]
    if "cfa_array" in container.ncattrs():
        for part in json.loads(container.cfa_array)["Partitions"]:
            sub = part["subarray"]
            assert sub["format"] == "netCDF"  # of two that the convention knows
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
            with netCDF4.Dataset(os.path.join(os.path.dirname(path), name.removeprefix("file://"))) as fragment:
                fragment.set_auto_mask(False)
                whole[tuple(where)] = fragment[variable][...]
        return whole


class Readers(OwnFolder):
    def setUp(self):
        super().setUp()
        self.data = values()
        self.data[2:, :3, 4:] = FILL

    def write(self, version, shape):
        path = self.path(f"m{version}.{shape[0]}.nca")
        options = ["LAYOUT=CFA", f"CFA_VERSION={version}", f"SUBARRAY_SHAPE={shape}"]
        gdal.GetDriverByName("REFS").CreateCopy(path, raster(self.data), options=options)
        return path

    def test_all_encodings_are_what_their_specifications_say(self):
        for version in ("0.4", "0.5", "1.13"):
            for shape in ("2,3,4", "3,4,5", "4,6,8"):
                with self.subTest(version=version, shape=shape):
                    numpy.testing.assert_array_equal(read_by_specification(self.write(version, shape)), self.data)

    def write_steps(self):
        for step in range(len(self.data)):
            part = raster(self.data[step:step + 1])
            part.SetMetadataItem("NETCDF_DIM_time_VALUES", str(6 * step))
            gdal.GetDriverByName("REFS").CreateCopy(os.path.join(self.folder, f"{step}.nc"), part,
                                                    options=["LAYOUT=NETCDF4"])

    def with_holes(self):
        """Masters of CF-1.13 of which the second source does not have the variable, as all verbs write them."""
        self.write_steps()
        self.data[1] = FILL
        os.rename(self.path("1.nc"), self.path("whole.nc"))
        with netCDF4.Dataset(self.path("1.nc"), "w") as file, netCDF4.Dataset(self.path("whole.nc")) as like:
            for name, dim in like.dimensions.items():
                file.createDimension(name, dim.size)
            for name in like.dimensions:
                made = file.createVariable(name, like[name].dtype, (name,))
                made.setncatts(like[name].__dict__)
                made[:] = like[name][:]
        parts = [f"{step}.nc" for step in range(len(self.data))]
        made = {name: self.path(name) for name in ("i.nc", "c.nca", "a.nca")}
        for arguments in (("index", *parts, "-q", "-o", made["i.nc"]),
                          ("combine", "--format", "cfa", *parts, "--cfa-version", "1.13", "-q", "-o", made["c.nca"]),
                          ("combine", "--format", "cfa", *parts[:2], "--cfa-version", "1.13", "-q", "-o", made["a.nca"]),
                          ("append", made["a.nca"], *parts[2:], "-q")):
            subprocess.run([REFS, *arguments], check=True, cwd=self.folder)
        return list(made.values())

    @unittest.skipIf(REFS is None, "needs the program refs")
    def test_fragments_that_are_missing_are_files_without_values(self):
        for path in self.with_holes():
            numpy.testing.assert_array_equal(read_by_specification(path), self.data)
            numpy.testing.assert_array_equal(gdal.Open(f'REFS:"{path}"').ReadAsArray(), self.data)
            with netCDF4.Dataset(path) as file:
                stem = os.path.splitext(os.path.basename(path))[0]
                self.assertEqual(file["tas_uris"][1].ravel()[0], f"{stem}/{stem}.tas.fill.1x6x8.nc")
            self.assertEqual(os.listdir(self.path(stem)), [f"{stem}.tas.fill.1x6x8.nc"])

    def by_refs(self):
        """An aggregation whose fragments are the sources."""
        self.write_steps()
        path = os.path.join(self.folder, "all.nc")
        parts = [f"{step}.nc" for step in range(len(self.data))]
        subprocess.run([REFS, "index", *parts, "-q", "-o", path], check=True, cwd=self.folder)
        return path

    def of_packed_files(self):
        """Aggregations of packed files, as all verbs write them, and the values."""
        self.data = numpy.round(numpy.random.default_rng(1).uniform(250, 310, self.data.shape), 2)
        for step in range(len(self.data)):
            with netCDF4.Dataset(os.path.join(self.folder, f"p{step}.nc"), "w") as file:
                for name, n in zip(("time", "lat", "lon"), (1, *self.data.shape[1:])):
                    file.createDimension(name, n)
                    file.createVariable(name, "f8", (name,))[:] = numpy.arange(n) + (name == "time") * step
                file["time"].units, file["lat"].units, file["lon"].units = "days since 2000-01-01", "degrees_north", "degrees_east"
                tas = file.createVariable("tas", "i2", ("time", "lat", "lon"), fill_value=-32768)
                tas.scale_factor, tas.add_offset, tas.units, tas.valid_max = 0.01, 280.0, "K", numpy.int16(30000)
                tas[:] = self.data[step:step + 1]
        parts = [f"p{step}.nc" for step in range(len(self.data))]
        made = {name: os.path.join(self.folder, name) for name in ("i.nc", "c.nca", "s.nca", "a.nca")}
        for arguments in (("index", *parts, "-q", "-o", made["i.nc"]),
                          ("combine", "--format", "cfa", *parts, "--cfa-version", "1.13", "-o", made["c.nca"]),
                          ("split", made["c.nca"], "--cfa-version", "1.13", "-o", made["s.nca"]),
                          ("combine", "--format", "cfa", *parts[:2], "--cfa-version", "1.13", "-o", made["a.nca"]),
                          ("append", made["a.nca"], *parts[2:])):
            subprocess.run([REFS, *arguments], check=True, cwd=self.folder)
        return list(made.values())

    @unittest.skipIf(REFS is None, "needs the program refs")
    def test_packed_files_are_unpacked_once(self):
        paths = self.of_packed_files()
        for path in paths:
            values = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("tas").ReadAsArray()
            numpy.testing.assert_allclose(values, self.data, atol=1e-6, err_msg=path)
            with netCDF4.Dataset(path) as file:
                self.assertFalse({"scale_factor", "add_offset", "valid_max"} & set(file["tas"].ncattrs()))
                self.assertEqual(file["tas"].units, "K")
        self.are_read("cfdm", paths, numpy.testing.assert_allclose)

    def are_read(self, module, paths, compare=numpy.testing.assert_array_equal):
        code = BY_READER.format(module=module, read=READERS[module])
        # Some readers look for relative names where they run.
        done = subprocess.run([PYTHON, "-c", code, str(FILL), *paths], cwd=self.folder)
        if done.returncode == 77:
            self.skipTest(f"needs {module}: REFS_CFDM_PYTHON names a Python that has it")
        self.assertEqual(done.returncode, 0)
        for path in paths:
            compare(numpy.load(path + ".npy"), self.data, err_msg=path)

    def is_read(self, module):
        paths = [self.write("1.13", shape) for shape in ("2,3,4", "3,4,5")]
        if REFS:
            paths.append(self.by_refs())
        self.are_read(module, paths)
        if REFS:
            self.are_read(module, self.with_holes())

    def test_cfdm_reads_what_is_written_as_cf(self):
        self.is_read("cfdm")

    def test_cf_python_reads_what_is_written_as_cf(self):
        self.is_read("cf")

    def test_cfapyx_reads_what_is_written_as_cf(self):
        self.is_read("cfapyx")


if __name__ == "__main__":
    unittest.main()
