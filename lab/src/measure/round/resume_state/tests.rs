//! Runs that are cut short after every line that they write, and go on: whatever the moment,
//! nothing is lost and nothing is done twice.

use super::super::tests::{COLD, RecordedRun, ScriptedSampler, WARM, failed, plan, play_by, runs};
use super::super::{resume, run};
use super::*;
use crate::measure::interface::{SampleError, TrialEnd};
use crate::measure::plan::Budget;
use crate::record::{Line, Resumption, testing};
use crate::units::Nanos;
use std::collections::BTreeSet;

/// A run whose record takes only so many lines.
fn cut_short(plan: &Plan, interface: ScriptedSampler, lines: usize) -> RecordedRun {
    play_by(plan, (interface, lines), |interface, paper| run(plan, interface, paper))
}

fn record_of(lines: &[Line]) -> Record {
    let mut record = Record::new(testing::header());
    lines.iter().cloned().for_each(|line| record.add(line));
    record
}

/// The rest of a run.
fn rest(plan: &Plan, record: &Record, interface: ScriptedSampler) -> RecordedRun {
    play_by(plan, (interface, usize::MAX), |interface, paper| resume(plan, record, (interface, paper)))
}

/// Round and trial of each reading.
fn turns(told: &RecordedRun) -> Vec<(usize, u32)> {
    told.samples().iter().map(|sample| (sample.trial, sample.round)).collect()
}

/// Everybody of this plan, whatever the moment, and whatever the rounds of a fill.
fn everybody(fills: u32) -> Plan {
    let trials = [("null", COLD), ("a", COLD), ("b", COLD), ("null", WARM), ("a", WARM), ("b", WARM)];
    plan(Rules { fills, ..runs(6) }, &trials)
}

#[test]
fn a_run_that_is_cut_short_anywhere_goes_on_to_the_same_end() {
    for fills in [1, 3, 6] {
        let plan = everybody(fills);
        let whole = cut_short(&plan, ScriptedSampler::default(), usize::MAX);
        for lines in 0..whole.lines.len() {
            let before = cut_short(&plan, ScriptedSampler::default(), lines);
            let record = record_of(&before.lines);
            let after = rest(&plan, &record, ScriptedSampler::default());
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
fn rounds_and_fills_go_on_with_the_next_number_and_everybody_starts_anew() {
    let plan = everybody(3);
    let whole = cut_short(&plan, ScriptedSampler::default(), usize::MAX);
    let is_of = |line: &Line, round: u32| match line {
        Line::Sample(sample) => sample.trial == 4 && sample.round == round,
        _ => false,
    };
    let cut = whole.lines.iter().position(|line| is_of(line, 2)).unwrap() + 1;
    let record = record_of(&whole.lines[..cut]);
    assert_eq!(ResumeState::of(&record).next(&plan, &[]), Some((WARM, 3)));
    assert_eq!(ResumeState::of(&record).first(WARM), NextRound { round: 3, fill: 2 });
    assert_eq!(ResumeState::of(&record).first(COLD).round, 6);
    let after = rest(&plan, &record, ScriptedSampler::default());
    assert_eq!(after.only(&["stage"]), ["stage cold 3", "stage warm 3"]);
    assert_eq!(after.only(&["filled"]), ["filled 2", "filled 3"]);
    assert_eq!(after.only(&["open"])[..3].len(), 3, "{:?}", after.log);
    assert!(
        after.samples().iter().all(|sample| sample.round >= 3 && sample.fill == sample.round.div_ceil(2))
    );
    assert!(after.only(&["trial", "measured null", "count null"]).len() == 3, "{:?}", after.log);
}

#[test]
fn an_interruption_ends_nobody_for_good() {
    let plan = everybody(6);
    let stop = || Err(SampleError::TrialEnd(TrialEnd::Run(EndReason::Interrupted)));
    let turns = [(4, [Ok(vec![100]), Ok(vec![100]), stop()].into())].into();
    let before = cut_short(&plan, ScriptedSampler { turns, ..ScriptedSampler::default() }, usize::MAX);
    let mut record = record_of(&before.lines);
    assert_eq!(record.trials[4].outcome, Some(Outcome::Measured));
    let open = reopen(&record);
    assert_eq!(open, [3, 4, 5], "the cold were counted: they are done");
    assert_eq!(ResumeState::of(&record).next(&plan, &open).unwrap().0, WARM);
    let at = String::new();
    record.add(Line::Resumed(Resumption { at, elapsed_ns: 0, state: WARM, round: 2, reopen: open }));
    assert_eq!((record.end, record.trials[4].outcome.as_ref()), (None, None));
    let after = rest(&plan, &record, ScriptedSampler::default());
    assert_eq!(after.outcomes(), ["measured null", "measured a", "measured b"]);
    assert_eq!(4, after.count_of(4));
    assert!(reopen(&record).is_empty(), "who was killed has ended nobody");
}

#[test]
fn who_failed_before_has_no_further_turn() {
    let plan = everybody(6);
    let turns =
        [(1, [Ok(vec![100]), Err(SampleError::TrialEnd(TrialEnd::Trial(failed("torn"))))].into())].into();
    let whole = cut_short(&plan, ScriptedSampler { turns, ..ScriptedSampler::default() }, usize::MAX);
    let cut = whole.lines.iter().position(|line| matches!(line, Line::Outcome { .. })).unwrap() + 1;
    let after = rest(&plan, &record_of(&whole.lines[..cut]), ScriptedSampler::default());
    assert_eq!((after.count_of(1), after.count_of(4)), (0, 6));
    assert!(!after.log.iter().any(|line| line.contains("failed")));
}

#[test]
fn the_time_that_was_used_up_is_not_given_again() {
    let budget = Budget::Firm(Nanos(10_000_000));
    let plan = plan(Rules { budget, ..runs(50) }, &[("a", COLD)]);
    let before = cut_short(&plan, ScriptedSampler::default(), 9);
    let late = ScriptedSampler { now_ns: 10_000_000, ..ScriptedSampler::default() };
    let after = rest(&plan, &record_of(&before.lines), late);
    assert_eq!((after.samples().len(), after.outcomes()), (0, vec!["measured a"]));
    assert_eq!(after.end.unwrap(), EndReason::Budget);
}

#[test]
fn a_state_whose_time_was_up_stays_closed() {
    let budget = Budget::Firm(Nanos(100_000));
    let plan = plan(Rules { budget, ..runs(5000) }, &[("a", COLD), ("a", WARM)]);
    let whole = cut_short(&plan, ScriptedSampler::default(), usize::MAX);
    let cut = whole.lines.iter().position(|line| matches!(line, Line::Outcome { .. })).unwrap() + 1;
    let after = rest(
        &plan,
        &record_of(&whole.lines[..cut]),
        ScriptedSampler { now_ns: 50_000, ..ScriptedSampler::default() },
    );
    assert_eq!((after.count_of(0), after.only(&["counts"]).len()), (0, 2));
    assert!(after.count_of(1) > 0);
    assert_eq!(after.end.unwrap(), EndReason::Budget);
}

#[test]
fn the_ceiling_is_remembered() {
    let plan = plan(runs(3), &[("resident", COLD), ("a", COLD), ("b", COLD)]);
    let slow = || ScriptedSampler {
        walls: [(0, 1_000), (1, 2_000), (2, 2_000)].into(),
        ..ScriptedSampler::default()
    };
    let before = cut_short(&plan, slow(), 8);
    assert!(before.count_of(0) > 0, "{:?}", before.log);
    let gone = Err(TrialEnd::Trial(failed("gone")));
    let interface = ScriptedSampler { opens: [(0, [gone].into())].into(), walls: [(1, 10)].into(), ..slow() };
    let after = rest(
        &plan,
        &record_of(&before.lines),
        ScriptedSampler { walls: [(1, 10), (2, 2_000)].into(), ..interface },
    );
    assert!(
        after.outcomes().iter().any(|it| it.starts_with("refused a: a window of 10 ns")),
        "{:?}",
        after.log
    );
}

#[test]
fn who_was_counted_and_not_looked_into_is_looked_into_when_the_run_goes_on() {
    let plan = plan(runs(1), &[("a", COLD), ("b", COLD)]);
    let trace = |trial| Ok(vec![Line::Trace { trial, trace: Box::default() }]);
    let looks = || [trace(0), trace(1)].into();
    let whole =
        cut_short(&plan, ScriptedSampler { looks: looks(), ..ScriptedSampler::default() }, usize::MAX);
    let first = whole.lines.iter().position(|line| matches!(line, Line::Trace { .. })).unwrap();
    for (lines, left) in [(first, 2), (first + 1, 1)] {
        let looks = looks();
        let after = rest(
            &plan,
            &record_of(&whole.lines[..lines]),
            ScriptedSampler { looks, ..ScriptedSampler::default() },
        );
        assert_eq!((after.only(&["trace"]).len(), after.samples().len()), (left, 0), "{:?}", after.log);
    }
}
