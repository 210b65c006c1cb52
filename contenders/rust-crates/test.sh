#!/bin/sh
# The unit tests of the Rust contender for crates, and the code that advice shows.
set -eu
cd "$(dirname "$0")"
. ./liburing.sh
CARGO_TARGET_DIR=build/target cargo test --quiet --release --locked
