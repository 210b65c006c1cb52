// usual: yes
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

const BUFFER_BYTES: usize = 65536; // = buffer_bytes

/// Adds up `count` over the file's bytes, piece by piece in the reader's buffer.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, File::open(path)?);
    let mut total = 0;
    loop {
        let piece = reader.fill_buf()?;
        if piece.is_empty() {
            return Ok(total);
        }
        total += count(piece);
        let length = piece.len();
        reader.consume(length);
    }
}
