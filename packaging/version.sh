#!/bin/sh
# Prints the version of REFS, which stands in CMakeLists.txt and nowhere else: what has to repeat it is compared
# by autotest/header/versions.sh.
set -eu
sed -n 's/^project(refs VERSION \([0-9.]*\) .*/\1/p' "$(dirname "$0")/../CMakeLists.txt"
