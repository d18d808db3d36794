#!/bin/sh
# usage: run.sh [PRESET …]
#
# Installs what is missing, builds, and runs all tests; then those of compiled code again under
# AddressSanitizer and UndefinedBehaviorSanitizer (Python and the tools of GDAL cannot load what is
# built so, and the other tests run no code of the project).
# Presets choose one of the two, `release` or `asan`. The last line counts all tests, as ctest does.
set -eu
cd "$(dirname "$0")/.."
exec </dev/null

if [ $# -eq 0 ]; then set -- release asan; fi
sh autotest/setup.sh "$@"

status=0
logs=
for preset in "$@"; do
    labels=
    if [ "$preset" = asan ]; then labels='unit|conform|driver|fuzz'; fi
    log=build/$preset/ctest.log
    logs="$logs $log"
    cmake --build --preset "$preset"
    ctest --preset "$preset" ${labels:+--label-regex "$labels"} --parallel "$(nproc)" \
        --no-tests=error --no-label-summary --output-log "$log" || status=$?
done

# Unquoted: a list of words.
grep -h 'tests passed' $logs |
    awk '{ failed += $4; all += $NF }
         END { printf "%d%% tests passed, %d tests failed out of %d\n",
                      int(100 * (all - failed) / all), failed, all }'
exit "$status"
