//! Tests of whole searches with the scripted sampler of the rounds.

use super::*;
use crate::interface::TrialEnd;
use crate::plan::{Budget, Rules};
use crate::round::testing::{
    COLD, RecordedRun, ScriptedSampler, WARM, failed_end, plan, play_with, rules_for_readings, unproven_turns,
};
use readlab_model::trial::MethodId;
use readlab_model::units::Nanos;
use readlab_record::Line;

/// A search with `candidates` candidates called `a`, `b`, …, a control and a reference, in one
/// state.
fn tuning(candidates: usize, state: CacheState, rules: Rules) -> SearchPlan {
    let names: Vec<String> = (0..candidates).map(|at| char::from(b'a' + at as u8).to_string()).collect();
    let mut trials = vec![("null", state), ("reference", state)];
    trials.extend(names.iter().map(|name| (name.as_str(), state)));
    SearchPlan {
        plan: plan(rules, &trials),
        candidates: (2..candidates + 2).map(TrialIndex::new).collect(),
        references: BTreeSet::from([TrialIndex::new(1)]),
        easy_candidates: BTreeSet::new(),
    }
}

fn sampler_with_rising_times(candidates: usize) -> ScriptedSampler {
    ScriptedSampler::default().with_default_windows((2..candidates + 2).map(|at| (at, 100 * (at as u64 - 1))))
}

fn play(tuning: &SearchPlan, sampler: ScriptedSampler) -> RecordedRun {
    play_with(&tuning.plan, sampler, usize::MAX, |sampler, sink| run(tuning, sampler, sink))
}

/// The trials that have readings of the fresh measurement.
fn trials_measured_afresh(recorded: &RecordedRun) -> BTreeSet<u64> {
    let samples = recorded.samples();
    samples.iter().filter(|sample| sample.rung.is_none()).map(|sample| sample.trial.into()).collect()
}

/// Number of candidates that were read in each rung.
fn rung_sizes(recorded: &RecordedRun) -> Vec<usize> {
    let mut samples = recorded.samples();
    samples.retain(|sample| sample.trial > TrialIndex::new(1));
    let of_rung = |rung| samples.iter().filter(|sample| sample.rung == Some(rung)).count();
    (0..).map(of_rung).take_while(|read| *read > 0).collect()
}

#[test]
fn the_log_of_a_whole_search_follows_the_method() {
    let recorded = play(&tuning(5, WARM, rules_for_readings(2)), sampler_with_rising_times(5));
    insta::assert_snapshot!(recorded.log.join("\n"));
    assert_eq!(recorded.end.unwrap(), EndReason::Settled);
}

#[test]
fn candidates_that_may_be_the_best_are_read_again_and_the_two_best_and_the_reference_are_measured_afresh() {
    for state in [COLD, WARM] {
        let recorded = play(&tuning(12, state, rules_for_readings(6)), sampler_with_rising_times(12));
        let read = rung_sizes(&recorded);
        assert!(read[0] == 12 && read[1..].iter().all(|&again| again <= 8), "{state}: {read:?}");
        let chosen = BTreeSet::from([0, 1, 2, 3]);
        assert_eq!(
            trials_measured_afresh(&recorded),
            chosen,
            "{state}: the control, the reference, the two best"
        );
        let samples = recorded.samples();
        let rounds: BTreeSet<u32> = samples.iter().map(|sample| sample.round).collect();
        let searched = samples.iter().filter_map(|sample| sample.rung).max().unwrap();
        let first_fresh = samples.iter().filter(|it| it.rung.is_none()).map(|it| it.round).min().unwrap();
        assert!(first_fresh > searched && rounds.len() == searched as usize + 1 + 6, "{state}: {rounds:?}");
        assert_eq!(recorded.log_lines(&["measured"]).len(), 14, "{state}");
    }
}

#[test]
fn fresh_readings_have_new_processes_and_new_fills() {
    let recorded =
        play(&tuning(6, WARM, Rules { min_fills: 3, ..rules_for_readings(3) }), sampler_with_rising_times(6));
    let begin = recorded.log.iter().position(|line| line == "start reference").unwrap();
    let opened = recorded.log[begin..].iter().filter(|line| *line == "  open a").count();
    assert_eq!(opened, 1, "a new process for the fresh fills");
    let fills = |rung: bool| -> BTreeSet<u32> {
        recorded.samples().iter().filter(|it| it.rung.is_some() == rung).map(|it| it.fill).collect()
    };
    assert!(fills(true).is_disjoint(&fills(false)), "{:?} {:?}", fills(true), fills(false));
}

#[test]
fn a_candidate_that_fails_in_a_later_rung_ends_with_its_reason_and_the_search_goes_on() {
    let sampler = sampler_with_rising_times(12).ending_at_turn(2, &[100], failed_end("broken pipe"));
    let recorded = play(&tuning(12, WARM, rules_for_readings(2)), sampler);
    assert!(recorded.outcomes().contains(&"failed a: broken pipe"), "{:?}", recorded.outcomes());
    assert_eq!(trials_measured_afresh(&recorded), BTreeSet::from([0, 1, 3, 4]));
    assert_eq!(recorded.end.unwrap(), EndReason::Settled);
}

#[test]
fn candidates_that_cannot_start_or_whose_state_is_not_proven_end_too() {
    let sampler = sampler_with_rising_times(6)
        .ending_at_open(2, failed_end("no such program"))
        .with_turns(3, unproven_turns(4));
    let recorded = play(&tuning(6, COLD, rules_for_readings(2)), sampler);
    assert!(recorded.outcomes().contains(&"failed a: no such program"));
    assert!(recorded.outcomes().iter().any(|line| line.starts_with("refused b: the cold state")));
    assert_eq!(trials_measured_afresh(&recorded), BTreeSet::from([0, 1, 4, 5]));
}

#[test]
fn if_all_candidates_fail_none_is_measured_afresh() {
    let sampler = (2..6)
        .fold(ScriptedSampler::default(), |sampler, trial| sampler.ending_at_open(trial, failed_end("no")));
    let recorded = play(&tuning(4, WARM, rules_for_readings(2)), sampler);
    assert!(trials_measured_afresh(&recorded).is_empty());
    assert_eq!(recorded.log_lines(&["failed"]).len(), 4);
    assert_eq!(recorded.end.unwrap(), EndReason::Settled);
}

#[test]
fn a_single_candidate_is_measured_without_a_search() {
    let recorded = play(&tuning(1, WARM, rules_for_readings(3)), ScriptedSampler::default());
    assert_eq!(
        (rung_sizes(&recorded), trials_measured_afresh(&recorded)),
        (vec![], BTreeSet::from([0, 1, 2]))
    );
}

#[test]
fn the_best_easy_candidate_is_measured_too() {
    let easy_candidates = BTreeSet::from([9, 11].map(TrialIndex::new));
    let recorded = play(
        &SearchPlan { easy_candidates, ..tuning(12, WARM, rules_for_readings(2)) },
        sampler_with_rising_times(12),
    );
    assert_eq!(trials_measured_afresh(&recorded), BTreeSet::from([0, 1, 2, 3, 9]));
}

fn as_settings_of_one_method(mut tuning: SearchPlan) -> SearchPlan {
    for &trial in &tuning.candidates {
        let id = &mut tuning.plan.trials.iter_mut().find(|it| it.trial.index == trial).unwrap().trial.id;
        let number = u64::from(trial) - 1;
        *id = TrialId::new(MethodId { method: "read".into(), ..id.method.clone() }, &Params::default());
        id.params.0.extend([("buffer_bytes".to_owned(), number), ("depth".to_owned(), number % 3)]);
    }
    tuning
}

#[test]
fn settings_that_are_not_read_have_a_prediction() {
    let recorded = play(
        &as_settings_of_one_method(tuning(24, COLD, rules_for_readings(2))),
        sampler_with_rising_times(24),
    );
    let predictions: Vec<Prediction> = recorded.lines.iter().filter_map(prediction).collect();
    let read: BTreeSet<TrialIndex> = recorded.samples().iter().map(|sample| sample.trial).collect();
    assert_eq!(read.len() + predictions.len(), 26, "{:?}", recorded.outcomes());
    for Prediction { ratio, ci95: [low, high], model_error } in predictions {
        assert!(low <= ratio && ratio <= high && ratio > 1.0 && model_error > 0.0, "{ratio} [{low}, {high}]");
    }
}

fn prediction(line: &Line) -> Option<Prediction> {
    match line {
        Line::Outcome { outcome, .. } => outcome.prediction(),
        _ => None,
    }
}

#[test]
fn a_budget_that_ends_in_the_first_rung_leaves_time_for_the_best_candidates_read_so_far() {
    let slow = ScriptedSampler::default()
        .with_default_windows((2..22).map(|at| (at, 1_000_000)))
        .with_default_windows([(2, 900_000)]);
    let budget = Budget::Firm(Nanos(15_000_000));
    let recorded = play(&tuning(20, COLD, Rules { budget, ..rules_for_readings(2) }), slow);
    let read = rung_sizes(&recorded);
    assert!(read.len() == 1 && read[0] < 20, "{read:?}");
    let unread = recorded.outcomes().iter().filter(|line| line.starts_with("ruled out")).count();
    assert_eq!(unread, 20 - read[0], "{:?}", recorded.outcomes());
    assert!(trials_measured_afresh(&recorded).len() >= 3, "{:?}", trials_measured_afresh(&recorded));
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}

#[test]
fn the_best_is_measured_afresh_even_if_the_budget_is_for_one_reading() {
    let budget = Budget::Firm(Nanos(20_000_000));
    // Two readings do not fit, nor does one, nor does a fill.
    for (state, window_ns, fill_ns) in [(COLD, 10_000_000, 0), (COLD, 20_000_000, 0), (WARM, 100, 30_000_000)]
    {
        let sampler = ScriptedSampler { fill_ns, ..ScriptedSampler::default() };
        let sampler = sampler.with_default_windows((2..8).map(|at| (at, window_ns)));
        let recorded = play(&tuning(6, state, Rules { budget, ..rules_for_readings(2) }), sampler);
        assert_eq!(rung_sizes(&recorded), [1], "{state} {window_ns}");
        let mut chosen = trials_measured_afresh(&recorded);
        chosen.retain(|&trial| trial > 1);
        assert_eq!(chosen.len(), 1, "{state} {window_ns}: {:?}", recorded.outcomes());
        assert_eq!(recorded.end.unwrap(), EndReason::Budget);
    }
}

#[test]
fn a_best_candidate_that_is_the_reference_takes_the_place_of_one_trial() {
    let mut tuning = tuning(3, COLD, rules_for_readings(2));
    let [best, second, third] = [2, 3, 4].map(TrialIndex::new);
    tuning.references = BTreeSet::from([best]);
    let mut search = Search::new(tuning.model_settings(COLD), tuning.search_rules(COLD));
    for (trial, wall_ns) in [(best, 100.0), (second, 200.0), (third, 300.0)] {
        search.add_reading(trial, wall_ns);
    }
    for (count_max, right) in [(1, BTreeSet::from([best])), (2, BTreeSet::from([best, second]))] {
        assert_eq!(tuning.trials_to_measure_afresh(COLD, &search, count_max), right);
    }
}

#[test]
fn an_interruption_ends_a_search_at_once_and_keeps_its_readings() {
    let stop = TrialEnd::Run(EndReason::Interrupted);
    let recorded = play(
        &tuning(8, WARM, rules_for_readings(2)),
        sampler_with_rising_times(8).ending_at_turn(3, &[200], stop),
    );
    assert!(trials_measured_afresh(&recorded).is_empty() && rung_sizes(&recorded)[0] == 8);
    assert!(!recorded.log_lines(&["measured"]).is_empty());
    assert_eq!(recorded.end.unwrap(), EndReason::Interrupted);
}

#[test]
fn a_file_that_cannot_be_filled_ends_the_search_with_the_reason() {
    let mut sampler = ScriptedSampler::default();
    sampler.fills.push_back(Err(failed_end("it will not stay")));
    let recorded = play(&tuning(4, WARM, rules_for_readings(2)), sampler);
    assert_eq!(recorded.outcomes().iter().filter(|line| line.ends_with("it will not stay")).count(), 6);
    assert!(recorded.samples().is_empty());
}

#[test]
fn the_user_ends_a_search_and_nothing_is_measured_afresh() {
    let sampler = ScriptedSampler { user_ends_before_turn: Some(4), ..sampler_with_rising_times(8) };
    let recorded = play(&tuning(8, WARM, rules_for_readings(2)), sampler);
    assert_eq!(recorded.samples().len(), 4);
    assert!(trials_measured_afresh(&recorded).is_empty());
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}
