//! The frame of charts with two axes: a vertical scale with horizontal lines, and a scale along the
//! bottom.

use super::super::svg::{self, Quantity, Scale};
use readlab_analysis::stats::count;
use readlab_system::markup::Element;

/// Width of a chart with two axes.
pub(super) const WIDTH: f64 = 440.0;
/// Height of a chart with two axes, without the text below.
pub(super) const HEIGHT: f64 = 250.0;
/// The edges of the area in which points are drawn.
pub(super) const LEFT: f64 = 62.0;
pub(super) const RIGHT: f64 = WIDTH - 14.0;
pub(super) const TOP: f64 = 12.0;
pub(super) const BOTTOM: f64 = HEIGHT - 40.0;

/// Both axes: horizontal lines at round values, and these labels along the bottom.
pub(super) fn frame(up: &Scale, quantity: Quantity, ticks: &[(f64, String)], title: &str) -> Vec<Element> {
    horizontal_lines(up, quantity).into_iter().chain(bottom_labels(ticks, title)).collect()
}

/// Horizontal lines at round values, with labels at the left.
fn horizontal_lines(scale: &Scale, quantity: Quantity) -> Vec<Element> {
    let mark = |value: f64| {
        let y = scale.at(value);
        let name = svg::text("tick end", [LEFT - 8.0, y + 4.0], &quantity.tick(value));
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
        let half = count(name.chars().count()) * LETTER_WIDTH / 2.0;
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
