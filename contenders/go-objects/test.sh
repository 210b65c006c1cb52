#!/bin/sh
# The format of the sources of the Go contender for objects and what `go vet` finds in them; then servers of the tests'
# own, and the code that advice shows. BUILD has the program.
set -eu
: "${BUILD:?is set by contenders/test.sh}"
cd "$(dirname "$0")"
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "not as gofmt has it: $unformatted" >&2; exit 1; }
export GOTOOLCHAIN=local GOFLAGS=-mod=readonly GOWORK=off
go vet .
# The list of what passed becomes its number.
said=$(cd tests && go vet . 2>&1 && go test -count=1 -parallel 8 -v . 2>&1) || {
    echo "$said" | grep -v "^ *--- PASS\|^=== " >&2
    exit 1
}
echo "$(echo "$said" | grep -c -- '--- PASS') passed, 0 failed"
