#!/bin/sh
# usage: dist_test.sh ROOT
# The source release is the same bytes when it is made again, and has what a build needs. An unreleased version has an
# archive, too, but no release. A tree without git, as the release itself is, makes none: exit status 77.
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

# The version after the last section of CHANGELOG.md: an archive, but no release, by option or by tag.
git clone -q "$1" "$work/next" 2>/dev/null
cp "$1/packaging/dist.sh" "$1/packaging/version.sh" "$work/next/packaging/"
sed -i 's/^project(refs VERSION [0-9.]*/project(refs VERSION 99.0.0/' "$work/next/CMakeLists.txt"
git -C "$work/next" -c user.name=test -c user.email=test@example.invalid commit -q -a -m next
sh "$work/next/packaging/dist.sh" "$work/third"
[ -f "$work/third/refs-99.0.0.tar.gz" ] || fail "no archive of a version that is not released"
! sh "$work/next/packaging/dist.sh" --release "$work/fourth" 2>/dev/null || fail "a release without a section"
git -C "$work/next" tag v99.0.0
! sh "$work/next/packaging/dist.sh" "$work/fourth" 2>/dev/null || fail "a tag without a section"
