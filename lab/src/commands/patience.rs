//! How long the one plain reading may take that finds the right answer: as long as it must, unless the user set a time.

use crate::cli::Measuring;
use crate::interrupt;
use crate::units::Nanos;
use std::io::{Error, ErrorKind, Result};
use std::time::{Duration, Instant};

/// Begins when it is made.
pub(super) struct Patience {
    begun: Instant,
    limits: Vec<Limit>,
}

/// A time that an option sets.
struct Limit {
    time: Nanos,
    option: String,
}

impl Patience {
    /// What the user's options leave: the whole budget, and what one trial may take with its fewest readings.
    pub(super) fn of(measuring: &Measuring) -> Patience {
        let runs = measuring.rules().min_runs;
        let budget = measuring.budget.map(|time| Limit { time, option: "--budget".to_owned() });
        let of_trial = |time: Nanos| Limit {
            time: Nanos(time.0.saturating_mul(u64::from(runs))),
            option: format!("{runs} readings of --max-time"),
        };
        let limits = budget.into_iter().chain(measuring.max_time.map(of_trial)).collect();
        Patience { begun: Instant::now(), limits }
    }

    /// As long as it takes.
    pub(super) fn endless() -> Patience {
        Patience { begun: Instant::now(), limits: Vec::new() }
    }

    /// # Errors
    /// If the user wants to stop, or a time is over.
    pub(super) fn go_on(&self) -> Result<()> {
        if interrupt::requested() {
            return Err(Error::other("interrupted"));
        }
        match self.limits.iter().find(|limit| self.begun.elapsed() > Duration::from(limit.time)) {
            None => Ok(()),
            Some(Limit { time, option }) => Err(Error::new(
                ErrorKind::TimedOut,
                format!("reading it once for the right answer took longer than {time} ({option})"),
            )),
        }
    }
}
