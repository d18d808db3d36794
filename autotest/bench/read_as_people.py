#!/usr/bin/env python3
"""Reads as people do, with prefetching and without: nothing may be slower for it.

    read_as_people.py [--repeat 3] [--latency-ms 30] [--plugin DIR] [--kinds KIND,...] [PATTERN ...]

Each pattern runs in a process of its own, alternately with REFS_READ_AHEAD=YES and NO, over a local
file without codec, a local file of zlib, and the same over HTTP, without a limit and over a line of
20 MB/s; those that it takes a slow line to see, over one of 4 MB/s. A row says, for both, the sum of
the times of all reads and the longest one (seconds, the least of the repetitions), requests, bytes
and decoded chunks; `ratio` is with prefetching by without: of the sums, and of the longest reads.
GDAL_DRIVER_PATH, or --plugin, says where the plugin is.
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
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = os.path.join(HERE, "..", "server", "range_server.py")
BANDS, TILES, CHUNK = 24, 3, int(os.environ.get("REFS_PEOPLE_CHUNK", 256))
SIZE = TILES * CHUNK
LINES, LARGE = 2, 1024  # rows and columns of large chunks
LINE = 20e6  # bytes per second
SLOW_LINE, ON_SLOW_LINE = 4e6, ("jumps_along_a_line",)
LONG = 400  # bands of one chunk each
TINY, TINY_SIZE = 10, 400  # chunks that lie in gaps of requests for others


# -- data -------------------------------------------------------------------------------------------


def zarray(shape, chunks, compressor):
    return json.dumps({"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": "<f4", "order": "C",
                       "compressor": compressor, "filters": None, "fill_value": None})


def add_variable(refs, out, name, shape, chunks, compressor, url):
    """Appends the chunks of a variable to a file, one after the other, and their references."""
    refs[f"{name}/.zarray"] = zarray(shape, chunks, compressor)
    refs[f"{name}/.zattrs"] = '{"_ARRAY_DIMENSIONS":["t","y","x"]}'
    noise = np.random.default_rng(len(name))
    for index in np.ndindex(*(-(-n // c) for n, c in zip(shape, chunks))):
        data = noise.integers(0, 60, chunks).astype("<f4").tobytes()
        stored = zlib.compress(data, 1) if compressor else data
        refs[f"{name}/{'.'.join(map(str, index))}"] = [url, out.tell(), len(stored)]
        out.write(stored)


def make(folder, name, compressor, url, ending="-http"):
    refs = {".zgroup": '{"zarr_format":2}'}
    with open(os.path.join(folder, name + ".bin"), "wb") as out:
        target = (url + "/" if url else "") + name + ".bin"
        for variable in ("a", "bb"):
            add_variable(refs, out, variable, [BANDS, SIZE, SIZE], [1, CHUNK, CHUNK], compressor, target)
        add_variable(refs, out, "large", [1, LINES * LARGE, 3 * LARGE], [1, LARGE, LARGE], compressor, target)
        add_variable(refs, out, "long", [LONG, CHUNK, CHUNK], [1, CHUNK, CHUNK], compressor, target)
        add_variable(refs, out, "tiny", [1, TINY_SIZE, TINY_SIZE], [1, TINY, TINY], compressor, target)
    with open(os.path.join(folder, name + (ending if url else "") + ".json"), "w") as out:
        json.dump({"version": 1, "refs": refs}, out)


# -- patterns ---------------------------------------------------------------------------------------


class Session:
    """Opens and reads, and takes the time of each read."""

    def __init__(self, path):
        from osgeo import gdal

        gdal.UseExceptions()
        gdal.SetCacheMax(4 << 20)
        self.gdal, self.path, self.took, self.counts, self.seen = gdal, path, [], {}, 0
        self.lock = threading.Lock()

    def open(self, variable):
        return self.gdal.OpenEx(f'REFS:"{self.path}":/{variable}')

    def read(self, dataset, band, window=(0, 0, SIZE, SIZE)):
        start = time.monotonic()
        pixels = dataset.GetRasterBand(band).ReadRaster(*window)
        took = time.monotonic() - start
        with self.lock:
            self.took.append(took)
            self.seen ^= zlib.crc32(pixels, band)

    def note(self, dataset, variable):
        counts = dataset.GetMetadata("REFS")
        for key in ("requests", "bytes"):  # of all that share the set, unless it was opened again later
            self.counts[key] = max(self.counts.get(key, 0), int(counts[key.upper()]))
        self.counts[f"decoded {variable}"] = int(counts["CHUNKS_DECODED"])


def bands_of_a_then_of_b(s, a, b):
    for band in range(1, 6):
        s.read(a, band)
    for band in range(1, 20):
        s.read(b, band)


def bands_after_closing_a(s, a, b):
    other = s.open("a")
    for band in range(1, 6):
        s.read(other, band)
    del other
    for band in range(1, 20):
        s.read(b, band)


def pause_and_jump(s, a, b):
    for band in range(1, 6):
        s.read(a, band)
    time.sleep(1)
    for band in range(17, 22):
        s.read(a, band)


def jumps_along_a_line(s, a, b):
    long = s.open("long")
    for first in (311, 216, 121, 26):
        for band in range(first, first + 15):
            s.read(long, band, (0, 0, CHUNK, CHUNK))
            time.sleep(0.05)
    s.note(long, "long")


def two_in_turn(s, a, b):
    for band in range(1, 20):
        s.read(a, band)
        s.read(b, band)


def slowly(s, a, b):
    for band in (1, 2, 3, 4, 3, 2, 1):
        s.read(a, band)
        time.sleep(0.4)


def back_and_forth(s, a, b):
    for band in [*range(1, 13), *range(12, 0, -1), *range(1, 13)]:
        s.read(a, band)


def loop_over_three(s, a, b):
    for _ in range(4):
        for band in (1, 2, 3):
            s.read(a, band)
            s.read(b, band)


def look_back(s, a, b):
    for band in (1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1, 2, 3):
        s.read(a, band)


def every_third(s, a, b):
    for band in range(1, BANDS + 1, 3):
        s.read(a, band)


def random_tiles(s, a, b):
    choose = random.Random(1)
    for _ in range(60):
        window = choose.randrange(SIZE - 200), choose.randrange(SIZE - 200), 200, 200
        s.read(choose.choice((a, b)), choose.randint(1, BANDS), window)


def slowly_parts_of_bands(s, a, b):
    for band in range(1, 8):
        s.read(a, band, (100, 100, 300, 300))
        time.sleep(0.4)


def every_second(s, a, b):
    for band in range(1, 12, 2):
        s.read(b, band)


def first_five(s, a, b):
    for band in range(1, 6):
        s.read(a, band)


def pixels_of_six_bands(s, a, b):
    for x, y in ((10, 10), (SIZE // 2, SIZE // 2), (SIZE - 10, 10)):
        for band in range(1, 7):
            s.read(b, band, (x, y, 1, 1))


def two_datasets(s, a, b):
    other = s.open("a")
    for band in range(1, 13):
        s.read(a, band)
        s.read(other, BANDS + 1 - band)


def four_threads(s, a, b):
    def run(bands):
        own = s.open("a")
        for band in bands:
            s.read(own, band)

    choose = random.Random(2)
    patterns = [range(1, 25), range(24, 0, -1), range(1, 25, 2), [choose.randint(1, BANDS) for _ in range(20)]]
    threads = [threading.Thread(target=run, args=(bands,)) for bands in patterns]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def histogram_in_the_middle(s, a, b):
    for band in range(1, 6):
        s.read(a, band)
    start = time.monotonic()
    a.GetRasterBand(14).GetHistogram(approx_ok=0)
    s.took.append(time.monotonic() - start)
    for band in range(6, 12):
        s.read(a, band)


def close_in_the_middle(s, a, b):
    for _ in range(4):
        other = s.open("a")
        for band in range(1, 4):
            s.read(other, band)
        start = time.monotonic()
        del other
        s.took.append(time.monotonic() - start)


def rows_of_chunks(s, a, b):
    for band in range(1, 13):
        for row in range(TILES):
            s.read(a, band, (0, row * CHUNK, SIZE, CHUNK))


def lines_of_large_chunks(s, a, b):
    large = s.open("large")
    for line in range(LARGE - 20, LARGE + 20):
        s.read(large, 1, (0, line, 3 * LARGE, 1))
    s.note(large, "large")


def columns_of_tiny_chunks(s, a, b):
    tiny = s.open("tiny")
    for column in (0, 160, 80, 320, 240):
        s.read(tiny, 1, (column, 0, 80, TINY_SIZE))
    s.note(tiny, "tiny")


def tiles_of_tiny_chunks(s, a, b):
    tiny = s.open("tiny")
    tiles = [(x, y, 80, 80) for x in range(0, TINY_SIZE, 80) for y in range(0, TINY_SIZE, 80)]
    random.Random(1).shuffle(tiles)
    for tile in tiles:
        s.read(tiny, 1, tile)
    s.note(tiny, "tiny")


def sum_of_two(s, a, b):
    """As gdal_translate reads a VRT that adds two variables."""
    bands = "".join(
        f'<VRTRasterBand dataType="Float32" band="{band}" subClass="VRTDerivedRasterBand">'
        f"<PixelFunctionType>sum</PixelFunctionType>"
        + "".join(f"<SimpleSource><SourceFilename>REFS:&quot;{s.path}&quot;:/{v}</SourceFilename>"
                  f"<SourceBand>{band}</SourceBand></SimpleSource>" for v in ("a", "bb"))
        + "</VRTRasterBand>" for band in range(1, 13))
    vrt = s.gdal.Open(f'<VRTDataset rasterXSize="{SIZE}" rasterYSize="{SIZE}">{bands}</VRTDataset>')
    start = time.monotonic()
    s.gdal.Translate("", vrt, format="MEM")
    s.took.append(time.monotonic() - start)


PATTERNS = {function.__name__: function for function in (
    bands_of_a_then_of_b, bands_after_closing_a, pause_and_jump, jumps_along_a_line, two_in_turn, slowly, back_and_forth, loop_over_three,
    look_back, every_third, slowly_parts_of_bands, every_second, first_five, pixels_of_six_bands, random_tiles, two_datasets, four_threads, histogram_in_the_middle, close_in_the_middle,
    rows_of_chunks, lines_of_large_chunks, columns_of_tiny_chunks, tiles_of_tiny_chunks, sum_of_two)}


def run_pattern(path, name):
    """In a process of its own: prints what came of it."""
    session = Session(path)
    a, b = session.open("a"), session.open("bb")
    PATTERNS[name](session, a, b)
    session.note(a, "a")
    session.note(b, "bb")
    print(json.dumps({"sum": sum(session.took), "longest": max(session.took), "seen": session.seen,
                      **session.counts}))


# -- the benchmark ----------------------------------------------------------------------------------


class Served:
    """The folder over HTTP."""

    def __init__(self, folder, latency_ms, bytes_per_second=None):
        self.log = os.path.join(folder, f"log-{bytes_per_second}")
        line = ["--bytes-per-second", str(bytes_per_second)] if bytes_per_second else []
        self.server = subprocess.Popen(
            [sys.executable, SERVER, folder, self.log, "--latency-ms", str(latency_ms), *line], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{self.server.stdout.readline().strip()}"

    def ranges(self):
        """Bytes [begin, end) that were asked for so far, request by request."""
        with open(self.log) as log:
            asked = [line.split("\t")[2] for line in log]
        return [(int(begin), int(end) + 1) for begin, end in
                (text.removeprefix("bytes=").split("-") for text in asked if text != "-")]

    def close(self):
        self.server.stdin.close()
        self.server.wait()


def measure(path, name, prefetch):
    result = subprocess.run([sys.executable, os.path.abspath(__file__), "--run", path, name], check=True,
                            env={**os.environ, "REFS_READ_AHEAD": "YES" if prefetch else "NO"},
                            capture_output=True, text=True)
    return json.loads(result.stdout)


def least(results):
    best = dict(results[0])
    for result in results[1:]:
        for key in ("sum", "longest"):
            best[key] = min(best[key], result[key])
        if result["seen"] != best["seen"]:
            raise AssertionError("two runs read different pixels")
    return best


def row(kind, name, with_it, without):
    def words(r):
        decoded = sum(n for key, n in r.items() if key.startswith("decoded"))
        return f"{r['sum']:7.3f} {r['longest']:6.3f} {r['requests']:5} {r['bytes'] / 1e6:7.1f} {decoded:5}"

    if with_it["seen"] != without["seen"]:
        raise AssertionError(f"{kind}, {name}: other pixels with prefetching than without")
    ratios = with_it["sum"] / without["sum"], with_it["longest"] / without["longest"]
    print(f"{kind:11} {name:24} {words(with_it)} | {words(without)} | {ratios[0]:5.2f} {ratios[1]:5.2f}", flush=True)
    return max(ratios)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--latency-ms", type=int, default=30)
    parser.add_argument("--plugin")
    parser.add_argument("--kinds", help="of plain,zlib,zlib-http,zlib-line,zlib-slow; all without it")
    parser.add_argument("--run", nargs=2)
    parser.add_argument("patterns", nargs="*")
    arguments = parser.parse_args()
    if arguments.run:
        return run_pattern(*arguments.run)
    if arguments.plugin:
        os.environ["GDAL_DRIVER_PATH"] = arguments.plugin
    with tempfile.TemporaryDirectory() as folder:
        served = Served(folder, arguments.latency_ms)
        narrow = Served(folder, arguments.latency_ms, LINE)
        slow = Served(folder, arguments.latency_ms, SLOW_LINE)
        make(folder, "plain", None, None)
        make(folder, "zlib", {"id": "zlib", "level": 1}, None)
        make(folder, "zlib", {"id": "zlib", "level": 1}, served.url)
        make(folder, "zlib", {"id": "zlib", "level": 1}, narrow.url, "-line")
        make(folder, "zlib", {"id": "zlib", "level": 1}, slow.url, "-slow")
        print(f"{'':36} {'with: sum':>7} {'most':>4} {'req.':>5} {'MB':>7} {'dec.':>5} | without | ratios")
        for kind, file in (("local", "plain"), ("local, zlib", "zlib"), ("HTTP, zlib", "zlib-http"),
                           ("20 MB/s", "zlib-line"), ("4 MB/s", "zlib-slow")):
            if arguments.kinds and file not in arguments.kinds.split(","):
                continue
            for name in arguments.patterns or (ON_SLOW_LINE if file == "zlib-slow" else PATTERNS):
                results = [[measure(os.path.join(folder, file + ".json"), name, prefetch)
                            for prefetch in (True, False)] for _ in range(arguments.repeat)]
                row(kind, name, *(least(list(column)) for column in zip(*results)))
        served.close()
        narrow.close()
        slow.close()


if __name__ == "__main__":
    main()
