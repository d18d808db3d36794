#!/bin/sh
# usage: long_functions.sh ROOT
# At most 7 % of the functions are longer than 60 lines; prints those that are. Skips (77) where
# there is no universal-ctags.
set -eu
cd "$1"
ctags --version 2>/dev/null | grep -q 'Universal Ctags' || exit 77

find frmts include -name '*.c' -o -name '*.cpp' -o -name '*.h' |
    ctags -L - -f - --fields=+ne --kinds-C=f --kinds-C++=f |
    awk -F '\t' '
        {
            begin = end = 0
            for (i = 4; i <= NF; i++) {
                if ($i ~ /^line:/) begin = substr($i, 6)
                if ($i ~ /^end:/) end = substr($i, 5)
            }
            if (!end) next
            functions++
            if (end - begin >= 60) {
                long++
                print end - begin + 1, $1, $2
            }
        }
        END {
            printf "%d of %d functions have more than 60 lines\n", long, functions
            exit functions == 0 || long > 0.07 * functions
        }'
