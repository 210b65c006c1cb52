//! Runs that are cut short after every line that they write, and resumed: nothing is lost and
//! nothing is done twice, whatever the moment.

use super::super::testing::{
    COLD, RecordedRun, ScriptedSampler, WARM, failed, plan, play_rest, play_until_full, runs,
};
use super::*;
use crate::interface::{SampleError, TrialEnd};
use crate::plan::Budget;
use readlab_model::trial::TrialIndex;
use readlab_model::units::Nanos;
use readlab_record::{Line, Resumption, testing};
use std::collections::BTreeSet;

fn record_of(lines: &[Line]) -> Record {
    let mut record = Record::new(testing::header());
    lines.iter().cloned().for_each(|line| record.add(line));
    record
}

/// Round and trial of each reading.
fn turns(recorded: &RecordedRun) -> Vec<(TrialIndex, u32)> {
    recorded.samples().iter().map(|sample| (sample.trial, sample.round)).collect()
}

/// A control and two trials in both states.
fn all_trials(fills: u32) -> Plan {
    let trials = [("null", COLD), ("a", COLD), ("b", COLD), ("null", WARM), ("a", WARM), ("b", WARM)];
    plan(Rules { fills, ..runs(6) }, &trials)
}

#[test]
fn a_run_that_is_cut_short_anywhere_goes_on_to_the_same_end() {
    for fills in [1, 3, 6] {
        let plan = all_trials(fills);
        let whole = play_until_full(&plan, ScriptedSampler::default(), usize::MAX);
        for lines in 0..whole.lines.len() {
            let before = play_until_full(&plan, ScriptedSampler::default(), lines);
            let record = record_of(&before.lines);
            let after = play_rest(&plan, &record, ScriptedSampler::default());
            assert_eq!(after.end.as_ref().unwrap(), &EndReason::Settled);
            let done: Vec<_> = turns(&before).into_iter().chain(turns(&after)).collect();
            let once: BTreeSet<_> = done.iter().collect();
            assert_eq!(done.len(), once.len(), "cut after {lines} lines: a round was repeated: {done:?}");
            let all = record_of(&[before.lines.as_slice(), &after.lines].concat());
            assert_eq!(all.trials.len(), 6, "cut after {lines} lines: each is announced once");
            for trial in &all.trials {
                let (name, readings) = (&trial.trial.id, trial.samples.len());
                assert_eq!(trial.outcome, Some(Outcome::Measured), "{name}");
                assert!(!trial.counts.is_empty(), "{name} was not counted");
                assert!(
                    trial.trial.is_control() || readings == 6,
                    "cut after {lines} lines: {name} {readings}"
                );
            }
        }
    }
}

#[test]
fn rounds_and_fills_go_on_with_the_next_number_and_all_contenders_are_started() {
    let plan = all_trials(3);
    let whole = play_until_full(&plan, ScriptedSampler::default(), usize::MAX);
    let is_of = |line: &Line, round: u32| match line {
        Line::Sample(sample) => sample.trial == TrialIndex::new(4) && sample.round == round,
        _ => false,
    };
    let cut = whole.lines.iter().position(|line| is_of(line, 2)).unwrap() + 1;
    let record = record_of(&whole.lines[..cut]);
    assert_eq!(ResumeState::from_record(&record).next(&plan, &[]), Some((WARM, 3)));
    assert_eq!(ResumeState::from_record(&record).first(WARM), NextRound { round: 3, fill: 2 });
    assert_eq!(ResumeState::from_record(&record).first(COLD).round, 6);
    let after = play_rest(&plan, &record, ScriptedSampler::default());
    assert_eq!(after.only(&["stage"]), ["stage cold 3", "stage warm 3"]);
    assert_eq!(after.only(&["filled"]), ["filled 2", "filled 3"]);
    assert_eq!(after.only(&["open"])[..3].len(), 3, "{:?}", after.log);
    assert!(
        after.samples().iter().all(|sample| sample.round >= 3 && sample.fill == sample.round.div_ceil(2))
    );
    assert!(after.only(&["trial", "measured null", "count null"]).len() == 3, "{:?}", after.log);
}

#[test]
fn an_interruption_ends_no_trial_for_good() {
    let plan = all_trials(6);
    let stop = || Err(SampleError::TrialEnd(TrialEnd::Run(EndReason::Interrupted)));
    let turns = [(TrialIndex::new(4), [Ok(vec![100]), Ok(vec![100]), stop()].into())].into();
    let before = play_until_full(&plan, ScriptedSampler { turns, ..ScriptedSampler::default() }, usize::MAX);
    let mut record = record_of(&before.lines);
    assert_eq!(record.trials[TrialIndex::new(4)].outcome, Some(Outcome::Measured));
    let open = reopen(&record);
    assert_eq!(open, [3, 4, 5].map(TrialIndex::new), "the cold were counted: they are done");
    assert_eq!(ResumeState::from_record(&record).next(&plan, &open).unwrap().0, WARM);
    let at = String::new();
    record.add(Line::Resumed(Resumption { at, elapsed_ns: 0, state: WARM, round: 2, reopen: open }));
    assert_eq!((record.end, record.trials[TrialIndex::new(4)].outcome.as_ref()), (None, None));
    let after = play_rest(&plan, &record, ScriptedSampler::default());
    assert_eq!(after.outcomes(), ["measured null", "measured a", "measured b"]);
    assert_eq!(4, after.count_of(TrialIndex::new(4)));
    assert!(reopen(&record).is_empty(), "a run that was killed has ended no trial");
}

#[test]
fn a_trial_that_failed_before_has_no_further_turn() {
    let plan = all_trials(6);
    let turns = [(
        TrialIndex::new(1),
        [Ok(vec![100]), Err(SampleError::TrialEnd(TrialEnd::Trial(failed("torn"))))].into(),
    )]
    .into();
    let whole = play_until_full(&plan, ScriptedSampler { turns, ..ScriptedSampler::default() }, usize::MAX);
    let cut = whole.lines.iter().position(|line| matches!(line, Line::Outcome { .. })).unwrap() + 1;
    let after = play_rest(&plan, &record_of(&whole.lines[..cut]), ScriptedSampler::default());
    assert_eq!((after.count_of(TrialIndex::new(1)), after.count_of(TrialIndex::new(4))), (0, 6));
    assert!(!after.log.iter().any(|line| line.contains("failed")));
}

#[test]
fn time_that_was_used_up_is_not_given_again() {
    let budget = Budget::Firm(Nanos(10_000_000));
    let plan = plan(Rules { budget, ..runs(50) }, &[("a", COLD)]);
    let before = play_until_full(&plan, ScriptedSampler::default(), 9);
    let late = ScriptedSampler { now_ns: 10_000_000, ..ScriptedSampler::default() };
    let after = play_rest(&plan, &record_of(&before.lines), late);
    assert_eq!((after.samples().len(), after.outcomes()), (0, vec!["measured a"]));
    assert_eq!(after.end.unwrap(), EndReason::Budget);
}

#[test]
fn a_state_whose_time_was_up_stays_closed() {
    let budget = Budget::Firm(Nanos(100_000));
    let plan = plan(Rules { budget, ..runs(5000) }, &[("a", COLD), ("a", WARM)]);
    let whole = play_until_full(&plan, ScriptedSampler::default(), usize::MAX);
    let cut = whole.lines.iter().position(|line| matches!(line, Line::Outcome { .. })).unwrap() + 1;
    let after = play_rest(
        &plan,
        &record_of(&whole.lines[..cut]),
        ScriptedSampler { now_ns: 50_000, ..ScriptedSampler::default() },
    );
    assert_eq!((after.count_of(TrialIndex::new(0)), after.only(&["counts"]).len()), (0, 2));
    assert!(after.count_of(TrialIndex::new(1)) > 0);
    assert_eq!(after.end.unwrap(), EndReason::Budget);
}

#[test]
fn the_ceiling_is_remembered() {
    let plan = plan(runs(3), &[("resident", COLD), ("a", COLD), ("b", COLD)]);
    let slow = || ScriptedSampler {
        walls: [(TrialIndex::new(0), 1_000), (TrialIndex::new(1), 2_000), (TrialIndex::new(2), 2_000)].into(),
        ..ScriptedSampler::default()
    };
    let before = play_until_full(&plan, slow(), 8);
    assert!(before.count_of(TrialIndex::new(0)) > 0, "{:?}", before.log);
    let gone = Err(TrialEnd::Trial(failed("gone")));
    let sampler = ScriptedSampler {
        opens: [(TrialIndex::new(0), [gone].into())].into(),
        walls: [(TrialIndex::new(1), 10)].into(),
        ..slow()
    };
    let after = play_rest(
        &plan,
        &record_of(&before.lines),
        ScriptedSampler { walls: [(TrialIndex::new(1), 10), (TrialIndex::new(2), 2_000)].into(), ..sampler },
    );
    assert!(
        after.outcomes().iter().any(|it| it.starts_with("refused a: a window of 10 ns")),
        "{:?}",
        after.log
    );
}

#[test]
fn trials_that_were_counted_and_not_inspected_are_inspected_when_the_run_is_resumed() {
    let plan = plan(runs(1), &[("a", COLD), ("b", COLD)]);
    let trace = |trial| Ok(vec![Line::Trace { trial, trace: Box::default() }]);
    let inspections = || [trace(TrialIndex::new(0)), trace(TrialIndex::new(1))].into();
    let whole = play_until_full(
        &plan,
        ScriptedSampler { inspections: inspections(), ..ScriptedSampler::default() },
        usize::MAX,
    );
    let first = whole.lines.iter().position(|line| matches!(line, Line::Trace { .. })).unwrap();
    for (lines, left) in [(first, 2), (first + 1, 1)] {
        let inspections = inspections();
        let after = play_rest(
            &plan,
            &record_of(&whole.lines[..lines]),
            ScriptedSampler { inspections, ..ScriptedSampler::default() },
        );
        assert_eq!((after.only(&["trace"]).len(), after.samples().len()), (left, 0), "{:?}", after.log);
    }
}
