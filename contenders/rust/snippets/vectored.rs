use std::fs::File;
use std::io::{self, ErrorKind, IoSliceMut, Read};
use std::path::Path;

const BUFFER_BYTES: usize = 8192; // = buffer_bytes
const BUFFERS: usize = 16; // = buffers

/// Adds up `count` over the file's bytes; one call fills several buffers.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut memory = vec![0; BUFFER_BYTES * BUFFERS];
    let mut total = 0;
    loop {
        let mut buffers: Vec<IoSliceMut> = memory.chunks_mut(BUFFER_BYTES).map(IoSliceMut::new).collect();
        match file.read_vectored(&mut buffers) {
            Ok(0) => return Ok(total),
            Ok(length) => total += memory[..length].chunks(BUFFER_BYTES).map(&count).sum::<u64>(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
