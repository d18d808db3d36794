"""Writes corpus/icechunk from the repositories of autotest/unit/references/icechunk/data: the file that names a snapshot, the
snapshot of each branch, and each of its manifests, not compressed. Needs the module zstandard.
"""
import pathlib
import struct

import zstandard

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "unit" / "references" / "icechunk" / "data"
OUT = HERE / "corpus" / "icechunk"
HEADER, COMPRESSION = 39, 38


def unpacked(path):
    """A file that says that it is not compressed."""
    content = bytearray(path.read_bytes())
    body = zstandard.ZstdDecompressor().decompressobj().decompress(bytes(content[HEADER:]))
    content[COMPRESSION] = 0
    return bytes(content[:HEADER]) + body


def part(content):
    return struct.pack("<I", len(content)) + content


OUT.mkdir(parents=True, exist_ok=True)
for version in ("v1", "v2"):
    repo = DATA / version
    first = unpacked(repo / "repo") if version == "v2" else (
        repo / "refs" / "branch.main" / "ref.json").read_bytes()
    snapshots = sorted((repo / "snapshots").iterdir())
    for number, manifest in enumerate(sorted((repo / "manifests").iterdir())):
        if manifest.stat().st_size > 2000:
            continue  # two thousand virtual chunks are too many to start from
        for snapshot in snapshots:
            name = f"{version}-{number}-{snapshots.index(snapshot)}"
            (OUT / name).write_bytes(part(first) + part(unpacked(snapshot)) + unpacked(manifest))
