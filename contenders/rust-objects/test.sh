#!/bin/sh
# The format of the Rust contender for objects, its tests, and the code that advice shows.
set -eu
cd "$(dirname "$0")"
cargo fmt --check
CARGO_TARGET_DIR=build/target cargo test --quiet --release --locked
