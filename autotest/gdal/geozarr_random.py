"""Zarr stores at random that follow the conventions "proj:", "spatial:" and "multiscales", written by hand: as sets of their
files they have the place, CRS, overviews and values that GDAL 3.13's own driver reads.

    geozarr_random.py [--count 60] [--seed 1]

Each array says itself what holds for it, with a transform: of a group, and of a box alone, GDAL 3.13 makes nothing. Stores
that end its process are counted and left out. Skips without such a GDAL; REFS_PEERS is as in geozarr_test.py.
"""

import argparse
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

from geozarr_test import PYTHON, ROOT, SKIPPED, is_same, set_of
from osgeo import gdal, osr

PROJ, SPATIAL = "f17cb550-5864-4468-aeb7-f3180cfb622f", "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4"
MULTISCALES = "d35379db-88df-4056-af3a-620245f8e347"
SYSTEMS = ["EPSG:32633", "EPSG:4326", "EPSG:3035", "EPSG:3857", "EPSG:2193", "OGC:CRS84", "ESRI:54009"]
PLACES = [(500000, 5000000, 10, -20), (-10, 60, 0.25, -0.5), (0, 0, 1, 1), (5, 7, 3, -3)]

READ = """
import json, sys
from osgeo import gdal
if int(gdal.VersionInfo()) < 3130000:
    sys.exit(77)
gdal.UseExceptions()
for name in sys.argv[1:]:
    found = gdal.Open(name)
    reference, band = found.GetSpatialRef(), found.GetRasterBand(1)
    levels = [band] + [band.GetOverview(i) for i in range(band.GetOverviewCount())]
    print("SEEN", json.dumps([name, {
        "place": found.GetGeoTransform(can_return_null=True), "bands": found.RasterCount,
        "crs": reference.ExportToWkt(["FORMAT=WKT2_2019"]) if reference else None,
        "kind": found.GetMetadataItem("AREA_OR_POINT"), "values": [level.ReadAsArray().tolist() for level in levels]}]), flush=True)
"""


def write_document(path, document):
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, "zarr.json"), "w", encoding="utf-8") as file:
        json.dump({"zarr_format": 3, **document}, file)


def write_array(path, shape, dimensions, attributes):
    count = 1
    for n in shape:
        count *= n
    write_document(path, {
        "node_type": "array", "shape": shape, "data_type": "float32", "fill_value": 0, "dimension_names": dimensions,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": attributes})
    chunk = os.path.join(path, "c", *["0"] * len(shape))
    os.makedirs(os.path.dirname(chunk))
    with open(chunk, "wb") as file:
        file.write(struct.pack(f"<{count}f", *range(count)))


def convention(rng, uuid, name):
    return {"uuid": uuid} if rng.random() < 0.3 else {"uuid": uuid, "name": name, "schema_url": f"https://example.org/{name}"}


def crs_attributes(rng):
    name = rng.choice(SYSTEMS)
    reference = osr.SpatialReference()
    reference.SetFromUserInput(name)
    forms = {"proj:code": name, "proj:wkt2": reference.ExportToWkt(["FORMAT=WKT2_2019"]),
             "proj:projjson": json.loads(reference.ExportToPROJJSON())}
    return {key: forms[key] for key in forms if rng.random() < 0.5}


def place_attributes(rng, dimensions, shape):
    x, y, across, down = rng.choice(PLACES)
    turn = rng.choice([0, 0, 0, 0.5])
    attributes = {"spatial:dimensions": dimensions[-2:], "spatial:transform": [across, turn, x, turn / 2, down, y]}
    if rng.random() < 0.3:
        attributes["spatial:bbox"] = [x, min(y, y + down * shape[-2]), x + across * shape[-1], max(y, y + down * shape[-2])]
    if rng.random() < 0.3:
        attributes["spatial:registration"] = "pixel"
    if rng.random() < 0.3:
        attributes["spatial:transform_type"] = "affine"
    return attributes


class Store:
    """One store: `array` is the largest level of its raster."""

    def __init__(self, path, rng):
        self.rng, self.path = rng, path
        self.dimensions = list(rng.choice([("y", "x"), ("lat", "lon"), ("row", "col"), ("northing", "easting")]))
        self.shape = [rng.choice([12, 16]), rng.choice([20, 8])]
        if rng.random() < 0.3:
            self.dimensions, self.shape = ["band"] + self.dimensions, [2] + self.shape
        self.attributes = {**crs_attributes(rng), **place_attributes(rng, self.dimensions, self.shape),
                           "zarr_conventions": [convention(rng, PROJ, "proj:"), convention(rng, SPATIAL, "spatial:")]}
        if rng.random() < 0.5:
            self.array = "t"
            write_document(path, {"node_type": "group", "attributes": {}})
            write_array(os.path.join(path, "t"), self.shape, self.dimensions, self.attributes)
        else:
            self.write_levels(rng.choice(["arrays", "groups", "gdal"]), rng.choice([2, 3]))

    def write_levels(self, style, n):
        layout = []
        for level in range(n):
            asset = {"arrays": str(level), "groups": f"r{10 << level}m", "gdal": f"ovr_{1 << level}x" if level else "t"}[style]
            array = asset if style == "arrays" or (style == "gdal" and level == 0) else f"{asset}/t"
            if "/" in array:
                write_document(os.path.join(self.path, asset), {"node_type": "group", "attributes": {}})
            a, b, c, d, e, f = self.attributes["spatial:transform"]
            k = 1 << level
            write_array(os.path.join(self.path, array), self.shape[:-2] + [size >> level for size in self.shape[-2:]],
                        self.dimensions, {**self.attributes, "spatial:transform": [a * k, b * k, c, d * k, e * k, f]})
            if level == 0:
                self.array = array
                layout.append({"asset": asset, "transform": {"scale": [1.0, 1.0]}})
            else:
                layout.append({"asset": asset, "derived_from": layout[-1]["asset"],
                               "transform": {"scale": [2.0, 2.0], "translation": [0.0, 0.0]}})
        write_document(self.path, {"node_type": "group", "attributes": {
            "multiscales": {"layout": layout, "resampling_method": "average"},
            "zarr_conventions": [convention(self.rng, MULTISCALES, "multiscales")]}})


def seen_by_gdal(names):
    """Of each name what GDAL's driver reads; None where it ends."""
    seen = {}
    left = list(names)
    while left:
        done = subprocess.run([*PYTHON, "-W", "ignore", "-c", READ, *left], check=False, capture_output=True, text=True)
        if done.returncode > 0:
            print(done.stderr, end="")
            sys.exit(SKIPPED if done.returncode == SKIPPED else 1)
        for line in done.stdout.splitlines():
            if line.startswith("SEEN "):
                name, what = json.loads(line[5:])
                seen[name] = what
        left = [name for name in left if name not in seen]
        if left:
            seen[left.pop(0)] = None
    return seen


def differences(found, expected):
    ours, place = found.GetGeoTransform(can_return_null=True), expected["place"]
    if (ours is None) != (place is None) or any(abs(a - b) > 1e-9 * max(1, abs(b)) for a, b in zip(ours or (), place or ())):
        yield f"lies at {ours}, not {place}"
    if not is_same(found.GetSpatialRef(), expected["crs"]):
        yield f"has the CRS {found.GetProjection()}, not {expected['crs']}"
    if found.GetMetadataItem("AREA_OR_POINT") != expected["kind"]:
        yield f"is of {found.GetMetadataItem('AREA_OR_POINT')}, not {expected['kind']}"
    band = found.GetRasterBand(1)
    levels = [band] + [band.GetOverview(i) for i in range(band.GetOverviewCount())]
    if found.RasterCount != expected["bands"] or [level.ReadAsArray().tolist() for level in levels] != expected["values"]:
        sizes = [[len(values[0]), len(values)] for values in expected["values"]]
        yield f"has levels {[[level.XSize, level.YSize] for level in levels]}, not {sizes}, or other values"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    folder = tempfile.mkdtemp(dir=ROOT + "/tmp" if ROOT else None)
    right = n_ended = 0
    try:
        stores = [Store(os.path.join(folder, f"s{i}.zarr"), rng) for i in range(options.count)]
        names = {f'ZARR:"{store.path[len(ROOT):]}":/{store.array}': store for store in stores}
        for name, expected in seen_by_gdal(names).items():
            if expected is None:
                n_ended += 1
                continue
            store = names[name]
            wrong = list(differences(gdal.Open(f'REFS:"{set_of(folder, store.path)}":/{store.array}'), expected))
            for problem in wrong:
                print(os.path.basename(store.path), store.array, problem)
            right += not wrong
        print(f"{right} of {options.count - n_ended} stores are read as GDAL reads them; {n_ended} end its process")
        return 0 if right == options.count - n_ended > 0 else 1
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
