//! The 95 % interval of a median, by resampling groups of observations.
//!
//! Observations of one fill of the cache resemble each other more than those of another fill, so
//! whole fills are drawn with replacement and each drawn fill keeps its observations: Davison &
//! Hinkley, *Bootstrap Methods and their Application* (1997), section 3.8, show that drawing again
//! within the groups would count the inner variance twice. Where there is one fill only, rounds are
//! drawn, and with one round only, single readings; the interval then speaks of that fill alone.
//! With few groups the percentiles of the resamples lie too close together (three fills: 76 % of
//! the intervals hold the true median instead of 95 %), so the interval is `median ± t(k-1) *
//! sqrt(k / (k-1)) * se` with the standard deviation `se` of the resampled medians and Student's t
//! for `k` groups: Hesterberg, *What Teachers Should Know About the Bootstrap*, The American
//! Statistician 69 (2015). Readings of one group never resemble each other less than those of
//! different groups, so it is never narrower than if every reading stood alone: three fills that
//! agree by luck prove nothing. Nor is it narrower than the interval of the sign test (Hollander &
//! Wolfe, *Nonparametric Statistical Methods*), which assumes nothing of the readings'
//! distribution. Tests hold the coverage to simulations.
//!
//! With more than [`MANY`] observations the sign test's interval is that of readings which stand
//! alone, so these are not drawn, and of more than [`GROUPS_MAX`] groups neighbours are drawn
//! together, which takes in what lasts for several of them. Then the work grows with the
//! observations, and not with their product with the resamples.

use super::student::student_t;
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
            // Many a meter stands still, and every resample of it would be the same.
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
            let from = ladder.as_ref().map_or((0, 0), |ladder| ladder.below(&drawn, (total - 1) / 2));
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

/// How many of `n` sorted observations lie outside the sign test's interval on each side: the most
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
    // Twelve standard deviations from the middle: all that lies farther out is less than a float
    // can add.
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
    /// Every observation by itself, numbered by place: so the interval of the negated values is the
    /// negated interval.
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

    /// The same with neighbours together, so that there are no more than [`GROUPS_MAX`].
    fn fewer(mut self) -> Groups {
        let count = self.sizes.len();
        let fewer = count.min(GROUPS_MAX);
        let mut sizes = vec![0; fewer];
        for member in &mut self.members {
            member.group = member.group * fewer / count;
            sizes[member.group] += 1;
        }
        Groups { sizes, ..self }
    }

    /// The median of all values, each counted as often as its group was drawn; `total` of them in
    /// all. So many members may be passed over, which so many drawn values are.
    fn median(&self, drawn: &[usize], total: usize, (passed, mut seen): (usize, usize)) -> f64 {
        let (lower, upper) = ((total - 1) / 2, total / 2);
        let mut low = None;
        for member in &self.members[passed..] {
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

/// How many members of each group lie below places that are evenly spread over all members: it
/// saves looking at every member for every resample.
struct Ladder {
    /// Members from one place to the next.
    step: usize,
    groups: usize,
    /// For each place, the number of each group's members below it.
    below: Vec<u32>,
}

impl Ladder {
    /// Places.
    const RUNGS: usize = 1_000;

    fn of(groups: &Groups) -> Ladder {
        let (step, count) = (groups.members.len().div_ceil(Ladder::RUNGS), groups.sizes.len());
        let (mut seen, mut below) = (vec![0; count], Vec::with_capacity(Ladder::RUNGS * count));
        for members in groups.members.chunks(step) {
            below.extend_from_slice(&seen);
            members.iter().for_each(|member| seen[member.group] += 1);
        }
        Ladder { step, groups: count, below }
    }

    /// The last place with at most `rank` drawn values below it: members below it, and drawn
    /// values.
    fn below(&self, drawn: &[usize], rank: usize) -> (usize, usize) {
        let weigh = |rung: usize| {
            let of_rung = &self.below[rung * self.groups..][..self.groups];
            of_rung.iter().zip(drawn).map(|(&below, &times)| below as usize * times).sum::<usize>()
        };
        let (mut low, mut high) = (0, self.below.len() / self.groups);
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if weigh(middle) <= rank { low = middle } else { high = middle }
        }
        (low * self.step, weigh(low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::stats::testing::Noise;
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
    fn of_many_observations_few_groups_are_drawn_and_few_members_looked_at() {
        for (all, rounds) in [(40_000, 40_000), (40_000, 500)] {
            let observed = (0..all).map(|i| observation(f64::from(i * 7_919 % all), 0, i % rounds));
            let groups = Groups::rounds(&in_order(&observed.collect::<Vec<_>>())).unwrap().fewer();
            assert_eq!(groups.sizes, vec![80; GROUPS_MAX], "{rounds} rounds");
            let ladder = Ladder::of(&groups);
            assert!(ladder.step <= 40 && ladder.below.len() <= GROUPS_MAX * Ladder::RUNGS);
            let (passed, seen) = ladder.below(&vec![1; GROUPS_MAX], 19_999);
            assert_eq!(passed, seen, "each is drawn once");
            assert!((19_999 - ladder.step..=19_999).contains(&passed), "{passed}");
        }
    }

    #[test]
    fn a_median_is_found_from_wherever_it_is_looked_for() {
        let mut noise = Noise::new(17);
        let groups = Groups::fills(&in_order(&experiment(&mut noise, 7, 1_500, 0.02))).unwrap();
        let ladder = Ladder::of(&groups);
        for drawn in [[1; 7], [0, 0, 3, 0, 0, 4, 0], [7, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 5]] {
            let total = 7 * 1_500;
            let from = ladder.below(&drawn, (total - 1) / 2);
            assert!(from.0 > 0);
            assert_eq!(groups.median(&drawn, total, from), groups.median(&drawn, total, (0, 0)), "{drawn:?}");
        }
    }

    #[test]
    fn groups_of_one_reading_each_are_the_readings() {
        let sorted = in_order(&experiment(&mut Noise::new(29), 40, 1, 0.05));
        let (fills, singles) = (Groups::fills(&sorted).unwrap(), Groups::singles(&sorted));
        assert_eq!(fills.sizes, singles.sizes);
        let bootstrap = Bootstrap::quick(3);
        assert_eq!(bootstrap.reach(&fills).to_bits(), bootstrap.reach(&singles).to_bits());
    }

    #[test]
    fn intervals_of_many_observations_hold_the_true_median_as_often_as_they_say() {
        let mut noise = Noise::new(19);
        for (fills, each, between) in [(1, 2_001, 0.0), (6, 400, 0.05), (2_001, 1, 0.05)] {
            let held = (0..60).filter(|&seed| {
                let all = experiment(&mut noise, fills, each, between);
                Bootstrap { seed, resamples: 100 }.median_interval(&all).unwrap().holds(1.0)
            });
            let held = held.count();
            // Of 60 at 95 %, chance allows 51.
            assert!(held >= 51, "{fills} fills of {each}, {between} between them: {held}");
        }
    }

    #[test]
    fn one_observation_more_than_is_drawn_one_by_one_changes_little() {
        let mut noise = Noise::new(23);
        let all = experiment(&mut noise, 1, MANY as u32 + 1, 0.0);
        let width = |all: &[Observation]| Bootstrap::quick(1).median_interval(all).unwrap().half_width();
        let (few, many) = (width(&all[..MANY]), width(&all));
        assert!((0.8..1.25).contains(&(many / few)), "{few} {many}");
        assert_eq!(sign_test_rank(10_001), 4_901, "as summed from the very end");
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
            prop_assert!(once.holds(crate::analysis::stats::quantile(&sorted, 0.5)));
            let doubled = Bootstrap::quick(seed).median_interval(&scaled(2.0)).unwrap();
            prop_assert!((doubled.low / 2.0 - once.low).abs() <= 1e-6 * once.high.abs());
        }
    }
}
