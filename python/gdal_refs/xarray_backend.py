"""The engine "refs" of xarray."""

import asyncio
import os
import warnings

import numpy as np
from xarray import Variable
from xarray.backends import AbstractDataStore, BackendArray, BackendEntrypoint
from xarray.backends.store import StoreBackendEntrypoint
from xarray.core import indexing
from xarray.core.utils import FrozenDict, close_on_error

from .dataset import Dataset, RefsWarning
from .errors import RefsNotFoundError

# Codecs as encodings of netCDF4 and h5netcdf.
NAMES = {"zlib": "zlib", "gzip": "zlib", "shuffle": "shuffle", "fletcher32": "fletcher32",
         "zstd": "zstd", "szip": "szip", "bz2": "bzip2"}


class RefsBackendArray(BackendArray):
    """The elements of an array, lazily. Pickling sends the name of the dataset."""

    __slots__ = ("dataset", "path", "shape", "dtype")

    def __init__(self, array):
        self.dataset, self.path = array.dataset, array.path
        self.shape, self.dtype = array.shape, array.dtype

    def __getitem__(self, key):
        array = self.dataset.arrays[self.path]
        if isinstance(key, indexing.VectorizedIndexer):
            values = array.vindex[key.tuple]
        else:
            values = array.oindex[key.tuple]
        return np.asarray(values, dtype=self.dtype)

    async def async_getitem(self, key):
        return await asyncio.to_thread(self.__getitem__, key)


def _normalized(group):
    path = "/" + str(group or "").strip("/")
    return "" if path == "/" else path


class RefsDataStore(AbstractDataStore):
    """The variables of one group of a dataset."""

    __slots__ = ("dataset", "group")

    def __init__(self, dataset, group=None):
        self.dataset, self.group = dataset, _normalized(group)
        if self.group not in dataset.groups:
            raise RefsNotFoundError(f"{dataset.name}: there is no group {self.group}", "NOT_FOUND",
                                    dataset.name, self.group)

    def get_attrs(self):
        return FrozenDict(self.dataset.groups[self.group])

    def get_variables(self):
        names = _Dimensions()
        arrays = [array for array in self.dataset.arrays.values() if array.group == self.group]
        variables = {}
        for array in arrays:
            if array.problem is not None:
                warnings.warn(f"{self.dataset.name}: {array.path} is left out: {array.problem}",
                              RefsWarning, stacklevel=2)
                continue
            variables[array.name] = _variable(array, names.of(array))
        return FrozenDict(variables)

    def get_dimensions(self):
        return FrozenDict({dim: size for variable in self.get_variables().values()
                           for dim, size in variable.sizes.items()})

    def get_encoding(self):
        unlimited, path = set(), self.group
        while True:
            unlimited |= self.dataset.unlimited(path)
            if path == "":
                break
            path = path.rpartition("/")[0]
        used = {dim for array in self.dataset.arrays.values() if array.group == self.group
                for dim in array.dims}
        return {"unlimited_dims": unlimited & used, "source": self.dataset.name}

    def close(self):
        pass  # copies in other variables, threads and processes may still read


class _Dimensions:
    """Names of the dimensions of a group, as netCDF-C gives them where arrays have none: one for
    each length. Of two lengths with one name the second gets a number."""

    def __init__(self):
        self.sizes = {}

    def of(self, array):
        names = []
        for name, size in zip(array.dims, array.shape):
            names.append(self._named(name, size) if name is not None
                         else self._phony(size, names))
        return tuple(names)

    def _named(self, name, size):
        for number in range(1, 1 + len(self.sizes) + 1):
            tried = name if number == 1 else f"{name}_{number}"
            if self.sizes.setdefault(tried, size) == size:
                return tried
        raise AssertionError(name)

    def _phony(self, size, used):
        number = 0
        while True:
            tried = f"phony_dim_{number}"
            if tried not in used and self.sizes.setdefault(tried, size) == size:
                return tried
            number += 1


def _encoding(array, dims):
    encoding = {"dtype": array.dtype, "source": array.dataset.name, "original_shape": array.shape}
    if array.ndim > 0 and array.dtype.kind != "O":
        chunks = array.preferred_chunks
        encoding["preferred_chunks"] = dict(zip(dims, chunks))
        if not array.is_aggregation:
            encoding.update(chunks=chunks, chunksizes=chunks)
    for codec in array.codecs:
        name = NAMES.get((codec.get("id") or codec.get("name") or "").removeprefix("numcodecs."))
        if name is None:
            continue
        encoding[name] = True
        level = codec.get("level", (codec.get("configuration") or {}).get("level"))
        if level is not None:
            encoding["complevel"] = level
    return encoding


def _variable(array, dims):
    data = indexing.LazilyIndexedArray(RefsBackendArray(array))
    return Variable(dims, data, dict(array.attrs), _encoding(array, dims), fastpath=True)


class RefsBackendEntrypoint(BackendEntrypoint):
    """Opens what REFS opens: reference sets (JSON, Parquet, Icechunk, DMR++), data files (netCDF,
    HDF5, TIFF, GRIB), aggregations, and files that a pattern matches, as one dataset; here, on
    servers and in stores. `options` are those of gdal_refs.open, which also gives a dataset that
    stands for a name here."""

    description = "Open reference sets, aggregations and data files with REFS"
    supports_groups = True
    open_dataset_parameters = ("filename_or_obj", "mask_and_scale", "decode_times",
                               "concat_characters", "decode_coords", "drop_variables",
                               "use_cftime", "decode_timedelta", "group", "options")

    def guess_can_open(self, filename_or_obj):
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return isinstance(filename_or_obj, Dataset)
        return os.fspath(filename_or_obj).endswith((".dmrpp", ".parq"))

    def open_dataset(self, filename_or_obj, *, mask_and_scale=True, decode_times=True,
                     concat_characters=True, decode_coords=True, drop_variables=None,
                     use_cftime=None, decode_timedelta=None, group=None, options=None):
        decoding = dict(mask_and_scale=mask_and_scale, decode_times=decode_times,
                        concat_characters=concat_characters, decode_coords=decode_coords,
                        drop_variables=drop_variables, use_cftime=use_cftime,
                        decode_timedelta=decode_timedelta)
        return self._open_group(_open(filename_or_obj, options), group, decoding)

    @staticmethod
    def _open_group(dataset, group, decoding):
        store = RefsDataStore(dataset, group)
        with close_on_error(store):
            return StoreBackendEntrypoint().open_dataset(store, **decoding)

    def open_groups_as_dict(self, filename_or_obj, *, mask_and_scale=True, decode_times=True,
                            concat_characters=True, decode_coords=True, drop_variables=None,
                            use_cftime=None, decode_timedelta=None, group=None, options=None):
        decoding = dict(mask_and_scale=mask_and_scale, decode_times=decode_times,
                        concat_characters=concat_characters, decode_coords=decode_coords,
                        drop_variables=drop_variables, use_cftime=use_cftime,
                        decode_timedelta=decode_timedelta)
        dataset, top = _open(filename_or_obj, options), _normalized(group)
        paths = [path for path in dataset.groups if path == top or path.startswith(top + "/")]
        return {path[len(top):] or "/": self._open_group(dataset, path, decoding)
                for path in paths}

    def open_datatree(self, filename_or_obj, **arguments):
        from xarray import DataTree

        return DataTree.from_dict(self.open_groups_as_dict(filename_or_obj, **arguments))


def _open(name, options):
    if isinstance(name, Dataset):
        if options:
            raise TypeError("options are those of gdal_refs.open where a dataset is given")
        return name
    if not isinstance(name, (str, os.PathLike)):
        raise TypeError('engine="refs" expects a path, a URL or a gdal_refs.Dataset, found '
                        f"{type(name).__name__}")
    return Dataset(os.path.expanduser(os.fspath(name)), options)
