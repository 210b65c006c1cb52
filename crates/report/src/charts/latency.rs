//! Latencies of single reads, for each method whose reads were timed: the median, the 99th
//! percentile, and the highest quantile for which there are enough reads, on a logarithmic scale.

use super::super::ranking::{Ranking, RankingRow};
use super::super::svg::{self, Quantity, Scale};
use super::Chart;
use super::legend::{KeyMark, LegendKey};
use super::rows::{ChartRow, RowsChart, STRIP_HEIGHT, STRIP_TOP, WIDTH};
use readlab_analysis::latency::Quantile;
use readlab_analysis::stats::float;
use readlab_model::units::Nanos;
use std::iter::once;

/// A method with the quantiles of its reads.
struct TimedMethod<'a> {
    row: &'a RankingRow,
    p50: &'a Quantile,
    p99: &'a Quantile,
    /// The highest quantile; `None` if that is the 99th percentile.
    highest: Option<&'a Quantile>,
}

/// The chart; `None` where no single reads were timed.
pub(in super::super) fn latency_chart(ranking: &Ranking, number: usize) -> Option<Chart> {
    let timed: Vec<TimedMethod> = ranking.rows.iter().filter_map(TimedMethod::from_row).collect();
    let ends =
        || timed.iter().flat_map(|it| [it.p50, it.highest.unwrap_or(it.p99)]).map(|it| float(it.latency_ns));
    let (low, high) = (ends().reduce(f64::min)?, ends().reduce(f64::max)?);
    let scale = Scale::logarithmic([low / 1.2, high * 1.2], [6.0, WIDTH - 6.0]);
    let keys = [
        LegendKey::new(KeyMark::Disc, "solid key", "p50"),
        LegendKey::new(KeyMark::Square, "solid key", "p99"),
        LegendKey::new(KeyMark::Diamond, "solid key", "the highest that the reads show, up to p99.99"),
    ];
    let chart =
        RowsChart::new(timed.iter().map(|it| it.chart_row(&scale)), keys).with_axis(&scale, Quantity::Time);
    let title = format!("{}: what single reads took", ranking.title());
    let described: Vec<String> = timed.iter().map(TimedMethod::words).collect();
    let slug = format!("latency-{number}-{}", ranking.state);
    Some(chart.into_chart(slug, title, format!("{}.", described.join("; "))))
}

impl<'a> TimedMethod<'a> {
    fn from_row(row: &'a RankingRow) -> Option<TimedMethod<'a>> {
        let latency = row.latency.as_ref()?;
        let (p50, p99) = (latency.quantile("p50")?, latency.quantile("p99")?);
        let highest = latency.quantiles.last().filter(|it| it.name != p99.name);
        Some(TimedMethod { row, p50, p99, highest })
    }

    fn chart_row(&self, scale: &Scale) -> ChartRow<'a> {
        let y = STRIP_TOP + STRIP_HEIGHT / 2.0;
        let at = |it: &Quantile| scale.coordinate_of(float(it.latency_ns));
        let (p50, p99, highest) = (at(self.p50), at(self.p99), self.highest.map(at));
        let span = svg::line("span", [p50, y], [highest.unwrap_or(p99), y]);
        let mut marks = vec![span, svg::disc("solid", [p50, y], 4.5), svg::square("solid", [p99, y], 4.0)];
        marks.extend(highest.map(|x| svg::diamond("solid", [x, y], 5.0)));
        ChartRow::new(
            self.row,
            format!("{} · {}", Nanos(self.p50.latency_ns), Nanos(self.p99.latency_ns)),
            marks,
        )
    }

    fn words(&self) -> String {
        let quantiles = [self.p50, self.p99].into_iter().chain(self.highest);
        let named = quantiles.map(|it| format!("{} {}", it.name, Nanos(it.latency_ns)));
        once(self.row.short_name.clone()).chain(named).collect::<Vec<_>>().join(" ")
    }
}
