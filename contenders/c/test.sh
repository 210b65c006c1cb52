#!/bin/sh
# Builds the C contender and tests it against the protocol; needs a C compiler.
set -eu
if ! command -v cc >/dev/null 2>&1; then
    echo "SKIPPED: the C contender's tests: no cc on the PATH" >&2
    exit 0
fi
cd "$(dirname "$0")"
./build.sh
../conformance.sh build/readlab-c
../snippets.sh c
