use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

const BUFFER_BYTES: usize = 8192; // = buffer_bytes

/// Counts lines of bytes; each is a new `Vec`.
pub fn lines(path: &Path) -> io::Result<u64> {
    let mut count = 0;
    for line in BufReader::with_capacity(BUFFER_BYTES, File::open(path)?).split(b'\n') {
        let _line: Vec<u8> = line?;
        count += 1;
    }
    Ok(count)
}
