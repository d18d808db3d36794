#!/bin/sh
# usage: version.sh [--tag]
#
# Prints the version of REFS, which stands in CMakeLists.txt and nowhere else: what has to repeat it is compared
# by autotest/header/versions.sh. With --tag it prints the tag v… of the commit that is checked out, or nothing: what
# is built of a tag is a release.
set -eu
root=$(dirname "$0")/..
if [ "${1:-}" = --tag ]; then
    git -C "$root" tag --points-at HEAD --list 'v[0-9]*' 2>/dev/null || true
    exit 0
fi
sed -n 's/^project(refs VERSION \([0-9.]*\) .*/\1/p' "$root/CMakeLists.txt"
