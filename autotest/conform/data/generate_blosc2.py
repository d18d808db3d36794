#!/usr/bin/env python3
"""Writes the samples of Blosc2 chunks, blosc2*, into its own folder.

    python -m venv v && v/bin/pip install imagecodecs==2026.3.6 numcodecs
    v/bin/python generate_blosc2.py
"""

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
