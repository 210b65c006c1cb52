//! One turn of one trial: its readings are proven and recorded. Which turn comes next is decided by
//! the rounds; whether its numbers can be true, in `refutation`, at the end of a state, or at once
//! in a search.

use super::ceiling::stood_still;
use super::trial_progress::TrialProgress;
use super::{Run, RunStop};
use crate::attempt;
use crate::interface::{Sampler, Sink, Slot, TrialEnd};
use readlab_model::sample::Sample;
use readlab_model::trial::CacheState;
use readlab_record::{Line, Outcome};

impl Run<'_> {
    /// One turn of one trial, repeated while its state cannot be proven.
    pub(crate) fn turn(&mut self, slot: &Slot, progress: &mut TrialProgress) -> Result<(), RunStop> {
        let trial = progress.trial;
        let Run { sampler, sink, .. } = self;
        let taken = attempt::proven(*sampler, trial, slot, |sampler, reason| {
            sink.append(Line::Rejected { trial, round: slot.round, reason })?;
            if slot.state == CacheState::Warm { refill(slot.fill, sampler, *sink) } else { Ok(()) }
        });
        let taken = taken?;
        self.write_notes()?;
        match taken {
            Ok(samples) => self.record_samples(slot, progress, samples),
            Err(end) => self.take_end(progress, end),
        }
    }

    /// Records the samples of a turn. In a search a trial whose numbers cannot be true must not
    /// outrun the others, so it is refused at once.
    fn record_samples(
        &mut self,
        slot: &Slot,
        progress: &mut TrialProgress,
        samples: Vec<Sample>,
    ) -> Result<(), RunStop> {
        let trial = &self.plan.planned(progress.trial).trial;
        if let Some(reason) = stood_still(trial, &samples) {
            return self.end(progress, Outcome::Refused { reason });
        }
        self.learn(progress.trial, &samples);
        progress.take(&samples, &self.plan.rules);
        for sample in samples {
            self.sink.append(Line::Sample(Box::new(sample)))?;
        }
        self.record_missing(progress)?;
        if slot.rung.is_none() {
            return Ok(());
        }
        match self.refutation(progress)? {
            Some(reason) => self.end(progress, Outcome::Refused { reason }),
            None => Ok(()),
        }
    }

    /// Records once of a trial which meters could not be read.
    fn record_missing(&mut self, progress: &mut TrialProgress) -> Result<(), RunStop> {
        for (meter, reason) in self.sampler.missing() {
            if progress.missing.insert(meter.clone()) {
                self.sink.append(Line::Missing { trial: progress.trial, meter, reason })?;
            }
        }
        Ok(())
    }
}

/// The standard fill again, with the same number: a part of the file was evicted.
fn refill(fill: u32, sampler: &mut dyn Sampler, sink: &mut dyn Sink) -> Result<(), RunStop> {
    match sampler.fill(fill) {
        Ok(fill) => Ok(sink.append(Line::Fill(fill))?),
        // The next try finds the state unproven again, with a reason.
        Err(TrialEnd::Trial(_)) => Ok(()),
        Err(TrialEnd::Run(end) | TrialEnd::Both(_, end)) => Err(RunStop::Ended(end)),
    }
}
