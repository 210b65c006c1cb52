#!/bin/sh
# Builds the Java contender into build/ with the javac on the PATH, whose java runs it. Classes for JDK 22 are in
# src22 and replace their stand-ins if the compiler is new enough.
set -eu
cd "$(dirname "$0")"
who="the Java contender"
. ./jdk.sh
rm -f build/*.class
javac -encoding UTF-8 -Xlint:all -Werror --release 17 -d build src/*.java
if [ "$major" -ge 22 ]; then
    javac -encoding UTF-8 -Xlint:all -Werror --release 22 -cp build -d build src22/*.java
fi
