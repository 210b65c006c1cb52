//! The shares of several readers of one host, as a table and for programs.

use super::words::{self, Number};
use readlab_analysis::Estimate;
use readlab_analysis::readers::{ReaderShares, reader_shares};
use readlab_model::trial::{CacheState, TrialId, TrialIndex};
use readlab_record::{ReadersTurn, Record};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq)]
pub struct ReadersRow {
    /// The state of the cache and the name of the trial, such as `Cold, rust/read`.
    pub name: String,
    /// Number of readers that read at the same time.
    pub count: u64,
    /// Bytes per second of one reader.
    pub rate_each: f64,
    /// Jain's index of fairness.
    pub fairness: Estimate,
    /// The rate of one reader divided by that of a reader alone.
    pub of_alone: Option<Estimate>,
}

impl ReadersRow {
    /// All trials with several readers, and the trials with one reader beside them.
    pub fn all(record: &Record) -> Vec<ReadersRow> {
        let row = |it: &ReaderShares| ReadersRow {
            name: words::state_and_id(it.trial.trial.state, &record.trial_name(&it.trial.trial)),
            count: it.count,
            rate_each: it.rate_each,
            fairness: it.fairness,
            of_alone: it.of_alone,
        };
        reader_shares(record).iter().map(row).collect()
    }
}

pub(super) fn number(share: Estimate) -> Number {
    Number::with_ends(share.value, share.interval, |value| format!("{value:.2}"))
}

/// The readers of one trial for programs.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Readers")]
pub(super) struct ReadersExport<'a> {
    trial: &'a TrialId,
    index: TrialIndex,
    state: CacheState,
    readers: u64,
    bytes_per_second_each: f64,
    /// Jain's index of fairness.
    fairness: Estimate,
    /// The rate of one reader divided by that of a reader alone.
    of_alone: Option<Estimate>,
    turns: &'a [ReadersTurn],
}

impl<'a> ReadersExport<'a> {
    pub(super) fn all(record: &'a Record) -> Vec<ReadersExport<'a>> {
        let readers = |it: ReaderShares<'a>| ReadersExport {
            trial: &it.trial.trial.id,
            index: it.trial.trial.index,
            state: it.trial.trial.state,
            readers: it.count,
            bytes_per_second_each: it.rate_each,
            fairness: it.fairness,
            of_alone: it.of_alone,
            turns: &it.trial.readers_turns,
        };
        reader_shares(record).into_iter().map(readers).collect()
    }
}
