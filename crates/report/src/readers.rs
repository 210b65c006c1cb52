//! What each of several readers of one host had, as a table and for programs.

use super::words::{self, Number};
use readlab_analysis::readers::{ReaderShares, Share, reader_shares};
use readlab_model::units::Throughput;
use readlab_record::Record;
use serde_json::{Value, json};

/// The readers of one trial as a row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadersRow {
    /// The state of the cache and the name of the trial, such as `Cold, rust/read`.
    pub name: String,
    /// How many read together.
    pub count: u64,
    /// Bytes per second of one of them.
    pub rate_each: f64,
    /// Jain's index.
    pub fairness: Share,
    /// The rate of one over that of a reader alone.
    pub of_alone: Option<Share>,
}

impl ReadersRow {
    /// Every trial that several read together, or one beside trials of several.
    pub fn all(record: &Record) -> Vec<ReadersRow> {
        reader_shares(record).iter().map(ReadersRow::from_shares).collect()
    }

    fn from_shares(shares: &ReaderShares) -> ReadersRow {
        let trial = &shares.trial.trial;
        ReadersRow {
            name: format!("{}, {}", words::capital(&trial.state.to_string()), trial.id),
            count: shares.count,
            rate_each: shares.rate_each,
            fairness: shares.fairness,
            of_alone: shares.of_alone,
        }
    }

    /// The number of readers, and the rate of each.
    pub(super) fn rate(&self) -> Number {
        Number::new(Throughput(self.rate_each).to_string(), self.rate_each)
    }
}

/// A share with its interval.
pub(super) fn number(share: Share) -> Number {
    let ends = share.interval.map_or_else(String::new, |it| format!(" [{:.2}, {:.2}]", it.low, it.high));
    Number::new(format!("{:.2}{ends}", share.estimate), share.estimate)
}

/// For programs.
pub(super) fn json_values(record: &Record) -> Vec<Value> {
    let share =
        |it: Share| json!({ "estimate": it.estimate, "ci95": it.interval.map(|it| [it.low, it.high]) });
    let value = |it: &ReaderShares| {
        json!({
            "trial": it.trial.trial.id.to_string(),
            "index": it.trial.trial.index,
            "state": it.trial.trial.state,
            "readers": it.count,
            "bytes_per_second_each": it.rate_each,
            "fairness": share(it.fairness),
            "of_alone": it.of_alone.map(share),
            "turns": it.trial.readers_turns,
        })
    };
    reader_shares(record).iter().map(value).collect()
}
