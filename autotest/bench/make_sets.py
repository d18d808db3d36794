#!/usr/bin/env python3
"""Measures making sets with the program refs: one of many files, one of a file of a million chunks, and
one of many sets.

    make_sets.py PROGRAM [--most 10000] [--sets 1000] [--repeat 3]

Makes files in a temporary folder with python3-h5py: netCDF-4 files of 100 chunks, of which `--most` take
some 200 MB, and sets of 10 000 references, which take 700 KB each. Where Python has kerchunk and VirtualiZarr,
they do the same with 48 of the files, to JSON; times of these are without their imports.
"""
import argparse
import base64
import json
import os
import struct
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from index_hdf5 import write as write_large
from open_references import measure
from read_remote import Server

KERCHUNK = """
import json, sys, time
from kerchunk.hdf import SingleHdf5ToZarr
from kerchunk.combine import MultiZarrToZarr
start = time.perf_counter()
sets = [SingleHdf5ToZarr(name, inline_threshold=0).translate() for name in sys.argv[1:]]
with open("kerchunk.json", "w") as file:
    json.dump(MultiZarrToZarr(sets, concat_dims=["time"]).translate(), file)
print(time.perf_counter() - start)
"""
VIRTUALIZARR = """
import os, sys, time, warnings
warnings.simplefilter("ignore")
import xarray
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import LocalStore
from virtualizarr import open_virtual_dataset
from virtualizarr.parsers import HDFParser
registry = ObjectStoreRegistry({"file://": LocalStore()})
start = time.perf_counter()
parts = [open_virtual_dataset("file://" + os.path.abspath(name), registry=registry, parser=HDFParser(),
                              loadable_variables=[]) for name in sys.argv[1:]]
joined = xarray.concat(parts, dim="time", coords="minimal", compat="override", join="override")
joined.vz.to_kerchunk("virtualizarr.json", format="json")
print(time.perf_counter() - start)
"""


def write_file(path, hour):
    """A step of a variable in 100 chunks, as netCDF-4 has it."""
    with h5py.File(path, "w") as file:
        for name, values in (("time", np.array([hour], "f8")), ("y", np.arange(100.0)),
                             ("x", np.arange(100.0))):
            file[name] = values
            file[name].make_scale(name)
        file["time"].attrs["units"] = "hours since 2000-01-01"
        v = file.create_dataset("v", (1, 100, 100), "<i2", chunks=(1, 10, 10), compression="gzip",
                                shuffle=True, data=np.full((1, 100, 100), hour % 1000))
        for i, name in enumerate(("time", "y", "x")):
            v.dims[i].attach_scale(file[name])


def write_set(path, step):
    """A step of a variable in 10 000 chunks, of a file that is nowhere."""
    def array(shape, chunks, dtype, filters=None):
        return json.dumps({"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype,
                           "compressor": None, "filters": filters, "order": "C",
                           "fill_value": None})

    value = base64.b64encode(struct.pack("<d", step)).decode()
    refs = {".zgroup": '{"zarr_format":2}',
            "time/.zarray": array([1], [1], "<f8"),
            "time/.zattrs": '{"_ARRAY_DIMENSIONS":["time"],"units":"hours since 2000-01-01"}',
            "time/0": "base64:" + value,
            "v/.zarray": array([1, 1000, 1000], [1, 10, 10], "<f4", [{"id": "zlib", "level": 4}]),
            "v/.zattrs": '{"_ARRAY_DIMENSIONS":["time","y","x"]}'}
    offset = 4096
    for y in range(100):
        for x in range(100):
            size = 300 + x * y % 57
            refs[f"v/0.{y}.{x}"] = [f"/archive/of/a/model/run/file_{step:05}.nc", offset, size]
            offset += size
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"version": 1, "refs": refs}, file)


def show(what, n, figures):
    seconds, cpu, memory = figures
    print(f"| {what} | {n:,} | {seconds:.2f} s | {cpu:.2f} s | {memory:.0f} MB |"
          .replace(",", " "), flush=True)


def compare(refs, names, repeat):
    """The same files by the program and by others, in turn: the least of each, and how often the program's."""
    own = []
    others = {"kerchunk": (KERCHUNK, []), "VirtualiZarr": (VIRTUALIZARR, [])}
    for _ in range(repeat):
        own.append(measure([refs, "index", "-q", *names, "-o", "refs.json"], 1)[0])
        for code, seconds in others.values():
            done = subprocess.run([sys.executable, "-c", code, *names], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                seconds.append(float(done.stdout))
    print(f"\n| {len(names)} files to JSON | wall clock | beside refs |\n|---|---:|---:|")
    print(f"| refs, the whole process | {min(own):.3f} s | 1 |")
    for name, (_, seconds) in others.items():
        if seconds:
            print(f"| {name}, without its imports | {min(seconds):.3f} s | {min(seconds) / min(own):.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--most", type=int, default=10000)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    refs = os.path.abspath(options.program)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        print("| | references | wall clock | processor time | peak memory |\n"
              "|---|---:|---:|---:|---:|")
        names = [f"{i:06}.nc" for i in range(options.most)]
        for i, name in enumerate(names):
            write_file(name, i)
        for n in [n for n in (10, 48, 100, 1000, 10000) if n <= options.most]:
            with open("list", "w", encoding="utf-8") as file:
                file.write("\n".join(names[:n]))
            show(f"{n} files", 100 * n,
                 measure(["sh", "-c", f"{refs} index - -q -o all.parq < list"], options.repeat))
        server = Server(folder, 30)
        with open("list", "w", encoding="utf-8") as file:
            file.write("\n".join(f"http://127.0.0.1:{server.port}/{name}" for name in names[:1000]))
        show(f"{len(names[:1000])} files over 30 ms, 16 at a time", 100 * len(names[:1000]),
             measure(["sh", "-c", f"{refs} index - -q --threads 16 -o all.parq < list"], options.repeat))
        server.close()
        write_large("large.h5", "fixed array", 1000000)
        show("one file", 1000000, measure([refs, "index", "large.h5", "-o", "large.parq"],
                                          options.repeat))
        os.mkdir("sets")
        for i in range(options.sets):
            write_set(f"sets/{i:06}.json", i)
        show(f"{options.sets} sets", 10000 * options.sets,
             measure([refs, "combine", "sets", "-q", "-o", "joined.parq"], options.repeat))
        compare(refs, names[:48], options.repeat)


if __name__ == "__main__":
    main()
