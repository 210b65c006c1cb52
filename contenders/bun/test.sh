#!/bin/sh
# Tests the contender for Bun, whose sources are beside those for Node.js, against the protocol;
# needs Bun 1.2 or later.
set -eu
if ! bun -e 'process.exit(+!Bun.semver.satisfies(Bun.version, ">=1.2"))' >/dev/null 2>&1; then
    echo "SKIPPED: the Bun contender's tests: no bun of Bun 1.2 or later on the PATH" >&2
    exit 0
fi
cd "$(dirname "$0")/../node"
../conformance.sh bun --no-install --expose-gc "$PWD/bun/reader.js"
../snippets.sh bun
