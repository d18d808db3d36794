"""Stores that GDAL's Zarr driver writes with the conventions "proj:", "spatial:" and "multiscales", from version
3.13 on, and with its own attribute "_CRS" and axes, as sets of their files: place, CRS and overviews are those that it reads of them.

Skips without such a GDAL. REFS_PEERS names the root of another system that has one; that needs root.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

from osgeo import gdal, osr

ROOT = os.environ.get("REFS_PEERS", "")
PYTHON = ["chroot", ROOT, "python3"] if ROOT else [sys.executable]
SKIPPED = 77
gdal.UseExceptions()

WRITE = """
import json, os, sys
import numpy as np
from osgeo import gdal, osr
if int(gdal.VersionInfo()) < 3130000:
    sys.exit(77)
gdal.UseExceptions()
folder = sys.argv[1]
UTM, NORTH = [500000, 10, 0, 5000000, 0, -20], [-10, 0.25, 0, 60, 0, -0.5]
LAEA = "+proj=laea +lat_0=12 +lon_0=34 +a=6370000 +rf=300"
CASES = {"utm": ("EPSG:32633", UTM, {}, 1), "geographic": ("EPSG:4326", NORTH, {}, 1), "north": ("EPSG:3035", UTM, {}, 1),
         "southup": ("EPSG:32633", [500000, 10, 0, 5000000, 0, 20], {}, 1), "turned": ("EPSG:32633", [5, 1, 0.5, 7, 0.25, -2], {}, 1),
         "custom": (LAEA, UTM, {}, 1), "none": ("", UTM, {}, 1), "placeless": ("EPSG:32633", None, {}, 1),
         "bands": ("EPSG:32633", UTM, {}, 3), "node": ("EPSG:32633", UTM, {"AREA_OR_POINT": "Point"}, 1)}
seen = {}
for name, (crs, place, items, n) in CASES.items():
    source = gdal.GetDriverByName("MEM").Create("", 64, 48, n, gdal.GDT_Float32)
    if place: source.SetGeoTransform(place)
    if crs:
        reference = osr.SpatialReference()
        reference.SetFromUserInput(crs)
        source.SetSpatialRef(reference)
    for key, value in items.items(): source.SetMetadataItem(key, value)
    for band in range(n): source.GetRasterBand(band + 1).WriteArray(np.arange(64 * 48).reshape(48, 64) + band)
    for convention, suffix in (("SPATIAL_PROJ", ""), ("GDAL", "_axes")):
        path = f"{folder}/{name}{suffix}.zarr"
        if suffix and (not crs or name in ("turned", "bands")):
            continue # has nothing that tells who wrote it, or no axes
        options = [f"FORMAT=ZARR_V{2 if suffix and n == 1 else 3}", "GEOREFERENCING_CONVENTION=" + convention]
        gdal.GetDriverByName("Zarr").CreateCopy(path, source, options=options)
        made = gdal.Open(f'ZARR:"{path}":/{name}{suffix}')
        reference = made.GetSpatialRef()
        seen[name + suffix] = {"place": made.GetGeoTransform(can_return_null=True), "written": place,
                               "nodata": made.GetRasterBand(1).GetNoDataValue(), "first": float(made.ReadAsArray().flat[0]),
                               "crs": reference.ExportToWkt(["FORMAT=WKT2_2019"]) if reference else None}
levels = gdal.OpenEx(f"{folder}/utm.zarr", gdal.OF_RASTER | gdal.OF_UPDATE)
try:
    levels.BuildOverviews("NEAREST", [2, 4])
except RuntimeError as problem:
    print(problem, file=sys.stderr)
levels = None
whole = gdal.Open(f'ZARR:"{folder}/utm.zarr":/utm')
band = whole.GetRasterBand(1)
seen["utm"]["overviews"] = [band.GetOverview(i).XSize for i in range(band.GetOverviewCount())]
print(json.dumps(seen))
"""


def set_of(folder, path):
    """A set that refers to all files of a store."""
    refs = {}
    for base, _, files in os.walk(path):
        for name in files:
            file = os.path.join(base, name)
            key = os.path.relpath(file, path)
            if name in ("zarr.json", ".zarray", ".zattrs", ".zgroup"):
                with open(file, encoding="utf-8") as document:
                    refs[key] = document.read()
            else:
                refs[key] = [file]
    name = os.path.join(folder, os.path.basename(path) + ".json")
    with open(name, "w", encoding="utf-8") as file:
        json.dump({"version": 1, "refs": refs}, file)
    return name


def is_same(reference, wkt):
    if reference is None or wkt is None:
        return reference is None and wkt is None
    other = osr.SpatialReference()
    other.ImportFromWkt(wkt)
    codes = [crs.GetAuthorityCode(None) for crs in (reference, other)]  # data bases of PROJ tell datums apart
    return codes == [codes[0]] * 2 if codes[0] else bool(reference.IsSame(other, ["IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES"]))


def check(folder, name, expected):
    found = gdal.Open(f'REFS:"{set_of(folder, os.path.join(folder, name + ".zarr"))}":/{name}')
    # Of nodes GDAL 3.13 writes the place of centres, and reads it as that of corners.
    place = expected["written"] if name == "node" else expected["place"]
    ours = found.GetGeoTransform(can_return_null=True)
    rows = found.ReadAsArray()
    wrong = []
    if ours and place and name.endswith("_axes") and ours[5] * place[5] < 0:  # turned, as rows from the south are
        rows = rows[..., ::-1, :]
        ours = (*ours[:3], ours[3] + found.RasterYSize * ours[5], ours[4], -ours[5])
    if rows.flat[0] != expected["first"]:
        wrong.append(f"begins with {rows.flat[0]}, not {expected['first']}")
    if found.GetRasterBand(1).GetNoDataValue() != expected["nodata"] and name.endswith("_axes"):
        wrong.append(f"has nodata {found.GetRasterBand(1).GetNoDataValue()}, not {expected['nodata']}")
    if (ours is None) != (place is None) or (ours and any(abs(a - b) > 1e-9 * max(1, abs(b)) for a, b in zip(ours, place))):
        wrong.append(f"lies at {ours}, not {place}")
    if not is_same(found.GetSpatialRef(), expected["crs"]):
        wrong.append(f"has the CRS {found.GetProjection()}, not {expected['crs']}")
    band = found.GetRasterBand(1)
    overviews = [band.GetOverview(i).XSize for i in range(band.GetOverviewCount())]
    if overviews != expected.get("overviews", []):
        wrong.append(f"has overviews {overviews}, not {expected.get('overviews', [])}")
    for i in range(len(overviews)): # of numbers that grow from the first row to the last
        rows = band.GetOverview(i).ReadAsArray()[:, 0]
        if not all(a < b for a, b in zip(rows, rows[1:])):
            wrong.append(f"overview {i} is upside down")
    if name == "node" and found.GetMetadataItem("AREA_OR_POINT") != "Point":
        wrong.append("is not of points")
    for problem in wrong:
        print(name, problem)
    return not wrong


def main():
    folder = tempfile.mkdtemp(dir=ROOT + "/tmp" if ROOT else None)
    try:
        inside = folder[len(ROOT):]
        done = subprocess.run([*PYTHON, "-c", WRITE, inside], check=False, capture_output=True, text=True)
        if done.returncode != 0:
            print(done.stderr or "no GDAL 3.13 (REFS_PEERS)")
            return SKIPPED if done.returncode == SKIPPED else 1
        print(done.stderr, end="")
        seen = json.loads(done.stdout)
        right = sum(check(folder, name, expected) for name, expected in seen.items())
        print(f"{right} of {len(seen)} stores are read as GDAL reads them")
        return 0 if right == len(seen) else 1
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
