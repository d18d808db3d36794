#!/bin/sh
# Makes the packages and installs the plugin's on a clean Debian, in a tree of its own; needs root,
# the network, and some minutes.
#   package.sh [SUITE]      bookworm
set -eu
cd "$(dirname "$0")/.."
suite=${1:-bookworm}
build=build/package
step="making the packages"
tree=$PWD/$build/$suite
. autotest/trees.sh

report() {
    [ "$1" -eq 0 ] || echo "package.sh: failed: $step" >&2
    unmount_all
}
trap 'report $?' EXIT
command -v dpkg-shlibdeps >/dev/null || apt-get install -qq -y dpkg-dev >/dev/null
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_INSTALL_PREFIX=/usr \
    -DREFS_TESTS=OFF >/dev/null
cmake --build "$build" >/dev/null
(cd "$build" && rm -f ./*.deb && cpack -G DEB >/dev/null)
for package in "$build"/*.deb; do
    step="what $package has in it"
    echo "$package, by $(dpkg-deb -f "$package" Maintainer)"
    for file in copyright README.md; do
        dpkg-deb -c "$package" | grep -q " [.]/usr/share/doc/[^/]*/$file\$"
    done
    case $package in
    */librefs-dev_*) ;;
    *) dpkg-deb -f "$package" Depends | grep -q libeccodes ;; # which is loaded when it is used
    esac
done

step="making a $suite"
[ -x "$tree/usr/bin/apt-get" ] || debootstrap --variant=minbase "$suite" "$tree" >/dev/null
cp "$build"/gdal-plugin-refs_*.deb "$tree/root/plugin.deb"
cp data/sample.json data/sample.nc "$tree/root/"
step="installing the plugin on $suite"
in_tree apt-get update -qq
in_tree apt-get install -qq -y --no-install-recommends gdal-bin /root/plugin.deb >/dev/null 2>&1
step="reading by the installed plugin"
in_tree gdalinfo --formats | grep REFS
in_tree gdalinfo 'REFS:"/root/sample.json":/t2m' | grep -E 'Size is|Origin'
in_tree gdallocationinfo -valonly -b 14 'REFS:"/root/sample.json":/t2m' 60 40
step="removing the plugin"
in_tree apt-get remove -qq -y gdal-plugin-refs >/dev/null 2>&1
! in_tree gdalinfo --formats | grep REFS
echo "The package installs, works and goes again on $suite"
