#!/bin/sh
# usage: setup.sh [--without-tests] [PRESET …]
#
# Installs what the build and the tests need and is missing (Debian), and configures the builds of
# the presets, or the release build. Needs no network and a moment only where everything is there.
# With --without-tests only what the plugin, the program and the sample need: codecs whose libraries
# libgdal-dev does not bring are left out, unless they are there.
set -eu
cd "$(dirname "$0")/.."

tests=ON
if [ "${1:-}" = --without-tests ]; then
    tests=OFF
    shift
fi

packages="build-essential cmake ninja-build pkg-config
    libgdal-dev gdal-bin libproj-dev
    libdeflate-dev libzstd-dev liblz4-dev libblosc-dev libbz2-dev liblzma-dev libsnappy-dev libbrotli-dev
    libjansson-dev libexpat1-dev zlib1g-dev liblzf-dev libaec-dev libzfp-dev libeccodes-dev
    libjpeg-dev libpng-dev libwebp-dev libopenjp2-7-dev liblerc-dev libjxl-dev libnetcdf-dev
    libgtest-dev python3 python3-dev python3-numpy python3-gdal python3-rasterio python3-netcdf4 python3-h5py netcdf-bin
    codespell doxygen"
# Debian 12 has no Blosc2.
grep -q '^VERSION_CODENAME=bookworm' /etc/os-release || packages="$packages libblosc2-dev"
if [ "$tests" = OFF ]; then packages="g++ cmake ninja-build libgdal-dev gdal-bin"; fi

is_missing() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" != installed ]
}

missing=
for package in $packages; do
    if is_missing "$package"; then missing="$missing $package"; fi
done

# Prints every tenth part of what apt reports, of which the status is a part (APT::Status-Fd=1, since
# sudo closes other descriptors).
show_progress() {
    awk -F: '{
        what = $1 == "dlstatus" ? "Downloading" : $1 == "pmstatus" ? "Installing" : ""
        line = sprintf("%s: %d %%", what, int($3 / 10) * 10)
        if (what != "" && line != last) { print line; fflush(); last = line }
    }'
}

if [ -n "$missing" ]; then
    echo "Missing:$missing"
    if [ "$(id -u)" -eq 0 ]; then as_root=; else as_root=sudo; fi
    export DEBIAN_FRONTEND=noninteractive
    echo "Updating the package lists (apt-get update)"
    $as_root apt-get update -qq
    # Unquoted: a list of words.
    LC_ALL=C $as_root apt-get install -s --no-install-recommends $missing |
        awk '/^Inst/ { n++ } END { printf "Installing %d packages, with those that they depend on (apt-get install)\n", n }'
    $as_root apt-get install -qq -y --no-install-recommends -o APT::Status-Fd=1 $missing |
        show_progress
    for package in $missing; do
        if is_missing "$package"; then
            echo "setup.sh: cannot install $package: run apt-get install $package to see why" >&2
            exit 1
        fi
    done
fi

launcher=
if command -v ccache >/dev/null; then
    launcher="-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache"
fi
for preset in "${@:-release}"; do
    cache=build/$preset/CMakeCache.txt
    if [ ! -f "build/$preset/build.ninja" ]; then
        echo "Configuring build/$preset"
        cmake --preset "$preset" --log-level=NOTICE "-DREFS_TESTS=$tests" $launcher
    elif [ "$tests" = ON ] && grep -q '^REFS_TESTS:BOOL=OFF' "$cache"; then
        echo "Configuring build/$preset again, with tests and all codecs"
        cmake --preset "$preset" --log-level=NOTICE -DREFS_TESTS=ON $launcher
    fi
done
