#!/usr/bin/env python3
"""Makes references to files by `refs index` and by other programs that make them, and prints a table: seconds,
processor seconds, requests, bytes that were read over the network, peak memory, and the size of the result.

    make_peers.py BUILD [--cases one hundred thousands grib tiff] [--latency-ms 0 30] [--files 10000]
                  [--repeat 1] [--peers refs kerchunk]

BUILD is a build folder (build/release), whose program `refs` is used. The Python that runs this has the peers:

    pip install xarray==2026.9.0 numpy==2.5.5 h5py==3.16.0 kerchunk==0.2.10 fsspec==2026.9.0 aiohttp==3.14.5 \\
        virtualizarr==2.8.0 obstore==0.12.1 async-hdf5==0.1.0 gribberish==1.9.0 virtual-tiff==0.5.0 \\
        tifffile==2026.11.8 eccodes==2.50.0 cfgrib==0.9.15.1 rasterio==1.5.2
    pip uninstall eccodeslib eckitlib  # see docs/python.md; the system's libeccodes takes their place

    refs          refs index, a whole process
    kerchunk      SingleHdf5ToZarr and MultiZarrToZarr, or scan_grib, 16 threads over a network; coordinates
                  inline, since its combining cannot read them over HTTP with zarr 3
    virtualizarr  its HDFParser, xarray.concat, to_kerchunk
    async-hdf5    its own parser for VirtualiZarr, in place of that
    gribberish    its parser for VirtualiZarr
    virtual-tiff  its parser for VirtualiZarr, one set for each file
    tifffile      ZarrTiffStore.write_fsspec, one set for each file

The latency 0 is of local files. Imports of the peers are not counted. Each run is a process of its own, and a figure is the
run with the least seconds. A peer that is not installed is left out, and says so.
"""
import argparse
import asyncio
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))

from costs import bodies, peak_memory  # noqa: E402

CASES = {"one": "one HDF5 file, 20 000 chunks", "hundred": "100 HDF5 files, 2 400 chunks",
         "thousands": "HDF5 files of one step each", "grib": "one GRIB file, 400 messages",
         "tiff": "1000 COGs"}
PEERS = {"refs": CASES, "kerchunk": ("one", "hundred", "thousands", "grib"),
         "virtualizarr": ("one", "hundred", "thousands"),
         "async-hdf5": ("one",),  # which finds no names of dimensions, so that no two files join
         "gribberish": ("grib",), "virtual-tiff": ("tiff",), "tifffile": ("tiff",)}

OPTIONS = {"tiff": ("--pattern", "tiff_{number:d}.tif")}  # of refs


# The files.

def write_hdf5(path, first, steps, edge, cut):
    """A variable of so many steps of EDGE x EDGE floats, each step cut into CUT x CUT chunks."""
    import h5py
    import numpy

    with h5py.File(path, "w") as file:
        v = file.create_dataset("v", (steps, edge, edge), "f4", chunks=(1, edge // cut, edge // cut), compression=1,
                                shuffle=True)
        field = numpy.arange(edge * edge, dtype="f4").reshape(edge, edge)
        for step in range(steps):
            v[step] = field + first + step
        file["time"] = numpy.arange(first, first + steps, dtype="f8")
        file["time"].attrs["units"] = "hours since 2020-01-01"
        for name, size in (("y", edge), ("x", edge)):
            file[name] = numpy.linspace(0, 10, size)
        for number, name in enumerate(("time", "y", "x")):
            file[name].make_scale(name)
            v.dims[number].attach_scale(file[name])


def write_grib(path, messages):
    import eccodes
    import numpy

    noise = numpy.random.default_rng(1).normal(0, 1, 721 * 1440)
    with open(path, "wb") as file:
        for step in range(messages):
            message = eccodes.codes_grib_new_from_samples("regular_ll_sfc_grib2")
            for key, value in (("Ni", 1440), ("Nj", 721), ("latitudeOfFirstGridPointInDegrees", 90),
                               ("longitudeOfFirstGridPointInDegrees", 0), ("latitudeOfLastGridPointInDegrees", -90),
                               ("longitudeOfLastGridPointInDegrees", 359.75), ("iDirectionIncrementInDegrees", .25),
                               ("jDirectionIncrementInDegrees", .25), ("stepRange", str(step)), ("bitsPerValue", 11)):
                eccodes.codes_set(message, key, value)
            eccodes.codes_set_values(message, 280 + noise)
            eccodes.codes_write(message, file)
            eccodes.codes_release(message)


def write_tiff(path, number):
    import numpy
    import rasterio
    from rasterio.transform import from_origin

    values = (numpy.arange(512 * 512) % 1000 + number).astype("u2").reshape(1, 512, 512)
    with rasterio.open(path, "w", driver="COG", width=512, height=512, count=1, dtype="uint16", blocksize=256,
                       crs="EPSG:32633", transform=from_origin(5e5, 5e6, 10, 10)) as file:
        file.write(values)


def write(case, folder, n_files):
    """The names of what a case is about, in the folder."""
    if case == "one":
        write_hdf5(os.path.join(folder, "one.nc"), 0, 200, 200, 10)
        return ["one.nc"]
    if case == "grib":
        write_grib(os.path.join(folder, "one.grib2"), 400)
        return ["one.grib2"]
    names = [f"{case}_{number:05d}.{'tif' if case == 'tiff' else 'nc'}"
             for number in range({"hundred": 100, "thousands": n_files, "tiff": 1000}[case])]
    for number, name in enumerate(names):
        if case == "tiff":
            write_tiff(os.path.join(folder, name), number)
        elif case == "hundred":
            write_hdf5(os.path.join(folder, name), 24 * number, 24, 100, 1)
        else:
            write_hdf5(os.path.join(folder, name), number, 1, 32, 1)
    return names


# The peers. Each gets the names of files and makes one document, or a folder of them.

def by_kerchunk(names, output):
    from kerchunk.combine import MultiZarrToZarr
    from kerchunk.grib2 import scan_grib
    from kerchunk.hdf import SingleHdf5ToZarr

    is_remote = "://" in names[0]
    remote = {"remote_protocol": "http"} if is_remote else {}
    if names[0].endswith(".grib2"):
        sets, along, same = scan_grib(names[0]), ["step"], ["latitude", "longitude", "surface"]
    else:
        with ThreadPoolExecutor(16 if is_remote else 1) as pool:
            sets = list(pool.map(lambda name: SingleHdf5ToZarr(name, inline_threshold=1000).translate(), names))
        along, same = ["time"], ["y", "x"]
    if len(sets) > 1:
        sets = [MultiZarrToZarr(sets, concat_dims=along, identical_dims=same, **remote).translate()]
    with open(output, "w", encoding="utf-8") as file:
        json.dump(sets[0], file)


def registry_of(name):
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import HTTPStore, LocalStore

    if "://" in name:
        base = name.rsplit("/", 1)[0]
        return ObjectStoreRegistry({base: HTTPStore.from_url(base, client_options={"allow_http": True})})
    return ObjectStoreRegistry({"file://": LocalStore()})


def by_parser(parse, names, output):
    """Virtual datasets of all files, side by side in one set."""
    import xarray

    registry = registry_of(names[0])
    urls = [name if "://" in name else f"file://{name}" for name in names]
    with ThreadPoolExecutor(16 if "://" in names[0] else 1) as pool:
        datasets = list(pool.map(lambda url: parse(url, registry).to_virtual_dataset(), urls))
    whole = datasets[0] if len(datasets) == 1 else xarray.concat(
        datasets, "time", data_vars="minimal", coords="minimal", compat="override", join="override")
    whole.vz.to_kerchunk(output, format="json")


def by_virtualizarr(names, output):
    from virtualizarr.parsers import HDFParser

    by_parser(HDFParser(), names, output)


def by_async_hdf5(names, output):
    from async_hdf5.virtualizarr import open_virtual_hdf5

    def parse(url, registry):
        store, path = registry.resolve(url)
        return asyncio.run(open_virtual_hdf5(path, store=store, url=url, registry=registry))

    by_parser(parse, names, output)


def by_gribberish(names, output):
    from gribberish.virtualizarr import GribberishParser

    by_parser(GribberishParser(collapse_groups=True), names, output)


def each_of(names, output, make):
    os.mkdir(output)
    with ThreadPoolExecutor(16 if "://" in names[0] else 1) as pool:
        list(pool.map(lambda name: make(name, f"{output}/{os.path.basename(name)}.json"), names))


def by_virtual_tiff(names, output):
    from virtual_tiff import VirtualTIFF

    registry, parser = registry_of(names[0]), VirtualTIFF(ifd=0)

    def make(name, target):
        url = name if "://" in name else f"file://{name}"
        parser(url, registry).to_virtual_dataset().vz.to_kerchunk(target, format="json")

    each_of(names, output, make)


def by_tifffile(names, output):
    import fsspec
    import tifffile

    def make(name, target):
        with fsspec.open(name) as file, tifffile.imread(file, aszarr=True, level=0) as store:
            store.write_fsspec(target, url=name.rsplit("/", 1)[0])

    each_of(names, output, make)


MAKE = {"kerchunk": by_kerchunk, "virtualizarr": by_virtualizarr, "async-hdf5": by_async_hdf5,
        "gribberish": by_gribberish, "virtual-tiff": by_virtual_tiff, "tifffile": by_tifffile}
IMPORTS = {"kerchunk": ("kerchunk.hdf", "kerchunk.combine", "kerchunk.grib2", "cfgrib", "aiohttp"),
           "virtualizarr": ("virtualizarr.parsers", "obstore.store"),
           "async-hdf5": ("async_hdf5.virtualizarr", "virtualizarr", "obstore.store"),
           "gribberish": ("gribberish.virtualizarr", "virtualizarr", "obstore.store"),
           "virtual-tiff": ("virtual_tiff", "virtualizarr", "obstore.store"),
           "tifffile": ("tifffile", "fsspec", "zarr", "aiohttp")}


# The measuring.

def child(peer, names, output):
    """In a process of its own, for a peer in Python."""
    for module in IMPORTS[peer]:
        importlib.import_module(module)
    with open(names, encoding="utf-8") as file:
        names = file.read().split()
    began = time.monotonic(), time.process_time()
    MAKE[peer](names, output)
    print(json.dumps({"seconds": time.monotonic() - began[0], "processor": time.process_time() - began[1],
                      "memory": peak_memory()}))


def run_refs(build, names, output, options):
    with open(names, "rb") as file:
        began = time.monotonic()
        command = [os.path.join(build, "refs"), "index", "-q", "-", "-o", output, *options]
        with subprocess.Popen(command, stdin=file) as process:
            _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        return {"problem": f"exit status {os.waitstatus_to_exitcode(status)}"}
    return {"seconds": time.monotonic() - began, "processor": usage.ru_utime + usage.ru_stime,
            "memory": usage.ru_maxrss / 1024}


def run_peer(build, peer, names, output, options):
    if peer == "refs":
        return run_refs(build, names, output, options)
    done = subprocess.run([sys.executable, __file__, build, "--child", peer, names, output], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        return {"problem": (done.stderr.strip().splitlines() or ["?"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def size_of(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(entry.path) for entry in os.scandir(path))


def measure(arguments, folder, peer, names, options):
    best = None
    for _ in range(arguments.repeat):
        with tempfile.TemporaryDirectory() as results:
            output = os.path.join(results, "out.json")
            since = len(bodies(folder))
            found = run_peer(arguments.build, peer, names, output, options)
            if "problem" in found:
                return found
            found["size"] = size_of(output)
            time.sleep(0.1)
            sent = bodies(folder)[since:]
            found["requests"], found["bytes"] = len(sent), sum(sent)
        if best is None or found["seconds"] < best["seconds"]:
            best = found
    return best


def report(arguments, folder, case, names, where):
    listed = folder.file("names")
    with open(listed, "w", encoding="utf-8") as file:
        file.write("".join(f"{name}\n" for name in names))
    label = f"{len(names)} {CASES[case]}" if case == "thousands" else CASES[case]
    for peer in arguments.peers:
        if case not in PEERS[peer]:
            continue
        found = measure(arguments, folder, peer, listed, OPTIONS.get(case, ()))
        if "problem" in found:
            print(f"| {label}, {where} | {peer} | {found['problem'][:100]} |", flush=True)
            continue
        print(f"| {label}, {where} | {peer} | {found['seconds']:.2f} | {found['processor']:.2f} | {found['requests']} | "
              f"{found['bytes'] / 1e6:.1f} | {found['memory']:.0f} | {found['size'] / 1e6:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--latency-ms", type=float, nargs="+", default=[0, 30])
    parser.add_argument("--files", type=int, default=10000)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.build = os.path.abspath(arguments.build)
    if arguments.child:
        child(*arguments.child)
        return
    import served

    folder = served.Folder()
    print("| files | by | s | processor s | requests | MB read | peak MB | MB written |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for case in arguments.cases:
        names = write(case, folder.served, arguments.files)
        for latency in arguments.latency_ms:
            server = served.Server(folder, options=["--latency-ms", str(latency)])
            base = server.base if latency else folder.served
            where = f"{latency:g} ms" if latency else "local"
            report(arguments, folder, case, [f"{base}/{name}" for name in names], where)
            server.close()
    folder.close()


if __name__ == "__main__":
    main()
