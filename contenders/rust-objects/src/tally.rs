//! The consumer of all methods: it counts the bytes and does the work.

use crate::request::Work;
use std::hint::black_box;
use std::time::Instant;

/// State of the work between two pieces of the content.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    work: Work,
    /// Bytes so far.
    pub(crate) bytes: u64,
    newlines: u64,
    sum: u8,
    ends_in_line: bool,
    /// When the first piece came.
    pub(crate) first_byte: Option<Instant>,
}

/// The numbers of a reading; what is unknown is `None`.
#[derive(Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Answer {
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    newlines: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sum: Option<u8>,
}

impl Tally {
    pub(crate) fn new(work: Work) -> Tally {
        Tally { work, bytes: 0, newlines: 0, sum: 0, ends_in_line: false, first_byte: None }
    }

    /// Visits the next piece. Only lines depend on the order of pieces.
    pub(crate) fn take(&mut self, piece: &[u8]) {
        let Some(last) = piece.last() else { return };
        self.first_byte.get_or_insert_with(Instant::now);
        self.bytes += piece.len() as u64;
        match self.work {
            Work::Newlines => self.newlines += memchr::memchr_iter(b'\n', piece).count() as u64,
            Work::Lines => self.newlines += lines(piece),
            // Of several sums the compiler makes vector instructions.
            Work::Sum => self.sum = self.sum.wrapping_add(piece.iter().copied().fold(0, u8::wrapping_add)),
            Work::Discard => {}
        }
        self.ends_in_line = *last != b'\n';
    }

    /// Adds another part of the same content; not for lines.
    pub(crate) fn merge(&mut self, other: &Tally) {
        self.bytes += other.bytes;
        self.newlines += other.newlines;
        self.sum = self.sum.wrapping_add(other.sum);
        self.first_byte = [self.first_byte, other.first_byte].into_iter().flatten().min();
    }

    pub(crate) fn answer(&self) -> Answer {
        let mut answer = Answer { bytes: self.bytes, ..Answer::default() };
        match self.work {
            Work::Newlines => answer.newlines = Some(self.newlines),
            Work::Lines => answer.lines = Some(self.newlines + u64::from(self.ends_in_line)),
            Work::Sum => answer.sum = Some(self.sum),
            Work::Discard => {}
        }
        answer
    }
}

/// Finds every end of a line. Where it is must be known, so that lines are not just counted.
fn lines(piece: &[u8]) -> u64 {
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
    fn where_the_pieces_are_cut_changes_nothing() {
        for pieces in [&[&b"a\nb\nc"[..]][..], &[b"a", b"\nb\n", b"", b"c"]] {
            assert_eq!(answer(Work::Newlines, pieces).newlines, Some(2));
            assert_eq!(answer(Work::Lines, pieces).lines, Some(3));
            assert_eq!(answer(Work::Sum, pieces).sum, Some(58)); // 97 + 98 + 99 + 2 * 10 - 256
            assert_eq!(answer(Work::Discard, pieces), Answer { bytes: 5, ..Answer::default() });
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
        two.merge(&one);
        assert_eq!(two.answer(), Answer { bytes: 2, sum: Some(44), ..Answer::default() });
        assert_eq!(two.first_byte, one.first_byte);
    }
}
