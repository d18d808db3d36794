"""Chunks of HDF5 files, however they are indexed and whichever filters they went without, are read as
h5py reads them. Skips without h5py.
"""

import glob
import itertools
import os
import sys
import tempfile
import zlib

import numpy as np
from osgeo import gdal

try:
    import h5py
except ImportError:
    h5py = None

INDEXES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit/parsers/data")
SKIPPED = 77


def read(path, name):
    root = gdal.OpenEx(f'REFS:"{path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    return root.OpenMDArray(name).ReadAsArray()


def differs(path, name="v"):
    try:
        with h5py.File(path) as file:
            expected = file[name][...]
    except OSError:
        if h5py.version.hdf5_version_tuple[:2] != (1, 14):
            raise
        return False  # HDF5 1.14 does not decode all that it has written by scale-offset
    return not np.array_equal(read(path, name), expected)


def shuffled(values):
    return values.view("u1").reshape(-1, values.itemsize).T.tobytes()


def write_masks(path):
    """Chunks that went through shuffle, deflate and fletcher32, or not through some of them. Those
    with a checksum are written by HDF5 itself."""
    with h5py.File(path, "w") as file:
        v = file.create_dataset("v", (8, 6), "<i4", chunks=(1, 6), shuffle=True, compression="gzip")
        for row, (no_shuffle, no_deflate) in enumerate(itertools.product([0, 1], repeat=2)):
            values = np.arange(6, dtype="<i4") * 1000 + row
            stored = values.tobytes() if no_shuffle else shuffled(values)
            stored = stored if no_deflate else zlib.compress(stored)
            v.id.write_direct_chunk((row, 0), stored, filter_mask=no_shuffle + 2 * no_deflate)
        v[4:7] = np.arange(18).reshape(3, 6)
        w = file.create_dataset("w", (2, 6), "<i4", chunks=(1, 6), fletcher32=True, shuffle=True)
        w[:] = np.arange(12).reshape(2, 6)
        w.id.write_direct_chunk((1, 0), np.arange(6, dtype="<i4").tobytes(), filter_mask=0xFFFFFFFF)


def write_contiguous(path):
    """More than is read at once, in planes that are cut into parts of which the last is shorter."""
    with h5py.File(path, "w") as file:
        for name, shape in (("v", (3, 1000, 500)), ("w", (2, 300001)), ("x", (2, 3, 1000, 100)),
                            ("y", (700001,))):
            file[name] = np.arange(np.prod(shape), dtype="i4").reshape(shape)


def write_scaleoffset(path):
    """Numbers above the least of them, with and without fill values, that fill no bytes or all."""
    random = np.random.default_rng(5)
    with h5py.File(path, "w") as file:
        for dtype in ("i1", "u1", "<i2", ">u2", "<i4", ">i4", "<u8", ">i8"):
            limits = np.iinfo(dtype)
            for name, low, high in (("few", 3, 40), ("all", limits.min, limits.max), ("one", 9, 10)):
                values = random.integers(low, high, 101, np.dtype(dtype).newbyteorder("="))
                for fill in (None, 3):
                    file.create_dataset(f"{name}_{dtype}_{fill}", (150,), dtype, chunks=(40,),
                                        scaleoffset=0, fillvalue=fill)[:101] = values
            file.create_dataset(f"bits_{dtype}", data=values % 5, dtype=dtype, chunks=(40,),
                                scaleoffset=4, compression="gzip", shuffle=True)
        for dtype in ("<f4", ">f4", "<f8", ">f8"):
            for digits in (0, 2, 5):
                file.create_dataset(f"f_{dtype}_{digits}", data=random.normal(20, 400, 101),
                                    dtype=dtype, chunks=(40,), scaleoffset=digits)
    with h5py.File(path) as file:
        return list(file)


def write_nbit(path):
    """Elements without bits to spare, which the filter nbit leaves as they are."""
    with h5py.File(path, "w") as file:
        for dtype in ("u1", "<i2", ">i4", "<f4", ">f8"):
            options = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            options.set_chunk((40,))
            options.set_filter(h5py.h5z.FILTER_NBIT, h5py.h5z.FLAG_OPTIONAL, ())
            options.set_deflate(4)
            kind, space = h5py.h5t.py_create(np.dtype(dtype)), h5py.h5s.create_simple((150,))
            h5py.h5d.create(file.id, f"nbit_{dtype}".encode(), kind, space, options)
            file[f"nbit_{dtype}"][:101] = np.arange(101)
    with h5py.File(path) as file:
        return list(file)


def write_arrays(path):
    """Elements that are arrays themselves, in each layout."""
    with h5py.File(path, "w") as file:
        kind = np.dtype(("<i4", (2, 3)))
        for name, options in (("contiguous", {}), ("chunked", dict(chunks=(2,))), ("gzip", dict(chunks=(2,), compression="gzip"))):
            file.create_dataset(name, (5,), kind, **options)[...] = np.arange(30).reshape(5, 2, 3)
        file.create_dataset("scalar", (), kind)[...] = np.arange(6).reshape(2, 3)
    with h5py.File(path) as file:
        return list(file)


def write_mask_of_others(path):
    """A chunk whose mask has bits of filters that the dataset does not have: HDF5 does not look at them."""
    with h5py.File(path, "w") as file:
        v = file.create_dataset("v", (1, 6), "<i4", chunks=(1, 6), compression="gzip")
        v.id.write_direct_chunk((0, 0), np.arange(6, dtype="<i4").tobytes(), filter_mask=5)


def write_texts(path):
    """Texts of variable length in each layout that h5py makes, some of them never written."""
    with h5py.File(path, "w") as file:
        kind = h5py.string_dtype()
        texts = np.array([f"Ä{i}" * (i % 5) for i in range(300)], dtype=object)
        file.create_dataset("contiguous", data=texts, dtype=kind)
        file.create_dataset("scalar", data="é", dtype=kind)
        file.create_dataset("unwritten", (5,), kind)
        v = file.create_dataset("chunked", (7, 90), kind, chunks=(2, 40))
        v[:3] = texts[:270].reshape(3, 90)
        for i, options in enumerate((dict(compression="gzip", shuffle=True), dict(compression="lzf"))):
            w = file.create_dataset(f"filtered{i}", (7, 90), kind, chunks=(2, 40), **options)
            w[:3] = texts[:270].reshape(3, 90)


def differing_texts(path):
    """Names of arrays whose texts are not those that h5py reads."""
    root = gdal.OpenEx(f'REFS:"{path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    with h5py.File(path) as file:
        return [name for name in file if root.OpenMDArray(name).Read() !=
                [text.decode() for text in np.array(file[name][()]).ravel().tolist()]]


def check_mask_of_others(path):
    with h5py.File(path) as file:
        expected = file["v"][...]
    return [] if np.array_equal(read(path, "v"), expected) else ["a mask with bits to spare"]


def main():
    if h5py is None:
        print("h5py is absent")
        return SKIPPED
    gdal.UseExceptions()
    files = sorted(glob.glob(os.path.join(INDEXES, "*.h5")))
    problems = [] if files else ["there are no files"]
    problems += [f"{path} differs" for path in files if differs(path)]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "masks.h5")
        write_masks(path)
        problems += [f"{name} of masks.h5 differs" for name in "vw" if differs(path, name)]
        path = os.path.join(folder, "contiguous.h5")
        write_contiguous(path)
        problems += [f"{name} of contiguous.h5 differs" for name in "vwxy" if differs(path, name)]
        path = os.path.join(folder, "scaleoffset.h5")
        names = write_scaleoffset(path)
        problems += [f"{name} of scaleoffset.h5 differs" for name in names if differs(path, name)]
        path = os.path.join(folder, "nbit.h5")
        names = write_nbit(path)
        problems += [f"{name} of nbit.h5 differs" for name in names if differs(path, name)]
        path = os.path.join(folder, "arrays.h5")
        names = write_arrays(path)
        problems += [f"{name} of arrays.h5 differs" for name in names if differs(path, name)]
        path = os.path.join(folder, "others.h5")
        write_mask_of_others(path)
        problems += check_mask_of_others(path)
        path = os.path.join(folder, "texts.h5")
        write_texts(path)
        problems += [f"{name} of texts.h5 differs" for name in differing_texts(path)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
