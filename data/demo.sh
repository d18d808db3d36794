#!/bin/sh
# The main job on the sample: from a reference set to a GeoTIFF of kelvins.
# Installs what this needs and is missing, builds the plugin and the program, and shows each command before it runs.
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

sh autotest/setup.sh --without-tests
show cmake --build --preset release --target gdal_REFS refs_tool

GDAL_DRIVER_PATH=$PWD/build/release/gdalplugins
export GDAL_DRIVER_PATH
printf '\n$ export GDAL_DRIVER_PATH=%s\n' "$GDAL_DRIVER_PATH"

geotiff=build/demo.tif
t2m='REFS:"data/sample.json":/t2m'

show gdalinfo REFS:data/sample.json
show gdalinfo -nomd "$t2m"
# -unscale: the set holds 16-bit integers, which scale and offset turn into kelvins.
show gdal_translate -b 14 -unscale -ot Float32 -co COMPRESS=DEFLATE "$t2m" "$geotiff"
show gdallocationinfo -wgs84 "$geotiff" 12.5 41.9
show gdalinfo -stats "$geotiff"

printf '\nThe temperature of 2024-06-01 at 13:00 in kelvins, band 14 of 24, is now in %s\n' "$PWD/$geotiff"
