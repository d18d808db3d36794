#!/bin/sh
# Installs the build into a folder of its own, and builds and runs the example against it, once by
# pkg-config and once by CMake's package.
#   install_test.sh SOURCE_DIR BINARY_DIR CMAKE CC
set -eu
source=$1 binary=$2 cmake=$3 cc=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$1" >&2
    exit 1
}

"$cmake" --install "$binary" --component dev --prefix "$work/prefix" >/dev/null
DESTDIR="$work/root" "$cmake" --install "$binary" --component plugin >/dev/null
plugin=$(find "$work/root" -name gdal_REFS.so)
# It follows the prefix, unless the build was told a folder of the system.
plugin_dir=$(sed -n 's/^REFS_PLUGIN_DIR:[A-Z]*=//p' "$binary/CMakeCache.txt")
case $plugin_dir in
/*) [ "$plugin" = "$work/root$plugin_dir/gdal_REFS.so" ] || fail "the plugin is installed as: $plugin" ;;
*)
    "$cmake" --install "$binary" --component plugin --prefix "$work/elsewhere" >/dev/null
    elsewhere=$(find "$work/elsewhere" -name gdal_REFS.so)
    case $elsewhere in
    "$work"/elsewhere/${plugin_dir:-lib*/gdalplugins}/gdal_REFS.so) ;;
    *) fail "the plugin does not follow --prefix: $elsewhere" ;;
    esac
    ;;
esac

# Options of the build, by a configuration alone.
configure() {
    "$cmake" -S "$source" -B "$work/configured" -DCMAKE_C_COMPILER="$cc" -DREFS_TESTS=OFF "$@" >"$work/log" 2>&1
}
for wrong in nosuch 'libexpat,zstd' 'zstd;libexpat'; do
    ! configure "-DREFS_WITHOUT=$wrong" || fail "REFS_WITHOUT=$wrong is ignored"
    tr -s '\n ' '  ' <"$work/log" | grep -q 'expected names of libraries .*, expat, .*zstd' ||
        fail "REFS_WITHOUT=$wrong: the error lists no names"
done
for place in lib/foo /opt/foo; do
    configure -DREFS_WITHOUT= "-DREFS_PLUGIN_DIR=$place" || fail "cannot configure for $place"
    grep -q "The plugin is installed in: $place " "$work/log" || fail "REFS_PLUGIN_DIR=$place is another folder"
done

# Each package says whose it is, and how it may be used.
DESTDIR="$work/root" "$cmake" --install "$binary" --component dev >/dev/null
DESTDIR="$work/root" "$cmake" --install "$binary" --component tool >/dev/null
DESTDIR="$work/root" "$cmake" --install "$binary" --component library >/dev/null
packages="libgdal-plugin-refs librefs0 librefs-dev refs"
if [ -f "$binary/libncrefs.so" ]; then
    DESTDIR="$work/root" "$cmake" --install "$binary" --component netcdf >/dev/null
    packages="$packages libncrefs"
fi
for package in $packages; do
    doc=$(find "$work/root" -type d -path "*/share/doc/$package")
    [ -s "$doc/README.md" ] || fail "$package has no README"
    cmp -s "$source/LICENSE" "$doc/LICENSE" || fail "$package: whose is it, and under which licence?"
done
[ -s "$(find "$work/root" -path '*/share/doc/libgdal-plugin-refs/docs/driver.md')" ] ||
    fail "the page that the driver names as its help is not installed"

# The program, with its page and its completions.
refs=$(find "$work/root" -path '*/bin/refs')
"$refs" ls "$source/data/sample.json" | grep -q '^/t2m ' || fail "refs does not list /t2m"
for text in man/man1/refs.1 bash-completion/completions/refs zsh/vendor-completions/_refs; do
    [ -s "$(find "$work/root" -path "*/share/$text")" ] || fail "there is no $text"
done

# Programs of netCDF-C, by the one that is installed.
if [ -f "$binary/libncrefs.so" ] && command -v ncdump >/dev/null; then
    ncrefs=$(find "$work/root" -path '*/bin/ncrefs')
    "$ncrefs" ncdump -h "$source/data/sample.json" | grep -q 'short t2m(time, lat, lon) ;' ||
        fail "ncrefs does not read a set"
fi

PKG_CONFIG_PATH=$(find "$work/prefix" -name pkgconfig)
export PKG_CONFIG_PATH
# Unquoted: a list of words.
$cc -std=c11 -Wall -Wextra -Werror "$source/examples/read_slab.c" \
    $(pkg-config --cflags --libs refs) -o "$work/by_pkg_config"

mkdir "$work/project"
cp "$source/examples/read_slab.c" "$work/project"
cat >"$work/project/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(example C)
find_package(refs 0.1 REQUIRED)
add_executable(by_cmake read_slab.c)
target_link_libraries(by_cmake PRIVATE refs::core)
CMAKE
"$cmake" -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_C_COMPILER="$cc" >/dev/null
"$cmake" --build "$work/project/build" >/dev/null

for program in "$work/by_pkg_config" "$work/project/build/by_cmake"; do
    "$program" "$source/data/sample.json" | grep -qx '/t2m <i2 time=24 lat=81 lon=121' ||
        fail "$program does not list /t2m"
    values=$("$program" "$source/data/sample.json" /z 1,0,10,20 1,1,1,3 | wc -w)
    [ "$values" -eq 3 ] || fail "$program reads $values values"
    ! "$program" "$source/data/sample.json" /z 9,0,10,20 1,1,1,3 2>"$work/error" ||
        fail "$program reads what is outside"
    grep -q '/z: ' "$work/error" || fail "$program does not say what is wrong"
done
# The shared library, by one header.
"$cmake" --install "$binary" --component library --prefix "$work/prefix" >/dev/null
$cc -std=c11 -Wall -Wextra -Werror "$source/examples/read_by_name.c" \
    $(pkg-config --cflags --libs librefs) -o "$work/by_name"
LD_LIBRARY_PATH=$(dirname "$(find "$work/prefix" -name librefs.so.0)")
export LD_LIBRARY_PATH
"$work/by_name" "$source/data/sample.json" | grep -qx '/t2m <i2 time=24 lat=81 lon=121' ||
    fail "read_by_name does not list /t2m"
values=$("$work/by_name" "$source/data/sample.json" /z 1,0,10,20 1,1,1,3 | wc -w)
[ "$values" -eq 3 ] || fail "read_by_name reads $values values"
! "$work/by_name" "$source/data/sample.json" /z 9,0,10,20 1,1,1,3 2>"$work/error" ||
    fail "read_by_name reads what is outside"
grep -q '^/z: ' "$work/error" || fail "read_by_name does not say what is wrong"
echo "fine"
