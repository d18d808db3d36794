"""The engine "refs" of xarray: datasets are those of netCDF4 and h5netcdf, indexers those of NumPy.

usage: xarray_test.py FOLDER_OF_PACKAGE PROGRAM

Left out where Python has no xarray.
"""

import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

PACKAGE, PROGRAM = sys.argv[1:3]
sys.path.insert(0, PACKAGE)
os.environ["PYTHONPATH"] = os.pathsep.join([PACKAGE, os.environ.get("PYTHONPATH", "")])
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
SAMPLE = os.path.join(ROOT, "data", "sample.json")
FILE = os.path.join(ROOT, "data", "sample.nc")

try:
    import numpy as np
    import xarray as xr
    engine = next(one for one in ("netcdf4", "h5netcdf") if one in xr.backends.list_engines())
except (ImportError, StopIteration) as error:
    print(f"left out: {error or 'neither netCDF4 nor h5netcdf is there'}")
    sys.exit(77)

import gdal_refs  # noqa: E402

try:
    import dask
except ImportError:
    dask = None


def sum_of(variable):
    return float(variable.isel(time=slice(3, 5)).sum())


class Engine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, dataset, name, **arguments):
        dataset.to_netcdf(self.path(name), engine=engine, **arguments)
        return self.path(name)

    def index(self, *names, output="set.json"):
        subprocess.run([PROGRAM, "index", *names, "-o", self.path(output)], check=True,
                       capture_output=True)
        return self.path(output)

    # -- what is opened --

    def test_sets_and_files_are_as_the_other_engine_has_them(self):
        for name in (SAMPLE, FILE):
            for decoded in (True, False):
                arguments = {"decode_cf": decoded}
                with self.subTest(name=name, decoded=decoded), \
                        xr.open_dataset(FILE, engine=engine, **arguments) as expected:
                    found = xr.open_dataset(name, engine="refs", **arguments)
                    xr.testing.assert_identical(found.load(), expected.load())
                    for key, variable in expected.variables.items():
                        self.assertEqual(found.variables[key].dtype, variable.dtype)

    def test_encodings_are_filled(self):
        with xr.open_dataset(FILE, engine=engine) as expected:
            found = xr.open_dataset(FILE, engine="refs")
            for key, variable in expected.variables.items():
                encoding = found.variables[key].encoding
                for name in ("dtype", "scale_factor", "add_offset", "_FillValue", "units", "calendar",
                             "zlib", "shuffle", "complevel", "original_shape", "unlimited_dims"):
                    if variable.encoding.get(name):
                        self.assertEqual(encoding.get(name), variable.encoding[name], (key, name))
                if variable.encoding.get("chunksizes"):
                    self.assertEqual(encoding["chunks"], variable.encoding["chunksizes"])
            self.assertEqual(found.encoding["source"], FILE)
            self.assertEqual(found.encoding["unlimited_dims"], expected.encoding["unlimited_dims"])

    def test_zeros_are_values_where_a_file_is_not_filled(self):
        """The engine "zarr" masks the fill_value of version 2."""
        try:
            import fsspec
            import zarr
        except ImportError:
            self.skipTest("neither zarr nor fsspec is there")
        if engine != "netcdf4":
            self.skipTest("h5netcdf does not switch filling off")
        import netCDF4
        values = {"v": np.array([0, 1, 2], "f4"), "n": np.array([3, 0, 4], "i2")}
        with netCDF4.Dataset(self.path("off.nc"), "w") as file:
            file.createDimension("x", 3)
            for name, data in values.items():
                file.createVariable(name, data.dtype, ("x",), fill_value=False)[:] = data
        self.index(self.path("off.nc"))
        mapper = fsspec.get_mapper("reference://", fo=self.path("set.json"))
        store = {"store": mapper} if zarr.__version__ < "3" else {
            "store": zarr.storage.FsspecStore.from_url("reference://", storage_options={"fo": self.path("set.json"), "asynchronous": True})}
        found = xr.open_zarr(**store, consolidated=False)
        for name, data in values.items():
            self.assertEqual(found[name].values.tolist(), data.tolist())
            self.assertEqual(found[name].dtype, data.dtype)

    def test_relative_names_are_those_of_the_folder_they_were_opened_in(self):
        self.addCleanup(os.chdir, os.getcwd())
        shutil.copy(FILE, self.path("a.nc"))
        for name in ("a.nc", "*.nc", "./a.nc"):
            with self.subTest(name=name):
                os.chdir(self.folder.name)
                found = xr.open_dataset(name, engine="refs")
                text = pickle.dumps(found.t2m.variable)
                self.assertEqual(found.encoding["source"], os.path.abspath(name))
                self.assertEqual(found.t2m.encoding["source"], os.path.abspath(name))
                os.chdir("/")
                xr.testing.assert_identical(pickle.loads(text).load(), found.t2m.variable.load())

    def test_what_is_opened_can_be_written(self):
        found = xr.open_dataset(SAMPLE, engine="refs")
        with xr.open_dataset(self.write(found, "copy.nc"), engine=engine) as copy:
            xr.testing.assert_identical(copy.load(), found.load())
            self.assertEqual(copy.t2m.encoding["dtype"], np.dtype("i2"))

    def test_variables_can_be_dropped(self):
        found = xr.open_dataset(SAMPLE, engine="refs", drop_variables=["z", "time_bnds"])
        self.assertNotIn("z", found.variables)
        self.assertIn("t2m", found.variables)

    def test_times_and_calendars_are_decoded(self):
        times = xr.Dataset({"t": ("t", [0, 1], {"units": "days since 2000-02-28",
                                                "calendar": "noleap"})})
        name = self.write(times, "times.nc")
        try:
            with xr.open_dataset(name, engine=engine) as expected:
                found = xr.open_dataset(name, engine="refs")
                xr.testing.assert_identical(found.load(), expected.load())
        except ValueError as error:
            self.skipTest(error)

    def test_packing_in_single_precision_stays_so(self):
        packed = xr.Dataset({"v": ("x", np.array([1, 2, 3], "i2"),
                                   {"scale_factor": np.float32(0.1), "add_offset": np.float32(2)})})
        name = self.write(packed, "packed.nc")
        with xr.open_dataset(name, engine=engine) as expected:
            for opened in (name, self.index(name)):
                found = xr.open_dataset(opened, engine="refs")
                self.assertEqual(found.v.dtype, expected.v.dtype)
                xr.testing.assert_identical(found.load(), expected.load())

    def test_texts_are_as_the_other_engine_has_them(self):
        texts = xr.Dataset({"a": ("x", np.array(["one", "", "böse"], dtype=object)),
                            "b": ("x", np.array([b"abcd", b"e", b""])),
                            "c": ((), "scalar")}, attrs={"title": "böse", "list": [1.5, 2.5]})
        name = self.write(texts, "texts.nc")
        with xr.open_dataset(name, engine=engine) as expected:
            found = xr.open_dataset(name, engine="refs")
            xr.testing.assert_identical(found.load(), expected.load())

    def test_the_fill_value_of_version_3_masks_nothing(self):
        """Only _FillValue does, as for the engine "zarr"; what REFS writes has it where the file has."""
        import json

        array = {"zarr_format": 3, "node_type": "array", "shape": [3], "data_type": "int32", "fill_value": -1,
                 "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}},
                 "chunk_key_encoding": {"name": "default"}, "dimension_names": ["x"],
                 "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}
        refs = {"zarr.json": json.dumps({"zarr_format": 3, "node_type": "group"})}
        for name, attributes in ("plain", {}), ("masked", {"_FillValue": -1}):
            refs[f"{name}/zarr.json"] = json.dumps({**array, "attributes": attributes})
        with open(self.path("v3.json"), "w", encoding="utf-8") as file:
            json.dump({"version": 1, "refs": refs}, file)
        found = xr.open_dataset(self.path("v3.json"), engine="refs")
        self.assertEqual((found.plain.dtype, found.plain.values.tolist()), (np.int32, [-1, -1, -1]))
        self.assertTrue(np.isnan(found.masked.values).all())
        self.write(xr.Dataset({name: ("x", np.array([5, np.nan, -1])) for name in ("n", "f")}), "f.nc",
                   encoding={"n": {"dtype": "i2", "_FillValue": -9}, "f": {"_FillValue": None}})
        repository = self.index(self.path("f.nc"), output="f.icechunk")
        xr.testing.assert_identical(xr.open_dataset(repository, engine="refs").load(),
                                    xr.open_dataset(self.path("f.nc"), engine=engine).load())

    def test_dimensions_without_names_are_those_of_netcdf(self):
        import json

        array = {"zarr_format": 2, "chunks": [2, 3], "shape": [2, 3], "dtype": "<i4", "order": "C",
                 "fill_value": 0, "compressor": None, "filters": None}
        with open(self.path("bare.json"), "w", encoding="utf-8") as file:
            json.dump({".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(array),
                       "b/.zarray": json.dumps({**array, "shape": [3, 3], "chunks": [3, 3]})}, file)
        found = xr.open_dataset(self.path("bare.json"), engine="refs")
        self.assertEqual(found.a.dims, ("phony_dim_0", "phony_dim_1"))
        self.assertEqual(found.b.dims, ("phony_dim_1", "phony_dim_2"))

    def test_arrays_that_cannot_be_read_are_left_out_with_a_warning(self):
        import json

        with open(self.path("odd.json"), "w", encoding="utf-8") as file:
            json.dump({".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(
                {"zarr_format": 2, "chunks": [2], "shape": [2], "dtype": "<q9", "order": "C",
                 "fill_value": 0, "compressor": None, "filters": None})}, file)
        with self.assertWarns(gdal_refs.RefsWarning) as warned:
            found = xr.open_dataset(self.path("odd.json"), engine="refs")
        self.assertIn("/a is left out", str(warned.warning))
        self.assertEqual(list(found.variables), [])

    # -- groups --

    def write_groups(self):
        name = self.write(xr.Dataset({"a": ("x", [1, 2])}), "groups.nc")
        xr.Dataset({"b": ("y", [3., 4., 5.])}, attrs={"of": "g"}).to_netcdf(
            name, engine=engine, group="g", mode="a")
        xr.Dataset({"c": 6}).to_netcdf(name, engine=engine, group="g/h", mode="a")
        return name

    def test_groups_are_opened(self):
        name = self.write_groups()
        for group in (None, "g", "/g/h"):
            with self.subTest(group=group), \
                    xr.open_dataset(name, engine=engine, group=group) as expected:
                found = xr.open_dataset(name, engine="refs", group=group)
                xr.testing.assert_identical(found.load(), expected.load())
        with self.assertRaises(OSError):
            xr.open_dataset(name, engine="refs", group="nothing")

    @unittest.skipUnless(hasattr(xr, "open_datatree"), "this xarray has no trees")
    def test_trees_are_opened(self):
        name = self.write_groups()
        with xr.open_datatree(name, engine=engine) as expected:
            found = xr.open_datatree(name, engine="refs")
            xr.testing.assert_identical(found.load(), expected.load())

    # -- many files --

    @unittest.skipIf(dask is None, "dask is not installed")
    def test_a_dataset_that_is_open_stands_for_its_name(self):
        sample = xr.open_dataset(FILE, engine=engine)
        names = [self.write(sample.isel(time=slice(k, k + 12)), f"part{k:02}.nc") for k in (0, 12)]
        self.assertEqual(len(names), 2)
        with gdal_refs.open(self.path("part*.nc")) as dataset:
            self.assertIn("t2m", dataset)
            self.assertNotIn("none", dataset)
            self.assertEqual(sorted(dataset), sorted(dataset.arrays))
            opened = xr.open_dataset(dataset, engine="refs", chunks={})
            np.testing.assert_array_equal(opened.t2m.values, sample.t2m.values)
            np.testing.assert_array_equal(opened.t2m.compute(scheduler="processes").values, sample.t2m.values)
            with self.assertRaises(TypeError):
                xr.open_dataset(dataset, engine="refs", options={"BRANCH": "main"})

    def test_files_whose_packing_differs_are_one_variable(self):
        names = []
        for i in range(3):
            one = xr.Dataset({"t2m": (("time", "x"), 280 + np.arange(8.).reshape(2, 4) * (i + 1))},
                             {"time": ("time", [2 * i, 2 * i + 1], {"units": "days since 2000-01-01"})})
            names.append(self.write(one, f"a{i}.nc", encoding={
                "t2m": {"dtype": "i2", "scale_factor": 0.5 * (i + 1), "add_offset": 280.}}))
        expected = xr.concat([xr.open_dataset(name, engine=engine) for name in names], "time")
        for opened in (self.path("a*.nc"), self.index(*names)):
            with self.subTest(opened=opened):
                found = xr.open_dataset(opened, engine="refs")
                self.assertEqual(found.t2m.shape, (6, 4))
                np.testing.assert_allclose(found.t2m.values, expected.t2m.values)
                self.assertEqual(found.t2m.encoding["preferred_chunks"], {"time": 2, "x": 4})

    # -- indexing --

    def test_indexers_are_those_of_numpy(self):
        found = xr.open_dataset(SAMPLE, engine="refs", decode_cf=False).t2m
        values = xr.DataArray(found.values, dims=found.dims)
        random = np.random.default_rng(5)
        for turn in range(100):
            lazy, loaded = xr.open_dataset(SAMPLE, engine="refs", decode_cf=False).t2m, values
            for _ in range(random.integers(1, 4)):
                indexers = self.random_indexers(random, loaded)
                lazy, loaded = lazy.isel(indexers), loaded.isel(indexers)
            with self.subTest(turn=turn):
                np.testing.assert_array_equal(lazy.values, loaded.values)

    @staticmethod
    def random_indexers(random, array):
        indexers, n = {}, int(random.integers(1, 5))
        for dim, size in array.sizes.items():
            kind = random.integers(0, 5)
            if size == 0 or kind == 0:
                continue
            if kind == 1:
                indexers[dim] = int(random.integers(-size, size))
            elif kind == 2:
                indexers[dim] = slice(int(random.integers(-size, size)), None,
                                      int(random.choice([-3, -1, 1, 2])))
            elif kind == 3:
                indexers[dim] = random.integers(-size, size, random.integers(1, 6))
            elif not str(dim).startswith("points"):
                indexers[dim] = xr.DataArray(random.integers(-size, size, n), dims="points")
        if "points" in array.dims:
            indexers = {dim: item for dim, item in indexers.items()
                        if not isinstance(item, xr.DataArray)}
        return indexers

    def test_points_are_one_plan_of_requests(self):
        found = xr.open_dataset(SAMPLE, engine="refs").t2m
        dataset = gdal_refs.open(SAMPLE)
        before = dataset.counters["requests"]
        random = np.random.default_rng(6)
        points = {dim: xr.DataArray(random.integers(0, size, 1000), dims="points")
                  for dim, size in found.sizes.items()}
        self.assertEqual(found.isel(points).load().shape, (1000,))
        dataset["t2m"].vindex[tuple(points[dim].values for dim in found.dims)]
        self.assertEqual(dataset.counters["requests"] - before, 1)

    # -- dask, threads and processes --

    @unittest.skipIf(dask is None, "there is no dask")
    def test_chunks_are_those_that_are_stored(self):
        found = xr.open_dataset(SAMPLE, engine="refs", chunks={})
        self.assertEqual(found.t2m.chunks, ((12, 12), (41, 40), (61, 60)))
        expected = xr.open_dataset(SAMPLE, engine="refs").t2m.mean("time")
        for scheduler in ("synchronous", "threads", "processes"):
            with self.subTest(scheduler=scheduler), dask.config.set(scheduler=scheduler):
                xr.testing.assert_allclose(found.t2m.mean("time").compute(), expected)

    def test_pickling_sends_names(self):
        found = xr.open_dataset(SAMPLE, engine="refs")
        text = pickle.dumps(found.t2m.variable)
        self.assertLess(len(text), 10000)
        xr.testing.assert_identical(pickle.loads(text).load(), found.t2m.variable.load())

    def test_children_of_fork_and_spawn_read(self):
        found = xr.open_dataset(SAMPLE, engine="refs").t2m.variable
        for method in ("fork", "spawn"):
            with self.subTest(method=method), warnings.catch_warnings(), \
                    multiprocessing.get_context(method).Pool(1) as pool:
                warnings.simplefilter("ignore")  # of Python 3.12: fork in a process with threads
                self.assertAlmostEqual(pool.apply(sum_of, (found,)), sum_of(found))

    @unittest.skipUnless(hasattr(xr.Dataset, "load_async"), "this xarray loads nothing that way")
    def test_loading_can_be_awaited(self):
        import asyncio

        found = xr.open_dataset(SAMPLE, engine="refs")
        asyncio.run(found.load_async())
        xr.testing.assert_identical(found, xr.open_dataset(SAMPLE, engine="refs").load())

    # -- zarr --

    def store(self, name):
        try:
            import zarr
        except ImportError as error:
            self.skipTest(error)
        if int(zarr.__version__.split(".")[0]) < 3:
            self.skipTest("this zarr has no stores of version 3")
        return zarr, gdal_refs.store(name)

    def test_zarr_reads_a_set_by_few_requests(self):
        zarr, store = self.store(SAMPLE)
        group = zarr.open_group(store, mode="r")
        before = store.counters["requests"]
        np.testing.assert_array_equal(group["t2m"][...], gdal_refs.open(SAMPLE)["t2m"][...])
        self.assertEqual(store.counters["requests"] - before, 1)
        self.assertEqual(pickle.loads(pickle.dumps(store)), store)
        with self.assertRaises(ValueError):
            group["t2m"][0, 0, 0] = 1

    def test_chunks_in_a_store_are_not_counted_as_none(self):
        zarr, store = self.store(SAMPLE)
        array = zarr.open_group(store, mode="r")["t2m"]
        with self.assertRaises(gdal_refs.RefsError) as raised:
            print(array.nchunks_initialized)
        self.assertIn("chunks of /t2m cannot be listed", str(raised.exception))

    def test_stores_refuse_aggregations(self):
        for i in range(2):
            one = xr.Dataset({"v": ("time", np.arange(3.))}, {"time": ("time", np.arange(3) + 3 * i)})
            self.write(one, f"a{i}.nc", encoding={"v": {"dtype": "i2", "scale_factor": 0.5 + i,
                                                        "_FillValue": -1}})
        self.store(SAMPLE)
        with self.assertRaises(gdal_refs.RefsError) as raised:
            gdal_refs.store(self.path("a*.nc"))
        self.assertIn("/v is an aggregation", str(raised.exception))

    # -- failures --

    def test_unknown_options_and_names_are_errors(self):
        with self.assertRaises(gdal_refs.RefsError):
            xr.open_dataset(SAMPLE, engine="refs", options={"BRNCH": "main"})
        with self.assertRaises(FileNotFoundError):
            xr.open_dataset("/nowhere/set.json", engine="refs")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
