#!/bin/sh
# Builds the Rust contender for objects and tests it against the protocol; needs cargo.
set -eu
if ! command -v cargo >/dev/null 2>&1; then
    echo "SKIPPED: the tests of the Rust contender for objects: no cargo on the PATH" >&2
    exit 0
fi
cd "$(dirname "$0")"
cargo fmt --check
KEEP_TARGET=build/target ./build.sh
CARGO_TARGET_DIR=build/target cargo test --quiet --release --locked
