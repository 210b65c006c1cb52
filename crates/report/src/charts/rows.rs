//! The layout that most charts share: one row for each trial, with its name and a value in a line
//! of text, and a strip to draw on below. Names are cut so that no two rows look the same.
//!
//! The names are above the strips, and not beside them, so that the strips have the full width even
//! on a phone. Each row is an SVG group that is moved to its position and has its own part of the
//! grid, because the script of the page hides rows and moves the others up.

use super::super::name::MethodLabel;
use super::super::palette::language_class;
use super::super::svg::{self, Quantity, Scale};
use super::Chart;
use super::legend::{self, Legend, LegendKey};
use readlab_analysis::stats::count_as_float;
use readlab_system::markup::{Element, element, text_element};
use std::collections::BTreeSet;

pub(super) const WIDTH: f64 = 440.0;
/// Distance from one row to the next.
pub(super) const ROW_PITCH: f64 = 40.0;
/// Space above the first row for the axis.
const AXIS_HEIGHT: f64 = 30.0;
/// Distance from a row's top to the baseline of its text.
const TEXT_BASELINE: f64 = 14.0;
/// Distance from a row's top to its strip.
pub(super) const STRIP_TOP: f64 = 20.0;
pub(super) const STRIP_HEIGHT: f64 = 12.0;
pub(super) const LETTER_WIDTH: f64 = 6.9;
/// Space for a rank before a name.
const RANK_WIDTH: f64 = 30.0;

pub(in super::super) struct ChartRow<'a> {
    /// The rank in front of the name; empty without a rank.
    pub(in super::super) rank: String,
    /// The label of the method; `None` for a case of a comparison.
    pub(in super::super) label: Option<MethodLabel<'a>>,
    /// The name that is shown if there is room.
    pub(in super::super) short_name: &'a str,
    /// The value at the right end.
    pub(in super::super) value: String,
    pub(in super::super) is_bold: bool,
    /// The marks on the strip, in coordinates from the row's top.
    pub(in super::super) marks: Vec<Element>,
}

impl<'a> ChartRow<'a> {
    pub(in super::super) fn new(
        label: impl Into<MethodLabel<'a>>,
        value: String,
        marks: Vec<Element>,
    ) -> ChartRow<'a> {
        let label = label.into();
        ChartRow { label: Some(label), marks, ..ChartRow::unlabelled(label.short_name, value) }
    }

    pub(in super::super) fn unlabelled(short_name: &'a str, value: String) -> ChartRow<'a> {
        ChartRow { rank: String::new(), label: None, short_name, value, is_bold: false, marks: Vec::new() }
    }

    fn indent(&self) -> f64 {
        if self.rank.is_empty() { 0.0 } else { RANK_WIDTH }
    }

    fn name_room(&self) -> NameRoom<'a> {
        // Bold letters are wider.
        let letter = if self.is_bold { LETTER_WIDTH * 1.06 } else { LETTER_WIDTH };
        let letters = (WIDTH - self.indent()) / letter - count_as_float(self.value.chars().count()) - 2.0;
        NameRoom { name: self.short_name, letters_max: letters.max(0.0) as usize }
    }

    fn into_element(self, at: usize, shown: &str, grid: Option<Element>) -> Element {
        let strong = if self.is_bold { " strong" } else { "" };
        let class = self.label.map_or("key", |label| language_class(label.language));
        let whole = self.label.map_or(self.short_name, |label| label.name);
        let name = svg::text(&format!("name start{strong}"), [self.indent(), TEXT_BASELINE], shown)
            .with_all((whole != shown).then(|| text_element("title", whole)));
        let rank = (!self.rank.is_empty()).then(|| svg::text("rank start", [0.0, TEXT_BASELINE], &self.rank));
        element("g")
            .class(&format!("row {class}"))
            .set_if_some("data-trial", self.label.map(|label| label.trial))
            .set("transform", format!("translate(0,{})", svg::coordinate_text(row_top(at))))
            .with_all(grid)
            .with(name)
            .with_all(rank)
            .with(svg::text(&format!("value end{strong}"), [WIDTH, TEXT_BASELINE], &self.value))
            .with_all(self.marks)
    }
}

fn row_top(at: usize) -> f64 {
    AXIS_HEIGHT + count_as_float(at) * ROW_PITCH
}

/// A chart of rows under an axis, with a legend below them.
#[derive(Default)]
pub(super) struct RowsChart<'a> {
    pub(super) rows: Vec<ChartRow<'a>>,
    /// The entries of the legend: the colours of the languages first.
    pub(super) keys: Vec<LegendKey>,
    pub(super) axis: Vec<Element>,
    /// The coordinates of vertical lines through every row.
    pub(super) grid_xs: Vec<f64>,
    /// The labels at the ends of the scale, above the rows.
    pub(super) end_labels: Vec<Element>,
    /// The marks between the rows and the legend, in coordinates from the end of the last row.
    pub(super) notes: Vec<Element>,
    pub(super) legend_top: f64,
}

impl<'a> RowsChart<'a> {
    pub(super) fn new(
        rows: impl IntoIterator<Item = ChartRow<'a>>,
        keys: impl IntoIterator<Item = LegendKey>,
    ) -> RowsChart<'a> {
        let rows: Vec<ChartRow> = rows.into_iter().collect();
        let languages = legend::language_keys(rows.iter().filter_map(|row| Some(row.label?.language)));
        let keys = languages.into_iter().chain(keys).collect();
        RowsChart { rows, keys, legend_top: 4.0, ..RowsChart::default() }
    }

    /// Adds labels of round values above the rows, and vertical lines through the rows at these
    /// values.
    pub(super) fn with_axis(self, scale: &Scale, quantity: Quantity) -> RowsChart<'a> {
        let grid_xs = scale.ticks(4).into_iter().map(|value| scale.coordinate_of(value)).collect();
        RowsChart { axis: axis_labels(scale, quantity), grid_xs, ..self }
    }

    pub(super) fn values_text(&self) -> String {
        self.rows.iter().map(|row| format!("{} {}", row.short_name, row.value)).collect::<Vec<_>>().join("; ")
    }

    pub(super) fn into_chart(self, slug: String, title: String, description: String) -> Chart {
        let end = row_top(self.rows.len());
        let legend = Legend::at(self.legend_top, &self.keys);
        let place = format!("translate(0,{})", svg::coordinate_text(end));
        let foot =
            element("g").class("foot").set("transform", place).with_all(self.notes).with_all(legend.marks);
        let rows = row_elements(self.rows, &self.grid_xs);
        let marks = self.axis.into_iter().chain(rows).chain(self.end_labels).chain([foot]).collect();
        Chart { slug, title, description, size: [WIDTH, end + legend.bottom], marks }
    }
}

/// The rows at their positions, with vertical lines at these coordinates.
fn row_elements(rows: Vec<ChartRow>, lines: &[f64]) -> Vec<Element> {
    let names = cut_names(&rows.iter().map(ChartRow::name_room).collect::<Vec<_>>());
    let path: String = lines.iter().map(|x| format!("M{} 0v{ROW_PITCH}", svg::coordinate_text(*x))).collect();
    let grid = (!path.is_empty()).then(|| element("path").class("grid").set("d", &path));
    let places = rows.into_iter().zip(names).enumerate();
    places.map(|(at, (row, name))| row.into_element(at, &name, grid.clone())).collect()
}

fn axis_labels(scale: &Scale, quantity: Quantity) -> Vec<Element> {
    let name = |value: f64| {
        let x = scale.coordinate_of(value);
        let anchor = if x < 12.0 {
            "start"
        } else if x > WIDTH - 30.0 {
            "end"
        } else {
            "middle"
        };
        svg::text(&format!("tick {anchor}"), [x, 10.0], &quantity.tick_label(value))
    };
    scale.ticks(4).into_iter().map(name).collect()
}

/// A name with the number of letters for which there is room.
#[derive(Debug, Clone, Copy)]
struct NameRoom<'a> {
    name: &'a str,
    letters_max: usize,
}

/// A name is never cut to fewer letters: a shorter name would be unrecognizable.
const LETTERS_MIN: usize = 8;

/// The names as they are shown, in order. A name that fits is not cut. Other names are cut at the
/// end. If two names would then be equal, they are cut in the middle or at the start.
fn cut_names(names: &[NameRoom]) -> Vec<String> {
    let at_end: Vec<String> = names.iter().map(|it| cut_name(it, it.letters_max)).collect();
    let is_unique = |text: &String| at_end.iter().filter(|other| *other == text).count() == 1;
    let unique = at_end.iter().filter(|text| is_unique(text));
    let mut taken: BTreeSet<String> = unique.cloned().collect();
    let mut shown = Vec::new();
    for (text, it) in at_end.iter().zip(names) {
        if is_unique(text) {
            shown.push(text.clone());
            continue;
        }
        let text = possible_cuts(it).into_iter().find(|candidate| !taken.contains(candidate));
        // If no cut distinguishes the names, they are not cut.
        let text = text.unwrap_or_else(|| it.name.to_owned());
        taken.insert(text.clone());
        shown.push(text);
    }
    shown
}

/// The possible cuts of a name. Each keeps fewer letters of the start and more of the end than the
/// one before.
fn possible_cuts(it: &NameRoom) -> Vec<String> {
    let letters = it.letters_max.max(LETTERS_MIN);
    [letters / 2, letters / 3, letters / 5, 1].map(|kept| cut_name(it, kept)).to_vec()
}

/// A name cut to this many letters of its start, and as many of its end as there is room for.
fn cut_name(it: &NameRoom, start: usize) -> String {
    let letters: Vec<char> = it.name.chars().collect();
    let room = it.letters_max.max(LETTERS_MIN);
    if letters.len() <= room {
        return it.name.to_owned();
    }
    let start = start.min(room - 1);
    let end = room - 1 - start;
    let (first, last) = (&letters[..start], &letters[letters.len() - end..]);
    first.iter().chain(&['…']).chain(last).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown_names(names: &[&str], letters: usize) -> Vec<String> {
        let names: Vec<NameRoom> = names.iter().map(|name| NameRoom { name, letters_max: letters }).collect();
        cut_names(&names)
    }

    #[test]
    fn names_are_cut_where_they_do_not_differ() {
        assert_eq!(
            shown_names(&["mmap avx2", "read avx2 · buffer=64KiB"], 14),
            ["mmap avx2", "read avx2 · b…"]
        );
        let names = ["dataTask(with:) and a loop", "dataTask(with:) and forEach"];
        assert_eq!(shown_names(&names, 16), ["dataTask… a loop", "dataTask…forEach"]);
    }

    proptest! {
        #[test]
        fn no_two_names_look_the_same(
            names in prop::collection::btree_set("[ab]{0,6}x{0,20}[ab]{0,6}", 1..12),
            letters in 0_usize..24,
        ) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let shown = shown_names(&names, letters);
            let set: BTreeSet<&String> = shown.iter().collect();
            prop_assert_eq!(set.len(), names.len(), "{:?}", shown);
        }
    }
}
