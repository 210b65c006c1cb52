//! The trial that ratios are made against, and why it is that one.

use super::Row;
use crate::record::{Record, TrialRecord};

/// The trial that ratios are made against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Number of the trial.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Why this one.
    pub why: WhyReference,
}

/// Why a trial is the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyReference {
    /// The user named it.
    TrialSpec,
    /// It is code that nobody here wrote: `wc -l`, or what brings it the bytes: a decoder, over
    /// http curl.
    Baseline,
    /// It is what most programs do: Rust's buffered reader.
    Usual,
    /// None of those was measured; it is the fastest.
    Fastest,
}

/// Code that others wrote, for files, for what comes out of archives, and for URLs.
const BASELINES: [&str; 4] = [
    "command/wc -l",
    "command/unzip -p {} | wc -l",
    "command/gzip -dc {} | wc -l",
    "command/curl -s {} | wc -l",
];

impl Reference {
    /// The trial that the user named; else code that others wrote (`wc -l`, or behind a decoder or
    /// curl), else Rust's buffered reader, else the fastest.
    pub(super) fn among(record: &Record, rows: &[(Row, &TrialRecord)]) -> Option<Reference> {
        let find = |fits: &dyn Fn(&TrialRecord) -> bool| rows.iter().find(|(_, trial)| fits(trial));
        let named = |trial: &TrialRecord| Some(&trial.trial.id) == record.header.reference.as_ref();
        let baseline = |trial: &TrialRecord| BASELINES.contains(&trial.trial.id.to_string().as_str());
        let usual = |trial: &TrialRecord| {
            trial.trial.id.method.contender == "rust" && trial.trial.id.method.method == "buffered"
        };
        let ((row, _), why) = find(&named)
            .map(|found| (found, WhyReference::TrialSpec))
            .or_else(|| find(&baseline).map(|found| (found, WhyReference::Baseline)))
            .or_else(|| find(&usual).map(|found| (found, WhyReference::Usual)))
            .or_else(|| rows.first().map(|found| (found, WhyReference::Fastest)))?;
        Some(Reference { index: row.index, name: row.name.clone(), why })
    }
}
