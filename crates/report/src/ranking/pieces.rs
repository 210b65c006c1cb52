//! The pieces in which a target is read: files of a tree, or blocks at places of a file.

use super::super::words;
use readlab_model::target::TargetFacts;
use readlab_model::target::places::{Pattern, PlacesFacts};
use readlab_model::units::Bytes;

/// The number of pieces that one reading reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pieces {
    Files(u64),
    /// Blocks of `block_bytes` bytes, each read by one call.
    Reads {
        reads: u64,
        block_bytes: u64,
        /// How the places of the blocks were chosen.
        pattern: Pattern,
    },
}

impl Pieces {
    /// The pieces of a target; `None` for a target that is read whole.
    pub(super) fn from_facts(facts: &TargetFacts) -> Option<Pieces> {
        let files = facts.tree().map(|tree| Pieces::Files(tree.files));
        let blocks = |it: &PlacesFacts| {
            let &PlacesFacts { reads, block_bytes, pattern, .. } = it;
            Pieces::Reads { reads, block_bytes, pattern }
        };
        files.or(facts.places().map(blocks))
    }

    pub fn count(self) -> u64 {
        match self {
            Pieces::Files(count) | Pieces::Reads { reads: count, .. } => count,
        }
    }

    pub fn rate_title(self) -> &'static str {
        match self {
            Pieces::Files(_) => "files/s",
            Pieces::Reads { .. } => "reads/s",
        }
    }

    /// The pieces in words, such as `2,907 files` or `4,096 random reads of 4KiB`.
    pub fn words(self) -> String {
        match self {
            Pieces::Files(count) => words::files(count),
            Pieces::Reads { reads, block_bytes, pattern } => {
                let noun = if reads == 1 { "read" } else { "reads" };
                format!("{} {pattern} {noun} of {}", words::grouped(reads), Bytes(block_bytes).exact())
            }
        }
    }
}
