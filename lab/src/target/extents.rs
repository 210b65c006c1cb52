//! Which bytes of a file come from the device as they are, and which do not.
//!
//! Holes and unwritten extents read as zeros without touching the device; encoded extents take
//! fewer bytes from it than they give. A reading that does not know this can look faster than the
//! device.

use crate::linux::extents::{self, Extent, ExtentKind};
use crate::linux::file_status::{self, FileStatus};
use crate::target::filesystem::Filesystem;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::ops::Range;

/// Summary of a file's extents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extents {
    pub count: u64,
    /// Bytes in no extent: reading them touches no device.
    pub hole_bytes: u64,
    /// Bytes in extents that were reserved and never written: they read as zeros without touching
    /// the device.
    pub unwritten_bytes: u64,
    /// Bytes in extents that are compressed or encrypted.
    pub encoded_bytes: u64,
    /// Bytes stored within the file system's own tables.
    pub inline_bytes: u64,
}

impl Extents {
    /// Reads the extents of a file; dirty pages are written back first.
    pub fn read(file: &File) -> io::Result<Extents> {
        Extents::of_range(file, 0..FileStatus::read(file)?.size_bytes)
    }

    /// The same for a part of a file.
    pub fn of_range(file: &File, range: Range<u64>) -> io::Result<Extents> {
        let mut found = Extents::default();
        let mut at = range.start;
        extents::for_each(file, range.clone(), |extent| at = found.add(extent, at, range.end))?;
        found.hole_bytes += range.end.saturating_sub(at);
        // EROFS lists the extents of a compressed file as plain ones. On btrfs compression is a
        // wish for the file, and its extents say which are compressed.
        let lists_encoded = found.encoded_bytes > 0 || Filesystem::read(file)?.to_string() == "btrfs";
        if !lists_encoded && file_status::is_compressed(file) {
            found.encoded_bytes = found.least_device_bytes(range.end.saturating_sub(range.start));
        }
        Ok(found)
    }

    /// Counts the next extent and the hole before it, as far as they are between `at`, where the
    /// extent before ended, and `end`. Returns where this one ends.
    fn add(&mut self, extent: Extent, at: u64, end: u64) -> u64 {
        let start = extent.start.clamp(at, end);
        let stop = extent.start.saturating_add(extent.length).clamp(start, end);
        self.count += 1;
        self.hole_bytes += start - at;
        match extent.kind {
            ExtentKind::Unwritten => self.unwritten_bytes += stop - start,
            ExtentKind::Inline => self.inline_bytes += stop - start,
            ExtentKind::Encoded => self.encoded_bytes += stop - start,
            ExtentKind::Plain => {}
        }
        stop
    }

    /// The extents of two files together.
    pub fn and(&self, other: &Extents) -> Extents {
        Extents {
            count: self.count + other.count,
            hole_bytes: self.hole_bytes + other.hole_bytes,
            unwritten_bytes: self.unwritten_bytes + other.unwritten_bytes,
            encoded_bytes: self.encoded_bytes + other.encoded_bytes,
            inline_bytes: self.inline_bytes + other.inline_bytes,
        }
    }

    /// The least that a cold read of a file of this size must fetch from the device: the bytes in
    /// plain extents. Encoded extents count nothing, because their size on the device is not known.
    pub fn least_device_bytes(&self, size_bytes: u64) -> u64 {
        let elsewhere = self.hole_bytes + self.unwritten_bytes + self.encoded_bytes + self.inline_bytes;
        size_bytes.saturating_sub(elsewhere)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(extents: &[(u64, u64, ExtentKind)], size_bytes: u64) -> Extents {
        let mut found = Extents::default();
        let mut end = 0;
        for &(start, length, kind) in extents {
            end = found.add(Extent { start, length, kind }, end, size_bytes);
        }
        found
    }

    #[test]
    fn bytes_between_extents_are_holes_and_an_extent_is_cut_at_the_end_of_the_file() {
        let extents = [(4096, 4096, ExtentKind::Plain), (12_288, 8192, ExtentKind::Unwritten)];
        let found = summary(&extents, 16_384);
        let expected = Extents { count: 2, hole_bytes: 8192, unwritten_bytes: 4096, ..Extents::default() };
        assert_eq!(found, expected);
        assert_eq!(found.least_device_bytes(16_384), 4096);
    }

    #[test]
    fn of_a_part_only_what_lies_in_it_is_counted() {
        let mut found = Extents::default();
        // Of 4096..12288 in a file with an extent from 0 on and a hole after 8192.
        let at = found.add(Extent { start: 0, length: 8192, kind: ExtentKind::Unwritten }, 4096, 12_288);
        let expected = Extents { count: 1, unwritten_bytes: 4096, ..Extents::default() };
        assert_eq!((at, found), (8192, expected));
    }

    #[test]
    fn compressed_and_inline_bytes_are_counted_apart() {
        let extents = [(0, 131_072, ExtentKind::Encoded), (131_072, 4096, ExtentKind::Inline)];
        let found = summary(&extents, 131_100);
        assert_eq!((found.encoded_bytes, found.inline_bytes, found.hole_bytes), (131_072, 28, 0));
        assert_eq!(found.least_device_bytes(131_100), 0);
    }
}
