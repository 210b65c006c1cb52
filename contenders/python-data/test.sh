#!/bin/sh
# Builds the Python contender for data and tests it against the protocol; needs Python 3.11 or later
# and the index of pip.
set -eu
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
    echo "SKIPPED: the Python contender for data: no python3 of Python 3.11 or later on the PATH" >&2
    exit 0
fi
cd "$(dirname "$0")"
if ! said=$(./build.sh 2>&1); then
    echo "SKIPPED: the Python contender for data is not built: $(echo "$said" | tail -n 1)" >&2
    exit 0
fi
PYTHONPYCACHEPREFIX=$PWD/build
export PYTHONPYCACHEPREFIX
../conformance.sh "$PWD/build/venv/bin/python" -W error "$PWD/reader.py"
PYTHON=$PWD/build/venv/bin/python ../snippets.sh python-data python
