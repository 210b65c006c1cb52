//! The ratio of a trial to the reference: how many times as fast it is, pair by pair within rounds.
//!
//! Both were measured in the same round, minutes apart from other rounds, so drift of the machine
//! cancels out in their quotient. The estimate is the median of the pairs' logarithms. Swapping the
//! two gives exactly the inverse.

use super::bootstrap::{Bootstrap, Interval, Observation};
use super::median;
use crate::record::Sample;
use serde::Serialize;
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// The reference's wall time over the trial's: above one, the trial is the faster.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// Median over the pairs.
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
    #[must_use]
    pub fn clear(&self) -> Option<Significance> {
        self.ci95.map(Significance::of)
    }
}

impl Significance {
    /// What the interval of a ratio shows.
    #[must_use]
    pub fn of(ci95: Interval) -> Significance {
        if ci95.holds(1.0) {
            Significance::Tie
        } else if ci95.low > 1.0 {
            Significance::Faster
        } else {
            Significance::Slower
        }
    }
}

/// The wall times of one turn.
#[derive(Default)]
struct TurnWalls {
    fill: u32,
    walls: Vec<f64>,
}

impl TurnWalls {
    /// The logarithm of the turn's median; a window of no nanoseconds counts as one.
    fn log_median(self) -> f64 {
        median(self.walls).unwrap_or_default().max(1.0).ln()
    }
}

/// The ratio of a trial to the reference; `None` when no round holds both. A turn with several
/// readings counts once, with their median. Pairs of one fill of the reference's are resampled
/// together.
#[must_use]
pub fn ratio<S: Borrow<Sample>>(
    reference: impl IntoIterator<Item = S>,
    trial: impl IntoIterator<Item = S>,
    bootstrap: Bootstrap,
) -> Option<Ratio> {
    let mut mine = turns(trial);
    let pairs: Vec<Observation> = (turns(reference).into_iter())
        .filter_map(|(round, theirs)| {
            let (mine, fill) = (mine.remove(&round)?, theirs.fill);
            Some(Observation { value: theirs.log_median() - mine.log_median(), fill, round })
        })
        .collect();
    let log = median(pairs.iter().map(|pair| pair.value))?;
    let ends = bootstrap.median_interval(&pairs);
    Some(Ratio {
        estimate: log.exp(),
        ci95: ends.map(|ends| Interval { low: ends.low.exp(), high: ends.high.exp() }),
        pairs: pairs.len(),
    })
}

#[expect(clippy::cast_precision_loss, reason = "exact up to 104 days")]
fn turns<S: Borrow<Sample>>(samples: impl IntoIterator<Item = S>) -> BTreeMap<u32, TurnWalls> {
    let mut turns: BTreeMap<u32, TurnWalls> = BTreeMap::new();
    for sample in samples {
        let sample = sample.borrow();
        let turn = turns.entry(sample.round).or_default();
        turn.fill = sample.fill;
        turn.walls.push(sample.wall_ns as f64);
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::stats::testing::{Noise, sample};
    use proptest::prelude::*;

    /// Rounds of a reference and of a trial that takes `factor` of its time; drift and fill are
    /// shared, noise is not.
    fn rounds(noise: &mut Noise, fills: u32, each: u32, factor: f64) -> (Vec<Sample>, Vec<Sample>) {
        let (mut reference, mut trial) = (Vec::new(), Vec::new());
        for round in 0..fills * each {
            let fill = round / each;
            let drift = 0.3 * f64::from(round) / f64::from(fills * each) + 0.1 * noise.normal();
            for (samples, factor) in [(&mut reference, 1.0), (&mut trial, factor)] {
                let slow = if noise.uniform() < 0.05 { 0.4 * noise.uniform() } else { 0.0 };
                let log = drift + 0.02 * noise.normal() + slow;
                samples.push(sample(fill, round, (1e8 * factor * log.exp()) as u64));
            }
        }
        (reference, trial)
    }

    #[test]
    fn times_as_fast_is_reference_over_trial() {
        let reference: Vec<Sample> = (0..5).map(|round| sample(0, round, 300)).collect();
        let trial: Vec<Sample> = (0..5).map(|round| sample(0, round, 100)).collect();
        let faster = ratio(&reference, &trial, Bootstrap::new(1)).unwrap();
        assert!((faster.estimate - 3.0).abs() < 1e-12 && faster.pairs == 5);
        assert_eq!(faster.clear(), Some(Significance::Faster));
        assert_eq!(ratio(&trial, &reference, Bootstrap::new(1)).unwrap().clear(), Some(Significance::Slower));
        assert_eq!(ratio(&trial, &trial, Bootstrap::new(1)).unwrap().clear(), Some(Significance::Tie));
    }

    #[test]
    fn only_rounds_that_hold_both_are_paired_whatever_their_fills_are_called() {
        let reference: Vec<Sample> = (0..6).map(|round| sample(round, round, 200)).collect();
        let trial: Vec<Sample> = (2..9).map(|round| sample(100 + round, round, 100)).collect();
        let four = ratio(&reference, &trial, Bootstrap::new(1)).unwrap();
        assert_eq!((four.pairs, four.ci95, four.clear()), (4, None, None));
        assert_eq!(ratio(&reference[..2], &trial, Bootstrap::new(1)), None);
        assert_eq!(ratio(&[], &[], Bootstrap::new(1)), None);
    }

    #[test]
    fn a_turn_of_many_readings_is_one_pair_with_their_median() {
        let turn = |walls: [u64; 3]| walls.map(|wall| sample(0, 0, wall));
        let one = ratio(&turn([100, 90_000, 110]), &turn([55, 54, 56]), Bootstrap::new(1)).unwrap();
        assert!((one.estimate - 2.0).abs() < 1e-12 && one.pairs == 1);
    }

    #[test]
    fn drift_falls_out_of_the_ratio() {
        let (reference, trial) = rounds(&mut Noise::new(11), 3, 12, 0.9);
        let found = ratio(&reference, &trial, Bootstrap::new(1)).unwrap();
        assert_eq!(found.clear(), Some(Significance::Faster));
        assert!(found.ci95.unwrap().holds(1.0 / 0.9), "{found:?}");
    }

    #[test]
    fn two_identical_contenders_tie_in_at_least_95_of_100_comparisons() {
        let mut all = 0;
        for (fills, each) in [(1, 10), (3, 10), (5, 6), (30, 1)] {
            let mut noise = Noise::new(23);
            let ties = (0..200).filter(|&seed| {
                let (a, b) = rounds(&mut noise, fills, each, 1.0);
                ratio(&a, &b, Bootstrap::quick(seed)).unwrap().clear() == Some(Significance::Tie)
            });
            let ties = ties.count();
            assert!(ties >= 187, "{fills} fills of {each} rounds: {ties} of 200, chance allows 187");
            all += ties;
        }
        assert!(all >= 760, "{all} of 800");
    }

    proptest! {
        #[test]
        fn swapping_the_two_gives_the_inverse(
            walls in prop::collection::vec((1_u64..1 << 40, 1_u64..1 << 40), 1..30),
            seed: u64,
        ) {
            let a: Vec<Sample> = walls.iter().zip(0..).map(|(w, round)| sample(round / 4, round, w.0)).collect();
            let b: Vec<Sample> = walls.iter().zip(0..).map(|(w, round)| sample(round / 4, round, w.1)).collect();
            let there = ratio(&a, &b, Bootstrap::quick(seed)).unwrap();
            let back = ratio(&b, &a, Bootstrap::quick(seed)).unwrap();
            prop_assert!((there.estimate * back.estimate - 1.0).abs() < 1e-9);
            if let (Some(there), Some(back)) = (there.ci95, back.ci95) {
                prop_assert!((there.low * back.high - 1.0).abs() < 1e-6);
            }
        }
    }
}
