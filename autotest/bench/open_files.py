#!/usr/bin/env python3
"""How many requests it takes to open remote HDF5 files as sets, and how long: a small one, one of 164 datasets whose
metadata are scattered over 300 MB, and the same with its metadata in pages.

    GDAL_DRIVER_PATH=... open_files.py [--latency-ms 30] [--datasets 164] [--megabytes 300]

Needs python3-netcdf4 and python3-h5py. The server is autotest/server's, on this machine; each file is opened by a process
of its own. A round is what is waited for at once: ranges that are asked for together are one.
"""
import argparse
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../server"))
from served import Folder, Server


def write_small(path):
    """As netCDF writes it by default, in less than a megabyte."""
    import netCDF4
    import numpy as np

    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("y", 150)
        file.createDimension("x", 200)
        for i in range(12):
            variable = file.createVariable(f"v{i}", "f4", ("y", "x"), zlib=True, chunksizes=(50, 100))
            variable.units = "K"
            variable[:] = np.round(np.random.default_rng(i).normal(0, 1, (150, 200)), 1)


def write_scattered(path, datasets, megabytes):
    """As a model writes it by default: variable by variable, each with its values behind what describes it."""
    import netCDF4
    import numpy as np

    side = int((megabytes * 1e6 / datasets / 4) ** 0.5)
    noise = np.random.default_rng(1).integers(0, 1 << 32, (side, side), dtype="u4")
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("y", side)
        file.createDimension("x", side)
        for i in range(datasets):
            variable = file.createVariable(f"v{i}", "u4", ("y", "x"), zlib=True, complevel=1, chunksizes=(100, 100))
            for name in ("long_name", "units", "standard_name", "cell_methods"):
                variable.setncattr(name, f"{name} of variable {i}")
            variable[:] = noise + i
            file.sync()


def write_paged(path, source):
    """The same with metadata in pages of their own, as for the cloud."""
    import h5py

    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
    creation = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    creation.set_file_space_strategy(h5py.h5f.FSPACE_STRATEGY_PAGE, False, 1)
    creation.set_file_space_page_size(4 << 20)
    with h5py.File(source) as given, \
            h5py.File(h5py.h5f.create(path.encode(), fcpl=creation, fapl=access)) as file:
        for name in given:
            given.copy(name, file)


def open_file(name):
    """Seconds, requests and rounds of listing, and of one variable's index after that with a chunk of it."""
    from osgeo import gdal

    gdal.UseExceptions()
    begin = time.perf_counter()
    root = gdal.OpenEx(f"REFS:{name}", gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    n = len(root.GetMDArrayNames())
    listed = time.perf_counter()
    print("listed", flush=True)
    sys.stdin.readline()
    middle = time.perf_counter()
    root.OpenMDArray("v7").Read([0, 0], [1, 1])
    print(n, listed - begin, time.perf_counter() - middle, flush=True)
    sys.stdin.readline()
    shown = gdal.OpenEx(f'REFS:"{name}":/v7', gdal.OF_RASTER).GetMetadata("REFS")
    print(*[shown.get(key, "0") for key in ("SCAN_ROUNDS", "SCAN_READS", "SCAN_BYTES")], flush=True)


def measure(folder, name, latency_ms):
    server = Server(folder, options=["--latency-ms", str(latency_ms)])
    try:
        child = subprocess.Popen([sys.executable, __file__, "--open", server.url(name)], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
        child.stdout.readline()
        listing = server.counts()["all"]
        print("", file=child.stdin, flush=True)
        n, listed, read = child.stdout.readline().split()
        both = server.counts()["all"]
        print("", file=child.stdin, flush=True)
        rounds, reads, size = child.stdout.readline().split()
        child.wait()
        return int(n), listing, int(rounds), float(listed), both - listing, float(read), int(size)
    finally:
        server.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--latency-ms", type=int, default=30)
    parser.add_argument("--datasets", type=int, default=164)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--open", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.open:
        return open_file(arguments.open)
    folder = Folder()
    try:
        def path(name):
            return os.path.join(folder.served, name)

        write_small(path("small.nc"))
        write_scattered(path("scattered.nc"), arguments.datasets, arguments.megabytes)
        write_paged(path("paged.h5"), path("scattered.nc"))
        print(f"| over {arguments.latency_ms} ms | size | listing: requests | rounds | seconds | bytes of metadata | "
              "a chunk after that: requests | seconds |\n|---|---:|---:|---:|---:|---:|---:|---:|")
        for name in ("small.nc", "scattered.nc", "paged.h5"):
            n, listing, rounds, listed, more, read, size = measure(folder, name, arguments.latency_ms)
            print(f"| {n} datasets, {name} | {os.path.getsize(path(name)) / 1e6:.1f} MB | {listing} | {rounds} | {listed:.2f} | "
                  f"{size / 1e6:.2f} MB | {more} | {read:.2f} |", flush=True)
        return 0
    finally:
        folder.close()


if __name__ == "__main__":
    sys.exit(main())
