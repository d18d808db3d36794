#!/bin/sh
# usage: core_symbols.sh NM LIBRARY
# The core never sees GDAL, and is C: no symbol of GDAL's families, none that is mangled.
set -eu
symbols=$("$1" -A "$2")
[ -n "$symbols" ] || { echo "$2 has no symbols"; exit 1; }
if printf '%s\n' "$symbols" | grep -E ' (GDAL|CPL|VSI|OGR|OSR|_Z)[A-Za-z0-9_]*$'; then
    echo "the core may not use these symbols"
    exit 1
fi
