//! The ratio of a trial to the reference: how many times as fast it is, pair by pair within rounds.
//!
//! Both were measured in the same round, minutes apart from other rounds, so drift of the machine
//! cancels out in their quotient. The estimate and its interval are those of the pairs' logarithms
//! by signed ranks ([`Paired`]). Swapping the two gives exactly the inverse.

use crate::interval::{Confidence, Interval};
use crate::observation::Observation;
use crate::paired::Paired;
use crate::turns::{Pair, Turns};
use serde::Serialize;

/// The reference's wall time over the trial's: above one, the trial is the faster.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// The centre of the pairs.
    pub estimate: f64,
    /// 95 % interval; `None` with fewer than five pairs.
    pub ci95: Option<Interval>,
    /// How many rounds hold both.
    pub pairs: usize,
}

/// What an interval shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
    /// Faster, slower or a tie; `None` where there are too few pairs to say.
    pub fn clear(&self) -> Option<Significance> {
        self.ci95.map(Significance::from_interval)
    }
}

impl Significance {
    /// What the interval of a ratio shows.
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

/// The ratio of a trial to the reference; `None` when no round holds both. A turn with several
/// readings counts once, with their median. Pairs of one fill of the reference's count together.
pub fn ratio<O: Into<Observation>>(
    reference: impl IntoIterator<Item = O>,
    trial: impl IntoIterator<Item = O>,
) -> Option<Ratio> {
    let pairs = log_ratios(&Turns::from_readings(reference), &Turns::from_readings(trial));
    let logs = Paired::from_differences(&pairs);
    let ci95 = logs.interval(Confidence::REPORTED).map(|ends| ends.map(f64::exp));
    Some(Ratio { estimate: logs.estimate()?.exp(), ci95, pairs: pairs.len() })
}

/// The interval of the ratio at a confidence of its own, for decisions during a run; `None` where
/// the pairs are too few for it.
pub fn ratio_at<O: Into<Observation>>(
    reference: impl IntoIterator<Item = O>,
    trial: impl IntoIterator<Item = O>,
    confidence: Confidence,
) -> Option<Interval> {
    let pairs = log_ratios(&Turns::from_readings(reference), &Turns::from_readings(trial));
    Paired::from_differences(&pairs).interval(confidence).map(|ends| ends.map(f64::exp))
}

/// The ratio in each round that holds both.
fn log_ratios(reference: &Turns, trial: &Turns) -> Vec<Observation> {
    reference.pairs(trial).iter().map(Pair::log_ratio).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Noise, reading};
    use proptest::prelude::*;

    /// Rounds of a reference and of a trial that takes `factor` of its time; drift and fill are
    /// shared, noise is not.
    fn rounds(noise: &mut Noise, fills: u32, each: u32, factor: f64) -> (Vec<Observation>, Vec<Observation>) {
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

    #[test]
    fn times_as_fast_is_reference_over_trial() {
        let reference: Vec<Observation> = (0..5).map(|round| reading(0, round, 300)).collect();
        let trial: Vec<Observation> = (0..5).map(|round| reading(0, round, 100)).collect();
        let faster = ratio(&reference, &trial).unwrap();
        assert!((faster.estimate - 3.0).abs() < 1e-12 && faster.pairs == 5);
        assert_eq!(faster.clear(), Some(Significance::Faster));
        assert_eq!(ratio(&trial, &reference).unwrap().clear(), Some(Significance::Slower));
        assert_eq!(ratio(&trial, &trial).unwrap().clear(), Some(Significance::Tie));
    }

    #[test]
    fn only_rounds_that_hold_both_are_paired_whatever_their_fills_are_called() {
        let reference: Vec<Observation> = (0..6).map(|round| reading(round, round, 200)).collect();
        let trial: Vec<Observation> = (2..9).map(|round| reading(100 + round, round, 100)).collect();
        let four = ratio(&reference, &trial).unwrap();
        assert_eq!((four.pairs, four.ci95, four.clear()), (4, None, None));
        assert_eq!(ratio(&reference[..2], &trial), None);
        assert_eq!(ratio(&[], &[]), None);
    }

    #[test]
    fn a_turn_of_many_readings_is_one_pair_with_their_median() {
        let turn = |walls: [u64; 3]| walls.map(|wall| reading(0, 0, wall));
        let one = ratio(&turn([100, 90_000, 110]), &turn([55, 54, 56])).unwrap();
        assert!((one.estimate - 2.0).abs() < 1e-12 && one.pairs == 1);
    }

    #[test]
    fn drift_falls_out_of_the_ratio() {
        let (reference, trial) = rounds(&mut Noise::new(11), 3, 12, 0.9);
        let found = ratio(&reference, &trial).unwrap();
        assert_eq!(found.clear(), Some(Significance::Faster));
        assert!(found.ci95.unwrap().holds(1.0 / 0.9), "{found:?}");
    }

    #[test]
    fn two_identical_contenders_tie_in_95_of_100_comparisons() {
        for (fills, each) in [(1, 10), (3, 10), (5, 6), (30, 1)] {
            let mut noise = Noise::new(23);
            let ties = (0..1000).filter(|_| {
                let (a, b) = rounds(&mut noise, fills, each, 1.0);
                ratio(&a, &b).unwrap().clear() == Some(Significance::Tie)
            });
            let ties = ties.count();
            assert!(ties >= 932, "{fills} fills of {each} rounds: {ties} of 1000, chance allows 932");
        }
    }

    #[test]
    fn a_stricter_confidence_gives_a_wider_interval_or_none() {
        let (reference, trial) = rounds(&mut Noise::new(3), 12, 1, 1.1);
        let at = |rounds: usize, error| {
            ratio_at(&reference[..rounds], &trial[..rounds], Confidence::with_error(error))
        };
        assert_eq!(at(12, 0.05), ratio(&reference, &trial).unwrap().ci95);
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
            let there = ratio(&a, &b).unwrap();
            let back = ratio(&b, &a).unwrap();
            prop_assert!((there.estimate * back.estimate - 1.0).abs() < 1e-9);
            if let (Some(there), Some(back)) = (there.ci95, back.ci95) {
                prop_assert!((there.low * back.high - 1.0).abs() < 1e-6);
            }
        }
    }
}
