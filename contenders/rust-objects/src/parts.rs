//! The ranges of an object: cut by size, and read back from a server's answer.

use std::ops::Range;

/// Ranges of `size_bytes` each within a range; the last may be shorter.
pub(crate) fn cut(whole: Range<u64>, size_bytes: u64) -> impl Iterator<Item = Range<u64>> {
    let starts = (whole.start..whole.end).step_by(usize::try_from(size_bytes).unwrap_or(usize::MAX));
    starts.map(move |start| start..whole.end.min(start + size_bytes))
}

/// The range and the whole size in `bytes 0-99/1234`.
pub(crate) fn content_range(value: &str) -> Option<(Range<u64>, u64)> {
    let (range, size) = value.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let end = last.parse::<u64>().ok()?.checked_add(1)?;
    Some((first.parse().ok()?..end, size.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_in_one_range() {
        assert_eq!(cut(0..10, 4).collect::<Vec<_>>(), [0..4, 4..8, 8..10]);
        assert_eq!(cut(4..8, 4).collect::<Vec<_>>(), [4..8]);
        assert_eq!(cut(4..4, 4).count(), 0);
    }

    #[test]
    fn a_range_is_read_as_servers_write_it() {
        assert_eq!(content_range("bytes 0-0/1"), Some((0..1, 1)));
        assert_eq!(content_range("bytes 5-9/10"), Some((5..10, 10)));
        for bad in ["bytes 0-0/*", "bytes */0", "0-1/2", "bytes 0-18446744073709551615/1", ""] {
            assert_eq!(content_range(bad), None, "{bad}");
        }
    }
}
