// needs: the crate libdeflater; memory for the whole file
use libdeflater::Decompressor;
use std::path::Path;
use std::{fs, io, thread};

const THREADS: usize = 2; // = threads

/// Adds up `count` over the blocks of a bgzf, as bgzip writes them. Bytes 16 and 17 of a block are
/// its length.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64 + Sync) -> io::Result<u64> {
    let packed = fs::read(path)?;
    let (mut blocks, mut rest) = (Vec::new(), &packed[..]);
    while let Some(&[low, high]) = rest.get(16..18) {
        let length = usize::from(u16::from_le_bytes([low, high])) + 1;
        let (block, after) = rest.split_at_checked(length).ok_or(io::ErrorKind::UnexpectedEof)?;
        blocks.push(block);
        rest = after;
    }
    let share = blocks.len().div_ceil(THREADS).max(1);
    let decode = |blocks: &[&[u8]]| -> io::Result<u64> {
        let (mut decompressor, mut content, mut total) = (Decompressor::new(), vec![0; 1 << 16], 0);
        for block in blocks {
            let length = decompressor.gzip_decompress(block, &mut content).map_err(io::Error::other)?;
            total += count(&content[..length]);
        }
        Ok(total)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = blocks.chunks(share).map(|share| scope.spawn(|| decode(share))).collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).sum()
    })
}
