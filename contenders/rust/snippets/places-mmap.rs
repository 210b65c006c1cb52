// needs: unsafe code; the crate memmap2
use memmap2::{Advice, Mmap};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const BLOCK_BYTES: usize = 4096;
const RANDOM: u64 = 0; // = random
const THREADS: usize = 1; // = threads

/// Adds up `count` over the blocks at these offsets in the mapped file. Threads take the next place
/// until none is left.
pub fn total(path: &Path, offsets: &[u64], count: impl Fn(&[u8]) -> u64 + Sync) -> io::Result<u64> {
    let file = File::open(path)?;
    // SAFETY: the program ensures that the file is not truncated meanwhile.
    let map = unsafe { Mmap::map(&file)? };
    if RANDOM == 1 {
        map.advise(Advice::Random)?;
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut total = 0;
        while let Some(&offset) = offsets.get(next.fetch_add(1, Ordering::Relaxed)) {
            total += count(&map[offset as usize..][..BLOCK_BYTES]);
        }
        total
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        Ok(threads.into_iter().map(|thread| thread.join().expect("counting does not panic")).sum())
    })
}
