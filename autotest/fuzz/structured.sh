#!/bin/sh
# usage: structured.sh PROGRAM FIRST COUNT [OUT]
#
# Runs seeds of structured_verbs or structured_multidim (in a build with sanitizers) and goes on behind
# each finding. Findings are lines "seed N: …" with what was found before them, in OUT (found.txt).
# Two at once, on two cores:
#
#     cmake --preset asan && cmake --build --preset asan --target structured_verbs
#     sh autotest/fuzz/structured.sh build/asan/autotest/fuzz/structured_verbs 1 500000 one.txt &
#     sh autotest/fuzz/structured.sh build/asan/autotest/fuzz/structured_verbs 500001 500000 other.txt
set -eu
program=$1
next=$2
end=$(($2 + $3))
out=${4:-found.txt}
: "${ASAN_OPTIONS:=abort_on_error=1:detect_leaks=0:allocator_may_return_null=1:malloc_context_size=8:handle_abort=0:handle_segv=1:max_allocation_size_mb=2048}"
: "${UBSAN_OPTIONS:=halt_on_error=1:abort_on_error=1:print_stacktrace=1}"
export ASAN_OPTIONS UBSAN_OPTIONS

last=$(mktemp)
folder=$(mktemp -d -p "$(if [ -d /dev/shm ]; then echo /dev/shm; else echo /tmp; fi)")
trap 'rm -rf "$last" "$folder"' EXIT
findings=0
executions=0
while [ "$next" -lt "$end" ]; do
    count=$((end - next))
    if [ "$count" -gt 500 ]; then count=500; fi
    rm -rf "${folder:?}"/*
    echo "seed $next: $executions executions, $findings findings so far"
    status=0
    "$program" "$next" "$count" "$folder" >"$last" 2>&1 || status=$?
    n=$(sed -n 's/^\([0-9]*\) executions$/\1/p' "$last" | tail -n 1)
    executions=$((executions + ${n:-0}))
    if [ "$status" = 0 ]; then
        next=$((next + count))
        continue
    fi
    seed=$(sed -n 's/^seed \([0-9]*\):.*/\1/p' "$last" | tail -n 1)
    findings=$((findings + 1))
    {
        echo "== finding $findings"
        grep -aE '^FINDING|^seed |ERROR: |runtime error|SUMMARY|^ *#[0-9] ' "$last" | head -n 30
    } >>"$out"
    if [ -z "$seed" ]; then
        cat "$last"
        exit 1
    fi
    next=$((seed + 1))
done
echo "$3 seeds, $executions executions (an execution is one run of one verb, or one checked call), $findings findings, in $out"
