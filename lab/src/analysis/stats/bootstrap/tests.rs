//! Tests of the intervals: their coverage against simulations, and how groups are drawn.

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
        assert!((0.925..=0.99).contains(&share), "{fills} fills of {each}, {between} between them: {share}");
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
        let skipped = ladder.below(&vec![1; GROUPS_MAX], 19_999);
        assert_eq!(skipped.members, skipped.drawn, "each is drawn once");
        assert!((19_999 - ladder.step..=19_999).contains(&skipped.members), "{skipped:?}");
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
        assert!(from.members > 0);
        let whole = groups.median(&drawn, total, Skipped::default());
        assert_eq!(groups.median(&drawn, total, from), whole, "{drawn:?}");
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
