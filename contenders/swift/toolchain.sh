#!/bin/sh
# Makes sure that there is a Swift compiler, and prints in one line which.
#
# A `swiftc` on the PATH is used as it is. Else, on Debian, the folder toolchains/swift at the root of the project is
# filled by debootstrap with the `swiftlang` of Debian 13, from the mirror that the system's own apt uses. Everything
# is mounted in a separate mount namespace, which ends with the script in every case, so no mount remains. swiftc.sh
# does the compiling.
#
# Exit: 0 there is a compiler; 3 there can be none on this machine; 1 installing it failed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
toolchains=${READLAB_TOOLCHAINS:-$root/toolchains}
folder=$toolchains/swift
partial=$folder.partial
suite=trixie
packages=swiftlang,libc6-dev,libstdc++-14-dev,libcurl4t64,libxml2
needed_kib=5000000

cannot() {
    echo "swift: no toolchain: $1; install Swift 6 from https://www.swift.org/install and put swiftc on the PATH"
    exit 3
}

failed() {
    echo "swift: the toolchain could not be made: $1" >&2
    exit 1
}

# The first mirror of Debian's main archive that apt is set to use, from one-line sources or from stanzas.
mirror() {
    codename=$1
    set -- /etc/apt/sources.list /etc/apt/sources.list.d/*.list
    for file; do
        [ -r "$file" ] && sed -n 's/#.*//; s/^ *deb  *\(\[[^]]*\] *\)\{0,1\}//p' "$file"
    done | awk -v suite="$codename" '
        $1 ~ /^https?:/ && $2 == suite { for (i = 3; i <= NF; i++) if ($i == "main") { print $1; exit } }'
    set -- /etc/apt/sources.list.d/*.sources
    for file; do
        [ -r "$file" ] && { grep -v '^#' "$file"; echo; }
    done | awk -v suite="$codename" -v RS= '
        function has(name, word,    n, i, words, line) {
            if (!match("\n" $0, "\n" name ":[^\n]*")) return ""
            line = substr("\n" $0, RSTART + length(name) + 2, RLENGTH - length(name) - 2)
            n = split(line, words, /[ \t]+/)
            for (i = 1; i <= n; i++) if (words[i] ~ word) return words[i]
            return ""
        }
        has("Types", "^deb$") && has("Suites", "^" suite "$") && has("Components", "^main$") && !/\nEnabled: *no/ {
            print has("URIs", "^https?:"); exit
        }'
}

# Runs in a separate mount namespace; see the last lines. debootstrap is the leader of a separate session, so that a
# signal ends all that it has started.
make_folder() {
    trap 'rm -rf --one-file-system "$partial"' EXIT
    trap 'kill -KILL "-$child" 2>/dev/null; wait "$child" 2>/dev/null || true; umount_all; exit 1' HUP INT TERM
    rm -rf --one-file-system "$partial"
    mkdir -p "$partial"
    setsid debootstrap --variant=minbase --include="$packages" "$suite" "$partial" "$1" >"$folder.log" 2>&1 &
    child=$!
    wait "$child" || { umount_all && failed "debootstrap: $(tail -n 1 "$folder.log"); all of it is in $folder.log"; }
    umount_all
    prune
    mv "$partial" "$folder"
    rm -f "$folder.log"
    echo "swift: $folder is there"
}

umount_all() {
    umount -l "$partial/proc" "$partial/sys" 2>/dev/null || true
}

# The archives, and files that only people or a debugger need.
prune() {
    rm -rf "$partial"/var/cache/apt/* "$partial"/var/lib/apt/lists/* "$partial"/usr/share/doc \
        "$partial"/usr/share/man "$partial"/usr/share/locale "$partial"/usr/share/info
    find "$partial/usr/libexec/swift" \( -name '*lldb*' -o -name 'sourcekit-lsp*' -o -name '*.docc' -o -name 'docc*' \) \
        -prune -exec rm -rf {} +
}

if [ "${1-}" = --in-namespace ]; then
    make_folder "$2"
    exit 0
fi
if command -v swiftc >/dev/null 2>&1; then
    echo "swift: $(command -v swiftc) is on the PATH"
    exit 0
fi
if [ -d "$folder" ]; then
    echo "swift: $folder is there"
    exit 0
fi
[ -r /etc/os-release ] || cannot "this system is not Debian"
. /etc/os-release
[ "$ID" = debian ] || cannot "this system is $ID, and only Debian's archive has a package to make one from"
[ "$(id -u)" = 0 ] || cannot "making one from Debian's archive needs root"
unshare --mount true 2>/dev/null || cannot "this system lets nobody make a mount namespace"
archive=$(mirror "${VERSION_CODENAME:-$suite}" | head -n 1)
[ -n "$archive" ] || cannot "apt names no mirror of Debian's main archive"
mkdir -p "$toolchains"
free_kib=$(df -Pk "$toolchains" | awk 'NR == 2 { print $4 }')
[ "$free_kib" -ge "$needed_kib" ] || cannot "$toolchains has $free_kib KiB free and $needed_kib are needed"
echo "swift: making $folder: 580 MB to download, up to 2.7 GB on disk" >&2
if ! command -v debootstrap >/dev/null 2>&1; then
    { apt-get update && apt-get install -y --no-install-recommends debootstrap; } >"$folder.log" 2>&1 ||
        cannot "debootstrap is not there and cannot be installed: $(tail -n 1 "$folder.log")"
fi
exec unshare --mount --propagation private "$0" --in-namespace "$archive"
