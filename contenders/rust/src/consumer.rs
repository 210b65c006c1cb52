//! The consumer of bytes. Every method feeds its bytes piece by piece to a [`Consumer`], which does
//! the work.
//!
//! The consumer keeps the state that must outlive a piece (counts, and the line that the end of a
//! piece cut), and calls the chosen scan. It reads nothing itself.

use crate::scan::{LineFinder, Visit};
use readlab_auto::Visitor;
use readlab_protocol::Answer;
use std::ops::ControlFlow;

/// State of the work between two pieces of a file.
#[derive(Debug)]
pub struct Consumer {
    visit: Visit,
    bytes: u64,
    newlines: u64,
    sum: u8,
    lines: LineFinder,
}

impl Consumer {
    /// Makes a consumer that has seen no bytes yet.
    pub fn new(visit: Visit) -> Consumer {
        Consumer { visit, bytes: 0, newlines: 0, sum: 0, lines: LineFinder::default() }
    }

    /// Visits the next bytes. Only [`Visit::Lines`] depends on their order.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        match self.visit {
            Visit::Nothing => {}
            Visit::Touch(touch) => touch(bytes),
            Visit::Newlines(count) => self.newlines += count(bytes),
            Visit::Sum(sum) => self.sum = self.sum.wrapping_add(sum(bytes)),
            Visit::Lines(find) => find(&mut self.lines, bytes),
        }
    }

    /// The answer: the number of bytes, and the result of the work.
    pub fn finish(self) -> Answer {
        let mut answer = Answer { bytes: Some(self.bytes), ..Answer::default() };
        match self.visit {
            Visit::Nothing | Visit::Touch(_) => {}
            Visit::Newlines(_) => answer.newlines = Some(self.newlines),
            Visit::Sum(_) => answer.sum = Some(self.sum),
            Visit::Lines(_) => answer.lines = Some(self.lines.finish()),
        }
        answer
    }
}

impl Visitor for Consumer {
    fn visit(&mut self, _offset: u64, bytes: &[u8]) -> ControlFlow<()> {
        self.feed(bytes);
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_answer_does_not_depend_on_the_sizes_of_pieces(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..2000),
            cuts in proptest::collection::vec(0usize..2000, 0..8),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            for scan in scan::ALL.iter().filter(|scan| scan.is_available()) {
                let mut whole = Consumer::new(scan.visit);
                whole.feed(&bytes);
                let mut pieces = Consumer::new(scan.visit);
                for cut in cuts.windows(2) {
                    pieces.feed(&bytes[cut[0]..cut[1]]);
                }
                prop_assert_eq!(whole.finish(), pieces.finish(), "{}", scan.name);
            }
        }
    }
}
