//! Intervals of two to five rounds in simulated races: how often they hold the true value under 19
//! kinds of noise, and how wide they are compared with Student's interval of the same pair.

use super::Races;
use crate::noise_model::{HeldCount, factors};
use crate::{ModelCoverage, NoiseModel, SeededRandom, SharedVariance, Significance, TrueMedians, median};

/// Checks and prints the coverage of each cell: a number of trials, a number of rounds and a model.
/// `leeway` allows for chance, because a share of few races scatters.
fn assert_intervals_hold(races: Races, leeway: f64) {
    let mut models = NoiseModel::ALL.map(|model| (model, TrueMedians::default()));
    for (trials, whole) in [(3, 2_500), (4, 2_500), (8, 1_000), (30, 250)] {
        for rounds in 2..=5 {
            let mut found = |(model, truths): &mut (NoiseModel, TrueMedians)| {
                (*model, truths.coverage(*model, trials, rounds, races.share_of(whole)))
            };
            let cells: Vec<(NoiseModel, ModelCoverage)> = models.iter_mut().map(&mut found).collect();
            for (model, found) in &cells {
                let at = format!("{trials} trials, {rounds} rounds, {model:?}: {found:.3?}");
                println!("{at}");
                assert!(found.ratio_held_share >= RATIO_COVERAGE_MIN - leeway, "{at}");
                assert!(found.location_held_share >= LOCATION_COVERAGE_MIN - leeway, "{at}");
                // A tenth of the races has too few loud trials.
                let is_known = races == Races::All;
                assert!(
                    !is_known || found.loud_ratio_held_share.is_none_or(|held| held >= LOUD_COVERAGE_MIN),
                    "{at}"
                );
            }
            let least =
                |of: fn(&ModelCoverage) -> f64| cells.iter().map(|(_, it)| of(it)).fold(1.0, f64::min);
            println!(
                "{trials} trials, {rounds} rounds: least of ratios {:.3}, of locations {:.3}",
                least(|it| it.ratio_held_share),
                least(|it| it.location_held_share)
            );
        }
    }
}

/// The smallest allowed share of intervals that hold the true value, in any cell.
const RATIO_COVERAGE_MIN: f64 = 0.93;
const LOCATION_COVERAGE_MIN: f64 = 0.925;

/// The smallest allowed share for a trial that is loud among silent ones, or that pauses in some
/// readings: few readings do not show that.
const LOUD_COVERAGE_MIN: f64 = 0.78;

#[test]
fn intervals_of_few_rounds_hold_the_true_ratio() {
    assert_intervals_hold(Races::Tenth, 0.04);
}

#[test]
fn intervals_of_few_rounds_are_narrower_than_students_t() {
    for (rounds, width) in [(2, 0.32), (3, 0.67), (4, 0.84), (5, 0.91)] {
        let found = TrueMedians::default().coverage(NoiseModel::Normal(0.02), 30, rounds, 60);
        assert!((found.relative_width - width).abs() < 0.05, "{rounds} rounds: {found:?}");
    }
}

/// The number of rounds of each trial when it stopped: the reference, then a third each with two
/// rounds, with three, and with five or twelve.
fn unequal_rounds(trials: usize, of_reference: usize) -> Vec<usize> {
    let rounds = |at: usize| match 3 * at / trials {
        _ if at == 0 => of_reference,
        0 => 2,
        1 => 3,
        _ if at.is_multiple_of(2) => 5,
        _ => 12,
    };
    (0..trials).map(rounds).collect()
}

/// Checks the ratios to a reference in races whose trials stopped after different numbers of rounds
/// and lack some of their readings.
fn assert_unequal_rounds_hold(races: Races, least: f64) {
    for (trials, of_reference, missing) in
        [(28, 12, 0.0), (28, 4, 0.0), (9, 12, 0.0), (28, 12, 0.2), (9, 12, 0.2)]
    {
        for model in [
            NoiseModel::Normal(0.1),
            NoiseModel::Uneven(0.7),
            NoiseModel::Neighbour(0.3),
            NoiseModel::Spikes(0.02),
            NoiseModel::Rounds,
        ] {
            let mut noise = SeededRandom::new(17);
            let mut truths = TrueMedians::default();
            let [mut ratios, mut locations] = [HeldCount::default(); 2];
            for _ in 0..races.share_of(300) {
                let mut race = model.race(factors(trials), 12, &mut noise);
                for (turns, rounds) in race.trials.iter_mut().zip(unequal_rounds(trials, of_reference)) {
                    turns.truncate(rounds);
                    turns.retain(|_| noise.uniform() >= missing);
                }
                let shared = SharedVariance::new(&race.trials);
                for trial in 1..trials {
                    let [of_trial, of_pair] = truths.medians(model, &race, trial);
                    let log_factor = race.factors[trial].ln();
                    if let Some(ends) = shared.ratio(0, trial).and_then(|it| it.ci95) {
                        ratios.add(ends.ends.map(f64::ln).holds(log_factor + of_pair));
                    }
                    if let Some(ends) = shared.location(trial).and_then(|it| it.ci95) {
                        locations.add(ends.ends.map(|ns| (ns / 1e9).ln()).holds(log_factor + of_trial));
                    }
                }
            }
            let (ratio, location) = (ratios.share(), locations.share());
            let at = format!(
                "{trials} trials, unequal rounds, {of_reference} of the reference, {missing} missing, {model:?}: \
                 ratio {ratio:.3}, location {location:.3}"
            );
            println!("{at}");
            assert!(ratio >= least && location >= least, "{at}");
        }
    }
}

#[test]
fn intervals_hold_where_trials_stopped_and_readings_are_missing() {
    assert_unequal_rounds_hold(Races::Tenth, 0.9);
}

fn share_called_slower(model: NoiseModel, trials: usize, rounds: usize, races: usize) -> f64 {
    let mut noise = SeededRandom::new(23);
    let mut slower = HeldCount::default();
    for _ in 0..races {
        let race = model.race(vec![1.0; trials], rounds, &mut noise);
        let shared = SharedVariance::new(&race.trials);
        let centre = |trial: &usize| median(race.trials[*trial].iter().map(|it| it.value)).unwrap();
        let first = (0..trials).min_by(|a, b| centre(a).total_cmp(&centre(b))).unwrap();
        for trial in (0..trials).filter(|it| *it != first) {
            slower.add(shared.significance_against_first(first, trial) == Some(Significance::Slower));
        }
    }
    slower.share()
}

/// Checks that identical trials tie. Comparisons within a race are correlated, so few races need
/// leeway.
fn assert_identical_trials_tie(races: Races, most: f64) {
    for (trials, whole) in [(3, 1_000), (4, 600), (8, 400), (28, 120)] {
        for rounds in [2, 3, 5, 7, 8] {
            for model in [
                NoiseModel::Normal(0.1),
                NoiseModel::Uneven(0.3),
                NoiseModel::Uneven(0.7),
                NoiseModel::Neighbour(0.3),
                NoiseModel::Spikes(0.1),
            ] {
                let slower = share_called_slower(model, trials, rounds, races.share_of(whole));
                let at =
                    format!("{trials} trials, {rounds} rounds, {model:?}: {slower:.3} are called slower");
                println!("{at}");
                assert!(slower <= most, "{at}");
            }
        }
    }
}

#[test]
fn identical_trials_of_few_rounds_tie_with_the_fastest() {
    assert_identical_trials_tie(Races::Tenth, 0.1);
}

mod ring2 {
    use super::*;

    #[test]
    fn intervals_hold_where_trials_stopped_and_readings_are_missing_in_all_races() {
        assert_unequal_rounds_hold(Races::All, 0.93);
    }

    #[test]
    fn identical_trials_of_few_rounds_tie_with_the_fastest_in_all_races() {
        assert_identical_trials_tie(Races::All, 0.06);
    }

    #[test]
    fn intervals_of_few_rounds_hold_the_true_ratio_in_all_races() {
        assert_intervals_hold(Races::All, 0.0);
    }
}
