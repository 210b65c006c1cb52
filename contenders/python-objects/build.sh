#!/bin/sh
# Builds an environment in build/venv: the python3 on the PATH with the libraries of requirements.txt, which pip
# downloads from its index. Fails with the cause in its last line.
set -eu
# Warnings of pip are none of ours.
unset PYTHONWARNINGS
cd "$(dirname "$0")"
if ! version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2]); sys.exit(sys.version_info < (3, 10))'); then
    echo "the Python contender for objects needs Python 3.10 or later, found: ${version:-none}" >&2
    exit 1
fi
rm -rf build
mkdir build
if ! python3 -m venv build/venv >build/log 2>&1; then
    cat build/log >&2
    echo "python3 -m venv failed: $(tail -n 1 build/log)" >&2
    exit 1
fi
if ! build/venv/bin/python -m pip --quiet --disable-pip-version-check --no-input --no-cache-dir \
    install --only-binary :all: --require-hashes -r requirements.txt >build/log 2>&1; then
    cat build/log >&2
    echo "what requirements.txt names cannot be downloaded: $(grep -m 1 '^ERROR' build/log || tail -n 1 build/log)" >&2
    exit 1
fi
rm build/log
# Compiles what every session imports, so that the first one does not.
PYTHONPYCACHEPREFIX=$PWD/build build/venv/bin/python reader.py compile
