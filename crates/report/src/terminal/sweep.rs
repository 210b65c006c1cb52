//! A sweep as aligned text: for each way of writing and reading its line, its rates by size, and
//! the band.

use super::super::columns::bar_of;
use super::{Style, paint};
use crate::grid::{Grid, left, right};
use crate::sweep::{Series, SizeRow, SweepView};
use anstyle::Style as Ansi;
use readlab_system::terminal::printable::printable;

/// The bar follows the rate that it shows.
const BAR_AT: usize = 6;

/// Every series, one after the other.
pub(super) fn sections(view: &SweepView, style: Style) -> Vec<String> {
    let fastest = view.series.iter().flat_map(|series| &series.sizes).map(|row| row.rate.0);
    let fastest = fastest.filter(|rate| rate.is_finite()).fold(f64::MIN_POSITIVE, f64::max);
    let mut lines = Vec::new();
    for series in &view.series {
        lines.push(String::new());
        lines.extend(section(series, fastest, style));
    }
    lines.extend((!view.below.is_empty()).then(String::new));
    lines.extend(view.below.iter().map(|line| printable(line)));
    lines
}

fn section(series: &Series, fastest: f64, style: Style) -> Vec<String> {
    let mut lines = vec![paint(&printable(&series.headline()), Ansi::new().bold(), style)];
    lines.extend(table(&series.sizes, fastest, style));
    lines.extend(series.line_words().map(|words| printable(&format!("line: {words}"))));
    lines.extend(series.band.iter().map(|sentence| format!("band: {}", printable(sentence))));
    lines.extend(series.mixed.iter().map(|mixed| format!("mixed: {}", printable(&mixed.sentence()))));
    lines.extend(series.known.proof_line());
    lines
}

fn table(rows: &[SizeRow], fastest: f64, style: Style) -> Vec<String> {
    let mut titles = SizeRow::TITLES.map(left).to_vec();
    titles.insert(BAR_AT, left(""));
    let mut grid = Grid::new(titles, style.color);
    for row in rows {
        let mut cells = row.texts().map(|text| right(&text)).to_vec();
        cells.insert(BAR_AT, left(&bar_of(row.rate.0 / fastest)));
        grid.row(cells);
    }
    grid.lines()
}
