"""What refs combine makes of sets that are written here by hand: nothing is lost or invented, and sets that make no
sense end with a message.

    combine_test.py PROGRAM [test ...]
"""

import base64
import json
import os
import subprocess
import sys
import unittest

import numpy as np
from osgeo import gdal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from own_folder import OwnFolder  # noqa: E402

REFS = os.path.abspath(sys.argv.pop(1))
gdal.UseExceptions()


def attempt(*arguments):
    return subprocess.run([REFS, *arguments], capture_output=True, text=True, check=False, timeout=300)


def run(*arguments, status=0):
    """Standard error."""
    done = attempt(*arguments)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stderr


def read(name, variable):
    dataset = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER)
    return dataset.GetRootGroup().OpenMDArrayFromFullname("/" + variable).ReadAsArray()


def inline(values):
    return "base64:" + base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()


def array(path, dims, values, chunks=None, **attributes):
    """References of an array in one chunk, or with declared chunks and none of them."""
    values = np.asarray(values)
    shape = list(values.shape)
    document = {"zarr_format": 2, "shape": shape, "chunks": chunks or [max(n, 1) for n in shape], "dtype": values.dtype.str,
                "fill_value": None, "order": "C", "compressor": None, "filters": None}
    found = {path + "/.zarray": json.dumps(document), path + "/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": dims, **attributes})}
    if values.size > 0 and chunks is None:
        found[path + "/" + ".".join("0" * max(values.ndim, 1))] = inline(values)
    return found


def write(name, *arrays, **more):
    refs = {".zgroup": '{"zarr_format":2}', **more}
    for found in arrays:
        refs.update(found)
    with open(name, "w", encoding="utf-8") as file:
        json.dump({"version": 1, "refs": refs}, file)
    return name


class InFolder(OwnFolder):
    def setUp(self):
        super().setUp()
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)


class Hostile(InFolder):
    """Sets that no program writes."""

    def fragments(self, name, lengths, first):
        """v(t, x) of one step for each length, as an aggregation whose fragments are in the set."""
        arrays = [array("t", ["t"], np.arange(first, first + len(lengths), dtype="<f8"))]
        for i, length in enumerate(lengths):
            arrays.append(array(f"v_fragments/{i}/v", ["t", "x"], np.full((1, length), i, "<f4" if i == 0 else "<f8")))
        sizes = np.full((2, len(lengths)), -1, "<i4")
        sizes[0] = 1
        sizes[1, 0] = lengths[0]
        arrays.append(array("v_fragments/map", ["a", "b"], sizes))
        arrays.append(array("v_fragments/uris", ["a", "b"], np.zeros((len(lengths), 1), "|S1")))
        names = np.array([[f"v_fragments/{i}/v"] for i in range(len(lengths))], "|S15")
        arrays.append(array("v_fragments/identifiers", ["a", "b"], names))
        terms = " ".join(f"{term}: v_fragments/{term}" for term in ("map", "uris", "identifiers"))
        arrays.append(array("v", [], np.float32(0), chunks=[], aggregated_dimensions="t x", aggregated_data=terms))
        groups = {f"v_fragments{path}/.zgroup": '{"zarr_format":2}' for path in ("", "/0", "/1")}
        return write(name, *arrays, **groups)

    def test_fragments_of_other_shapes_are_refused(self):
        for lengths in ((16, 1), (16, 17), (128, 1), (1, 128)):
            self.fragments("a.json", lengths, 0)
            self.fragments("b.json", lengths, 2)
            said = run("combine", "a.json", "b.json", "-o", "all.json", "--along", "t", status=1)
            self.assertIn("has other dimensions", said, lengths)
            self.assertFalse(os.path.exists("all.json"))
        self.fragments("a.json", (16, 16), 0)
        self.fragments("b.json", (16, 16), 2)
        run("combine", "a.json", "b.json", "-o", "all.json", "--along", "t")
        np.testing.assert_array_equal(read("all.json", "v"), np.repeat([[0], [1], [0], [1]], 16, axis=1))

    def test_sets_without_steps_need_no_coordinate(self):
        def part(name, n, units, times):
            arrays = [array("v", ["t", "x"], np.zeros((n, 2), "<f4"))]
            if units:
                arrays.append(array("t", ["t"], np.array(times, "<f8"), units=units))
            return write(name, *arrays)
        part("a.json", 2, "days since 2000-01-01", [0, 1])
        part("b.json", 2, "hours since 2000-01-01", [48, 72])
        part("c.json", 0, None, [])
        run("combine", "a.json", "b.json", "c.json", "-o", "all.json", "--along", "t")
        np.testing.assert_array_equal(read("all.json", "t"), [0, 1, 2, 3])


class Times(InFolder):
    """Times in single precision, and other units."""

    HOURS = np.arange(24, dtype="f8")

    def part(self, name, units, times, dtype):
        times = np.asarray(times).astype(dtype)
        return write(name, array("time", ["time"], times, units=units, bounds="time_bnds"),
                     array("time_bnds", ["time", "b"], np.stack([times, times], axis=-1)),
                     array("issued", ["time"], times, units=units),
                     array("v", ["time", "x"], np.zeros((len(times), 2), "<f4")))

    def seconds(self, name, variable, origin):
        dataset = gdal.OpenEx(f'REFS:"{name}"', gdal.OF_MULTIDIM_RASTER)
        root = dataset.GetRootGroup()
        unit = root.OpenMDArrayFromFullname("/time").GetUnit().split()[0]
        values = root.OpenMDArrayFromFullname("/" + variable).ReadAsArray()
        self.assertEqual(values.dtype, "f8")
        return values * {"days": 86400, "hours": 3600, "seconds": 1}[unit] + origin

    def test_in_single_precision_become_double(self):
        day = 16436  # from 1979-01-01 to 2024-01-01
        self.part("a.json", "days since 1979-01-01", self.HOURS / 24, "<f4")
        self.part("b.json", "days since 2024-01-01", self.HOURS / 24, "<f4")
        self.part("c.json", "days since 1979-01-01", self.HOURS / 24 + 1, "<f8")
        self.part("d.json", "seconds since 2024-01-02", self.HOURS * 3600, "<f4")
        stored = (self.HOURS / 24).astype("<f4").astype("f8") * 86400
        expected = np.concatenate([stored, self.HOURS * 3600 + 86400, stored + day * 86400,
                                   self.HOURS * 3600 + (day + 1) * 86400])
        names = ["a.json", "b.json", "c.json", "d.json"]
        run("combine", *names, "-o", "all.json", "--along", "time")
        for variable in ("time", "time_bnds", "issued"):
            found = self.seconds("all.json", variable, 0)
            np.testing.assert_allclose(found if found.ndim == 1 else found[:, 0], expected, rtol=0, atol=1e-5)
        for first in (("a.json", "b.json"), ("d.json", "a.json"), ("c.json", "b.json"), ("b.json", "d.json")):
            rest = [name for name in names if name not in first]
            run("combine", *first, "-o", "part.json", "--along", "time")
            run("combine", *rest, "-o", "rest.json", "--along", "time")
            run("combine", "rest.json", "part.json", "-o", "again.json", "--along", "time")
            with open("all.json", "rb") as one, open("again.json", "rb") as other:
                self.assertEqual(one.read(), other.read(), first)


if __name__ == "__main__":
    unittest.main()
