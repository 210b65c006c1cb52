//! Methods under bounds on memory: the rate of each method, or the 99th percentile of its single
//! reads, against the memory divided by the working set. The cold state is at the left end, the
//! warm state at the right end.
//!
//! The colour of a line shows the language, so the lines are also numbered, and the legend names
//! the method of each number.

use super::super::memory::{MemoryMethod, MemoryView, MethodPoint, level_words};
use super::super::palette::language_class;
use super::super::svg::{self, Quantity, Scale};
use super::Chart;
use super::legend::{KeyMark, Legend, LegendKey};
use super::plot::{self, BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH};
use readlab_analysis::memory::MemoryLevel;
use readlab_analysis::stats::{Interval, float};
use readlab_system::markup::{Element, element};
use std::collections::BTreeSet;

/// Largest number of lines. The tables have all methods and scans.
const LINES_MAX: usize = 8;

/// If the highest value is more than this many times the lowest, the scale is logarithmic.
const LINEAR_RATIO_MAX: f64 = 20.0;

/// The distance of the warm state from the greatest bound, as a share of that bound.
const WARM_GAP_SHARE: f64 = 0.15;

/// Smallest distance between the numbers of two lines.
const NUMBER_GAP: f64 = 11.0;

/// A quantity that is drawn against the memory.
struct PlottedQuantity {
    name: &'static str,
    slug: &'static str,
    quantity: Quantity,
    /// The value of a point with its interval; `None` where it was not measured.
    value: fn(&MethodPoint) -> Option<ValueWithInterval>,
}

type ValueWithInterval = (f64, Option<Interval>);

const PLOTTED_QUANTITIES: [PlottedQuantity; 2] = [
    PlottedQuantity {
        name: "rate",
        slug: "rate",
        quantity: Quantity::Rate,
        value: |point| Some((point.bytes_per_s, point.interval)),
    },
    PlottedQuantity {
        name: "p99 of single reads",
        slug: "p99",
        quantity: Quantity::Time,
        value: |point| {
            let p99 = point.p99.as_ref()?;
            Some((float(p99.latency_ns), p99.ci95))
        },
    },
];

struct MethodLine<'a> {
    method: &'a MemoryMethod,
    points: Vec<LinePoint>,
}

struct LinePoint {
    level: MemoryLevel,
    value: f64,
    interval: Option<Interval>,
}

/// The charts of one contest: of the rates, and of the latencies if single reads were timed.
/// `number` is the index of the contest.
pub(in super::super) fn memory_charts(view: &MemoryView, number: usize) -> Vec<Chart> {
    let chart = |measured: &PlottedQuantity| {
        let slug = format!("memory-{number}-{}", measured.slug);
        MemoryPlot::new(view, measured).map(|plot| plot.chart(slug))
    };
    PLOTTED_QUANTITIES.iter().filter_map(chart).collect()
}

struct MemoryPlot<'a> {
    view: &'a MemoryView,
    measured: &'a PlottedQuantity,
    lines: Vec<MethodLine<'a>>,
    x_scale: Scale,
    /// The position of the warm state on the horizontal scale, as a share of the working set.
    warm_share: f64,
    y_scale: Scale,
}

impl<'a> MemoryPlot<'a> {
    /// `None` if no method has a value at two levels.
    fn new(view: &'a MemoryView, measured: &'a PlottedQuantity) -> Option<MemoryPlot<'a>> {
        let mut lines: Vec<MethodLine> =
            view.methods.iter().filter_map(|method| MethodLine::new(method, measured)).collect();
        // Methods that are the fastest at some level come first. Among these methods, and among the
        // others, the order is that of the rates with the most memory.
        let last_rate = |line: &MethodLine| line.method.points.last().map_or(0.0, |point| point.bytes_per_s);
        lines.sort_by(|a, b| {
            b.method
                .is_fastest_somewhere
                .cmp(&a.method.is_fastest_somewhere)
                .then(last_rate(b).total_cmp(&last_rate(a)))
        });
        let mut lines = without_other_scans(lines);
        lines.truncate(LINES_MAX);
        let values = || lines.iter().flat_map(|line| &line.points);
        let lowest = values().map(|point| point.value).reduce(f64::min)?;
        let highest = values().map(LinePoint::upper_end).filter(|top| top.is_finite()).reduce(f64::max)?;
        let most = view.levels.iter().filter_map(|level| level.share()).fold(0.0, f64::max);
        let warm_share = if most > 0.0 { most * (1.0 + WARM_GAP_SHARE) } else { 1.0 };
        let up = if highest > LINEAR_RATIO_MAX * lowest {
            Scale::logarithmic([lowest / 1.3, highest * 1.3], [BOTTOM, TOP])
        } else {
            Scale::linear([0.0, highest * 1.05], [BOTTOM, TOP])
        };
        // The numbers of the lines are right of their last points.
        let across = Scale::linear([0.0, warm_share], [LEFT + 12.0, RIGHT - 20.0]);
        Some(MemoryPlot { view, measured, lines, x_scale: across, warm_share, y_scale: up })
    }

    fn x(&self, level: MemoryLevel) -> f64 {
        self.x_scale.coordinate_of(level.share().unwrap_or(self.warm_share))
    }

    fn chart(&self, slug: String) -> Chart {
        let ticks: Vec<(f64, String)> =
            self.view.levels.iter().map(|level| (self.x(*level), level_words(*level))).collect();
        let mut marks = plot::frame(&self.y_scale, self.measured.quantity, &ticks, "memory ÷ working set");
        marks.extend(self.crossing_line());
        marks.extend(self.lines.iter().flat_map(|line| self.line_marks(line)));
        marks.extend(self.line_numbers());
        let legend = Legend::at(HEIGHT, &self.keys());
        marks.extend(legend.marks);
        let described: Vec<String> = self.lines.iter().map(|line| self.line_words(line)).collect();
        Chart {
            slug,
            title: format!("{} · {} by memory", self.view.title, self.measured.name),
            description: format!("{}.", described.join("; ")),
            size: [WIDTH, legend.bottom],
            marks,
        }
    }

    /// The vertical line at the memory at which two methods cross. Only the chart of rates has it,
    /// because methods are compared by their rates.
    fn crossing_line(&self) -> Option<Element> {
        let crossing = self.view.crossing.as_ref().filter(|_| self.measured.quantity == Quantity::Rate)?;
        let middle = || {
            let [below, above] = crossing.levels.map(|level| self.x(level));
            f64::midpoint(below, above)
        };
        let x = crossing.crossing_share.map_or_else(middle, |share| self.x_scale.coordinate_of(share));
        Some(svg::line("bound", [x, TOP], [x, BOTTOM]))
    }

    fn line_marks(&self, line: &MethodLine) -> Vec<Element> {
        let mut marks = Vec::new();
        let place = |point: &LinePoint| [self.x(point.level), self.y_scale.coordinate_of(point.value)];
        for point in &line.points {
            let ends = point
                .interval
                .map(|it| [self.y_scale.coordinate_of(it.high), self.y_scale.coordinate_of(it.low)]);
            marks.extend(ends.map(|ends| svg::whisker("interval", ends, self.x(point.level), true)));
        }
        let places: Vec<[f64; 2]> = line.points.iter().map(place).collect();
        let coloured = svg::polyline("curve", &places).into_iter().chain([svg::dots("curve-dots", places)]);
        marks.push(element("g").class(language_class(&line.method.language)).with_all(coloured));
        marks
    }

    /// The numbers of the lines, each beside the last point of its line. Numbers that would overlap
    /// are moved down.
    fn line_numbers(&self) -> Vec<Element> {
        let end = |(number, line): (usize, &MethodLine)| {
            let last = line.points.last()?;
            Some((number, [self.x(last.level), self.y_scale.coordinate_of(last.value)]))
        };
        let mut ends: Vec<(usize, [f64; 2])> = (1..).zip(&self.lines).filter_map(end).collect();
        ends.sort_by(|(_, a), (_, b)| a[1].total_cmp(&b[1]));
        let mut free_from = f64::NEG_INFINITY;
        let mark = |(number, [x, y]): (usize, [f64; 2])| {
            let y = y.max(free_from);
            free_from = y + NUMBER_GAP;
            svg::text("tick start", [x + 7.0, y + 4.0], &number.to_string())
        };
        ends.into_iter().map(mark).collect()
    }

    fn keys(&self) -> Vec<LegendKey> {
        let key = |(number, line): (usize, &MethodLine)| {
            let class = format!("solid {}", language_class(&line.method.language));
            LegendKey::new(KeyMark::Disc, &class, &format!("{number} {}", line.method.short_name))
        };
        let mut keys: Vec<LegendKey> = (1..).zip(&self.lines).map(key).collect();
        if self.crossing_line().is_some() {
            keys.push(LegendKey::new(KeyMark::Line, "bound", "where the fastest method changes"));
        }
        keys
    }

    fn line_words(&self, line: &MethodLine) -> String {
        let value = |it: &LinePoint| {
            format!("{} {}", level_words(it.level), self.measured.quantity.tick_label(it.value))
        };
        let values: Vec<String> = line.points.iter().map(value).collect();
        format!("{}: {}", line.method.short_name, values.join(", "))
    }
}

/// The first scan of each method; all scans if there is only one method.
fn without_other_scans(lines: Vec<MethodLine>) -> Vec<MethodLine> {
    let mut methods = BTreeSet::new();
    let is_new = |line: &MethodLine| {
        let id = &line.method.id;
        methods.insert((id.method.contender.clone(), id.method.method.clone(), id.params.to_string()))
    };
    let (mut first, others): (Vec<MethodLine>, Vec<MethodLine>) = lines.into_iter().partition(is_new);
    if first.len() == 1 {
        first.extend(others);
    }
    first
}

impl<'a> MethodLine<'a> {
    /// `None` if the method has a value at fewer than two levels.
    fn new(method: &'a MemoryMethod, measured: &PlottedQuantity) -> Option<MethodLine<'a>> {
        let point = |it: &MethodPoint| {
            let (value, interval) = (measured.value)(it)?;
            Some(LinePoint { level: it.level, value, interval })
        };
        let points: Vec<LinePoint> = method.points.iter().filter_map(point).collect();
        (points.len() > 1).then_some(MethodLine { method, points })
    }
}

impl LinePoint {
    /// The upper end of the interval, or the value.
    fn upper_end(&self) -> f64 {
        self.interval.map_or(self.value, |it| it.high)
    }
}
