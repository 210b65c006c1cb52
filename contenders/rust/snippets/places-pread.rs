// usual: yes
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const BLOCK_BYTES: usize = 4096;
const THREADS: usize = 1; // = threads

/// Adds up `count` over the blocks at these offsets, in any order: threads take the next place
/// until none is left.
pub fn total(path: &Path, offsets: &[u64], count: impl Fn(&[u8]) -> u64 + Sync) -> io::Result<u64> {
    let file = File::open(path)?;
    let next = AtomicUsize::new(0);
    let work = || -> io::Result<u64> {
        let mut block = vec![0; BLOCK_BYTES];
        let mut total = 0;
        while let Some(&offset) = offsets.get(next.fetch_add(1, Ordering::Relaxed)) {
            file.read_exact_at(&mut block, offset)?;
            total += count(&block);
        }
        Ok(total)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("counting does not panic")).sum()
    })
}
