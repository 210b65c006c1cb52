//! The extents of a file on its device, from `FS_IOC_FIEMAP` (fiemap.rst of the kernel).

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;

/// How an extent stores its bytes. If several kinds apply, the first in this order is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtentKind {
    /// Reserved and never written: the extent reads as zeros without touching the device.
    Unwritten,
    /// Stored within the tables of the file system.
    Inline,
    /// Stored compressed or encrypted.
    Encoded,
    /// Stored as the bytes are read.
    Plain,
}

/// A part of a file that is stored in one piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Offset in the file at which the extent begins.
    pub start_bytes: u64,
    pub length_bytes: u64,
    pub kind: ExtentKind,
}

// From include/uapi/linux/fiemap.h; `FS_IOC_FIEMAP` is `_IOWR('f', 11, struct fiemap)`.
const FS_IOC_FIEMAP: u32 = 0xC020_660B;
const FLAG_SYNC: u32 = 0x1;
const EXTENT_LAST: u32 = 0x1;
const EXTENT_ENCODED: u32 = 0x8;
const EXTENT_DATA_INLINE: u32 = 0x200;
const EXTENT_DATA_TAIL: u32 = 0x400;
const EXTENT_UNWRITTEN: u32 = 0x800;

const BATCH_EXTENTS: usize = 256;

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct RawExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap` with space for a batch.
#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [RawExtent; BATCH_EXTENTS],
}

/// Calls `take` with each extent that overlaps a range of a file, in order. Dirty pages are written
/// back first, because a page without blocks on the device is in no extent yet.
pub fn for_each(file: &File, range: Range<u64>, mut take: impl FnMut(Extent)) -> io::Result<()> {
    let mut start = range.start;
    while start < range.end {
        let batch = batch(file, start, range.end)?;
        let Some(last) = batch.last() else { break };
        batch.iter().map(Extent::from).for_each(&mut take);
        if last.flags & EXTENT_LAST != 0 {
            break;
        }
        start = last.logical.saturating_add(last.length).max(start);
    }
    Ok(())
}

impl From<&RawExtent> for Extent {
    fn from(raw: &RawExtent) -> Extent {
        let kind = if raw.flags & EXTENT_UNWRITTEN != 0 {
            ExtentKind::Unwritten
        } else if raw.flags & (EXTENT_DATA_INLINE | EXTENT_DATA_TAIL) != 0 {
            ExtentKind::Inline
        } else if raw.flags & EXTENT_ENCODED != 0 {
            ExtentKind::Encoded
        } else {
            ExtentKind::Plain
        };
        Extent { start_bytes: raw.logical, length_bytes: raw.length, kind }
    }
}

fn batch(file: &File, start: u64, end: u64) -> io::Result<Vec<RawExtent>> {
    let mut map = Fiemap {
        start,
        length: end - start,
        flags: FLAG_SYNC,
        mapped_extents: 0,
        extent_count: u32::try_from(BATCH_EXTENTS).expect("a batch is small"),
        reserved: 0,
        extents: [RawExtent::default(); BATCH_EXTENTS],
    };
    // SAFETY: `map` has the layout of `struct fiemap` followed by as many extents as `extent_count`
    // says, so the kernel writes only within it; it outlives the call.
    let failed = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP as libc::Ioctl, &raw mut map) } != 0;
    if failed {
        return Err(io::Error::last_os_error());
    }
    let mapped = (map.mapped_extents as usize).min(BATCH_EXTENTS);
    Ok(map.extents[..mapped].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_extent_flags_the_one_with_the_least_device_access_counts() {
        let kind = |flags| Extent::from(&RawExtent { flags, ..RawExtent::default() }).kind;
        assert_eq!(kind(EXTENT_LAST), ExtentKind::Plain);
        assert_eq!(kind(EXTENT_ENCODED | EXTENT_DATA_TAIL), ExtentKind::Inline);
        assert_eq!(kind(EXTENT_ENCODED | EXTENT_UNWRITTEN), ExtentKind::Unwritten);
    }

    #[test]
    fn the_ioctl_number_contains_the_size_of_its_header() {
        assert_eq!(std::mem::size_of::<Fiemap>() - BATCH_EXTENTS * std::mem::size_of::<RawExtent>(), 32);
        assert_eq!(std::mem::size_of::<RawExtent>(), 56);
        assert_eq!(FS_IOC_FIEMAP, rustix::ioctl::opcode::read_write::<[u64; 4]>(b'f', 11));
    }
}
