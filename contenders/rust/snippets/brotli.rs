// needs: the crate brotli
use brotli::Decompressor;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

const BUFFER_BYTES: usize = 65536; // = buffer_bytes

/// Adds up `count` over what comes out of a brotli, piece by piece.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let mut decoder = Decompressor::new(File::open(path)?, BUFFER_BYTES);
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut total = 0;
    loop {
        match decoder.read(&mut buffer) {
            Ok(0) => return Ok(total),
            Ok(length) => total += count(&buffer[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
