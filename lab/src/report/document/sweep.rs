//! The section of a sweep: its charts, what each line says, the sizes that leave it and why, the numbers by size.

use super::super::html::{Element, element, words};
use super::super::page::Page;
use super::super::sweep::{Series, SizeRow};
use super::super::words as wording;
use super::sections::{figures, sweep_charts};
use super::table::{Cell, Kind, table};
use super::{Section, folded};
use crate::units::{Bytes, Nanos};

/// The section; `None` for what is no sweep, or one without files.
pub(super) fn section(page: &Page) -> Option<Section> {
    let mut content = vec![figures(sweep_charts(page))?];
    let series = || page.sweep.iter().flat_map(|view| &view.series);
    content.extend(series().flat_map(told));
    content.extend(series().map(|series| {
        let rows = series.sizes.iter().map(row).collect();
        folded(&format!("{}: the numbers", series.name), vec![table(&series.name, &COLUMNS, rows)], false)
    }));
    let lead = "Each dot is one file. The slope of time on size is the transfer rate, its value at size 0 the fixed cost of a file. Dashed: least squares; solid: the line that single files cannot bend.";
    Some(Section { slug: "sizes", title: "Sizes", lead, content })
}

/// What the line says, and what leaves it.
fn told(series: &Series) -> Vec<Element> {
    let lines = std::iter::once(series.headline()).chain(series.line_words());
    let band = series.band.iter().map(|sentence| format!("leaves the line: {sentence}"));
    let items = lines.chain(band).map(|line| words("li", &wording::unbroken(&line)));
    vec![words("h3", &series.name), element("ul").class("lines").all(items)]
}

const COLUMNS: [(&str, Kind); 8] = [
    ("size", Kind::Number),
    ("files", Kind::Number),
    ("median", Kind::Number),
    ("least", Kind::Number),
    ("most", Kind::Number),
    ("rate", Kind::Number),
    ("line says", Kind::Number),
    ("from device", Kind::Number),
];

#[expect(clippy::cast_precision_loss, reason = "only sorted by")]
fn row(row: &SizeRow) -> Vec<Cell> {
    let time = |ns: u64| Cell::number(Some((Nanos(ns).to_string(), ns as f64)));
    vec![
        Cell::number(Some((Bytes(row.size_bytes).to_string(), row.size_bytes as f64))),
        Cell::number(Some((row.n.to_string(), row.n as f64))),
        time(row.median_ns),
        time(row.least_ns),
        time(row.most_ns),
        Cell::number(Some((row.rate.to_string(), row.rate.0))),
        Cell::number(row.predicted_ns.map(|ns| (Nanos(ns).to_string(), ns as f64))),
        Cell::number(row.device_share.map(|share| (wording::percent(share), share))),
    ]
}
