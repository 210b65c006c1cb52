#!/bin/sh
# Builds the Python contender for objects and URLs and tests it against the protocol; needs Python 3.10 or later and
# the index of pip.
set -eu
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; then
    echo "SKIPPED: the Python contender for objects: no python3 of Python 3.10 or later on the PATH" >&2
    exit 0
fi
cd "$(dirname "$0")"
if ! said=$(./build.sh 2>&1); then
    echo "SKIPPED: the Python contender for objects is not built: $(echo "$said" | tail -n 1)" >&2
    exit 0
fi
PYTHONPYCACHEPREFIX=$PWD/build
export PYTHONPYCACHEPREFIX
methods=$(build/venv/bin/python -W error reader.py methods)
case $methods in *boto3.get_object*) ;; *) echo "boto3.get_object is not among the methods" >&2; exit 1 ;; esac
build/venv/bin/python -m py_compile snippets/*.py
../server_snippets.sh "$PWD/build/venv/bin/python" -W error
