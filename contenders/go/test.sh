#!/bin/sh
# Builds the Go contender and tests it against the protocol; needs Go.
set -eu
if ! command -v go >/dev/null 2>&1; then
    echo "SKIPPED: the Go contender's tests: no go on the PATH" >&2
    exit 0
fi
cd "$(dirname "$0")"
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "not as gofmt has it: $unformatted" >&2; exit 1; }
# The modules of decoders are downloaded from where the caller has them.
proxy=${GOPROXY-}
export GOTOOLCHAIN=local GOPROXY=off GOFLAGS=
go vet . ./tests
./build.sh
# URLs, from servers of the tests' own. The list of what passed becomes its number.
said=$(go test -count=1 -v ./tests 2>&1) || {
    echo "$said" | grep -v "^ *--- PASS\|^=== " >&2
    exit 1
}
echo "$(echo "$said" | grep -c -- '--- PASS') passed, 0 failed"
../conformance.sh build/readlab-go
../snippets.sh go
GOPROXY=$proxy decoders/test.sh
