"""A dataset as a store of zarr-python 3."""

import asyncio
import os

from zarr.abc.store import OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest

from .dataset import Dataset
from .errors import RefsError

MAX_KEYS = 16384  # of one plan


def _part(data, byte_range):
    if byte_range is None:
        return data
    if isinstance(byte_range, RangeByteRequest):
        return data[byte_range.start:byte_range.end]
    if isinstance(byte_range, OffsetByteRequest):
        return data[byte_range.offset:]
    if isinstance(byte_range, SuffixByteRequest):
        return data[-byte_range.suffix:] if byte_range.suffix else b""
    raise TypeError(f"expected a range of bytes, found {byte_range!r}")


class RefsStore(Store):
    """Keys and values of a reference set, read only.

    Keys that are asked for at the same time, as those of the chunks of one read, are one plan of
    requests. Pickling sends the name and the options. An aggregation has no keys for its values and
    is refused.
    """

    supports_writes = supports_deletes = supports_partial_writes = False
    supports_listing = True

    def __init__(self, name, options=None, *, read_only=True):
        if not read_only:
            raise ValueError("a RefsStore is read only")
        super().__init__(read_only=True)
        self._dataset = name if isinstance(name, Dataset) else Dataset(name, options)
        unlike = [array.path for array in self._dataset.arrays.values() if array.is_aggregation]
        if unlike:
            raise RefsError(f"{self._dataset.name}: {unlike[0]} is an aggregation, whose values "
                            'have no keys: open it with engine="refs"', "UNSUPPORTED",
                            self._dataset.name)
        self._keys = None
        self._asked = {}  # loop -> {key: futures}

    def __reduce__(self):
        return type(self), (self._dataset,)

    def __eq__(self, other):
        return isinstance(other, RefsStore) and other._identity() == self._identity()

    def __hash__(self):
        return hash(self._identity()[0])

    def __str__(self):
        return f"refs:{os.fspath(self._dataset.name)}"

    __repr__ = __str__

    def _identity(self):
        return self._dataset.name, self._dataset.options

    @property
    def counters(self):
        """Requests, bytes and chunks since it was opened."""
        return self._dataset.counters

    def with_read_only(self, read_only=False):
        if not read_only:
            raise ValueError("a RefsStore is read only")
        return type(self)(self._dataset)

    # -- values --

    async def _value(self, key):
        """The value of a key, with those of all keys that are asked for before this loop goes on."""
        loop = asyncio.get_running_loop()
        asked = self._asked.get(loop)
        if asked is None:
            asked = self._asked[loop] = {}
            loop.call_soon(lambda: loop.create_task(self._answer(loop)))
        future = loop.create_future()
        asked.setdefault(key, []).append(future)
        return await future

    async def _answer(self, loop):
        await asyncio.sleep(0)  # tasks that were made together ask first
        asked = self._asked.pop(loop)
        keys = list(asked)
        for at in range(0, len(keys), MAX_KEYS):
            some = keys[at:at + MAX_KEYS]
            try:
                values = await asyncio.to_thread(self._dataset._handle.get, some)
            except Exception as error:
                for key in some:
                    for future in asked[key]:
                        if not future.done():
                            future.set_exception(error)
                continue
            for key, value in zip(some, values):
                for future in asked[key]:
                    if not future.done():
                        future.set_result(value)

    async def get(self, key, prototype, byte_range=None):
        value = await self._value(key)
        if value is None:
            return None
        return prototype.buffer.from_bytes(_part(value, byte_range))

    async def get_partial_values(self, prototype, key_ranges):
        return list(await asyncio.gather(*(self.get(key, prototype, byte_range)
                                           for key, byte_range in key_ranges)))

    async def exists(self, key):
        return await self._value(key) is not None

    # -- keys: those of metadata, since sets may have hundreds of millions of chunks --

    def _names(self):
        if self._keys is None:
            self._keys = [key for key in self._dataset._handle.list_keys()
                          if not key.startswith(".zsources")]
        return self._keys

    async def list(self):
        for key in self._names():
            yield key

    def _refuse_array(self, prefix):
        """What lists an array asks for its chunks."""
        path = "/" + prefix.strip("/")
        if path in self._dataset.arrays:
            raise RefsError(f"{self._dataset.name}: chunks of {path} cannot be listed: expected a "
                            "group; ask for keys of chunks one by one", "UNSUPPORTED",
                            self._dataset.name, path)

    async def list_prefix(self, prefix):
        self._refuse_array(prefix)
        for key in self._names():
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix):
        prefix = prefix.rstrip("/") + "/" if prefix.strip("/") else ""
        seen = set()
        for key in self._names():
            if key.startswith(prefix):
                name = key[len(prefix):].split("/", 1)[0]
                if name not in seen:
                    seen.add(name)
                    yield name

    # -- nothing is written --

    async def set(self, key, value):
        self._check_writable()

    async def delete(self, key):
        self._check_writable()

    async def set_partial_values(self, key_start_values):
        self._check_writable()
