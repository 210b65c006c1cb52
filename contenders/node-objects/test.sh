#!/bin/sh
# Builds the Node.js contender for objects and tests it against S3 servers; needs Node.js 20 or later, npm, and npm's
# registry or what npm has kept of it.
set -eu
if ! node -e 'process.exit(+(parseInt(process.versions.node) < 20))' >/dev/null 2>&1; then
    echo "SKIPPED: the tests of the Node.js contender for objects: no node of Node.js 20 or later on the PATH" >&2
    exit 0
fi
if ! npm --version >/dev/null 2>&1; then
    echo "SKIPPED: the tests of the Node.js contender for objects: no npm on the PATH" >&2
    exit 0
fi
cd "$(dirname "$0")"
./build.sh
../server_snippets.sh node
