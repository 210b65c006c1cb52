//! Deadlines of steps that come before measuring. By default a step has no time limit; if the user
//! set a time, the step uses up part of the run's `--budget`.

use super::config::RunConfig;
use readlab_model::units::Nanos;
use readlab_record::{Budget, Rules};
use readlab_system::interrupt;
use std::io::{Error, ErrorKind, Result};
use std::time::{Duration, Instant};

/// The time limits of a step of the preparation. The step is given up when one of them is over.
pub(super) struct Deadline {
    /// Name of the step, for the error message.
    step: &'static str,
    limits: Vec<TimeLimit>,
}

struct TimeLimit {
    begun: Instant,
    time: Duration,
    /// The option that sets the limit, for the error message.
    option_words: String,
}

const READING_STEP: &str = "reading it once for the right answer";
pub(super) const ASKING_STEP: &str = "asking for it";
pub(super) const COPYING_STEP: &str = "copying it";

impl Deadline {
    /// The deadline of a step of a run that began at `begun`: the user's time for the whole run. An
    /// advised budget is no limit.
    pub(super) fn for_step(step: &'static str, rules: &Rules, begun: Instant) -> Deadline {
        let limits = match rules.budget {
            Budget::Advised(_) => Vec::new(),
            Budget::Firm(time) => {
                vec![TimeLimit { begun, time: time.into(), option_words: "--budget".to_owned() }]
            }
        };
        Deadline { step, limits }
    }

    /// The deadline of the first reading, which finds the expected answer: the rest of the budget
    /// of a run that began at `begun`, and the time that one trial may take for its minimum of
    /// readings.
    pub(super) fn for_first_reading(config: &RunConfig, begun: Instant) -> Deadline {
        let runs = config.rules.min_readings;
        let mut deadline = Deadline::for_step(READING_STEP, &config.rules, begun);
        deadline.limits.extend(config.user.sampling.max_time.map(|time| TimeLimit {
            begun: Instant::now(),
            time: Nanos(time.0.saturating_mul(u64::from(runs))).into(),
            option_words: format!("{runs} readings of --max-time"),
        }));
        deadline
    }

    /// The deadline of the first reading of a resumed run. The run had taken the time `earlier`
    /// when it was interrupted.
    pub(super) fn for_resumed_reading(rules: &Rules, begun: Instant, earlier: Duration) -> Deadline {
        let mut deadline = Deadline::for_step(READING_STEP, rules, begun);
        deadline.limits.iter_mut().for_each(|limit| limit.time = limit.time.saturating_sub(earlier));
        deadline
    }

    pub(super) fn check(&self) -> Result<()> {
        if interrupt::is_stop_requested() {
            return Err(Error::other("interrupted"));
        }
        match self.limits.iter().find(|limit| limit.begun.elapsed() > limit.time) {
            None => Ok(()),
            Some(TimeLimit { time, option_words, .. }) => Err(Error::new(
                ErrorKind::TimedOut,
                format!("{} took longer than {} ({option_words})", self.step, Nanos::from(*time)),
            )),
        }
    }
}
