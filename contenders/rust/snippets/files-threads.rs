use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const BUFFER_BYTES: usize = 65536; // = buffer_bytes
const THREADS: usize = 2; // = threads

/// Adds up `count` over all files: threads take the next file until none is left.
pub fn total(files: &[PathBuf], count: impl Fn(&[u8]) -> u64 + Sync) -> io::Result<u64> {
    let next = AtomicUsize::new(0);
    let work = || -> io::Result<u64> {
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut total = 0;
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            total += of_file(path, &mut buffer, &count)?;
        }
        Ok(total)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("counting does not panic")).sum()
    })
}

fn of_file(path: &Path, buffer: &mut [u8], count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut total = 0;
    loop {
        match file.read(buffer) {
            Ok(0) => return Ok(total),
            Ok(length) => total += count(&buffer[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
