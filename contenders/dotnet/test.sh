#!/bin/sh
# Tests the contender dotnet beyond the protocol: that its build leaves nothing behind; from inside, ends of compressed
# files and the counts of its runtime; and the code that advice shows.
set -eu

cd "$(dirname "$0")"
# As in the roster.
export DOTNET_EnableDiagnostics=0
mkdir -p build
home=$(mktemp -d "$PWD/build/test.XXXXXX")
trap 'rm -rf "$home"' EXIT

# How many compilers and their servers there are.
running() { pgrep -c -f 'csc\.dll|VBCSCompiler|MSBuild' || :; }
before=$(running)
HOME=$home ./build.sh test/inside.csproj
[ "$(running)" -le "$before" ] || { echo "FAILED: the compiler goes on running" >&2; exit 1; }
[ -z "$(ls -A "$home")" ] || { echo "FAILED: the build writes into the home: $(ls -A "$home")" >&2; exit 1; }
dotnet build/bin/inside/release/inside.dll

for scan in snippets/scan/*.cs; do
    scan=${scan##*/}
    ./build.sh test/snippets.csproj "-p:Scan=${scan%.cs}"
    dotnet build/bin/snippets/release/snippets.dll snippets
done
