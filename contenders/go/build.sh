#!/bin/sh
# Builds the Go contender with the go on the PATH, 1.18 or later, from the standard library alone: build/readlab-go.
set -eu
cd "$(dirname "$0")"
mkdir -p build
# No toolchain and no module is downloaded, and version control is not used.
GOTOOLCHAIN=local GOFLAGS= GOPROXY=off GO111MODULE=on GOWORK=off go build -buildvcs=false -o build/readlab-go .
