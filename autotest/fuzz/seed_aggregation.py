#!/usr/bin/env python3
"""usage: seed_aggregation.py FOLDER

Writes aggregations in each encoding, as reference sets whose fragments are their own arrays or
missing files: seeds of fuzz_aggregation."""

import base64
import json
import os
import struct
import sys

FORMS = {"<i2": "h", "<i4": "i", "<f4": "f", "<f8": "d"}


def array(refs, name, dtype, shape, dims, values, attributes=None):
    meta = {"zarr_format": 2, "shape": shape, "chunks": [max(n, 1) for n in shape], "dtype": dtype,
            "compressor": None, "filters": None, "order": "C", "fill_value": None}
    refs[name + "/.zarray"] = json.dumps(meta)
    refs[name + "/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": dims, **(attributes or {})})
    if dtype.startswith("|S"):
        size = int(dtype[2:])
        data = b"".join(value.encode().ljust(size, b"\0") for value in values)
    else:
        data = struct.pack("<%d%s" % (len(values), FORMS[dtype]), *values)
    refs[name + "/" + (".".join("0" for _ in shape) or "0")] = "base64:" + base64.b64encode(data).decode()


def parts(refs):
    array(refs, "a/v", "<i2", [1, 2], ["t", "x"], [1, 2], {"scale_factor": 0.5, "_FillValue": -1})
    array(refs, "b/v", "<f8", [2], ["x"], [3.25, 4.0])
    array(refs, "x", "<f4", [2], ["x"], [10, 20])


def set_of(container):
    refs = {".zgroup": '{"zarr_format": 2}'}
    parts(refs)
    container(refs)
    return {"version": 1, "refs": refs}


def container(refs, attributes):
    array(refs, "v", "<f4", [], [], [0], {"_FillValue": -9, **attributes})


def cf(refs):
    array(refs, "m", "<i4", [2, 3], ["j", "i"], [1, 1, 1, 2, -1, -1], {"_FillValue": -1})
    array(refs, "u", "|S8", [3, 1], ["f", "g"], ["", "", "gone.nc"])
    array(refs, "n", "|S8", [3, 1], ["f", "g"], ["/a/v", "/b/v", "v"])
    container(refs, {"aggregated_dimensions": "t x",
                     "aggregated_data": "map: m uris: u identifiers: n"})


def unique(refs):
    array(refs, "m", "<i4", [2, 3], ["j", "i"], [2, 1, 1, 2, -1, -1])
    array(refs, "u", "<f8", [3, 1], ["f", "g"], [7, 8.5, 9.969209968386869e36])
    container(refs, {"aggregated_dimensions": "t x", "aggregated_data": "map: m unique_values: u"})


def cfa_06(refs):
    array(refs, "l", "<i4", [2, 3], ["j", "i"], [1, 1, 1, 2, -1, -1])
    array(refs, "u", "|S12", [3, 1, 2], ["f", "g", "k"], ["", "", "${B}f", "f", "", ""],
          {"substitutions": "${B}: gone/"})
    array(refs, "n", "|S8", [3, 1], ["f", "g"], ["/a/v", "b/v", ""])
    array(refs, "t", "|S2", [], [], ["nc"])
    container(refs, {"aggregated_dimensions": "t x",
                     "aggregated_data": "location: l file: u format: t address: n"})


def cfa_05(refs):
    array(refs, "cfa_v/location", "<i4", [2, 1, 2, 2], ["t", "x", "n", "b"],
          [0, 1, 0, 2, 1, 3, 0, 2])
    array(refs, "cfa_v/index", "<i4", [2, 1, 2], ["t", "x", "n"], [0, 0, 1, 0])
    array(refs, "cfa_v/file", "|S8", [2, 1], ["t", "x"], ["f", ""])
    array(refs, "cfa_v/ncvar", "|S8", [2, 1], ["t", "x"], ["a/v", ""])
    container(refs, {"cf_role": "cfa_variable", "cfa_dimensions": "t x", "cfa_group": "cfa_v"})


def cfa_04(refs):
    partitions = [
        {"index": [0], "location": [[0, 0], [0, 1]],
         "subarray": {"file": "f", "ncvar": "a/v", "shape": [1, 2]}},
        {"index": [1], "location": [[1, 1], [0, 1]], "pdimensions": ["x"], "reverse": ["x"],
         "part": "[[1, 0, -1]]", "subarray": {"ncvar": "b/v", "shape": [2], "format": "netCDF"}},
        {"index": [3], "location": [[4, 4], [0, 1]], "pdimensions": ["x"], "part": "[(0, 1)]",
         "subarray": {"file": "f", "varid": 0, "shape": [2]}}]
    text = {"base": "", "pmdimensions": ["t"], "pmshape": [4], "Partitions": partitions}
    container(refs, {"cf_role": "cfa_variable", "cfa_dimensions": "t x",
                     "cfa_array": json.dumps(text)})


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for make in (cf, unique, cfa_06, cfa_05, cfa_04):
        with open(os.path.join(folder, make.__name__ + ".json"), "w", encoding="ascii") as out:
            json.dump(set_of(make), out)


main()
