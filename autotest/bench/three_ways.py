#!/usr/bin/env python3
"""Reads one HDF5 file natively, by references to it, and as native Zarr with the same chunks, and prints a table.

    three_ways.py [--latency-ms 30] [--repeat 3]

All lie on a server of this machine that waits before each answer. A figure is of opening the array by GDAL's
multidimensional API and reading one step, or all of them, in a process of its own: the least wall clock, requests and
bytes. Values are compared. GDAL_DRIVER_PATH says where the plugin is; the program refs is looked for beside it.
"""
import argparse
import json
import os
import subprocess
import sys
import time

import netCDF4
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))
from served import Folder, Server

SHAPE, CHUNKS = (24, 360, 720), (1, 180, 360)
READ = """
import sys, time, zlib
from osgeo import gdal
gdal.UseExceptions()
begin = time.monotonic()
array = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER, [sys.argv[3]]).GetRootGroup().OpenMDArray("t")
n = [dimension.GetSize() for dimension in array.GetDimensions()]
steps = (13, 1) if sys.argv[2] == "one" else (0, n[0])
values = array.ReadAsArray([steps[0], 0, 0], [steps[1], *n[1:]])
print(time.monotonic() - begin, zlib.crc32(values.tobytes()))
"""


def write_file(path):
    with netCDF4.Dataset(path, "w") as file:
        for name, n in zip(("time", "lat", "lon"), SHAPE):
            file.createDimension(name, n)
            file.createVariable(name, "f8", (name,))[:] = np.arange(n)
        noise = np.random.default_rng(1).normal(0, 3, SHAPE)
        waves = 200 * np.sin(np.add.outer(np.arange(SHAPE[1]), np.arange(SHAPE[2])) / 40)
        t = file.createVariable("t", "i2", ("time", "lat", "lon"), zlib=True, shuffle=False, chunksizes=CHUNKS)
        t.units = "K"
        t[:] = (waves + noise).round()


def write_zarr(folder, refs):
    """The chunks that a set refers to, as files of their own."""
    documents = {}
    for key, value in refs.items():
        path = os.path.join(folder, key)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(value, list):
            with open(value[0], "rb") as file:
                file.seek(value[1])
                content = file.read(value[2])
        else:
            content = value.encode()
            documents[key] = json.loads(value)
        with open(path, "wb") as file:
            file.write(content)
    with open(os.path.join(folder, ".zmetadata"), "w", encoding="utf-8") as file:
        json.dump({"zarr_consolidated_format": 1, "metadata": documents}, file)


def prepare(folder):
    refs = os.path.join(os.environ["GDAL_DRIVER_PATH"], "..", "refs")
    write_file(os.path.join(folder, "x.h5"))
    for options in ([], ["--relative"]):
        subprocess.run([refs, "index", "-q", *options, os.path.join(folder, "x.h5"), "-o", os.path.join(folder, "x.json")],
                       check=True)
        if not options:
            with open(os.path.join(folder, "x.json"), encoding="utf-8") as file:
                write_zarr(os.path.join(folder, "x.zarr"), json.load(file)["refs"])


def requests(folder):
    """Bytes that were sent for each request so far."""
    with open(folder.file("log"), encoding="utf-8") as log:
        return [int(line.split("\t")[4]) for line in log]


def read(folder, name, steps, repeat):
    """The quickest run: seconds, requests, bytes, and a checksum of the values."""
    driver = "REFS" if name.startswith("REFS") else "HDF5" if name.endswith("h5") else "Zarr"
    runs = []
    for _ in range(repeat):
        since = len(requests(folder))
        done = subprocess.run([sys.executable, "-c", READ, name, steps, driver], check=True, stdout=subprocess.PIPE,
                              env={**os.environ, "GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR"})
        time.sleep(0.1)
        sent = requests(folder)[since:]
        seconds, values = done.stdout.split()
        runs.append((float(seconds), len(sent), sum(sent), values))
    return min(runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--latency-ms", type=int, default=30)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    folder = Folder()
    prepare(folder.served)
    server = Server(folder, options=["--latency-ms", str(arguments.latency_ms)])
    ways = {"the file, GDAL's HDF5 driver": "/vsicurl/" + server.url("x.h5"),
            "the file, REFS": f'REFS:"{server.url("x.h5")}"',
            "references to the file, REFS": f'REFS:"{server.url("x.json")}"',
            "native Zarr, GDAL's Zarr driver": f'ZARR:"/vsicurl/{server.url("x.zarr")}"'}
    print(f"| over {arguments.latency_ms} ms | one step of {SHAPE[0]} | all steps |\n|---|---:|---:|", flush=True)
    try:
        found = {"one": set(), "all": set()}
        for way, name in ways.items():
            cells = []
            for steps in found:
                seconds, n, size, values = read(folder, name, steps, arguments.repeat)
                found[steps].add(values)
                cells.append(f"{seconds:.2f} s, {n} requests, {size / 1e6:.2f} MB")
            print(f"| {way} | " + " | ".join(cells) + " |", flush=True)
    finally:
        server.close()
        folder.close()
    return 0 if all(len(values) == 1 for values in found.values()) else "values differ"


if __name__ == "__main__":
    sys.exit(main())
