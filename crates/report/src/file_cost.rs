//! The costs of files and bytes in words and as numbers.

use super::words::{self, Number};
use readlab_analysis::Estimate;
use readlab_analysis::file_cost::FileCost;
use readlab_analysis::stats::whole;
use readlab_model::trial::{CacheState, TrialId};
use readlab_model::units::{Nanos, Throughput};
use readlab_record::Record;
use schemars::JsonSchema;
use serde::Serialize;

/// If the relative error of the fit is larger, the time of a reading is not the sum of a cost for
/// each file and a cost for each byte.
const FIT_ERROR_SHARE_MAX: f64 = 0.2;

pub(super) fn state_and_trial(cost: &FileCost) -> String {
    words::state_and_id(cost.state, &cost.id)
}

pub(super) fn cost_line(cost: &FileCost) -> String {
    let FileCost { per_file_ns, largest_error, rounds, .. } = cost;
    let (name, within) = (state_and_trial(cost), words::percent(*largest_error));
    if *largest_error > FIT_ERROR_SHARE_MAX {
        return format!(
            "per file: {name}: not told: a cost for each file and byte misses the times by {within}"
        );
    }
    let file = match per_file_ns.is_clearly_positive() {
        true => format!("{} a file", time_per_file(cost).text),
        false => "no cost of a file is seen".to_owned(),
    };
    let bytes = byte_rate(cost).map_or_else(|| "no cost of bytes is seen".to_owned(), |rate| rate.text);
    format!("per file: {name}: {file}, and {bytes}; within {within}, {}", words::plural(*rounds, "round"))
}

pub(super) fn time_per_file(cost: &FileCost) -> Number {
    number_with_ends(cost.per_file_ns, |ns| Nanos(whole(ns)).to_string())
}

/// The rate of bytes; `None` where the cost of a byte is not clearly above zero.
pub(super) fn byte_rate(cost: &FileCost) -> Option<Number> {
    cost.rate().map(|rate| number_with_ends(rate, |rate| Throughput(rate).to_string()))
}

/// The costs of files and bytes for one method, as the JSON export has them.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FileCost")]
pub(super) struct FileCostExport {
    trial: TrialId,
    state: CacheState,
    per_file_ns: f64,
    per_file_ns_ci95: Option<[f64; 2]>,
    per_byte_ns: f64,
    per_byte_ns_ci95: Option<[f64; 2]>,
    /// The largest relative error of the fit at the median times.
    #[serde(rename = "off_by")]
    largest_error: f64,
    rounds: usize,
}

impl FileCostExport {
    pub(super) fn all(record: &Record) -> Vec<FileCostExport> {
        let ends = |it: Estimate| it.interval.map(|it| [it.low, it.high]);
        let cost = |it: FileCost| FileCostExport {
            trial: it.id,
            state: it.state,
            per_file_ns: it.per_file_ns.value,
            per_file_ns_ci95: ends(it.per_file_ns),
            per_byte_ns: it.per_byte_ns.value,
            per_byte_ns_ci95: ends(it.per_byte_ns),
            largest_error: it.largest_error,
            rounds: it.rounds,
        };
        FileCost::all(record).into_iter().map(cost).collect()
    }
}

fn number_with_ends(estimate: Estimate, shown: impl Fn(f64) -> String) -> Number {
    Number::with_ends(estimate.value, estimate.interval, shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_analysis::stats::Interval;

    fn line(per_file: [f64; 3], per_byte: [f64; 3], off_by: f64) -> String {
        let estimate =
            |[low, value, high]: [f64; 3]| Estimate { value, interval: Some(Interval { low, high }) };
        let id = TrialId::parse_written("rust/read").unwrap();
        let (per_file_ns, per_byte_ns) = (estimate(per_file), estimate(per_byte));
        cost_line(&FileCost {
            id,
            state: CacheState::Warm,
            per_file_ns,
            per_byte_ns,
            largest_error: off_by,
            rounds: 5,
        })
    }

    #[test]
    fn the_line_has_both_costs_or_says_which_is_not_clear() {
        assert_eq!(
            line([3_900.0, 4_100.0, 4_300.0], [0.2, 0.25, 0.5], 0.03),
            "per file: Warm, rust/read: 4.10 µs [3.90 µs, 4.30 µs] a file, and 4.00 GB/s [2.00 GB/s, 5.00 GB/s]; within 3.0 %, 5 rounds"
        );
        let unseen = line([-5.0, 20.0, 45.0], [-0.1, 0.1, 0.3], 0.03);
        assert!(unseen.contains("no cost of a file is seen, and no cost of bytes is seen"), "{unseen}");
        let apart = line([3_900.0, 4_100.0, 4_300.0], [0.2, 0.25, 0.5], 0.5);
        assert!(apart.contains("not told") && apart.contains("50.0 %"), "{apart}");
    }
}
