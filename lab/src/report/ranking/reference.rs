//! The reference of a ranking: the trial that ratios are computed against, and why it was chosen.

use super::row::MeasuredRow;
use crate::record::{Record, TrialRecord};

/// The trial that ratios are computed against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Number of the trial.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Why it was chosen.
    pub why: WhyReference,
}

/// Why a trial is the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyReference {
    /// The user named it.
    TrialSpec,
    /// It is independent code: `wc -l`, alone or behind a decoder or curl.
    Baseline,
    /// It is what most programs do: Rust's buffered reader.
    Usual,
    /// It is the fastest, as none of those was measured.
    Fastest,
}

/// Independent code that reads files, archives and URLs.
const BASELINES: [&str; 4] = [
    "command/wc -l",
    "command/unzip -p {} | wc -l",
    "command/gzip -dc {} | wc -l",
    "command/curl -s {} | wc -l",
];

impl Reference {
    /// The trial that the user named; else a baseline, else Rust's buffered reader, else the
    /// fastest.
    pub(super) fn among(record: &Record, rows: &[MeasuredRow]) -> Option<Reference> {
        let find = |fits: &dyn Fn(&TrialRecord) -> bool| rows.iter().find(|it| fits(it.trial));
        let named = |trial: &TrialRecord| Some(&trial.trial.id) == record.header.reference.as_ref();
        let baseline = |trial: &TrialRecord| BASELINES.contains(&trial.trial.id.to_string().as_str());
        let usual = |trial: &TrialRecord| {
            trial.trial.id.method.contender == "rust" && trial.trial.id.method.method == "buffered"
        };
        let (found, why) = find(&named)
            .map(|found| (found, WhyReference::TrialSpec))
            .or_else(|| find(&baseline).map(|found| (found, WhyReference::Baseline)))
            .or_else(|| find(&usual).map(|found| (found, WhyReference::Usual)))
            .or_else(|| rows.first().map(|found| (found, WhyReference::Fastest)))?;
        Some(Reference { index: found.row.index, name: found.row.name.clone(), why })
    }
}
