#!/bin/sh
# usage: dist.sh [--check] [--release] [FOLDER]
#
# Makes the source release refs-VERSION.tar.gz of the commit that is checked out, in FOLDER (build/dist), and
# prints its size and SHA-256. The same commit gives the same bytes: names are sorted, owners are root, and all
# dates are that of the commit.
# With --check it also builds the plugin and the program from the archive alone, in a temporary folder, without
# git and, for root, without network, and reads the sample with both.
# With --release, and where the commit has a tag, CHANGELOG.md must have a section for the version; else [Unreleased]
# will do.
set -eu
cd "$(dirname "$0")/.."

check=
release=$(sh packaging/version.sh --tag)
while :; do
    case ${1:-} in
    --check) check=1 ;;
    --release) release=1 ;;
    -*) echo "usage: dist.sh [--check] [--release] [FOLDER]" >&2 && exit 2 ;;
    *) break ;;
    esac
    shift
done
version=$(sh packaging/version.sh)
name=refs-$version
folder=${1:-build/dist}

fail() {
    echo "dist.sh: $1" >&2
    exit 1
}

git rev-parse -q --verify HEAD >/dev/null || fail "not a git repository: run it in a clone"
git diff --quiet HEAD -- || echo "dist.sh: warning: uncommitted changes are not in the archive" >&2
sections=$(git show HEAD:CHANGELOG.md | grep '^## \[')
case $sections in
*"## [$version]"*) ;;
*"## [Unreleased]"*) [ -z "$release" ] || fail "CHANGELOG.md has no section $version: write it below [Unreleased] first (RELEASE.md)" ;;
*) fail "CHANGELOG.md has neither a section $version nor [Unreleased]" ;;
esac

mkdir -p "$folder"
archive=$(cd "$folder" && pwd)/$name.tar.gz
git -c tar.umask=0022 archive --format=tar --prefix="$name/" HEAD | gzip -n -9 >"$archive"
echo "$archive: $(wc -c <"$archive") bytes, SHA-256 $(sha256sum <"$archive" | cut -d' ' -f1)"
[ -n "$check" ] || exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xzf "$archive" -C "$work"
# A git that fails stands for none.
mkdir "$work/bin"
printf '#!/bin/sh\necho "git was called: $*" >&2\nexit 1\n' >"$work/bin/git"
chmod +x "$work/bin/git"
PATH=$work/bin:$PATH
export PATH
without_network=
if [ "$(id -u)" -eq 0 ] && unshare -n true 2>/dev/null; then without_network="unshare -n"; fi

# Unquoted: a list of words.
$without_network cmake -S "$work/$name" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DREFS_TESTS=OFF \
    -DREFS_WERROR=ON >"$work/log" 2>&1 || { cat "$work/log"; fail "cannot configure the archive"; }
$without_network cmake --build "$work/build" --parallel "$(nproc)" >"$work/log" 2>&1 ||
    { tail -30 "$work/log"; fail "cannot build the archive"; }
"$work/build/refs" --version
"$work/build/refs" ls "$work/$name/data/sample.json" | grep '^/t2m '
GDAL_DRIVER_PATH=$work/build/gdalplugins gdalinfo "REFS:\"$work/$name/data/sample.json\":/t2m" | grep '^Size is'
echo "$name.tar.gz builds${without_network:+ without network} and without git"
