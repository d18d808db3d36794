#!/bin/sh
# The plugin runs on the libcurl that libgdal runs on: GDAL sets options on the plugin's handles, and
# Debian has flavours of libcurl side by side whose handles must never meet.
#     same_curl.sh PLUGIN LIBGDAL
set -eu
curl_of() {
    ldd "$1" | awk '/libcurl/ {print $3}' | sort -u
}
plugin=$(curl_of "$1")
gdal=$(curl_of "$2")
echo "plugin: $plugin"
echo "libgdal: $gdal"
[ -n "$plugin" ] && [ "$plugin" = "$gdal" ]
