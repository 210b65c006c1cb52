//! Several pairs of trials that differ in one condition, such as the same methods at two locations
//! of a content: the ratio over all pairs, and the pairs whose ratio differs from the others.
//!
//! The ratio of all pairs is the mean of the logarithms of their ratios: each pair counts once, no
//! matter how often it was read. Two kinds of noise make it uncertain, and its interval is the
//! wider of the two that follow from them.
//!
//! 1. The noise of the pairs. Their intervals are those of [`SharedVariance`], and the half-width
//!    of their mean is √(Σ half²) / m for m pairs.
//! 2. Disturbances of one side in a unit, for all its trials alike, such as a fill that puts the
//!    pages of one file at other places in memory. More pairs do not make this noise smaller. So
//!    the means of the pairs by unit, minus the ratio of each pair, have Student's interval. Two or
//!    three units say little about a spread, and Student's quantile of so few is very wide. So the
//!    quantile is that of [`DEGREES_OF_FREEDOM_MIN`] degrees of freedom at least; the prior of the
//!    spreads in 1 makes up for few units in the same way.
//!
//! A pair is unlike the others if its distance from the median of all pairs is larger than its own
//! interval and theirs allow, at an error that is divided by the number of pairs (Dunn, *Multiple
//! Comparisons among Means*, Journal of the American Statistical Association 56, 1961).

use crate::interval::{Confidence, Interval, IntervalRule, IntervalWithRule};
use crate::median;
use crate::number::{count_as_float, mean};
use crate::shared_variance::{
    CHOSEN_RANK_TEST_PAIRS_MIN, LogDifference, RANK_TEST_PAIRS_MIN, SharedRatio, SharedVariance,
};
use crate::student::{mean_and_sd, student_t};
use crate::two_way::LogTime;
use std::collections::BTreeMap;

/// Smallest number of degrees of freedom for Student's quantile.
const DEGREES_OF_FREEDOM_MIN: f64 = 4.0;

/// A trial and its reference.
struct ComparedPair {
    /// How much less time the trial takes than the reference.
    difference: LogDifference,
    /// How much more time the reference takes in each unit that holds both, in logarithms.
    by_unit: Vec<LogTime>,
}

/// The logarithm of a pair's ratio, with the half-width of its interval.
#[derive(Clone, Copy)]
struct LogRatio {
    estimate: f64,
    half_width: f64,
}

impl SharedVariance {
    /// How many times as fast as their references trials are, over all these pairs of a trial and
    /// its reference; the pair's own ratio if there is only one. If some pairs have intervals, only
    /// these pairs count. `None` if no pair has a unit that holds both of its trials.
    pub fn ratio_over(&self, pairs: &[[usize; 2]]) -> Option<SharedRatio> {
        let mut pairs: Vec<ComparedPair> = pairs.iter().filter_map(|pair| self.compare_pair(*pair)).collect();
        let has_interval = |pair: &ComparedPair| pair.difference.interval.is_some();
        if pairs.iter().any(has_interval) {
            pairs.retain(has_interval);
        }
        match &pairs[..] {
            [] => None,
            [one] => Some(one.difference.ratio()),
            several => Some(mean_of_pairs(several).ratio()),
        }
    }

    /// Whether the ratio of each of these pairs differs from the ratios of the others.
    pub fn are_unlike_others(&self, pairs: &[[usize; 2]]) -> Vec<bool> {
        let error = Confidence::REPORTED.error_probability() / count_as_float(pairs.len().max(1));
        let log_ratio = |[trial, reference]: &[usize; 2]| {
            let confidence = Confidence::with_error(error);
            let difference = self.compare(*trial, *reference, confidence, CHOSEN_RANK_TEST_PAIRS_MIN)?;
            let half_width = difference.interval?.ends.half_width();
            Some(LogRatio { estimate: difference.estimate, half_width })
        };
        let log_ratios: Vec<Option<LogRatio>> = pairs.iter().map(log_ratio).collect();
        (0..pairs.len()).map(|index| is_unlike(&log_ratios, index)).collect()
    }

    fn compare_pair(&self, [trial, reference]: [usize; 2]) -> Option<ComparedPair> {
        let difference = self.compare(trial, reference, Confidence::REPORTED, RANK_TEST_PAIRS_MIN)?;
        Some(ComparedPair { difference, by_unit: self.differences_by_unit(reference, trial)? })
    }
}

fn mean_of_pairs(pairs: &[ComparedPair]) -> LogDifference {
    let estimates: Vec<f64> = pairs.iter().map(|pair| pair.difference.estimate).collect();
    let half_widths: Vec<f64> =
        pairs.iter().filter_map(|pair| Some(pair.difference.interval?.ends.half_width())).collect();
    let (estimate, means) = (mean(&estimates), means_by_unit(pairs));
    let interval = (half_widths.len() == pairs.len()).then(|| {
        let half = half_width_by_pairs(&half_widths).max(half_width_by_units(&means));
        IntervalWithRule { ends: Interval::around(estimate, half), rule: IntervalRule::SharedVariance }
    });
    LogDifference { estimate, interval, unit_count: means.len() }
}

/// The mean over the pairs in each unit, after the ratio of each pair is subtracted. Only units
/// that hold at least half of the pairs count: the mean of a few pairs shows the noise of these
/// pairs, not that of the unit.
fn means_by_unit(pairs: &[ComparedPair]) -> Vec<f64> {
    let mut units = BTreeMap::<usize, Vec<f64>>::new();
    for ComparedPair { difference, by_unit } in pairs {
        for time in by_unit {
            units.entry(time.unit).or_default().push(time.log - difference.estimate);
        }
    }
    units.into_values().filter(|held| 2 * held.len() >= pairs.len()).map(|held| mean(&held)).collect()
}

/// The half-width of the mean of pairs whose intervals have these half-widths.
fn half_width_by_pairs(half_widths: &[f64]) -> f64 {
    half_widths.iter().map(|half| half * half).sum::<f64>().sqrt() / count_as_float(half_widths.len())
}

/// The half-width of the mean of all pairs that follows from the disturbances of single units.
fn half_width_by_units(means: &[f64]) -> f64 {
    let units = count_as_float(means.len());
    let t = |freedom: f64| student_t(freedom.max(DEGREES_OF_FREEDOM_MIN), Confidence::REPORTED);
    mean_and_sd(means).1.map_or(0.0, |sd| t(units - 1.0) * sd / units.sqrt())
}

fn is_unlike(log_ratios: &[Option<LogRatio>], index: usize) -> bool {
    let Some(own) = log_ratios[index] else { return false };
    let others = log_ratios.iter().enumerate().filter(|(other, _)| *other != index);
    let others: Vec<LogRatio> = others.filter_map(|(_, it)| *it).collect();
    let centre = match &others[..] {
        [] => return false,
        [other] => other.estimate,
        several => {
            let all = several.iter().map(|it| it.estimate).chain([own.estimate]);
            median(all).unwrap_or(own.estimate)
        }
    };
    let half_widths: Vec<f64> = others.iter().map(|it| it.half_width).collect();
    (own.estimate - centre).abs() > own.half_width.hypot(half_width_by_pairs(&half_widths))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fewest_holding_draws;
    use crate::{Observation, SeededRandom};

    const METHOD_COUNT: usize = 8;

    /// How the second side of each pair differs from the first.
    #[derive(Clone, Copy)]
    struct SecondSide {
        /// How many times as fast each method is on the second side.
        factors: [f64; METHOD_COUNT],
        /// Standard deviation of a disturbance that all methods of the second side share in a
        /// round.
        round_sd: f64,
    }

    impl SecondSide {
        fn faster_by(factor: f64) -> SecondSide {
            SecondSide { factors: [factor; METHOD_COUNT], round_sd: 0.0 }
        }

        /// Readings over `rounds` rounds: all methods of the first side, then those of this side.
        fn run_race(self, rounds: u32, noise: &mut SeededRandom) -> SharedVariance {
            let mut trials = vec![Vec::new(); 2 * METHOD_COUNT];
            for round in 0..rounds {
                let (of_round, of_side) = (0.1 * noise.normal(), self.round_sd * noise.normal());
                for (index, trial) in trials.iter_mut().enumerate() {
                    let method = index % METHOD_COUNT;
                    let second = if index < METHOD_COUNT { 0.0 } else { of_side - self.factors[method].ln() };
                    let log = 0.3 * count_as_float(method) + of_round + second + 0.05 * noise.normal();
                    trial.push(Observation { value: 1e8 * log.exp(), fill: round, round });
                }
            }
            SharedVariance::new(trials)
        }
    }

    fn method_pairs() -> Vec<[usize; 2]> {
        (0..METHOD_COUNT).map(|method| [METHOD_COUNT + method, method]).collect()
    }

    /// The number of races, out of `races`, in which the interval of all pairs holds this ratio.
    fn count_holding(side: SecondSide, rounds: u32, ratio: f64, races: u64) -> u64 {
        let mut noise = SeededRandom::new(41);
        let holds = |_: &u64| {
            let found = side.run_race(rounds, &mut noise).ratio_over(&method_pairs()).unwrap();
            found.ci95.is_some_and(|it| it.ends.holds(ratio))
        };
        (0..races).filter(holds).count() as u64
    }

    #[test]
    fn the_interval_of_all_pairs_holds_the_true_ratio_in_few_rounds_and_in_many() {
        for (rounds, ratio) in [(2, 1.0), (3, 1.0), (5, 0.8), (10, 1.0)] {
            let held = count_holding(SecondSide::faster_by(ratio), rounds, ratio, 300);
            assert!(held >= fewest_holding_draws(0.94, 300), "{rounds} rounds: {held} of 300");
        }
    }

    #[test]
    fn the_interval_includes_disturbances_of_one_side_in_single_rounds() {
        let side = SecondSide { round_sd: 0.05, ..SecondSide::faster_by(1.0) };
        for rounds in [6, 10] {
            let held = count_holding(side, rounds, 1.0, 300);
            assert!(held >= fewest_holding_draws(0.93, 300), "{rounds} rounds: {held} of 300");
        }
    }

    #[test]
    fn the_ratio_of_all_pairs_has_a_narrower_interval_than_that_of_one() {
        let race = SecondSide::faster_by(0.8).run_race(10, &mut SeededRandom::new(3));
        let (one, all) = (race.ratio(METHOD_COUNT, 0).unwrap(), race.ratio_over(&method_pairs()).unwrap());
        assert!((all.estimate / 0.8 - 1.0).abs() < 0.06, "{all:?}");
        let half = |it: SharedRatio| it.ci95.unwrap().ends.map(f64::ln).half_width();
        assert!(half(all) < 0.7 * half(one), "{all:?} {one:?}");
        assert_eq!((all.unit_count, all.ci95.unwrap().rule), (10, IntervalRule::SharedVariance));
    }

    #[test]
    fn one_pair_has_its_own_ratio_and_one_round_no_interval() {
        let race = SecondSide::faster_by(0.8).run_race(5, &mut SeededRandom::new(3));
        assert_eq!(race.ratio_over(&[[METHOD_COUNT, 0]]), race.ratio(METHOD_COUNT, 0));
        assert_eq!(race.ratio_over(&[]), None);
        let short = SecondSide::faster_by(0.8)
            .run_race(1, &mut SeededRandom::new(3))
            .ratio_over(&method_pairs())
            .unwrap();
        assert_eq!((short.ci95, short.unit_count), (None, 1));
    }

    #[test]
    fn a_pair_that_is_slower_than_the_others_is_found_and_equal_pairs_are_not() {
        let mut side = SecondSide::faster_by(1.0);
        side.factors[3] = 0.5;
        let found = side.run_race(5, &mut SeededRandom::new(9)).are_unlike_others(&method_pairs());
        let expected: Vec<bool> = (0..METHOD_COUNT).map(|method| method == 3).collect();
        assert_eq!(found, expected);
        let mut noise = SeededRandom::new(17);
        let has_unlike = |_: &u32| {
            SecondSide::faster_by(0.8)
                .run_race(5, &mut noise)
                .are_unlike_others(&method_pairs())
                .contains(&true)
        };
        let races = (0..200).filter(has_unlike).count();
        assert!(races <= 20, "{races} of 200 races, where 10 are expected by chance");
    }
}
