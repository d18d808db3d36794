#!/usr/bin/python3
"""Decodes pictures of many shapes, types and options as imagecodecs does, or says where that differs.

    GDAL_DRIVER_PATH=build/release/gdalplugins python3 autotest/conform/beside_imagecodecs.py PYTHON [N] [SEED]

PYTHON is an interpreter with imagecodecs, numcodecs, h5py and hdf5plugin, which encodes N pictures with each codec; this one
needs GDAL's Python and NumPy. Exits with 1 where values differ.
"""
import base64
import json
import os
import subprocess
import sys
import tempfile


def picture(random, shape, dtype):
    """Noise, steps, ramps, or flat areas for runs."""
    import numpy as np

    most = np.iinfo(dtype).max if np.dtype(dtype).kind == "u" else 1
    size = int(np.prod(shape))
    kind = random.integers(4)
    values = random.random(size) * random.choice([0.01, 0.3, 1])
    if kind == 1:
        values = np.repeat(random.random(size // 7 + 1), 7)[:size]
    if kind == 2:
        values = np.arange(size) % 977 / 977 * random.choice([0.1, 1])
    if kind == 3:
        values = np.where(random.random(size) < 0.02, values, 0.25)
    return (values * most).astype(dtype).reshape(shape)


def fcidecomp(image):
    """None where the filter left the image as it is, since it would not be smaller."""
    import h5py
    import hdf5plugin

    with h5py.File("memory", "w", driver="core", backing_store=False) as file:
        dataset = file.create_dataset("v", data=image, chunks=image.shape, **hdf5plugin.FciDecomp())
        unfiltered, encoded = dataset.id.read_direct_chunk((0,) * image.ndim)
        return None if unfiltered else (bytes(encoded), dataset[...])


def encode(random, codec):
    import imagecodecs

    rows, columns = (int(n) for n in random.integers(16 if codec == "fcidecomp" else 1, 60, 2))
    if codec == "fcidecomp":
        planes = int(random.integers(1, 5))
        shape = (rows, columns) if planes == 1 else (planes, rows, columns)
        return fcidecomp(picture(random, shape, random.choice(["u1", "<u2"])))
    colours = int(random.choice([1, 3, 4]))
    shape = (rows, columns) if colours == 1 else (rows, columns, colours)
    if codec == "jpegls":
        encoded = imagecodecs.jpegls_encode(picture(random, shape, random.choice(["u1", "u2"])),
                                            level=int(random.choice([0, 0, 1, 2, 7])))
        return encoded, imagecodecs.jpegls_decode(encoded)
    encoded = imagecodecs.jpegxl_encode(picture(random, shape, random.choice(["u1", "u2", "f4"])), lossless=True,
                                        effort=int(random.integers(1, 8)))
    return encoded, imagecodecs.jpegxl_decode(encoded)


def write_sets(folder, n, seed):
    import numpy as np

    random = np.random.default_rng(seed)
    for codec in ("jpegls", "fcidecomp", "jpegxl"):
        for i in range(n):
            encoded, decoded = next(filter(None, iter(lambda: encode(random, codec), 0)))
            array = {"zarr_format": 2, "shape": decoded.shape, "chunks": decoded.shape, "dtype": decoded.dtype.str,
                     "fill_value": None, "order": "C", "filters": None,
                     "compressor": {"id": "imagecodecs_jpegxl" if codec == "jpegxl" else "imagecodecs_jpegls"}}
            refs = {".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps(array),
                    "v/" + ".".join("0" * decoded.ndim): "base64:" + base64.b64encode(encoded).decode()}
            with open(f"{folder}/{codec}{i}.json", "w", encoding="utf-8") as file:
                json.dump({"version": 1, "refs": refs}, file)
            np.save(f"{folder}/{codec}{i}.npy", decoded)


def differs(folder, name):
    import numpy as np
    from osgeo import gdal

    root = gdal.OpenEx(f"REFS:{folder}/{name}.json", gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    values, right = root.OpenMDArray("v").ReadAsArray(), np.load(f"{folder}/{name}.npy")
    return values is None or values.tobytes() != right.tobytes()


def main(python, n=300, seed=0):
    from osgeo import gdal

    gdal.UseExceptions()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, __file__, "--write", folder, str(n), str(seed)], check=True)
        names = sorted(name[:-5] for name in os.listdir(folder) if name.endswith(".json"))
        wrong = [name for name in names if differs(folder, name)]
        print(f"{len(names)} pictures, {len(wrong)} differ", *wrong[:10])
        return len(wrong) > 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write_sets(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    elif len(sys.argv) < 2:
        sys.exit(__doc__)
    else:
        sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
