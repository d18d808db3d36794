#!/bin/sh
# usage: run_commands.sh PAGE.md
# Runs the fenced sh blocks of a page in one shell, in the current folder; the first command that
# fails ends it. Left out is the command that runs this test.
set -eu
commands=$(awk '/^```sh$/ {inside = 1; next} /^```/ {inside = 0} inside' "$1" |
    grep -vx 'sh autotest/run.sh.*' || true)
if [ -n "$commands" ]; then
    printf '%s\n' "$commands" | sh -eux
fi
