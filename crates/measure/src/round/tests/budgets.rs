//! What a run does with its time.

use super::*;
use crate::interface::Progress;
use crate::round::testing::STEP_NS;
use readlab_model::trial::TrialIndex;

#[test]
fn a_firm_budget_ends_in_the_middle_of_a_round() {
    // Fill 1000, two starts of 2000 each, then turns of 2000 each until seven eighths of the time,
    // 9100: three of them.
    let rules = Rules { budget: Budget::Firm(Nanos(10_400)), ..runs(9) };
    let walls = BTreeMap::from([0, 1].map(|trial| (TrialIndex::new(trial), 2_000)));
    let recorded = play(
        &plan(rules, &[("a", WARM), ("b", WARM)]),
        ScriptedSampler { walls, ..ScriptedSampler::default() },
    );
    assert_eq!(recorded.samples().len(), 3);
    assert_eq!(recorded.outcomes(), ["measured a", "measured b"]);
    assert_eq!(
        recorded.only(&["counts"]),
        ["counts a None", "counts b None"],
        "counting would go on beyond the budget"
    );
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}

#[test]
fn a_firm_budget_that_is_used_up_by_starts_is_the_outcome_of_every_trial() {
    let rules = Rules { budget: Budget::Firm(Nanos(2_000)), ..runs(9) };
    let recorded = play(&plan(rules, &[("a", COLD), ("b", COLD), ("b", WARM)]), ScriptedSampler::default());
    let why = "the time for the whole run was used up before the first reading";
    let expected = ["a", "b", "b"].map(|name| format!("unavailable {name}: {why}"));
    assert_eq!(recorded.outcomes(), expected);
    assert_eq!(recorded.only(&["fill"]), Vec::<&str>::new());
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}

#[test]
fn an_advised_budget_still_gives_each_state_the_fewest_rounds() {
    let rules = Rules { budget: Budget::Advised(Nanos(1)), fills: 3, ..runs(30) };
    let recorded = play(&plan(rules, &[("a", COLD), ("a", WARM)]), ScriptedSampler::default());
    assert_eq!((recorded.count_of(TrialIndex::new(0)), recorded.count_of(TrialIndex::new(1))), (5, 5));
    assert_eq!(recorded.only(&["counts"]), ["counts a Some(7)", "counts a Some(7)"]);
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}

#[test]
fn the_time_left_is_shared_with_the_states_to_come() {
    let rules = Rules { budget: Budget::Firm(Nanos(20_000)), ..runs(1_000) };
    let recorded = play(&plan(rules, &[("a", COLD), ("a", WARM)]), ScriptedSampler::default());
    // Cold: 2000 of starting, then turns of 100 until 8750, and a count until 9800. Warm: fill and
    // start, then until 18725.
    assert_eq!((recorded.count_of(TrialIndex::new(0)), recorded.count_of(TrialIndex::new(1))), (68, 60));
}

#[test]
fn time_left_is_right_within_a_factor_of_two_after_a_third_of_the_run() {
    const READING_NS: u64 = 50 * STEP_NS;
    let settled_by = [
        runs(40),
        Rules { budget: Budget::Firm(Nanos(100 * READING_NS)), ..runs(1_000_000) },
        Rules { min_runs: 5, max_runs: 1000, max_time: Nanos(30 * READING_NS), ..runs(5) },
        // Its time is up long before the rounds without which there is no interval.
        Rules { budget: Budget::Advised(Nanos(6 * READING_NS)), ..runs(1_000_000) },
    ];
    let sampler = || ScriptedSampler {
        walls: (0..4).map(|trial| (TrialIndex::new(trial), READING_NS)).collect(),
        ..ScriptedSampler::default()
    };
    for rules in settled_by {
        let recorded = play(&plan(rules, &[("a", COLD), ("b", COLD), ("a", WARM), ("b", WARM)]), sampler());
        let Some(Line::End { wall_ns, .. }) = recorded.lines.last() else { panic!("a run without an end") };
        let late = |at: &&Progress| (wall_ns / 3..wall_ns * 9 / 10).contains(&at.elapsed_ns);
        let late: Vec<&Progress> = recorded.progress.iter().filter(late).collect();
        assert!(late.len() > 3, "{rules:?}");
        assert!(recorded.progress.is_sorted_by(|a, b| a.share <= b.share), "it never steps back: {rules:?}");
        for at in late {
            let (left_ns, shown_ns) = (wall_ns - at.elapsed_ns, at.left().unwrap().0);
            assert!(
                (left_ns / 2..=left_ns * 2).contains(&shown_ns),
                "{at:?}: {shown_ns} instead of {left_ns}"
            );
        }
    }
}

/// Ten ways of reading in both states, and the time of one reading of each.
fn many(budget_ns: u64) -> Plan {
    const NAMES: [&str; 10] = ["null", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let trials: Vec<_> = [COLD, WARM].iter().flat_map(|&state| NAMES.map(|name| (name, state))).collect();
    plan(Rules { budget: Budget::Firm(Nanos(budget_ns)), ..runs(100) }, &trials)
}

/// Readings of each state.
fn readings(recorded: &RecordedRun, plan: &Plan) -> [usize; 2] {
    let of = |state| {
        let of_state = |sample: &&&Sample| plan.planned(sample.trial).trial.state == state;
        recorded.samples().iter().filter(of_state).count()
    };
    [of(COLD), of(WARM)]
}

#[test]
fn slow_starts_leave_every_state_its_rounds_in_a_firm_time() {
    // Starting all ten takes 200,000 ns and more: as much as both states have.
    let plan = many(200_000);
    let recorded = play(&plan, ScriptedSampler { start_ns: 20_000, ..ScriptedSampler::default() });
    let [cold, warm] = readings(&recorded, &plan);
    assert!(cold > 30 && warm > 10, "{cold} cold and {warm} warm: {:?}", recorded.outcomes());
    for state in [COLD, WARM] {
        let trials = plan.trials_of(state);
        let counts: Vec<usize> = trials.iter().map(|&trial| recorded.count_of(trial)).collect();
        // Those who were started come first in the plan and have several readings; the others have
        // none and are named.
        let started = counts.iter().take_while(|&&count| count > 1).count();
        assert!((2..10).contains(&started), "{counts:?}");
        assert!(counts[started..].iter().all(|&count| count == 0), "{counts:?}");
    }
    let late = recorded.only(&["unavailable"]);
    let silent = plan.trials.iter().filter(|it| recorded.count_of(it.trial.index) == 0).count();
    assert_eq!(late.len(), silent, "no trial is dropped silently");
    assert!(late.iter().all(|line| line.ends_with("used up before the first reading")), "{late:?}");
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}

#[test]
fn what_the_user_named_is_read_once_before_anything_else_twice() {
    const TURN_NS: u64 = 1_000;
    // The scans of one method come before other methods in the plan.
    let names = ["null", "a", "a2", "a3", "a4", "a5", "a6", "b", "c", "d"];
    let trials = names.map(|name| (name, WARM));
    for budget_ns in [20_000, 40_000] {
        let rules = Rules { budget: Budget::Firm(Nanos(budget_ns)), ..runs(100) };
        let mut plan = plan(rules, &trials);
        for named in ["a", "b", "c", "d"] {
            let is_it = |it: &&mut Planned| it.trial.method() == named;
            plan.trials.iter_mut().find(is_it).unwrap().is_first_named = true;
        }
        let walls = (0..names.len()).map(|trial| (TrialIndex::new(trial), TURN_NS)).collect();
        let recorded =
            play(&plan, ScriptedSampler { walls, start_ns: TURN_NS, ..ScriptedSampler::default() });
        let order: Vec<TrialIndex> = recorded.samples().iter().map(|sample| sample.trial).collect();
        let named = [1, 7, 8, 9].map(TrialIndex::new);
        assert!(named.iter().all(|it| order.iter().take(4).any(|read| read == it)), "{budget_ns}: {order:?}");
    }
}

#[test]
fn of_a_time_that_is_too_short_for_all_that_the_user_named_some_is_read() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let rules = Rules { budget: Budget::Firm(Nanos(16_000)), ..runs(100) };
    let mut plan = plan(rules, &names.map(|name| (name, COLD)));
    plan.trials.iter_mut().for_each(|it| it.is_first_named = true);
    let walls = (0..names.len()).map(|trial| (TrialIndex::new(trial), 3_000)).collect();
    let recorded = play(&plan, ScriptedSampler { walls, start_ns: 3_000, ..ScriptedSampler::default() });
    let read: BTreeSet<TrialIndex> = recorded.samples().iter().map(|sample| sample.trial).collect();
    assert!(read.len() >= 2, "{read:?}: {:?}", recorded.outcomes());
}

#[test]
fn of_controls_alone_only_as_many_are_started_as_leave_time_for_rounds() {
    let rules = Rules { budget: Budget::Firm(Nanos(40_000)), ..runs(100) };
    let plan = plan(rules, &[("device", COLD), ("resident", COLD), ("null", COLD)]);
    let walls = (0..3).map(|trial| (TrialIndex::new(trial), 9_000)).collect();
    let recorded = play(&plan, ScriptedSampler { walls, start_ns: 12_000, ..ScriptedSampler::default() });
    assert!(recorded.count_of(TrialIndex::new(0)) > 0, "{:?}", recorded.outcomes());
}

#[test]
fn a_contender_that_waited_is_started_when_the_others_are_settled() {
    let mut plan = many(2_000_000);
    plan.rules = Rules { min_runs: 2, max_runs: 2, ..plan.rules };
    let recorded = play(&plan, ScriptedSampler { start_ns: 60_000, ..ScriptedSampler::default() });
    let counts: Vec<usize> = plan.trials_of(COLD).iter().map(|&trial| recorded.count_of(trial)).collect();
    assert!(counts.iter().all(|&count| count >= 2), "{counts:?}: {:?}", recorded.outcomes());
}

#[test]
fn the_only_contender_is_read_however_long_it_takes_to_start() {
    let rules = Rules { budget: Budget::Firm(Nanos(100_000)), ..runs(3) };
    let recorded = play(
        &plan(rules, &[("null", COLD), ("b", COLD)]),
        ScriptedSampler { start_ns: 60_000 / 2, ..ScriptedSampler::default() },
    );
    assert!(recorded.count_of(TrialIndex::new(1)) > 0, "{:?}", recorded.outcomes());
}

#[test]
fn counting_takes_no_time_from_the_next_state() {
    let plan = many(400_000);
    let recorded = play(&plan, ScriptedSampler { count_ns: 30_000, ..ScriptedSampler::default() });
    let [cold, warm] = readings(&recorded, &plan);
    assert!(cold > 100 && warm > 100, "{cold} cold and {warm} warm");
    // An eighth of the state's time is for counting; and what was counted among the cold costs
    // nothing among the warm.
    let known: Vec<bool> = recorded.only(&["counts"]).iter().map(|line| line.contains("Some")).collect();
    let [cold, warm] = [&known[..10], &known[10..]].map(|of| of.iter().filter(|known| **known).count());
    assert!((1..10).contains(&cold) && warm > cold, "{:?}", recorded.only(&["counts"]));
}

#[test]
fn inspections_are_left_out_with_a_reason_when_a_firm_time_is_used_up() {
    let rules = Rules { budget: Budget::Firm(Nanos(30_000)), ..runs(2) };
    let inspections = VecDeque::from(vec![Ok(Vec::new()); 3]);
    let walls = BTreeMap::from([(TrialIndex::new(0), 40_000)]);
    let recorded = play(
        &plan(rules, &[("read", COLD), ("mmap", COLD)]),
        ScriptedSampler { inspections, walls, ..ScriptedSampler::default() },
    );
    assert_eq!(recorded.only(&["inspect"]), Vec::<&str>::new());
    assert!(recorded.only(&["not inspected"]).iter().all(|line| line.ends_with("was used up")));
    assert_eq!(recorded.only(&["not inspected"]).len(), 1);
}

/// Two trials in both states, and the turn before which the user ends their run.
fn ended_at(turn: usize) -> RecordedRun {
    let rules = Rules { budget: Budget::Advised(Nanos(u64::MAX)), ..runs(10) };
    let plan = plan(rules, &[("a", COLD), ("b", COLD), ("a", WARM), ("b", WARM)]);
    play(&plan, ScriptedSampler { user_ends_at: Some(turn), ..ScriptedSampler::default() })
}

#[test]
fn the_user_ends_a_run_before_the_next_turn_and_what_was_read_is_measured() {
    let recorded = ended_at(7);
    assert_eq!(recorded.samples().len(), 7, "in the fourth round, without the fewest rounds of a state");
    assert_eq!(recorded.outcomes()[..2], ["measured a", "measured b"]);
    let rest = recorded.only(&["unavailable"]);
    assert_eq!(rest.len(), 2, "the warm trials: {:?}", recorded.outcomes());
    assert_eq!(recorded.only(&["count "]), [] as [&str; 0], "nothing is counted after it");
    assert_eq!(recorded.only(&["fill "]), [] as [&str; 0]);
    assert!(matches!(recorded.lines.last(), Some(Line::End { reason: EndReason::Budget, .. })));
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}

#[test]
fn a_run_that_the_user_ends_before_its_first_turn_ends_all_the_same() {
    let recorded = ended_at(0);
    assert_eq!((recorded.samples().len(), recorded.outcomes().len()), (0, 4));
    assert_eq!(recorded.only(&["open"]), [] as [&str; 0], "no contender is started");
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}

/// Six ways of which three wait, because a prediction leaves no time for them.
fn waiting(turn_ns: u64, budget: Budget) -> (Plan, RecordedRun) {
    let mut plan = plan(Rules { budget, ..runs(6) }, &["null", "a", "b", "c", "d", "e"].map(|it| (it, COLD)));
    for at in 3..6 {
        plan.trials[at].waits = Some("a reading takes about 3 s".to_owned());
    }
    let walls = (0..6).map(|trial| (TrialIndex::new(trial), turn_ns)).collect();
    let recorded = play(&plan, ScriptedSampler { walls, ..ScriptedSampler::default() });
    (plan, recorded)
}

#[test]
fn a_trial_that_waits_is_read_as_soon_as_readings_show_that_there_is_time() {
    for budget in [Budget::Firm(Nanos(1_000_000)), Budget::Advised(Nanos(1_000_000))] {
        let (plan, recorded) = waiting(100, budget);
        assert!(plan.trials.iter().all(|it| recorded.count_of(it.trial.index) >= 6), "{:?}", recorded.log);
        let first = |trial| recorded.samples().iter().find(|it| it.trial == trial).unwrap().round;
        assert_eq!([2, 3, 5].map(|trial| first(TrialIndex::new(trial))), [0, 1, 1], "{budget:?}");
    }
}

#[test]
fn a_trial_that_waits_for_time_that_never_comes_has_the_reason() {
    for budget in [Budget::Firm(Nanos(200_000)), Budget::Advised(Nanos(200_000))] {
        let (_, recorded) = waiting(20_000, budget);
        let why = recorded.only(&["unavailable"]);
        assert_eq!(why, ["c", "d", "e"].map(|name| format!("unavailable {name}: a reading takes about 3 s")));
        assert!(recorded.count_of(TrialIndex::new(1)) > 1);
    }
}
