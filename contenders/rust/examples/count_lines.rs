//! Counts the lines of files: `cargo run --release --example count_lines -- FILE…`.
//!
//! Newlines can be counted in any order, so all processors count, each with its own counter.

use readlab_rust::{Auto, Sink};
use std::error::Error;
use std::path::Path;

#[derive(Default)]
struct Newlines(u64);

impl Sink for Newlines {
    fn take(&mut self, _offset: u64, bytes: &[u8]) {
        self.0 += bytecount::count(bytes, b'\n') as u64;
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args_os().skip(1) {
        let counters = Auto::new().read_parallel(Path::new(&path), Newlines::default)?;
        let newlines: u64 = counters.iter().map(|counter| counter.0).sum();
        println!("{newlines}\t{}", path.display());
    }
    Ok(())
}
