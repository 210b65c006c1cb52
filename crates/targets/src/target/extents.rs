//! Which bytes of a file come from the device as they are, and which do not.
//!
//! Holes and unwritten extents read as zeros without the device; encoded ones take fewer bytes from
//! it than they give. A reading that does not know this can look faster than the device.

use crate::target::filesystem::Filesystem;
use readlab_model::target::extents::Extents;
use readlab_system::extents::{self, Extent, ExtentKind};
use readlab_system::file_status::{self, FileStatus};
use std::fs::File;
use std::io;
use std::ops::Range;

/// Reads the extents of a file; dirty pages are written back first.
pub fn read(file: &File) -> io::Result<Extents> {
    of_range(file, 0..FileStatus::read(file)?.size_bytes)
}

pub fn of_range(file: &File, range: Range<u64>) -> io::Result<Extents> {
    let mut found = Extents::default();
    let mut at = range.start;
    extents::for_each(file, range.clone(), |extent| at = add(&mut found, extent, at, range.end))?;
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
fn add(found: &mut Extents, extent: Extent, at: u64, end: u64) -> u64 {
    let start = extent.start.clamp(at, end);
    let stop = extent.start.saturating_add(extent.length).clamp(start, end);
    found.count += 1;
    found.hole_bytes += start - at;
    match extent.kind {
        ExtentKind::Unwritten => found.unwritten_bytes += stop - start,
        ExtentKind::Inline => found.inline_bytes += stop - start,
        ExtentKind::Encoded => found.encoded_bytes += stop - start,
        ExtentKind::Plain => {}
    }
    stop
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(extents: &[(u64, u64, ExtentKind)], size_bytes: u64) -> Extents {
        let mut found = Extents::default();
        let mut end = 0;
        for &(start, length, kind) in extents {
            end = add(&mut found, Extent { start, length, kind }, end, size_bytes);
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
        let at =
            add(&mut found, Extent { start: 0, length: 8192, kind: ExtentKind::Unwritten }, 4096, 12_288);
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
