"""Random groups of heterogeneous files joined in any order and grouping: the same bytes as all at once, and the values that
netCDF4-python reads of the files.

    combine_random_test.py PROGRAM [--rounds N] [--seed S] [test ...]
"""

import os
import random
import subprocess
import sys
import unittest

import numpy as np
from osgeo import gdal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from command_line import take_option  # noqa: E402
from own_folder import OwnFolder  # noqa: E402

try:
    import netCDF4
except ImportError:
    print("there is no module netCDF4")
    sys.exit(77)

ROUNDS, SEED = take_option("--rounds", 12), take_option("--seed", 33)
REFS = os.path.abspath(sys.argv.pop(1))
gdal.UseExceptions()

WHOLE = ("hours since 2000-01-01", "hours since 2000-01-02", "minutes since 1999-12-31", "seconds since 2000-01-01 06:00")
UNITS = (*WHOLE, "days since 2000-01-01")
ROWS, COLUMNS = 6, 8


def attempt(*arguments):
    return subprocess.run([REFS, *arguments], capture_output=True, text=True, check=False, timeout=300)


def write_file(name, hours, chance, kind):
    """A file of some hours, in one of the ways in which files of one series differ."""
    units = chance.choice(kind["units"])
    with netCDF4.Dataset(name, "w") as file:
        for dim, n in (("time", None), ("y", ROWS), ("x", COLUMNS)):
            file.createDimension(dim, n)
        for dim, n in (("y", ROWS), ("x", COLUMNS)):
            file.createVariable(dim, "f8", (dim,))[:] = np.arange(n)[::-1] if dim == "y" else np.arange(n)
        axis = file.createVariable("time", kind["time"], ("time",))
        axis.units = units
        dates = netCDF4.num2date(hours, UNITS[0])
        axis[:] = netCDF4.date2num(dates, units)
        v = file.createVariable("v", chance.choice(kind["types"]), ("time", "y", "x"), zlib=chance.random() < .5,
                                fill_value=chance.choice(kind["fills"]),
                                chunksizes=(chance.choice(kind["steps"]), chance.choice((ROWS, 3)), COLUMNS))
        v.set_auto_maskandscale(False)
        scale = chance.choice(kind["scales"])
        if scale is not None:
            v.scale_factor = scale
        info = np.iinfo(v.dtype) if v.dtype.kind in "iu" else None
        low, high = (info.min + 3, info.max - 3) if info else (-1000, 1000)
        values = np.array([chance.randint(max(low, -2**40), min(high, 2**40)) for _ in range(len(hours) * ROWS * COLUMNS)])
        v[:] = values.reshape(len(hours), ROWS, COLUMNS).astype(v.dtype)
        if chance.random() < .3 and "_FillValue" in v.ncattrs():
            v[0, 0, :3] = v._FillValue
        if chance.random() < .3:
            file.createVariable("n", "i4", ("time",))[:] = hours


def read_file(name):
    """Hours, and values by hour, missing ones NaN."""
    with netCDF4.Dataset(name) as file:
        time = file["time"]
        time.set_auto_mask(False)
        hours = netCDF4.date2num(netCDF4.num2date(time[:].astype("f8"), time.units), UNITS[0])
        return np.rint(hours * 3600) / 3600, np.ma.filled(file["v"][:].astype("f8"), np.nan)


def open_joined(name):
    return gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER)


def read_joined(name):
    return read_opened(open_joined(name))


def read_opened(dataset):
    root = dataset.GetRootGroup()
    time, v = root.OpenMDArray("time"), root.OpenMDArray("v")
    raw = v.ReadAsArray()
    values = raw.astype("f8")
    missing = v.GetNoDataValueAsDouble()
    if missing is not None:
        values[np.isnan(values) if np.isnan(missing) else raw == missing] = np.nan
    values = values * (v.GetScale() or 1) + (v.GetOffset() or 0)
    hours = netCDF4.date2num(netCDF4.num2date(time.ReadAsArray().astype("f8"), time.GetUnit()), UNITS[0])
    return np.rint(hours * 3600) / 3600, values


def random_kind(chance):
    types = chance.choice((["i2"], ["f4"], ["u1"], ["i1"], ["i2", "i4"], ["f4", "f8"], ["i2", "f4"], ["u1", "u2"], ["i8", "i4"]))
    time = chance.choice(("f8", "f4", "i4", "f8"))
    return {"units": chance.choice((UNITS[:1], UNITS[:2], WHOLE if time == "i4" else UNITS)), "time": time,
            "types": types, "fills": chance.choice(([None], [None], [7], [7, 9])), "steps": chance.choice(([1], [2], [1, 2, 3])), "scales": chance.choice(([None], [.5], [.5, .25]))}


def is_inline(master):
    """Whether v is in the master itself."""
    with netCDF4.Dataset(master) as file:
        return file["v"].ndim > 0


class Random(OwnFolder):
    def setUp(self):
        super().setUp()
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)

    def combine(self, names, output, chance):
        names = [*names]
        chance.shuffle(names)
        return attempt("combine", *names, "-q", "-o", output, "--along", "time")

    def group(self, names, chance, label):
        """Sets of single files joined in groups by chance; the last set, or what failed."""
        parts = [name + ".json" for name in names]
        while len(parts) > 1:
            chance.shuffle(parts)
            n = min(chance.randint(2, 4), len(parts))
            new = f"part_{label}_{len(parts)}.json"
            done = self.combine(parts[:n], new, chance)
            if done.returncode != 0:
                return done.stderr
            parts = [*parts[n:], new]
        os.replace(parts[0], "again.json")
        return None

    @staticmethod
    def write_files(label, n_files, chance, gap=0.):
        """Files of an archive, their number in a range, each up to three hours and, by that chance, a gap: kind, names,
        {hour: values}."""
        kind = random_kind(chance)
        names, expected, hour = [], {}, 0
        for i in range(chance.randint(*n_files)):
            n = chance.choice((1, 2, 3))
            names.append(f"{label}_{i}.nc")
            write_file(names[-1], np.arange(hour, hour + n), chance, kind)
            hour += n + (gap > 0 and chance.random() < gap)
            expected.update(zip(*read_file(names[-1])))
        return kind, names, expected

    def check_values(self, found, expected, what):
        """`found` is (hours, values), as readers give them."""
        self.assertEqual(sorted(expected), found[0].tolist(), what)
        for hour, values in zip(*found):
            np.testing.assert_allclose(values, expected[hour], rtol=1e-6, atol=1e-9, err_msg=str(what))

    def check_round(self, number, chance):
        kind, names, expected = self.write_files(f"r{number}", (2, 6), chance, gap=.1)
        for name in names:
            done = attempt("index", name, "-q", "-o", name + ".json", "--along", "time")
            self.assertEqual(done.returncode, 0, done.stderr)
        what = (SEED, number, kind)
        done = self.combine(names, "all.json", chance)
        if done.returncode != 0:
            self.assertEqual(done.returncode, 1, (what, done.stderr))
            self.assertNotEqual(done.stderr, "", what)
            return False
        self.check_values(read_joined("all.json"), expected, what)
        failed = self.group(names, chance, number)
        self.assertIsNone(failed, what)
        with open("all.json", "rb") as one, open("again.json", "rb") as other:
            self.assertEqual(one.read(), other.read(), what)
        if attempt("combine", *names, "-q", "-o", "all.nc", "--along", "time").returncode == 0:
            self.check_values(read_joined("all.nc"), expected, what)
        return True

    def test_groups_in_any_order_are_what_all_at_once_are(self):
        joined = 0
        for number in range(ROUNDS):
            with self.subTest(round=number):
                joined += self.check_round(number, random.Random(SEED * 1000003 + number))
        self.assertGreater(joined, ROUNDS // 3)
        print(f"{joined} of {ROUNDS} groups joined, the others refused")

    def check_appended(self, number, chance):
        """An archive that grows file by file has the values, and for refs diff is the same, as one made at once."""
        kind, names, expected = self.write_files(f"a{number}", (3, 6), chance)
        n_first, grown = chance.randint(2, len(names) - 1), 0
        for ending in ("json", "parq", "nc"):
            what, name, once = (SEED, number, ending, kind), f"a{number}.{ending}", f"a{number}_once.{ending}"
            if attempt("index", *names, "-q", "-o", once, "--along", "time").returncode != 0:
                continue
            made = attempt("index", *names[:n_first], "-q", "-o", name, "--along", "time")
            self.assertEqual(made.returncode, 0, (what, made.stderr))
            readers = []
            for added in names[n_first:]:
                readers.append((open_joined(name), read_joined(name)[0].size))
                done = attempt("append", name, added)
                if "was rewritten" in done.stderr:  # times of type f4 became f8
                    self.assertEqual(kind["time"], "f4", (what, done.stderr))
                    readers.clear()
                self.assertEqual(done.returncode, 0, (what, done.stderr))
                if ending == "nc" and is_inline(name):  # the file that readers have open is replaced
                    readers.clear()
            for reader, n_before in readers:
                before = {hour: expected[hour] for hour in sorted(expected)[:n_before]}
                self.check_values(read_opened(reader), before, what)
            self.assertEqual(attempt("diff", name, once).stdout, "", what)
            self.check_values(read_joined(name), expected, what)
            grown += 1
        return grown

    def test_what_is_appended_is_what_all_at_once_is(self):
        grown = 0
        for number in range(ROUNDS):
            with self.subTest(round=number):
                grown += self.check_appended(number, random.Random(SEED * 1000033 + number))
        self.assertGreater(grown, ROUNDS)

    def write_tile(self, name, place, sizes, chance):
        """A file at one place of tiles along time, step and lon; small variables of some of these dimensions, too."""
        t, s, x = place
        with netCDF4.Dataset(name, "w") as file:
            file.history = "made " + name
            for dim, n in (*zip(("time", "step", "lon"), sizes), ("lat", 2)):
                file.createDimension(dim, n)
            starts = (t * sizes[0], s * sizes[1], x * sizes[2])
            for dim, start, n, units in zip(("time", "step", "lon"), starts, sizes, ("hours since 2024-01-01", "hours", "degrees_east")):
                axis = file.createVariable(dim, "f8", (dim,))
                axis.units = units
                axis[:] = start + np.arange(n)
            lat = file.createVariable("lat", "f8", ("lat",))
            lat.units = "degrees_north"
            lat[:] = (10, 20)
            when = file.createVariable("valid_time", "f8", ("time", "step"))
            when.units = "hours since 2024-01-01"
            when[:] = np.add.outer(starts[0] + np.arange(sizes[0]), starts[1] + np.arange(sizes[1]))
            v = file.createVariable("v", "f4", ("time", "step", "lat", "lon"), fill_value=-9999, zlib=True)
            v.made_of = name
            v[:] = 100 * t + 10 * s + x
            if chance.random() < .8:
                file.createVariable("n", "i4", ("time", "step", "lon"))[:] = 100 * t + 10 * s + x

    def check_tiles(self, number, chance):
        along = ("--along", "time", "--along", "step", "--along", "lon")
        sizes = tuple(chance.choice(((1, 1, 3), (2, 1, 2), (1, 1, 1), (1, 2, 4))))
        all_places = [(t, s, x) for t in range(chance.choice((2, 3))) for s in range(2) for x in range(chance.choice((1, 2)))]
        places = chance.sample(all_places, len(all_places) - chance.randint(0, 2))
        names = []
        for place in places:
            names.append(f"t{number}_{'_'.join(map(str, place))}.nc")
            self.write_tile(names[-1], place, sizes, chance)
        done = attempt("combine", *sorted(names), "-q", "-o", "all.json", *along)
        self.assertEqual(done.returncode, 0, (number, done.stderr))
        parts = [*names]
        while len(parts) > 1:
            chance.shuffle(parts)
            n = min(chance.randint(2, 4), len(parts))
            new = f"tiles_{number}_{len(parts)}.json"
            done = attempt("combine", *parts[:n], "-q", "-o", new, *along)
            self.assertEqual(done.returncode, 0, (SEED, number, parts, n, done.stderr))
            parts = [*parts[n:], new]
        with open("all.json", "rb") as one, open(parts[0], "rb") as other:
            self.assertEqual(one.read(), other.read(), (SEED, number, sizes, names))
        root = gdal.OpenEx('REFS:"all.json"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        times, steps, longitudes = (root.OpenMDArray(dim).ReadAsArray().astype(int).tolist() for dim in ("time", "step", "lon"))
        v = root.OpenMDArray("v").ReadAsArray()
        for i, time in enumerate(times):
            for k, step in enumerate(steps):
                for x, longitude in enumerate(longitudes):
                    place = (time // sizes[0], step // sizes[1], longitude // sizes[2])
                    value = 100 * place[0] + 10 * place[1] + place[2] if place in places else -9999
                    self.assertEqual(v[i, k, :, x].tolist(), [value, value], (number, place))

    def test_tiles_in_any_groups_are_what_all_at_once_are(self):
        for number in range(ROUNDS):
            with self.subTest(round=number):
                self.check_tiles(number, random.Random(SEED * 1000003 + number))


if __name__ == "__main__":
    unittest.main()
