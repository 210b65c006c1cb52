//! The ratio of a trial to the reference: how many times as fast it is, paired within rounds.
//!
//! Both times of a pair come from the same round, so drift of the machine cancels out in their
//! quotient. The interval is that of the logarithms of the quotients by signed ranks
//! ([`PairedDifferences`]), from these two trials alone; [`crate::SharedVariance`] also uses the
//! noise of other trials. Swapping the two trials gives exactly the inverse.

use crate::interval::{Confidence, Interval, IntervalRule};
use crate::observation::Observation;
use crate::paired::PairedDifferences;
use crate::turns::Turns;
use schemars::JsonSchema;
use serde::Serialize;

/// The reference's wall time divided by the trial's: above one, the trial is faster.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    pub estimate: f64,
    /// 95 % interval; `None` with too few pairs, and if one of two medians has none.
    pub ci95: Option<Interval>,
    /// The rule of the interval; for the quotient of two medians, the rule of their intervals
    /// ([`IntervalRule::of_both`]).
    pub rule: Option<IntervalRule>,
    /// Number of rounds that hold both trials; 0 for the quotient of two medians
    /// ([`crate::LogMedian`]).
    pub pairs: usize,
}

/// What the interval of a ratio shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Significance {
    /// Faster than the reference.
    Faster,
    /// Slower than the reference.
    Slower,
    /// The interval holds 1.
    Tie,
}

impl Ratio {
    /// Faster, slower or a tie; `None` without an interval.
    pub fn significance(&self) -> Option<Significance> {
        self.ci95.map(Significance::from_interval)
    }
}

impl Significance {
    pub fn from_interval(ci95: Interval) -> Significance {
        if ci95.holds(1.0) {
            Significance::Tie
        } else if ci95.low > 1.0 {
            Significance::Faster
        } else {
            Significance::Slower
        }
    }
}

/// The interval of the reference's wall time divided by the trial's; `None` where too few rounds
/// hold both. A turn with several readings counts once, with their median. Pairs of one fill of the
/// reference count together.
pub fn ratio_interval<O: Into<Observation>>(
    reference: impl IntoIterator<Item = O>,
    trial: impl IntoIterator<Item = O>,
    confidence: Confidence,
) -> Option<Interval> {
    let pairs = Turns::logs_of_walls(reference).minus(&Turns::logs_of_walls(trial));
    PairedDifferences::from_differences(&pairs).interval(confidence).map(|ends| ends.map(f64::exp))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRandom;
    use crate::testing::reading;
    use proptest::prelude::*;

    /// Readings of a reference and of a trial that takes `factor` times as long; both share drift
    /// and fill, but not the noise.
    fn paired_readings(
        noise: &mut SeededRandom,
        fills: u32,
        each: u32,
        factor: f64,
    ) -> (Vec<Observation>, Vec<Observation>) {
        let (mut reference, mut trial) = (Vec::new(), Vec::new());
        for round in 0..fills * each {
            let fill = round / each;
            let drift = 0.3 * f64::from(round) / f64::from(fills * each) + 0.1 * noise.normal();
            for (samples, factor) in [(&mut reference, 1.0), (&mut trial, factor)] {
                let slow = if noise.uniform() < 0.05 { 0.4 * noise.uniform() } else { 0.0 };
                let log = drift + 0.02 * noise.normal() + slow;
                samples.push(reading(fill, round, (1e8 * factor * log.exp()) as u64));
            }
        }
        (reference, trial)
    }

    fn reported_ratio_interval(reference: &[Observation], trial: &[Observation]) -> Option<Interval> {
        ratio_interval(reference, trial, Confidence::REPORTED)
    }

    #[test]
    fn times_as_fast_is_reference_over_trial() {
        let turns = |wall| (0..5).map(|round| reading(0, round, wall)).collect::<Vec<_>>();
        let (reference, trial) = (turns(300), turns(100));
        let faster = reported_ratio_interval(&reference, &trial).unwrap();
        assert!((faster.low - 3.0).abs() < 1e-12 && faster.half_width() < 1e-12);
        for (a, b, shown) in [
            (&reference, &trial, Significance::Faster),
            (&trial, &reference, Significance::Slower),
            (&trial, &trial, Significance::Tie),
        ] {
            assert_eq!(reported_ratio_interval(a, b).map(Significance::from_interval), Some(shown));
        }
    }

    #[test]
    fn only_rounds_that_hold_both_are_paired_whatever_their_fills_are_called() {
        let reference: Vec<Observation> = (0..7).map(|round| reading(round, round, 200)).collect();
        let trial: Vec<Observation> = (2..9).map(|round| reading(100 + round, round, 100)).collect();
        let ends = reported_ratio_interval(&reference, &trial).unwrap();
        assert!((ends.low - 2.0).abs() < 1e-12 && ends.half_width() < 1e-12);
        assert_eq!(reported_ratio_interval(&reference[..6], &trial), None, "four rounds");
        assert_eq!(reported_ratio_interval(&[], &[]), None);
    }

    #[test]
    fn a_turn_of_many_readings_is_one_pair_with_their_median() {
        let turns = |walls: [u64; 3]| {
            (0..5).flat_map(|round| walls.map(|wall| reading(round, round, wall))).collect::<Vec<_>>()
        };
        let ends = reported_ratio_interval(&turns([100, 90_000, 110]), &turns([55, 54, 56])).unwrap();
        assert!((ends.low - 2.0).abs() < 1e-12 && (ends.high - 2.0).abs() < 1e-12);
    }

    #[test]
    fn drift_falls_out_of_the_ratio() {
        let (reference, trial) = paired_readings(&mut SeededRandom::new(11), 3, 12, 0.9);
        let ends = reported_ratio_interval(&reference, &trial).unwrap();
        assert!(ends.low > 1.0 && ends.holds(1.0 / 0.9), "{ends:?}");
    }

    #[test]
    fn two_identical_contenders_tie_in_95_of_100_comparisons() {
        for (fills, each) in [(1, 10), (3, 10), (5, 6), (30, 1)] {
            let mut noise = SeededRandom::new(23);
            let ties = (0..1000).filter(|_| {
                let (a, b) = paired_readings(&mut noise, fills, each, 1.0);
                reported_ratio_interval(&a, &b).unwrap().holds(1.0)
            });
            let ties = ties.count();
            assert!(ties >= 932, "{fills} fills of {each} rounds: {ties} of 1000, chance allows 932");
        }
    }

    #[test]
    fn a_stricter_confidence_gives_a_wider_interval_or_none() {
        let (reference, trial) = paired_readings(&mut SeededRandom::new(3), 12, 1, 1.1);
        let at = |rounds: usize, error| {
            ratio_interval(&reference[..rounds], &trial[..rounds], Confidence::with_error(error))
        };
        assert!(at(12, 0.005).unwrap().half_width() > at(12, 0.05).unwrap().half_width());
        assert!(at(8, 0.005).is_none() && at(8, 0.0065).is_some());
        assert!(at(4, 0.05).is_none() && at(5, 0.05).is_some());
    }

    proptest! {
        #[test]
        fn swapping_the_two_gives_the_inverse(
            walls in prop::collection::vec((1_u64..1 << 40, 1_u64..1 << 40), 1..30),
        ) {
            let a: Vec<Observation> = walls.iter().zip(0..).map(|(w, round)| reading(round / 4, round, w.0)).collect();
            let b: Vec<Observation> = walls.iter().zip(0..).map(|(w, round)| reading(round / 4, round, w.1)).collect();
            prop_assert_eq!(reported_ratio_interval(&a, &b).is_some(), walls.len() >= 5);
            if let (Some(there), Some(back)) = (reported_ratio_interval(&a, &b), reported_ratio_interval(&b, &a)) {
                prop_assert!((there.low * back.high - 1.0).abs() < 1e-6);
            }
        }
    }
}
