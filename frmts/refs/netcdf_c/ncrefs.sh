#!/bin/sh
# usage: ncrefs PROGRAM [ARGUMENT …]
# Runs a program with a netCDF library that reads reference sets: libncrefs.so is loaded before it.
set -eu
if [ $# -eq 0 ]; then
    echo "usage: ncrefs PROGRAM [ARGUMENT ...] (ncrefs --help says more)" >&2
    exit 2
fi
if [ "$1" = --help ] || [ "$1" = -h ]; then
    cat << 'END'
usage: ncrefs PROGRAM [ARGUMENT ...]

Runs a program of netCDF-C (ncdump, nccopy, NCO, CDO, R, Python), which reads reference sets as netCDF files:

  ncrefs ncdump -h set.json              a set of this machine, by its name; also set.parq, x.grib2, x.tif
  ncrefs ncdump -h 'REFS:"data/*.nc"'    many files as one set; REFS:master.nc, the arrays of a master
  ncrefs ncdump -h https://host/set.json also s3://, gs:// and az://
  ncrefs ncks -m set.json                NCO: sets and files by names of this machine, not REFS:...
  ncrefs cdo sinfo file:///path/set.json CDO: sets by URLs alone

NCO reads a master of this machine as netCDF-C does, without its values (t2m = _). Make a set of it:
refs index master.nc -o master.json, and give NCO that.

NCREFS_VERBOSE=YES prints on standard error why a call fails, NO nothing; NCREFS_URL_REWRITE='old=>new' says
where files are now.
END
    exit 0
fi
here=$(dirname "$(readlink -f "$0")")
for library in "$here/libncrefs.so" "$here/@REFS_NCREFS_FOLDER@/libncrefs.so"; do
    [ -f "$library" ] || continue
    LD_PRELOAD=$library${LD_PRELOAD:+:$LD_PRELOAD} exec "$@"
done
echo "ncrefs: there is no libncrefs.so beside $here/ncrefs" >&2
exit 2
