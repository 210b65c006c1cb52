use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

const BUFFER_BYTES: usize = 262144; // = buffer_bytes
const SEGMENT_BYTES: u64 = 4194304; // = segment_bytes
const THREADS: usize = 1; // = threads

/// Adds up `count` over the file's bytes, in any order: threads take the next segment until none is
/// left.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64 + Sync) -> io::Result<u64> {
    let file = File::open(path)?;
    let next = AtomicU64::new(0);
    let size = file.metadata()?.len();
    let work = || -> io::Result<u64> {
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut total = 0;
        loop {
            let mut at = next.fetch_add(SEGMENT_BYTES, Ordering::Relaxed);
            if at >= size {
                return Ok(total);
            }
            let end = (at + SEGMENT_BYTES).min(size);
            while at < end {
                let wanted = buffer.len().min(usize::try_from(end - at).unwrap_or(usize::MAX));
                match file.read_at(&mut buffer[..wanted], at) {
                    Ok(0) => return Ok(total),
                    Ok(length) => {
                        total += count(&buffer[..length]);
                        at += length as u64;
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("counting does not panic")).sum()
    })
}
