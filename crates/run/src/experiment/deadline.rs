//! The deadline of what must be found out before anything is measured. It takes as long as it
//! takes, unless the user set a time: it uses up part of the `--budget` of a run.

use super::config::RunConfig;
use readlab_model::units::Nanos;
use readlab_record::{Budget, Rules};
use readlab_system::interrupt;
use std::io::{Error, ErrorKind, Result};
use std::time::{Duration, Instant};

/// Times at which a step of the preparation is given up.
pub(super) struct Deadline {
    /// The step, as the error message says it.
    step: &'static str,
    limits: Vec<TimeLimit>,
}

/// A time that an option sets.
struct TimeLimit {
    begun: Instant,
    time: Duration,
    option: String,
}

/// The step that finds the right answers.
const READING: &str = "reading it once for the right answer";

impl Deadline {
    /// For asking a server, by the rules of a run that begins now.
    pub(super) fn of_server(rules: &Rules) -> Deadline {
        Deadline { step: "asking for it", limits: budget(rules, Instant::now()).into_iter().collect() }
    }

    /// For the one plain reading that finds the right answer: what is left of the budget of a run
    /// that has `begun`, and what one trial may take with its fewest readings.
    pub(super) fn of_reading(config: &RunConfig, begun: Instant) -> Deadline {
        let runs = config.rules.min_runs;
        let mut limits: Vec<TimeLimit> = budget(&config.rules, begun).into_iter().collect();
        if let Some(time) = config.trial_time {
            limits.push(TimeLimit {
                begun: Instant::now(),
                time: Nanos(time.0.saturating_mul(u64::from(runs))).into(),
                option: format!("{runs} readings of --max-time"),
            });
        }
        Deadline { step: READING, limits }
    }

    /// For copying the target before a run that has `begun` measures anything.
    pub(super) fn of_copying(rules: &Rules, begun: Instant) -> Deadline {
        Deadline { step: "copying it", limits: budget(rules, begun).into_iter().collect() }
    }

    /// For the plain reading of a run that is resumed, and had taken so much time `earlier`.
    pub(super) fn of_resuming(rules: &Rules, begun: Instant, earlier: Duration) -> Deadline {
        let mut limits: Vec<TimeLimit> = budget(rules, begun).into_iter().collect();
        limits.iter_mut().for_each(|limit| limit.time = limit.time.saturating_sub(earlier));
        Deadline { step: READING, limits }
    }

    pub(super) fn check(&self) -> Result<()> {
        if interrupt::requested() {
            return Err(Error::other("interrupted"));
        }
        match self.limits.iter().find(|limit| limit.begun.elapsed() > limit.time) {
            None => Ok(()),
            Some(TimeLimit { time, option, .. }) => Err(Error::new(
                ErrorKind::TimedOut,
                format!("{} took longer than {} ({option})", self.step, Nanos::from(*time)),
            )),
        }
    }
}

/// The user's time for the whole run. Advice is not a limit.
fn budget(rules: &Rules, begun: Instant) -> Option<TimeLimit> {
    match rules.budget {
        Budget::Advised(_) => None,
        Budget::Firm(time) => Some(TimeLimit { begun, time: time.into(), option: "--budget".to_owned() }),
    }
}
