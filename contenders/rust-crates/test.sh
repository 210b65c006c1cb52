#!/bin/sh
# The format of the Rust contender for crates, its unit tests, and the code that advice shows.
set -eu
cd "$(dirname "$0")"
cargo fmt --check
. ./liburing.sh
CARGO_TARGET_DIR=build/target cargo test --quiet --release --locked
