#!/bin/sh
# usage: collect_test.sh ROOT
# The files of a release come together whole: none takes the place of another, and no folder counts as one.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$1" >&2
    exit 1
}

# artifacts: as packages.yml and release.yml upload them
artifacts() {
    rm -rf "$work/from" "$work/to"
    for suite in bookworm:~deb12u1 trixie:~deb13u1 sid:; do
        mkdir -p "$work/from/debian-${suite%%:*}"
        echo "deb of $suite" >"$work/from/debian-${suite%%:*}/refs_1.0-1${suite#*:}_amd64.deb"
    done
    mkdir -p "$work/from/debian-source" "$work/from/wheel-ubuntu-24.04" "$work/from/source"
    echo orig >"$work/from/debian-source/refs_1.0.orig.tar.gz"
    sum=$(sha256sum <"$work/from/debian-source/refs_1.0.orig.tar.gz" | cut -d' ' -f1)
    printf 'Checksums-Sha256:\n %s 5 refs_1.0.orig.tar.gz\nFiles:\n 0 5 refs_1.0.orig.tar.gz\n' "$sum" >"$work/from/debian-source/refs_1.0-1.dsc"
    echo wheel >"$work/from/wheel-ubuntu-24.04/gdal_refs-1.0.whl"
    echo source >"$work/from/source/refs-1.0.tar.gz"
}

artifacts
sh "$1/packaging/collect.sh" "$work/from" "$work/to"
(cd "$work/to" && sha256sum -c --quiet SHA256SUMS)
cat >"$work/expected" <<'NAMES'
SHA256SUMS
gdal_refs-1.0.whl
refs-1.0.tar.gz
refs_1.0-1.deb12u1_amd64.deb
refs_1.0-1.deb13u1_amd64.deb
refs_1.0-1.dsc
refs_1.0-1_amd64.deb
refs_1.0.orig.tar.gz
NAMES
find "$work/to" -mindepth 1 -printf '%P\n' | LC_ALL=C sort | diff "$work/expected" - || fail "expected the names above"
[ "$(wc -l <"$work/to/SHA256SUMS")" -eq 7 ] || fail "SHA256SUMS: expected 7 files"

artifacts
cp "$work/from/debian-bookworm/refs_1.0-1~deb12u1_amd64.deb" "$work/from/debian-trixie/"
! sh "$1/packaging/collect.sh" "$work/from" "$work/to" 2>"$work/errors" || fail "one of two files of a name was lost"
grep -q 'deb12u1_amd64.deb$' "$work/errors" || fail "the message does not name the file"

artifacts
echo another >"$work/from/debian-source/refs_1.0.orig.tar.gz"
! sh "$1/packaging/collect.sh" "$work/from" "$work/to" 2>/dev/null || fail "a source package of another archive"
