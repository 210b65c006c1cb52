//! What proves each piece of a target that is read in pieces: files, or blocks of one file.
//!
//! The formula is that of PROTOCOL.md once more: the oracle shares no code with what it judges.

use readlab_model::trial::{Answer, Work};

/// Modulo this, what tells a piece from others is multiplied with what was counted in it.
const PRIME: u64 = 65_521;

/// The sum of the products over all pieces, for each number that may be counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Products {
    pub(super) newlines: u32,
    pub(super) lines: u32,
    pub(super) sum: u32,
    pub(super) bytes: u32,
}

impl Products {
    /// Whether an answer proves each piece of this work; one that proves none does if it need not.
    /// Newlines and lines prove each other: the product is of the one that was counted.
    pub fn agree(&self, work: Work, answer: &Answer, must_prove: bool) -> bool {
        let Some(products) = answer.products else { return !must_prove };
        let right = match work {
            Work::Newlines if answer.newlines.is_some() => self.newlines,
            Work::Lines if answer.lines.is_none() => self.newlines,
            Work::Newlines | Work::Lines => self.lines,
            Work::Sum => self.sum,
            Work::Discard | Work::Output => self.bytes,
        };
        answer.files.or(answer.blocks).is_some() && products == u64::from(right)
    }

    /// Of the pieces of both.
    pub(super) fn and(&self, other: &Products) -> Products {
        Products {
            newlines: self.newlines.wrapping_add(other.newlines),
            lines: self.lines.wrapping_add(other.lines),
            sum: self.sum.wrapping_add(other.sum),
            bytes: self.bytes.wrapping_add(other.bytes),
        }
    }

    /// Adds a piece, by what tells it from others: the bytes of a file, the number of a place.
    pub(super) fn add(&mut self, tells: u64, piece: &Answer) {
        let product = |value: u64| {
            let tells = tells % PRIME + 1;
            // Both are at most 65,521, the square of which is below 2^32.
            u32::try_from(tells * (value % PRIME + 1)).expect("it is below 2^32")
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
