#!/usr/bin/env python3
"""Measures what opening large sets costs: time and memory of gdalinfo, for 10^4 to 10^7 references.

    open_references.py [--largest 1000000] [--repeat 3] [--compress none|gzip] [--json]

Makes the sets in a temporary folder. GDAL_DRIVER_PATH says where the plugin is.
"""
import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time

import plugin

CHUNK_BYTES = 4000
CHUNKS_PER_STEP = 100
STEPS_PER_FILE = 24
FOLDER = "s3://some-bucket/some/long/prefix/of/the/dataset"


def write_set(path, n, compress):
    """One variable of n chunks in files of 24 steps each, as a combination of netCDF files has."""
    zarray = dict(zarr_format=2, shape=[n // CHUNKS_PER_STEP, 100, 1000], chunks=[1, 10, 100],
                  dtype="<f4", compressor=None, filters=None, fill_value=None, order="C")
    zattrs = dict(_ARRAY_DIMENSIONS=["time", "y", "x"])
    opener = gzip.open if compress == "gzip" else open
    with opener(path, "wt") as out:
        out.write('{"version": 1, "refs": {".zgroup": ' + json.dumps('{"zarr_format":2}'))
        out.write(', "v/.zattrs": ' + json.dumps(json.dumps(zattrs)))
        out.write(', "v/.zarray": ' + json.dumps(json.dumps(zarray)))
        for k in range(n):
            step, cell = divmod(k, CHUNKS_PER_STEP)
            file, offset = divmod(k, CHUNKS_PER_STEP * STEPS_PER_FILE)
            out.write(f', "v/{step}.{cell // 10}.{cell % 10}": ["{FOLDER}/file_{file:06d}.nc", '
                      f'{10000 + offset * CHUNK_BYTES}, {CHUNK_BYTES}]')
        out.write("}}")


def run_once(command):
    """Seconds of wall clock, seconds of processor, and peak memory in MB of a command."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process.stdout, process.stderr:
        output = process.stdout.read()
        errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0 or "ERROR" in errors:
        sys.exit(f"{' '.join(command)}: {errors or output}")
    elapsed = time.monotonic() - begin
    return elapsed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(command, repeat):
    """The least of each figure: what others do on the machine only adds."""
    runs = [run_once(command) for _ in range(repeat)]
    return [min(figures) for figures in zip(*runs)]


def sizes_up_to(largest):
    n = 10_000
    while n <= largest:
        yield n
        n *= 10


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--compress", choices=["none", "gzip"], default="none")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    plugin.find()

    base = measure(["gdalinfo", "--version"], options.repeat)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes_up_to(options.largest):
            path = os.path.join(folder, "set.json")
            write_set(path, n, options.compress)
            # All steps would be as many bands, whose listing is not what is measured.
            wall, cpu, peak = measure(["gdalinfo", f"REFS:{path}:v[time=#0]"],
                                      options.repeat)
            rows.append(dict(references=n, file_mb=os.path.getsize(path) / 1e6, wall_s=wall,
                             cpu_s=cpu, peak_mb=peak, above_version_mb=peak - base[2]))
            os.remove(path)
    if options.json:
        print(json.dumps(dict(version=dict(zip(("wall_s", "cpu_s", "peak_mb"), base)), sets=rows)))
        return
    print(f"gdalinfo --version: {base[0]:.3f} s, {base[2]:.1f} MB")
    print(f"{'references':>11} {'file MB':>9} {'wall s':>8} {'cpu s':>8} {'peak MB':>9} "
          f"{'above --version':>16}")
    for row in rows:
        print(f"{row['references']:11d} {row['file_mb']:9.1f} {row['wall_s']:8.3f} "
              f"{row['cpu_s']:8.3f} {row['peak_mb']:9.1f} {row['above_version_mb']:16.1f}")


if __name__ == "__main__":
    main()
