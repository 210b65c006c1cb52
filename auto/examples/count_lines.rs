//! Counts the lines of files: `cargo run --release --example count_lines -- FILE…`.
//!
//! Newlines can be counted in any order, so all processors count, each with its own counter.

use readlab_auto::{Auto, Visitor};
use std::error::Error;
use std::ops::ControlFlow;

#[derive(Default)]
struct Newlines(u64);

impl Visitor for Newlines {
    fn visit(&mut self, _offset: u64, bytes: &[u8]) -> ControlFlow<()> {
        self.0 += memchr::memchr_iter(b'\n', bytes).count() as u64;
        ControlFlow::Continue(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args_os().skip(1) {
        let counters = Auto::open(&path)?.par_visit(Newlines::default)?;
        let newlines: u64 = counters.iter().map(|counter| counter.0).sum();
        println!("{newlines}\t{}", path.display());
    }
    Ok(())
}
