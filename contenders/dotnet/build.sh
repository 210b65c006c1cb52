#!/bin/sh
# Builds the contender dotnet with the SDK that csc.sh finds: build/reader. Nothing is downloaded.
set -eu
cd "$(dirname "$0")"
mkdir -p build
./csc.sh build/reader src/*.cs
