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
GOTOOLCHAIN=local go vet .
./build.sh
../conformance.sh build/readlab-go
../snippets.sh go
