// needs: the crate libc
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const BUFFER_BYTES: usize = 1048576; // = buffer_bytes

/// Alignment that O_DIRECT requires of buffers and lengths on common devices. For a file, `statx`
/// with `STATX_DIOALIGN` reports it.
const BLOCK_BYTES: usize = 4096;

/// Adds up `count` over the file's bytes, which are read past the page cache. Not every file system
/// supports this.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let mut file = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path)?;
    let mut memory = vec![0; BUFFER_BYTES.next_multiple_of(BLOCK_BYTES) + BLOCK_BYTES];
    let begin = memory.as_ptr().align_offset(BLOCK_BYTES);
    let end = memory.len() - BLOCK_BYTES + begin;
    let buffer = &mut memory[begin..end];
    let mut total = 0;
    loop {
        match file.read(buffer) {
            Ok(length) => {
                total += count(&buffer[..length]);
                // Only the end of a file is not at a multiple of the block, and no read can start
                // there.
                if length % BLOCK_BYTES != 0 || length == 0 {
                    return Ok(total);
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
