"""Rectilinear chunk grids of Zarr 3: sets with random edges, some chunks absent, some stored larger
than they are in the array, against the NumPy arrays that they were cut from.
"""

import base64
import itertools
import json
import os
import sys
import tempfile

import numpy as np
from osgeo import gdal

gdal.UseExceptions()
FILL = -1


def random_edges(rng, length):
    """Lengths of chunks that make up `length`."""
    cuts = np.unique(rng.integers(1, length, rng.integers(0, 6))) if length > 1 else []
    return np.diff([0, *cuts, length]).astype(int).tolist()


def encode(rng, edges):
    """Runs of equal lengths as [length, count], sometimes."""
    runs = [(value, len(list(run))) for value, run in itertools.groupby(edges)]
    return [part for value, n in runs
            for part in ([[value, n]] if rng.random() < 0.5 else [value] * n)]


def metadata(rng, shape, edges, stored):
    grid = {"kind": "inline", "chunk_shapes": [encode(rng, one) for one in edges]}
    if stored != edges:
        grid["encoded_chunk_shapes"] = [encode(rng, one) for one in stored]
    return {"zarr_format": 3, "node_type": "array", "shape": list(shape), "data_type": "int16",
            "chunk_grid": {"name": "rectilinear", "configuration": grid},
            "chunk_key_encoding": {"name": "default"}, "fill_value": FILL,
            "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "gzip"}],
            "dimension_names": ["t", "y", "x"]}


def box(edges, index):
    starts = [sum(one[:i]) for one, i in zip(edges, index)]
    return tuple(slice(start, start + one[i]) for start, one, i in zip(starts, edges, index))


def write_set(rng, path):
    """Writes a set; returns what it holds."""
    import gzip
    shape = tuple(int(n) for n in rng.integers(1, 40, 3))
    array = rng.integers(0, 30000, shape).astype(">i2")
    edges = [random_edges(rng, n) for n in shape]
    more = rng.integers(0, 3) if rng.random() < 0.5 else 0
    stored = [[length + int(more) for length in one] for one in edges]
    refs = {"zarr.json": json.dumps({"zarr_format": 3, "node_type": "group"}),
            "v/zarr.json": json.dumps(metadata(rng, shape, edges, stored))}
    for index in itertools.product(*[range(len(one)) for one in edges]):
        where = box(edges, index)
        if rng.random() < 0.1:
            array[where] = FILL
            continue
        chunk = np.full([one[i] for one, i in zip(stored, index)], 7777, ">i2")
        chunk[tuple(slice(0, s.stop - s.start) for s in where)] = array[where]
        value = gzip.compress(chunk.tobytes(), 1)
        refs["v/c/" + "/".join(map(str, index))] = "base64:" + base64.b64encode(value).decode()
    with open(path, "w", encoding="ascii") as out:
        json.dump({"version": 1, "refs": refs}, out)
    return array.astype("i2")


def compare(rng, path, array):
    dataset = gdal.OpenEx("REFS:" + path, gdal.OF_MULTIDIM_RASTER)
    opened = dataset.GetRootGroup().OpenMDArray("v")
    assert np.array_equal(opened.ReadAsArray(), array)
    for _ in range(20):
        step = [int(s) for s in rng.choice([-3, -1, 1, 2], 3)]
        start = [int(rng.integers(0, n)) for n in array.shape]
        slices = tuple(slice(a, None, s) for a, s in zip(start, step))
        expected = array[slices]
        read = opened.ReadAsArray(start, list(expected.shape), step)
        assert np.array_equal(read, expected), (start, step)


def refused(path, grid):
    """The message for a grid that makes no sense."""
    document = metadata(np.random.default_rng(0), (4, 4, 4), [[4], [4], [4]], [[4], [4], [4]])
    document["chunk_grid"]["configuration"] = grid
    with open(path, "w", encoding="ascii") as out:
        json.dump({"version": 1, "refs": {"v/zarr.json": json.dumps(document)}}, out)
    try:
        gdal.Open("REFS:" + path + ":v").ReadAsArray()
    except RuntimeError as problem:
        return str(problem)
    return "nothing"


def main():
    rng = np.random.default_rng(int(os.environ.get("REFS_TEST_SEED", "1")))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "set.json")
        for _ in range(60):
            compare(rng, path, write_set(rng, path))
        for grid, message in (
                ({"kind": "inline", "chunk_shapes": [[4], [3], [4]]}, "does not cover the last 1"),
                ({"kind": "inline", "chunk_shapes": [[4], [4]]}, "does not match shape"),
                ({"kind": "other", "chunk_shapes": [[4], [4], [4]]}, "unknown kind of a rectilinear grid: other"),
                ({"chunk_shapes": [[0, 4], [4], [4]]}, "does not cover"),
                ({"chunk_shapes": [[4], [4], [4]], "encoded_chunk_shapes": [[3], [4], [4]]},
                 "has 3 elements for a chunk")):
            assert message in refused(path, grid), (message, refused(path, grid))


main()
sys.exit(0)
