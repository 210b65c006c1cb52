//! How many calls lay between one power of two and the next, one row a trial, on one logarithmic
//! scale.

use super::super::html::Element;
use super::super::svg::{self, Quantity, Scale};
use super::rows::{self, THICK, WIDTH};
use super::{Chart, legend};
use crate::record::Spread;

/// The least ratio between the ends of the scale.
const LEAST_SPAN: f64 = 64.0;
/// Half the width of the bar of equal calls.
const NARROWEST: f64 = 2.5;

/// One row.
pub(in super::super) struct Histogram<'a> {
    /// The name as it is shown.
    pub(in super::super) short: &'a str,
    /// The whole name.
    pub(in super::super) name: &'a str,
    /// At the right end.
    pub(in super::super) value: String,
    /// What is drawn; zeros have no place on such a scale.
    pub(in super::super) spread: Spread,
}

/// The chart; `None` where there is nothing above zero.
#[expect(clippy::cast_precision_loss, reason = "drawn with four digits")]
pub(in super::super) fn histogram(
    histograms: &[Histogram],
    quantity: Quantity,
    title: String,
    slug: String,
) -> Option<Chart> {
    let buckets = || histograms.iter().flat_map(|it| drawable(&it.spread));
    let (low, high) = (buckets().map(|[from, _]| from).min()?, buckets().map(|[from, _]| from).max()?);
    let scale = Scale::logarithmic(domain(low as f64, high as f64 * 2.0), [0.0, WIDTH]);
    let mut marks = rows::grid(&scale, quantity, histograms.len());
    for (n, histogram) in histograms.iter().enumerate() {
        marks.extend(drawn(histogram, n, &scale));
    }
    let bottom = rows::height(histograms.len());
    marks.extend(legend(bottom + 22.0, &[("bar", "calls"), ("key-wall", "median")]));
    let described = |it: &Histogram| {
        let [p50, most] = [it.spread.p50, it.spread.most].map(|value| quantity.tick(value as f64));
        format!("{}: {} calls, {p50} at the median, {most} at most", it.short, it.spread.n)
    };
    let description: Vec<String> = histograms.iter().map(described).collect();
    let description = format!("{}.", description.join("; "));
    Some(Chart { slug, title, description, size: [WIDTH, bottom + 28.0], marks })
}

/// From below the smallest to above the largest; equal calls get room on both sides, as a bar over
/// the whole width says nothing.
fn domain(low: f64, high: f64) -> [f64; 2] {
    let room = (LEAST_SPAN / (high / low)).max(1.0).sqrt();
    [low / room, high * room]
}

/// The buckets above zero.
fn drawable(spread: &Spread) -> impl Iterator<Item = [u64; 2]> {
    spread.buckets.iter().copied().filter(|[from, count]| *from > 0 && *count > 0)
}

#[expect(clippy::cast_precision_loss, reason = "drawn with four digits")]
fn drawn(histogram: &Histogram, n: usize, scale: &Scale) -> Vec<Element> {
    let shown = rows::ChartRow {
        rank: String::new(),
        short: histogram.short,
        name: histogram.name,
        value: histogram.value.clone(),
        strong: false,
    };
    let mut marks = rows::head(n, &shown);
    let top = rows::strip_top(n);
    let Spread { least, most: largest, .. } = histogram.spread;
    let most = drawable(&histogram.spread).map(|[_, count]| count).max().unwrap_or(1);
    for [from, count] in drawable(&histogram.spread) {
        // No further than there were calls.
        let ends = [from.max(least), from.saturating_mul(2).min(largest)].map(|end| scale.at(end as f64));
        let middle = f64::midpoint(ends[0], ends[1]);
        let (left, right) = (ends[0].min(middle - NARROWEST), ends[1].max(middle + NARROWEST));
        // One call among thousands is seen as well.
        let height = (THICK * count as f64 / most as f64).max(1.0);
        marks.push(svg::bar("bar", [left, top + THICK - height], [right - left - 1.0, height]));
    }
    let median = scale.at(histogram.spread.p50 as f64);
    marks.push(svg::line("wall", [median, top - 2.0], [median, top + THICK + 2.0]));
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_calls_are_a_narrow_bar_within_the_scale() {
        let spread = Spread::of(vec![262_144; 100]);
        let row = Histogram { short: "read", name: "read", value: "100 × 262 kB".to_owned(), spread };
        let chart = histogram(&[row], Quantity::Size, "sizes".to_owned(), "sizes".to_owned()).unwrap();
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
