//! Files of many sizes: time on size with the lines through the points, and the rate on the
//! logarithm of the size.

use super::super::palette::language_class;
use super::super::svg::{self, Quantity, Scale};
use super::super::sweep::Series;
use super::plot::{self, BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH};
use super::{Chart, Element, ranking::DOTS_MOST};
use crate::analysis::stats::FittedLine;
use crate::record::Point;
use crate::units::{Bytes, Nanos, Throughput};

/// Time on size; `None` without points.
pub(in super::super) fn times(series: &Series, slug: String) -> Option<Chart> {
    let largest = most(series, size)?;
    let across = Scale::linear([0.0, largest * 1.02], [LEFT, RIGHT]);
    let up = Scale::linear([0.0, most(series, wall)? * 1.05], [BOTTOM, TOP]);
    let mut marks = frame(&across, &up, Quantity::Time, 4);
    let drawn = |class: &str, line: FittedLine| {
        // Over the sizes that were measured, and only where a time can be.
        let from = line.solve(0.0).filter(|&zero| zero > 0.0 && zero < largest).unwrap_or(0.0);
        let ends = [from, largest].map(|size| [across.at(size), up.at(line.at(size) * 1e9)]);
        svg::polyline(class, &ends)
    };
    marks.extend(series.robust.and_then(|line| drawn("robust", line)));
    marks.extend(series.fit.as_ref().and_then(|fit| drawn("fit", fit.line)));
    marks.push(points(series, |point| [across.at(size(point)), up.at(wall(point))]));
    let title = format!("{}: time on size", series.title());
    Some(Chart { slug, title, description: series.headline(), size: [WIDTH, HEIGHT], marks })
}

/// The rate on the logarithm of the size, with a line through the medians; `None` without points.
pub(in super::super) fn rates(series: &Series, slug: String) -> Option<Chart> {
    let largest = most(series, size)?;
    let smallest = series.points.iter().map(size).filter(|&it| it > 0.0).reduce(f64::min)?;
    let across = Scale::logarithmic([smallest * 0.8, largest * 1.25], [LEFT, RIGHT]);
    let up = Scale::linear([0.0, most(series, rate)? * 1.05], [BOTTOM, TOP]);
    let mut marks = frame(&across, &up, Quantity::Rate, 6);
    let medians = || series.sizes.iter().filter(|row| row.size_bytes > 0 && row.rate.0.is_finite());
    #[expect(clippy::cast_precision_loss, reason = "drawn with four digits")]
    let path: Vec<[f64; 2]> =
        medians().map(|row| [across.at(row.size_bytes as f64), up.at(row.rate.0)]).collect();
    marks.extend(svg::polyline(&class(series, "median"), &path));
    marks.push(points(series, |point| [across.at(size(point)), up.at(rate(point))]));
    let title = format!("{}: rate by size", series.title());
    let described: Vec<String> =
        medians().map(|row| format!("{} {}", Bytes(row.size_bytes), row.rate)).collect();
    let description = format!("Median rate of each size: {}.", described.join("; "));
    Some(Chart { slug, title, description, size: [WIDTH, HEIGHT], marks })
}

fn frame(across: &Scale, up: &Scale, quantity: Quantity, ticks: u32) -> Vec<Element> {
    let ticks: Vec<(f64, String)> =
        across.ticks(ticks).into_iter().map(|value| (across.at(value), Quantity::Size.tick(value))).collect();
    let mut marks = plot::upright(up, quantity);
    marks.extend(plot::along(&ticks, "size of the file"));
    marks
}

/// Every file as a dot; of very many, only the dots that are visibly different.
fn points(series: &Series, at: impl Fn(&Point) -> [f64; 2]) -> Element {
    let mut places: Vec<[f64; 2]> = series.points.iter().map(at).collect();
    if places.len() > DOTS_MOST {
        places.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        places.dedup_by_key(|[x, y]| (svg::place(*x), svg::place(y.round())));
    }
    svg::dots(&class(series, "points"), places)
}

fn class(series: &Series, mark: &str) -> String {
    format!("{mark} {}", language_class(&series.known.language))
}

fn most(series: &Series, value: impl Fn(&Point) -> f64) -> Option<f64> {
    series.points.iter().map(value).filter(|it| it.is_finite()).reduce(f64::max)
}

fn rate(point: &Point) -> f64 {
    Throughput::of(Bytes(point.size_bytes), Nanos(point.wall_ns)).0
}

#[expect(clippy::cast_precision_loss, reason = "drawn with four digits")]
fn size(point: &Point) -> f64 {
    point.size_bytes as f64
}

#[expect(clippy::cast_precision_loss, reason = "drawn with four digits")]
fn wall(point: &Point) -> f64 {
    point.wall_ns as f64
}
