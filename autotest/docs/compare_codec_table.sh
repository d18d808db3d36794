#!/bin/sh
# usage: compare_codec_table.sh PROGRAM PAGE.md
# The page is what the program prints. Builds that lack a library print another table; no libpcodec
# is known to anyone, and Debian 12 has no libblosc2: the page is its.
set -eu
if "$1" | grep 'only in builds with' | grep -qvE "libpcodec|libblosc2"; then exit 77; fi
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
grep -v libblosc2 "$2" >"$rows"
"$1" | grep -v libblosc2 | diff "$rows" -
