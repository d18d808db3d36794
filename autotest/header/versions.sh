#!/bin/sh
# usage: versions.sh ROOT
# What has to repeat the version of CMakeLists.txt repeats it: CHANGELOG.md has its section, and each file of
# the list below the same number.
set -eu
cd "$1"
version=$(sh packaging/version.sh)
wrong=0

expect() {
    [ -n "$2" ] && [ "$2" = "$version" ] || {
        echo "$1: expected version $version of CMakeLists.txt, found ${2:-none}"
        wrong=1
    }
}

case $version in
[0-9]*.[0-9]*.[0-9]*) ;;
*) expect CMakeLists.txt "$version of three numbers" ;;
esac
expect CHANGELOG.md "$(sed -n 's/^## \[\([0-9.]*\)\].*/\1/p' CHANGELOG.md | head -n 1)"
expect debian/changelog "$(sed -n '1s/^refs (\([0-9.]*\)-.*/\1/p' debian/changelog)"
expect packaging/conda/recipe.yaml "$(sed -n 's/^  version: "\(.*\)"$/\1/p' packaging/conda/recipe.yaml)"
expect CITATION.cff "$(sed -n 's/^version: //p' CITATION.cff)"
exit $wrong
