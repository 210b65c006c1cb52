//! Tests of runs in which a turn, a contender, the target, a fill or the record fails.

use super::*;
use crate::interface::CleanUpError;
use readlab_record::UntimedCount;

const INTERRUPTED: TrialEnd = TrialEnd::Run(EndReason::Interrupted);

#[test]
fn an_unproven_turn_is_taken_again_and_a_warm_one_after_a_refill() {
    // The fill before the rounds writes two lines into the log, and each refill writes one.
    for (state, fills) in [(COLD, 0), (WARM, 2 + 2)] {
        let sampler = ScriptedSampler::default().with_turns(0, unproven_turns(2));
        let recorded = play_trials(rules_for_readings(1), &[("a", state)], sampler);
        assert_eq!(
            recorded.log_lines(&["rejected"]),
            ["rejected a round 0: try 1", "rejected a round 0: try 2"]
        );
        assert_eq!(recorded.log_lines(&["turn"]).len(), 3);
        assert_eq!(recorded.log_lines(&["fill 0"]).len(), fills, "{:?}", recorded.log);
        assert_eq!(recorded.outcomes(), ["measured a"]);
    }
}

#[test]
fn a_state_that_cannot_be_proven_is_refused_after_the_last_try_and_the_rest_goes_on() {
    for state in [COLD, WARM] {
        let sampler = ScriptedSampler::default().with_turns(0, unproven_turns(9));
        let recorded = play_trials(rules_for_readings(3), &[("a", state), ("b", state)], sampler);
        let refusal = format!("refused a: the {state} state could not be proven in 4 tries: try 4");
        assert_eq!(recorded.outcomes(), [refusal.as_str(), "measured b"]);
        assert_eq!(recorded.log_lines(&["turn a"]).len(), 4);
        assert_eq!(recorded.reading_counts(), [0, 3]);
    }
}

#[test]
fn a_trial_that_the_sampler_refuses_at_its_end_is_not_counted() {
    let sampler = ScriptedSampler::default().with_refusal(0, "it kept the file");
    let recorded = play_trials(rules_for_readings(2), &[("a", COLD), ("b", COLD)], sampler);
    assert_eq!(recorded.outcomes(), ["refused a: it kept the file", "measured b"]);
    assert_eq!(recorded.log_lines(&["count "]), ["count b", "count b"]);
}

#[test]
fn a_contender_that_fails_at_any_moment_ends_no_other_trial() {
    let sampler = ScriptedSampler::default;
    for (sampler, samples) in [
        (sampler().ending_at_open(0, failed_end("no")), 0),
        (sampler().ending_at_warm_up(0, failed_end("no")), 0),
        (sampler().ending_at_turn(0, &[100], failed_end("no")), 1),
    ] {
        let recorded = play_trials(rules_for_readings(3), &[("a", WARM), ("b", WARM)], sampler);
        assert_eq!(recorded.outcomes(), ["failed a: no", "measured b"]);
        assert_eq!(recorded.reading_counts(), [samples, 3]);
        assert_eq!(recorded.log_lines(&["counts"]), ["counts b Some(7)"], "who failed is not counted");
        assert!(recorded.log.contains(&"  close a".to_owned()));
        assert_eq!(recorded.log_lines(&["trial"]).len(), 2, "announced once each: {:?}", recorded.log);
    }
}

#[test]
fn controls_have_an_outcome_even_if_all_other_trials_failed() {
    let sampler = ScriptedSampler::default().ending_at_open(1, failed_end("no"));
    let recorded = play_trials(rules_for_readings(3), &[("null", WARM), ("a", WARM)], sampler);
    let of_null = "unavailable null: no other trial was left to race against";
    assert_eq!(recorded.outcomes(), ["failed a: no", of_null]);
    assert_eq!(recorded.end.unwrap(), EndReason::Settled);
}

#[test]
fn a_target_that_changed_ends_the_run_with_outcomes() {
    let changed = TrialEnd::Both(refused_outcome("f became shorter"), EndReason::TargetChanged);
    let sampler = ScriptedSampler::default().ending_at_turn(0, &[100], changed);
    let recorded = play_trials(rules_for_readings(5), &[("a", COLD), ("b", COLD), ("b", WARM)], sampler);
    let outcomes = recorded.outcomes();
    assert!(outcomes.contains(&"refused a: f became shorter"));
    assert!(outcomes.contains(&"measured b"), "what was measured before is kept: {outcomes:?}");
    assert_eq!(
        recorded.log_lines(&["stage", "count "]),
        ["stage cold 2"],
        "nothing more is measured or counted"
    );
    assert!(recorded.log.last().unwrap().starts_with("> end TargetChanged"));
    assert_eq!(recorded.end.unwrap(), EndReason::TargetChanged);
}

#[test]
fn a_target_that_a_clean_up_changed_ends_the_run_unless_the_user_ended_it() {
    let changes = || {
        let text = "f was written to, seen after --cleanup 'x', while it was raced".to_owned();
        Some(CleanUpError { end: EndReason::TargetChanged, text })
    };
    let sampler = ScriptedSampler { clean_up_error: changes(), ..ScriptedSampler::default() };
    let recorded = play_trials(rules_for_readings(3), &[("a", WARM)], sampler);
    assert_eq!(recorded.outcomes(), ["measured a"]);
    assert!(recorded.log_lines(&["warning"])[0].contains("--cleanup 'x'"), "{:?}", recorded.log);
    assert_eq!(recorded.end.unwrap(), EndReason::TargetChanged);
    let sampler = ScriptedSampler { clean_up_error: changes(), ..ScriptedSampler::default() };
    let recorded =
        play_trials(rules_for_readings(3), &[("a", WARM)], sampler.ending_at_turn(0, &[5], INTERRUPTED));
    assert_eq!(recorded.end.unwrap(), EndReason::Interrupted);
}

#[test]
fn an_interrupted_run_keeps_what_was_measured_and_closes_all_contenders() {
    let sampler = ScriptedSampler::default().ending_at_turn(0, &[5], INTERRUPTED);
    let recorded = play_trials(rules_for_readings(9), &[("a", COLD), ("b", COLD)], sampler);
    assert!(recorded.outcomes().contains(&"measured a"), "{:?}", recorded.log);
    let mut closed = recorded.log_lines(&["close"]);
    closed.sort_unstable();
    assert_eq!(closed, ["close a", "close b"]);
    assert_eq!(recorded.end.unwrap(), EndReason::Interrupted);
    // Before the first measurement there is nothing to keep, and no outcome is invented.
    let at_open = ScriptedSampler::default().ending_at_open(0, INTERRUPTED);
    let at_fill = ScriptedSampler { fills: [Err(INTERRUPTED)].into(), ..ScriptedSampler::default() };
    for sampler in [at_open, at_fill] {
        let recorded = play_trials(rules_for_readings(9), &[("a", WARM), ("b", WARM)], sampler);
        assert_eq!((recorded.outcomes(), recorded.samples().len()), (vec![], 0), "{:?}", recorded.log);
        assert_eq!(recorded.end.unwrap(), EndReason::Interrupted);
    }
}

#[test]
fn an_interrupted_count_keeps_all_measurements() {
    let sampler = ScriptedSampler::default().ending_at_count(0, INTERRUPTED);
    let recorded = play_trials(rules_for_readings(1), &[("a", COLD), ("a", WARM)], sampler);
    assert_eq!(recorded.outcomes(), ["measured a"]);
    assert_eq!(recorded.end.unwrap(), EndReason::Interrupted);
}

#[test]
fn counts_come_after_each_state_and_a_failed_count_has_its_reason() {
    let sampler = ScriptedSampler::default().ending_at_count(0, failed_end("no room"));
    let recorded = play_trials(rules_for_readings(1), &[("a", COLD), ("b", WARM)], sampler);
    let marks = recorded.log_lines(&["stage", "measured", "counts", "end"]);
    let cold = ["stage cold 1", "measured a", "counts a None"];
    let warm = ["stage warm 1", "measured b", "counts b Some(7)"];
    assert_eq!(marks[..6], [cold, warm].concat());
    assert!(marks.len() == 7 && recorded.log.last().unwrap().ends_with(marks[6]), "{marks:?}");
    let of_a = recorded.lines.iter().find_map(|line| match line {
        Line::Counts { counts, .. } => Some(counts),
        _ => None,
    });
    for name in ["mallocs", "syscalls"] {
        assert_eq!(of_a.unwrap()[name], UntimedCount { value: None, how: "no room".to_owned() });
    }
}

#[test]
fn a_missing_meter_is_recorded_once_for_each_trial() {
    let note = || vec![("minor_faults", "not here".to_owned())];
    let sampler =
        ScriptedSampler { missing_meters: [note(), note(), note()].into(), ..ScriptedSampler::default() };
    let recorded = play_trials(rules_for_readings(3), &[("a", WARM)], sampler);
    assert_eq!(recorded.log_lines(&["missing"]), ["missing a minor_faults: not here"]);
}

fn sampler_with_failing_fill(number: usize, reason: &str) -> ScriptedSampler {
    let mut fills: Vec<_> = vec![Ok(()); number];
    fills.push(Err(TrialEnd::Trial(Outcome::Unavailable { reason: reason.to_owned() })));
    ScriptedSampler { fills: fills.into(), ..ScriptedSampler::default() }
}

#[test]
fn a_cache_that_cannot_be_filled_is_the_outcome_of_every_trial() {
    let recorded = play_trials(
        rules_for_readings(3),
        &[("a", WARM), ("b", WARM)],
        sampler_with_failing_fill(0, "larger than memory"),
    );
    let outcomes = ["a", "b"].map(|name| format!("unavailable {name}: larger than memory"));
    assert_eq!(recorded.outcomes(), outcomes);
    assert_eq!(recorded.log_lines(&["trial"]), ["trial a ", "trial b "]);
}

#[test]
fn a_later_fill_that_fails_leaves_the_samples_of_earlier_fills() {
    let rules = Rules { min_fills: 3, ..rules_for_readings(3) };
    let recorded = play_trials(rules, &[("a", WARM)], sampler_with_failing_fill(1, "memory ran out"));
    assert_eq!(recorded.outcomes(), ["measured a"]);
    assert_eq!(recorded.reading_counts(), [1]);
    let warning = "warning the cache could not be filled again after 1 fills: memory ran out";
    assert_eq!(recorded.log_lines(&["warning"]), [warning]);
}

#[test]
fn a_record_that_cannot_be_written_ends_the_run_with_the_error() {
    let plan = plan(rules_for_readings(3), &[("a", WARM), ("b", WARM)]);
    let whole = play(&plan, ScriptedSampler::default()).lines.len();
    for lines in 0..whole {
        let recorded = play_until_full(&plan, ScriptedSampler::default(), lines);
        let error = recorded.end.unwrap_err().to_string();
        assert!(error.starts_with("record: "), "{error}");
        assert_eq!(recorded.lines.len(), lines);
    }
}
