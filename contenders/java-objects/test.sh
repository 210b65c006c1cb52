#!/bin/sh
# Builds the contender java-objects, compiles the code that advice shows for it, and tests how it
# reads from servers. Needs a JDK and Maven.
set -eu
if ! javac --release 17 -version >/dev/null 2>&1 || ! mvn -v >/dev/null 2>&1; then
    echo "SKIPPED: the tests of the contender java-objects: no JDK 17 or later, or no Maven, on the PATH" >&2
    exit 0
fi
cd "$(dirname "$0")"
./build.sh
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
javac -encoding UTF-8 -Xlint:all,-classfile,-processing -Werror -cp 'build/lib/*' -d "$classes" snippets/*.java
