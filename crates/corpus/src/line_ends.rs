//! Carriage returns that do not end a line in the protocol, but that some runtimes treat as line
//! ends.

use super::archive::read_pieces;
use readlab_system::open_file;
use std::io;
use std::path::Path;

const BUFFER_BYTES: usize = 1 << 20;

/// Number of carriage returns in a file that are not followed by a newline.
pub fn count_lone_returns(path: &Path) -> io::Result<u64> {
    let mut file = open_file::open_without_waiting(path)?;
    let (mut lone, mut is_open) = (0, false);
    read_pieces(&mut file, BUFFER_BYTES, &mut |bytes| {
        lone += u64::from(is_open && bytes[0] != b'\n');
        lone += bytes.windows(2).filter(|two| two[0] == b'\r' && two[1] != b'\n').count() as u64;
        is_open = bytes.ends_with(b"\r");
        Ok(())
    })?;
    Ok(lone + u64::from(is_open))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_carriage_return_is_lone_unless_a_newline_follows_even_in_the_next_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let count = |content: &[u8]| {
            std::fs::write(file.path(), content).unwrap();
            count_lone_returns(file.path()).unwrap()
        };
        assert_eq!(count(b""), 0);
        assert_eq!(count(b"a\r\nb\r\n"), 0);
        assert_eq!(count(b"a\rb\r\nc\r\r"), 3);
        let before = vec![b'x'; BUFFER_BYTES - 1];
        assert_eq!(count(&[&before[..], b"\r\n"].concat()), 0);
        assert_eq!(count(&[&before[..], b"\rx"].concat()), 1);
    }
}
