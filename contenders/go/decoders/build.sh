#!/bin/sh
# Builds build/readlab-go-decoders from all sources of the Go contender with the go on the PATH,
# 1.24 or later, and the modules of go.sum.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build
# No toolchain is downloaded, and version control is not used. What go prints of its downloads is
# shown only if it fails.
export GOTOOLCHAIN=local GOFLAGS=-mod=readonly GO111MODULE=on GOWORK=off
said=$(go build -tags decoders -modfile=decoders/go.mod -buildvcs=false -o build/readlab-go-decoders . 2>&1) || {
    echo "$said" >&2
    go mod download -modfile=decoders/go.mod >/dev/null 2>&1 || echo "the modules of go.sum cannot be downloaded: $(echo "$said" | tail -n 1)" >&2
    exit 1
}
