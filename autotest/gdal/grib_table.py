"""Prints for each GRIB file what GDAL's GRIB driver, ecCodes and this driver make of it, as a table.

    grib_table.py [--small] [FILE...]

Without FILE: the files of shared/data/grib2 and shared/data/weather next to the repository (REFS_SHARED_DATA names another folder of data)
and the samples of ecCodes; --small leaves out the largest, reduced grids of more than 100 rows from a pole to the equator. Each message of ecCodes must
be one band here, with its values, the places of its points, its valid time, level, unit and name; otherwise the status is 1. Latitudes
and longitudes must be where the geotransform and the CRS have the pixels, whatever ecCodes says. GDAL's driver knows fewer of these grids:
its results are printed for comparison alone. Without ecCodes the test is skipped.
"""

import collections
import ctypes
import glob
import os
import re
import sys

import numpy as np
from osgeo import gdal

import grib_file_test as grib

ECCODES, DATA = grib.ECCODES, grib.DATA
LIBC = ctypes.CDLL(None)
LIBC.fopen.restype = ctypes.c_void_p
ECCODES.codes_handle_new_from_file.restype = ctypes.c_void_p
GRIB_PRODUCT = 1  # CODES_GRIB
# Statistics of a parameter that newer versions of ecCodes (2.41) give a name of their own.
NAMES_OF_STATISTICS = {"mn2t": "t2m", "mx2t": "t2m", "avg_2t": "t2m"}
# Rarer parameters have numbers here (docs/grib.md).
NUMBERED = {"sm20": "parameter_2_0_22"}
LARGE = re.compile(r"reduced_(rotated_)?gg_pl_[0-9]{3,}_")


# -- ecCodes ---------------------------------------------------------------------------------------


class Message:
    """What ecCodes says of one message."""

    def __init__(self, handle):
        self.handle = ctypes.c_void_p(handle)
        self.grid = self.text("gridType")
        self.mode = self.number("iScansNegatively"), self.number("jScansPositively")
        self.name = self.text("cfVarName") or self.text("shortName")
        self.name = NAMES_OF_STATISTICS.get(self.name, self.name)
        if self.name == "unknown":
            self.name = self.text("shortName")
        date, time = self.number("validityDate"), self.number("validityTime")
        self.valid_time = f"{date // 10000:04}-{date // 100 % 100:02}-{date % 100:02}T{time // 100:02}:{time % 100:02}:00"
        self.units, self.level_type = self.text("units"), self.text("typeOfLevel")
        self.levels = self.surfaces()
        self.values, self.places = self.points()
        if self.number("bitsPerValue") == 0 and self.values is not None:
            # A constant is R * 10^-D (WMO, data template 5.0); ecCodes 2.28 leaves D out.
            self.values[:] = self.real("referenceValue") * 10.0 ** -self.number("decimalScaleFactor")
        if self.number("bitmapPresent"):
            self.values[self.values == self.real("missingValue")] = np.nan
        ECCODES.codes_handle_delete(self.handle)

    def surfaces(self):
        """Level, or top and bottom of a layer, in the unit of typeOfLevel."""
        if self.number("edition") == 1:
            keys = ("topLevel", "bottomLevel") if "Layer" in self.level_type else ("level",)
            return tuple(self.real(key) for key in keys)
        levels = []
        for which in ("First", "Second"):
            kind, factor, value = (self.number(f"{key}Of{which}FixedSurface") for key in ("type", "scaleFactor", "scaledValue"))
            # 2^31 - 1: what ecCodes has for a number that is missing
            if levels and (kind in (255, 0x7fffffff) or kind != self.number("typeOfFirstFixedSurface") or 0x7fffffff in (factor, value)):
                break
            levels.append(0.0 if 0x7fffffff in (factor, value) else value / 10.0 ** factor / (100 if kind == 100 else 1))
        return tuple(levels)

    def ignores_mode(self):
        """ecCodes 2.28 places the points of these grids as if the first row were the southernmost, and began in the west."""
        return self.grid in ("lambert", "mercator", "polar_stereographic") and self.mode != (0, 1)

    def points(self):
        """Values with their latitudes and longitudes; None for these where ecCodes knows none."""
        points = self.array("latLonValues")
        if points is None:
            return self.array("values"), None
        latitudes, longitudes, values = points.reshape(-1, 3).T
        # Older versions of ecCodes (2.28) say where the points are on the rotated globe: rows have one latitude.
        if self.grid in ("rotated_gg", "reduced_rotated_gg") and np.ptp(latitudes[:4]) == 0:
            latitudes, longitudes = self.rotated_back(np.radians(latitudes), np.radians(longitudes))
        return values.copy(), (latitudes, longitudes)

    def rotated_back(self, latitudes, longitudes):
        """Places on the globe: the rotated south pole is where it says (WMO, template 3.1)."""
        tilt, pole = np.radians(self.real("latitudeOfSouthernPoleInDegrees") + 90), self.real("longitudeOfSouthernPoleInDegrees")
        rotated = np.array([np.cos(latitudes) * np.cos(longitudes), np.cos(latitudes) * np.sin(longitudes), np.sin(latitudes)])
        turn = np.array([[np.cos(tilt), 0, -np.sin(tilt)], [0, 1, 0], [np.sin(tilt), 0, np.cos(tilt)]])
        x, y, z = turn @ rotated
        return np.degrees(np.arcsin(np.clip(z, -1, 1))), pole + np.degrees(np.arctan2(y, x))

    def text(self, key):
        size = ctypes.c_size_t(200)
        buffer = ctypes.create_string_buffer(size.value)
        failed = ECCODES.codes_get_string(self.handle, key.encode(), buffer, ctypes.byref(size))
        return "" if failed else buffer.value.decode()

    def number(self, key):
        result = ctypes.c_long()
        ECCODES.codes_get_long(self.handle, key.encode(), ctypes.byref(result))
        return result.value

    def real(self, key):
        result = ctypes.c_double()
        ECCODES.codes_get_double(self.handle, key.encode(), ctypes.byref(result))
        return result.value

    def array(self, key):
        """None where ecCodes has none."""
        size = ctypes.c_size_t()
        if ECCODES.codes_get_size(self.handle, key.encode(), ctypes.byref(size)):
            return None
        array = np.empty(size.value)
        pointer = array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        return None if ECCODES.codes_get_double_array(self.handle, key.encode(), pointer, ctypes.byref(size)) else array[:size.value]


def messages_of(path):
    ECCODES.codes_grib_multi_support_on(None)
    file = ctypes.c_void_p(LIBC.fopen(path.encode(), b"rb"))
    status = ctypes.c_int()
    while handle := ECCODES.codes_handle_new_from_file(None, file, GRIB_PRODUCT, ctypes.byref(status)):
        yield Message(handle)
    LIBC.fclose(file)


# -- this driver -----------------------------------------------------------------------------------


class Band:
    """A plane of an array, whose rows are as the array has them, and the raster that shows it."""

    def __init__(self, name, values, places, dataset, number):
        self.name, self.values, self.places, self.dataset = name, values, places, dataset
        self.items = dataset.GetRasterBand(number).GetMetadata()
        self.valid_time, self.units = self.items.get("TIME"), self.items.get("units")

    def levels(self):
        """The level, or top and bottom of a layer."""
        kind = self.items["GRIB_typeOfLevel"]
        for name, value in self.items.items():
            if re.fullmatch(f"NETCDF_DIM_{kind}(_[-+_.e0-9]+)?", name):
                bounds = self.items.get(name + "_BOUNDS")
                return tuple(float(text) for text in (bounds or value).strip("{}").split(","))
        return None


def places_of(group, shape, names):
    """Latitudes and longitudes of all points of a raster, from the coordinates of the set; None where it has none."""
    arrays = []
    for what in ("latitude", "longitude"):
        if what not in names:
            return None
        arrays.append(group.OpenMDArray(what).ReadAsArray())
    if arrays[0].ndim == 1 and len(shape) == 2:
        arrays = np.meshgrid(*arrays, indexing="ij")
    return tuple(array.reshape(shape) for array in arrays) if arrays[0].size == np.prod(shape) else None


def planes_of(array):
    """All planes of an array; a text, why it cannot be read, for those that cannot."""
    shape = [dimension.GetSize() for dimension in array.GetDimensions()]
    rank = min(len(shape), 2)
    try:
        values = array.ReadAsArray()
    except RuntimeError as error:
        return [str(error)] * int(np.prod(shape[:-rank]))
    return list(values.reshape(-1, *shape[-rank:]))


def bands_of(path):
    """All planes of the set. Those of points without a message hold NaN, as those of messages whose points are all missing do."""
    group = gdal.OpenEx(f'REFS:"{path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    names = group.GetMDArrayNames()
    for variable in grib.variables(path):
        dataset = gdal.Open(variable)
        name = dataset.GetRasterBand(1).GetMetadataItem("NETCDF_VARNAME")
        array = group.OpenMDArray(name)
        shape = [dimension.GetSize() for dimension in array.GetDimensions()][-2:]
        places = places_of(group, shape, names)
        for number, values in enumerate(planes_of(array), 1):
            yield Band(name, values, places, dataset, number)


# -- comparing -------------------------------------------------------------------------------------


def equal(ours, theirs):
    return ours.size == theirs.size and np.allclose(ours.ravel(), theirs.ravel(), rtol=1e-6, atol=1e-12, equal_nan=True)


def orders(shape):
    """The orders in which a message may have the points of a raster (flag table 3.4), as indices of the raster's points."""
    indices = np.arange(int(np.prod(shape))).reshape(shape)
    if len(shape) < 2:
        yield indices
        return
    for rows in (indices, indices[::-1]):
        for turned in (rows, rows[:, ::-1]):
            for picture in (turned, turned.T):
                yield picture.ravel()
                serpentine = picture.copy()
                serpentine[1::2] = serpentine[1::2, ::-1]
                yield serpentine.ravel()


def order_of(band, message):
    """The order of the points of a message in a band: that in which values are equal, and places where both know them."""
    if isinstance(band.values, str) or band.values.size != message.values.size:
        return None
    placed = band.places is not None and message.places is not None and not message.ignores_mode()
    for order in orders(band.values.shape):
        if equal(band.values.ravel()[order], message.values) and (not placed or places_equal(band, order, message)):
            return order
    return None


def places_equal(band, order, message):
    for ours, theirs, turn in zip(band.places, message.places, (None, 360)):
        apart = ours.ravel()[order] - theirs
        if turn is not None:
            apart = (apart + turn / 2) % turn - turn / 2
        if not np.abs(apart).max() < 1e-3:
            return False
    return True


def has_values(band, message):
    return not isinstance(band.values, str) and equal(np.sort(band.values.ravel()), np.sort(message.values))


def has_places(band, message):
    """None where ecCodes says none, or wrong ones."""
    if message.places is None or message.ignores_mode():
        return None
    return band.places is not None and order_of(band, message) is not None


def has_name(band, message):
    """Names have the product after them; a parameter that ecCodes does not know has its number here."""
    if message.name in ("unknown", "~", ""):
        return band.name.startswith(("parameter_", "table_"))
    if message.name in NUMBERED:
        return band.name.startswith(NUMBERED[message.name])
    return band.name == message.name or band.name.startswith(message.name + "_")


# Units of which ecCodes has other texts, or the names of fractions.
UNITS = {"Proportion": "1", "(0 - 1)": "1", "Numeric": "1", "dimensionless": "1", "~": "1", "(Code table 4.201)": "1"}


def plain_unit(text):
    """"m s**-1", "m s^-1" and "m s-1" are one unit."""
    text = UNITS.get(text, text)
    return re.sub(r"(\*\*|\^)(?=-?[0-9])", "", text)


def has_units(band, message):
    """Of probabilities newer versions of ecCodes alone know that they are in percent; None where ecCodes knows none."""
    if "_prob_" in band.name:
        return band.units == "%"
    if message.units in ("unknown", "", "~") or message.name in ("unknown", "~", ""):
        return None
    return plain_unit(band.units or "1") == plain_unit(message.units)


def has_level(band, message):
    levels = band.levels()
    return levels is not None and len(levels) == len(message.levels) and np.allclose(levels, message.levels, rtol=1e-9, atol=1e-12)


def geotransform_problem(path, band):
    """Whether latitudes and longitudes contradict the geotransform: None where there are not both."""
    if band.places is None or isinstance(band.values, str):
        return None
    expected = grib.places_by_geotransform(band.dataset)
    if expected is None:
        return None
    group = gdal.OpenEx(f'REFS:"{path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    if group.OpenMDArray("latitude").GetDimensionCount() == 1:
        latitudes, longitudes = band.places
        if (latitudes[-1, 0] - latitudes[0, 0]) * (expected[0][-1, 0] - expected[0][0, 0]) < 0:
            latitudes = latitudes[::-1]
        # Rows of Gaussian grids are shown at their mean distance.
        limits = abs(band.dataset.GetGeoTransform()[5]) / 2 if band.items.get("GRIB_gridType") == "regular_gg" else 1e-3, 1e-3
    else:
        latitudes, longitudes = (gdal.Open(f'REFS:"{path}":/{key}').ReadAsArray() for key in ("latitude", "longitude"))
        limits = 1e-3, 1e-3
    for key, ours, theirs, limit in zip(("latitude", "longitude"), (latitudes, longitudes), expected, limits):
        if not grib.apart(ours, theirs) < limit:
            return f"{key} is {grib.apart(ours, theirs):.6g} degrees apart from the geotransform"
    return ""


def pairs_of(messages, bands):
    """Each message with its band, or None; of equal fields that of the same name and time."""
    left = list(bands)
    for message in messages:
        fitting = [band for band in left if has_values(band, message)]
        fitting.sort(key=lambda band, message=message: (not has_name(band, message), band.valid_time != message.valid_time,
                                                        not has_level(band, message)))
        if fitting:
            left.remove(fitting[0])
        yield message, fitting[0] if fitting else None


def by_driver(path):
    """What GDAL's driver has: bands, or why there are none."""
    try:
        dataset = gdal.Open(path)
    except RuntimeError:
        return None
    return dataset if dataset.RasterXSize > 0 else None  # reduced grids have -1 columns


def places_by_driver(driver, bands):
    """How our geotransform and CRS compare with those of GDAL's driver."""
    if driver is None:
        return "-"
    if not grib.is_placed(driver):
        return "none there"
    datasets = {band.dataset.GetDescription(): band.dataset for band in bands}
    for dataset in datasets.values():
        columns = round((dataset.GetGeoTransform()[0] - driver.GetGeoTransform()[0]) / driver.GetGeoTransform()[1])
        for problem in grib.place_problems(dataset, driver, columns):
            return problem
    return "same"


def values_by_driver(driver, messages):
    """How many bands of GDAL's driver, which computes in single precision, have the values of a message of ecCodes."""
    if driver is None:
        return "-"
    count = 0
    for values, _ in grib.expected_bands(driver):
        count += any(np.allclose(np.sort(values.ravel()), np.sort(message.values), rtol=1e-5, equal_nan=True)
                     for message in messages if message.values.size == values.size)
    return f"{count}/{driver.RasterCount}"


def times_by_driver(driver, bands):
    if driver is None:
        return "-"
    times = collections.Counter(int(driver.GetRasterBand(n + 1).GetMetadataItem("GRIB_VALID_TIME").split()[0])
                                for n in range(driver.RasterCount))
    ours = collections.Counter(int(np.datetime64(band.valid_time).astype("datetime64[s]").astype(int)) for band in bands)
    return f"{sum((times & ours).values())}/{driver.RasterCount}"


# docs/files.md, "not read"
SPECTRAL = ("sh", "lambert_bf")
HEADINGS = ("file", "grid", "messages", "bands: GDAL", "REFS", "values = ecCodes", "GDAL", "places = ecCodes", "places = geotransform",
            "geotransform, CRS = GDAL", "valid time = ecCodes", "GDAL", "names = ecCodes", "units = ecCodes", "levels = ecCodes")


def counted(results, count):
    return "none" if set(results) == {None} else f"{sum(result is True for result in results)}/{count}"


def row_of(path):
    """The row of a file, and what is wrong with it."""
    messages, bands = list(messages_of(path)), list(bands_of(path))
    if all(message.grid in SPECTRAL for message in messages):
        unread = all(isinstance(band.values, str) and "spherical harmonics" in band.values or "spectral" in band.values for band in bands)
        row = (os.path.basename(path), messages[0].grid, len(messages), "-", len(bands), "error that says why" if unread else "WRONG",
               *["-"] * 9)
        sizes = {band.dataset.RasterXSize * band.dataset.RasterYSize for band in bands} == {messages[0].values.size}
        return row, ([] if unread and sizes else [f"{bands[0].values}, {bands[0].dataset.RasterXSize} values"])
    pairs = list(pairs_of(messages, bands))
    found = [(message, band) for message, band in pairs if band is not None]
    places = [has_places(band, message) for message, band in found]
    names, units, levels = ([check(band, message) for message, band in found] for check in (has_name, has_units, has_level))
    shown = {band.dataset.GetDescription(): band for _, band in found}
    transforms = [geotransform_problem(path, band) for band in shown.values()]
    times = sum(band.valid_time == message.valid_time for message, band in found)
    driver = by_driver(path)
    count = len(messages)
    problems = [f"{count - len(found)} messages are no band"] * (len(found) < count)
    unused = len([band for band in bands if isinstance(band.values, str) or not np.isnan(band.values).all()]) - len(
        [band for _, band in found if not np.isnan(band.values).all()])
    problems += [f"{unused} bands are no message"] * (unused > 0)
    problems += ["places differ from those of ecCodes"] * (False in places)
    problems += sorted({problem for problem in transforms if problem})
    problems += [f"{band.name} has the unit {band.units}, not {message.units}"
                 for (message, band), unit in zip(found, units) if unit is False]
    problems += [f"{band.name} is on the level {band.levels()}, not {message.levels}" for (message, band), level in zip(found, levels) if not level]
    problems += [f"{len(found) - times} valid times differ"] * (times < len(found))
    problems += [f"{band.name} is {message.name}" for message, band in found if not has_name(band, message)]
    row = (os.path.basename(path), messages[0].grid, count, "-" if driver is None else driver.RasterCount, len(bands),
           f"{len(found)}/{count}", values_by_driver(driver, messages),
           counted(places, count), counted([problem if problem is None else not problem for problem in transforms], len(shown)),
           places_by_driver(driver, bands), f"{times}/{count}", times_by_driver(driver, bands), f"{sum(names)}/{count}",
           counted(units, count), counted(levels, count))
    return row, problems


def is_grib(path):
    with open(path, "rb") as file:
        return file.read(4) == b"GRIB"


def main():
    names = sys.argv[1:]
    is_small = "--small" in names
    paths = [name for name in names if name != "--small"]
    if not paths:
        paths = sorted(glob.glob(f"{DATA}/grib2/*") + glob.glob(f"{DATA}/weather/*.grib*")) + sorted(glob.glob("/usr/share/eccodes/samples/*"))
        paths = [path for path in paths if is_grib(path) and not (is_small and LARGE.search(path))]
    print(" | ".join(HEADINGS))
    wrong = 0
    for path in paths:
        try:
            row, problems = row_of(path)
        except RuntimeError as error:
            row, problems = (os.path.basename(path),), [str(error)]
        print(" | ".join(str(cell) for cell in row), flush=True)
        for problem in problems:
            print(f"  {problem}")
        wrong += bool(problems)
    print(f"{len(paths) - wrong} of {len(paths)} files are read as ecCodes reads them")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
