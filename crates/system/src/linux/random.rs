//! Random bytes that no other user of the machine can predict.

use rustix::rand::{GetRandomFlags, getrandom};
use std::io::{self, ErrorKind};

/// Fills a short buffer of at most 256 bytes.
pub fn fill(buffer: &mut [u8]) -> io::Result<()> {
    let filled = getrandom(&mut *buffer, GetRandomFlags::empty())?;
    if filled < buffer.len() { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}
