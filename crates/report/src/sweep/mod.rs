//! The results of a sweep: for each series of writes or reads, the straight line through time
//! against size, the rates by size, and the band of sizes that deviate from the line, with the
//! metered reasons.
//!
//! The line is `time = fixed cost + size / rate` by least squares of relative errors, because the
//! error of a time grows with the time. Two more lines are shown: that of Theil and Sen, which is
//! robust to single outliers, and that of ordinary least squares, as in the published experiment.
//! Ordinary least squares assume the error of the largest file for all files, so a fixed cost of
//! microseconds has an interval of milliseconds. A size deviates from the line of Theil and Sen if
//! all its times are on one side of the line and their median differs by more than a fifth. With
//! the other lines, one unusual size would make all small sizes deviate. Only metered facts explain
//! a deviation. Without such facts, the text says that nothing measured explains the deviation.

mod series_facts;
mod size;
#[cfg(test)]
mod tests;

pub(super) use size::SizeRow;

use super::words;
use readlab_analysis::stats::{
    self, AbsoluteErrors, Interval, LeastSquares, RelativeErrors, TheilSen, float,
};
use readlab_model::target::TargetIndex;
use readlab_model::units::{Bytes, Nanos, Throughput};
use readlab_record::{Record, RunKind, SweepPoint, SweepSeries};
use schemars::JsonSchema;
use serde::Serialize;
use series_facts::SeriesFacts;
use size::MixedSize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SweepView {
    /// The series: writes first, then the methods that read.
    pub series: Vec<Series>,
    /// Methods that were refused, failed or unavailable: each reason once, with the number of
    /// files.
    pub unmeasured: Vec<String>,
    /// The known facts about the layers below the files, a line each.
    #[serde(rename = "below")]
    pub layer_lines: Vec<String>,
    /// Cautions for readers of the numbers. A caution on several files is listed once.
    pub cautions: Vec<String>,
}

/// One method of writing or reading over all sizes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Series {
    /// The name of the series: `write plain`, or the name of the method.
    pub name: String,
    pub is_write: bool,
    pub points: Vec<SweepPoint>,
    /// Time in seconds against size in bytes, by relative errors; `None` with fewer than two sizes.
    pub fit: Option<LeastSquares<RelativeErrors>>,
    /// The robust line through the same points.
    #[serde(rename = "robust")]
    pub robust_line: Option<TheilSen>,
    /// The line by ordinary least squares, as published.
    pub least_squares: Option<LeastSquares<AbsoluteErrors>>,
    /// The sizes, ascending.
    pub sizes: Vec<SizeRow>,
    /// The sizes that deviate from the line, and why, a sentence each.
    #[serde(rename = "band")]
    pub band_sentences: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mixed: Vec<MixedSize>,
    #[serde(flatten)]
    pub facts: SeriesFacts,
}

/// A size deviates from the line if its median differs by more than this share.
const DEVIATING_SHARE_MIN: f64 = 0.2;

/// If less than this share of a file's size came from the device, part of it came from a cache.
pub(super) const DEVICE_SHARE_MIN: f64 = 0.9;

/// If a later pass is this many times as fast as the first one, there is probably a cache below
/// this machine.
const HOST_CACHE_RATIO_MIN: f64 = 1.2;

impl SweepView {
    pub fn from_record(record: &Record) -> Option<SweepView> {
        if record.header.kind != RunKind::Sweep {
            return None;
        }
        let known = SeriesFacts::all(record);
        let series = |it: SweepSeries| {
            let known = known.get(&it.name).filter(|_| !it.is_write).cloned().unwrap_or_default();
            let series = Series::new(it, known, record.header.seed);
            Series { mixed: MixedSize::all(&series.points, |file| file_name(record, file)), ..series }
        };
        Some(SweepView {
            series: record.sweep_series().into_iter().map(series).collect(),
            unmeasured: unmeasured(record),
            layer_lines: series_facts::layer_lines(record),
            cautions: cautions(record).into_iter().chain(series_facts::side_effect_lines(&known)).collect(),
        })
    }
}

fn file_name(record: &Record, file: TargetIndex) -> String {
    let path = record.targets.get(file).map_or("", |facts| facts.path.as_str());
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// The reasons why files were not measured: each once, with the number of files.
fn unmeasured(record: &Record) -> Vec<String> {
    let mut counts: BTreeMap<(String, &str, String), usize> = BTreeMap::new();
    for trial in &record.trials {
        let ended = trial.outcome.as_ref().and_then(|it| Some((it.word(), it.reason()?)));
        let Some((outcome, reason)) = ended else { continue };
        // A reason contains the name of its file, so equal reasons would have different texts.
        let path = record.target_of(&trial.trial).map_or("", |facts| facts.path.as_str());
        let reason = if path.is_empty() { reason.to_owned() } else { reason.replace(path, "the file") };
        *counts.entry((trial.trial.id.to_string(), outcome, reason)).or_default() += 1;
    }
    counts
        .iter()
        .map(|((name, outcome, reason), n)| format!("{outcome}: {name}: {reason} ({n} files)"))
        .collect()
}

fn cautions(record: &Record) -> Vec<String> {
    let all: BTreeSet<&String> = record.targets.iter().flat_map(|facts| &facts.cautions).collect();
    all.into_iter().cloned().collect()
}

impl Series {
    /// Fits the lines of a series. `seed` is the seed of resampling.
    fn new(swept: SweepSeries, known: SeriesFacts, seed: u64) -> Series {
        let seconds = swept.sizes_and_seconds();
        let SweepSeries { name, is_write, points } = swept;
        let mut by_size: BTreeMap<u64, Vec<SweepPoint>> = BTreeMap::new();
        for point in &points {
            by_size.entry(point.size_bytes).or_default().push(*point);
        }
        let robust = stats::theil_sen_intervals(&seconds, seed);
        let line = robust.map(|it| it.line);
        let sizes = by_size.values().map(|points| SizeRow::from_points(points, line.as_ref()));
        let mut series = Series {
            sizes: sizes.collect(),
            name,
            is_write,
            points,
            fit: stats::weighted_least_squares(&seconds),
            robust_line: robust,
            least_squares: stats::least_squares(&seconds),
            band_sentences: Vec::new(),
            mixed: Vec::new(),
            facts: known,
        };
        series.band_sentences = series.band_sentences();
        series
    }

    /// The rate by the line, which is the inverse of its slope, with its interval; `None` if time
    /// does not grow with size.
    pub fn rate(&self) -> Option<(Throughput, Option<[Throughput; 2]>)> {
        let fit = self.fit.as_ref()?;
        rate_by_slope(fit.line.slope, fit.slope_ci95)
    }

    /// The name, with a mark if a caution is about the contender, and with a note if cold readings
    /// may come from a lower cache.
    pub fn title(&self) -> String {
        let mark = if self.facts.side_effects.is_empty() { "" } else { words::CONDUCT_MARK };
        let above = if self.facts.cold_above.is_some() { ", cold above a cache" } else { "" };
        format!("{}{mark}{above}", self.name)
    }

    /// The rate by the slope with its interval, and the median of the files' own rates.
    pub fn headline(&self) -> String {
        let (title, median) = (self.title(), self.median_rate());
        self.rate().map_or_else(
            || format!("{title}: no line (one size, or time does not grow with size); median rate {median}"),
            |rate| format!("{title}: {} by the slope; median rate {median}", rate_with_ends(rate)),
        )
    }

    /// The fixed cost of a file, and both parameters by the robust line and by ordinary least
    /// squares.
    pub fn line_words(&self) -> Option<String> {
        let (fit, robust) = (self.fit.as_ref()?, self.robust_line.as_ref()?);
        let above = self.facts.cold_above.as_ref();
        let above = above.map_or_else(String::new, |cache| format!("; cold is cold above {cache}"));
        let published = self.least_squares.as_ref().map_or_else(String::new, |it| {
            let (rate, cost) =
                (rate_words(it.line.slope, it.slope_ci95), cost_words(it.line.intercept, it.intercept_ci95));
            format!("; {rate} and {cost} by ordinary least squares, as published")
        });
        Some(format!(
            "fixed cost {}, by relative errors over {} files; {} and {} by the line that outliers cannot bend{published}{above}",
            cost_words(fit.line.intercept, fit.intercept_ci95),
            fit.n,
            rate_words(robust.line.slope, robust.slope_ci95),
            cost_words(robust.line.intercept, robust.intercept_ci95),
        ))
    }

    pub fn median_rate(&self) -> Throughput {
        Throughput(stats::median(self.points.iter().map(SweepPoint::rate)).unwrap_or(f64::NAN))
    }

    /// One sentence for each run of neighbouring sizes that deviate from the line to the same side.
    fn band_sentences(&self) -> Vec<String> {
        let mut runs: Vec<(bool, Vec<SizeRow>)> = Vec::new();
        let mut last_left = None;
        for row in &self.sizes {
            let side = row.deviates_as_faster();
            if let Some(fast) = side {
                match runs.last_mut() {
                    Some((same, rows)) if last_left == side && *same == fast => rows.push(*row),
                    _ => runs.push((fast, vec![*row])),
                }
            }
            last_left = side;
        }
        runs.iter().map(|(fast, rows)| self.band_sentence(*fast, rows)).collect()
    }

    fn band_sentence(&self, fast: bool, rows: &[SizeRow]) -> String {
        let sizes = match rows {
            [one] => Bytes(one.size_bytes).to_string(),
            [first, .., last] => format!("{} to {}", Bytes(first.size_bytes), Bytes(last.size_bytes)),
            [] => String::new(),
        };
        let factors: Vec<f64> = rows.iter().filter_map(SizeRow::speed_ratio).collect();
        let most =
            factors.iter().copied().fold(1.0, |most: f64, f| if fast { most.max(f) } else { most.min(f) });
        let what = if fast { "faster" } else { "slower" };
        let times = if fast { most } else { 1.0 / most };
        let reasons = self.band_reasons(fast, rows);
        let unexplained = "not explained by anything measured".to_owned();
        let why = if reasons.is_empty() { unexplained } else { reasons.join("; ") };
        format!("{sizes}: up to {} times {what} than the line says; {why}", words::factor(times))
    }

    fn band_reasons(&self, fast: bool, rows: &[SizeRow]) -> Vec<String> {
        let mut reasons = Vec::new();
        let above = self.facts.cold_above.as_ref();
        let fixed = self.robust_line.map(|it| Nanos::from_secs_f64(it.line.intercept));
        if !fast {
            let share = |fixed: Nanos, row: &SizeRow| float(fixed.0) / float(row.median_ns.max(1));
            let most = |fixed| rows.iter().map(|row| share(fixed, row)).fold(0.0, f64::max);
            let cost =
                fixed.map(|fixed| (fixed, most(fixed))).filter(|(_, most)| *most > DEVIATING_SHARE_MIN);
            reasons.extend(cost.map(|(fixed, most)| {
                let most = words::percent(most.min(1.0));
                format!("the fixed cost of {fixed} is up to {most} of their time")
            }));
            return reasons;
        }
        let share = rows.iter().filter_map(|row| row.device_share).fold(1.0, f64::min);
        if share < DEVICE_SHARE_MIN {
            let share = words::percent(share);
            reasons.push(format!("only {share} of the bytes came from the device, the rest from a cache"));
        }
        let later = self.later_pass_ratio(rows).filter(|_| !self.is_write);
        if let Some(ratio) = later.filter(|ratio| *ratio > HOST_CACHE_RATIO_MIN) {
            let held = above.map_or_else(
                || "a cache below this machine held them".to_owned(),
                |cache| format!("a cache below held them, perhaps {cache}"),
            );
            reasons.push(format!(
                "later passes over the same files were {} times as fast as the first: {held}",
                words::factor(ratio)
            ));
        }
        if let (true, Some(cache)) = (reasons.is_empty(), above) {
            reasons.push(format!("perhaps held by {cache}, above which cold is cold here"));
        }
        if let (Some(fixed), Some(smallest)) = (fixed, self.sizes.first())
            && fixed.0 > smallest.median_ns
        {
            reasons.push(format!(
                "the line's fixed cost of {fixed} comes from the large files: the smallest took {} in all",
                Nanos(smallest.median_ns)
            ));
        }
        reasons
    }

    /// How many times as fast as the first pass the later passes read these sizes; `None` without
    /// later passes.
    fn later_pass_ratio(&self, rows: &[SizeRow]) -> Option<f64> {
        let median = |is_counted: &dyn Fn(u32) -> bool| {
            let among = |point: &&SweepPoint| {
                is_counted(point.pass) && rows.iter().any(|row| row.size_bytes == point.size_bytes)
            };
            let points = self.points.iter().filter(among);
            stats::median(points.map(|point| point.seconds() / float(point.size_bytes.max(1))))
        };
        Some(median(&|pass| pass == 0)? / median(&|pass| pass > 0)?)
    }
}

/// The inverse of a slope in seconds per byte; `None` if time does not grow with size.
fn rate_by_slope(slope: f64, ci95: Option<Interval>) -> Option<(Throughput, Option<[Throughput; 2]>)> {
    let ends = ci95.filter(|ends| ends.low > 0.0).map(|ends| [ends.high, ends.low]);
    let rate = |slope: f64| Throughput(1.0 / slope);
    (slope > 0.0).then(|| (rate(slope), ends.map(|ends| ends.map(rate))))
}

fn rate_words(slope: f64, ci95: Option<Interval>) -> String {
    rate_by_slope(slope, ci95).map_or_else(|| words::NONE.to_owned(), rate_with_ends)
}

/// The rate in words, such as `2.31 GB/s [2.2 GB/s, 2.4 GB/s]`.
fn rate_with_ends((rate, ends): (Throughput, Option<[Throughput; 2]>)) -> String {
    let ends = ends.map(|[low, high]| Interval { low: low.0, high: high.0 });
    words::with_ends(rate.0, ends, |rate| Throughput(rate).to_string())
}

/// The cost in words, from seconds: `18 µs [12 µs, 25 µs]`.
fn cost_words(seconds: f64, ci95: Option<Interval>) -> String {
    let about = |seconds| words::signed(seconds, |size| Nanos::from_secs_f64(size).to_string());
    words::with_ends(seconds, ci95, about)
}
