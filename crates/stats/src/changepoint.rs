//! The steady state of a series of readings: the reading from which its level no longer changes,
//! found by change points. Before it, the runtime is warming up.
//!
//! The series of logarithms is divided into segments of constant level, exactly, by optimal
//! partitioning (Jackson et al., IEEE Signal Processing Letters 12, 2005) with a squared-error cost
//! and a penalty of `4 ln n` noise variances for each cut. The noise is estimated from the
//! differences of neighbours, so that steps do not count as noise. Single spikes are removed first.
//! Whether the last level is steady is decided as in Barrett et al., *Virtual Machine Warmup Blows
//! Hot and Cold* (OOPSLA 2017): "no steady state" is a possible result, and so is a steady state
//! that is slower than the start.

use crate::{count_as_float, float, median};
use serde::Serialize;

/// Whether and when a series reaches a steady state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "steadiness", rename_all = "snake_case")]
pub enum Steadiness {
    /// The series stays at one level from one reading on.
    Steady {
        /// The index of the first reading at that level, from 0.
        from: usize,
        /// How that level compares with the start.
        trend: Trend,
    },
    /// The level still changes within the last quarter of the series.
    NoSteadyState,
    /// The series has fewer than twenty readings: too few to decide.
    TooShort,
}

/// How the steady level compares with the first level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// The steady level is that of the start.
    Flat,
    /// The level at the end is faster than at the start.
    Warmup,
    /// The level at the end is slower than at the start.
    Slowdown,
}

/// Series with fewer readings are not judged.
const READINGS_MIN: usize = 20;
/// Shortest segment: fewer readings are a spike, not a level.
const SEGMENT_READINGS_MIN: usize = 4;
/// Penalty for each cut, in noise variances times `ln n`.
const CUT_PENALTY_FACTOR: f64 = 4.0;
/// A level that differs from the last level by at most half a percent counts as the same level.
const SAME_LEVEL_SHARE_MAX: f64 = 0.005;

/// Judges a series of wall times in nanoseconds, in the order in which they were taken.
pub fn steadiness(walls_ns: &[u64]) -> Steadiness {
    if walls_ns.len() < READINGS_MIN {
        return Steadiness::TooShort;
    }
    let logs: Vec<f64> = walls_ns.iter().map(|&wall| float(wall.max(1)).ln()).collect();
    let logs = without_spikes(&logs);
    let starts = segment_starts(&logs);
    let level = |index: usize| {
        let end = starts.get(index + 1).copied().unwrap_or(logs.len());
        median(logs[starts[index]..end].iter().copied()).expect("a segment holds readings")
    };
    let last = level(starts.len() - 1);
    let unlike = (0..starts.len()).rev().find(|&index| (level(index) - last).abs() > SAME_LEVEL_SHARE_MAX);
    let from = unlike.map_or(0, |index| starts[index + 1]);
    if logs.len() - from < (logs.len() / 4).max(SEGMENT_READINGS_MIN) {
        return Steadiness::NoSteadyState;
    }
    let trend = match level(0) - last {
        _ if from == 0 => Trend::Flat,
        change if change > SAME_LEVEL_SHARE_MAX => Trend::Warmup,
        change if change < -SAME_LEVEL_SHARE_MAX => Trend::Slowdown,
        _ => Trend::Flat,
    };
    Steadiness::Steady { from, trend }
}

/// Replaces each reading that is more than four noise standard deviations from the median of the
/// five readings around it by that median (Hampel filter), so that a single interruption is not a
/// level.
fn without_spikes(logs: &[f64]) -> Vec<f64> {
    let reach = 4.0 * noise_sd(logs);
    let near = |at: usize| {
        let neighbours = &logs[at.saturating_sub(2)..(at + 3).min(logs.len())];
        median(neighbours.iter().copied()).unwrap_or(logs[at])
    };
    let clean = |(at, &log): (usize, &f64)| if (log - near(at)).abs() > reach { near(at) } else { log };
    logs.iter().enumerate().map(clean).collect()
}

/// The standard deviation of single readings, from the median absolute difference of neighbours,
/// which steps and spikes hardly change. The factor is that of normal noise, 1 / (0.6745 sqrt 2).
/// The result is never below one part in 10,000.
fn noise_sd(logs: &[f64]) -> f64 {
    let differences = logs.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    (median(differences).unwrap_or_default() * 1.0483).max(1e-4)
}

/// The first readings of the segments with the least total cost. The run time grows with the square
/// of the number of readings.
fn segment_starts(logs: &[f64]) -> Vec<usize> {
    let n = logs.len();
    let (mut sums, mut squares) = (vec![0.0], vec![0.0]);
    for log in logs {
        sums.push(sums[sums.len() - 1] + (log - logs[0]));
        squares.push(squares[squares.len() - 1] + (log - logs[0]).powi(2));
    }
    let cost = |from: usize, to: usize| {
        squares[to] - squares[from] - (sums[to] - sums[from]).powi(2) / count_as_float(to - from)
    };
    let penalty = CUT_PENALTY_FACTOR * count_as_float(n).ln() * noise_sd(logs).powi(2);
    let mut best = vec![f64::INFINITY; n + 1];
    best[0] = -penalty;
    let mut previous = vec![0; n + 1];
    for end in SEGMENT_READINGS_MIN..=n {
        let total = |from: usize| best[from] + cost(from, end) + penalty;
        let candidates = 0..=end - SEGMENT_READINGS_MIN;
        let from = candidates.min_by(|&a, &b| total(a).total_cmp(&total(b))).unwrap_or(0);
        (best[end], previous[end]) = (total(from), from);
    }
    let mut starts = vec![previous[n]];
    while starts[starts.len() - 1] > 0 {
        starts.push(previous[starts[starts.len() - 1]]);
    }
    starts.reverse();
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRandom;

    /// A series with these levels in milliseconds and 1 % of noise.
    fn series(seed: u64, levels: impl IntoIterator<Item = f64>) -> Vec<u64> {
        let mut noise = SeededRandom::new(seed);
        levels.into_iter().map(|ms| (ms * 1e6 * (0.01 * noise.normal()).exp()) as u64).collect()
    }

    fn steps(parts: &[(usize, f64)]) -> Vec<f64> {
        parts.iter().flat_map(|&(n, level)| std::iter::repeat_n(level, n)).collect()
    }

    #[test]
    fn a_flat_series_is_steady_from_the_start() {
        let flat = |seed| steadiness(&series(seed, steps(&[(100, 10.0)])));
        let steady =
            (0..100).filter(|&seed| flat(seed) == Steadiness::Steady { from: 0, trend: Trend::Flat });
        assert!(steady.count() >= 95);
    }

    #[test]
    fn a_warm_up_ends_where_the_level_is_reached() {
        for seed in 0..20 {
            let walls = series(seed, steps(&[(5, 30.0), (12, 14.0), (83, 10.0)]));
            let Steadiness::Steady { from, trend } = steadiness(&walls) else { panic!("seed {seed}") };
            assert_eq!(trend, Trend::Warmup);
            assert!((16..=18).contains(&from), "seed {seed}: {from}");
        }
    }

    #[test]
    fn a_slower_steady_state_is_called_a_slowdown() {
        let found = steadiness(&series(1, steps(&[(30, 10.0), (50, 11.0)])));
        let Steadiness::Steady { from, trend: Trend::Slowdown } = found else { panic!("{found:?}") };
        assert!((29..=31).contains(&from), "{from}");
    }

    #[test]
    fn a_late_step_and_an_endless_ramp_are_no_steady_state() {
        let late = series(2, steps(&[(90, 10.0), (10, 8.0)]));
        assert_eq!(steadiness(&late), Steadiness::NoSteadyState);
        let ramp = series(3, (0..100).map(|i| 20.0 - 0.1 * f64::from(i)));
        assert_eq!(steadiness(&ramp), Steadiness::NoSteadyState);
        let cycle = series(4, (0..100).map(|i| if i / 10 % 2 == 0 { 10.0 } else { 13.0 }));
        assert_eq!(steadiness(&cycle), Steadiness::NoSteadyState);
    }

    #[test]
    fn single_spikes_are_no_levels() {
        let steady = (0..40).filter(|&seed| {
            let mut walls = series(seed, steps(&[(60, 10.0)]));
            for at in [0, 20, 41, 57] {
                walls[at] *= 8;
            }
            steadiness(&walls) == Steadiness::Steady { from: 0, trend: Trend::Flat }
        });
        let steady = steady.count();
        assert!(steady >= 38, "{steady} of 40");
    }

    #[test]
    fn few_readings_and_equal_readings_do_not_panic() {
        assert_eq!(steadiness(&[5; 19]), Steadiness::TooShort);
        assert_eq!(steadiness(&[5; 20]), Steadiness::Steady { from: 0, trend: Trend::Flat });
        assert_eq!(steadiness(&[0; 20]), Steadiness::Steady { from: 0, trend: Trend::Flat });
    }
}
