#!/usr/bin/env python3
"""Reads one pixel of an archive of a master and its fragments, and prints what that fetched, beside what S3netCDF4
fetches: the master and the fragment, whole.

    one_pixel.py

The archive, of 16 fragments of 4 MiB, is made by refs and served from this machine. Read are the pixel, and one of
another fragment when the archive is open. GDAL_DRIVER_PATH says where the plugin is; refs is looked for beside it.
"""
import os
import subprocess
import sys

import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))
from served import Folder, Server

SHAPE = 16, 1024, 1024
READ = """
import sys
from osgeo import gdal
gdal.UseExceptions()
data = gdal.Open(sys.argv[1])
for band in map(int, sys.argv[2:]):
    print(float(data.GetRasterBand(band).ReadAsArray(700, 500, 1, 1)[0][0]))
"""


def make(folder):
    refs = os.path.join(os.path.dirname(os.environ["GDAL_DRIVER_PATH"]), "refs")
    values = np.random.default_rng(1).random(SHAPE, "f4")
    with netCDF4.Dataset(folder + "/source.nc", "w") as file:
        for name, n in zip(("time", "lat", "lon"), SHAPE):
            file.createDimension(name, n)
            file.createVariable(name, "f8", (name,))[:] = np.arange(n)[::-1 if name == "lat" else 1]
        file.createVariable("tas", "f4", ("time", "lat", "lon"), fill_value=-1)[:] = values
    subprocess.run([refs, "split", "source.nc", "-o", "m.nca", "--subarray-shape", "time=1"], cwd=folder, check=True)
    os.remove(folder + "/source.nc")
    return values


def sent(folder):
    """Bytes of each answer so far."""
    with open(folder.file("log"), encoding="utf-8") as log:
        return [int(line.split("\t")[4]) for line in log]


def fetched(folder, server, bands, values):
    """Requests and bytes of reading the same pixel of these bands."""
    before = len(sent(folder))
    done = subprocess.run([sys.executable, "-c", READ, f'REFS:"{server.url("m.nca")}":/tas', *map(str, bands)],
                          check=True, stdout=subprocess.PIPE, text=True)
    if [float(line) for line in done.stdout.split()] != [float(values[band - 1, 500, 700]) for band in bands]:
        raise SystemExit("values differ")
    return len(sent(folder)) - before, sum(sent(folder)[before:])


def main():
    folder = Folder()
    values = make(folder.served)
    server = Server(folder)
    try:
        one, two = (fetched(folder, server, bands, values) for bands in ((3,), (3, 9)))
    finally:
        server.close()
    master = os.path.getsize(folder.served + "/m.nca")
    fragment = os.path.getsize(folder.served + "/m/m.tas.2.0.0.nc")
    folder.close()
    print("| | REFS | whole objects |\n|---|---:|---:|")
    for what, (n, size), (n_whole, whole) in (("one pixel", one, (2, master + fragment)),
                                              ("one of another fragment", np.subtract(two, one), (1, fragment))):
        print(f"| {what} | {n} requests, {size / 1e6:.1f} MB | {n_whole} request{'s'[:n_whole - 1]}, {whole / 1e6:.1f} MB |")
    return 0 if one[0] <= 5 and one[1] < (master + fragment) / 2 else "more than half of the objects is fetched"


if __name__ == "__main__":
    sys.exit(main())
