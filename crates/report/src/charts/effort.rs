//! Wall time against CPU time: where the bar is longer than the mark, more than one processor was
//! at work.

use super::super::ranking::{Ranking, RankingRow};
use super::super::svg::{self, Quantity, Scale};
use super::super::words;
use super::Chart;
use super::legend::{self, Key, KeyMark, Legend};
use super::rows::{self, ChartRow, STRIP, THICK, WIDTH};
use readlab_model::sample::Meter;

/// The chart; `None` when no CPU time is known.
pub(in super::super) fn effort(ranking: &Ranking, slug: String) -> Option<Chart> {
    let known: Vec<&RankingRow> = ranking.rows.iter().filter(|row| cpu(row).is_some()).collect();
    let longest =
        known.iter().filter_map(|row| Some(cpu(row)?.iter().sum::<f64>().max(wall(row)))).reduce(f64::max)?;
    let scale = Scale::linear([0.0, longest * 1.02], [0.0, WIDTH]);
    let mut marks = rows::axis(&scale, Quantity::Time);
    marks.extend(rows::layout(known.iter().map(|row| drawn(row, &scale)).collect(), &rows::lines(&scale)));
    let mut keys = legend::languages(known.iter().map(|row| row.language.as_str()));
    keys.push(Key::new(KeyMark::Square, "user key", "CPU, user"));
    keys.push(Key::new(KeyMark::Square, "system key", "CPU, kernel"));
    keys.push(Key::new(KeyMark::Line, "wall", "wall time"));
    let legend = Legend::at(4.0, &keys);
    marks.push(rows::foot(known.len(), legend.marks));
    let description = known.iter().map(|row| format!("{} {}", row.short, value(row)));
    Some(Chart {
        slug,
        title: format!("{}: CPU time against wall time", ranking.title()),
        description: format!("Processors in use on average: {}.", description.collect::<Vec<_>>().join("; ")),
        size: [WIDTH, rows::height(known.len()) + legend.bottom],
        marks,
    })
}

#[expect(clippy::cast_precision_loss, reason = "drawn with four digits")]
fn median(row: &RankingRow, metric: Meter) -> Option<f64> {
    row.summaries.get(&metric).map(|summary| summary.median as f64)
}

/// Medians of the time in user mode and in the kernel.
fn cpu(row: &RankingRow) -> Option<[f64; 2]> {
    Some([median(row, Meter::CpuUserNs)?, median(row, Meter::CpuSystemNs)?])
}

fn wall(row: &RankingRow) -> f64 {
    median(row, Meter::WallNs).unwrap_or(0.0)
}

fn value(row: &RankingRow) -> String {
    row.cores.map_or_else(|| words::NONE.to_owned(), words::cores)
}

fn drawn<'a>(row: &'a RankingRow, scale: &Scale) -> ChartRow<'a> {
    let [user, system] = cpu(row).unwrap_or_default().map(|ns| scale.at(ns));
    let end = scale.at(wall(row));
    let marks = vec![
        svg::bar("user", [0.0, STRIP], [user, THICK]),
        svg::bar("system", [user, STRIP], [system, THICK]),
        svg::line("wall", [end, STRIP - 2.0], [end, STRIP + THICK + 2.0]),
    ];
    ChartRow { marks, ..ChartRow::new(row, value(row)) }
}
