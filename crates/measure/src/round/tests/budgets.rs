//! Tests of how a run uses its time.

use super::*;
use crate::interface::RunProgress;
use crate::round::testing::CALL_NS;

fn firm_rules(budget_ns: u64, most: u32) -> Rules {
    Rules { budget: Budget::Firm(Nanos(budget_ns)), ..rules_for_readings(most) }
}

#[test]
fn a_firm_budget_ends_in_the_middle_of_a_round() {
    // A fill of 1000 ns and two starts of 2000 ns each, then turns of 2000 ns each until seven
    // eighths of the time, 9100 ns: three turns.
    let sampler = ScriptedSampler::default().with_default_windows([(0, 2_000), (1, 2_000)]);
    let recorded = play_trials(firm_rules(10_400, 9), &[("a", WARM), ("b", WARM)], sampler);
    assert_eq!(recorded.samples().len(), 3);
    assert_eq!(recorded.outcomes(), ["measured a", "measured b"]);
    let counts = ["counts a None", "counts b None"];
    assert_eq!(recorded.log_lines(&["counts"]), counts, "counting would go on beyond the budget");
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}

/// The outcome of a trial for which a firm budget left no time.
fn unread(name: &str) -> String {
    format!("unavailable {name}: the time for the whole run was used up before the first reading")
}

#[test]
fn a_firm_budget_that_is_used_up_by_the_first_start_gives_one_turn_and_is_the_outcome_of_the_others() {
    let trials = [("a", COLD), ("b", COLD), ("b", WARM)];
    let recorded = play_trials(firm_rules(2_000, 9), &trials, ScriptedSampler::default());
    assert_eq!(recorded.outcomes(), ["measured a".to_owned(), unread("b"), unread("b")]);
    assert_eq!(recorded.reading_counts(), [1, 0, 0]);
    assert!(recorded.log_lines(&["fill"]).is_empty());
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}

#[test]
fn a_turn_that_finds_the_time_used_up_ends_the_run_as_a_budget_does() {
    let sampler = ScriptedSampler::default().ending_at_turn(1, &[], TrialEnd::Run(EndReason::Budget));
    let recorded = play_trials(rules_for_readings(9), &[("a", COLD), ("b", COLD)], sampler);
    assert!(recorded.outcomes().contains(&unread("b").as_str()), "{:?}", recorded.log);
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}

/// A warm run whose first fill takes four times its budget.
fn run_of_slow_fill(trials: &[(&str, CacheState)], sampler: ScriptedSampler) -> RecordedRun {
    play_trials(firm_rules(20_000, 9), trials, ScriptedSampler { fill_ns: 80_000, ..sampler })
}

#[test]
fn a_fill_that_uses_up_a_firm_budget_is_followed_by_one_turn_of_a_trial_that_is_no_control() {
    let trials = [("resident", WARM), ("a", WARM), ("b", WARM)];
    let recorded = run_of_slow_fill(&trials, ScriptedSampler::default());
    assert_eq!(recorded.outcomes(), [unread("resident"), "measured a".to_owned(), unread("b")]);
    assert_eq!(recorded.reading_counts(), [0, 1, 0]);
    assert_eq!(recorded.log_lines(&["filled"]), ["filled 0"]);
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
    let only_controls = run_of_slow_fill(&[("device", WARM), ("null", WARM)], ScriptedSampler::default());
    assert_eq!(only_controls.reading_counts(), [1, 0]);
}

#[test]
fn after_a_fill_that_uses_up_a_firm_budget_one_trial_is_tried_and_the_user_may_end_the_run() {
    let trials = [("a", WARM), ("b", WARM)];
    let broken = ScriptedSampler::default().ending_at_open(0, failed_end("it crashed"));
    let recorded = run_of_slow_fill(&trials, broken);
    assert_eq!(recorded.outcomes(), ["failed a: it crashed".to_owned(), unread("b")]);
    let torn = ScriptedSampler::default().ending_at_turn(0, &[], failed_end("torn"));
    let recorded = run_of_slow_fill(&trials, torn);
    assert_eq!(recorded.outcomes(), ["failed a: torn".to_owned(), unread("b")]);
    let ended = ScriptedSampler { user_ends_before_turn: Some(0), ..ScriptedSampler::default() };
    assert!(run_of_slow_fill(&trials, ended).samples().is_empty());
}

#[test]
fn an_advised_budget_still_gives_each_state_the_minimum_of_rounds() {
    let rules = Rules { budget: Budget::Advised(Nanos(1)), min_fills: 3, ..rules_for_readings(30) };
    let recorded = play_trials(rules, &[("a", COLD), ("a", WARM)], ScriptedSampler::default());
    assert_eq!(recorded.reading_counts(), [5, 5]);
    assert_eq!(recorded.log_lines(&["counts"]), ["counts a Some(7)"; 2]);
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}

#[test]
fn the_time_left_is_shared_with_the_states_to_come() {
    let recorded =
        play_trials(firm_rules(20_000, 1_000), &[("a", COLD), ("a", WARM)], ScriptedSampler::default());
    // Cold: 2000 ns of starting, then turns of 100 ns until 8750 ns, and a count until 9800 ns.
    // Warm: fill and start, then turns until 18725 ns.
    assert_eq!(recorded.reading_counts(), [68, 60]);
}

#[test]
fn the_time_left_is_predicted_within_a_factor_of_two_after_a_third_of_the_run() {
    const READING_NS: u64 = 50 * CALL_NS;
    let settled_by = [
        rules_for_readings(40),
        firm_rules(100 * READING_NS, 1_000_000),
        Rules {
            min_readings: 5,
            max_readings: 1000,
            max_time: Nanos(30 * READING_NS),
            ..rules_for_readings(5)
        },
        // Time is up long before there are enough rounds for an interval.
        Rules { budget: Budget::Advised(Nanos(6 * READING_NS)), ..rules_for_readings(1_000_000) },
    ];
    for rules in settled_by {
        let sampler =
            ScriptedSampler::default().with_default_windows((0..4).map(|trial| (trial, READING_NS)));
        let recorded = play_trials(rules, &[("a", COLD), ("b", COLD), ("a", WARM), ("b", WARM)], sampler);
        let Some(Line::End { wall_ns, .. }) = recorded.lines.last() else { panic!("a run without an end") };
        let late = |at: &&RunProgress| (wall_ns / 3..wall_ns * 9 / 10).contains(&at.elapsed_ns);
        let late: Vec<&RunProgress> = recorded.progress_reports.iter().filter(late).collect();
        assert!(late.len() > 3, "{rules:?}");
        assert!(
            recorded.progress_reports.is_sorted_by(|a, b| a.share <= b.share),
            "it never steps back: {rules:?}"
        );
        for at in late {
            let (left_ns, shown_ns) = (wall_ns - at.elapsed_ns, at.time_left().unwrap().0);
            let is_near = (left_ns / 2..=left_ns * 2).contains(&shown_ns);
            assert!(is_near, "{at:?}: {shown_ns} instead of {left_ns}");
        }
    }
}

fn plan_of_ten_methods(budget_ns: u64) -> Plan {
    const NAMES: [&str; 10] = ["null", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let trials: Vec<_> = [COLD, WARM].iter().flat_map(|&state| NAMES.map(|name| (name, state))).collect();
    plan(firm_rules(budget_ns, 100), &trials)
}

#[test]
fn slow_starts_leave_every_state_its_rounds_in_a_firm_time() {
    // Starting all ten takes 200,000 ns and more: as much as the budget of both states.
    let plan = plan_of_ten_methods(200_000);
    let recorded = play(&plan, ScriptedSampler { start_ns: 20_000, ..ScriptedSampler::default() });
    let readings = recorded.reading_counts();
    for (counts, enough) in readings.chunks(10).zip([30, 10]) {
        assert!(counts.iter().sum::<usize>() > enough, "{counts:?}: {:?}", recorded.outcomes());
        // The trials that were started come first in the plan and have several readings. The others
        // have none, and the record names them.
        let started = counts.iter().take_while(|&&count| count > 1).count();
        assert!((2..10).contains(&started), "{counts:?}");
        assert!(counts[started..].iter().all(|&count| count == 0), "{counts:?}");
    }
    let late = recorded.log_lines(&["unavailable"]);
    let silent = readings.iter().filter(|&&count| count == 0).count();
    assert_eq!(late.len(), silent, "no trial is dropped silently");
    assert!(late.iter().all(|line| line.ends_with("used up before the first reading")), "{late:?}");
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}

#[test]
fn trials_that_the_user_named_are_read_once_before_any_other_is_read_twice() {
    const TURN_NS: u64 = 1_000;
    // The scans of one method come before other methods in the plan.
    let names = ["null", "a", "a2", "a3", "a4", "a5", "a6", "b", "c", "d"];
    for budget_ns in [20_000, 40_000] {
        let mut plan = plan(firm_rules(budget_ns, 100), &names.map(|name| (name, WARM)));
        for named in ["a", "b", "c", "d"] {
            let is_it = |it: &&mut PlannedTrial| it.trial.method() == named;
            plan.trials.iter_mut().find(is_it).unwrap().is_first_named = true;
        }
        let sampler = ScriptedSampler { start_ns: TURN_NS, ..ScriptedSampler::default() };
        let recorded =
            play(&plan, sampler.with_default_windows((0..names.len()).map(|trial| (trial, TURN_NS))));
        let mut first: Vec<TrialIndex> = recorded.samples().iter().take(4).map(|it| it.trial).collect();
        first.sort_unstable();
        assert_eq!(first, [1, 7, 8, 9].map(TrialIndex::new), "{budget_ns}");
    }
}

#[test]
fn in_too_short_a_time_some_of_the_trials_that_the_user_named_are_read() {
    let mut plan = plan(firm_rules(16_000, 100), &["a", "b", "c", "d", "e", "f"].map(|name| (name, COLD)));
    plan.trials.iter_mut().for_each(|it| it.is_first_named = true);
    let sampler = ScriptedSampler { start_ns: 3_000, ..ScriptedSampler::default() };
    let recorded = play(&plan, sampler.with_default_windows((0..6).map(|trial| (trial, 3_000))));
    let read = recorded.reading_counts().into_iter().filter(|&readings| readings > 0).count();
    assert!(read >= 2, "{read}: {:?}", recorded.outcomes());
}

#[test]
fn if_all_trials_are_controls_only_as_many_start_as_leave_time_for_rounds() {
    let sampler = ScriptedSampler { start_ns: 12_000, ..ScriptedSampler::default() };
    let sampler = sampler.with_default_windows((0..3).map(|trial| (trial, 9_000)));
    let controls = ["device", "resident", "null"].map(|name| (name, COLD));
    let recorded = play_trials(firm_rules(40_000, 100), &controls, sampler);
    assert!(recorded.reading_counts()[0] > 0, "{:?}", recorded.outcomes());
}

#[test]
fn a_contender_that_waited_is_started_when_the_others_are_settled() {
    let mut plan = plan_of_ten_methods(2_000_000);
    plan.rules = Rules { min_readings: 2, max_readings: 2, ..plan.rules };
    let recorded = play(&plan, ScriptedSampler { start_ns: 60_000, ..ScriptedSampler::default() });
    let cold = &recorded.reading_counts()[..10];
    assert!(cold.iter().all(|&count| count >= 2), "{cold:?}: {:?}", recorded.outcomes());
}

#[test]
fn the_only_contender_is_read_however_long_it_takes_to_start() {
    let sampler = ScriptedSampler { start_ns: 60_000 / 2, ..ScriptedSampler::default() };
    let recorded = play_trials(firm_rules(100_000, 3), &[("null", COLD), ("b", COLD)], sampler);
    assert!(recorded.reading_counts()[1] > 0, "{:?}", recorded.outcomes());
}

#[test]
fn counting_takes_no_time_from_the_next_state() {
    let recorded = play(
        &plan_of_ten_methods(400_000),
        ScriptedSampler { count_ns: 30_000, ..ScriptedSampler::default() },
    );
    for readings in recorded.reading_counts().chunks(10) {
        assert!(readings.iter().sum::<usize>() > 100, "{readings:?}");
    }
    // An eighth of the state's time is for counting. Trials that were counted in the cold state
    // cost no time in the warm state.
    let known: Vec<bool> = recorded.log_lines(&["counts"]).iter().map(|line| line.contains("Some")).collect();
    let [cold, warm] = [&known[..10], &known[10..]].map(|of| of.iter().filter(|known| **known).count());
    assert!((1..10).contains(&cold) && warm > cold, "{:?}", recorded.log_lines(&["counts"]));
}

#[test]
fn inspections_are_left_out_with_a_reason_when_a_firm_time_is_used_up() {
    let inspections = vec![Ok(Vec::new()); 3].into();
    let sampler =
        ScriptedSampler { inspections, ..ScriptedSampler::default() }.with_default_windows([(0, 40_000)]);
    let recorded = play_trials(firm_rules(30_000, 2), &[("read", COLD), ("mmap", COLD)], sampler);
    assert!(recorded.log_lines(&["inspect"]).is_empty());
    let [left_out] = recorded.log_lines(&["not inspected"])[..] else { panic!("{:?}", recorded.log) };
    assert!(left_out.ends_with("was used up"), "{left_out}");
}

/// A run of two trials in both states that the user ends before this turn.
fn run_ended_before_turn(turn: usize) -> RecordedRun {
    let rules = Rules { budget: Budget::Advised(Nanos(u64::MAX)), ..rules_for_readings(10) };
    let sampler = ScriptedSampler { user_ends_before_turn: Some(turn), ..ScriptedSampler::default() };
    play_trials(rules, &[("a", COLD), ("b", COLD), ("a", WARM), ("b", WARM)], sampler)
}

#[test]
fn a_run_that_the_user_ends_stops_before_the_next_turn_and_trials_with_readings_are_measured() {
    let recorded = run_ended_before_turn(7);
    assert_eq!(recorded.samples().len(), 7, "in the fourth round, without the fewest rounds of a state");
    assert_eq!(recorded.outcomes()[..2], ["measured a", "measured b"]);
    assert_eq!(recorded.log_lines(&["unavailable"]).len(), 2, "the warm trials: {:?}", recorded.outcomes());
    assert!(recorded.log_lines(&["count ", "fill "]).is_empty(), "nothing is counted after it");
    assert!(matches!(recorded.lines.last(), Some(Line::End { reason: EndReason::Budget, .. })));
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}

#[test]
fn a_run_that_the_user_ends_before_its_first_turn_ends_normally() {
    let recorded = run_ended_before_turn(0);
    assert_eq!((recorded.samples().len(), recorded.outcomes().len()), (0, 4));
    assert!(recorded.log_lines(&["open"]).is_empty(), "no contender is started");
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}

/// A run of six methods of which three wait, because a prediction leaves no time for them.
fn run_with_waiting_trials(turn_ns: u64, budget: Budget) -> RecordedRun {
    let mut plan = plan(
        Rules { budget, ..rules_for_readings(6) },
        &["null", "a", "b", "c", "d", "e"].map(|it| (it, COLD)),
    );
    for planned in &mut plan.trials[3..] {
        planned.wait_reason = Some("a reading takes about 3 s".to_owned());
    }
    play(&plan, ScriptedSampler::default().with_default_windows((0..6).map(|trial| (trial, turn_ns))))
}

#[test]
fn a_trial_that_waits_is_read_as_soon_as_readings_show_that_there_is_time() {
    for budget in [Budget::Firm(Nanos(1_000_000)), Budget::Advised(Nanos(1_000_000))] {
        let recorded = run_with_waiting_trials(100, budget);
        assert!(recorded.reading_counts().iter().all(|&count| count >= 6), "{:?}", recorded.log);
        let first = |trial| recorded.samples_of(trial)[0].round;
        assert_eq!([2, 3, 5].map(first), [0, 1, 1], "{budget:?}");
    }
}

#[test]
fn a_trial_that_waits_for_time_that_never_comes_has_the_reason() {
    for budget in [Budget::Firm(Nanos(200_000)), Budget::Advised(Nanos(200_000))] {
        let recorded = run_with_waiting_trials(20_000, budget);
        let why = recorded.log_lines(&["unavailable"]);
        assert_eq!(why, ["c", "d", "e"].map(|name| format!("unavailable {name}: a reading takes about 3 s")));
        assert!(recorded.reading_counts()[1] > 1);
    }
}

/// The recorded counts of `a`, `b` and `c`, in order.
fn recorded_counts(counts: u32, count_ns: u64) -> Vec<String> {
    let sampler = ScriptedSampler { count_ns, ..ScriptedSampler::default() };
    let trials = [("a", COLD), ("b", COLD), ("c", COLD)];
    let recorded = play_trials(Rules { counting_runs: counts, ..rules_for_readings(10) }, &trials, sampler);
    recorded.log_lines(&["counts"]).into_iter().map(str::to_owned).collect()
}

#[test]
fn all_trials_are_counted_in_turn_as_often_as_the_rules_say() {
    let once = |value: u64| ["a", "b", "c"].map(|name| format!("counts {name} Some({value})"));
    assert_eq!(recorded_counts(1, 0), once(7));
    assert_eq!(recorded_counts(3, 0), [once(7), once(8), once(9)].concat());
}

#[test]
fn counting_again_takes_half_as_long_as_the_state_before() {
    let few = recorded_counts(1000, 10_000);
    assert_eq!(few[..3], recorded_counts(1, 0));
    let more = recorded_counts(1000, 100);
    assert!((4..30).contains(&few.len()) && more.len() > few.len(), "{} and {}", few.len(), more.len());
    assert!(recorded_counts(1000, 10_000_000).len() <= 6, "what is long is counted once more at most");
}
