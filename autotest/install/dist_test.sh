#!/bin/sh
# usage: dist_test.sh ROOT
# The source release is the same bytes when it is made again, and has what a build needs. A tree without git, as
# the release itself is, makes none: exit status 77.
set -eu
git -C "$1" rev-parse -q --verify HEAD >/dev/null 2>&1 || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$1" >&2
    exit 1
}

sh "$1/packaging/dist.sh" "$work/first"
(umask 077 && TZ=Asia/Tokyo sh "$1/packaging/dist.sh" "$work/second") >/dev/null
name=refs-$(sh "$1/packaging/version.sh")
cmp "$work/first/$name.tar.gz" "$work/second/$name.tar.gz" || fail "made twice, the archives differ"

tar -tvzf "$work/first/$name.tar.gz" >"$work/list"
! grep -v " root/root " "$work/list" || fail "owners are of this machine"
! grep -v " $name/" "$work/list" || fail "files outside of $name/"
for file in CMakeLists.txt LICENSE CHANGELOG.md README.md docs/driver.md data/sample.json autotest/run.sh; do
    grep -q " $name/$file\$" "$work/list" || fail "no $file in the archive"
done
