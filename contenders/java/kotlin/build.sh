#!/bin/sh
# Builds the contender kotlin with the JDK and Maven on the PATH, into build/kotlin of the contender
# java, whose session it shares: Kotlin's library into lib, the classes into classes. Maven downloads
# compiler and library once into its local repository.
set -eu
cd "$(dirname "$0")/.."
version=$(javac -version 2>&1)
major=${version#javac }
major=${major%%[!0-9]*}
if [ -z "$major" ] || [ "$major" -lt 17 ]; then
    echo "the contender kotlin needs JDK 17 or later, found: $version" >&2
    exit 1
fi
build=build/kotlin
rm -rf $build
mkdir -p $build/classes
if ! said=$(mvn -q -B -Dstyle.color=never -f kotlin/pom.xml package 2>&1); then
    printf '%s\n' "$said" >&2
    # Maven's cause is followed by pages of advice.
    printf '%s\n' "$said" | grep -m 1 'ERROR. [/F]' >&2
    exit 1
fi
# The list of methods in kotlin/src is found before the one in src, which it replaces.
javac -encoding UTF-8 -Xlint:all -Werror --release 17 -implicit:class -cp "$build/classes:$build/lib/*" \
    -sourcepath kotlin/src:src -d $build/classes src/Reader.java
