//! Fits the trials of a plan to the time of the run. The plain reading that finds the right answer
//! predicts what a reading takes; what there is no time for waits, with the reason, until the first
//! readings of others show that there is: the lab's own reading may be the slowest of all.
//!
//! Of a file that was in memory the prediction is too short: then the rounds themselves end in time
//! ([`readlab_measure::round`]).

use super::config::RunConfig;
use readlab_measure::plan::{Budget, Focus, Plan, Planned};
use readlab_model::trial::{COMMAND, CacheState, TrialIndex};
use readlab_model::units::Nanos;
use readlab_record::{LimitKind, Outcome};
use readlab_suite::NamedBy;
use std::collections::BTreeMap;
use std::time::Duration;

/// Readings without which a trial shows little: an untimed one, and one in each of two rounds.
const READINGS_MIN: u64 = 3;

/// An advised time is exceeded rather than trials left out, up to so many times: most contenders
/// need less than the plain reading, and many trials stop early.
const ADVISED_SLACK: u64 = 4;

/// What the plain reading has shown, and what else takes time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Predicted {
    pub(super) wall: Duration,
    /// The CPU time of it: a reading from memory waits for no device.
    pub(super) cpu: Duration,
    pub(super) elapsed: Duration,
    /// Whether a part of the run is an inspection after all rounds.
    pub(super) inspects: bool,
}

impl Predicted {
    fn reading(&self, state: CacheState) -> Nanos {
        let reading = if state == CacheState::Warm { self.wall.min(self.cpu) } else { self.wall };
        Nanos(Nanos::from(reading).0.max(1))
    }
}

/// Has trials of a plan wait for which there is no time, leaves out the second state if there is none
/// for two; what the user should know of it. A trial that waits keeps its place: the rounds start it
/// if the first readings of others show that the plain one was slower than they are.
pub(super) fn fit(plan: &mut Plan, config: &RunConfig, predicted: Predicted) -> Option<String> {
    let mut time_ns = state_ns(plan, config, predicted)?;
    let (all, states) = (plan.trials.len(), plan.states.len() as u64);
    let needed_ns = |states: &[CacheState]| states.iter().map(|&state| 2 * predicted.reading(state).0).sum();
    if plan.states.len() > 1 && time_ns.saturating_mul(states) < needed_ns(&plan.states) {
        time_ns = time_ns.saturating_mul(states);
        let left_out = plan.states.split_off(1);
        let reason = reason(predicted.reading(plan.states[0]));
        for planned in plan.trials.extract_if(.., |it| left_out.contains(&it.trial.state)) {
            plan.absent.push((planned.trial, Outcome::Unavailable { reason: reason.clone() }));
        }
    }
    for state in plan.states.clone() {
        let reading = predicted.reading(state);
        let most = usize::try_from(time_ns / reading.0.saturating_mul(READINGS_MIN)).unwrap_or(usize::MAX);
        let beyond = beyond(plan, state, most.max(1));
        for planned in plan.trials.iter_mut().filter(|it| beyond.contains(&it.trial.index)) {
            planned.waits = Some(reason(reading));
        }
    }
    let waiting = plan.trials.iter().filter(|it| it.waits.is_some()).count();
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
        predicted.reading(plan.states[0]),
        fates.join(", ")
    ))
}

/// Why there is no time for a trial.
fn reason(reading: Nanos) -> String {
    format!("a reading takes about {reading}, and the time is only enough for others")
}

/// The time that the readings of a state may take; `None` where nothing is left out for it.
fn state_ns(plan: &Plan, config: &RunConfig, predicted: Predicted) -> Option<u64> {
    let parts = (plan.states.len() + usize::from(predicted.inspects)).max(1) as u64;
    match plan.rules.budget {
        Budget::Firm(time) => {
            let part_ns = time.0.saturating_sub(Nanos::from(predicted.elapsed).0) / parts;
            Some(plan.rounds_ns(part_ns))
        }
        // Who names trials, or asks for all, gets them.
        Budget::Advised(time) if plan.rules.focus == Focus::First && is_usual(config) => {
            Some((time.0 / parts).saturating_mul(ADVISED_SLACK))
        }
        Budget::Advised(_) => None,
    }
}

/// Whether the trials are those that readlab chooses.
fn is_usual(config: &RunConfig) -> bool {
    let is_own = |entry: &readlab_suite::Entry| entry.named_by == NamedBy::User || entry.only_with_all;
    config.user.selection.methods.is_empty() && !config.entries.iter().any(is_own)
}

/// The trials of a state beyond so many, the most telling first. Each method that the user named
/// stays, whatever the prediction: one that reads little takes less, and rounds end in time.
fn beyond(plan: &Plan, state: CacheState, most: usize) -> Vec<TrialIndex> {
    let mut of_contender = BTreeMap::<&str, usize>::new();
    let mut ranked = Vec::new();
    for planned in plan.trials.iter().filter(|it| it.trial.state == state && !reads_nothing(it)) {
        let rank = match planned.trial.limit() {
            _ if planned.is_first_named => Rank::Named,
            Some(LimitKind::Memory) if planned.trial.threads() == 1 => Rank::Ceiling,
            Some(LimitKind::Device) => Rank::Of(0),
            _ if planned.trial.is_control() => Rank::Of(1),
            _ => {
                let earlier = of_contender.entry(planned.trial.contender()).or_default();
                *earlier += 1;
                Rank::Of(*earlier - 1)
            }
        };
        ranked.push((rank, planned.trial.is_control(), planned.trial.index));
    }
    ranked.sort();
    // One trial at least is no control.
    if let Some(first) = ranked.iter().position(|(_, is_control, _)| !is_control) {
        ranked[..=first].rotate_right(1);
    }
    let named = ranked.iter().filter(|(rank, ..)| *rank == Rank::Named).count();
    ranked.into_iter().skip(most.max(named)).map(|(_, _, index)| index).collect()
}

/// How much a trial tells beside the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// It is the first of what the user named.
    Named,
    /// By it the others are judged.
    Ceiling,
    /// So many trials of its language come before it: suites name the usual way first.
    Of(usize),
}

/// Whether a trial takes no time, as it does not read the target.
fn reads_nothing(planned: &Planned) -> bool {
    let trial = &planned.trial;
    trial.is_control() && (trial.method() == "null" || trial.contender() == COMMAND)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::options::{SelectionOptions, UserOptions};
    use readlab_measure::plan::testing::{COLD, WARM, plan, runs};
    use readlab_record::RunKind;
    use readlab_suite::Suite;

    const SECOND: u64 = 1_000_000_000;

    fn config(methods: &[&str], all: bool) -> RunConfig {
        let methods = methods.iter().map(ToString::to_string).collect();
        let selection = SelectionOptions { methods, ..SelectionOptions::default() };
        let user = UserOptions { selection, all, ..UserOptions::default() };
        RunConfig::merge(RunKind::Race, Suite::race(), user).unwrap()
    }

    fn planned(budget: Budget) -> Plan {
        let names = ["null", "resident", "a", "b", "c", "d", "e", "f"];
        let trials: Vec<_> = [COLD, WARM].iter().flat_map(|&state| names.map(|name| (name, state))).collect();
        let mut plan = plan(runs(10), &trials);
        (plan.rules.budget, plan.rules.focus) = (budget, Focus::First);
        plan
    }

    fn predicted(seconds: u64) -> Predicted {
        let wall = Duration::from_secs(seconds);
        Predicted { wall, cpu: wall, elapsed: wall, inspects: false }
    }

    /// The trials that do not wait.
    fn names(plan: &Plan, state: CacheState) -> Vec<&str> {
        let of_state = plan.trials.iter().filter(|it| it.trial.state == state && it.waits.is_none());
        of_state.map(|it| it.trial.method()).collect()
    }

    fn waiting(plan: &Plan) -> Vec<&str> {
        plan.trials.iter().filter_map(|it| it.waits.as_deref()).collect()
    }

    #[test]
    fn a_firm_time_is_enough_for_so_many_trials_the_named_first_and_one_that_is_no_control() {
        let mut plan = planned(Budget::Firm(Nanos(63 * SECOND)));
        plan.trials[5].is_first_named = true;
        let said = fit(&mut plan, &config(&["rust/*"], false), predicted(3)).unwrap();
        assert_eq!(names(&plan, COLD), ["null", "resident", "d"], "two of 26 s with three readings of 3 s");
        assert_eq!(names(&plan, WARM), ["null", "resident", "a"]);
        assert_eq!((plan.trials.len(), plan.absent.len(), waiting(&plan).len()), (16, 0, 10));
        assert!(
            said.contains("a reading takes about 3.00 s") && said.contains("10 wait until others show"),
            "{said}"
        );
        assert!(waiting(&plan).iter().all(|reason| reason.contains("3.00 s")));
    }

    #[test]
    fn an_inspection_has_a_part_of_a_firm_time_as_each_state_has() {
        let mut plan = planned(Budget::Firm(Nanos(93 * SECOND)));
        let predicted = Predicted { inspects: true, ..predicted(3) };
        fit(&mut plan, &config(&[], false), predicted).unwrap();
        assert_eq!(names(&plan, COLD), ["null", "resident", "a"], "two of 26 s with three readings of 3 s");
    }

    #[test]
    fn each_method_that_the_user_named_is_read_once_before_any_is_left_out() {
        let mut plan = planned(Budget::Firm(Nanos(40 * SECOND)));
        for at in [4, 5] {
            plan.trials[at].is_first_named = true;
        }
        fit(&mut plan, &config(&["rust/c", "rust/d"], false), predicted(9)).unwrap();
        assert_eq!(names(&plan, COLD), ["null", "c", "d"], "the time is for one");
    }

    #[test]
    fn a_time_for_one_reading_is_for_one_trial_in_one_state() {
        let mut plan = planned(Budget::Firm(Nanos(20 * SECOND)));
        fit(&mut plan, &config(&[], false), predicted(9)).unwrap();
        assert_eq!((names(&plan, COLD), plan.states.as_slice()), (vec!["null", "a"], &[COLD][..]));
        assert_eq!(names(&plan, WARM), [] as [&str; 0]);
        assert_eq!((plan.trials.len(), plan.absent.len()), (8, 8), "the second state is left out");
    }

    #[test]
    fn a_reading_from_memory_takes_the_cpu_time_of_the_plain_one() {
        let mut plan = planned(Budget::Firm(Nanos(63 * SECOND)));
        let predicted = Predicted { cpu: Duration::from_secs(1), ..predicted(9) };
        fit(&mut plan, &config(&[], false), predicted).unwrap();
        assert_eq!(names(&plan, COLD), ["null", "a"], "one of 23 s");
        assert_eq!(names(&plan, WARM).len(), 8, "all, of three seconds each");
    }

    #[test]
    fn a_time_that_is_enough_changes_nothing() {
        let mut plan = planned(Budget::Firm(Nanos(200 * SECOND)));
        assert_eq!(fit(&mut plan, &config(&[], false), predicted(1)), None);
        assert_eq!((plan.trials.len(), plan.absent.len()), (16, 0));
    }

    #[test]
    fn an_advised_time_leaves_out_only_what_readlab_chose_and_only_of_large_files() {
        let advised = || planned(Budget::Advised(Nanos(52 * SECOND)));
        let fitted = |config, seconds| {
            let mut plan = advised();
            let said = fit(&mut plan, &config, predicted(seconds));
            said.map(|_| plan.trials.len() - waiting(&plan).len())
        };
        assert_eq!(fitted(config(&[], false), 1), None);
        assert_eq!(fitted(config(&[], false), 10), Some(8), "null and three of each state");
        assert_eq!(fitted(config(&["rust/*"], false), 10), None, "the user named them");
        assert_eq!(fitted(config(&[], true), 10), None, "--all");
        let mut published = advised();
        published.rules.focus = Focus::Everything;
        assert_eq!(fit(&mut published, &config(&[], false), predicted(10)), None);
    }
}
