//! The consumer for methods without a choice of scans: it counts the bytes and does the work.

use crate::{Answer, Work};
use std::hint::black_box;

/// State of the work between two pieces of a target.
#[derive(Debug, Clone)]
pub struct Tally {
    work: Work,
    bytes: u64,
    newlines: u64,
    sum: u8,
    ends_in_line: bool,
}

impl Tally {
    /// A tally before the first byte.
    #[must_use]
    pub fn new(work: Work) -> Tally {
        Tally { work, bytes: 0, newlines: 0, sum: 0, ends_in_line: false }
    }

    /// Visits the next piece. Only lines depend on the order of pieces.
    // Inlined into the loop that gets the pieces, like a loop that a contender has itself.
    #[inline]
    pub fn take(&mut self, piece: &[u8]) {
        let Some(last) = piece.last() else { return };
        self.bytes += piece.len() as u64;
        match self.work {
            Work::Newlines => self.newlines += memchr::memchr_iter(b'\n', piece).count() as u64,
            Work::Lines => self.newlines += count_line_ends(piece),
            // The compiler makes vector instructions of several independent sums.
            Work::Sum => self.sum = self.sum.wrapping_add(piece.iter().copied().fold(0, u8::wrapping_add)),
            Work::Discard | Work::Names | Work::Stat => {
                black_box(piece);
            }
        }
        self.ends_in_line = *last != b'\n';
    }

    /// Adds the tally of another part of the same target. Not for lines.
    #[must_use]
    pub fn merge(self, other: Tally) -> Tally {
        Tally {
            bytes: self.bytes + other.bytes,
            newlines: self.newlines + other.newlines,
            sum: self.sum.wrapping_add(other.sum),
            ..self
        }
    }

    /// Number of bytes that were visited, which is the offset of the next piece.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The answer that proves the work.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let mut answer = Answer { bytes: Some(self.bytes), ..Answer::default() };
        match self.work {
            Work::Newlines => answer.newlines = Some(self.newlines),
            Work::Lines => answer.lines = Some(self.newlines + u64::from(self.ends_in_line)),
            Work::Sum => answer.sum = Some(self.sum),
            Work::Discard | Work::Names | Work::Stat => {}
        }
        answer
    }
}

/// Counts the lines of a piece by finding the position of every line end. A mere count of newlines
/// would be less work than the work `lines` has to do.
fn count_line_ends(piece: &[u8]) -> u64 {
    let mut count = 0;
    for end in memchr::memchr_iter(b'\n', piece) {
        black_box(end);
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(work: Work, pieces: &[&[u8]]) -> Answer {
        let mut tally = Tally::new(work);
        pieces.iter().for_each(|piece| tally.take(piece));
        tally.answer()
    }

    #[test]
    fn the_answer_does_not_depend_on_the_sizes_of_pieces() {
        for pieces in [&[&b"a\nb\nc"[..]][..], &[b"a", b"\nb\n", b"", b"c"]] {
            assert_eq!(answer(Work::Newlines, pieces).newlines, Some(2));
            assert_eq!(answer(Work::Lines, pieces).lines, Some(3));
            assert_eq!(answer(Work::Sum, pieces).sum, Some(58)); // 97 + 98 + 99 + 2 * 10 - 256
            assert_eq!(answer(Work::Discard, pieces), Answer { bytes: Some(5), ..Answer::default() });
        }
        assert_eq!(answer(Work::Lines, &[b"a\n", b""]).lines, Some(1));
        assert_eq!(answer(Work::Lines, &[]).lines, Some(0));
    }

    #[test]
    fn parts_add_up() {
        let mut one = Tally::new(Work::Sum);
        one.take(&[200]);
        let mut two = Tally::new(Work::Sum);
        two.take(&[100]);
        let both = two.merge(one).answer();
        assert_eq!(both, Answer { bytes: Some(2), sum: Some(44), ..Answer::default() });
    }
}
