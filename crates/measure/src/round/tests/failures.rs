//! What becomes of a run when a turn, a contender, the target, a fill or the record fails.

use super::*;
use crate::interface::CleanUpError;
use readlab_model::trial::TrialIndex;
use readlab_record::Count;

#[test]
fn an_unproven_turn_is_taken_again_and_a_warm_one_after_a_refill() {
    for (state, refills) in [(COLD, 0), (WARM, 2)] {
        let mut sampler = ScriptedSampler::default();
        sampler.turns.insert(TrialIndex::new(0), unproven(2));
        let recorded = play(&plan(runs(1), &[("a", state)]), sampler);
        assert_eq!(recorded.only(&["rejected"]), ["rejected a round 0: try 1", "rejected a round 0: try 2"]);
        assert_eq!(recorded.only(&["turn"]).len(), 3);
        assert_eq!(
            recorded.only(&["fill 0"]).len(),
            refills + 2 * usize::from(state == WARM),
            "{:?}",
            recorded.log
        );
        assert_eq!(recorded.outcomes(), ["measured a"]);
    }
}

#[test]
fn a_state_that_cannot_be_proven_is_refused_after_the_last_try_and_the_rest_goes_on() {
    for state in [COLD, WARM] {
        let mut sampler = ScriptedSampler::default();
        sampler.turns.insert(TrialIndex::new(0), unproven(9));
        let recorded = play(&plan(runs(3), &[("a", state), ("b", state)]), sampler);
        let refusal = format!("refused a: the {state} state could not be proven in 4 tries: try 4");
        assert_eq!(recorded.outcomes(), [refusal.as_str(), "measured b"]);
        assert_eq!(recorded.only(&["turn a"]).len(), 4);
        assert_eq!((recorded.count_of(TrialIndex::new(0)), recorded.count_of(TrialIndex::new(1))), (0, 3));
    }
}

#[test]
fn a_trial_that_the_sampler_refuses_at_its_end_is_not_counted() {
    let plan = plan(runs(2), &[("a", COLD), ("b", COLD)]);
    let recorded = play(
        &plan,
        ScriptedSampler {
            refusals: [(TrialIndex::new(0), "it kept the file")].into(),
            ..ScriptedSampler::default()
        },
    );
    assert_eq!(recorded.outcomes(), ["refused a: it kept the file", "measured b"]);
    assert_eq!(recorded.only(&["count "]), ["count b", "count b"]);
}

#[test]
fn a_contender_that_fails_at_any_moment_ends_alone() {
    let at_open = ScriptedSampler {
        opens: [(TrialIndex::new(0), [Err(TrialEnd::Trial(failed("no")))].into())].into(),
        ..ScriptedSampler::default()
    };
    let at_rehearsal = ScriptedSampler {
        warm_ups: [(TrialIndex::new(0), [Err(TrialEnd::Trial(failed("no")))].into())].into(),
        ..ScriptedSampler::default()
    };
    let at_turn = ScriptedSampler {
        turns: [(
            TrialIndex::new(0),
            [Ok(vec![100]), Err(SampleError::TrialEnd(TrialEnd::Trial(failed("no"))))].into(),
        )]
        .into(),
        ..ScriptedSampler::default()
    };
    for (sampler, samples) in [(at_open, 0), (at_rehearsal, 0), (at_turn, 1)] {
        let recorded = play(&plan(runs(3), &[("a", WARM), ("b", WARM)]), sampler);
        assert_eq!(recorded.outcomes(), ["failed a: no", "measured b"]);
        assert_eq!(
            (recorded.count_of(TrialIndex::new(0)), recorded.count_of(TrialIndex::new(1))),
            (samples, 3)
        );
        assert_eq!(recorded.only(&["counts"]), ["counts b Some(7)"], "who failed is not counted");
        assert!(recorded.log.contains(&"  close a".to_owned()));
        assert_eq!(recorded.only(&["trial"]).len(), 2, "announced once each: {:?}", recorded.log);
    }
}

#[test]
fn when_all_the_others_failed_the_controls_have_an_outcome_too() {
    let sampler = ScriptedSampler {
        opens: [(TrialIndex::new(1), [Err(TrialEnd::Trial(failed("no")))].into())].into(),
        ..ScriptedSampler::default()
    };
    let recorded = play(&plan(runs(3), &[("null", WARM), ("a", WARM)]), sampler);
    assert_eq!(
        recorded.outcomes(),
        ["failed a: no", "unavailable null: no other trial was left to race against"]
    );
    assert_eq!(recorded.end.unwrap(), EndReason::Settled);
}

#[test]
fn a_target_that_changed_ends_the_run_with_outcomes() {
    let changed = TrialEnd::Both(refused("f became shorter"), EndReason::TargetChanged);
    let sampler = ScriptedSampler {
        turns: [(TrialIndex::new(0), [Ok(vec![100]), Err(SampleError::TrialEnd(changed))].into())].into(),
        ..ScriptedSampler::default()
    };
    let recorded = play(&plan(runs(5), &[("a", COLD), ("b", COLD), ("b", WARM)]), sampler);
    assert!(recorded.outcomes().contains(&"refused a: f became shorter"));
    assert!(
        recorded.outcomes().contains(&"measured b"),
        "what was measured before is kept: {:?}",
        recorded.outcomes()
    );
    assert_eq!(recorded.only(&["stage", "count "]), ["stage cold 2"], "nothing more is measured or counted");
    assert!(recorded.log.last().unwrap().starts_with("> end TargetChanged"));
    assert_eq!(recorded.end.unwrap(), EndReason::TargetChanged);
}

#[test]
fn a_target_that_a_clean_up_changed_ends_the_run_unless_the_user_did() {
    let changes = || {
        let text = "f was written to, seen after --cleanup 'x', while it was raced".to_owned();
        Some(CleanUpError { end: EndReason::TargetChanged, text })
    };
    let sampler = ScriptedSampler { clean_up_error: changes(), ..ScriptedSampler::default() };
    let recorded = play(&plan(runs(3), &[("a", WARM)]), sampler);
    assert_eq!(recorded.outcomes(), ["measured a"]);
    assert!(recorded.only(&["warning"])[0].contains("--cleanup 'x'"), "{:?}", recorded.log);
    assert_eq!(recorded.end.unwrap(), EndReason::TargetChanged);
    let interrupted = SampleError::TrialEnd(TrialEnd::Run(EndReason::Interrupted));
    let sampler = ScriptedSampler {
        turns: [(TrialIndex::new(0), [Ok(vec![5]), Err(interrupted)].into())].into(),
        clean_up_error: changes(),
        ..ScriptedSampler::default()
    };
    let recorded = play(&plan(runs(3), &[("a", WARM)]), sampler);
    assert_eq!(recorded.end.unwrap(), EndReason::Interrupted);
}

#[test]
fn an_interrupted_run_keeps_what_was_measured_and_closes_all_contenders() {
    let interrupted = || Err(SampleError::TrialEnd(TrialEnd::Run(EndReason::Interrupted)));
    let sampler = ScriptedSampler {
        turns: [(TrialIndex::new(0), [Ok(vec![5]), interrupted()].into())].into(),
        ..ScriptedSampler::default()
    };
    let recorded = play(&plan(runs(9), &[("a", COLD), ("b", COLD)]), sampler);
    assert!(recorded.outcomes().contains(&"measured a"), "{:?}", recorded.log);
    let mut closed = recorded.only(&["close"]);
    closed.sort_unstable();
    assert_eq!(closed, ["close a", "close b"]);
    assert_eq!(recorded.end.unwrap(), EndReason::Interrupted);
    // Before anything was measured there is nothing to keep, and no outcome is made up.
    for sampler in [
        ScriptedSampler {
            opens: [(TrialIndex::new(0), [Err(TrialEnd::Run(EndReason::Interrupted))].into())].into(),
            ..ScriptedSampler::default()
        },
        ScriptedSampler {
            fills: [Err(TrialEnd::Run(EndReason::Interrupted))].into(),
            ..ScriptedSampler::default()
        },
    ] {
        let recorded = play(&plan(runs(9), &[("a", WARM), ("b", WARM)]), sampler);
        assert_eq!((recorded.outcomes(), recorded.samples().len()), (vec![], 0), "{:?}", recorded.log);
        assert_eq!(recorded.end.unwrap(), EndReason::Interrupted);
    }
}

#[test]
fn an_interrupted_count_spoils_nothing() {
    let sampler = ScriptedSampler {
        counts: [(TrialIndex::new(0), Err(TrialEnd::Run(EndReason::Interrupted)))].into(),
        ..ScriptedSampler::default()
    };
    let recorded = play(&plan(runs(1), &[("a", COLD), ("a", WARM)]), sampler);
    assert_eq!(recorded.outcomes(), ["measured a"]);
    assert_eq!(recorded.end.unwrap(), EndReason::Interrupted);
}

#[test]
fn counts_come_after_each_state_and_one_that_fails_has_its_reason() {
    let sampler = ScriptedSampler {
        counts: [(TrialIndex::new(0), Err(TrialEnd::Trial(failed("no room"))))].into(),
        ..ScriptedSampler::default()
    };
    let recorded = play(&plan(runs(1), &[("a", COLD), ("b", WARM)]), sampler);
    assert_eq!(
        recorded.only(&["stage", "measured", "counts", "end"]),
        [
            "stage cold 1",
            "measured a",
            "counts a None",
            "stage warm 1",
            "measured b",
            "counts b Some(7)",
            recorded.log.last().unwrap().trim_start_matches("> ")
        ]
    );
    let Some(Line::Counts { counts, .. }) = recorded.lines.iter().find(|l| matches!(l, Line::Counts { .. }))
    else {
        panic!("no counts: {:?}", recorded.log)
    };
    for name in ["mallocs", "syscalls"] {
        assert_eq!(counts[name], Count { value: None, how: "no room".to_owned() });
    }
}

#[test]
fn a_missing_meter_is_recorded_once_for_each_trial() {
    let note = || vec![("minor_faults", "not here".to_owned())];
    let sampler = ScriptedSampler { missing: [note(), note(), note()].into(), ..ScriptedSampler::default() };
    let recorded = play(&plan(runs(3), &[("a", WARM)]), sampler);
    assert_eq!(recorded.only(&["missing"]), ["missing a minor_faults: not here"]);
}

#[test]
fn a_cache_that_cannot_be_filled_is_the_outcome_of_every_trial() {
    let no = TrialEnd::Trial(Outcome::Unavailable { reason: "larger than memory".to_owned() });
    let sampler = ScriptedSampler { fills: [Err(no)].into(), ..ScriptedSampler::default() };
    let recorded = play(&plan(runs(3), &[("a", WARM), ("b", WARM)]), sampler);
    assert_eq!(
        recorded.outcomes(),
        ["unavailable a: larger than memory", "unavailable b: larger than memory"]
    );
    assert_eq!(recorded.only(&["trial"]), ["trial a ", "trial b "]);
}

#[test]
fn a_later_fill_that_fails_leaves_the_samples_of_the_earlier_ones() {
    let no = TrialEnd::Trial(Outcome::Unavailable { reason: "memory ran out".to_owned() });
    let sampler = ScriptedSampler { fills: [Ok(()), Err(no)].into(), ..ScriptedSampler::default() };
    let recorded = play(&plan(Rules { fills: 3, ..runs(3) }, &[("a", WARM)]), sampler);
    assert_eq!(recorded.outcomes(), ["measured a"]);
    assert_eq!(recorded.count_of(TrialIndex::new(0)), 1);
    let warning = "warning the cache could not be filled again after 1 fills: memory ran out";
    assert_eq!(recorded.only(&["warning"]), [warning]);
}

#[test]
fn a_record_that_cannot_be_written_ends_the_run_with_the_error() {
    let plan = plan(runs(3), &[("a", WARM), ("b", WARM)]);
    let whole = play(&plan, ScriptedSampler::default()).lines.len();
    for lines in 0..whole {
        let recorded = play_until_full(&plan, ScriptedSampler::default(), lines);
        let error = recorded.end.unwrap_err().to_string();
        assert!(error.starts_with("record: "), "{error}");
        assert_eq!(recorded.lines.len(), lines);
    }
}
