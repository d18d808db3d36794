#!/usr/bin/env python3
"""Measures what a parquet set of 100 million chunks costs to open, and to read one pixel of.

    open_parquet.py [--repeat 3] [--edge 10000] [--json]

Makes the set in a temporary folder, with the one record file that the pixel is in. --edge is the number of
chunks along each of the two dimensions. GDAL_DRIVER_PATH
says where the plugin is.
"""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile

import plugin
from open_references import measure

RECORD_SIZE = 100_000
CHUNK = (4, 4)  # rows and columns
PIXEL = 1.5


def varint(number):
    text = b""
    while number > 127:
        text += bytes([number & 127 | 128])
        number >>= 7
    return text + bytes([number])


class Texts(list):
    """Of bytes."""


def thrift(*fields):
    """A struct in Thrift's compact protocol, of (number, value): integers, bytes, lists of structs and
    of texts, and structs as tuples with the bytes of one."""
    text, last = b"", 0
    for number, value in fields:
        kind = {int: 6, bytes: 8, list: 9, Texts: 9, tuple: 12}[type(value)]
        text += bytes([number - last << 4 | kind])
        if isinstance(value, int):
            text += varint(value << 1)
        elif isinstance(value, bytes):
            text += varint(len(value)) + value
        elif isinstance(value, Texts):
            text += bytes([len(value) << 4 | 8]) + b"".join(varint(len(one)) + one for one in value)
        elif isinstance(value, list):
            text += bytes([len(value) << 4 | 12]) + b"".join(value)
        else:
            text += value[0]
        last = number
    return text + b"\0"


def record_file(urls, offsets, sizes):
    """A parquet file with three required columns, plain and not compressed."""
    columns = [(b"path", 6, b"".join(struct.pack("<I", len(u)) + u for u in urls)),
               (b"offset", 2, struct.pack(f"<{len(offsets)}q", *offsets)),
               (b"size", 2, struct.pack(f"<{len(sizes)}q", *sizes))]
    content, chunks = b"PAR1", []
    schema = [thrift((4, b"schema"), (5, len(columns)))]
    for name, kind, values in columns:
        page = thrift((1, 0), (2, len(values)), (3, len(values)),
                      (5, (thrift((1, len(urls)), (2, 0), (3, 3), (4, 4)),)))
        meta = thrift((1, kind), (3, Texts([name])), (4, 0), (5, len(urls)), (7, len(page) + len(values)),
                      (9, len(content)))
        chunks.append(thrift((2, len(content)), (3, (meta,))))
        schema.append(thrift((1, kind), (3, 0), (4, name)))
        content += page + values
    group = thrift((1, chunks), (2, 1), (3, len(urls)))
    footer = thrift((1, 1), (2, schema), (3, len(urls)), (4, [group]))
    return content + footer + struct.pack("<I", len(footer)) + b"PAR1"


def write_set(folder, edge, row, column):
    """The set, and the record file of the chunk at `row` and `column`."""
    zarray = dict(zarr_format=2, shape=[edge * CHUNK[0], edge * CHUNK[1]], chunks=list(CHUNK),
                  dtype="<f4", compressor=None, filters=None, fill_value=None, order="C")
    metadata = {".zgroup": dict(zarr_format=2), "v/.zarray": zarray,
                "v/.zattrs": dict(_ARRAY_DIMENSIONS=["y", "x"])}
    with open(os.path.join(folder, ".zmetadata"), "w", encoding="utf-8") as file:
        json.dump(dict(metadata=metadata, record_size=RECORD_SIZE), file)
    n_bytes = CHUNK[0] * CHUNK[1] * 4
    with open(os.path.join(folder, "..", "data.bin"), "wb") as file:
        file.write(struct.pack("<f", PIXEL) * (n_bytes // 4))
    os.mkdir(os.path.join(folder, "v"))
    number = (row * edge + column) // RECORD_SIZE
    with open(os.path.join(folder, "v", f"refs.{number}.parq"), "wb") as file:
        file.write(record_file([b"data.bin"] * RECORD_SIZE, [0] * RECORD_SIZE,
                               [n_bytes] * RECORD_SIZE))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--edge", type=int, default=10_000)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    plugin.find()
    edge, row, column = options.edge, 7_000, 4_321
    with tempfile.TemporaryDirectory() as parent:
        folder = os.path.join(parent, "set.parq")
        os.mkdir(folder)
        write_set(folder, edge, row, column)
        # Without coordinates the last row is shown first.
        line = (edge - row) * CHUNK[0] - 1
        commands = {
            "gdalinfo --version": ["gdalinfo", "--version"],
            "open": ["gdalinfo", f"REFS:{folder}:v"],
            "one pixel": ["gdallocationinfo", "-valonly", f"REFS:{folder}:v",
                          str(column * CHUNK[1]), str(line)],
        }
        pixel = subprocess.run(commands["one pixel"], stdout=subprocess.PIPE, check=True).stdout
        if float(pixel) != PIXEL:
            sys.exit(f"the pixel is {pixel}, not {PIXEL}")
        figures = {name: measure(command, options.repeat) for name, command in commands.items()}
    if options.json:
        print(json.dumps({name: dict(zip(("wall_s", "cpu_s", "peak_mb"), figure))
                          for name, figure in figures.items()}))
        return
    print(f"{edge * edge} chunks, {RECORD_SIZE} in a record file")
    print(f"{'':20} {'wall s':>8} {'cpu s':>8} {'peak MB':>9}")
    for name, (wall, cpu, peak) in figures.items():
        print(f"{name:20} {wall:8.3f} {cpu:8.3f} {peak:9.1f}")


if __name__ == "__main__":
    main()
