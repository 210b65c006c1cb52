#!/bin/sh
# Tests the decoders of Java beyond the protocol: files of every option, cut at every byte or changed, dictionaries, that
# no library leaves files behind, and the code that advice shows. BUILD has what was built.
set -eu
: "${BUILD:?is set by contenders/test.sh}"
cd "$(dirname "$0")/../java"
build=$BUILD/decoders
snippets=../java-decoders/snippets
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
javac -encoding UTF-8 -Xlint:all -Werror -cp "$build/lib/*" -d "$classes" $snippets/*.java
javac -encoding UTF-8 -Xlint:all -Werror -implicit:class \
    -cp "$build/classes:$classes:$build/lib/*" -sourcepath test -d "$classes" decoders/test/*.java
java -XX:TieredStopAtLevel=1 -Djava.library.path="$build/native" \
    -cp "$build/classes:$classes:$build/lib/*" DecodersTest "$build" $snippets
