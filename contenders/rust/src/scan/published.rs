//! The scans of a published comparison of methods to count newlines. They process one register at a
//! time. Each register is compared, the equal bytes become a mask, and the bits of the mask are
//! counted. The bytes after the last whole register are compared one by one.
//!
//! They show the speed of the published code. Our own scans, with four registers at a time, are in
//! [`super::avx2`] and [`super::avx512`].

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8,
    _mm512_cmpeq_epi8_mask, _mm512_loadu_si512, _mm512_set1_epi8,
};

/// Whether the processor has the instructions of [`newlines_avx2`].
pub(super) fn avx2_detected() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt")
}

pub(super) fn newlines_avx2(bytes: &[u8]) -> u64 {
    assert!(avx2_detected(), "AVX2 is offered only where the processor has it");
    // SAFETY: the processor has the features, as just asserted.
    unsafe { avx2(bytes) }
}

pub(super) fn newlines_avx512(bytes: &[u8]) -> u64 {
    assert!(super::avx512::detected(), "AVX-512 is offered only where the processor has it");
    // SAFETY: the processor has the features, as just asserted.
    unsafe { avx512(bytes) }
}

#[target_feature(enable = "avx2,popcnt")]
fn avx2(bytes: &[u8]) -> u64 {
    let newline = _mm256_set1_epi8(b'\n'.cast_signed());
    let (registers, rest) = bytes.as_chunks::<{ size_of::<__m256i>() }>();
    let mut newlines = 0;
    for register in registers {
        // SAFETY: the array has exactly the bytes that are loaded, and the load needs no alignment.
        let loaded = unsafe { _mm256_loadu_si256(register.as_ptr().cast()) };
        let equal = _mm256_movemask_epi8(_mm256_cmpeq_epi8(loaded, newline));
        newlines += u64::from(equal.count_ones());
    }
    newlines + tail(rest)
}

#[target_feature(enable = "avx512f,avx512bw,popcnt")]
fn avx512(bytes: &[u8]) -> u64 {
    let newline = _mm512_set1_epi8(b'\n'.cast_signed());
    let (registers, rest) = bytes.as_chunks::<{ size_of::<__m512i>() }>();
    let mut newlines = 0;
    for register in registers {
        // SAFETY: the array has exactly the bytes that are loaded, and the load needs no alignment.
        let loaded = unsafe { _mm512_loadu_si512(register.as_ptr().cast()) };
        newlines += u64::from(_mm512_cmpeq_epi8_mask(loaded, newline).count_ones());
    }
    newlines + tail(rest)
}

/// Counts newlines in the bytes that fill no register.
fn tail(bytes: &[u8]) -> u64 {
    let mut newlines = 0;
    for &byte in bytes {
        newlines += u64::from(byte == b'\n');
    }
    newlines
}
