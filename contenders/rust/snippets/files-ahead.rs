// needs: the crate rustix
use rustix::fs::{Advice, fadvise};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;

const AHEAD: usize = 32; // = ahead
const BUFFER_BYTES: usize = 65536; // = buffer_bytes

/// Adds up `count` over all files, one after the other. The next `AHEAD` files are open, and are
/// requested from the kernel.
pub fn total(files: &[PathBuf], count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let (mut open, mut next, mut total) = (VecDeque::new(), files.iter(), 0);
    loop {
        while open.len() <= AHEAD
            && let Some(path) = next.next()
        {
            let file = File::open(path)?;
            fadvise(&file, 0, None, Advice::WillNeed)?;
            open.push_back(file);
        }
        let Some(mut file) = open.pop_front() else { return Ok(total) };
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => total += count(&buffer[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
