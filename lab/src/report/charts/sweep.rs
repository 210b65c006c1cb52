//! Files of many sizes: time on size with the line through the points, and the rate on the logarithm of the size.

use super::super::svg::{self, Quantity, Scale};
use super::super::sweep::{SweepPoint, SweepSeries, Way};
use super::plot::{self, BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH};
use super::{Chart, ranking::DOTS_MOST};

/// Time on size; `None` without points.
pub(in super::super) fn times(series: &SweepSeries, slug: String) -> Option<Chart> {
    let largest = most(series, size)?;
    let across = Scale::linear([0.0, largest * 1.02], [LEFT, RIGHT]);
    let up = Scale::linear([0.0, most(series, wall)? * 1.05], [BOTTOM, TOP]);
    let mut marks = frame(&across, (&up, Quantity::Time), 4);
    if let Some(fit) = series.line() {
        // The line is drawn over the sizes that were measured, and only where a time can be.
        let from = fit.line.solve(0.0).filter(|&zero| zero > 0.0 && zero < largest).unwrap_or(0.0);
        let ends = [from, largest].map(|size| [across.at(size), up.at(fit.line.at(size))]);
        marks.extend(svg::polyline("fit", &ends));
    }
    marks.push(points(series, |point| [across.at(size(point)), up.at(wall(point))]));
    let title = format!("{} ({}): time on size", series.way.word(), series.name);
    let description = format!("{} files; {}.", series.points.len(), series.line_words());
    Some(Chart { slug, title, description, size: [WIDTH, HEIGHT], marks })
}

/// The rate on the logarithm of the size, with a line through the medians; `None` without points.
pub(in super::super) fn rates(series: &SweepSeries, slug: String) -> Option<Chart> {
    let largest = most(series, size)?;
    let smallest = series.points.iter().map(size).filter(|&it| it > 0.0).reduce(f64::min)?;
    let across = Scale::logarithmic([smallest * 0.8, largest * 1.25], [LEFT, RIGHT]);
    let up = Scale::linear([0.0, most(series, |point| point.rate().0)? * 1.05], [BOTTOM, TOP]);
    let mut marks = frame(&across, (&up, Quantity::Rate), 6);
    let medians = series.medians();
    #[expect(clippy::cast_precision_loss, reason = "drawn with four digits")]
    let path: Vec<[f64; 2]> =
        medians.iter().map(|(size, rate)| [across.at(size.0 as f64), up.at(rate.0)]).collect();
    marks.extend(svg::polyline(class(series.way, "median").as_str(), &path));
    marks.push(points(series, |point| [across.at(size(point)), up.at(point.rate().0)]));
    let title = format!("{} ({}): rate by size", series.way.word(), series.name);
    let described = medians.iter().map(|(size, rate)| format!("{size} {rate}"));
    let description = format!("Median rate of each size: {}.", described.collect::<Vec<_>>().join("; "));
    Some(Chart { slug, title, description, size: [WIDTH, HEIGHT], marks })
}

fn frame(across: &Scale, (up, quantity): (&Scale, Quantity), ticks: u32) -> Vec<super::Element> {
    let ticks: Vec<(f64, String)> =
        across.ticks(ticks).into_iter().map(|value| (across.at(value), Quantity::Size.tick(value))).collect();
    let mut marks = plot::upright(up, quantity);
    marks.extend(plot::along(&ticks, "size of the file"));
    marks
}

/// Every file as a dot; of very many, as many as can be told apart.
fn points(series: &SweepSeries, at: impl Fn(&SweepPoint) -> [f64; 2]) -> super::Element {
    let mut places: Vec<[f64; 2]> = series.points.iter().map(at).collect();
    if places.len() > DOTS_MOST {
        places.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        places.dedup_by_key(|[x, y]| (svg::place(*x), svg::place(y.round())));
    }
    svg::dots(&class(series.way, "points"), places)
}

fn class(way: Way, mark: &str) -> String {
    let way = match way {
        Way::Write => "write",
        Way::Read => "read",
    };
    format!("{mark} {way}")
}

fn most(series: &SweepSeries, value: impl Fn(&SweepPoint) -> f64) -> Option<f64> {
    series.points.iter().map(value).filter(|it| it.is_finite()).reduce(f64::max)
}

#[expect(clippy::cast_precision_loss, reason = "drawn with four digits")]
fn size(point: &SweepPoint) -> f64 {
    point.size.0 as f64
}

#[expect(clippy::cast_precision_loss, reason = "drawn with four digits")]
fn wall(point: &SweepPoint) -> f64 {
    point.wall.0 as f64
}
