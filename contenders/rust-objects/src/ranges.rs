//! Cuts an object into ranges by size.

use std::ops::Range;

/// Cuts a range into ranges of `size_bytes` each. The last may be shorter.
pub(crate) fn cut(whole: Range<u64>, size_bytes: u64) -> impl Iterator<Item = Range<u64>> {
    let starts = (whole.start..whole.end).step_by(usize::try_from(size_bytes).unwrap_or(usize::MAX));
    starts.map(move |start| start..whole.end.min(start + size_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_in_one_range() {
        assert_eq!(cut(0..10, 4).collect::<Vec<_>>(), [0..4, 4..8, 8..10]);
        assert_eq!(cut(4..9, 4).collect::<Vec<_>>(), [4..8, 8..9]);
        assert_eq!(cut(4..4, 4).count(), 0);
    }
}
