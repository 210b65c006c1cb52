//! How the rate of a method, and the 99th percentile of its single reads, depend on the memory that
//! bounds the page cache: the points of the curve from the cold state over the bounds to the warm
//! state, the step between two points at which the rate falls most, and the memory beyond which
//! more memory adds nothing. `contest` compares the curves of several methods.
//!
//! All pressed trials share their rounds, whatever their bound, so ratios between bounds are made
//! within rounds. The cold and the warm end are read in other rounds, so a ratio to one of them is
//! the quotient of two medians.

mod contest;
#[cfg(test)]
mod tests;

pub use contest::{Crossing, FastestMethod, LevelRatio, MemoryContest};

use super::latency::{LatencySummary, Quantile};
use super::noise::SharedNoise;
use super::stats::{Interval, IntervalRule, LogMedian, Ratio, SharedRatio, Significance, float, median};
use readlab_model::sample::Sample;
use readlab_model::target::TargetFacts;
use readlab_model::target::memory::MemoryFacts;
use readlab_model::trial::CacheState;
use readlab_record::{Record, Trial, TrialRecord};
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;
use std::cmp::Ordering;

/// A step is a cliff if the whole interval of the change of the rate is above this factor.
const CLIFF_TIMES_MIN: f64 = 1.5;

/// A method that becomes at most this many times as fast gains nothing.
const NO_GAIN_TIMES_MAX: f64 = 1.05;

/// The memory for the page cache at a point of a curve, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum MemoryLevel {
    /// The cold state: nothing is in the page cache.
    Cold,
    /// The pressed state: the bound divided by the working set.
    Share(f64),
    /// The warm state: everything is in the page cache.
    Warm,
}

impl MemoryLevel {
    fn of_trial(record: &Record, it: &TrialRecord) -> Option<MemoryLevel> {
        match it.trial.state {
            CacheState::Cold => Some(MemoryLevel::Cold),
            CacheState::Warm => Some(MemoryLevel::Warm),
            CacheState::Pressed => {
                Some(MemoryLevel::Share(record.target_of(&it.trial)?.memory_bound.as_ref()?.share()))
            }
            CacheState::Unknown => None,
        }
    }

    /// The memory divided by the working set; `None` in the warm state, where nothing bounds it.
    pub fn share(self) -> Option<f64> {
        match self {
            MemoryLevel::Cold => Some(0.0),
            MemoryLevel::Share(share) => Some(share),
            MemoryLevel::Warm => None,
        }
    }

    pub fn is_pressed(self) -> bool {
        matches!(self, MemoryLevel::Share(_))
    }

    fn order(self, other: MemoryLevel) -> Ordering {
        self.partial_cmp(&other).unwrap_or(Ordering::Equal)
    }
}

/// One method under bounds on memory, from the least memory to the most.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryCurve<'a> {
    pub points: Vec<MemoryPoint<'a>>,
    /// The step with the largest change; `None` if no step clearly changes the rate by more than
    /// `CLIFF_TIMES_MIN`.
    pub cliff: Option<Cliff>,
    /// The smallest bound such that every greater bound is at most 5 % faster. Whole 95 % intervals
    /// must show it.
    pub enough_memory: Option<MemoryLevel>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MemoryPoint<'a> {
    pub level: MemoryLevel,
    pub trial: &'a TrialRecord,
    pub target: &'a TargetFacts,
    /// Bytes per second at the median wall time.
    pub rate: f64,
    /// The 95 % interval of the rate; `None` with a single round.
    pub interval: Option<Interval>,
    pub rule: Option<IntervalRule>,
    /// The 99th percentile of the latency of single reads; `None` where reads were not timed, and
    /// with too few of them.
    pub p99: Option<Quantile>,
    /// Bytes from the device divided by the bytes that a reading needs, each counted once.
    pub device_share: Option<f64>,
    /// The result of [`hit_share`].
    pub hit_share: Option<f64>,
    /// The median share of the working set in the page cache before a reading. For blocks that are
    /// read in another state than pressed, the share of the whole file.
    pub resident_share: Option<f64>,
}

/// The step between two neighbouring points at which the rate changes most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cliff {
    /// The level below the step, and the level above.
    pub between_levels: [MemoryLevel; 2],
    /// How many times as fast the method is above the step as below. Its interval is corrected for
    /// the choice among all steps.
    pub ratio: Ratio,
}

/// The smallest of the greater bounds on memory under which the same method was clearly faster.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GreaterBound {
    /// The bound divided by the working set.
    #[serde(rename = "share")]
    pub share_of_working_set: f64,
    pub cache_bytes: u64,
    /// The method's speed under the greater bound divided by its speed under its own bound.
    #[serde(rename = "times")]
    pub speed_ratio: f64,
}

impl<'a> MemoryCurve<'a> {
    /// The curves of all methods that were measured under a bound, ordered by the index of their
    /// trials.
    pub fn all(record: &'a Record) -> Vec<MemoryCurve<'a>> {
        let pressed = pressed_trials(record);
        let is_first = |it: &&&TrialRecord| {
            let mut earlier = pressed.iter().take_while(|other| other.trial.index != it.trial.index);
            !earlier.any(|other| is_same_curve(record, other, it))
        };
        pressed.iter().filter(is_first).filter_map(|it| MemoryCurve::through(record, it)).collect()
    }

    /// The curve through the point of a pressed trial; `None` with a single point.
    pub(crate) fn through(record: &'a Record, it: &TrialRecord) -> Option<MemoryCurve<'a>> {
        MemoryLevel::of_trial(record, it).filter(|level| level.is_pressed())?;
        let noise = PressedNoise::of_trials_like(record, it);
        let is_point = |other: &&TrialRecord| is_measured_reading(other) && is_same_curve(record, other, it);
        let trials = record.trials.iter().filter(is_point);
        let mut points: Vec<MemoryPoint> =
            trials.filter_map(|it| MemoryPoint::of_trial(record, it, &noise)).collect();
        points.sort_by(|a, b| a.level.order(b.level));
        let (cliff, enough_memory) = (find_cliff(&points, &noise), find_enough_memory(&points, &noise));
        (points.len() > 1).then_some(MemoryCurve { points, cliff, enough_memory })
    }

    /// The trial at the least memory. All trials of the curve have its name, work and archive.
    pub fn trial(&self) -> &'a Trial {
        &self.points[0].trial.trial
    }

    pub fn point_at(&self, level: MemoryLevel) -> Option<&MemoryPoint<'a>> {
        self.points.iter().find(|point| point.level == level)
    }
}

impl<'a> MemoryPoint<'a> {
    fn of_trial(record: &'a Record, it: &'a TrialRecord, noise: &PressedNoise) -> Option<MemoryPoint<'a>> {
        let (level, target) = (MemoryLevel::of_trial(record, it)?, record.target_of(&it.trial)?);
        let bytes = float(record.bytes_out(it).filter(|bytes| *bytes > 0)?);
        let rate_at = |wall_ns: f64| bytes * 1e9 / wall_ns.max(1.0);
        let ci95 = noise.of_trial(it).location(it.trial.index).and_then(|location| location.ci95);
        let wanted_bytes = target.useful_bytes();
        let device_share = |sample: Sample| sample.device_reads_per_byte(wanted_bytes);
        Some(MemoryPoint {
            level,
            trial: it,
            target,
            rate: rate_at(median(it.samples.iter().map(|sample| float(sample.wall_ns)))?),
            interval: ci95.map(|it| Interval { low: rate_at(it.ends.high), high: rate_at(it.ends.low) }),
            rule: ci95.map(|it| it.rule),
            p99: LatencySummary::from_turns(&it.latencies).and_then(|it| it.quantile("p99").cloned()),
            device_share: median(it.samples.iter().filter_map(device_share)),
            hit_share: hit_share(it, target),
            resident_share: median(it.samples.iter().filter_map(|sample| resident_share(&sample))),
        })
    }
}

/// The share of the requested bytes that a pressed reading of blocks finds in the page cache. The
/// share is a lower bound: bytes that the kernel reads around the blocks count as misses. `None` if
/// more bytes came from the device than were requested, and if device bytes were not counted.
pub fn hit_share(it: &TrialRecord, target: &TargetFacts) -> Option<f64> {
    let is_read = it.trial.state == CacheState::Pressed && !it.trial.is_control();
    target.blocks().filter(|_| is_read && target.size_bytes > 0)?;
    if it.trial.bypasses_cache() {
        return Some(0.0);
    }
    // Device bytes do not show misses in holes, in encoded files, and on file systems without
    // extents.
    target.expected_device_bytes()?;
    let fetched_share = |sample: Sample| sample.device_reads_per_byte(target.size_bytes);
    let fetched_share = median(it.samples.iter().filter_map(fetched_share))?;
    Some(1.0 - fetched_share).filter(|share| *share >= 0.0)
}

/// The share of the working set in the page cache before a reading.
fn resident_share(sample: &Sample) -> Option<f64> {
    sample.pressed.map(|proof| proof.before_share).or(sample.resident_before)
}

/// The noise of all pressed trials of a contest, under all bounds. A trial in the cold or the warm
/// state has the noise of its own contest.
struct PressedNoise<'r> {
    record: &'r Record,
    pressed: SharedNoise,
}

impl<'r> PressedNoise<'r> {
    /// The noise of all pressed trials that do the same work with the same bytes, under all bounds.
    fn of_trials_like(record: &'r Record, it: &TrialRecord) -> PressedNoise<'r> {
        let alike = pressed_trials(record).into_iter().filter(|other| is_same_contest(record, other, it));
        PressedNoise { record, pressed: SharedNoise::from_trials(alike) }
    }

    fn of_trial(&self, it: &TrialRecord) -> Cow<'_, SharedNoise> {
        if self.pressed.contains(it.trial.index) {
            Cow::Borrowed(&self.pressed)
        } else {
            Cow::Owned(SharedNoise::of_contest(self.record, it))
        }
    }

    /// How many times as fast a trial is as another, if the pair was chosen among `comparisons`
    /// pairs. The ratio is computed within rounds if both trials were read in the same rounds, and
    /// otherwise from their medians.
    fn ratio(&self, trial: &TrialRecord, other: &TrialRecord, comparisons: usize) -> Option<Ratio> {
        let noise = self.of_trial(trial);
        let (index, other_index) = (trial.trial.index, other.trial.index);
        if noise.contains(other_index) {
            let shared: Option<SharedRatio> = match comparisons {
                0 | 1 => noise.ratio(index, other_index),
                several => noise.ratio_of_chosen(index, other_index, several),
            };
            return shared.map(Ratio::from);
        }
        let walls = |it: &TrialRecord| LogMedian::from_observations(&it.samples);
        Some(walls(other)?.over(&walls(trial)?))
    }
}

fn find_cliff(points: &[MemoryPoint], noise: &PressedNoise) -> Option<Cliff> {
    let steps = points.len().saturating_sub(1);
    let found = points.windows(2).filter_map(|pair| {
        let ratio = noise.ratio(pair[1].trial, pair[0].trial, steps)?;
        let is_clear = ratio.ci95.is_some_and(|ends| ends.low > CLIFF_TIMES_MIN);
        is_clear.then_some(Cliff { between_levels: [pair[0].level, pair[1].level], ratio })
    });
    found.max_by(|a, b| a.ratio.estimate.total_cmp(&b.ratio.estimate))
}

fn find_enough_memory(points: &[MemoryPoint], noise: &PressedNoise) -> Option<MemoryLevel> {
    let pressed: Vec<&MemoryPoint> = points.iter().filter(|point| point.level.is_pressed()).collect();
    let adds_nothing = |less: &MemoryPoint, more: &MemoryPoint| {
        let gain = noise.ratio(more.trial, less.trial, 1).and_then(|ratio| ratio.ci95);
        gain.is_some_and(|gain| gain.high <= NO_GAIN_TIMES_MAX)
    };
    let last = pressed.len().checked_sub(1)?;
    let found = (0..last).find(|&at| pressed[at + 1..].iter().all(|more| adds_nothing(pressed[at], more)));
    found.map(|at| pressed[at].level)
}

/// The measured trials of the same method under greater bounds, from the least bound to the
/// greatest.
fn trials_under_greater_bounds<'r>(
    record: &'r Record,
    it: &TrialRecord,
) -> Vec<(&'r TrialRecord, &'r MemoryFacts)> {
    let bound_of = |it: &TrialRecord| record.target_of(&it.trial)?.memory_bound.as_ref();
    let Some(own) = bound_of(it) else { return Vec::new() };
    let greater = |other: &'r TrialRecord| {
        let memory = bound_of(other)?;
        let is_greater = memory.cache_bytes > own.cache_bytes && is_same_curve(record, other, it);
        is_greater.then_some((other, memory))
    };
    let mut greater: Vec<(&TrialRecord, &MemoryFacts)> =
        pressed_trials(record).into_iter().filter_map(greater).collect();
    greater.sort_by_key(|(_, memory)| memory.cache_bytes);
    greater
}

/// Whether the same method was also measured under a greater bound.
pub(crate) fn has_greater_bound(record: &Record, it: &TrialRecord) -> bool {
    !trials_under_greater_bounds(record, it).is_empty()
}

/// The smallest of the greater bounds under which a pressed trial is clearly faster, and its speed
/// ratio.
pub(crate) fn least_faster_bound(record: &Record, it: &TrialRecord) -> Option<GreaterBound> {
    let noise = PressedNoise::of_trials_like(record, it);
    trials_under_greater_bounds(record, it).into_iter().find_map(|(other, memory)| {
        let ratio = noise.ratio(other, it, 1)?;
        let speed_ratio = ratio.estimate;
        let helps = ratio.significance() == Some(Significance::Faster) && speed_ratio > NO_GAIN_TIMES_MAX;
        helps.then_some(GreaterBound {
            share_of_working_set: memory.share(),
            cache_bytes: memory.cache_bytes,
            speed_ratio,
        })
    })
}

/// The measured pressed trials without controls, ordered by their index.
fn pressed_trials(record: &Record) -> Vec<&TrialRecord> {
    let is_pressed = |it: &&TrialRecord| is_measured_reading(it) && it.trial.state == CacheState::Pressed;
    let mut trials: Vec<&TrialRecord> = record.trials.iter().filter(is_pressed).collect();
    trials.sort_by_key(|it| it.trial.index);
    trials
}

fn is_measured_reading(it: &TrialRecord) -> bool {
    it.is_measured() && !it.trial.is_control()
}

/// Whether two trials differ only in the memory that bounds the page cache, and in the cache state.
fn is_same_curve(record: &Record, one: &TrialRecord, other: &TrialRecord) -> bool {
    let name = |it: &TrialRecord| (it.trial.id.clone(), it.trial.label.clone(), it.trial.start_session);
    name(one) == name(other) && is_same_contest(record, one, other)
}

/// Whether two trials do the same work with the same bytes, under any bound and in any state.
fn is_same_contest(record: &Record, one: &TrialRecord, other: &TrialRecord) -> bool {
    let targets = record.target_of(&one.trial).zip(record.target_of(&other.trial));
    (one.trial.work, one.trial.decoded_format) == (other.trial.work, other.trial.decoded_format)
        && targets.is_some_and(|(one, other)| is_same_file(one, other))
}

/// Whether two targets differ in nothing but the bound on memory.
fn is_same_file(one: &TargetFacts, other: &TargetFacts) -> bool {
    let parts = |it: &TargetFacts| (it.exact_path(), it.transport(), it.range, it.blocks(), it.size_bytes);
    let conditions =
        |it: &TargetFacts| (it.concurrent_readers(), it.copies_folder.clone(), it.settings.clone());
    parts(one) == parts(other) && conditions(one) == conditions(other)
}
