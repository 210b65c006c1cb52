//! The order of a run: states, fills, rounds, starts, and what comes before and after them.

use super::*;
use readlab_model::trial::TrialIndex;
use std::rc::Rc;

#[test]
fn a_whole_run_reads_like_the_method() {
    let plan = plan(runs(2), &[("read", COLD), ("read", WARM), ("mmap", WARM)]);
    let recorded = play(&plan, ScriptedSampler::default());
    insta::assert_snapshot!(recorded.log.join("\n"));
    assert_eq!(recorded.end.unwrap(), EndReason::Settled);
}

#[test]
fn a_round_is_shuffled_by_the_seed_alone_and_repeats_from_it() {
    let trials = [("a", WARM), ("b", WARM), ("c", WARM), ("d", WARM), ("e", WARM)];
    let orders = |seed| {
        let plan = plan(Rules { seed, ..runs(6) }, &trials);
        play(&plan, ScriptedSampler::default()).samples().iter().map(|s| s.trial).collect::<Vec<_>>()
    };
    assert_eq!(orders(1), orders(1));
    assert_ne!(orders(1), orders(2));
    let rounds: Vec<Vec<TrialIndex>> = orders(1).chunks(5).map(<[_]>::to_vec).collect();
    assert!(rounds.iter().any(|round| *round != rounds[0]), "every round has the same order: {rounds:?}");
    for mut round in rounds {
        round.sort_unstable();
        assert_eq!(round, [0, 1, 2, 3, 4].map(TrialIndex::new), "every trial once");
    }
}

#[test]
fn places_are_counted_from_zero_within_each_round() {
    let recorded = play(&plan(runs(3), &[("a", WARM), ("b", WARM), ("c", WARM)]), ScriptedSampler::default());
    let places: Vec<(u32, u32)> = recorded.samples().iter().map(|s| (s.round, s.position)).collect();
    let expected: Vec<(u32, u32)> =
        (0..3).flat_map(|round| (0..3).map(move |place| (round, place))).collect();
    assert_eq!(places, expected);
}

#[test]
fn rounds_are_numbered_over_all_fills_and_cold_rounds_are_one_block() {
    let rules = Rules { fills: 3, ..runs(6) };
    let recorded = play(&plan(rules, &[("a", COLD), ("a", WARM)]), ScriptedSampler::default());
    let of = |trial| {
        let samples = recorded.samples().into_iter().filter(move |s| s.trial == trial);
        samples.map(|s| (s.fill, s.round)).collect::<Vec<_>>()
    };
    assert_eq!(of(TrialIndex::new(0)), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]);
    assert_eq!(of(TrialIndex::new(1)), [(0, 0), (0, 1), (1, 2), (1, 3), (2, 4), (2, 5)]);
    assert_eq!(recorded.only(&["open"]).len(), 2, "contenders are started once in each state");
}

#[test]
fn fills_come_until_the_rule_has_enough() {
    let rules = Rules { fills: 3, ..runs(10) };
    let recorded = play(&plan(rules, &[("a", WARM)]), ScriptedSampler::default());
    assert_eq!(recorded.only(&["filled"]), ["filled 0", "filled 1", "filled 2", "filled 3"]);
    assert_eq!(recorded.count_of(TrialIndex::new(0)), 10);
}

#[test]
fn twelve_readings_have_twelve_fills() {
    let recorded = play(&plan(Rules { fills: 10, ..runs(12) }, &[("a", WARM)]), ScriptedSampler::default());
    let places: Vec<(u32, u32)> = recorded.samples().iter().map(|s| (s.fill, s.round)).collect();
    assert_eq!(places, (0..12).map(|at| (at, at)).collect::<Vec<_>>());
}

#[test]
fn warm_up_is_taken_at_every_start_and_the_answer_is_checked_at_least_once() {
    for (warmup, warm_ups) in [(0, 1), (1, 2), (3, 6)] {
        let rules = Rules { warmup, fills: 6, ..runs(6) };
        let recorded = play(&plan(rules, &[("a", WARM)]), ScriptedSampler::default());
        assert_eq!(recorded.only(&["rehearse"]).len(), warm_ups, "warm-up {warmup}");
    }
}

#[test]
fn a_contender_keeps_running_for_five_fills() {
    let plan = plan(Rules { fills: 7, ..runs(7) }, &[("a", WARM)]);
    let recorded = play(&plan, ScriptedSampler::default());
    let starts = recorded.only(&["start ", "filled"]);
    let before: Vec<&str> =
        starts.windows(2).filter(|pair| pair[1] == "start a").map(|pair| pair[0]).collect();
    assert_eq!(before, ["filled 0", "filled 5"]);
    assert_eq!(recorded.count_of(TrialIndex::new(0)), 7);
}

#[test]
fn the_next_contenders_are_started_ahead_and_none_is_starting_when_a_round_begins() {
    let sampler = ScriptedSampler::default();
    let launches = Rc::clone(&sampler.launches);
    play(&plan(runs(1), &[("a", COLD), ("b", COLD), ("c", COLD), ("d", COLD)]), sampler);
    let launches = launches.borrow();
    let numbers = [vec![0, 1, 2], vec![1, 2, 3], vec![2, 3], vec![3], vec![]];
    assert_eq!(*launches, numbers.map(|some| some.into_iter().map(TrialIndex::new).collect::<Vec<_>>()));
}

#[test]
fn a_selected_trial_that_is_absent_has_its_outcome_first() {
    let mut plan = plan(runs(1), &[("a", COLD), ("gone", COLD)]);
    let gone = plan.trials.pop().unwrap().trial;
    plan.absent.push((gone, Outcome::Unavailable { reason: "no such call".to_owned() }));
    let recorded = play(&plan, ScriptedSampler::default());
    assert_eq!(recorded.log[..2], ["> trial gone ", "> unavailable gone: no such call"]);
    assert_eq!(recorded.outcomes(), ["unavailable gone: no such call", "measured a"]);
}

#[test]
fn a_state_without_trials_is_not_prepared() {
    let mut plan = plan(runs(1), &[("a", COLD)]);
    plan.states.push(WARM);
    assert_eq!(play(&plan, ScriptedSampler::default()).only(&["stage", "fill"]), ["stage cold 1"]);
}

#[test]
fn several_readings_of_a_turn_are_all_kept() {
    let mut sampler = ScriptedSampler::default();
    sampler.turns.insert(TrialIndex::new(0), [Ok(vec![3, 1, 2])].into());
    let recorded = play(&plan(runs(3), &[("a", WARM)]), sampler);
    let readings: Vec<(u32, u64)> = recorded.samples().iter().map(|s| (s.reading, s.wall_ns)).collect();
    assert_eq!(readings, [(0, 3), (1, 1), (2, 2)]);
}

#[test]
fn turns_of_several_readings_end_at_the_most_exactly_and_are_spread_over_the_fills() {
    for (max_runs, fills, readings) in
        [(100, 3, 10), (3, 3, 1), (20, 3, 5), (97, 3, 1), (1, 3, 1), (12, 1, 6)]
    {
        let rules = Rules { max_runs, fills, ..runs(1) };
        assert_eq!(rules.readings_per_turn(10), readings, "at most {max_runs}");
    }
}

#[test]
fn contenders_are_inspected_after_all_rounds_if_they_were_measured() {
    let plan = plan(runs(2), &[("read", COLD), ("read", WARM), ("broken", WARM)]);
    let trace = |trial| Ok(vec![Line::Trace { trial, trace: Box::default() }]);
    let opens = BTreeMap::from([(TrialIndex::new(2), VecDeque::from([Err(TrialEnd::Trial(failed("no")))]))]);
    let inspections = VecDeque::from([trace(TrialIndex::new(1)), trace(TrialIndex::new(0))]);
    let recorded = play(&plan, ScriptedSampler { opens, inspections, ..ScriptedSampler::default() });
    let after = recorded.log.iter().position(|line| line.starts_with("inspect")).unwrap();
    assert!(!recorded.log[after..].iter().any(|line| line.contains("sample") || line.contains("turn")));
    let marks = recorded.only(&["trace", "end"]);
    assert_eq!(
        marks[..2],
        ["trace read", "trace read"],
        "the cache is still warm, so the warm trial comes first"
    );
    let traced = recorded.lines.iter().filter_map(|line| match line {
        Line::Trace { trial, .. } => Some(*trial),
        _ => None,
    });
    assert_eq!(traced.collect::<Vec<_>>(), [1, 0].map(TrialIndex::new));
    assert_eq!(recorded.end.unwrap(), EndReason::Settled);
    let inspections = VecDeque::from([Err(EndReason::Interrupted)]);
    let stopped = play(&plan, ScriptedSampler { inspections, ..ScriptedSampler::default() });
    assert_eq!(stopped.only(&["inspect"]).len(), 2, "said and done once");
    assert_eq!(stopped.end.unwrap(), EndReason::Interrupted);
}
