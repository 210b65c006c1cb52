#!/bin/sh
# Builds the Rust contender for crates and tests it against the protocol; needs cargo, a C compiler and the crates.
set -eu
if ! command -v cargo >/dev/null 2>&1; then
    echo "SKIPPED: the tests of the Rust contender for crates: no cargo on the PATH" >&2
    exit 0
fi
cd "$(dirname "$0")"
if ! cargo fetch --quiet --locked --target "$(rustc --version --verbose | sed -n "s/^host: //p")"; then
    echo "SKIPPED: the tests of the Rust contender for crates: its crates cannot be had" >&2
    exit 0
fi
cargo fmt --check
KEEP_TARGET=build/target ./build.sh
. ./liburing.sh
CARGO_TARGET_DIR=build/target cargo test --quiet --release --locked
# Where a file system in memory is the folder of temporary files, no direct read can be tested.
TMPDIR=$(pwd)/build ../conformance.sh build/readlab-rust-crates
