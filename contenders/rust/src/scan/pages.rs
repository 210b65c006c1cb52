//! The scans `pages`, which walk several pages side by side.
//!
//! A processor prefetches within a page and stops at its end, so a single walk waits at the start
//! of every page. Four walks in four neighbouring pages overlap their waits, and bytes from memory
//! arrive faster. For bytes in the caches it makes no difference. Eight walks are slower there,
//! because bytes one page apart compete for the same cache sets.

/// The size of a page, and the length of each walk.
pub(super) const PAGE_BYTES: usize = 4096;

/// Number of walks at a time.
pub(super) const PAGES: usize = 4;

/// Pages that are walked side by side.
pub(super) type Pages = [[u8; PAGE_BYTES]; PAGES];

/// Splits a slice into the part for four walks, and the rest. The walks need not start at page
/// boundaries: each is as long as a page, so each is in a different page at any time.
pub(super) fn split_pages(bytes: &[u8]) -> (&[Pages], &[u8]) {
    let (pages, _) = bytes.as_chunks();
    let (groups, _) = pages.as_chunks();
    (groups, &bytes[size_of_val(groups)..])
}
