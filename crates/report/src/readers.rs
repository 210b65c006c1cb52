//! The shares of several readers of one host, as a table and for the JSON export.

use super::words::{self, Number};
use readlab_analysis::Estimate;
use readlab_analysis::readers::{ReaderShares, reader_shares};
use readlab_model::trial::{CacheState, TrialId, TrialIndex};
use readlab_record::{ReadersTurn, Record};
use schemars::JsonSchema;
use serde::Serialize;

/// The readers of one trial, as the JSON export has them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Readers")]
pub struct ReadersRow {
    /// The state of the cache and the name of the trial, such as `Cold, rust/read`.
    #[serde(skip)]
    pub name: String,
    pub trial: TrialId,
    pub index: TrialIndex,
    pub state: CacheState,
    // The number of readers that read at the same time.
    #[serde(rename = "readers")]
    pub reader_count: u64,
    /// The rate of one reader by its own clock; `null` if it is not known how many bytes a reading
    /// reads.
    #[serde(rename = "bytes_per_second_each")]
    pub bytes_per_s_each: Option<f64>,
    /// Jain's index of fairness.
    pub fairness: Estimate,
    /// The speed of one of several readers divided by that of a reader alone, in the same rounds;
    /// `null` if no reader was measured alone.
    #[serde(rename = "of_alone")]
    pub ratio_to_alone: Option<Estimate>,
    pub turns: Vec<ReadersTurn>,
}

impl ReadersRow {
    /// The trials with several readers, and the trials with one reader that they are compared with.
    pub fn all(record: &Record) -> Vec<ReadersRow> {
        let row = |it: &ReaderShares| {
            let trial = &it.trial.trial;
            ReadersRow {
                name: words::state_and_id(trial.state, &record.trial_name(trial)),
                trial: trial.id.clone(),
                index: trial.index,
                state: trial.state,
                reader_count: it.count,
                bytes_per_s_each: it.rate_per_reader,
                fairness: it.fairness,
                ratio_to_alone: it.ratio_to_alone,
                turns: it.trial.readers_turns.clone(),
            }
        };
        reader_shares(record).iter().map(row).collect()
    }
}

pub(super) fn share_number(share: Estimate) -> Number {
    Number::with_ends(share.value, share.interval, |value| format!("{value:.2}"))
}
