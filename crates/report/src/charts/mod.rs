//! The charts, one kind in each file. Each chart is part of a page and also a file of its own.
//!
//! A chart has a title and a description in words, for readers who do not see it. It draws the
//! numbers of the view model; only coordinates are computed here.

mod drift;
mod dumbbell;
mod effort;
mod forest;
mod histogram;
mod hosts;
mod latency;
mod legend;
mod memory;
mod plot;
mod ranking;
mod rows;
mod sweep;

pub(super) use drift::drift_chart;
pub(super) use dumbbell::Dumbbells;
pub(super) use effort::effort_chart;
pub(super) use forest::{Forest, ForestRow, PointKind};
pub(super) use histogram::{Histogram, histogram_chart};
pub(super) use hosts::hosts_chart;
pub(super) use latency::latency_chart;
pub(super) use memory::memory_charts;
pub(super) use plot::{curve_chart, machines_chart, scaling_chart};
pub(super) use ranking::{DOTS_MAX, ranking_chart};
pub(super) use rows::ChartRow;
pub(super) use sweep::{device_shares, rates_by_size, times_by_size, write_and_read_rates};

use super::palette;
use super::svg::{self, Scale};
use readlab_system::markup::{self, Element, element, text_element};

/// Space around a chart in its own file.
const MARGIN: f64 = 20.0;
/// Space for the title of a chart in its own file.
const TITLE_HEIGHT: f64 = 30.0;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chart {
    /// The name of the chart in the page and of its file; letters, digits and `-`.
    pub(super) slug: String,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) size: [f64; 2],
    pub(super) marks: Vec<Element>,
}

impl Chart {
    /// The chart as part of a page, which provides style and heading.
    pub(super) fn inline(self) -> Element {
        let [width, height] = self.size;
        let view = format!("0 0 {width} {}", height.ceil());
        self.svg(&view, None, Vec::new())
    }

    pub(super) fn standalone_svg(self) -> String {
        let [width, height] = self.size;
        let (left, top) = (-MARGIN, -MARGIN - TITLE_HEIGHT);
        let (width, height) = (width + 2.0 * MARGIN, (height + 2.0 * MARGIN + TITLE_HEIGHT).ceil());
        let view = format!("{left} {top} {width} {height}");
        let paper = element("rect").class("paper").set("x", left).set("y", top);
        let front = vec![
            element("style").text(&palette::standalone_style().replace('\n', " ")),
            paper.set("width", width).set("height", height),
            text_element("text", &self.title).class("title").set("x", 0).set("y", -TITLE_HEIGHT),
        ];
        markup::picture(self.svg(&view, Some([width, height]), front))
    }

    fn svg(self, view: &str, size: Option<[f64; 2]>, front: Vec<Element>) -> Element {
        let ids = [format!("{}-title", self.slug), format!("{}-desc", self.slug)];
        let svg = element("svg").set("xmlns", "http://www.w3.org/2000/svg").class("chart").set("role", "img");
        svg.set("aria-labelledby", ids.join(" "))
            .set("viewBox", view)
            .set_if_some("width", size.map(|[width, _]| width))
            .set_if_some("height", size.map(|[_, height]| height))
            .with(text_element("title", &self.title).set("id", &ids[0]))
            .with(text_element("desc", &self.description).set("id", &ids[1]))
            .with_all(front)
            .with_all(self.marks)
    }
}

/// Width and height of a strip in a table.
pub(super) const STRIP_SIZE: [f64; 2] = [260.0, 22.0];

/// A drawing in a cell of a table, beside cells with its numbers. The CSS class sets the colour.
fn strip(class: &str, marks: impl IntoIterator<Item = Element>) -> Element {
    let [width, height] = STRIP_SIZE;
    let svg = element("svg").class(&format!("chart strip {class}")).set("aria-hidden", "true");
    svg.set("viewBox", format!("0 0 {width} {height}")).with_all(marks)
}

/// The labels of values above the strips of a column.
fn strip_axis(scale: &Scale, ticks: &[f64], name: impl Fn(f64) -> String) -> Element {
    let name = |&tick: &f64| svg::text("tick middle", [scale.coordinate_of(tick), 16.0], &name(tick));
    strip("axis-names", ticks.iter().map(name))
}

fn strip_grid(class: &str, scale: &Scale, ticks: impl IntoIterator<Item = f64>) -> Element {
    let path: String = ticks.into_iter().map(|tick| overhanging_line(scale.coordinate_of(tick))).collect();
    element("path").class(class).set("d", path)
}

/// The path of a vertical line that extends above and below a strip, because a row of a table is
/// higher if its name takes several lines. The cell clips the line.
fn overhanging_line(x: f64) -> String {
    const OVERHANG: f64 = 60.0;
    format!("M{} -{OVERHANG}v{}", svg::coordinate_text(x), 2.0 * OVERHANG + STRIP_SIZE[1])
}

/// The values whose labels do not overlap: the coordinates of two kept values differ by at least
/// `room`. Earlier values are preferred.
fn values_with_room(scale: &Scale, values: impl IntoIterator<Item = f64>, room: f64) -> Vec<f64> {
    let mut taken: Vec<f64> = Vec::new();
    for value in values {
        if taken.iter().all(|&other| (scale.coordinate_of(other) - scale.coordinate_of(value)).abs() >= room)
        {
            taken.push(value);
        }
    }
    taken
}
