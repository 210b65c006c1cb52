//! Tests of which trials of a race get further rounds.

use super::*;
use crate::plan::{Focus, Role};
use crate::round::testing::CALL_NS;
use readlab_model::sample::{DeliveryMeter, TurnSeen};
use readlab_protocol::Archive;
use readlab_record::StopReason;

/// Rules of a race that reads every trial twenty times unless it stops.
fn race_rules() -> Rules {
    Rules { focus: Focus::First, min_readings: 10, max_readings: 20, ..rules_for_readings(20) }
}

/// A race whose trials take the same time in all rounds.
fn plan_and_sampler(trials: &[(&str, u64)]) -> (Plan, ScriptedSampler) {
    let named: Vec<(&str, CacheState)> = trials.iter().map(|(name, _)| (*name, COLD)).collect();
    let walls = trials.iter().map(|(_, wall_ns)| *wall_ns).enumerate();
    (plan(race_rules(), &named), ScriptedSampler::default().with_default_windows(walls))
}

/// Number of readings of each trial of a race whose plan was modified by `change`.
fn reading_counts(trials: &[(&str, u64)], change: impl FnOnce(&mut Plan)) -> Vec<usize> {
    let (mut plan, sampler) = plan_and_sampler(trials);
    change(&mut plan);
    play(&plan, sampler).reading_counts()
}

fn stop_lines(recorded: &RecordedRun) -> Vec<&str> {
    recorded.log_lines(&["stopped"])
}

#[test]
fn a_trial_far_behind_stops_after_two_rounds_and_a_close_one_after_five() {
    let (plan, sampler) = plan_and_sampler(&[("fast", 100), ("far", 250), ("middle", 130), ("near", 102)]);
    let recorded = play(&plan, sampler);
    let expected = [
        "stopped far NotFirst after 2 rounds",
        "stopped middle NotFirst after 3 rounds",
        "stopped near NotFirst after 5 rounds",
    ];
    assert_eq!(stop_lines(&recorded)[..3], expected);
    assert_eq!(recorded.reading_counts()[0], 15, "chosen after five rounds, and ten fresh ones");
    assert_eq!(recorded.outcomes().len(), 4, "each is measured: {:?}", recorded.outcomes());
}

#[test]
fn the_baseline_has_every_round_and_a_usual_method_has_rounds_until_told_apart_from_the_best() {
    let trials = [("fast", 100), ("usual", 900), ("baseline", 900), ("far", 900)];
    let roles = |plan: &mut Plan| (plan.trials[1].role, plan.trials[2].role) = (Role::Usual, Role::Baseline);
    // Without an indifference zone, the comparison after 12 rounds is the first that finds the
    // baseline slower while the winner has its ten rounds.
    assert_eq!(reading_counts(&trials, roles), [12, 2, 12, 2]);
}

#[test]
fn a_program_of_the_suite_stops_when_time_is_up_and_one_of_the_user_s_does_not() {
    let of_race = reading_counts(&[("fast", 100), ("common", 900), ("baseline", 900)], |plan| {
        plan.rules.budget = Budget::Advised(Nanos(1));
        (plan.trials[1].role, plan.trials[2].role) = (Role::SuiteBaseline, Role::Baseline);
    });
    assert_eq!(of_race, [5, 2, 5]);
}

#[test]
fn the_best_of_each_contender_has_more_rounds_once_the_winner_is_confirmed() {
    let (mut plan, sampler) = plan_and_sampler(&[("fast", 100), ("best", 400), ("worse", 500)]);
    for trial in [1, 2] {
        plan.trials[trial].trial.id.method.contender = "java".to_owned();
    }
    let recorded = play(&plan, sampler);
    assert_eq!(recorded.reading_counts(), [18, 10, 2]);
    let rounds: Vec<u32> = recorded.samples_of(1).iter().map(|it| it.round).collect();
    assert_eq!(rounds, [0, 1, 10, 11, 12, 13, 14, 15, 16, 17], "after the winner's ten rounds");
    let of_best = stop_lines(&recorded).into_iter().filter(|line| line.starts_with("stopped best"));
    let expected = ["stopped best NotFirst after 2 rounds", "stopped best NotFirst after 10 rounds"];
    assert_eq!(of_best.collect::<Vec<_>>(), expected);
}

#[test]
fn decoded_content_of_an_archive_is_not_compared_with_its_bytes() {
    let trials = [("bytes", 100), ("slow-bytes", 300), ("decoder", 900), ("slow-decoder", 3000)];
    let decode = |planned: &mut PlannedTrial| planned.trial.decoded_format = Some(Archive::Gzip);
    let of_race = reading_counts(&trials, |plan| plan.trials[2..].iter_mut().for_each(decode));
    assert_eq!(of_race, [10, 2, 10, 2]);
}

#[test]
fn trials_that_tie_stop_together_and_neither_is_called_slower() {
    let (mut plan, sampler) = plan_and_sampler(&[("a", 100), ("b", 100)]);
    plan.rules.precision = 0.01;
    // The machine becomes slower, for both trials alike.
    let walls = (0..20).map(|n| 100 + 10 * n);
    let recorded = play(&plan, sampler.with_windows(0, walls.clone()).with_windows(1, walls));
    assert_eq!(
        stop_lines(&recorded),
        ["stopped a Decided after 10 rounds", "stopped b Decided after 10 rounds"]
    );
}

#[test]
fn a_close_race_takes_the_maximum_of_readings() {
    let (plan, sampler) = plan_and_sampler(&[("a", 100), ("b", 100)]);
    // The second trial is alternately much faster and much slower than the first.
    let recorded = play(&plan, sampler.with_windows(1, [60, 160].repeat(10)));
    assert_eq!(recorded.reading_counts(), [20, 20]);
    assert_eq!(stop_lines(&recorded)[0], "stopped a MostReadings after 20 rounds");
}

#[test]
fn one_disturbed_reading_of_the_leader_does_not_keep_other_trials_running() {
    let (plan, sampler) = plan_and_sampler(&[("fast", 100), ("slow", 120)]);
    let recorded = play(&plan, sampler.with_windows(0, [100, 100, 900, 100, 100]));
    assert_eq!(stop_lines(&recorded)[0], "stopped slow NotFirst after 5 rounds");
}

#[test]
fn a_race_of_equal_trials_stops_none() {
    let everything = |plan: &mut Plan| plan.rules.focus = Focus::Everything;
    assert_eq!(reading_counts(&[("fast", 100), ("far", 900)], everything), [20, 20]);
}

#[test]
fn a_leader_with_impossible_numbers_is_refused_and_stops_no_trial() {
    let (plan, sampler) =
        plan_and_sampler(&[("resident", 50), ("liar", 1), ("honest", 100), ("slower", 101)]);
    let recorded = play(&plan, sampler.with_alteration(0, mark_as_visiting));
    assert!(recorded.outcomes().iter().any(|line| line.starts_with("refused liar")), "{:?}", recorded.log);
    assert_eq!(recorded.reading_counts()[2], 15);
    assert_eq!(stop_lines(&recorded)[0], "stopped slower NotFirst after 5 rounds");
}

/// Marks the sample of a control as visiting the bytes for its whole window.
fn mark_as_visiting(sample: &mut Sample) {
    (sample.cpu_user_ns, sample.cpu_system_ns) = (Some(sample.wall_ns), Some(0));
    sample.turn = TurnSeen { wall_ns: Some(sample.wall_ns), ..TurnSeen::default() };
    sample.turn.delivered = Some(DeliveryMeter::Calls);
}

fn lines_through_round(run: &RecordedRun, round: u32) -> &[Line] {
    let is_of_round = |line: &Line| matches!(line, Line::Sample(it) if it.round == round);
    &run.lines[..=run.lines.iter().rposition(is_of_round).unwrap()]
}

#[test]
fn a_stopped_trial_stays_stopped_when_the_race_is_resumed() {
    let (plan, sampler) = plan_and_sampler(&[("fast", 100), ("far", 300)]);
    let whole = play(&plan, sampler);
    let (_, sampler) = plan_and_sampler(&[("fast", 100), ("far", 300)]);
    let rest = play_resumed(&plan, lines_through_round(&whole, 6), sampler);
    assert_eq!(rest.reading_counts(), [3, 0]);
    assert!(rest.outcomes().contains(&"measured far"));
}

#[test]
fn a_stopped_trial_is_not_counted_unless_it_is_the_baseline() {
    let (mut plan, sampler) =
        plan_and_sampler(&[("fast", 100), ("baseline", 900), ("usual", 900), ("far", 900)]);
    plan.trials[1].role = Role::Baseline;
    plan.trials[2].role = Role::Usual;
    let recorded = play(&plan, sampler);
    assert_eq!(
        recorded.log_lines(&["counts"]),
        ["counts usual None", "counts far None", "counts fast Some(7)", "counts baseline Some(7)"]
    );
}

/// Indifference zone of the races below.
const INDIFFERENCE: f64 = 0.1;

/// A race with an indifference zone and readings that scatter by up to ten percent; `taken` is the
/// number of readings that each trial has already.
fn noisy_plan_and_sampler(
    trials: &[(&str, u64)],
    indifference: f64,
    taken: &[usize],
) -> (Plan, ScriptedSampler) {
    let (mut plan, mut sampler) = plan_and_sampler(trials);
    plan.rules = Rules { indifference, max_readings: 60, ..plan.rules };
    for (at, (_, wall_ns)) in trials.iter().enumerate() {
        let wall =
            |round: usize| 1000 * wall_ns * (90 + (round * 37 + at * 53 + round * at * 11) as u64 % 21);
        sampler = sampler.with_windows(at, (taken.get(at).copied().unwrap_or(0)..60).map(wall));
    }
    (plan, sampler)
}

const SIX_TRIALS: [(&str, u64); 6] = [("a", 100), ("b", 104), ("c", 130), ("d", 170), ("e", 400), ("f", 900)];

#[test]
fn far_slower_trials_stop_after_two_rounds_and_one_trial_is_left() {
    let (plan, sampler) = noisy_plan_and_sampler(&SIX_TRIALS, INDIFFERENCE, &[]);
    let recorded = play(&plan, sampler);
    let stops = stop_lines(&recorded);
    for far in ["stopped e NotFirst after 2 rounds", "stopped f NotFirst after 2 rounds"] {
        assert!(stops.contains(&far), "{stops:?}");
    }
    assert_eq!(stops.iter().filter(|line| line.contains("Decided")).count(), 1, "{stops:?}");
}

#[test]
fn two_equal_trials_are_decided_by_the_zone_and_without_one_are_read_to_the_end() {
    let twins = [("a", 100), ("b", 100), ("c", 200), ("d", 210), ("e", 220)];
    let readings = |zone| {
        let (plan, sampler) = noisy_plan_and_sampler(&twins, zone, &[]);
        play(&plan, sampler).reading_counts()[..2].to_vec()
    };
    assert!(readings(INDIFFERENCE).iter().all(|&count| count < 60), "{:?}", readings(INDIFFERENCE));
    assert_eq!(readings(0.0), [60, 60]);
}

#[test]
fn a_race_that_was_cut_between_rounds_decides_the_same() {
    let (plan, sampler) = noisy_plan_and_sampler(&SIX_TRIALS, INDIFFERENCE, &[]);
    let whole = play(&plan, sampler);
    let rounds = whole.samples().iter().map(|it| it.round).max().unwrap();
    for round in 0..rounds {
        let lines = lines_through_round(&whole, round);
        let record = record_from_lines(lines);
        let taken: Vec<usize> =
            (0..SIX_TRIALS.len()).map(|trial| record.trials[TrialIndex::new(trial)].samples.len()).collect();
        let (_, sampler) = noisy_plan_and_sampler(&SIX_TRIALS, INDIFFERENCE, &taken);
        let rest = play_resumed(&plan, lines, sampler).reading_counts();
        let all: Vec<usize> = taken.iter().zip(rest).map(|(before, after)| before + after).collect();
        assert_eq!(all, whole.reading_counts(), "cut after round {round}");
    }
}

#[test]
fn usual_methods_have_rounds_until_they_are_told_apart_from_the_best_of_their_language() {
    // The usual method of java is as fast as its best method; that of go is not.
    let trials = [("a", 100), ("b", 300), ("usual-b", 330), ("c", 300), ("usual-c", 900), ("other", 950)];
    let (mut plan, sampler) = noisy_plan_and_sampler(&trials, INDIFFERENCE, &[]);
    for (at, language) in [(1, "java"), (2, "java"), (3, "go"), (4, "go")] {
        plan.trials[at].trial.id.method.contender = language.to_owned();
    }
    for at in [2, 4] {
        plan.trials[at].role = Role::Usual;
    }
    let recorded = play(&plan, sampler);
    let first_stop = |name: &str| {
        let begins = format!("stopped {name} NotFirst");
        stop_lines(&recorded).into_iter().find(|line| line.starts_with(&begins)).map(str::to_owned)
    };
    assert_eq!(first_stop("usual-c").unwrap(), "stopped usual-c NotFirst after 2 rounds");
    assert_eq!(first_stop("usual-b").unwrap(), "stopped usual-b NotFirst after 5 rounds");
    let counts = recorded.reading_counts();
    assert!(counts[1] >= 10 && counts[2] > 5, "with the time that is left: {counts:?}");
    assert_eq!((counts[4], counts[5]), (2, 2), "{counts:?}");
}

#[test]
fn once_time_is_used_up_only_rounds_that_decide_follow() {
    let (mut plan, sampler) = noisy_plan_and_sampler(&SIX_TRIALS, INDIFFERENCE, &[]);
    plan.rules.budget = Budget::Advised(Nanos(1));
    plan.trials[4].trial.id.method.contender = "java".to_owned();
    let recorded = play(&plan, sampler);
    let readings = recorded.reading_counts();
    assert_eq!(readings[4..], [2, 2]);
    assert_eq!(readings[0], 2, "the fewest rounds of a race of many");
}

/// Time until only one trial of the race was left: the time of all starts and of the readings up to
/// the stop of the last other trial.
fn decided_after_ns(race: &RecordedRun) -> u64 {
    let is_behind =
        |line: &Line| matches!(line, Line::Stopped { stopped, .. } if stopped.why == StopReason::NotFirst);
    let mut stops = (0..race.lines.len()).filter(|&at| is_behind(&race.lines[at]));
    let last = stops.nth(SIX_TRIALS.len() - 2).unwrap();
    let walls = race.lines[..last].iter().filter_map(|line| match line {
        Line::Sample(sample) => Some(sample.wall_ns),
        _ => None,
    });
    2 * CALL_NS * SIX_TRIALS.len() as u64 + walls.sum::<u64>()
}

#[test]
fn a_firm_budget_that_only_suffices_to_decide_leaves_one_trial_and_ends() {
    let (mut plan, sampler) = noisy_plan_and_sampler(&SIX_TRIALS, INDIFFERENCE, &[]);
    let whole = play(&plan, sampler);
    // Seven eighths of the budget are for rounds. There is time for a further reading of the trial
    // that is left, and not for its confirmation.
    let budget_ns = (decided_after_ns(&whole) + 100_000) * 8 / 7 + 8;
    plan.rules.budget = Budget::Firm(Nanos(budget_ns));
    let (_, sampler) = noisy_plan_and_sampler(&SIX_TRIALS, INDIFFERENCE, &[]);
    let recorded = play(&plan, sampler);
    let (stops, of_whole) = (stop_lines(&recorded), stop_lines(&whole));
    assert_eq!((stops.len(), &stops[..5]), (6, &of_whole[..5]));
    assert!(stops[..5].iter().all(|line| line.contains(" NotFirst ")), "{stops:?}");
    assert!(stops[5].contains(" Budget "), "{stops:?}");
    assert!(recorded.reading_counts().iter().all(|&count| count >= 2), "{:?}", recorded.reading_counts());
    let Some(Line::End { wall_ns, .. }) = recorded.lines.last() else { panic!("a run without an end") };
    assert!(*wall_ns <= budget_ns, "{wall_ns} of {budget_ns}");
    assert_eq!(recorded.end.unwrap(), EndReason::Budget);
}
