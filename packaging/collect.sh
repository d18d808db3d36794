#!/bin/sh
# usage: collect.sh FROM TO
#
# Moves all files below FROM into TO, a new folder without folders in it, as the files of a release, and writes
# TO/SHA256SUMS. Two files of one name are an error, as is a source package of Debian whose parts have other sums.
# GitHub writes a dot for each tilde in the name of a release's file: so does this, and SHA256SUMS has these names.
set -eu
[ $# -eq 2 ] || { echo "usage: collect.sh FROM TO" >&2; exit 2; }
from=$1
to=$2
mkdir "$to"

find "$from" -type f | while IFS= read -r path; do
    # mv of some coreutils fails where it keeps a file, others do not: what is left tells.
    mv -n "$path" "$to/$(basename "$path" | tr '~' .)" || true
done
left=$(find "$from" -type f)
[ -z "$left" ] || { printf 'collect.sh: expected each name once, found again:\n%s\n' "$left" >&2; exit 1; }

cd "$to"
for source in *.dsc; do
    [ ! -f "$source" ] || sed -n '/^Checksums-Sha256:/,/^Files:/s/^ \([0-9a-f]*\) [0-9]* /\1  /p' "$source" | sha256sum -c --quiet -
done
sums=$(sha256sum -- *)
printf '%s\n' "$sums" >SHA256SUMS
