#!/usr/bin/env python3
"""Measures what a million virtual chunks cost to open and to read one pixel of: in Icechunk repositories of both formats,
each with one manifest, beside the same references in Parquet.

    open_icechunk.py REFS --python PYTHON [--chunks 1000000] [--repeat 5]

REFS is the program; PYTHON an interpreter with icechunk 2.1 or later, and zarr, which writes the repositories.
GDAL_DRIVER_PATH says where the plugin is, unless it is where `release` builds it. Each reading is a process of its own; what is measured begins behind its
imports. The least of some is shown, of the processor's time too: what others do on the machine only adds.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import plugin

PER_STEP, PER_FILE, CHUNK_BYTES, BEFORE = 100, 2400, 4000, 10000
SHAPE = dict(chunks=[1, 10, 100], shape_of_step=[100, 1000])


def places(n, url):
    for k in range(n):
        step, cell = divmod(k, PER_STEP)
        file, place = divmod(k, PER_FILE)
        yield [step, cell // 10, cell % 10], f"{url}/file_{file:06d}.nc", BEFORE + place * CHUNK_BYTES


def write_repository(folder, form, n):
    """In the environment that has icechunk."""
    import icechunk
    import zarr

    sources = f"file://{folder}/sources"
    config = icechunk.RepositoryConfig.default()
    config.set_virtual_chunk_container(
        icechunk.VirtualChunkContainer(sources + "/", icechunk.local_filesystem_store(f"{folder}/sources")))
    repository = icechunk.Repository.create(
        icechunk.local_filesystem_storage(f"{folder}/format{form}"), config, spec_version=form)
    session = repository.writable_session("main")
    zarr.open_group(session.store, mode="a").create_array(
        "v", shape=[n // PER_STEP, *SHAPE["shape_of_step"]], chunks=SHAPE["chunks"], dtype="f4", fill_value=-1,
        compressors=None, dimension_names=["time", "y", "x"])
    session.store.set_virtual_refs(
        "/v", [icechunk.VirtualChunkSpec(index, url, offset, CHUNK_BYTES, None, None)
               for index, url, offset in places(n, sources)], validate_containers=False)
    session.commit("all")


def write_json(path, n, sources):
    array = dict(zarr_format=2, shape=[n // PER_STEP, *SHAPE["shape_of_step"]], chunks=SHAPE["chunks"], dtype="<f4",
                 compressor=None, filters=None, fill_value=-1, order="C")
    refs = {".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps(array),
            "v/.zattrs": '{"_ARRAY_DIMENSIONS": ["time", "y", "x"]}'}
    refs.update((f"v/{i}.{j}.{k}", [url, offset, CHUNK_BYTES]) for (i, j, k), url, offset in places(n, sources))
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"version": 1, "refs": refs}, file)


def write_all(folder, options):
    os.mkdir(f"{folder}/sources")
    for i in range(-(-options.chunks // PER_FILE)):
        with open(f"{folder}/sources/file_{i:06d}.nc", "wb") as file:
            file.truncate(BEFORE + PER_FILE * CHUNK_BYTES)
    write_json(f"{folder}/set.json", options.chunks, f"{folder}/sources")
    for rows in (10000, options.chunks):
        subprocess.run([options.refs, "convert", f"{folder}/set.json", "-o", f"{folder}/{rows}.parq",
                        "--record-size", str(rows), "-q"], check=True)
    for form in (1, 2):
        subprocess.run([options.python, __file__, "--write", folder, str(form), str(options.chunks)], check=True,
                       env={**os.environ, "ICECHUNK_LOG": "error"})


def read(name, step):
    """In a process of its own: seconds, and seconds of the processor."""
    import time

    from osgeo import gdal, gdal_array  # which ReadAsArray would import, and numpy with it

    gdal.UseExceptions()
    gdal.GetDriverByName("REFS")
    begin = time.perf_counter(), time.process_time()
    value = gdal_array.DatasetReadAsArray(gdal.Open(f"REFS:\"{name}\":/v[time=#{step}]"), 512, 54, 1, 1)
    print(time.perf_counter() - begin[0], time.process_time() - begin[1])
    sys.exit(float(value[0, 0]) != 0)


def measure(name, step, repeat):
    runs = [subprocess.run([sys.executable, __file__, "--read", name, str(step)], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split() for _ in range(repeat)]
    return [min(map(float, figures)) for figures in zip(*runs)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("refs")
    parser.add_argument("--python", required=True)
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    plugin.find()
    with tempfile.TemporaryDirectory() as folder:
        write_all(folder, options)
        steps = [options.chunks // PER_STEP * part // 100 for part in (0, 50, 99)]
        print(f"{options.chunks} chunks; the first, one in the middle, one of the last: ms, ms of the processor")
        labels = {"10000.parq": "Parquet, 10000 in a record file", f"{options.chunks}.parq": "Parquet, one record file",
                  "format1": "Icechunk, format 1", "format2": "Icechunk, format 2"}
        for name, label in labels.items():
            figures = [measure(f"{folder}/{name}", step, options.repeat) for step in steps]
            print(f"{label:33}" + "".join(f"{wall * 1e3:9.0f} {cpu * 1e3:6.0f}" for wall, cpu in figures), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write_repository(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    elif sys.argv[1:2] == ["--read"]:
        read(sys.argv[2], int(sys.argv[3]))
    else:
        main()
