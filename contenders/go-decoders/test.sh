#!/bin/sh
# Tests the decoders of Go beyond the protocol: files of many programs and of every option, cut at every byte or changed,
# dictionaries, and the code that advice shows. BUILD has the program.
set -eu
: "${BUILD:?is set by contenders/test.sh}"
cd "$(dirname "$0")/../go/decoders"
export GOTOOLCHAIN=local GOFLAGS=-mod=readonly GOWORK=off
(cd .. && go vet -tags decoders -modfile=decoders/go.mod .)
# The list of what passed becomes its number; what was skipped is shown.
said=$(go vet ./tests 2>&1 && go test -count=1 -v ./tests 2>&1) || {
    echo "$said" | grep -v "^ *--- PASS\|^=== " >&2
    exit 1
}
echo "$said" | grep '^SKIPPED' >&2 || :
echo "$(echo "$said" | grep -c -- '--- PASS') passed, 0 failed"
