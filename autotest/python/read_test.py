"""gdal_refs: what it reads is what NumPy and netCDF4 have.

usage: read_test.py FOLDER_OF_PACKAGE PROGRAM
"""

import concurrent.futures
import json
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest

PACKAGE, PROGRAM = sys.argv[1:3]
sys.path.insert(0, PACKAGE)
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(1, os.path.join(HERE, "..", "server"))

try:
    import numpy as np
except ImportError as error:
    print(f"left out: {error}")
    sys.exit(77)

import gdal_refs  # noqa: E402
from served import Folder, Server  # noqa: E402

try:
    import netCDF4
except ImportError:
    netCDF4 = None

try:
    import h5py
except ImportError:
    h5py = None

SAMPLE = os.path.join(ROOT, "data", "sample.json")
SHAPE = (24, 81, 121)  # of t2m


def random_item(random, size, kinds):
    """An item of a key."""
    kind = random.choice(kinds)
    if kind == "integer":
        return int(random.integers(-size, size))
    if kind == "slice":
        start, stop = (int(random.integers(-size - 2, size + 3)) for _ in range(2))
        return slice(start, stop, int(random.choice([-7, -2, -1, 1, 2, 5])))
    if kind == "booleans":
        return random.random(size) < 0.1
    return random.integers(-size, size, random.integers(0, 6))


def orthogonal(values, key):
    """All combinations, by NumPy."""
    for dim in reversed(range(values.ndim)):
        values = values[(slice(None),) * dim + (key[dim],)]
    return values


class Reads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dataset = gdal_refs.open(SAMPLE)
        cls.t2m = cls.dataset["t2m"]
        cls.all = cls.t2m[...]

    def test_ranges_are_those_of_numpy(self):
        random = np.random.default_rng(1)
        for turn in range(200):
            key = tuple(random_item(random, size, ["integer", "slice"]) for size in SHAPE)
            with self.subTest(turn=turn, key=key):
                np.testing.assert_array_equal(self.t2m[key], self.all[key])

    def test_all_combinations_of_indices_are_those_of_numpy(self):
        random = np.random.default_rng(2)
        for turn in range(200):
            key = tuple(random_item(random, size, ["integer", "slice", "booleans", "indices"])
                        for size in SHAPE)
            with self.subTest(turn=turn, key=key):
                np.testing.assert_array_equal(self.t2m.oindex[key], orthogonal(self.all, key))

    def test_points_are_those_of_numpy(self):
        random = np.random.default_rng(3)
        for turn in range(200):
            n = random.integers(0, 20)
            points = [random.integers(-size, size, (2, n)) for size in SHAPE]
            dims = random.permutation(3)[:random.integers(1, 4)]
            key = tuple(points[dim] if dim in dims else slice(None, None, 3) for dim in range(3))
            with self.subTest(turn=turn, dims=dims):
                first = sorted(dims) + [dim for dim in range(3) if dim not in dims]
                moved = self.all.transpose(first)
                rest = (slice(None, None, 3),) * (3 - len(dims))
                expected = moved[(slice(None),) * len(dims) + rest][
                    tuple(points[dim] for dim in sorted(dims))]
                np.testing.assert_array_equal(self.t2m.vindex[key], expected)

    def test_one_element_is_a_scalar(self):
        self.assertEqual(self.t2m[0, 0, 0], self.all[0, 0, 0])
        self.assertEqual(self.t2m[0, 0, 0].shape, ())

    def test_ellipses_stand_for_all_other_dimensions(self):
        np.testing.assert_array_equal(self.t2m[..., 3], self.all[..., 3])
        np.testing.assert_array_equal(self.t2m[2], self.all[2])

    def test_indices_outside_are_errors(self):
        for key in [(24,), (slice(None), 81), (slice(None), slice(None), [0, 121]), (0, 0, 0, 0)]:
            with self.subTest(key=key), self.assertRaises(IndexError):
                self.t2m[key]

    def test_points_are_one_plan_of_requests(self):
        with gdal_refs.open(SAMPLE) as dataset:
            random = np.random.default_rng(4)
            points = tuple(random.integers(0, size, 1000) for size in SHAPE)
            np.testing.assert_array_equal(dataset["t2m"].vindex[points], self.all[points])
            counted = dataset.counters
            self.assertEqual(counted["chunks_decoded"], 8)
            self.assertEqual(counted["requests"], 1)

    def test_threads_read_one_dataset(self):
        with gdal_refs.open(SAMPLE) as dataset, concurrent.futures.ThreadPoolExecutor(8) as pool:
            rows = pool.map(lambda i: dataset["t2m"][i % 24], range(96))
            for i, row in enumerate(rows):
                np.testing.assert_array_equal(row, self.all[i % 24])

    def test_pickling_sends_the_name(self):
        copy = pickle.loads(pickle.dumps(self.dataset))
        self.assertLess(len(pickle.dumps(self.dataset)), 1000)
        np.testing.assert_array_equal(copy["t2m"][3], self.all[3])
        self.assertIs(pickle.loads(pickle.dumps(self.dataset)), copy)

    def test_children_of_fork_and_spawn_read(self):
        for method in ("fork", "spawn"):
            with self.subTest(method=method), \
                    multiprocessing.get_context(method).Pool(2) as pool:
                sums = pool.map(sum_of, [(self.dataset, i) for i in range(6)])
                self.assertEqual(sums, [int(self.all[i].sum()) for i in range(6)])

    def test_datasets_are_freed_when_nobody_uses_them(self):
        import gc
        import weakref

        gc.disable()
        self.addCleanup(gc.enable)
        dataset = gdal_refs.open(SAMPLE)
        dataset["t2m"][0]
        seen = weakref.ref(dataset)
        del dataset
        self.assertIsNone(seen())

    def test_what_is_closed_is_not_read(self):
        dataset = gdal_refs.open(SAMPLE)
        array = dataset["t2m"]
        dataset.close()
        with self.assertRaises(ValueError):
            array[0]


def sum_of(job):
    dataset, i = job
    return int(dataset["t2m"][i].sum())


@unittest.skipIf(netCDF4 is None, "there is no netCDF4")
class Files(unittest.TestCase):
    """The sample as netCDF4 has it, and files that are written here."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def check(self, name, reference):
        dataset = gdal_refs.open(name)
        with netCDF4.Dataset(reference) as file:
            file.set_auto_maskandscale(False)
            self.assertEqual({array.name for array in dataset.arrays.values()}, set(file.variables))
            for array in dataset.arrays.values():
                variable = file[array.name]
                with self.subTest(array=array.name):
                    self.assertEqual(array.dims, variable.dimensions)
                    np.testing.assert_array_equal(array[...], variable[...])
                    self.assertEqual(list(array.attrs), list(variable.ncattrs()))
                    for key in variable.ncattrs():
                        np.testing.assert_array_equal(array.attrs[key], variable.getncattr(key))
                        self.assertEqual(np.asarray(array.attrs[key]).dtype.kind,
                                         np.asarray(variable.getncattr(key)).dtype.kind)

    def test_sample_is_as_netcdf4_has_it(self):
        file = os.path.join(ROOT, "data", "sample.nc")
        self.check(SAMPLE, file)
        self.check(file, file)

    def write(self, name, scale, first):
        with netCDF4.Dataset(self.path(name), "w") as file:
            file.createDimension("time", None)
            file.createDimension("x", 5)
            time = file.createVariable("time", "i4", "time")
            time.units = "hours since 2020-01-01"
            time[:] = range(first, first + 3)
            v = file.createVariable("v", "i2", ("time", "x"), fill_value=-9)
            v.scale_factor = scale
            v.set_auto_maskandscale(False)
            v[:] = np.arange(15).reshape(3, 5) + first
            if first == 0:
                v[1, 1] = -9

    def test_files_of_one_pattern_are_one_dataset(self):
        for i in range(4):
            self.write(f"a{i}.nc", 0.5, 3 * i)
        dataset = gdal_refs.open(self.path("a*.nc"))
        self.assertEqual(dataset["v"].shape, (12, 5))
        self.assertFalse(dataset["v"].is_aggregation)
        self.assertEqual(dataset.unlimited(), {"time"})
        np.testing.assert_array_equal(dataset["v"][9], np.arange(5) + 9)

    def test_files_with_other_packing_are_one_array(self):
        for i in range(4):
            self.write(f"a{i}.nc", 0.5 + i, 3 * i)
        v = gdal_refs.open(self.path("a*.nc"))["v"]
        self.assertTrue(v.is_aggregation)
        expected = np.concatenate([(np.arange(15.).reshape(3, 5) + 3 * i) * (0.5 + i)
                                   for i in range(4)])
        expected[1, 1] = v.attrs["_FillValue"]
        np.testing.assert_array_equal(v[...], expected)
        np.testing.assert_array_equal(v.oindex[[11, 0, 5], [4, 0]], expected[[11, 0, 5]][:, [4, 0]])
        np.testing.assert_array_equal(v.vindex[[11, 0, 5], [4, 0, 3]],
                                      expected[[11, 0, 5], [4, 0, 3]])
        self.assertEqual(v.preferred_chunks, (3, 5))

    def test_masters_are_read_as_their_fragments(self):
        for i in range(3):
            self.write(f"a{i}.nc", 0.5 + i, 3 * i)
        made = subprocess.run(
            [PROGRAM, "index", *(self.path(f"a{i}.nc") for i in range(3)), "-o",
             self.path("master.nc")], capture_output=True, text=True, check=False)
        if made.returncode != 0 and "netcdf" in made.stderr:
            self.skipTest(made.stderr)
        self.assertEqual(made.returncode, 0, made.stderr)
        v = gdal_refs.open(self.path("master.nc"))["v"]
        self.assertTrue(v.is_aggregation)
        self.assertEqual(v.shape, (9, 5))
        self.assertEqual(v.preferred_chunks, (3, 5))
        self.assertEqual(v[8, 4], 20 * 2.5)
        v.dataset.cancel()
        with self.assertRaises(gdal_refs.RefsError) as raised:
            print(v.preferred_chunks)
        self.assertEqual(raised.exception.code, "CANCELLED")

    def test_texts_are_texts(self):
        with netCDF4.Dataset(self.path("texts.nc"), "w") as file:
            file.createDimension("x", 3)
            file.createDimension("n", 4)
            file.createVariable("s", str, "x")[:] = np.array(["a", "", "böse"], dtype=object)
            letters = file.createVariable("c", "S1", ("x", "n"))
            letters[:] = netCDF4.stringtochar(np.array(["abcd", "e", ""], dtype="S4"))
            file.setncattr_string("words", ["one", "two"])
            file.number = np.int16(3)
        dataset = gdal_refs.open(self.path("texts.nc"))
        self.assertEqual(list(dataset["s"][...]), ["a", "", "böse"])
        self.assertEqual(list(dataset["s"].oindex[[2, 0]]), ["böse", "a"])
        self.assertEqual(list(dataset["s"].vindex[[2, 0, 2]]), ["böse", "a", "böse"])
        self.assertEqual(dataset["c"][0].tobytes(), b"abcd")
        self.assertEqual(dataset.groups[""]["words"], ["one", "two"])
        self.assertEqual(dataset.groups[""]["number"], 3)

    def test_compounds_have_the_fields_of_the_file(self):
        inner = np.dtype([("a", "i4"), ("b", "f4", (2,))])
        kind = np.dtype([("in", inner), ("n", "i4")])
        values = np.array([(((1, (2, 3)), 4)), (((5, (6, 7)), 8))], dtype=kind)
        with netCDF4.Dataset(self.path("compound.nc"), "w") as file:
            file.createDimension("x", 2)
            file.createCompoundType(inner, "inner")
            file.createVariable("v", file.createCompoundType(kind, "outer"), "x")[:] = values
        subprocess.run([PROGRAM, "index", self.path("compound.nc"), "-o", self.path("compound.json")],
                       check=True, capture_output=True)
        for name in ("compound.nc", "compound.json"):
            with self.subTest(name=name):
                found = gdal_refs.open(self.path(name))["v"]
                self.assertEqual(found.dtype, kind)
                np.testing.assert_array_equal(found[...], values)
                np.testing.assert_array_equal(found.oindex[[1, 0]]["in"]["b"], values["in"]["b"][::-1])
                np.testing.assert_array_equal(found.vindex[[1, 1]]["n"], [8, 8])

    def test_compounds_are_in_the_byte_order_of_the_machine(self):
        array = {"zarr_format": 2, "shape": [1], "chunks": [1], "order": "C", "fill_value": None,
                 "dtype": [["a", ">i4"], ["b", "<i2"]], "compressor": None, "filters": None}
        with open(self.path("big.json"), "w", encoding="utf-8") as file:
            json.dump({".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps(array),
                       "v/0": "\0\0\1\2\3\0"}, file)
        found = gdal_refs.open(self.path("big.json"))["v"]
        self.assertTrue(found.dtype.isnative)
        self.assertEqual(found[...].tolist(), [(258, 3)])
        self.assertEqual(found.fill.dtype.names, ("a", "b"))

    def test_fields_that_numpy_cannot_have_are_left_as_bytes(self):
        fields = {"twice": [["a", "<i4"], ["a", "<i4"]], "number": [[1, "<i4"]],
                  "scalar_shape": [["a", "<i4", 3]], "null_shape": [["a", "<i4", None]],
                  "two_shapes": [["a", "<i4", [1], [1]]], "object": [["a", "|O"], ["b", "<i4"]],
                  "nested": [["a", [["b", "<i4"], ["b", "<i4"]]]]}
        refs = {".zgroup": '{"zarr_format": 2}', "good/0": "\1\0\0\0"}
        for name, kind in {**fields, "good": [["a", "<i4"]]}.items():
            refs[f"{name}/.zarray"] = json.dumps({
                "zarr_format": 2, "shape": [1], "chunks": [1], "order": "C", "fill_value": None,
                "dtype": kind, "compressor": None, "filters": None})
        with open(self.path("fields.json"), "w", encoding="utf-8") as file:
            json.dump(refs, file)
        dataset = gdal_refs.open(self.path("fields.json"))
        self.assertEqual(dataset["good"][...].tolist(), [(1,)])
        for name in fields:
            with self.subTest(name=name):
                found = dataset[name]
                self.assertEqual((found.dtype.kind, found.dtype.names), ("V", None))
                self.assertEqual(found[...].tobytes(), bytes(found.dtype.itemsize))

    def test_files_of_metadata_and_of_fragments_are_told_apart(self):
        """Metadata are fetched before it is known that the set has an aggregation."""
        for i in range(2):
            array = {"zarr_format": 2, "shape": [1, 4], "chunks": [1, 4], "dtype": "|u1", "order": "C",
                     "fill_value": None, "compressor": None, "filters": None}
            refs = {".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps(array), "v/0.0": chr(i) * 4, "v/.zattrs": json.dumps(
                {"_ARRAY_DIMENSIONS": ["time", "x"], "scale_factor": 1.0 + i})}
            with open(self.path(f"part{i}.json"), "w", encoding="utf-8") as file:
                json.dump(refs, file)
        subprocess.run([PROGRAM, "combine", self.path("part0.json"), self.path("part1.json"), "--along", "time", "-o",
                        self.path("packed.json")], check=True, stderr=subprocess.DEVNULL)
        folder = Folder()
        self.addCleanup(folder.close)
        server = Server(folder)
        self.addCleanup(server.close)
        with open(self.path("packed.json"), encoding="utf-8") as file:
            refs = json.load(file)["refs"]
        for name, key in enumerate(["v/.zattrs", "v/.zarray", "v_fragments/0/v/0.0", "v_fragments/1/v/0.0"]):
            value = refs[key] if not refs[key].startswith("base64:") else bytes([name - 2] * 4)
            folder.write(str(name), value)
            refs[key] = [server.url(name), 0, len(value)]
        with open(self.path("packed.json"), "w", encoding="utf-8") as file:
            json.dump(refs, file)
        self.assertEqual(gdal_refs.open(self.path("packed.json"))["v"][...].tolist(), [[0] * 4, [2] * 4])

    @unittest.skipIf(shutil.which("cc") is None, "there is no cc")
    def test_takes_no_functions_of_libraries_that_others_show_to_all(self):
        source, library = self.path("others.c"), self.path("libothers.so")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <stdlib.h>\n" + "".join(
                f"void {name}(void) {{ abort(); }}\n" for name in ("inflateInit2_", "libdeflate_alloc_decompressor")))
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        code = (f"import ctypes, sys\nctypes.CDLL({library!r}, ctypes.RTLD_GLOBAL)\nsys.path.insert(0, {PACKAGE!r})\n"
                f"import gdal_refs\nprint(gdal_refs.open({SAMPLE!r})['t2m'][0].shape)")
        done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, f"{SHAPE[1:]}\n"))


@unittest.skipIf(h5py is None, "h5py is absent")
class Compounds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "x.h5")

    def test_padding_is_where_the_file_has_it(self):
        inner = np.dtype({"names": ["p", "q"], "formats": ["i1", "<f8"], "offsets": [1, 8], "itemsize": 20})
        for n, kind in enumerate((inner, np.dtype("i1,<f8", align=True), np.dtype(
                {"names": ["a", "b", "c"], "formats": [">i2", (inner, (2,)), "S3"], "offsets": [0, 4, 50], "itemsize": 64}))):
            values = np.frombuffer(np.random.default_rng(n).integers(1, 90, 5 * kind.itemsize, "u1"), kind)
            with h5py.File(self.path, "w") as file:
                file.create_dataset("x", data=values, chunks=(2,), compression="gzip", shuffle=True)
            sets = [self.path] + [f"{self.path}{n}.{form}" for form in ("json", "icechunk")]
            for output in sets[1:]:
                subprocess.run([PROGRAM, "index", self.path, "-o", output, "-q"], check=True)
            for name in sets[:2]:
                found = gdal_refs.open(name)["x"][...]
                self.assertEqual(found.dtype, kind.newbyteorder("="), name)
                np.testing.assert_array_equal(found, values)
            raw = gdal_refs.open(sets[2])["x"][...]
            self.assertEqual((raw.dtype.kind, raw.dtype.itemsize), ("V", kind.itemsize))
            np.testing.assert_array_equal(raw.view(kind), values)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
