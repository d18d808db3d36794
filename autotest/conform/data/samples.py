"""Writes samples of codecs, for the scripts in this folder."""

import base64
import json
import os

import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))


def write(name, codec, encoded, decoded, dtype="|u1", shape=None):
    """One sample. `codec` is its configuration; `decoded` the elements as bytes or an array; where
    there is no shape, it is not known."""
    if isinstance(decoded, np.ndarray):
        dtype, shape, decoded = decoded.dtype.str, decoded.shape, decoded.tobytes()
    sample = {
        "codec": codec,
        "dtype": dtype,
        "shape": list(shape or []),
        "encoded": base64.b64encode(bytes(encoded)).decode(),
        "decoded": base64.b64encode(bytes(decoded)).decode(),
    }
    with open(os.path.join(FOLDER, name + ".json"), "w") as file:
        json.dump(sample, file, indent=1)
        file.write("\n")


def ramp(dtype, shape=(16, 24), top=90):
    """Numbers that rise, with something to compress and something that does not."""
    n = int(np.prod(shape))
    numbers = (np.arange(n) * 7 // 3) % top + (np.arange(n) % 11 == 0) * 5
    return numbers.astype(dtype).reshape(shape)
