"""Files of one archive combined in any grouping, in any order, and with parts of any form give what netCDF4-python reads of them
and, with --xarray, what xarray combines of them: along one to three dimensions, with holes, homogeneous and heterogeneous.

    combine_property_test.py PROGRAM [--rounds N] [--seed S] [--xarray PYTHON] [test ...]

PYTHON is one that has xarray, dask and netCDF4.
"""

import base64
import itertools
import json
import random
import subprocess
import unittest

import numpy as np
from osgeo import gdal
from properties import Property, take_arguments  # ends without netCDF4

import netCDF4

ROUNDS, SEED, XARRAY = take_arguments(rounds=9, seed=35)

DIMS = ("time", "level", "lon")
EPOCH = "hours since 2000-01-01"
SETS = ("json", "json.zst", "parq")
MASTERS = ("nc", "0.4.nca", "0.5.nca", "1.13.nca")
FORMS = (*SETS, "icechunk", *MASTERS)
LABELS = {"sets": (("file", "json", "parq"), SETS), "v3": (("v3",), SETS), "icechunk": (("file", "json", "icechunk"), ("icechunk",)),
          "masters": (("file", *MASTERS), MASTERS), "both": (("file", *SETS, *MASTERS), SETS), "any": (("file", *FORMS), FORMS)}

# What a master cannot have as one fragment: a set whose steps lie between those of others, or that has fragments itself.
REFUSALS = ("cannot be one fragment", "cannot be a fragment", "overlap along", "cover the same region", "aggregations cannot be nested", "expected equal lengths at one start")

COMBINE = """
import sys, numpy as np, xarray
output, *names = sys.argv[1:]
with xarray.open_mfdataset(names, combine="by_coords", join="outer", data_vars="all", coords="minimal", compat="override") as found:
    hours = (found.time.values - np.datetime64("2000-01-01")) / np.timedelta64(1, "h")
    v = found.v.transpose("time", "level", "lon", "lat").values
    np.savez(output, time=hours, level=found.level.values, lon=found.lon.values, v=v.astype("f8"))
"""


class Archive:
    """Files at places of a grid, and the values that netCDF4 reads of them: {(hour, level, lon): values along lat}."""

    def __init__(self, label, chance):
        self.chance, self.label = chance, label
        self.along = DIMS[:chance.choice((1, 1, 2, 3))]
        self.sizes = [chance.choice((1, 2, 3)) for _ in DIMS]
        counts = [chance.choice((2, 3)) if dim in self.along else 1 for dim in DIMS]
        self.is_uniform = chance.random() < .5
        self.kind = {"types": chance.choice((["i2"], ["f4"], ["i2", "i4"], ["f4", "f8"])), "scales": chance.choice(([None], [.5], [.5, .25])),
                     "fills": chance.choice(([-9999], [-9999, -8888])), "units": chance.choice(([EPOCH], [EPOCH, "hours since 2000-01-02", "days since 1999-12-31"]))}
        if self.is_uniform:
            self.kind = {name: values[:1] for name, values in self.kind.items()}
        steps = [[1, *(chance.choice((1, n)) for n in self.sizes[1:])] for _ in range(3)]
        self.steps = steps[:1] if self.is_uniform else steps
        self.is_packed = chance.random() < .5
        places = list(itertools.product(*map(range, counts)))
        n_holes = chance.randint(0, 2) if len(self.along) > 1 else 0
        self.places = chance.sample(places, len(places) - n_holes)
        self.expected, self.names = {}, []
        for place in self.places:
            self.names.append(f"{label}_{'_'.join(map(str, place))}.nc")
            self.write(self.names[-1], place)
            self.read(self.names[-1])

    def write(self, name, place):
        """An element that no other has at each point: whole numbers that each type and packing holds."""
        chance, starts = self.chance, [i * n for i, n in zip(place, self.sizes)]
        with netCDF4.Dataset(name, "w") as file:
            for dim, n in (*zip(DIMS, self.sizes), ("lat", 2)):
                file.createDimension(dim, n)
            units = chance.choice(self.kind["units"])
            for dim, start, n in zip(DIMS, starts, self.sizes):
                axis = file.createVariable(dim, "f8", (dim,))
                axis.units = {"time": units, "level": "hPa", "lon": "degrees_east"}[dim]
                axis[:] = start + np.arange(n)
                if dim == "time":
                    axis[:] = netCDF4.date2num(netCDF4.num2date(axis[:], EPOCH), units)
            lat = file.createVariable("lat", "f8", ("lat",))
            lat.units, lat[:] = "degrees_north", (10, 20)
            v = file.createVariable("v", chance.choice(self.kind["types"]), (*DIMS, "lat"), fill_value=chance.choice(self.kind["fills"]), zlib=self.is_packed,
                                    shuffle=False, chunksizes=(*chance.choice(self.steps), 2))
            v.set_auto_maskandscale(False)
            scale = chance.choice(self.kind["scales"])
            if scale is not None:
                v.scale_factor = scale
            index = np.indices((*self.sizes, 2))
            values = sum(factor * (index[i] + start) for i, (factor, start) in enumerate(zip((512, 32, 2, 1), (*starts, 0)))).astype(v.dtype)
            if chance.random() < .3:
                values[chance.choice((slice(None), 0)), ..., 0, :] = v._FillValue
            v[:] = values

    def read(self, name):
        with netCDF4.Dataset(name) as file:
            hours = netCDF4.date2num(netCDF4.num2date(file["time"][:], file["time"].units), EPOCH)
            v = np.ma.filled(file["v"][:].astype("f8"), np.nan)
            for i, k, x in np.ndindex(*self.sizes):
                self.expected[round(float(hours[i]), 6), float(file["level"][k]), float(file["lon"][x])] = v[i, k, x]


def read_result(name):
    """The same of what was combined; elements of which no file has any are left out where all are missing."""
    root = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    time, level, lon, v = (root.OpenMDArray(array) for array in (*DIMS, "v"))
    raw = v.ReadAsArray()
    values, missing = raw.astype("f8"), v.GetNoDataValueAsDouble()
    if missing is not None:
        values[np.isnan(values) if np.isnan(missing) else raw == missing] = np.nan
    values = values * (v.GetScale() or 1) + (v.GetOffset() or 0)
    hours = netCDF4.date2num(netCDF4.num2date(time.ReadAsArray().astype("f8"), time.GetUnit()), EPOCH)
    return [np.round(hours, 6), level.ReadAsArray(), lon.ReadAsArray()], values


def make_v3(name, output):
    """The same set as Zarr version 3; false where a codec of version 2 has no name in it."""
    with open(name, encoding="utf-8") as file:
        refs = json.load(file)["refs"]
    made = {"zarr.json": json.dumps({"zarr_format": 3, "node_type": "group", "attributes": json.loads(refs.get(".zattrs", "{}"))})}
    types = {"<f4": "float32", "<f8": "float64", "<i2": "int16", "<i4": "int32", "<i8": "int64"}
    for key, value in refs.items():
        path, _, last = key.rpartition("/")
        if last == ".zarray":
            array, attributes = json.loads(value), json.loads(refs.get(path + "/.zattrs", "{}"))
            codecs = [{"name": "bytes", "configuration": {"endian": "little"}}]
            packings = [codec for codec in (*(array["filters"] or ()), array["compressor"]) if codec]
            if array["dtype"] not in types or any(codec["id"] != "zlib" for codec in packings):
                return False
            codecs += [{"name": "numcodecs.zlib", "configuration": {"level": codec["level"]}} for codec in packings]
            made[path + "/zarr.json"] = json.dumps({
                "zarr_format": 3, "node_type": "array", "shape": array["shape"], "data_type": types[array["dtype"]], "codecs": codecs,
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": array["chunks"]}}, "fill_value": array["fill_value"] or 0,
                "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "."}},
                "dimension_names": attributes.pop("_ARRAY_DIMENSIONS"), "attributes": attributes})
        elif not last.startswith(".z"):
            made[key] = value if not isinstance(value, str) or value.startswith("base64:") else "base64:" + base64.b64encode(value.encode("latin-1")).decode()
    with open(output, "w", encoding="utf-8") as file:
        json.dump({"version": 1, "refs": made}, file)
    return True


class Combining(Property):
    def combine(self, archive, names, output):
        """The form is the end of the name: "x.0.4.nca" is a master of CFA-0.4."""
        names = [*names]
        archive.chance.shuffle(names)
        version = [form[:-4] for form in MASTERS[1:] if output.endswith(form)]
        cfa = ("--format", "cfa", "--cfa-version", *version) if version else ()
        return self.attempt("combine", *names, "-q", "-o", output, *cfa, *(word for dim in archive.along for word in ("--along", dim)))

    def check(self, archive, name, what):
        axes, values = read_result(name)
        for axis, i in zip(axes, range(3)):
            self.assertEqual(sorted({key[i] for key in archive.expected}), axis.tolist(), what)
        for index, key in zip(np.ndindex(*map(len, axes)), itertools.product(*(axis.tolist() for axis in axes))):
            wanted = archive.expected.get(key, np.full(2, np.nan))
            np.testing.assert_allclose(values[index], wanted, rtol=1e-6, err_msg=f"{what} {key}")

    def check_xarray(self, archive, what):
        subprocess.run([XARRAY, "-c", COMBINE, "wanted.npz", *archive.names], check=True, capture_output=True)
        with np.load("wanted.npz") as wanted:
            keys = itertools.product(*(np.round(wanted[dim], 6).tolist() for dim in DIMS))
            for index, key in zip(np.ndindex(*wanted["v"].shape[:3]), keys):
                np.testing.assert_allclose(archive.expected.get(key, np.full(2, np.nan)), wanted["v"][index], rtol=1e-6, err_msg=f"{what} {key}")

    def make_part(self, archive, name, form):
        """A file as it is, or as a set of that form."""
        if form == "file":
            return name
        output = f"{name}.{form if form != 'v3' else 'json'}"
        done = self.combine(archive, [name], output) if form in MASTERS else self.attempt("index", name, "-q", "-o", output)
        self.assertEqual(done.returncode, 0, done.stderr)
        if form == "v3" and not make_v3(output, output):
            return name
        return output

    def group(self, archive, parts, label, forms):
        """Groups by chance until one is left; the first refusal where there is one."""
        for number in itertools.count():
            if len(parts) == 1:
                return parts[0], None
            archive.chance.shuffle(parts)
            n = min(archive.chance.randint(2, 4), len(parts))
            output = f"{label}_{number}.{archive.chance.choice(forms)}"
            done = self.combine(archive, parts[:n], output)
            if done.returncode != 0:
                return None, (parts[:n], output, done.stderr)
            parts = [*parts[n:], output]

    def check_round(self, number, counts):
        archive = Archive(f"r{number}", random.Random(SEED * 1000003 + number))
        what = (SEED, number, archive.along, archive.kind)
        if XARRAY:
            self.check_xarray(archive, what)
            counts["by xarray"] += 1
        form = archive.chance.choice(FORMS)
        done = self.combine(archive, archive.names, f"all.{form}")
        self.assertEqual(done.returncode, 0, (what, done.stderr))
        self.check(archive, f"all.{form}", what)
        counts["at once"] += 1
        for label, (part_forms, forms) in LABELS.items():
            parts = [self.make_part(archive, name, archive.chance.choice(part_forms)) for name in archive.names]
            result, refusal = self.group(archive, parts, f"r{number}_{label}", forms)
            if refusal:
                parts, output, message = refusal
                self.assertEqual(label, "any", (what, refusal))
                self.assertTrue(output.endswith((".nc", ".nca")), (what, refusal))
                self.assertTrue(any(word in message for word in REFUSALS), (what, refusal))
                counts[f"refused, {label}"] += 1
                continue
            self.check(archive, result, (what, label, parts))
            counts[f"in groups, {label}"] += 1

    def test_any_grouping_order_and_form_gives_the_same(self):
        counts = dict.fromkeys(("at once", "by xarray", *(f"in groups, {label}" for label in LABELS), "refused, any"), 0)
        for number in range(ROUNDS):
            with self.subTest(round=number):
                self.check_round(number, counts)
        print(", ".join(f"{n} {what}" for what, n in counts.items()))
        refused = counts.pop("refused, any")
        counts["in groups, any"] += refused
        self.assertEqual({counts[word] for word in counts if word != "by xarray"}, {ROUNDS})
        self.assertLessEqual(refused, ROUNDS // 2)


if __name__ == "__main__":
    unittest.main()
