#!/usr/bin/env python3
"""Measures what the chunk index of one variable costs: a local HDF5 file of a million deflated chunks,
by each kind of index that HDF5 has for many chunks.

    index_hdf5.py [--chunks 1000000] [--repeat 3]

Makes the files, of some 30 to 60 MB each, in a temporary folder with python3-h5py, and reads one pixel
of each with gdallocationinfo, beside one of a file of a single chunk. With h5py of HDF5 1.14 the same
by H5Dchunk_iter, and with kerchunk the set that it makes of the first file. GDAL_DRIVER_PATH says where
the plugin is.
"""
import argparse
import os
import sys
import tempfile
import zlib

import h5py
import numpy as np

import plugin
from open_references import measure

ROW = 1000
STORED = zlib.compress(np.arange(2, dtype="<i2").tobytes())
UNLIMITED = {"B-tree, version 1": (False, False), "fixed array": (False, False),
             "extensible array": (True, False), "B-tree, version 2": (True, True)}

VISIT = """
import sys, h5py
count = [0]
def visit(info): count[0] += 1
h5py.File(sys.argv[1])["v"].id.chunk_iter(visit)
"""
KERCHUNK = """
import sys, kerchunk.hdf
kerchunk.hdf.SingleHdf5ToZarr(sys.argv[1], inline_threshold=0).translate()
"""


def write(path, kind, chunks):
    """A variable of so many chunks, each of two numbers."""
    shape = (max(chunks // ROW, 1), 2 * min(chunks, ROW))
    most = tuple(None if is_unlimited else n for n, is_unlimited in zip(shape, UNLIMITED[kind]))
    version = "earliest" if kind == "B-tree, version 1" else "latest"
    with h5py.File(path, "w", libver=version) as file:
        v = file.create_dataset("v", shape, "<i2", chunks=(1, 2), maxshape=most,
                                compression="gzip")
        for y in range(shape[0]):
            for x in range(0, shape[1], 2):
                v.id.write_direct_chunk((y, x), STORED)


def peers(path, repeat):
    """(who, figures) of those that are there."""
    if hasattr(h5py.h5d.DatasetID, "chunk_iter"):
        yield "h5py, H5Dchunk_iter", measure([sys.executable, "-c", VISIT, path], repeat)
    try:
        import kerchunk.hdf  # noqa: F401
    except ImportError:
        return
    yield "kerchunk", measure([sys.executable, "-c", KERCHUNK, path], 1)


def show(name, figures, base):
    wall, processor, memory = figures
    print(f"| {name} | {wall - base[0]:.2f} s | {processor - base[1]:.2f} s | "
          f"{memory - base[2]:.1f} MB |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    plugin.find()

    def locate(path):
        return measure(["gdallocationinfo", f'REFS:"{path}":/v', "0", "0"], options.repeat)

    with tempfile.TemporaryDirectory() as folder:
        single = os.path.join(folder, "single.h5")
        write(single, "B-tree, version 1", 1)
        base = locate(single)
        print(f"one chunk: {base[0]:.2f} s, {base[1]:.2f} s of processor time, {base[2]:.1f} MB\n")
        print("| more than that | wall clock | processor time | peak memory |\n|---|---:|---:|---:|")
        for kind in UNLIMITED:
            path = os.path.join(folder, "many.h5")
            write(path, kind, options.chunks)
            show(kind, locate(path), base)
            if kind == "B-tree, version 1":
                for name, figures in peers(path, options.repeat):
                    show(name, figures, [0, 0, 0])
            os.remove(path)


if __name__ == "__main__":
    main()
