//! The layout that most charts share: one row a trial, its name and a value in a line, and below
//! them a strip to draw on.
//!
//! The names are above the strips and not beside them, so that the strips have the whole width on a
//! telephone, too.

use super::super::html::{Element, words};
use super::super::svg::{self, Quantity, Scale};

/// Width of a chart of rows.
pub(super) const WIDTH: f64 = 440.0;
/// From one row to the next.
const PITCH: f64 = 40.0;
/// Room above the first row for the axis.
const HEAD: f64 = 30.0;
/// From a row's top to its text's base line, and to its strip.
const BASE: f64 = 14.0;
const STRIP: f64 = 20.0;
/// Height of a strip.
pub(super) const THICK: f64 = 12.0;
/// Width of a letter, roughly.
pub(super) const LETTER: f64 = 6.9;

/// The content of one row.
pub(super) struct ChartRow<'a> {
    /// In front of the name; empty for none.
    pub(super) rank: String,
    /// The name as it is shown.
    pub(super) short: &'a str,
    /// The whole name.
    pub(super) name: &'a str,
    /// At the right end.
    pub(super) value: String,
    /// Whether it is highlighted.
    pub(super) strong: bool,
}

/// Where the n-th strip begins.
#[expect(clippy::cast_precision_loss, reason = "a few hundred rows")]
pub(super) fn strip_top(n: usize) -> f64 {
    HEAD + n as f64 * PITCH + STRIP
}

/// Height of a chart with so many rows.
#[expect(clippy::cast_precision_loss, reason = "a few hundred rows")]
pub(super) fn height(rows: usize) -> f64 {
    HEAD + rows as f64 * PITCH
}

/// Lines from top to bottom at round values, named above.
pub(super) fn grid(scale: &Scale, quantity: Quantity, rows: usize) -> Vec<Element> {
    let bottom = height(rows);
    let mark = |value: f64| {
        let x = scale.at(value);
        let anchor = if x < 12.0 {
            "start"
        } else if x > WIDTH - 30.0 {
            "end"
        } else {
            "middle"
        };
        let name = svg::text(&format!("tick {anchor}"), [x, 10.0], &quantity.tick(value));
        [svg::line("grid", [x, 18.0], [x, bottom]), name]
    };
    scale.ticks(4).into_iter().flat_map(mark).collect()
}

/// Name and value of the n-th row.
pub(super) fn head(n: usize, row: &ChartRow) -> Vec<Element> {
    let base = strip_top(n) - STRIP + BASE;
    let strong = if row.strong { " strong" } else { "" };
    let indent = if row.rank.is_empty() { 0.0 } else { 30.0 };
    let name =
        svg::text(&format!("name start{strong}"), [indent, base], &clipped(row.short, indent, &row.value));
    let whole = (row.name != row.short).then(|| words("title", row.name));
    let mut marks = vec![name.all(whole)];
    if !row.rank.is_empty() {
        marks.push(svg::text("rank start", [0.0, base], &row.rank));
    }
    marks.push(svg::text(&format!("value end{strong}"), [WIDTH, base], &row.value));
    marks
}

/// The name, cut at its end where it would reach into the value; the whole name is in its title.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "letters"
)]
fn clipped(name: &str, indent: f64, value: &str) -> String {
    let room = (WIDTH - indent) / LETTER - value.chars().count() as f64 - 2.0;
    let letters = room.max(8.0) as usize;
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    name.chars().take(letters - 1).chain(['…']).collect()
}
