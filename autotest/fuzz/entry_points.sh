#!/bin/sh
# usage: entry_points.sh ROOT
# Whatever takes in what somebody else wrote has a harness that calls it: each function of a public
# header with such a name is in entry_points.txt, with a harness or a reason why there is none, and
# each codec has a chunk that is replayed. Each harness has a corpus and a row in README.md.
set -eu
cd "$1"
fuzz=autotest/fuzz
table=$fuzz/entry_points.txt
verbs='open|parse|read|decode|sniff|next|map|describe|each|find'
missing=0

miss() {
    echo "$1"
    missing=1
}

# The code without its comments, of which some name functions.
declared=$(cat include/refs/*.h | sed 's:/\*.*\*/::; /^ *\/\*/,/\*\//d' |
    grep -oE '\brefs_[a-z0-9_]+\(' | tr -d '(' | grep -E "_($verbs)(_|$)" | sort -u)
for name in $declared; do
    grep -qE "^$name " $table || miss "$name is not in $table"
done

while read -r name harness why; do
    case $name in '' | '#'*) continue ;; esac
    grep -rqE "\b$name\(" include/refs frmts/refs --include='*.h' || miss "there is no $name"
    if [ "$harness" = - ]; then
        [ -n "$why" ] || miss "$name has neither harness nor reason"
    else
        [ -z "$why" ] || miss "$name: $why?"
        cat "$fuzz/fuzz_$harness".c* $fuzz/support.c | grep -qE "\b$name\(" ||
            miss "fuzz_$harness.c does not call $name"
    fi
done <$table

for file in $fuzz/fuzz_*.c*; do
    name=${file##*/}
    harness=${name#fuzz_}
    harness=${harness%.c*}
    [ -n "$(ls "$fuzz/corpus/$harness" 2>/dev/null)" ] || miss "$name has no corpus"
    grep -qF "\`$name\`" $fuzz/README.md || miss "$name is not in README.md"
    grep -qE "^[A-Za-z0-9_]+ $harness\$" $table || miss "$name is of no entry point"
done

for codec in $(sed -nE 's/^refs_add_codec\(([a-z0-9_/]+)( ID ([A-Za-z0-9_.]+))?.*/\1:\3/p' \
    frmts/refs/codec/CMakeLists.txt); do
    [ -f "frmts/refs/codec/${codec%:*}.c" ] || continue # nobody wrote it yet
    id=${codec#*:}
    [ -n "$id" ] || id=$(basename "${codec%:*}" | tr _ '?')
    grep -lqsaiE "\"id\": ?\"$(echo "$id" | tr '?' '.')\"" $fuzz/corpus/codec/* ||
        miss "no chunk of ${codec%:*} in $fuzz/corpus/codec"
done
exit $missing
