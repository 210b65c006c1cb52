//! The ranks of a ranking: which trials tie, by their ratios within rounds.

use super::reference::Reference;
use super::row::MeasuredRow;
use readlab_analysis::noise::SharedNoise;
use readlab_analysis::stats::Significance;
use readlab_model::trial::TrialIndex;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Standing")]
pub struct Rank {
    /// From 1; trials that tie share it.
    pub place: usize,
    #[serde(rename = "standing")]
    pub tie: TieStatus,
}

/// How a trial compares with the first of its rank, by their ratio within rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TieStatus {
    First,
    /// It is not shown to be slower.
    Tied,
}

impl Rank {
    /// `1`; `1=` when tied.
    pub fn word(self) -> String {
        match self.tie {
            TieStatus::First => self.place.to_string(),
            TieStatus::Tied => format!("{}=", self.place),
        }
    }
}

/// The first trial of a rank.
#[derive(Clone, Copy)]
struct First {
    place: usize,
    trial: TrialIndex,
}

/// Fills in intervals, ratios to the reference, and ranks. The rows are in the order of their
/// medians.
///
/// A trial has the rank of the first trial to which it is not shown to be slower; one that is
/// slower than the first of every rank begins a new one. So a noisy trial may share a rank with
/// trials far above it. A trial that was read in one round has no interval and no rank.
pub(super) fn compare(rows: &mut [MeasuredRow], reference: Option<&Reference>) -> SharedNoise {
    let noise = SharedNoise::from_trials(rows.iter().map(|it| it.trial));
    let mut firsts: Vec<First> = Vec::new();
    let mut ranked = 0;
    for MeasuredRow { row, .. } in rows.iter_mut() {
        let trial = row.index;
        let base = reference.filter(|base| base.index != trial);
        row.ratio = base.and_then(|base| noise.ratio(trial, base.index));
        row.locate(noise.location(trial));
        if row.interval.is_none() {
            continue;
        }
        ranked += 1;
        // A higher median, and yet faster within rounds, gives no order.
        let is_tied = |first: &&First| noise.against_first(first.trial, trial) != Some(Significance::Slower);
        row.rank = Some(match firsts.iter().find(is_tied) {
            Some(first) => Rank { place: first.place, tie: TieStatus::Tied },
            None => {
                firsts.push(First { place: ranked, trial });
                Rank { place: ranked, tie: TieStatus::First }
            }
        });
    }
    noise
}
