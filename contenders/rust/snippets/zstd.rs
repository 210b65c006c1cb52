// needs: the crate zstd
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;

const BUFFER_BYTES: usize = 65536; // = buffer_bytes

/// Adds up `count` over what comes out of a zstd, piece by piece.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let file = BufReader::with_capacity(BUFFER_BYTES, File::open(path)?);
    let mut decoder = zstd::Decoder::with_buffer(file)?;
    decoder.window_log_max(31)?; // a window of more than 128 MiB, as of `zstd --long=31`
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
