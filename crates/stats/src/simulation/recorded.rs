//! Recorded races of one command under eight spellings (`wc -l {}`, `/usr/bin/wc --lines {}` and so
//! on), warm, 16 MiB, on a 2-core guest whose processors were busy with other work.
//! `identical.json` holds the wall times in nanoseconds: for each race and each command, one number
//! for each round.

use crate::{Observation, SharedVariance, Significance, float, median};

fn races() -> Vec<Vec<Vec<Observation>>> {
    let races: Vec<Vec<Vec<u64>>> = serde_json::from_str(include_str!("identical.json")).unwrap();
    let trial = |walls: Vec<u64>| Observation::from_rounds(walls.into_iter().map(float));
    races.into_iter().map(|race| race.into_iter().map(trial).collect()).collect()
}

#[test]
fn at_most_5_of_100_recorded_pairs_of_identical_commands_are_called_different() {
    let (mut different, mut all) = (0, 0);
    for race in races() {
        for (at, one) in race.iter().enumerate() {
            for other in &race[..at] {
                let clear = SharedVariance::new([one, other]).ratio(1, 0).unwrap().significance();
                different += u32::from(clear != Some(Significance::Tie));
                all += 1;
            }
        }
    }
    assert!(all >= 200 && different * 20 <= all, "{different} of {all}");
}

#[test]
fn at_most_5_of_100_recorded_identical_commands_are_slower_than_the_first() {
    let (mut slower, mut all) = (0, 0);
    for mut race in races() {
        let centre = |it: &Vec<Observation>| median(it.iter().map(|it| it.value)).unwrap();
        race.sort_by(|a, b| centre(a).total_cmp(&centre(b)));
        let shared = SharedVariance::new(&race);
        for other in 1..race.len() {
            let found = shared.significance_against_first(0, other);
            slower += u32::from(found == Some(Significance::Slower));
            all += 1;
        }
    }
    assert!(slower * 20 <= all, "{slower} of {all}");
}

/// The expected numbers come from another implementation of the same formulas (numpy).
#[test]
fn few_rounds_of_identical_commands_hold_1_as_another_implementation_finds() {
    for (rounds, percent) in [(2, 97.8), (3, 98.0), (4, 98.7), (5, 99.5)] {
        let (mut ties, mut all) = (0, 0);
        for race in races() {
            let last = race[0].len() - rounds;
            for from in (0..=last).step_by(rounds) {
                let shared = SharedVariance::new(race.iter().map(|walls| &walls[from..from + rounds]));
                for (one, other) in (0..race.len()).flat_map(|it| (0..it).map(move |other| (it, other))) {
                    ties += u32::from(
                        shared.ratio(one, other).unwrap().significance() == Some(Significance::Tie),
                    );
                    all += 1;
                }
            }
        }
        let found = 100.0 * f64::from(ties) / f64::from(all);
        assert!((found - percent).abs() < 0.051, "{rounds} rounds: {found} % of {all}");
    }
}
