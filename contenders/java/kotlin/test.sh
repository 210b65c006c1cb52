#!/bin/sh
# Builds the contender kotlin and tests what its methods and its snippets answer; needs a JDK and
# Maven. Its session is that of the contender java, which is tested against the protocol.
set -eu
if ! javac --release 17 -version >/dev/null 2>&1 || ! mvn -v >/dev/null 2>&1; then
    echo "SKIPPED: the tests of kotlin: no JDK 17 or later, or no Maven, on the PATH" >&2
    exit 0
fi
cd "$(dirname "$0")/.."
daemons() { pgrep -c -f KotlinCompileDaemon || :; }
before=$(daemons)
kotlin/build.sh
build=$PWD/build/kotlin
snippets=$PWD/../kotlin/snippets
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
said=$(mvn -q -B -Dstyle.color=never -f kotlin/pom.xml -Dkotlin.sources="$snippets" -Dkotlin.classes="$classes" \
    package 2>&1) || { echo "$said" >&2; exit 1; }
[ "$(daemons)" -le "$before" ] || { echo "FAILED: Kotlin's compiler goes on running" >&2; exit 1; }
javac -encoding UTF-8 -Xlint:all -Werror -implicit:class \
    -cp "$build/classes:$classes:$build/lib/*" -sourcepath test -d "$classes" kotlin/test/*.java
java -XX:TieredStopAtLevel=1 -cp "$build/classes:$classes:$build/lib/*" KotlinTest "$snippets"
