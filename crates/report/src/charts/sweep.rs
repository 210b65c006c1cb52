//! Charts of files of many sizes. One has time against size, with the fitted lines. Three have the
//! logarithm of the size as their axis: the rate of one series, the rates of writing and reading
//! together, and the share of each file that came from the device.

use super::super::palette::language_class;
use super::super::svg::{self, Quantity, Scale};
use super::super::sweep::{DEVICE_SHARE_MIN, Series, SizeRow, SweepView};
use super::super::words;
use super::plot::{self, BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH};
use super::{Chart, Element, ranking::DOTS_MAX};
use readlab_analysis::stats::{FittedLine, float};
use readlab_model::units::{Bytes, Nanos, Throughput};
use readlab_record::SweepPoint;

/// Time against size; `None` without points.
pub(in super::super) fn times_by_size(series: &Series, slug: String) -> Option<Chart> {
    let largest = largest_value(series, size_bytes)?;
    let across = Scale::linear([0.0, largest * 1.02], [LEFT, RIGHT]);
    let up = Scale::linear([0.0, largest_value(series, wall_ns)? * 1.05], [BOTTOM, TOP]);
    let mut marks = frame(&across, &up, Quantity::Time, 4);
    let drawn = |class: &str, line: FittedLine| {
        // The line is drawn over the measured sizes, and only where its time is positive.
        let from = line.solve(0.0).filter(|&zero| zero > 0.0 && zero < largest).unwrap_or(0.0);
        let ends =
            [from, largest].map(|size| [across.coordinate_of(size), up.coordinate_of(line.at(size) * 1e9)]);
        svg::polyline(class, &ends)
    };
    marks.extend(series.robust_line.and_then(|it| drawn("robust", it.line)));
    marks.extend(series.fit.as_ref().and_then(|fit| drawn("fit", fit.line)));
    marks.push(points(series, |point| {
        Some([across.coordinate_of(size_bytes(point)), up.coordinate_of(wall_ns(point))])
    }));
    let title = format!("{}: time on size", series.title());
    Some(Chart { slug, title, description: series.headline(), size: [WIDTH, HEIGHT], marks })
}

/// The rate against the logarithm of the size, with a line through the medians; `None` without
/// points.
pub(in super::super) fn rates_by_size(series: &Series, slug: String) -> Option<Chart> {
    let plot = PlotBySize::new(&[series], largest_value(series, rate)?)?;
    let mut marks = plot.frame(Quantity::Rate);
    marks.extend(svg::polyline(&css_class(series, "median"), &plot.medians(series)));
    marks.push(plot.points(series, |point| Some(rate(point))));
    let title = format!("{}: rate by size", series.title());
    let described: Vec<String> =
        drawable_sizes(series).map(|row| format!("{} {}", Bytes(row.size_bytes), row.rate)).collect();
    let description = format!("Median rate of each size: {}.", described.join("; "));
    Some(Chart { slug, title, description, size: [WIDTH, HEIGHT], marks })
}

/// The rates of writing and of the first method that reads, against the logarithm of the size, as
/// in the published experiment; `None` without a series of writes and one of reads.
pub(in super::super) fn write_and_read_rates(view: &SweepView, slug: String) -> Option<Chart> {
    let find = |is_write: bool| view.series.iter().find(|series| series.is_write == is_write);
    let both = [find(true)?, find(false)?];
    let plot = PlotBySize::new(
        &both,
        both.iter().filter_map(|series| largest_value(series, rate)).reduce(f64::max)?,
    )?;
    let mut marks = plot.frame(Quantity::Rate);
    for series in both {
        marks.push(plot.points(series, |point| Some(rate(point))));
        let path = plot.medians(series);
        marks.extend(svg::polyline(&css_class(series, "median"), &path));
        let named = path.iter().copied().reduce(|top, at| if at[1] < top[1] { at } else { top });
        marks.extend(
            named.map(|[x, y]| svg::text("tick middle", [x, (y - 8.0).max(TOP + 8.0)], &series.name)),
        );
    }
    let names = both.map(|series| series.name.as_str());
    let title = format!("{}: rate by size", names.join(" and "));
    let description = both.map(|series| series.headline()).join("; ");
    Some(Chart { slug, title, description, size: [WIDTH, HEIGHT], marks })
}

/// The share of each file that came from the device, against the logarithm of the size; `None` if
/// the bytes from the device were not metered.
pub(in super::super) fn device_shares(series: &Series, slug: String) -> Option<Chart> {
    let metered =
        |it: &SweepPoint| Some(float(it.device_read_bytes?) / size_bytes(it)).filter(|it| it.is_finite());
    let shares = || series.points.iter().filter_map(metered);
    let plot = PlotBySize::new(&[series], shares().reduce(f64::max)?.max(1.0))?;
    let mut marks = plot.frame(Quantity::Share);
    marks.push(plot.points(series, metered));
    let part = shares().filter(|share| *share < DEVICE_SHARE_MIN).count();
    let title = format!("{}: share that came from the device", series.title());
    let description = format!(
        "{part} of {} files came in part from a cache: below {} of their size from the device.",
        shares().count(),
        words::percent(DEVICE_SHARE_MIN)
    );
    Some(Chart { slug, title, description, size: [WIDTH, HEIGHT], marks })
}

/// A chart against the logarithm of the size.
struct PlotBySize {
    x_scale: Scale,
    y_scale: Scale,
}

impl PlotBySize {
    /// Makes a chart that covers all files of these series, up to the value `highest`; `None`
    /// without files.
    fn new(series: &[&Series], highest: f64) -> Option<PlotBySize> {
        let sizes = || series.iter().flat_map(|series| &series.points).map(size_bytes);
        let smallest = sizes().filter(|&it| it > 0.0).reduce(f64::min)?;
        let ends = [smallest * 0.8, sizes().reduce(f64::max)? * 1.25];
        let across = Scale::logarithmic(ends, [LEFT, RIGHT]);
        Some(PlotBySize { x_scale: across, y_scale: Scale::linear([0.0, highest * 1.05], [BOTTOM, TOP]) })
    }

    fn frame(&self, quantity: Quantity) -> Vec<Element> {
        frame(&self.x_scale, &self.y_scale, quantity, 6)
    }

    /// A dot for every file that has a value.
    fn points(&self, series: &Series, value: impl Fn(&SweepPoint) -> Option<f64>) -> Element {
        points(series, |point| {
            Some([self.x_scale.coordinate_of(size_bytes(point)), self.y_scale.coordinate_of(value(point)?)])
        })
    }

    fn medians(&self, series: &Series) -> Vec<[f64; 2]> {
        let place = |row: &SizeRow| {
            [self.x_scale.coordinate_of(float(row.size_bytes)), self.y_scale.coordinate_of(row.rate.0)]
        };
        drawable_sizes(series).map(place).collect()
    }
}

fn frame(across: &Scale, up: &Scale, quantity: Quantity, ticks: u32) -> Vec<Element> {
    let ticks: Vec<(f64, String)> = across
        .ticks(ticks)
        .into_iter()
        .map(|value| (across.coordinate_of(value), Quantity::Size.tick_label(value)))
        .collect();
    plot::frame(up, quantity, &ticks, "size of the file")
}

/// A dot for each file. Of more than [`DOTS_MAX`] files, dots at almost the same coordinates are
/// drawn once.
fn points(series: &Series, place: impl Fn(&SweepPoint) -> Option<[f64; 2]>) -> Element {
    let mut places: Vec<[f64; 2]> = series.points.iter().filter_map(place).collect();
    if places.len() > DOTS_MAX {
        places.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        places.dedup_by_key(|[x, y]| (svg::coordinate_text(*x), svg::coordinate_text(y.round())));
    }
    svg::dots(&css_class(series, "points"), places)
}

/// The sizes that can be drawn in a chart of rates.
fn drawable_sizes(series: &Series) -> impl Iterator<Item = &SizeRow> {
    series.sizes.iter().filter(|row| row.size_bytes > 0 && row.rate.0.is_finite())
}

fn css_class(series: &Series, mark: &str) -> String {
    format!("{mark} {}", language_class(&series.facts.language))
}

fn largest_value(series: &Series, value: impl Fn(&SweepPoint) -> f64) -> Option<f64> {
    series.points.iter().map(value).filter(|it| it.is_finite()).reduce(f64::max)
}

fn rate(point: &SweepPoint) -> f64 {
    Throughput::per(Bytes(point.size_bytes), Nanos(point.wall_ns)).0
}

fn size_bytes(point: &SweepPoint) -> f64 {
    float(point.size_bytes)
}

fn wall_ns(point: &SweepPoint) -> f64 {
    float(point.wall_ns)
}
