#!/bin/sh
# Put NVIDIA Nsight Systems 2023.4.4 (Debian, non-free) into a folder of its own; the system is not touched.
#
# Usage: scripts/get_nsys.sh [PREFIX]        then PREFIX/usr/bin/nsys; PREFIX defaults to .nsys in the checkout
#
# Packages come from the Debian mirror this machine's own apt sources name, signatures checked by apt. About 190 MB
# are fetched and 680 MB kept. 2022.4, in Debian 12 itself, hangs on machines without a GPU: hence the newer one.
set -eu

version=2023.4.4.54~12.4.1-2
prefix=${1:-$(dirname "$0")/../.nsys}

fail() {
    echo "get_nsys: $1; see developer.nvidia.com/nsight-systems for other systems, then set WALLSPLIT_NSYS" >&2
    exit 1
}

answers() {
    timeout 60 "$prefix/usr/bin/nsys" --version 2>/dev/null | grep -q 'version 2023\.4\.4\.'
}

if answers; then
    echo "get_nsys: $prefix/usr/bin/nsys is already there"
    exit 0
fi

command -v apt-get >/dev/null && command -v dpkg >/dev/null && grep -qs '^ID=debian$' /etc/os-release ||
    fail "this is no Debian, and only Debian packages are known here"
[ "$(dpkg --print-architecture)" = amd64 ] || fail "this Debian is no amd64, and its nsys package is"

# The first mirror in the machine's sources, in either of apt's formats, that serves the main Debian archive.
mirror=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
    awk '/^(URIs:|deb )/ { for (i = 2; i <= NF; i++) if ($i ~ /^[a-z+]+:.*\/debian\/?$/) { print $i; exit } }')
[ -n "$mirror" ] || fail "no Debian mirror in /etc/apt/sources.list or /etc/apt/sources.list.d"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$keyring" ] || fail "$keyring is missing (package debian-archive-keyring)"

mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
work=$(mktemp -d "$prefix/.download.XXXXXX") # beside the target: unpacked folders move into place by renaming
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir -p "$work/lists/partial" "$work/debs" "$work/root"

cat >"$work/debian.sources" <<EOF
Types: deb
URIs: $mirror
Suites: bookworm trixie
Components: main non-free
Architectures: amd64
Signed-By: $keyring
EOF

apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$work/debian.sources" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work" -o Dir::Cache::archives="$work/debs" \
        -o Acquire::Languages=none -o APT::Sandbox::User=root "$@"
}

echo "get_nsys: fetching Nsight Systems $version (190 MB) from $mirror"
apt update || fail "apt-get cannot read the package lists of $mirror"
(
    cd "$work/debs"
    # nsys' remote-connection library wants libssh.so.4, which trixie calls libssh-4 only for newer C libraries
    apt download "nsight-systems=$version" "nsight-systems-target=$version" libssh-4/bookworm
) || fail "apt-get cannot download nsight-systems $version from $mirror"

for deb in "$work"/debs/*.deb; do
    dpkg -x "$deb" "$work/root"
done
# The package looks for its importer and its report scripts where Debian's own installation scripts would put links.
ln -sfn ../../nsight-systems/host-linux-x64 "$work/root/usr/lib/x86_64-linux-gnu/nsight-systems/host-linux-x64"
library=$work/root/usr/lib/nsight-systems
cp "$library"/target-linux-x64/python/lib/nsysstats.py "$library"/target-linux-x64/python/lib/gpustats.py \
    "$library/host-linux-x64/python/lib/"

rm -rf "$prefix/usr"
mv "$work/root/usr" "$prefix/usr"
answers || fail "$prefix/usr/bin/nsys was unpacked but does not answer"
echo "get_nsys: $prefix/usr/bin/nsys is ready"
