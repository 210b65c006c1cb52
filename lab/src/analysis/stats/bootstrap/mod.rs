//! The 95 % interval of a median, by resampling groups of observations.
//!
//! Observations of one fill of the cache resemble each other more than those of another fill, so
//! whole fills are drawn with replacement and each drawn fill has all its observations: Davison &
//! Hinkley, *Bootstrap Methods and their Application* (1997), section 3.8, show that drawing again
//! within the groups would count the inner variance twice. With one fill only, rounds are drawn;
//! with one round only, single readings. The interval is then valid for that fill alone. With few
//! groups the percentiles of the resamples are too close together (three fills: 76 % of the
//! intervals hold the true median instead of 95 %), so the interval is `median ± t(k-1) * sqrt(k /
//! (k-1)) * se` with the standard deviation `se` of the resampled medians and Student's t for `k`
//! groups: Hesterberg, *What Teachers Should Know About the Bootstrap*, The American Statistician
//! 69 (2015). Readings of one group never resemble each other less than those of different groups,
//! so the interval is never narrower than for independent readings: three fills that agree by
//! chance prove nothing. It is also never narrower than the interval of the sign test (Hollander &
//! Wolfe, *Nonparametric Statistical Methods*), which assumes no distribution of the readings.
//! Tests check the coverage by simulation.
//!
//! With more than [`MANY`] observations the sign test's interval replaces the resampling of
//! independent readings. Of more than [`GROUPS_MAX`] groups, neighbours are drawn together, which
//! includes effects that last for several groups. The work then grows with the observations, and
//! not with the observations times the resamples.

mod groups;
#[cfg(test)]
mod tests;

use super::student::student_t;
use groups::{Groups, Ladder, Skipped};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde::Serialize;
use statrs::function::factorial::ln_factorial;

/// Fewer observations than this have no interval.
pub const OBSERVATIONS_MIN: usize = 5;

/// More observations than this are not drawn one by one.
const MANY: usize = 2_000;

/// With more members a group than this it is quicker to count them before anything is drawn.
const LADDER_MIN: usize = 20;

/// As many groups are drawn at most, where there are many observations.
const GROUPS_MAX: usize = 500;

/// One number and where it was taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// The number.
    pub value: f64,
    /// Which fill of the cache.
    pub fill: u32,
    /// Which round.
    pub round: u32,
}

/// An interval that holds the true value in 95 of 100 such experiments.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Whether a value is within the interval, the ends included.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Half its width.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// How resamples are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bootstrap {
    /// Seed of the generator (xoshiro256++), so that an interval can be had again.
    pub seed: u64,
    /// How many resamples are drawn.
    pub resamples: usize,
}

impl Bootstrap {
    /// For numbers that are reported: 2,000 resamples.
    #[must_use]
    pub fn new(seed: u64) -> Bootstrap {
        Bootstrap { seed, resamples: 2_000 }
    }

    /// For deciding whether to go on measuring: 400 resamples.
    #[must_use]
    pub fn quick(seed: u64) -> Bootstrap {
        Bootstrap { seed, resamples: 400 }
    }

    /// The interval of the median; `None` with fewer than [`OBSERVATIONS_MIN`] observations. Order
    /// does not matter.
    #[must_use]
    pub fn median_interval(&self, observations: &[Observation]) -> Option<Interval> {
        if observations.len() < OBSERVATIONS_MIN {
            return None;
        }
        let sorted = in_order(observations);
        if let (Some(first), Some(last)) = (sorted.first(), sorted.last())
            && first.value == last.value
        {
            // Some meters never change; every resample would be the same.
            return Some(Interval { low: first.value, high: last.value });
        }
        let groups = Groups::fills(&sorted).or_else(|| Groups::rounds(&sorted));
        let is_many = sorted.len() > MANY;
        let mut reach = if is_many { 0.0 } else { self.reach(&Groups::singles(&sorted)) };
        // Groups of one reading each are the readings, in the same order.
        let groups = groups.filter(|it| is_many || it.sizes.len() < sorted.len());
        if let Some(groups) = groups {
            reach = reach.max(self.reach(&if is_many { groups.fewer() } else { groups }));
        }
        let values: Vec<f64> = sorted.iter().map(|o| o.value).collect();
        let median = super::quantile(&values, 0.5);
        let beside = sign_test_rank(values.len());
        let (low, high) = (values[beside], values[values.len() - 1 - beside]);
        Some(Interval { low: low.min(median - reach), high: high.max(median + reach) })
    }

    /// How far the interval reaches to each side of the median when these groups are drawn.
    fn reach(&self, groups: &Groups) -> f64 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let ladder = (groups.members.len() > LADDER_MIN * groups.sizes.len()).then(|| Ladder::of(groups));
        let mut drawn = vec![0; groups.sizes.len()];
        let mut median = || {
            drawn.fill(0);
            let mut total = 0;
            for _ in 0..drawn.len() {
                let group = rng.random_range(0..drawn.len());
                drawn[group] += 1;
                total += groups.sizes[group];
            }
            let from =
                ladder.as_ref().map_or_else(Skipped::default, |ladder| ladder.below(&drawn, (total - 1) / 2));
            groups.median(&drawn, total, from)
        };
        let medians: Vec<f64> = (0..self.resamples).map(|_| median()).collect();
        standard_errors(groups.sizes.len()) * standard_deviation(&medians)
    }
}

/// How many standard errors the interval reaches to each side, for so many groups.
#[expect(clippy::cast_precision_loss, reason = "far fewer groups than 2^52")]
fn standard_errors(groups: usize) -> f64 {
    let k = groups as f64;
    student_t(k - 1.0) * (k / (k - 1.0)).sqrt()
}

/// How many of `n` sorted observations are outside the sign test's interval on each side: the most
/// for which a fair coin thrown `n` times shows so few heads, or so few tails, in at most 5 of 100
/// series. Below six it is none.
#[expect(clippy::cast_precision_loss, reason = "far fewer observations than 2^52")]
fn sign_test_rank(n: usize) -> usize {
    let all = ln_factorial(n as u64) - n as f64 * std::f64::consts::LN_2;
    let heads = |k: usize| (all - ln_factorial(k as u64) - ln_factorial((n - k) as u64)).exp();
    let mut tail = 0.0;
    let fits = |k: &usize| {
        tail += heads(*k);
        2.0 * tail <= 0.05
    };
    // Twelve standard deviations from the middle: everything farther out is less than a float can
    // add.
    let first = if n > MANY { n / 2 - 6 * n.isqrt() } else { 0 };
    first + (first..n / 2).take_while(fits).count().saturating_sub(1)
}

#[expect(clippy::cast_precision_loss, reason = "far fewer resamples than 2^52")]
fn standard_deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
}

/// By value, and for equal values in an order of their own, so that the order of measurement does
/// not matter.
fn in_order(observations: &[Observation]) -> Vec<Observation> {
    let mut sorted = observations.to_vec();
    let place = |o: &Observation| (o.fill, o.round);
    sorted.sort_unstable_by(|a, b| a.value.total_cmp(&b.value).then(place(a).cmp(&place(b))));
    sorted
}
