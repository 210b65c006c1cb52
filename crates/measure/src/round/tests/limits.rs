//! Tests of readings that exceed a limit, and of windows that are too short for any reading.

use super::*;

#[test]
fn a_window_shorter_than_visiting_memory_is_refused() {
    // A control without a proof that it visited the bytes is no ceiling.
    let sampler = ScriptedSampler::default().with_default_windows([(0, 1_000), (1, 100)]);
    let recorded = play_trials(rules_for_readings(3), &[("null", WARM), ("a", WARM)], sampler);
    assert_eq!(recorded.outcomes(), ["measured null", "measured a"]);
    // A control with that proof is a ceiling, at any position in the round.
    let refusal = "refused a: a window of 333 ns is shorter than visiting the bytes in memory took: 1000 ns";
    for seed in 0..8 {
        let sampler = ScriptedSampler::default().with_default_windows([(0, 1_000), (1, 333), (2, 334)]);
        let trials = [("resident", WARM), ("a", WARM), ("b", WARM)];
        let recorded = play_trials(Rules { seed, ..rules_for_readings(1) }, &trials, sampler);
        let mut outcomes = recorded.outcomes();
        outcomes.sort_unstable();
        assert_eq!(outcomes, ["measured b", "measured resident", refusal], "seed {seed}");
    }
}

#[test]
fn the_ceiling_of_one_state_does_not_apply_to_the_next() {
    let sampler = ScriptedSampler::default().with_default_windows([(0, 1_000_000), (1, 1_000_000), (2, 100)]);
    let recorded =
        play_trials(rules_for_readings(2), &[("resident", COLD), ("a", COLD), ("a", WARM)], sampler);
    assert_eq!(recorded.outcomes(), ["measured resident", "measured a", "measured a"]);
}

/// A race of the control `device` and of two trials. Each reading fetches 1000 bytes, and `read`
/// beats the control with ten bytes a nanosecond. The control's window is 1000 ns in the rounds and
/// `then_ns` in the turns after them.
fn race_beating_the_device(rounds: u32, then_ns: u64) -> RecordedRun {
    let windows = std::iter::repeat_n(1_000, rounds as usize).chain([then_ns; 5]);
    let sampler =
        ScriptedSampler::default().with_windows(0, windows).with_default_windows([(1, 100), (2, 1_050)]);
    let trials = [("device", COLD), ("read", COLD), ("slow", COLD)];
    play_trials(rules_for_readings(rounds), &trials, sampler.with_device_reads(1_000, 0..3))
}

#[test]
fn a_beaten_limit_is_measured_again_after_the_rounds() {
    let recorded = race_beating_the_device(6, 80);
    assert_eq!(
        recorded.log_lines(&["limit", "warning", "measured"]),
        [
            "limit rust/device 12500000000",
            "warning the device limit was beaten: rust/read reached 10.0 GB/s, and rust/device showed 1.00 GB/s; \
             measured again, it showed 12.5 GB/s",
            "measured device",
            "measured read",
            "measured slow"
        ]
    );
    let turns = recorded.log_lines(&["turn device"]).len();
    assert_eq!((recorded.reading_counts()[0], turns), (6, 11), "its samples stand as they were");
    let limit = recorded.lines.iter().find_map(|line| match line {
        Line::Limit(limit) => Some((limit.trial, limit.samples.len(), limit.ci95.is_some())),
        _ => None,
    });
    assert_eq!(limit, Some((Some(TrialIndex::new(0)), 5, true)));
    assert_eq!(recorded.end.unwrap(), EndReason::Settled);
}

#[test]
fn a_reading_that_fetches_more_than_it_reads_beats_no_limit() {
    let sampler = ScriptedSampler::default().with_default_windows([(0, 1_000), (1, 100)]);
    let sampler = sampler.with_device_reads(1_000, 0..1).with_device_reads(3_000, 1..2);
    let recorded = play_trials(rules_for_readings(6), &[("device", COLD), ("read", COLD)], sampler);
    assert!(recorded.log_lines(&["limit", "warning"]).is_empty());
}

#[test]
fn a_limit_that_is_not_clearly_beaten_is_not_measured_again() {
    // Four rounds are too few for an interval.
    assert!(race_beating_the_device(4, 80).log_lines(&["limit", "warning"]).is_empty());
    let limits = |sampler: ScriptedSampler, wall_ns| {
        let sampler = sampler.with_default_windows([(0, 100), (1, wall_ns)]);
        let recorded = play_trials(rules_for_readings(6), &[("resident", WARM), ("read", WARM)], sampler);
        recorded.log_lines(&["limit"]).len()
    };
    assert_eq!([95, 80].map(|wall_ns| limits(ScriptedSampler::default(), wall_ns)), [0, 1]);
    let on_two_processors = ScriptedSampler::default().with_alteration(1, |sample| {
        (sample.cpu_user_ns, sample.cpu_system_ns) = (Some(sample.wall_ns), Some(sample.wall_ns));
    });
    assert_eq!(limits(on_two_processors, 80), 0, "two processors are more than the one that the control has");
}

#[test]
fn a_firm_budget_leaves_no_time_for_measuring_again() {
    let sampler = ScriptedSampler::default()
        .with_default_windows([(0, 1_000), (1, 100)])
        .with_device_reads(1_000, 0..2);
    // Two starts of 2000 ns each, then seven rounds of 1100 ns.
    let rules = Rules { budget: Budget::Firm(Nanos(11_700)), ..rules_for_readings(100) };
    let recorded = play_trials(rules, &[("device", COLD), ("read", COLD)], sampler);
    assert!(recorded.reading_counts()[0] >= 6, "{:?}", recorded.log);
    assert!(recorded.log_lines(&["limit"]).is_empty());
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}

#[test]
fn failures_while_a_limit_is_measured_again_end_no_trial_of_the_rounds() {
    let interrupted = TrialEnd::Run(EndReason::Interrupted);
    for (end, reason) in
        [(failed_end("it crashed"), EndReason::Settled), (interrupted, EndReason::Interrupted)]
    {
        let sampler =
            ScriptedSampler::default().ending_at_turn(0, &[1_000; 6], end).with_device_reads(1_000, 0..2);
        let recorded = play_trials(rules_for_readings(6), &[("device", COLD), ("read", COLD)], sampler);
        assert_eq!(recorded.outcomes(), ["measured device", "measured read"]);
        assert!(recorded.log_lines(&["limit"]).is_empty());
        assert_eq!(recorded.end.unwrap(), reason);
    }
}
