#!/bin/sh
# Cross-compiles what is committed in Debian bookworm, and runs the unit, conformance and driver tests
# under qemu-user; needs root and the network, and an hour for each processor. A warning is a failure.
#   emulated.sh [ARCHITECTURE[=TREE] ...]      s390x (big-endian) arm64
# A TREE that is there is used, one that is not is made (build/matrix/ARCHITECTURE).
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- s390x arm64
. autotest/trees.sh

# The kernel runs foreign programs by what stands in binfmt_misc, in all trees.
register() {
    command -v "qemu-$1-static" >/dev/null || apt-get install -qq -y qemu-user-static >/dev/null
    [ -e /proc/sys/fs/binfmt_misc/register ] ||
        mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
    [ -e "/proc/sys/fs/binfmt_misc/qemu-$1" ] ||
        cat "/usr/lib/binfmt.d/qemu-$1.conf" >/proc/sys/fs/binfmt_misc/register
}

# What runs is amd64's, what is linked the other's. Debian has no LERC for big-endian processors, and
# its libeccodes-dev wants the other's Fortran, which nobody needs here.
install_cross() {
    packages=
    for name in libgdal-dev libproj-dev libdeflate-dev libzstd-dev liblz4-dev libblosc-dev \
        libbz2-dev liblzma-dev libsnappy-dev libbrotli-dev libjansson-dev libexpat1-dev zlib1g-dev liblzf-dev libaec-dev libzfp-dev \
        libeccodes0 libjpeg-dev libpng-dev libwebp-dev libopenjp2-7-dev libjxl-dev libgtest-dev libc6-dev; do
        packages="$packages $name:$1"
    done
    [ "$1" = s390x ] || packages="$packages liblerc-dev:$1"
    in_tree dpkg --add-architecture "$1"
    in_tree apt-get update -qq
    # Unquoted: a list of words.
    install_in_tree cmake ninja-build pkg-config python3 python3-numpy "g++-$2-linux-gnu" $packages
    in_tree sh -c "cd /tmp && apt-get download -qq libeccodes-dev:$1 && dpkg -x libeccodes-dev_*.deb /"
}

# CMake takes this for a native build, which it is as far as it can see: what it builds, runs.
build_and_test() {
    in_tree cmake -S /root/refs -B "/root/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_COMPILER="$1-linux-gnu-gcc" -DCMAKE_CXX_COMPILER="$1-linux-gnu-g++" \
        -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
        -DREFS_TEST_PYTHON=/usr/bin/python3 -DREFS_PYTHON_TESTS=OFF -DREFS_WERROR=ON "-DREFS_TEST_OPTIONS=-O0;-g1" &&
        in_tree cmake --build /root/build &&
        in_tree ctest --test-dir /root/build --label-regex 'unit|conform|driver' --parallel "$(nproc)" \
            --timeout 1800 --no-tests=error --no-label-summary --output-on-failure
}

mkdir -p build/matrix
status=0
for entry; do
    architecture=${entry%%=*}
    tree=$PWD/build/matrix/$architecture
    [ "$entry" = "$architecture" ] || tree=${entry#*=}
    log=build/matrix/$architecture.log
    processor=$architecture
    [ "$architecture" != arm64 ] || processor=aarch64
    register "$processor"
    make_tree bookworm
    install_cross "$architecture" "$processor"
    clone_into_tree
    result=fine
    build_and_test "$processor" >"$log" 2>&1 || { result="failed, see $log"; status=1; }
    echo "$architecture: $(grep 'tests passed' "$log" || echo 'no tests ran'): $result"
done
exit "$status"
