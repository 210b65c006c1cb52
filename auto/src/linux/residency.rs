//! Residency for the choice of a strategy: whether all, some or none of a range is in the page
//! cache.
//!
//! cachestat(2) counts pages (Linux 6.5; since 6.15 only for files that the user owns or may
//! write). Without it, single bytes are read with `preadv2(RWF_NOWAIT)`. On stacked file systems
//! that do not support this flag, mincore(2) checks single pages. If no call works, the file counts
//! as partly cached, for which every strategy works.

use super::reopened;
use crate::strategy::CachedShare;
use rustix::fs::{Advice, OFlags};
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::fs::File;
use std::io::IoSliceMut;
use std::ops::{Range, RangeInclusive};
use std::os::fd::AsRawFd;

/// Number of evenly spaced bytes that are read from a range if pages cannot be counted.
const PROBES: u64 = 8;

/// Distance of the places at which pages are counted. A count visits every cached page, which takes
/// a twentieth of the time of a reading for the small pages of a large file.
const STEP_BYTES: u64 = 256 << 10;
const PLACES: RangeInclusive<u64> = 4..=32;

/// How much of a non-empty range of a file is cached, by counts in a few evenly spaced places. `None`
/// if pages cannot be counted.
pub(super) fn counted_share(file: &File, range: Range<u64>) -> Option<CachedShare> {
    let steps = ((range.end - range.start) / STEP_BYTES).clamp(*PLACES.start(), *PLACES.end()) - 1;
    let last = range.end - range.start - 1;
    let look = |at: u64| counted_share_in(file, range.start + at..range.start + at + 1);
    let first = look(0)?;
    for at in (1..steps).map(|step| last / steps * step).chain([last]) {
        if look(at)? != first {
            return Some(CachedShare::Some);
        }
    }
    Some(first)
}

fn counted_share_in(file: &File, range: Range<u64>) -> Option<CachedShare> {
    cachestat(file, range.clone()).ok().map(|found| CachedShare::from_counts(found, pages(&range)))
}

/// The method by which the residency of pages is determined.
#[derive(Debug)]
pub(super) enum Residency {
    /// cachestat(2) counts the pages.
    Counted,
    /// Single bytes are read without waiting, through a file description that does not read ahead.
    Probed(File),
    /// mincore(2) checks single mapped pages.
    Mapped,
    /// Residency cannot be determined.
    Unknown,
}

impl Residency {
    /// Chooses the best method for this file, by a byte at an offset: where that is not cached, newer
    /// kernels begin to read its page for a probe. `stacked` is set if the pages belong to a lower
    /// file system, where cachestat(2) would count none.
    pub(super) fn examine(file: &File, at: u64, stacked: bool) -> Residency {
        if !stacked && cachestat(file, at..at + 1).is_ok() {
            return Residency::Counted;
        }
        let own = reopened(file, OFlags::empty()).ok();
        let quiet = own.filter(|file| rustix::fs::fadvise(file, 0, None, Advice::Random).is_ok());
        // True if the file system does not support the flag, or the kernel lacks the call.
        let cannot_tell = |file: &File| matches!(probe(file, at), Err(Errno::OPNOTSUPP | Errno::NOSYS));
        match quiet.filter(|file| !cannot_tell(file)) {
            Some(quiet) => Residency::Probed(quiet),
            None if stacked => Residency::Mapped,
            None => Residency::Unknown,
        }
    }

    /// How much of a non-empty range of the file is cached.
    pub(super) fn of_range(&self, file: &File, range: Range<u64>) -> CachedShare {
        match self {
            Residency::Unknown => CachedShare::Some,
            Residency::Counted => counted_share_in(file, range).unwrap_or(CachedShare::Some),
            Residency::Probed(file) => sampled_share(range, |at| probe(file, at) == Ok(1)),
            Residency::Mapped => sampled_share(range, |at| is_page_there(file, at)),
        }
    }
}

/// Number of pages that a range touches.
fn pages(range: &Range<u64>) -> u64 {
    let page_bytes = rustix::param::page_size() as u64;
    range.end.div_ceil(page_bytes) - range.start / page_bytes
}

/// How much of a range is cached, by a test of evenly spaced bytes.
fn sampled_share(range: Range<u64>, is_there: impl Fn(u64) -> bool) -> CachedShare {
    let step = (range.end - range.start).div_ceil(PROBES);
    let places = || (range.start..range.end).step_by(step as usize).chain([range.end - 1]);
    CachedShare::from_counts(places().filter(|&at| is_there(at)).count() as u64, places().count() as u64)
}

/// Reads a byte unless that would wait.
fn probe(file: &File, at: u64) -> Result<usize, Errno> {
    preadv2(file, &mut [IoSliceMut::new(&mut [0])], at, ReadWriteFlags::NOWAIT)
}

/// Whether the page of a byte is in memory. A mapping of a file on stacked file systems has the
/// pages of the lower file system. To a user who neither owns the file nor may write it, the kernel
/// reports every page as resident.
fn is_page_there(file: &File, at: u64) -> bool {
    let page_bytes = rustix::param::page_size();
    let start = at / page_bytes as u64 * page_bytes as u64;
    // SAFETY: a new mapping at a place that the kernel chooses overlaps nothing.
    let mapped =
        unsafe { mmap(std::ptr::null_mut(), page_bytes, ProtFlags::READ, MapFlags::SHARED, file, start) };
    let Ok(page) = mapped else { return false };
    let mut state = 0;
    // SAFETY: the page is mapped, and one byte of state is written for it.
    let result = unsafe { libc::mincore(page, page_bytes, &raw mut state) };
    // SAFETY: the page was mapped above, and nothing refers to it.
    let _ = unsafe { munmap(page, page_bytes) };
    result == 0 && state & 1 == 1
}

/// Number of pages of a range that are in the page cache.
fn cachestat(file: &File, range: Range<u64>) -> std::io::Result<u64> {
    #[repr(C)]
    struct CachestatRange {
        off: u64,
        len: u64,
    }
    #[repr(C)]
    #[derive(Default)]
    struct Cachestat {
        nr_cache: u64,
        nr_dirty: u64,
        nr_writeback: u64,
        nr_evicted: u64,
        nr_recently_evicted: u64,
    }
    /// Number of the call on every architecture, as for all calls since Linux 5.1.
    const SYS_CACHESTAT: libc::c_long = 451;
    let asked = CachestatRange { off: range.start, len: range.end - range.start };
    let mut found = Cachestat::default();
    // SAFETY: both structures are laid out as linux/mman.h has them and outlive the call; the
    // descriptor is open.
    let result =
        unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const asked, &raw mut found, 0) };
    if result == 0 { Ok(found.nr_cache) } else { Err(std::io::Error::last_os_error()) }
}
