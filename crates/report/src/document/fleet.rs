//! The sections about several readers, many files and settings of the system: the hosts of a fleet,
//! how rates grow with the number of ranks or readers, the shares of several readers of one host,
//! the effects of settings of the system, and the cost of a file.

use super::super::charts::{self, Chart, Dumbbells};
use super::super::file_cost;
use super::super::page::Page;
use super::super::readers;
use super::super::row_pairs::RowPairs;
use super::super::scaling::ScalingView;
use super::super::settings as of_settings;
use super::super::table::Cell;
use super::super::words::Number;
use super::table::{Column, table};
use super::{Section, figures};
use readlab_system::markup::{Element, text_element};

pub(super) fn hosts(page: &Page) -> Option<Section> {
    let view = page.fleet.as_ref()?;
    let columns =
        [Column::number("rank"), Column::text("host"), Column::text("reads"), Column::number("× the others")];
    let rows = view.ranks.iter().enumerate().map(|(rank, it)| {
        vec![
            Cell::number(Number::count(rank as u64)),
            Cell::text(&it.host),
            Cell::text(&it.path),
            Cell::number(view.rank_effect(rank)),
        ]
    });
    let ranks = table("Ranks, and how long each takes", columns, rows);
    let lead = "Who read together, how punctually, and who is slower than the others. The intervals hold for all hosts at once.";
    let lines = view.lines.iter().map(|line| text_element("p", line));
    Section::with_content("fleet", "Hosts", lead, lines.chain([ranks]).chain(figures(host_charts(page))))
}

pub(super) fn scaling(page: &Page) -> Option<Section> {
    let views = &page.scaling;
    let lines = views.iter().flat_map(|view| &view.lines).map(|line| text_element("p", line));
    let content = figures(scaling_charts(page)).into_iter().chain(lines);
    let lead = "Bytes per second of all together, by how many read at once. Of ranks others take part in every round, until each has read as often. The law is the Universal Scalability Law, followed to twice the number that was measured; the intervals are from resampled rounds.";
    Section::with_content("scaling", "Scaling", lead, content.chain(views.iter().map(scaling_table)))
}

pub(super) fn readers(page: &Page) -> Option<Section> {
    let numbers = ["readers", "each", "× one alone", "fairness"].map(Column::number);
    let rows = page.readers.iter().map(|row| {
        vec![
            Cell::text(&row.name),
            Cell::number(Number::count(row.reader_count)),
            Cell::number(row.bytes_per_s_each.map(Number::rate)),
            Cell::number(row.ratio_to_alone.map(readers::share_number)),
            Cell::number(readers::share_number(row.fairness)),
        ]
    });
    let lead = "Processes of one host that read the same at the same time. Each has its rate by its own clock, which begins when it gets a processor; that of all together, above, is from the first start to the last answer. Fairness is Jain's index: 1 where all read as fast.";
    let columns = [Column::text("method")].into_iter().chain(numbers);
    let all = (!page.readers.is_empty()).then(|| table("What each of several readers had", columns, rows));
    Section::with_content("readers", "Readers at once", lead, all)
}

pub(super) fn settings(page: &Page) -> Option<Section> {
    let lines = of_settings::lines(&page.settings);
    let lines = lines.iter().map(|line| text_element("p", line));
    let lines = lines.chain(figures(setting_charts(page))).collect::<Vec<_>>();
    let all = of_settings::table(&page.settings)?.element("What settings of the system do");
    let lead = "The same trials under the settings that were found at the start and under others, block by block in each round. Each value is as it was read back after it was set and after every reading, unless a line says that it is not proven. Ratios are within rounds.";
    Section::with_content("settings", "Settings of the system", lead, lines.into_iter().chain([all]))
}

pub(super) fn file_costs(page: &Page) -> Option<Section> {
    let numbers = ["per file", "bytes", "off by at most"].map(Column::number);
    let rows = page.file_costs.iter().map(|row| {
        vec![
            Cell::text(file_cost::state_and_trial(row)),
            Cell::number(file_cost::time_per_file(row)),
            Cell::number(file_cost::byte_rate(row)),
            Cell::number(Number::percent(row.largest_error)),
        ]
    });
    let lead = "The files were also read in three groups by size. The time of a reading is taken to be that of its files, each the same, and that of its bytes at one rate; where that is off by much, it is not so. Of several threads the time of a file is that which one more takes, while others are read.";
    let columns = [Column::text("method")].into_iter().chain(numbers);
    let all = (!page.file_costs.is_empty()).then(|| table("What files and bytes cost", columns, rows));
    Section::with_content("per-file", "Cost of a file", lead, all)
}

pub(super) fn charts(page: &Page) -> Vec<Chart> {
    [host_charts(page), scaling_charts(page), setting_charts(page)].concat()
}

fn setting_charts(page: &Page) -> Vec<Chart> {
    let all = of_settings::pairs(&page.settings, &page.rankings);
    let chart =
        |(n, pairs): (usize, &RowPairs)| Some(Dumbbells::from_pairs(pairs)?.chart(format!("settings-{n}")));
    all.iter().enumerate().filter_map(chart).collect()
}

fn host_charts(page: &Page) -> Vec<Chart> {
    let Some(view) = &page.fleet else { return Vec::new() };
    let rankings = page.rankings.iter().enumerate();
    let chart = |(n, ranking)| charts::hosts_chart(view, ranking, format!("hosts-{n}"));
    rankings.filter_map(chart).collect()
}

fn scaling_charts(page: &Page) -> Vec<Chart> {
    let views = page.scaling.iter().enumerate();
    views
        .map(|(n, view)| charts::scaling_chart(view, format!("scaling-{n}-{}", view.scaling.state)))
        .collect()
}

fn scaling_table(view: &ScalingView) -> Element {
    let columns = [view.scaling.unit.plural(), "measured", "by the law"].map(Column::number);
    let rows = view.rows().into_iter().map(|row| Vec::from(row.map(Cell::number)));
    table(&view.name, columns, rows)
}
