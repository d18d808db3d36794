#!/bin/sh
# usage: gdal-headers.sh [FOLDER]
#
# Gets the headers of GDAL's minor versions that have no package on this machine, in FOLDER (build/gdal-headers), a
# folder each: 3.6, 3.10 and 3.13 from libgdal-dev of Debian 12, 13 and sid, the others from the npm package
# gdal-async, which has GDAL's sources in it. Prints what REFS_GDAL_HEADERS takes. A folder that is there is kept.
set -eu
cd "$(dirname "$0")/.."
folder=${1:-build/gdal-headers}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A state of its own for apt, so that this machine's lists stay as they are.
apt_of() {
    suite=$1
    shift
    mkdir -p "$work/$suite/state/lists/partial" "$work/$suite/cache/archives/partial"
    : >"$work/$suite/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" >"$work/$suite/list"
    "$@" -qq -o Dir::State="$work/$suite/state" -o Dir::State::status="$work/$suite/status" \
        -o Dir::Cache="$work/$suite/cache" -o Dir::Etc::SourceList="$work/$suite/list" \
        -o Dir::Etc::SourceParts=/dev/null -o Acquire::Check-Valid-Until=false -o APT::Sandbox::User=root
}

# debian SUITE: libgdal-dev's, under the version that it says it is
debian() {
    apt_of "$1" apt-get update
    (cd "$work/$1" && apt_of "$1" apt-get download libgdal-dev && dpkg -x libgdal-dev_*.deb tree)
    keep "$work/$1/tree/usr/include/gdal"
}

# npm_sources VERSION SHA-256: gdal-async's, if the archive has that sum
npm_sources() {
    (cd "$work" && npm pack --silent "gdal-async@$1" >/dev/null)
    found=$(sha256sum <"$work/gdal-async-$1.tgz" | cut -d' ' -f1)
    [ "$found" = "$2" ] || { echo "gdal-headers.sh: gdal-async-$1.tgz: expected SHA-256 $2, found $found" >&2; exit 1; }
    mkdir -p "$work/$1/flat"
    tar -xzf "$work/gdal-async-$1.tgz" -C "$work/$1" --wildcards --strip-components=4 \
        'package/deps/libgdal/gdal/*.h' 2>/dev/null
    tar -xzf "$work/gdal-async-$1.tgz" -C "$work/$1/flat" --strip-components=5 package/deps/libgdal/arch/unix/cpl_config.h
    for part in port gcore ogr ogr/ogrsf_frmts alg apps gnm frmts/vrt; do
        [ ! -d "$work/$1/$part" ] || find "$work/$1/$part" -maxdepth 1 -name '*.h' -exec cp {} "$work/$1/flat/" \;
    done
    cp "$work/$1/gcore/gdal_version_full/gdal_version.h" "$work/$1/flat/"
    keep "$work/$1/flat"
}

keep() {
    minor=$(sed -n 's/^ *# *define GDAL_VERSION_\(MAJOR\|MINOR\) *\([0-9]*\).*/\2/p' "$1/gdal_version.h" | paste -sd.)
    rm -rf "${folder:?}/$minor"
    cp -r "$1" "$folder/$minor"
}

[ -d "$folder/3.6" ] || debian bookworm
[ -d "$folder/3.10" ] || debian trixie
[ -d "$folder/3.13" ] || debian sid
[ -d "$folder/3.9" ] || npm_sources 3.9.2 b5aad3e8bda5b3bf9013342a03b6662ac53d9a51bbe88c31cb0b09f55a47270e
[ -d "$folder/3.11" ] || npm_sources 3.11.4 82d992598590d0dceae7224ba031041091051da7863de83009d5e3dc3e690683
[ -d "$folder/3.12" ] || npm_sources 3.12.3 38bd1f5af66c3f85e0b9f219fe78ed3c5c1f81763eeecaff7a1dc9385901ae10
{
    for path in "$folder"/3.*; do
        echo "${path##*/}=$path"
    done | sort -V
    echo "cxx98/3.9=$folder/3.9"
} | paste -sd';'
