#!/usr/bin/env python3
"""Makes the HDF5 files of this folder, and beside each a file of what h5py finds in it.

    python3 make_hdf5.py [FOLDER]

Needs h5py and netCDF4. What a test compares with is written by h5py, not by REFS.
"""
import json
import os
import sys

import h5py
import netCDF4
import numpy as np

HIDDEN = {"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "_Netcdf4Dimid",
          "_Netcdf4Coordinates", "_NCProperties", "_nc3_strict"}


def old_groups(path):
    """Symbol tables with several nodes, soft and hard links, and all in version 0."""
    with h5py.File(path, "w", libver="earliest") as f:
        for i in range(20):
            f["d%02d" % i] = np.arange(i + 1, dtype="<i2")
        f.attrs["title"] = "old"
        group = f.create_group("group").create_group("inner")
        group["data"] = np.arange(6, dtype=">f4").reshape(2, 3)
        f["again"] = f["d03"]
        f["group/soft"] = h5py.SoftLink("inner/data")
        f["group/loop"] = h5py.SoftLink("/group")
        f["group/nothing"] = h5py.SoftLink("/nowhere/at/all")
        f["group/inner/up"] = f["group"]
        f["other_name"] = f["group/inner"]
        f["committed"] = np.dtype("<u4")
        f.create_dataset("of_committed", data=np.arange(3), dtype=f["committed"])


def cached(path):
    """Structures that are in an image of the cache only, but for those that are not."""
    import ctypes

    class Config(ctypes.Structure):
        _fields_ = [("version", ctypes.c_int), ("generate_image", ctypes.c_bool),
                    ("save_resize_status", ctypes.c_bool), ("entry_ageout", ctypes.c_int)]

    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
    library = ctypes.CDLL("libhdf5_serial.so.103")
    library.H5Pset_mdc_image_config.argtypes = ctypes.c_int64, ctypes.POINTER(Config)
    assert library.H5Pset_mdc_image_config(access.id, Config(1, True, False, -1)) == 0
    with h5py.File(h5py.h5f.create(path.encode(), fapl=access)) as f:
        for i in range(12):
            f["group/d%02d" % i] = np.arange(i + 1, dtype="<i2")
        d = f.create_dataset("chunked", data=np.arange(60).reshape(6, 10), chunks=(2, 5), maxshape=(None, None))
        for i in range(12):
            d.attrs["a%02d" % i] = i
        f["text"] = "in the global heap"


def new_groups(path):
    """Links in a heap, in the order of creation, behind a user block."""
    with h5py.File(path, "w", libver="v110", userblock_size=1024, track_order=True) as f:
        for i in range(12):
            f["z%02d" % (50 - i)] = np.arange(2, dtype="<u1")
        few = f.create_group("few", track_order=False)
        few["b"] = np.float64(1.5)
        few["a"] = h5py.Empty("f4")
        f["far"] = h5py.ExternalLink("other.h5", "/there")


def attributes(path):
    """More attributes than fit the header, of all classes."""
    with h5py.File(path, "w", libver="v110") as f:
        d = f.create_dataset("many", data=np.arange(4))
        for i in range(20):
            d.attrs["a%02d" % i] = i
        d.attrs["long"] = "x" * 3000
        a = f.create_dataset("classes", data=np.arange(4)).attrs
        a["text"] = "grüße"
        a["texts"] = ["one", "zwei", ""]
        a["fixed"] = np.bytes_(b"fixed")
        a["fixed_list"] = np.array([b"a", b"bc"])
        a["nan"] = np.float32("nan")
        a["reals"] = [1.5, float("inf"), float("-inf")]
        a["huge"] = np.uint64(2**64 - 1)
        a["small"] = np.int8(-3)
        a["big_endian"] = np.array([1, 2, 3], dtype=">i4")
        a["half"] = np.float16(0.1)
        a["single"] = np.float32(0.1)
        a["matrix"] = np.arange(6, dtype="i2").reshape(2, 3)
        a["none"] = h5py.Empty("f4")
        a["yes"] = np.bool_(True)
        a["color"] = np.array(1, dtype=h5py.enum_dtype({"RED": 0, "GREEN": 1}, basetype="i1"))
        a["reference"] = f["many"].ref
        a.create("sequence", np.array([np.arange(2), np.arange(3)], dtype=object),
                 dtype=h5py.vlen_dtype("i4"))


def types(path):
    """An array of each class."""
    with h5py.File(path, "w", libver="earliest") as f:
        for name in "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 >i2 >u8 >f8 c8 c16 S5".split():
            f["of_" + name.replace(">", "be_")] = np.arange(3).astype(name)
        f["of_bool"] = np.array([True, False, True])
        f["of_text"] = np.array(["a", "bcd", "é"], dtype=h5py.string_dtype())
        f["of_enum"] = np.array([0, 1], dtype=h5py.enum_dtype({"A": 0, "B": 1}, basetype="<u2"))
        f["of_pair"] = np.zeros(2, dtype=[("x", "<i4"), ("y", "<f8"), ("z", "<i2", (3,))])
        f.create_dataset("of_array", shape=(2, 2),
                         dtype=np.dtype(("<i4", (3,))))
        f["of_array"][:] = np.arange(12, dtype="<i4").reshape(2, 2, 3)
        f["of_opaque"] = np.zeros(2, dtype="V7")
        f["of_reference"] = np.array([f["of_i1"].ref], dtype=h5py.ref_dtype)
        f.create_dataset("of_sequence", (2,), dtype=h5py.vlen_dtype("i4"))
        f["scalar"] = 42
        f["empty"] = np.zeros((0, 3), dtype="f4")
        f["null"] = h5py.Empty("f4")


def fills(path):
    with h5py.File(path, "w", libver="earliest") as f:
        for name, dtype, value in [
                ("nan", "f4", float("nan")), ("inf", "f8", float("inf")),
                ("minus", "f8", float("-inf")), ("tenth", "f4", 0.1), ("big", "u8", 2**64 - 2),
                ("exact", "i8", 2**53 + 1), ("negative", "i1", -7), ("text", "S4", b"ab"),
                ("be", ">i2", 258), ("half", "f2", 1.5)]:
            f.create_dataset(name, (4,), dtype=dtype, chunks=(2,), fillvalue=value)
        f.create_dataset("default", (4,), dtype="f4", chunks=(2,))
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((2,))
        plist.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        space = h5py.h5s.create_simple((4,))
        h5py.h5d.create(f.id, b"never", h5py.h5t.NATIVE_INT32, space, plist)


def filters(path):
    with h5py.File(path, "w", libver="v110") as f:
        data = np.arange(64, dtype="<i4").reshape(8, 8)
        options = dict(gzip=dict(compression="gzip", compression_opts=5),
                       shuffled=dict(compression="gzip", shuffle=True), lzf=dict(compression="lzf"),
                       summed=dict(fletcher32=True), scaled=dict(scaleoffset=0),
                       all=dict(compression="gzip", shuffle=True, fletcher32=True))
        for name, given in options.items():
            f.create_dataset(name, data=data, chunks=(4, 4), **given)
        zfp = h5py.h5p.create(h5py.h5p.DATASET_CREATE)  # without its filter, so without chunks
        zfp.set_chunk((4, 4))
        zfp.set_filter(32013, h5py.h5z.FLAG_OPTIONAL, (0x10105111, 0x0570667a, 0x0090002a, 0xcac03000))
        h5py.h5d.create(f.id, b"zfp", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((8, 8)), zfp)


def dimensions(path):
    """netCDF-4 with all that its dimensions can be."""
    with netCDF4.Dataset(path, "w") as f:
        f.createDimension("time", None)
        f.createDimension("y", 3)
        f.createDimension("x", 4)
        f.createDimension("bare", 2)
        f.createVariable("time", "f8", ("time",)).units = "days since 2000-01-01"
        f.createVariable("y", "f4", ("y",))[:] = [1, 2, 3]
        f.createVariable("lat", "f4", ("y", "x"))
        data = f.createVariable("data", "i2", ("time", "y", "x"), zlib=True, fill_value=-1)
        data[0] = np.arange(12).reshape(3, 4)
        data.scale_factor = np.float32(0.1)
        data.coordinates = "lat"
        f.createVariable("bounds", "f8", ("time", "bare"))
        f.createVariable("x", "f4", ("time", "x"))  # of a dimension's name, but not its scale
        group = f.createGroup("inner")
        group.createDimension("x", 5)
        group.createVariable("own", "f4", ("y", "x"), fill_value=float("nan"))
        f.createVariable("name", str, ("bare",))[:] = np.array(["a", "bc"], dtype=object)
        f.title = "dimensions"


def phony(path):
    """Datasets without dimension scales: netCDF-C makes up names."""
    with h5py.File(path, "w", libver="earliest") as f:
        f["square"] = np.zeros((4, 4), dtype="f4")
        f["other"] = np.zeros((4, 5), dtype="f4")
        f.create_dataset("unlimited", (4, 4), maxshape=(None, 4), dtype="f4")
        f["inner/a"] = np.zeros((5, 4), dtype="f4")
        f["inner/deep/b"] = np.zeros((6,), dtype="f4")
        f["second/c"] = np.zeros((7,), dtype="f4")


def newest(path):
    with h5py.File(path, "w", libver="latest") as f:
        f.create_dataset("chunked", data=np.arange(100, dtype="<i4"), chunks=(10,), maxshape=(None,))
        f["contiguous"] = np.arange(5, dtype="<f8")
        f.attrs["title"] = "newest"


def plain(value):
    if isinstance(value, h5py.Empty):
        return ""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray):
        return plain(value.reshape(-1)[0]) if value.size == 1 else [plain(v) for v in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    return value


def facts_of(dataset):
    dtype = dataset.dtype
    shape, chunks = dataset.shape, dataset.chunks
    if dtype.subdtype is not None:
        dtype = dtype.base
        shape, chunks = shape + dataset.dtype.shape, None
    facts = {"shape": list(shape) if shape is not None else [0]}
    if chunks is not None:
        facts["chunks"] = list(chunks)
    if h5py.check_string_dtype(dtype) is not None and dtype.kind == "O":
        facts["dtype"] = "|O"
    elif dtype.kind == "V" and dtype.names:
        facts["dtype"] = [[n, dtype[n].base.str] + ([list(dtype[n].shape)] if dtype[n].shape else [])
                          for n in dtype.names]
    elif dtype.kind != "O":
        facts["dtype"] = dtype.str
    facts["attributes"] = {name: plain(dataset.attrs[name]) for name in dataset.attrs
                           if name not in HIDDEN and name != "reference"}
    return facts


def facts(path):
    found = {}

    def add(group, prefix):
        for name in group:
            link = group.get(name, getlink=True)
            thing = group.get(name)
            is_soft = isinstance(link, h5py.SoftLink)
            if isinstance(thing, h5py.Group) and not is_soft and \
                    name != "up":
                found[prefix + name] = None
                add(thing, prefix + name + "/")
            only_dimension = isinstance(thing, h5py.Dataset) and plain(thing.attrs.get(
                "NAME", "")).startswith("This is a netCDF dimension but not")
            if isinstance(thing, h5py.Dataset) and not only_dimension:
                found[prefix + name] = facts_of(thing)

    with h5py.File(path, "r") as f:
        add(f, "")
    return found


def names(path):
    """Names and lengths of dimensions as netCDF-C gives them."""
    found = {}

    def add(group, prefix):
        for name, variable in group.variables.items():
            found[prefix + name] = dict(dimensions=list(variable.dimensions),
                                        shape=list(variable.shape))
        for name, inner in group.groups.items():
            add(inner, prefix + name + "/")

    with netCDF4.Dataset(path) as f:
        add(f, "")
    return found


def main(folder):
    for make in (old_groups, new_groups, cached, attributes, types, fills, filters, dimensions, phony,
                 newest):
        path = os.path.join(folder, make.__name__ + ".h5")
        if os.path.exists(path):
            os.remove(path)
        make(path)
        found = facts(path)
        if make in (dimensions, phony):
            for name, given in names(path).items():
                found[name if name in found else "_nc4_non_coord_" + name].update(given)
        with open(path[:-3] + ".json", "w") as out:
            json.dump(found, out, indent=1, sort_keys=True)
            out.write("\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))
