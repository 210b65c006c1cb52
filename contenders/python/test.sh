#!/bin/sh
# Tests the Python contender against the protocol; needs Python 3.8 or later.
set -eu
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' >/dev/null 2>&1; then
    echo "SKIPPED: the Python contender's tests: no python3 of Python 3.8 or later on the PATH" >&2
    exit 0
fi
cd "$(dirname "$0")"
PYTHONPYCACHEPREFIX=$PWD/build
export PYTHONPYCACHEPREFIX
# The interpreter itself: on the PATH may be a script instead, which takes longer to start than a test.
python=$(python3 -c 'import sys; print(sys.executable)')
../conformance.sh "$python" -W error "$PWD/reader.py"
../snippets.sh python
