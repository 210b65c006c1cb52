//! What one file of a tree costs each way of reading, and how fast the bytes come, in words, as a
//! table and for programs.

use super::words::{self, Number};
use readlab_analysis::file_cost::{Estimate, FileCost};
use readlab_analysis::stats::whole;
use readlab_model::units::{Nanos, Throughput};
use readlab_record::Record;
use serde_json::{Value, json};

/// Beyond this the time is not the sum of both.
const OFF_MAX: f64 = 0.2;

/// One way of reading as a row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct FileCostRow {
    /// The state of the cache and the name of the trial, such as `Cold, rust/read`.
    pub name: String,
    cost: FileCost,
}

impl FileCostRow {
    /// Every way of reading with its costs.
    pub fn all(record: &Record) -> Vec<FileCostRow> {
        let row = |cost: FileCost| FileCostRow {
            name: format!("{}, {}", words::capital(&cost.state.to_string()), cost.id),
            cost,
        };
        FileCost::all(record).into_iter().map(row).collect()
    }

    pub(super) fn line(&self) -> String {
        let FileCost { per_file_ns, off_by, rounds, .. } = &self.cost;
        let name = &self.name;
        if *off_by > OFF_MAX {
            return format!(
                "per file: {name}: not told: files and bytes explain the times but for {}",
                words::percent(*off_by)
            );
        }
        let file = match per_file_ns.is_seen() {
            true => format!("{} a file", self.per_file().text),
            false => "no cost of a file is seen".to_owned(),
        };
        let bytes = match self.rate() {
            Some(rate) => rate.text,
            None => "no cost of bytes is seen".to_owned(),
        };
        let within = words::percent(*off_by);
        format!("per file: {name}: {file}, and {bytes}; within {within}, {}", words::plural(*rounds, "round"))
    }

    pub(super) fn per_file(&self) -> Number {
        number(self.cost.per_file_ns, |ns| Nanos(whole(ns)).to_string())
    }

    /// The rate of bytes; `None` where bytes cost nothing that could be seen.
    pub(super) fn rate(&self) -> Option<Number> {
        self.cost.rate().map(|rate| number(rate, |rate| Throughput(rate).to_string()))
    }

    /// By how much both together are off at most.
    pub(super) fn off_by(&self) -> Number {
        Number::new(words::percent(self.cost.off_by), self.cost.off_by)
    }
}

/// For programs.
pub(super) fn json_values(record: &Record) -> Vec<Value> {
    let ends = |it: Estimate| it.interval.map(|it| [it.low, it.high]);
    let value = |it: FileCost| {
        json!({
            "trial": it.id.to_string(),
            "state": it.state,
            "per_file_ns": it.per_file_ns.value,
            "per_file_ns_ci95": ends(it.per_file_ns),
            "per_byte_ns": it.per_byte_ns.value,
            "per_byte_ns_ci95": ends(it.per_byte_ns),
            "off_by": it.off_by,
            "rounds": it.rounds,
        })
    };
    FileCost::all(record).into_iter().map(value).collect()
}

fn number(estimate: Estimate, shown: impl Fn(f64) -> String) -> Number {
    let ends =
        estimate.interval.map_or_else(String::new, |it| format!(" [{}, {}]", shown(it.low), shown(it.high)));
    Number::new(format!("{}{ends}", shown(estimate.value)), estimate.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_analysis::stats::Interval;
    use readlab_model::trial::{CacheState, TrialId};

    fn row(per_file: [f64; 3], per_byte: [f64; 3], off_by: f64) -> FileCostRow {
        let estimate =
            |[low, value, high]: [f64; 3]| Estimate { value, interval: Some(Interval { low, high }) };
        let id = TrialId::parse_written("rust/read").unwrap();
        let (per_file_ns, per_byte_ns) = (estimate(per_file), estimate(per_byte));
        let cost = FileCost { id, state: CacheState::Warm, per_file_ns, per_byte_ns, off_by, rounds: 5 };
        FileCostRow { name: "Warm, rust/read".to_owned(), cost }
    }

    #[test]
    fn the_line_has_both_costs_or_says_which_is_not_seen() {
        let line = |file, byte, off| row(file, byte, off).line();
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
