#!/bin/sh
# usage: draw_tmmx.sh SET
#
# Draws tmmx.png of the README: SET is a reference set of gridMET's tmmx_20190121.nc, which is in the
# public domain, and borders are Natural Earth's, as QGIS has them. GDAL_DRIVER_PATH says where the
# plugin is.
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
borders=/usr/share/qgis/resources/data/world_map.gpkg

cat >"$folder/colours.txt" <<'END'
nv 236 240 243
244 49 54 149
252 69 117 180
260 116 173 209
268 171 217 233
273 224 243 248
278 254 224 144
284 253 174 97
290 244 109 67
298 215 48 39
304 165 0 38
END

gdalwarp -q -t_srs EPSG:5070 -tr 5500 5500 -r bilinear "REFS:$1" "$folder/packed.tif"
gdal_translate -q -b 1 -unscale -ot Float32 -a_nodata 220 "$folder/packed.tif" "$folder/kelvin.tif"
gdaldem color-relief -q "$folder/kelvin.tif" "$folder/colours.txt" "$folder/map.tif"
ogr2ogr -t_srs EPSG:5070 -clipsrc -130 20 -60 53 -nlt MULTILINESTRING -dialect sqlite \
    -sql 'SELECT st_boundary(geom) FROM states_provinces' "$folder/lines.gpkg" "$borders"
gdal_rasterize -q -b 1 -b 2 -b 3 -burn 90 -burn 90 -burn 90 "$folder/lines.gpkg" "$folder/map.tif"
gdal_translate -q -of PNG -outsize 800 0 -r average -co ZLEVEL=9 "$folder/map.tif" \
    "$(dirname "$0")/tmmx.png"
rm -f "$(dirname "$0")/tmmx.png.aux.xml"
