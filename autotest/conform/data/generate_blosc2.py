#!/usr/bin/env python3
"""Writes the samples of Blosc2 chunks, blosc2*, and of frames, blosc2-frame*, into its own folder.

    python -m venv v && v/bin/pip install imagecodecs==2026.3.6 numcodecs blosc2==4.14.1 hdf5plugin==7.1.0 h5py
    v/bin/python generate_blosc2.py
"""

import blosc2
import h5py
import hdf5plugin
import numpy as np
from imagecodecs import numcodecs

from samples import write

numbers = ((np.arange(480) * 7 // 3) % 90).astype("<i4").reshape(20, 24)
for name, options in (("", {}), ("-blosclz", {"compressor": "blosclz", "shuffle": "bitshuffle"}),
                      ("-lz4", {"compressor": "lz4", "blocksize": 512, "shuffle": "shuffle", "typesize": 4}),
                      ("-zlib", {"compressor": "zlib", "shuffle": "noshuffle"}), ("-stored", {"level": 0})):
    codec = numcodecs.Blosc2(**options)
    encoded = bytes(codec.encode(numbers))
    assert bytes(codec.decode(encoded)) == numbers.tobytes()
    config = {key: value for key, value in codec.get_config().items() if value is not None}
    write(f"blosc2{name}", config, encoded, numbers)


def write_frame(name, encoded, decoded):
    write(f"blosc2-frame-{name}", {"id": "imagecodecs_blosc2"}, encoded, decoded)


def stored_chunk(numbers, **options):
    """The only chunk of an HDF5 dataset."""
    with h5py.File("memory", "w", driver="core", backing_store=False) as file:
        dataset = file.create_dataset("v", data=numbers, chunks=numbers.shape, **hdf5plugin.Blosc2(**options))
        return dataset.id.read_direct_chunk((0,) * numbers.ndim)[1]


cube = ((np.arange(840) * 7 // 3) % 90).astype("<f4").reshape(5, 12, 14)
write_frame("hdf5", stored_chunk(numbers, cname="lz4"), numbers)
write_frame("hdf5-row", stored_chunk(numbers.ravel(), cname="zstd"), numbers.ravel())
write_frame("hdf5-zeros", stored_chunk(np.zeros_like(numbers)), np.zeros_like(numbers))
write_frame("blocks", blosc2.asarray(numbers, chunks=(20, 24), blocks=(6, 7)).to_cframe(), numbers)
write_frame("padded", blosc2.asarray(numbers, chunks=(32, 30), blocks=(6, 7)).to_cframe(), numbers)
write_frame("blocks-of-3", blosc2.asarray(cube, chunks=cube.shape, blocks=(2, 12, 4)).to_cframe(), cube)
