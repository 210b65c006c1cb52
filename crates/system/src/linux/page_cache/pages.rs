//! Counts the pages of a file in the page cache: by cachestat(2), by mincore(2), or page by page
//! with reads that do not wait.

use super::{evict_page, fetched_bytes};
use crate::user;
use rustix::fs::{Access, AtFlags, CWD};
use rustix::io::{Errno, ReadWriteFlags};
use std::ffi::c_long;
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Part of a file that one mincore(2) call covers: its answer takes a byte a page.
const WINDOW_BYTES: u64 = 1 << 30;

/// The number of cachestat(2), the same on every architecture that Rust's standard library
/// supports.
const SYS_CACHESTAT: c_long = 451;

/// How many pages of a file are in the page cache.
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

/// Whether this kernel has cachestat(2).
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
/// every reading: cachestat(2) asks about the file of FUSE, which then has none, and mincore(2)
/// about the one that is mapped. The first page is read. Only root can tell: to others mincore(2)
/// may report "all".
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

/// Whether this process owns the file.
fn owns(file: &File) -> bool {
    file.metadata().is_ok_and(|meta| user::owns(&meta))
}

/// Counts the resident pages of a range of a file with mincore(2), window by window. It begins at a
/// page.
pub fn count_by_mincore(file: &File, range: Range<u64>) -> io::Result<u64> {
    let (mut resident, end) = (0, range.end);
    for offset in range.step_by(usize::try_from(WINDOW_BYTES).expect("a window fits the address space")) {
        resident += count_window(file, offset, WINDOW_BYTES.min(end - offset))?;
    }
    Ok(resident)
}

/// Asks the kernel once to evict the pages of what a mapping of the file maps, window by window:
/// where another file is passed, no other call reaches its pages. What is missing is read first.
pub fn page_out(file: &File, bytes: u64) -> io::Result<()> {
    for offset in (0..bytes).step_by(usize::try_from(WINDOW_BYTES).expect("a window fits the address space"))
    {
        page_out_window(file, offset, WINDOW_BYTES.min(bytes - offset))?;
    }
    Ok(())
}

fn page_out_window(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
    let len = usize::try_from(bytes).expect("a window fits the address space");
    // SAFETY: a new mapping at an address that the kernel chooses; nothing in this program refers
    // to it but the calls below, and only the kernel touches it, which reports a file that shrinks
    // as an error of the call.
    let window = unsafe { mmap(std::ptr::null_mut(), len, ProtFlags::READ, MapFlags::SHARED, file, offset) }?;
    let advised = [libc::MADV_POPULATE_READ, libc::MADV_PAGEOUT].into_iter().try_for_each(|advice| {
        // SAFETY: the mapping is `len` bytes long, and neither advice changes what it maps.
        let failed = unsafe { libc::madvise(window, len, advice) } != 0;
        if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
    });
    // SAFETY: the mapping was made above with this address and length, and nothing refers to it any
    // more.
    unsafe { munmap(window, len) }?;
    advised
}

/// Resident pages of one window.
fn count_window(file: &File, offset: u64, bytes: u64) -> io::Result<u64> {
    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
    let len = usize::try_from(bytes).expect("a window fits the address space");
    let mut pages = vec![0_u8; len.div_ceil(rustix::param::page_size())];
    // SAFETY: a new mapping at an address that the kernel chooses; nothing in this program refers
    // to it but the calls below, and it is never touched, so a file that shrinks meanwhile raises
    // no signal.
    let window = unsafe { mmap(std::ptr::null_mut(), len, ProtFlags::READ, MapFlags::SHARED, file, offset) }?;
    // SAFETY: the mapping is `len` bytes long, and `pages` has room for a byte for each of its
    // pages.
    let failed = unsafe { libc::mincore(window, len, pages.as_mut_ptr()) } != 0;
    let cause = io::Error::last_os_error();
    // SAFETY: the mapping was made above with this address and length, and nothing refers to it any
    // more.
    unsafe { munmap(window, len) }?;
    if failed {
        return Err(cause);
    }
    Ok(pages.iter().filter(|&&page| page & 1 == 1).count() as u64)
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

/// What the last call of libc failed with.
fn last_errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}
