//! What opening one file of a tree and reading one byte cost a method. The model: the time of a
//! reading is a fixed cost for each file plus a fixed cost for each byte.
//!
//! The model is fitted to the whole tree and its groups by size, in each round by least squares of
//! the relative errors: with *n* files and *b* bytes in *t*, the sum of (*c·n/t + b/(r·t) − 1*)² is
//! minimised. The estimate is the mean over rounds, with Student's 95 % interval of that mean.

use super::rounds::{Estimate, median_walls_ns};
use super::stats::{Interval, float, median};
use readlab_model::trial::{CacheState, TrialId};
use readlab_record::{Record, TrialRecord};
use std::collections::BTreeMap;

/// The costs of one file and of one byte for one method.
#[derive(Debug, Clone, PartialEq)]
pub struct FileCost {
    pub id: TrialId,
    pub state: CacheState,
    pub per_file_ns: Estimate,
    pub per_byte_ns: Estimate,
    /// The largest relative difference between a time by the fitted costs and the median time of
    /// the tree or of a group.
    pub largest_error: f64,
    /// Number of rounds in which the tree and all groups were read.
    pub rounds: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Reading {
    files: f64,
    bytes: f64,
    wall_ns: f64,
}

/// The costs that a fit estimates.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Costs {
    file_ns: f64,
    byte_ns: f64,
}

impl FileCost {
    /// The costs for every method that read the whole tree and all its groups, in the order of the
    /// record. A method without a common round is left out.
    pub fn all(record: &Record) -> Vec<FileCost> {
        let groups = record.targets.iter().filter(|facts| facts.is_size_group()).count();
        if groups == 0 {
            return Vec::new();
        }
        let mut cells = Vec::<Vec<&TrialRecord>>::new();
        for it in record.trials.iter().filter(|it| it.is_accepted() && !it.trial.is_control()) {
            let is_same = |other: &&mut Vec<&TrialRecord>| {
                let first = &other[0].trial;
                (&first.id, first.state, first.work) == (&it.trial.id, it.trial.state, it.trial.work)
            };
            match cells.iter_mut().find(is_same) {
                Some(cell) => cell.push(it),
                None => cells.push(vec![it]),
            }
        }
        cells
            .iter()
            .filter(|cell| cell.len() == 1 + groups)
            .filter_map(|cell| file_cost(record, cell))
            .collect()
    }

    /// The throughput without the cost of files, in bytes per second, with its interval; `None`
    /// where the cost of a byte is not clearly above zero.
    pub fn rate(&self) -> Option<Estimate> {
        if !self.per_byte_ns.is_clearly_positive() {
            return None;
        }
        let per_second = |ns: f64| 1e9 / ns;
        let interval = self.per_byte_ns.interval;
        let interval = interval.map(|it| Interval { low: per_second(it.high), high: per_second(it.low) });
        Some(Estimate { value: per_second(self.per_byte_ns.value), interval })
    }
}

impl Reading {
    fn relative_error(&self, costs: Costs) -> f64 {
        ((costs.file_ns * self.files + costs.byte_ns * self.bytes) / self.wall_ns - 1.0).abs()
    }
}

/// Estimates the costs for one method from its trials on the tree and on each group.
fn file_cost(record: &Record, cell: &[&TrialRecord]) -> Option<FileCost> {
    let mut by_round = BTreeMap::<u32, Vec<Reading>>::new();
    let mut medians = Vec::new();
    for it in cell {
        let facts = record.wholly_read_target(it)?;
        let files = float(facts.tree()?.files);
        let bytes = float(facts.size_bytes);
        let wall_ns = median(it.samples.iter().map(|it| float(it.wall_ns.max(1))))?;
        medians.push(Reading { files, bytes, wall_ns });
        for (round, wall_ns) in median_walls_ns(it) {
            by_round.entry(round).or_default().push(Reading { files, bytes, wall_ns });
        }
    }
    let whole = by_round.values().filter(|readings| readings.len() == cell.len());
    let costs: Vec<Costs> = whole.filter_map(|readings| fit_costs(readings)).collect();
    let mean = |of: fn(&Costs) -> f64| Estimate::mean(&costs.iter().map(of).collect::<Vec<_>>());
    let (per_file_ns, per_byte_ns) = (mean(|it| it.file_ns)?, mean(|it| it.byte_ns)?);
    let mean = Costs { file_ns: per_file_ns.value, byte_ns: per_byte_ns.value };
    let first = &cell.first()?.trial;
    Some(FileCost {
        id: first.id.clone(),
        state: first.state,
        per_file_ns,
        per_byte_ns,
        largest_error: medians.iter().map(|it| it.relative_error(mean)).fold(0.0, f64::max),
        rounds: costs.len(),
    })
}

/// Least squares of the relative errors; `None` where the costs of files and of bytes cannot be
/// separated. A negative cost is kept: dropping it would bias the mean over rounds upwards.
fn fit_costs(readings: &[Reading]) -> Option<Costs> {
    let sum = |of: fn(f64, f64) -> f64| {
        readings.iter().map(|it| of(it.files / it.wall_ns, it.bytes / it.wall_ns)).sum::<f64>()
    };
    let (ff, fb, bb) = (sum(|f, _| f * f), sum(|f, b| f * b), sum(|_, b| b * b));
    let (f, b) = (sum(|f, _| f), sum(|_, b| b));
    let determinant = ff * bb - fb * fb;
    // Where the columns are nearly proportional, the determinant is only rounding error.
    if determinant <= ff * bb * 1e-9 {
        return None;
    }
    Some(Costs { file_ns: (f * bb - b * fb) / determinant, byte_ns: (b * ff - f * fb) / determinant })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(sizes: &[(f64, f64)], wall_ns: impl Fn(f64, f64) -> f64) -> Vec<Reading> {
        let reading = |&(files, bytes)| Reading { files, bytes, wall_ns: wall_ns(files, bytes) };
        sizes.iter().map(reading).collect()
    }

    const TREE_AND_GROUPS: [(f64, f64); 4] = [(900.0, 9e6), (300.0, 1e5), (300.0, 9e5), (300.0, 8e6)];

    #[test]
    fn known_costs_are_recovered() {
        let found =
            fit_costs(&readings(&TREE_AND_GROUPS, |files, bytes| 4_000.0 * files + 0.25 * bytes)).unwrap();
        assert!((found.file_ns - 4_000.0).abs() < 1e-6, "{found:?}");
        assert!((found.byte_ns - 0.25).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn readings_of_any_length_count_alike_and_errors_stay_small() {
        // The times are alternately 1 % too long and too short. The estimated costs may be wrong by
        // a few percent.
        let walls = [1.01, 0.99, 1.01, 0.99];
        let mut made = readings(&TREE_AND_GROUPS, |files, bytes| 4_000.0 * files + 0.25 * bytes);
        made.iter_mut().zip(walls).for_each(|(it, factor)| it.wall_ns *= factor);
        let found = fit_costs(&made).unwrap();
        assert!((found.file_ns / 4_000.0 - 1.0).abs() < 0.03, "{found:?}");
        assert!((found.byte_ns / 0.25 - 1.0).abs() < 0.03, "{found:?}");
        assert!(made.iter().all(|it| it.relative_error(found) < 0.03));
    }

    #[test]
    fn files_of_one_size_have_no_separate_costs() {
        let same = [(900.0, 9e6), (300.0, 3e6), (300.0, 3e6), (300.0, 3e6)];
        assert_eq!(fit_costs(&readings(&same, |files, bytes| files + bytes)), None);
    }
}
