#!/bin/sh
# Builds what is committed, but its tests, with gcc 12 to 16 and clang, each with -O2 and with -O3,
# and the tests too with the last gcc and clang; in Debian sid. Needs root, the network, and half an
# hour. A warning is a failure.
#   compilers.sh [TREE [COMPILER ...]]     gcc-12 … gcc-16 clang; a TREE that is not there is made
set -eu
cd "$(dirname "$0")/.."
tree=$PWD/build/matrix/sid
[ $# -eq 0 ] || { tree=$1; shift; }
[ $# -gt 0 ] || set -- gcc-12 gcc-13 gcc-14 gcc-15 gcc-16 clang
. autotest/trees.sh

# What of C++ goes with a compiler of C.
cxx_of() {
    case $1 in clang*) echo "clang++${1#clang}" ;; *) echo "g++${1#gcc}" ;; esac
}

# build COMPILER OPTION TESTS
build() {
    in_tree cmake -S /root/refs -B "/root/build/$1$2" -G Ninja -DCMAKE_C_COMPILER="$1" \
        -DCMAKE_CXX_COMPILER="$(cxx_of "$1")" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_FLAGS_RELEASE="$2 -DNDEBUG" -DCMAKE_CXX_FLAGS_RELEASE="$2 -DNDEBUG" \
        -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
        -DREFS_WERROR=ON -DREFS_TESTS="$3" &&
        in_tree cmake --build "/root/build/$1$2" -- -k 0
}

mkdir -p build/matrix
make_tree sid
clone_into_tree
for compiler; do
    case $compiler in
    clang*) install_in_tree "$compiler" ;;
    *) install_in_tree "$compiler" "$(cxx_of "$compiler")" ;;
    esac
done
in_tree sh /root/refs/autotest/setup.sh >/dev/null

status=0
for compiler; do
    for option in -O2 -O3; do
        log=build/matrix/$compiler$option.log
        tests=OFF
        case $compiler$option in gcc-16-O2 | clang-O2) tests=ON ;; esac
        result=fine
        build "$compiler" "$option" "$tests" >"$log" 2>&1 || { result="failed, see $log"; status=1; }
        echo "$compiler $option, tests $tests: $result"
    done
done
exit "$status"
