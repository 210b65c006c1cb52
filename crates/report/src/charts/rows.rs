//! The layout that most charts share: one row a trial, its name and a value in a line, and below
//! them a strip to draw on.
//!
//! The names are above the strips and not beside them, so that the strips have the whole width on a
//! telephone, too. Each row is a group that is moved to its place, and draws its own part of the
//! grid: the script of the page hides rows and closes the gaps.

use super::super::method_label::MethodLabel;
use super::super::palette::language_class;
use super::super::svg::{self, Quantity, Scale};
use super::clipped::{NameRoom, clipped};
use readlab_system::markup::{Element, element, words};

/// Width of a chart of rows.
pub(super) const WIDTH: f64 = 440.0;
/// From one row to the next.
pub(super) const PITCH: f64 = 40.0;
/// Room above the first row for the axis.
const HEAD: f64 = 30.0;
/// From a row's top to its text's base line.
const BASE: f64 = 14.0;
/// From a row's top to its strip.
pub(super) const STRIP: f64 = 20.0;
/// Height of a strip.
pub(super) const THICK: f64 = 12.0;
/// Width of a letter, roughly.
pub(super) const LETTER: f64 = 6.9;
/// Room for a rank before a name.
const INDENT: f64 = 30.0;

pub(super) struct ChartRow<'a> {
    /// In front of the name; empty for none.
    pub(super) rank: String,
    /// The method; `None` for a case of a comparison.
    pub(super) label: Option<MethodLabel<'a>>,
    /// The name as it is shown where there is room.
    pub(super) short: &'a str,
    /// At the right end.
    pub(super) value: String,
    /// Whether it is highlighted.
    pub(super) strong: bool,
    /// What is drawn on the strip, in places from the row's top.
    pub(super) marks: Vec<Element>,
}

impl<'a> ChartRow<'a> {
    /// The row of a method, with nothing drawn yet.
    pub(super) fn new(label: impl Into<MethodLabel<'a>>, value: String) -> ChartRow<'a> {
        let label = label.into();
        let (rank, marks) = (String::new(), Vec::new());
        ChartRow { rank, short: label.short, label: Some(label), value, strong: false, marks }
    }

    fn indent(&self) -> f64 {
        if self.rank.is_empty() { 0.0 } else { INDENT }
    }

    /// Room for the name in letters.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "letters"
    )]
    fn room(&self) -> NameRoom<'a> {
        // Bold letters are wider.
        let letter = if self.strong { LETTER * 1.06 } else { LETTER };
        let letters = (WIDTH - self.indent()) / letter - self.value.chars().count() as f64 - 2.0;
        NameRoom { name: self.short, letters: letters.max(0.0) as usize }
    }

    /// The row in its place, under a name that is cut.
    fn drawn(self, at: usize, shown: &str, grid: Option<Element>) -> Element {
        let strong = if self.strong { " strong" } else { "" };
        let class = self.label.map_or("key", |label| language_class(label.language));
        let whole = self.label.map_or(self.short, |label| label.name);
        let name = svg::text(&format!("name start{strong}"), [self.indent(), BASE], shown)
            .all((whole != shown).then(|| words("title", whole)));
        let rank = (!self.rank.is_empty()).then(|| svg::text("rank start", [0.0, BASE], &self.rank));
        element("g")
            .class(&format!("row {class}"))
            .maybe("data-trial", self.label.map(|label| label.trial))
            .set("transform", format!("translate(0,{})", svg::place(top(at))))
            .all(grid)
            .with(name)
            .all(rank)
            .with(svg::text(&format!("value end{strong}"), [WIDTH, BASE], &self.value))
            .all(self.marks)
    }
}

/// Where the n-th row begins.
#[expect(clippy::cast_precision_loss, reason = "a few hundred rows")]
fn top(at: usize) -> f64 {
    HEAD + at as f64 * PITCH
}

/// Height of a chart with so many rows.
pub(super) fn height(rows: usize) -> f64 {
    top(rows)
}

/// The rows in their places, with lines from top to bottom at these places across.
pub(super) fn layout(rows: Vec<ChartRow>, lines: &[f64]) -> Vec<Element> {
    let names = clipped(&rows.iter().map(ChartRow::room).collect::<Vec<_>>());
    let path: String = lines.iter().map(|x| format!("M{} 0v{PITCH}", svg::place(*x))).collect();
    let grid = || (!path.is_empty()).then(|| element("path").class("grid").set("d", &path));
    let places = rows.into_iter().zip(names).enumerate();
    places.map(|(at, (row, name))| row.drawn(at, &name, grid())).collect()
}

/// What is below the rows, in places from the end of the last row.
pub(super) fn foot(rows: usize, marks: Vec<Element>) -> Element {
    let place = format!("translate(0,{})", svg::place(top(rows)));
    element("g").class("foot").set("transform", place).all(marks)
}

/// The places of round values.
pub(super) fn lines(scale: &Scale) -> Vec<f64> {
    scale.ticks(4).into_iter().map(|value| scale.at(value)).collect()
}

/// The names of round values above the rows.
pub(super) fn axis(scale: &Scale, quantity: Quantity) -> Vec<Element> {
    let name = |value: f64| {
        let x = scale.at(value);
        let anchor = if x < 12.0 {
            "start"
        } else if x > WIDTH - 30.0 {
            "end"
        } else {
            "middle"
        };
        svg::text(&format!("tick {anchor}"), [x, 10.0], &quantity.tick(value))
    };
    scale.ticks(4).into_iter().map(name).collect()
}
