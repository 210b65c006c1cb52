//! Tests of whole sequences with the scripted sampler of the rounds.

use super::*;
use crate::interface::TrialEnd;
use crate::plan::Rules;
use crate::round::testing::{
    COLD, RecordedRun, ScriptedSampler, failed_end, plan, play_with, unproven_turns,
};
use readlab_model::trial::TrialIndex;
use readlab_record::Outcome;

/// Two methods that alternate from file to file: first `a` reads file 0 and `b` file 1, then `b`
/// file 0 and `a` file 1.
fn plan_of_two_methods() -> Plan {
    let mut plan = plan(Rules::one_reading(7), &[("a", COLD), ("b", COLD), ("b", COLD), ("a", COLD)]);
    for (planned, target) in plan.trials.iter_mut().zip([0, 1, 0, 1]) {
        planned.trial.target = TargetIndex::new(target);
    }
    plan
}

fn play(plan: &Plan, sampler: ScriptedSampler) -> RecordedRun {
    play_with(plan, sampler, usize::MAX, |sampler, sink| run(plan, sampler, sink))
}

#[test]
fn each_trial_has_one_turn_in_the_order_of_the_plan_and_ends_before_the_next_starts() {
    let recorded = play(&plan_of_two_methods(), ScriptedSampler::default());
    assert_eq!(recorded.end.unwrap(), EndReason::Settled);
    let one = |name: &str, round: u32, position: u32| {
        [
            format!("start {name}"),
            format!("  open {name}"),
            format!("> trial {name} depth=1"),
            format!("  rehearse {name}"),
            format!("round {round} {}/2 {name}", position + 1),
            format!("  turn {name} cold"),
            format!("> sample {name} 100 ns, fill {round} round {round} position {position}"),
            format!("  close {name}"),
            format!("> measured {name}"),
        ]
    };
    let mut expected = vec!["stage cold 4".to_owned()];
    expected.extend([one("a", 0, 0), one("b", 0, 1)].concat());
    expected.push("round over 50 %".to_owned());
    expected.extend([one("b", 1, 0), one("a", 1, 1)].concat());
    expected.push("round over 100 %".to_owned());
    assert_eq!(recorded.log, expected);
}

#[test]
fn a_trial_that_fails_ends_with_its_reason_and_the_next_one_is_read() {
    let sampler = ScriptedSampler::default().ending_at_open(0, failed_end("no such program"));
    let sampler = sampler.ending_at_turn(1, &[], failed_end("it broke")).with_turns(2, unproven_turns(4));
    let recorded = play(&plan_of_two_methods(), sampler);
    assert_eq!(recorded.end.as_ref().unwrap(), &EndReason::Settled);
    let outcomes = recorded.outcomes();
    assert_eq!(outcomes[..2], ["failed a: no such program", "failed b: it broke"]);
    assert!(outcomes[2].starts_with("refused b: the cold state could not be proven in 4 tries"));
    assert_eq!(outcomes[3], "measured a");
    assert_eq!(recorded.log_lines(&["rejected"]).len(), 4);
    assert_eq!(recorded.log_lines(&["turn"]).len(), 1 + 4 + 1, "the first was never read");
    assert_eq!(recorded.log_lines(&["close"]).len(), 4, "no contender waits for a turn that does not come");
}

#[test]
fn a_warm_up_that_fails_leaves_the_file_unread() {
    let sampler = ScriptedSampler::default().ending_at_warm_up(0, failed_end("it broke"));
    let recorded = play(&plan_of_two_methods(), sampler);
    assert_eq!(recorded.reading_counts()[0], 0);
    assert_eq!(recorded.outcomes(), ["failed a: it broke", "measured b", "measured b", "measured a"]);
}

#[test]
fn an_interruption_ends_a_sequence_without_outcomes_for_unread_trials() {
    let ending = |end| play(&plan_of_two_methods(), ScriptedSampler::default().ending_at_turn(1, &[], end));
    let recorded = ending(TrialEnd::Run(EndReason::Interrupted));
    assert_eq!(recorded.end.as_ref().unwrap(), &EndReason::Interrupted);
    assert_eq!(recorded.outcomes(), ["measured a"]);
    assert_eq!(recorded.log_lines(&["trial"]).len(), 2, "the others are not announced");
    let changed = Outcome::Failed { reason: "it changed".to_owned() };
    let recorded = ending(TrialEnd::Both(changed, EndReason::TargetChanged));
    assert_eq!(recorded.end.as_ref().unwrap(), &EndReason::TargetChanged);
    assert_eq!(recorded.outcomes(), ["measured a", "failed b: it changed"]);
}

#[test]
fn impossible_numbers_are_refused_without_a_further_turn() {
    let sampler =
        ScriptedSampler::default().with_refusal(2, "it keeps the file").with_default_windows([(1, 0)]);
    let recorded = play(&plan_of_two_methods(), sampler);
    let expected = [
        "measured a",
        "refused b: it claims a window of 0 ns: its clock stood still",
        "refused b: it keeps the file",
        "measured a",
    ];
    assert_eq!(recorded.outcomes(), expected);
    assert_eq!(recorded.log_lines(&["turn"]).len(), 4);
}

#[test]
fn trials_that_cannot_be_measured_come_last() {
    let mut plan = plan_of_two_methods();
    let mut absent = plan.trials[0].trial.clone();
    absent.index = TrialIndex::new(4);
    plan.absent_trials.push((absent, Outcome::Unavailable { reason: "not here".to_owned() }));
    let recorded = play(&plan, ScriptedSampler::default());
    assert_eq!(recorded.outcomes().last(), Some(&"unavailable a: not here"));
}

#[test]
fn the_user_ends_a_sequence_before_its_next_trial() {
    let sampler = ScriptedSampler { user_ends_before_turn: Some(2), ..ScriptedSampler::default() };
    let recorded = play(&plan_of_two_methods(), sampler);
    assert_eq!(recorded.outcomes(), ["measured a", "measured b"]);
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}
