//! An answer as the JSON export has it: the verdict as a word, and the numbers with their
//! intervals.

use super::answer::{Answer, ClaimNumber, ShownNumbers, Verdict};
use readlab_analysis::compare::Unit;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ClaimAnswer")]
pub(super) struct AnswerExport<'a> {
    verdict: VerdictWord,
    /// Why the claim cannot be decided.
    why: Option<&'a str>,
    found: Option<FoundExport<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ClaimVerdict")]
enum VerdictWord {
    Holds,
    DoesNotHold,
    CannotBeTold,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Found")]
enum FoundExport<'a> {
    Numbers {
        /// `times`, `share`, `nanoseconds`, `bytes`, `bytes_per_second`, `count`, or
        /// `nanoseconds_per_byte_per_` and a fact of the machine.
        unit: String,
        numbers: &'a [ClaimNumber],
    },
    /// Counts of the pairs of an order.
    Pairs { in_order: usize, reversed: usize, pairs: usize },
    /// The number of ranks that differ between machines.
    Ranks { differ: usize, ranks: usize },
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (verdict, why) = match &self.verdict {
            Verdict::Holds => (VerdictWord::Holds, None),
            Verdict::DoesNotHold => (VerdictWord::DoesNotHold, None),
            Verdict::Undecided(why) => (VerdictWord::CannotBeTold, Some(why.as_str())),
        };
        AnswerExport { verdict, why, found: found_export(&self.shown) }.serialize(serializer)
    }
}

fn found_export(shown: &ShownNumbers) -> Option<FoundExport<'_>> {
    let (unit, numbers) = match shown {
        ShownNumbers::Nothing => return None,
        &ShownNumbers::Pairs { in_order, reversed, total } => {
            return Some(FoundExport::Pairs { in_order, reversed, pairs: total });
        }
        &ShownNumbers::Ranks { differing, total } => {
            return Some(FoundExport::Ranks { differ: differing, ranks: total });
        }
        ShownNumbers::Times(numbers) => ("times".to_owned(), numbers),
        ShownNumbers::Shares(numbers) => ("share".to_owned(), numbers),
        ShownNumbers::Values(unit, numbers) => (unit_word(*unit).to_owned(), numbers),
        ShownNumbers::PerFact(fact, numbers) => (format!("nanoseconds_per_byte_per_{fact}"), numbers),
    };
    Some(FoundExport::Numbers { unit, numbers })
}

fn unit_word(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "nanoseconds",
        Unit::Bytes => "bytes",
        Unit::BytesPerSecond => "bytes_per_second",
        Unit::Count => "count",
    }
}
