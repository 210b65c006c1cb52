#!/bin/sh
# Builds the contender dotnet and tests it: from outside against the protocol; from inside by every setting, by ends of
# compressed files, and by the counts of its runtime; then the code that advice shows. Without an SDK of .NET 8 or later
# it prints SKIPPED and exits 0.
set -eu

cd "$(dirname "$0")"
code=0
said=$(./dotnet.sh 2>&1) || code=$?
if [ "$code" = 3 ]; then
    echo "SKIPPED: the contender dotnet: $said" >&2
    echo "0 passed, 0 failed"
    exit 0
fi
[ "$code" = 0 ] || { echo "$said" >&2; exit "$code"; }
# As in the roster.
export DOTNET_EnableDiagnostics=0
mkdir -p build
home=$(mktemp -d "$PWD/build/test.XXXXXX")
trap 'rm -rf "$home"' EXIT

# How many compilers and their servers there are.
running() { pgrep -c -f 'csc\.dll|VBCSCompiler|MSBuild' || :; }
before=$(running)
HOME=$home ./build.sh
[ "$(running)" -le "$before" ] || { echo "FAILED: the compiler goes on running" >&2; exit 1; }
[ -z "$(ls -A "$home")" ] || { echo "FAILED: the build writes into the home: $(ls -A "$home")" >&2; exit 1; }

inside() {
    ./build.sh test/inside.csproj
    dotnet build/bin/inside/release/inside.dll
}

snippets() {
    for scan in snippets/scan/*.cs; do
        scan=${scan##*/}
        ./build.sh test/snippets.csproj "-p:Scan=${scan%.cs}"
        dotnet build/bin/snippets/release/snippets.dll snippets
    done
}

(inside; snippets) &
../conformance.sh dotnet "$PWD/build/bin/reader/release/reader.dll" || code=1
wait $! || code=1
exit $code
