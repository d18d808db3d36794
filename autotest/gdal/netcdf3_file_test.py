"""NetCDF-3 files as sets: what the driver reads of them against the netCDF library, for files that
this writes, and against sets that kerchunk made of the files in the folder shared/ next to the
repository, where that is. Skips without the module netCDF4.
"""

import base64
import glob
import json
import os
import struct
import sys
import tempfile

import numpy as np
from osgeo import gdal

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
DATA = os.environ.get("REFS_SHARED_DATA", os.path.join(ROOT, "../shared/data"))
SKIPPED = 77

try:
    import netCDF4
except ImportError:
    print("there is no module netCDF4")
    sys.exit(SKIPPED)

gdal.UseExceptions()
FORMATS = ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA")
CLASSIC_TYPES = ("i1", "i2", "i4", "f4", "f8")
WIDE_TYPES = CLASSIC_TYPES + ("u1", "u2", "u4", "i8", "u8")


def types_of(file_format):
    return WIDE_TYPES if file_format == "NETCDF3_64BIT_DATA" else CLASSIC_TYPES


def numbers(shape, dtype):
    return (np.arange(np.prod(shape, dtype=int)) * 7 % 251 - (0 if dtype[0] == "u" else 99)).astype(dtype).reshape(shape)


# -- writers: each makes one file ------------------------------------------------------------------


def every_type(file, file_format):
    for dim, n in (("time", None), ("y", 5), ("x", 7)):
        file.createDimension(dim, n)
    for dtype in types_of(file_format):
        fixed = file.createVariable("fixed_" + dtype, dtype, ("y", "x"))
        fixed[:] = numbers((5, 7), dtype)
        fixed.setncattr("one", np.dtype(dtype).type(3))
        fixed.setncattr("many", np.array([1, 2, 3], dtype))
        records = file.createVariable("records_" + dtype, dtype, ("time", "y", "x"))
        records[:4] = numbers((4, 5, 7), dtype)
        single = file.createVariable("single_" + dtype, dtype, ())
        single[...] = np.dtype(dtype).type(9)
    file.setncattr("title", "every type")


def one_record_variable(file, _):
    """Of which the slabs are not padded, whatever their size."""
    file.createDimension("time", None)
    file.createDimension("x", 3)
    file.createVariable("only", "i1", ("time", "x"))[:9] = numbers((9, 3), "i1")


def small_records(file, _):
    """Of which many are one chunk."""
    file.createDimension("time", None)
    file.createDimension("three", 3)
    n = 50001
    file.createVariable("time", "f8", ("time",))[:n] = np.arange(n) * 0.5
    file.createVariable("bytes", "i1", ("time", "three"))[:n] = numbers((n, 3), "i1")
    file.createVariable("value", "i2", ("time",))[:n] = numbers((n,), "i2")


def large_slabs(file, _):
    """More than fit one chunk, along a dimension that the parts do not divide."""
    file.createDimension("time", None)
    for dim, n in (("level", 3), ("y", 1013), ("x", 997)):
        file.createDimension(dim, n)
    file.createVariable("fixed", "f4", ("level", "y", "x"))[:] = numbers((3, 1013, 997), "f4")
    file.createVariable("records", "f8", ("time", "y", "x"))[:2] = numbers((2, 1013, 997), "f8")


def no_records(file, _):
    file.createDimension("time", None)
    file.createDimension("x", 3)
    file.createVariable("records", "f4", ("time", "x"))
    file.createVariable("fixed", "f4", ("x",))[:] = [1, 2, 3]


def fill_values(file, _):
    file.createDimension("y", 2)
    file.createDimension("x", 2)
    for name, dtype, fill in (("nan", "f4", np.nan), ("zero", "i2", 0), ("inf", "f8", np.inf), ("plain", "i4", -7)):
        file.createVariable(name, dtype, ("y", "x"), fill_value=fill)
    file.createVariable("default", "f4", ("y", "x"))


def many_attributes(file, _):
    """A header larger than blocks that are read at first."""
    file.createDimension("x", 3)
    for i in range(300):
        file.createVariable(f"variable_{i}", "f4", ("x",))[:] = [i, i + 1, i + 2]
        file[f"variable_{i}"].comment = "words " * 100


WRITERS = (every_type, one_record_variable, small_records, large_slabs, no_records, fill_values, many_attributes)


# -- comparing -------------------------------------------------------------------------------------


def raw(path):
    file = netCDF4.Dataset(path)
    file.set_auto_maskandscale(False)
    return file


def problems(path):
    """What differs between a file as the library reads it and as a set."""
    group = gdal.OpenEx(f'REFS:"{path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    file = raw(path)
    names = set(group.GetMDArrayNames(["SHOW_ALL=YES"]))
    for name, variable in file.variables.items():
        if name not in names:
            yield f"{name} is not listed"
            continue
        array = group.OpenMDArray(name)
        shape = tuple(dim.GetSize() for dim in array.GetDimensions())
        if shape != variable.shape:
            yield f"{name} has the shape {shape}, not {variable.shape}"
            continue
        if 0 in shape or variable.dtype.kind == "S":
            continue
        values, expected = np.asarray(array.ReadAsArray()).reshape(shape), variable[...]
        # GDAL 3.6 has no signed bytes.
        if not np.array_equal(values.astype(expected.dtype), expected, equal_nan=expected.dtype.kind == "f"):
            yield f"{name}: values differ"
        yield from attribute_problems(name, array, variable)


def attribute_problems(name, array, variable):
    for key in variable.ncattrs():
        if key in ("units", "_FillValue"):
            continue
        attribute = array.GetAttribute(key)
        if attribute is None:
            yield f"{name} has no attribute {key}"
        elif not np.array_equal(np.ravel(attribute.Read()), np.ravel(variable.getncattr(key))):
            yield f"{name}: {key} is {attribute.Read()}"
    if "_FillValue" in variable.ncattrs():
        nodata = array.GetNoDataValueAsDouble()
        if not np.array_equal([nodata], [variable._FillValue], equal_nan=True):
            yield f"{name}: nodata is {nodata}"


def check_written(folder):
    for file_format in FORMATS:
        for writer in WRITERS:
            path = os.path.join(folder, f"{writer.__name__}.{file_format}.nc")
            with netCDF4.Dataset(path, "w", format=file_format) as file:
                writer(file, file_format)
            yield from (f"{os.path.basename(path)}: {problem}" for problem in problems(path))


def check_streaming(folder):
    """A file whose number of records was never written."""
    for file_format, width in (("NETCDF3_CLASSIC", 4), ("NETCDF3_64BIT_DATA", 8)):
        path = os.path.join(folder, f"every_type.{file_format}.nc")
        streaming = path.replace("every_type", "streaming")
        content = open(path, "rb").read()
        with open(streaming, "wb") as file:
            file.write(content[:4] + b"\xff" * width + content[4 + width:])
        group = gdal.OpenEx(f'REFS:"{streaming}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        values = group.OpenMDArray("records_f4").ReadAsArray()
        if not np.array_equal(values, raw(path)["records_f4"][...]):
            yield f"{file_format}: records of a streamed file differ"


def check_large(folder):
    """A variable of more than 4 GiB, whose size the header of CDF-2 cannot say."""
    path = os.path.join(folder, "large.nc")
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as file:
        file.set_fill_off()
        file.createDimension("z", 5000)
        file.createDimension("y", 1000)
        file.createDimension("x", 1000)
        variable = file.createVariable("v", "i1", ("z", "y", "x"))
        variable[4999, 999] = numbers((1000,), "i1")
    array = gdal.OpenEx(f'REFS:"{path}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("v")
    values = np.asarray(array.ReadAsArray([4999, 999, 0], [1, 1, 1000])).ravel()
    if not np.array_equal(values.astype("i1"), numbers((1000,), "i1")):
        yield "values behind 4 GiB differ"
    os.unlink(path)


# -- sets of kerchunk ------------------------------------------------------------------------------


def kerchunk_problems(path):
    """Metadata and references against a set of the same file. What kerchunk inlines has values and
    no references, and it makes text of lists of numbers."""
    refs = json.load(open(path))
    refs = refs.get("refs", refs)
    source = path.removesuffix(".json")
    size = os.path.getsize(source)
    for key, value in refs.items():
        if key.rsplit("/", 1)[-1].startswith(".z"):
            continue
        name, chunk = key.rsplit("/", 1)
        array = json.loads(refs[name + "/.zarray"])
        if isinstance(value, list) and not 0 < value[1] + value[2] <= size:
            yield f"{key}: {value}"
        if isinstance(value, list):
            dtype = np.dtype(array["dtype"])
            expected = np.frombuffer(open(source, "rb").read()[value[1]:value[1] + value[2]], dtype)
            at = [int(i) for i in chunk.split(".")]
            start = [i * n for i, n in zip(at, array["chunks"])]
            ours = gdal.OpenEx(f'REFS:"{source}"', gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray(name)
            values = np.asarray(ours.ReadAsArray(start, array["chunks"])).ravel()
            if [dim.GetSize() for dim in ours.GetDimensions()] != array["shape"]:
                yield f"{name}: another shape"
            if not np.array_equal(values.astype(dtype), expected, equal_nan=dtype.kind == "f"):
                yield f"{key}: other values"


def check_kerchunk():
    for path in sorted(glob.glob(os.path.join(DATA, "netcdf3/*.nc.json"))):
        yield from (f"{os.path.basename(path)}: {problem}" for problem in kerchunk_problems(path))


def main():
    with tempfile.TemporaryDirectory() as folder:
        found = [*check_written(folder), *check_streaming(folder), *check_large(folder), *check_kerchunk()]
    print("\n".join(found))
    print(f"{len(found)} differences")
    return 1 if found else 0


sys.exit(main())
