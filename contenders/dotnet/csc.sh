#!/bin/sh
# Compiles C# sources into one program: csc.sh OUTPUT SOURCE|OPTION... makes OUTPUT, a script that starts OUTPUT.dll
# beside it. Without arguments it prints the SDK that it would use, in one line: its version and its dotnet.
#
# A `dotnet` on the PATH with an SDK of 3.1 or later is used as it is, else the one in toolchains/dotnet, which
# toolchain.sh makes; READLAB_TOOLCHAINS names another folder of toolchains. The compiler is started by itself, without
# the build system around it, which would look for packages, write into the user's home and leave servers running. If
# the SDK moves, build again.
#
# Exit: 0 done; 3 no SDK; else the compiler's exit code.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
toolchains=${READLAB_TOOLCHAINS:-$(cd "$here/../.." && pwd)/toolchains}
folder=$toolchains/dotnet
# Without languages' rules, whose library is often not there; and without sockets in the folder for temporary files,
# which would remain if the program is killed.
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 DOTNET_EnableDiagnostics=0 COMPlus_EnableDiagnostics=0

# DOTNET: the version of its newest SDK, if that is 3.1 or later.
newest() {
    "$1" --list-sdks 2>/dev/null | sed 's/ .*//' | grep -v - | awk -F. '$1 > 3 || $1 == 3 && $2 >= 1' | tail -n 1
}

failed() {
    echo "dotnet: $1" >&2
    exit 1
}

for dotnet in "$(command -v dotnet || :)" "$folder/dotnet"; do
    version=$([ ! -x "$dotnet" ] || newest "$dotnet")
    [ -z "$version" ] || break
done
if [ -z "$version" ]; then
    echo "dotnet: no SDK of .NET 3.1 or later on the PATH and none in $folder ($here/toolchain.sh makes one)" >&2
    exit 3
fi
if [ $# -eq 0 ]; then
    echo "$version $dotnet"
    exit 0
fi

output=$1
shift
major=${version%%.*}
minor=${version#*.}
minor=${minor%%.*}
sdks=$("$dotnet" --list-sdks | sed -n "s/^$version \[\(.*\)\]$/\1/p")
compiler=$sdks/$version/Roslyn/bincore/csc.dll
[ -f "$compiler" ] || failed "the SDK $version has no compiler: $compiler"
# A warning is an error by the library that this was written for; a later one may warn of more.
case $major in
3) framework=netcoreapp$major.$minor warnings=-warnaserror+ ;;
*) framework=net$major.$minor warnings=-warnaserror- ;;
esac
packs=$sdks/../packs/Microsoft.NETCore.App.Ref
references=$(find "$packs" -path "*/$major.$minor.*/ref/$framework" -type d 2>/dev/null | sort -V | tail -n 1)
[ -n "$references" ] ||
    failed "the SDK $version has no reference assemblies in $packs (on Ubuntu: dotnet-targeting-pack-$major.$minor)"
symbols=TRACE
for number in $(seq 5 "$major"); do symbols="$symbols;NET${number}_0_OR_GREATER"; done

# Of an SDK that toolchain.sh made.
openssl=$sdks/../openssl
[ ! -d "$openssl" ] || export LD_LIBRARY_PATH="$openssl${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
for library in "$references"/*.dll; do printf -- '-r:"%s"\n' "$library"; done >"$output.rsp"
code=0
said=$("$dotnet" "$compiler" -nologo -noconfig -nostdlib+ -target:exe -optimize+ -debug- -deterministic- \
    -unsafe+ -langversion:8 -nullable:enable $warnings "-define:$symbols" "-out:$output.dll" "@$output.rsp" \
    "$@" 2>&1) || code=$?
rm "$output.rsp"
if [ $code != 0 ]; then
    printf '%s\n' "$said" >&2
    [ $code -lt 128 ] || failed "the compiler of the SDK $version does not run: $(printf '%s\n' "$said" | head -n 1)"
    exit $code
fi
cat >"$output.runtimeconfig.json" <<END
{
  "runtimeOptions": {
    "tfm": "$framework",
    "framework": { "name": "Microsoft.NETCore.App", "version": "$major.$minor.0" },
    "configProperties": { "System.Globalization.Invariant": true }
  }
}
END
quoted() { printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }
cat >"$output" <<END
#!/bin/sh
# Written by csc.sh. Without diagnostics, whose sockets would remain if the program is killed.
export DOTNET_EnableDiagnostics=0 COMPlus_EnableDiagnostics=0
exec $(quoted "$dotnet") "\${0%/*}/${output##*/}.dll" "\$@"
END
chmod +x "$output"
