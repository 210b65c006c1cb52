// usual: yes
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

const BUFFER_BYTES: usize = 16384; // = buffer_bytes

/// Counts lines; each is a new `String`.
pub fn lines(path: &Path) -> io::Result<u64> {
    let mut count = 0;
    for line in BufReader::with_capacity(BUFFER_BYTES, File::open(path)?).lines() {
        let _line: String = line?;
        count += 1;
    }
    Ok(count)
}
