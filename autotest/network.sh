#!/bin/sh
# Reads from servers that the project did not write, by the engine and by GDAL's file systems, and
# prints a row for each: right or one error, time, requests for chunks.
#   network.sh [PLUGIN_DIR]
# moto (S3; pip), Azurite (Azure; npm), tinyproxy and nginx. What is missing is installed, below
# build/network or, as root, by apt-get; what cannot be is left out, and it is said why. Ends with 1
# where a row is not as it has to be.
set -eu
cd "$(dirname "$0")/.."
plugin=$(cd "${1:-build/release/gdalplugins}" && pwd)
work=$PWD/build/network
mkdir -p "$work"

leave_out() {
    echo "left out: $1" >&2
}

# usage: has_program PROGRAM PACKAGE
has_program() {
    command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] && return 0
    [ "$(id -u)" -eq 0 ] && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$2" >"$work/$2.log" 2>&1
}

if [ ! -x "$work/moto/bin/moto_server" ]; then
    { python3 -m venv "$work/moto" && "$work/moto/bin/pip" install -q 'moto[server,s3]'; } \
        >"$work/moto.log" 2>&1 || leave_out "moto: see build/network/moto.log"
fi
if [ ! -x "$work/azurite/node_modules/.bin/azurite-blob" ]; then
    if has_program npm npm; then
        npm install --silent --no-audit --no-fund --prefix "$work/azurite" azurite \
            >"$work/azurite.log" 2>&1 || leave_out "Azurite: see build/network/azurite.log"
    else
        leave_out "Azurite: there is no npm"
    fi
fi
has_program tinyproxy tinyproxy || leave_out "proxies: there is no tinyproxy"
has_program nginx nginx-light || leave_out "limits and HTTP/2: there is no nginx"

GDAL_DRIVER_PATH=$plugin exec "${REFS_PYTHON:-/usr/bin/python3}" autotest/network.py "$work"
