//! How many calls lay between one power of two and the next, one row a trial, on one logarithmic
//! scale.

use super::super::method_label::MethodLabel;
use super::super::svg::{self, Quantity, Scale};
use super::Chart;
use super::legend::{self, Key, KeyMark, Legend};
use super::rows::{self, ChartRow, STRIP, THICK, WIDTH};
use readlab_record::Spread;

/// The least ratio between the ends of the scale.
const LEAST_SPAN: f64 = 64.0;
/// Half the width of the bar of equal calls.
const NARROWEST: f64 = 2.5;

/// One row.
pub(in super::super) struct Histogram<'a> {
    pub(in super::super) label: MethodLabel<'a>,
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
    let mut marks = rows::axis(&scale, quantity);
    marks.extend(rows::layout(histograms.iter().map(|it| drawn(it, &scale)).collect(), &rows::lines(&scale)));
    let mut keys = legend::languages(histograms.iter().map(|it| it.label.language));
    keys.push(Key::new(KeyMark::Square, "bar key", "calls"));
    keys.push(Key::new(KeyMark::Line, "wall", "median"));
    let legend = Legend::at(4.0, &keys);
    marks.push(rows::foot(histograms.len(), legend.marks));
    let described = |it: &Histogram| {
        let [p50, most] = [it.spread.p50, it.spread.most].map(|value| quantity.tick(value as f64));
        format!("{}: {} calls, {p50} at the median, {most} at most", it.label.short, it.spread.n)
    };
    let description: Vec<String> = histograms.iter().map(described).collect();
    let description = format!("{}.", description.join("; "));
    let height = rows::height(histograms.len()) + legend.bottom;
    Some(Chart { slug, title, description, size: [WIDTH, height], marks })
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
fn drawn<'a>(histogram: &Histogram<'a>, scale: &Scale) -> ChartRow<'a> {
    let mut marks = Vec::new();
    let Spread { least, most: largest, .. } = histogram.spread;
    let most = drawable(&histogram.spread).map(|[_, count]| count).max().unwrap_or(1);
    for [from, count] in drawable(&histogram.spread) {
        // No further than there were calls.
        let ends = [from.max(least), from.saturating_mul(2).min(largest)].map(|end| scale.at(end as f64));
        let middle = f64::midpoint(ends[0], ends[1]);
        let (left, right) = (ends[0].min(middle - NARROWEST), ends[1].max(middle + NARROWEST));
        // One call among thousands is seen as well.
        let height = (THICK * count as f64 / most as f64).max(1.0);
        marks.push(svg::bar("bar", [left, STRIP + THICK - height], [right - left - 1.0, height]));
    }
    let median = scale.at(histogram.spread.p50 as f64);
    marks.push(svg::line("wall", [median, STRIP - 2.0], [median, STRIP + THICK + 2.0]));
    ChartRow { marks, ..ChartRow::new(histogram.label, histogram.value.clone()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::trial::TrialIndex;

    #[test]
    fn equal_calls_are_a_narrow_bar_within_the_scale() {
        let spread = Spread::from_numbers(vec![262_144; 100]);
        let label = MethodLabel { trial: TrialIndex::new(0), short: "read", name: "read", language: "Rust" };
        let row = Histogram { label, value: "100 × 262 kB".to_owned(), spread };
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
