#!/usr/bin/env python3
"""Writes the samples of JPEG-LS and JPEG XL into its own folder, jpegls* and jpegxl*: the encoders are those of imagecodecs, and of
hdf5plugin for jpegls-fcidecomp*.

    python -m venv v && v/bin/pip install imagecodecs==2026.3.6 numcodecs hdf5plugin==7.1.0 h5py
    v/bin/python generate_pictures.py
"""

import h5py
import hdf5plugin
import imagecodecs
import numpy as np
from imagecodecs import numcodecs

import samples
from samples import write


def ramp(dtype, shape, top=250):
    return samples.ramp(dtype, shape, top)


def check_and_write(name, config, numbers, encoded, decoded):
    assert decoded.dtype == numbers.dtype and decoded.size == numbers.size, name
    write(name, config, encoded, decoded.tobytes(), numbers.dtype.str, numbers.shape)


def jpegls(name, numbers, **options):
    encoded = imagecodecs.jpegls_encode(numbers, **options)
    check_and_write(name, numcodecs.Jpegls(**options).get_config(), numbers, encoded, imagecodecs.jpegls_decode(encoded))


def fcidecomp(name, numbers):
    """What the filter of HDF5 writes, which swaps no bytes and has planes one behind another."""
    with h5py.File("memory", "w", driver="core", backing_store=False) as file:
        dataset = file.create_dataset("v", data=numbers, chunks=numbers.shape, **hdf5plugin.FciDecomp())
        _, encoded = dataset.id.read_direct_chunk((0,) * numbers.ndim)
        check_and_write(name, {"id": "imagecodecs_jpegls"}, numbers, encoded, dataset[...])


def jpegxl(name, numbers, config=None, **options):
    encoded = imagecodecs.jpegxl_encode(numbers, **{"lossless": True, **options})
    decoded = imagecodecs.jpegxl_decode(encoded, **(config or {}))
    assert options.get("lossless") is False or config or (decoded == numbers).all(), name
    chunk = numbers[config["index"]] if config else numbers
    check_and_write(name, {"id": "imagecodecs_jpegxl", **(config or {})}, chunk, encoded, decoded)


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
