//! Finds out which bytes of a file the device stores as they are read, and which it does not.
//!
//! Holes and unwritten extents read as zeros without touching the device. Encoded extents take
//! fewer bytes on the device than a reading returns. Without this knowledge a reading can seem
//! faster than the device.

use crate::target::filesystem::Filesystem;
use readlab_model::target::extents::Extents;
use readlab_system::extents::{self, Extent, ExtentKind};
use readlab_system::file_status::{self, FileStatus};
use std::fs::File;
use std::io;
use std::ops::Range;

/// Reads the extents of a file. Dirty pages are written back first.
pub fn read(file: &File) -> io::Result<Extents> {
    read_range(file, 0..FileStatus::read(file)?.size_bytes)
}

/// Reads the extents in a range of a file.
pub fn read_range(file: &File, range: Range<u64>) -> io::Result<Extents> {
    let mut found = Extents::default();
    let mut at = range.start;
    extents::for_each(file, range.clone(), |extent| at = count_extent(&mut found, extent, at, range.end))?;
    found.hole_bytes += range.end.saturating_sub(at);
    // EROFS lists the extents of a compressed file as plain extents. On btrfs the attribute for
    // compression is only a request, and the extents themselves state whether they are compressed.
    let lists_encoded = found.encoded_bytes > 0 || Filesystem::read(file)?.to_string() == "btrfs";
    if !lists_encoded && file_status::is_compressed(file) {
        found.encoded_bytes = found.least_device_bytes(range.end.saturating_sub(range.start));
    }
    Ok(found)
}

/// Counts the next extent and the hole before it, within the range from `at` (the end of the
/// previous extent) to `end`. Returns the end of this extent.
fn count_extent(found: &mut Extents, extent: Extent, at: u64, end: u64) -> u64 {
    let start = extent.start_bytes.clamp(at, end);
    let stop = extent.start_bytes.saturating_add(extent.length_bytes).clamp(start, end);
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
            end = count_extent(
                &mut found,
                Extent { start_bytes: start, length_bytes: length, kind },
                end,
                size_bytes,
            );
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
    fn only_extents_within_a_part_of_the_file_are_counted() {
        let mut found = Extents::default();
        // The range 4096..12288 of a file with an extent from 0 to 8192 and a hole after it.
        let at = count_extent(
            &mut found,
            Extent { start_bytes: 0, length_bytes: 8192, kind: ExtentKind::Unwritten },
            4096,
            12_288,
        );
        let expected = Extents { count: 1, unwritten_bytes: 4096, ..Extents::default() };
        assert_eq!((at, found), (8192, expected));
    }

    #[test]
    fn compressed_and_inline_bytes_are_counted_separately() {
        let extents = [(0, 131_072, ExtentKind::Encoded), (131_072, 4096, ExtentKind::Inline)];
        let found = summary(&extents, 131_100);
        assert_eq!((found.encoded_bytes, found.inline_bytes, found.hole_bytes), (131_072, 28, 0));
        assert_eq!(found.least_device_bytes(131_100), 0);
    }
}
