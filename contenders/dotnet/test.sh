#!/bin/sh
# Builds the contender dotnet and tests it: from outside against the protocol; from inside by every setting, by ends of
# compressed files, and by the counts of its runtime; then the code that advice shows. Without an SDK it prints SKIPPED
# and exits 0.
set -eu

cd "$(dirname "$0")"
code=0
said=$(./toolchain.sh) || code=$?
if [ "$code" = 3 ]; then
    echo "SKIPPED: $said" >&2
    echo "0 passed, 0 failed"
    exit 0
fi
[ "$code" = 0 ] || exit "$code"
mkdir -p build
folder=$(mktemp -d "$PWD/build/test.XXXXXX")
trap 'rm -rf "$folder"' EXIT

# How many compilers and their servers there are.
running() { pgrep -c -f 'csc\.dll|VBCSCompiler|MSBuild' || :; }
before=$(running)
./build.sh
[ "$(running)" -le "$before" ] || { echo "FAILED: the compiler goes on running" >&2; exit 1; }

inside() {
    ./csc.sh "$folder/inside" -main:InsideTest src/*.cs test/*.cs
    "$folder/inside"
}

# Snippets of a newer .NET than the SDK's are left out.
snippets() {
    mkdir "$folder/snippets"
    version=$(./csc.sh)
    for snippet in snippets/*.cs; do
        needed=$(sed -n '1s/^\/\/ needs: .NET \([0-9]*\)$/\1/p' "$snippet")
        if [ "${needed:-0}" -gt "${version%%.*}" ]; then
            echo "SKIPPED: $snippet: the SDK is ${version%% *}" >&2
        else
            cp "$snippet" "$folder/snippets"
        fi
    done
    for scan in snippets/scan/*.cs; do
        ./csc.sh "$folder/shown" -main:SnippetsTest "$folder"/snippets/*.cs "$scan" test/Check.cs test/Corpus.cs \
            test/SnippetsTest.cs test/TestFolder.cs
        "$folder/shown" "$folder/snippets"
    done
}

(inside; snippets) &
# Of a thousand short sessions, compiling loops quickly instead of well saves a sixth.
COMPlus_TC_QuickJitForLoops=1 ../conformance.sh "$PWD/build/reader" || code=1
wait $! || code=1
exit $code
