#!/bin/sh
# usage: wheel-check.sh [REQUIREMENT ...]
#
# Installs the wheel of build/wheels in a new virtual environment for each requirement, with the packages that bring
# a GDAL, and opens the sample by it; then tries the programs, python3-gdal of the system, and a GDAL that has no plugin.
# Needs PyPI.
set -eu
cd "$(dirname "$0")/.."
wheel=$(ls "$PWD"/build/wheels/gdal_refs-*.whl)
python=${PYTHON:-python3}
sample=$PWD/data/sample.json
[ $# -gt 0 ] || set -- rasterio==1.4.4 rasterio==1.4.3 rasterio==1.3.11 rioxarray titiler.core pyogrio
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset GDAL_DRIVER_PATH
status=0

# environment NAME REQUIREMENT...: leaves its Python in $own
environment() {
    "$python" -m venv "$work/$1"
    own=$work/$1/bin/python
    shift
    "$own" -m pip install -q "$wheel" "$@"
}

cat >read_rasterio.py <<'PYTHON'
import sys
import gdal_refs
import rasterio
with rasterio.open(f'REFS:"{sys.argv[1]}":/t2m') as t2m:
    print("rasterio", rasterio.__version__, "GDAL", rasterio.__gdal_version__, t2m.shape, t2m.count, t2m.crs, t2m.read(14)[40, 60])
    assert (t2m.shape, t2m.count, t2m.read(14)[40, 60]) == ((81, 121), 24, 256)
PYTHON
cat >read_rioxarray.py <<'PYTHON'
import sys
import gdal_refs
import rioxarray
t2m = rioxarray.open_rasterio(f'REFS:"{sys.argv[1]}":/t2m')
print("rioxarray", rioxarray.__version__, dict(t2m.sizes), t2m.rio.crs)
assert int(t2m[13, 40, 60]) == 256
PYTHON
cat >read_titiler.py <<'PYTHON'
import sys
import gdal_refs
from rio_tiler.io import Reader
with Reader(f'REFS:"{sys.argv[1]}":/t2m') as reader:
    tile = reader.tile(16, 11, 5, indexes=14)
    print("rio-tiler", tile.data.shape, tile.data.max())
PYTHON
cat >read_pyogrio.py <<'PYTHON'
import gdal_refs
import pyogrio
print("pyogrio", pyogrio.__version__, "GDAL", ".".join(map(str, pyogrio.__gdal_version__)), gdal_refs.register())
PYTHON
cat >read_osgeo.py <<'PYTHON'
import sys
import gdal_refs
from osgeo import gdal
gdal.UseExceptions()
t2m = gdal.Open(f'REFS:"{sys.argv[1]}":/t2m')
print("osgeo.gdal", gdal.__version__, t2m.RasterXSize, t2m.ReadAsArray(60, 40, 1, 1)[13])
assert int(t2m.ReadAsArray(60, 40, 1, 1)[13]) == 256
PYTHON

for requirement; do
    name=${requirement%%[=<>.]*}
    # rioxarray decodes times by cftime, which it does not ask for.
    environment "$requirement" "$requirement" $([ "$name" != rioxarray ] || echo cftime)
    "$own" "read_$name.py" "$sample" 2>"$requirement.log" || { status=1; cat "$requirement.log"; echo "$requirement: failed"; }
done

# The programs, without any GDAL.
environment programs
"$work/programs/bin/refs" ls "$sample" | grep '^/t2m '
"$own" -m gdal_refs || true
if command -v ncdump >/dev/null; then
    "$work/programs/bin/ncrefs" ncdump -h "$sample" | grep 'short t2m'
fi

# The system's GDAL, by Python and in a shell.
if /usr/bin/python3 -c 'import osgeo' 2>/dev/null; then
    /usr/bin/python3 -m venv --without-pip --system-site-packages system
    "$work/programs/bin/python" -m pip --python "$work/system/bin/python" install -q --no-deps "$wheel"
    own=$work/system/bin/python
    "$own" read_osgeo.py "$sample" || status=1
    eval "$("$own" -m gdal_refs env)"
    gdallocationinfo -valonly -b 14 "REFS:\"$sample\":/t2m" 60 40 || status=1
    unset GDAL_DRIVER_PATH
fi

# A GDAL without a plugin here, and the path of another GDAL.
environment none rasterio==1.4.4
rm -r "$("$own" -c 'import gdal_refs; print(gdal_refs.driver_path())')/3.10"
"$own" -c 'import gdal_refs, rasterio' 2>&1 | grep 'no driver for GDAL' || status=1
environment foreign rasterio==1.4.4
GDAL_DRIVER_PATH=/opt/conda/lib/gdalplugins "$own" read_rasterio.py "$sample" || status=1
exit "$status"
