#!/bin/sh
# Builds and installs one output of recipe.yaml: REFS_COMPONENT is plugin, tool or netcdf. conda sets PREFIX, the
# folder of the environment, and CMAKE_ARGS.
set -eu
case $REFS_COMPONENT in
plugin) target=gdal_REFS ;;
tool) target=refs_tool ;;
netcdf) target=ncrefs ;;
*) echo "build.sh: REFS_COMPONENT: expected plugin, tool or netcdf, found $REFS_COMPONENT" >&2; exit 2 ;;
esac
# Unquoted: a list of words.
cmake -S . -B build/conda -G Ninja ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_PREFIX_PATH="$PREFIX" -DREFS_TESTS=OFF
cmake --build build/conda --target "$target"
cmake --install build/conda --component "$REFS_COMPONENT"
if [ "$REFS_COMPONENT" = plugin ]; then test -f "$PREFIX/lib/gdalplugins/gdal_REFS.so"; fi
