#!/bin/sh
# usage: versions_test.sh ROOT
# versions.sh lets the version be newer than the last release only where that cannot be taken for a release.
set -eu
root=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset GIT_DIR GIT_WORK_TREE
checks=0

# tree VERSION CITED FIRST-HEADING...: a tree of a version, with the headings of its changelog
tree() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/packaging/conda" "$work/tree/debian" "$work/tree/qgis/refs_qgis"
    cp "$root/packaging/version.sh" "$work/tree/packaging/"
    echo "project(refs VERSION $1 LANGUAGES C)" >"$work/tree/CMakeLists.txt"
    echo "refs ($2-1) unstable; urgency=medium" >"$work/tree/debian/changelog"
    echo "  version: \"$2\"" >"$work/tree/packaging/conda/recipe.yaml"
    echo "version: $2" >"$work/tree/CITATION.cff"
    echo "version=$2" >"$work/tree/qgis/refs_qgis/metadata.txt"
    shift 2
    printf '## [%s]\n' "$@" >"$work/tree/CHANGELOG.md"
}

# passes|fails [--release]
passes() {
    checks=$((checks + 1))
    sh "$root/autotest/header/versions.sh" "$@" "$work/tree" || { echo "check $checks: expected success"; exit 1; }
}
fails() {
    checks=$((checks + 1))
    ! sh "$root/autotest/header/versions.sh" "$@" "$work/tree" >"$work/found" || { echo "check $checks: expected failure"; exit 1; }
}

tag() {
    git -C "$work/tree" init -q
    git -C "$work/tree" add .
    git -C "$work/tree" -c user.name=test -c user.email=test@example.invalid commit -q -m test
    git -C "$work/tree" tag "$1"
}

tree 0.1.0 0.1.0 Unreleased 0.1.0
passes
passes --release
tag v0.1.0
passes
tree 0.2.0 0.1.0 Unreleased 0.1.0
passes
fails --release
[ "$(wc -l <"$work/found")" -eq 5 ] || { cat "$work/found"; exit 1; }
tag v0.2.0
fails
tree 0.2.0 0.2.0 Unreleased 0.1.0
passes
fails --release
tree 0.10.0 0.9.0 Unreleased 0.9.0
passes
tree 0.2.0 0.2.0 0.1.0
fails
tree 0.2.0 0.1.0 0.1.0 Unreleased
fails
tree 0.2.0 0.0.9 Unreleased 0.1.0
fails
tree 0.1.0 0.1.0 Unreleased 0.2.0
fails
tree 0.1.0 0.0.9 Unreleased 0.1.0
fails
[ "$checks" -eq 14 ]
