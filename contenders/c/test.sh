#!/bin/sh
# Builds the C contender and holds it to the protocol; needs a C compiler.
set -eu
cd "$(dirname "$0")"
./build.sh
../conformance.sh build/readlab-c
