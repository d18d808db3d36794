"""What numcodecs encoded is what the driver reads: a set of one array for each of its fixtures,
which shared_data.py finds.
"""

import json
import os
import sys

import numpy as np
from osgeo import gdal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../server"))
from shared_data import files  # noqa: E402

gdal.UseExceptions()


def open_fixture(config, encoded, array):
    """The array of a set whose only chunk is the file `encoded`."""
    shape = list(array.shape) or [1]
    meta = {"zarr_format": 2, "shape": shape, "chunks": shape, "dtype": array.dtype.str,
            "order": "F" if array.flags.fnc else "C", "fill_value": None, "compressor": None,
            "filters": [config]}
    refs = {".zgroup": {"zarr_format": 2}, "v/.zarray": meta,
            "v/" + ".".join("0" * len(shape)): [os.path.abspath(encoded)]}
    gdal.FileFromMemBuffer("/vsimem/fixture.json", json.dumps({"version": 1, "refs": refs}))
    dataset = gdal.OpenEx("REFS:/vsimem/fixture.json", gdal.OF_MULTIDIM_RASTER)
    return dataset, dataset.GetRootGroup().OpenMDArray("v")


def tolerance(config):
    """How far numbers may be from those that were encoded: zero, except for codecs that round."""
    if "digits" in config:
        return max(10.0 ** -config["digits"], 0.5)  # half floats are 0.5 apart there
    return 1 / config["scale"] if "scale" in config else 0


def is_equal(config, read, array):
    if array.dtype.kind in "OSU":
        return read == [text.decode() if isinstance(text, bytes) else str(text)
                        for text in array.ravel().tolist()]
    if isinstance(read, list):
        read = np.asarray(read).tobytes()
    if array.dtype.kind in "mM":
        array = array.view("i8")
    wide = array.ravel()
    near = np.frombuffer(read, wide.dtype if len(read) == wide.nbytes else "i2").astype(wide.dtype)
    return np.allclose(near, wide, rtol=0, atol=tolerance(config), equal_nan=True)


def main():
    paths = files("codecs/*/codec.*/encoded.*.dat")
    equal = 0
    for encoded in paths:
        folder = os.path.dirname(encoded)
        number = encoded.split(".")[-2]
        with open(os.path.join(folder, "config.json")) as file:
            config = json.load(file)
        array = np.load(os.path.join(folder, f"../array.{number}.npy"), allow_pickle=True)
        try:
            dataset, opened = open_fixture(config, encoded, array)
            if is_equal(config, opened.Read(), array):
                equal += 1
            else:
                print(encoded, "differs", opened.Read()[:9])
        except RuntimeError as problem:
            print(encoded, problem)
    print(f"{equal} of {len(paths)} fixtures of numcodecs are read as they were written")
    return 0 if equal == len(paths) else 1


sys.exit(main())
