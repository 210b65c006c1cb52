//! The intervals in simulated rounds: how often they hold the true value under the noise of real
//! machines, and how wide they are. `readlab-bench intervals` runs the same noise with more
//! repetitions, beside the intervals of earlier versions.

mod real_tables;
mod recorded;
mod search;
mod shared_variance;
mod stopping;

use crate::interval::{Confidence, Interval};
use crate::observation::Observation;
use crate::paired::Paired;
use crate::sign_test::median_interval;
use crate::testing::Noise;

/// How many of its races a long simulation draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Races {
    /// With each commit.
    Tenth,
    All,
}

impl Races {
    fn of(self, all: usize) -> usize {
        match self {
            Races::Tenth => all / 10,
            Races::All => all,
        }
    }
}

/// What makes readings differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Normal,
    Lognormal,
    /// A neighbour takes time now and then.
    Exponential,
    /// The machine becomes slower.
    Drift,
    /// Fills of four rounds differ by 5 %.
    Fills,
    /// One reading in twenty takes three times as long.
    Spikes,
    /// One reading of the reference takes ten times as long.
    Disturbed,
}

const CAUSES: [Cause; 7] = [
    Cause::Normal,
    Cause::Lognormal,
    Cause::Exponential,
    Cause::Drift,
    Cause::Fills,
    Cause::Spikes,
    Cause::Disturbed,
];

const ROUNDS_OF_FILL: u32 = 4;

/// Readings of a trial with true median 1, in logarithms; the drift is shared by all trials.
fn readings(cause: Cause, rounds: u32, noise: &mut Noise) -> Vec<Observation> {
    let mut of_fill = 0.0;
    let mut reading = |round: u32| {
        if round.is_multiple_of(ROUNDS_OF_FILL) {
            of_fill = 0.05 * noise.normal();
        }
        let small = 0.02 * noise.normal();
        let exponential = -(1.0 - noise.uniform()).ln();
        let value = match cause {
            Cause::Normal | Cause::Disturbed => small,
            Cause::Lognormal => (0.03 * noise.normal().exp()).ln_1p() - 0.03_f64.ln_1p(),
            Cause::Exponential => (0.05 * exponential).ln_1p() - (0.05 * 2_f64.ln()).ln_1p(),
            Cause::Drift => small + 0.1 * ((f64::from(round) + 0.5) / f64::from(rounds) - 0.5),
            Cause::Fills => small + of_fill,
            Cause::Spikes => small + if noise.uniform() < 0.05 { 3_f64.ln() } else { 0.0 },
        };
        let fill = if cause == Cause::Fills { round / ROUNDS_OF_FILL } else { round };
        Observation { value, fill, round }
    };
    (0..rounds).map(&mut reading).collect()
}

/// The differences of two trials of which one takes this many times as long.
fn differences(cause: Cause, rounds: u32, factor: f64, noise: &mut Noise) -> Vec<Observation> {
    let (mut reference, trial) = (readings(cause, rounds, noise), readings(cause, rounds, noise));
    if cause == Cause::Disturbed {
        reference[0].value += 10_f64.ln();
    }
    let difference =
        |(a, b): (&Observation, &Observation)| Observation { value: a.value + factor.ln() - b.value, ..*a };
    reference.iter().zip(&trial).map(difference).collect()
}

/// The share of intervals that hold the true value, and half the median width.
fn coverage(repetitions: usize, true_value: f64, mut one: impl FnMut() -> Interval) -> (f64, f64) {
    let intervals: Vec<Interval> = (0..repetitions).map(|_| one()).collect();
    let held = intervals.iter().filter(|ends| ends.holds(true_value)).count();
    let width = crate::median(intervals.iter().map(Interval::half_width)).unwrap();
    (held as f64 / repetitions as f64, width)
}

/// Chance takes two percent of 600 at 95 %: 1.5 more than the bench allows of its many.
const LEAST: f64 = 0.925;
const REPETITIONS: usize = 600;

#[test]
fn the_interval_of_a_ratio_holds_the_true_one_whatever_the_noise() {
    let mut noise = Noise::new(1);
    for cause in CAUSES {
        for (rounds, factor) in [(5, 1.0), (6, 1.2), (8, 1.02), (10, 1.0), (20, 1.05)] {
            let (held, _) = coverage(REPETITIONS, f64::ln(factor), || {
                let all = differences(cause, rounds, factor, &mut noise);
                Paired::from_differences(&all).interval(Confidence::REPORTED).unwrap()
            });
            assert!(held >= LEAST, "{cause:?}, {rounds} rounds: {held}");
        }
    }
}

#[test]
fn the_interval_of_a_median_holds_the_true_one_whatever_the_noise() {
    let mut noise = Noise::new(2);
    // With spikes the true median is a little above that of the other readings.
    for cause in CAUSES.into_iter().filter(|cause| *cause != Cause::Spikes) {
        for rounds in [5, 6, 8, 10, 20] {
            let (held, _) = coverage(REPETITIONS, 0.0, || {
                let all = readings(cause, rounds, &mut noise);
                median_interval(&all, Confidence::REPORTED).unwrap()
            });
            assert!(held >= LEAST, "{cause:?}, {rounds} rounds: {held}");
        }
    }
}

#[test]
fn at_a_stricter_error_intervals_miss_as_seldom_as_they_say() {
    let mut noise = Noise::new(3);
    let (held, _) = coverage(1000, 0.0, || {
        let all = differences(Cause::Normal, 12, 1.0, &mut noise);
        Paired::from_differences(&all).interval(Confidence::with_error(0.01)).unwrap()
    });
    assert!((0.98..=0.998).contains(&held), "{held}");
}

#[test]
fn one_disturbed_reading_of_the_reference_widens_an_interval_by_a_third_at_most() {
    for rounds in 5..=8 {
        let width = |cause| {
            let mut noise = Noise::new(4);
            coverage(400, 0.0, || {
                let all = differences(cause, rounds, 1.0, &mut noise);
                Paired::from_differences(&all).interval(Confidence::REPORTED).unwrap()
            })
        };
        let ((_, quiet), (_, disturbed)) = (width(Cause::Normal), width(Cause::Disturbed));
        assert!(disturbed < 4.0 / 3.0 * quiet, "{rounds} rounds: {quiet} and {disturbed}");
    }
}
