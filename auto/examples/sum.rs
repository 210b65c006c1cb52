//! Adds up the bytes of files: `cargo run --release --example sum -- FILE…`.
//!
//! Cached files are mapped. This is allowed here because the files are not expected to change
//! during the run.

use readlab_auto::{Auto, Visitor};
use std::error::Error;
use std::ops::ControlFlow;

#[derive(Default)]
struct Sum(u64);

impl Visitor for Sum {
    fn visit(&mut self, _offset: u64, bytes: &[u8]) -> ControlFlow<()> {
        self.0 += bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
        ControlFlow::Continue(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args_os().skip(1) {
        // SAFETY: the comment at the top of this file requires that the files do not change during
        // the run.
        let sums = unsafe { Auto::open(&path)?.mapping() }.par_visit(Sum::default)?;
        println!("{}\t{}", sums.iter().map(|sum| sum.0).sum::<u64>(), path.display());
    }
    Ok(())
}
