//! All percentiles of every metric, as in the byte-stream publication: one table for each trial,
//! with a row for each metric and each count.

use super::page::Page;
use super::ranking::{Ranking, RankingRow};
use super::words::{self, NONE, PERCENTILES};
use crate::analysis::stats::Summary;
use crate::record::Metric;
use crate::terminal::printable::printable;
use comfy_table::{Cell, CellAlignment, Table, TableStyle};

/// The tables as plain text.
#[must_use]
pub fn percentiles(page: &Page) -> String {
    page.rankings.iter().flat_map(of_ranking).collect()
}

fn of_ranking(ranking: &Ranking) -> Vec<String> {
    let condition = format!("{} · {}", words::uncapital(&ranking.title()), ranking.path);
    let title = |row: &RankingRow| {
        let label = row.label.as_ref().map(|label| format!("{label} · ")).unwrap_or_default();
        format!("{label}{} · {condition}", row.name)
    };
    ranking.rows.iter().map(|row| format!("\n{}\n{}\n", printable(&title(row)), table(row))).collect()
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
    for metric in Metric::ALL {
        if let Some(summary) = row.summaries.get(&metric) {
            let name = words::metric(metric).to_owned();
            lines.push(PercentileLine { name, summary, show: Box::new(move |it| words::value(metric, it)) });
        }
        if let (Metric::WallNs, Some(summary)) = (metric, &row.cpu) {
            let show = Box::new(|it| words::value(Metric::CpuUserNs, it));
            lines.push(PercentileLine { name: "CPU time".to_owned(), summary, show });
        }
    }
    for (kind, summary) in &row.count_summaries {
        let show = Box::new(|it| words::counted(kind, it));
        lines.push(PercentileLine { name: kind.clone(), summary, show });
    }
    lines
}
