//! Whole scripted runs in which a contender reports wrong values or a control was preempted.

use crate::round::testing::{COLD, RecordedRun, ScriptedSampler, WARM, play_trials, rules_for_readings};
use readlab_model::sample::{DeliveryMeter, Sample, TurnSeen};
use readlab_model::trial::CacheState;

const MS: u64 = 1_000_000;

/// Times of a turn: its window, CPU time in the window, and the turn seen from outside.
#[derive(Clone, Copy)]
struct TurnTimes {
    window_ns: u64,
    cpu_ns: u64,
    turn_ns: u64,
}

fn honest_turn(window_ns: u64) -> TurnTimes {
    TurnTimes { window_ns, cpu_ns: window_ns, turn_ns: window_ns + 200_000 }
}

impl TurnTimes {
    fn write_to(self, sample: &mut Sample) {
        sample.turn_readings = 1;
        sample.wall_ns = self.window_ns;
        (sample.cpu_user_ns, sample.cpu_system_ns) = (Some(self.cpu_ns), Some(0));
        sample.turn = TurnSeen {
            wall_ns: Some(self.turn_ns),
            cpu_ns: Some(self.cpu_ns + 50_000),
            cpu_error_ns: Some(0),
            delayed_ns: Some(0),
            lab_delayed_ns: Some(0),
            ..TurnSeen::default()
        };
    }
}

/// A race of `null`, `resident` and `a`. Each trial shows its turns in order and then repeats the
/// last one.
fn play_race(state: CacheState, rounds: u32, turn_times: [&[TurnTimes]; 3]) -> RecordedRun {
    let mut sampler = ScriptedSampler::default();
    for (trial, turn_times) in turn_times.into_iter().enumerate() {
        let for_ever = std::iter::repeat(turn_times[turn_times.len() - 1]);
        let in_order = turn_times.to_vec();
        let mut turn_times = in_order.into_iter().chain(for_ever);
        sampler = sampler.with_alteration(trial, move |sample| {
            turn_times.next().expect("it never ends").write_to(sample);
        });
    }
    play_trials(rules_for_readings(rounds), &[("null", state), ("resident", state), ("a", state)], sampler)
}

fn outcome_of_a(recorded: &RecordedRun) -> String {
    recorded.outcomes().iter().find(|line| line.split([' ', ':']).nth(1) == Some("a")).unwrap().to_string()
}

const NULL_TURN: TurnTimes = TurnTimes { window_ns: 1_000, cpu_ns: 1_000, turn_ns: 200_000 };

#[test]
fn a_preempted_control_refuses_no_trial() {
    let preempted = TurnTimes { window_ns: 19 * MS, cpu_ns: 2 * MS, turn_ns: 20 * MS };
    // The control's CPU time shows how long the visit took, although every turn was preempted.
    let recorded = play_race(WARM, 3, [&[NULL_TURN], &[preempted], &[honest_turn(2 * MS)]]);
    assert_eq!(outcome_of_a(&recorded), "measured a");
    // If CPU time is too coarse, the control gets further turns.
    let coarse = TurnTimes { cpu_ns: 0, ..preempted };
    let alone = TurnTimes { window_ns: 2 * MS, cpu_ns: 0, turn_ns: 3 * MS };
    let recorded = play_race(WARM, 1, [&[NULL_TURN], &[coarse, alone], &[honest_turn(2 * MS)]]);
    assert_eq!(outcome_of_a(&recorded), "measured a");
    let turns = recorded.log_lines(&["turn resident"]).len();
    assert_eq!(turns, 2, "further turns until the doubt was gone: {:?}", recorded.log);
    assert_eq!(recorded.reading_counts()[1], 1, "only the reading of its round is recorded");
}

#[test]
fn a_window_that_no_control_explains_is_refused_after_further_turns_of_the_controls() {
    let recorded = play_race(WARM, 1, [&[NULL_TURN], &[honest_turn(9 * MS)], &[honest_turn(2 * MS)]]);
    let why = "a window of 2000000 ns is shorter than visiting the bytes in memory took: 9000000 ns";
    assert_eq!(outcome_of_a(&recorded), format!("refused a: {why}"));
    assert_eq!(recorded.log_lines(&["turn resident"]).len(), 4);
}

#[test]
fn windows_that_leave_much_of_every_turn_out_are_refused_with_both_numbers() {
    for state in [COLD, WARM] {
        let half = TurnTimes { turn_ns: 40 * MS, ..honest_turn(20 * MS) };
        let recorded = play_race(state, 3, [&[NULL_TURN], &[honest_turn(MS)], &[half]]);
        let said = outcome_of_a(&recorded);
        let begin = "refused a: its windows leave out 20000000 ns of a turn that took 40000000 ns, the least of 5 turns";
        assert!(said.starts_with(begin), "{said}");
        assert_eq!(recorded.reading_counts()[2], 3, "further turns are not recorded");
    }
}

#[test]
fn one_undisturbed_turn_of_the_trial_is_enough() {
    let late = TurnTimes { turn_ns: 40 * MS, ..honest_turn(20 * MS) };
    let recorded = play_race(
        WARM,
        6,
        [&[NULL_TURN], &[honest_turn(MS)], &[late, late, late, honest_turn(20 * MS), late]],
    );
    assert_eq!(outcome_of_a(&recorded), "measured a");
    // The undisturbed turn may also come after the rounds.
    let recorded =
        play_race(WARM, 3, [&[NULL_TURN], &[honest_turn(MS)], &[late, late, late, honest_turn(20 * MS)]]);
    assert_eq!(outcome_of_a(&recorded), "measured a");
}

#[test]
fn a_contender_with_false_windows_in_half_of_its_turns_is_refused_by_the_median() {
    let (lie, truth) = (TurnTimes { turn_ns: 40 * MS, ..honest_turn(20 * MS) }, honest_turn(20 * MS));
    let recorded = play_race(
        WARM,
        8,
        [&[NULL_TURN], &[honest_turn(MS)], &[truth, lie, truth, lie, truth, lie, truth, lie]],
    );
    assert!(outcome_of_a(&recorded).contains("the median of 8 turns"), "{}", outcome_of_a(&recorded));
}

#[test]
fn where_null_takes_long_to_answer_all_trials_may() {
    let slow_null = TurnTimes { turn_ns: 9 * MS, ..NULL_TURN };
    let late = TurnTimes { turn_ns: 40 * MS, ..honest_turn(20 * MS) };
    let recorded = play_race(WARM, 5, [&[slow_null], &[honest_turn(MS)], &[late]]);
    assert_eq!(outcome_of_a(&recorded), "measured a");
}

#[test]
fn a_warm_turn_without_the_time_to_touch_the_bytes_is_refused() {
    let asleep = TurnTimes { window_ns: 9 * MS, cpu_ns: MS, turn_ns: 9 * MS + 100_000 };
    let recorded = play_race(WARM, 4, [&[NULL_TURN], &[honest_turn(6 * MS)], &[asleep]]);
    let why = "5 of 5 turns cannot have touched the bytes: 1050000 ns of CPU time";
    assert!(outcome_of_a(&recorded).contains(why), "{}", outcome_of_a(&recorded));
    // For cold trials the device proves the bytes.
    let recorded = play_race(COLD, 4, [&[NULL_TURN], &[honest_turn(6 * MS)], &[asleep]]);
    assert_eq!(outcome_of_a(&recorded), "measured a");
}

#[test]
fn bytes_that_meters_saw_arrive_need_no_other_proof() {
    let resident = |sample: &mut Sample| honest_turn(6 * MS).write_to(sample);
    let by_calls = |sample: &mut Sample| {
        TurnTimes { window_ns: 9 * MS, cpu_ns: MS, turn_ns: 9 * MS }.write_to(sample);
        sample.turn.delivered = Some(DeliveryMeter::Calls);
    };
    let sampler = ScriptedSampler::default().with_alteration(0, resident).with_alteration(1, by_calls);
    let recorded = play_trials(rules_for_readings(4), &[("resident", WARM), ("a", WARM)], sampler);
    assert_eq!(outcome_of_a(&recorded), "measured a");
}
