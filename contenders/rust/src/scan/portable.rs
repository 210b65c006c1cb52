//! Scans in plain Rust, for every architecture.
//!
//! `iterator` is what a Rust programmer writes first; the compiler is free to use vector
//! instructions for it. `scalar` is one load, one comparison and one addition for each byte: the
//! loads are volatile, which no compiler may join into wider ones, so the loop stays as written at
//! every optimisation level.

use std::ptr;

/// The smallest page of any supported architecture: a read at every multiple of it touches every
/// page.
const PAGE_BYTES_MIN: usize = 4096;

#[inline(always)]
fn load(byte: &u8) -> u8 {
    // SAFETY: a reference is valid and aligned for a read.
    unsafe { ptr::read_volatile(byte) }
}

/// Counts newlines one byte at a time.
pub(super) fn newlines_scalar(bytes: &[u8]) -> u64 {
    let mut newlines = 0;
    for byte in bytes {
        newlines += u64::from(load(byte) == b'\n');
    }
    newlines
}

/// Counts newlines as one writes it. Inlined, so that it is compiled for the level of its caller.
#[inline(always)]
#[expect(clippy::naive_bytecount, reason = "the naive way is what is measured")]
pub(super) fn newlines_iterator(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// Sums one byte at a time.
pub(super) fn sum_scalar(bytes: &[u8]) -> u8 {
    let mut sum = 0u8;
    for byte in bytes {
        sum = sum.wrapping_add(load(byte));
    }
    sum
}

/// Sums as one writes it.
pub(super) fn sum_iterator(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

/// Reads one byte of every page.
pub(super) fn touch(bytes: &[u8]) {
    for byte in bytes.iter().step_by(PAGE_BYTES_MIN) {
        load(byte);
    }
}
