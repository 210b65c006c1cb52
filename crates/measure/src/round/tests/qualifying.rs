//! Which trials of a race get further rounds.

use super::*;
use crate::plan::{Focus, Role};
use readlab_model::sample::{Delivered, TurnSeen};
use readlab_model::trial::TrialIndex;
use readlab_protocol::Archive;
use readlab_record::{Record, testing};

/// The rules of a race that would read every trial twenty times.
fn race_rules() -> Rules {
    Rules { focus: Focus::First, min_runs: 10, max_runs: 20, ..runs(20) }
}

/// A race of trials that each take the same time in all rounds.
fn race(trials: &[(&str, u64)]) -> (Plan, ScriptedSampler) {
    let named: Vec<(&str, CacheState)> = trials.iter().map(|(name, _)| (*name, COLD)).collect();
    let walls =
        trials.iter().enumerate().map(|(trial, (_, wall_ns))| (TrialIndex::new(trial), *wall_ns)).collect();
    (plan(race_rules(), &named), ScriptedSampler { walls, ..ScriptedSampler::default() })
}

fn stops(recorded: &RecordedRun) -> Vec<&str> {
    recorded.only(&["stopped"])
}

#[test]
fn a_trial_far_behind_stops_after_two_rounds_and_a_near_one_after_five() {
    let (plan, sampler) = race(&[("fast", 100), ("far", 250), ("middle", 130), ("near", 102)]);
    let recorded = play(&plan, sampler);
    let expected = [
        "stopped far NotFirst after 2 rounds",
        "stopped middle NotFirst after 3 rounds",
        "stopped near NotFirst after 5 rounds",
    ];
    assert_eq!(stops(&recorded)[..3], expected);
    assert_eq!(recorded.count_of(TrialIndex::new(0)), 12, "decided at the first look after ten rounds");
    assert_eq!(recorded.outcomes().len(), 4, "each is measured: {:?}", recorded.outcomes());
}

#[test]
fn the_baseline_has_every_round_and_the_usual_way_of_a_language_five() {
    let (mut plan, sampler) = race(&[("fast", 100), ("usual", 900), ("baseline", 900), ("far", 900)]);
    plan.trials[1].role = Role::Usual;
    plan.trials[2].role = Role::Baseline;
    let recorded = play(&plan, sampler);
    assert_eq!([0, 1, 2, 3].map(|trial| recorded.count_of(TrialIndex::new(trial))), [12, 5, 12, 2]);
}

#[test]
fn a_program_of_the_suite_stops_when_time_is_up_and_one_of_the_user_s_does_not() {
    let (mut plan, sampler) = race(&[("fast", 100), ("common", 900), ("baseline", 900)]);
    plan.rules.budget = Budget::Advised(Nanos(1));
    plan.trials[1].role = Role::Common;
    plan.trials[2].role = Role::Baseline;
    let recorded = play(&plan, sampler);
    assert_eq!([0, 1, 2].map(|trial| recorded.count_of(TrialIndex::new(trial))), [5, 2, 5]);
}

#[test]
fn the_best_of_each_contender_has_five_rounds() {
    let (mut plan, sampler) = race(&[("fast", 100), ("best", 400), ("worse", 500)]);
    for trial in [1, 2] {
        plan.trials[trial].trial.id.method.contender = "java".to_owned();
    }
    let recorded = play(&plan, sampler);
    assert_eq!([0, 1, 2].map(|trial| recorded.count_of(TrialIndex::new(trial))), [12, 5, 2]);
}

#[test]
fn what_comes_out_of_an_archive_is_not_compared_with_its_bytes() {
    let (mut plan, sampler) =
        race(&[("bytes", 100), ("slow-bytes", 300), ("decoder", 900), ("slow-decoder", 3000)]);
    for trial in [2, 3] {
        plan.trials[trial].trial.decodes = Some(Archive::Gzip);
    }
    let recorded = play(&plan, sampler);
    assert_eq!([0, 1, 2, 3].map(|trial| recorded.count_of(TrialIndex::new(trial))), [12, 2, 12, 2]);
}

#[test]
fn trials_that_tie_stop_together_and_neither_is_called_slower() {
    let (plan, mut sampler) = race(&[("a", 100), ("b", 100)]);
    let plan = Plan { rules: Rules { precision: 0.01, ..plan.rules }, ..plan };
    // The machine becomes slower, for both alike.
    for trial in [0, 1] {
        sampler.turns.insert(TrialIndex::new(trial), (0..20).map(|n| Ok(vec![100 + 10 * n])).collect());
    }
    let recorded = play(&plan, sampler);
    assert_eq!(stops(&recorded), ["stopped a Decided after 12 rounds", "stopped b Decided after 12 rounds"]);
}

#[test]
fn a_close_race_goes_on_to_the_most_readings() {
    let (plan, mut sampler) = race(&[("a", 100), ("b", 100)]);
    // Faster and slower in turn, by far.
    sampler
        .turns
        .insert(TrialIndex::new(1), (0..20).map(|n| Ok(vec![if n % 2 == 0 { 60 } else { 160 }])).collect());
    let recorded = play(&plan, sampler);
    assert_eq!([0, 1].map(|trial| recorded.count_of(TrialIndex::new(trial))), [20, 20]);
    assert_eq!(stops(&recorded)[0], "stopped a MostReadings after 20 rounds");
}

#[test]
fn one_disturbed_reading_of_the_leader_does_not_keep_the_others_in() {
    let (plan, mut sampler) = race(&[("fast", 100), ("slow", 120)]);
    sampler
        .turns
        .insert(TrialIndex::new(0), [100, 100, 900, 100, 100].map(|wall_ns| Ok(vec![wall_ns])).into());
    assert_eq!(play(&plan, sampler).count_of(TrialIndex::new(1)), 5);
}

#[test]
fn a_race_of_all_trials_alike_stops_none() {
    let (plan, sampler) = race(&[("fast", 100), ("far", 900)]);
    let plan = Plan { rules: Rules { focus: Focus::Everything, ..plan.rules }, ..plan };
    let recorded = play(&plan, sampler);
    assert_eq!([0, 1].map(|trial| recorded.count_of(TrialIndex::new(trial))), [20, 20]);
}

#[test]
fn a_leader_that_cannot_be_true_is_refused_and_stops_nobody() {
    let (plan, mut sampler) = race(&[("resident", 50), ("liar", 1), ("honest", 100), ("slower", 101)]);
    sampler.alterations.insert(TrialIndex::new(0), Box::new(visited));
    let recorded = play(&plan, sampler);
    assert!(recorded.outcomes().iter().any(|line| line.starts_with("refused liar")), "{:?}", recorded.log);
    assert_eq!(recorded.count_of(TrialIndex::new(2)), 12);
    assert_eq!(stops(&recorded)[0], "stopped slower NotFirst after 5 rounds");
}

/// A control that visits the bytes for all of its window.
fn visited(sample: &mut Sample) {
    (sample.cpu_user_ns, sample.cpu_system_ns) = (Some(sample.wall_ns), Some(0));
    sample.turn = TurnSeen { wall_ns: Some(sample.wall_ns), ..TurnSeen::default() };
    sample.turn.delivered = Some(Delivered::Calls);
}

#[test]
fn a_stopped_trial_stays_stopped_when_the_race_is_resumed() {
    let (plan, sampler) = race(&[("fast", 100), ("far", 300)]);
    let whole = play(&plan, sampler);
    let last =
        whole.lines.iter().rposition(|line| matches!(line, Line::Sample(it) if it.round == 6)).unwrap();
    let mut record = Record::new(testing::header());
    whole.lines[..=last].iter().cloned().for_each(|line| record.add(line));
    let (_, sampler) = race(&[("fast", 100), ("far", 300)]);
    let rest = play_rest(&plan, &record, sampler);
    assert_eq!([rest.count_of(TrialIndex::new(0)), rest.count_of(TrialIndex::new(1))], [5, 0]);
    assert!(rest.outcomes().contains(&"measured far"));
}

#[test]
fn nothing_is_counted_of_a_trial_that_stopped_unless_all_are_compared_with_it() {
    let (mut plan, sampler) = race(&[("fast", 100), ("baseline", 900), ("usual", 900), ("far", 900)]);
    plan.trials[1].role = Role::Baseline;
    plan.trials[2].role = Role::Usual;
    let recorded = play(&plan, sampler);
    assert_eq!(
        recorded.only(&["counts"]),
        ["counts usual None", "counts far None", "counts fast Some(7)", "counts baseline Some(7)"]
    );
}
