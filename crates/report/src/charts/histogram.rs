//! Histograms of calls by powers of two: one row for each trial, on one logarithmic scale.

use super::super::name::MethodLabel;
use super::super::svg::{self, Quantity, Scale};
use super::super::words::grouped;
use super::Chart;
use super::legend::{KeyMark, LegendKey};
use super::rows::{ChartRow, RowsChart, STRIP_HEIGHT, STRIP_TOP, WIDTH};
use readlab_analysis::stats::float;
use readlab_record::Distribution;

/// The smallest ratio between the ends of the scale.
const SCALE_RATIO_MIN: f64 = 64.0;
/// Half the smallest width of a bar, in units of the chart.
const BAR_HALF_WIDTH_MIN: f64 = 2.5;

pub(in super::super) struct Histogram<'a> {
    pub(in super::super) label: MethodLabel<'a>,
    /// The distribution of the values. Zeros are not drawn, because the scale is logarithmic.
    pub(in super::super) spread: Distribution,
}

/// The chart; `None` where no value is above zero.
pub(in super::super) fn histogram_chart(
    histograms: &[Histogram],
    quantity: Quantity,
    title: String,
    slug: String,
) -> Option<Chart> {
    let buckets = || histograms.iter().flat_map(|it| drawable_buckets(&it.spread));
    let (low, high) = (buckets().map(|[from, _]| from).min()?, buckets().map(|[from, _]| from).max()?);
    let scale = Scale::logarithmic(domain(float(low), float(high) * 2.0), [0.0, WIDTH]);
    let keys = [
        LegendKey::new(KeyMark::Square, "bar key", "calls"),
        LegendKey::new(KeyMark::Line, "wall", "median"),
    ];
    let rows = histograms.iter().map(|it| chart_row(it, quantity, &scale));
    let chart = RowsChart::new(rows, keys).with_axis(&scale, quantity);
    let described = |it: &Histogram| {
        let [p50, most] = [it.spread.p50, it.spread.most].map(|value| quantity.tick_label(float(value)));
        format!("{}: {} calls, {p50} at the median, {most} at most", it.label.short_name, it.spread.n)
    };
    let description: Vec<String> = histograms.iter().map(described).collect();
    Some(chart.into_chart(slug, title, format!("{}.", description.join("; "))))
}

/// The ends of the scale, at least `SCALE_RATIO_MIN` apart, so that the bar of equal calls does not
/// take the whole width.
fn domain(low: f64, high: f64) -> [f64; 2] {
    let room = (SCALE_RATIO_MIN / (high / low)).max(1.0).sqrt();
    [low / room, high * room]
}

/// The buckets above zero, which a logarithmic scale can show.
fn drawable_buckets(spread: &Distribution) -> impl Iterator<Item = [u64; 2]> {
    spread.buckets.iter().copied().filter(|[from, count]| *from > 0 && *count > 0)
}

fn chart_row<'a>(histogram: &Histogram<'a>, quantity: Quantity, scale: &Scale) -> ChartRow<'a> {
    let mut marks = Vec::new();
    let Distribution { n, p50, least, most: largest, .. } = histogram.spread;
    let most = drawable_buckets(&histogram.spread).map(|[_, count]| count).max().unwrap_or(1);
    for [from, count] in drawable_buckets(&histogram.spread) {
        // The bar of the last bucket ends at the largest value.
        let ends =
            [from.max(least), from.saturating_mul(2).min(largest)].map(|end| scale.coordinate_of(float(end)));
        let middle = f64::midpoint(ends[0], ends[1]);
        let (left, right) =
            (ends[0].min(middle - BAR_HALF_WIDTH_MIN), ends[1].max(middle + BAR_HALF_WIDTH_MIN));
        // A single call among thousands stays visible.
        let height = (STRIP_HEIGHT * float(count) / float(most)).max(1.0);
        marks.push(svg::bar("bar", [left, STRIP_TOP + STRIP_HEIGHT - height], [right - left - 1.0, height]));
    }
    let median = scale.coordinate_of(float(p50));
    marks.push(svg::line("wall", [median, STRIP_TOP - 2.0], [median, STRIP_TOP + STRIP_HEIGHT + 2.0]));
    let value = format!("{} × {}", grouped(n), quantity.tick_label(float(p50)));
    ChartRow::new(histogram.label, value, marks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::trial::TrialIndex;

    #[test]
    fn equal_calls_are_a_narrow_bar_within_the_scale() {
        let spread = Distribution::from_numbers(vec![262_144; 100]);
        let label =
            MethodLabel { trial: TrialIndex::new(0), short_name: "read", name: "read", language: "Rust" };
        let row = Histogram { label, spread };
        let chart = histogram_chart(&[row], Quantity::Size, "sizes".to_owned(), "sizes".to_owned()).unwrap();
        let text = chart.inline().render();
        let bar = text.split("<rect class=\"bar\"").nth(1).unwrap();
        let number = |name: &str| {
            let value = bar.split(&format!(" {name}=\"")).nth(1).unwrap();
            value.split('"').next().unwrap().parse::<f64>().unwrap()
        };
        assert!(number("width") < 10.0, "{bar}");
        assert!(number("x") > WIDTH / 10.0 && number("x") < WIDTH * 0.9, "{bar}");
    }
}
