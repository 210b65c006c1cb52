//! Wall time and CPU time: if the bar of the CPU time is longer than the mark of the wall time,
//! more than one processor was in use.

use super::super::ranking::{Ranking, RankingRow};
use super::super::svg::{self, Quantity, Scale};
use super::super::words;
use super::Chart;
use super::legend::{KeyMark, LegendKey};
use super::rows::{ChartRow, RowsChart, STRIP_HEIGHT, STRIP_TOP, WIDTH};
use readlab_analysis::stats::float;
use readlab_model::sample::Meter;

/// The chart; `None` if no CPU time is known.
pub(in super::super) fn effort_chart(ranking: &Ranking, number: usize) -> Option<Chart> {
    let known: Vec<&RankingRow> = ranking.rows.iter().filter(|row| median_cpu_ns(row).is_some()).collect();
    let longest = known
        .iter()
        .filter_map(|row| Some(median_cpu_ns(row)?.iter().sum::<f64>().max(float(row.wall.median))))
        .reduce(f64::max)?;
    let scale = Scale::linear([0.0, longest * 1.02], [0.0, WIDTH]);
    let keys = [
        LegendKey::new(KeyMark::Square, "user key", "CPU, user"),
        LegendKey::new(KeyMark::Square, "system key", "CPU, kernel"),
        LegendKey::new(KeyMark::Line, "wall", "wall time"),
    ];
    let rows = known.iter().map(|row| chart_row(row, &scale));
    let chart = RowsChart::new(rows, keys).with_axis(&scale, Quantity::Time);
    let title = format!("{}: CPU time against wall time", ranking.title());
    let description = format!("Processors in use on average: {}.", chart.values_text());
    let slug = format!("effort-{number}-{}", ranking.state);
    Some(chart.into_chart(slug, title, description))
}

/// Median CPU times in user mode and in the kernel, in nanoseconds; `None` if one is not known.
fn median_cpu_ns(row: &RankingRow) -> Option<[f64; 2]> {
    let median = |meter: Meter| Some(float(row.summaries.get(&meter)?.median));
    Some([median(Meter::CpuUserNs)?, median(Meter::CpuSystemNs)?])
}

fn chart_row<'a>(row: &'a RankingRow, scale: &Scale) -> ChartRow<'a> {
    let [user, system] = median_cpu_ns(row).unwrap_or_default().map(|ns| scale.coordinate_of(ns));
    let end = scale.coordinate_of(float(row.wall.median));
    let marks = vec![
        svg::bar("user", [0.0, STRIP_TOP], [user, STRIP_HEIGHT]),
        svg::bar("system", [user, STRIP_TOP], [system, STRIP_HEIGHT]),
        svg::line("wall", [end, STRIP_TOP - 2.0], [end, STRIP_TOP + STRIP_HEIGHT + 2.0]),
    ];
    ChartRow::new(row, row.busy_processors.map_or_else(|| words::NONE.to_owned(), words::cores_words), marks)
}
