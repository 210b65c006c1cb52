//! Settings of the C library's allocator, so that it behaves the same in every reading.
//!
//! Blocks above a threshold get a separate mapping, which is unmapped when they are freed. By
//! default the allocator raises the threshold each time one of these blocks is freed. Then a
//! standard reader's large buffer would cost the first reading more than later ones, and would stay
//! between readings, with the file's bytes in it.

/// Fixes the size from which blocks get a mapping of their own, at the C library's own default.
#[cfg(target_env = "gnu")]
pub fn return_large_blocks() {
    const MMAP_THRESHOLD: libc::c_int = 128 << 10;
    // SAFETY: sets one number in the allocator, under its own lock.
    let set = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, MMAP_THRESHOLD) };
    assert_eq!(set, 1, "mallopt takes its own default value");
}

/// Other C libraries have no moving threshold.
#[cfg(not(target_env = "gnu"))]
pub fn return_large_blocks() {}
