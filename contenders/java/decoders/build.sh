#!/bin/sh
# Builds the contender java-decoders with the JDK and Maven on the PATH, into build/decoders of the
# contender java, whose sources it shares: the libraries into lib, their machine code for this
# processor into native, the classes into classes. Maven downloads the libraries once into its local
# repository.
set -eu
cd "$(dirname "$0")/.."
version=$(javac -version 2>&1)
major=${version#javac }
major=${major%%[!0-9]*}
if [ -z "$major" ] || [ "$major" -lt 17 ]; then
    echo "the contender java-decoders needs JDK 17 or later, found: $version" >&2
    exit 1
fi
build=build/decoders
rm -rf $build
mkdir -p $build/native
if ! said=$(mvn -q -B -Dstyle.color=never -f decoders/pom.xml package 2>&1); then
    printf '%s\n' "$said" >&2
    # Maven's cause is followed by pages of advice.
    printf '%s\n' "$said" | grep -m 1 'ERROR. [/F]' >&2
    exit 1
fi
# The list of methods in decoders/src is found before the one in src, which it replaces.
javac -encoding UTF-8 -Xlint:all -Werror --release 17 -implicit:class -cp "$build/lib/*" \
    -sourcepath decoders/src:src -d $build/classes src/Reader.java
java -XX:-UsePerfData -cp "$build/lib/*" decoders/unpack/Unpack.java $build/native
