#!/bin/sh
# Builds the contender for objects in Go and tests it against the protocol; needs Go 1.26 or later.
set -eu
if ! command -v go >/dev/null 2>&1; then
    echo "SKIPPED: the Go contender for objects: no go on the PATH" >&2
    exit 0
fi
found=$(GOTOOLCHAIN=local go env GOVERSION)
case $found in go1.[0-9] | go1.[0-9].* | go1.1[0-9]* | go1.2[0-5]*)
    echo "SKIPPED: the Go contender for objects: it needs Go 1.26, found $found" >&2
    exit 0
    ;;
esac
cd "$(dirname "$0")"
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "not as gofmt has it: $unformatted" >&2; exit 1; }
export GOTOOLCHAIN=local GOFLAGS=-mod=readonly GOWORK=off
./build.sh
go vet .
# Objects, from servers of the tests' own, and snippets. The list of what passed becomes its number.
said=$(cd tests && go vet . 2>&1 && go test -count=1 -parallel 8 -v . 2>&1) || {
    echo "$said" | grep -v "^ *--- PASS\|^=== " >&2
    exit 1
}
echo "$(echo "$said" | grep -c -- '--- PASS') passed, 0 failed"
