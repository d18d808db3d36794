"""Makes one HDF5 file for each kind of chunk index, and lists where HDF5 itself says that the chunks are.

usage: python3 autotest/unit/scan/data/make_indexes.py

Needs python3-h5py. Beside each NAME.h5, with one dataset "v", NAME.txt has what the dataset's layout
is, and a line for each chunk: its number along each dimension, offset, size, filter mask.
"""

import ctypes
import glob
import os
import struct
import zlib

import h5py
import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))
DONT_FILTER_PARTIAL_CHUNKS = 2
UNLIMITED = h5py.h5s.UNLIMITED
LATEST = (h5py.h5f.LIBVER_LATEST, h5py.h5f.LIBVER_LATEST)
KINDS = ["btree1", "single", "implicit", "fixed", "extensible", "btree2"]


def hdf5_library():
    """libhdf5 as h5py has it loaded."""
    with open("/proc/self/maps") as maps:
        paths = {line.split()[-1] for line in maps if "libhdf5" in line and "_hl" not in line}
    return ctypes.CDLL(sorted(paths)[0])


def create(name, spec):
    """An open file with an empty dataset "v"."""
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    if spec["kind"] != "btree1":
        access.set_libver_bounds(*LATEST)
    creation = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    if "sizes" in spec:
        creation.set_sizes(*spec["sizes"])
    if "userblock" in spec:
        creation.set_userblock(spec["userblock"])
    path = os.path.join(FOLDER, name + ".h5").encode()
    file = h5py.h5f.create(path, h5py.h5f.ACC_TRUNC, creation, access)
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk(spec["chunk"])
    if spec.get("filters"):
        properties.set_shuffle()
        properties.set_deflate(4)
    if spec.get("early"):
        properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    if spec.get("partial_unfiltered"):
        library = hdf5_library()
        library.H5Pset_chunk_opts.argtypes = [ctypes.c_int64, ctypes.c_uint]
        library.H5Pset_chunk_opts(properties.id, DONT_FILTER_PARTIAL_CHUNKS)
    space = h5py.h5s.create_simple(spec["shape"], spec.get("max_shape", spec["shape"]))
    return h5py.h5d.create(file, b"v", h5py.h5t.STD_I16LE, space, properties)


def numbers(shape, chunk):
    return np.ndindex(*[-(-n // c) for n, c in zip(shape, chunk)])


def values_of(at, chunk, shape):
    """Those of one chunk, different ones in each."""
    count = [min(c, n - a * c) for a, c, n in zip(at, chunk, shape)]
    first = sum(a * 89 ** (len(at) - i) for i, a in enumerate(at))
    return (np.arange(int(np.prod(count))) + first).astype("<i2").reshape(count)


def write(dataset, spec):
    """Writes values, or only those chunks that the spec names."""
    shape, chunk = spec["shape"], spec["chunk"]
    for at in spec.get("only", numbers(shape, chunk)):
        start = tuple(a * c for a, c in zip(at, chunk))
        count = tuple(min(c, n - s) for c, n, s in zip(chunk, shape, start))
        values = values_of(at, chunk, shape)
        if at in spec.get("masked", {}):
            mask = spec["masked"][at]
            stored = values.tobytes()
            if mask == 1:  # not shuffled
                stored = zlib.compress(stored)
            dataset.write_direct_chunk(start, stored, filter_mask=mask)
            continue
        file_space = dataset.get_space()
        file_space.select_hyperslab(start, count)
        dataset.write(h5py.h5s.create_simple(count), file_space, values)


def address_of(path, spec, dataset_chunks):
    """Where the index is: nobody tells, so by its signature."""
    with open(path, "rb") as file:
        content = file.read()
    base = spec.get("userblock", 0)
    kind = spec["kind"]
    if kind in ("single", "implicit"):
        return min(chunk[1] for chunk in dataset_chunks) - base
    if kind != "btree1":
        signature = {"fixed": b"FAHD", "extensible": b"EAHD", "btree2": b"BTHD"}[kind]
        return content.index(signature) - base
    nodes = []
    at = content.find(b"TREE")
    while at >= 0:
        if content[at + 4] == 1 and struct.unpack_from("<H", content, at + 6)[0] > 0:
            nodes.append((content[at + 5], -at))
        at = content.find(b"TREE", at + 1)
    return -max(nodes)[1] - base


def chunks_of(dataset, spec):
    """(numbers, address, size, mask) of those that libhdf5 has."""
    found = []
    for at in spec.get("only", numbers(spec["shape"], spec["chunk"])):
        info = dataset.get_chunk_info_by_coord(tuple(a * c for a, c in zip(at, spec["chunk"])))
        if info.byte_offset is not None:
            found.append((at, info.byte_offset, info.size, info.filter_mask))
    return found


def chunks_by_content(path, spec):
    """The same of chunks that are not filtered, by their values: of extensible arrays whose unlimited
    dimension is not the first, libhdf5 1.10 tells wrong places."""
    with open(path, "rb") as file:
        content = file.read()
    found = []
    for at in numbers(spec["shape"], spec["chunk"]):
        stored = values_of(at, spec["chunk"], spec["shape"]).tobytes()
        assert content.count(stored) == 1
        found.append((at, content.index(stored), int(np.prod(spec["chunk"])) * 2, 0))
    return found


def numbers_text(values):
    return " ".join("-1" if v == UNLIMITED else str(v) for v in values)


def make(name, spec):
    dataset = create(name, spec)
    write(dataset, spec)
    file = h5py.h5i.get_file_id(dataset)
    h5py.h5f.flush(file)
    chunks = chunks_of(dataset, spec)
    file.close()
    del dataset, file
    path = os.path.join(FOLDER, name + ".h5")
    if spec.get("by_content"):
        chunks = chunks_by_content(path, spec)
    chunks = [(at, offset + fix_of(spec), size, mask) for at, offset, size, mask in chunks]
    with open(os.path.join(FOLDER, name + ".txt"), "w") as listing:
        listing.write("kind %s\n" % spec["kind"])
        listing.write("shape %s\n" % numbers_text(spec["shape"]))
        listing.write("max %s\n" % numbers_text(spec.get("max_shape", spec["shape"])))
        listing.write("chunk %s\n" % numbers_text(spec["chunk"]))
        listing.write("sizes %d %d\n" % spec.get("sizes", (8, 8)))
        listing.write("base %d\n" % spec.get("userblock", 0))
        listing.write("filters %d\n" % (2 if spec.get("filters") else 0))
        listing.write("partial_unfiltered %d\n" % spec.get("partial_unfiltered", 0))
        listing.write("address %d\n" % address_of(path, spec, chunks))
        for at, offset, size, mask in sorted(chunks):
            listing.write("at %s : %d %d %d\n" % (numbers_text(at), offset, size, mask))


def fix_of(spec):
    """libhdf5 1.10 tells addresses, and not offsets, where there is a user block."""
    return spec.get("userblock", 0)


def main():
    wide = dict(shape=(40, 60), chunk=(4, 3))
    specs = {
        "btree1": dict(wide, kind="btree1", filters=True, masked={(0, 0): 1, (9, 19): 3}),
        "btree1_sparse": dict(wide, kind="btree1", only=[(0, 3), (5, 5), (9, 19)]),
        "btree1_small_sizes": dict(wide, kind="btree1", filters=True, sizes=(4, 4), userblock=512),
        "single": dict(shape=(10, 7), chunk=(10, 7), kind="single"),
        "single_filtered": dict(shape=(10, 7), chunk=(10, 7), kind="single", filters=True),
        "implicit": dict(shape=(10, 7), chunk=(3, 2), max_shape=(14, 7), kind="implicit",
                         early=True),
        "fixed": dict(shape=(10, 7), chunk=(3, 2), max_shape=(10, 15), kind="fixed"),
        "fixed_filtered": dict(shape=(10, 7), chunk=(3, 2), max_shape=(20, 7), kind="fixed",
                               filters=True, only=[(0, 1), (2, 2), (3, 3)],
                               masked={(0, 1): 1, (2, 2): 3}),
        "fixed_paged": dict(shape=(3000, 2), chunk=(1, 1), kind="fixed",
                            only=[(0, 0), (1200, 1), (2999, 0), (2999, 1)]),
        "fixed_paged_filtered": dict(shape=(3000, 2), chunk=(1, 1), kind="fixed", filters=True,
                                     only=[(511, 1), (512, 0), (2999, 1)]),
        "fixed_partial": dict(shape=(10, 7), chunk=(3, 2), kind="fixed", filters=True,
                              partial_unfiltered=1),
        "extensible": dict(shape=(9, 40), chunk=(3, 1), by_content=True, max_shape=(13, UNLIMITED),
                           kind="extensible"),
        "extensible_filtered": dict(shape=(900, 2), chunk=(1, 1), max_shape=(UNLIMITED, 2),
                                    kind="extensible", filters=True, masked={(899, 1): 1},
                                    only=[(i, i % 2) for i in range(0, 900, 7)] + [(899, 1)]),
        "extensible_paged": dict(shape=(400000,), chunk=(1,), max_shape=(UNLIMITED,),
                                 kind="extensible", filters=True,
                                 only=[(0,), (3,), (4,), (19,), (20,), (9999,), (131059,),
                                       (140000,), (141021,), (399999,)]),
        "btree2": dict(wide, kind="btree2", max_shape=(UNLIMITED, UNLIMITED)),
        "btree2_filtered": dict(wide, kind="btree2", max_shape=(UNLIMITED, UNLIMITED),
                                filters=True, masked={(0, 0): 1, (9, 19): 3}),
        "btree2_partial": dict(shape=(10, 7), chunk=(3, 2), max_shape=(UNLIMITED, UNLIMITED),
                               kind="btree2", filters=True, partial_unfiltered=1),
    }
    for path in glob.glob(os.path.join(FOLDER, "*.h5")):
        os.remove(path)
    for name, spec in specs.items():
        make(name, spec)


if __name__ == "__main__":
    main()
