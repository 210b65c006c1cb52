//! The limits of a record as a table: what was done, how fast it was at best, and how sure that is.

use super::grid::{Grid, left, right};
use super::words::NONE;
use readlab_model::units::{Nanos, Throughput};
use readlab_record::{Limit, LimitUnit};

/// Aligned lines, one for each limit; kinds in the order of their words, the fastest of each first.
pub(super) fn table(limits: &[Limit]) -> Vec<String> {
    let mut limits: Vec<&Limit> = limits.iter().collect();
    limits.sort_by_key(|limit| (limit.kind, std::cmp::Reverse(speed(limit))));
    let titles = ["limit", "at best", "±95 %", "lowest", "highest", "measured by", "rounds"];
    let mut grid = Grid::new(titles.map(left), false);
    let mut kind = None;
    for limit in limits {
        let word = if kind == Some(limit.kind) { "" } else { limit.kind.word() };
        kind = Some(limit.kind);
        let end = |value: Option<&u64>| value.map_or_else(|| NONE.to_owned(), |value| shown(limit, *value));
        grid.row([
            left(word),
            right(&shown(limit, limit.value)),
            right(&sure(limit)),
            right(&end(limit.samples.iter().min())),
            right(&end(limit.samples.iter().max())),
            left(&limit.name),
            left(&limit.state.map_or_else(|| NONE.to_owned(), |state| state.to_string())),
        ]);
    }
    grid.lines()
}

/// A number that grows with speed.
fn speed(limit: &Limit) -> u64 {
    match limit.unit {
        LimitUnit::BytesPerSecond => limit.value,
        LimitUnit::Nanoseconds => u64::MAX - limit.value,
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
pub(super) fn shown(limit: &Limit, value: u64) -> String {
    match limit.unit {
        LimitUnit::BytesPerSecond => Throughput(value as f64).to_string(),
        LimitUnit::Nanoseconds => Nanos(value).to_string(),
    }
}

/// Half the interval of the median over the median.
#[expect(clippy::cast_precision_loss, reason = "shown with two digits")]
pub(super) fn sure(limit: &Limit) -> String {
    limit.ci95.map_or_else(
        || NONE.to_owned(),
        |[low, high]| format!("±{:.1} %", 50.0 * (high - low) as f64 / limit.value.max(1) as f64),
    )
}
