//! The reference of a ranking: the trial that ratios are computed against, and why it was chosen.

use super::row::MeasuredRow;
use readlab_model::trial::TrialIndex;
use readlab_record::{INDEPENDENT, Record, ReferenceCandidate, ReferenceReason, Trial};

/// The trial that ratios are computed against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub index: TrialIndex,
    pub name: String,
    pub why: WhyReference,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyReference {
    /// It is the best candidate that was measured.
    Candidate(ReferenceReason),
    /// It is the fastest, as no candidate was measured.
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
    /// The first candidate of the record that was measured, else the fastest.
    pub(super) fn among(record: &Record, rows: &[MeasuredRow]) -> Option<Reference> {
        let measured = |candidate: &ReferenceCandidate| {
            let found = rows.iter().find(|it| it.trial.trial.id == candidate.trial)?;
            Some((found, WhyReference::Candidate(candidate.why)))
        };
        let candidate = candidates(record, rows).iter().find_map(measured);
        let (found, why) = candidate.or_else(|| Some((rows.first()?, WhyReference::Fastest)))?;
        Some(Reference { index: found.row.index, name: found.row.name.clone(), why })
    }
}

/// The candidates; of an older record: the named trial, independent code, Rust's buffered reader.
fn candidates(record: &Record, rows: &[MeasuredRow]) -> Vec<ReferenceCandidate> {
    if !record.header.references.is_empty() {
        return record.header.references.clone();
    }
    let named = record.header.reference.clone().map(|id| (id, ReferenceReason::Named));
    let independent = INDEPENDENT.iter().filter_map(|name| name.parse().ok());
    let is_buffered = |trial: &&Trial| (trial.contender(), trial.method()) == ("rust", "buffered");
    let buffered = rows.iter().map(|it| &it.trial.trial).filter(is_buffered);
    let all = named.into_iter();
    let all = all.chain(independent.map(|id| (id, ReferenceReason::Independent)));
    let all = all.chain(buffered.map(|trial| (trial.id.clone(), ReferenceReason::Usual)));
    all.map(|(trial, why)| ReferenceCandidate { trial, why }).collect()
}
