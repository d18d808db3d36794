#!/usr/bin/env python3
"""Measures what many sets and datasets cost that are open at once, and memory while 10 GB are read.

    open_many.py [--gigabytes 10]

Rows: a process with 64 sets of 10 000 references open, one of whose arrays each is read; 1000 datasets
of one set; and then one array read band by band, with the memory after each gigabyte of values, all of
whose chunks are the same bytes of one small file. Each row is a process of its own; memory is its
resident set, processor time is of the opening or reading alone. GDAL_DRIVER_PATH says where the plugin is.
"""
import argparse
import json
import multiprocessing
import os
import tempfile
import time

import numpy as np
import plugin
from open_references import write_set
from read_remote import encode

N_SETS, N_DATASETS = 64, 1000
REFERENCES = 10_000
SIDE = 1024
BAND_BYTES = 4 * SIDE * SIDE


def resident_mb():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def open_all(names):
    """Opens one name after the other and keeps all; prints what that took."""
    from osgeo import gdal

    gdal.UseExceptions()
    first = gdal.Open(names[0])
    before, began = resident_mb(), time.process_time()
    datasets = [first] + [gdal.Open(name) for name in names[1:]]
    worked, n = time.process_time() - began, len(datasets) - 1
    grown = resident_mb() - before
    print(f"{n + 1} datasets: {1e3 * worked / n:.2f} ms and {1e3 * grown / n:.1f} kB each, "
          f"{resident_mb():.1f} MB in all", flush=True)


def read_through(name):
    from osgeo import gdal

    gdal.UseExceptions()
    dataset = gdal.Open(name)
    line = f"{resident_mb():.0f}"
    began, worked, n_read = time.monotonic(), time.process_time(), 0
    for band in range(1, dataset.RasterCount + 1):
        dataset.GetRasterBand(band).ReadRaster()
        n_read += BAND_BYTES
        if n_read // 10**9 > (n_read - BAND_BYTES) // 10**9:
            line += f" {resident_mb():.0f}"
    took, worked = time.monotonic() - began, time.process_time() - worked
    print(f"{n_read / 1e9:.1f} GB in {took:.1f} s, {worked:.1f} s of processor time; "
          f"MB before, and after each GB: {line}")


def write_bands(folder, n):
    values = np.add.outer(np.arange(SIDE), np.arange(SIDE)).astype("<f4")
    stored = encode(values)
    data, path = os.path.join(folder, "bands.bin"), os.path.join(folder, "bands.json")
    with open(data, "wb") as out:
        out.write(stored)
    zarray = dict(zarr_format=2, shape=[n, SIDE, SIDE], chunks=[1, SIDE, SIDE], dtype="<f4", order="C", fill_value=None,
                  filters=[dict(id="shuffle", elementsize=4), dict(id="zlib")], compressor=None)
    refs = {".zgroup": '{"zarr_format":2}', "v/.zarray": json.dumps(zarray),
            "v/.zattrs": '{"_ARRAY_DIMENSIONS":["t","y","x"]}'}
    refs.update({f"v/{t}.0.0": [data, 0, len(stored)] for t in range(n)})
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"version": 1, "refs": refs}, out)
    return path


def run(target, argument):
    process = multiprocessing.get_context("spawn").Process(target=target, args=(argument,))
    process.start()
    process.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=int, default=10)
    options = parser.parse_args()
    plugin.find()
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{i}.json") for i in range(N_SETS)]
        for path in paths:
            write_set(path, REFERENCES, "none")
        print(f"{N_SETS} sets of {REFERENCES} references, ", end="", flush=True)
        run(open_all, [f'REFS:"{path}":/v[time=#0]' for path in paths])
        print("one set, ", end="", flush=True)
        run(open_all, [f'REFS:"{paths[0]}":/v[time=#0]'] * N_DATASETS)
        bands = write_bands(folder, options.gigabytes * 10**9 // BAND_BYTES + 1)
        run(read_through, f'REFS:"{bands}":/v')


if __name__ == "__main__":
    main()
