#!/bin/sh
# usage: run.sh [--open-files N] [PRESET …]
#
# Installs what is missing, builds, and runs all tests: of the preset `release`, about 15 minutes of
# tests on two cores, after the build. With the preset `asan` those of compiled code run
# under AddressSanitizer and UndefinedBehaviorSanitizer (Python and the tools of GDAL cannot load
# what is built so, and the other tests run no code of the project).
# With --open-files the tests run under a limit of N file descriptors (ulimit -n), such as 256.
# The last line counts all tests, as ctest does; build/PRESET/ctest.log has what each of them said.
set -eu
cd "$(dirname "$0")/.."
exec </dev/null

open_files=$(ulimit -n)
if [ "${1:-}" = --open-files ]; then
    open_files=$2
    shift 2
fi
if [ $# -eq 0 ]; then set -- release; fi
sh autotest/setup.sh "$@"

# Tests write thousands of small files, each of them through to the disk: where memory can hold them
# (4 GiB are more than they take at once), nobody waits for it.
memory=/dev/shm
if [ -z "${TMPDIR:-}" ] && [ -w $memory ] &&
    [ "$(df -Pk $memory | awk 'NR == 2 { print $4 }')" -gt $((4 * 1024 * 1024)) ]; then
    TMPDIR=$(mktemp -d -p $memory)
    chmod 1777 "$TMPDIR" # some tests are other users, too
    export TMPDIR
    trap 'rm -rf "$TMPDIR"' EXIT
fi

status=0
logs=
# More tests at once than processors: many wait for servers that are slow on purpose.
for preset in "$@"; do
    labels=
    if [ "$preset" = asan ]; then labels='unit|conform|driver|fuzz'; fi
    log=build/$preset/ctest.log
    logs="$logs $log"
    echo "Building build/$preset"
    python3 autotest/progress.py cmake --build --preset "$preset"
    echo "Testing build/$preset (about 15 minutes on two cores)"
    (
        ulimit -n "$open_files"
        exec python3 autotest/progress.py ctest --preset "$preset" ${labels:+--label-regex "$labels"} \
            --parallel "$(($(nproc) + 2))" --no-tests=error --no-label-summary --output-log "$log"
    ) || status=$?
done

# Unquoted: a list of words.
grep -h 'tests passed' $logs |
    awk '{ failed += $4; all += $NF }
         END { printf "%d%% tests passed, %d tests failed out of %d\n",
                      int(100 * (all - failed) / all), failed, all }'
exit "$status"
