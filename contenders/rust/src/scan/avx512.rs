//! Scans with 64-byte registers (AVX-512 F and BW).
//!
//! Four registers are processed at a time, each with its own accumulator. A comparison yields one
//! bit for each byte, and the bits are counted. The rest at the end is loaded under a mask that
//! reads no byte beyond the end, so there is no loop over single bytes.
//!
//! The `pages` scans load the four registers from four neighbouring pages. [`super::pages`]
//! explains why.

use super::pages::{PAGE_BYTES, PAGES, Pages, split_pages};
use std::arch::x86_64::{
    __m512i, _mm512_add_epi8, _mm512_cmpeq_epi8_mask, _mm512_loadu_si512, _mm512_maskz_loadu_epi8,
    _mm512_reduce_add_epi64, _mm512_sad_epu8, _mm512_set1_epi8, _mm512_setzero_si512,
};

const REGISTER_BYTES: usize = 64;
const REGISTERS: usize = PAGES;
const STEP_BYTES: usize = REGISTER_BYTES * REGISTERS;
const STEPS_OF_PAGES: usize = PAGE_BYTES / REGISTER_BYTES;

/// Whether the processor has these instructions; the standard library caches the answer.
pub(super) fn detected() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("popcnt")
}

pub(super) fn newlines(bytes: &[u8]) -> u64 {
    assert!(detected(), "AVX-512 is offered only where the processor has it");
    // SAFETY: the processor has the features, as just asserted.
    unsafe { count_newlines(&[], bytes) }
}

/// Counts newlines, four pages side by side.
pub(super) fn newlines_pages(bytes: &[u8]) -> u64 {
    assert!(detected(), "AVX-512 is offered only where the processor has it");
    let (pages, rest) = split_pages(bytes);
    // SAFETY: the processor has the features, as just asserted.
    unsafe { count_newlines(pages, rest) }
}

/// Sums all bytes, wrapping.
pub(super) fn sum(bytes: &[u8]) -> u8 {
    assert!(detected(), "AVX-512 is offered only where the processor has it");
    // SAFETY: the processor has the features, as just asserted.
    unsafe { sum_bytes(&[], bytes) }
}

/// Sums all bytes, wrapping, four pages side by side.
pub(super) fn sum_pages(bytes: &[u8]) -> u8 {
    assert!(detected(), "AVX-512 is offered only where the processor has it");
    let (pages, rest) = split_pages(bytes);
    // SAFETY: the processor has the features, as just asserted.
    unsafe { sum_bytes(pages, rest) }
}

#[target_feature(enable = "avx512f,avx512bw,popcnt")]
fn count_newlines(pages: &[Pages], bytes: &[u8]) -> u64 {
    let newline = _mm512_set1_epi8(b'\n'.cast_signed());
    let (steps, rest) = bytes.as_chunks::<STEP_BYTES>();
    let mut counts = [0u64; REGISTERS];
    for pages in pages {
        for step in 0..STEPS_OF_PAGES {
            for (count, page) in counts.iter_mut().zip(pages) {
                let equal = _mm512_cmpeq_epi8_mask(load(&page.as_chunks().0[step]), newline);
                *count += u64::from(equal.count_ones());
            }
        }
    }
    for step in steps {
        for (count, register) in counts.iter_mut().zip(step.as_chunks().0) {
            *count += u64::from(_mm512_cmpeq_epi8_mask(load(register), newline).count_ones());
        }
    }
    for part in rest.chunks(REGISTER_BYTES) {
        counts[0] += u64::from(_mm512_cmpeq_epi8_mask(load_part(part), newline).count_ones());
    }
    counts.iter().sum()
}

#[target_feature(enable = "avx512f,avx512bw,popcnt")]
fn sum_bytes(pages: &[Pages], bytes: &[u8]) -> u8 {
    let (steps, rest) = bytes.as_chunks::<STEP_BYTES>();
    let mut sums = [_mm512_setzero_si512(); REGISTERS];
    for pages in pages {
        for step in 0..STEPS_OF_PAGES {
            for (sum, page) in sums.iter_mut().zip(pages) {
                *sum = _mm512_add_epi8(*sum, load(&page.as_chunks().0[step]));
            }
        }
    }
    for step in steps {
        for (sum, register) in sums.iter_mut().zip(step.as_chunks().0) {
            *sum = _mm512_add_epi8(*sum, load(register));
        }
    }
    for part in rest.chunks(REGISTER_BYTES) {
        sums[0] = _mm512_add_epi8(sums[0], load_part(part));
    }
    let [a, b, c, d] = sums;
    let total = _mm512_add_epi8(_mm512_add_epi8(a, b), _mm512_add_epi8(c, d));
    // The cast keeps only the low byte, which makes the sum wrap.
    _mm512_reduce_add_epi64(_mm512_sad_epu8(total, _mm512_setzero_si512())) as u8
}

#[target_feature(enable = "avx512f,avx512bw,popcnt")]
fn load(register: &[u8; REGISTER_BYTES]) -> __m512i {
    // SAFETY: the array has exactly the 64 bytes that are loaded, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(register.as_ptr().cast()) }
}

/// Loads 1 to 64 bytes. The other bytes become zero, which is no newline and adds nothing.
#[target_feature(enable = "avx512f,avx512bw,popcnt")]
fn load_part(part: &[u8]) -> __m512i {
    let mask = u64::MAX >> (REGISTER_BYTES - part.len());
    // SAFETY: the mask has one bit for each byte of the part, and masked-off bytes are not read.
    unsafe { _mm512_maskz_loadu_epi8(mask, part.as_ptr().cast()) }
}
