#!/usr/bin/env python3
"""What data files cost as the sets that they are: 48 files scanned, here and over a network, beside kerchunk; and one
read whole, beside its set.

    GDAL_DRIVER_PATH=... scan_files.py REFS [--python PYTHON] [--latency-ms 30] [--repeat 3]

REFS is the program refs, PYTHON one that has kerchunk and fsspec. Needs python3-netcdf4. The server is autotest/server's,
on this machine. Times are the least of all repetitions; kerchunk's are without its imports.
"""
import argparse
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../server"))
import plugin
from served import Folder, Server

STEPS, ROWS, COLUMNS = 48, 721, 1440
KERCHUNK = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
from kerchunk.hdf import SingleHdf5ToZarr
def scan(name): return SingleHdf5ToZarr(name, inline_threshold=500).translate()
begin = time.perf_counter()
list(ThreadPoolExecutor(int(sys.argv[1])).map(scan, sys.argv[2:]))
print(time.perf_counter() - begin)
"""
READ = """
import sys, time
from osgeo import gdal
gdal.UseExceptions()
begin = time.perf_counter()
values = gdal.Open(sys.argv[1]).ReadAsArray()
print(time.perf_counter() - begin, int(values[::7, ::50, ::50].astype("i8").sum()))
"""


def field(first, n):
    import numpy as np

    y = np.radians(np.linspace(90, -90, ROWS))[None, :, None]
    x = np.arange(COLUMNS)[None, None, :] * 2 * np.pi / COLUMNS
    t = (np.arange(first, first + n) / 24 * 2 * np.pi)[:, None, None]
    noise = np.random.default_rng(first).normal(0, .5, (n, ROWS, COLUMNS))
    return np.round((30 * np.cos(y) - 15 + 10 * np.sin(x + t) + noise) * 100).astype("i2")


def write(path, first, n, chunks):
    import netCDF4
    import numpy as np

    with netCDF4.Dataset(path, "w") as file:
        file.Conventions = "CF-1.8"
        for name, values, units in (("time", np.arange(first, first + n), "hours since 2020-01-01"),
                                    ("lat", np.linspace(90, -90, ROWS), "degrees_north"),
                                    ("lon", np.arange(COLUMNS) / 4, "degrees_east")):
            file.createDimension(name, len(values))
            variable = file.createVariable(name, "f8" if name == "time" else "f4", (name,))
            variable.units = units
            variable[:] = values
        t2m = file.createVariable("t2m", "i2", ("time", "lat", "lon"), zlib=True, shuffle=True, complevel=4,
                                  chunksizes=chunks, fill_value=-32767)
        t2m.set_auto_maskandscale(False)
        t2m.setncatts({"scale_factor": 0.01, "add_offset": 273.15, "units": "K"})
        t2m[:] = field(first, n)


def output(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def least(repeat, measure):
    return min((measure() for _ in range(repeat)), key=lambda found: found[0])


def index(program, names, out):
    if os.path.exists(out):
        os.remove(out)
    begin = time.perf_counter()
    output([program, "index", *names, "-o", out])
    return (time.perf_counter() - begin,)


def over_http(folder, latency_ms, measure):
    """What measure(urls of a name) gives, with requests and bytes."""
    server = Server(folder, options=["--latency-ms", str(latency_ms)])
    try:
        found = measure(server.url)
        asked = server.requests()
        size = sum(int(end) - int(begin) + 1 for request in asked
                   for begin, end in re.findall(r"bytes=(\d+)-(\d+)", request["headers"].get("range") or ""))
        return (*found, len(asked), size)
    finally:
        server.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--python")
    parser.add_argument("--latency-ms", type=int, default=30)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    plugin.find()
    folder = Folder()

    def served(name):
        return os.path.join(folder.served, name)

    def kerchunk(threads, names):
        return (float(output([arguments.python, "-c", KERCHUNK, str(threads), *names])),)

    def read(name):
        seconds, checksum = output([sys.executable, "-c", READ, name]).split()
        checksums.add(checksum)
        return (float(seconds),)

    checksums = set()
    try:
        names = [f"d{i:03}.nc" for i in range(STEPS)]
        for i, name in enumerate(names):
            write(served(name), i, 1, (1, 361, 720))
        write(served("era.nc"), 0, STEPS, (8, 181, 360))
        paths = [served(name) for name in names]
        show = "| {} | {:.2f} s |".format
        print("| 48 files scanned and joined | |\n|---|---:|")
        print(show("refs index, local", *least(arguments.repeat, lambda: index(
            arguments.program, paths, folder.file("local.json")))), flush=True)
        if arguments.python:
            print(show("kerchunk, local, one thread, without joining", *kerchunk(1, paths)), flush=True)

        def remote(measure):
            return least(arguments.repeat, lambda: over_http(folder, arguments.latency_ms, measure))

        show = ("| {} | {:.2f} s, {} requests, {:.1f} MB |".format)
        seconds, asked, size = remote(lambda url: index(arguments.program, [url(name) for name in names],
                                                        folder.file("remote.json")))
        print(show(f"refs index over {arguments.latency_ms} ms", seconds, asked, size / 1e6), flush=True)
        if arguments.python:
            for threads in (1, 16):
                seconds, asked, size = over_http(folder, arguments.latency_ms, lambda url: kerchunk(
                    threads, [url(name) for name in names]))
                print(show(f"kerchunk over {arguments.latency_ms} ms, {threads} threads", seconds, asked, size / 1e6), flush=True)

        index(arguments.program, ["-r", served("era.nc")], served("era.json"))
        print("\n| all bands of era.nc | |\n|---|---:|")
        for what, local in (("its set", served("era.json")), ("the file", served("era.nc"))):
            print(f"| {what}, local | {least(arguments.repeat, lambda: read(f'REFS:{chr(34)}{local}{chr(34)}:/t2m'))[0]:.2f} s |")
        for what, name in (("its set", "era.json"), ("the file", "era.nc")):
            found = remote(lambda url: read(f'REFS:"{url(name)}":/t2m'))
            print(f"| {what}, over {arguments.latency_ms} ms | {found[0]:.2f} s, {found[1]} requests, {found[2] / 1e6:.1f} MB |",
                  flush=True)
        return 0 if len(checksums) == 1 else "the values differ"
    finally:
        folder.close()


if __name__ == "__main__":
    sys.exit(main())
