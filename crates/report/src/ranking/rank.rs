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
    /// The place from 1, which trials that tie share.
    pub place: usize,
    #[serde(rename = "standing")]
    pub tie: TieStatus,
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
        match self.tie {
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

/// Sets the intervals, ratios to the reference, and ranks of the rows, which are in the order of
/// their medians.
///
/// A trial gets the rank of the first trial to which it is not shown to be slower. A trial that is
/// slower than the first of every rank starts a new rank. So a noisy trial may share a rank with
/// trials far above it. A trial that was read in one round has no interval and no rank.
pub(super) fn compare(rows: &mut [MeasuredRow], reference: Option<&Reference>) -> SharedNoise {
    let noise = SharedNoise::from_trials(rows.iter().map(|it| it.trial));
    let mut firsts: Vec<RankStart> = Vec::new();
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
        // A trial with a higher median that is faster within rounds does not start a new rank.
        let is_tied =
            |first: &&RankStart| noise.against_first(first.trial, trial) != Some(Significance::Slower);
        row.rank = Some(match firsts.iter().find(is_tied) {
            Some(first) => Rank { place: first.place, tie: TieStatus::Tied },
            None => {
                firsts.push(RankStart { place: ranked, trial });
                Rank { place: ranked, tie: TieStatus::First }
            }
        });
    }
    noise
}
