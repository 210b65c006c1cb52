#!/bin/sh
# Builds the Java contender and tests it against the protocol; needs only a JDK. Then tests java-decoders and kotlin,
# which share its sources.
set -eu
if ! javac --release 17 -version >/dev/null 2>&1; then
    echo "SKIPPED: the Java contender's tests: no javac of JDK 17 or later on the PATH" >&2
    exit 0
fi
cd "$(dirname "$0")"
./build.sh
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
javac -encoding UTF-8 -Xlint:all -Werror -cp build -d "$classes" test/*.java
java -XX:TieredStopAtLevel=1 -cp "build:$classes" ConformanceTest build
../several_files.sh java -XX:TieredStopAtLevel=1 -XX:-UsePerfData -cp "$PWD/build" Reader
../places.sh java -XX:TieredStopAtLevel=1 -XX:-UsePerfData -cp "$PWD/build" Reader
../snippets.sh java
decoders/test.sh
kotlin/test.sh
