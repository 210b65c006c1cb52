//! Wall time against CPU time: where the bar is longer than the mark, more than one processor was
//! at work.

use super::super::ranking::{Ranking, RankingRow};
use super::super::svg::{self, Quantity, Scale};
use super::super::{html::Element, words};
use super::rows::{self, THICK, WIDTH};
use super::{Chart, legend};
use crate::record::Metric;

/// The chart; `None` when no CPU time is known.
pub(in super::super) fn effort(ranking: &Ranking, slug: String) -> Option<Chart> {
    let known: Vec<&RankingRow> = ranking.rows.iter().filter(|row| cpu(row).is_some()).collect();
    let longest =
        known.iter().filter_map(|row| Some(cpu(row)?.iter().sum::<f64>().max(wall(row)))).reduce(f64::max)?;
    let scale = Scale::linear([0.0, longest * 1.02], [0.0, WIDTH]);
    let mut marks = rows::grid(&scale, Quantity::Time, known.len());
    for (n, row) in known.iter().enumerate() {
        marks.extend(drawn(row, n, &scale));
    }
    let bottom = rows::height(known.len());
    let keys = [("user", "CPU, user"), ("system", "CPU, kernel"), ("key-wall", "wall time")];
    marks.extend(legend(bottom + 22.0, &keys));
    let description = known.iter().map(|row| format!("{} {}", row.short, value(row)));
    Some(Chart {
        slug,
        title: format!("{}: CPU time against wall time", ranking.title()),
        description: format!("Processors in use on average: {}.", description.collect::<Vec<_>>().join("; ")),
        size: [WIDTH, bottom + 28.0],
        marks,
    })
}

#[expect(clippy::cast_precision_loss, reason = "drawn with four digits")]
fn median(row: &RankingRow, metric: Metric) -> Option<f64> {
    row.summaries.get(&metric).map(|summary| summary.median as f64)
}

/// Medians of the time in user mode and in the kernel.
fn cpu(row: &RankingRow) -> Option<[f64; 2]> {
    Some([median(row, Metric::CpuUserNs)?, median(row, Metric::CpuSystemNs)?])
}

fn wall(row: &RankingRow) -> f64 {
    median(row, Metric::WallNs).unwrap_or(0.0)
}

fn value(row: &RankingRow) -> String {
    row.cores.map_or_else(|| words::NONE.to_owned(), words::cores)
}

fn drawn(row: &RankingRow, n: usize, scale: &Scale) -> Vec<Element> {
    let shown = rows::ChartRow {
        rank: String::new(),
        short: &row.short,
        name: &row.name,
        value: value(row),
        strong: false,
    };
    let mut marks = rows::head(n, &shown);
    let top = rows::strip_top(n);
    let [user, system] = cpu(row).unwrap_or_default().map(|ns| scale.at(ns));
    marks.push(svg::bar("user", [0.0, top], [user, THICK]));
    marks.push(svg::bar("system", [user, top], [system, THICK]));
    let end = scale.at(wall(row));
    marks.push(svg::line("wall", [end, top - 2.0], [end, top + THICK + 2.0]));
    marks
}
