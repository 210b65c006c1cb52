#!/bin/sh
# Checks for the programs that tests start beside readlab, and prints in one line what is missing: `packages.sh ring1`
# for those of `make test`, `packages.sh` for those of all tests.
#
# As root on Debian and similar systems, missing packages are installed, after a line that says which and how large they
# are; elsewhere, and with INSTALL=no in the environment, nothing is changed. Ends with 0 in all cases: a test whose
# program is missing is skipped with a message.
set -eu

case $#,${1-} in
0, | 1,ring1) ring=${1-all} ;;
*) echo "usage: $0 [ring1]" >&2; exit 2 ;;
esac
missing= optional=
want() {
    command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}

want unzip unzip
want gzip gzip
want zstd zstd
want lz4 lz4
want xz xz-utils
want bzip2 bzip2
want brotli brotli
want curl curl
want openssl openssl
want setpriv util-linux
# Beside Rust and C, the first ring tests contenders of an interpreter and of a runtime that compiles while it runs.
want python3 python3
want node nodejs
if [ "$ring" = all ]; then
    want chromium chromium
    want fio fio
    want mkfs.btrfs btrfs-progs
    want mkfs.xfs xfsprogs
    want mkfs.erofs erofs-utils
    want pigz pigz
    [ -x /usr/sbin/nginx ] || want nginx nginx-light
    want jq jq
    # Debian calls it fdfind.
    command -v fd >/dev/null 2>&1 || command -v fdfind >/dev/null 2>&1 || optional=fd-find
    want c++ g++
    want javac default-jdk-headless
    want mvn maven
    want go golang-go
    want mpirun.openmpi openmpi-bin
    want mpicc.openmpi libopenmpi-dev
    want sshfs sshfs
    [ -e /usr/lib/openssh/sftp-server ] || missing="$missing openssh-sftp-server"
    want ip iproute2
    want mpirun.mpich mpich
    want mpicc.mpich libmpich-dev
    # For Linux on arm64: a compiler, its C library, and an emulator.
    want aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
    [ -e /usr/aarch64-linux-gnu/include/stdio.h ] || missing="$missing libc6-dev-arm64-cross"
    want qemu-aarch64 qemu-user
fi

[ -n "$missing$optional" ] || exit 0
skipped() {
    echo "tests that need these packages will be skipped:$missing${optional:+ $optional}: $1" >&2
    exit 0
}
[ "${INSTALL:-yes}" != no ] || skipped "INSTALL=no"
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || skipped "only root on Debian can install them"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
    # shellcheck disable=SC2086 # one word a package
    DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get install --yes --no-install-recommends $missing "$@"
}
apt-get update >"$log" 2>&1 || skipped "$(tail -n 1 "$log")"
# A package that a release lacks would keep all others from being installed.
[ -z "$optional" ] || ! apt-cache show "$optional" >/dev/null 2>&1 || missing="$missing $optional"
[ -n "$missing" ] || skipped "apt has none of them"
# Prints the sizes and where the packages are, and installs nothing.
install --print-uris >"$log" 2>&1 || true
size=$(sed -n 's/.*Need to get \([^ ]* [kMG]\{0,1\}B\).*/\1 to download/p;
    s/^After this operation, \([^ ]* [kMG]\{0,1\}B\) of .*/, \1 on disk/p' "$log" | tr -d '\n')
echo "installing for the tests:$missing (${size:-of unknown size}); INSTALL=no leaves them out" >&2
# Tests start nginx themselves, on ports of their own: the package may not start it now or with the machine.
case " $missing " in
*" nginx-light "*)
    policy=/usr/sbin/policy-rc.d
    if [ ! -e $policy ]; then
        trap 'rm -f "$log" $policy' EXIT
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod +x $policy
    fi
    ;;
esac
install >"$log" 2>&1 || skipped "$(tail -n 1 "$log")"
case " $missing " in
*" nginx-light "*) ! command -v systemctl >/dev/null 2>&1 || systemctl --quiet disable nginx 2>/dev/null || : ;;
esac
