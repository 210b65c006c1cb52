//! The frame of charts with two axes: an upright scale with lines across, and one along the bottom.

use super::super::svg::{self, Quantity, Scale};
use readlab_analysis::stats::count;
use readlab_system::markup::Element;

/// Width of a chart with two axes.
pub(super) const WIDTH: f64 = 440.0;
/// Its height without the text below.
pub(super) const HEIGHT: f64 = 250.0;
/// Where points are drawn: left, right, top and bottom.
pub(super) const LEFT: f64 = 62.0;
pub(super) const RIGHT: f64 = WIDTH - 14.0;
pub(super) const TOP: f64 = 12.0;
pub(super) const BOTTOM: f64 = HEIGHT - 40.0;

/// Both axes: lines across at round values, and along the bottom these names.
pub(super) fn frame(up: &Scale, quantity: Quantity, ticks: &[(f64, String)], title: &str) -> Vec<Element> {
    upright(up, quantity).into_iter().chain(along(ticks, title)).collect()
}

/// Lines across at round values, named at the left.
fn upright(scale: &Scale, quantity: Quantity) -> Vec<Element> {
    let mark = |value: f64| {
        let y = scale.at(value);
        let name = svg::text("tick end", [LEFT - 8.0, y + 4.0], &quantity.tick(value));
        [svg::line("grid", [LEFT, y], [RIGHT, y]), name]
    };
    scale.ticks(5).into_iter().flat_map(mark).collect()
}

/// Names along the bottom, those left out that would touch the one before, and what they are.
fn along(ticks: &[(f64, String)], title: &str) -> Vec<Element> {
    const LETTER: f64 = 6.4;
    let mut free_from = f64::NEG_INFINITY;
    let mut marks = Vec::new();
    for (x, name) in ticks {
        let half = count(name.chars().count()) * LETTER / 2.0;
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
