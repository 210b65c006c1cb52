//! The reference of a ranking: the trial that ratios are computed against, and why it was chosen.

use super::row::MeasuredRow;
use readlab_model::trial::TrialIndex;
use readlab_record::{Record, ReferenceCandidate, ReferenceReason};

/// The trial that ratios are computed against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub index: TrialIndex,
    pub name: String,
    pub why: WhyReference,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyReference {
    /// The reference is the best candidate that was measured.
    Candidate(ReferenceReason),
    /// The reference is the fastest trial, because no candidate was measured.
    Fastest,
}

impl WhyReference {
    pub fn words(self) -> &'static str {
        match self {
            WhyReference::Candidate(ReferenceReason::Named) => "named for this run",
            WhyReference::Candidate(ReferenceReason::Own) => "the user's own program",
            WhyReference::Candidate(ReferenceReason::Independent) => "code that others wrote",
            WhyReference::Candidate(ReferenceReason::Usual) => "what most programs do",
            WhyReference::Fastest => "the fastest, as no usual way was measured",
        }
    }
}

impl Reference {
    /// The first candidate of the record that was measured; without one, the fastest trial.
    pub(super) fn among(record: &Record, rows: &[MeasuredRow]) -> Option<Reference> {
        let measured = |candidate: &ReferenceCandidate| {
            let found = rows.iter().find(|it| it.trial.trial.id == candidate.trial)?;
            Some((found, WhyReference::Candidate(candidate.why)))
        };
        let candidate = record.header.references.iter().find_map(measured);
        let (found, why) = candidate.or_else(|| Some((rows.first()?, WhyReference::Fastest)))?;
        Some(Reference { index: found.row.index, name: found.row.name.clone(), why })
    }
}
