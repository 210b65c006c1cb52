#!/bin/sh
# The tests of the Rust contender for objects, and the code that advice shows.
set -eu
cd "$(dirname "$0")"
CARGO_TARGET_DIR=build/target cargo test --quiet --release --locked
