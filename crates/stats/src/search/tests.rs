//! Tests of whole searches, with and without noise.

use super::*;
use crate::testing::reading;
use crate::{SeededRandom, SharedVariance, Significance};
use proptest::prelude::*;

/// Settings of methods with five buffers and four depths each.
fn settings(candidates: usize) -> Vec<SearchSetting> {
    let setting =
        |at: usize| SearchSetting { method: at / 20, levels: vec![Some(at % 20 / 4), Some(at % 4), None] };
    (0..candidates).map(setting).collect()
}

/// Runs a whole search; `wall_ns` returns the time of a candidate in a rung.
fn run_search(
    candidates: usize,
    rules: SearchRules,
    mut wall_ns: impl FnMut(usize, u32) -> f64,
) -> Search<usize> {
    let mut search = Search::new(settings(candidates).into_iter().enumerate(), rules);
    while !search.is_over() {
        for number in search.remaining_candidates() {
            let wall_ns = wall_ns(number, search.rung());
            search.add_reading(number, wall_ns);
        }
        search.close_rung();
    }
    search
}

fn rules(candidates: usize) -> SearchRules {
    SearchRules::for_candidates(candidates, 40, 1)
}

/// Times with an effect of the method, the buffer and the depth. Number 59 is the fastest of 60,
/// and every twentieth candidate is the slowest of its method.
fn additive_time(number: usize, _: u32) -> f64 {
    let [method, buffer, depth] = [number / 20, number % 20 / 4, number % 4].map(count_as_float);
    1e9 * (-0.1 * method - 0.15 * buffer - 0.08 * depth).exp()
}

#[test]
fn the_first_rung_covers_methods_and_levels_and_the_second_levels_within_methods() {
    for seed in 0..20 {
        let settings = settings(60);
        let rules = SearchRules { seed, readings_max: 40, ..rules(60) };
        let mut search = Search::new(settings.iter().cloned().enumerate(), rules);
        let first = search.remaining_candidates();
        let methods: BTreeSet<usize> = first.iter().map(|&at| settings[at].method).collect();
        let levels = |of: &[usize], parameter: usize| -> BTreeSet<(usize, Option<usize>)> {
            of.iter().map(|&at| (settings[at].method, settings[at].levels[parameter])).collect()
        };
        let whatever_method = |of: &[usize], parameter| {
            levels(of, parameter).into_iter().map(|(_, level)| level).collect::<BTreeSet<_>>().len()
        };
        assert_eq!((methods.len(), whatever_method(&first, 0), whatever_method(&first, 1)), (3, 5, 4));
        assert!(first.len() <= 8, "{first:?}");
        first.iter().for_each(|&number| search.add_reading(number, additive_time(number, 0)));
        search.close_rung();
        let both = [first, search.remaining_candidates()].concat();
        assert_eq!((levels(&both, 0).len(), levels(&both, 1).len()), (3 * 5, 3 * 4), "{both:?}");
        assert!(both.len() <= 20, "half of the readings: {}", both.len());
    }
}

#[test]
fn a_search_that_can_afford_less_ends_sooner() {
    let mut search = Search::new(settings(60).into_iter().enumerate(), rules(60));
    let mut noise = SeededRandom::new(1);
    while !search.is_over() {
        for number in search.remaining_candidates() {
            search.add_reading(number, additive_time(number, 0) * (0.2 * noise.normal()).exp());
        }
        search.limit_further_readings(30_usize.saturating_sub(search.reading_count()));
        search.close_rung();
    }
    assert!((28..=30).contains(&search.reading_count()), "{}", search.reading_count());
}

#[test]
fn additive_effects_need_few_readings_to_find_the_best_and_end_the_search() {
    let search = run_search(60, rules(60), additive_time);
    assert_eq!(search.best_first()[0], 59);
    assert!(search.is_decided && search.readings.len() <= 40, "{} readings", search.readings.len());
}

#[test]
fn unread_settings_are_predicted_with_an_interval() {
    let mut search = Search::new(settings(60).into_iter().enumerate(), rules(60));
    for rung in 0..4 {
        search
            .remaining_candidates()
            .into_iter()
            .for_each(|number| search.add_reading(number, additive_time(number, rung)));
        search.close_rung();
    }
    let read: BTreeSet<usize> = search.readings.iter().map(|it| it.setting).collect();
    let unread: Vec<usize> = (0..60).filter(|at| !read.contains(at)).collect();
    let is_held = |&&at: &&usize| {
        let behind = search.ratio_to_leader(at).unwrap();
        let truth = additive_time(at, 0) / additive_time(search.best_first()[0], 0);
        (0.99 * behind.ci95[0]..=1.01 * behind.ci95[1]).contains(&truth)
    };
    let held = unread.iter().filter(is_held).count();
    assert!(unread.len() >= 20 && held * 10 >= unread.len() * 9, "{held} of {}", unread.len());
    assert!(search.ratio_to_leader(0).unwrap().model_error < 0.1, "{:?}", search.ratio_to_leader(0));
}

#[test]
fn drift_that_a_whole_rung_shares_changes_nothing() {
    let drifting = |number, rung| additive_time(number, rung) * [1.0, 1.1, 0.95, 1.05][rung as usize % 4];
    assert_eq!(run_search(60, rules(60), drifting).best_first()[0], 59);
}

#[test]
fn one_disturbed_reading_rules_out_no_setting() {
    let mut is_first = true;
    let loud = |number: usize, rung: u32| {
        let burst = number == 59 && std::mem::take(&mut is_first);
        additive_time(number, rung) * if burst { 3.0 } else { 1.0 }
    };
    let best = run_search(60, rules(60), loud).best_first()[0];
    assert!([59, 58].contains(&best), "{best}");
}

#[test]
fn a_failed_candidate_is_dropped_and_the_search_continues() {
    let mut search = Search::new(settings(60).into_iter().enumerate(), rules(60));
    while !search.is_over() {
        for number in search.remaining_candidates() {
            if number == 59 {
                search.fail(number);
            } else {
                search.add_reading(number, additive_time(number, 0));
            }
        }
        search.close_rung();
        assert!(search.rung() < 2 || !search.remaining_candidates().contains(&59) || !search.has_failed[59]);
    }
    assert!([58, 55].contains(&search.best_first()[0]));
    assert!(!search.best_first().contains(&59));
    let mut all_fail = Search::new(settings(12).into_iter().enumerate(), rules(12));
    while !all_fail.is_over() {
        all_fail.remaining_candidates().into_iter().for_each(|number| all_fail.fail(number));
        all_fail.close_rung();
    }
    assert!(all_fail.best_first().is_empty() && all_fail.remaining_candidates().is_empty());
}

#[test]
fn one_candidate_needs_no_search_and_an_empty_search_is_no_error() {
    let one = Search::new(settings(1).into_iter().map(|it| (7, it)), rules(1));
    assert!(one.is_over());
    assert_eq!(one.best_first(), [7]);
    assert!(Search::<usize>::new([], rules(0)).is_over());
}

#[test]
fn a_first_rung_that_was_cut_off_counts() {
    let mut search = Search::new(settings(4).into_iter().enumerate(), rules(4));
    search.add_reading(2, 50.0);
    search.add_reading(1, 40.0);
    assert_eq!(search.best_first(), [1, 2], "those that were read");
    search.close_rung();
    assert_eq!(search.best_first(), [1, 2]);
    assert!((0..4).all(|at| search.ratio_to_leader(at).is_some()));
}

/// Checks that a search among this many candidates and its fresh readings together take at most a
/// fifth of the exhaustive readings.
fn assert_a_fifth_of_the_exhaustive_readings(candidates: usize) {
    let mut noise = SeededRandom::new(3);
    let search = run_search(candidates, rules(candidates), |_, _| 1e6 * (0.05 * noise.normal()).exp());
    assert!(search.readings.len() + 40 <= candidates * 2, "{candidates}: {}", search.readings.len());
}

#[test]
fn the_usual_search_and_its_fresh_readings_take_a_fifth_of_the_exhaustive_ones() {
    assert_a_fifth_of_the_exhaustive_readings(70);
}

mod ring2 {
    #[test]
    fn a_large_search_takes_a_fifth_of_the_exhaustive_readings() {
        super::assert_a_fifth_of_the_exhaustive_readings(120);
        super::assert_a_fifth_of_the_exhaustive_readings(250);
    }
}

#[test]
fn identical_candidates_are_called_different_in_5_of_100_searches() {
    let different = (0..200_u64).filter(|&seed| {
        let mut noise = SeededRandom::new(seed);
        let mut wall = move |drift: f64| (1e8 * (drift + 0.03 * noise.normal()).exp()) as u64;
        let best = run_search(6, rules(6), |_, rung| wall(0.1 * f64::from(rung)) as f64).best_first();
        assert_ne!(best[0], best[1]);
        let (mut winner, mut second) = (Vec::new(), Vec::new());
        for round in 0..10 {
            let drift = 0.1 * f64::from(round);
            winner.push(reading(round, round, wall(drift)));
            second.push(reading(round, round, wall(drift)));
        }
        SharedVariance::new([second, winner]).ratio(1, 0).unwrap().significance() != Some(Significance::Tie)
    });
    let different = different.count();
    assert!(different <= 18, "{different} of 200, chance allows 18");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_search_ends_within_its_readings(candidates in 0_usize..80, spread in 0.0..1.0_f64, seed: u64) {
        let mut noise = SeededRandom::new(seed);
        let rules = rules(candidates);
        let search = run_search(candidates, rules, |_, _| 1e6 * (spread * noise.normal()).exp());
        prop_assert!(search.readings.len() <= rules.readings_max);
        let best_first = search.best_first();
        let different: BTreeSet<&usize> = best_first.iter().collect();
        prop_assert_eq!(different.len(), best_first.len());
        prop_assert!(best_first.len() <= candidates && best_first.is_empty() == (candidates == 0));
    }

    /// The result depends neither on the unit of time nor on the numbering of the methods.
    #[test]
    fn a_search_depends_on_ratios_alone(scale in 1e-3..1e3_f64, seed: u64) {
        let rules = SearchRules { seed, ..rules(40) };
        let once = run_search(40, rules, additive_time).best_first();
        let again = run_search(40, rules, |number, rung| scale * additive_time(number, rung)).best_first();
        prop_assert_eq!(once[0], again[0]);
    }
}
