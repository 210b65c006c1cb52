//! How long one may take to find out what must be known before anything is measured: as long as it
//! must, unless the user set a time. Part of a run's `--budget` is used up by it.

use crate::commands::options::SamplingOptions;
use crate::linux::interrupt;
use crate::record::{Budget, Rules};
use crate::units::Nanos;
use std::io::{Error, ErrorKind, Result};
use std::time::{Duration, Instant};

/// Times that end what is being done.
pub(super) struct Deadline {
    doing: &'static str,
    limits: Vec<Limit>,
}

/// A time that an option sets.
struct Limit {
    begun: Instant,
    time: Duration,
    option: String,
}

impl Deadline {
    /// For asking a server of a run that begins now.
    pub(super) fn of_asking(rules: &Rules) -> Deadline {
        Deadline { doing: "asking for it", limits: budget(rules, Instant::now()).into_iter().collect() }
    }

    /// For the one plain reading that finds the right answer: what is left of the budget of a run
    /// that has `begun`, and what one trial may take with its fewest readings.
    pub(super) fn of_reading(measuring: &SamplingOptions, rules: &Rules, begun: Instant) -> Deadline {
        let runs = rules.min_runs;
        let of_trial = |time: Nanos| Limit {
            begun: Instant::now(),
            time: Nanos(time.0.saturating_mul(u64::from(runs))).into(),
            option: format!("{runs} readings of --max-time"),
        };
        let limits = budget(rules, begun).into_iter().chain(measuring.max_time.map(of_trial)).collect();
        Deadline { doing: "reading it once for the right answer", limits }
    }

    /// For the same in a run that goes on, and had taken so much `earlier`.
    pub(super) fn of_resuming(rules: &Rules, begun: Instant, earlier: Duration) -> Deadline {
        let left = |limit: Limit| Limit { time: limit.time.saturating_sub(earlier), ..limit };
        let limits = budget(rules, begun).map(left).into_iter().collect();
        Deadline { doing: "reading it once for the right answer", limits }
    }

    /// # Errors
    /// If the user wants to stop, or a time is over.
    pub(super) fn check(&self) -> Result<()> {
        if interrupt::requested() {
            return Err(Error::other("interrupted"));
        }
        match self.limits.iter().find(|limit| limit.begun.elapsed() > limit.time) {
            None => Ok(()),
            Some(Limit { time, option, .. }) => Err(Error::new(
                ErrorKind::TimedOut,
                format!("{} took longer than {} ({option})", self.doing, Nanos::from(*time)),
            )),
        }
    }
}

/// The user's time for the whole run. One that is only advised ends nothing here.
fn budget(rules: &Rules, begun: Instant) -> Option<Limit> {
    match rules.budget {
        Budget::Advised(_) => None,
        Budget::Firm(time) => Some(Limit { begun, time: time.into(), option: "--budget".to_owned() }),
    }
}
