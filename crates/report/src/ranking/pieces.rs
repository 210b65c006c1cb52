//! The pieces in which a target is read: files of a tree, names below a folder, blocks of a file,
//! or ranges of a file.

use super::super::words;
use readlab_model::target::TargetFacts;
use readlab_model::target::places::{Pattern, PlacesFacts};
use readlab_model::trial::Work;
use readlab_model::units::Bytes;

/// The kind and the number of pieces that one reading reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pieces {
    Files(u64),
    /// Names below a folder, whose files are not read.
    Names(u64),
    /// Blocks of `block_bytes` bytes, each read by one call.
    Reads {
        reads: u64,
        block_bytes: u64,
        /// How the places of the blocks were chosen.
        pattern: Pattern,
    },
    Ranges(u64),
}

impl Pieces {
    /// The pieces of a target in a race for this work; `None` for a target that is read whole.
    pub(in super::super) fn from_facts(facts: &TargetFacts, work: Work) -> Option<Pieces> {
        if work.finds_names() {
            return facts.answer?.names.map(Pieces::Names);
        }
        let files = facts.tree().map(|tree| Pieces::Files(tree.files));
        let blocks = |it: &PlacesFacts| {
            let &PlacesFacts { read_count: reads, block_bytes, pattern, .. } = it;
            Pieces::Reads { reads, block_bytes, pattern }
        };
        let ranges = facts.ranges.as_ref().map(|ranges| Pieces::Ranges(ranges.read_count));
        files.or(facts.places().map(blocks)).or(ranges)
    }

    pub fn count(self) -> u64 {
        match self {
            Pieces::Files(count)
            | Pieces::Names(count)
            | Pieces::Reads { reads: count, .. }
            | Pieces::Ranges(count) => count,
        }
    }

    pub fn rate_title(self) -> &'static str {
        match self {
            Pieces::Files(_) => "files/s",
            Pieces::Names(_) => "names/s",
            Pieces::Reads { .. } => "reads/s",
            Pieces::Ranges(_) => "ranges/s",
        }
    }

    /// The pieces in words, such as `2,907 files`, `4,096 random reads of 4KiB` or `12 ranges`.
    pub fn words(self) -> String {
        match self {
            Pieces::Files(count) => words::grouped_plural(count, "file"),
            Pieces::Names(count) => words::grouped_plural(count, "name"),
            Pieces::Reads { reads, block_bytes, pattern } => {
                let noun = format!("{pattern} read");
                format!("{} of {}", words::grouped_plural(reads, &noun), Bytes(block_bytes).exact_text())
            }
            Pieces::Ranges(count) => words::grouped_plural(count, "range"),
        }
    }
}
