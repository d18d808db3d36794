"""Reference sets of kerchunk's form, version 1, as groups of VirtualiZarr with arrays of Zarr 3."""

import asyncio
import base64
import json
import math
import re
import uuid
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numcodecs
import numpy as np
from obstore.store import MemoryStore
from virtualizarr.manifests import ChunkEntry, ChunkManifest, ManifestArray, ManifestGroup
from virtualizarr.manifests.utils import create_v3_array_metadata
from virtualizarr.parsers.utils import encode_cf_fill_value
from zarr.abc.codec import BytesBytesCodec
from zarr.dtype import VariableLengthUTF8
from zarr.registry import get_codec_class, register_codec


@dataclass(frozen=True)
class NumcodecsDecoder(BytesBytesCodec):
    """A codec of numcodecs that Zarr 3 has no class for, such as kerchunk's and imagecodecs'."""

    codec_config: dict
    is_fixed_size = False

    @classmethod
    def from_dict(cls, data):
        return cls({"id": data["name"].removeprefix("numcodecs."), **data.get("configuration", {})})

    def to_dict(self):
        config = dict(self.codec_config)
        return {"name": "numcodecs." + config.pop("id"), "configuration": config}

    def compute_encoded_size(self, input_byte_length, chunk_spec):
        raise NotImplementedError

    def _decode(self, data: bytes, chunk_spec) -> bytes:
        config = {name: [tuple(field) for field in value]
                  if name == "dtype" and isinstance(value, list) else value
                  for name, value in self.codec_config.items()}
        decoded = numcodecs.get_codec(config).decode(data)
        if not isinstance(decoded, np.ndarray):
            return bytes(decoded)
        dtype = chunk_spec.dtype.to_native_dtype()
        if decoded.dtype.kind in "biufc" and decoded.dtype.itemsize > 1:
            decoded = decoded.astype(dtype, copy=False)
        # The last chunk of several records may be shorter.
        is_record = config["id"] == "record_member"
        size = math.prod(chunk_spec.shape) * dtype.itemsize if is_record else 0
        return decoded.tobytes().ljust(size, b"\0")

    async def _decode_single(self, chunk_bytes, chunk_spec):
        decoded = await asyncio.to_thread(self._decode, chunk_bytes.to_bytes(), chunk_spec)
        return chunk_spec.prototype.buffer.from_bytes(decoded)

    async def _encode_single(self, chunk_bytes, chunk_spec):
        raise NotImplementedError("virtual datasets are not written")


def codec_of_zarr_3(config: dict) -> dict:
    config = dict(config)
    name = "numcodecs." + config.pop("id")
    try:
        get_codec_class(name)
    except KeyError:
        register_codec(name, NumcodecsDecoder)
    return {"name": name, "configuration": config}


def fill_value_of(value, dtype: np.dtype):
    """None: none was declared."""
    if isinstance(value, str):
        if dtype.kind == "f":
            return float(value)
        if dtype.kind == "S":
            return base64.b64decode(value)
    return value


# Numbers in keys of chunks.
_NUMBER = re.compile("0|[1-9][0-9]*", re.ASCII)


def place_of(numbers: list[str], grid: tuple) -> tuple | None:
    """Of a chunk; None where these are no numbers, or lie outside of the grid."""
    if not all(map(_NUMBER.fullmatch, numbers)):
        return None
    where = tuple(map(int, numbers))
    if not grid:
        return () if where == (0,) else None
    is_inside = len(where) == len(grid) and all(i < n for i, n in zip(where, grid))
    return where if is_inside else None


class Translator:
    """Makes groups of one set. Values in the set go to one store in memory."""

    def __init__(self, refs: dict, registry, skip: Iterable[str] = ()):
        self.refs = refs
        self.registry = registry
        self.skip = set(skip)
        self.chunks: dict[str, dict] = {}
        self.inner: dict[str, set] = {"": set()}  # of each group, the names in it
        self.sizes: dict[str, int] = {}
        self.memory = None
        for key in refs:
            path, _, name = key.rpartition("/")
            if name == "zarr.json" and self.document(key).get("node_type") == "array":
                raise NotImplementedError(
                    f"{path} has metadata of Zarr 3, and sets of Zarr 2 are translated: index the "
                    "data files that the set refers to")
            if name == ".zarray":
                self.chunks[path] = {}
            if name in (".zarray", ".zgroup"):
                self.note(path)
        for key, value in refs.items():
            if not key.rpartition("/")[2].startswith(".z"):
                self.take_chunk(key, value)

    def note(self, path: str) -> None:
        """Notes an array or a group, and the groups above it, which need not be declared."""
        while path:
            above, _, name = path.rpartition("/")
            self.inner.setdefault(above, set()).add(name)
            path = above

    def take_chunk(self, key: str, value) -> None:
        """Keys that belong to no array are passed over."""
        path, _, inner = key.rpartition("/")
        while path not in self.chunks:
            if not path:
                return
            path, _, name = path.rpartition("/")
            inner = f"{name}/{inner}"
        self.chunks[path][inner] = value

    def document(self, key: str) -> dict:
        value = self.refs.get(key, {})
        return json.loads(value) if isinstance(value, str) else value

    def group(self, path: str) -> ManifestGroup:
        path = path.strip("/")
        prefix = path + "/" if path else ""
        arrays, groups = {}, {}
        for inner in sorted(self.inner.get(path, ())):
            if inner in self.skip:
                continue
            if prefix + inner not in self.chunks:
                groups[inner] = self.group(prefix + inner)
                continue
            try:
                arrays[inner] = self.array(prefix + inner)
            except (KeyError, NotImplementedError, TypeError, ValueError) as error:
                warnings.warn(f"{prefix}{inner} is left out: Zarr 3 cannot hold it: {error}",
                              stacklevel=2)
        return ManifestGroup(arrays=arrays, groups=groups,
                             attributes=self.document(prefix + ".zattrs"))

    def array(self, path: str) -> ManifestArray:
        declared = self.document(path + "/.zarray")
        attributes = self.document(path + "/.zattrs")
        dims = attributes.pop("_ARRAY_DIMENSIONS", None)
        dtype = np.dtype(declared["dtype"] if isinstance(declared["dtype"], str)
                         else [tuple(field) for field in declared["dtype"]])
        configs = [*(declared.get("filters") or []),
                   *([declared["compressor"]] if declared.get("compressor") else [])]
        codecs = []
        if dtype.kind == "O":
            if not configs or configs.pop(0)["id"] != "vlen-utf8":
                raise NotImplementedError("objects other than strings in UTF-8")
            dtype, codecs = VariableLengthUTF8().to_native_dtype(), [{"name": "vlen-utf8"}]
        shape = tuple(declared["shape"])
        if declared.get("order") == "F" and len(shape) > 1:
            order = list(range(len(shape)))[::-1]
            codecs.insert(0, {"name": "transpose", "configuration": {"order": order}})
        codecs += map(codec_of_zarr_3, configs)
        if attributes.get("_FillValue") is not None and dtype.kind in "biuf":
            fill = fill_value_of(attributes["_FillValue"], dtype)
            attributes["_FillValue"] = encode_cf_fill_value(np.asarray(fill, dtype), dtype)
        else:  # of text: xarray has no form of it for Zarr 3
            attributes.pop("_FillValue", None)
        chunk_shape = tuple(max(size, 1) for size in declared["chunks"])
        metadata = create_v3_array_metadata(
            shape=shape, data_type=dtype, chunk_shape=chunk_shape, codecs=codecs,
            fill_value=fill_value_of(declared.get("fill_value"), dtype),
            attributes=attributes, dimension_names=dims)
        return ManifestArray(metadata=metadata,
                             chunkmanifest=self.manifest(path, shape, chunk_shape))

    def manifest(self, path: str, shape: tuple, chunk_shape: tuple) -> ChunkManifest:
        grid = tuple(math.ceil(a / b) for a, b in zip(shape, chunk_shape))
        paths = np.full(grid, "", dtype=np.dtypes.StringDType())
        offsets, lengths = np.zeros(grid, np.uint64), np.zeros(grid, np.uint64)
        separator = self.document(path + "/.zarray").get("dimension_separator") or "."
        for key, value in self.chunks[path].items():
            where = place_of(key.split(separator), grid)
            if where is None:
                continue
            entry = self.entry(f"{path}/{key}", value)
            paths[where], offsets[where], lengths[where] = entry.values()
        return ChunkManifest.from_arrays(paths=paths, offsets=offsets, lengths=lengths,
                                         validate_paths=False)

    def entry(self, key: str, value) -> ChunkEntry:
        if isinstance(value, list):
            url, offset, length = value if len(value) == 3 else (value[0], 0, 0)
            entry = ChunkEntry.with_validation(path=url, offset=offset, length=length)
            if len(value) == 1:
                entry["length"] = self.size_of(entry["path"])
            return entry
        data = (base64.b64decode(value[len("base64:"):]) if value.startswith("base64:")
                else value.encode())
        if self.memory is None:
            self.memory, self.prefix = MemoryStore(), f"memory://refs-{uuid.uuid4().hex}"
            self.registry.register(self.prefix, self.memory)
        self.memory.put(key, data)
        return ChunkEntry(path=f"{self.prefix}/{key}", offset=0, length=len(data))

    def size_of(self, url: str) -> int:
        """Of a file that a set names without a range."""
        if url not in self.sizes:
            store, path = self.registry.resolve(url)
            self.sizes[url] = store.head(path)["size"]
        return self.sizes[url]
