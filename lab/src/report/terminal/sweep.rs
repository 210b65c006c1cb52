//! A sweep as aligned text: for each way of writing and reading its line, its rates by size, and the band.

use super::{Style, bar, paint};
use crate::report::grid::{Grid, left, right};
use crate::report::sweep::{Series, SizeRow, SweepView};
use crate::report::words::{self, NONE, printable};
use crate::units::{Bytes, Nanos};
use anstyle::Style as Ansi;

/// Every series, one after the other.
pub(super) fn sections(view: &SweepView, style: Style) -> Vec<String> {
    let fastest = view.series.iter().flat_map(|series| &series.sizes).map(|row| row.rate.0);
    let fastest = fastest.filter(|rate| rate.is_finite()).fold(f64::MIN_POSITIVE, f64::max);
    let mut lines = Vec::new();
    for series in &view.series {
        lines.push(String::new());
        lines.extend(section(series, fastest, style));
    }
    lines
}

fn section(series: &Series, fastest: f64, style: Style) -> Vec<String> {
    let mut lines = vec![paint(&printable(&series.headline()), Ansi::new().bold(), style)];
    lines.extend(table(&series.sizes, fastest, style));
    lines.extend(series.line_words().map(|words| format!("line: {words}")));
    lines.extend(series.band.iter().map(|sentence| format!("band: {}", printable(sentence))));
    lines
}

fn table(rows: &[SizeRow], fastest: f64, style: Style) -> Vec<String> {
    let titles = ["size", "files", "median", "least", "most", "rate", "", "line says", "from device"];
    let mut grid = Grid::new(titles.map(left), style.color);
    for row in rows {
        grid.row([
            right(&Bytes(row.size_bytes).to_string()),
            right(&row.n.to_string()),
            right(&Nanos(row.median_ns).to_string()),
            right(&Nanos(row.least_ns).to_string()),
            right(&Nanos(row.most_ns).to_string()),
            right(&row.rate.to_string()),
            left(&bar(row.rate.0 / fastest)),
            right(&row.predicted_ns.map_or_else(|| NONE.to_owned(), |ns| Nanos(ns).to_string())),
            right(&row.device_share.map_or_else(|| NONE.to_owned(), words::percent)),
        ]);
    }
    grid.lines()
}
