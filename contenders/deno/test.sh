#!/bin/sh
# Tests the contender for Deno, whose sources are beside those for Node.js, against the protocol;
# needs Deno 2 or later.
set -eu
if ! deno eval 'Deno.exit(+(parseInt(Deno.version.deno) < 2))' >/dev/null 2>&1; then
    echo "SKIPPED: the Deno contender's tests: no deno of Deno 2 or later on the PATH" >&2
    exit 0
fi
cd "$(dirname "$0")/../node"
DENO_DIR=$PWD/build/deno
DENO_NO_UPDATE_CHECK=1
export DENO_DIR DENO_NO_UPDATE_CHECK
../conformance.sh deno run --allow-all --no-lock --no-remote --quiet --v8-flags=--expose-gc "$PWD/deno/reader.js"
../snippets.sh deno
