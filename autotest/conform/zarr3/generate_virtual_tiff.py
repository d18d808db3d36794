#!/usr/bin/env python3
"""Writes virtual_tiff.json and virtual_tiff.expected.json beside it: TIFF files as virtual-tiff refers to
them, and what was written to them, which is what zarr-python reads with its codecs.

    python -m venv v && v/bin/pip install virtual-tiff==0.5.0 zarr==3.1.6 tifffile imagecodecs
    v/bin/python generate_virtual_tiff.py
"""

import base64
import json
import os
import tempfile
import warnings

import numpy as np
import tifffile
import zarr
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import LocalStore
from virtual_tiff import VirtualTIFF

FOLDER = os.path.dirname(os.path.abspath(__file__))
warnings.simplefilter("ignore")

# Name, type, samples, options of tifffile.
FILES = (
    ("gray_delta", "<u2", 1, {"compression": "deflate", "predictor": 2}),
    ("rgb", "<u1", 3, {}),
    ("rgb_delta", "<u1", 3, {"compression": "deflate", "predictor": 2}),
    ("rgb_delta_big", ">u2", 3, {"compression": "lzw", "predictor": 2}),
    ("signed_delta", "<i2", 2, {"compression": "zstd", "predictor": 2}),
    ("float_predictor", "<f4", 1, {"compression": "deflate", "predictor": 3}),
    ("double_big", ">f8", 2, {"compression": "deflate"}),
    ("planes_delta", "<u2", 3, {"compression": "deflate", "predictor": 2, "planarconfig": "separate"}),
)


def numbers(dtype, samples, planar):
    count = np.arange(32 * 48 * samples) * 37 % 251
    shape = (samples, 32, 48) if planar else (32, 48, samples)
    values = count.astype(dtype[1:]).reshape(shape)
    return values[..., 0] if samples == 1 else values


def main():
    refs, expected = {"zarr.json": json.dumps({"zarr_format": 3, "node_type": "group"})}, {}
    with tempfile.TemporaryDirectory() as folder:
        for name, dtype, samples, options in FILES:
            path = os.path.join(folder, name + ".tif")
            options = {"planarconfig": "contig", **options} if samples > 1 else options
            planar = options.get("planarconfig") == "separate"
            tifffile.imwrite(path, numbers(dtype, samples, planar), byteorder=dtype[0], tile=(16, 32),
                             photometric="minisblack", **options)
            registry = ObjectStoreRegistry({"file://": LocalStore()})
            store = VirtualTIFF(ifd=0)("file://" + path, registry)
            array = store._group.arrays["0"]
            refs[name + "/zarr.json"] = json.dumps(array.metadata.to_dict(), default=str)
            for key, place in array.manifest.dict().items():
                with open(path, "rb") as file:
                    file.seek(place["offset"])
                    chunk = file.read(place["length"])
                refs[f"{name}/c/{key.replace('.', '/')}"] = "base64:" + base64.b64encode(chunk).decode()
            read = zarr.open_group(store, mode="r")["0"][...]
            written = numbers(dtype, samples, planar)
            written = written if planar or samples == 1 else np.moveaxis(written, -1, 0)
            # virtual-tiff 0.5 adds differences of big-endian numbers as if they were little-endian.
            if name != "rgb_delta_big":
                assert np.array_equal(read, written), name
            elements = np.ascontiguousarray(written).astype(written.dtype.newbyteorder("<"))
            expected["/" + name] = {"elements": base64.b64encode(elements.tobytes()).decode()}
    for ending, content in ("", {"version": 1, "refs": refs}), (".expected", expected):
        with open(os.path.join(FOLDER, f"virtual_tiff{ending}.json"), "w") as file:
            json.dump(content, file, indent=1, sort_keys=True)
            file.write("\n")


main()
