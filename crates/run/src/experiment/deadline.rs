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

struct TimeLimit {
    begun: Instant,
    time: Duration,
    option: String,
}

const READING: &str = "reading it once for the right answer";
pub(super) const ASKING: &str = "asking for it";
pub(super) const COPYING: &str = "copying it";

impl Deadline {
    /// For a step of a run that has `begun`: the user's time for the whole run. Advice is not a limit.
    pub(super) fn of_step(step: &'static str, rules: &Rules, begun: Instant) -> Deadline {
        let limits = match rules.budget {
            Budget::Advised(_) => Vec::new(),
            Budget::Firm(time) => {
                vec![TimeLimit { begun, time: time.into(), option: "--budget".to_owned() }]
            }
        };
        Deadline { step, limits }
    }

    /// For the one plain reading that finds the right answer: what is left of the budget of a run
    /// that has `begun`, and what one trial may take with its fewest readings.
    pub(super) fn of_reading(config: &RunConfig, begun: Instant) -> Deadline {
        let runs = config.rules.min_runs;
        let mut deadline = Deadline::of_step(READING, &config.rules, begun);
        deadline.limits.extend(config.user.sampling.max_time.map(|time| TimeLimit {
            begun: Instant::now(),
            time: Nanos(time.0.saturating_mul(u64::from(runs))).into(),
            option: format!("{runs} readings of --max-time"),
        }));
        deadline
    }

    /// For the plain reading of a run that is resumed, and had taken so much time `earlier`.
    pub(super) fn of_resuming(rules: &Rules, begun: Instant, earlier: Duration) -> Deadline {
        let mut deadline = Deadline::of_step(READING, rules, begun);
        deadline.limits.iter_mut().for_each(|limit| limit.time = limit.time.saturating_sub(earlier));
        deadline
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
