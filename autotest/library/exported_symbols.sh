#!/bin/sh
# usage: exported_symbols.sh NM LIBRARY HEADER
# Fails where the library exports something else than the functions of its header, or one without a
# version.
set -eu
exported=$("$1" -D --defined-only "$2" | sed -n 's/^[0-9a-f]* T //p' | sort)
declared=$(grep -v '^#' "$3" | tr '\n' ' ' | grep -oE 'REFS_EXPORT [^;]*;' | sed 's/REFS_EXPORT [^(]*[ *]\([a-z_]*\)(.*/\1@@REFS_0/' | sort)
if [ "$exported" != "$declared" ]; then
    printf 'exported:\n%s\ndeclared:\n%s\n' "$exported" "$declared"
    exit 1
fi
