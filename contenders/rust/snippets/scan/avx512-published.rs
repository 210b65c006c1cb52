// needs: unsafe code
use std::arch::x86_64::{_mm512_cmpeq_epi8_mask, _mm512_loadu_si512, _mm512_set1_epi8};

/// Counts newlines, 64 bytes at a time where the processor can.
pub fn newlines(bytes: &[u8]) -> u64 {
    if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has the features.
        unsafe { with_avx512(bytes) }
    } else {
        plainly(bytes)
    }
}

fn plainly(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

#[target_feature(enable = "avx512bw,popcnt")]
fn with_avx512(bytes: &[u8]) -> u64 {
    let newline = _mm512_set1_epi8(b'\n' as i8);
    let (registers, rest) = bytes.as_chunks::<64>();
    let count = |register: &[u8; 64]| {
        // SAFETY: the array has the 64 bytes that are loaded; no alignment is needed.
        let loaded = unsafe { _mm512_loadu_si512(register.as_ptr().cast()) };
        u64::from(_mm512_cmpeq_epi8_mask(loaded, newline).count_ones())
    };
    registers.iter().map(count).sum::<u64>() + one_by_one(rest)
}

fn one_by_one(bytes: &[u8]) -> u64 {
    let mut count = 0;
    for &byte in bytes {
        if byte == b'\n' {
            count += 1;
        }
    }
    count
}
