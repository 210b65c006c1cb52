//! A setting of the C library's allocator, so that it behaves the same in every reading.
//!
//! Blocks above a threshold get a mapping of their own, which is unmapped when they are freed. By
//! default the allocator raises the threshold each time such a block is freed: then a buffer would
//! cost the first reading more than later ones, and would stay between readings, with the file's
//! bytes in it.

/// Fixes the size from which blocks get a mapping of their own, at the C library's own default.
#[cfg(target_env = "gnu")]
pub(crate) fn return_large_blocks() {
    const OWN_MAPPING_FROM_BYTES: libc::c_int = 128 << 10;
    // SAFETY: sets one number in the allocator, under its own lock.
    let set = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, OWN_MAPPING_FROM_BYTES) };
    assert_eq!(set, 1, "mallopt takes its own default value");
}

/// Other C libraries have no moving threshold.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn return_large_blocks() {}
