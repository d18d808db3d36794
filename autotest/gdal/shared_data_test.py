"""Real files against GDAL's netCDF driver: no total falls below what was reached.

Runs diff_netcdf.py of the folder shared/ beside the repository over its data, with sets of JSON and
of Parquet; skips where that is absent. REFS_SHARED_DATA names another folder of data.
"""

import itertools
import json
import os
import subprocess
import sys

from osgeo import gdal

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
DATA = os.environ.get("REFS_SHARED_DATA", os.path.join(ROOT, "../shared/data"))
TOOL = os.path.join(DATA, "../tools/diff_netcdf.py")
SKIPPED = 77

# Raise these when the driver gets better; never lower them.
FLOORS = {
    "netcdf4": {"opened": 20, "vars": 61, "pixels": 61, "georef": 61, "packing": 61, "time": 61},
    "netcdf3": {"opened": 6, "vars": 14, "pixels": 14, "georef": 14, "packing": 14, "time": 14},
}

VERSION = int(gdal.VersionInfo())

# What newer netCDF drivers place where it is not, see docs/cf-netcdf.md: classic files by arrays that are not
# there. Uneven axes of a rotated grid were measured with 3.13.3 alone.
if 3070000 <= VERSION < 3130000:
    FLOORS["netcdf4"]["georef"] = 59
if 3070000 <= VERSION < 3110000:
    FLOORS["netcdf3"]["georef"] = 12


def totals(form, folder):
    """What the tool counts for one form of the sets in a folder, and all it says."""
    path = os.path.join(DATA, folder)
    said = subprocess.run([sys.executable, TOOL, form, path, path], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return json.loads(said.splitlines()[-1].removeprefix(f"TOTAL {form} ")), said


def main():
    if not os.path.exists(TOOL):
        print(TOOL, "is absent")
        return SKIPPED
    failed = False
    for form, folder in itertools.product(["refs", "parq"], FLOORS):
        reached, said = totals(form, folder)
        print(folder, said, sep="\n")
        for name, least in FLOORS[folder].items():
            if reached[name] < least:
                failed = True
                print(f"{folder}, {form}: {name} is {reached[name]}, was {least}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
