#!/usr/bin/env python3
"""xarray's engine "refs" beside other ways to read the same data in Python: seconds in the process,
processor seconds, requests, bytes and peak memory of each read.

    python_peers.py BUILD [--latency-ms 1 30 100] [--steps 1000] [--edge 160] [--repeat 3]
                    [--peers refs zarr] [--reads step all]

BUILD is a build folder (build/release): its `python` and its program `refs` are used. The Python
that runs this, 3.12 or later, has xarray and what its peers need, with the versions that were measured:

    pip install xarray==2026.9.0 numpy==2.5.5 dask==2026.8.0 h5netcdf==1.8.2 h5py==3.16.0 \\
        zarr==3.4.2 kerchunk==0.2.10 fsspec==2026.9.0 aiohttp==3.14.5 virtualizarr==2.8.0 \\
        obstore==0.12.1 icechunk==2.3.0 rasterio==1.5.2 rioxarray==0.23.0

    refs       engine="refs" on a set in JSON
    icechunk   zarr and Icechunk on a repository of the same references, which VirtualiZarr wrote
    obstore    zarr and obstore on the set, by VirtualiZarr's ManifestStore
    zarr       zarr and fsspec on the set (engine="kerchunk")
    h5netcdf   the file itself, over fsspec
    rioxarray  the set by rasterio and the driver REFS, one band a step; the plugin comes from the
               wheel (sh packaging/wheel.sh), which has to be installed

Where the package eccodeslib is installed, Python ends in a crash: see docs/python.md.

A server of this machine serves one netCDF-4 file of so many time steps of EDGE x EDGE shorts, a chunk
each, of 50 KB by default, and waits before each answer. Each read is in a process of its own; its figure is the
run with the least seconds. A peer that is not installed is left out, and says so.
"""
import argparse
import importlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))

from costs import bodies, peak_memory  # noqa: E402

PEERS = ("refs", "icechunk", "obstore", "zarr", "h5netcdf", "rioxarray")
READS = {"open": "open", "step": "one step", "series": "a series at a point",
         "points": "1000 points", "all": "all", "mean": "mean over time, dask threads"}


def open_refs(base, chunks):
    import xarray

    return xarray.open_dataset(f"{base}/set.json", engine="refs", chunks=chunks)


def open_zarr(base, chunks):
    import xarray

    return xarray.open_dataset(f"{base}/set.json", engine="kerchunk", chunks=chunks,
                               storage_options={"remote_protocol": "http"})


def open_h5netcdf(base, chunks):
    import fsspec
    import xarray

    return xarray.open_dataset(fsspec.open(f"{base}/data.nc").open(), engine="h5netcdf", chunks=chunks)


def parsed_set(base):
    """The set as VirtualiZarr's store."""
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import HTTPStore
    from virtualizarr.parsers import KerchunkJSONParser

    store = HTTPStore.from_url(base, client_options={"allow_http": True})
    registry = ObjectStoreRegistry({base: store})
    return KerchunkJSONParser(skip_variables=["time"])(url=f"{base}/set.json", registry=registry)


def open_obstore(base, chunks):
    import xarray

    return xarray.open_zarr(parsed_set(base), consolidated=False, zarr_format=3, chunks=chunks)


def open_icechunk(base, chunks):
    import icechunk
    import xarray

    storage = icechunk.http_storage(f"{base}/repository", {"allow_http": "true"})
    repository = icechunk.Repository.open(
        storage, authorize_virtual_chunk_access=icechunk.containers_credentials({f"{base}/": None}))
    return xarray.open_zarr(repository.readonly_session("main").store, consolidated=False, chunks=chunks)


def open_rioxarray(base, chunks):
    import rioxarray

    array = rioxarray.open_rasterio(f'REFS:"{base}/set.json":/v', chunks=chunks)
    array = array.rename(dict(zip(array.dims, ("time", "y", "x"))))
    # The driver turns rows that no coordinate places, as GDAL's netCDF driver does.
    return array.isel(y=slice(None, None, -1)).to_dataset(name="v")


OPEN = {"refs": open_refs, "icechunk": open_icechunk, "obstore": open_obstore, "zarr": open_zarr,
        "h5netcdf": open_h5netcdf, "rioxarray": open_rioxarray}
IMPORTS = {"refs": "gdal_refs.xarray_backend", "icechunk": "icechunk.xarray", "obstore": "virtualizarr.parsers",
           "zarr": "kerchunk.xarray_backend", "h5netcdf": "h5netcdf", "rioxarray": "rioxarray"}


def read(peer, what, base):
    """Reads, and returns a number that all peers have to agree on."""
    import dask
    import numpy
    import xarray

    dataset = OPEN[peer](base, {} if what == "mean" else None)
    v = dataset.v
    if what == "open":
        return v.shape[0]
    if what == "step":
        return float(v.isel(time=7).sum())
    if what == "series":
        return float(v.isel(y=70, x=80).sum())
    if what == "points":
        random = numpy.random.default_rng(1)
        points = {dim: xarray.DataArray(random.integers(0, n, 1000), dims="p")
                  for dim, n in v.sizes.items()}
        return float(v.isel(points).sum())
    if what == "all":
        return float(v.load().astype("f8").sum())
    with dask.config.set(scheduler="threads"):
        return float(v.mean("time").sum())


def child(arguments):
    if arguments.child[0] == "rioxarray":
        import gdal_refs  # noqa: F401  (brings the driver, before rasterio)
    importlib.import_module(IMPORTS[arguments.child[0]])  # before the clock starts
    import xarray

    import dask.array  # noqa: F401

    xarray.backends.list_engines()
    before = resource.getrusage(resource.RUSAGE_SELF)
    began = time.monotonic()
    value = read(*arguments.child)
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"seconds": seconds, "value": value, "memory": peak_memory(),
                      "processor": after.ru_utime + after.ru_stime - before.ru_utime
                      - before.ru_stime}))


def make(folder, build, n_steps, edge):
    import numpy
    import xarray

    random = numpy.random.default_rng(0)
    field = random.integers(0, 20000, (edge, edge), dtype="i2")
    values = field + random.integers(0, 3000, (n_steps, edge, edge), dtype="i2")
    dataset = xarray.Dataset({"v": (("time", "y", "x"), values)},
                             {"time": ("time", numpy.arange(n_steps, dtype="i4"))})
    path = os.path.join(folder.served, "data.nc")
    dataset.to_netcdf(path, engine="h5netcdf", encoding={
        "v": {"chunksizes": (1, edge, edge), "zlib": True, "complevel": 1, "_FillValue": None}})
    subprocess.run([os.path.join(build, "refs"), "index", path, "-o",
                    os.path.join(folder.served, "set.json")], check=True)


def relocate(folder, base):
    """The set names its file at the server."""
    path = os.path.join(folder.served, "set.json")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    references = json.loads(text)
    for value in references["refs"].values():
        if isinstance(value, list):
            value[0] = f"{base}/data.nc"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(references, file)


def write_repository(folder, base):
    """The set as an Icechunk repository."""
    import icechunk
    import xarray
    from obstore.store import HTTPStore
    from obspec_utils.registry import ObjectStoreRegistry
    from virtualizarr import open_virtual_dataset
    from virtualizarr.parsers import KerchunkJSONParser

    path = os.path.join(folder.served, "repository")
    shutil.rmtree(path, ignore_errors=True)
    config = icechunk.RepositoryConfig.default()
    config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(
        f"{base}/", icechunk.http_store({"allow_http": "true"})))
    repository = icechunk.Repository.create(icechunk.local_filesystem_storage(path), config)
    session = repository.writable_session("main")
    store = HTTPStore.from_url(base, client_options={"allow_http": True})
    with open_virtual_dataset(f"{base}/set.json", registry=ObjectStoreRegistry({base: store}),
                              parser=KerchunkJSONParser(skip_variables=["time"])) as dataset:
        dataset.vz.to_icechunk(session.store)
    session.commit("all")


def environment(arguments, peer):
    """The package of the build, or that of the wheel, where the driver is wanted."""
    if peer == "rioxarray":
        return {**os.environ, "GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR"}
    return {**os.environ, "PYTHONPATH": os.path.join(arguments.build, "python")}


def measure(arguments, folder, server, peer, what):
    best = None
    for _ in range(arguments.repeat):
        since = len(bodies(folder))
        done = subprocess.run([sys.executable, __file__, arguments.build, "--child", peer, what,
                               server.base], capture_output=True, text=True, check=False,
                              env=environment(arguments, peer))
        if done.returncode != 0:
            return {"problem": (done.stderr.strip().splitlines() or ["?"])[-1]}
        found = json.loads(done.stdout.splitlines()[-1])
        time.sleep(0.1)
        sent = bodies(folder)[since:]
        found["requests"], found["bytes"] = len(sent), sum(sent)
        if best is None or found["seconds"] < best["seconds"]:
            best = found
    return best


def report(arguments, folder, server, latency):
    print(f"\n{latency:g} ms before each answer\n")
    print("| read | peer | s | processor s | requests | MB | peak MB |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for what in arguments.reads:
        name, expected = READS[what], None
        for peer in arguments.peers:
            found = measure(arguments, folder, server, peer, what)
            if "problem" in found:
                print(f"| {name} | {peer} | {found['problem'][:100]} |")
                continue
            expected = found["value"] if expected is None else expected
            is_same = abs(found["value"] - expected) <= 1e-6 * abs(expected)
            print(f"| {name} | {peer} | {found['seconds']:.3f} | {found['processor']:.3f} | "
                  f"{found['requests']} | {found['bytes'] / 1e6:.1f} | {found['memory']:.0f} |"
                  f"{'' if is_same else ' other values: ' + str(found['value'])}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--latency-ms", type=float, nargs="+", default=[1, 30, 100])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=PEERS)
    parser.add_argument("--edge", type=int, default=160)
    parser.add_argument("--reads", nargs="+", choices=READS, default=list(READS))
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.build = os.path.abspath(arguments.build)
    if arguments.child:
        child(arguments)
        return
    import served

    folder = served.Folder()
    make(folder, arguments.build, arguments.steps, arguments.edge)
    for latency in arguments.latency_ms:
        server = served.Server(folder, options=["--latency-ms", str(latency)])
        relocate(folder, server.base)
        if "icechunk" in arguments.peers:
            write_repository(folder, server.base)
        report(arguments, folder, server, latency)
        server.close()
    folder.close()


if __name__ == "__main__":
    main()
