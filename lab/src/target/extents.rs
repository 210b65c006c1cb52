//! How a file's bytes lie on the device, from `FS_IOC_FIEMAP` (Documentation/filesystems/fiemap.rst in the kernel).
//!
//! Holes and unwritten extents read as zeros without touching the device; encoded extents take fewer bytes from it than
//! they give. Without this a reading can look faster than the device is.

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

/// How a file's extents lie on the device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extents {
    /// How many there are.
    pub count: u64,
    /// Bytes that no extent holds: reading them touches no device.
    pub hole_bytes: u64,
    /// Bytes in extents that were reserved and never written: they read as zeros without touching the device.
    pub unwritten_bytes: u64,
    /// Bytes in extents that are stored otherwise than they read, compressed or encrypted.
    pub encoded_bytes: u64,
    /// Bytes stored within the file system's own tables.
    pub inline_bytes: u64,
}

// From include/uapi/linux/fiemap.h; `FS_IOC_FIEMAP` is `_IOWR('f', 11, struct fiemap)`.
const FS_IOC_FIEMAP: u32 = 0xC020_660B;
const FLAG_SYNC: u32 = 0x1;
const EXTENT_LAST: u32 = 0x1;
const EXTENT_ENCODED: u32 = 0x8;
const EXTENT_DATA_INLINE: u32 = 0x200;
const EXTENT_DATA_TAIL: u32 = 0x400;
const EXTENT_UNWRITTEN: u32 = 0x800;

/// Extents asked for in one call.
const BATCH: usize = 256;

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap` with room for a batch.
#[repr(C)]
struct Map {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; BATCH],
}

impl Extents {
    /// Asks the file system. What is dirty is written back first, for pages that have no place yet lie in no extent.
    ///
    /// # Errors
    /// If the file system does not tell (`EOPNOTSUPP`, `ENOTTY`), or the call fails.
    pub fn of(file: &File) -> io::Result<Extents> {
        let size = file.metadata()?.size();
        let mut found = Extents::default();
        let mut end = 0;
        while end < size {
            let batch = batch(file, end, size)?;
            let Some(last) = batch.last() else { break };
            let is_last = last.flags & EXTENT_LAST != 0;
            for extent in &batch {
                found.add(extent, &mut end, size);
            }
            if is_last {
                break;
            }
        }
        found.hole_bytes += size.saturating_sub(end);
        Ok(found)
    }

    /// Takes in the next extent; `end` is where the one before it ended.
    fn add(&mut self, extent: &Extent, end: &mut u64, size: u64) {
        let start = extent.logical.clamp(*end, size);
        let stop = extent.logical.saturating_add(extent.length).clamp(start, size);
        self.count += 1;
        self.hole_bytes += start - *end;
        // Each byte is counted once, under what matters most: where no device is touched at all comes first.
        let kind = if extent.flags & EXTENT_UNWRITTEN != 0 {
            Some(&mut self.unwritten_bytes)
        } else if extent.flags & (EXTENT_DATA_INLINE | EXTENT_DATA_TAIL) != 0 {
            Some(&mut self.inline_bytes)
        } else if extent.flags & EXTENT_ENCODED != 0 {
            Some(&mut self.encoded_bytes)
        } else {
            None
        };
        if let Some(kind) = kind {
            *kind += stop - start;
        }
        *end = stop;
    }

    /// The least that a cold read of a file of this size must fetch from the device: what lies in plain extents. Encoded
    /// extents count nothing, for how small they are is not told here.
    #[must_use]
    pub fn least_device_bytes(&self, size_bytes: u64) -> u64 {
        let elsewhere = self.hole_bytes + self.unwritten_bytes + self.encoded_bytes + self.inline_bytes;
        size_bytes.saturating_sub(elsewhere)
    }
}

/// The next extents from `start` on, at most a batch of them.
fn batch(file: &File, start: u64, size: u64) -> io::Result<Vec<Extent>> {
    let mut map = Map {
        start,
        length: size - start,
        flags: FLAG_SYNC,
        mapped_extents: 0,
        extent_count: u32::try_from(BATCH).expect("a batch is small"),
        reserved: 0,
        extents: [Extent::default(); BATCH],
    };
    // SAFETY: `map` has the layout of `struct fiemap` followed by as many extents as `extent_count` says, so the kernel
    // writes only within it; it outlives the call.
    let failed = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP as libc::Ioctl, &raw mut map) } != 0;
    if failed {
        return Err(io::Error::last_os_error());
    }
    let mapped = (map.mapped_extents as usize).min(BATCH);
    Ok(map.extents[..mapped].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(logical: u64, length: u64, flags: u32) -> Extent {
        Extent { logical, length, flags, ..Extent::default() }
    }

    #[test]
    fn what_lies_between_and_behind_extents_is_a_hole() {
        let mut found = Extents::default();
        let mut end = 0;
        for (logical, length, flags) in [(4096, 4096, 0), (12_288, 8192, EXTENT_UNWRITTEN)] {
            found.add(&extent(logical, length, flags), &mut end, 16_384);
        }
        let expected = Extents { count: 2, hole_bytes: 8192, unwritten_bytes: 4096, ..Extents::default() };
        assert_eq!((found.clone(), end), (expected, 16_384));
        assert_eq!(found.least_device_bytes(16_384), 4096);
    }

    #[test]
    fn compressed_and_inline_bytes_are_counted_apart() {
        let mut found = Extents::default();
        let mut end = 0;
        found.add(&extent(0, 131_072, EXTENT_ENCODED), &mut end, 131_100);
        found.add(&extent(131_072, 4096, EXTENT_DATA_INLINE | EXTENT_LAST), &mut end, 131_100);
        assert_eq!((found.encoded_bytes, found.inline_bytes, found.hole_bytes), (131_072, 28, 0));
        assert_eq!(found.least_device_bytes(131_100), 0);
    }

    #[test]
    fn the_number_of_the_call_holds_the_size_of_its_header() {
        assert_eq!(std::mem::size_of::<Map>() - BATCH * std::mem::size_of::<Extent>(), 32);
        assert_eq!(std::mem::size_of::<Extent>(), 56);
        assert_eq!(FS_IOC_FIEMAP, rustix::ioctl::opcode::read_write::<[u64; 4]>(b'f', 11));
    }
}
