//! The frame of charts with two axes, and three such charts: the rate of a method over the values
//! of a parameter; the rate by the number of ranks or readers, with the fitted law up to twice the
//! measured number; and the straight line through the numbers of machines, with a diamond where the
//! line reaches the number of another case.

use super::super::comparison::measure_text;
use super::super::curve::{Curve, CurvePoint};
use super::super::palette::language_class;
use super::super::scaling::ScalingView;
use super::super::svg::{self, Quantity, Scale};
use super::Chart;
use super::legend::{self, KeyMark, Legend, LegendKey};
use readlab_analysis::compare::{Fit, Unit};
use readlab_analysis::scaling::LawPoint;
use readlab_analysis::stats::{count_as_float, float};
use readlab_system::markup::{Element, element};

/// Width of a chart with two axes.
pub(super) const WIDTH: f64 = 440.0;
/// Height of a chart with two axes, without the text below.
pub(super) const HEIGHT: f64 = 250.0;
/// The edges of the area in which points are drawn.
pub(super) const LEFT: f64 = 62.0;
pub(super) const RIGHT: f64 = WIDTH - 14.0;
pub(super) const TOP: f64 = 12.0;
pub(super) const BOTTOM: f64 = HEIGHT - 40.0;

/// Both axes: horizontal lines at round values, and the labels `ticks` along the bottom.
pub(super) fn frame(up: &Scale, quantity: Quantity, ticks: &[(f64, String)], title: &str) -> Vec<Element> {
    horizontal_lines(up, quantity).into_iter().chain(bottom_labels(ticks, title)).collect()
}

/// Horizontal lines at round values, with labels at the left.
fn horizontal_lines(scale: &Scale, quantity: Quantity) -> Vec<Element> {
    let mark = |value: f64| {
        let y = scale.coordinate_of(value);
        let name = svg::text("tick end", [LEFT - 8.0, y + 4.0], &quantity.tick_label(value));
        [svg::line("grid", [LEFT, y], [RIGHT, y]), name]
    };
    scale.ticks(5).into_iter().flat_map(mark).collect()
}

/// Labels and title along the bottom. Labels that would touch the previous one are left out.
fn bottom_labels(ticks: &[(f64, String)], title: &str) -> Vec<Element> {
    const LETTER_WIDTH: f64 = 6.4;
    let mut free_from = f64::NEG_INFINITY;
    let mut marks = Vec::new();
    for (x, name) in ticks {
        let half = count_as_float(name.chars().count()) * LETTER_WIDTH / 2.0;
        marks.push(svg::line("grid", [*x, BOTTOM], [*x, BOTTOM + 4.0]));
        if x - half > free_from {
            marks.push(svg::text("tick middle", [*x, BOTTOM + 17.0], name));
            free_from = x + half + 6.0;
        }
    }
    marks.push(svg::line("axis", [LEFT, BOTTOM], [RIGHT, BOTTOM]));
    marks.push(svg::text("tick end", [RIGHT, BOTTOM + 34.0], title));
    marks
}

/// The chart of a curve. The scale of the parameter is logarithmic, unless one of its values is 0.
pub(in super::super) fn curve_chart(curve: &Curve, slug: String) -> Chart {
    let values = || curve.points.iter().map(|point| float(point.value));
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    // A value of 0 has no logarithm.
    let scale = if low >= 1.0 { Scale::logarithmic } else { Scale::linear };
    let across = scale([low, high], [LEFT + 14.0, RIGHT - 14.0]);
    let up = Scale::linear([0.0, rate_axis_top(curve)], [BOTTOM, TOP]);
    let x = |point: &CurvePoint| across.coordinate_of(float(point.value));
    let points: Vec<[f64; 2]> =
        curve.points.iter().map(|point| [x(point), up.coordinate_of(point.rate.0)]).collect();
    let ticks: Vec<(f64, String)> = curve.points.iter().map(|it| (x(it), it.spelled_value.clone())).collect();
    let mut marks = frame(&up, Quantity::Rate, &ticks, &curve.parameter);
    for point in &curve.points {
        let ends = point.interval.map(|[low, high]| [up.coordinate_of(high.0), up.coordinate_of(low.0)]);
        marks.extend(ends.map(|ends| svg::whisker("interval", ends, x(point), true)));
    }
    let coloured = svg::polyline("curve", &points).into_iter().chain([svg::dots("curve-dots", points)]);
    marks.push(element("g").class(language_class(&curve.language)).with_all(coloured));
    let legend = Legend::at(HEIGHT, &legend::language_keys(std::iter::once(curve.language.as_str())));
    marks.extend(legend.marks);
    let described = curve.points.iter().map(|point| format!("{} {}", point.spelled_value, point.rate));
    let source = if curve.is_from_search { ", from the search" } else { "" };
    Chart {
        slug,
        title: format!("{}, {}: rate by {}{source}", curve.method, curve.condition, curve.parameter),
        description: format!("{}.", described.collect::<Vec<_>>().join("; ")),
        size: [WIDTH, legend.bottom],
        marks,
    }
}

/// The upper end of the rate axis, a little above the highest finite end of an interval.
fn rate_axis_top(curve: &Curve) -> f64 {
    let tops = curve.points.iter().map(|point| point.interval.map_or(point.rate.0, |[_, high]| high.0));
    tops.filter(|top| top.is_finite()).fold(0.0, f64::max) * 1.05
}

/// Largest number of points drawn for the law.
const LAW_POINTS_MAX: u64 = 64;

pub(in super::super) fn scaling_chart(view: &ScalingView, slug: String) -> Chart {
    let points = &view.scaling.points;
    let law = view.scaling.law_points(LAW_POINTS_MAX);
    let most = points.iter().map(|point| point.count).chain(law.iter().map(|point| point.count)).max();
    let across = Scale::linear([0.0, float(most.unwrap_or(1))], [LEFT, RIGHT - 10.0]);
    let tops = points.iter().map(|point| point.interval.map_or(point.rate, |it| it.high));
    let highest = tops.chain(law.iter().map(|point| point.interval.high)).fold(0.0, f64::max) * 1.1;
    let up = Scale::linear([0.0, highest], [BOTTOM, TOP]);
    let place = |count: u64, rate: f64| [across.coordinate_of(float(count)), up.coordinate_of(rate)];
    let ticks = points.iter().map(|point| point.count).chain(most);
    let ticks: Vec<(f64, String)> =
        ticks.map(|count| (across.coordinate_of(float(count)), count.to_string())).collect();
    let title = format!("{} that read together", view.scaling.unit.plural());
    let mut marks = frame(&up, Quantity::Rate, &ticks, &title);
    if let Some(first) = points.first() {
        // The line of perfect scaling ends at the frame.
        let of_one = first.rate / float(first.count);
        let last = (highest / of_one).min(float(most.unwrap_or(1)));
        marks.push(svg::line(
            "robust",
            [across.coordinate_of(0.0), up.coordinate_of(0.0)],
            [across.coordinate_of(last), up.coordinate_of(of_one * last)],
        ));
    }
    let along = |rate: fn(&LawPoint) -> f64| {
        law.iter().map(|point| place(point.count, rate(point))).collect::<Vec<_>>()
    };
    marks.extend(svg::polyline("fit", &along(|point| point.rate)));
    marks.extend(svg::polyline("fill", &along(|point| point.interval.low)));
    marks.extend(svg::polyline("fill", &along(|point| point.interval.high)));
    for point in points {
        let ends = point.interval.map(|it| [up.coordinate_of(it.high), up.coordinate_of(it.low)]);
        marks.extend(
            ends.map(|ends| svg::whisker("interval", ends, across.coordinate_of(float(point.count)), true)),
        );
    }
    let dots = svg::dots("curve-dots", points.iter().map(|point| place(point.count, point.rate)));
    let class = language_class(&view.language);
    marks.push(element("g").class(class).with_all(vec![dots]));
    let legend = Legend::at(HEIGHT, &scaling_keys(class, !law.is_empty()));
    marks.extend(legend.marks);
    Chart {
        slug,
        title: format!("{}: rate by {}", view.name, view.scaling.unit.plural()),
        description: format!("{}.", view.lines.join("; ")),
        size: [WIDTH, legend.bottom],
        marks,
    }
}

fn scaling_keys(class: &str, has_law: bool) -> Vec<LegendKey> {
    let measured = LegendKey::new(KeyMark::Disc, &format!("solid {class}"), "measured");
    let mut keys = vec![measured, LegendKey::new(KeyMark::Line, "robust", "perfect scaling")];
    if has_law {
        keys.push(LegendKey::new(KeyMark::Line, "fit", "the law"));
        keys.push(LegendKey::new(KeyMark::Line, "fill", "its 95 % interval"));
    }
    keys
}

/// The chart of the line through machines; `None` if no axis suits the unit of the measure.
pub(in super::super) fn machines_chart(fit: &Fit) -> Option<Chart> {
    let quantity = match fit.measure.unit() {
        Unit::Nanoseconds => Quantity::Time,
        Unit::Bytes => Quantity::Size,
        Unit::BytesPerSecond => Quantity::Rate,
        Unit::Count => return None,
    };
    let required = || fit.required.iter().filter_map(|it| Some((it.fact_value?, it.measured_value)));
    let places = || fit.points.iter().map(|it| (it.fact_value, it.measured_value)).chain(required());
    let ends = |of: fn((f64, f64)) -> f64| {
        let values = || places().map(of).filter(|it| it.is_finite());
        Some([values().reduce(f64::min)?, values().reduce(f64::max)?])
    };
    let ([least, most], [_, highest]) = (ends(|it| it.0)?, ends(|it| it.1)?);
    let room = (most - least).max(f64::MIN_POSITIVE) * 0.08;
    let across = Scale::linear([least - room, most + room], [LEFT, RIGHT]);
    let up = Scale::linear([0.0, highest * 1.1], [BOTTOM, TOP]);
    let ticks: Vec<(f64, String)> = across
        .ticks(5)
        .into_iter()
        .map(|value| (across.coordinate_of(value), format!("{value:.1}")))
        .collect();
    let mut marks = frame(&up, quantity, &ticks, &fit.fact);
    let line = [least - room, most + room]
        .map(|fact| [across.coordinate_of(fact), up.coordinate_of(fit.line.line.at(fact))]);
    marks.extend(svg::polyline("fit", &line));
    for (fact, value) in required() {
        marks.push(svg::diamond("edge", [across.coordinate_of(fact), up.coordinate_of(value)], 4.0));
    }
    for point in &fit.points {
        let [x, y] = [across.coordinate_of(point.fact_value), up.coordinate_of(point.measured_value)];
        marks.push(svg::disc("solid other", [x, y], 4.0));
        marks.push(svg::text("tick middle", [x, y - 9.0], &point.machine));
    }
    let points = fit.points.iter();
    let points = points.map(|it| {
        format!("{} at {}: {}", it.machine, it.fact_value, measure_text(fit.measure, it.measured_value))
    });
    let description = format!(
        "{}. Diamonds: where the line reaches the numbers of other cases.",
        points.collect::<Vec<_>>().join("; ")
    );
    let title = format!("{} of {} on {}", fit.measure.word(), fit.case, fit.fact);
    Some(Chart { slug: "fit".to_owned(), title, description, size: [WIDTH, HEIGHT], marks })
}
