//! Limits that readings exceed, and windows that no reading can have.

use super::*;
use readlab_model::trial::TrialIndex;

#[test]
fn a_window_shorter_than_visiting_memory_is_refused() {
    // A control that proves nothing is no ceiling.
    let mut sampler = ScriptedSampler::default();
    sampler.walls.extend([(TrialIndex::new(0), 1_000), (TrialIndex::new(1), 100)]);
    let recorded = play(&plan(runs(3), &[("null", WARM), ("a", WARM)]), sampler);
    assert_eq!(recorded.outcomes(), ["measured null", "measured a"]);
    // One that does is, whichever comes first in the round.
    for seed in 0..8 {
        let mut sampler = ScriptedSampler::default();
        sampler.walls.extend([
            (TrialIndex::new(0), 1_000),
            (TrialIndex::new(1), 333),
            (TrialIndex::new(2), 334),
        ]);
        let trials = [("resident", WARM), ("a", WARM), ("b", WARM)];
        let recorded = play(&plan(Rules { seed, ..runs(1) }, &trials), sampler);
        let refusal =
            "refused a: a window of 333 ns is shorter than visiting the bytes in memory took: 1000 ns";
        let mut outcomes = recorded.outcomes();
        outcomes.sort_unstable();
        assert_eq!(outcomes, ["measured b", "measured resident", refusal], "seed {seed}");
    }
}

#[test]
fn the_ceiling_of_one_state_is_not_that_of_the_next() {
    let mut sampler = ScriptedSampler::default();
    sampler.walls.extend([
        (TrialIndex::new(0), 1_000_000),
        (TrialIndex::new(1), 1_000_000),
        (TrialIndex::new(2), 100),
    ]);
    let recorded = play(&plan(runs(2), &[("resident", COLD), ("a", COLD), ("a", WARM)]), sampler);
    assert_eq!(recorded.outcomes(), ["measured resident", "measured a", "measured a"]);
}

/// A device that shows so much in its rounds and then, and one who reads past it at ten bytes a
/// nanosecond.
fn beyond_the_device(rounds: u32, then_ns: u64) -> RecordedRun {
    let turns = (0..rounds).map(|_| Ok(vec![1_000])).chain((0..5).map(|_| Ok(vec![then_ns])));
    let mut sampler = ScriptedSampler {
        turns: [(TrialIndex::new(0), turns.collect())].into(),
        ..ScriptedSampler::default()
    };
    sampler.device.extend([
        (TrialIndex::new(0), 1_000),
        (TrialIndex::new(1), 1_000),
        (TrialIndex::new(2), 1_000),
    ]);
    sampler.walls.extend([(TrialIndex::new(1), 100), (TrialIndex::new(2), 1_050)]);
    play(&plan(runs(rounds), &[("device", COLD), ("read", COLD), ("slow", COLD)]), sampler)
}

#[test]
fn a_beaten_limit_is_measured_again_after_the_rounds() {
    let recorded = beyond_the_device(6, 80);
    assert_eq!(
        recorded.only(&["limit", "warning", "measured"]),
        [
            "limit rust/device 12500000000",
            "warning the device limit was beaten: rust/read reached 10.0 GB/s, and rust/device showed 1.00 GB/s; \
             measured again, it showed 12.5 GB/s",
            "measured device",
            "measured read",
            "measured slow"
        ]
    );
    assert_eq!(
        (recorded.count_of(TrialIndex::new(0)), recorded.only(&["turn device"]).len()),
        (6, 11),
        "its samples stand as they were"
    );
    let Some(Line::Limit(limit)) = recorded.lines.iter().find(|line| matches!(line, Line::Limit(_))) else {
        panic!("{:?}", recorded.log)
    };
    assert_eq!((limit.trial, limit.samples.len(), limit.ci95.is_some()), (Some(TrialIndex::new(0)), 5, true));
    assert_eq!(recorded.end.unwrap(), EndReason::Settled);
}

#[test]
fn a_limit_that_is_not_clearly_beaten_is_not_measured_again() {
    // Too few rounds make no interval.
    assert_eq!(beyond_the_device(4, 80).only(&["limit", "warning"]), Vec::<&str>::new());
    let memory = |wall_ns, busy: &[usize]| {
        let mut sampler = ScriptedSampler::default();
        sampler.walls.extend([(TrialIndex::new(0), 100), (TrialIndex::new(1), wall_ns)]);
        sampler.busy.extend(busy.iter().copied().map(TrialIndex::new));
        play(&plan(runs(6), &[("resident", WARM), ("read", WARM)]), sampler).only(&["limit"]).len()
    };
    assert_eq!((memory(95, &[]), memory(80, &[])), (0, 1));
    assert_eq!(memory(80, &[1]), 0, "two processors are more than the one that the control has");
}

#[test]
fn a_firm_budget_leaves_no_time_for_measuring_again() {
    let mut sampler = ScriptedSampler::default();
    sampler.device.extend([(TrialIndex::new(0), 1_000), (TrialIndex::new(1), 1_000)]);
    sampler.walls.extend([(TrialIndex::new(0), 1_000), (TrialIndex::new(1), 100)]);
    // Two starts of 2000 each, then seven rounds of 1100.
    let rules = Rules { budget: Budget::Firm(Nanos(11_700)), ..runs(100) };
    let recorded = play(&plan(rules, &[("device", COLD), ("read", COLD)]), sampler);
    assert!(recorded.count_of(TrialIndex::new(0)) >= 6, "{:?}", recorded.log);
    assert_eq!(recorded.only(&["limit"]), Vec::<&str>::new());
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}

#[test]
fn what_happens_while_a_limit_is_measured_again_spoils_nothing() {
    let fails = |end: TrialEnd| {
        let turns = (0..6).map(|_| Ok(vec![1_000])).chain([Err(SampleError::TrialEnd(end))]);
        let mut sampler = ScriptedSampler {
            turns: [(TrialIndex::new(0), turns.collect())].into(),
            ..ScriptedSampler::default()
        };
        sampler.device.extend([(TrialIndex::new(0), 1_000), (TrialIndex::new(1), 1_000)]);
        play(&plan(runs(6), &[("device", COLD), ("read", COLD)]), sampler)
    };
    let recorded = fails(TrialEnd::Trial(failed("it crashed")));
    assert_eq!(recorded.outcomes(), ["measured device", "measured read"]);
    assert_eq!(recorded.only(&["limit"]), Vec::<&str>::new());
    assert_eq!(recorded.end.unwrap(), EndReason::Settled);
    let recorded = fails(TrialEnd::Run(EndReason::Interrupted));
    assert_eq!(recorded.outcomes(), ["measured device", "measured read"]);
    assert_eq!(recorded.end.unwrap(), EndReason::Interrupted);
}
