//! Characters that do not end a line in the protocol, but that some runtimes treat as line ends.

use super::archive::read_pieces;
use readlab_system::open_file;
use std::io;
use std::path::Path;

const BUFFER_BYTES: usize = 1 << 20;

/// How often a file has what some runtimes treat as the end of a line, besides newlines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OtherLineEnds {
    /// Carriage returns that are not followed by a newline.
    pub lone_returns: u64,
    /// The line separators of Unicode beyond ASCII, in UTF-8: U+0085, U+2028 and U+2029.
    pub separators: u64,
}

pub fn count_other_line_ends(path: &Path) -> io::Result<OtherLineEnds> {
    let mut file = open_file::open_without_waiting(path)?;
    let (mut found, mut before) = (OtherLineEnds::default(), [0; 2]);
    read_pieces(&mut file, BUFFER_BYTES, &mut |bytes| {
        for &byte in bytes {
            let last = [before[0], before[1], byte];
            found.lone_returns += u64::from(before[1] == b'\r' && byte != b'\n');
            found.separators += u64::from(matches!(last, [0xe2, 0x80, 0xa8 | 0xa9] | [_, 0xc2, 0x85]));
            before = [before[1], byte];
        }
        Ok(())
    })?;
    found.lone_returns += u64::from(before[1] == b'\r');
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(content: &[u8]) -> OtherLineEnds {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        count_other_line_ends(file.path()).unwrap()
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
}
