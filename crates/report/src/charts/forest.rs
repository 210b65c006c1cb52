//! A forest plot: how many times as fast as the baseline each method is, as a point with its
//! interval on a logarithmic scale, so that half and twice have the same distance from 1. A line
//! marks 1: an interval across that line is a tie.
//!
//! A point is filled if the whole interval is on one side of 1. The cells of a table and the rows
//! of a chart use the same strips.

use super::super::palette::language_class;
use super::super::svg::{self, Scale};
use super::legend::{KeyMark, LegendKey};
use super::rows::{ChartRow, ROW_PITCH, RowsChart, STRIP_HEIGHT, STRIP_TOP, WIDTH};
use super::{Chart, STRIP_SIZE, strip, strip_axis, strip_grid, values_with_room};
use readlab_analysis::stats::Interval;
use readlab_system::markup::{Element, element};

/// The scale extends at least to this factor on both sides of 1.
const SCALE_FACTOR_MIN: f64 = 1.1;
/// The scale extends at most by this factor beyond the outermost ratio: a longer interval ends in
/// an arrow.
const OVERHANG_FACTOR_MAX: f64 = 2.5;
/// The largest range of the scale.
const SCALE_ENDS: [f64; 2] = [1e-3, 1e4];
/// The ticks that get a label while there is room, the most important first.
const TICKS_BY_IMPORTANCE: [f64; 24] = [
    1.0, 10.0, 0.1, 100.0, 0.01, 1e3, 2.0, 0.5, 5.0, 0.2, 20.0, 0.05, 50.0, 3.0, 0.3, 1.5, 0.7, 1.2, 0.8,
    1.1, 0.9, 1.05, 0.95, 4.0,
];
/// Space for the label of a tick, in units of the chart.
const TICK_LABEL_WIDTH: f64 = 34.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum PointKind {
    /// The interval is on one side of 1.
    Clear,
    /// The interval holds 1, or there is no interval.
    Unclear,
    Baseline,
}

pub(in super::super) struct ForestRow<'a> {
    /// The names of the method, and the ratio in words.
    pub(in super::super) row: ChartRow<'a>,
    /// The ratio; `None` if no round holds both trials.
    pub(in super::super) estimate: Option<f64>,
    pub(in super::super) ci95: Option<Interval>,
    pub(in super::super) point_kind: PointKind,
}

pub(in super::super) struct Forest<'a> {
    rows: Vec<ForestRow<'a>>,
    domain: [f64; 2],
}

impl PointKind {
    pub(in super::super) fn from_interval(ci95: Option<Interval>) -> PointKind {
        match ci95 {
            Some(Interval { low, high }) if low > 1.0 || high < 1.0 => PointKind::Clear,
            _ => PointKind::Unclear,
        }
    }
}

impl<'a> Forest<'a> {
    /// The plot; `None` if no row has a ratio.
    pub(in super::super) fn from_rows(rows: Vec<ForestRow<'a>>) -> Option<Forest<'a>> {
        let domain = domain(&rows)?;
        Some(Forest { rows, domain })
    }

    pub(in super::super) fn chart(self, title: String, slug: String) -> Chart {
        let scale = Scale::logarithmic(self.domain, [6.0, WIDTH - 6.0]);
        let places: Vec<(f64, f64)> =
            ticks(&scale).iter().map(|&tick| (tick, scale.coordinate_of(tick))).collect();
        let one = svg::line("one", [scale.coordinate_of(1.0), 0.0], [scale.coordinate_of(1.0), ROW_PITCH]);
        let keys = self.keys();
        let rows = self.rows.into_iter().map(|it| ChartRow {
            marks: [vec![one.clone()], it.marks(&scale, STRIP_TOP + STRIP_HEIGHT / 2.0)].concat(),
            is_bold: it.point_kind == PointKind::Clear,
            ..it.row
        });
        let chart = RowsChart {
            axis: places
                .iter()
                .map(|&(tick, x)| svg::text("tick middle", [x, 10.0], &tick_label(tick)))
                .collect(),
            grid_xs: places.iter().map(|(_, x)| *x).collect(),
            ..RowsChart::new(rows, keys)
        };
        let description = format!("Above 1 is better: {}.", chart.values_text());
        chart.into_chart(slug, title, description)
    }

    /// The meanings of the kinds of points in this plot.
    fn keys(&self) -> Vec<LegendKey> {
        let all = [
            (PointKind::Clear, KeyMark::Disc, "solid key", "clearly different"),
            (PointKind::Unclear, KeyMark::Disc, "hollow key", "tie, or no interval"),
            (PointKind::Baseline, KeyMark::Diamond, "solid key", "baseline"),
        ];
        let shown = all.into_iter().filter(|(it, ..)| self.rows.iter().any(|row| row.point_kind == *it));
        shown.map(|(_, mark, class, text)| LegendKey::new(mark, class, text)).collect()
    }

    /// The scale of the strips with labels, for the head of a column.
    pub(in super::super) fn axis(&self) -> Element {
        let scale = self.strip_scale();
        strip_axis(&scale, &ticks(&scale), tick_label)
    }

    /// The strips, one for each row, in order.
    pub(in super::super) fn strips(&self) -> Vec<Element> {
        let scale = self.strip_scale();
        let grid = strip_grid("grid", &scale, ticks(&scale).into_iter().filter(|tick| *tick != 1.0));
        let lines = vec![grid, strip_grid("one", &scale, [1.0])];
        let drawn = |row: &ForestRow| {
            let class = row.row.label.map_or("key", |label| language_class(label.language));
            strip(class, [lines.clone(), row.marks(&scale, STRIP_SIZE[1] / 2.0)].concat())
        };
        self.rows.iter().map(drawn).collect()
    }

    fn strip_scale(&self) -> Scale {
        Scale::logarithmic(self.domain, [12.0, STRIP_SIZE[0] - 12.0])
    }
}

impl ForestRow<'_> {
    fn marks(&self, scale: &Scale, y: f64) -> Vec<Element> {
        let Some(estimate) = self.estimate else { return Vec::new() };
        let mut marks = Vec::new();
        if let Some(Interval { low, high }) = self.ci95 {
            marks.push(svg::line("span", [scale.coordinate_of(low), y], [scale.coordinate_of(high), y]));
            marks.extend((!scale.holds(low)).then(|| arrow([scale.coordinate_of(low), y], -1.0)));
            marks.extend((!scale.holds(high)).then(|| arrow([scale.coordinate_of(high), y], 1.0)));
        }
        let at = [scale.coordinate_of(estimate), y];
        marks.push(match self.point_kind {
            PointKind::Clear => svg::disc("solid", at, 4.5),
            PointKind::Unclear => svg::disc("hollow", at, 4.0),
            PointKind::Baseline => svg::diamond("solid", at, 6.0),
        });
        marks
    }

    /// The range that the scale must cover: the interval, cut at `OVERHANG_FACTOR_MAX` times the
    /// ratio on both sides; `None` without a ratio.
    fn covered_range(&self) -> Option<[f64; 2]> {
        let estimate = self.estimate.filter(|it| it.is_finite() && *it > 0.0)?;
        let ends = self.ci95.map_or([estimate; 2], |ends| [ends.low, ends.high]);
        Some([ends[0].max(estimate / OVERHANG_FACTOR_MAX), ends[1].min(estimate * OVERHANG_FACTOR_MAX)])
    }
}

/// An arrow head that points to the left if `side` is -1, and to the right if it is 1.
fn arrow([x, y]: [f64; 2], side: f64) -> Element {
    let (tip, back) = (x + 5.0 * side, x - side);
    let points = [[back, y - 4.0], [tip, y], [back, y + 4.0]]
        .map(|[x, y]| (svg::coordinate_text(x), svg::coordinate_text(y)));
    let [(a, b), (c, d), (e, f)] = points;
    element("path").class("solid").set("d", format!("M{a} {b}L{c} {d}L{e} {f}z"))
}

fn domain(rows: &[ForestRow]) -> Option<[f64; 2]> {
    let ends: Vec<[f64; 2]> = rows.iter().filter_map(ForestRow::covered_range).collect();
    let (low, high) =
        (ends.iter().map(|it| it[0]).reduce(f64::min)?, ends.iter().map(|it| it[1]).reduce(f64::max)?);
    let (low, high) = (low.min(1.0 / SCALE_FACTOR_MIN), high.max(SCALE_FACTOR_MIN));
    let room = (high / low).powf(0.03);
    Some([(low / room).max(SCALE_ENDS[0]), (high * room).min(SCALE_ENDS[1])])
}

fn ticks(scale: &Scale) -> Vec<f64> {
    values_with_room(
        scale,
        TICKS_BY_IMPORTANCE.into_iter().filter(|&tick| scale.holds(tick)),
        TICK_LABEL_WIDTH,
    )
}

/// The label of a tick, such as `2 ×`.
fn tick_label(tick: f64) -> String {
    format!("{tick} ×")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(estimate: f64, ends: [f64; 2]) -> ForestRow<'static> {
        let ci95 = Some(Interval { low: ends[0], high: ends[1] });
        let point_kind = PointKind::from_interval(ci95);
        let row = ChartRow::unlabelled("x", String::new());
        ForestRow { row, estimate: Some(estimate), ci95, point_kind }
    }

    #[test]
    fn a_ratio_of_1_is_on_every_scale_and_a_long_interval_ends_in_an_arrow() {
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
    fn the_point_of_a_tie_is_hollow_and_that_of_a_clear_ratio_is_filled() {
        let forest = Forest::from_rows(vec![row(1.02, [0.9, 1.1]), row(2.0, [1.9, 2.1])]).unwrap();
        let strips: Vec<String> = forest.strips().into_iter().map(Element::render).collect();
        assert!(strips[0].contains("hollow") && !strips[0].contains("\"solid\""), "{}", strips[0]);
        assert!(strips[1].contains("\"solid\"") && !strips[1].contains("hollow"), "{}", strips[1]);
    }

    #[test]
    fn labels_of_ticks_never_touch() {
        for ends in [[0.9, 1.1], [0.2, 30.0], [1.0, 1000.0], [0.001, 9000.0]] {
            let scale = Scale::logarithmic(ends, [0.0, 240.0]);
            let ticks = ticks(&scale);
            assert!(ticks.contains(&1.0) && ticks.len() > 1, "{ends:?}: {ticks:?}");
        }
    }
}
