#!/bin/sh
# Builds the contender java-objects with the JDK and Maven on the PATH: its classes into
# build/classes, the AWS SDK for Java and what that needs into build/lib. Maven downloads them once
# into its local repository.
set -eu
cd "$(dirname "$0")"
version=$(javac -version 2>&1)
major=${version#javac }
major=${major%%[!0-9]*}
if [ -z "$major" ] || [ "$major" -lt 17 ]; then
    echo "the contender java-objects needs JDK 17 or later, found: $version" >&2
    exit 1
fi
rm -rf build
if ! said=$(mvn -q -B -Dstyle.color=never process-classes 2>&1); then
    printf '%s\n' "$said" >&2
    # Maven's cause is followed by pages of advice.
    cause=$(printf '%s\n' "$said" | grep -m 1 'ERROR. [/F]') || cause=
    case $said in
    *"Could not transfer"* | *"Could not resolve"* | *"Unknown host"*)
        cause="what pom.xml names cannot be downloaded: $cause" ;;
    esac
    echo "$cause" >&2
    exit 1
fi
