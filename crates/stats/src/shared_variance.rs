//! Intervals for trials of two rounds or more, from the noise of all trials of a state together.
//!
//! Two readings of a trial say nearly nothing about their own spread, and an interval from them
//! alone is an order of magnitude too wide. But all trials were read by the same machine in the
//! same rounds. So their spreads are estimated together ([`crate::spread`]), and the interval of a
//! ratio is computed from the spreads of its two trials. From six pairs on, the exact signed-rank
//! test needs no model of the noise and is as narrow, so it is used instead; for locations, the
//! sign test is used.
//!
//! Times are natural logarithms. A unit is a round, or a fill of the page cache where fills hold
//! several rounds: rounds of one fill resemble each other. The time of a unit is the median over
//! its turns; the time of a turn is the median over its readings.
//!
//! 1. Three sweeps of a median polish estimate the effect of each unit ([`crate::two_way`]). A
//!    residual is the reading minus the effect of its unit as estimated from the other trials.
//! 2. From five units on, a disturbed reading is moved closer to the others ([`crate::paired`]).
//! 3. The residuals give each trial the distribution of its spread, and from that its reach η: how
//!    far one reading may be from the true value at an error of α.
//! 4. A ratio over k pairs is the Hodges–Lehmann centre of their differences (Hodges & Lehmann,
//!    *Estimates of Location Based on Rank Tests*, Annals of Mathematical Statistics 34, 1963),
//!    ± the larger of λ √((η_t² + η_r²) / k) and κ sd / √k, where sd is that of the differences.
//!    λ is 1.05 (1.1 + 0.6/T at two pairs, with T trials): spreads are not log-normal, and their
//!    prior is estimated. κ is 2 at 95 %: an interval may not be narrower than the pairs' own
//!    spread allows, which is so for one loud trial among silent ones.
//! 5. A location over k units is the centre of the times without the effects of their units, plus
//!    the mean effect of all R units: the median of the state's time and not of the rounds that
//!    this trial happened to have. Its half-width is the larger of
//!    √(λ² η² / k + t² var(effects) / R) and κ sd / √k.
//!
//! If there are only two trials, no other trial shares their noise, so their ratio has Student's
//! interval. So have locations of fewer than eight trials, because Student's interval is narrower
//! there.
//!
//! By simulation under 19 kinds of noise (`simulation::shared_variance`), this many of 100
//! intervals of ratios hold the true value under the worst kind:
//!
//! | trials | 2 rounds | 3 | 4 | 5 |
//! | --- | --- | --- | --- | --- |
//! | 3 | 95 | 96 | 96 | 97 |
//! | 4 | 94 | 95 | 95 | 96 |
//! | 8 | 94 | 96 | 96 | 95 |
//! | 30 | 93 | 94 | 94 | 94 |
//!
//! Under normal noise of 30 trials, with two to five rounds, the intervals are 0.32, 0.67, 0.84 and
//! 0.91 times as wide as Student's. For a single trial the share can be smaller: 80 of 100 with two
//! rounds and 88 with three, if it is thirty times as noisy as all others; 90 if it takes 40 %
//! longer in three of ten readings.

use crate::interval::{Confidence, Interval, IntervalRule, IntervalWithRule, RuledEnds};
use crate::median;
use crate::number::{count_as_float, mean, sorted};
use crate::observation::Observation;
use crate::paired::{PairedDifferences, pull_in_disturbed};
use crate::ratio::{Ratio, Significance};
use crate::sign_test::median_interval;
use crate::signed_rank::SignedRank;
use crate::spread::{Residuals, Spread, spreads};
use crate::student::{mean_and_sd, mean_interval, normal_quantile};
use crate::turns::Turns;
use crate::two_way::{LogTime, TwoWayTable, deviations_from_mean, without_effects};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// From this many pairs on, the interval of a ratio comes from the signed-rank test; from this many
/// units on, the interval of a location comes from the sign test.
pub(crate) const RANK_TEST_PAIRS_MIN: usize = 6;

/// As [`RANK_TEST_PAIRS_MIN`], for an error that is divided by the number of comparisons: with
/// fewer pairs, the test has no interval at the smaller error.
pub(crate) const CHOSEN_RANK_TEST_PAIRS_MIN: usize = 8;

/// If fewer trials share their noise, their locations have Student's interval.
const LOCATION_TRIALS_MIN: usize = 8;

/// From this many units on, a disturbed reading can be recognised.
const DISTURBED_UNITS_MIN: usize = 5;

/// A reading is moved only if this many other trials were read in its unit. With two others, a
/// disturbed reading of either would shift their median.
const OTHER_TRIALS_MIN: usize = 3;

const RESIDUAL_SWEEPS: usize = 3;
const EFFECT_SWEEPS: usize = 5;

/// λ with three or more pairs.
const CALIBRATION_FACTOR: f64 = 1.05;

/// κ at 95 %.
const SD_FACTOR: f64 = 2.0;
/// The quantile of the normal distribution for an interval of 95 %.
const NORMAL_QUANTILE_95: f64 = 1.96;

/// The exponential function of a larger number overflows.
const EXP_ARGUMENT_MAX: f64 = 700.0;

/// The noise of the trials of one state, and the intervals that follow from it.
///
/// Trials are identified by their index in the input. The input is the ranked trials of one state
/// that read the same target. Controls have other noise and are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedVariance {
    trials: Vec<TrialTimes>,
    /// T: the number of trials with two units or more.
    sharing_count: usize,
    /// The effect of each unit: how much longer all trials took in it.
    effects: Vec<f64>,
    /// Student's interval of the mean effect of the units that at least two trials share; `None`
    /// with fewer than two such units.
    shared_effect_interval: Option<Interval>,
    /// True if the race ended because its readings had decided it.
    is_decided: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct TrialTimes {
    times_as_read: Vec<LogTime>,
    /// The times after disturbed readings were moved closer to the others.
    times: Vec<LogTime>,
    /// The noise of the trial; `None` with fewer than two units.
    noise: Option<TrialNoise>,
}

#[derive(Debug, Clone, PartialEq)]
struct TrialNoise {
    spread: Spread,
    /// η: how far one reading may be from the true value, at 95 %.
    reach: f64,
}

// The reference's wall time divided by the trial's.
/// How many times as fast a trial is as another, with the interval and its rule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Factor")]
pub struct SharedRatio {
    // The Hodges–Lehmann centre of the pairs.
    pub estimate: f64,
    // 95 % interval; `None` with a single pair, which has no spread.
    #[serde(flatten, serialize_with = "IntervalWithRule::serialize_ends")]
    #[schemars(with = "RuledEnds")]
    pub ci95: Option<IntervalWithRule>,
    /// Number of units that hold both trials; for a mean over several pairs of trials, number of
    /// units that hold at least half of the pairs.
    #[serde(skip)]
    pub unit_count: usize,
}

/// The location (the centre) of a trial's times, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SharedLocation {
    /// The centre of the interval, or of the units where there is no interval. Where other trials
    /// had more rounds, the estimate takes their effects into account, so it need not be the median
    /// of the readings.
    pub estimate_ns: f64,
    /// 95 % interval; `None` with a single unit, which has no spread.
    pub ci95: Option<IntervalWithRule>,
    #[serde(rename = "units")]
    pub unit_count: usize,
}

/// The difference of two trials, in logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LogDifference {
    pub(crate) estimate: f64,
    pub(crate) interval: Option<IntervalWithRule>,
    pub(crate) unit_count: usize,
}

impl SharedVariance {
    /// Estimates the noise from the readings of all ranked trials of one state: wall times in
    /// nanoseconds.
    pub fn new<O: Into<Observation>, R: IntoIterator<Item = O>>(
        trials: impl IntoIterator<Item = R>,
    ) -> SharedVariance {
        SharedVariance::from_turns(&trials.into_iter().map(Turns::logs_of_walls).collect::<Vec<_>>())
    }

    fn from_turns(turns: &[Turns]) -> SharedVariance {
        let (rows, units) = times_by_unit(turns);
        let mut trials: Vec<TrialTimes> = rows
            .into_iter()
            .map(|read| TrialTimes { times: read.clone(), times_as_read: read, noise: None })
            .collect();
        let mut sharing: Vec<&mut TrialTimes> =
            trials.iter_mut().filter(|it| it.times_as_read.len() > 1).collect();
        let mut table = TwoWayTable::new(sharing.iter().map(|it| it.times_as_read.clone()).collect(), units);
        let residuals = move_disturbed(&mut table);
        let effects = table.polish(EFFECT_SWEEPS, centre_of_times).effects;
        let common: Vec<f64> = effects
            .iter()
            .zip(table.trial_counts_by_unit())
            .filter(|(_, held)| *held > 1)
            .map(|(it, _)| *it)
            .collect();
        for ((trial, calm), spread) in sharing.iter_mut().zip(table.rows).zip(spreads(&residuals)) {
            trial.times = calm;
            trial.noise = Some(TrialNoise { reach: spread.reach(Confidence::REPORTED), spread });
        }
        let sharing = sharing.len();
        let common = mean_interval(&common, Confidence::REPORTED);
        SharedVariance {
            trials,
            sharing_count: sharing,
            effects,
            shared_effect_interval: common,
            is_decided: false,
        }
    }

    /// The same noise, for a race that ended when its readings had decided it. The trial that is
    /// left, and trials close to it, are faster in these readings than they truly are. From six
    /// pairs on, the intervals of ratios have an error of 1 %; intervals of fewer pairs do not
    /// change.
    #[must_use]
    pub fn of_decided_race(self) -> SharedVariance {
        SharedVariance { is_decided: true, ..self }
    }

    /// The number of trials that share their noise: those with two units or more.
    pub fn sharing_trial_count(&self) -> usize {
        self.sharing_count
    }

    /// The standard deviation of one reading of a trial, as a share of its time; `None` with fewer
    /// than two units.
    pub fn noise_sd(&self, trial: usize) -> Option<f64> {
        Some(self.trials.get(trial)?.noise.as_ref()?.spread.reading_sd())
    }

    /// How many times as fast a trial is as the reference; `None` where no unit holds both.
    /// Swapping the two gives exactly the inverse.
    pub fn ratio(&self, trial: usize, reference: usize) -> Option<SharedRatio> {
        Some(self.compare(trial, reference, Confidence::REPORTED, RANK_TEST_PAIRS_MIN)?.ratio())
    }

    /// How many times as fast a trial is as another, if it was chosen because its readings were the
    /// fastest among `comparisons` other trials, like the best method of a language. The error of
    /// the interval is divided by the number of comparisons, by seven at most (Dunn, *Multiple
    /// Comparisons among Means*, Journal of the American Statistical Association 56, 1961).
    pub fn ratio_of_chosen(&self, chosen: usize, other: usize, comparisons: usize) -> Option<SharedRatio> {
        let confidence = Confidence::against_chosen(comparisons);
        Some(self.compare(chosen, other, confidence, CHOSEN_RANK_TEST_PAIRS_MIN)?.ratio())
    }

    /// Whether a trial is faster or slower than the first of a ranking, which was chosen from all
    /// trials, or ties with it; `None` with fewer than two units that hold both.
    pub fn significance_against_first(&self, first: usize, trial: usize) -> Option<Significance> {
        let confidence = Confidence::against_chosen(self.sharing_count.saturating_sub(1));
        self.compare(trial, first, confidence, CHOSEN_RANK_TEST_PAIRS_MIN)?.ratio().significance()
    }

    /// The location (the centre) of a trial's times; `None` if the trial was not read.
    pub fn location(&self, trial: usize) -> Option<SharedLocation> {
        let trial = self.trials.get(trial)?;
        let times: Vec<f64> = trial.times.iter().map(|it| it.log).collect();
        let units = times.len();
        let by_median = median(times.iter().copied())?;
        let centre = |ends: &Interval| f64::midpoint(ends.low, ends.high);
        let (estimate, ends, rule) = if units >= RANK_TEST_PAIRS_MIN {
            let ends = median_interval(&Observation::from_rounds(times), Confidence::REPORTED);
            (by_median, ends, IntervalRule::SignTest)
        } else if let Some(ends) = self.shared_location_interval(trial) {
            (centre(&ends), Some(ends), IntervalRule::SharedVariance)
        } else {
            let ends = mean_interval(&times, Confidence::REPORTED);
            (ends.as_ref().map_or(by_median, centre), ends, IntervalRule::Student)
        };
        let ci95 = ends.map(|ends| IntervalWithRule { ends: ends.map(finite_exp), rule });
        Some(SharedLocation { estimate_ns: estimate.exp(), ci95, unit_count: units })
    }

    /// The interval of the logarithm of a trial's time from the noise of all trials; `None` with
    /// fewer than [`LOCATION_TRIALS_MIN`] trials or two units.
    fn shared_location_interval(&self, trial: &TrialTimes) -> Option<Interval> {
        if self.sharing_count < LOCATION_TRIALS_MIN {
            return None;
        }
        let (noise, common) = (trial.noise.as_ref()?, self.shared_effect_interval?);
        let left = sorted(without_effects(&trial.times, &self.effects));
        let of_noise = self.calibration(left.len()) * noise.reach / count_as_float(left.len()).sqrt();
        let half = of_noise.hypot(common.half_width()).max(least_half_width(&left, Confidence::REPORTED));
        let centre = SignedRank::new(&left).estimate()? + f64::midpoint(common.low, common.high);
        Some(Interval::around(centre, half))
    }

    /// How much less time the trial takes than the reference, in logarithms; `None` where no unit
    /// holds both.
    pub(crate) fn compare(
        &self,
        trial: usize,
        reference: usize,
        confidence: Confidence,
        ranks_from: usize,
    ) -> Option<LogDifference> {
        let differences = PairedDifferences::from_differences(&self.differences(reference, trial)?);
        let centre = differences.estimate()?;
        let sorted = differences.sorted();
        let owes_decision = self.is_decided && sorted.len() >= RANK_TEST_PAIRS_MIN;
        let confidence =
            if owes_decision && confidence > Confidence::DECIDED { Confidence::DECIDED } else { confidence };
        let (estimate, ends, rule) = if sorted.len() < 2 {
            return Some(LogDifference { estimate: centre, interval: None, unit_count: sorted.len() });
        } else if sorted.len() >= ranks_from
            && let Some(ends) = differences.interval(confidence)
        {
            (centre, ends, IntervalRule::SignedRank)
        } else if self.sharing_count == 2 {
            let ends = mean_interval(sorted, confidence)?;
            (mean(sorted), ends, IntervalRule::Student)
        } else {
            let of_noise = self.reach(trial, confidence)?.hypot(self.reach(reference, confidence)?);
            let of_noise = self.calibration(sorted.len()) * of_noise / count_as_float(sorted.len()).sqrt();
            let half = of_noise.max(least_half_width(sorted, confidence));
            (centre, Interval::around(centre, half), IntervalRule::SharedVariance)
        };
        let interval = Some(IntervalWithRule { ends, rule });
        Some(LogDifference { estimate, interval, unit_count: sorted.len() })
    }

    /// The differences of [`SharedVariance::differences_by_unit`] as observations, each with a
    /// round and a fill of its own.
    fn differences(&self, one: usize, other: usize) -> Option<Vec<Observation>> {
        Some(Observation::from_rounds(self.differences_by_unit(one, other)?.iter().map(|it| it.log)))
    }

    /// How much more time one trial takes than another in each unit that holds both, in logarithms.
    pub(crate) fn differences_by_unit(&self, one: usize, other: usize) -> Option<Vec<LogTime>> {
        let (one, other) = (&self.trials.get(one)?.times, &self.trials.get(other)?.times);
        let mut others = other.iter().peekable();
        let both = one.iter().filter_map(|time| {
            while others.next_if(|other| other.unit < time.unit).is_some() {}
            let other = others.next_if(|other| other.unit == time.unit)?;
            Some(LogTime { log: time.log - other.log, ..*time })
        });
        Some(both.collect())
    }

    fn reach(&self, trial: usize, confidence: Confidence) -> Option<f64> {
        let noise = self.trials.get(trial)?.noise.as_ref()?;
        Some(if confidence == Confidence::REPORTED { noise.reach } else { noise.spread.reach(confidence) })
    }

    /// λ, the calibration factor of the half-width of an interval over this many pairs or units.
    fn calibration(&self, pairs: usize) -> f64 {
        if pairs > 2 { CALIBRATION_FACTOR } else { 1.1 + 0.6 / count_as_float(self.sharing_count) }
    }

    pub(crate) fn unit_count(&self, trial: usize) -> usize {
        self.trials.get(trial).map_or(0, |it| it.times_as_read.len())
    }

    /// The sorted logarithms of a trial's times as they were read.
    pub(crate) fn sorted_log_times(&self, trial: usize) -> Vec<f64> {
        let read = self.trials.get(trial).map_or(&[][..], |it| &it.times_as_read);
        sorted(read.iter().map(|it| it.log))
    }

    /// The centre of the logarithms of a trial's times without the effects of their units.
    pub(crate) fn centre(&self, trial: usize) -> Option<f64> {
        let left = sorted(without_effects(&self.trials.get(trial)?.times, &self.effects));
        SignedRank::new(&left).estimate()
    }

    /// How much more time a trial takes than another, in logarithms; `None` with fewer than two
    /// units that hold both.
    pub(crate) fn distance_behind(&self, trial: usize, other: usize) -> Option<DistanceBehind> {
        let differences = PairedDifferences::from_differences(&self.differences(trial, other)?);
        let sorted = differences.sorted();
        if sorted.len() < 2 {
            return None;
        }
        let sd = if self.sharing_count == 2 {
            mean_interval(sorted, Confidence::REPORTED)?.half_width() * count_as_float(sorted.len()).sqrt()
                / NORMAL_QUANTILE_95
        } else {
            let reach = |it| self.reach(it, Confidence::REPORTED);
            self.calibration(sorted.len()) * reach(trial)?.hypot(reach(other)?) / NORMAL_QUANTILE_95
        };
        Some(DistanceBehind { centre: differences.estimate()?, sd, unit_count: sorted.len() })
    }

    /// The signed-rank interval of how much more time a trial takes than another, in logarithms.
    pub(crate) fn signed_rank_interval_of_distance(
        &self,
        trial: usize,
        other: usize,
        at: Confidence,
    ) -> Option<Interval> {
        PairedDifferences::from_differences(&self.differences(trial, other)?).interval(at)
    }
}

/// How much more time a trial takes than another trial, in logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DistanceBehind {
    /// The Hodges–Lehmann centre of the pairs.
    pub(crate) centre: f64,
    /// The standard deviation of one difference, from the spreads of both trials.
    pub(crate) sd: f64,
    /// Number of units that hold both trials.
    pub(crate) unit_count: usize,
}

impl LogDifference {
    pub(crate) fn ratio(self) -> SharedRatio {
        let ratio = |it: IntervalWithRule| IntervalWithRule { ends: it.ends.map(finite_exp), ..it };
        SharedRatio {
            estimate: self.estimate.exp(),
            ci95: self.interval.map(ratio),
            unit_count: self.unit_count,
        }
    }
}

impl SharedRatio {
    /// Faster, slower or a tie; `None` with a single pair.
    pub fn significance(&self) -> Option<Significance> {
        self.ci95.map(|it| Significance::from_interval(it.ends))
    }
}

impl From<SharedRatio> for Ratio {
    fn from(shared: SharedRatio) -> Ratio {
        let SharedRatio { estimate, ci95, unit_count: pairs } = shared;
        Ratio { estimate, ci95: ci95.map(|it| it.ends), rule: ci95.map(|it| it.rule), pairs }
    }
}

/// The times of each trial by unit, and the number of units.
fn times_by_unit(trials: &[Turns]) -> (Vec<Vec<LogTime>>, usize) {
    let units = units_by_round(trials);
    let row = |turns: &Turns| {
        let mut logs: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for turn in turns.iter() {
            logs.entry(units[&turn.round]).or_default().push(turn.value);
        }
        logs.into_iter().filter_map(|(unit, logs)| Some(LogTime { unit, log: median(logs)? })).collect()
    };
    (trials.iter().map(row).collect(), units.values().max().map_or(0, |last| last + 1))
}

/// The unit of each round: the fill, if any fill holds several rounds and there is more than one
/// fill; otherwise the round. Trials may number their fills differently, so two rounds belong
/// together if one trial has the same fill in both.
fn units_by_round(trials: &[Turns]) -> BTreeMap<u32, usize> {
    let mut rounds: BTreeSet<u32> = BTreeSet::new();
    let mut joined_to_previous: BTreeSet<u32> = BTreeSet::new();
    for turns in trials {
        let turns: Vec<&Observation> = turns.iter().collect();
        rounds.extend(turns.iter().map(|turn| turn.round));
        for pair in turns.windows(2).filter(|pair| pair[0].fill == pair[1].fill) {
            joined_to_previous.extend(pair[0].round + 1..=pair[1].round);
        }
    }
    let begins = |round: &u32| !joined_to_previous.contains(round);
    let is_one_fill = rounds.iter().filter(|round| begins(round)).count() < 2;
    let mut units = 0;
    let unit = |round: u32| {
        units += usize::from(is_one_fill || begins(&round));
        // The first round has no previous one.
        (round, units.max(1) - 1)
    };
    rounds.iter().copied().map(unit).collect()
}

/// Moves disturbed readings closer to the others, and returns the residuals of each trial.
fn move_disturbed(table: &mut TwoWayTable) -> Vec<Residuals> {
    let levels = table.polish(RESIDUAL_SWEEPS, mean).levels;
    let residuals = table.residuals(&levels);
    let held = table.trial_counts_by_unit();
    let calm = |(row, residuals): (&mut Vec<LogTime>, Vec<f64>)| {
        let freedom = count_as_float(row.len()) - 1.0;
        let calm = if row.len() < DISTURBED_UNITS_MIN {
            residuals.clone()
        } else {
            pull_in_disturbed(residuals.clone())
        };
        for ((time, calm), residual) in row.iter_mut().zip(&calm).zip(&residuals) {
            if held[time.unit] > OTHER_TRIALS_MIN {
                time.log += calm - residual;
            }
        }
        Residuals { sum_of_squares: deviations_from_mean(calm).iter().map(|it| it * it).sum(), freedom }
    };
    table.rows.iter_mut().zip(residuals).map(calm).collect()
}

/// The centre of a trial's times: the mean of few times, the median of many.
fn centre_of_times(times: &[f64]) -> f64 {
    if times.len() < DISTURBED_UNITS_MIN {
        mean(times)
    } else {
        median(times.iter().copied()).unwrap_or_default()
    }
}

/// The exponential function, limited to finite numbers above zero. Student's interval of two
/// readings of one nanosecond and of a day is wider than a float can hold.
fn finite_exp(log: f64) -> f64 {
    log.clamp(-EXP_ARGUMENT_MAX, EXP_ARGUMENT_MAX).exp()
}

/// The smallest half-width of an interval that the spread of the values allows.
fn least_half_width(values: &[f64], confidence: Confidence) -> f64 {
    let factor = SD_FACTOR * normal_quantile(confidence) / NORMAL_QUANTILE_95;
    mean_and_sd(values).1.map_or(0.0, |sd| factor * sd / count_as_float(values.len()).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRandom;
    use crate::ratio_interval;
    use crate::testing::reading;
    use proptest::prelude::*;

    /// Trials with these times in nanoseconds; `None` where a round is missing.
    fn trials(rows: &[&[Option<f64>]]) -> Vec<Vec<Observation>> {
        let row = |row: &&[Option<f64>]| {
            let turn = |(value, round): (&Option<f64>, u32)| {
                Some(Observation { value: (*value)?, fill: round, round })
            };
            row.iter().zip(0..).filter_map(turn).collect()
        };
        rows.iter().map(row).collect()
    }

    /// Readings of `count` trials over `rounds` rounds: the times differ by trial, by round and by
    /// noise of `sd`.
    fn race(count: u32, rounds: u32, sd: f64, noise: &mut SeededRandom) -> Vec<Vec<Observation>> {
        let of_round: Vec<f64> = (0..rounds).map(|_| 0.1 * noise.normal()).collect();
        let trial = |trial: u32| {
            let log = |of_round: &f64| 0.1 * f64::from(trial) + of_round + sd * noise.normal();
            Observation::from_rounds(of_round.iter().map(log).map(|log| 1e8 * log.exp()))
        };
        (0..count).map(trial).collect()
    }

    fn ends(ratio: &SharedRatio) -> Interval {
        ratio.ci95.unwrap().ends
    }

    #[test]
    fn each_number_of_pairs_and_of_trials_has_its_rule() {
        let mut noise = SeededRandom::new(1);
        let rules = |count, rounds, noise: &mut SeededRandom| {
            let shared = SharedVariance::new(race(count, rounds, 0.05, noise));
            let (ratio, location) = (shared.ratio(1, 0).unwrap(), shared.location(1).unwrap());
            [ratio.ci95, shared.ratio_of_chosen(1, 0, 7).unwrap().ci95, location.ci95]
                .map(|it| it.map(|it| it.rule))
        };
        use IntervalRule::{SharedVariance as Shared, SignTest, SignedRank, Student};
        for (count, rounds, expected) in [
            (12, 1, [None; 3]),
            (12, 2, [Some(Shared); 3]),
            (12, 5, [Some(Shared); 3]),
            (12, 6, [Some(SignedRank), Some(Shared), Some(SignTest)]),
            (12, 8, [Some(SignedRank), Some(SignedRank), Some(SignTest)]),
            (7, 3, [Some(Shared), Some(Shared), Some(Student)]),
            (2, 3, [Some(Student); 3]),
            (2, 7, [Some(SignedRank), Some(Student), Some(SignTest)]),
        ] {
            assert_eq!(rules(count, rounds, &mut noise), expected, "{count} trials of {rounds} rounds");
        }
    }

    #[test]
    fn two_trials_have_the_interval_of_students_t() {
        // The logarithms of the ratios are 1, 2 and 3; t is 4.303 at 5 %, the standard error 1/√3.
        let time = |log: f64| Some(log.exp() * 1e6);
        let shared = SharedVariance::new(trials(&[
            &[time(1.0), time(2.0), time(3.0)],
            &[time(0.0), time(0.0), time(0.0)],
        ]));
        let found = shared.ratio(1, 0).unwrap();
        let half = 4.303 / 3_f64.sqrt();
        assert!((found.estimate.ln() - 2.0).abs() < 1e-9 && found.unit_count == 3);
        assert!((ends(&found).high.ln() - 2.0 - half).abs() < 1e-3, "{found:?}");
        let location = shared.location(0).unwrap().ci95.unwrap().ends;
        assert!(((location.low / 1e6).ln() - 2.0 + half).abs() < 1e-3, "{location:?}");
    }

    #[test]
    fn from_six_rounds_on_ratios_are_those_of_the_signed_rank_test() {
        let race = race(9, 12, 0.05, &mut SeededRandom::new(4));
        let shared = SharedVariance::new(&race);
        for trial in 1..9 {
            let alone = ratio_interval(&race[0], &race[trial], Confidence::REPORTED);
            assert_eq!(Some(ends(&shared.ratio(trial, 0).unwrap())), alone);
        }
    }

    #[test]
    fn three_rounds_of_many_trials_are_narrower_than_students_t() {
        let mut noise = SeededRandom::new(9);
        let mut widths = [0.0, 0.0];
        for _ in 0..20 {
            let race = race(28, 3, 0.1, &mut noise);
            let shared = SharedVariance::new(&race);
            let pair = SharedVariance::new(&race[..2]);
            widths[0] += ends(&shared.ratio(1, 0).unwrap()).map(f64::ln).half_width();
            widths[1] += ends(&pair.ratio(1, 0).unwrap()).map(f64::ln).half_width();
        }
        assert!(widths[0] < 0.75 * widths[1], "{widths:?}");
    }

    #[test]
    fn one_round_has_an_estimate_and_no_interval() {
        let shared = SharedVariance::new(race(5, 1, 0.1, &mut SeededRandom::new(1)));
        let found = shared.ratio(1, 0).unwrap();
        assert_eq!((found.unit_count, found.ci95, found.significance()), (1, None, None));
        assert_eq!(shared.location(3).unwrap().ci95, None);
        assert_eq!((shared.sharing_trial_count(), shared.noise_sd(0)), (0, None));
        assert_eq!(shared.significance_against_first(0, 1), None);
    }

    #[test]
    fn missing_rounds_and_trials_have_no_ratio_and_no_location() {
        let (one, two) = (Some(1e6), Some(2e6));
        let shared = SharedVariance::new(trials(&[&[one, None], &[None, two], &[], &[one, two]]));
        assert_eq!(shared.ratio(0, 1), None);
        assert_eq!(shared.ratio(0, 2), None);
        assert_eq!(shared.ratio(0, 99), None);
        assert_eq!(shared.location(2), None);
        assert!((shared.ratio(3, 1).unwrap().estimate - 1.0).abs() < 1e-12);
        assert_eq!(SharedVariance::new::<Observation, Vec<_>>([]).noise_sd(0), None);
        assert_eq!(SharedVariance::new(trials(&[&[one, two]])).location(0).unwrap().unit_count, 2);
    }

    #[test]
    fn rounds_of_one_fill_count_once() {
        // Four fills of three rounds; the second trial numbers its fills from 10 on.
        let mut noise = SeededRandom::new(6);
        let fills: Vec<f64> = (0..4).map(|_| 0.2 * noise.normal()).collect();
        let mut trial = |first: u32, level: f64| -> Vec<Observation> {
            let mut turn = |round: u32| {
                let log = level + fills[round as usize / 3] + 0.001 * noise.normal();
                reading(first + round / 3, round, (1e9 * log.exp()) as u64)
            };
            (0..12).map(&mut turn).collect()
        };
        let race = [trial(0, 0.0), trial(10, 0.5), trial(20, 1.0)];
        let shared = SharedVariance::new(&race);
        assert_eq!(shared.location(0).unwrap().unit_count, 4);
        let found = shared.ratio(0, 1).unwrap();
        assert_eq!(found.unit_count, 4);
        assert!(ends(&found).holds(0.5_f64.exp()), "{found:?}");
        // With a single fill, the units are rounds; in a cold state every reading has its own fill.
        let one_fill = |race: &[Vec<Observation>]| -> Vec<Vec<Observation>> {
            race.iter().map(|all| all.iter().map(|it| Observation { fill: 7, ..*it }).collect()).collect()
        };
        assert_eq!(SharedVariance::new(one_fill(&race)).location(0).unwrap().unit_count, 12);
        let cold =
            [vec![reading(5, 5, 100), reading(6, 6, 100)], vec![reading(5, 6, 100), reading(6, 7, 100)]];
        assert_eq!(SharedVariance::new(&cold).location(1).unwrap().unit_count, 2);
    }

    #[test]
    fn a_disturbed_reading_of_the_reference_widens_no_interval() {
        let mut noise = SeededRandom::new(12);
        let quiet = race(10, 5, 0.02, &mut noise);
        let mut disturbed = quiet.clone();
        disturbed[0][2].value *= 10.0;
        let width = |race: &[Vec<Observation>]| {
            ends(&SharedVariance::new(race).ratio(4, 0).unwrap()).map(f64::ln).half_width()
        };
        assert!(width(&disturbed) < 1.5 * width(&quiet), "{} {}", width(&disturbed), width(&quiet));
    }

    #[test]
    fn the_disturbed_one_of_two_or_three_trials_is_not_guessed() {
        // Five rounds: the fourth reading of the first trial takes ten times as long.
        for count in [2, 3] {
            let mut race = race(count, 5, 0.02, &mut SeededRandom::new(3));
            let quiet = SharedVariance::new(&race).ratio(1, 0).unwrap();
            race[0][3].value *= 10.0;
            let disturbed = SharedVariance::new(&race).ratio(1, 0).unwrap();
            assert!((disturbed.estimate / quiet.estimate).ln().abs() < 0.05, "{quiet:?} {disturbed:?}");
        }
    }

    #[test]
    fn a_reference_that_failed_in_half_its_rounds_has_narrow_intervals_even_so() {
        let mut race = race(12, 8, 0.05, &mut SeededRandom::new(2));
        race[0].retain(|it| it.round % 2 == 0);
        let shared = SharedVariance::new(&race);
        for trial in 1..12 {
            let found = shared.ratio(trial, 0).unwrap();
            assert_eq!((found.unit_count, found.ci95.unwrap().rule), (4, IntervalRule::SharedVariance));
            let half = ends(&found).map(f64::ln).half_width();
            assert!((0.04..0.2).contains(&half), "{found:?}");
        }
    }

    #[test]
    fn all_readings_equal_have_intervals_of_no_width() {
        for (count, rounds) in [(1, 3), (2, 2), (2, 5), (3, 2), (9, 2), (9, 5), (9, 9)] {
            let equal: Vec<Option<f64>> = vec![Some(12_345_678.0); rounds];
            let race = trials(&vec![&equal[..]; count]);
            let shared = SharedVariance::new(&race);
            let location = shared.location(0).unwrap();
            let ends = location.ci95.unwrap().ends;
            assert!(ends.low > 12_345_677.9 && ends.high < 12_345_678.1, "{location:?}");
            if count > 1 {
                let ends = self::ends(&shared.ratio(0, 1).unwrap());
                assert!((ends.low - 1.0).abs() < 1e-8 && (ends.high - 1.0).abs() < 1e-8, "{ends:?}");
            }
        }
    }

    #[test]
    fn one_trial_a_thousand_times_as_noisy_does_not_spoil_the_others() {
        let mut noise = SeededRandom::new(7);
        let mut race = race(10, 3, 0.001, &mut noise);
        for reading in &mut race[9] {
            reading.value *= noise.normal().exp();
        }
        let shared = SharedVariance::new(&race);
        let half = |trial| ends(&shared.ratio(trial, 0).unwrap()).map(f64::ln).half_width();
        assert!(half(4) < 0.01, "{}", half(4));
        assert!(half(9) > 0.1 && half(9).is_finite(), "{}", half(9));
    }

    /// Times by trial and round, some of which are missing.
    fn any_race() -> impl Strategy<Value = Vec<Vec<Option<f64>>>> {
        let time = prop_oneof![4 => (1.0..1e12_f64).prop_map(Some), 1 => Just(Some(1e6)), 1 => Just(None)];
        prop::collection::vec(prop::collection::vec(time, 0..9), 0..12)
    }

    fn variance_of_times(rows: &[Vec<Option<f64>>]) -> SharedVariance {
        SharedVariance::new(trials(&rows.iter().map(|row| &row[..]).collect::<Vec<_>>()))
    }

    /// A race without equal times, some of which are missing, and an order of its trials. The noise
    /// of the race is anything from 1 % to a factor of a hundred.
    fn any_untied_race_and_order() -> impl Strategy<Value = (Vec<Vec<Option<f64>>>, Vec<usize>)> {
        let race = (0.01..5.0_f64).prop_flat_map(|spread| {
            let time = prop::option::weighted(0.8, (0.0..spread).prop_map(|log| 1e8 * log.exp()));
            prop::collection::vec(prop::collection::vec(time, 0..9), 1..12)
        });
        race.prop_flat_map(|rows| {
            let order: Vec<usize> = (0..rows.len()).collect();
            (Just(rows), Just(order).prop_shuffle())
        })
    }

    /// The ratio of a pair, and the ratio of a trial that was chosen from eight.
    fn ratios(shared: &SharedVariance, trial: usize, reference: usize) -> [Option<SharedRatio>; 2] {
        [shared.ratio(trial, reference), shared.ratio_of_chosen(trial, reference, 7)]
    }

    /// Whether two ends agree. The ends of a wide interval are large in logarithms, too, and so are
    /// their rounding errors.
    fn is_near(one: f64, other: f64) -> bool {
        let (one, other) = (one.ln(), other.ln());
        (one - other).abs() < 1e-6 * (1.0 + one.abs())
    }

    fn are_near(one: Option<IntervalWithRule>, other: Option<IntervalWithRule>) -> bool {
        let is_same = |one: IntervalWithRule, other: IntervalWithRule| {
            let (a, b) = (one.ends, other.ends);
            one.rule == other.rule && is_near(a.low, b.low) && is_near(a.high, b.high)
        };
        match (one, other) {
            (Some(one), Some(other)) => is_same(one, other),
            (one, other) => one == other,
        }
    }

    fn opposite(shown: Significance) -> Significance {
        match shown {
            Significance::Faster => Significance::Slower,
            Significance::Slower => Significance::Faster,
            Significance::Tie => Significance::Tie,
        }
    }

    proptest! {
        #[test]
        fn any_times_have_finite_intervals_that_hold_their_estimate(rows in any_race()) {
            let shared = variance_of_times(&rows);
            for trial in 0..rows.len() {
                if let Some(IntervalWithRule { ends, .. }) = shared.location(trial).and_then(|it| it.ci95) {
                    prop_assert!(ends.low > 0.0 && ends.high.is_finite(), "{:?}", ends);
                }
                for other in 0..rows.len() {
                    let Some(found) = shared.ratio(trial, other) else { continue };
                    let Some(IntervalWithRule { ends, .. }) = found.ci95 else {
                        prop_assert_eq!(found.unit_count, 1);
                        continue;
                    };
                    prop_assert!(ends.low > 0.0 && ends.high.is_finite(), "{:?}", found);
                    prop_assert!(ends.low <= found.estimate * (1.0 + 1e-12));
                    prop_assert!(found.estimate <= ends.high * (1.0 + 1e-12));
                    let chosen = shared.ratio_of_chosen(trial, other, 7).and_then(|it| it.ci95).unwrap();
                    prop_assert!(chosen.ends.low > 0.0 && chosen.ends.high.is_finite(), "{:?}", chosen);
                }
            }
        }

        #[test]
        fn swapping_the_two_gives_the_inverse(rows in any_race()) {
            let shared = variance_of_times(&rows);
            for (trial, other) in (0..rows.len()).flat_map(|it| (0..it).map(move |other| (it, other))) {
                for (there, back) in ratios(&shared, trial, other).into_iter().zip(ratios(&shared, other, trial)) {
                    prop_assert_eq!(there.is_some(), back.is_some());
                    let (Some(there), Some(back)) = (there, back) else { continue };
                    prop_assert!((there.estimate * back.estimate - 1.0).abs() < 1e-9);
                    let inverse = |it: IntervalWithRule| {
                        let ends = Interval { low: 1.0 / it.ends.high, high: 1.0 / it.ends.low };
                        IntervalWithRule { ends, ..it }
                    };
                    let back = back.ci95.map(inverse);
                    prop_assert!(are_near(there.ci95, back), "{:?} {:?}", there.ci95, back);
                }
                let of_first = shared.ratio_of_chosen(other, trial, shared.sharing_trial_count().saturating_sub(1));
                let at_bound = |it: IntervalWithRule| is_near(it.ends.low, 1.0) || is_near(it.ends.high, 1.0);
                if !of_first.and_then(|it| it.ci95).is_some_and(at_bound) {
                    let there = shared.significance_against_first(other, trial);
                    prop_assert_eq!(there.map(opposite), shared.significance_against_first(trial, other));
                }
            }
        }

        #[test]
        fn another_unit_of_time_and_another_order_of_trials_change_nothing(
            (rows, order) in any_untied_race_and_order(),
            log_factor in -13.0..13.0_f64,
        ) {
            let factor = log_factor.exp();
            let shared = variance_of_times(&rows);
            let scale = |row: &Vec<Option<f64>>| row.iter().map(|time| Some(factor * (*time)?)).collect();
            let scaled = variance_of_times(&rows.iter().map(scale).collect::<Vec<Vec<Option<f64>>>>());
            let shuffled = variance_of_times(&order.iter().map(|&trial| rows[trial].clone()).collect::<Vec<_>>());
            let place = |trial: usize| order.iter().position(|it| *it == trial).unwrap();
            for trial in 0..rows.len() {
                let location = |shared: &SharedVariance, trial| shared.location(trial).and_then(|it| it.ci95);
                let ends = location(&shared, trial);
                for (factor, other) in
                    [(1.0, location(&shuffled, place(trial))), (factor, location(&scaled, trial))]
                {
                    let unscaled = |it: IntervalWithRule| IntervalWithRule { ends: it.ends.map(|end| end / factor), ..it };
                    let other = other.map(unscaled);
                    prop_assert!(are_near(ends, other), "{:?} {:?}", ends, other);
                }
                let reference = (trial + 1) % rows.len();
                if reference == trial {
                    continue;
                }
                let places = [place(trial), place(reference)];
                for (changed, [trial_there, reference_there]) in
                    [(&scaled, [trial, reference]), (&shuffled, places)]
                {
                    let here = ratios(&shared, trial, reference).map(|it| it.and_then(|it| it.ci95));
                    let there = ratios(changed, trial_there, reference_there);
                    for (here, there) in here.into_iter().zip(there.map(|it| it.and_then(|it| it.ci95))) {
                        prop_assert!(are_near(here, there), "{:?} {:?}", here, there);
                    }
                    let here = shared.significance_against_first(reference, trial);
                    prop_assert_eq!(here, changed.significance_against_first(reference_there, trial_there));
                }
            }
        }
    }
}
