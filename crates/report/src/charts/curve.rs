//! The rate of one method over the values of one parameter, with intervals.

use super::super::curve::{Curve, CurvePoint};
use super::super::palette::language_class;
use super::super::svg::{self, Quantity, Scale};
use super::Chart;
use super::legend::{self, Legend};
use super::plot::{self, BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH};
use readlab_analysis::stats::float;
use readlab_system::markup::element;

/// The chart. The scale of the parameter is logarithmic, unless one of its values is 0.
pub(in super::super) fn curve(curve: &Curve, slug: String) -> Chart {
    let values = || curve.points.iter().map(|point| float(point.value));
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    // A value of 0 has no logarithm.
    let scale = if low >= 1.0 { Scale::logarithmic } else { Scale::linear };
    let across = scale([low, high], [LEFT + 14.0, RIGHT - 14.0]);
    let up = Scale::linear([0.0, highest(curve)], [BOTTOM, TOP]);
    let x = |point: &CurvePoint| across.at(float(point.value));
    let points: Vec<[f64; 2]> = curve.points.iter().map(|point| [x(point), up.at(point.rate.0)]).collect();
    let ticks: Vec<(f64, String)> = curve.points.iter().map(|it| (x(it), it.spelled.clone())).collect();
    let mut marks = plot::frame(&up, Quantity::Rate, &ticks, &curve.parameter);
    for point in &curve.points {
        let ends = point.interval.map(|[low, high]| [up.at(high.0), up.at(low.0)]);
        marks.extend(ends.map(|ends| svg::whisker("interval", ends, x(point), true)));
    }
    let coloured = svg::polyline("curve", &points).into_iter().chain([svg::dots("curve-dots", points)]);
    marks.push(element("g").class(language_class(&curve.language)).all(coloured));
    let legend = Legend::at(HEIGHT, &legend::languages(std::iter::once(curve.language.as_str())));
    marks.extend(legend.marks);
    let described = curve.points.iter().map(|point| format!("{} {}", point.spelled, point.rate));
    let source = if curve.searched { ", from the search" } else { "" };
    Chart {
        slug,
        title: format!("{}, {}: rate by {}{source}", curve.method, curve.condition, curve.parameter),
        description: format!("{}.", described.collect::<Vec<_>>().join("; ")),
        size: [WIDTH, legend.bottom],
        marks,
    }
}

fn highest(curve: &Curve) -> f64 {
    let tops = curve.points.iter().map(|point| point.interval.map_or(point.rate.0, |[_, high]| high.0));
    tops.filter(|top| top.is_finite()).fold(0.0, f64::max) * 1.05
}
