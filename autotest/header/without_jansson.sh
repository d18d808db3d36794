#!/bin/sh
# usage: without_jansson.sh FOLDER
#
# Fails if without.c, which builds without jansson have instead of the parsers, lacks a function of scan.h: such a build,
# as data/demo.sh makes it on a machine without jansson, does not link then.
set -eu
cd "$1"

functions() {
    grep -o 'refs_scan_[a-z_]*(' "$1" | sort -u
}

missing=$(functions scan.h | while read -r name; do grep -q "^[a-z].*$name" without.c || echo "$name)"; done)
if [ -n "$missing" ]; then
    echo "without.c: expected all functions of scan.h, found none called $missing" >&2
    exit 1
fi
