#!/bin/sh
# usage: debian.sh [--once] SUITE
#
# Builds the Debian packages of what is committed for bookworm, trixie or sid, in build/debian/SUITE, twice: in
# different folders, languages, time zones and umasks, without network; both must be the same bytes. lintian may
# find neither errors nor warnings. Then installs the packages in a clean tree of that suite, runs debian/tests
# there, and removes them. Needs root and a mirror of Debian. With --once the packages are built once.
#   REFS_MAINTAINER='Name <mailbox>'   whom the packages name as their maintainer; a commit with a tag needs it
# Each suite has a version of its own, which an upgrade to the next suite replaces: 0.1.0-1~deb12u1 for bookworm,
# 0.1.0-1~deb13u1 for trixie, 0.1.0-1 for sid.
# The tree for building is build/matrix/SUITE, as for autotest/matrix.sh.
set -eu
once=
if [ "${1:-}" = --once ]; then
    once=1
    shift
fi
[ $# -eq 1 ] || { echo "usage: debian.sh [--once] SUITE" >&2; exit 2; }
cd "$(dirname "$0")/.."
suite=$1
case $suite in
bookworm) addition='~deb12u1' ;;
trixie) addition='~deb13u1' ;;
sid) addition='' ;;
*) echo "debian.sh: suite: expected bookworm, trixie or sid, found $suite" >&2; exit 2 ;;
esac
version=$(sh packaging/version.sh)
maintainer=${REFS_MAINTAINER:-}    # trees.sh unsets what is called REFS_
tag=$(sh packaging/version.sh --tag)
if [ -n "$tag" ] && [ -z "$maintainer" ]; then
    echo "debian.sh: packages of $tag need a maintainer: set REFS_MAINTAINER='Name <mailbox>'" >&2
    exit 1
fi
output=$PWD/build/debian/$suite
log=$output/log
step="making a $suite to build in"
tree=$PWD/build/matrix/$suite
. autotest/trees.sh

report() {
    if [ "$1" -ne 0 ]; then
        [ ! -s "$log" ] || tail -n 40 "$log"
        echo "debian.sh: failed: $step" >&2
    fi
    unmount_all
}
trap 'report $?' EXIT

# name_suite FOLDER: the version of this suite, and the maintainer, in a folder debian. debian/changelog may still have
# the version of the last release.
name_suite() {
    sed -i "1s/([0-9.]*\(-[0-9]*\))/($version\1$addition)/" "$1/changelog"
    [ -n "$maintainer" ] || return 0
    sed -i "s/^Maintainer: .*/Maintainer: $maintainer/" "$1/control"
    sed -i "s/^ -- .*>  / -- $maintainer  /" "$1/changelog"
}

# build FOLDER: the source package and its binaries in a folder of the tree, with the environment of the caller.
build() {
    rm -rf "$tree$1"
    mkdir -p "$tree$1"
    cp "$output/refs-$version.tar.gz" "$tree$1/refs_$version.orig.tar.gz"
    tar -xzf "$output/refs-$version.tar.gz" -C "$tree$1"
    name_suite "$tree$1/refs-$version/debian"
    # ccache only where the caller says so: the second build compiles.
    DEB_BUILD_OPTIONS="parallel=$(nproc)" DEBIAN_FRONTEND=noninteractive unshare -n \
        chroot "$tree" sh -c "cd $1/refs-$version && exec dpkg-buildpackage -us -uc" >"$log" 2>&1
}

rm -rf --one-file-system "$output"
mkdir -p "$output" build/matrix
make_tree "$suite"
install_in_tree build-essential debhelper fakeroot lintian
step="making the source release"
sh packaging/dist.sh "$output"
step="installing what the build needs"
mkdir -p "$tree/root/depends"
rm -rf "$tree/root/depends/debian"
cp -r debian "$tree/root/depends/"
in_tree apt-get build-dep -qq -y --no-install-recommends /root/depends >"$log" 2>&1

step="building the packages"
began=$(date +%s)
(
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
    build /root/debian/first
)
echo "built in $(($(date +%s) - began)) s"
build_again() {
    step="building the packages again"
    (
        umask 077
        export LC_ALL=C.UTF-8 TZ=Asia/Tokyo
        build /root/debian/another-folder
    )
    step="comparing the two builds"
    for package in "$tree"/root/debian/first/*.deb; do
        cmp "$package" "$tree/root/debian/another-folder/${package##*/}"
    done
    echo "built twice, the same bytes"
}
[ -n "$once" ] || build_again
for file in "$tree"/root/debian/first/*; do
    [ ! -f "$file" ] || cp "$file" "$output/"
done

step="lintian"
in_tree sh -c 'lintian --fail-on error,warning --tag-display-limit 0 /root/debian/first/refs_*.changes' >"$log" 2>&1
echo "lintian: $(grep -c '^[EW]:' "$log" || true) errors and warnings"

step="making a clean $suite"
unmount_all
mounted=
tree=$output/tree
make_tree "$suite"
mkdir -p "$tree/root/debian"
cp "$output"/*.deb "$tree/root/debian/"
tar -xzf "$output/refs-$version.tar.gz" -C "$tree/root"
step="installing on $suite"
in_tree sh -c 'apt-get install -qq -y --no-install-recommends /root/debian/libgdal-plugin-refs_*.deb \
    /root/debian/refs_*.deb /root/debian/libncrefs_*.deb /root/debian/librefs0_*.deb gdal-bin netcdf-bin python3-gdal python3-numpy autopkgtest' \
    >"$log" 2>&1
in_tree gdalinfo --version
step="testing on $suite"
in_tree autopkgtest --no-built-binaries "/root/refs-$version" -- null >"$log" 2>&1
grep -m 1 -E '^read +PASS' "$log"
step="removing on $suite"
in_tree apt-get purge -qq -y libgdal-plugin-refs refs libncrefs librefs0 >"$log" 2>&1
! in_tree gdalinfo --formats | grep REFS
(cd "$output" && wc -c *.deb)
echo "The packages of $suite build, install, work and go again"
