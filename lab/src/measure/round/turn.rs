//! One turn of one trial in one round: its readings are proven and written down. Whose turn it is,
//! is decided by the rounds; whether its numbers can be true, at the end of a state, or in a search
//! at once, in [`super::doubt`].

use super::ceiling::stood_still;
use super::trial_progress::TrialProgress;
use super::{Run, RunStop};
use crate::measure::attempt;
use crate::measure::interface::{Sampler, Sink, TrialEnd};
use crate::record::{Line, Outcome, Sample};
use crate::trial::CacheState;

/// Where in the run a turn stands.
pub(in crate::measure) struct Slot {
    pub(in crate::measure) state: CacheState,
    pub(in crate::measure) fill: u32,
    pub(in crate::measure) round: u32,
    /// Of a search; `None` where numbers are told.
    pub(in crate::measure) rung: Option<u32>,
}

impl Run<'_> {
    /// One turn of one trial, taken again while its state cannot be proven.
    pub(in crate::measure) fn turn(
        &mut self,
        slot: &Slot,
        position: u32,
        progress: &mut TrialProgress,
    ) -> Result<(), RunStop> {
        let trial = progress.trial;
        let Run { sampler, sink, .. } = self;
        let taken = attempt::proven(*sampler, (trial, slot.state), |sampler, reason| {
            sink.append(Line::Rejected { trial, round: slot.round, reason })?;
            if slot.state == CacheState::Warm { refill(slot.fill, sampler, *sink) } else { Ok(()) }
        });
        let taken = taken?;
        self.write_notes()?;
        match taken {
            Ok(samples) => self.record_samples(slot, position, (progress, samples)),
            Err(ending) => self.take_ending(progress, ending),
        }
    }

    /// Writes down the samples of a turn. In a search one whose numbers cannot be true must not
    /// outrun the others.
    fn record_samples(
        &mut self,
        slot: &Slot,
        position: u32,
        (progress, mut samples): (&mut TrialProgress, Vec<Sample>),
    ) -> Result<(), RunStop> {
        let trial = &self.plan.planned(progress.trial).trial;
        if let Some(reason) = stood_still(trial, &samples) {
            return self.end(progress, Outcome::Refused { reason });
        }
        self.learn(progress.trial, &samples);
        for sample in &mut samples {
            (sample.fill, sample.round, sample.position) = (slot.fill, slot.round, position);
            sample.rung = slot.rung;
        }
        progress.take(&samples, &self.plan.rules);
        for sample in samples {
            self.sink.append(Line::Sample(Box::new(sample)))?;
        }
        for (meter, reason) in self.sampler.missing() {
            let meter = meter.to_owned();
            if progress.missing.insert(meter.clone()) {
                self.sink.append(Line::Missing { trial: progress.trial, meter, reason })?;
            }
        }
        if slot.rung.is_none() {
            return Ok(());
        }
        match self.refutation(slot.state, progress)? {
            Some(reason) => self.end(progress, Outcome::Refused { reason }),
            None => Ok(()),
        }
    }

    /// Writes down what the sampler found beside the samples.
    pub(super) fn write_notes(&mut self) -> Result<(), RunStop> {
        self.sampler.notes().into_iter().try_for_each(|line| Ok(self.sink.append(line)?))
    }
}

/// The standard fill again, within the same fill's number: something evicted part of the file.
fn refill(fill: u32, sampler: &mut dyn Sampler, sink: &mut dyn Sink) -> Result<(), RunStop> {
    match sampler.fill(fill) {
        Ok(fill) => Ok(sink.append(Line::Fill(fill))?),
        // The next try finds the state unproven again, and says so.
        Err(TrialEnd::Trial(_)) => Ok(()),
        Err(TrialEnd::Run(end) | TrialEnd::Both(_, end)) => Err(RunStop::Ended(end)),
    }
}
