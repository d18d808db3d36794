"""Times are compared as instants: files that count the same times in seconds, minutes, hours or days, from any origin, in integers,
floats or doubles and in any calendar are combined into the steps that cftime and, with --xarray, xarray read of them: in any order
and grouping, as tiles, by patterns, by append and with a master. Files of the same times are named as duplicates.

    times_property_test.py PROGRAM [--rounds N] [--seed S] [--xarray PYTHON] [test ...]

PYTHON is one that has xarray and cftime.
"""

import json
import random
import subprocess
import unittest

import numpy as np
from osgeo import gdal
from properties import Property, take_arguments  # ends without netCDF4

import cftime
import netCDF4

ROUNDS, SEED, XARRAY = take_arguments(rounds=12, seed=36)

UNITS = {"milliseconds": .001, "seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}
ORIGINS = ("1970-01-01", "1900-01-01 00:00:00", "1850-01-01", "0001-01-01", "2000-01-01 12:00", "1999-12-31 18:30:00", "2000-01-01 00:00:00 +05:30")
CALENDARS = ("standard", "standard", "proleptic_gregorian", "noleap", "360_day")
ROWS = 20  # more than the values of a small array
STEPS = (1, 30, 60, 600, 900, 3600, 10800, 86400)
DECODE = """
import json, sys, numpy as np, xarray
from xarray.coding.times import CFDatetimeCoder
for count in json.load(sys.stdin):
    time = xarray.Variable("time", np.array(count["values"], count["type"]), {"units": count["units"], "calendar": count["calendar"]})
    times = CFDatetimeCoder(use_cftime=True).decode(time, name="time").values
    print(json.dumps([[t.year, t.month, t.day, t.hour, t.minute, t.second, t.microsecond] for t in times]))
"""


class Count:
    """Times as a file has them: those of an archive, counted in some way."""

    def __init__(self, chance, archive, indices):
        self.calendar = archive.calendar
        for trial in range(200):
            unit, origin, self.type = chance.choice(tuple(UNITS)), chance.choice(archive.origins), chance.choice((*archive.types, *["f8"] * (trial > 100)))
            self.units = f"{unit} since {origin}"
            # Seconds from the origin to the start of the archive: whole ones.
            zero = round(cftime.date2num(archive.start, f"seconds since {origin}", archive.calendar))
            seconds = zero + archive.step * np.asarray(indices)
            exact = seconds / UNITS[unit]
            # What people compute: quotients, products by a rounded fraction, and these behind whole days.
            self.values = chance.choice((exact, seconds * (1 / UNITS[unit])))
            if self.type.startswith("i") and np.abs(exact).max() > np.iinfo(self.type).max:
                continue
            self.values = self.values.astype(self.type)
            if self.holds(exact, archive.step / UNITS[unit]):
                return
        raise RuntimeError("no way to count these times")

    def holds(self, exact, step):
        if self.type.startswith("i"):
            return np.array_equal(exact, np.rint(exact)) and np.array_equal(self.values, exact)
        if self.type == "f4":
            self.values = exact.astype("f4")
            return np.spacing(np.abs(self.values).max()) <= step / 2
        return True


class Archive:
    """Some times of equal steps, and files of them: (step, column) has the value 100 * step + column."""

    def __init__(self, label, chance):
        self.calendar = chance.choice(CALENDARS)
        self.types = chance.choice((["f8"], ["i4", "i8"], ["f4", "f8"], ["f4"], ["i4", "i8", "f4", "f8"]))
        self.origins = [origin for origin in ORIGINS if self.calendar != "360_day" or "-31" not in origin]
        self.step = chance.choice(STEPS)
        day = cftime.datetime(chance.randint(1950, 2040), chance.randint(1, 12), chance.randint(1, 28), calendar=self.calendar)
        self.start = day + np.timedelta64(self.step * chance.randint(0, 86399 // self.step), "s").item()
        self.chance, self.label, self.n = chance, label, chance.randint(3, 9)
        self.columns = chance.choice(((2,), (2, 3), (2, 1, 2)))
        self.names, self.counts = [], []
        begin = 0
        while begin < self.n:
            end = min(self.n, begin + chance.randint(1, 3))
            for tile in range(len(self.columns)):
                self.write(f"{label}_{begin}_{tile}.nc", np.arange(begin, end), tile)
            begin = end
        self.expected = 100 * np.arange(self.n)[:, None] + np.arange(sum(self.columns))

    def write(self, name, indices, tile):
        count = Count(self.chance, self, indices)
        begin = sum(self.columns[:tile])
        columns = np.arange(begin, begin + self.columns[tile])
        with netCDF4.Dataset(name, "w") as file:
            for dim, n in (("time", len(indices)), ("lat", ROWS), ("lon", len(columns)), ("bnds", 2)):
                file.createDimension(dim, n)
            time = file.createVariable("time", count.type, ("time",))
            time.units, time.calendar, time.standard_name, time.bounds = count.units, count.calendar, "time", "time_bnds"
            time[:] = count.values
            file.createVariable("time_bnds", count.type, ("time", "bnds"))[:] = np.stack([count.values] * 2, axis=-1)
            for dim, units, axis in (("lat", "degrees_north", np.arange(ROWS)), ("lon", "degrees_east", columns)):
                variable = file.createVariable(dim, "f8", (dim,))
                variable.units, variable[:] = units, axis
            file.createVariable("v", "f4", ("time", "lat", "lon"), chunksizes=(1, ROWS, len(columns)))[:] = (100 * indices[:, None] + columns)[:, None]
        self.names.append(name)
        self.counts.append((count, indices))

    def dates(self, indices):
        return [self.start + np.timedelta64(int(self.step * i), "s").item() for i in indices]


def decode(values, units, calendar):
    return cftime.num2date(np.asarray(values).astype("f8") if np.asarray(values).dtype.kind == "f" else values, units, calendar)


def read_result(name):
    root = gdal.OpenEx(f"REFS:{name}" if "*" in name else f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    time, bounds, v = (root.OpenMDArray(array) for array in ("time", "time_bnds", "v"))
    calendar = time.GetAttribute("calendar").Read()
    return time.ReadAsArray(), bounds.ReadAsArray(), time.GetUnit(), calendar, v.ReadAsArray()[:, 0]


class Times(Property):
    def assert_dates(self, archive, found, indices, margin, what):
        for date, wanted in zip(found, archive.dates(indices)):
            self.assertLessEqual(abs((date - wanted).total_seconds()), margin, what)

    def check(self, archive, name, what):
        values, bounds, units, calendar, v = read_result(name)
        self.assertEqual(v.shape, archive.expected.shape, what)
        np.testing.assert_array_equal(v, archive.expected, str(what))
        spacing = np.spacing(np.abs(values).max()) * UNITS[units.split()[0]] if values.dtype.kind == "f" else 0
        self.assert_dates(archive, decode(values, units, calendar), range(archive.n), spacing + 2e-6, (*what, units, values))
        self.assert_dates(archive, decode(bounds[:, 1], units, calendar), range(archive.n), spacing + 2e-6, (*what, units, bounds))
        self.decoded.append((archive, values, units, calendar, range(archive.n), spacing + 2e-6))

    def check_xarray(self):
        counts = [{"values": values.tolist(), "type": values.dtype.str[1:], "units": units, "calendar": calendar}
                  for _, values, units, calendar, _, _ in self.decoded]
        done = subprocess.run([XARRAY, "-c", DECODE], input=json.dumps(counts), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for (archive, _, units, _, indices, margin), line in zip(self.decoded, done.stdout.splitlines()):
            self.assert_dates(archive, [cftime.datetime(*date, calendar=archive.calendar) for date in json.loads(line)], indices, margin, units)
        print(f"{len(counts)} lists of times decoded by xarray")

    def run_refs(self, *arguments):
        done = self.attempt(*arguments)
        self.assertEqual(done.returncode, 0, (arguments, done.stderr))
        return done

    def group(self, archive, along):
        parts = [*archive.names]
        for number in range(100):
            if len(parts) == 1:
                return parts[0]
            archive.chance.shuffle(parts)
            n, output = archive.chance.randint(2, 3), f"{archive.label}_{number}.{archive.chance.choice(('json', 'parq'))}"
            self.run_refs("combine", *parts[:n], "-q", "-o", output, *along)
            parts = [*parts[n:], output]
        return None

    def check_duplicate(self, archive, what):
        """A file of times that others have, counted in another way."""
        index = archive.chance.randrange(len(archive.names))
        tile = int(archive.names[index][:-3].rpartition("_")[2])
        archive.write(f"{archive.label}_again.nc", archive.counts[index][1], tile)
        done = self.attempt("combine", *archive.chance.sample(archive.names, len(archive.names)), "-q", "-o", "twice.json", "--along", "time", "--along", "lon")
        self.assertEqual(done.returncode, 1, (what, done.stderr))
        self.assertIn("v: duplicate ", done.stderr, what)
        for name in (archive.names[index], archive.names[-1]):
            self.assertIn(name, done.stderr, what)

    def check_selection(self, archive, name, what):
        for i, date in enumerate(archive.dates(range(archive.n))):
            dataset = gdal.Open(f'REFS:"{name}":/v[time={date.isoformat()}]')
            self.assertEqual(dataset.RasterCount, 1, what)
            np.testing.assert_array_equal(dataset.ReadAsArray()[0], archive.expected[i], str(what))

    def check_round(self, number):
        archive = Archive(f"r{number}", random.Random(SEED * 1000003 + number))
        what = (SEED, number, archive.calendar, archive.step, [(count.units, count.type) for count, _ in archive.counts])
        for count, indices in archive.counts:  # as others read them
            margin = float(np.spacing(np.abs(count.values).max())) * UNITS[count.units.split()[0]] * 2 if count.type.startswith("f") else 0
            self.assert_dates(archive, decode(count.values, count.units, count.calendar), indices, margin + 2e-6, what)
            self.decoded.append((archive, count.values, count.units, count.calendar, indices, margin + 2e-6))
        along = ("--along", "time", *(("--along", "lon") if len(archive.columns) > 1 else ()))
        names = archive.chance.sample(archive.names, len(archive.names))
        self.run_refs("combine", *names, "-q", "-o", "all.json", *along)
        self.check(archive, "all.json", what)
        self.check_selection(archive, "all.json", what)
        self.run_refs("combine", *names, "-q", "-o", "all.nca", "--format", "cfa", *along)
        self.check(archive, "all.nca", (*what, "cfa"))
        self.run_refs("split", "all.json", "-q", "-o", "parts.nca")
        self.check(archive, "parts.nca", (*what, "split"))
        if len(archive.names) > 1:
            self.check(archive, f"{archive.label}_*.nc", (*what, "pattern"))
        self.check(archive, self.group(archive, along), (*what, "grouped"))
        if len(names) > 1:
            self.run_refs("combine", names[0], "-q", "-o", "grown.json", *along)
            for name in names[1:]:
                self.run_refs("append", "grown.json", name, "-q", *along)
            self.check(archive, "grown.json", (*what, "appended"))
        self.check_duplicate(archive, what)

    def test_of_one_instant_are_one_in_all_units_and_types(self):
        self.decoded = []
        for number in range(ROUNDS):
            with self.subTest(round=number):
                self.check_round(number)
        if XARRAY:
            self.check_xarray()

    def test_rounded_in_other_units_are_one(self):
        """Quotients and products differ in the last digit; so do floats of hours and of days."""
        hours = np.arange(24.)
        for label, units, values, columns in (("0", "hours", hours, (0, 1)), ("1", "days", hours * (1 / 24), (2, 3)), ("2", "days", hours / 24, (4,)),
                                              ("3", "days", (hours / 24).astype("f4"), (5,)), ("4", "minutes", (hours * 60).astype("i4"), (6,))):
            with netCDF4.Dataset(f"x{label}.nc", "w") as file:
                file.createDimension("time", 24)
                file.createDimension("x", len(columns))
                time = file.createVariable("time", values.dtype, ("time",))
                time.units, time[:] = units + " since 2000-01-01", values
                file.createVariable("x", "f8", ("x",))[:] = columns
                file.createVariable("v", "f4", ("time", "x"), chunksizes=(1, len(columns)))[:] = hours[:, None] + columns
        for along in ((), ("--along", "time", "--along", "x"), ("--along", "x")):
            for output in ("all.json", "all.nca"):
                self.run_refs("combine", *(f"x{i}.nc" for i in (3, 1, 4, 0, 2)), "-q", "-o", output, *along,
                              *(("--format", "cfa") if output == "all.nca" else ()))
                root = gdal.OpenEx(f'REFS:"{output}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
                np.testing.assert_array_equal(root.OpenMDArray("v").ReadAsArray(), hours[:, None] + np.arange(7))


if __name__ == "__main__":
    unittest.main()
