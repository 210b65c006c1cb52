//! Scans in plain Rust, for every architecture.
//!
//! `iterator` is the code that a Rust programmer writes first. The compiler may use vector
//! instructions for it. `scalar` is one load, one comparison and one addition for each byte. The
//! loads are volatile, and no compiler may join volatile loads into wider ones, so the loop stays
//! unchanged at every optimisation level.

use std::ptr;

/// The smallest page of any supported architecture. A read at every multiple of it touches every
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

/// Counts newlines with plain iterator code. Inlined, so that it is compiled for the level of its
/// caller.
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

/// Sums with plain iterator code.
pub(super) fn sum_iterator(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

/// Reads one byte of every page.
pub(super) fn touch(bytes: &[u8]) {
    for byte in bytes.iter().step_by(PAGE_BYTES_MIN) {
        load(byte);
    }
}
