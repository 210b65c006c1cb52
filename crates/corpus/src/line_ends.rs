//! Characters that do not end a line in the protocol, but that some runtimes treat as line ends.

use super::archive::{self, PackedFile, read_pieces};
use readlab_system::open_file;
use std::io;
use std::path::Path;

const BUFFER_BYTES: usize = 1 << 20;

/// Counts of the characters besides newlines that some runtimes treat as line ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OtherLineEnds {
    /// Carriage returns that are not followed by a newline.
    pub lone_returns: u64,
    /// The line separators of Unicode beyond ASCII, in UTF-8: U+0085, U+2028 and U+2029.
    pub separators: u64,
}

/// Counts line ends in bytes that arrive piece by piece.
#[derive(Debug, Default)]
struct LineEndCounter {
    counts: OtherLineEnds,
    /// The last two bytes of the pieces so far.
    last_two: [u8; 2],
}

impl OtherLineEnds {
    pub fn in_file(path: &Path) -> io::Result<OtherLineEnds> {
        let mut file = open_file::open_without_waiting(path)?;
        let mut counter = LineEndCounter::default();
        read_pieces(&mut file, BUFFER_BYTES, &mut |bytes| {
            counter.take(bytes);
            Ok(())
        })?;
        Ok(counter.finish())
    }

    /// Counts the line ends in the decoded content of an archive.
    pub fn in_content(packed: &PackedFile) -> io::Result<OtherLineEnds> {
        let mut counter = LineEndCounter::default();
        archive::decode(packed, &mut |bytes| {
            counter.take(bytes);
            Ok(())
        })?;
        Ok(counter.finish())
    }

    pub fn sum_with(self, other: OtherLineEnds) -> OtherLineEnds {
        OtherLineEnds {
            lone_returns: self.lone_returns + other.lone_returns,
            separators: self.separators + other.separators,
        }
    }
}

impl LineEndCounter {
    fn take(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let [second_last, last] = self.last_two;
            self.counts.lone_returns += u64::from(last == b'\r' && byte != b'\n');
            let ends = [second_last, last, byte];
            self.counts.separators += u64::from(matches!(ends, [0xe2, 0x80, 0xa8 | 0xa9] | [_, 0xc2, 0x85]));
            self.last_two = [last, byte];
        }
    }

    fn finish(mut self) -> OtherLineEnds {
        self.counts.lone_returns += u64::from(self.last_two[1] == b'\r');
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_protocol::Archive;

    fn count(content: &[u8]) -> OtherLineEnds {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        OtherLineEnds::in_file(file.path()).unwrap()
    }

    #[test]
    fn a_carriage_return_is_lone_unless_a_newline_follows_even_in_the_next_read() {
        let count = |content: &[u8]| count(content).lone_returns;
        assert_eq!(count(b""), 0);
        assert_eq!(count(b"a\r\nb\r\n"), 0);
        assert_eq!(count(b"a\rb\r\nc\r\r"), 3);
        let before = vec![b'x'; BUFFER_BYTES - 1];
        assert_eq!(count(&[&before[..], b"\r\n"].concat()), 0);
        assert_eq!(count(&[&before[..], b"\rx"].concat()), 1);
    }

    #[test]
    fn separators_of_lines_are_counted_even_across_reads() {
        let found = count("a\u{2028}b\u{2029}c\u{85}d\u{2027}e\u{b}\r".as_bytes());
        assert_eq!(found, OtherLineEnds { lone_returns: 1, separators: 3 });
        let before = vec![b'x'; BUFFER_BYTES - 1];
        assert_eq!(count(&[&before[..], "\u{2028}".as_bytes()].concat()).separators, 1);
    }

    #[test]
    fn the_content_of_an_archive_is_counted_and_counts_of_files_are_added() {
        let content = "a\rb\r\nc\u{2028}".as_bytes();
        for archive in [Archive::Gzip, Archive::Zip] {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), archive::pack_content("name", content, archive).unwrap()).unwrap();
            let packed = PackedFile { path: file.path(), archive, dictionary: &[] };
            let found = OtherLineEnds::in_content(&packed).unwrap();
            assert_eq!(found, OtherLineEnds { lone_returns: 1, separators: 1 });
            assert_eq!(found.sum_with(found), OtherLineEnds { lone_returns: 2, separators: 2 });
        }
    }
}
