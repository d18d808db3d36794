#!/usr/bin/env python3
"""Counts what reading over HTTP costs, with fixed inputs and a server of its own on this machine.

    read_remote.py [--latency-ms 30] [--repeat 3] [CASE ...]

One row for each case and way of reading: requests (and how many of them HEAD), bytes sent by the
server beside the bytes of the ranges that are needed, chunks decoded, bytes of values copied from
chunks, the time, and the limit: the longer of the times that the same merged ranges take when they are
only fetched, the best of 8 to 64 at a time, and that the same read takes from this machine's disk. Counts are the same on every machine; times are this one's.
GDAL_DRIVER_PATH says where the plugin is.
"""
import argparse
import base64
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server", "range_server.py")
MAX_GAP, MAX_REQUEST = 64 << 10, 8 << 20


# -- inputs -----------------------------------------------------------------------------------------


def encode(chunk):
    """Shuffle and zlib, as most netCDF files are packed."""
    bytes_of_each = np.frombuffer(chunk.tobytes(), "u1").reshape(-1, chunk.dtype.itemsize)
    return zlib.compress(bytes_of_each.T.tobytes(), 4)


class Case:
    """An array of `shape`, in chunks of `chunks`, in files of `steps_per_file` steps each."""

    def __init__(self, name, shape, chunks, dtype, steps_per_file):
        self.name, self.shape, self.chunks = name, shape, chunks
        self.dtype, self.steps_per_file = dtype, steps_per_file

    def values(self, first, n):
        """Steps [first, first + n): smooth, with noise, the same on each run."""
        noise = np.random.default_rng(first).normal(0, 3, (n, *self.shape[1:]))
        waves = 200 * np.sin(np.add.outer(np.arange(self.shape[1]), np.arange(self.shape[2])) / 40)
        return (waves + noise).round().astype(self.dtype)

    def write(self, folder, url):
        """Writes the files and the set; returns the ranges of the data, file by file."""
        refs, ranges = {".zgroup": '{"zarr_format":2}'}, {}
        for first in range(0, self.shape[0], self.steps_per_file):
            name = f"{self.name}-{first // self.steps_per_file:03}.bin"
            ranges[name] = self.write_file(os.path.join(folder, name), first, url + "/" + name, refs)
        self.describe(refs)
        with open(os.path.join(folder, self.name + ".json"), "w") as out:
            json.dump({"version": 1, "refs": refs}, out)
        return ranges

    def write_file(self, path, first, url, refs):
        ranges = []
        with open(path, "wb") as out:
            for step in range(first, first + self.steps_per_file, self.chunks[0]):
                stored = encode(self.values(step, self.chunks[0]))
                refs[f"v/{step // self.chunks[0]}.0.0"] = [url, out.tell(), len(stored)]
                ranges.append((out.tell(), out.tell() + len(stored)))
                out.write(stored)
        return ranges

    def describe(self, refs):
        filters = [{"id": "shuffle", "elementsize": np.dtype(self.dtype).itemsize},
                   {"id": "zlib", "level": 4}]
        self.add_array(refs, "v", self.shape, self.chunks, self.dtype, filters,
                       ["time", "lat", "lon"], {"units": "K"})
        for name, n, units in (("time", self.shape[0], "hours since 2000-01-01"),
                               ("lat", self.shape[1], "degrees_north"),
                               ("lon", self.shape[2], "degrees_east")):
            self.add_array(refs, name, [n], [n], "<f8", None, [name], {"units": units})
            refs[name + "/0"] = "base64:" + np_base64(np.arange(n, dtype="<f8") / 8)

    @staticmethod
    def add_array(refs, name, shape, chunks, dtype, filters, dimensions, attributes):
        refs[name + "/.zarray"] = json.dumps(dict(zarr_format=2, shape=list(shape),
                                                  chunks=list(chunks), dtype=dtype, order="C",
                                                  compressor=None, filters=filters, fill_value=None))
        refs[name + "/.zattrs"] = json.dumps(dict(attributes, _ARRAY_DIMENSIONS=dimensions))


def np_base64(array):
    return base64.b64encode(array.tobytes()).decode()


CASES = [Case("one-file", (48, 360, 720), (8, 360, 720), "<i2", 48),
         Case("files", (96, 180, 360), (4, 180, 360), "<i2", 4),
         Case("steps", (1000, 100, 100), (1, 100, 100), "<f4", 1000)]


# -- reading ----------------------------------------------------------------------------------------


def read_bands(dataset):
    for band in range(1, dataset.RasterCount + 1):
        dataset.GetRasterBand(band).ReadRaster()


WAYS = {
    "all at once": lambda dataset: dataset.ReadRaster(),
    "band by band": read_bands,
    "one band": lambda dataset: dataset.GetRasterBand(7).ReadRaster(),
    "pixel series": lambda dataset: dataset.ReadRaster(20, 30, 1, 1),
    "window of all": lambda dataset: dataset.ReadRaster(10, 10, 30, 30),
    "window twice": lambda dataset: [dataset.ReadRaster(10, 10, 30, 30) for _ in range(2)],
}


def read_here(path, way):
    """In a process of its own, so that nothing is in a cache: prints counts and seconds."""
    from osgeo import gdal
    gdal.UseExceptions()
    begin = time.monotonic()
    dataset = gdal.OpenEx(path, gdal.OF_RASTER, ["REFS"])
    WAYS[way](dataset)
    seconds = time.monotonic() - begin
    counts = {name: int(value) for name, value in dataset.GetMetadata("REFS").items()}
    print(json.dumps(dict(counts, seconds=seconds)))


def read_in_process(path, way):
    answer = subprocess.run([sys.executable, __file__, "--read", path, way], check=True, text=True,
                            stdout=subprocess.PIPE)
    return json.loads(answer.stdout)


def needed(case, ranges, way):
    """The ranges that a way of reading cannot do without."""
    if way != "one band":
        return ranges
    chunk = 6 // case.chunks[0]
    flat = [(name, span) for name, spans in ranges.items() for span in spans]
    return {flat[chunk][0]: [flat[chunk][1]]}


def merge(spans):
    merged = []
    for begin, end in spans:
        if merged and begin - merged[-1][1] <= MAX_GAP and end - merged[-1][0] <= MAX_REQUEST:
            merged[-1][1] = end
        else:
            merged.append([begin, end])
    return merged


def fetch_only(port, ranges, n_at_a_time):
    """Seconds, and requests, for the merged ranges alone."""
    def fetch(request):
        name, (begin, end) = request
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/" + name, headers={"Range": f"bytes={begin}-{end - 1}"})
        connection.getresponse().read()
        connection.close()

    requests = [(name, span) for name, spans in ranges.items() for span in merge(spans)]
    begin = time.monotonic()
    with ThreadPoolExecutor(n_at_a_time) as pool:
        list(pool.map(fetch, requests))
    return time.monotonic() - begin, len(requests)


# -- the table --------------------------------------------------------------------------------------


class Server:
    def __init__(self, folder, latency_ms):
        self.log = os.path.join(folder, "log")
        self.process = subprocess.Popen(
            [sys.executable, SERVER, folder, self.log, "--latency-ms", str(latency_ms)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def requests(self, since):
        with open(self.log) as log:
            return [line.rstrip("\n").split("\t") for line in log][since:]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def measure(server, path, way, repeat):
    runs = []
    for _ in range(repeat):
        since = len(server.requests(0))
        counts = read_in_process(path, way)
        time.sleep(0.05)
        counts["log"] = server.requests(since)
        runs.append(counts)
    return min(runs, key=lambda run: run["seconds"])


def print_row(case, way, run, ranges, limit):
    fetching, local, n_requests = limit
    sent = sum(int(line[4]) for line in run["log"])
    bytes_needed = sum(end - begin for spans in ranges.values() for begin, end in spans)
    heads = sum(line[0] == "HEAD" for line in run["log"])
    print(f"{case.name:9} {way:14} {len(run['log']):8} {heads:5} {n_requests:8} {sent / 1e6:8.2f} "
          f"{bytes_needed / 1e6:8.2f} {run['CHUNKS_DECODED']:8} {run['BYTES_COPIED'] / 1e6:10.2f} "
          f"{run['seconds']:7.3f} {fetching:8.3f} {local:6.3f} {run['seconds'] / max(fetching, local):7.2f}", flush=True)


def find_limit(server, ranges, local_path, way):
    """Seconds of fetching alone, and of the same read from disk; and requests."""
    fetched = min(fetch_only(server.port, ranges, n) for n in (8, 16, 32, 64))
    local = min(read_in_process(local_path, way)["seconds"] for _ in range(3))
    return fetched[0], local, fetched[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--latency-ms", type=int, default=30)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    arguments = parser.parse_args()
    print(f"{'case':9} {'read':14} {'requests':>8} {'HEAD':>5} {'planned':>8} {'MB':>8} {'needed':>8} "
          f"{'decoded':>8} {'MB copied':>10} {'seconds':>7} {'fetching':>8} {'local':>6} {'x limit':>7}")
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder, arguments.latency_ms)
        try:
            for case in CASES:
                if arguments.cases and case.name not in arguments.cases:
                    continue
                url = f"http://127.0.0.1:{server.port}"
                local = os.path.join(folder, "local")
                os.makedirs(local, exist_ok=True)
                case.write(local, local)
                all_ranges = case.write(folder, url)
                for way in WAYS:
                    ranges = needed(case, all_ranges, way)
                    path = f'REFS:"{os.path.join(folder, case.name)}.json":/v'
                    limit = find_limit(server, ranges, path.replace(folder, local), way)
                    print_row(case, way, measure(server, path, way, arguments.repeat), ranges, limit)
        finally:
            server.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        read_here(*sys.argv[2:])
    else:
        main()
