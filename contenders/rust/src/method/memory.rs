//! Visits bytes in memory, by one thread in one call, or by several threads in segments.

use super::Fault;
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::segments::Segments;
use crate::setting::Param;
use readlab_protocol::Answer;
use std::ops::Range;

pub(super) const THREADS: Param = Param::new("threads", 1, 1, 1024);
pub(super) const SEGMENT: Param = Param::new("segment_bytes", 4 << 20, 4096, 1 << 40);

/// Visits all bytes. One thread visits them from first to last, several threads in segments.
pub(super) fn visit_all(
    bytes: &[u8],
    segment_bytes: u64,
    threads: u64,
    visit: Visit,
) -> Result<Answer, Fault> {
    if threads == 1 {
        let mut consumer = Consumer::new(visit);
        consumer.feed(bytes);
        return Ok(consumer.finish());
    }
    let parts = Segments::new(0..bytes.len() as u64, segment_bytes).run_on_threads(threads, |segments| {
        let mut consumer = Consumer::new(visit);
        while let Some(range) = segments.take() {
            let range = range.start as usize..range.end as usize;
            match visit {
                Visit::Lines(_) => consumer.feed(&bytes[whole_lines(bytes, range)]),
                _ => consumer.feed(&bytes[range]),
            }
        }
        Ok(consumer.finish())
    })?;
    Ok(Answer::of_parts(parts))
}

/// The range of the lines that begin within a segment: from the first line start in it to the first
/// line start after it. Together the segments contain every line once. Only a segment with a line
/// start is read beyond its end.
fn whole_lines(bytes: &[u8], segment: Range<usize>) -> Range<usize> {
    let beginning_from = |at: usize, end: usize| match at {
        0 => Some(0),
        _ => memchr::memchr(b'\n', &bytes[at - 1..end]).map(|newline| at + newline),
    };
    match beginning_from(segment.start, segment.end) {
        Some(start) if start < segment.end => {
            start..beginning_from(segment.end, bytes.len()).unwrap_or(bytes.len())
        }
        _ => segment.start..segment.start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn segments_contain_every_line_once(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'x')], 0..200),
            step in 1usize..50,
        ) {
            let mut seen = Vec::new();
            for start in (0..bytes.len()).step_by(step) {
                let range = whole_lines(&bytes, start..bytes.len().min(start + step));
                if !range.is_empty() {
                    prop_assert!(range.start == 0 || bytes[range.start - 1] == b'\n');
                    prop_assert!(range.end == bytes.len() || bytes[range.end - 1] == b'\n');
                }
                seen.extend_from_slice(&bytes[range]);
            }
            prop_assert_eq!(seen, bytes);
        }
    }
}
