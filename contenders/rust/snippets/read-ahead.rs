// needs: the crate rustix
use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::num::NonZero;
use std::os::unix::fs::FileExt;
use std::path::Path;

const AHEAD_BYTES: u64 = 4194304; // = ahead_bytes
const BUFFER_BYTES: usize = 262144; // = buffer_bytes

/// The kernel drops what one call requests beyond the read-ahead of the device.
const CALL_BYTES: u64 = 131072;

/// Adds up `count` over the file's bytes, piece by piece. The next `AHEAD_BYTES` are requested from
/// the kernel before each read.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let file = File::open(path)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    let (mut at, mut requested, mut total) = (0, 0, 0);
    loop {
        while requested < at + BUFFER_BYTES as u64 + AHEAD_BYTES {
            fadvise(&file, requested, NonZero::new(CALL_BYTES), Advice::WillNeed)?;
            requested += CALL_BYTES;
        }
        match file.read_at(&mut buffer, at) {
            Ok(0) => return Ok(total),
            Ok(length) => {
                total += count(&buffer[..length]);
                at += length as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
