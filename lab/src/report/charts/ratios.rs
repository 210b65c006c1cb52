//! How many times as good as another side: a bar from 1 to the ratio and its interval, one row a
//! case, on a logarithmic scale, so that half and twice are as far from 1.

use super::super::html::Element;
use super::super::svg::{self, Scale};
use super::super::words;
use super::Chart;
use super::legend;
use super::rows::{self, THICK, WIDTH};
use crate::analysis::stats::{Interval, UnpairedRatio};

/// The least that the scale reaches to both sides of 1.
const REACH_LEAST: f64 = 1.1;
/// The most that the scale reaches. Ratios beyond are drawn at the edge, with their number.
const REACH_MOST: f64 = 1000.0;
/// Values that are named above the rows, and the ones below 1 that mirror them.
const TICKS: [f64; 7] = [1.05, 1.2, 1.5, 2.0, 5.0, 20.0, 100.0];

/// One row.
pub(in super::super) struct RatioRow {
    /// The case.
    pub(in super::super) name: String,
    /// How many times as good.
    pub(in super::super) ratio: UnpairedRatio,
    /// The same in words, at the right end.
    pub(in super::super) value: String,
}

/// The chart; `None` without a row.
pub(in super::super) fn ratios(ratios: &[RatioRow], title: String, slug: String) -> Option<Chart> {
    let reach = reach(ratios)?;
    let scale = Scale::logarithmic([1.0 / reach, reach], [0.0, WIDTH]);
    let bottom = rows::height(ratios.len());
    let mut marks = grid(&scale, reach, bottom);
    for (n, row) in ratios.iter().enumerate() {
        marks.extend(drawn(row, n, &scale));
    }
    let keys = [
        ("bar lead", "better or worse beyond doubt"),
        ("bar", "tie, or unknown"),
        ("key-interval", "95 % interval"),
    ];
    marks.extend(legend(bottom + 22.0, &keys));
    let described: Vec<String> = ratios.iter().map(|row| format!("{} {}", row.name, row.value)).collect();
    let description = format!("Above 1 is better: {}.", described.join("; "));
    Some(Chart { slug, title, description, size: [WIDTH, bottom + 28.0], marks })
}

/// Whether the interval leaves 1 out.
pub(in super::super) fn is_clear(ratio: &UnpairedRatio) -> bool {
    ratio.ci95.is_some_and(|Interval { low, high }| low > 1.0 || high < 1.0)
}

/// How far the scale goes to both sides.
fn reach(ratios: &[RatioRow]) -> Option<f64> {
    let ends = ratios.iter().flat_map(|row| {
        let Interval { low, high } =
            row.ratio.ci95.unwrap_or(Interval { low: row.ratio.estimate, high: row.ratio.estimate });
        [low, high, row.ratio.estimate]
    });
    let far = ends.filter(|end| end.is_finite() && *end > 0.0).map(|end| end.max(1.0 / end));
    Some(far.reduce(f64::max)?.clamp(REACH_LEAST, REACH_MOST) * 1.05)
}

/// Lines at round ratios; the one at 1 is highlighted.
fn grid(scale: &Scale, reach: f64, bottom: f64) -> Vec<Element> {
    let mut marks = vec![
        svg::line("zero", [scale.at(1.0), 18.0], [scale.at(1.0), bottom]),
        svg::text("tick middle", [scale.at(1.0), 10.0], "1 ×"),
    ];
    // So far apart that their names have room.
    let room = 48.0;
    let mut last = scale.at(1.0);
    for tick in TICKS.into_iter().filter(|&tick| tick < reach) {
        let x = scale.at(tick);
        if x - last < room || x > WIDTH - 20.0 {
            continue;
        }
        last = x;
        for value in [tick, 1.0 / tick] {
            let x = scale.at(value);
            marks.push(svg::line("grid", [x, 18.0], [x, bottom]));
            marks.push(svg::text("tick middle", [x, 10.0], &format!("{} ×", words::factor(value))));
        }
    }
    marks
}

fn drawn(row: &RatioRow, n: usize, scale: &Scale) -> Vec<Element> {
    let clear = is_clear(&row.ratio);
    let shown = rows::ChartRow {
        rank: String::new(),
        short: &row.name,
        name: &row.name,
        value: row.value.clone(),
        strong: clear,
    };
    let mut marks = rows::head(n, &shown);
    let top = rows::strip_top(n);
    let [one, end] = [1.0, row.ratio.estimate].map(|value| scale.at(value));
    let class = if clear { "bar lead" } else { "bar" };
    marks.push(svg::bar(class, [one.min(end), top], [(end - one).abs().max(1.0), THICK]));
    marks.extend(row.ratio.ci95.map(|Interval { low, high }| {
        svg::whisker("interval", [scale.at(low), scale.at(high)], top + THICK / 2.0, false)
    }));
    marks
}
