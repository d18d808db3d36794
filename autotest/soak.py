"""Reads random windows of random variables for a while, with several threads, from a server that fails
some of its requests, and compares every pixel.

usage: soak.py [--seconds 600] [--threads 4] [--fail-percent 5] [--seed 1]

GDAL_DRIVER_PATH names the folder of the plugin. Prints figures every tenth of the time and at the
end; succeeds where all pixels were right, memory did not grow after the first fifth, and no file,
connection or thread was left at the end.
"""

import argparse
import base64
import gc
import json
import os
import random
import sys
import threading
import time
import zlib

import numpy
from osgeo import gdal, osr

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "server"))
from served import Folder, Server  # noqa: E402

gdal.UseExceptions()
osr.UseExceptions()

# name -> type, shape, chunk, compressed
VARIABLES = {
    "bytes": ("|u1", (7, 300, 500), (1, 100, 125), True),
    "shorts": (">i2", (31, 120, 240), (5, 60, 80), True),
    "floats": ("<f4", (48, 90, 180), (48, 30, 60), True),
    "doubles": ("<f8", (5, 250, 250), (1, 250, 250), False),
    "long": ("<i4", (400, 20, 30), (1, 20, 30), False),
}
MAX_GROWTH = 24 << 20


def write_set(folder, seed):
    """A set of all variables, each in a file of its own; returns their values."""
    generator = numpy.random.default_rng(seed)
    refs = {".zgroup": '{"zarr_format": 2}'}
    values = {}
    for name, (dtype, shape, chunk, compressed) in VARIABLES.items():
        # Smooth, so that it compresses.
        steps = generator.integers(-3, 4, shape).cumsum(axis=2)
        values[name] = steps.astype(dtype)
        write_variable(folder, refs, name, values[name], chunk, compressed)
    folder.write("refs.json", json.dumps(refs))
    return values


def write_variable(folder, refs, name, array, chunk, compressed):
    dims = [f"t_{name}", f"lat_{name}", f"lon_{name}"]
    refs[f"{name}/.zarray"] = json.dumps(
        {"zarr_format": 2, "shape": array.shape, "chunks": chunk, "dtype": array.dtype.str,
         "fill_value": 99, "order": "C", "filters": None,
         "compressor": {"id": "zlib", "level": 1} if compressed else None})
    refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": dims})
    for dim, n, units, values in (
            (1, array.shape[1], "degrees_north", numpy.linspace(80, -80, array.shape[1])),
            (2, array.shape[2], "degrees_east", numpy.linspace(-170, 170, array.shape[2]))):
        refs[f"{dims[dim]}/.zarray"] = json.dumps(
            {"zarr_format": 2, "shape": [n], "chunks": [n], "dtype": "<f8", "fill_value": None,
             "order": "C", "filters": None, "compressor": None})
        refs[f"{dims[dim]}/.zattrs"] = json.dumps(
            {"_ARRAY_DIMENSIONS": [dims[dim]], "units": units})
        refs[f"{dims[dim]}/0"] = "base64:" + base64.b64encode(values.astype("<f8").tobytes()).decode()
    content = bytearray()
    for index in numpy.ndindex(*(-(-n // c) for n, c in zip(array.shape, chunk))):
        part = numpy.full(chunk, 99, array.dtype)
        inside = array[tuple(slice(i * c, (i + 1) * c) for i, c in zip(index, chunk))]
        part[tuple(slice(0, n) for n in inside.shape)] = inside
        stored = zlib.compress(part.tobytes(), 1) if compressed else part.tobytes()
        refs[f"{name}/{'.'.join(map(str, index))}"] = [f"{name}.bin", len(content), len(stored)]
        content += stored + bytes(random.Random(len(content)).choice((0, 0, 100, 70000)))
    folder.write(f"{name}.bin", bytes(content))


class Reader(threading.Thread):
    """Opens, reads and closes until the time is over."""

    def __init__(self, url, values, until, seed):
        super().__init__()
        self._url, self._values, self._until = url, values, until
        self._random = random.Random(seed)
        self.windows = self.pixels = self.datasets = 0
        self.problem = None

    def run(self):
        try:
            while self.problem is None and time.monotonic() < self._until:
                self.read_dataset()
        except Exception as error:  # of any kind: it is what the soak is to find
            self.problem = f"{type(error).__name__}: {error}"

    def read_dataset(self):
        name = self._random.choice(list(self._values))
        dataset = gdal.Open(f'REFS:"{self._url}":/{name}')
        self.datasets += 1
        for _ in range(self._random.randrange(1, 20)):
            self.read_window(name, dataset, self._values[name])
            if self.problem or time.monotonic() >= self._until:
                break

    def read_window(self, name, dataset, values):
        bands, height, width = values.shape
        x, y = self._random.randrange(width), self._random.randrange(height)
        nx, ny = self._random.randrange(1, width - x + 1), self._random.randrange(1, height - y + 1)
        some = sorted(self._random.sample(range(bands), self._random.randrange(1, min(bands, 12))))
        if self._random.random() < 0.3:
            got = [dataset.GetRasterBand(b + 1).ReadAsArray(x, y, nx, ny) for b in some]
        else:
            got = dataset.ReadAsArray(x, y, nx, ny, band_list=[b + 1 for b in some])
        got = numpy.asarray(got).reshape(len(some), ny, nx)
        if not numpy.array_equal(got, values[some, y:y + ny, x:x + nx]):
            self.problem = f"wrong pixels of {name}: bands {some}, window {x} {y} {nx} {ny}"
        self.windows += 1
        self.pixels += got.size


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def left_open():
    """Open files and connections, and threads."""
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))


def show(began, readers, memory):
    print(f"{time.monotonic() - began:6.0f} s  {sum(r.datasets for r in readers):7} datasets"
          f"  {sum(r.windows for r in readers):8} windows"
          f"  {sum(r.pixels for r in readers):12} pixels  {memory[-1] >> 20:5} MiB resident"
          f"  {left_open()[0]:3} files  {left_open()[1]:3} threads", flush=True)


def soak(options, url, values):
    """Runs the readers; returns them and the memory over time."""
    began = time.monotonic()
    until = began + options.seconds
    readers = [Reader(url, values, until, options.seed * 1000 + n) for n in range(options.threads)]
    for reader in readers:
        reader.start()
    memory = []
    shown = 0
    while any(reader.is_alive() for reader in readers):
        time.sleep(min(1, options.seconds / 50))
        memory.append(resident_bytes())
        if time.monotonic() - began > (shown + 1) * options.seconds / 10:
            shown += 1
            show(began, readers, memory)
    for reader in readers:
        reader.join()
    return readers, memory


def judge(options, readers, memory, before, after):
    """What is wrong, in words."""
    problems = [reader.problem for reader in readers if reader.problem]
    settled = max(memory[:max(1, len(memory) // 5)])
    growth = max(memory) - settled
    print(f"memory: {settled >> 20} MiB at most in the first fifth, {max(memory) >> 20} MiB later")
    # A smoke test is over before all buffers have their size.
    if options.seconds >= 60 and growth > MAX_GROWTH:
        problems.append(f"memory grew by {growth >> 20} MiB")
    print(f"files and threads: {before} before, {after} after")
    if after[0] > before[0] or after[1] > before[1]:
        problems.append("files or threads were left")
    return problems


def forget_all():
    """Lets go of what the driver keeps for the next dataset."""
    gc.collect()
    osr.DontUseExceptions()  # the last one first; the bindings of GDAL 3.13 do not survive the next
    gdal.DontUseExceptions()  # call with them
    gdal.GDALDestroyDriverManager()
    gdal.VSICurlClearCache()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--fail-percent", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name, value in (("GDAL_HTTP_RETRY_DELAY", "0.02"), ("REFS_CACHE_MAX", "8"),
                        ("GDAL_CACHEMAX", "16")):
        gdal.SetConfigOption(name, value)
    folder = Folder()
    values = write_set(folder, options.seed)
    server = Server(folder, options=["--fail-percent", str(options.fail_percent),
                                     "--seed", str(options.seed)])
    osr.SpatialReference().ImportFromEPSG(4326)  # PROJ keeps its database open
    before = left_open()
    readers, memory = soak(options, server.url("refs.json"), values)
    requests = server.counts()
    forget_all()
    after = left_open()
    print(f"{sum(r.windows for r in readers)} windows, {sum(r.pixels for r in readers)} pixels, "
          f"{requests['all']} requests of which {requests['failed']} were made to fail")
    problems = judge(options, readers, memory, before, after)
    server.close()
    folder.close()
    print(*problems or ["all pixels right"], sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
