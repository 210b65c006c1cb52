#!/bin/sh
# Builds the Swift contender and its tests and runs them. Without Swift it prints SKIPPED and exits 0; toolchain.sh
# installs one.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
code=0
said=$("$here/swiftc.sh" 2>&1) || code=$?
if [ "$code" = 3 ]; then
    echo "SKIPPED: $said" >&2
    echo "0 passed, 0 failed"
    exit 0
fi
[ "$code" = 0 ] || { echo "$said" >&2; exit "$code"; }
"$here/build.sh"
"$here/swiftc.sh" "$here/build/test" -module-name readlab_swift_test "$here"/tests/*.swift
"$here/build/test" "$here/build/readlab-swift"
"$here/../several_files.sh" "$here/build/readlab-swift"
"$here/../snippets.sh" swift
