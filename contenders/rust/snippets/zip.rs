// needs: the crate zip
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;
use zip::ZipArchive;

const BUFFER_BYTES: usize = 131072; // = buffer_bytes

/// Adds up `count` over what comes out of all entries of a zip, piece by piece.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let mut archive = ZipArchive::new(BufReader::with_capacity(BUFFER_BYTES, File::open(path)?))?;
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut total = 0;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index)?;
        loop {
            match entry.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => total += count(&buffer[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(total)
}
