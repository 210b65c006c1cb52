// needs: the crate rustix
use rustix::io::preadv;
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::path::Path;

const BLOCK_BYTES: usize = 4096;
const BUFFERS_MAX: usize = 1024; // IOV_MAX

/// Adds up `count` over the blocks at these offsets. Blocks that follow each other are read by one
/// call, each into a buffer of its own.
pub fn total(path: &Path, offsets: &[u64], count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let file = File::open(path)?;
    let follows = |one: &u64, next: &u64| *next == one + BLOCK_BYTES as u64;
    let mut total = 0;
    for run in offsets.chunk_by(follows).flat_map(|run| run.chunks(BUFFERS_MAX)) {
        let mut blocks = vec![[0; BLOCK_BYTES]; run.len()];
        let mut buffers: Vec<IoSliceMut> = blocks.iter_mut().map(|block| IoSliceMut::new(block)).collect();
        let (mut lacking, mut at) = (&mut buffers[..], run[0]);
        while !lacking.is_empty() {
            let read = preadv(&file, lacking, at)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            at += read as u64;
            IoSliceMut::advance_slices(&mut lacking, read);
        }
        total += blocks.iter().map(|block| count(block)).sum::<u64>();
    }
    Ok(total)
}
