#!/bin/sh
# Compiles the code that advice shows for the contender java-objects. BUILD has the libraries.
set -eu
: "${BUILD:?is set by contenders/test.sh}"
cd "$(dirname "$0")"
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
javac -encoding UTF-8 -Xlint:all,-classfile,-processing -Werror -cp "$BUILD/lib/*" -d "$classes" snippets/*.java
