#!/bin/sh
# usage: run.sh SECONDS [HARNESS ...]
#
# Builds the libFuzzer programs with clang, which is installed where it is missing (Debian), and runs each of them, or
# those that are named (json zarr), for so many seconds from its corpus. What crashes is kept in build/fuzz/crashes.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:?usage: run.sh SECONDS [HARNESS ...]}
shift
command -v clang >/dev/null || apt-get install -qq -y --no-install-recommends clang libclang-rt-dev >/dev/null ||
    apt-get install -qq -y --no-install-recommends clang libclang-rt-14-dev >/dev/null
sh autotest/setup.sh fuzz
[ $# -gt 0 ] || set -- $(cd autotest/fuzz/corpus && ls)
for harness; do
    # Unquoted above: names of folders without blanks.
    cmake --build --preset fuzz --target "fuzz_$harness" >/dev/null
done
mkdir -p build/fuzz/crashes build/fuzz/found
status=0
for harness; do
    mkdir -p "build/fuzz/found/$harness"
    log=build/fuzz/$harness.log
    program=$(find build/fuzz -type f -name "fuzz_$harness" -perm -u+x)
    result=fine
    "$program" -max_total_time="$seconds" -rss_limit_mb=4096 -artifact_prefix="build/fuzz/crashes/$harness-" \
        "build/fuzz/found/$harness" "autotest/fuzz/corpus/$harness" >"$log" 2>&1 || { result="failed, see $log"; status=1; }
    echo "$harness: $(grep -c . "$log") lines, $(sed -n 's/^Done \([0-9]* runs\).*/\1/p' "$log"): $result"
done
exit "$status"
