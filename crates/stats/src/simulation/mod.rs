//! Intervals in simulated rounds: how often they hold the true value under the noise of real
//! machines, and how wide they are. `readlab-bench intervals` runs the same simulations with more
//! repetitions.

mod real_tables;
mod recorded;
mod search;
mod shared_variance;
mod stopping;

use crate::interval::{Confidence, Interval};
use crate::observation::Observation;
use crate::paired::PairedDifferences;
use crate::sign_test::median_interval;
use crate::{NoiseKind, SeededRandom};

/// How many of its races a long simulation runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Races {
    /// A tenth of the races, for the tests of each commit.
    Tenth,
    All,
}

impl Races {
    fn share_of(self, all: usize) -> usize {
        match self {
            Races::Tenth => all / 10,
            Races::All => all,
        }
    }
}

/// The differences of two trials, one of which takes `factor` times as long.
fn paired_differences(
    kind: NoiseKind,
    rounds: u32,
    factor: f64,
    noise: &mut SeededRandom,
) -> Vec<Observation> {
    let [reference, trial] = kind.simulated_pair_logs(rounds, factor, noise);
    let difference = |(a, b): (&Observation, &Observation)| Observation { value: a.value - b.value, ..*a };
    reference.iter().zip(&trial).map(difference).collect()
}

/// The share of intervals that hold the true value, and their median half-width.
fn coverage(repetitions: usize, true_value: f64, mut one: impl FnMut() -> Interval) -> (f64, f64) {
    let intervals: Vec<Interval> = (0..repetitions).map(|_| one()).collect();
    let held = intervals.iter().filter(|ends| ends.holds(true_value)).count();
    let width = crate::median(intervals.iter().map(Interval::half_width)).unwrap();
    (held as f64 / repetitions as f64, width)
}

/// At least this share of intervals must hold the true value. With 600 repetitions, chance lowers
/// the share from 95 % by up to two percentage points, 1.5 more than in the bench.
const COVERAGE_MIN: f64 = 0.925;
const REPETITIONS: usize = 600;

#[test]
fn the_interval_of_a_ratio_holds_the_true_one_whatever_the_noise() {
    let mut noise = SeededRandom::new(1);
    for kind in NoiseKind::ALL {
        for (rounds, factor) in [(5, 1.0), (6, 1.2), (8, 1.02), (10, 1.0), (20, 1.05)] {
            let (held, _) = coverage(REPETITIONS, f64::ln(factor), || {
                let all = paired_differences(kind, rounds, factor, &mut noise);
                PairedDifferences::from_differences(&all).interval(Confidence::REPORTED).unwrap()
            });
            assert!(held >= COVERAGE_MIN, "{kind:?}, {rounds} rounds: {held}");
        }
    }
}

#[test]
fn the_interval_of_a_median_holds_the_true_one_whatever_the_noise() {
    let mut noise = SeededRandom::new(2);
    for kind in NoiseKind::ALL {
        for rounds in [5, 6, 8, 10, 20] {
            let (held, _) = coverage(4 * REPETITIONS, kind.median(), || {
                let all = kind.simulated_logs(rounds, &mut noise);
                median_interval(&all, Confidence::REPORTED).unwrap()
            });
            assert!(held >= COVERAGE_MIN, "{kind:?}, {rounds} rounds: {held}");
        }
    }
}

#[test]
fn at_a_stricter_error_intervals_miss_as_seldom_as_they_say() {
    let mut noise = SeededRandom::new(3);
    let (held, _) = coverage(1000, 0.0, || {
        let all = paired_differences(NoiseKind::Normal, 12, 1.0, &mut noise);
        PairedDifferences::from_differences(&all).interval(Confidence::with_error(0.01)).unwrap()
    });
    assert!((0.98..=0.998).contains(&held), "{held}");
}

#[test]
fn one_disturbed_reading_of_the_reference_widens_an_interval_by_a_third_at_most() {
    for rounds in 5..=8 {
        let width = |kind| {
            let mut noise = SeededRandom::new(4);
            coverage(400, 0.0, || {
                let all = paired_differences(kind, rounds, 1.0, &mut noise);
                PairedDifferences::from_differences(&all).interval(Confidence::REPORTED).unwrap()
            })
        };
        let ((_, quiet), (_, disturbed)) = (width(NoiseKind::Normal), width(NoiseKind::Disturbed));
        assert!(disturbed < 4.0 / 3.0 * quiet, "{rounds} rounds: {quiet} and {disturbed}");
    }
}
