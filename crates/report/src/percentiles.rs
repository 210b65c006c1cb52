//! All percentiles of every metric, as in the published byte-stream experiment: one table for each
//! trial, with a row for each metric and each count.

use super::grid::{Grid, left_cell, right_cell};
use super::page::Page;
use super::ranking::{Ranking, RankingRow};
use super::words::{self, NONE, PERCENTILES};
use readlab_analysis::latency::Quantile;
use readlab_analysis::stats::Summary;
use readlab_model::sample::Meter;
use readlab_model::units::Nanos;
use readlab_system::terminal::printable::printable;

pub fn percentile_tables(page: &Page) -> String {
    page.rankings.iter().flat_map(tables_of_ranking).collect()
}

fn tables_of_ranking(ranking: &Ranking) -> Vec<String> {
    let condition = format!("{} · {}", words::uncapitalized(&ranking.title()), ranking.path);
    let title = |row: &RankingRow| {
        let label = row.label.as_ref().map(|label| format!("{label} · ")).unwrap_or_default();
        format!("{label}{} · {condition}", row.name)
    };
    let text = |row| format!("\n{}\n{}\n{}", printable(&title(row)), table(row), single_reads_line(row));
    ranking.rows.iter().map(text).collect()
}

/// The quantiles of single reads in one line, with their intervals; empty if reads were not timed.
fn single_reads_line(row: &RankingRow) -> String {
    let Some(latency) = &row.latency else { return String::new() };
    let quantile = |it: &Quantile| {
        let ends = it.ci95.map(|ends| words::ends_text(ends, |ns| Nanos(ns as u64).to_string()));
        let ends = ends.unwrap_or_default();
        format!("{} {}{ends}", it.name, Nanos(it.latency_ns))
    };
    let quantiles: Vec<String> = latency.quantiles.iter().map(quantile).collect();
    let reads = words::grouped(latency.read_count);
    format!("single reads: {}, longest {}, of {reads}\n", quantiles.join(", "), Nanos(latency.max_ns))
}

/// The table of a trial: wall time, total CPU time, the other metrics, then counts.
fn table(row: &RankingRow) -> String {
    let titles = std::iter::once("").chain(PERCENTILES).chain(["samples"]);
    let mut grid = Grid::new(titles.map(right_cell), false);
    let mut line = |name: &str, summary: &Summary, shown: &dyn Fn(u64) -> String| {
        let values = words::percentiles(summary).into_iter();
        let values = values.map(|value| value.map_or_else(|| NONE.to_owned(), shown));
        let numbers = values.chain([summary.n.to_string()]).map(|text| right_cell(&text));
        grid.add_row(std::iter::once(left_cell(name)).chain(numbers));
    };
    for metric in Meter::summarised() {
        if let Some(summary) = row.summaries.get(&metric) {
            line(metric.words(), summary, &|value| words::meter_value(metric, value));
        }
        if let (Meter::WallNs, Some(summary)) = (metric, &row.cpu_time) {
            line("CPU time", summary, &|value| words::meter_value(Meter::CpuUserNs, value));
        }
    }
    for (kind, summary) in &row.count_summaries {
        line(kind, summary, &|value| words::count_in_unit(kind, value));
    }
    grid.lines().join("\n")
}
