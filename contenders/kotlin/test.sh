#!/bin/sh
# Tests the contender kotlin beyond the protocol: text that is no UTF-8, and the code that advice shows. BUILD has what
# was built.
set -eu
: "${BUILD:?is set by contenders/test.sh}"
cd "$(dirname "$0")/../java"
daemons() { pgrep -c -f KotlinCompileDaemon || :; }
before=$(daemons)
build=$BUILD/kotlin
snippets=$PWD/../kotlin/snippets
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
said=$(mvn -q -B -Dstyle.color=never -f kotlin/pom.xml -Dkotlin.sources="$snippets" -Dkotlin.classes="$classes" \
    package 2>&1) || { echo "$said" >&2; exit 1; }
[ "$(daemons)" -le "$before" ] || { echo "FAILED: Kotlin's compiler goes on running" >&2; exit 1; }
javac -encoding UTF-8 -Xlint:all -Werror -implicit:class \
    -cp "$build/classes:$classes:$build/lib/*" -sourcepath test -d "$classes" kotlin/test/*.java
java -XX:TieredStopAtLevel=1 -cp "$build/classes:$classes:$build/lib/*" KotlinTest "$snippets"
