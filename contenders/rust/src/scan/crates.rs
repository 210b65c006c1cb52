//! Scans from crates, for programs that do not write their own.

/// Counts newlines with the `bytecount` crate.
pub(super) fn newlines_bytecount(bytes: &[u8]) -> u64 {
    bytecount::count(bytes, b'\n') as u64
}

/// Counts newlines with the `memchr` crate.
pub(super) fn newlines_memchr(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
