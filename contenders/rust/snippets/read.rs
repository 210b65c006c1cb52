use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

const BUFFER_BYTES: usize = 262144; // = buffer_bytes

/// Adds up `count` over the file's bytes, piece by piece.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut total = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(total),
            Ok(length) => total += count(&buffer[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
