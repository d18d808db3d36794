#!/usr/bin/env python3
"""Measures opening an Icechunk repository of forecasts and reading one message of it, over HTTP with 30 ms a request: the arrays
and metadata of a published one (shared/data/weather next to the repository), as many runs as asked for, manifests split by run
as the publisher's are, of at most 3 MiB.

    open_forecasts.py --python PYTHON [--references 1000000] [--repeat 5] [--keep FOLDER]

PYTHON is an interpreter with icechunk 2.3 or later, zarr and eccodes, which writes the repository. GDAL_DRIVER_PATH says where the plugin is,
unless it is where `release` builds it. Each reading is a process of its own; what is measured begins behind its imports. Printed are
requests, milliseconds, milliseconds of the processor, and MiB of memory beyond those of the imports.
"""
import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile

import plugin

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("REFS_SHARED_DATA", os.path.join(HERE, "../../../shared/data"))
BUCKET = "s3://ecmwf-forecasts"
STEPS, LEVELS, ROWS, COLUMNS = 61, 14, 721, 1440
REFERENCES_A_MANIFEST = 180_000  # 16.4 bytes each
RUNS_A_COMMIT = 512
MESSAGE_BYTES = 1_000_000  # from one to the next
SURFACE, LEVEL = "temperature_2m", "pressure_level/temperature"


def published():
    with open(os.path.join(DATA, "weather/aifs_template/zarr.json"), encoding="utf-8") as file:
        return json.load(file)


def is_of_messages(metadata):
    return metadata["node_type"] == "array" and any(codec["name"] == "gribberish" for codec in metadata["codecs"])


def references_a_run(metadata):
    return STEPS * (LEVELS if len(metadata["shape"]) == 5 else 1) if is_of_messages(metadata) else 0


# -- writing, in the environment that has icechunk -------------------------------------------------------


def message():
    """A field as AIFS has it: 0.25 degrees, CCSDS packing."""
    import eccodes
    import numpy as np

    handle = eccodes.codes_grib_new_from_samples("regular_ll_sfc_grib2")
    for key, value in (("Ni", COLUMNS), ("Nj", ROWS), ("latitudeOfFirstGridPointInDegrees", 90),
                       ("latitudeOfLastGridPointInDegrees", -90), ("longitudeOfFirstGridPointInDegrees", 180),
                       ("longitudeOfLastGridPointInDegrees", 179.75), ("iDirectionIncrementInDegrees", 0.25),
                       ("jDirectionIncrementInDegrees", 0.25), ("packingType", "grid_ccsds"), ("bitsPerValue", 16)):
        eccodes.codes_set(handle, key, value)
    rows, columns = np.mgrid[0:ROWS, 0:COLUMNS]
    eccodes.codes_set_values(handle, (280 + 20 * np.cos(rows / 115) + np.sin(columns / 40) * np.cos(rows / 9)).ravel())
    return eccodes.codes_get_message(handle)


def run_time(run):
    return 1711929600 + run * 21600  # 2024-04-01


def url(run, step):
    import datetime

    time = datetime.datetime.fromtimestamp(run_time(run), datetime.timezone.utc)
    return (f"{BUCKET}/{time:%Y%m%d}/{time:%H}z/aifs-single/0p25/oper/"
            f"{time:%Y%m%d%H}0000-{step * 6}h-oper-fc.grib2")


def create(folder, n_runs):
    import icechunk

    store = icechunk.s3_store(region="eu-central-1", anonymous=True)
    config = icechunk.RepositoryConfig.default()
    config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(BUCKET + "/", store))
    conditions = icechunk.ManifestSplitCondition
    along = icechunk.ManifestSplitDimCondition.DimensionName("init_time")
    sizes = {pattern: {along: min(n_runs, REFERENCES_A_MANIFEST // n)}
             for pattern, n in ((conditions.path_matches("^/pressure_level/.*"), STEPS * LEVELS),
                                (conditions.path_matches(".*"), STEPS))}
    config.manifest = icechunk.ManifestConfig(splitting=icechunk.ManifestSplittingConfig.from_dict(sizes))
    return icechunk.Repository.create(icechunk.local_filesystem_storage(folder), config)


def describe(store, root, n_runs):
    import asyncio

    from zarr.core.buffer import cpu

    async def put(path, metadata):
        await store.set(path, cpu.Buffer.from_bytes(json.dumps(metadata).encode()))

    async def put_all():
        arrays = root["consolidated_metadata"]["metadata"]
        await put("zarr.json", {key: value for key, value in root.items() if key != "consolidated_metadata"})
        for name, metadata in arrays.items():
            if metadata["node_type"] == "array":
                metadata["shape"] = [n_runs if dim == "init_time" else n for n, dim in zip(
                    metadata["shape"], metadata.get("dimension_names") or [])]
            await put(name + "/zarr.json", metadata)

    asyncio.run(put_all())


def write_coordinates(store, n_runs):
    import numpy as np
    import zarr

    group = zarr.open_group(store, mode="r+")
    runs, steps = run_time(np.arange(n_runs)), np.arange(STEPS) * 21600
    for prefix in ("", "pressure_level/"):
        for name, values in (("init_time", runs), ("lead_time", steps), ("valid_time", runs[:, None] + steps),
                             ("expected_forecast_length", np.full(n_runs, 15 * 86400.0)), ("latitude", 90 - np.arange(ROWS) / 4),
                             ("longitude", np.arange(COLUMNS) / 4 - 180), ("spatial_ref", np.int64(0))):
            group[prefix + name][...] = values
    group["pressure_level/pressure_level"][...] = [1000, 925, 850, 700, 600, 500, 400, 300, 250, 200, 150, 100, 50, 10]


def write_references(store, arrays, first, last):
    import numpy as np

    each_file = [url(run, step) for run in range(first, last) for step in range(STEPS)]
    place = 0
    for name, metadata in arrays.items():
        n = references_a_run(metadata) // STEPS
        if n == 0:
            continue
        offsets = np.tile(np.arange(place, place + n, dtype="u8") * MESSAGE_BYTES, len(each_file))
        lengths = np.full(offsets.size, len(MESSAGE), "u8")
        grid = (last - first, STEPS, 1, 1) + ((n,) if len(metadata["shape"]) == 5 else ())
        store.set_virtual_refs_arr("/" + name, grid, [each for each in each_file for _ in range(n)], offsets, lengths,
                                   validate_containers=False, arr_offset=(first,) + (0,) * (len(grid) - 1))
        place += n
    return place


def place_of(arrays, wanted):
    """The message's offset in its file, at the first level."""
    place = 0
    for name, metadata in arrays.items():
        if name == wanted:
            return place * MESSAGE_BYTES
        place += references_a_run(metadata) // STEPS


def write_all(folder, n_references):
    global MESSAGE
    MESSAGE = message()
    root = published()
    arrays = root["consolidated_metadata"]["metadata"]
    n_runs = -(-n_references // sum(map(references_a_run, arrays.values())))
    repository = create(folder + "/repository", n_runs)
    session = repository.writable_session("main")
    describe(session.store, root, n_runs)
    write_coordinates(session.store, n_runs)
    session.commit("metadata")
    for first in range(0, n_runs, RUNS_A_COMMIT):
        session = repository.writable_session("main")
        write_references(session.store, arrays, first, min(n_runs, first + RUNS_A_COMMIT))
        session.commit(f"runs from {first}")
        print(f"{first} of {n_runs} runs", file=sys.stderr, flush=True)
    for run in (0, n_runs // 2, n_runs - 1):
        path = folder + url(run, 4).replace(BUCKET, "/sources")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            for name in (SURFACE, LEVEL):
                file.seek(place_of(arrays, name))
                file.write(MESSAGE)
    with open(folder + "/n_runs", "w", encoding="utf-8") as file:
        file.write(str(n_runs))
    with open(folder + "/message.grib2", "wb") as file:
        file.write(MESSAGE)


# -- reading ---------------------------------------------------------------------------------------------


def peak():
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


def read_array(base, variable, run):
    """By the multidimensional API, which needs no coordinates."""
    from osgeo import gdal

    dataset = gdal.OpenEx(f'REFS:"{base}/repository"', gdal.OF_MULTIDIM_RASTER, open_options=mirror(base))
    array = dataset.GetRootGroup().OpenMDArrayFromFullname("/" + variable)
    at, count = [run, 4, 0, 0, 0], [1, 1, ROWS, COLUMNS, 1]
    n = array.GetDimensionCount()
    return array.ReadAsArray(at[:n], count[:n]).reshape(ROWS, COLUMNS)


def read_raster(base, variable, run):
    """With the coordinates of all dimensions, of which each has a manifest, and two a chunk."""
    from osgeo import gdal, gdal_array

    selection = f"init_time=#{run},lead_time=24h" + (",pressure_level=1000" if "/" in variable else "")
    dataset = gdal.OpenEx(f'REFS:"{base}/repository":/{variable}[{selection}]', open_options=mirror(base))
    return gdal_array.DatasetReadAsArray(dataset)


def mirror(base):
    return [f"URL_REWRITE={BUCKET}/=>{base}/sources/"]


READERS = {"array": read_array, "raster": read_raster}


def read(reader, *arguments):
    """In a process of its own."""
    import time

    from osgeo import gdal, gdal_array  # noqa: F401 -- which reading would import, and numpy with it

    gdal.UseExceptions()
    gdal.GetDriverByName("REFS")
    before, begin = peak(), (time.perf_counter(), time.process_time())
    values = READERS[reader](*arguments)
    print(time.perf_counter() - begin[0], time.process_time() - begin[1], peak() - before)
    sys.exit(not (values.shape == (ROWS, COLUMNS) and -50 < values.min() < values.max() < 50))  # Celsius


def measure(folder, reader, variable, run):
    from served import Server

    class Served:
        served = folder

        @staticmethod
        def file(name):
            return f"{folder}/{name}"

    for name in ("log", "detail"):
        open(f"{folder}/{name}", "w").close()
    server = Server(Served, options=("--latency-ms", "30"))
    done = subprocess.run([sys.executable, __file__, "--read", reader, server.base, variable, str(run)], check=True, text=True,
                          stdout=subprocess.PIPE)
    n_requests = len(server.requests())
    server.close()
    return [n_requests, *map(float, done.stdout.split())]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", required=True)
    parser.add_argument("--references", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--keep", help="a folder for the repository, which is used if it is there")
    options = parser.parse_args()
    plugin.find()
    sys.path.insert(0, os.path.join(HERE, "../server"))
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        if not os.path.exists(folder + "/n_runs"):
            subprocess.run([options.python, __file__, "--write", folder, str(options.references)], check=True,
                           env={**os.environ, "ICECHUNK_LOG": "error"})
        with open(folder + "/n_runs", encoding="utf-8") as file:
            n_runs = int(file.read())
        print(f"{n_runs} runs: requests, ms, ms of the processor, MiB")
        for reader, variable in itertools.product(READERS, (SURFACE, LEVEL)):
            for run in (0, n_runs // 2, n_runs - 1):
                figures = [measure(folder, reader, variable, run) for _ in range(options.repeat)]
                n, wall, cpu, memory = map(min, zip(*figures))
                print(f"{reader:7}{variable:28}{run:6}{n:4.0f}{wall * 1e3:6.0f}{cpu * 1e3:6.0f}{memory:7.1f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write_all(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1:2] == ["--read"]:
        read(*sys.argv[2:5], int(sys.argv[5]))
    else:
        main()
