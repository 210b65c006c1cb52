#!/bin/sh
# Builds the Rust contender for crates with the cargo on the PATH: build/readlab-rust-crates. Downloads the crates of
# Cargo.lock. Cargo's folder is removed afterwards, as it is a hundred times larger than the program; KEEP_TARGET=1
# keeps it, for the next build while the sources are changed.
set -eu
cd "$(dirname "$0")"
mkdir -p build
. ./liburing.sh
# Settings of the caller are those of another build: its target, and its flags for a compiler.
CARGO_TARGET_DIR=build/target cargo build --quiet --release --locked
cp build/target/release/readlab-rust-crates build/readlab-rust-crates.new
mv build/readlab-rust-crates.new build/readlab-rust-crates
[ -n "${KEEP_TARGET-}" ] || rm -rf build/target
