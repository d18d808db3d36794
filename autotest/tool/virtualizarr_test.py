"""gdal_refs.virtualizarr, and sets of the program refs read by VirtualiZarr's own parsers:
the values are those that netCDF4 reads.

    virtualizarr_test.py PROGRAM

Skips where no Python has virtualizarr, h5netcdf or netCDF4, and xarray: this one, or the one that
REFS_VIRTUALIZARR_PYTHON names, such as that of a virtual environment (pip install virtualizarr
obstore netCDF4 fastparquet).
"""

import os
import subprocess
import sys
import tempfile

MODULES = "import virtualizarr, obstore, netCDF4, xarray, fastparquet"
SKIPPED = 77

CHECK = """
import json, os, sys, warnings
import netCDF4, numpy as np, xarray
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import LocalStore
from virtualizarr import open_virtual_dataset
from virtualizarr.parsers import KerchunkJSONParser, KerchunkParquetParser
from gdal_refs import RefsError
from gdal_refs.virtualizarr import RefsParser, check_packing, scan
warnings.simplefilter("ignore")
folder = sys.argv[1]
registry = ObjectStoreRegistry({"file://": LocalStore()})
for i in range(2):
    with netCDF4.Dataset(f"{folder}/{i}.nc", "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 40)
        time = file.createVariable("time", "f8", ("time",), chunksizes=(1,))
        time.units, time[:] = "hours since 2020-01-01", [2 * i, 2 * i + 1]
        v = file.createVariable("v", "i2", ("time", "x"), zlib=True, chunksizes=(1, 20))
        v.scale_factor = 0.5
        v[:] = np.arange(80).reshape(2, 40) * 0.5 + i
        v.long_name = "v"
urls = [f"file://{folder}/{i}.nc" for i in range(2)]
for url in urls:
    found = xarray.open_zarr(RefsParser()(url, registry), consolidated=False, zarr_format=3)
    with xarray.open_dataset(url[7:], engine="netcdf4") as wanted:
        xarray.testing.assert_equal(found.load(), wanted.load())
with netCDF4.Dataset(f"{folder}/kinds.nc", "w") as file:  # all that sets hold and Zarr 3 has
    file.createDimension("x", 5)
    file.createVariable("crs", "i4", ()).grid_mapping_name = "latitude_longitude"
    file.createVariable("height", "f8", ())[...] = 2.5
    file.createVariable("x", "f4", ("x",))[:] = np.arange(5)
    for name, kind in (("real", "f4"), ("short", "i2"), ("byte", "u1"), ("big", ">f4"), ("far", ">i2")):
        v = file.createVariable(name, kind, ("x",), fill_value=3)
        v[:] = np.arange(5)
    file.createVariable("nan", "f8", ("x",), fill_value=np.nan, chunksizes=(2,))[:2] = 7
    file.createVariable("text", str, ("x",))[:] = np.array(["", "a", "ä", "bc", "d"], object)
    file.createVariable("letter", "S1", ("x",))[:] = np.array(list("abcde"), "S1")
with netCDF4.Dataset(f"{folder}/inner.nc", "w") as file:
    group = file.createGroup("a").createGroup("b")
    group.createDimension("x", 3)
    group.createVariable("v", "f4", ("x",), fill_value=-1)[:] = [1, -1, 2]
for url, inner in ((f"file://{folder}/kinds.nc", None), (f"file://{folder}/inner.nc", "a/b")):
    found = xarray.open_zarr(RefsParser(group=inner)(url, registry), consolidated=False, zarr_format=3)
    with xarray.open_dataset(url[7:], engine="netcdf4", group=inner) as wanted:
        assert set(found.variables) == set(wanted.variables), (found, wanted)
        for name, variable in wanted.variables.items():
            values, expected = found[name].values, variable.values
            if expected.dtype.kind in "OS":
                values, expected = values.astype(str), expected.astype(str)
            np.testing.assert_array_equal(values, expected, err_msg=name)
for name, scale in (("p0", 0.5), ("p1", 0.25)):
    with netCDF4.Dataset(f"{folder}/{name}.nc", "w") as file:
        file.createDimension("t", 1)
        v = file.createVariable("v", "i2", ("t",))
        v.scale_factor = scale
        v[:] = 1
packed = [open_virtual_dataset(f"file://{folder}/{name}.nc", registry=registry, parser=RefsParser(),
                               loadable_variables=[]) for name in ("p0", "p1")]
check_packing(packed[:1] * 2)
try:
    check_packing(packed)
    raise AssertionError("no difference was found")
except ValueError as said:
    assert "v: scale_factor is 0.5 in the first dataset that has it and 0.25 in dataset 1" in str(said), said
parts = [open_virtual_dataset(url, registry=registry, parser=RefsParser(), loadable_variables=[])
         for url in urls]
joined = xarray.concat(parts, dim="time", coords="minimal", compat="override", join="override")
joined.vz.to_kerchunk(f"{folder}/joined.json", format="json")
os.system(f"{os.environ['REFS_PROGRAM']} index {folder}/0.nc {folder}/1.nc -o {folder}/own.json")
os.system(f"{os.environ['REFS_PROGRAM']} index {folder}/0.nc -o {folder}/one.json")
os.system(f"{os.environ['REFS_PROGRAM']} index {folder}/0.nc -o {folder}/one.parq")
refs, own = (json.load(open(f"{folder}/{name}.json"))["refs"] for name in ("joined", "own"))
for key in refs:
    if key.startswith("v/") and key[2:3].isdigit():
        assert [refs[key][0].removeprefix("file://"), *refs[key][1:]] == own[key], key
with xarray.open_dataset(urls[0][7:], engine="netcdf4") as wanted:
    for parser, name in ((KerchunkJSONParser(), "one.json"),
                         (KerchunkParquetParser(), "one.parq")):
        found = xarray.open_zarr(parser(f"file://{folder}/{name}", registry), consolidated=False,
                                 zarr_format=3)
        xarray.testing.assert_equal(found.load(), wanted.load())
# Of a joined set, all but the values in it, which VirtualiZarr 2.5.1 reads in no form.
wanted = np.concatenate([np.arange(80).reshape(2, 40) * 0.5 + i for i in range(2)])
for parser, name in ((KerchunkJSONParser, "in.json"), (KerchunkParquetParser, "in.parq")):
    os.system(f"{os.environ['REFS_PROGRAM']} index {folder}/0.nc {folder}/1.nc -i16 -o {folder}/{name}")
    try:
        parser()(f"file://{folder}/{name}", registry)
        print(name, "is read as a whole")
    except NotImplementedError as said:
        assert "inlined" in str(said)
    found = parser(skip_variables=["time"])(f"file://{folder}/{name}", registry)
    found = xarray.open_zarr(found, consolidated=False, zarr_format=3)
    np.testing.assert_array_equal(found.v.values, wanted)
# Sets as others write them: keys with slashes, keys of no array, groups that are not declared.
def document(shape, chunks, **more):
    return json.dumps({"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": "<i4", "compressor": None,
                       "filters": None, "fill_value": -1, "order": "C", **more})
values = np.arange(16, dtype="<i4").reshape(2, 8)
with open(f"{folder}/d.bin", "wb") as file:
    file.write(values.tobytes())
root, halves = {".zgroup": '{"zarr_format":2}'}, [[f"{folder}/d.bin", 32 * i, 32] for i in range(2)]
dots = {"v/.zattrs": '{"_ARRAY_DIMENSIONS":["y","x"]}', "v/.zarray": document([2, 8], [1, 8]), "v/0.0": halves[0], "v/1.0": halves[1]}
slashes = {**dots, "v/.zarray": document([2, 8], [1, 8], dimension_separator="/"), "v/0/0": halves[0], "v/1/0": halves[1]}
del slashes["v/0.0"], slashes["v/1.0"]
for name, refs in (("dots", dots), ("slashes", slashes), ("notes", {**dots, "readme": "text", "v/note": "text", "v/0": halves[1]}),
                   ("outside", {**dots, "v/5.0": halves[0], "v/-1.0": halves[0]}),
                   ("groups", {f"a/b/{key}": value for key, value in slashes.items()})):
    with open(f"{folder}/a {name}.json", "w") as file:
        json.dump({"version": 1, "refs": {**root, **refs}}, file)
    for escaped in (" ", "%20"):
        store = RefsParser()(f"file://{folder}/a{escaped}{name}.json", registry)
        found = xarray.open_zarr(store, consolidated=False, zarr_format=3, group="a/b" if name == "groups" else None)
        np.testing.assert_array_equal(found.v.values, values, err_msg=name)
with open(f"{folder}/three.json", "w") as file:
    json.dump({"version": 1, "refs": {"zarr.json": '{"zarr_format":3,"node_type":"group"}', "v/zarr.json": json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": [1], "data_type": "int32", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1]}},
        "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes"}]})}}, file)
try:
    RefsParser()(f"file://{folder}/three.json", registry)
    raise AssertionError("nothing was said")
except NotImplementedError as said:
    assert "v has metadata of Zarr 3" in str(said)
try:
    scan(f"file://{folder}/none.nc")
    raise AssertionError("nothing was said")
except RefsError as said:
    assert "none.nc" in str(said) and said.name.endswith("none.nc")
print("all is as it should be")
"""


def main():
    program = os.path.abspath(sys.argv[1])
    environment = {**os.environ, "REFS_PROGRAM": program,
                   "PYTHONPATH": os.path.join(os.path.dirname(program), "python")}
    for python in (sys.executable, os.environ.get("REFS_VIRTUALIZARR_PYTHON", "")):
        if python and subprocess.run([python, "-c", MODULES], capture_output=True,
                                     check=False).returncode == 0:
            break
    else:
        print("no Python has VirtualiZarr")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([python, "-c", CHECK, os.path.realpath(folder)], env=environment,
                              check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
