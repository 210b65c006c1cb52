//! Settings of the C library's allocator, so that it behaves the same in every reading.
//!
//! Blocks above a threshold get a separate mapping, which is unmapped when they are freed. By
//! default the allocator raises the threshold each time one of these blocks is freed. Then a
//! standard reader's large buffer would cost the first reading more than later ones, and would stay
//! between readings, with the file's bytes in it (mallopt(3), `M_MMAP_THRESHOLD`).

/// Fixes the size from which blocks get a separate mapping at the C library's default of 128 KiB.
/// Must be called before the first reading.
///
/// # Panics
/// If the allocator refuses its own default.
#[cfg(target_env = "gnu")]
pub fn return_large_blocks() {
    const MMAP_THRESHOLD: libc::c_int = 128 << 10;
    // SAFETY: the call sets one number in the allocator, under the allocator's lock.
    let set = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, MMAP_THRESHOLD) };
    assert_eq!(set, 1, "mallopt takes its own default value");
}

/// Does nothing: other C libraries have no moving threshold.
#[cfg(not(target_env = "gnu"))]
pub fn return_large_blocks() {}

#[cfg(all(test, target_env = "gnu"))]
mod tests {
    use super::*;

    #[test]
    fn a_large_block_has_its_own_mapping_however_often_one_was_freed() {
        return_large_blocks();
        for bytes in [1 << 20, 1 << 20, 512 << 10] {
            let block = Vec::<u8>::with_capacity(bytes);
            // The content of the block follows the two words that the allocator keeps at the
            // beginning of a mapping.
            assert_eq!(block.as_ptr().addr() % 4096, 2 * size_of::<usize>());
        }
    }
}
