//! A sweep as aligned text: for each series its line, the rates by size, and the band.

use super::super::columns::bar_text;
use super::super::grid::{Grid, left_cell, right_cell};
use super::super::sweep::{SizeRow, SweepView};
use super::{Style, paragraph};
use readlab_system::terminal::printable::printable;

/// Index of the column of bars, which is after the column of rates that they show.
const BAR_COLUMN: usize = 6;

pub(super) fn sweep_lines(view: &SweepView, style: Style) -> Vec<String> {
    let fastest = view.series.iter().flat_map(|series| &series.sizes).map(|row| row.rate.0);
    let fastest = fastest.filter(|rate| rate.is_finite()).fold(f64::MIN_POSITIVE, f64::max);
    let mut lines = Vec::new();
    for series in &view.series {
        lines.extend([String::new(), style.bold(&series.headline())]);
        lines.extend(table(&series.sizes, fastest, style));
        let facts = series.line_words().map(|words| format!("line: {words}"));
        let band = series.band_sentences.iter().map(|sentence| format!("band: {sentence}"));
        let mixed = series.mixed.iter().map(|mixed| format!("mixed: {}", mixed.sentence()));
        let facts = facts.into_iter().chain(band).chain(mixed).chain(series.facts.proof_line());
        lines.extend(facts.map(|line| printable(&line)));
    }
    lines.extend(paragraph(view.layer_lines.iter().cloned()));
    lines
}

fn table(rows: &[SizeRow], fastest: f64, style: Style) -> Vec<String> {
    let mut titles = SizeRow::TITLES.map(left_cell).to_vec();
    titles.insert(BAR_COLUMN, left_cell(""));
    let mut grid = Grid::new(titles, style.may_use_color);
    for row in rows {
        let mut cells = row.cell_texts().map(|text| right_cell(&text)).to_vec();
        cells.insert(BAR_COLUMN, left_cell(&bar_text(row.rate.0 / fastest)));
        grid.add_row(cells);
    }
    grid.lines()
}
