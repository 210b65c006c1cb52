//! Two methods to count the lines of a file, in the crate that the benchmark measures.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// Counts lines, and allocates a string for each.
///
/// # Errors
/// If the file cannot be read, or is not UTF-8.
pub fn by_strings(path: &Path) -> io::Result<u64> {
    let mut lines = 0;
    for line in BufReader::new(File::open(path)?).lines() {
        line?;
        lines += 1;
    }
    Ok(lines)
}

/// Counts lines in one buffer that is reused for every line.
///
/// # Errors
/// If the file cannot be read.
pub fn by_one_buffer(path: &Path) -> io::Result<u64> {
    let (mut file, mut line, mut lines) = (BufReader::new(File::open(path)?), Vec::new(), 0);
    while file.read_until(b'\n', &mut line)? > 0 {
        line.clear();
        lines += 1;
    }
    Ok(lines)
}
