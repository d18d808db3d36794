"""Which plugin is measured: that of GDAL_DRIVER_PATH, or of the build `release` of this tree."""

import os
import subprocess
import sys

RELEASE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "release")


def find():
    """Has GDAL find it here and in processes that are started, or ends the program with what to do."""
    folder = os.environ.setdefault("GDAL_DRIVER_PATH", os.path.join(os.path.normpath(RELEASE), "gdalplugins"))
    told = subprocess.run(["gdalinfo", "--format", "REFS"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if "Short Name: REFS" not in told.stdout:
        sys.exit(f"GDAL has no driver REFS in {folder}: build it (cmake --preset release && cmake --build --preset "
                 "release), or say by GDAL_DRIVER_PATH where gdal_REFS.so is")
