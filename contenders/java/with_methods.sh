#!/bin/sh
# Builds a contender that shares these sources and has methods of its own in FOLDER: `with_methods.sh FOLDER WHO`, with
# the JDK and Maven on the PATH, into build/FOLDER: the libraries that FOLDER/pom.xml names into lib, the classes into
# classes. Maven downloads the libraries once into its local repository.
set -eu
cd "$(dirname "$0")"
folder=$1
who="the contender $2"
. ./jdk.sh
build=build/$folder
rm -rf "$build"
mkdir -p "$build/classes"
if ! said=$(mvn -q -B -Dstyle.color=never -f "$folder/pom.xml" package 2>&1); then
    printf '%s\n' "$said" >&2
    # Maven's cause is followed by pages of advice.
    cause=$(printf '%s\n' "$said" | grep -m 1 'ERROR. [/F]') || cause=
    case $said in
    *"Could not transfer"* | *"Could not resolve"* | *"Unknown host"*)
        cause="what $folder/pom.xml names cannot be downloaded: $cause" ;;
    esac
    echo "$cause" >&2
    exit 1
fi
# The list of methods in FOLDER/src is found before the one in src, which it replaces.
javac -encoding UTF-8 -Xlint:all -Werror --release 17 -implicit:class -cp "$build/classes:$build/lib/*" \
    -sourcepath "$folder/src:src" -d "$build/classes" src/Reader.java
