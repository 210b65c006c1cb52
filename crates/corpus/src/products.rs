//! The proofs that a contender has read each piece of a target: each file of a tree, or each block of
//! a file.
//!
//! This is a second implementation of the formula in PROTOCOL.md, because the oracle shares no code
//! with what it judges.

use readlab_model::trial::{Answer, Work};

/// The identifier of a piece and its count are each reduced modulo this prime and increased by 1. The
/// product of the two is the proof of the piece.
const PRIME: u64 = 65_521;

/// The sums of the products over all pieces: one sum for each number that a contender may count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Products {
    pub(super) newlines: u32,
    pub(super) lines: u32,
    pub(super) sum: u32,
    pub(super) bytes: u32,
}

impl Products {
    /// True if the answer's product proves each piece for this work, or if the answer has no
    /// product and `must_prove` is false. Newlines and lines prove each other; the product uses the
    /// number that was counted.
    pub fn agrees_with(&self, work: Work, answer: &Answer, must_prove: bool) -> bool {
        // Names are proven by their numbers, without products.
        if work.finds_names() {
            return true;
        }
        let Some(products) = answer.products else { return !must_prove };
        let right = match work {
            Work::Newlines if answer.newlines.is_some() => self.newlines,
            Work::Lines if answer.lines.is_none() => self.newlines,
            Work::Newlines | Work::Lines => self.lines,
            Work::Sum => self.sum,
            Work::Discard | Work::Names | Work::Stat | Work::Output | Work::Part => self.bytes,
        };
        answer.files.or(answer.blocks).is_some() && products == u64::from(right)
    }

    /// The sums over the pieces of `self` and `other` together, modulo 2^32.
    pub(super) fn sum_with(&self, other: &Products) -> Products {
        Products {
            newlines: self.newlines.wrapping_add(other.newlines),
            lines: self.lines.wrapping_add(other.lines),
            sum: self.sum.wrapping_add(other.sum),
            bytes: self.bytes.wrapping_add(other.bytes),
        }
    }

    /// Adds a piece. Its identifier is the size of a file in bytes, or the number of a block.
    pub(super) fn add(&mut self, identifier: u64, piece: &Answer) {
        let product = |value: u64| {
            let identifier = identifier % PRIME + 1;
            // Both factors are at most 65,521, whose square is below 2^32.
            u32::try_from(identifier * (value % PRIME + 1)).expect("it is below 2^32")
        };
        let count = |sum: &mut u32, value: Option<u64>| {
            *sum = sum.wrapping_add(product(value.unwrap_or_default()));
        };
        count(&mut self.newlines, piece.newlines);
        count(&mut self.lines, piece.lines);
        count(&mut self.sum, piece.sum);
        count(&mut self.bytes, piece.bytes);
    }
}
