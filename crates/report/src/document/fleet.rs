//! The sections about reading by many, and reading many: the hosts of a fleet beside each other,
//! how rates grow with their number, what each of several readers of one host had, and what one of
//! many files costs.

use super::super::charts::{self, Chart};
use super::super::page::Page;
use super::super::readers;
use super::super::scaling::ScalingView;
use super::super::words::Number;
use super::Section;
use super::sections::figures;
use super::table::{Column, TableCell, table};
use readlab_analysis::stats::float;
use readlab_system::markup::{Element, words};

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

/// How rates grow with the ranks or readers that read.
pub(super) fn scaling(page: &Page) -> Option<Section> {
    let views = &page.scaling;
    let mut content: Vec<Element> = figures(scaling_charts(page)).into_iter().collect();
    content.extend(views.iter().flat_map(|view| &view.lines).map(|line| words("p", line)));
    content.extend(views.iter().map(scaling_table));
    let lead = "Bytes per second of all together, by how many read at once. Of ranks others take part in every round, until each has read as often. The law is the Universal Scalability Law, followed to twice the number that was measured; the intervals are from resampled rounds.";
    (!views.is_empty()).then_some(Section { slug: "scaling", title: "Scaling", lead, content })
}

/// What each of several readers had.
pub(super) fn readers(page: &Page) -> Option<Section> {
    let columns = [
        Column::text("method"),
        Column::number("readers"),
        Column::number("each"),
        Column::number("× one alone"),
        Column::number("fairness"),
    ];
    let rows = page.readers.iter().map(|row| {
        let count = Number::new(row.count.to_string(), float(row.count));
        vec![
            TableCell::text(&row.name),
            TableCell::number(Some(count)),
            TableCell::number(Some(row.rate())),
            TableCell::number(row.of_alone.map(readers::number)),
            TableCell::number(Some(readers::number(row.fairness))),
        ]
    });
    let lead = "Processes of one host that read the same at the same time. Each has its rate by its own clock, which begins when it gets a processor; that of all together, above, is from the first start to the last answer. Fairness is Jain's index: 1 where all read as fast.";
    (!page.readers.is_empty()).then(|| Section {
        slug: "readers",
        title: "Readers at once",
        lead,
        content: vec![table("What each of several readers had", columns, rows)],
    })
}

/// What files and bytes cost each way of reading a tree.
pub(super) fn file_costs(page: &Page) -> Option<Section> {
    let columns = [
        Column::text("method"),
        Column::number("per file"),
        Column::number("bytes"),
        Column::number("off by at most"),
    ];
    let rows = page.file_costs.iter().map(|row| {
        vec![
            TableCell::text(&row.name),
            TableCell::number(Some(row.per_file())),
            TableCell::number(row.rate()),
            TableCell::number(Some(row.off_by())),
        ]
    });
    let lead = "The files were also read in three groups by size. The time of a reading is taken to be that of its files, each the same, and that of its bytes at one rate; where that is off by much, it is not so. Of several threads the time of a file is that which one more takes, while others are read.";
    (!page.file_costs.is_empty()).then(|| Section {
        slug: "per-file",
        title: "Cost of a file",
        lead,
        content: vec![table("What files and bytes cost", columns, rows)],
    })
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
    let views = page.scaling.iter().enumerate();
    views.map(|(n, view)| charts::scaling(view, format!("scaling-{n}-{}", view.scaling.state))).collect()
}

fn scaling_table(view: &ScalingView) -> Element {
    let columns = [
        Column::number(view.scaling.unit.plural()),
        Column::number("measured"),
        Column::number("by the law"),
    ];
    let rows = view.rows().into_iter().map(|row| {
        let count = Number::new(row.count.to_string(), float(row.count));
        vec![TableCell::number(Some(count)), TableCell::number(row.measured), TableCell::number(row.law)]
    });
    table(view.name.as_str(), columns, rows)
}
