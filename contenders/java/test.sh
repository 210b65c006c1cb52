#!/bin/sh
# Builds the Java contender and holds it to the protocol; needs a JDK and nothing else. Ends with "N passed, N failed".
set -eu
cd "$(dirname "$0")"
./build.sh
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
javac -encoding UTF-8 -Xlint:all -Werror -cp build -d "$classes" test/*.java
java -XX:TieredStopAtLevel=1 -cp "build:$classes" ConformanceTest build
