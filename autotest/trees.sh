# trees.sh -- Debians in folders of their own, for scripts that source this. Needs root and the network.
#
#   tree=FOLDER
#   make_tree bookworm [i386]       makes it where it is not there, and mounts what programs need
#   in_tree apt-get install …       runs a program there
#   install_in_tree PACKAGE …
# What was mounted is unmounted when the script ends.

# What the caller's shell sets for GDAL, PROJ and REFS does not hold in the tree.
for name in $(env | sed -n 's/^\(\(CPL\|GDAL\|OGR\|PROJ\|REFS\|VSI\)_[A-Z0-9_]*\)=.*/\1/p'); do
    unset "$name"
done

command -v debootstrap >/dev/null || apt-get install -qq -y debootstrap >/dev/null

in_tree() {
    DEBIAN_FRONTEND=noninteractive chroot "$tree" "$@"
}

install_in_tree() {
    in_tree apt-get install -qq -y --no-install-recommends "$@" >/dev/null 2>&1
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
    [ -x "$tree/usr/bin/apt-get" ] ||
        debootstrap --variant=minbase ${2:+--arch="$2"} "$1" "$tree" >/dev/null
    mount_once proc
    mount_once dev
    mount_once dev/pts
    cp /etc/resolv.conf "$tree/etc/"
    echo 'Acquire::Check-Valid-Until "false";' >"$tree/etc/apt/apt.conf.d/refs"
    in_tree apt-get update -qq
    install_in_tree ca-certificates ccache git
}

# What is committed, as /root/refs, and data beside the repository; in a folder that only root reads,
# as it may be anywhere.
clone_into_tree() {
    chmod 700 "$tree/root"
    rm -rf "$tree/root/refs"
    git clone -q . "$tree/root/refs"
    [ ! -d ../shared/data ] || [ -e "$tree/root/shared" ] || cp -rL ../shared "$tree/root/shared"
}
