//! Adapts the trials of a plan to the time of the run. The first reading, which finds the expected
//! answer, predicts how long a reading takes. Trials for which there is no time wait, with the
//! reason, until the first readings of others show that there is time after all: readlab's own
//! reading may be slower than all others.
//!
//! If the file was in memory, the predicted time is too short; then the rounds keep to the time
//! themselves ([`readlab_measure::round`]).

use super::config::RunConfig;
use readlab_measure::plan::{Budget, Focus, Plan, PlannedTrial};
use readlab_model::target::TargetIndex;
use readlab_model::trial::{COMMAND, CacheState, TrialIndex};
use readlab_model::units::Nanos;
use readlab_record::{LimitKind, Outcome};
use readlab_suite::NamedBy;
use std::collections::BTreeMap;
use std::time::Duration;

/// Smallest useful number of readings of a trial: an untimed one, and one in each of two rounds.
const READINGS_PER_TRIAL_MIN: u64 = 3;

/// Parts of a search that each need the least time of a state: the search itself, and the fresh
/// measurement of the best.
const SEARCH_PARTS: u64 = 2;

/// One reading under a bound on memory takes as long as this many readings, because untimed
/// readings make its state.
const PRESSED_TIME_FACTOR: u32 = 4;

/// Trials are left out if they would take longer than the advised budget times this factor. It is
/// above 1, because most contenders are faster than the first reading and many trials stop early.
const ADVISED_BUDGET_FACTOR: u64 = 4;

/// What predicts the time of a run: the times of the first reading, the time that has passed, and
/// whether an inspection follows.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimePrediction {
    /// Wall time of the reading.
    pub(super) wall: Duration,
    /// CPU time of the reading. It predicts a reading from memory, which does not wait for a device.
    pub(super) cpu: Duration,
    /// Time that the run has taken so far.
    pub(super) run_elapsed: Duration,
    /// Whether the run inspects contenders after all rounds.
    pub(super) has_inspection: bool,
}

impl TimePrediction {
    /// The predicted time of a reading in this state.
    fn reading_time(&self, state: CacheState) -> Nanos {
        let reading = match state {
            CacheState::Warm => self.wall.min(self.cpu),
            CacheState::Pressed => self.wall * PRESSED_TIME_FACTOR,
            CacheState::Cold | CacheState::Unknown => self.wall,
        };
        Nanos(Nanos::from(reading).0.max(1))
    }

    /// The predicted time of the first fill of a state; zero if the state needs none. A fill evicts
    /// the file and reads it.
    fn fill_time(&self, state: CacheState) -> Nanos {
        match state {
            CacheState::Warm => self.wall.into(),
            CacheState::Cold | CacheState::Pressed | CacheState::Unknown => Nanos(0),
        }
    }

    /// The least useful time of a state, in nanoseconds: its first fill and two readings.
    fn least_state_ns(&self, state: CacheState) -> u64 {
        self.fill_time(state).0.saturating_add(self.reading_time(state).0.saturating_mul(2))
    }
}

/// Fits a plan to the time of the run: leaves out the second state if there is no time for two, and
/// makes trials wait for which there is no time. Returns a message for the user; `None` if all
/// trials start. A waiting trial stays in the plan: it starts if the first readings of other trials
/// were faster than predicted.
pub(super) fn fit_plan_to_time(
    plan: &mut Plan,
    config: &RunConfig,
    predicted: TimePrediction,
) -> Option<String> {
    let mut time_ns = state_budget_ns(plan, config, predicted)?;
    let (all, states) = (plan.trials.len(), plan.states.len() as u64);
    if !leave_out_later_states(plan, time_ns, 1, predicted).is_empty() {
        time_ns = time_ns.saturating_mul(states);
    }
    for state in plan.states.clone() {
        let reading = predicted.reading_time(state);
        let readings_ns = time_ns.saturating_sub(predicted.fill_time(state).0);
        let most = readings_ns / reading.0.saturating_mul(READINGS_PER_TRIAL_MIN);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let least_important = least_important_trials(plan, config, state, most.max(1));
        for planned in plan.trials.iter_mut().filter(|it| least_important.contains(&it.trial.index)) {
            planned.wait_reason = Some(wait_reason(reading));
        }
    }
    let waiting = plan.trials.iter().filter(|it| it.wait_reason.is_some()).count();
    let mut fates = Vec::new();
    if waiting > 0 {
        fates.push(format!("{waiting} wait until others show that there is time"));
    }
    if all > plan.trials.len() {
        fates.push(format!("{} are left out", all - plan.trials.len()));
    }
    if fates.is_empty() {
        return None;
    }
    Some(format!(
        "a reading takes about {}, and all {all} trials would take longer than there is time: {}. More time: \
         --budget; fewer trials: --method, --language or --state; all of them: --all",
        predicted.reading_time(plan.states[0]),
        fates.join(", ")
    ))
}

/// Leaves out the second state of a search if there is no time to search two and to measure the best
/// of both afresh. Returns a message for the user; `None` if no state is left out.
pub(super) fn fit_search_to_time(
    plan: &mut Plan,
    config: &RunConfig,
    predicted: TimePrediction,
) -> Option<String> {
    let time_ns = state_budget_ns(plan, config, predicted)?;
    let left_out = leave_out_later_states(plan, time_ns, SEARCH_PARTS, predicted);
    let left_out = left_out.iter().map(ToString::to_string).reduce(|all, state| all + ", " + &state)?;
    let first = plan.states[0];
    Some(format!(
        "a reading takes about {}, and there is only time to search {first}: {left_out} is left out. More time: --budget",
        predicted.reading_time(first),
    ))
}

/// Leaves out all states but the first, if the states together have less than `parts` times the
/// least useful time of each. Each has `state_ns`. Returns the states that are left out.
fn leave_out_later_states(
    plan: &mut Plan,
    state_ns: u64,
    parts: u64,
    predicted: TimePrediction,
) -> Vec<CacheState> {
    let needed_ns = plan.states.iter().map(|&state| predicted.least_state_ns(state).saturating_mul(parts));
    let needed_ns = needed_ns.fold(0, u64::saturating_add);
    if plan.states.len() < 2 || state_ns.saturating_mul(plan.states.len() as u64) >= needed_ns {
        return Vec::new();
    }
    let left_out = plan.states.split_off(1);
    let reason = wait_reason(predicted.reading_time(plan.states[0]));
    for planned in plan.trials.extract_if(.., |it| left_out.contains(&it.trial.state)) {
        plan.absent_trials.push((planned.trial, Outcome::Unavailable { reason: reason.clone() }));
    }
    left_out
}

/// Why a trial waits, if a reading takes about this long.
fn wait_reason(reading: Nanos) -> String {
    format!("a reading takes about {reading}, and the time is only enough for others")
}

/// The time available for the readings of a state; `None` if no trial is left out for lack of time.
fn state_budget_ns(plan: &Plan, config: &RunConfig, predicted: TimePrediction) -> Option<u64> {
    let parts = (plan.states.len() + usize::from(predicted.has_inspection)).max(1) as u64;
    match plan.rules.budget {
        Budget::Firm(time) => {
            let part_ns = time.0.saturating_sub(Nanos::from(predicted.run_elapsed).0) / parts;
            Some(plan.rounds_ns(part_ns))
        }
        // Trials that the user named or selected by --all are never left out.
        Budget::Advised(time)
            if plan.rules.focus == Focus::First && has_only_trials_chosen_by_readlab(config) =>
        {
            Some((time.0 / parts).saturating_mul(ADVISED_BUDGET_FACTOR))
        }
        Budget::Advised(_) => None,
    }
}

fn has_only_trials_chosen_by_readlab(config: &RunConfig) -> bool {
    let is_own = |entry: &readlab_suite::SuiteEntry| entry.named_by == NamedBy::User || entry.only_with_all;
    config.user.selection.methods.is_empty() && !config.entries.iter().any(is_own)
}

/// The trials of a state beyond the `most` most important ones. The first trial of each thing that
/// the user named is never among them: the prediction may be too long for it, and rounds end in
/// time anyway.
fn least_important_trials(
    plan: &Plan,
    config: &RunConfig,
    state: CacheState,
    most: usize,
) -> Vec<TrialIndex> {
    // A method that is read at one location is read at the other locations, too.
    let location = |planned: &PlannedTrial| config.user.locations.map(|_| planned.trial.target);
    let finds_limits = plan.trials.iter().all(|it| it.trial.is_control());
    let mut of_contender = BTreeMap::<(Option<TargetIndex>, &str), usize>::new();
    let mut ranked = Vec::new();
    for planned in plan.trials.iter().filter(|it| it.trial.state == state && !reads_nothing(it)) {
        let rank = match planned.trial.limit_kind() {
            _ if planned.is_first_named => TrialPriority::Named,
            Some(LimitKind::Device) if finds_limits => TrialPriority::DeviceLimit,
            Some(LimitKind::Memory) if planned.trial.thread_count() == 1 => TrialPriority::MemoryLimit,
            Some(LimitKind::Device) => TrialPriority::AfterOthers(0),
            _ if planned.trial.is_control() => TrialPriority::AfterOthers(1),
            _ => {
                let own = (location(planned), planned.trial.contender());
                let earlier = of_contender.entry(own).or_default();
                *earlier += 1;
                TrialPriority::AfterOthers(*earlier - 1)
            }
        };
        ranked.push((rank, planned.trial.is_control(), planned.trial.index));
    }
    ranked.sort();
    // At least one of the remaining trials is no control.
    if let Some(first) = ranked.iter().position(|(_, is_control, _)| !is_control) {
        ranked[..=first].rotate_right(1);
    }
    let named = ranked.iter().filter(|(rank, ..)| *rank == TrialPriority::Named).count();
    ranked.into_iter().skip(most.max(named)).map(|(_, _, index)| index).collect()
}

/// Importance of a trial, highest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TrialPriority {
    /// The trial is the first of something that the user named.
    Named,
    /// The trial measures the device's limit, and the run measures only limits.
    DeviceLimit,
    /// The trial is the control by which the other trials are judged.
    MemoryLimit,
    /// The number of trials of the same contender before this one: suites name the usual method
    /// first. Other controls count as later trials.
    AfterOthers(usize),
}

/// Whether a trial takes no time because it does not read the target.
fn reads_nothing(planned: &PlannedTrial) -> bool {
    let trial = &planned.trial;
    trial.is_control() && (trial.method() == "null" || trial.contender() == COMMAND)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::options::{SelectionOptions, UserOptions};
    use readlab_measure::plan::testing::{COLD, WARM, plan, rules_for_readings};
    use readlab_record::RunKind;
    use readlab_suite::Suite;

    const SECOND_NS: u64 = 1_000_000_000;

    fn config(methods: &[&str], all: bool) -> RunConfig {
        let methods = methods.iter().map(ToString::to_string).collect();
        let selection = SelectionOptions { methods, ..SelectionOptions::default() };
        let user = UserOptions { selection, takes_all_trials: all, ..UserOptions::default() };
        RunConfig::merge(RunKind::Race, Suite::race(), user).unwrap()
    }

    fn plan_within(budget: Budget) -> Plan {
        let methods = ["null", "resident", "a", "b", "c", "d", "e", "f"];
        let trials: Vec<_> =
            [COLD, WARM].iter().flat_map(|&state| methods.map(|name| (name, state))).collect();
        let mut plan = plan(rules_for_readings(10), &trials);
        (plan.rules.budget, plan.rules.focus) = (budget, Focus::First);
        plan
    }

    fn prediction(seconds: u64) -> TimePrediction {
        let wall = Duration::from_secs(seconds);
        TimePrediction { wall, cpu: wall, run_elapsed: wall, has_inspection: false }
    }

    /// The trials that do not wait.
    fn running_methods(plan: &Plan, state: CacheState) -> Vec<&str> {
        let of_state = plan.trials.iter().filter(|it| it.trial.state == state && it.wait_reason.is_none());
        of_state.map(|it| it.trial.method()).collect()
    }

    fn wait_reasons(plan: &Plan) -> Vec<&str> {
        plan.trials.iter().filter_map(|it| it.wait_reason.as_deref()).collect()
    }

    #[test]
    fn where_only_limits_are_measured_that_of_the_device_comes_first() {
        let mut plan = plan(rules_for_readings(10), &["null", "resident", "device"].map(|name| (name, COLD)));
        plan.rules.budget = Budget::Firm(Nanos(10 * SECOND_NS));
        assert!(fit_plan_to_time(&mut plan, &config(&[], false), prediction(4)).is_some());
        assert_eq!(running_methods(&plan, COLD), ["null", "device"]);
    }

    #[test]
    fn a_firm_budget_keeps_the_named_trial_and_at_least_one_that_is_no_control() {
        let mut plan = plan_within(Budget::Firm(Nanos(63 * SECOND_NS)));
        plan.trials[5].is_first_named = true;
        let said = fit_plan_to_time(&mut plan, &config(&["rust/*"], false), prediction(3)).unwrap();
        assert_eq!(
            running_methods(&plan, COLD),
            ["null", "resident", "d"],
            "two of 26 s with three readings of 3 s"
        );
        assert_eq!(running_methods(&plan, WARM), ["null", "resident", "a"]);
        assert_eq!((plan.trials.len(), plan.absent_trials.len(), wait_reasons(&plan).len()), (16, 0, 10));
        assert!(
            said.contains("a reading takes about 3.00 s") && said.contains("10 wait until others show"),
            "{said}"
        );
        assert!(wait_reasons(&plan).iter().all(|reason| reason.contains("3.00 s")));
    }

    #[test]
    fn a_firm_budget_is_split_evenly_between_the_states_and_the_inspection() {
        let mut plan = plan_within(Budget::Firm(Nanos(93 * SECOND_NS)));
        let predicted = TimePrediction { has_inspection: true, ..prediction(3) };
        fit_plan_to_time(&mut plan, &config(&[], false), predicted).unwrap();
        assert_eq!(
            running_methods(&plan, COLD),
            ["null", "resident", "a"],
            "two of 26 s with three readings of 3 s"
        );
    }

    #[test]
    fn each_method_that_the_user_named_is_read_once_before_any_is_left_out() {
        let mut plan = plan_within(Budget::Firm(Nanos(40 * SECOND_NS)));
        for at in [4, 5] {
            plan.trials[at].is_first_named = true;
        }
        fit_plan_to_time(&mut plan, &config(&["rust/c", "rust/d"], false), prediction(9)).unwrap();
        assert_eq!(running_methods(&plan, COLD), ["null", "c", "d"], "the time is for one");
    }

    #[test]
    fn a_budget_for_one_reading_keeps_one_trial_in_one_state() {
        let mut plan = plan_within(Budget::Firm(Nanos(20 * SECOND_NS)));
        fit_plan_to_time(&mut plan, &config(&[], false), prediction(9)).unwrap();
        assert_eq!((running_methods(&plan, COLD), plan.states.as_slice()), (vec!["null", "a"], &[COLD][..]));
        assert_eq!(running_methods(&plan, WARM), [] as [&str; 0]);
        assert_eq!((plan.trials.len(), plan.absent_trials.len()), (8, 8), "the second state is left out");
    }

    #[test]
    fn a_search_leaves_out_the_second_state_if_there_is_no_time_for_both() {
        let fitted = |budget_s: u64| {
            let mut plan = plan_within(Budget::Firm(Nanos(budget_s * SECOND_NS)));
            let said = fit_search_to_time(&mut plan, &config(&[], false), prediction(10));
            assert_eq!(plan.trials.iter().filter(|it| it.wait_reason.is_some()).count(), 0);
            (said, plan.states.len(), plan.trials.len(), plan.absent_trials.len())
        };
        // Cold needs two readings of 10 s, warm a fill and two readings, and both twice.
        assert_eq!(fitted(10 + 120), (None, 2, 16, 0));
        let (said, states, trials, absent) = fitted(10 + 80);
        assert_eq!((states, trials, absent), (1, 8, 8));
        assert!(said.unwrap().contains("only time to search cold: warm is left out"));
    }

    #[test]
    fn a_reading_from_memory_is_predicted_by_cpu_time_and_its_fill_by_a_reading_from_the_device() {
        let mut plan = plan_within(Budget::Firm(Nanos(63 * SECOND_NS)));
        let predicted = TimePrediction { cpu: Duration::from_secs(1), ..prediction(9) };
        fit_plan_to_time(&mut plan, &config(&[], false), predicted).unwrap();
        assert_eq!(running_methods(&plan, COLD), ["null", "a"], "one of 23 s");
        let warm = running_methods(&plan, WARM);
        assert_eq!(warm, ["null", "resident", "a", "b", "c"], "four of 14 s with three readings of 1 s");
        // Without its fill, the second state would have the time for two readings.
        let mut plan = plan_within(Budget::Firm(Nanos(40 * SECOND_NS)));
        fit_plan_to_time(&mut plan, &config(&[], false), predicted).unwrap();
        assert_eq!((plan.states.as_slice(), plan.absent_trials.len()), (&[COLD][..], 8));
    }

    #[test]
    fn the_same_trials_are_left_out_at_all_locations() {
        let mut plan = plan_within(Budget::Firm(Nanos(133 * SECOND_NS)));
        plan.states = vec![COLD];
        plan.trials.retain(|it| it.trial.state == COLD && it.trial.method() != "null");
        let mut there = plan.clone();
        there.trials = there.trials.iter().map(|it| it.on_target(TargetIndex::new(1))).collect();
        let mut both = plan.joined_with(there);
        let mut config = config(&["rust/*"], false);
        config.user.locations = Some(readlab_record::LocationOptions::default());
        fit_plan_to_time(&mut both, &config, prediction(6)).unwrap();
        let read = both.trials.iter().filter(|it| it.wait_reason.is_none()).map(|it| &it.trial);
        let mut read: Vec<_> = read.map(|trial| (trial.method(), trial.target)).collect();
        read.sort_unstable();
        let expected = [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("resident", 0), ("resident", 1)];
        let expected = expected.map(|(method, target)| (method, TargetIndex::new(target)));
        assert_eq!(read, expected, "111 s with three readings of 6 s");
    }

    #[test]
    fn a_sufficient_budget_keeps_all_trials() {
        let mut plan = plan_within(Budget::Firm(Nanos(200 * SECOND_NS)));
        assert_eq!(fit_plan_to_time(&mut plan, &config(&[], false), prediction(1)), None);
        assert_eq!((plan.trials.len(), plan.absent_trials.len()), (16, 0));
    }

    #[test]
    fn an_advised_budget_leaves_out_only_trials_chosen_by_readlab_and_only_for_large_files() {
        let advised = || plan_within(Budget::Advised(Nanos(52 * SECOND_NS)));
        let fitted = |config, seconds| {
            let mut plan = advised();
            let said = fit_plan_to_time(&mut plan, &config, prediction(seconds));
            said.map(|_| plan.trials.len() - wait_reasons(&plan).len())
        };
        assert_eq!(fitted(config(&[], false), 1), None);
        assert_eq!(fitted(config(&[], false), 10), Some(8), "null and three of each state");
        assert_eq!(fitted(config(&["rust/*"], false), 10), None, "the user named them");
        assert_eq!(fitted(config(&[], true), 10), None, "--all");
        let mut published = advised();
        published.rules.focus = Focus::Everything;
        assert_eq!(fit_plan_to_time(&mut published, &config(&[], false), prediction(10)), None);
    }
}
