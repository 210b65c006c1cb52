//! A list of ranges that threads take one by one until none is left.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The ranges that no thread has taken yet.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    ranges: Vec<Range<u64>>,
    next: AtomicUsize,
}

impl Pieces {
    /// Cuts a range into pieces of `step` bytes. The last may be shorter.
    pub(crate) fn cut(whole: Range<u64>, step: u64) -> impl Iterator<Item = Range<u64>> {
        let (mut start, end) = (whole.start, whole.end);
        std::iter::from_fn(move || {
            let piece = start..end.min(start.saturating_add(step));
            start = piece.end;
            (!piece.is_empty()).then_some(piece)
        })
    }

    /// Cuts a range at the multiples of `step`. Only the first piece may begin between two
    /// multiples.
    pub(crate) fn aligned(whole: Range<u64>, step: u64) -> impl Iterator<Item = Range<u64>> {
        let first = whole.start.next_multiple_of(step).min(whole.end);
        let head = Some(whole.start..first).filter(|head| !head.is_empty());
        head.into_iter().chain(Pieces::cut(first..whole.end, step))
    }

    pub(crate) fn new(ranges: impl IntoIterator<Item = Range<u64>>) -> Pieces {
        Pieces { ranges: ranges.into_iter().collect(), next: AtomicUsize::new(0) }
    }

    pub(crate) fn count(&self) -> usize {
        self.ranges.len()
    }

    /// The next range, which no other thread gets.
    pub(crate) fn take(&self) -> Option<Range<u64>> {
        self.ranges.get(self.next.fetch_add(1, Ordering::Relaxed)).cloned()
    }

    /// Removes all remaining ranges.
    pub(crate) fn stop(&self) {
        self.next.store(self.ranges.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_a_whole_and_nothing_else() {
        let cut = |whole: Range<u64>, step| Pieces::cut(whole, step).collect::<Vec<_>>();
        assert_eq!(cut(3..10, 3), [3..6, 6..9, 9..10]);
        assert_eq!(cut(0..0, 3), []);
        assert_eq!(cut(u64::MAX - 4..u64::MAX, 3), [u64::MAX - 4..u64::MAX - 1, u64::MAX - 1..u64::MAX]);
    }

    #[test]
    fn aligned_pieces_begin_at_multiples_but_for_the_first() {
        let cut = |whole: Range<u64>, step| Pieces::aligned(whole, step).collect::<Vec<_>>();
        assert_eq!(cut(3..10, 4), [3..4, 4..8, 8..10]);
        let one = |range: Range<u64>| vec![range];
        assert_eq!(cut(5..7, 4), one(5..7));
        assert_eq!(cut(8..9, 4), one(8..9));
        assert_eq!(cut(9..9, 4), []);
    }

    #[test]
    fn each_range_is_taken_once_and_none_after_a_stop() {
        let pieces = Pieces::new([0..1, 1..2, 2..3]);
        assert_eq!((pieces.take(), pieces.count()), (Some(0..1), 3));
        pieces.stop();
        assert_eq!(pieces.take(), None);
    }
}
