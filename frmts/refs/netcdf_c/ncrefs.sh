#!/bin/sh
# usage: ncrefs PROGRAM [ARGUMENT …]
# Runs a program with a netCDF library that reads reference sets: libncrefs.so is loaded before it.
set -eu
if [ $# -eq 0 ]; then
    echo "usage: ncrefs PROGRAM [ARGUMENT ...]" >&2
    exit 2
fi
here=$(dirname "$(readlink -f "$0")")
for library in "$here/libncrefs.so" "$here/@REFS_NCREFS_FOLDER@/libncrefs.so"; do
    [ -f "$library" ] || continue
    LD_PRELOAD=$library${LD_PRELOAD:+:$LD_PRELOAD} exec "$@"
done
echo "ncrefs: there is no libncrefs.so beside $here/ncrefs" >&2
exit 2
