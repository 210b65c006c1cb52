//! The part of a file that is read: the part of one reader, if several readers split the file, or a
//! range that the user chose.
//!
//! Parts of readers are adjacent and together make up the file. They begin at multiples of the
//! largest page size, so that no page of the page cache belongs to two parts, unless the file is
//! too small for that.

use super::filesystem::{Backing, Filesystem};
use super::{RESPONSE_TIME_MAX, size_of};
use readlab_protocol::Part;
use readlab_system::memory::page_bytes;
use readlab_system::silent::WatchedFile;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Take};
use std::num::NonZero;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use xxhash_rust::xxh3::Xxh3;

/// The largest page in the page cache if base pages have 4 KiB: a folio of 2 MiB, which one entry of
/// a page middle directory maps.
const LARGEST_PAGE_BYTES: u64 = 2 << 20;

/// Number of places of a file that its digest covers.
const DIGEST_PLACE_COUNT: u64 = 64;

const PLACE_BYTES: usize = 4096;

/// The part that a reader reads of a file of this size; `None` if the file has fewer pages than
/// readers.
pub fn part_of_reader(size_bytes: u64, reader: u32, readers: NonZero<u32>) -> Option<Part> {
    let readers = u64::from(readers.get());
    let cuts = [LARGEST_PAGE_BYTES, page_bytes()];
    let cut = cuts.into_iter().find(|cut| size_bytes / cut >= readers)?;
    let pieces = size_bytes / cut;
    let start = |reader: u64| (pieces * reader / readers) * cut;
    let (reader, start_bytes) = (u64::from(reader), start(u64::from(reader)));
    let end = if reader + 1 == readers { size_bytes } else { start(reader + 1) };
    Some(Part { start_bytes, length_bytes: end - start_bytes })
}

/// The part from the start of the page that contains the first of these bytes to the last byte.
pub(super) fn part_from_page_start(bytes: &Range<u64>) -> Part {
    let start_bytes = bytes.start - bytes.start % page_bytes();
    Part { start_bytes, length_bytes: bytes.end - start_bytes }
}

/// Opens a file for reading its part, or the whole file.
pub fn open_part(path: &Path, part: Option<Part>) -> io::Result<Take<File>> {
    let mut file = File::open(path)?;
    if let Some(part) = part {
        file.seek(SeekFrom::Start(part.start_bytes))?;
    }
    Ok(file.take(part.map_or(u64::MAX, |part| part.length_bytes)))
}

/// Opens a file for reading its part to the end. If the bytes come from a network or a program,
/// which may stop responding, a read that takes too long is an error.
pub fn open_watched(path: &Path, part: Option<Part>) -> io::Result<Box<dyn Read>> {
    let opened = open_part(path, part)?;
    let file = opened.get_ref();
    let watched = match Filesystem::read(file)?.backing {
        // If no child process can be started, this process reads the file itself.
        Backing::Remote | Backing::Program => {
            WatchedFile::begin(file, opened.limit(), RESPONSE_TIME_MAX).ok()
        }
        _ => None,
    };
    Ok(match watched {
        Some(watched) => Box::new(watched),
        None => Box::new(opened),
    })
}

/// A digest of places that are spread evenly over a file (XXH3, 64 bits, hexadecimal). Readers on
/// different hosts, which read only their parts, compare it to see that they have the same file.
pub fn digest_of_places(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    let last = size_of(&file)?.saturating_sub(PLACE_BYTES as u64);
    let (mut digest, mut bytes) = (Xxh3::new(), [0; PLACE_BYTES]);
    for place in 0..DIGEST_PLACE_COUNT {
        let at = u128::from(last) * u128::from(place) / u128::from(DIGEST_PLACE_COUNT - 1);
        let count = file.read_at(&mut bytes, u64::try_from(at).unwrap_or(last))?;
        digest.update(&bytes[..count]);
    }
    Ok(format!("{:016x}", digest.digest()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(size_bytes: u64, readers: u32) -> Option<Vec<Part>> {
        let readers = NonZero::new(readers).unwrap();
        (0..readers.get()).map(|reader| part_of_reader(size_bytes, reader, readers)).collect()
    }

    #[test]
    fn parts_begin_at_large_page_boundaries_and_the_last_has_the_rest() {
        let part = |start_bytes, length_bytes| Part { start_bytes, length_bytes };
        let mib = 1 << 20;
        let found = parts(9 * mib + 5, 2).unwrap();
        assert_eq!(found, [part(0, 4 * mib), part(4 * mib, 5 * mib + 5)]);
        let small = parts(3 * page_bytes(), 2).unwrap();
        assert_eq!(small, [part(0, page_bytes()), part(page_bytes(), 2 * page_bytes())]);
        assert_eq!(parts(page_bytes(), 2), None);
    }

    #[test]
    fn a_range_is_read_from_the_page_in_which_it_begins_to_its_own_end() {
        let page = page_bytes();
        let part = |start_bytes, length_bytes| Part { start_bytes, length_bytes };
        assert_eq!(part_from_page_start(&(2 * page..3 * page + 7)), part(2 * page, page + 7));
        assert_eq!(part_from_page_start(&(2 * page + 1..2 * page + 5)), part(2 * page, 5));
        assert_eq!(part_from_page_start(&(page - 1..page)), part(0, page));
    }

    proptest! {
        #[test]
        fn parts_cover_the_file_and_none_is_empty(size_bytes in 0u64..1 << 40, readers in 1u32..2000) {
            if let Some(parts) = parts(size_bytes, readers) {
                let mut end = 0;
                for part in parts {
                    prop_assert!(part.start_bytes == end && part.length_bytes > 0);
                    prop_assert!(part.start_bytes.is_multiple_of(page_bytes()));
                    end = part.range().end;
                }
                prop_assert_eq!(end, size_bytes);
            }
        }
    }

    #[test]
    fn a_changed_byte_at_a_compared_place_changes_the_digest() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut bytes = vec![b'x'; 1_000_000];
        std::fs::write(file.path(), &bytes).unwrap();
        let first = digest_of_places(file.path()).unwrap();
        assert_eq!(digest_of_places(file.path()).unwrap(), first);
        *bytes.last_mut().unwrap() = b'y';
        std::fs::write(file.path(), &bytes).unwrap();
        assert_ne!(digest_of_places(file.path()).unwrap(), first);
    }
}
