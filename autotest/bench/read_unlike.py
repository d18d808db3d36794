#!/usr/bin/env python3
"""Times an archive of files that differ, read as one array, beside archives of files that are alike.

    read_unlike.py [--latency-ms 30] [--repeat 5] [--files 48]

All archives hold the same physical values on the same grid, a step a file. The files of one differ
in type, scale and offset, fill value, chunk shape, codec, byte order and format (netCDF-3 beside
netCDF-4), and are read as an aggregation. Beside it stand archives of which all files are of one
of these kinds, read as joined sets: the mean of their times is what the same bytes cost where
nothing differs. Each is read once so that headers are known, then several times without a cache of
chunks (REFS_CACHE_MAX=0), in its own type: band by band and all bands at once. Pixels are
compared. All bands at once are read as doubles too, which all archives then are converted to, as the
unlike one is in its own type. Needs the module netCDF4; GDAL_DRIVER_PATH says where the plugin is, and the program refs
stands beside its folder, or is what REFS_PROGRAM names.
"""
import argparse
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
        time = file.createVariable("time", "f8", ("time",))
        time.units = "days since 2000-01-01"
        time[:] = step
        variable = file.createVariable(
            "v", dtype if file_format.startswith("NETCDF4") else dtype[1:],
            ("time", "lat", "lon"), fill_value=missing, **packed)
        variable.set_auto_maskandscale(False)
        if scale != 1:
            variable.setncatts({"scale_factor": scale, "add_offset": offset})
        variable[0] = stored


def write_archive(folder, name, n, kinds):
    program = os.environ.get("REFS_PROGRAM") or os.path.join(
        os.environ["GDAL_DRIVER_PATH"].split(os.pathsep)[0], "..", "refs")
    os.makedirs(os.path.join(folder, name))
    files = ["%s/%03d.nc" % (name, step) for step in range(n)]
    for step, file in enumerate(files):
        write_file(os.path.join(folder, file), step, kinds[step % len(kinds)])
    subprocess.run([program, "index", *files, "--along", "time", "--relative", "--quiet", "-o", name + ".json"],
                   check=True, cwd=folder)


READ = """
import sys, time
import numpy as np
from osgeo import gdal, gdal_array
gdal.UseExceptions()
dataset = gdal.Open(sys.argv[1])
band = dataset.GetRasterBand(1)
dtype = "f8" if "doubles" in sys.argv[2] else gdal_array.GDALTypeCodeToNumericTypeCode(band.DataType)
pixels = np.ones((dataset.RasterCount, band.YSize, band.XSize), dtype)
def read(how):
    begin = time.time()
    if how.startswith("all"):
        dataset.ReadAsArray(buf_obj=pixels)
    else:
        for band in range(dataset.RasterCount):
            dataset.GetRasterBand(band + 1).ReadAsArray(buf_obj=pixels[band])
    return time.time() - begin
print(*(read(sys.argv[2]) for _ in range(1 + int(sys.argv[3]))))
"""


def physical(band):
    packed = band.ReadAsArray().astype("f8")
    return np.where(packed == band.GetNoDataValue(), np.nan,
                    packed * (band.GetScale() or 1) + (band.GetOffset() or 0))


def check(folder, names):
    """All archives have the same pixels."""
    archives = [gdal.Open('REFS:"%s/%s.json":/v' % (folder, name)) for name in names]
    for band in range(1, archives[0].RasterCount + 1):
        wanted = physical(archives[0].GetRasterBand(band))
        for name, archive in zip(names, archives):
            if not np.allclose(physical(archive.GetRasterBand(band)), wanted, rtol=0, atol=1e-4,
                               equal_nan=True):
                sys.exit("band %d of %s differs" % (band, name))


def count(log):
    with open(log, encoding="ascii") as lines:
        return len(lines.readlines())


def measure(name, how, repeat, log):
    """Seconds of the first read and of the best of the others; requests of all."""
    before = count(log)
    out = subprocess.run([sys.executable, "-c", READ, name, how, str(repeat)], check=True,
                         stdout=subprocess.PIPE, text=True,
                         env={**os.environ, "REFS_CACHE_MAX": "0"}).stdout
    first, *others = [float(number) for number in out.split()]
    return first, min(others), count(log) - before


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency-ms", type=int, default=30)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--files", type=int, default=48)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        names = ["unlike"] + ["alike%d" % n for n in range(len(KINDS))]
        for name, kinds in zip(names, [KINDS] + [[kind] for kind in KINDS]):
            write_archive(folder, name, options.files, kinds)
        check(folder, names)
        log = os.path.join(folder, "log")
        open(log, "w", encoding="ascii").close()
        server = subprocess.Popen(
            [sys.executable, SERVER, folder, log, "--latency-ms", str(options.latency_ms)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        url = "http://127.0.0.1:%d" % int(server.stdout.readline())
        print("| archive | read | first | headers known | requests |\n|---|---|---:|---:|---:|")
        for how in ("bands", "all", "all, as doubles"):
            rows = [measure('REFS:"%s/%s.json":/v' % (url, name), how, options.repeat, log)
                    for name in names]
            mean = [sum(column) / len(KINDS) for column in zip(*rows[1:])]
            for name, row in (("alike, mean of %d" % len(KINDS), mean), ("unlike", rows[0])):
                print("| %s | %s | %.2f s | %.2f s | %.0f |" % (name, how, *row))
            print("| ratio | %s | %.2f | %.2f | |" % (how, rows[0][0] / mean[0], rows[0][1] / mean[1]))
        server.stdin.close()
        server.wait()


main()
