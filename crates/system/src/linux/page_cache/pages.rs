//! Counts a file's pages in the page cache with cachestat(2), mincore(2), or non-blocking reads.

use super::{bytes_fetched_by_thread, evict_page};
use crate::user;
use memmap2::{Advice, MmapOptions, MmapRaw};
use rustix::fs::{Access, AtFlags, CWD};
use rustix::io::{Errno, ReadWriteFlags};
use std::ffi::{c_int, c_long};
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes of the file that one mincore(2) call covers; its result takes one byte for each page.
const WINDOW_BYTES: u64 = 1 << 30;

/// The system call number of cachestat(2), the same on all architectures that Rust supports.
const SYS_CACHESTAT: c_long = 451;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachedPageCounts {
    pub resident: u64,
    /// Resident pages that are dirty or under writeback.
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

/// Checks whether this process may call cachestat(2); the error is the reason why not.
pub fn check_cachestat() -> Result<(), String> {
    let nothing = std::ptr::null::<u8>();
    // SAFETY: with a descriptor that is never open the kernel reads and writes no memory of ours.
    let answer = unsafe { libc::syscall(SYS_CACHESTAT, -1, nothing, nothing, 0) };
    match last_errno() {
        // A kernel with cachestat checks the descriptor before anything else.
        _ if answer == 0 => Ok(()),
        Errno::BADF => Ok(()),
        Errno::NOSYS => Err("this kernel has no cachestat (Linux 6.5 and later do)".to_owned()),
        cause => Err(format!("cachestat: {}", io::Error::from(cause))),
    }
}

/// Counts the pages of a range of a file with cachestat(2), since Linux 6.5. `None` if the kernel,
/// the file system, the owner of the file or a sandbox does not permit the call.
pub fn count_by_cachestat(file: &File, range: &Range<u64>) -> io::Result<Option<CachedPageCounts>> {
    match cachestat(file.as_fd(), range) {
        Ok(stat) => {
            let dirty = stat.nr_dirty + stat.nr_writeback;
            Ok(Some(CachedPageCounts { resident: stat.nr_cache, dirty }))
        }
        Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => Ok(None),
        Err(cause) => Err(cause.into()),
    }
}

/// Calls cachestat(2) on a range. The length is given and not left at 0 ("to the end"), because the
/// last folio may extend beyond the end of the file.
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

/// True if [`count_by_mincore`] reports the truth to this process.
///
/// mincore(2) reports true values to the file's owner and to users who may write the file. To
/// others it reports all pages as resident (`can_do_mincore` in the kernel's mm/mincore.c).
pub fn mincore_is_true(file: &File, path: &Path) -> bool {
    owns(file) || rustix::fs::accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

/// Like [`mincore_is_true`], for a file of a stacked file system. There mincore(2) checks
/// permissions for the file in the layer below, and permission to write the upper file does not
/// suffice.
pub fn mincore_is_true_of_lower_file(file: &File) -> bool {
    owns(file) || user::is_root()
}

/// True if the program behind a FUSE file system passes the kernel another file, whose pages serve
/// all reads (FUSE passthrough). cachestat(2) counts pages of the FUSE file, which has none;
/// mincore(2) counts pages of the file behind the mapping. The test reads the first page. For users
/// other than root the result is `false`, because mincore(2) may report all pages as resident to them.
pub fn uses_fuse_passthrough(file: &File) -> io::Result<bool> {
    if !user::is_root() || file.read_at(&mut [0], 0)? == 0 {
        return Ok(false);
    }
    let is_in_fuse = count_by_cachestat(file, &(0..1))?.is_none_or(|counted| counted.resident > 0);
    // Some FUSE files cannot be mapped.
    Ok(!is_in_fuse && count_by_mincore(file, 0..1).is_ok_and(|resident| resident == 1))
}

/// True if mincore(2) reports the truth for a FUSE file, even with FUSE passthrough.
pub fn mincore_is_true_of_fuse(file: &File) -> bool {
    user::is_root() && count_by_mincore(file, 0..1).is_ok()
}

fn owns(file: &File) -> bool {
    file.metadata().is_ok_and(|meta| user::owns(&meta))
}

/// Counts the resident pages of a range, which begins on a page boundary, with mincore(2), window
/// by window.
pub fn count_by_mincore(file: &File, range: Range<u64>) -> io::Result<u64> {
    let resident = windows(range).map(|window| -> io::Result<u64> {
        let mapped = map_window(file, &window)?;
        let mut pages = vec![0_u8; mapped.len().div_ceil(rustix::param::page_size())];
        // SAFETY: the mapping has this length, and `pages` a byte for each page.
        check_status(unsafe { libc::mincore(mapped.as_mut_ptr().cast(), mapped.len(), pages.as_mut_ptr()) })?;
        Ok(pages.iter().filter(|&&page| page & 1 == 1).count() as u64)
    });
    resident.sum()
}

/// Asks the kernel once to evict the pages behind a mapping of the file, window by window. With
/// FUSE passthrough no other call reaches these pages. Missing pages are read first.
pub fn page_out(file: &File, bytes: u64) -> io::Result<()> {
    windows(0..bytes).try_for_each(|window| {
        let mapped = map_window(file, &window)?;
        mapped.advise(Advice::PopulateRead)?;
        // SAFETY: the mapping has this length, and the advice does not change what it maps.
        check_status(unsafe { libc::madvise(mapped.as_mut_ptr().cast(), mapped.len(), libc::MADV_PAGEOUT) })
    })
}

fn windows(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let end = range.end;
    let starts = range.step_by(usize::try_from(WINDOW_BYTES).expect("a window fits the address space"));
    starts.map(move |start| start..end.min(start + WINDOW_BYTES))
}

/// Maps a window of a file. Only the kernel touches the mapping, so a file that shrinks meanwhile
/// raises no signal.
fn map_window(file: &File, window: &Range<u64>) -> io::Result<MmapRaw> {
    let bytes = usize::try_from(window.end - window.start).expect("a window fits the address space");
    MmapOptions::new().offset(window.start).len(bytes).map_raw_read_only(file)
}

/// The result of a libc function that returns 0 on success.
fn check_status(returned: c_int) -> io::Result<()> {
    if returned == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Counts the offsets whose pages are resident, with non-blocking reads of one byte
/// (`preadv2(RWF_NOWAIT)`). `None` if the file system does not support reads that do not wait.
///
/// Pages that the probe made the kernel fetch are evicted again. The file needs its own open file
/// description with read-ahead disabled, because a probe of a missing page would otherwise fetch
/// many pages.
pub fn count_by_nowait_reads(file: &File, offsets: &[u64]) -> io::Result<Option<u64>> {
    let mut missing = Vec::new();
    for &offset in offsets {
        let mut byte = [0];
        let slices = &mut [IoSliceMut::new(&mut byte)];
        let before = bytes_fetched_by_thread();
        match rustix::io::preadv2(file, slices, offset, ReadWriteFlags::NOWAIT) {
            Ok(_) if bytes_fetched_by_thread() == before => {}
            // The device answered before the call returned, so the probe itself fetched the page.
            Ok(_) | Err(Errno::AGAIN) => missing.push(offset),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(None),
            Err(cause) => return Err(cause.into()),
        }
    }
    for &offset in &missing {
        // The kernel began to fetch this page when the probe missed it. A page that is being
        // fetched cannot be evicted, so this read waits for it first.
        file.read_at(&mut [0], offset)?;
        evict_page(file, offset)?;
    }
    Ok(Some((offsets.len() - missing.len()) as u64))
}

fn last_errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}
