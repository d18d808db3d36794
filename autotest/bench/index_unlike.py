#!/usr/bin/env python3
"""Compares two ways to open files whose chunks and packing differ: one set, and rewriting them. Prints times.

    index_unlike.py [--files 24] [--lines 721] [--samples 1440] [--refs build/release/refs]

Makes an archive of steps in three chunk shapes and two packings. `refs index` opens it without
copies. Rewriting gives all files the chunk shape and packing of the first: files that differ only
in chunks by nccopy, which copies packed values, and those that differ in packing by netCDF4. Both
results are read in full and compared. Needs netCDF4, nccopy and the plugin (GDAL_DRIVER_PATH).
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile
import time

import netCDF4
import numpy as np
from osgeo import gdal

gdal.UseExceptions()
PACKING = ((0.01, 273.15), (0.02, 280.0))  # scale and offset


def shapes(lines, samples):
    return ((1, lines // 2 + 1, samples // 2 + 1), (1, lines // 3 + 1, samples // 3 + 1), (1, lines, samples // 4 + 1))


def write(name, step, field, chunks, packing):
    with netCDF4.Dataset(name, "w") as file:
        for dim, size in zip(("time", "lat", "lon"), (1, *field.shape)):
            file.createDimension(dim, size)
        times = file.createVariable("time", "f8", ("time",))
        times.units = "days since 2000-01-01"
        times[:] = [step]
        for dim, ends, size in (("lat", (90, -90), field.shape[0]), ("lon", (0, 359.75), field.shape[1])):
            file.createVariable(dim, "f8", (dim,))[:] = np.linspace(*ends, size)
        variable = file.createVariable("t2m", "i2", ("time", "lat", "lon"), zlib=True, chunksizes=chunks)
        variable.scale_factor, variable.add_offset = packing
        variable[0] = field


def field_of(step, shape):
    """Multiples of 0.02 from 280, which both packings hold exactly."""
    noise = np.random.default_rng(step).normal(0, 0.3, shape)
    return 280 + 0.02 * np.round((10 * np.sin(np.add.outer(np.arange(shape[0]), np.arange(shape[1])) / 40 + step) + noise) / 0.02)


def rewrite(name, number, all_chunks, folder):
    target = os.path.join(folder, os.path.basename(name))
    if number // 3 % 2 == 1:
        with netCDF4.Dataset(name) as file:
            write(target, number, file["t2m"][0], all_chunks[0], PACKING[0])
    elif number % 3 > 0:
        chunks = ",".join(f"{dim}/{n}" for dim, n in zip(("time", "lat", "lon"), all_chunks[0]))
        subprocess.run(["nccopy", "-c", chunks, name, target], check=True)
    else:
        return name
    return target


def index(refs, names, output):
    subprocess.run([refs, "index", "-q", "-", "-o", output], input="\n".join(names), text=True, check=True)


def size(*names):
    files = [file for name in names for file in ([name] if os.path.isfile(name) else glob.glob(name + "/**", recursive=True))]
    return sum(os.path.getsize(file) for file in files if os.path.isfile(file))


def cpu_seconds():
    return sum(os.times()[:4])


def read(name):
    begin = cpu_seconds()
    dataset = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER)
    values = dataset.GetRootGroup().OpenMDArray("t2m").GetUnscaled().ReadAsArray()
    return values, cpu_seconds() - begin


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=24)
    parser.add_argument("--lines", type=int, default=721)
    parser.add_argument("--samples", type=int, default=1440)
    parser.add_argument("--refs", default="build/release/refs")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        chunks, shape = shapes(given.lines, given.samples), (given.lines, given.samples)
        names = [os.path.join(folder, f"{step:04}.nc") for step in range(given.files)]
        for step, name in enumerate(names):
            write(name, step, field_of(step, shape), chunks[step % 3], PACKING[step // 3 % 2])
        print(f"archive: {given.files} files, {size(*names) / 1e6:.1f} MB")
        for way in ("as they are", "rewritten"):
            begin, cpu, copies = time.perf_counter(), cpu_seconds(), os.path.join(folder, "copies")
            found = names
            if way == "rewritten":
                os.mkdir(copies)
                found = [rewrite(name, number, chunks, copies) for number, name in enumerate(names)]
            output = os.path.join(folder, way.split()[0] + ".parq")
            index(given.refs, found, output)
            seconds, cpu = time.perf_counter() - begin, cpu_seconds() - cpu
            written = size(output, copies) if way == "rewritten" else size(output)
            values, took = read(output)
            expected = [field_of(step, shape) for step in range(given.files)]
            if not np.allclose(values, expected, rtol=0, atol=1e-6):
                sys.exit(f"{way}: other values")
            print(f"{way}: {seconds:.2f} s, {cpu:.2f} s of CPU, {written / 1e6:.3f} MB written; reading: {took:.2f} s of CPU")


if __name__ == "__main__":
    main()
