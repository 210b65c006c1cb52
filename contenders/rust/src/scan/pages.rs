//! Walking several pages side by side.
//!
//! A processor fetches ahead within a page and stops at its end, so one walk from first to last
//! byte waits anew in every page. Four walks in four neighbouring pages overlap their waits: bytes
//! that lie in memory arrive faster. In the caches it makes no difference; eight walks are slower
//! there, since bytes a page apart compete for the same places.

/// The size of a page, and the length of each walk.
pub(super) const PAGE_BYTES: usize = 4096;

/// Walks at a time.
pub(super) const PAGES: usize = 4;

/// Pages that are walked side by side.
pub(super) type Pages = [[u8; PAGE_BYTES]; PAGES];

/// What can be walked so, and the rest. The walks need not begin where pages begin: they are as
/// long as pages, so each has a page of its own at any time.
pub(super) fn by_pages(bytes: &[u8]) -> (&[Pages], &[u8]) {
    let (pages, _) = bytes.as_chunks();
    let (groups, _) = pages.as_chunks();
    (groups, &bytes[size_of_val(groups)..])
}
