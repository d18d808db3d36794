#!/usr/bin/env python3
"""Reads the same sets with REFS, with GDAL's own reader, and with xarray, and prints a table.

    beside_others.py [--gdal COMMAND] [--xarray PYTHON] [--latency-ms 30] [--repeat 3]

COMMAND is a gdal_translate of GDAL 3.11 or later, with what stands before it (`chroot /tree
gdal_translate`); PYTHON one that has xarray, fsspec, aiohttp and zarr. Without them their columns
are empty. Sets and data come from a server of this machine that waits before each answer; each
figure is the least wall clock of a whole process, with its requests. GDAL_DRIVER_PATH says where
the plugin is.
"""
import argparse
import os
import shlex
import subprocess
import tempfile
import time

from read_remote import CASES, Server

BY_XARRAY = """
import sys, xarray
remote = dict(remote_protocol="http", remote_options=dict(asynchronous=True), asynchronous=True)
opened = xarray.open_dataset("reference://", engine="zarr", mask_and_scale=False, decode_times=False,
                             backend_kwargs=dict(consolidated=False, storage_options=dict(
                                 fo=sys.argv[1], **remote)))
opened["v"].values
"""
READS = {"one-file": "48 bands in 6 chunks of one file",
         "files": "96 bands in 24 files",
         "steps": "1000 bands in 1000 chunks"}


def commands(arguments, url):
    """Engine -> the command that reads all of `v`."""
    found = {"REFS": ["gdal_translate", "-q", "-of", "MEM", f'REFS:"{url}":/v', "mem"]}
    if arguments.gdal:
        found["GDAL's reader"] = [*shlex.split(arguments.gdal), "-q", "-of", "MEM",
                                  f'ZARR:"/vsikerchunk_json_ref/{{/vsicurl/{url}}}":/v', "mem"]
    if arguments.xarray:
        found["xarray"] = [*shlex.split(arguments.xarray), "-c", BY_XARRAY, url]
    return found


def measure(server, command, repeat):
    """Seconds and requests of the quickest run."""
    runs = []
    for _ in range(repeat):
        since = len(server.requests(0))
        begin = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - begin
        time.sleep(0.1)
        runs.append((seconds, len(server.requests(since))))
    return min(runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gdal", default="")
    parser.add_argument("--xarray", default="")
    parser.add_argument("--latency-ms", type=int, default=30)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    print(f"| over {arguments.latency_ms} ms | REFS | GDAL's reader | xarray |\n|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder, arguments.latency_ms)
        try:
            for case in CASES:
                url = f"http://127.0.0.1:{server.port}"
                case.write(folder, url)
                cells = {}
                for engine, command in commands(arguments, f"{url}/{case.name}.json").items():
                    seconds, requests = measure(server, command, arguments.repeat)
                    cells[engine] = f"{seconds:.2f} s, {requests} requests"
                row = [cells.get(engine, "") for engine in ("REFS", "GDAL's reader", "xarray")]
                print(f"| {READS[case.name]} | " + " | ".join(row) + " |", flush=True)
        finally:
            server.close()


if __name__ == "__main__":
    main()
