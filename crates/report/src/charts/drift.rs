//! The rounds over time: one line for each trial with its wall times relative to their median, all
//! on the same scale. A change in all lines is due to the machine, a change in a single line to the
//! method.

use super::super::ranking::{ChartReading, Ranking, RankingRow};
use super::super::svg::{self, Scale};
use super::super::words;
use super::Chart;
use super::rows::{ChartRow, RowsChart, STRIP_TOP, WIDTH};
use readlab_analysis::stats::{float, median, quantile};
use readlab_model::trial::CacheState;
use std::collections::BTreeMap;

/// The scale extends at most to this deviation, as a share of the median.
const SCALE_SHARE_MAX: f64 = 0.5;
/// The scale is chosen so that this share of all rounds is within the strips. Rounds beyond the
/// scale are drawn at the edge.
const SHARE_WITHIN_STRIPS: f64 = 0.95;
const DRIFT_STRIP_HEIGHT: f64 = 18.0;
/// The scale extends at least to this deviation, as a share of the median.
const SCALE_SHARE_MIN: f64 = 0.02;

/// The rounds of a trial: for each its number, its fill, and its wall time divided by the median of
/// all rounds, minus one.
struct Track<'a> {
    row: &'a RankingRow,
    rounds: Vec<(u32, u32, f64)>,
}

/// The chart; `None` if no trial was read in two rounds.
pub(in super::super) fn drift_chart(ranking: &Ranking, number: usize) -> Option<Chart> {
    let tracks: Vec<Track> = ranking.rows.iter().filter_map(Track::from_row).collect();
    let mut shares: Vec<f64> = tracks.iter().flat_map(|it| &it.rounds).map(|it| it.2.abs()).collect();
    shares.sort_unstable_by(f64::total_cmp);
    let reach = quantile(&shares, SHARE_WITHIN_STRIPS).clamp(SCALE_SHARE_MIN, SCALE_SHARE_MAX);
    let last = tracks.iter().filter_map(|track| track.rounds.last()).map(|(round, _, _)| *round).max()?;
    let across = Scale::linear([0.0, f64::from(last)], [2.0, WIDTH - 2.0]);
    let rows = tracks.iter().map(|track| track.chart_row(&across, reach, ranking.state));
    let has_lines = ranking.state == CacheState::Warm && tracks.iter().any(Track::has_shared_fills);
    let fills = if has_lines { "; upright lines: the cache was filled anew" } else { "" };
    let note = format!("height of a strip: the median ±{}{fills}", words::percent(reach));
    let chart = RowsChart {
        end_labels: vec![
            svg::text("tick start", [0.0, 10.0], "first round"),
            svg::text("tick end", [WIDTH, 10.0], "last round"),
        ],
        notes: vec![svg::text("tick start", [0.0, 14.0], &note)],
        legend_top: 20.0,
        ..RowsChart::new(rows, [])
    };
    let title = format!("{}: wall time round by round", ranking.title());
    let description = format!("Lowest and highest round against the median: {}.", chart.values_text());
    let slug = format!("rounds-{number}-{}", ranking.state);
    Some(chart.into_chart(slug, title, description))
}

impl Track<'_> {
    fn from_row(row: &RankingRow) -> Option<Track<'_>> {
        let median = float(row.wall.median.max(1));
        let rounds = median_by_round(&row.readings)
            .into_iter()
            .map(|(round, fill, wall)| (round, fill, wall / median - 1.0));
        let rounds: Vec<_> = rounds.collect();
        (rounds.len() > 1).then_some(Track { row, rounds })
    }

    /// Whether consecutive rounds share a fill of the page cache. Lines at new fills are only
    /// useful if they do.
    fn has_shared_fills(&self) -> bool {
        self.rounds.windows(2).any(|pair| pair[0].1 == pair[1].1)
    }

    fn range_words(&self) -> String {
        let shares = || self.rounds.iter().map(|(_, _, share)| *share);
        let signed = |share: f64| {
            let text = words::signed(share, words::percent);
            if share < 0.0 { text } else { format!("+{text}") }
        };
        let (low, high) =
            (shares().reduce(f64::min).unwrap_or(0.0), shares().reduce(f64::max).unwrap_or(0.0));
        format!("{} to {}", signed(low), signed(high))
    }

    fn chart_row(&self, across: &Scale, reach: f64, state: CacheState) -> ChartRow<'_> {
        // Longer times are drawn lower.
        let up = Scale::linear([-reach, reach], [STRIP_TOP - 2.0, STRIP_TOP + DRIFT_STRIP_HEIGHT - 2.0]);
        let mut marks = vec![
            svg::bar("strip", [0.0, STRIP_TOP - 2.0], [WIDTH, DRIFT_STRIP_HEIGHT]),
            svg::line("zero", [0.0, up.coordinate_of(0.0)], [WIDTH, up.coordinate_of(0.0)]),
        ];
        if state == CacheState::Warm && self.has_shared_fills() {
            let new_fill = self.rounds.windows(2).filter(|pair| pair[0].1 != pair[1].1);
            marks.extend(new_fill.map(|pair| {
                let x = across.coordinate_of((f64::from(pair[0].0) + f64::from(pair[1].0)) / 2.0);
                svg::line("fill", [x, STRIP_TOP - 2.0], [x, STRIP_TOP + DRIFT_STRIP_HEIGHT - 2.0])
            }));
        }
        let points: Vec<[f64; 2]> = self
            .rounds
            .iter()
            .map(|(round, _, share)| [across.coordinate_of(f64::from(*round)), up.coordinate_of(*share)])
            .collect();
        marks.extend(svg::polyline("track", &points));
        marks.push(svg::dots("track-dots", points));
        ChartRow::new(self.row, self.range_words(), marks)
    }
}

/// For each round its number, its fill, and its median wall time in nanoseconds, in the order of
/// rounds.
fn median_by_round(readings: &[ChartReading]) -> Vec<(u32, u32, f64)> {
    let mut rounds: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    for reading in readings {
        rounds.entry((reading.round, reading.fill)).or_default().push(float(reading.wall_ns));
    }
    rounds.into_iter().filter_map(|((round, fill), walls)| Some((round, fill, median(walls)?))).collect()
}
