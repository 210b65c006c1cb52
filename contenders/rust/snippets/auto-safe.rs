// needs: the crate readlab-auto
use readlab_auto::{Auto, ReadError, Visitor};
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::Path;

const THREADS: usize = 2; // = threads

/// What one thread has counted.
struct Counting<'a, F> {
    count: &'a F,
    total: u64,
}

impl<F: Fn(&[u8]) -> u64> Visitor for Counting<'_, F> {
    fn visit(&mut self, _offset: u64, piece: &[u8]) -> ControlFlow<()> {
        self.total += (self.count)(piece);
        ControlFlow::Continue(())
    }
}

/// Adds up `count` over the file's bytes, in any order, in the way that suits the file.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64 + Sync) -> Result<u64, ReadError> {
    let threads = NonZero::new(THREADS).unwrap_or(NonZero::<usize>::MIN);
    let file = Auto::open(path)?.threads(threads);
    let counted = file.par_visit(|| Counting { count: &count, total: 0 })?;
    Ok(counted.iter().map(|counting| counting.total).sum())
}
