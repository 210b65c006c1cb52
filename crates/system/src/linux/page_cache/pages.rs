//! Counts a file's pages in the page cache: by cachestat(2), mincore(2), or reads that do not wait.

use super::{evict_page, fetched_bytes};
use crate::user;
use rustix::fs::{Access, AtFlags, CWD};
use rustix::io::{Errno, ReadWriteFlags};
use std::ffi::{c_int, c_long, c_void};
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Part of a file that one mincore(2) call covers: its answer takes a byte a page.
const WINDOW_BYTES: u64 = 1 << 30;

/// The number of cachestat(2), the same on every architecture of Rust's standard library.
const SYS_CACHESTAT: c_long = 451;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachedPages {
    pub resident: u64,
    /// Those of them that wait to be written to the device, or are being written.
    pub dirty: u64,
}

/// `struct cachestat` of the kernel's include/uapi/linux/mman.h, in pages.
#[repr(C)]
#[derive(Default)]
struct CacheStat {
    nr_cache: u64,
    nr_dirty: u64,
    nr_writeback: u64,
    nr_evicted: u64,
    nr_recently_evicted: u64,
}

pub fn can_count() -> Result<(), String> {
    let nothing = std::ptr::null::<u8>();
    // SAFETY: with a descriptor that is never open the kernel reads and writes no memory of ours.
    let answer = unsafe { libc::syscall(SYS_CACHESTAT, -1, nothing, nothing, 0) };
    match last_errno() {
        // A kernel that has the call checks the descriptor before anything else.
        _ if answer == 0 => Ok(()),
        Errno::BADF => Ok(()),
        Errno::NOSYS => Err("this kernel has no cachestat (Linux 6.5 and later do)".to_owned()),
        cause => Err(format!("cachestat: {}", io::Error::from(cause))),
    }
}

/// Counts the pages of a range of a file with cachestat(2), since Linux 6.5. `None` where
/// the kernel, the file system, the owner of the file or a sandbox does not permit that.
pub fn count(file: &File, range: &Range<u64>) -> io::Result<Option<CachedPages>> {
    match cachestat(file.as_fd(), range) {
        Ok(stat) => {
            let dirty = stat.nr_dirty + stat.nr_writeback;
            Ok(Some(CachedPages { resident: stat.nr_cache, dirty }))
        }
        Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => Ok(None),
        Err(cause) => Err(cause.into()),
    }
}

/// cachestat(2) on a range. The length is given rather than left at 0, "to the end": the last folio
/// may reach beyond the end of the file.
fn cachestat(file: BorrowedFd<'_>, range: &Range<u64>) -> Result<CacheStat, Errno> {
    let range = [range.start, range.end - range.start];
    let mut found = CacheStat::default();
    // SAFETY: `range` has the layout of `struct cachestat_range` (two 64-bit integers, offset and
    // length) and is only read; `found` has the layout of `struct cachestat` and is written only
    // within its size; both outlive the call.
    let failed =
        unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), range.as_ptr(), &raw mut found, 0) } != 0;
    if failed { Err(last_errno()) } else { Ok(found) }
}

/// Whether [`count_by_mincore`] reports the truth to this process.
///
/// mincore(2) counts for the owner and for those who may write the file, and reports "all" to
/// others (`can_do_mincore` in the kernel's mm/mincore.c).
pub fn mincore_is_true(file: &File, path: &Path) -> bool {
    owns(file) || rustix::fs::accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

/// The same on a file system that is a stack of others, where mincore(2) checks the rights to the
/// file underneath: the right to write this one does not count.
pub fn mincore_is_true_below(file: &File) -> bool {
    owns(file) || user::is_root()
}

/// Whether a program behind a FUSE file system passes the kernel another file, whose pages serve
/// every reading: cachestat(2) asks about FUSE's file, which has none, mincore(2) about the mapped
/// one. The first page is read. Only root can tell: mincore(2) may report "all" to others.
pub fn is_passed_through(file: &File) -> io::Result<bool> {
    if !user::is_root() || file.read_at(&mut [0], 0)? == 0 {
        return Ok(false);
    }
    let is_in_fuse = count(file, &(0..1))?.is_none_or(|counted| counted.resident > 0);
    // Some files of FUSE cannot be mapped.
    Ok(!is_in_fuse && count_by_mincore(file, 0..1).is_ok_and(|resident| resident == 1))
}

/// Whether mincore(2) reports the truth of a file of FUSE, also where another one is passed.
pub fn mincore_is_true_of_fuse(file: &File) -> bool {
    user::is_root() && count_by_mincore(file, 0..1).is_ok()
}

fn owns(file: &File) -> bool {
    file.metadata().is_ok_and(|meta| user::owns(&meta))
}

/// Counts the resident pages of a range, which begins at a page, with mincore(2), by windows.
pub fn count_by_mincore(file: &File, range: Range<u64>) -> io::Result<u64> {
    let resident = windows(range).map(|window| {
        with_mapped(file, &window, |start, bytes| {
            let mut pages = vec![0_u8; bytes.div_ceil(rustix::param::page_size())];
            // SAFETY: the mapping has so many bytes, and `pages` a byte for each of its pages.
            succeeded(unsafe { libc::mincore(start, bytes, pages.as_mut_ptr()) })?;
            Ok(pages.iter().filter(|&&page| page & 1 == 1).count() as u64)
        })
    });
    resident.sum()
}

/// Asks the kernel once to evict the pages of what a mapping of the file maps, window by window:
/// where another file is passed, no other call reaches its pages. What is missing is read first.
pub fn page_out(file: &File, bytes: u64) -> io::Result<()> {
    windows(0..bytes).try_for_each(|window| {
        with_mapped(file, &window, |start, bytes| {
            [libc::MADV_POPULATE_READ, libc::MADV_PAGEOUT].into_iter().try_for_each(|advice| {
                // SAFETY: the mapping has so many bytes, and neither advice changes what it maps.
                succeeded(unsafe { libc::madvise(start, bytes, advice) })
            })
        })
    })
}

fn windows(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let end = range.end;
    let starts = range.step_by(usize::try_from(WINDOW_BYTES).expect("a window fits the address space"));
    starts.map(move |start| start..end.min(start + WINDOW_BYTES))
}

/// Maps a window of a file for one call about its address and its bytes.
fn with_mapped<T>(
    file: &File,
    window: &Range<u64>,
    call: impl FnOnce(*mut c_void, usize) -> io::Result<T>,
) -> io::Result<T> {
    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
    let bytes = usize::try_from(window.end - window.start).expect("a window fits the address space");
    // SAFETY: a new mapping at an address that the kernel chooses; nothing in this program refers
    // to it but the call, and only the kernel touches it, so a file that shrinks meanwhile raises
    // no signal.
    let start =
        unsafe { mmap(std::ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, file, window.start) }?;
    let called = call(start, bytes);
    // SAFETY: it was made above with this address and length, and nothing refers to it any more.
    unsafe { munmap(start, bytes) }?;
    called
}

/// The result of a call of libc that returns 0 where it succeeds.
fn succeeded(returned: c_int) -> io::Result<()> {
    if returned == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether the page at each offset is resident, by a read of one byte that does not wait
/// (`preadv2(RWF_NOWAIT)`); how many are. `None` where the file system has no such reads.
///
/// Pages that the probe made the kernel fetch are evicted again. The file needs a description of
/// its own with readahead disabled: a probe that misses would fetch far more than one page.
pub fn probe(file: &File, offsets: &[u64]) -> io::Result<Option<u64>> {
    let mut missing = Vec::new();
    for &offset in offsets {
        let mut byte = [0];
        let slices = &mut [IoSliceMut::new(&mut byte)];
        let before = fetched_bytes();
        match rustix::io::preadv2(file, slices, offset, ReadWriteFlags::NOWAIT) {
            Ok(_) if fetched_bytes() == before => {}
            // The device answered before the call returned: the probe itself fetched the page.
            Ok(_) | Err(Errno::AGAIN) => missing.push(offset),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(None),
            Err(cause) => return Err(cause.into()),
        }
    }
    for &offset in &missing {
        // The kernel began to fetch this page when it was found missing. A page that is still being
        // fetched cannot be evicted, so this read waits for it first.
        file.read_at(&mut [0], offset)?;
        evict_page(file, offset)?;
    }
    Ok(Some((offsets.len() - missing.len()) as u64))
}

fn last_errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}
