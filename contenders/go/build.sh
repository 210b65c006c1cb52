#!/bin/sh
# Builds the Go contender with the go on the PATH, 1.18 or later, from the standard library alone: build/readlab-go.
set -eu
cd "$(dirname "$0")"
mkdir -p build
# Nothing is fetched, neither another toolchain nor a module, and no version control is asked.
GOTOOLCHAIN=local GOFLAGS= GOPROXY=off GO111MODULE=on go build -buildvcs=false -o build/readlab-go .
