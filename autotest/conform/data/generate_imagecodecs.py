#!/usr/bin/env python3
"""Writes the samples of codecs of imagecodecs that tifffile does not use beside it: lz4-*, lz4f*, snappy,
brotli, byteshuffle-*, zfp-no-header-*, rounded.

    python -m venv v && v/bin/pip install imagecodecs==2026.10.10 numcodecs
    v/bin/python generate_imagecodecs.py
"""

import numpy as np
from imagecodecs import numcodecs

from samples import ramp, write


def encode(name, codec, numbers):
    encoded = codec.encode(numbers)
    if name.startswith("zfp"):  # zeros up to a whole word, which not all builds of zfp write
        encoded = encoded.rstrip(b"\0")
    decoded = np.asarray(codec.decode(encoded))
    assert decoded.tobytes() == numbers.tobytes() or name == "rounded", name
    config = {key: value for key, value in codec.get_config().items() if value is not None}
    write(name, config, encoded, decoded.tobytes(), numbers.dtype.str, numbers.shape)


encode("lz4-block", numcodecs.Lz4(), ramp("<i4"))
encode("lz4-header", numcodecs.Lz4(header=True), ramp("<i4"))
encode("lz4f", numcodecs.Lz4f(), ramp("<i4"))
encode("lz4f-checked", numcodecs.Lz4f(level=9, contentchecksum=True, blockchecksum=True), ramp("<i4"))
encode("snappy", numcodecs.Snappy(), ramp("<i4"))
encode("brotli", numcodecs.Brotli(), ramp("<i4"))
for name, dtype, options in (("u2", "<u2", {}), ("f4", "<f4", {"reorder": True}), ("f8", "<f8", {"delta": True}),
                             ("i4-delta", "<i4", {"delta": True, "reorder": True, "dist": 2}),
                             ("u2-big", ">u2", {}), ("f4-big", ">f4", {"delta": True, "reorder": True}),
                             ("samples", "<u2", {"axis": -2, "delta": True})):
    shape = (8, 6, 3) if name == "samples" else (9, 8)
    encode("byteshuffle-" + name, numcodecs.Byteshuffle(shape=shape, dtype=dtype, **options), ramp(dtype, shape))
for name, dtype, shape in (("1", "<i8", (90,)), ("2", "<f4", (16, 24)), ("3", "<f8", (5, 9, 7)), ("4", "<i4", (3, 5, 4, 6))):
    encode("zfp-no-header-" + name, numcodecs.Zfp(header=False, shape=shape, dtype=dtype), ramp(dtype, shape))
encode("rounded", numcodecs.Quantize(mode="bitround", nsd=5), ramp("<f4") / 7)
