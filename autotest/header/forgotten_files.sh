#!/bin/sh
# usage: forgotten_files.sh ROOT
# Every source and test is named in the CMakeLists.txt of its folder or module, every public header in that of
# a module and in CHANGELOG.md, and every private header is included somewhere.
set -eu
cd "$1"
forgotten=0

forget() {
    echo "$1 is $2"
    forgotten=1
}

for file in $(find frmts autotest -name '*.c' -o -name '*.cc' -o -name '*.cpp'); do
    name=${file##*/}
    folder=${file%/*}
    case $folder in
    frmts/refs/*/* | autotest/unit/*/*)
        module=${folder#*/*/}
        folder=${folder%"$module"}${module%%/*}
        name=${file#"$folder"/}
        ;;
    esac
    grep -qsE "(^|[ (])$name\b|refs_add_codec\(([a-z0-9]+/)?${name%.c}\b" "$folder/CMakeLists.txt" ||
        forget "$file" "in no CMakeLists.txt"
done
for file in include/refs/*.h; do
    grep -qw -- "${file##*/}" frmts/refs/*/CMakeLists.txt || forget "$file" "in no room"
    grep -qF -- "\`${file##*/}\`" CHANGELOG.md || forget "$file" "not in CHANGELOG.md"
done
for file in $(find frmts autotest -name '*.h'); do
    grep -rq --include='*.c*' --include='*.h' "[\"/]${file##*/}\"" "${file%%/*}" ||
        forget "$file" "not included"
done
exit $forgotten
