//! A sweep as aligned text: for each way of writing and reading its line, its rates by size, and the band.

use super::{Style, bar, paint};
use crate::report::sweep::{Series, SizeRow, SweepView};
use crate::report::words::{self, NONE, printable};
use crate::units::{Bytes, Nanos};
use anstyle::Style as Ansi;
use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, Table, TableStyle};

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
    let mut table = Table::new();
    table.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Disabled);
    if style.color {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    let titles = ["size", "files", "median", "least", "most", "rate", "", "line says", "from device"];
    table.set_header(titles.map(|title| Cell::new(title).add_attribute(Attribute::Dim)));
    for row in rows {
        let cells = [
            Bytes(row.size_bytes).to_string(),
            row.n.to_string(),
            Nanos(row.median_ns).to_string(),
            Nanos(row.least_ns).to_string(),
            Nanos(row.most_ns).to_string(),
            row.rate.to_string(),
            bar(row.rate.0 / fastest),
            row.predicted_ns.map_or_else(|| NONE.to_owned(), |ns| Nanos(ns).to_string()),
            row.device_share.map_or_else(|| NONE.to_owned(), words::percent),
        ];
        let aligned = cells.into_iter().enumerate().map(|(at, text)| {
            let left = titles[at].is_empty();
            Cell::new(text).set_alignment(if left { CellAlignment::Left } else { CellAlignment::Right })
        });
        table.add_row(aligned.collect::<Vec<Cell>>());
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}
