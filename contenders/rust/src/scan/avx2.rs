//! Scans with 32-byte registers (AVX2).
//!
//! Four registers are processed at a time, each with its own accumulator, so that no step waits for
//! the step before. Newlines are counted in bytes. A comparison yields -1 in every equal byte,
//! which is subtracted. After 255 steps at most, before a byte could overflow, the bytes are added
//! up into 64-bit lanes. A wrapping sum of bytes is a wrapping sum of lanes, so no wider counters
//! are needed.
//!
//! The `pages` scans load the four registers from four neighbouring pages. [`super::pages`]
//! explains why.

use super::pages::{PAGE_BYTES, PAGES, Pages, split_pages};
use super::portable;
use std::arch::x86_64::{
    __m256i, _mm256_add_epi8, _mm256_add_epi64, _mm256_cmpeq_epi8, _mm256_extract_epi64, _mm256_loadu_si256,
    _mm256_sad_epu8, _mm256_set1_epi8, _mm256_setzero_si256, _mm256_sub_epi8,
};

const REGISTER_BYTES: usize = 32;
const REGISTERS: usize = PAGES;
const STEP_BYTES: usize = REGISTER_BYTES * REGISTERS;
/// Number of steps after which a counter of one byte may be full.
const STEPS_MAX: usize = 255;
const STEPS_OF_PAGES: usize = PAGE_BYTES / REGISTER_BYTES;
const _: () = assert!(STEPS_OF_PAGES <= STEPS_MAX, "a page is counted before a counter of one byte is full");

/// Whether the processor has AVX2; the standard library caches the answer.
pub(super) fn detected() -> bool {
    is_x86_feature_detected!("avx2")
}

pub(super) fn newlines(bytes: &[u8]) -> u64 {
    assert!(detected(), "AVX2 is offered only where the processor has it");
    // SAFETY: the processor has the feature, as just asserted.
    unsafe { count_newlines(&[], bytes) }
}

/// Counts newlines, four pages side by side.
pub(super) fn newlines_pages(bytes: &[u8]) -> u64 {
    assert!(detected(), "AVX2 is offered only where the processor has it");
    let (pages, rest) = split_pages(bytes);
    // SAFETY: the processor has the feature, as just asserted.
    unsafe { count_newlines(pages, rest) }
}

/// Sums all bytes, wrapping.
pub(super) fn sum(bytes: &[u8]) -> u8 {
    assert!(detected(), "AVX2 is offered only where the processor has it");
    // SAFETY: the processor has the feature, as just asserted.
    unsafe { sum_bytes(&[], bytes) }
}

/// Sums all bytes, wrapping, four pages side by side.
pub(super) fn sum_pages(bytes: &[u8]) -> u8 {
    assert!(detected(), "AVX2 is offered only where the processor has it");
    let (pages, rest) = split_pages(bytes);
    // SAFETY: the processor has the feature, as just asserted.
    unsafe { sum_bytes(pages, rest) }
}

#[target_feature(enable = "avx2")]
fn count_newlines(pages: &[Pages], bytes: &[u8]) -> u64 {
    let newline = _mm256_set1_epi8(b'\n'.cast_signed());
    let (steps, rest) = bytes.as_chunks::<STEP_BYTES>();
    let mut total = _mm256_setzero_si256();
    for pages in pages {
        let mut counts = [_mm256_setzero_si256(); REGISTERS];
        for step in 0..STEPS_OF_PAGES {
            for (count, page) in counts.iter_mut().zip(pages) {
                let equal = _mm256_cmpeq_epi8(load(&page.as_chunks().0[step]), newline);
                *count = _mm256_sub_epi8(*count, equal);
            }
        }
        for count in counts {
            total = _mm256_add_epi64(total, grouped_sums(count));
        }
    }
    for run in steps.chunks(STEPS_MAX) {
        let mut counts = [_mm256_setzero_si256(); REGISTERS];
        for step in run {
            for (count, register) in counts.iter_mut().zip(step.as_chunks().0) {
                *count = _mm256_sub_epi8(*count, _mm256_cmpeq_epi8(load(register), newline));
            }
        }
        for count in counts {
            total = _mm256_add_epi64(total, grouped_sums(count));
        }
    }
    lanes_sum(total) + portable::newlines_iterator(rest)
}

#[target_feature(enable = "avx2")]
fn sum_bytes(pages: &[Pages], bytes: &[u8]) -> u8 {
    let (steps, rest) = bytes.as_chunks::<STEP_BYTES>();
    let mut sums = [_mm256_setzero_si256(); REGISTERS];
    for pages in pages {
        for step in 0..STEPS_OF_PAGES {
            for (sum, page) in sums.iter_mut().zip(pages) {
                *sum = _mm256_add_epi8(*sum, load(&page.as_chunks().0[step]));
            }
        }
    }
    for step in steps {
        for (sum, register) in sums.iter_mut().zip(step.as_chunks().0) {
            *sum = _mm256_add_epi8(*sum, load(register));
        }
    }
    let [a, b, c, d] = sums;
    let total = _mm256_add_epi8(_mm256_add_epi8(a, b), _mm256_add_epi8(c, d));
    // The cast keeps only the low byte, which makes the sum wrap.
    (lanes_sum(grouped_sums(total)) as u8).wrapping_add(portable::sum_iterator(rest))
}

#[target_feature(enable = "avx2")]
fn load(register: &[u8; REGISTER_BYTES]) -> __m256i {
    // SAFETY: the array has exactly the 32 bytes that are loaded, and the load needs no alignment.
    unsafe { _mm256_loadu_si256(register.as_ptr().cast()) }
}

/// The sums of the 32 bytes in groups of eight, in four 64-bit lanes.
#[target_feature(enable = "avx2")]
fn grouped_sums(bytes: __m256i) -> __m256i {
    _mm256_sad_epu8(bytes, _mm256_setzero_si256())
}

#[target_feature(enable = "avx2")]
fn lanes_sum(lanes: __m256i) -> u64 {
    let lanes = [
        _mm256_extract_epi64::<0>(lanes),
        _mm256_extract_epi64::<1>(lanes),
        _mm256_extract_epi64::<2>(lanes),
        _mm256_extract_epi64::<3>(lanes),
    ];
    lanes.into_iter().map(i64::cast_unsigned).sum()
}
