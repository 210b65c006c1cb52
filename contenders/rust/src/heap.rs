//! The C library's allocator, kept from changing its mind between readings.
//!
//! From a certain size it gives a block a mapping of its own and returns it to the kernel when
//! freed. By itself it raises that size whenever such a block is freed, so that a standard reader's
//! large buffer would cost the first reading more than the later ones, and would stay, with the
//! file's bytes in it, when nothing is being read.

/// Fixes the size from which blocks get a mapping of their own, at the C library's own default.
#[cfg(target_env = "gnu")]
pub fn return_large_blocks() {
    const OWN_MAPPING_FROM_BYTES: libc::c_int = 128 << 10;
    // SAFETY: sets one number in the allocator, under its own lock.
    let set = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, OWN_MAPPING_FROM_BYTES) };
    assert_eq!(set, 1, "mallopt takes its own default value");
}

/// Other C libraries have no such moving threshold.
#[cfg(not(target_env = "gnu"))]
pub fn return_large_blocks() {}
