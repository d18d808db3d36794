#!/bin/sh
# Builds what is committed and runs all tests on several Debians, each with its GDAL; needs root, the
# network, and half an hour. A warning is a failure. Data beside the repository go along.
#   matrix.sh [SUITE[:ARCHITECTURE][=TREE] ...]
# bookworm (GDAL 3.6) bookworm:i386 (32 bits) trixie (3.10) sid (3.13, with QGIS); a TREE that is there is used,
# one that is not is made (build/matrix/SUITE[:ARCHITECTURE]).
# Other processors are what emulated.sh is for, other compilers compilers.sh.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- bookworm bookworm:i386 trixie sid
. autotest/trees.sh

test_tree() {
    clone_into_tree
    in_tree sh /root/refs/autotest/run.sh release >"$log" 2>&1 || return 1
    ! grep -q -e 'CMake .*Warning' -e ' warning: ' "$log"
}

mkdir -p build/matrix
status=0
for entry; do
    name=${entry%%=*}
    suite=${name%%:*}
    tree=$PWD/build/matrix/$name
    [ "$entry" = "$name" ] || tree=${entry#*=}
    log=build/matrix/$name.log
    architecture=
    [ "$name" = "$suite" ] || architecture=${name#*:}
    make_tree "$suite" $architecture
    [ "$suite" != sid ] || install_in_tree qgis python3-qgis fonts-open-sans xvfb xauth
    result=fine
    test_tree || { result="failed, see $log"; status=1; }
    echo "$name: $(in_tree gdalinfo --version | cut -d, -f1): $(grep -m 1 'tests passed' "$log" ||
        echo 'no tests ran'): $result"
done
exit "$status"
