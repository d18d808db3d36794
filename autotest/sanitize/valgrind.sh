#!/bin/sh
# usage: valgrind.sh [FILTER]
#
# Runs the driver tests of the release build, those that match FILTER or all, under valgrind's memcheck:
# nothing may be read that was not written, beyond its end or after it was freed, and nothing be lost.
# Prints valgrind's summaries; fails where it found anything. Takes some twenty minutes.
#
# Children of fork(2) never free what threads of their parent had in hand: there leaks are not looked
# for.
set -eu
cd "$(dirname "$0")/../.."
filter=${1:-*}
cmake --build --preset release --target driver_test gdal_REFS >&2

# --fair-sched: threads that spin until another one moves shall not keep it from doing so.
check() {
    valgrind --quiet --error-exitcode=9 --fair-sched=yes --num-callers=30 \
        --suppressions=autotest/sanitize/valgrind.supp "$@"
}
tests=build/release/autotest/gdal/driver_test
status=0
check --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite \
    "$tests" --gtest_brief=1 --gtest_filter="$filter:-Fork.*" || status=$?
check "$tests" --gtest_brief=1 --gtest_filter='Fork.*' || status=$?
exit "$status"
