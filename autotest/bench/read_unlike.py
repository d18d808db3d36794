#!/usr/bin/env python3
"""Times an archive of files that differ, read as one array, beside one of files that are alike.

    read_unlike.py [--latency-ms 30] [--repeat 3] [--files 48]

Both archives hold the same physical values on the same grid, a step a file. The files of one are
alike, and read as a joined reference set; those of the other differ in type, scale and offset, fill
value, chunk shape, codec, byte order and format (netCDF-3 beside netCDF-4), and are read as an
aggregation (CF-1.13). Each is read band by band and all at once, twice: the first time headers of
files are read, the second time they are known. Pixels are compared. Needs the module netCDF4;
GDAL_DRIVER_PATH says where the plugin is, and the program refs beside it makes the set.
"""
import argparse
import base64
import json
import os
import subprocess
import sys
import tempfile

import netCDF4
import numpy as np
from osgeo import gdal
from read_remote import SERVER

gdal.UseExceptions()
SHAPE = (721, 1440)

# type, scale, offset, missing value, format, chunks and compression level
KINDS = [
    ("<i2", 0.01, 273.15, -32767, "NETCDF4", (1, 361, 720), 4),
    ("<i2", 0.02, 280.0, -32768, "NETCDF4", (1, 241, 480), 1),
    (">i2", 0.005, 290.0, 32767, "NETCDF4", (1, 721, 720), 6),
    ("<f4", 1, 0, -9999.0, "NETCDF4", (1, 361, 1440), 4),
    (">i2", 0.01, 273.15, -32767, "NETCDF3_CLASSIC", None, 0),
    ("<i4", 0.02, 280.0, -2147483647, "NETCDF4_CLASSIC", (1, 181, 360), 4),
]
ALIKE = [KINDS[0]]


def values(step):
    """Multiples of 0.02 from 280 on, with a hole: exact in every kind."""
    noise = np.random.default_rng(step).normal(0, 0.5, SHAPE)
    waves = 10 * np.sin(np.add.outer(np.arange(SHAPE[0]), np.arange(SHAPE[1])) / 40 + step)
    field = 280 + 0.02 * np.round((waves + noise) / 0.02)
    field[:10, :10] = np.nan
    return field


def write_file(path, step, kind):
    dtype, scale, offset, missing, file_format, chunks, level = kind
    field = values(step)
    stored = np.where(np.isnan(field), missing, (np.nan_to_num(field) - offset) / scale)
    if dtype[1] == "i":
        stored = np.round(stored)
    packed = {"zlib": True, "complevel": level, "chunksizes": chunks} if chunks else {}
    if file_format.startswith("NETCDF4"):
        packed["endian"] = "big" if dtype[0] == ">" else "little"
    with netCDF4.Dataset(path, "w", format=file_format) as file:
        for name, n in zip(("time", "lat", "lon"), (1, *SHAPE)):
            file.createDimension(name, n)
        variable = file.createVariable("Band1", dtype if file_format.startswith("NETCDF4") else dtype[1:], ("time", "lat", "lon"),
                                       fill_value=missing, **packed)
        variable.set_auto_maskandscale(False)
        if scale != 1:
            variable.setncatts({"scale_factor": scale, "add_offset": offset})
        variable[0] = stored


def inline(refs, name, array, dims, **attributes):
    refs[name + "/.zarray"] = json.dumps(
        {"zarr_format": 2, "shape": array.shape, "chunks": [max(1, n) for n in array.shape],
         "dtype": array.dtype.str, "compressor": None, "filters": None, "order": "C",
         "fill_value": None})
    refs[name + "/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": dims, **attributes})
    key = name + "/" + (".".join("0" * array.ndim) or "0")
    refs[key] = "base64:" + base64.b64encode(array.tobytes()).decode()


def write_aggregation(path, files):
    refs = {".zgroup": '{"zarr_format": 2}'}
    sizes = np.full((3, len(files)), -1, "<i4")
    sizes[0] = 1
    sizes[1:, 0] = SHAPE
    inline(refs, "sizes", sizes, ["j", "i"])
    names = np.array(files, "S%d" % max(map(len, files))).reshape(-1, 1, 1)
    inline(refs, "names", names, ["f", "g", "h"])
    inline(refs, "variable", np.array("Band1", "S5"), [])
    inline(refs, "v", np.array(0, "<f4"), [], _FillValue=-9999.0, aggregated_dimensions="t y x",
           aggregated_data="map: sizes uris: names identifiers: variable")
    with open(path, "w", encoding="ascii") as out:
        json.dump({"version": 1, "refs": refs}, out)


def write_archive(folder, name, n, kinds):
    os.makedirs(os.path.join(folder, name))
    files = ["%s/%03d.nc" % (name, step) for step in range(n)]
    for step, file in enumerate(files):
        write_file(os.path.join(folder, file), step, kinds[step % len(kinds)])
    return files


def write_set(folder, files):
    """The alike ones as one reference set: their chunks joined along a new dimension."""
    program = os.environ.get("REFS_PROGRAM") or os.path.join(
        os.environ["GDAL_DRIVER_PATH"].split(os.pathsep)[0], "..", "refs")
    sets = []
    for file in files:
        sets.append(os.path.join(folder, file[:-3] + ".json"))
        subprocess.run([program, "index", os.path.join(folder, file), "-o", sets[-1]], check=True)
    joined = {".zgroup": '{"zarr_format": 2}'}
    for step, path in enumerate(sets):
        with open(path, encoding="utf-8") as text:
            refs = json.load(text)["refs"]
        for key, ref in refs.items():
            if key.startswith("Band1/") and key[6:7].isdigit():
                joined["v/%d%s" % (step, key[7:])] = [files[step], *ref[1:]]
    meta = json.loads(refs["Band1/.zarray"])
    meta["shape"][0] = len(files)
    attributes = json.loads(refs["Band1/.zattrs"])
    attributes["_ARRAY_DIMENSIONS"] = ["t", "y", "x"]
    joined["v/.zarray"], joined["v/.zattrs"] = json.dumps(meta), json.dumps(attributes)
    with open(os.path.join(folder, "alike.json"), "w", encoding="ascii") as out:
        json.dump({"version": 1, "refs": joined}, out)


READ = """
import sys, time
import netCDF4
import numpy as np
from osgeo import gdal
gdal.UseExceptions()
dataset = gdal.Open(sys.argv[1])
def read(how):
    begin = time.time()
    if how == "all":
        dataset.ReadAsArray()
    else:
        for band in range(dataset.RasterCount):
            dataset.GetRasterBand(band + 1).ReadAsArray()
    return time.time() - begin
print(read(sys.argv[2]), read(sys.argv[2]))
"""


def check(folder):
    """Both archives have the same pixels."""
    alike, unlike = (gdal.Open('REFS:"%s/%s.json":/v' % (folder, name))
                     for name in ("alike", "unlike"))
    for band in range(1, alike.RasterCount + 1):
        a, b = alike.GetRasterBand(band), unlike.GetRasterBand(band)
        packed = a.ReadAsArray()
        wanted = np.where(packed == a.GetNoDataValue(), b.GetNoDataValue(),
                          packed * a.GetScale() + a.GetOffset()).astype("f4")
        if not np.allclose(b.ReadAsArray(), wanted, rtol=0, atol=1e-4):
            sys.exit("band %d differs" % band)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency-ms", type=int, default=30)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--files", type=int, default=48)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_set(folder, write_archive(folder, "alike", options.files, ALIKE))
        write_aggregation(os.path.join(folder, "unlike.json"),
                          write_archive(folder, "unlike", options.files, KINDS))
        check(folder)
        log = os.path.join(folder, "log")
        open(log, "w", encoding="ascii").close()
        server = subprocess.Popen(
            [sys.executable, SERVER, folder, log, "--latency-ms", str(options.latency_ms)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        url = "http://127.0.0.1:%d" % int(server.stdout.readline())
        print("| archive | read | headers unknown | headers known | requests |\n|---|---|---:|---:|---:|")
        for how in ("bands", "all"):
            for name in ("alike", "unlike"):
                rows = []
                with open(log, encoding="ascii") as lines:
                    before = len(lines.readlines())
                for _ in range(options.repeat):
                    out = subprocess.run(
                        [sys.executable, "-c", READ, 'REFS:"%s/%s.json":/v' % (url, name), how],
                        check=True, stdout=subprocess.PIPE, text=True).stdout
                    rows.append([float(number) for number in out.split()])
                with open(log, encoding="ascii") as lines:
                    n = (len(lines.readlines()) - before) / options.repeat
                cold, warm = (min(row[i] for row in rows) for i in (0, 1))
                print("| %s | %s | %.2f s | %.2f s | %.0f |" % (name, how, cold, warm, n))
        server.stdin.close()
        server.wait()


main()
