#!/bin/sh
# usage: wheel.sh [--check]
#
# Builds build/wheels/gdal_refs-VERSION-….whl with the plugin for each minor version of GDAL whose headers
# gdal-headers.sh gets, and with the libraries that they need (auditwheel). The wheel is for systems with a C library
# as new as this one's: build it on Debian 12 or older, or in a manylinux image. Needs what autotest/setup.sh
# --without-tests installs, the libraries of docs/packaging.md, PyPI (the versions of wheel-requirements.txt) and npm. REFS_GDAL_HEADERS in the environment,
# 3.10=FOLDER;3.12=FOLDER, takes the place of gdal-headers.sh.
# With --check also installs it in new virtual environments, with packages that bring a GDAL, and opens the sample.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

headers=${REFS_GDAL_HEADERS:-$(sh packaging/gdal-headers.sh)}
echo "GDAL headers: $headers" | sed "s#=[^;]*##g; s#;# #g"
"$python" -m venv "$work/build"
"$work/build/bin/pip" install -q --require-hashes -r packaging/wheel-requirements.txt
mkdir -p build/wheels
rm -f build/wheels/*.whl
"$work/build/bin/python" -m build --wheel --no-isolation --outdir "$work/plain" \
    -C cmake.define.REFS_GDAL_HEADERS="$headers" . >"$work/log" 2>&1 || { tail -40 "$work/log"; exit 1; }
PATH=$work/build/bin:$PATH "$work/build/bin/auditwheel" repair --exclude "libgdal-is-named-here*" -w build/wheels "$work"/plain/*.whl >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
(cd build/wheels && wc -c *.whl)
[ "${1:-}" = --check ] || exit 0
exec sh packaging/wheel-check.sh
