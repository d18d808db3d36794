"""What tests of properties share: archives made at random, which the program combines, round by round.

    …_property_test.py PROGRAM [--rounds N] [--seed S] [--xarray PYTHON] [test ...]
"""

import os
import subprocess
import sys

from osgeo import gdal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from command_line import take_option  # noqa: E402
from own_folder import OwnFolder  # noqa: E402


try:
    import netCDF4  # noqa: F401
except ImportError:
    print("there is no module netCDF4")
    sys.exit(77)

gdal.UseExceptions()


def take_arguments(rounds, seed):
    """The number of rounds, the seed, and a Python that has xarray, or "". The program is that of all tests."""
    options = take_option("--rounds", rounds), take_option("--seed", seed), take_option("--xarray", "")
    Property.program = os.path.abspath(sys.argv.pop(1))
    return options


class Property(OwnFolder):
    """The folder of each test is its working directory."""

    program = ""

    def setUp(self):
        super().setUp()
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)

    def attempt(self, *arguments):
        return subprocess.run([self.program, *arguments], capture_output=True, text=True, check=False, timeout=300)

