//! The ranks of a ranking: which trials tie, by their ratios within rounds; and its reference: the
//! trial that ratios are computed against, and why it was chosen.

use super::row::MeasuredRow;
use readlab_analysis::noise::SharedNoise;
use readlab_analysis::stats::Significance;
use readlab_model::trial::TrialIndex;
use readlab_record::{Record, ReferenceCandidate, ReferenceReason};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Standing")]
pub struct Rank {
    /// The place from 1, which trials that tie share.
    pub place: usize,
    #[serde(rename = "standing")]
    pub tie_status: TieStatus,
}

/// How a trial compares with the first of its rank, by their ratio within rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TieStatus {
    First,
    /// The trial is not shown to be slower.
    Tied,
}

impl Rank {
    /// The rank in words: `1`, or `1=` when tied.
    pub fn word(self) -> String {
        match self.tie_status {
            TieStatus::First => self.place.to_string(),
            TieStatus::Tied => format!("{}=", self.place),
        }
    }
}

/// The first trial of a rank.
#[derive(Clone, Copy)]
struct RankStart {
    place: usize,
    trial: TrialIndex,
}

/// Sets the intervals, the ratios to the reference, and the ranks of rows that are sorted by their
/// medians. Returns the noise of all their trials.
///
/// A trial gets the rank of the first rank whose first trial is not clearly faster. A trial that is
/// clearly slower than the first trial of every rank starts a new rank. So a noisy trial may share
/// a rank with much faster trials. A trial that was read in one round has no interval and no rank.
pub(super) fn assign_ranks(rows: &mut [MeasuredRow], reference: Option<&Reference>) -> SharedNoise {
    let noise = SharedNoise::from_trials(rows.iter().map(|it| it.trial));
    let mut firsts: Vec<RankStart> = Vec::new();
    let mut ranked = 0;
    for MeasuredRow { row, .. } in rows.iter_mut() {
        let trial = row.index;
        let base = reference.filter(|base| base.index != trial);
        row.ratio_to_reference = base.and_then(|base| noise.ratio(trial, base.index));
        row.set_interval(noise.location(trial));
        if row.interval_rule.is_none() {
            continue;
        }
        ranked += 1;
        // A trial with a higher median that is faster within rounds does not start a new rank.
        let is_tied = |first: &&RankStart| {
            noise.significance_against_first(first.trial, trial) != Some(Significance::Slower)
        };
        row.rank = Some(match firsts.iter().find(is_tied) {
            Some(first) => Rank { place: first.place, tie_status: TieStatus::Tied },
            None => {
                firsts.push(RankStart { place: ranked, trial });
                Rank { place: ranked, tie_status: TieStatus::First }
            }
        });
    }
    noise
}

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
    pub(super) fn choose(record: &Record, rows: &[MeasuredRow]) -> Option<Reference> {
        let measured = |candidate: &ReferenceCandidate| {
            let found = rows.iter().find(|it| it.trial.trial.id == candidate.trial)?;
            Some((found, WhyReference::Candidate(candidate.why)))
        };
        let candidate = record.header.reference_candidates.iter().find_map(measured);
        let (found, why) = candidate.or_else(|| Some((rows.first()?, WhyReference::Fastest)))?;
        Some(Reference { index: found.row.index, name: found.row.name.clone(), why })
    }
}
