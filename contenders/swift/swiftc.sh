#!/bin/sh
# Compiles Swift sources of this project into one program: swiftc.sh OUTPUT SOURCE...; both are within the project.
# Without arguments it prints the compiler that it would use, in one line. READLAB_TOOLCHAINS names another folder of
# toolchains.
#
# A `swiftc` on the PATH is used as it is. Else the one in toolchains/swift is run inside that folder, in a mount
# namespace of its own. Its programs name the folder's dynamic loader and libraries by their full paths, so they start
# like any program, without a wrapper: the process that the lab starts is the contender, signals and LD_PRELOAD reach
# it, and its C library is the one it was compiled against. If the project moves, build again.
#
# Exit: 0 built; 3 no compiler; else the compiler's exit code.
set -eu

# Within the folder of the compiler a link above this one would lead elsewhere.
here=$(cd "$(dirname "$0")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
folder=${READLAB_TOOLCHAINS:-$root/toolchains}/swift
flags="-O -whole-module-optimization -swift-version 6"

if command -v swiftc >/dev/null 2>&1; then
    compiler=path
elif [ -x "$folder/usr/libexec/swift/bin/swiftc" ]; then
    compiler=folder
else
    echo "swift: no swiftc on the PATH and none in $folder (contenders/swift/toolchain.sh makes one)" >&2
    exit 3
fi

# Runs a command inside the folder, with the project at /mnt; a plain user is root only within.
inside() {
    identity=
    [ "$(id -u)" = 0 ] || identity="--user --map-root-user"
    # shellcheck disable=SC2086
    unshare $identity --mount --propagation private sh -c '
        folder=$1 root=$2
        shift 2
        mount --rbind /proc "$folder/proc" && mount -t tmpfs tmpfs "$folder/tmp" && mount --bind "$root" "$folder/mnt" &&
            exec chroot "$folder" /usr/bin/env -i PATH=/usr/libexec/swift/bin:/usr/bin:/bin HOME=/tmp "$@"
    ' sh "$folder" "$root" "$@"
}

if [ $# -eq 0 ]; then
    case $compiler in
    path) swiftc --version 2>/dev/null | head -n 1 ;;
    folder) inside swiftc --version 2>/dev/null | head -n 1 ;;
    esac
    exit 0
fi

if [ "$compiler" = path ]; then
    # shellcheck disable=SC2086
    exec swiftc $flags -o "$@"
fi
# Within the folder the project is at /mnt.
for word; do
    shift
    case $word in
    "$root"/*) word=/mnt${word#"$root"} ;;
    esac
    set -- "$@" "$word"
done
machine=$(uname -m)-linux-gnu
loader=$(echo "$folder/usr/lib/$machine"/ld-linux-*)
# The program itself names every library that the runtime's own search would look for on the host.
# shellcheck disable=SC2086
inside swiftc $flags -o "$@" -no-toolchain-stdlib-rpath -Xlinker "--dynamic-linker=$loader" \
    -Xlinker --disable-new-dtags -Xlinker -rpath -Xlinker "$folder/usr/libexec/swift/lib/swift/linux:$folder/usr/lib/$machine" \
    -Xlinker --no-as-needed -Xlinker "/usr/lib/$machine/libcurl.so.4" -lstdc++ -lgcc_s -lm
