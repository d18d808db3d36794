"""Sets that the program refs makes, read by others: fsspec with zarr and xarray, and GDAL's own reader
of version 3.11 and later. Each gives the values that netCDF4 reads of the files.

    peers_test.py PROGRAM

Skips where fsspec, zarr, xarray and fastparquet or pyarrow are not installed. REFS_PEERS names the root
of another system that has them; that needs root.
"""

import os
import shutil
import subprocess
import sys
import tempfile

REFS = os.path.abspath(sys.argv[1])
ROOT = os.environ.get("REFS_PEERS", "")
PYTHON = ["chroot", ROOT, "python3"] if ROOT else [sys.executable]
MODULES = "import fsspec, zarr, xarray, numpy, pandas"
SKIPPED = 77

WRITE = """
import sys, netCDF4, numpy as np
folder = sys.argv[1]
for i in range(3):
    with netCDF4.Dataset(f"{folder}/{i}.nc", "w") as file:
        file.createDimension("time", None)
        for dim, n in (("y", 60), ("x", 80)):
            file.createDimension(dim, n)
            file.createVariable(dim, "f4", (dim,))[:] = np.arange(n)
        time = file.createVariable("time", "f8", ("time",))
        time.units = f"hours since 2020-01-0{i + 1}"
        time[:] = [0, 6]
        for name, dtype in (("t", "i2"), ("u", "f4")):
            v = file.createVariable(name, dtype, ("time", "y", "x"), zlib=True, chunksizes=(1, 30, 40))
            v.long_name = name + " \\u00e9"
            v.scale_factor = 0.5
            v.set_auto_maskandscale(False)
            v[:] = np.arange(9600).reshape(2, 60, 80) + 100 * i
        file.createVariable("crs", "i4").grid_mapping_name = "latitude_longitude"
        if i != 1:
            v = file.createVariable("w", "i4", ("time", "y", "x"), fill_value=-999, zlib=True, chunksizes=(1, 60, 80))
            v[:] = i
"""

READ = """
import glob, json, sys, numpy as np, xarray, fsspec, fsspec.implementations.reference
folder, name, kind = sys.argv[1:]
if kind == "gdal":
    from osgeo import gdal
    gdal.UseExceptions()
    dataset = gdal.OpenEx(f'ZARR:"{folder}/{name}"', gdal.OF_MULTIDIM_RASTER)
    group = dataset.GetRootGroup()
    read = lambda variable: group.OpenMDArrayFromFullname("/" + variable).ReadAsArray()
    t, u, x, w = read("t") * 0.5, read("u") * 0.5, read("x"), read("w")
else:
    options = dict(fo=f"{folder}/{name}", remote_protocol="file")
    if name.endswith("zst"):
        options["target_options"] = {"compression": "zstd"}
    set = xarray.open_dataset("reference://", engine="zarr",
        backend_kwargs=dict(consolidated=False, storage_options=options))
    t, u, x, w = set.t.values, set.u.values, set.x.values, None
    # fsspec before 2023.6 fails at chunks that are not there.
    if hasattr(fsspec.implementations.reference, "LazyReferenceMapper"):
        w = set.w.fillna(-999).values
    times = (set.time.values - np.datetime64("2020-01-01")) / np.timedelta64(1, "h")
    np.testing.assert_array_equal(times, [0, 6, 24, 30, 48, 54])
    assert set.t.attrs["long_name"] == "t \\u00e9", set.t.attrs
wanted = np.concatenate([np.arange(9600).reshape(2, 60, 80) + 100 * i for i in range(3)]) * 0.5
np.testing.assert_array_equal(t, wanted)
np.testing.assert_array_equal(u, wanted)
np.testing.assert_array_equal(x, np.arange(80))
if w is not None:
    np.testing.assert_array_equal(w[:, 1, 1], [0, 0, -999, -999, 2, 2])
"""

# What has opened a set before it grows reads what it was, and what opens it then, what it is.
GROW = """
import sys, numpy as np, xarray, fsspec
name = sys.argv[1]
options = dict(fo=name, remote_protocol="file")
def open_set():
    return xarray.open_dataset("reference://", engine="zarr",
        backend_kwargs=dict(consolidated=False, storage_options=dict(skip_instance_cache=True, **options)))
before, files = open_set(), fsspec.filesystem("reference", skip_instance_cache=True, **options)
files.cat("time/.zarray")
print("open", flush=True)
input()
wanted = np.concatenate([np.arange(9600).reshape(2, 60, 80) + 100 * i for i in range(3)]) * 0.5
np.testing.assert_array_equal(before.t.values, wanted[:4])
np.testing.assert_array_equal(np.frombuffer(files.cat("time/0")), [0, 6, 24, 30])
after = open_set()
np.testing.assert_array_equal(after.t.values, wanted)
times = (after.time.values - np.datetime64("2020-01-01")) / np.timedelta64(1, "h")
np.testing.assert_array_equal(times, [0, 6, 24, 30, 48, 54])
"""


def grow(names, rewrite):
    """What a reader says that has opened a set before it grows."""
    name = os.path.join(os.path.dirname(names[0]), "grows.parq")
    subprocess.run([REFS, "index", "-q", *names[:2], *rewrite, "--record-size", "5", "-o", name], check=True)
    with subprocess.Popen([*PYTHON, "-c", GROW, name[len(ROOT):]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as reader:
        if reader.stdout.readline() == "open\n":
            files = {file: os.stat(os.path.join(name, file)).st_ino for file in ("t/refs.0.parq", ".zmetadata")}
            subprocess.run([REFS, "append", "-q", name, names[2], *rewrite], check=True)
            assert os.stat(os.path.join(name, "t/refs.0.parq")).st_ino == files["t/refs.0.parq"]
        return reader.communicate("go\n")[1][-600:]


def have(code):
    return subprocess.run([*PYTHON, "-c", code], capture_output=True, check=False).returncode == 0


def main():
    if not have(MODULES):
        print("there is no Python with fsspec, zarr and xarray")
        return SKIPPED
    readers = ["xarray"]
    if have("import osgeo.gdal as g; assert int(g.VersionInfo()) >= 3110000"):
        readers.append("gdal")
    # fsspec before 2023.6 knows neither Parquet nor metadata as objects.
    is_new = have("from fsspec.implementations.reference import LazyReferenceMapper")
    has_parquet = have("import osgeo.gdal as g; assert g.GetDriverByName('Parquet')")
    folder = tempfile.mkdtemp(dir=ROOT + "/tmp")
    inside = folder[len(ROOT):]
    failed = 0
    try:
        subprocess.run([*PYTHON, "-c", WRITE, inside], check=True)
        names = [f"{folder}/{i}.nc" for i in range(3)]
        for name in ("a.json", "v0.json", "o.json", "a.parq", "small.parq", "inline.parq", "inline.json"):
            options = {"v0.json": ["--set-version", "0"], "o.json": ["--objects"],
                       "small.parq": ["--record-size", "5"], "inline.parq": ["--inline", "1000000"],
                       "inline.json": ["--inline", "1000000"]}.get(name, [])
            rewrite = ["--rewrite", f"{ROOT}/=>/"] if ROOT else []
            subprocess.run([REFS, "index", "-q", *names, *options, *rewrite, "-o", f"{folder}/{name}"],
                           check=True)
            for reader in readers:
                if reader == "gdal" and name.endswith(".parq") and not has_parquet:
                    continue
                if reader == "xarray" and (name == "o.json" or name.endswith(".parq")) and not is_new:
                    print(name, reader, "left out: fsspec is too old")
                    continue
                done = subprocess.run([*PYTHON, "-c", READ, inside, name, reader],
                                      capture_output=True, text=True, check=False)
                print(name, reader, "equal" if done.returncode == 0 else done.stderr[-600:])
                failed += done.returncode != 0
        if is_new:
            said = grow(names, ["--rewrite", f"{ROOT}/=>/"] if ROOT else [])
            print("grows.parq", "xarray", said or "equal")
            failed += said != ""
    finally:
        shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
