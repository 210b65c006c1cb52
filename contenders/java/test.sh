#!/bin/sh
# Tests the Java contender beyond the protocol: zips and gzips that are broken, names and locales, a small heap, files
# beyond 2 GiB, and the counts of its virtual machine. BUILD has its classes.
set -eu
: "${BUILD:?is set by contenders/test.sh}"
cd "$(dirname "$0")"
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
javac -encoding UTF-8 -Xlint:all -Werror -cp "$BUILD" -d "$classes" test/*.java
java -XX:TieredStopAtLevel=1 -cp "$BUILD:$classes" JavaTest "$BUILD"
