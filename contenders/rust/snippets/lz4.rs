// needs: the crate lz4
use lz4::Decoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

const BUFFER_BYTES: usize = 65536; // = buffer_bytes

/// Adds up `count` over what comes out of the frames of an lz4, piece by piece.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let mut file = BufReader::with_capacity(BUFFER_BYTES, File::open(path)?);
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut total = 0;
    while !file.fill_buf()?.is_empty() {
        let mut frame = Decoder::new(&mut file)?;
        loop {
            match frame.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => total += count(&buffer[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        // A file that ends within a frame is an error only here.
        frame.finish().1?;
    }
    Ok(total)
}
