//! The sections about a fleet: its hosts beside each other, and how rates grow with their number.

use super::super::charts::{self, Chart};
use super::super::page::Page;
use super::super::scaling::ScalingView;
use super::super::words::Number;
use super::Section;
use super::sections::{figures, float};
use super::table::{Column, TableCell, table};
use crate::markup::{Element, words};

/// The ranks, each beside the others.
pub(super) fn hosts(page: &Page) -> Option<Section> {
    let view = page.fleet.as_ref()?;
    let columns =
        [Column::number("rank"), Column::text("host"), Column::text("reads"), Column::number("× the others")];
    let rows = view.ranks.iter().map(|it| {
        let rank = Number::new(it.rank.to_string(), float(it.rank as u64));
        vec![
            TableCell::number(Some(rank)),
            TableCell::text(&it.host),
            TableCell::text(&it.path),
            TableCell::number(it.effect()),
        ]
    });
    let mut content: Vec<Element> = view.lines.iter().map(|line| words("p", line)).collect();
    content.push(table("Ranks, and how long each takes", columns, rows));
    content.extend(figures(host_charts(page)));
    Some(Section {
        slug: "fleet",
        title: "Hosts",
        lead: "Who read together, how punctually, and who is slower than the others. The intervals hold for all hosts at once.",
        content,
    })
}

/// How rates grow with the ranks that read.
pub(super) fn scaling(page: &Page) -> Option<Section> {
    let views = &page.fleet.as_ref()?.scaling;
    let mut content: Vec<Element> = figures(scaling_charts(page)).into_iter().collect();
    content.extend(views.iter().flat_map(|view| &view.lines).map(|line| words("p", line)));
    content.extend(views.iter().map(scaling_table));
    let lead = "Bytes per second of all ranks together, by how many of them read at once. In every round other ranks take part, until each has read as often. The law is the Universal Scalability Law, followed to twice the ranks that were measured; the intervals are from resampled rounds.";
    (!views.is_empty()).then_some(Section { slug: "scaling", title: "Scaling", lead, content })
}

/// The charts of both.
pub(super) fn charts(page: &Page) -> Vec<Chart> {
    host_charts(page).into_iter().chain(scaling_charts(page)).collect()
}

fn host_charts(page: &Page) -> Vec<Chart> {
    let Some(view) = &page.fleet else { return Vec::new() };
    let rankings = page.rankings.iter().enumerate();
    let chart = |(n, ranking)| charts::hosts(view, ranking, format!("hosts-{n}"));
    rankings.filter_map(chart).collect()
}

fn scaling_charts(page: &Page) -> Vec<Chart> {
    let views = page.fleet.iter().flat_map(|view| &view.scaling).enumerate();
    views.map(|(n, view)| charts::scaling(view, format!("scaling-{n}-{}", view.scaling.state))).collect()
}

fn scaling_table(view: &ScalingView) -> Element {
    let columns = [Column::number("ranks"), Column::number("measured"), Column::number("by the law")];
    let rows = view.rows().into_iter().map(|row| {
        let ranks = Number::new(row.ranks.to_string(), float(row.ranks));
        vec![TableCell::number(Some(ranks)), TableCell::number(row.measured), TableCell::number(row.law)]
    });
    table(view.name.as_str(), columns, rows)
}
