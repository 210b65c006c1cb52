#!/bin/bash
# Tests for targets other than this machine. For macOS, where nothing is measured, the crates that keep, judge and show
# records are checked. For Linux on arm64 everything is built, with the C in it, and an emulator runs the unit tests of
# what must be the same everywhere. What cannot be had is SKIPPED with the reason.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export RUSTFLAGS="-D warnings"

skipped() {
    echo "SKIPPED: $1: $2" >&2
}

# Whether this Rust has the standard library of a target, now or after it was installed.
has() {
    [ ! -d "$(rustc --print target-libdir --target "$1")" ] || return 0
    if [ "${INSTALL:-yes}" = no ]; then
        skipped "$1" "this Rust has no such target, and INSTALL=no"
    elif ! timeout 120 rustup target add "$1" >"$log" 2>&1; then
        skipped "$1" "this Rust has no such target, and it could not be added: $(tail -n 1 "$log")"
    else
        return 0
    fi
    return 1
}

macos() {
    has aarch64-apple-darwin || return 0
    $cargo check --target aarch64-apple-darwin --package readlab-model --package readlab-stats \
        --package readlab-record --package readlab-analysis --package readlab-report
}

arm=aarch64-unknown-linux-gnu
root=/usr/aarch64-linux-gnu
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L $root"

# The C of crates is built by the compiler of that name, too, which the crate `cc` finds itself.
build_arm() {
    $cargo build --workspace --target $arm 2>&1 | tee "$log" || return 1
    # What the crate `system` preloads into contenders is left out with a warning where it does not build.
    ! grep 'the library for it does not build' "$log" >&2
}

# The emulator has no io_uring: tests that need it find that out and say so. Simulations and whole searches draw for
# minutes where each instruction is emulated; of them only numbers that another implementation confirmed are compared.
test_arm() {
    local test="$cargo test --target $arm --lib --no-fail-fast"
    $test --package readlab-model --package readlab-stats --package readlab-auto --package readlab-protocol \
        --package readlab-rust -- --skip ring2:: --skip simulation:: --skip search:: --show-output || return 1
    $test --package readlab-stats -- simulation::real_tables --show-output
}

linux_on_arm() {
    if ! command -v aarch64-linux-gnu-gcc >/dev/null || [ ! -e $root/include/stdio.h ]; then
        skipped $arm "no C compiler for it (Debian: gcc-aarch64-linux-gnu, libc6-dev-arm64-cross)"
        return 0
    fi
    has $arm || return 0
    build_arm || return 1
    if ! command -v qemu-aarch64 >/dev/null; then
        skipped "tests for $arm" "no emulator (Debian: qemu-user)"
        return 0
    fi
    test_arm
}

failed=
macos || failed=yes
linux_on_arm || failed=yes
[ -z "$failed" ]
