// needs: unsafe code; the crate memmap2
use memmap2::{Advice, MmapOptions};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const POPULATE: bool = false; // = populate
const SEQUENTIAL: bool = false; // = sequential
const SEGMENT_BYTES: usize = 4194304; // = segment_bytes
const THREADS: usize = 1; // = threads

/// Adds up `count` over the file's bytes where they are mapped, in any order: threads take the next
/// segment until none is left. A file that others cut off meanwhile ends the process with SIGBUS.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64 + Sync) -> io::Result<u64> {
    let file = File::open(path)?;
    let mut options = MmapOptions::new();
    if POPULATE {
        options.populate();
    }
    // SAFETY: nobody writes to the file or cuts it off while it is mapped: that is for the program
    // to see to.
    let map = unsafe { options.map(&file)? };
    if SEQUENTIAL {
        map.advise(Advice::Sequential)?;
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let segments = std::iter::from_fn(|| {
            let begin = next.fetch_add(SEGMENT_BYTES, Ordering::Relaxed);
            let end = (begin + SEGMENT_BYTES).min(map.len());
            map.get(begin..end).filter(|segment| !segment.is_empty())
        });
        segments.map(&count).sum::<u64>()
    };
    Ok(thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("counting does not panic")).sum()
    }))
}
