"""What a layer shows, found by GDAL: the variables of a source, and place, times and range of values of one of them.

Nothing here needs QGIS, and all of it may run in a thread of its own.
"""

import contextlib
import dataclasses
import datetime
import math
import os
import re

import numpy as np
from osgeo import gdal


class SourceError(Exception):
    """A source or a variable that cannot be shown; the text is for the user."""


# -- names ----------------------------------------------------------------------------------------

_NAME = re.compile(r'REFS:"(?P<set>[^"]+)"(?::(?P<number>#\d+)?(?P<path>/[^\[?]*)?(?P<selection>\[[^\]]*\])?)?(?P<options>\?.*)?')


@dataclasses.dataclass(frozen=True)
class Name:
    """A name of a dataset, in its parts: REFS:"set":#0/path[selection]?options."""
    set: str
    path: str = ""
    selection: tuple = ()
    options: tuple = ()
    number: str = ""

    def __str__(self):
        selection = f"[{','.join(self.selection)}]" if self.selection else ""
        variable = f":{self.number}{self.path}{selection}" if self.number or self.path else ""
        options = "?" + "&".join(self.options) if self.options else ""
        return f'REFS:"{self.set}"{variable}{options}'

    def select(self, *parts):
        return dataclasses.replace(self, selection=self.selection + parts)

    def with_options(self, *options):
        return dataclasses.replace(self, options=self.options + options)

    def variable(self, text):
        """The name of a variable of this set, which may have a selection: t2m, /group/t2m[level=850]."""
        match = re.fullmatch(r"/*([^\[]*)(?:\[(.*)\])?", text)
        if match is None:
            raise SourceError(f'"{text}" is no name of a variable: expected t2m, /group/t2m or t2m[level=850]')
        selection = tuple(match.group(2).split(",")) if match.group(2) else ()
        return dataclasses.replace(self, path="/" + match.group(1), selection=selection)


def parse(text):
    """The Name that a text in quotes is, or None."""
    match = _NAME.fullmatch(text)
    if match is None:
        return None
    part = match.groupdict("")
    return Name(part["set"], part["path"], tuple(part["selection"][1:-1].split(",")) if part["selection"] else (),
                tuple(part["options"][1:].split("&")) if part["options"] else (), part["number"])


def is_remote(location):
    return "://" in location or location.startswith("/vsi")


def name_of(source):
    """The Name that a file, a folder, a pattern, a URL or a name of the driver stands for, in any working folder."""
    source = source.strip()
    name = parse(source)
    if name is None:
        location = source[len("REFS:"):].strip('"') if source.upper().startswith("REFS:") else source
        name = Name(location)
    if not name.set:
        raise SourceError("no source: expected a file, a folder, a pattern, a URL or a name of a dataset")
    if is_remote(name.set):
        return name
    return dataclasses.replace(name, set=os.path.abspath(os.path.expanduser(name.set)))


# -- GDAL -----------------------------------------------------------------------------------------

@contextlib.contextmanager
def collected_messages():
    """GDAL's warnings and errors of this thread as [(class, text)], which are printed nowhere else."""
    messages = []
    gdal.PushErrorHandler(lambda kind, _, text: messages.append((kind, text)))
    try:
        yield messages
    finally:
        gdal.PopErrorHandler()


def open_raster(name, messages):
    """The dataset, or None; other code of the process decides whether GDAL raises exceptions."""
    try:
        return gdal.OpenEx(str(name), gdal.OF_RASTER, allowed_drivers=["REFS"])
    except RuntimeError as error:
        if str(error) not in (text for _, text in messages):
            messages.append((gdal.CE_Failure, str(error)))
        return None


def reason(name, messages):
    """Why a dataset did not open: GDAL's first error, which is that of the driver."""
    errors = [text for kind, text in messages if kind >= gdal.CE_Failure]
    return errors[0] if errors else f"{name} is not a set or a data file that the driver REFS opens"


def warnings_of(messages):
    return [text for kind, text in messages if kind == gdal.CE_Warning]


# -- variables ------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Variable:
    name: Name
    text: str  # what the driver says of it
    asset: str = ""  # which of the sets of a file it is in: the asset of a STAC item


_TITLED_SET = re.compile(r"set \d+ \((.*)\)")


def _listed(name, dataset, messages):
    if name.path:
        return [Variable(name, _title_of(dataset, name.path.rpartition("/")[2]))]
    found = []
    for sub, text in dataset.GetSubDatasets():
        one = parse(sub)
        if one is None:
            continue
        if one.path:
            found.append(Variable(one, text))
        else:
            inner = open_raster(one, messages)  # one of several sets of a file
            below = _listed(one, inner, messages) if inner is not None else []
            titled = _TITLED_SET.fullmatch(text)
            found += [dataclasses.replace(each, asset=titled[1]) for each in below] if titled else below
    return found


def variables_of(source):
    """The variables that a source offers, and the driver's warnings."""
    name = name_of(source)
    with collected_messages() as messages:
        dataset = open_raster(name, messages)
        if dataset is None:
            raise SourceError(reason(name, messages))
        found = _listed(name, dataset, messages)
        if not found:
            raise SourceError(f"{name.set}: no variable has two or more dimensions")
        return found, warnings_of(messages)


def _sets_of(name, messages):
    """The Names of the sets of a file that has several."""
    dataset = open_raster(name, messages)
    names = [parse(sub) for sub, _ in dataset.GetSubDatasets()] if dataset is not None else []
    return [one for one in names if one is not None and not one.path]


def find_variables(source, variable):
    """The Names of a variable of a source: one, or that of each set of a file with several that has it."""
    whole = name_of(source)
    name = whole.variable(variable)
    with collected_messages() as messages:
        if open_raster(name, messages) is not None:
            return [name]
        others = [one.variable(variable) for one in _sets_of(whole, messages)]
        return [one for one in others if open_raster(one, messages) is not None] or [name]


def find_variable(source, variable):
    """The Name of a variable of a source, of which it may select a part: t2m, /group/t2m, t2m[level=850]. Of several sets, the first."""
    return find_variables(source, variable)[0]


def check_one(source, variable):
    """Raises SourceError where several sets of a file have the variable."""
    found = find_variables(source, variable)
    if len(found) > 1:
        sets = ", ".join(str(dataclasses.replace(one, path="", selection=())) for one in found)
        raise SourceError(f"{variable} is in {len(found)} sets of {found[0].set}: give the source as one of {sets}")


# -- times ----------------------------------------------------------------------------------------

_SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400, "weeks": 7 * 86400}
_UNIT_WORDS = {"s": "seconds", "sec": "seconds", "secs": "seconds", "second": "seconds", "min": "minutes", "mins": "minutes",
               "minute": "minutes", "h": "hours", "hr": "hours", "hrs": "hours", "hour": "hours", "d": "days", "day": "days",
               "week": "weeks"}
_DAY = 86400


def unit_seconds(units):
    """How long the unit of a time axis is, "hours since 2024-06-01"; of one that is not known, a second."""
    word = units.split(" ", 1)[0].lower()
    return _SECONDS.get(_UNIT_WORDS.get(word, word), 1)


def periods_of(begins, unit):
    """[(begin, end)]: each time lasts until the next one, the last as long as the one before; one alone lasts one unit."""
    lengths = [abs(following - begin) for begin, following in zip(begins, begins[1:])]
    last = lengths[-1] if lengths else datetime.timedelta(seconds=unit)
    if lengths and begins[-1] < begins[0]:
        lengths.insert(0, lengths[0])  # what follows in time stands before
    else:
        lengths.append(last)
    return [(begin, begin + length) for begin, length in zip(begins, lengths)]


def _months_between(first, second):
    """Whole months between times of one day of the month and time of the day, else 0."""
    if first.replace(year=2000, month=1) != second.replace(year=2000, month=1):
        return 0
    return abs((second.year - first.year) * 12 + second.month - first.month)


def step_of(begins, unit):
    """(number, unit) of the shortest step between times, in the longest unit of which it is a whole number. Steps of 28 to
    31 days that differ are months, also those from the middle of one to that of the next."""
    pairs = list(zip(begins, begins[1:]))
    lengths = [abs((second - first).total_seconds()) for first, second in pairs] or [unit]
    shortest, months = min(lengths), 0
    if pairs and shortest >= 28 * _DAY:
        months = _months_between(*pairs[lengths.index(shortest)])
        if max(lengths) <= 31 * _DAY and shortest < max(lengths):
            months = 1
    if months:
        return (months // 12, "years") if months % 12 == 0 else (months, "months")
    for seconds, name in (_DAY, "days"), (3600, "hours"), (60, "minutes"):
        number = round(shortest / seconds)
        if number >= 1 and abs(number * seconds - shortest) < .5:
            return number, name
    return max(round(shortest), 1), "seconds"


def _bands(dataset):
    return [dataset.GetRasterBand(number + 1) for number in range(dataset.RasterCount)]


def _has_times_of(dataset, dimension):
    """Whether the values of a dimension are the times of the bands."""
    return all(f" {dimension}={band.GetMetadataItem('TIME')} " in f" {band.GetDescription()} " for band in _bands(dataset))


def _changes_time(dataset, dimension):
    """Whether the times of bands change along a dimension, as along the steps of a forecast."""
    others, found = [f"NETCDF_DIM_{one}" for one in _dimensions(dataset) if one != dimension], {}
    times = [(tuple(band.GetMetadataItem(one) for one in others), band.GetMetadataItem("TIME")) for band in _bands(dataset)]
    return any(found.setdefault(place, time) != time for place, time in times)


def _time_dimension(dataset):
    """The dimension along which the bands have times, or None: that of forecasts is the one of steps."""
    if dataset.GetRasterBand(1).GetMetadataItem("TIME") is None:
        return None
    found = [one for one in _dimensions(dataset) if _has_times_of(dataset, one)]
    return found[0] if found else next((one for one in reversed(_dimensions(dataset)) if _changes_time(dataset, one)), None)


def _begins(dataset):
    """The time of each band, or None where one is not a date of the Gregorian calendar, which QGIS has."""
    try:
        texts = [dataset.GetRasterBand(number + 1).GetMetadataItem("TIME") for number in range(dataset.RasterCount)]
        return [datetime.datetime.fromisoformat(text) for text in texts]
    except (TypeError, ValueError):
        return None


# -- range of values ------------------------------------------------------------------------------

# Samples along a side of the raster, spread evenly. Where that would touch more chunks along the side than MOST_WINDOWS,
# so many windows.
SAMPLES, MOST_WINDOWS = 512, 8
LOW_CUT, HIGH_CUT = .02, .98


def _windows(size, chunk):
    """[(start, size)] along a side, and the pixels that are read of each."""
    step = -(-size // SAMPLES)
    if (size - 1) // chunk < MOST_WINDOWS:
        return [(0, size)], -(-size // step)
    count = min(chunk, SAMPLES // MOST_WINDOWS)
    return [(number * (size - count) // (MOST_WINDOWS - 1), count) for number in range(MOST_WINDOWS)], count


def _samples(band):
    block = band.GetBlockSize()
    columns, width = _windows(band.XSize, block[0])
    rows, height = _windows(band.YSize, block[1])
    scale, offset, nodata = band.GetScale(), band.GetOffset(), band.GetNoDataValue()
    found = []
    for y, ysize in rows:
        for x, xsize in columns:
            values = band.ReadAsArray(x, y, xsize, ysize, width, height)
            if values is None:
                raise RuntimeError("no pixels")
            values = values[values != nodata] if nodata is not None else values.ravel()
            values = values[np.isfinite(values)].astype(float)
            found.append(values * (1 if scale is None else scale) + (offset or 0))
    return np.concatenate(found)


def cut(samples):
    """The range without outliers. Where that is one value only, as of rain that falls in few places, of all values."""
    if samples.size == 0:
        return 0., 1.
    samples = np.sort(samples)
    last = samples.size - 1
    low, high = samples[int(LOW_CUT * last)], samples[math.ceil(HIGH_CUT * last)]
    if high <= low:
        low, high = samples[0], samples[-1]
    return float(low), float(high if high > low else low + 1)


def _range_of(name, dataset, messages):
    """Of the first, the middle and the last time."""
    last = dataset.RasterCount
    try:
        return cut(np.concatenate([_samples(dataset.GetRasterBand(number)) for number in sorted({1, 1 + last // 2, last})]))
    except RuntimeError as error:
        messages.append((gdal.CE_Failure, str(error)))
        raise SourceError(reason(name, messages)) from error


# -- one variable ---------------------------------------------------------------------------------

@dataclasses.dataclass
class Dimension:
    name: str
    values: list
    unit: str


@dataclasses.dataclass
class Raster:
    """What is shown of a variable. `periods` has the begin and end of each band, or is empty; `steps` what the time dimension has
    for each band where that is not its time."""
    name: Name
    title: str
    unit: str
    least: float
    most: float
    time_dimension: str = None
    periods: list = dataclasses.field(default_factory=list)
    step: tuple = None
    steps: list = dataclasses.field(default_factory=list)
    warnings: list = dataclasses.field(default_factory=list)

    def for_each_time(self):
        """[(name, title, period)] of a layer for each time. Where times are selected, one is selected among these."""
        others = tuple(part for part in self.name.selection if part.partition("=")[0] != self.time_dimension)
        is_whole = others == self.name.selection
        found = []
        for number, period in enumerate(self.periods):
            text = period[0].isoformat(timespec="milliseconds" if period[0].microsecond else "seconds")
            part = f"{self.time_dimension}=" + (f"#{number}" if is_whole else self.steps[number] if self.steps else text)
            found.append((dataclasses.replace(self.name, selection=others + (part,)), f"{self.title} {text}", period))
        return found


def _title_of(dataset, variable):
    return dataset.GetMetadataItem(f"{variable}#long_name") or dataset.GetMetadataItem(f"{variable}#standard_name") or variable


def _dimensions(dataset):
    """Those along which the bands are."""
    return [one for one in (dataset.GetMetadataItem("NETCDF_DIM_EXTRA") or "").strip("{}").split(",") if one]


def _other_dimensions(dataset, time):
    return [one for one in _dimensions(dataset) if one != time]


def _values_along(dataset, dimension):
    bands = (dataset.GetRasterBand(number + 1) for number in range(dataset.RasterCount))
    return list(dict.fromkeys(band.GetMetadataItem(f"NETCDF_DIM_{dimension}") for band in bands))


def _open_variable(name, messages):
    dataset = open_raster(name, messages)
    if dataset is not None and dataset.RasterCount > 0:
        return dataset
    failure = reason(name, messages)
    with collected_messages() as ignored:
        whole_name = dataclasses.replace(name, path="", selection=())
        whole = open_raster(whole_name, ignored)
        paths = [one.name.path for one in _listed(whole_name, whole, ignored)] if whole is not None else []
    if paths and name.path not in paths:
        paths = [path[1:] for path in paths]
        most = 40
        raise SourceError(f'{name.set}: no variable "{name.path[1:]}": expected one of its {len(paths)} rasters: '
                          + ", ".join(paths[:most]) + (", …" if len(paths) > most else ""))
    raise SourceError(failure)


def dimensions_of(name):
    """The dimensions of a variable between which the user chooses: all but time and those of the map."""
    with collected_messages() as messages:
        dataset = _open_variable(name, messages)
        others = _other_dimensions(dataset, _time_dimension(dataset))
        return [Dimension(one, values, dataset.GetMetadataItem(f"{one}#units") or "")
                for one in others if len(values := _values_along(dataset, one)) > 1]


def _turn(name, dataset, longitudes, messages):
    """The name with columns from -180 or 0 on. What cannot be turned stays as it is."""
    place = dataset.GetGeoTransform(can_return_null=True)
    if longitudes == "AS_IS" or place is None:
        return name, dataset
    with collected_messages() as said:
        other = name.with_options(f"LONGITUDES={longitudes or '-180'}")
        turned = open_raster(other, said)
        moved = turned.GetGeoTransform(can_return_null=True) if turned is not None else None
    if longitudes is not None:
        messages += said
    return (name, dataset) if moved is None or moved[0] == place[0] else (other, turned)


def _has_place(dataset):
    return dataset.GetGeoTransform(can_return_null=True) is not None or dataset.GetGCPCount() > 0


def _has_latitudes_along_rows(dataset, geolocation):
    """Longitudes of one dimension are those of columns for gdalwarp, also where they lie along the other dimension."""
    longitudes = gdal.Open(geolocation["X_DATASET"]) if "X_DATASET" in geolocation else None
    return longitudes is not None and longitudes.RasterYSize == 1 and longitudes.RasterXSize != dataset.RasterXSize


def _place_advice(name, dataset):
    geolocation = dataset.GetMetadata("GEOLOCATION")
    if geolocation and _has_latitudes_along_rows(dataset, geolocation):
        return f"its rows follow latitudes: gdalmdimtranslate -array name={name.path},transpose=[…] and -a_srs make a map of it"
    if geolocation:
        return "gdalwarp -geoloc makes a map of it"
    return "gdal_translate -a_srs and -a_ullr give it one"


def _select_first(name, dataset, time, messages):
    """One band for each time: of the dimensions that nothing selects, the first element."""
    selected = {part.partition("=")[0] for part in name.selection}
    free = [f"{one}=#0" for one in _other_dimensions(dataset, time) if one not in selected]
    for one in _other_dimensions(dataset, time) if time not in selected else []:
        values = _values_along(dataset, one)
        if one not in selected and len(values) > 1:
            unit = dataset.GetMetadataItem(f"{one}#units") or ""
            messages.append((gdal.CE_Warning, f"{one} has {len(values)} values: the first, {values[0]} {unit}, is shown: "
                                              f"[{one}=#1] behind the variable shows the next".replace(" ,", ",")))
    if free:
        name = name.select(*free)
        dataset = _open_variable(name, messages)
    for one in _other_dimensions(dataset, time):
        values = _values_along(dataset, one)
        if len(values) > 1:
            raise SourceError(f"{name}: {one} has {len(values)} values here, and a layer shows one: expected a selection such as [{one}=#0]")
    return name, dataset


def describe(name, longitudes=None):
    """The Raster of a variable. Dimensions beside time of which nothing is selected are shown at their first element.

    longitudes: "-180", "0" or "AS_IS"; None: -180 where a grid crosses that.
    """
    with collected_messages() as messages:
        dataset = _open_variable(name, messages)
        time = _time_dimension(dataset)
        begins = _begins(dataset) if time is not None else None
        if begins is not None:
            name, dataset = _select_first(name, dataset, time, messages)
            begins = _begins(dataset)
        elif time is not None:
            messages.append((gdal.CE_Warning, f"{time} has dates that QGIS does not know: the layer has no times"))
        name, dataset = _turn(name, dataset, longitudes, messages)
        if not _has_place(dataset):
            messages.append((gdal.CE_Warning, f"{name}: has no place, and lies at the numbers of its pixels: {_place_advice(name, dataset)}"))
        variable = dataset.GetRasterBand(1).GetMetadataItem("NETCDF_VARNAME") or name.path.rpartition("/")[2]
        least, most = _range_of(name, dataset, messages)
        raster = Raster(name, dataset.GetMetadataItem(f"{variable}#long_name") or variable, dataset.GetRasterBand(1).GetUnitType() or "",
                        least, most, warnings=warnings_of(messages))
        if begins:
            unit = unit_seconds(dataset.GetMetadataItem(f"{time}#units") or "")
            raster.time_dimension, raster.periods, raster.step = time, periods_of(begins, unit), step_of(begins, unit)
            if not _has_times_of(dataset, time):
                raster.steps = [band.GetMetadataItem(f"NETCDF_DIM_{time}") for band in _bands(dataset)]
        return raster
