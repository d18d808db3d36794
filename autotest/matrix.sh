#!/bin/sh
# Builds what is committed and runs all tests on several Debians, each with its GDAL; needs root, the
# network, and half an hour. A warning is a failure. Data beside the repository go along.
#   matrix.sh [SUITE[=TREE] ...]    bookworm (GDAL 3.6) trixie (3.10) sid (3.13); a TREE that is
#                                   there is used, one that is not is made (build/matrix/SUITE)
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- bookworm trixie sid
command -v debootstrap >/dev/null || apt-get install -qq -y debootstrap >/dev/null

in_tree() {
    DEBIAN_FRONTEND=noninteractive chroot "$tree" "$@"
}

mounted=
mount_once() {
    ! mountpoint -q "$tree/$1" || return 0
    mount --bind "/$1" "$tree/$1"
    mounted="$tree/$1
$mounted"
}

# Who removes a tree with the devices in it removes the devices.
unmount_all() {
    printf '%s' "$mounted" | while IFS= read -r place; do umount "$place"; done
}
trap unmount_all EXIT

# sid's Release file may be older than it says it may be.
make_tree() {
    [ -x "$tree/usr/bin/apt-get" ] || debootstrap --variant=minbase "$suite" "$tree" >/dev/null
    mount_once proc
    mount_once dev
    mount_once dev/pts
    cp /etc/resolv.conf "$tree/etc/"
    echo 'Acquire::Check-Valid-Until "false";' >"$tree/etc/apt/apt.conf.d/refs"
    in_tree apt-get update -qq
    in_tree apt-get install -qq -y --no-install-recommends ca-certificates ccache git >/dev/null 2>&1
}

# In a folder that only root reads, as it may be anywhere.
test_tree() {
    chmod 700 "$tree/root"
    rm -rf "$tree/root/refs"
    git clone -q . "$tree/root/refs"
    [ ! -d ../shared/data ] || [ -e "$tree/root/shared" ] || cp -rL ../shared "$tree/root/shared"
    in_tree sh /root/refs/autotest/run.sh release >"$log" 2>&1 || return 1
    ! grep -q -e 'CMake .*Warning' -e ' warning: ' "$log"
}

mkdir -p build/matrix
status=0
for entry; do
    suite=${entry%%=*}
    tree=$PWD/build/matrix/$suite
    [ "$entry" = "$suite" ] || tree=${entry#*=}
    log=build/matrix/$suite.log
    make_tree
    result=fine
    test_tree || { result="failed, see $log"; status=1; }
    echo "$suite: $(in_tree gdalinfo --version | cut -d, -f1): $(grep -m 1 'tests passed' "$log" ||
        echo 'no tests ran'): $result"
done
exit "$status"
