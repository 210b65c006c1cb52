//! The 95 % interval of a median, by resampling groups of observations.
//!
//! Observations of one fill of the cache resemble each other more than those of another fill, so whole fills are drawn
//! with replacement and each drawn fill keeps its observations: Davison & Hinkley, *Bootstrap Methods and their
//! Application* (1997), section 3.8, show that drawing again within the groups would count the inner variance twice.
//! Where there is one fill only, rounds are drawn, and with one round only, single readings; the interval then speaks
//! of that fill alone. With few groups the percentiles of the resamples lie too close together (three fills: 76 % of the
//! intervals hold the true median instead of 95 %), so the interval is `median ± t(k-1) * sqrt(k / (k-1)) * se` with the
//! standard deviation `se` of the resampled medians and Student's t for `k` groups: Hesterberg, *What Teachers Should
//! Know About the Bootstrap*, The American Statistician 69 (2015). Readings of one group never resemble each other less
//! than those of different groups, so it is never narrower than if every reading stood alone: three fills that agree by
//! luck prove nothing. Nor is it narrower than the interval of the sign test (Hollander & Wolfe, *Nonparametric
//! Statistical Methods*), which assumes nothing of the readings' distribution. Tests hold the coverage to simulations.

use super::student::student_t;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde::Serialize;
use statrs::function::factorial::ln_factorial;

/// Fewer observations than this have no interval.
pub const OBSERVATIONS_MIN: usize = 5;

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
    /// Whether a value lies within, the ends included.
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
    /// For numbers that are told: 2,000 resamples.
    #[must_use]
    pub fn new(seed: u64) -> Bootstrap {
        Bootstrap { seed, resamples: 2_000 }
    }

    /// For deciding whether to go on measuring: 400 resamples.
    #[must_use]
    pub fn quick(seed: u64) -> Bootstrap {
        Bootstrap { seed, resamples: 400 }
    }

    /// The interval of the median; `None` with fewer than [`OBSERVATIONS_MIN`] observations. Order does not matter.
    #[must_use]
    pub fn median_interval(&self, observations: &[Observation]) -> Option<Interval> {
        if observations.len() < OBSERVATIONS_MIN {
            return None;
        }
        let sorted = in_order(observations);
        if let (Some(first), Some(last)) = (sorted.first(), sorted.last())
            && first.value == last.value
        {
            // Many a meter stands still, and every resample of it would be the same.
            return Some(Interval { low: first.value, high: last.value });
        }
        let mut reach = self.reach(&Groups::singles(&sorted));
        if let Some(groups) = Groups::fills(&sorted).or_else(|| Groups::rounds(&sorted)) {
            reach = reach.max(self.reach(&groups));
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
        let mut drawn = vec![0; groups.sizes.len()];
        let mut median = || {
            drawn.fill(0);
            let mut total = 0;
            for _ in 0..drawn.len() {
                let group = rng.random_range(0..drawn.len());
                drawn[group] += 1;
                total += groups.sizes[group];
            }
            groups.median(&drawn, total)
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

/// How many of `n` sorted observations lie outside the sign test's interval on each side: the most for which a fair coin
/// thrown `n` times shows so few heads, or so few tails, in at most 5 of 100 series. Below six it is none.
#[expect(clippy::cast_precision_loss, reason = "far fewer observations than 2^52")]
fn sign_test_rank(n: usize) -> usize {
    let all = ln_factorial(n as u64) - n as f64 * std::f64::consts::LN_2;
    let heads = |k: usize| (all - ln_factorial(k as u64) - ln_factorial((n - k) as u64)).exp();
    let mut tail = 0.0;
    let fits = |k: &usize| {
        tail += heads(*k);
        2.0 * tail <= 0.05
    };
    (0..n / 2).take_while(fits).count().saturating_sub(1)
}

#[expect(clippy::cast_precision_loss, reason = "far fewer resamples than 2^52")]
fn standard_deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
}

/// By value, and for equal values in an order of their own, so that the order of measurement does not matter.
fn in_order(observations: &[Observation]) -> Vec<Observation> {
    let mut sorted = observations.to_vec();
    let place = |o: &Observation| (o.fill, o.round);
    sorted.sort_unstable_by(|a, b| a.value.total_cmp(&b.value).then(place(a).cmp(&place(b))));
    sorted
}

/// Sorted values, each in one group; groups are numbered from 0 without gaps.
struct Groups {
    members: Vec<Member>,
    sizes: Vec<usize>,
}

/// A value and the number of its group.
struct Member {
    value: f64,
    group: usize,
}

impl Groups {
    /// Every observation by itself, numbered by place: so the interval of the negated values is the negated interval.
    fn singles(sorted: &[Observation]) -> Groups {
        let mut by_place: Vec<usize> = (0..sorted.len()).collect();
        by_place.sort_by_key(|&index| (sorted[index].fill, sorted[index].round));
        let mut members: Vec<Member> = sorted.iter().map(|o| Member { value: o.value, group: 0 }).collect();
        for (group, &index) in by_place.iter().enumerate() {
            members[index].group = group;
        }
        Groups { members, sizes: vec![1; sorted.len()] }
    }

    /// Those of one fill together; `None` if there is only one.
    fn fills(sorted: &[Observation]) -> Option<Groups> {
        Groups::by(sorted, |o| o.fill)
    }

    /// Those of one round together; `None` if there is only one.
    fn rounds(sorted: &[Observation]) -> Option<Groups> {
        Groups::by(sorted, |o| o.round)
    }

    fn by(sorted: &[Observation], key: impl Fn(&Observation) -> u32) -> Option<Groups> {
        let mut keys: Vec<u32> = sorted.iter().map(&key).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut sizes = vec![0; keys.len()];
        let member = |o| {
            let group = keys.binary_search(&key(o)).expect("the keys are those of the observations");
            sizes[group] += 1;
            Member { value: o.value, group }
        };
        let members = sorted.iter().map(member).collect();
        (keys.len() > 1).then_some(Groups { members, sizes })
    }

    /// The median of all values, each counted as often as its group was drawn; `total` of them in all.
    fn median(&self, drawn: &[usize], total: usize) -> f64 {
        let (lower, upper) = ((total - 1) / 2, total / 2);
        let mut seen = 0;
        let mut low = None;
        for member in &self.members {
            seen += drawn[member.group];
            if low.is_none() && seen > lower {
                low = Some(member.value);
            }
            if let (Some(low), true) = (low, seen > upper) {
                return f64::midpoint(low, member.value);
            }
        }
        unreachable!("the total counts every drawn member")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::Noise;
    use proptest::prelude::*;

    fn observation(value: f64, fill: u32, round: u32) -> Observation {
        Observation { value, fill, round }
    }

    /// `fills` fills of `each` readings with true median 1, spread as warm readings are.
    fn experiment(noise: &mut Noise, fills: u32, each: u32, between: f64) -> Vec<Observation> {
        let mut all = Vec::new();
        for fill in 0..fills {
            let level = between * noise.normal();
            for reading in 0..each {
                let value = (level + 0.02 * noise.normal()).exp();
                all.push(observation(value, fill, fill * each + reading));
            }
        }
        all
    }

    #[test]
    fn intervals_hold_the_true_median_as_often_as_they_say() {
        let mut noise = Noise::new(7);
        for (fills, each, between) in [
            (1, 5, 0.0),
            (1, 10, 0.0),
            (1, 30, 0.0),
            (2, 10, 0.05),
            (3, 10, 0.05),
            (3, 10, 0.0),
            (4, 10, 0.05),
            (8, 10, 0.05),
            (10, 1, 0.05),
            (30, 1, 0.05),
        ] {
            let held = (0..600).filter(|&seed| {
                let all = experiment(&mut noise, fills, each, between);
                Bootstrap::quick(seed).median_interval(&all).unwrap().holds(1.0)
            });
            let share = held.count() as f64 / 600.0;
            assert!(
                (0.925..=0.99).contains(&share),
                "{fills} fills of {each}, {between} between them: {share}"
            );
        }
    }

    #[test]
    fn the_sign_test_leaves_out_what_printed_tables_say() {
        // Tables give the rank of the lower end, which is one more than what lies outside.
        for (n, rank) in
            [(5, 1), (6, 1), (8, 1), (9, 2), (10, 2), (15, 4), (20, 6), (30, 10), (50, 18), (100, 40)]
        {
            assert_eq!(sign_test_rank(n) + 1, rank, "{n}");
        }
    }

    #[test]
    fn fills_that_differ_widen_the_interval() {
        let mut noise = Noise::new(3);
        let all = experiment(&mut noise, 4, 25, 0.05);
        let blind: Vec<Observation> = all.iter().map(|o| Observation { fill: 0, ..*o }).collect();
        let width = |all: &[Observation]| Bootstrap::new(1).median_interval(all).unwrap().half_width();
        assert!(width(&all) > 3.0 * width(&blind), "{} {}", width(&all), width(&blind));
    }

    #[test]
    fn readings_of_one_turn_are_no_independent_evidence() {
        let mut noise = Noise::new(5);
        let rounds = experiment(&mut noise, 6, 10, 0.05);
        let one_fill = rounds.iter().map(|o| Observation { fill: 0, round: o.fill, ..*o });
        let one_fill: Vec<Observation> = one_fill.collect();
        let interval = |all: &[Observation]| Bootstrap::new(1).median_interval(all);
        assert_eq!(interval(&one_fill), interval(&rounds));
    }

    #[test]
    fn few_observations_have_no_interval_and_equal_ones_no_width() {
        let level = |n| (0..n).map(|i| observation(3.0, i, i)).collect::<Vec<_>>();
        assert_eq!(Bootstrap::new(1).median_interval(&level(4)), None);
        assert_eq!(Bootstrap::new(1).median_interval(&level(5)), Some(Interval { low: 3.0, high: 3.0 }));
        let turn: Vec<_> = (0..5).map(|i| observation(f64::from(i), 0, 0)).collect();
        assert!(Bootstrap::new(1).median_interval(&turn).is_some_and(|interval| interval.holds(2.0)));
    }

    proptest! {
        #[test]
        fn an_interval_repeats_holds_the_median_and_scales(
            values in prop::collection::vec((1.0..1e9_f64, 0_u32..4), 5..40),
            seed: u64,
        ) {
            let scaled = |factor: f64| -> Vec<Observation> {
                let all = values.iter().zip(0..);
                all.map(|(&(value, fill), round)| observation(value * factor, fill, round)).collect()
            };
            let once = Bootstrap::quick(seed).median_interval(&scaled(1.0)).unwrap();
            let mut backwards = scaled(1.0);
            backwards.reverse();
            prop_assert_eq!(Bootstrap::quick(seed).median_interval(&backwards), Some(once));
            let mut sorted: Vec<f64> = values.iter().map(|&(value, _)| value).collect();
            sorted.sort_unstable_by(f64::total_cmp);
            prop_assert!(once.holds(crate::stats::quantile(&sorted, 0.5)));
            let doubled = Bootstrap::quick(seed).median_interval(&scaled(2.0)).unwrap();
            prop_assert!((doubled.low / 2.0 - once.low).abs() <= 1e-6 * once.high.abs());
        }
    }
}
