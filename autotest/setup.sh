#!/bin/sh
# usage: setup.sh [PRESET …]
#
# Installs what the build and the tests need and is missing (Debian), and configures the builds of
# the presets, or the release build. Needs no network and a moment only where everything is there.
set -eu
cd "$(dirname "$0")/.."

packages="build-essential cmake ninja-build pkg-config
    libgdal-dev gdal-bin libproj-dev
    libdeflate-dev libzstd-dev liblz4-dev libblosc-dev libbz2-dev liblzma-dev libsnappy-dev
    libjansson-dev libexpat1-dev zlib1g-dev liblzf-dev libaec-dev libzfp-dev libeccodes-dev
    libjpeg-dev libpng-dev libwebp-dev libopenjp2-7-dev liblerc-dev libnetcdf-dev
    libssl-dev libexpat1-dev
    libgtest-dev python3 python3-numpy python3-gdal python3-rasterio python3-netcdf4 netcdf-bin"

is_missing() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" != installed ]
}

missing=
for package in $packages; do
    if is_missing "$package"; then missing="$missing $package"; fi
done

if [ -n "$missing" ]; then
    echo "Installing, which takes a minute or more:$missing"
    if [ "$(id -u)" -eq 0 ]; then as_root=; else as_root=sudo; fi
    export DEBIAN_FRONTEND=noninteractive
    $as_root apt-get update -qq
    # Unquoted: a list of words.
    $as_root apt-get install -qq -y --no-install-recommends $missing >/dev/null
fi

launcher=
if command -v ccache >/dev/null; then
    launcher="-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache"
fi
for preset in "${@:-release}"; do
    if [ ! -f "build/$preset/build.ninja" ]; then
        echo "Configuring build/$preset"
        cmake --preset "$preset" --log-level=NOTICE $launcher
    fi
done
