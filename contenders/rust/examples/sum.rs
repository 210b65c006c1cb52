//! Adds up the bytes of files: `cargo run --release --example sum -- FILE…`.
//!
//! Cached files are mapped. This is allowed here because the files are not expected to change
//! during the run.

use readlab_rust::{Auto, Sink};
use std::error::Error;
use std::path::Path;

#[derive(Default)]
struct Sum(u64);

impl Sink for Sum {
    fn take(&mut self, _offset: u64, bytes: &[u8]) {
        self.0 += bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: the head comment requires that the files do not change during the run.
    let auto = unsafe { Auto::new().mapping() };
    for path in std::env::args_os().skip(1) {
        let sums = auto.read_parallel(Path::new(&path), Sum::default)?;
        println!("{}\t{}", sums.iter().map(|sum| sum.0).sum::<u64>(), path.display());
    }
    Ok(())
}
