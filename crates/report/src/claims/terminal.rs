//! Claims as aligned text for a terminal.

use super::super::grid::{Grid, left};
use super::super::terminal::{Style, paint};
use super::{cells, title, titles};
use anstyle::Style as Ansi;
use readlab_claims::JudgedClaims;
use readlab_system::terminal::printable::printable;

/// A table for each publication.
pub fn claims_terminal(all: &[JudgedClaims], style: Style) -> String {
    let mut lines = sections(all, style);
    if lines.first().is_some_and(String::is_empty) {
        lines.remove(0);
    }
    lines.push(String::new());
    lines.join("\n")
}

/// The lines of the tables, each behind an empty line.
pub(crate) fn sections(all: &[JudgedClaims], style: Style) -> Vec<String> {
    all.iter().flat_map(|judged| table(judged, style)).collect()
}

fn table(judged: &JudgedClaims, style: Style) -> Vec<String> {
    let heading = paint(&printable(&title(judged)), Ansi::new().underline(), style);
    let mut grid = Grid::new(titles(judged).iter().map(|text| left(text)), style.color);
    for it in &judged.claims {
        grid.row(cells(it).iter().map(|text| left(text)));
    }
    [String::new(), heading].into_iter().chain(grid.lines_within(style.width)).collect()
}
