//! A list of ranges that threads take one by one until none is left.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The ranges that no thread has taken yet.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    ranges: Vec<Range<u64>>,
    next: AtomicUsize,
}

impl Pieces {
    /// The pieces of `step` bytes of a whole; the last may be shorter.
    pub(super) fn cut(whole: Range<u64>, step: u64) -> impl Iterator<Item = Range<u64>> {
        let end = whole.end;
        whole.step_by(step as usize).map(move |start| start..end.min(start + step))
    }

    pub(super) fn new(ranges: impl IntoIterator<Item = Range<u64>>) -> Pieces {
        Pieces { ranges: ranges.into_iter().collect(), next: AtomicUsize::new(0) }
    }

    pub(super) fn count(&self) -> u64 {
        self.ranges.len() as u64
    }

    /// The next one, for the caller alone.
    pub(super) fn take(&self) -> Option<Range<u64>> {
        self.ranges.get(self.next.fetch_add(1, Ordering::Relaxed)).cloned()
    }

    /// Removes all remaining ranges.
    pub(super) fn stop(&self) {
        self.next.store(self.ranges.len(), Ordering::Relaxed);
    }
}
