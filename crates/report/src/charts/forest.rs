//! A forest plot: how many times as fast as the baseline each method is, as a point with its
//! interval on a logarithmic scale, so that half and twice are as far from 1. A line marks 1: an
//! interval across it is a tie.
//!
//! A point is filled where the whole interval is on one side of 1. The same strips are the cells of
//! a table and the rows of a chart.

use super::super::method_label::MethodLabel;
use super::super::palette::language_class;
use super::super::svg::{self, Scale};
use super::legend::{self, Key, KeyMark, Legend};
use super::rows::{self, ChartRow, STRIP, THICK, WIDTH};
use super::{Chart, STRIP_SIZE, across_rows, strip};
use readlab_analysis::stats::Interval;
use readlab_system::markup::{Element, element};

/// The least that the scale reaches to both sides of 1.
const REACH_LEAST: f64 = 1.1;
/// How far beyond the outermost ratio the scale goes at most: a long interval would leave no room
/// for the others, and ends in an arrow.
const BEYOND_MOST: f64 = 2.5;
/// The scale never goes beyond these.
const ENDS: [f64; 2] = [1e-3, 1e4];
/// Values that are named, as far as there is room, the first ones first.
const TICKS: [f64; 24] = [
    1.0, 10.0, 0.1, 100.0, 0.01, 1e3, 2.0, 0.5, 5.0, 0.2, 20.0, 0.05, 50.0, 3.0, 0.3, 1.5, 0.7, 1.2, 0.8,
    1.1, 0.9, 1.05, 0.95, 4.0,
];
/// Room for the name of a value.
const TICK_ROOM: f64 = 34.0;

/// What a ratio shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Significant {
    /// Its interval is on one side of 1.
    Yes,
    /// Its interval holds 1, or there is none.
    No,
    /// It is the baseline's own.
    Baseline,
}

#[derive(Debug, Clone)]
pub(in super::super) struct ForestRow<'a> {
    /// In front of the name; empty for none.
    pub(in super::super) rank: String,
    /// The method; `None` for a case of a comparison.
    pub(in super::super) label: Option<MethodLabel<'a>>,
    /// The name as it is shown.
    pub(in super::super) short: &'a str,
    /// The ratio; `None` where no round holds both.
    pub(in super::super) estimate: Option<f64>,
    pub(in super::super) ci95: Option<Interval>,
    pub(in super::super) significant: Significant,
    /// The same in words.
    pub(in super::super) value: String,
}

/// The rows of one plot with their scale.
pub(in super::super) struct Forest<'a> {
    rows: Vec<ForestRow<'a>>,
    domain: [f64; 2],
}

impl Significant {
    pub(in super::super) fn from_interval(ci95: Option<Interval>) -> Significant {
        match ci95 {
            Some(Interval { low, high }) if low > 1.0 || high < 1.0 => Significant::Yes,
            _ => Significant::No,
        }
    }
}

impl<'a> Forest<'a> {
    /// The plot; `None` where no row has a ratio.
    pub(in super::super) fn from_rows(rows: Vec<ForestRow<'a>>) -> Option<Forest<'a>> {
        let domain = domain(&rows)?;
        Some(Forest { rows, domain })
    }

    pub(in super::super) fn chart(self, title: String, slug: String) -> Chart {
        let scale = Scale::logarithmic(self.domain, [6.0, WIDTH - 6.0]);
        let ticks = ticks(&scale);
        let names = ticks.iter().map(|&tick| svg::text("tick middle", [scale.at(tick), 10.0], &times(tick)));
        let mut marks: Vec<Element> = names.collect();
        let legend = Legend::at(4.0, &self.keys());
        let described: Vec<String> =
            self.rows.iter().map(|row| format!("{} {}", row.short, row.value)).collect();
        let count = self.rows.len();
        let drawn = self.rows.into_iter().map(|row| ChartRow {
            marks: [vec![one(&scale)], row.marks(&scale, STRIP + THICK / 2.0)].concat(),
            strong: row.significant == Significant::Yes,
            rank: row.rank,
            label: row.label,
            short: row.short,
            value: row.value,
        });
        let lines: Vec<f64> = ticks.iter().map(|&tick| scale.at(tick)).collect();
        marks.extend(rows::layout(drawn.collect(), &lines));
        marks.push(rows::foot(count, legend.marks));
        Chart {
            slug,
            title,
            description: format!("Above 1 is better: {}.", described.join("; ")),
            size: [WIDTH, rows::height(count) + legend.bottom],
            marks,
        }
    }

    /// What the marks mean.
    pub(super) fn keys(&self) -> Vec<Key> {
        let languages = self.rows.iter().filter_map(|row| row.label).map(|label| label.language);
        let mut keys = legend::languages(languages);
        let shows = |significant| self.rows.iter().any(|row| row.significant == significant);
        if shows(Significant::Yes) {
            keys.push(Key::new(KeyMark::Disc, "solid key", "clearly different"));
        }
        if shows(Significant::No) {
            keys.push(Key::new(KeyMark::Disc, "hollow key", "tie, or no interval"));
        }
        if shows(Significant::Baseline) {
            keys.push(Key::new(KeyMark::Diamond, "solid key", "baseline"));
        }
        keys
    }

    /// The scale of the strips with its names, for the head of a column.
    pub(in super::super) fn axis(&self) -> Element {
        let scale = self.strip_scale();
        let name = |tick: f64| svg::text("tick middle", [scale.at(tick), 16.0], &times(tick));
        strip("axis-names", ticks(&scale).into_iter().map(name))
    }

    /// The strips, one for each row in their order.
    pub(in super::super) fn strips(&self) -> Vec<Element> {
        let scale = self.strip_scale();
        let height = STRIP_SIZE[1];
        let lines = ticks(&scale).into_iter().filter(|tick| *tick != 1.0);
        let path: String = lines.map(|tick| across_rows(scale.at(tick))).collect();
        let grid = || element("path").class("grid").set("d", &path);
        let drawn = |row: &ForestRow| {
            let class = row.label.map_or("key", |label| language_class(label.language));
            let one = element("path").class("one").set("d", across_rows(scale.at(1.0)));
            strip(class, [vec![grid(), one], row.marks(&scale, height / 2.0)].concat())
        };
        self.rows.iter().map(drawn).collect()
    }

    fn strip_scale(&self) -> Scale {
        Scale::logarithmic(self.domain, [12.0, STRIP_SIZE[0] - 12.0])
    }
}

/// The line at 1 through a row of a chart.
fn one(scale: &Scale) -> Element {
    let x = scale.at(1.0);
    svg::line("one", [x, 0.0], [x, rows::PITCH])
}

impl ForestRow<'_> {
    /// The interval and the point.
    fn marks(&self, scale: &Scale, y: f64) -> Vec<Element> {
        let Some(estimate) = self.estimate else { return Vec::new() };
        let mut marks = Vec::new();
        if let Some(Interval { low, high }) = self.ci95 {
            marks.push(svg::line("span", [scale.at(low), y], [scale.at(high), y]));
            marks.extend((!scale.holds(low)).then(|| arrow([scale.at(low), y], -1.0)));
            marks.extend((!scale.holds(high)).then(|| arrow([scale.at(high), y], 1.0)));
        }
        let at = [scale.at(estimate), y];
        marks.push(match self.significant {
            Significant::Yes => svg::disc("solid", at, 4.5),
            Significant::No => svg::disc("hollow", at, 4.0),
            Significant::Baseline => svg::diamond("solid", at, 6.0),
        });
        marks
    }

    /// What the scale must hold: the ratio, and its interval as far as it goes.
    fn ends(&self) -> Option<[f64; 2]> {
        let estimate = self.estimate.filter(|it| it.is_finite() && *it > 0.0)?;
        let ends = self.ci95.map_or([estimate; 2], |ends| [ends.low, ends.high]);
        Some([ends[0].max(estimate / BEYOND_MOST), ends[1].min(estimate * BEYOND_MOST)])
    }
}

/// The head of an arrow to this side.
fn arrow([x, y]: [f64; 2], side: f64) -> Element {
    let (tip, back) = (x + 5.0 * side, x - side);
    let points = [[back, y - 4.0], [tip, y], [back, y + 4.0]].map(|[x, y]| (svg::place(x), svg::place(y)));
    let [(a, b), (c, d), (e, f)] = points;
    element("path").class("solid").set("d", format!("M{a} {b}L{c} {d}L{e} {f}z"))
}

fn domain(rows: &[ForestRow]) -> Option<[f64; 2]> {
    let ends: Vec<[f64; 2]> = rows.iter().filter_map(ForestRow::ends).collect();
    let (low, high) =
        (ends.iter().map(|it| it[0]).reduce(f64::min)?, ends.iter().map(|it| it[1]).reduce(f64::max)?);
    let (low, high) = (low.min(1.0 / REACH_LEAST), high.max(REACH_LEAST));
    let room = (high / low).powf(0.03);
    Some([(low / room).max(ENDS[0]), (high * room).min(ENDS[1])])
}

/// The named values, so far apart that their names have room.
fn ticks(scale: &Scale) -> Vec<f64> {
    let mut taken: Vec<f64> = Vec::new();
    for tick in TICKS.into_iter().filter(|&tick| scale.holds(tick)) {
        let x = scale.at(tick);
        if taken.iter().all(|&other| (scale.at(other) - x).abs() >= TICK_ROOM) {
            taken.push(tick);
        }
    }
    taken
}

/// `2 ×`.
fn times(tick: f64) -> String {
    format!("{tick} ×")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(estimate: f64, ends: [f64; 2]) -> ForestRow<'static> {
        let ci95 = Some(Interval { low: ends[0], high: ends[1] });
        ForestRow {
            rank: String::new(),
            label: None,
            short: "x",
            estimate: Some(estimate),
            ci95,
            significant: Significant::from_interval(ci95),
            value: String::new(),
        }
    }

    #[test]
    fn one_is_on_every_scale_and_a_long_interval_ends_in_an_arrow() {
        for (rows, arrows) in [
            (vec![row(2.0, [1.9, 2.1])], 0),
            (vec![row(0.5, [0.4, 0.6])], 0),
            (vec![row(1.5, [0.9, 80.0]), row(2.0, [1.9, 2.1])], 1),
            (vec![row(1.5, [0.05, 80.0])], 2),
        ] {
            let forest = Forest::from_rows(rows).unwrap();
            let scale = forest.strip_scale();
            assert!(scale.holds(1.0) && ticks(&scale).contains(&1.0));
            let text: String = forest.strips().into_iter().map(Element::render).collect();
            assert_eq!(text.matches("class=\"solid\" d=").count(), arrows, "{text}");
        }
    }

    #[test]
    fn a_tie_is_hollow_and_what_is_clear_is_filled() {
        let forest = Forest::from_rows(vec![row(1.02, [0.9, 1.1]), row(2.0, [1.9, 2.1])]).unwrap();
        let strips: Vec<String> = forest.strips().into_iter().map(Element::render).collect();
        assert!(strips[0].contains("hollow") && !strips[0].contains("\"solid\""), "{}", strips[0]);
        assert!(strips[1].contains("\"solid\"") && !strips[1].contains("hollow"), "{}", strips[1]);
    }

    #[test]
    fn names_of_values_never_touch() {
        for ends in [[0.9, 1.1], [0.2, 30.0], [1.0, 1000.0], [0.001, 9000.0]] {
            let scale = Scale::logarithmic(ends, [0.0, 240.0]);
            let ticks = ticks(&scale);
            assert!(ticks.contains(&1.0) && ticks.len() > 1, "{ends:?}: {ticks:?}");
        }
    }
}
