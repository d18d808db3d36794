#!/bin/sh
# usage: check.sh
#
# Renders recipe.yaml (py-rattler-build of PyPI, in an environment of its own), and runs build.sh for each output
# in a folder laid out as conda lays out an environment: links to this machine's libraries in lib, headers in include,
# gdal-config in bin. conda's own libraries cannot be had here: this shows where things go, not that they fit.
set -eu
cd "$(dirname "$0")/../.."
version=$(sh packaging/version.sh)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/python"
"$work/python/bin/pip" install -q py-rattler-build==0.73.0
sh packaging/dist.sh >/dev/null
"$work/python/bin/python" packaging/conda/render.py

PREFIX=$work/prefix
export PREFIX
mkdir -p "$PREFIX/bin" "$PREFIX/lib"
ln -s /usr/include "$PREFIX/include"
for file in /usr/lib/"$(gcc -print-multiarch)"/*.so* /usr/lib/"$(gcc -print-multiarch)"/cmake; do
    ln -s "$file" "$PREFIX/lib/"
done
cat >"$PREFIX/bin/gdal-config" <<'END'
#!/bin/sh
prefix=$(cd "$(dirname "$0")/.." && pwd)
case $1 in
--prefix) echo "$prefix" ;;
--plugindir) echo "$prefix/lib/gdalplugins" ;;
*) exit 1 ;;
esac
END
chmod +x "$PREFIX/bin/gdal-config"
PATH=$PREFIX/bin:$PATH
export PATH

tar -xzf "build/dist/refs-$version.tar.gz" -C "$work"
cp packaging/conda/build.sh "$work/refs-$version/"
cd "$work/refs-$version"
for component in plugin tool netcdf; do
    REFS_COMPONENT=$component sh build.sh >"$work/log" 2>&1 || { tail -30 "$work/log"; exit 1; }
done
cd "$PREFIX"
wc -c lib/gdalplugins/gdal_REFS.so bin/refs lib/ncrefs/libncrefs.so
export GDAL_DRIVER_PATH="$PREFIX/lib/gdalplugins"
test "$(gdallocationinfo -valonly -b 14 "REFS:\"$work/refs-$version/data/sample.json\":/t2m" 60 40)" = 256
refs ls "$work/refs-$version/data/sample.json" | grep '^/t2m '
ncrefs ncdump -h "$work/refs-$version/data/sample.json" | grep 'short t2m'
