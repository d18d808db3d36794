"""Makes sample.nc, and the reference sets to it, in the folder of this script.

usage: python3 data/make_sample.py

Needs python3-netcdf4, python3-h5py and python3-numpy. The field is invented: coastlines and
mountain ranges are rough outlines, the weather is a sine wave that travels east.
"""

import base64
import json
import os

import h5py
import netCDF4
import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))
SOURCE = "sample.nc"

LAT = np.arange(72, 31.75, -0.5, dtype="f4")
LON = np.arange(-25, 35.25, 0.5, dtype="f4")
HOURS = np.arange(24, dtype="i4")
HOURS_OF_Z = np.array([0, 12], dtype="i4")
LEVELS = np.array([850, 500], dtype="f4")

# Corners as longitude, latitude.
LAND = [
    # Europe
    [(-9, 37), (-6, 36), (-2, 36.7), (0, 38.7), (0, 40), (3, 42), (3.2, 43.2), (5, 43.3),
     (7.5, 43.8), (9, 44.4), (10.3, 43.5), (12, 42), (14, 40.8), (15.8, 40), (15.8, 38),
     (16.6, 38.4), (17, 39.5), (16.8, 40.4), (18.4, 40), (17, 41), (15.8, 41.9), (14, 42.6),
     (12.4, 44.2), (12.3, 45.3), (13.6, 45.6), (14.5, 45.2), (16, 43.5), (18.5, 42.4),
     (19.5, 41.5), (19.4, 40.4), (21, 39), (21.5, 37), (23, 36.5), (23.5, 38), (24, 38),
     (23, 39.5), (22.8, 40.5), (26, 40.7), (29, 41.1), (28, 42.5), (28.6, 44), (30.5, 46),
     (33, 46), (33.5, 44.6), (36, 45), (36, 69), (31, 70), (28, 71), (25, 71), (21, 70),
     (15, 68.5), (12.5, 66), (11, 64), (8, 63), (5, 62), (5, 59), (7, 58), (8.5, 58.2),
     (10.7, 59.2), (11.3, 58.5), (12.8, 56), (14.2, 55.5), (16.4, 56.5), (17, 58.5),
     (18.8, 60), (17.2, 61), (17.5, 62.5), (20.5, 64), (22.2, 65.8), (25.3, 65), (21.5, 63),
     (21.3, 61), (23, 60), (27, 60.4), (30, 59.9), (27.5, 59.4), (24, 59.2), (24.3, 57.2),
     (21.6, 57.5), (21, 55.5), (20, 54.5), (18.5, 54.7), (14.2, 53.9), (11, 54), (10.8, 56),
     (10.5, 57.6), (8.2, 57), (8.3, 55), (9, 53.9), (7, 53.5), (4.7, 52.9), (3.5, 51.4),
     (1.6, 50.8), (0.2, 49.5), (-1.3, 49.6), (-1.5, 48.7), (-4.7, 48.4), (-2.5, 47.3),
     (-1.2, 45.8), (-1.5, 43.5), (-9, 43.2), (-8.8, 41), (-9.4, 38.8)],
    # Great Britain, Ireland, Iceland
    [(-5.5, 50.1), (-3.5, 50.3), (1.3, 51.1), (1.6, 52.6), (0.2, 53), (-1.5, 55), (-3, 56),
     (-2, 57.5), (-4, 57.6), (-3.2, 58.6), (-5, 58.6), (-5.8, 57), (-4.8, 55.5), (-3, 54.8),
     (-3, 53.4), (-4.5, 53.2), (-4.2, 52.3), (-5.2, 51.8), (-3, 51.4), (-4.2, 51.1)],
    [(-10, 51.6), (-6.3, 52.2), (-6, 53.5), (-5.6, 54.5), (-7, 55.2), (-8.5, 54.5),
     (-9.8, 54.2), (-9, 53.2)],
    [(-22, 64), (-19, 63.4), (-14.5, 64.4), (-14.7, 65.6), (-16, 66.4), (-18.5, 66),
     (-22.5, 66.3), (-24, 65.6), (-22, 65), (-22.5, 64.5)],
    # Sicily, Sardinia, Corsica, Crete, Cyprus
    [(12.5, 38), (15.6, 38.2), (15.1, 36.7)],
    [(8.3, 41), (9.6, 41), (9.6, 39.2), (8.5, 39)],
    [(8.6, 42.4), (9.4, 43), (9.5, 41.6), (8.8, 41.5)],
    [(23.5, 35.5), (26.2, 35.3), (24.8, 34.9)],
    [(32.3, 35), (34.5, 35.6), (33.5, 34.6)],
    # Africa, Asia
    [(-9.8, 30), (-8.5, 33.3), (-6.8, 34), (-6, 35.8), (-2, 35.1), (0, 35.9), (3, 36.8),
     (8, 37), (10, 37.3), (11, 37), (10.2, 34.3), (11, 33.2), (15, 32.3), (17, 31), (20, 30.8),
     (20, 32.5), (22, 32.9), (25, 31.6), (33, 31), (35, 33), (35.9, 35), (36, 30)],
    [(37, 32), (35, 33), (35.9, 35), (36, 36.8), (33, 36), (30.6, 36.8), (28, 36.7),
     (26.3, 38.5), (26.2, 39.5), (29, 40.5), (29.3, 41.2), (32, 41.8), (35, 42), (37, 41)],
]

# Longitude, latitude, metres, degrees along longitude and latitude.
MOUNTAINS = [
    (10, 46.6, 2300, 4.2, 0.9), (0.5, 42.7, 1500, 1.6, 0.5), (-4.5, 40.5, 800, 3, 2),
    (24.5, 46.5, 1000, 2, 1.5), (8, 61, 1200, 2, 2.2), (15, 66, 800, 2, 2.5),
    (20, 43, 1100, 2.2, 2), (32, 39, 1300, 4, 1.6), (-18, 64.7, 900, 2, 0.6),
    (0, 34, 1200, 5, 1.2), (13.5, 42.4, 900, 0.8, 1.2), (-4.3, 57.2, 500, 1, 1),
]


def inside(corners, lon, lat):
    """Which of the points lie inside a polygon (even-odd rule)."""
    result = np.zeros(lon.shape, dtype=bool)
    for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1]):
        if y0 != y1:
            crosses = (y0 > lat) != (y1 > lat)
            result ^= crosses & (lon < (x1 - x0) * (lat - y0) / (y1 - y0) + x0)
    return result


def smooth(field, times):
    """Averages each point with its neighbours, several times."""
    for _ in range(times):
        for axis in (0, 1):
            padded = np.pad(field, [(1, 1) if a == axis else (0, 0) for a in (0, 1)], "edge")
            n = field.shape[axis]
            field = sum(np.take(padded, range(k, k + n), axis) for k in range(3)) / 3
    return field


def weather():
    """Temperature in kelvin (hour, lat, lon), geopotential height in metres (hour, level, …)."""
    lon, lat = np.meshgrid(LON, LAT)
    land = smooth(np.any([inside(c, lon, lat) for c in LAND], axis=0).astype("f8"), 1)
    height = land * sum(h * np.exp(-((lon - x) / a) ** 2 - ((lat - y) / b) ** 2)
                        for x, y, h, a, b in MOUNTAINS)

    def wave(hour):
        return np.sin(np.radians(9 * (lon - 0.8 * hour) - 4 * lat)) * np.cos(np.radians(2 * lat))

    def temperature(hour):
        sun = np.cos(np.radians(15 * (hour + lon / 15 - 15)))
        sea = 296.5 - 0.5 * (lat - 32)
        return sea + land * (2.5 + 5.5 * sun) - 0.0062 * height + 5 * wave(hour)

    def geopotential(hour, level):
        mean = {850: 1520, 500: 5780}[level]
        return mean - (3 if level == 850 else 7) * (lat - 32) * (1 + lat / 180) + 45 * wave(hour)

    t2m = np.array([temperature(int(h)) for h in HOURS])
    z = np.array([[geopotential(int(h), int(p)) for p in LEVELS] for h in HOURS_OF_Z])
    return t2m, np.round(z).astype("f4")


def add(dataset, name, kind, dims, values, attributes, **storage):
    """Writes one variable with its attributes; values are stored as they are."""
    variable = dataset.createVariable(name, kind, dims, **storage)
    variable.set_auto_maskandscale(False)
    variable.setncatts(attributes)
    variable[...] = values


def write_netcdf(path):
    t2m, z = weather()
    since = {"units": "hours since 2024-06-01 00:00:00", "calendar": "standard"}
    with netCDF4.Dataset(path, "w") as nc:
        nc.setncatts({
            "Conventions": "CF-1.8", "title": "Two-metre temperature over Europe, invented",
            "institution": "REFS", "source": "data/make_sample.py",
            "comment": "Not an observation and not a forecast"})
        for name, values in (("time", HOURS), ("time_12h", HOURS_OF_Z), ("level", LEVELS),
                             ("lat", LAT), ("lon", LON)):
            nc.createDimension(name, len(values))
        nc.createDimension("bnds", 2)
        add(nc, "time", "i4", ("time",), HOURS,
            {"standard_name": "time", "axis": "T", "bounds": "time_bnds", **since})
        add(nc, "time_bnds", "i4", ("time", "bnds"), np.stack([HOURS, HOURS + 1], 1), {})
        add(nc, "time_12h", "i4", ("time_12h",), HOURS_OF_Z, {"standard_name": "time", **since})
        add(nc, "level", "f4", ("level",), LEVELS,
            {"standard_name": "air_pressure", "units": "hPa", "positive": "down", "axis": "Z"})
        add(nc, "lat", "f4", ("lat",), LAT,
            {"standard_name": "latitude", "units": "degrees_north", "axis": "Y"})
        add(nc, "lon", "f4", ("lon",), LON,
            {"standard_name": "longitude", "units": "degrees_east", "axis": "X"})
        add(nc, "t2m", "i2", ("time", "lat", "lon"), np.round((t2m - 280) / 0.05).astype("i2"),
            {"standard_name": "air_temperature", "long_name": "2 metre temperature", "units": "K",
             "scale_factor": 0.05, "add_offset": 280.0, "cell_methods": "time: mean"},
            zlib=True, complevel=9, shuffle=True, chunksizes=(12, 41, 61), fill_value=-32767)
        add(nc, "z", "f4", ("time_12h", "level", "lat", "lon"), z,
            {"standard_name": "geopotential_height", "long_name": "geopotential height",
             "units": "m"}, contiguous=True)


# -- reference sets, shaped as kerchunk shapes them ---------------------------------------------


def metadata_of(name, variable, dataset):
    """The .zarray and .zattrs of a netCDF variable."""
    attributes = {key: value.item() if isinstance(value, np.generic) else value
                  for key, value in variable.__dict__.items() if key != "_FillValue"}
    attributes["_ARRAY_DIMENSIONS"] = list(variable.dimensions)
    fill = getattr(variable, "_FillValue", None)
    filters = [{"id": "shuffle", "elementsize": dataset.dtype.itemsize}] if dataset.shuffle else None
    zarray = {
        "zarr_format": 2, "order": "C", "dtype": dataset.dtype.str,
        "shape": list(dataset.shape), "chunks": list(dataset.chunks or dataset.shape),
        "fill_value": None if fill is None else fill.item(),
        "compressor": {"id": "zlib", "level": 9} if dataset.compression == "gzip" else None,
        "filters": filters}
    return {f"{name}/.zarray": json.dumps(zarray), f"{name}/.zattrs": json.dumps(attributes)}


def chunks_of(name, dataset, url):
    """References to the chunks of an HDF5 dataset; small ones are written out."""
    if dataset.chunks is None:
        key = name + "/" + ".".join(["0"] * dataset.ndim)
        if dataset.nbytes < 1000:
            return {key: "base64:" + base64.b64encode(dataset[()].tobytes()).decode()}
        return {key: [url, dataset.id.get_offset(), int(dataset.nbytes)]}
    chunks = {}
    for i in range(dataset.id.get_num_chunks()):
        info = dataset.id.get_chunk_info(i)
        index = [int(begin) // n for begin, n in zip(info.chunk_offset, dataset.chunks)]
        chunks[name + "/" + ".".join(map(str, index))] = [url, int(info.byte_offset), int(info.size)]
    return chunks


def references(path, url):
    """All references to a netCDF-4 file, as one dictionary."""
    refs = {".zgroup": json.dumps({"zarr_format": 2})}
    with netCDF4.Dataset(path) as nc, h5py.File(path) as h5:
        refs[".zattrs"] = json.dumps(nc.__dict__)
        for name, variable in nc.variables.items():
            variable.set_auto_maskandscale(False)
            refs.update(metadata_of(name, variable, h5[name]))
            refs.update(chunks_of(name, h5[name], url))
    return refs


def with_templates(refs):
    """The same values with templates; z, which is not compressed, in smaller chunks by `gen`."""
    refs = dict(refs)
    _, offset, _ = refs.pop("z/0.0.0.0")
    zarray = json.loads(refs["z/.zarray"])
    n_times, n_levels, rows, columns = zarray["shape"]
    zarray["chunks"] = [1, 1, rows, columns]
    refs["z/.zarray"] = json.dumps(zarray)
    size = 4 * rows * columns
    return {
        "version": 1,
        "templates": {"u": SOURCE, "file": "{{name}}.nc"},
        "gen": [{
            "key": "z/{{t}}.{{l}}.0.0",
            "url": "{{file(name='sample')}}",
            "offset": "{{%d + (t * %d + l) * %d}}" % (offset, n_levels, size),
            "length": str(size),
            "dimensions": {"t": {"stop": n_times}, "l": {"stop": n_levels}}}],
        "refs": refs}


def write_json(name, document):
    with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")


def main():
    path = os.path.join(FOLDER, SOURCE)
    write_netcdf(path)
    write_json("sample.json", {"version": 1, "refs": references(path, SOURCE)})
    write_json("sample_templates.json", with_templates(references(path, "{{u}}")))


if __name__ == "__main__":
    main()
