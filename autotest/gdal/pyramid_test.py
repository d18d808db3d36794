"""Pyramids of which the levels say more or less of where they lie: each overview shows what its full resolution shows.

Levels are every second, fourth, … row and column as they are stored, or as their own coordinates say; the set is made at
random: how it lists them, what has coordinates, the order of rows, bands before or behind.
"""

import base64
import json
import os
import random
import sys
import tempfile

import numpy as np
from osgeo import gdal

gdal.UseExceptions()
SPATIAL = {"uuid": "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4"}
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 150


def put(refs, path, values, dims, attributes):
    """An array of Zarr 2 in one chunk."""
    values = np.ascontiguousarray(values)
    refs[path + "/.zarray"] = json.dumps(
        {"zarr_format": 2, "shape": values.shape, "chunks": values.shape, "dtype": values.dtype.str, "fill_value": None,
         "order": "C", "compressor": None, "filters": None})
    refs[path + "/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": dims, **attributes})
    refs[path + "/" + ".".join("0" * values.ndim)] = "base64:" + base64.b64encode(values.tobytes()).decode()


def coordinates(refs, group, y, x, kind):
    """Coordinates of a level, or numbers that count rows and columns."""
    signs = {"degrees": ("units", "degrees_north", "degrees_east"), "index": ("axis", "Y", "X"), "bare": ("comment", "", "")}
    name, of_y, of_x = signs[kind]
    if kind != "degrees":
        y, x = np.arange(len(y)), np.arange(len(x))
    put(refs, group + "/y", y.astype("f8"), ["y"], {name: of_y})
    put(refs, group + "/x", x.astype("f8"), ["x"], {name: of_x})


def make(dice):
    """The references of a pyramid, the name of its full resolution, and how it was made."""
    height, width, levels = dice.randint(24, 60), dice.randint(24, 60), dice.randint(2, 4)
    where = dice.choice(["coordinates", "transform", "group", "nowhere"])
    of_levels = dice.choice(["none", "index", "bare", "own", "other order"])
    is_north_first = dice.random() < 0.5
    layers = dice.choice([[], ["before"], ["behind"] if where == "transform" else []])
    y = 40 + 0.25 * np.arange(height)
    if is_north_first:
        y = y[::-1]
    x = 10 + 0.25 * np.arange(width)
    values = np.arange(height * width, dtype="i4").reshape(height, width)
    conventions = {"zarr_conventions": [SPATIAL], "spatial:dimensions": ["y", "x"],
                   "spatial:transform": [0.25, 0, 9.875, 0, float(y[1] - y[0]), float(y[0] - (y[1] - y[0]) / 2)]}
    key = dice.choice(["layout", "datasets"])
    names = {"layout": "asset", "datasets": "path"}
    listed = {key: [{names[key]: str(level)} for level in range(levels)]}
    refs = {".zgroup": '{"zarr_format": 2}'}
    root = {"multiscales": [listed] if key == "datasets" else listed}
    if where == "group":
        root.update(conventions, **{"spatial:shape": [height, width]})
    refs[".zattrs"] = json.dumps(root)
    for level in range(levels):
        step = 2**level
        group = str(level)
        refs[group + "/.zgroup"] = '{"zarr_format": 2}'
        rows, columns, part = y[::step], x[::step], values[::step, ::step]
        if level > 0 and where == "coordinates" and of_levels == "other order":
            rows, part = rows[::-1], part[::-1]
        if level == 0 and where == "coordinates" or level > 0 and where == "coordinates" and of_levels in ("own", "other order"):
            coordinates(refs, group, rows, columns, "degrees")
        elif level > 0 and of_levels in ("index", "bare"):
            coordinates(refs, group, rows, columns, of_levels)
        dims = ["y", "x"]
        if layers == ["before"]:
            part, dims = np.stack([part, part + 7]), ["band", *dims]
        elif layers == ["behind"]:
            part, dims = np.stack([part, part + 7], axis=-1), [*dims, "band"]
        put(refs, group + "/t", part, dims, conventions if level == 0 and where == "transform" else {})
    return refs, f"{where}, levels {of_levels}, {key}, bands {layers}, north first {is_north_first}, {height} by {width}"


def problem_of(path):
    full = gdal.Open(f'REFS:"{path}":/0/t')
    band = full.GetRasterBand(1)
    shown = band.ReadAsArray()
    if band.GetOverviewCount() == 0:
        return "has no overviews"
    for i in range(band.GetOverviewCount()):
        overview = band.GetOverview(i)
        step = 2 ** (i + 1)
        seen = overview.ReadAsArray()
        # Rows that are shown in reverse begin at the last one that the level has.
        first = (full.RasterYSize - 1) % step if shown[0, 0] != 0 else 0
        if not np.array_equal(seen, shown[first::step, ::step]):
            return f"overview {i} begins with {seen[0, :3]}, the raster with {shown[0, :3]}"
        alone = gdal.Open(f'REFS:"{path}":/{i + 1}/t')
        if not np.array_equal(alone.GetRasterBand(1).ReadAsArray(), seen):
            return f"level {i + 1} opened by its name is not its overview"
    return None


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(COUNT):
            refs, how = make(random.Random(seed))
            path = os.path.join(folder, f"{seed}.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"version": 1, "refs": refs}, file)
            problem = problem_of(path)
            if problem:
                wrong += 1
                print(f"{seed}: {how}: {problem}")
    print(f"{COUNT - wrong} of {COUNT} pyramids show one raster in all sizes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
