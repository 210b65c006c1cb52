// needs: the crate bstr
use bstr::io::BufReadExt;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

const BUFFER_BYTES: usize = 8192; // = buffer_bytes

/// Counts lines of bytes; most are slices of the reader's buffer.
pub fn lines(path: &Path) -> io::Result<u64> {
    let mut count = 0;
    BufReader::with_capacity(BUFFER_BYTES, File::open(path)?).for_byte_line(|_line| {
        count += 1;
        Ok(true)
    })?;
    Ok(count)
}
