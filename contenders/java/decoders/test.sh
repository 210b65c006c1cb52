#!/bin/sh
# Builds the contender java-decoders and tests what it decodes; needs a JDK and Maven. Its session is
# that of the contender java, which is tested against the protocol.
set -eu
if ! javac --release 17 -version >/dev/null 2>&1 || ! mvn -v >/dev/null 2>&1; then
    echo "SKIPPED: the tests of java-decoders: no JDK 17 or later, or no Maven, on the PATH" >&2
    exit 0
fi
cd "$(dirname "$0")/.."
decoders/build.sh
build=$PWD/build/decoders
snippets=../java-decoders/snippets
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
javac -encoding UTF-8 -Xlint:all -Werror -cp "$build/lib/*" -d "$classes" $snippets/*.java
javac -encoding UTF-8 -Xlint:all -Werror -implicit:class \
    -cp "$build/classes:$classes:$build/lib/*" -sourcepath test -d "$classes" decoders/test/*.java
java -XX:TieredStopAtLevel=1 -Djava.library.path="$build/native" \
    -cp "$build/classes:$classes:$build/lib/*" DecodersTest "$build" $snippets
