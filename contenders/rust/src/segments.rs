//! Segments of a file for several threads: each thread takes the next segment from a counter until
//! none is left.
//!
//! A slow thread then takes fewer segments instead of delaying the others. The calling thread works
//! too, so no thread is started for a single one.

use crate::method::Fault;
use readlab_auto::crew::crew;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// The segments of a file that no thread has taken yet.
#[derive(Debug)]
pub(crate) struct Segments {
    next: AtomicU64,
    start: u64,
    end: u64,
    step: u64,
}

impl Segments {
    /// Cuts a range into segments of `step` bytes. The last may be shorter.
    pub(crate) fn new(range: Range<u64>, step: u64) -> Segments {
        Segments { next: AtomicU64::new(range.start), start: range.start, end: range.end, step }
    }

    /// Total number of segments.
    pub(crate) fn count(&self) -> u64 {
        (self.end - self.start).div_ceil(self.step)
    }

    /// The next segment. Each is returned once.
    pub(crate) fn take(&self) -> Option<Range<u64>> {
        let start = self.next.fetch_add(self.step, Ordering::Relaxed);
        (start < self.end).then(|| start..self.end.min(start + self.step))
    }

    /// Removes all remaining segments.
    fn stop(&self) {
        self.next.store(self.end, Ordering::Relaxed);
    }

    /// Runs `work` on up to `threads` threads, but at most one for each segment. Returns the result
    /// of each.
    pub(crate) fn run_on_threads<T, W>(&self, threads: u64, work: W) -> Result<Vec<T>, Fault>
    where
        T: Send,
        W: Fn(&Segments) -> Result<T, Fault> + Sync,
    {
        let threads = usize::try_from(threads.min(self.count())).unwrap_or(usize::MAX);
        crew(threads, || work(self), || self.stop())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn all_segments_are_taken_once() {
        for (end, step, threads) in [(0, 1, 4), (1, 10, 4), (1000, 7, 3), (1000, 1000, 1)] {
            let segments = Segments::new(5..5 + end, step);
            let parts = segments.run_on_threads(threads, |segments| {
                Ok(std::iter::from_fn(|| segments.take()).map(|range| range.end - range.start).sum::<u64>())
            });
            assert_eq!(parts.unwrap().iter().sum::<u64>(), end);
        }
    }

    #[test]
    fn a_fault_of_one_thread_ends_the_others() {
        let segments = Segments::new(0..u64::MAX / 2, 1);
        let answer = segments.run_on_threads(2, |segments| {
            while let Some(range) = segments.take() {
                if range.start == 100 {
                    return Err(Fault::at(100, io::Error::other("broken")));
                }
            }
            Ok(())
        });
        assert_eq!(answer.unwrap_err().to_string(), "broken at byte 100");
    }
}
