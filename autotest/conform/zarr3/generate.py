#!/usr/bin/env python3
"""Writes the reference sets beside it, of stores that zarr-python wrote in Zarr v3, and what each of
their arrays holds; and a sample of sharding for ../data.

    python3 generate.py        (zarr 3.4, numcodecs 0.17; bytes may differ where these are newer)
"""

import base64
import json
import os
import warnings

import numpy as np
import zarr
from zarr.codecs import (
    BloscCodec,
    BytesCodec,
    CastValue,
    Crc32cCodec,
    GzipCodec,
    ScaleOffset,
    ShardingCodec,
    TransposeCodec,
    VLenBytesCodec,
    ZstdCodec,
    numcodecs,
)
from zarr.core.dtype import VariableLengthBytes
from zarr.storage import MemoryStore

FOLDER = os.path.dirname(os.path.abspath(__file__))
warnings.simplefilter("ignore")


def inline(value):
    try:
        return value.decode("ascii")
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(value).decode()


class Store:
    """A store, and what its arrays are expected to hold."""

    def __init__(self, name):
        self.name, self.store, self.expected = name, MemoryStore(), {}
        self.root = zarr.create_group(self.store, zarr_format=3, attributes={"title": name})

    def add(self, path, values, fill=None, absent=None, **options):
        """An array of `values`; the elements `absent` are left as the fill value."""
        options.setdefault("chunks", values.shape or None)
        if options["chunks"] is None:
            del options["chunks"]
        dtype = options.pop("dtype", values.dtype)
        if fill is not None:
            options["fill_value"] = fill
        array = self.root.create_array(path, shape=values.shape, dtype=dtype, **options)
        if absent is None:
            array[...] = values
        else:
            present = tuple(slice(0, part) for part in absent)
            array[present] = values[present]
        read = array[...]
        if read.dtype.kind in "OT":
            texts = [t if isinstance(t, str) else t.decode() for t in read.reshape(-1).tolist()]
            self.expected["/" + path] = {"texts": texts}
        else:
            elements = np.ascontiguousarray(read).astype(read.dtype.newbyteorder("<"))
            self.expected["/" + path] = {"elements": base64.b64encode(elements.tobytes()).decode()}
        return array

    def write(self):
        refs = {key: inline(value.to_bytes()) for key, value in self.store._store_dict.items()}
        for ending, content in ("", {"version": 1, "refs": refs}), (".expected", self.expected):
            with open(os.path.join(FOLDER, self.name + ending + ".json"), "w") as file:
                json.dump(content, file, indent=1, sort_keys=True)
                file.write("\n")


def numbers(dtype, shape=(6, 10)):
    return (np.arange(int(np.prod(shape))) * 3 % 101).reshape(shape).astype(dtype)


def types():
    store = Store("types")
    for dtype in "bool i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split():
        store.add("little/" + dtype, numbers(dtype), chunks=(4, 4))
        big = BytesCodec(endian="big")
        if np.dtype(dtype).itemsize > 1:
            store.add("big/" + dtype, numbers(dtype), chunks=(4, 4), serializer=big)
    for name, dtype, fill in (
        ("nan", "f4", np.nan), ("infinity", "f8", -np.inf), ("half", "f2", 1.5),
        ("complex", "c8", complex(1, np.nan)), ("lowest", "i8", -(2**63)),
        ("highest", "u8", 2**64 - 1), ("true", "bool", True),
    ):
        store.add("fill/" + name, numbers(dtype), fill=fill, absent=(3, 10), chunks=(3, 10))
    for unit in "s", "10us", "D":
        store.add("time/" + unit, numbers("i8").view(f"M8[{unit}]"), chunks=(4, 4))
    store.add("time/delta", numbers("i8").view("m8[ms]"), chunks=(4, 4))
    texts = np.array(["spring", "été", "", "automne"])
    store.add("text/unicode", texts, chunks=(3,))
    store.add("text/unicode-big", texts, chunks=(3,), serializer=BytesCodec(endian="big"))
    store.add("text/bytes", np.array([b"a", b"bb", b"", b"ccccc"]), chunks=(3,))
    objects = texts.astype(object)
    store.add("text/string", objects, chunks=(3,), dtype=str)
    store.add("text/string-fill", objects, chunks=(2,), dtype=str, fill="none", absent=(2,))
    store.add("text/variable-bytes", np.array([b"a", b"bb", b""], dtype=object), chunks=(2,),
              dtype=VariableLengthBytes(), serializer=VLenBytesCodec())
    store.add("scalar", np.float64(42.5).reshape(()))
    store.write()


def codecs():
    store = Store("codecs")
    for name, compressors in (
        ("none", None), ("gzip", GzipCodec(level=5)), ("zstd", ZstdCodec(level=3, checksum=True)),
        ("blosc", BloscCodec(cname="lz4", shuffle="bitshuffle", typesize=4)),
        ("crc32c", Crc32cCodec()), ("gzip-crc32c", [GzipCodec(), Crc32cCodec()]),
        ("bz2", numcodecs.BZ2()), ("lzma", numcodecs.LZMA()), ("lz4", numcodecs.LZ4()),
        ("zlib", numcodecs.Zlib()), ("shuffle", [numcodecs.Shuffle(elementsize=4), GzipCodec()]),
        ("fletcher32", numcodecs.Fletcher32()), ("adler32", numcodecs.Adler32()),
        ("crc32", numcodecs.CRC32()), ("jenkins", numcodecs.JenkinsLookup3()),
    ):
        store.add("compressor/" + name, numbers("i4"), chunks=(4, 4), compressors=compressors)
    for name, dtype, filters in (
        ("delta", "i4", numcodecs.Delta(dtype="<i4", astype="<i2")),
        ("fixedscaleoffset", "f8", numcodecs.FixedScaleOffset(
            offset=10, scale=2, dtype="<f8", astype="<i2")),
        ("quantize", "f8", numcodecs.Quantize(digits=2, dtype="<f8")),
        ("bitround", "f4", numcodecs.BitRound(keepbits=8)),
        ("astype", "f8", numcodecs.AsType(encode_dtype="<f4", decode_dtype="<f8")),
        ("packbits", "bool", numcodecs.PackBits()),
        ("scale-offset", "f4", ScaleOffset(offset=5, scale=0.25)),
        ("cast-value", "f4", CastValue(data_type="int16", rounding="nearest-even")),
        ("scale-and-cast", "f8", [ScaleOffset(offset=5, scale=2), CastValue(data_type="int16")]),
    ):
        try:
            store.add("filter/" + name, numbers(dtype), chunks=(4, 5), filters=filters)
        except ImportError as problem:
            print(f"filter {name} is left out: {problem}")
            del store.root["filter/" + name]
    for order in (2, 0, 1), (0, 2, 1), (2, 1, 0):
        name = "transpose/" + "".join(map(str, order))
        store.add(name, numbers("i4", (4, 6, 5)), chunks=(2, 3, 4),
                  filters=TransposeCodec(order=order))
    store.add("transpose/twice", numbers("i4", (4, 6, 5)), chunks=(2, 3, 4),
              filters=[TransposeCodec(order=(1, 2, 0)), TransposeCodec(order=(0, 2, 1))])
    for encoding in "default", "v2":
        for separator in "./":
            store.add(f"keys/{encoding}-{'dot' if separator == '.' else 'slash'}", numbers("i4"),
                      chunks=(4, 4), chunk_key_encoding={"name": encoding, "separator": separator})
    store.write()


def sharding():
    store = Store("sharding")
    for name, dtype, codec in (
        ("plain", "i4", dict(codecs=[BytesCodec()])),
        ("zstd", "f8", dict(codecs=[BytesCodec(), ZstdCodec()])),
        ("start", "i2", dict(codecs=[BytesCodec(), Crc32cCodec()], index_location="start")),
        ("bare-index", "i4", dict(codecs=[BytesCodec(), GzipCodec()],
                                  index_codecs=[BytesCodec()])),
        ("big", "f4", dict(codecs=[BytesCodec(endian="big"), ZstdCodec()])),
        ("transpose", "u2", dict(codecs=[TransposeCodec(order=(1, 0)), BytesCodec()])),
    ):
        array = store.add("shard/" + name, numbers(dtype, (10, 12)), chunks=(8, 6), fill=7,
                          serializer=ShardingCodec(chunk_shape=(2, 3), **codec), compressors=None,
                          absent=(10, 9))
    inner = ShardingCodec(chunk_shape=(1, 3), codecs=[BytesCodec(), ZstdCodec()])
    store.add("shard/nested", numbers("i4", (8, 12)), chunks=(8, 6), compressors=None,
              serializer=ShardingCodec(chunk_shape=(4, 3), codecs=[inner]))
    store.add("shard/compressed", numbers("i4", (8, 12)), chunks=(8, 6), compressors=GzipCodec(),
              serializer=ShardingCodec(chunk_shape=(4, 3), codecs=[BytesCodec()]))
    store.add("shard/transposed", numbers("i4", (8, 12)), chunks=(8, 6), compressors=None,
              filters=TransposeCodec(order=(1, 0)),
              serializer=ShardingCodec(chunk_shape=(2, 2), codecs=[BytesCodec()]))
    store.write()

    shard = store.store._store_dict["shard/zstd/c/0/0"].to_bytes()
    meta = json.loads(store.store._store_dict["shard/zstd/zarr.json"].to_bytes())
    config = meta["codecs"][0]["configuration"]
    values = numbers("f8", (10, 12))[:8, :6]
    sample = {
        "codec": {"id": "sharding_indexed", **config}, "dtype": "<f8", "shape": [8, 6],
        "fill": base64.b64encode(np.float64(7).tobytes()).decode(),
        "encoded": base64.b64encode(shard).decode(),
        "decoded": base64.b64encode(values.tobytes()).decode(),
    }
    with open(os.path.join(FOLDER, "..", "data", "sharding-indexed.json"), "w") as file:
        json.dump(sample, file, indent=1)
        file.write("\n")


def consolidated():
    store = Store("consolidated")
    store.add("group/inner", numbers("i4"), chunks=(4, 4), dimension_names=("y", "x"),
              attributes={"units": "K"})
    zarr.consolidate_metadata(store.store)
    # Only what the root says is left.
    for key in "group/zarr.json", "group/inner/zarr.json":
        del store.store._store_dict[key]
    store.write()


types()
codecs()
sharding()
consolidated()
