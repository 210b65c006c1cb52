use std::fs::File;
use std::io::{self, ErrorKind, IoSliceMut, Read};
use std::path::Path;

const BUFFER_BYTES: usize = 8192; // = buffer_bytes
const BUFFERS: usize = 16; // = buffers
const SEPARATE: bool = false; // = separate

/// Adds up `count` over the file's bytes; one call fills several buffers.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let blocks = if SEPARATE { BUFFERS } else { 1 };
    let mut memory = vec![vec![0; BUFFER_BYTES * BUFFERS / blocks]; blocks];
    let mut total = 0;
    loop {
        let parts = memory.iter_mut().flat_map(|block| block.chunks_mut(BUFFER_BYTES));
        let mut buffers: Vec<IoSliceMut> = parts.map(IoSliceMut::new).collect();
        let mut left = match file.read_vectored(&mut buffers) {
            Ok(0) => return Ok(total),
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        for buffer in &buffers {
            let filled = left.min(buffer.len());
            total += count(&buffer[..filled]);
            left -= filled;
        }
    }
}
