#!/bin/sh
# Builds the Rust contender for crates with the cargo on the PATH: build/readlab-rust-crates. Downloads the crates of
# Cargo.lock. Cargo's folder is removed afterwards, as it is a hundred times larger than the program; that which
# KEEP_TARGET names is kept, for the next build.
set -eu
cd "$(dirname "$0")"
mkdir -p build
. ./liburing.sh
# Settings of the caller are those of another build: its target, and its flags for a compiler.
target=${KEEP_TARGET:-build/target}
CARGO_TARGET_DIR=$target cargo build --quiet --release --locked || {
    cargo fetch --quiet --locked || echo "the crates of Cargo.lock cannot be downloaded" >&2
    exit 1
}
cp "$target/release/readlab-rust-crates" build/readlab-rust-crates.new
mv build/readlab-rust-crates.new build/readlab-rust-crates
[ -n "${KEEP_TARGET-}" ] || rm -rf build/target
