#!/bin/sh
# Tests the Node.js contender against the protocol; needs Node.js 18 or later.
set -eu
if ! node -e 'process.exit(+(parseInt(process.versions.node) < 18))' >/dev/null 2>&1; then
    echo "SKIPPED: the Node.js contender's tests: no node of Node.js 18 or later on the PATH" >&2
    exit 0
fi
cd "$(dirname "$0")"
../conformance.sh node --expose-gc "$PWD/reader.js"
../snippets.sh node
