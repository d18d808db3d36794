"""Files of GRIB messages as sets against GDAL's GRIB driver on the same files: each message is a band
of one variable, with its values, geotransform and CRS. Messages are made by ecCodes of its samples,
and are those of the folder shared/ beside the repository, where that is. REFS_SHARED_DATA names
another folder of data. Skips without ecCodes.
"""

import ctypes
import datetime
import glob
import json
import math
import os
import random
import sys
import tempfile

import numpy as np
from osgeo import gdal, osr

from compared_files import compare

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "autotest", "server"))
from this_build import need  # noqa: E402

need("eccodes")
DATA = os.environ.get("REFS_SHARED_DATA", os.path.join(ROOT, "../shared/data"))
SKIPPED = 77

try:
    ECCODES = ctypes.CDLL("libeccodes.so.0")
except OSError:
    print("there is no libeccodes")
    sys.exit(SKIPPED)

gdal.UseExceptions()
gdal.SetConfigOption("GRIB_NORMALIZE_UNITS", "NO")
gdal.SetConfigOption("GDAL_PAM_ENABLED", "NO")
gdal.PushErrorHandler("CPLQuietErrorHandler")

ECCODES.codes_grib_handle_new_from_samples.restype = ctypes.c_void_p


# -- messages --------------------------------------------------------------------------------------


def set_key(handle, key, value):
    key = key.encode()
    if isinstance(value, str):
        size = ctypes.c_size_t(len(value))
        return ECCODES.codes_set_string(handle, key, value.encode(), ctypes.byref(size))
    if isinstance(value, float):
        return ECCODES.codes_set_double(handle, key, ctypes.c_double(value))
    return ECCODES.codes_set_long(handle, key, ctypes.c_long(value))


def set_values(handle, seed, missing):
    size = ctypes.c_size_t()
    ECCODES.codes_get_size(handle, b"values", ctypes.byref(size))
    noise = random.Random(seed)
    values = [280 + 10 * math.sin(i / 7) + noise.random() for i in range(size.value)]
    if missing:
        set_key(handle, "bitmapPresent", 1)
        set_key(handle, "missingValue", 9999.0)
        values[::5] = [9999.0] * len(values[::5])
    array = (ctypes.c_double * size.value)(*values)
    return ECCODES.codes_set_double_array(handle, b"values", array, size)


def message(sample, seed=0, missing=False, **keys):
    handle = ctypes.c_void_p(ECCODES.codes_grib_handle_new_from_samples(None, sample.encode()))
    for key, value in keys.items():
        if set_key(handle, key, value) != 0:
            raise ValueError(f"{sample}: {key} cannot be {value}")
    set_values(handle, seed, missing)
    bytes_, size = ctypes.c_void_p(), ctypes.c_size_t()
    ECCODES.codes_get_message(handle, ctypes.byref(bytes_), ctypes.byref(size))
    content = ctypes.string_at(bytes_, size.value)
    ECCODES.codes_handle_delete(handle)
    return content


def sections(content):
    at = 16
    while at < len(content) - 4:
        size = int.from_bytes(content[at:at + 4], "big")
        yield content[at + 4], content[at:at + size]
        at += size


def joined(messages):
    """One message that has the fields of several."""
    body = b"".join(section for _, section in sections(messages[0]))
    for other in messages[1:]:
        body += b"".join(section for number, section in sections(other) if number >= 4)
    return messages[0][:8] + (len(body) + 20).to_bytes(8, "big") + body + b"7777"


def of_edition(edition):
    levels = f"regular_ll_pl_grib{edition}"
    yield "levels_and_steps", [message(levels, level + step, level=level, step=step, shortName=name)
                               for name in ("t", "z") for level in (1000, 850, 500) for step in (0, 6, 12)]
    yield "times", [message(levels, day, dataDate=20200101 + day, dataTime=1200) for day in range(4)]
    yield "between_other_bytes", [b"\x01\r\r\nTTAA00 KWBC\r\r\n" + message(levels, day, dataDate=20200101 + day)
                                  for day in range(3)]
    yield "bitmap", [message(levels, day, missing=True, dataDate=20200101 + day) for day in range(2)]
    yield "sparse", [message(levels, level + step, level=level, step=step) for level, step in ((1000, 0), (1000, 6), (500, 6))]
    yield "twice", [message(levels, seed) for seed in range(2)]
    yield "upwards", [message(levels, jScansPositively=1, latitudeOfFirstGridPointInDegrees=0.0,
                              latitudeOfLastGridPointInDegrees=60.0)]
    yield "rotated", [message(f"rotated_ll_pl_grib{edition}")]
    yield "polar", [message(f"polar_stereographic_pl_grib{edition}", DxInMetres=60000, DyInMetres=60000, jScansPositively=1,
                            **({"LaDInDegrees": 60.0} if edition == 2 else {}))]


def files():
    for edition in (1, 2):
        yield from ((f"{name}_{edition}", messages) for name, messages in of_edition(edition))
    levels, surface = "regular_ll_pl_grib2", "regular_ll_sfc_grib2"
    yield "surface", [message(surface, seed, shortName=name) for seed, name in enumerate(("2t", "10u", "10v", "sp", "tcc"))]
    yield "members", [message(levels, 10 * member + step, productDefinitionTemplateNumber=1, perturbationNumber=member,
                              numberOfForecastsInEnsemble=3, step=step) for member in range(3) for step in (0, 6)]
    yield "accumulated", [message(surface, end, productDefinitionTemplateNumber=8, typeOfStatisticalProcessing=1,
                                  parameterCategory=1, parameterNumber=8, startStep=0, endStep=end) for end in (3, 6, 9)]
    yield "several_fields", [joined([message(levels, 10 * level + i, shortName=name, level=level)
                                     for i, name in enumerate(("u", "v"))]) for level in (500, 850)]
    yield "one_message", [joined([message(levels, level, level=level, missing=True) for level in (500, 850, 1000)])]
    yield "ieee", [message(levels, 1, packingType="grid_ieee")]


# -- comparing -------------------------------------------------------------------------------------


def variables(path):
    """Datasets of the set, but for coordinates."""
    names = [name for name, _ in gdal.Open(f'REFS:"{path}"').GetSubDatasets()]
    coordinates = ("latitude", "longitude", "valid_time", "time", "step", "number")
    return [name for name in names if not name.rsplit("/", 1)[-1].startswith(coordinates)] or [f'REFS:"{path}"']


def expected_bands(grib):
    bands = []
    for number in range(1, grib.RasterCount + 1):
        band = grib.GetRasterBand(number)
        values = band.ReadAsArray().astype("f8")
        if band.GetNoDataValue() is not None:
            values[values == band.GetNoDataValue()] = np.nan
        bands.append((values, band))
    return bands


def time_problems(ours, theirs):
    """Times are told whether they are dimensions or not: TIME is the one for which a band is valid."""
    times = [item.GetMetadataItem(name) for item, name in ((ours, "GRIB_REF_TIME"), (ours, "NETCDF_DIM_step"),
                                                           (theirs, "GRIB_REF_TIME"), (theirs, "GRIB_FORECAST_SECONDS"),
                                                           (ours, "TIME"), (theirs, "GRIB_VALID_TIME"))]
    if None in (*times[:2], times[4]):
        yield f"its times are {times}"
        return
    if int(times[0]) != int(times[2].split()[0]):
        yield f"its reference time {times[0]} is not {times[2]}"
    valid = datetime.datetime.fromisoformat(times[4] + "+00:00").timestamp()
    if valid != int(times[5].split()[0]):
        yield f"its time {times[4]} is not {times[5]}"
    # Of what is accumulated GDAL's driver tells when that began.
    if 3600 * float(times[1]) != int(times[3].split()[0]) and ours.GetMetadataItem("GRIB_stepType") == "instant":
        yield f"its step {times[1]} is not {times[3]}"


def place_problems(refs, grib, columns):
    ours, theirs = refs.GetGeoTransform(), grib.GetGeoTransform()
    if not np.allclose(ours[1:], theirs[1:], rtol=1e-9, atol=1e-9) or abs((ours[0] - theirs[0]) / theirs[1] - columns) > 1e-6:
        yield f"geotransform {ours} is not {theirs}"
    if refs.GetSpatialRef() is None or not refs.GetSpatialRef().IsSame(grib.GetSpatialRef()):
        yield f"CRS {refs.GetSpatialRef()} is not {grib.GetSpatialRef()}"


def is_placed(grib):
    """GDAL's driver does not know the CRS of some grids, nor the place of points in no rows; rows are
    then as they are stored."""
    return grib.GetSpatialRef() is not None and 0 not in (grib.GetGeoTransform()[1], grib.GetGeoTransform()[5])


def problems(path):
    grib = gdal.Open(path)
    left = expected_bands(grib)
    placed = is_placed(grib)
    for name in variables(path):
        refs = gdal.Open(name)
        columns = 0
        if placed:
            columns = round((refs.GetGeoTransform()[0] - grib.GetGeoTransform()[0]) / grib.GetGeoTransform()[1])
            yield from place_problems(refs, grib, columns)
        for number in range(1, refs.RasterCount + 1):
            values = refs.GetRasterBand(number).ReadAsArray()
            if np.isnan(values).all():
                continue  # no message has it
            # GDAL scales packed values in another order of operations.
            pictures = (values,) if placed else (values, values[::-1])
            same = [i for i, (one, _) in enumerate(left) for picture in pictures if one.shape == values.shape and
                    np.allclose(np.roll(one, -columns, axis=1), picture, rtol=1e-6, atol=0, equal_nan=True)]
            if same:
                for problem in time_problems(refs.GetRasterBand(number), left.pop(same[0])[1]):
                    yield f"{name} band {number}: {problem}"
            else:
                yield f"{name} band {number} is no message"
    left = [values for values, _ in left if not np.isnan(values).all()]
    if left:
        yield f"{len(left)} messages are no band"


# -- scanning modes --------------------------------------------------------------------------------

COLUMNS, ROWS = 7, 5
WEST, SOUTH = 10, 46
FLAGS = (("iScansNegatively", 0x80), ("jScansPositively", 0x40), ("jPointsAreConsecutive", 0x20),
         ("alternativeRowScanning", 0x10))


def value_at(latitude, longitude):
    return 100 * latitude + longitude


def points(mode):
    """Latitudes and longitudes in the order of a message (flag table 3.4)."""
    longitudes = [WEST + i for i in range(COLUMNS)][::-1 if mode & 0x80 else 1]
    latitudes = [SOUTH + j for j in range(ROWS)][::1 if mode & 0x40 else -1]
    by_columns = mode & 0x20
    outer, inner = (longitudes, latitudes) if by_columns else (latitudes, longitudes)
    for number, first in enumerate(outer):
        for second in inner[::-1 if mode & 0x10 and number % 2 else 1]:
            yield (second, first) if by_columns else (first, second)


def scanned(mode, edition):
    handle = ctypes.c_void_p(ECCODES.codes_grib_handle_new_from_samples(None, f"regular_ll_pl_grib{edition}".encode()))
    order = list(points(mode))
    corners = {"North": SOUTH + ROWS - 1, "South": SOUTH, "West": WEST, "East": WEST + COLUMNS - 1}
    keys = {"Ni": COLUMNS, "Nj": ROWS, "iDirectionIncrementInDegrees": 1.0, "jDirectionIncrementInDegrees": 1.0,
            **{name: int(mode & flag != 0) for name, flag in FLAGS[:3 if edition == 1 else 4]}}
    for end, latitude, longitude in (("First", "South" if mode & 0x40 else "North", "East" if mode & 0x80 else "West"),
                                     ("Last", "North" if mode & 0x40 else "South", "West" if mode & 0x80 else "East")):
        keys[f"latitudeOf{end}GridPointInDegrees"] = float(corners[latitude])
        keys[f"longitudeOf{end}GridPointInDegrees"] = float(corners[longitude])
    for key, value in keys.items():
        if set_key(handle, key, value) != 0:
            raise ValueError(f"{key} cannot be {value}")
    array = (ctypes.c_double * len(order))(*(value_at(*point) for point in order))
    set_key(handle, "bitsPerValue", 24)
    ECCODES.codes_set_double_array(handle, b"values", array, ctypes.c_size_t(len(order)))
    bytes_, size = ctypes.c_void_p(), ctypes.c_size_t()
    ECCODES.codes_get_message(handle, ctypes.byref(bytes_), ctypes.byref(size))
    content = ctypes.string_at(bytes_, size.value)
    ECCODES.codes_handle_delete(handle)
    return content


def misplaced(values, latitudes, longitudes):
    return not np.allclose(values, value_at(latitudes, longitudes), atol=0.01)


def raster_problems(name):
    dataset = gdal.Open(name)
    left, width, _, top, _, height = dataset.GetGeoTransform()
    values = dataset.ReadAsArray()
    rows, columns = np.indices(values.shape)
    if values.shape != (ROWS, COLUMNS):
        yield f"{name} has the shape {values.shape}"
    elif misplaced(values, top + (rows + 0.5) * height, left + (columns + 0.5) * width):
        yield f"{name}: pixels lie elsewhere"
    if height > 0:
        yield f"{name}: rows are south first"


def write_kerchunk_set(path, message_path, size):
    """As kerchunk makes them: values, latitudes and longitudes by the codec, of the same message."""
    def array(name, attributes):
        meta = {"zarr_format": 2, "shape": [ROWS, COLUMNS], "chunks": [ROWS, COLUMNS], "dtype": "<f8", "order": "C",
                "compressor": None, "fill_value": None, "filters": [{"id": "grib", "var": name, "dtype": "float64"}]}
        return {f"{name}/.zarray": json.dumps(meta), f"{name}/0.0": [message_path, 0, size],
                f"{name}/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["y", "x"], **attributes})}
    refs = {".zgroup": '{"zarr_format": 2}', **array("t", {"coordinates": "latitude longitude"}),
            **array("latitude", {"units": "degrees_north"}), **array("longitude", {"units": "degrees_east"})}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"version": 1, "refs": refs}, file)


def check_scanning_modes(folder):
    problems_found = []
    for edition in (1, 2):
        for mode in range(0, 256, 0x20 if edition == 1 else 0x10):
            path = os.path.join(folder, f"mode_{mode:02x}_{edition}.grib")
            content = scanned(mode, edition)
            with open(path, "wb") as file:
                file.write(content)
            problems_found += raster_problems(variables(path)[0])
            write_kerchunk_set(path + ".json", path, len(content))
            group = gdal.OpenEx(f'REFS:"{path}.json"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
            values, latitudes, longitudes = (group.OpenMDArray(name).ReadAsArray() for name in ("t", "latitude", "longitude"))
            if misplaced(values, latitudes, longitudes):
                problems_found.append(f"{path}.json: values lie elsewhere")
            # GDAL's driver does not know columns that are consecutive, nor rows that run to the west.
            if mode & 0xa0 == 0 and not np.allclose(gdal.Open(path).ReadAsArray(), gdal.Open(variables(path)[0]).ReadAsArray()):
                problems_found.append(f"{path}: differs from GDAL's driver")
    print("\n".join(problems_found))
    print(f"{len(problems_found)} problems of 24 scanning modes")
    return 1 if problems_found else 0


# -- places of points ------------------------------------------------------------------------------


def coordinate_by_eccodes(content, key):
    handle = ctypes.c_void_p(ECCODES.codes_handle_new_from_message_copy(None, content, ctypes.c_size_t(len(content))))
    size = ctypes.c_size_t()
    ECCODES.codes_get_size(handle, key, ctypes.byref(size))
    array = (ctypes.c_double * size.value)()
    result = ECCODES.codes_get_double_array(handle, key, array, ctypes.byref(size))
    ECCODES.codes_handle_delete(handle)
    if result != 0:
        raise ValueError(f"ecCodes: {key}: {result}")
    return np.array(array)


def placed_messages():
    for edition in (1, 2):
        for number in (32, 48):
            yield f"reduced_gg_pl_{number}_grib{edition}", message(f"reduced_gg_pl_{number}_grib{edition}")
    sample = "/usr/share/eccodes/samples/reduced_gg_pl_32_grib1.tmpl"  # one value everywhere, in no bits
    if os.path.exists(sample):
        with open(sample, "rb") as file:
            yield "constant", file.read()
    path = os.path.join(DATA, "grib2/mercator.grib")
    if os.path.exists(path):
        with open(path, "rb") as file:
            yield "mercator", file.read()


def check_rotated():
    """RAP's grid: its corners are where the message says, by the CRS and by latitudes and longitudes."""
    path = os.path.join(DATA, "grib2/rap.tsoil.gdt32769.grib2")
    if not os.path.exists(path):
        return 0
    dataset = gdal.Open(f'REFS:"{path}":/st')
    group = gdal.OpenEx(f'REFS:"{path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    latitudes, longitudes = (group.OpenMDArray(name).ReadAsArray() for name in ("latitude", "longitude"))
    corners = ((latitudes[0, 0], longitudes[0, 0]), (latitudes[-1, -1], longitudes[-1, -1]))
    left, width, _, top, _, height = dataset.GetGeoTransform()
    crs = dataset.GetSpatialRef()
    crs.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    transformation = osr.CoordinateTransformation(crs, crs.CloneGeogCS() if not crs.IsDerivedGeographic() else geographic())
    problems_found = []
    for (row, column), (latitude, longitude), ours in zip(((833, 0), (0, 952)), ((-10.590603, 220.914154), (46.591976, 22.661009)), corners):
        x, y, _ = transformation.TransformPoint(left + (column + 0.5) * width, top + (row + 0.5) * height)
        for what, place in (("the CRS", (y, x)), ("coordinates", ours)):
            if abs(place[0] - latitude) > 1e-4 or abs((place[1] - longitude + 180) % 360 - 180) > 1e-4:
                problems_found.append(f"{path}: by {what}, a corner is at {place}, not {(latitude, longitude)}")
    print("\n".join(problems_found))
    return 1 if problems_found else 0


def geographic():
    crs = osr.SpatialReference()
    crs.ImportFromProj4("+proj=longlat +R=6371229 +no_defs")
    return crs


def places_by_geotransform(dataset):
    """Latitudes and longitudes of the pixels' centres; None where the raster has no place."""
    transform, crs = dataset.GetGeoTransform(can_return_null=True), dataset.GetSpatialRef()
    if transform is None or crs is None:
        return None
    crs, globe = crs.Clone(), osr.SpatialReference()
    globe.ImportFromProj4(f"+proj=longlat +a={crs.GetSemiMajor()!r} +b={crs.GetSemiMinor()!r} +no_defs")
    for each in (crs, globe):
        each.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    rows, columns = np.indices((dataset.RasterYSize, dataset.RasterXSize)).reshape(2, -1) + 0.5
    x, y = transform[0] + columns * transform[1], transform[3] + rows * transform[5]
    if crs.IsProjected() or crs.IsDerivedGeographic():
        places = osr.CoordinateTransformation(crs, globe).TransformPoints(np.column_stack((x, y)))
        x, y = np.array(places)[:, :2].T
    return y.reshape(dataset.RasterYSize, -1), x.reshape(dataset.RasterYSize, -1)


def apart(ours, theirs, turn=360):
    """The largest difference between degrees."""
    return np.abs((np.asarray(ours) - theirs + turn / 2) % turn - turn / 2).max()


PROJECTED = {"Nx": 16, "Ny": 31, "latitudeOfFirstGridPointInDegrees": 40.0, "longitudeOfFirstGridPointInDegrees": 250.0,
             "LoVInDegrees": 265.0, "DxInMetres": 50000, "DyInMetres": 70000}
CONES = {"tangent": {"Latin1InDegrees": 38.5, "Latin2InDegrees": 38.5}, "secant": {"Latin1InDegrees": 30.0, "Latin2InDegrees": 60.0}}


def projected_messages():
    """Lambert's and polar stereographic grids whose rows and columns run either way."""
    for edition in (1, 2):
        sample = f"polar_stereographic_pl_grib{edition}"
        polar = {key: value for key, value in PROJECTED.items() if key != "LoVInDegrees"}
        polar |= {"orientationOfTheGridInDegrees": 265.0} | ({"LaDInDegrees": 60.0} if edition == 2 else {})
        south = polar | {"latitudeOfFirstGridPointInDegrees": -40.0, "projectionCentreFlag": 128}
        grids = {"polar": polar, "south": south}
        grids |= {name: {"gridType": "lambert", **PROJECTED, **cone} for name, cone in CONES.items()}
        if edition == 2:
            grids |= {"south_of_equator": south | {"LaDInDegrees": 0.0}, "pole": polar | {"LaDInDegrees": 90.0},
                      "ellipsoid": grids["secant"] | {"shapeOfTheEarth": 5},
                      "polar_ellipsoid": polar | {"shapeOfTheEarth": 5}}
        for name, keys in grids.items():
            for mode in range(4):
                yield f"{name}_{edition}_{mode}", message(sample, **keys, iScansNegatively=mode & 1, jScansPositively=mode >> 1)


def check_projected(folder):
    """Latitudes and longitudes of projected grids, against the geotransform."""
    problems_found = []
    for name, content in projected_messages():
        path = os.path.join(folder, name + ".grib")
        with open(path, "wb") as file:
            file.write(content)
        arrays = [gdal.Open(f'REFS:"{path}":/{key}') for key in ("latitude", "longitude")]
        expected = places_by_geotransform(gdal.Open(variables(path)[0]))
        for key, array, places in zip(("latitude", "longitude"), arrays, expected):
            if not apart(array.ReadAsArray(), places) < 1e-6:
                problems_found.append(f"{name}: {key} is {apart(array.ReadAsArray(), places)} degrees apart from the geotransform")
    print("\n".join(problems_found))
    print(f"{len(problems_found)} problems of projected grids")
    return 1 if problems_found else 0


def check_coordinates(folder):
    """Latitudes and longitudes of grids that are computed here, against those of ecCodes."""
    problems_found = []
    ECCODES.codes_handle_new_from_message_copy.restype = ctypes.c_void_p
    for name, content in placed_messages():
        path = os.path.join(folder, name + ".grib")
        with open(path, "wb") as file:
            file.write(content)
        group = gdal.OpenEx(f'REFS:"{path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        for key in ("latitude", "longitude"):
            ours = group.OpenMDArray(key).ReadAsArray().ravel()
            theirs = coordinate_by_eccodes(content, key.encode() + b"s")
            difference = apart(ours, theirs) if ours.shape == theirs.shape else np.inf
            if not difference < 1e-5:
                problems_found.append(f"{name}: {key} differs by {difference} degrees from ecCodes'")
    # Points of a part of the globe have no places that are known: none are listed.
    path = os.path.join(folder, "part.grib")
    with open(path, "wb") as file:
        file.write(message("reduced_gg_pl_32_grib2", longitudeOfLastGridPointInDegrees=90.0))
    if "latitude" in gdal.OpenEx(f'REFS:"{path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup().GetMDArrayNames():
        problems_found.append("a part of the globe has latitudes")
    print("\n".join(problems_found))
    print(f"{len(problems_found)} problems of coordinates")
    return 1 if problems_found else 0


def main():
    with tempfile.TemporaryDirectory() as folder:
        if check_coordinates(folder) + check_projected(folder) + check_rotated() != 0:
            return 1
    with tempfile.TemporaryDirectory() as folder:
        if check_scanning_modes(folder) != 0:
            return 1
    with tempfile.TemporaryDirectory() as folder:
        for name, messages in files():
            with open(os.path.join(folder, name + ".grib"), "wb") as file:
                file.write(b"".join(messages))
        paths = sorted(glob.glob(os.path.join(folder, "*"))) + sorted(glob.glob(os.path.join(DATA, "grib2/*.grib*")))
        paths = [path for path in paths if not path.endswith((".json", ".idx"))]
        return compare(paths, problems, "files of GRIB messages are as sets what they are to GDAL")


if __name__ == "__main__":
    sys.exit(main())
