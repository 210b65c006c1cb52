//! All percentiles of every metric, as in the byte-stream publication: one table for each trial,
//! with a row for each metric and each count.

use super::page::Page;
use super::ranking::{Ranking, RankingRow};
use super::words::{self, NONE, PERCENTILES};
use comfy_table::{Cell, CellAlignment, Table, TableStyle};
use readlab_analysis::latency::Quantile;
use readlab_analysis::stats::{Interval, Summary};
use readlab_model::sample::Meter;
use readlab_model::units::Nanos;
use readlab_system::terminal::printable::printable;

/// The tables as plain text.
pub fn percentiles(page: &Page) -> String {
    page.rankings.iter().flat_map(of_ranking).collect()
}

fn of_ranking(ranking: &Ranking) -> Vec<String> {
    let condition = format!("{} · {}", words::uncapital(&ranking.title()), ranking.path);
    let title = |row: &RankingRow| {
        let label = row.label.as_ref().map(|label| format!("{label} · ")).unwrap_or_default();
        format!("{label}{} · {condition}", row.name)
    };
    let text = |row| format!("\n{}\n{}\n{}", printable(&title(row)), table(row), single_reads(row));
    ranking.rows.iter().map(text).collect()
}

/// What single reads took, in one line with their intervals; empty where that was not measured.
fn single_reads(row: &RankingRow) -> String {
    let Some(latency) = &row.latency else { return String::new() };
    let quantile = |it: &Quantile| {
        let ends = it.ci95.map_or_else(String::new, |ends| format!(" [{}]", ends_of(ends)));
        format!("{} {}{ends}", it.name, Nanos(it.ns))
    };
    let quantiles: Vec<String> = latency.quantiles.iter().map(quantile).collect();
    let reads = words::grouped(latency.reads);
    format!("single reads: {}, longest {}, of {reads}\n", quantiles.join(", "), Nanos(latency.max_ns))
}

/// `812 ns, 820 ns`
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times are positive")]
fn ends_of(Interval { low, high }: Interval) -> String {
    format!("{}, {}", Nanos(low as u64), Nanos(high as u64))
}

fn table(row: &RankingRow) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new()).force_no_tty();
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let titles = std::iter::once("").chain(PERCENTILES).chain(["samples"]);
    table.set_header(titles.map(|title| right(title.to_owned())).collect::<Vec<Cell>>());
    for line in lines(row) {
        let mut cells = vec![Cell::new(printable(&line.name))];
        let shown = words::percentiles(line.summary).map(|value| value.map(&line.show));
        cells.extend(shown.map(|value| right(value.unwrap_or_else(|| NONE.to_owned()))));
        cells.push(right(line.summary.n.to_string()));
        table.add_row(cells);
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// One row of a table.
struct PercentileLine<'a> {
    name: String,
    summary: &'a Summary,
    show: Box<dyn Fn(u64) -> String + 'a>,
}

/// Wall time, CPU time of both kinds together, the other metrics, then what was counted.
fn lines(row: &RankingRow) -> Vec<PercentileLine<'_>> {
    let mut lines = Vec::new();
    for metric in Meter::summarised() {
        if let Some(summary) = row.summaries.get(&metric) {
            let name = metric.words().to_owned();
            lines.push(PercentileLine { name, summary, show: Box::new(move |it| words::value(metric, it)) });
        }
        if let (Meter::WallNs, Some(summary)) = (metric, &row.cpu) {
            let show = Box::new(|it| words::value(Meter::CpuUserNs, it));
            lines.push(PercentileLine { name: "CPU time".to_owned(), summary, show });
        }
    }
    for (kind, summary) in &row.count_summaries {
        let show = Box::new(|it| words::counted(kind, it));
        lines.push(PercentileLine { name: kind.clone(), summary, show });
    }
    lines
}
