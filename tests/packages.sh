#!/bin/sh
# Checks for the programs that tests start beside readlab, and prints in one line what is missing.
#
# As root on Debian and similar systems, missing packages are installed; elsewhere nothing is changed. Always ends with
# 0: a test whose program is missing is skipped with a message.
set -eu

missing=
want() {
    command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}

want chromium chromium
want fio fio
want mkfs.btrfs btrfs-progs
want mkfs.xfs xfsprogs
want unzip unzip
want gzip gzip
want curl curl
want jq jq
want setpriv util-linux
want javac default-jdk-headless
want go golang-go
want python3 python3
want node nodejs

[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "tests that need these packages will be skipped, for only root on Debian can install them:$missing" >&2
    exit 0
fi
echo "installing for the tests:$missing" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # one word a package
if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1
then
    echo "tests that need these packages will be skipped:$missing: $(tail -n 1 "$log")" >&2
fi
