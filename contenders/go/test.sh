#!/bin/sh
# The format of the Go contender's sources, and what `go vet` finds in them.
set -eu
cd "$(dirname "$0")"
unformatted=$(gofmt -l . ../go-decoders)
[ -z "$unformatted" ] || { echo "not as gofmt has it: $unformatted" >&2; exit 1; }
GOTOOLCHAIN=local GOPROXY=off GOFLAGS='' go vet .
