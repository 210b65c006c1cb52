//! When a trial is settled and when its controls are.

use super::*;
use readlab_model::trial::TrialIndex;

#[test]
fn controls_are_in_every_round_and_end_with_the_last_of_the_others() {
    let rules = Rules { min_runs: 1, ..runs(4) };
    let mut sampler = ScriptedSampler::default();
    sampler.walls.insert(TrialIndex::new(0), 10);
    let recorded = play(&plan(rules, &[("resident", WARM), ("a", WARM), ("b", WARM)]), sampler);
    assert_eq!(
        [
            recorded.count_of(TrialIndex::new(0)),
            recorded.count_of(TrialIndex::new(1)),
            recorded.count_of(TrialIndex::new(2))
        ],
        [4, 4, 4]
    );
    // Only controls: each is settled by itself.
    let recorded = play(&plan(runs(2), &[("null", WARM), ("resident", WARM)]), ScriptedSampler::default());
    assert_eq!([recorded.count_of(TrialIndex::new(0)), recorded.count_of(TrialIndex::new(1))], [2, 2]);
}

#[test]
fn a_trial_that_is_settled_leaves_the_others_to_their_rounds() {
    let rules = Rules { min_runs: 2, max_runs: 6, max_time: Nanos(10_000), ..runs(6) };
    let mut sampler = ScriptedSampler::default();
    sampler.walls.insert(TrialIndex::new(1), 6_000);
    let recorded = play(&plan(rules, &[("null", COLD), ("slow", COLD), ("fast", COLD)]), sampler);
    assert_eq!(
        [
            recorded.count_of(TrialIndex::new(0)),
            recorded.count_of(TrialIndex::new(1)),
            recorded.count_of(TrialIndex::new(2))
        ],
        [6, 2, 6]
    );
}

#[test]
fn max_time_waits_for_the_fewest_readings() {
    let rules = Rules { min_runs: 3, max_runs: 9, max_time: Nanos(1), ..runs(9) };
    assert_eq!(
        play(&plan(rules, &[("a", COLD)]), ScriptedSampler::default()).count_of(TrialIndex::new(0)),
        3
    );
}

#[test]
fn precision_ends_a_trial_once_it_has_the_fewest_readings_and_fills() {
    let rules = Rules { min_runs: 6, max_runs: 50, precision: 0.01, ..runs(50) };
    let steady = play(&plan(rules, &[("a", WARM)]), ScriptedSampler::default());
    assert_eq!(steady.count_of(TrialIndex::new(0)), 6);
    let many_fills = play(&plan(Rules { fills: 9, ..rules }, &[("a", WARM)]), ScriptedSampler::default());
    assert_eq!(many_fills.count_of(TrialIndex::new(0)), 9, "one round a fill, and at least nine fills");
    let mut sampler = ScriptedSampler::default();
    sampler.turns.insert(TrialIndex::new(0), (0..50).map(|n| Ok(vec![100 + 20 * (n % 7)])).collect());
    let unsteady = play(&plan(rules, &[("a", WARM)]), sampler);
    assert_eq!(unsteady.count_of(TrialIndex::new(0)), 50);
}
