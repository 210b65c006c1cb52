//! The page cache of the kernel: counts the pages of a file in it, writes them back, evicts them.
//!
//! What a count proves is decided elsewhere. `pages` counts, this file changes the cache.

mod pages;

use super::memory::page_bytes;
pub use pages::{
    CachedPages, can_count, count, count_by_mincore, is_passed_through, mincore_is_true,
    mincore_is_true_below, mincore_is_true_of_fuse, page_out, probe,
};
use readlab_protocol::Part;
use rustix::fs::Advice;
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::num::NonZero;

/// The file through which root empties the caches of the whole machine.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// The unit in which the kernel counts what a thread fetched from devices (getrusage(2)).
const FETCHED_BLOCK_BYTES: u64 = 512;

/// Brings the dirty pages of a file to its device. Dirty pages cannot be evicted.
pub fn write_back(file: &File) -> io::Result<()> {
    match rustix::fs::fsync(file) {
        // A file system that is read-only or has no fsync holds no dirty pages that it could write.
        Ok(()) | Err(Errno::ROFS | Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
        Err(cause) => Err(cause.into()),
    }
}

/// Asks the kernel once to evict a file's pages. Mapped, dirty, locked or busy ones are skipped.
pub fn evict(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, Advice::DontNeed)?)
}

/// The same for the pages that lie within a part of it. Large pages that go beyond it stay.
pub fn evict_part(file: &File, part: Part) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, part.start_bytes, NonZero::new(part.length_bytes), Advice::DontNeed)?)
}

/// The same for the one page that begins at an offset.
pub fn evict_page(file: &File, offset: u64) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, offset, page_bytes().try_into().ok(), Advice::DontNeed)?)
}

/// Switches readahead off for reads through this description of the file.
pub fn disable_readahead(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, Advice::Random)?)
}

/// Evicts every clean page, dentry and inode of the machine. Only root may.
pub fn evict_machine() -> io::Result<()> {
    // 3: pages, dentries and inodes.
    std::fs::write(DROP_CACHES, "3")
        .map_err(|cause| io::Error::new(cause.kind(), format!("{DROP_CACHES}: {cause}")))
}

/// Whether [`evict_machine`] is permitted. Nothing is evicted: opening changes nothing.
pub fn may_evict_machine() -> Result<(), String> {
    File::options().write(true).open(DROP_CACHES).map(drop).map_err(|cause| format!("{DROP_CACHES}: {cause}"))
}

/// Bytes that this thread has had fetched from devices so far. The kernel counts them when it
/// requests them, not when they arrive.
pub fn fetched_bytes() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the structure has the size and alignment that the call fills, and zeros are a value
    // of it even if it fails, which for a thread's own usage it cannot.
    let blocks = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init().ru_inblock
    };
    u64::try_from(blocks).unwrap_or(0).saturating_mul(FETCHED_BLOCK_BYTES)
}
