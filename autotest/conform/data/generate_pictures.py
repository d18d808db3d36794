#!/usr/bin/env python3
"""Writes the samples of JPEG-LS and JPEG XL into its own folder, jpegls* and jpegxl*: the encoders are those of imagecodecs, and of
hdf5plugin for jpegls-fcidecomp*.

    python -m venv v && v/bin/pip install imagecodecs==2026.3.6 numcodecs hdf5plugin==7.1.0 h5py
    v/bin/python generate_pictures.py
"""

import base64
import json
import os

import h5py
import hdf5plugin
import imagecodecs
import numpy as np
from imagecodecs import numcodecs

FOLDER = os.path.dirname(os.path.abspath(__file__))


def ramp(dtype, shape, top=250):
    rows = np.arange(int(np.prod(shape)))
    return (rows * 7 // 3 % top + (rows % 11 == 0) * 5).astype(dtype).reshape(shape)


def write(name, config, numbers, encoded, decoded):
    assert decoded.dtype == numbers.dtype and decoded.size == numbers.size, name
    sample = {"codec": config, "dtype": numbers.dtype.str, "shape": list(numbers.shape),
              "encoded": base64.b64encode(bytes(encoded)).decode(),
              "decoded": base64.b64encode(decoded.tobytes()).decode()}
    with open(os.path.join(FOLDER, name + ".json"), "w") as file:
        json.dump(sample, file, indent=1)
        file.write("\n")


def jpegls(name, numbers, **options):
    encoded = imagecodecs.jpegls_encode(numbers, **options)
    write(name, numcodecs.Jpegls(**options).get_config(), numbers, encoded, imagecodecs.jpegls_decode(encoded))


def fcidecomp(name, numbers):
    """What the filter of HDF5 writes, which swaps no bytes and has planes one behind another."""
    with h5py.File("memory", "w", driver="core", backing_store=False) as file:
        dataset = file.create_dataset("v", data=numbers, chunks=numbers.shape, **hdf5plugin.FciDecomp())
        _, encoded = dataset.id.read_direct_chunk((0,) * numbers.ndim)
        write(name, {"id": "imagecodecs_jpegls"}, numbers, encoded, dataset[...])


def jpegxl(name, numbers, config=None, **options):
    encoded = imagecodecs.jpegxl_encode(numbers, **{"lossless": True, **options})
    decoded = imagecodecs.jpegxl_decode(encoded, **(config or {}))
    assert options.get("lossless") is False or config or (decoded == numbers).all(), name
    chunk = numbers[config["index"]] if config else numbers
    write(name, {"id": "imagecodecs_jpegxl", **(config or {})}, chunk, encoded, decoded)


jpegls("jpegls", ramp("u1", (16, 24)))
jpegls("jpegls-u2", ramp("<u2", (16, 24), 3000))
jpegls("jpegls-colours", ramp("u1", (12, 10, 3)))
jpegls("jpegls-near", ramp("u1", (16, 24)), level=3)
fcidecomp("jpegls-fcidecomp", ramp("<u2", (16, 24), 3000))
fcidecomp("jpegls-fcidecomp-big", ramp(">u2", (16, 24), 200))
fcidecomp("jpegls-fcidecomp-planes", ramp("<u2", (3, 8, 10), 3000))
jpegxl("jpegxl", ramp("u1", (16, 24)))
jpegxl("jpegxl-u2", ramp("<u2", (16, 24), 3000))
jpegxl("jpegxl-12-bits", ramp("<u2", (16, 24), 3000), bitspersample=12)
jpegxl("jpegxl-3-bits", ramp("u1", (16, 24), 3) % 8, bitspersample=3)
jpegxl("jpegxl-f4", ramp("<f4", (9, 8)) / 255)
jpegxl("jpegxl-colours", ramp("u1", (12, 10, 3)))
jpegxl("jpegxl-alpha", ramp("u1", (12, 10, 4)))
jpegxl("jpegxl-grey-alpha", ramp("<u2", (12, 10, 2), 3000))
jpegxl("jpegxl-planes", ramp("u1", (3, 9, 10)), planar=True)
jpegxl("jpegxl-frames", ramp("<u2", (3, 9, 10), 3000))
jpegxl("jpegxl-frame", ramp("<u2", (3, 9, 10), 3000), {"index": 2})
jpegxl("jpegxl-container", ramp("u1", (16, 24)), usecontainer=True)
