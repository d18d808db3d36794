#!/usr/bin/env python3
"""Whether a change made reading faster or slower: two builds of the plugin, in turn.

    compare.py OLD NEW [--pairs 15] [--latency-ms 30] [CASE ...]

OLD and NEW are folders with a plugin, as GDAL_DRIVER_PATH. The cases and ways of reading are those of
read_remote.py, over HTTP and from disk. Each pair is one read with each, one after the other, so that what
else goes on meets both. A row is printed for each: the median of the ratios new / old, and the range in
which the middle half of them lies. "slower" and "faster" stand where that range leaves out 1 and the median is
off by more than 5 %; requests, bytes and decodings are named where they differ at all. Exits with 1 where
anything is slower, or costs more.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from read_remote import CASES, WAYS, Server

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "read_remote.py")
COUNTS = ("REQUESTS", "BYTES", "CHUNKS_DECODED", "BYTES_COPIED")


def read_with(plugin, path, way):
    answer = subprocess.run([sys.executable, BENCH, "--read", path, way], check=True, text=True, stdout=subprocess.PIPE,
                            env={**os.environ, "GDAL_DRIVER_PATH": plugin})
    return json.loads(answer.stdout)


def judge(pairs):
    """What to print of pairs of runs, and whether it is worse."""
    ratios = sorted(new["seconds"] / old["seconds"] for old, new in pairs)
    low, median, high = ratios[len(ratios) // 4], statistics.median(ratios), ratios[-1 - len(ratios) // 4]
    words = []
    if low > 1 and median > 1.05:
        words.append("slower")
    if high < 1 and median < 0.95:
        words.append("faster")
    worse = "slower" in words
    for name in COUNTS:
        before, after = (min(run[i][name] for run in pairs) for i in (0, 1))
        if before != after:
            words.append(f"{name} {before} -> {after}")
            worse = worse or after > before
    return f"{median:6.2f}  {low:5.2f} to {high:5.2f}  {', '.join(words)}", worse


def compare(options, name, path):
    any_worse = False
    for way in WAYS:
        pairs = []
        for i in range(options.pairs):
            order = [options.old, options.new] if i % 2 == 0 else [options.new, options.old]
            runs = {plugin: read_with(plugin, path, way) for plugin in order}
            pairs.append((runs[options.old], runs[options.new]))
        text, worse = judge(pairs)
        any_worse = any_worse or worse
        print(f"{name:16} {way:14} {text}", flush=True)
    return any_worse


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--latency-ms", type=int, default=30)
    options = parser.parse_intermixed_args()
    any_worse = False
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder, options.latency_ms)
        for case in CASES:
            if options.cases and case.name not in options.cases:
                continue
            local = os.path.join(folder, "local")
            os.makedirs(local, exist_ok=True)
            case.write(local, local)
            case.write(folder, f"http://127.0.0.1:{server.port}")
            for name, where in ((case.name + " HTTP", folder), (case.name + " disk", local)):
                any_worse |= compare(options, name, f'REFS:"{where}/{case.name}.json":/v')
        server.close()
    sys.exit(any_worse)


if __name__ == "__main__":
    main()
