//! How much of a run is done, for people who wait: of a stage by what its trials need or by its
//! time, whichever is further, and of the counting that follows. Nothing is decided by it.

use super::Run;
use super::clock::StageClock;
use super::trial_progress::TrialProgress;
use crate::measure::interface::Progress;

/// Counting what a contender does inside takes about so many readings.
const COUNTING_READINGS: u64 = 4;

impl Run<'_> {
    /// The share of the whole run that is done after so many rounds of this stage.
    #[expect(clippy::cast_precision_loss, reason = "numbers of trials, and times below 104 days")]
    pub(super) fn progress(
        &mut self,
        progresses: &[TrialProgress],
        clock: &StageClock,
        rounds: u32,
    ) -> Progress {
        let now_ns = self.sampler.elapsed_ns();
        let needed = progresses.iter().map(|it| it.done(&self.plan.rules).clamp(0.0, 1.0)).sum::<f64>();
        let by_trials = needed / progresses.len().max(1) as f64;
        let of_rounds = by_trials.max(clock.share_done(rounds, now_ns));
        let stage_ns = clock.since_start_ns(now_ns) as f64;
        let whole_ns = stage_ns / of_rounds + self.counting_ns(progresses) as f64;
        self.progress_with(stage_ns / whole_ns)
    }

    /// The same when the rounds are over and the contenders of these trials are still to be
    /// counted.
    #[expect(clippy::cast_precision_loss, reason = "times below 104 days")]
    pub(super) fn progress_of_counting(&mut self, left: &[TrialProgress], clock: &StageClock) -> Progress {
        let stage_ns = clock.since_start_ns(self.sampler.elapsed_ns()) as f64;
        self.progress_with(stage_ns / (stage_ns + self.counting_ns(left) as f64))
    }

    /// The share of the whole run that is done when so much of this stage is; it never steps back.
    #[expect(clippy::cast_precision_loss, reason = "numbers of stages")]
    pub(in crate::measure) fn progress_with(&mut self, of_stage: f64) -> Progress {
        let elapsed_ns = self.sampler.elapsed_ns();
        let share = (self.stages_done as f64 + of_stage) / self.plan.states.len().max(1) as f64;
        // Not a number where nothing was done in no time.
        self.share_told = self.share_told.max(share);
        Progress { share: self.share_told, elapsed_ns }
    }

    /// What counting these will take.
    fn counting_ns(&self, progresses: &[TrialProgress]) -> u64 {
        let open = progresses.iter().filter(|it| !it.counted && !self.sampler.is_counted(it.trial));
        open.filter_map(|it| it.fastest_ns).map(|fastest_ns| COUNTING_READINGS * fastest_ns).sum()
    }
}
