#!/usr/bin/env python3
"""Measures programs of netCDF-C on a set and on the file that it was made of, here and over HTTP.

    read_as_netcdf.py BUILD [--latency-ms 30] [--programs FOLDER] [--repeat 3]

Makes a year of days of half a degree in some 28 MB. BUILD has ncrefs and refs; FOLDER has an ncdump and
nccopy of a netCDF-C with byte ranges, where the system's has none. Prints the best of the repetitions.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

import netCDF4
import numpy as np

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server", "range_server.py")


def write(name):
    with netCDF4.Dataset(name, "w") as file:
        for dim, n in (("time", 365), ("lat", 181), ("lon", 360)):
            file.createDimension(dim, n)
            file.createVariable(dim, "f8", (dim,))[:] = np.arange(n)
        file["time"].units = "days since 2020-01-01"
        packed = file.createVariable("t2m", "i2", ("time", "lat", "lon"), zlib=True, shuffle=True,
                                     chunksizes=(1, 181, 360), fill_value=-32767)
        generator = np.random.default_rng(0)
        zonal = (np.cos(np.linspace(-np.pi / 2, np.pi / 2, 181)) * 3000)[:, None]
        for step in range(365):
            packed[step] = zonal + generator.normal(0, 80, (181, 360))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--latency-ms", default="30")
    parser.add_argument("--programs", default="/usr/bin")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    ncrefs = os.path.abspath(os.path.join(options.build, "ncrefs"))
    refs = os.path.abspath(os.path.join(options.build, "refs"))
    nccopy = os.path.join(options.programs, "nccopy")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write("era.nc")
        subprocess.run([refs, "index", "era.nc", "-o", "era.json", "--relative", "--quiet"], check=True)
        open("log", "w", encoding="utf-8").close()
        with subprocess.Popen([sys.executable, SERVER, folder, "log", "--latency-ms", options.latency_ms],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
            url = f"http://127.0.0.1:{server.stdout.readline().strip()}/"
            mean = ["cdo", "-s", "-f", "nc4", "timmean"]
            for label, command in (
                    ("cdo mean, file", [*mean, "era.nc", "out.nc"]),
                    ("cdo mean, set", [ncrefs, *mean, f"file://{folder}/era.json", "out.nc"]),
                    ("nccopy, file", [nccopy, "era.nc", "out.nc"]),
                    ("nccopy, set", [ncrefs, nccopy, "era.json", "out.nc"]),
                    ("cdo mean, file over HTTP, downloaded",
                     ["sh", "-c", f"curl -s -o got.nc {url}era.nc && {' '.join(mean)} got.nc out.nc"]),
                    ("cdo mean, set over HTTP", [ncrefs, *mean, url + "era.json", "out.nc"]),
                    ("nccopy, file over HTTP, by netCDF-C's byte ranges",
                     [nccopy, url + "era.nc#mode=bytes", "out.nc"]),
                    ("nccopy, file over HTTP, by the scanner", [ncrefs, nccopy, url + "era.nc", "out.nc"]),
                    ("nccopy, set over HTTP", [ncrefs, nccopy, url + "era.json", "out.nc"])):
                best = None
                for _ in range(options.repeat):
                    with open("log", encoding="utf-8") as log:
                        before = sum(1 for _ in log)
                    begin = time.perf_counter()
                    failed = subprocess.run(command, capture_output=True, check=False).returncode
                    seconds = time.perf_counter() - begin
                    with open("log", encoding="utf-8") as log:
                        n = sum(1 for _ in log) - before
                    if not failed and (best is None or seconds < best[0]):
                        best = seconds, n
                print(f"{label}: " + (f"{best[0]:.2f} s, {best[1]} requests" if best else "failed"), flush=True)
            server.stdin.close()


main()
