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
    printf '%s\n' "$said" | grep -m 1 'ERROR. [/F]' >&2
    ! echo "$said" | grep -q 'Could not \(transfer\|resolve\)\|Unknown host' || echo "what pom.xml names cannot be downloaded" >&2
    exit 1
fi
