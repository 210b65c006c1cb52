#!/bin/sh
# Installs the AWS SDK for JavaScript into build/, in the versions of package-lock.json, from npm's registry. No script
# of a package is run.
set -eu
cd "$(dirname "$0")"
rm -rf build
mkdir build
cp package.json package-lock.json build
cd build
npm ci --omit=dev --ignore-scripts --no-audit --no-fund >npm.log 2>&1 || {
    echo "what package-lock.json names cannot be downloaded: $(grep -m 1 -i 'npm err' npm.log || tail -n 1 npm.log)" >&2
    exit 1
}
