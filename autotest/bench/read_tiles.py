#!/usr/bin/env python3
"""Tiles of a map, as a tile server reads them: windows of 256 x 256 pixels at random places and times.

    read_tiles.py [--tiles 400] [--latency-ms 30] [NAME]

NAME is any raster that GDAL opens; without one, a map of 400 times is made, which takes 13 times the memory
that is kept for decoded chunks, and read from this machine's disk and over HTTP with so many milliseconds
a request. A tile is of one chunk of it, of two or of four. One row for each number of threads
and way of opening: a dataset for each thread, or one of GDAL_OF_THREAD_SAFE for all (GDAL 3.10 and
later). Columns: tiles a second, and the median and 99th percentile of a tile, and how they compare; of one
thread, the same of processor time, which other programs on the machine do not disturb.
GDAL_DRIVER_PATH says where the plugin is. For another driver: NAME, as in NETCDF:"era.nc":t2m.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
from osgeo import gdal
from read_remote import SERVER, Case, encode

gdal.UseExceptions()
SIDE = 256
THREAD_SAFE = getattr(gdal, "OF_THREAD_SAFE", 0)


class Map(Case):
    """Tiled chunks. The chunks of 8 steps stand in the file, and all others for them: a small file does."""

    STORED = 8

    def write(self, folder, url):
        steps, height, width = self.shape
        _, tall, wide = self.chunks
        refs, places = {".zgroup": '{"zarr_format":2}'}, [(y, x) for y in range(height // tall)
                                                          for x in range(width // wide)]
        with open(os.path.join(folder, self.name + ".bin"), "wb") as out:
            for step in range(self.STORED):
                values = self.values(step, 1)
                for y, x in places:
                    chunk = values[:, y * tall:(y + 1) * tall, x * wide:(x + 1) * wide]
                    stored = encode(np.ascontiguousarray(chunk))
                    for t in range(step, steps, self.STORED):
                        refs[f"v/{t}.{y}.{x}"] = [f"{url}/{self.name}.bin", out.tell(), len(stored)]
                    out.write(stored)
        self.describe(refs)
        with open(os.path.join(folder, self.name + ".json"), "w") as out:
            json.dump({"version": 1, "refs": refs}, out)


MAP = Map("map", (400, 1024, 1024), (1, 512, 512), "<i2", 1)


class Tiles:
    """The same windows for all who read them."""

    def __init__(self, name, n):
        dataset = gdal.Open(name)
        width, height = min(SIDE, dataset.RasterXSize), min(SIDE, dataset.RasterYSize)
        draw = random.Random(1)
        self.name = name
        self.windows = [(draw.randint(1, dataset.RasterCount),
                         (draw.randint(0, dataset.RasterXSize - width),
                          draw.randint(0, dataset.RasterYSize - height), width, height)) for _ in range(n)]

    def read(self, n_threads, flags):
        """Seconds in all, of each tile, and of the processors for each. In a process of its own, where
        nothing is in a cache."""
        shared = gdal.OpenEx(self.name, gdal.OF_RASTER | flags) if flags else None
        seconds, processor = [0.0] * len(self.windows), [0.0] * len(self.windows)

        def read_some(first):
            dataset = shared or gdal.Open(self.name)
            for i in range(first, len(self.windows), n_threads):
                band, window = self.windows[i]
                began, worked = time.monotonic(), time.process_time()
                dataset.GetRasterBand(band).ReadRaster(*window)
                seconds[i], processor[i] = time.monotonic() - began, time.process_time() - worked

        threads = [threading.Thread(target=read_some, args=(i,)) for i in range(n_threads)]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.monotonic() - began, sorted(seconds), sorted(processor)


def measure(name, n_tiles):
    for flags in [0] + [THREAD_SAFE] * bool(THREAD_SAFE):
        for n_threads in (1, 4, 16):
            command = [sys.executable, __file__, "--here", str(n_threads), str(flags), "--tiles", str(n_tiles), name]
            line = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
            print(f"{n_threads:3} threads, {'one dataset ' if flags else 'one for each'}  {line}", flush=True)


def of_tiles(seconds):
    median, late = seconds[len(seconds) // 2], seconds[len(seconds) * 99 // 100]
    return f"{1e3 * median:8.2f} ms median {1e3 * late:8.2f} ms 99 % {late / median:5.1f} times"


def print_row(name, n_tiles, n_threads, flags):
    taken, seconds, processor = Tiles(name, n_tiles).read(n_threads, flags)
    alone = f" | processor {of_tiles(processor)}" if n_threads == 1 else ""
    print(f"{n_tiles / taken:8.0f} tiles/s {of_tiles(seconds)}{alone}")


def measure_own(n_tiles, latency_ms):
    with tempfile.TemporaryDirectory() as folder:
        print("from disk")
        MAP.write(folder, folder)
        measure(f'REFS:"{folder}/{MAP.name}.json":/v', n_tiles)
        server = subprocess.Popen([sys.executable, SERVER, folder, folder + "/log", "--latency-ms", str(latency_ms)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        print(f"over HTTP, {latency_ms:g} ms a request")
        MAP.write(folder, url)
        measure(f'REFS:"{url}/{MAP.name}.json":/v', n_tiles)
        server.stdin.close()
        server.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", nargs="?")
    parser.add_argument("--tiles", type=int, default=400)
    parser.add_argument("--latency-ms", type=float, default=30)
    parser.add_argument("--here", nargs=2, type=int)
    options = parser.parse_args()
    if options.here:
        print_row(options.name, options.tiles, *options.here)
    elif options.name:
        measure(options.name, options.tiles)
    else:
        measure_own(options.tiles, options.latency_ms)


if __name__ == "__main__":
    main()
