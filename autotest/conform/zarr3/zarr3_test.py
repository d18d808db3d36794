"""What zarr-python wrote in Zarr v3 is what the driver reads: data types of both byte orders, fill
values, codecs, chunk keys, shards and consolidated metadata, in the sets beside this file.
"""

import base64
import glob
import json
import os
import sys

import numpy as np
from osgeo import gdal, gdal_array

FOLDER = os.path.dirname(os.path.abspath(__file__))
gdal.UseExceptions()


def arrays(group, path=""):
    options = ["SHOW_ZERO_DIM=YES"]
    for name in group.GetMDArrayNames(options) or []:
        yield path + "/" + name, group.OpenMDArray(name)
    for name in group.GetGroupNames() or []:
        yield from arrays(group.OpenGroup(name), path + "/" + name)


def data_type(refs, path):
    """The data type that the metadata give an array, for NumPy; times are integers."""
    text = refs.get(path[1:] + "/zarr.json")
    if text is None:
        root = json.loads(refs["zarr.json"])
        named = root["consolidated_metadata"]["metadata"][path[1:]]["data_type"]
    else:
        named = json.loads(text)["data_type"]
    if isinstance(named, str):
        return named
    size = named["configuration"].get("length_bytes")
    return {"null_terminated_bytes": f"S{size}", "fixed_length_utf32": f"U{(size or 0) // 4}"}.get(
        named["name"], "int64")


def strings_of(expected, kind):
    if "texts" in expected:
        return expected["texts"]
    texts = np.frombuffer(base64.b64decode(expected["elements"]), kind).tolist()
    return [text if isinstance(text, str) else text.decode() for text in texts]


def differs(refs, path, array, expected):
    """What is wrong with an array, if anything."""
    if array is None:
        return "is absent"
    if array.GetDataType().GetClass() == gdal.GEDTC_STRING:
        try:
            read = array.Read()
        except RuntimeError as problem:  # texts of fixed size, in older bindings
            return None if "not supported in SWIG" in str(problem) else str(problem)
        texts = strings_of(expected, data_type(refs, path))
        return None if read == texts else f"is {read}, not {texts}"
    kind = gdal_array.GDALTypeCodeToNumericTypeCode(array.GetDataType().GetNumericDataType())
    elements = array.Read(buffer_datatype=array.GetDataType())
    is_scalar = isinstance(elements, list)
    read = np.asarray(elements, kind) if is_scalar else np.frombuffer(elements, kind)
    written = np.frombuffer(base64.b64decode(expected["elements"]), data_type(refs, path))
    wide = written.astype(read.dtype)
    equal = np.array_equal(read, wide, equal_nan=read.dtype.kind in "fc")
    return None if equal else f"is {read[:8]}…, not {wide[:8]}…"


def main():
    wrong = n = 0
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.expected.json"))):
        with open(path) as file:
            expected = json.load(file)
        name = path.replace(".expected.json", ".json")
        with open(name) as file:
            refs = json.load(file)["refs"]
        dataset = gdal.OpenEx("REFS:" + name, gdal.OF_MULTIDIM_RASTER)
        found = dict(arrays(dataset.GetRootGroup()))
        for array, values in expected.items():
            n += 1
            problem = differs(refs, array, found.get(array), values)
            if problem is not None:
                print(os.path.basename(name), array, problem)
                wrong += 1
    print(f"{n - wrong} of {n} arrays of Zarr v3 hold what was written")
    return 1 if wrong or n == 0 else 0


sys.exit(main())
