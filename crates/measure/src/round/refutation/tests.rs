//! Whole scripted runs in which a contender lies or a control was preempted.

use crate::round::testing::{COLD, RecordedRun, ScriptedSampler, WARM, play_trials, runs};
use readlab_model::sample::{Delivered, Sample, TurnSeen};
use readlab_model::trial::CacheState;

const MS: u64 = 1_000_000;

/// What a turn showed: window, CPU time within it, the turn from outside, CPU time of the turn.
#[derive(Clone, Copy)]
struct Shown {
    window_ns: u64,
    cpu_ns: u64,
    seen_ns: u64,
}

/// An honest turn of so long.
fn honest(window_ns: u64) -> Shown {
    Shown { window_ns, cpu_ns: window_ns, seen_ns: window_ns + 200_000 }
}

impl Shown {
    fn into_sample(self, sample: &mut Sample) {
        sample.turn_readings = 1;
        sample.wall_ns = self.window_ns;
        (sample.cpu_user_ns, sample.cpu_system_ns) = (Some(self.cpu_ns), Some(0));
        sample.turn = TurnSeen {
            wall_ns: Some(self.seen_ns),
            cpu_ns: Some(self.cpu_ns + 50_000),
            cpu_error_ns: Some(0),
            delayed_ns: Some(0),
            lab_delayed_ns: Some(0),
            ..TurnSeen::default()
        };
    }
}

/// `null`, `resident` and `a`, each showing these in order, and then the last of them for ever.
fn race(state: CacheState, rounds: u32, shown: [&[Shown]; 3]) -> RecordedRun {
    let mut sampler = ScriptedSampler::default();
    for (trial, shown) in shown.into_iter().enumerate() {
        let for_ever = std::iter::repeat(shown[shown.len() - 1]);
        let in_order = shown.to_vec();
        let mut shown = in_order.into_iter().chain(for_ever);
        sampler = sampler.alters(trial, move |sample| {
            shown.next().expect("it never ends").into_sample(sample);
        });
    }
    play_trials(runs(rounds), &[("null", state), ("resident", state), ("a", state)], sampler)
}

fn outcome_of_a(recorded: &RecordedRun) -> String {
    recorded.outcomes().iter().find(|line| line.split([' ', ':']).nth(1) == Some("a")).unwrap().to_string()
}

const NULL: Shown = Shown { window_ns: 1_000, cpu_ns: 1_000, seen_ns: 200_000 };

#[test]
fn a_preempted_control_refuses_no_trial() {
    let preempted = Shown { window_ns: 19 * MS, cpu_ns: 2 * MS, seen_ns: 20 * MS };
    // Its CPU time shows what it did, although every turn was preempted.
    let recorded = race(WARM, 3, [&[NULL], &[preempted], &[honest(2 * MS)]]);
    assert_eq!(outcome_of_a(&recorded), "measured a");
    // Where CPU time is not fine enough, by asking it again.
    let coarse = Shown { cpu_ns: 0, ..preempted };
    let alone = Shown { window_ns: 2 * MS, cpu_ns: 0, seen_ns: 3 * MS };
    let recorded = race(WARM, 1, [&[NULL], &[coarse, alone], &[honest(2 * MS)]]);
    assert_eq!(outcome_of_a(&recorded), "measured a");
    let turns = recorded.only(&["turn resident"]).len();
    assert_eq!(turns, 2, "further turns until the doubt was gone: {:?}", recorded.log);
    assert_eq!(recorded.readings()[1], 1, "only the reading of its round is recorded");
}

#[test]
fn what_no_control_explains_is_refused_after_further_turns_of_them() {
    let recorded = race(WARM, 1, [&[NULL], &[honest(9 * MS)], &[honest(2 * MS)]]);
    let why = "a window of 2000000 ns is shorter than visiting the bytes in memory took: 9000000 ns";
    assert_eq!(outcome_of_a(&recorded), format!("refused a: {why}"));
    assert_eq!(recorded.only(&["turn resident"]).len(), 4);
}

#[test]
fn windows_that_leave_much_of_every_turn_out_are_refused_with_both_numbers() {
    for state in [COLD, WARM] {
        let half = Shown { seen_ns: 40 * MS, ..honest(20 * MS) };
        let recorded = race(state, 3, [&[NULL], &[honest(MS)], &[half]]);
        let said = outcome_of_a(&recorded);
        let begin = "refused a: its windows leave out 20000000 ns of a turn that took 40000000 ns, the least of 5 turns";
        assert!(said.starts_with(begin), "{said}");
        assert_eq!(recorded.readings()[2], 3, "further turns are not recorded");
    }
}

#[test]
fn one_undisturbed_turn_is_enough() {
    let late = Shown { seen_ns: 40 * MS, ..honest(20 * MS) };
    let recorded = race(WARM, 6, [&[NULL], &[honest(MS)], &[late, late, late, honest(20 * MS), late]]);
    assert_eq!(outcome_of_a(&recorded), "measured a");
    // It may come after the rounds, too.
    let recorded = race(WARM, 3, [&[NULL], &[honest(MS)], &[late, late, late, honest(20 * MS)]]);
    assert_eq!(outcome_of_a(&recorded), "measured a");
}

#[test]
fn a_contender_that_lies_in_half_of_its_turns_is_refused_by_the_median() {
    let (lie, truth) = (Shown { seen_ns: 40 * MS, ..honest(20 * MS) }, honest(20 * MS));
    let recorded = race(WARM, 8, [&[NULL], &[honest(MS)], &[truth, lie, truth, lie, truth, lie, truth, lie]]);
    assert!(outcome_of_a(&recorded).contains("the median of 8 turns"), "{}", outcome_of_a(&recorded));
}

#[test]
fn where_answering_takes_long_for_null_it_is_allowed_to_all() {
    let slow_null = Shown { seen_ns: 9 * MS, ..NULL };
    let late = Shown { seen_ns: 40 * MS, ..honest(20 * MS) };
    let recorded = race(WARM, 5, [&[slow_null], &[honest(MS)], &[late]]);
    assert_eq!(outcome_of_a(&recorded), "measured a");
}

#[test]
fn a_warm_turn_without_the_time_to_touch_the_bytes_is_refused() {
    let asleep = Shown { window_ns: 9 * MS, cpu_ns: MS, seen_ns: 9 * MS + 100_000 };
    let recorded = race(WARM, 4, [&[NULL], &[honest(6 * MS)], &[asleep]]);
    let why = "5 of 5 turns cannot have touched the bytes: 1050000 ns of CPU time";
    assert!(outcome_of_a(&recorded).contains(why), "{}", outcome_of_a(&recorded));
    // Cold bytes are proven by the device.
    let recorded = race(COLD, 4, [&[NULL], &[honest(6 * MS)], &[asleep]]);
    assert_eq!(outcome_of_a(&recorded), "measured a");
}

#[test]
fn bytes_that_were_seen_to_arrive_need_no_other_proof() {
    let resident = |sample: &mut Sample| honest(6 * MS).into_sample(sample);
    let by_calls = |sample: &mut Sample| {
        Shown { window_ns: 9 * MS, cpu_ns: MS, seen_ns: 9 * MS }.into_sample(sample);
        sample.turn.delivered = Some(Delivered::Calls);
    };
    let sampler = ScriptedSampler::default().alters(0, resident).alters(1, by_calls);
    let recorded = play_trials(runs(4), &[("resident", WARM), ("a", WARM)], sampler);
    assert_eq!(outcome_of_a(&recorded), "measured a");
}
