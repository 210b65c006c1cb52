// needs: the crate rustix
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::path::Path;

const BUFFER_BYTES: usize = 262144; // = buffer_bytes

/// `RWF_DONTCACHE` of linux/fs.h, since Linux 6.14.
const DONTCACHE: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x80);

/// Adds up `count` over the file's bytes. Pages that the reads bring into the page cache are
/// dropped again.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let file = File::open(path)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    let (mut at, mut total) = (0, 0);
    loop {
        match preadv2(&file, &mut [IoSliceMut::new(&mut buffer)], at, DONTCACHE) {
            Ok(0) => return Ok(total),
            Ok(length) => {
                total += count(&buffer[..length]);
                at += length as u64;
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
