#!/bin/sh
# Installs what is missing, builds the release preset and runs all tests.
# The last line is ctest's count.
set -eu
cd "$(dirname "$0")/.."
exec </dev/null

sh autotest/setup.sh
cmake --build --preset release

log=build/release/ctest.log
status=0
ctest --preset release --parallel "$(nproc)" --no-tests=error --no-label-summary \
    --output-log "$log" || status=$?
grep 'tests passed' "$log"
exit "$status"
