//! Tests of runs that are cut short after any line and resumed: no reading is lost or repeated.

use super::super::testing::{
    COLD, RecordedRun, ScriptedSampler, WARM, failed_end, plan, play, play_resumed, play_until_full,
    record_from_lines, rules_for_readings,
};
use super::*;
use crate::interface::TrialEnd;
use crate::plan::Budget;
use readlab_model::units::Nanos;
use readlab_record::{Line, Resumption};
use std::collections::BTreeSet;

/// A control and two trials in both states.
fn plan_of_six_trials(fills: u32) -> Plan {
    let trials = [("null", COLD), ("a", COLD), ("b", COLD), ("null", WARM), ("a", WARM), ("b", WARM)];
    plan(Rules { min_fills: fills, ..rules_for_readings(6) }, &trials)
}

fn is_outcome(line: &Line) -> bool {
    matches!(line, Line::Outcome { .. })
}

#[test]
fn a_run_that_is_cut_short_after_any_line_resumes_to_the_same_end() {
    for fills in [1, 3, 6] {
        let plan = plan_of_six_trials(fills);
        let whole = play(&plan, ScriptedSampler::default());
        for lines in 0..whole.lines.len() {
            let before = play_until_full(&plan, ScriptedSampler::default(), lines);
            let after = play_resumed(&plan, &before.lines, ScriptedSampler::default());
            assert_eq!(after.end.as_ref().unwrap(), &EndReason::Settled);
            let turns = |run: &RecordedRun| -> Vec<(TrialIndex, u32)> {
                run.samples().iter().map(|sample| (sample.trial, sample.round)).collect()
            };
            let done = [turns(&before), turns(&after)].concat();
            let once: BTreeSet<_> = done.iter().collect();
            assert_eq!(done.len(), once.len(), "cut after {lines} lines: a round was repeated: {done:?}");
            let all = record_from_lines(&[before.lines.as_slice(), &after.lines].concat());
            assert_eq!(all.trials.len(), 6, "cut after {lines} lines: each is announced once");
            for it in &all.trials {
                let (name, readings) = (&it.trial.id, it.samples.len());
                assert_eq!(it.outcome, Some(Outcome::Measured), "{name}");
                assert!(!it.counts.is_empty(), "{name} was not counted");
                let is_whole = it.trial.is_control() || readings == 6;
                assert!(is_whole, "cut after {lines} lines: {name} {readings}");
            }
        }
    }
}

#[test]
fn rounds_and_fills_go_on_with_the_next_number_and_all_contenders_are_started() {
    let plan = plan_of_six_trials(3);
    let whole = play(&plan, ScriptedSampler::default());
    let is_last =
        |line: &Line| matches!(line, Line::Sample(it) if (it.trial, it.round) == (TrialIndex::new(4), 2));
    let before = whole.lines_until(is_last);
    let record = record_from_lines(before);
    let resumed = ResumeState::from_record(&record);
    assert_eq!(resumed.next_state_and_round(&plan, &[]), Some((WARM, 3)));
    assert_eq!(resumed.next_round(WARM), NextRound { round: 3, fill: 2 });
    assert_eq!(resumed.next_round(COLD).round, 6);
    let after = play_resumed(&plan, before, ScriptedSampler::default());
    assert_eq!(after.log_lines(&["stage"]), ["stage cold 3", "stage warm 3"]);
    assert_eq!(after.log_lines(&["filled"]), ["filled 2", "filled 3"]);
    assert!(after.log_lines(&["open"]).len() >= 3, "{:?}", after.log);
    let is_next = |sample: &Sample| sample.round >= 3 && sample.fill == sample.round.div_ceil(2);
    assert!(after.samples().into_iter().all(is_next));
    assert!(after.log_lines(&["trial", "measured null", "count null"]).len() == 3, "{:?}", after.log);
}

#[test]
fn a_resumed_run_goes_on_with_the_trials_that_were_cut_short() {
    let plan = plan_of_six_trials(6);
    for reason in [EndReason::Interrupted, EndReason::RankLost] {
        let stop = TrialEnd::Run(reason);
        let before = play(&plan, ScriptedSampler::default().ending_at_turn(4, &[100, 100], stop));
        let mut record = record_from_lines(&before.lines);
        assert_eq!(record.end.map(|(end, _)| end), Some(reason));
        assert_eq!(record.trials[TrialIndex::new(4)].outcome, Some(Outcome::Measured));
        let open = trials_to_reopen(&record);
        assert_eq!(open, [3, 4, 5].map(TrialIndex::new), "the cold were counted: they are done");
        assert_eq!(ResumeState::from_record(&record).next_state_and_round(&plan, &open).unwrap().0, WARM);
        let at = String::new();
        let resumed = Line::Resumed(Resumption {
            resumed_at: at,
            elapsed_ns: 0,
            state: WARM,
            round: 2,
            reopened_trials: open,
        });
        record.add(resumed.clone());
        assert_eq!((record.end, record.trials[TrialIndex::new(4)].outcome.as_ref()), (None, None));
        let lines = [before.lines, vec![resumed]].concat();
        let after = play_resumed(&plan, &lines, ScriptedSampler::default());
        assert_eq!(after.outcomes(), ["measured null", "measured a", "measured b"]);
        assert_eq!(after.reading_counts()[4], 4);
        assert!(trials_to_reopen(&record).is_empty(), "a run that was killed has ended no trial");
    }
}

#[test]
fn a_trial_that_failed_before_has_no_further_turn() {
    let plan = plan_of_six_trials(6);
    let whole = play(&plan, ScriptedSampler::default().ending_at_turn(1, &[100], failed_end("torn")));
    let after = play_resumed(&plan, whole.lines_until(is_outcome), ScriptedSampler::default());
    assert_eq!((after.reading_counts()[1], after.reading_counts()[4]), (0, 6));
    assert!(!after.log.iter().any(|line| line.contains("failed")));
}

#[test]
fn time_that_was_used_up_is_not_given_again() {
    let budget = Budget::Firm(Nanos(10_000_000));
    let plan = plan(Rules { budget, ..rules_for_readings(50) }, &[("a", COLD)]);
    let before = play_until_full(&plan, ScriptedSampler::default(), 9);
    let late = ScriptedSampler { now_ns: 10_000_000, ..ScriptedSampler::default() };
    let after = play_resumed(&plan, &before.lines, late);
    assert_eq!((after.samples().len(), after.outcomes()), (0, vec!["measured a"]));
    assert_eq!(after.end.unwrap(), EndReason::Budget);
}

#[test]
fn a_state_whose_time_was_up_stays_closed() {
    let budget = Budget::Firm(Nanos(100_000));
    let plan = plan(Rules { budget, ..rules_for_readings(5000) }, &[("a", COLD), ("a", WARM)]);
    let whole = play(&plan, ScriptedSampler::default());
    let later = ScriptedSampler { now_ns: 50_000, ..ScriptedSampler::default() };
    let after = play_resumed(&plan, whole.lines_until(is_outcome), later);
    assert_eq!((after.reading_counts()[0], after.log_lines(&["counts"]).len()), (0, 2));
    assert!(after.reading_counts()[1] > 0);
    assert_eq!(after.end.unwrap(), EndReason::Budget);
}

#[test]
fn the_ceiling_learned_before_an_interruption_is_kept() {
    let plan = plan(rules_for_readings(3), &[("resident", COLD), ("a", COLD), ("b", COLD)]);
    let slow = ScriptedSampler::default().with_default_windows([(0, 1_000), (1, 2_000), (2, 2_000)]);
    let before = play_until_full(&plan, slow, 8);
    assert!(before.reading_counts()[0] > 0, "{:?}", before.log);
    let without_control = ScriptedSampler::default().ending_at_open(0, failed_end("gone"));
    let after =
        play_resumed(&plan, &before.lines, without_control.with_default_windows([(1, 10), (2, 2_000)]));
    let is_refusal = |line: &&str| line.starts_with("refused a: a window of 10 ns");
    assert!(after.outcomes().iter().any(is_refusal), "{:?}", after.log);
}

#[test]
fn trials_that_were_counted_and_not_inspected_are_inspected_when_the_run_is_resumed() {
    let plan = plan(rules_for_readings(1), &[("a", COLD), ("b", COLD)]);
    let trace = |trial| Ok(vec![Line::Trace { trial: TrialIndex::new(trial), trace: Box::default() }]);
    let inspecting =
        || ScriptedSampler { inspections: [trace(0), trace(1)].into(), ..ScriptedSampler::default() };
    let whole = play(&plan, inspecting());
    let through_first = whole.lines_until(|line| matches!(line, Line::Trace { .. }));
    let before_first = &through_first[..through_first.len() - 1];
    for (lines, left) in [(before_first, 2), (through_first, 1)] {
        let after = play_resumed(&plan, lines, inspecting());
        assert_eq!((after.log_lines(&["trace"]).len(), after.samples().len()), (left, 0), "{:?}", after.log);
    }
}
