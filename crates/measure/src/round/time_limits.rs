//! When the time of a run is up: by the clock of a state, or because the user ends the run, which
//! is as if all time were used up.

use super::state_clock::StateClock;
use super::{Run, RunStop};
use crate::plan::Budget;

impl Run<'_> {
    /// Whether no further round of a state may begin.
    pub(crate) fn is_up(&mut self, clock: &StateClock, rounds_done: u32) -> Result<bool, RunStop> {
        Ok(self.sink.wants_end()? || clock.is_up(rounds_done, self.sampler.elapsed_ns()))
    }

    /// Whether even the next turn of a state is too late.
    pub(crate) fn is_firmly_up(&mut self, clock: &StateClock) -> Result<bool, RunStop> {
        Ok(self.sink.wants_end()? || clock.is_firmly_up(self.sampler.elapsed_ns()))
    }

    /// Whether the time of a state for counting is used up.
    pub(super) fn is_counting_up(&mut self, clock: &StateClock) -> Result<bool, RunStop> {
        Ok(self.sink.wants_end()? || clock.is_counting_up(self.sampler.elapsed_ns()))
    }

    /// Whether the time for the whole run is used up.
    pub(super) fn is_run_firmly_up(&mut self) -> Result<bool, RunStop> {
        let budget = self.plan.rules.budget;
        let is_up = matches!(budget, Budget::Firm(time) if self.sampler.elapsed_ns() >= time.0);
        Ok(self.sink.wants_end()? || is_up)
    }
}
