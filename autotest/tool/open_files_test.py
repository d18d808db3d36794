"""More files than a process may open at a time: every verb and the driver, with few file descriptors.

    open_files_test.py PROGRAM [test ...]
"""

import glob
import os
import resource
import subprocess
import sys
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))
from own_folder import OwnFolder  # noqa: E402
from this_build import need  # noqa: E402

need("netcdf")
try:
    import netCDF4
except ImportError:
    print("there is no module netCDF4")
    sys.exit(77)

REFS = os.path.abspath(sys.argv.pop(1))
DESCRIPTORS = 48
STEPS = 1100

READ = """
import sys
import numpy as np
from osgeo import gdal
gdal.UseExceptions()
root = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER).GetRootGroup()
values = root.OpenMDArrayFromFullname("/v").ReadAsArray()
assert np.array_equal(values, np.arange(values.size).reshape(values.shape)), values
print(values.shape[0])
"""


HOLD = """
import sys
from osgeo import gdal
gdal.UseExceptions()
held = []
for number in range(int(sys.argv[1])):
    dataset = gdal.OpenEx(f"REFS:m{number}.nc", gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenMDArray("v")
    assert array.ReadAsArray()[1, 0] == number, number
    held.append((dataset, array))
print(len(held))
"""


def limited(*command):
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS)),
    )
    if done.returncode != 0:
        raise AssertionError(f"{command[:4]}: {done.returncode}\n{done.stdout}{done.stderr}"[-2000:])
    return done.stdout


class FewDescriptors(OwnFolder):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        with netCDF4.Dataset("all.nc", "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("time", STEPS)
            file.createDimension("x", 4)
            time = file.createVariable("time", "f8", ("time",))
            time.units = "days since 2000-01-01"
            time[:] = np.arange(STEPS)
            file.createVariable("v", "f4", ("time", "x"))[:] = np.arange(4 * STEPS).reshape(STEPS, 4)
        limited(
            REFS, "split", "-q", "all.nc", "-o", "m.nca", "--subarray-shape", "time=1", "--format", "NETCDF3",
            "--cfa-version", "1.13"
        )  # fmt: skip
        self.fragments = sorted(glob.glob("m/*.v.*.nc"))

    def test_fragments_are_read(self):
        self.assertEqual(len(self.fragments), STEPS)
        self.assertEqual(limited(sys.executable, "-c", READ, "REFS:m.nca").strip(), str(STEPS))
        self.assertEqual(limited(sys.executable, "-c", READ, "m.nca").strip(), str(STEPS))
        self.assertIn(" 0 problems", limited(REFS, "check", "--deep", "m.nca"))

    def test_masters_are_held(self):
        """A descriptor each, so that they are read on when they are replaced, and a quarter of all for reading."""
        masters = DESCRIPTORS * 3 // 5
        for number in range(masters):
            for step in range(2):
                with netCDF4.Dataset(f"a{step}.nc", "w") as file:
                    for dim, n in (("t", 1), ("x", 2000)):
                        file.createDimension(dim, n)
                    file.createVariable("t", "f8", ("t",))[:] = step
                    file.createVariable("v", "f8", ("t", "x"))[:] = number * step
                os.rename(f"a{step}.nc", f"m{number}.{step}.nc")
            limited(REFS, "index", "-q", f"m{number}.0.nc", f"m{number}.1.nc", "--along", "t", "-o", f"m{number}.nc")
        self.assertEqual(limited(sys.executable, "-c", HOLD, str(masters)).strip(), str(masters))

    def test_fragments_are_combined(self):
        for options in (["--format", "cfa"], []):
            limited(REFS, "combine", "-q", *self.fragments, "-o", "again.nca", *options)
            self.assertEqual(limited(sys.executable, "-c", READ, "REFS:again.nca").strip(), str(STEPS))
        limited(REFS, "index", "-q", *self.fragments, "-o", "again.json")
        self.assertEqual(limited(sys.executable, "-c", READ, "REFS:again.json").strip(), str(STEPS))


if __name__ == "__main__":
    unittest.main()
