#!/bin/sh
# usage: compare_codec_table.sh PROGRAM PAGE.md
# The page is what the program prints. Builds that lack a library print another table: no libpcodec
# is known to anyone.
set -eu
if "$1" | grep 'not in this build' | grep -qv libpcodec; then exit 77; fi
"$1" | diff "$2" -
