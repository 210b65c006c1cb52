//! All percentiles of every metric, as in the byte-stream publication: one table for each ranking
//! and metric.

use super::page::Page;
use super::ranking::{Ranking, RankingRow};
use super::words::{self, NONE, PERCENTILES};
use crate::record::Metric;
use crate::terminal::printable::printable;
use comfy_table::{Cell, CellAlignment, Table, TableStyle};

/// The tables as plain text.
#[must_use]
pub fn percentiles(page: &Page) -> String {
    page.rankings.iter().flat_map(of_ranking).collect()
}

fn of_ranking(ranking: &Ranking) -> Vec<String> {
    let measured = |metric: &Metric| ranking.rows.iter().any(|row| row.summaries.contains_key(metric));
    let metrics = Metric::ALL.into_iter().filter(measured);
    let title = |metric: Metric| {
        format!("{} · {} · {}", metric.name(), words::uncapital(&ranking.title()), ranking.path)
    };
    metrics
        .map(|metric| format!("\n{}\n{}\n", printable(&title(metric)), table(&ranking.rows, metric)))
        .collect()
}

fn table(rows: &[RankingRow], metric: Metric) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new()).force_no_tty();
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let titles = std::iter::once("").chain(PERCENTILES).chain(["samples"]);
    table.set_header(titles.map(|title| right(title.to_owned())).collect::<Vec<Cell>>());
    for row in rows {
        let Some(it) = row.summaries.get(&metric) else { continue };
        let mut cells = vec![Cell::new(printable(row.label.as_ref().unwrap_or(&row.name)))];
        let shown = |value: Option<u64>| value.map_or_else(|| NONE.to_owned(), |it| words::value(metric, it));
        cells.extend(words::percentiles(it).map(|value| right(shown(value))));
        cells.push(right(it.n.to_string()));
        table.add_row(cells);
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
