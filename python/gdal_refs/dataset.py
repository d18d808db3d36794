"""Datasets: what one name opens, and its arrays."""

import collections
import collections.abc
import json
import operator
import os
import re
import threading
import uuid
import warnings
import weakref

import numpy as np

from ._extension import load
from .errors import RefsError

_refs = load()

# Datasets that came by pickling and are kept open: each task of a cluster brings its own copy.
MAX_KEPT = 16


# Larger fragments of aggregations are read in parts.
MAX_FRAGMENT_BYTES = 256 * 2**20


_WITH_SCHEME = re.compile(r"[\w+.-]+(://|::)")


class RefsWarning(UserWarning):
    """Something that is no failure, but that users should know."""


def _absolute(name):
    """The name that means the same in whatever folder this or another process is."""
    if not name or os.path.isabs(name) or _WITH_SCHEME.match(name):
        return name
    return os.path.abspath(name) + ("/" if name.endswith("/") else "")


def _rooted(path):
    return path if path.startswith("/") else "/" + path


def _option_texts(options):
    """ "KEY=VALUE", one for each; lists repeat their key."""
    texts = []
    for key, value in (options or {}).items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(one, bool):
                one = "YES" if one else "NO"
            texts.append(f"{key}={one}")
    return tuple(texts)


def _descr(declared):
    """A type of Zarr 2 as numpy.lib.format takes it: fields of lists as tuples."""
    if isinstance(declared, str):
        return declared
    return [(field[0], _descr(field[1]), *(tuple(shape) for shape in field[2:]))
            for field in declared]


def _attribute(value):
    if not isinstance(value, tuple):
        return value[0] if isinstance(value, list) and len(value) == 1 else value
    kind, data, _ = value
    numbers = np.frombuffer(data, dtype=kind)
    return numbers[0] if len(numbers) == 1 else numbers.copy()


class Array:
    """An array of a dataset: its description, and its elements by indexing.

    `array[...]` takes integers and slices, `array.oindex[...]` also one-dimensional integer arrays
    (all combinations), `array.vindex[...]` integer arrays of one shape (points; slices for the
    other dimensions, which come last). Each is one plan of requests.
    """

    def __init__(self, dataset, description):
        self.dataset = dataset
        self.number = description["number"]
        self.path, self.name = description["path"], description["name"]
        self.group, self.problem = description["group"], description["problem"]
        self.attrs = {name: _attribute(value) for name, value in description["attributes"]}
        self.shape = tuple(description["shape"])
        self.chunks = tuple(description["chunks"])
        self.dims = tuple(description["dims"])
        self.codecs = json.loads(description["codecs"] or "[]")
        self.is_aggregation = description["is_aggregation"]
        self.dtype = None if self.problem is not None else np.dtype(description["type"])
        self._stored = self.dtype
        if self.dtype is not None and self.dtype.kind == "V" and not self.is_aggregation:
            self._stored = self._with_fields()
            self.dtype = self._stored.newbyteorder("=")
        if self.dtype is not None and self.dtype.kind == "S":
            fill = self.attrs.get("_FillValue")
            if isinstance(fill, str):
                self.attrs["_FillValue"] = fill.encode("utf-8", "surrogateescape")

    def __repr__(self):
        return f"<gdal_refs.Array {self.path} {self.shape} {self.dtype}>"

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def fill(self):
        """What elements are that no chunk has, or None."""
        data = self.dataset._describe(self.number)["fill"]
        return np.frombuffer(data, dtype=self._stored)[0] if data is not None else None

    @property
    def preferred_chunks(self):
        """Lengths that reads had best be aligned to, for each dimension: a number, or a tuple where
        they differ. Of an aggregation these are its fragments, or parts of large ones."""
        if not self.is_aggregation:
            return tuple(min(chunk, max(size, 1)) for chunk, size in zip(self.chunks, self.shape))
        lists = [self.dataset._handle.list_fragments(self.number, dim)
                 for dim in range(self.ndim)]
        largest = self.dtype.itemsize or 1
        for lengths in lists:
            largest *= max(lengths, default=1)
        if largest > MAX_FRAGMENT_BYTES and lists:
            most = max(1, max(lists[0]) * MAX_FRAGMENT_BYTES // largest)
            most = max(most - most % self.chunks[0], min(self.chunks[0], max(lists[0])))
            lists[0] = [min(most, length - at) for length in lists[0]
                        for at in range(0, length, most)]
        return tuple(_regular(lengths) for lengths in lists)

    def __getitem__(self, key):
        return self.oindex[key]

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self[...], dtype=dtype)

    @property
    def oindex(self):
        return _Indexer(self._read_orthogonal)

    @property
    def vindex(self):
        return _Indexer(self._read_points)

    def _with_fields(self):
        """The type with the fields that the set declares, where NumPy can have them: the library
        has the bytes only, in the byte order of the file."""
        document, = self.dataset._handle.get([f"{self.path[1:]}/.zarray"])
        declared = json.loads(document)["dtype"] if document is not None else None
        if not isinstance(declared, list):
            return self.dtype
        try:
            kind = np.lib.format.descr_to_dtype(_descr(declared))
        except (TypeError, ValueError):  # such as two fields of one name
            return self.dtype
        is_same = kind.itemsize == self.dtype.itemsize and not kind.hasobject
        return kind if is_same else self.dtype

    # -- keys --

    def _expanded(self, key):
        """A key with an item for each dimension."""
        key = key if isinstance(key, tuple) else (key,)
        n_ellipses = sum(item is Ellipsis for item in key)
        if n_ellipses > 1 or len(key) - n_ellipses > self.ndim:
            raise IndexError(f"{self.path}: expected at most {self.ndim} indices, found {len(key)}")
        at = next((i for i, item in enumerate(key) if item is Ellipsis), len(key))
        all_of = (slice(None),) * (self.ndim - len(key) + n_ellipses)
        return key[:at] + all_of + key[at + 1:]

    def _range(self, item, size):
        start, stop, step = item.indices(size)
        return start, len(range(start, stop, step)), step

    def _indices(self, item, dim):
        """An array of indices from 0."""
        item = np.asarray(item)
        size = self.shape[dim]
        if item.dtype == bool:
            if item.shape != (size,):
                raise IndexError(f"{self.path}: expected {size} booleans for dimension {dim}")
            item = np.flatnonzero(item)
        if item.size == 0:
            item = item.astype(np.int64)
        if item.dtype.kind not in "iu":
            raise IndexError(f"{self.path}: expected integers, found {item.dtype}")
        item = item.astype(np.int64)
        if item.size and (item.min() < -size or item.max() >= size):
            raise IndexError(f"{self.path}: an index is outside dimension {dim} of {size}")
        return np.where(item < 0, item + size, item)

    # -- reading --

    def _read(self, axes, shape):
        """Elements by axes of the extension, in a new array."""
        if self.problem is not None:
            raise RefsError(f"{self.path}: {self.problem}", "UNSUPPORTED", self.dataset.name)
        values = np.empty(shape, dtype=self._stored)
        if values.size != 0:
            self.dataset._read(self.number, tuple(axes), values)
        return values.astype(self.dtype, copy=False)

    def _read_orthogonal(self, key):
        key = self._expanded(key)
        if self.dtype is not None and self.dtype.kind == "O":
            return self._all_texts()[_outer_key(self, key)]
        axes, shape, order, squeezed = [], [], [], []
        for dim, item in enumerate(key):
            if not isinstance(item, slice) and np.ndim(item) == 0:
                index = int(self._indices(operator.index(item), dim))
                axis, count = (index, 1, 1), 1
                squeezed.append(dim)
                order.append(slice(None))
            elif isinstance(item, slice):
                axis = self._range(item, self.shape[dim])
                count = axis[1]
                order.append(slice(None))
            else:
                axis, count, inverse = _index_axis(self._indices(item, dim))
                order.append(inverse)
            axes.append(axis)
            shape.append(count)
        values = self._read(axes, shape)
        for dim, inverse in enumerate(order):
            if not isinstance(inverse, slice):
                values = values.take(inverse, axis=dim)
        return values.reshape([n for dim, n in enumerate(values.shape) if dim not in squeezed])[()]

    def _read_points(self, key):
        key = self._expanded(key)
        points = {dim: self._indices(item, dim)
                  for dim, item in enumerate(key) if not isinstance(item, slice)}
        if not points:
            return self._read_orthogonal(key)
        lists = np.broadcast_arrays(*points.values())
        shape = lists[0].shape
        if self.dtype is not None and self.dtype.kind == "O":
            return _vindex(self._all_texts(), key, dict(zip(points, lists)))
        flat = {dim: np.ascontiguousarray(index.ravel(), dtype=np.uint64)
                for dim, index in zip(points, lists)}
        axes, counts = [], []
        for dim, item in enumerate(key):
            if dim in flat:
                axes.append(("points", flat[dim].tobytes()))
            else:
                axes.append(self._range(item, self.shape[dim]))
                counts.append(axes[-1][1])
        n = int(np.prod(shape, dtype=np.int64))
        return self._read(axes, [n, *counts]).reshape([*shape, *counts])

    def _all_texts(self):
        return self.dataset._read_texts(self.number).reshape(self.shape)


def _regular(lengths):
    """One number where all lengths but a shorter last one are equal."""
    if not lengths:
        return 1
    is_regular = all(length == lengths[0] for length in lengths[:-1]) and lengths[-1] <= lengths[0]
    return lengths[0] if is_regular else tuple(lengths)


def _index_axis(index):
    """The axis of the extension for indices, how many it reads, and how to put them in order."""
    if index.ndim != 1:
        raise IndexError("expected indices of one dimension")
    steps = np.diff(index)
    if len(index) > 1 and steps[0] != 0 and (steps == steps[0]).all():
        return (int(index[0]), len(index), int(steps[0])), len(index), slice(None)
    inverse = slice(None)
    if (steps < 0).any() or (steps == 0).any():
        index, inverse = np.unique(index, return_inverse=True)
    return ("index", index.astype(np.uint64).tobytes()), len(index), inverse


def _outer_key(array, key):
    """A key of NumPy that takes all combinations."""
    lists = [np.arange(size)[item] if isinstance(item, slice) else array._indices(item, dim)
             for dim, (item, size) in enumerate(zip(key, array.shape))]
    n = sum(index.ndim for index in lists)
    shaped, at = [], 0
    for index in lists:
        shape = [1] * n
        if index.ndim:
            shape[at] = index.size
            at += 1
        shaped.append(index.reshape(shape))
    return tuple(shaped)


def _vindex(values, key, points):
    """NumPy's indexing, with dimensions of the points first."""
    first = list(points) + [dim for dim in range(values.ndim) if dim not in points]
    rest = [key[dim] for dim in range(values.ndim) if dim not in points]
    moved = values.transpose(first)[(Ellipsis, *rest)] if rest else values.transpose(first)
    return moved[tuple(points.values())]


class _Arrays(collections.abc.Mapping):
    """Arrays of a dataset by path. They live as long as somebody uses them: a dataset that held
    them, while they hold it, would stay open until the next collection of garbage."""

    def __init__(self, dataset):
        self._dataset = dataset

    def __getitem__(self, path):
        live = self._dataset._live
        array = live.get(path)
        if array is None:
            array = live[path] = Array(self._dataset, self._dataset._by_path[path])
        return array

    def __iter__(self):
        return iter(self._dataset._by_path)

    def __len__(self):
        return len(self._dataset._by_path)

    def __repr__(self):
        return repr(list(self.values()))


class _Indexer:
    def __init__(self, read):
        self._read = read

    def __getitem__(self, key):
        return self._read(key)


class Dataset:
    """What a name opens: a set, a data file, an aggregation, or files that a pattern matches.

    `options` are those of the library: {"URL_REWRITE": "old=>new", "BRANCH": "dev"}; lists repeat
    an option. Any number of threads may read. Pickling sends name and options: copies of one
    dataset in another process are one dataset, and copies of a dataset that was opened later are
    another one, so that it has the data of its time.
    """

    def __init__(self, name, options=None):
        self.name = _absolute(os.fsdecode(name))
        self.options = dict(options or {})
        self._identity = uuid.uuid4().hex
        self._handle = _refs.Dataset(self.name, _option_texts(self.options))
        self._descriptions = self._handle.arrays()
        self._by_path = {one["path"]: one for one in self._descriptions}
        self._groups = self._handle.groups()
        self._live = weakref.WeakValueDictionary()
        self._texts = {}
        self.warn()

    def __repr__(self):
        return f"<gdal_refs.Dataset {self.name!r}>"

    def __reduce__(self):
        return _kept, (self.name, self.options, self._identity)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def _describe(self, number):
        return self._descriptions[number]

    @property
    def arrays(self):
        """Arrays by path, as "/forecast/t2m"."""
        return _Arrays(self)

    @property
    def groups(self):
        """Attributes of groups by path; that of the root is ""."""
        return {group["path"]: {name: _attribute(value) for name, value in group["attributes"]}
                for group in self._groups}

    def unlimited(self, path=""):
        """Names of the dimensions of a group that had no limit in the file."""
        return next((set(group["unlimited"]) for group in self._groups
                     if group["path"] == path), set())

    def __getitem__(self, path):
        return self.arrays[_rooted(path)]

    def __contains__(self, path):
        return isinstance(path, str) and _rooted(path) in self.arrays

    def __iter__(self):
        return iter(self.arrays)

    @property
    def counters(self):
        """Requests, bytes and chunks since it was opened."""
        return self._handle.counters()

    def warn(self):
        """Issues warnings that there are since the last call."""
        for text in self._handle.take_warnings():
            warnings.warn(text, RefsWarning, stacklevel=3)

    def cancel(self):
        """Ends all reads, current and later ones, with RefsError."""
        _forget(self)
        self._handle.cancel()

    def close(self):
        """Closes it, once current reads have ended."""
        _forget(self)
        self._handle.close()

    def _read(self, number, axes, values):
        buffer = values.reshape(-1).view(np.uint8) if values.dtype.itemsize else values
        self._handle.read(number, axes, buffer)
        self.warn()

    def _read_texts(self, number):
        """All texts of an array, which are kept."""
        if number not in self._texts:
            texts = self._handle.read_texts(number)
            self.warn()
            kept = np.empty(len(texts), dtype=object)
            kept[:] = texts
            self._texts[number] = kept
        return self._texts[number]


# -- datasets that were pickled --

_lock = threading.Lock()
_datasets = collections.OrderedDict()


def _stamp(name):
    """What tells one state of a local file from another."""
    try:
        state = os.stat(name)
    except (OSError, ValueError):
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino


def _kept(name, options, identity):
    key = (identity, _stamp(name))
    with _lock:
        found = _datasets.get(key)
        if found is not None:
            _datasets.move_to_end(key)
            return found
    made = Dataset(name, options)
    made._identity = identity
    with _lock:
        made = _datasets.setdefault(key, made)
        _datasets.move_to_end(key)
        while len(_datasets) > MAX_KEPT:
            _datasets.popitem(last=False)
    return made


def _forget(dataset):
    """The next task opens it again."""
    with _lock:
        for key in [key for key, kept in _datasets.items() if kept is dataset]:
            del _datasets[key]


def _new_lock():
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_new_lock)
