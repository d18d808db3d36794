#!/bin/sh
# usage: versions.sh [--release] ROOT
# Files that repeat the version of CMakeLists.txt agree with it: CHANGELOG.md has a section for it, and each file of the
# list below has the same number. Between releases the version may be newer than the last section, if [Unreleased] is
# above that; the other files then have the new number or still that of the last release. With --release, and where
# the commit has a tag, only the version itself will do.
set -eu
release=
if [ "$1" = --release ]; then
    release=1
    shift
fi
cd "$1"
version=$(sh packaging/version.sh)
[ -z "$(sh packaging/version.sh --tag)" ] || release=1
last=$(sed -n 's/^## \[\([0-9.]*\)\].*/\1/p' CHANGELOG.md | head -n 1)
wrong=0

# expect FILE FOUND [OTHER]: what is found is the version, or the other one
expect() {
    [ -n "$2" ] || set -- "$1" none
    [ "$2" = "$version" ] || [ "$2" = "${3:-$version}" ] || {
        echo "$1: expected version $version of CMakeLists.txt${3:+ or $3 of the last release}, found $2"
        wrong=1
    }
}

newest=$(printf '%s\n' "$last" "$version" | sort -V | tail -n 1)
also=
if [ -z "$release" ] && [ "$newest" = "$version" ] && grep '^## \[' CHANGELOG.md | head -n 1 | grep -q '^## \[Unreleased\]'; then
    also=$last
fi

case $version in
[0-9]*.[0-9]*.[0-9]*) ;;
*) expect CMakeLists.txt "$version of three numbers" ;;
esac
expect CHANGELOG.md "$last" "$also"
expect debian/changelog "$(sed -n '1s/^refs (\([0-9.]*\)-.*/\1/p' debian/changelog)" "$also"
expect packaging/conda/recipe.yaml "$(sed -n 's/^  version: "\(.*\)"$/\1/p' packaging/conda/recipe.yaml)" "$also"
expect CITATION.cff "$(sed -n 's/^version: //p' CITATION.cff)" "$also"
expect qgis/refs_qgis/metadata.txt "$(sed -n 's/^version=//p' qgis/refs_qgis/metadata.txt)" "$also"
exit $wrong
