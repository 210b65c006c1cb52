//! The kernel's page cache: counts a file's resident pages, writes dirty pages back, and evicts
//! pages.
//!
//! The callers decide what a count proves. `pages` counts pages, and evicts those behind a mapping;
//! this file has the other calls.

mod pages;

use super::memory::page_bytes;
pub use pages::{
    CachedPageCounts, check_cachestat, count_by_cachestat, count_by_mincore, count_by_nowait_reads,
    mincore_is_true, mincore_is_true_of_fuse, mincore_is_true_of_lower_file, page_out, uses_fuse_passthrough,
};
use readlab_protocol::Part;
use rustix::fs::Advice;
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::num::NonZero;

/// The file with which root drops the caches of the whole machine.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// The unit in which the kernel counts the data that a thread read from devices (getrusage(2)).
const FETCHED_BLOCK_BYTES: u64 = 512;

/// Writes the dirty pages of a file to its device. Dirty pages cannot be evicted.
pub fn write_back(file: &File) -> io::Result<()> {
    match rustix::fs::fsync(file) {
        // A read-only file system, or one without fsync, has no dirty pages that it could write.
        Ok(()) | Err(Errno::ROFS | Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
        Err(cause) => Err(cause.into()),
    }
}

/// Asks the kernel once to evict a file's pages. The kernel skips mapped, dirty, locked and busy
/// pages.
pub fn evict(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, Advice::DontNeed)?)
}

/// Asks the kernel once to evict the pages within a part of the file. Large pages that extend
/// beyond the part stay.
pub fn evict_part(file: &File, part: Part) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, part.start_bytes, NonZero::new(part.length_bytes), Advice::DontNeed)?)
}

/// Asks the kernel once to evict the page that begins at an offset.
pub fn evict_page(file: &File, offset: u64) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, offset, page_bytes().try_into().ok(), Advice::DontNeed)?)
}

/// Disables read-ahead for reads through this open file description.
pub fn disable_readahead(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, Advice::Random)?)
}

/// Evicts all clean pages, dentries and inodes of the machine. Only root may do this.
pub fn evict_machine() -> io::Result<()> {
    // The value 3 means pages, dentries and inodes.
    std::fs::write(DROP_CACHES, "3")
        .map_err(|cause| io::Error::new(cause.kind(), format!("{DROP_CACHES}: {cause}")))
}

/// Checks whether [`evict_machine`] is permitted. Opening the file evicts nothing.
pub fn may_evict_machine() -> Result<(), String> {
    File::options().write(true).open(DROP_CACHES).map(drop).map_err(|cause| format!("{DROP_CACHES}: {cause}"))
}

/// Bytes that this thread has fetched from devices so far. The kernel counts them when it submits
/// the request, not when the data arrives.
pub fn bytes_fetched_by_thread() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the structure has the size and alignment that the call fills, and zeros are a value
    // of it even if it fails, which for a thread's own usage it cannot.
    let blocks = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init().ru_inblock
    };
    u64::try_from(blocks).unwrap_or(0).saturating_mul(FETCHED_BLOCK_BYTES)
}
