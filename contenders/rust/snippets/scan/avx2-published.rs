// needs: unsafe code
use std::arch::x86_64::{_mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8};

/// Counts newlines, 32 bytes at a time where the processor can.
pub fn newlines(bytes: &[u8]) -> u64 {
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has the features.
        unsafe { with_avx2(bytes) }
    } else {
        plainly(bytes)
    }
}

fn plainly(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

#[target_feature(enable = "avx2,popcnt")]
fn with_avx2(bytes: &[u8]) -> u64 {
    let newline = _mm256_set1_epi8(b'\n' as i8);
    let (registers, rest) = bytes.as_chunks::<32>();
    let count = |register: &[u8; 32]| {
        // SAFETY: the array has the 32 bytes that are loaded; no alignment is needed.
        let loaded = unsafe { _mm256_loadu_si256(register.as_ptr().cast()) };
        u64::from(_mm256_movemask_epi8(_mm256_cmpeq_epi8(loaded, newline)).count_ones())
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
