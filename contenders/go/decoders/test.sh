#!/bin/sh
# Builds the Go contender that decodes with modules and tests it against the protocol; needs Go 1.24
# or later, and the modules of go.sum. The plain contender is built already.
set -eu
found=$(GOTOOLCHAIN=local go env GOVERSION)
case $found in go1.[0-9] | go1.[0-9].* | go1.1[0-9]* | go1.2[0-3]*)
    echo "SKIPPED: the Go contender for decoders: it needs Go 1.24, found $found" >&2
    exit 0
    ;;
esac
cd "$(dirname "$0")"
unformatted=$(gofmt -l ../../go-decoders)
[ -z "$unformatted" ] || { echo "not as gofmt has it: $unformatted" >&2; exit 1; }
export GOTOOLCHAIN=local GOFLAGS=-mod=readonly GOWORK=off
if ! said=$(go mod download 2>&1); then
    echo "SKIPPED: the Go contender for decoders: no modules: $(echo "$said" | tail -n 1)" >&2
    exit 0
fi
./build.sh
(cd .. && go vet -tags decoders -modfile=decoders/go.mod .)
# The list of what passed becomes its number; what was skipped is shown.
said=$(go vet ./tests 2>&1 && go test -count=1 -v ./tests 2>&1) || {
    echo "$said" | grep -v "^ *--- PASS\|^=== " >&2
    exit 1
}
echo "$said" | grep '^SKIPPED' >&2 || :
echo "$(echo "$said" | grep -c -- '--- PASS') passed, 0 failed"
../../conformance.sh ../build/readlab-go-decoders
