#!/bin/sh
# The main job on the sample: from a reference set to a GeoTIFF.
# Installs what is missing, builds the plugin, and shows each command before it runs.
set -eu
cd "$(dirname "$0")/.."
exec </dev/null

# Prints a command as one would type it, and runs it.
show() {
    printf '\n$'
    for word; do
        case $word in
        *[!A-Za-z0-9_./:=,+-]*) printf " '%s'" "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$@"
}

sh autotest/setup.sh
show cmake --build --preset release --target gdal_REFS refs_tool

GDAL_DRIVER_PATH=$PWD/build/release/gdalplugins
export GDAL_DRIVER_PATH
printf '\n$ export GDAL_DRIVER_PATH=%s\n' "$GDAL_DRIVER_PATH"

geotiff=build/t2m.tif
t2m='REFS:"data/sample.json":/t2m'

show gdalinfo REFS:data/sample.json
show gdalinfo -nomd "$t2m"
show gdal_translate -b 14 -co COMPRESS=DEFLATE "$t2m" "$geotiff"
show gdallocationinfo -wgs84 -b 14 "$t2m" 12.5 41.9
show gdalinfo -stats "$geotiff"

printf '\nThe temperature of 2024-06-01 at 13:00, band 14 of 24, is now in %s\n' "$PWD/$geotiff"
