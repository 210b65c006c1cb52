//! The limits of a record as a table: what was done, how fast it was at best, and how sure that is.

use super::words::{NONE, printable};
use crate::record::{Limit, LimitUnit};
use crate::units::{Nanos, Throughput};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, TableStyle};

/// Aligned lines, one for each limit; kinds in the order of their words, the fastest of each first.
pub(super) fn table(limits: &[Limit]) -> Vec<String> {
    let mut limits: Vec<&Limit> = limits.iter().collect();
    limits.sort_by_key(|limit| (limit.kind, std::cmp::Reverse(speed(limit))));
    let mut table = Table::new();
    table.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Disabled).force_no_tty();
    table.set_header(["limit", "at best", "±95 %", "lowest", "highest", "measured by", "rounds"]);
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let mut kind = None;
    for limit in limits {
        let word = if kind == Some(limit.kind) { "" } else { limit.kind.word() };
        kind = Some(limit.kind);
        let end = |value: Option<&u64>| value.map_or_else(|| NONE.to_owned(), |value| shown(limit, *value));
        table.add_row([
            Cell::new(word),
            right(shown(limit, limit.value)),
            right(sure(limit)),
            right(end(limit.samples.iter().min())),
            right(end(limit.samples.iter().max())),
            Cell::new(printable(&limit.name)),
            Cell::new(limit.state.map_or_else(|| NONE.to_owned(), |state| state.to_string())),
        ]);
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
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
