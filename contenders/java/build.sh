#!/bin/sh
# Builds the Java contender into build/ with the javac on the PATH, whose java runs it. Classes for JDK 22 are in
# src22 and replace their stand-ins if the compiler is new enough.
set -eu
cd "$(dirname "$0")"
version=$(javac -version 2>&1)
major=${version#javac }
major=${major%%[!0-9]*}
if [ -z "$major" ] || [ "$major" -lt 17 ]; then
    echo "the Java contender needs JDK 17 or later, found: $version" >&2
    exit 1
fi
rm -f build/*.class
javac -encoding UTF-8 -Xlint:all -Werror --release 17 -d build src/*.java
if [ "$major" -ge 22 ]; then
    javac -encoding UTF-8 -Xlint:all -Werror --release 22 -cp build -d build src22/*.java
fi
