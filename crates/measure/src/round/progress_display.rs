//! Progress of a run, for the progress bar. The progress of a state is the larger of two shares:
//! the share of the needed readings that its trials have, and the share of its time that is used
//! up. The time of counting after the rounds is added. No decision depends on the progress.

use super::Run;
use super::state_run::StateRun;
use super::trial_progress::TrialProgress;
use crate::interface::RunProgress;
use readlab_analysis::stats::{count_as_float, float};

/// Counting what a contender does inside takes about as long as this many of its readings.
const COUNTING_READINGS: u64 = 4;

/// The share of a run that is shown as done. It never decreases.
pub(crate) struct ProgressDisplay {
    state_count: usize,
    states_done_count: usize,
    share_shown: f64,
}

impl ProgressDisplay {
    pub(super) fn new(state_count: usize) -> ProgressDisplay {
        ProgressDisplay { state_count, states_done_count: 0, share_shown: 0.0 }
    }

    pub(crate) fn begin_state(&mut self, states_done: usize) {
        self.states_done_count = states_done;
    }

    /// The share of the whole run that is done, if `of_state` is the share of the current state
    /// that is done.
    pub(crate) fn progress(&mut self, of_state: f64, elapsed_ns: u64) -> RunProgress {
        let share =
            (count_as_float(self.states_done_count) + of_state) / count_as_float(self.state_count.max(1));
        // `share` is NaN if nothing was done in no time; `max` ignores NaN.
        self.share_shown = self.share_shown.max(share);
        RunProgress { share: self.share_shown, elapsed_ns }
    }
}

impl Run<'_> {
    /// The share of the whole run that is done after `rounds` rounds of a state.
    pub(super) fn progress(&mut self, state_run: &StateRun, rounds: u32) -> RunProgress {
        let (now_ns, progresses) = (self.sampler.elapsed_ns(), &state_run.progresses);
        let needed = progresses.iter().map(|it| it.share_done(&self.plan.rules).clamp(0.0, 1.0)).sum::<f64>();
        let by_trials = needed / count_as_float(progresses.len().max(1));
        let of_rounds = by_trials.max(state_run.clock.share_done(rounds, now_ns));
        let state_ns = float(state_run.clock.since_start_ns(now_ns));
        let whole_ns = state_ns / of_rounds + float(self.counting_ns(progresses.iter()));
        self.display.progress(state_ns / whole_ns, now_ns)
    }

    /// The share of the whole run that is done when the rounds of a state are over and the
    /// contenders of `left` are still to be counted.
    pub(super) fn progress_of_counting(
        &mut self,
        state_run: &StateRun,
        left: &[&TrialProgress],
    ) -> RunProgress {
        let now_ns = self.sampler.elapsed_ns();
        let state_ns = float(state_run.clock.since_start_ns(now_ns));
        let left_ns = float(self.counting_ns(left.iter().copied()));
        self.display.progress(state_ns / (state_ns + left_ns), now_ns)
    }

    fn counting_ns<'a>(&self, progresses: impl Iterator<Item = &'a TrialProgress>) -> u64 {
        let open = progresses.filter(|it| !it.is_counted && !self.sampler.is_counted(it.trial));
        open.filter_map(|it| it.fastest_ns).map(|fastest_ns| COUNTING_READINGS * fastest_ns).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "halves and quarters are exact")]
    fn each_state_has_an_equal_share_and_it_never_decreases() {
        let mut display = ProgressDisplay::new(2);
        assert_eq!(display.progress(0.5, 7), RunProgress { share: 0.25, elapsed_ns: 7 });
        assert_eq!(display.progress(f64::NAN, 8).share, 0.25);
        assert_eq!(display.progress(0.1, 9).share, 0.25);
        display.begin_state(1);
        assert_eq!(display.progress(0.5, 10).share, 0.75);
    }
}
