//! The order of a run: states, fills, rounds, starts, untimed work before and after them, and when
//! trials are settled.

use super::*;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

#[test]
fn the_log_of_a_whole_run_follows_the_method() {
    let trials = [("read", COLD), ("read", WARM), ("mmap", WARM)];
    let recorded = play_trials(rules_for_readings(2), &trials, ScriptedSampler::default());
    insta::assert_snapshot!(recorded.log.join("\n"));
    assert_eq!(recorded.end.unwrap(), EndReason::Settled);
}

#[test]
fn a_round_is_shuffled_by_the_seed_alone_and_repeats_from_it() {
    let trials = ["a", "b", "c", "d", "e"].map(|name| (name, WARM));
    let orders = |seed| {
        let recorded =
            play_trials(Rules { seed, ..rules_for_readings(6) }, &trials, ScriptedSampler::default());
        recorded.samples().iter().map(|s| s.trial).collect::<Vec<_>>()
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

/// A plan of four trials. The last two are read under other settings than the first two.
fn plan_under_two_settings(readings: u32, state: CacheState) -> Plan {
    let mut plan = plan(rules_for_readings(readings), &["a", "b", "c", "d"].map(|name| (name, state)));
    plan.trials[2..].iter_mut().for_each(|planned| planned.block_index = 1);
    plan
}

#[test]
fn trials_under_the_same_settings_stay_together_and_the_settings_are_shuffled() {
    let recorded = play(&plan_under_two_settings(20, COLD), ScriptedSampler::default());
    assert_eq!(recorded.reading_counts(), [20; 4]);
    let block = |sample: &&Sample| usize::from(sample.trial >= TrialIndex::new(2));
    let rounds: Vec<Vec<usize>> =
        recorded.samples().chunks(4).map(|round| round.iter().map(block).collect()).collect();
    assert!(rounds.iter().all(|it| *it == [0, 0, 1, 1] || *it == [1, 1, 0, 0]), "{rounds:?}");
    assert!(rounds.iter().any(|it| it[0] == 0) && rounds.iter().any(|it| it[0] == 1), "{rounds:?}");
    assert_eq!(recorded.log_lines(&["settings of"]).len(), 40, "two in each round");
}

#[test]
fn the_cache_is_filled_for_each_settings_of_a_round() {
    let recorded = play(&plan_under_two_settings(4, WARM), ScriptedSampler::default());
    let steps = recorded.log_lines(&["settings of", "filled", "turn"]);
    let kinds: Vec<&str> = steps.iter().map(|step| step.split(' ').next().unwrap()).collect();
    assert_eq!(kinds, ["settings", "filled", "turn", "turn"].repeat(8));
    let fills: BTreeSet<(u32, u32)> = recorded.samples().iter().map(|it| (it.round, it.fill)).collect();
    let fills: Vec<(u32, u32)> = fills.into_iter().collect();
    assert_eq!(fills, [(0, 0), (0, 1), (1, 2), (1, 3), (2, 4), (2, 5), (3, 6), (3, 7)]);
}

#[test]
fn nothing_is_read_after_settings_or_a_fill_failed() {
    let end = TrialEnd::Both(refused_outcome("no"), EndReason::CommandFailed);
    let settings_ends = BTreeMap::from([(TrialIndex::new(0), end.clone()), (TrialIndex::new(1), end)]);
    let sampler = ScriptedSampler { settings_ends, ..ScriptedSampler::default() };
    assert_eq!(play(&plan_under_two_settings(4, COLD), sampler).end.unwrap(), EndReason::CommandFailed);
    let fills = [Ok(()), Ok(()), Err(TrialEnd::Trial(refused_outcome("no")))].into();
    let sampler = ScriptedSampler { fills, ..ScriptedSampler::default() };
    let recorded = play(&plan_under_two_settings(4, WARM), sampler);
    assert_eq!(
        (recorded.end.as_ref().unwrap(), recorded.reading_counts()),
        (&EndReason::Settled, vec![1; 4])
    );
}

#[test]
fn positions_are_counted_from_zero_within_each_round() {
    let trials = [("a", WARM), ("b", WARM), ("c", WARM)];
    let recorded = play_trials(rules_for_readings(2), &trials, ScriptedSampler::default());
    let places: Vec<(u32, u32)> = recorded.samples().iter().map(|s| (s.round, s.position)).collect();
    assert_eq!(places, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
}

#[test]
fn rounds_are_numbered_over_all_fills_and_rounds_without_a_fill_are_one_block() {
    let rules = Rules { min_fills: 3, ..rules_for_readings(6) };
    let trials = [("a", COLD), ("a", WARM), ("a", CacheState::Pressed)];
    let recorded = play_trials(rules, &trials, ScriptedSampler::default());
    let of = |trial| recorded.samples_of(trial).iter().map(|s| (s.fill, s.round)).collect::<Vec<_>>();
    assert_eq!(of(0), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]);
    assert_eq!(of(1), [(0, 0), (0, 1), (1, 2), (1, 3), (2, 4), (2, 5)]);
    assert_eq!(of(2), of(0), "untimed readings make the pressed state, and no fill");
    assert_eq!(recorded.log_lines(&["open"]).len(), 3, "contenders are started once in each state");
}

#[test]
fn fills_are_made_until_the_rules_have_enough() {
    for (fills, readings, filled) in [(3, 10, 4), (10, 12, 12)] {
        let rules = Rules { min_fills: fills, ..rules_for_readings(readings) };
        let recorded = play_trials(rules, &[("a", WARM)], ScriptedSampler::default());
        assert_eq!(
            (recorded.log_lines(&["filled"]).len(), recorded.reading_counts()),
            (filled, vec![readings as usize])
        );
        let last = recorded.samples().last().map(|it| (it.fill as usize, it.round));
        assert_eq!(last, Some((filled - 1, readings - 1)));
    }
}

#[test]
fn warm_up_is_taken_at_every_start_and_the_answer_is_checked_at_least_once() {
    for (warmup, warm_ups) in [(0, 1), (1, 2), (3, 6)] {
        let rules = Rules { warmup_readings: warmup, min_fills: 6, ..rules_for_readings(6) };
        let recorded = play_trials(rules, &[("a", WARM)], ScriptedSampler::default());
        assert_eq!(recorded.log_lines(&["rehearse"]).len(), warm_ups, "warm-up {warmup}");
    }
}

#[test]
fn a_contender_keeps_running_for_five_fills() {
    let recorded = play_trials(
        Rules { min_fills: 7, ..rules_for_readings(7) },
        &[("a", WARM)],
        ScriptedSampler::default(),
    );
    let starts = recorded.log_lines(&["start ", "filled"]);
    let before: Vec<&str> =
        starts.windows(2).filter(|pair| pair[1] == "start a").map(|pair| pair[0]).collect();
    assert_eq!(before, ["filled 0", "filled 5"]);
    assert_eq!(recorded.reading_counts(), [7]);
}

#[test]
fn the_next_contenders_are_started_ahead_and_none_is_starting_when_a_round_begins() {
    let sampler = ScriptedSampler::default();
    let launches = Rc::clone(&sampler.launches);
    play_trials(rules_for_readings(1), &["a", "b", "c", "d"].map(|name| (name, COLD)), sampler);
    let numbers = [vec![0, 1, 2], vec![1, 2, 3], vec![2, 3], vec![3], vec![]];
    let expected = numbers.map(|some| some.into_iter().map(TrialIndex::new).collect::<Vec<_>>());
    assert_eq!(*launches.borrow(), expected);
}

#[test]
fn a_selected_trial_that_is_absent_gets_its_outcome_first() {
    let mut plan = plan(rules_for_readings(1), &[("a", COLD), ("gone", COLD)]);
    let gone = plan.trials.pop().unwrap().trial;
    plan.absent_trials.push((gone, Outcome::Unavailable { reason: "no such call".to_owned() }));
    let recorded = play(&plan, ScriptedSampler::default());
    assert_eq!(recorded.log[..2], ["> trial gone ", "> unavailable gone: no such call"]);
    assert_eq!(recorded.outcomes(), ["unavailable gone: no such call", "measured a"]);
}

#[test]
fn a_state_without_trials_is_not_prepared() {
    let mut plan = plan(rules_for_readings(1), &[("a", COLD)]);
    plan.states.push(WARM);
    assert_eq!(play(&plan, ScriptedSampler::default()).log_lines(&["stage", "fill"]), ["stage cold 1"]);
}

#[test]
fn several_readings_of_a_turn_are_all_kept() {
    let sampler = ScriptedSampler::default().with_turns(0, [Ok(vec![3, 1, 2])]);
    let recorded = play_trials(rules_for_readings(3), &[("a", WARM)], sampler);
    let readings: Vec<(u32, u64)> = recorded.samples().iter().map(|s| (s.reading, s.wall_ns)).collect();
    assert_eq!(readings, [(0, 3), (1, 1), (2, 2)]);
}

#[test]
fn turns_of_several_readings_end_exactly_at_the_maximum_and_are_spread_over_the_fills() {
    for (max_runs, fills, readings) in
        [(100, 3, 10), (3, 3, 1), (20, 3, 5), (97, 3, 1), (1, 3, 1), (12, 1, 6)]
    {
        let rules = Rules { max_readings: max_runs, min_fills: fills, ..rules_for_readings(1) };
        assert_eq!(rules.readings_per_turn(10), readings, "at most {max_runs}");
    }
}

#[test]
fn contenders_are_inspected_after_all_rounds_if_they_were_measured() {
    let plan = plan(rules_for_readings(2), &[("read", COLD), ("read", WARM), ("broken", WARM)]);
    let trace = |trial| Ok(vec![Line::Trace { trial: TrialIndex::new(trial), trace: Box::default() }]);
    let sampler = ScriptedSampler { inspections: [trace(1), trace(0)].into(), ..ScriptedSampler::default() };
    let recorded = play(&plan, sampler.ending_at_open(2, failed_end("no")));
    let after = recorded.log.iter().position(|line| line.starts_with("inspect")).unwrap();
    assert!(!recorded.log[after..].iter().any(|line| line.contains("sample") || line.contains("turn")));
    assert_eq!(recorded.log_lines(&["trace", "end"])[..2], ["trace read", "trace read"]);
    let traced = recorded.lines.iter().filter_map(|line| match line {
        Line::Trace { trial, .. } => Some(*trial),
        _ => None,
    });
    let warm_first = [1, 0].map(TrialIndex::new);
    assert_eq!(traced.collect::<Vec<_>>(), warm_first, "the cache is still warm");
    assert_eq!(recorded.end.unwrap(), EndReason::Settled);
    let inspections = [Err(EndReason::Interrupted)].into();
    let stopped = play(&plan, ScriptedSampler { inspections, ..ScriptedSampler::default() });
    assert_eq!(stopped.log_lines(&["inspect"]).len(), 2, "said and done once");
    assert_eq!(stopped.end.unwrap(), EndReason::Interrupted);
}

#[test]
fn controls_are_in_every_round_until_the_last_other_trial_ends() {
    let sampler = ScriptedSampler::default().with_default_windows([(0, 10)]);
    let trials = [("resident", WARM), ("a", WARM), ("b", WARM)];
    assert_eq!(
        play_trials(Rules { min_readings: 1, ..rules_for_readings(4) }, &trials, sampler).reading_counts(),
        [4, 4, 4]
    );
    // If all trials are controls, each is settled by itself.
    let controls = [("null", WARM), ("resident", WARM)];
    assert_eq!(
        play_trials(rules_for_readings(2), &controls, ScriptedSampler::default()).reading_counts(),
        [2, 2]
    );
}

#[test]
fn a_trial_that_is_settled_leaves_the_others_to_their_rounds() {
    let rules = Rules { min_readings: 2, max_readings: 6, max_time: Nanos(10_000), ..rules_for_readings(6) };
    let sampler = ScriptedSampler::default().with_default_windows([(1, 6_000)]);
    let recorded = play_trials(rules, &[("null", COLD), ("slow", COLD), ("fast", COLD)], sampler);
    assert_eq!(recorded.reading_counts(), [6, 2, 6]);
}

#[test]
fn max_time_ends_no_trial_before_its_minimum_of_readings() {
    let rules = Rules { min_readings: 3, max_readings: 9, max_time: Nanos(1), ..rules_for_readings(9) };
    assert_eq!(play_trials(rules, &[("a", COLD)], ScriptedSampler::default()).reading_counts(), [3]);
}

#[test]
fn precision_ends_a_trial_only_after_its_minimum_of_readings_and_fills() {
    let rules = Rules { min_readings: 6, max_readings: 50, precision: 0.01, ..rules_for_readings(50) };
    let readings = |rules, sampler| play_trials(rules, &[("a", WARM)], sampler).reading_counts();
    assert_eq!(readings(rules, ScriptedSampler::default()), [6]);
    let many_fills = Rules { min_fills: 9, ..rules };
    assert_eq!(readings(many_fills, ScriptedSampler::default()), [9], "one round a fill, nine fills");
    let unsteady = (0..50).map(|n| 100 + 20 * (n % 7));
    assert_eq!(readings(rules, ScriptedSampler::default().with_windows(0, unsteady)), [50]);
}
