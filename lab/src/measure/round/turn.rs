//! One turn of one trial in one round: its readings are proven and written down. Whose turn it is, is decided by the rounds;
//! whether its numbers can be true, at the end of a state, or in a search at once, in [`super::doubt`].

use super::ceiling::stood_still;
use super::standing::Standing;
use super::{Run, Stop};
use crate::measure::attempt;
use crate::measure::world::{Ending, Sampler, Sink};
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
        standing: &mut Standing,
    ) -> Result<(), Stop> {
        let trial = standing.trial;
        let Run { sampler, sink, .. } = self;
        let taken = attempt::proven(*sampler, (trial, slot.state), |sampler, reason| {
            sink.append(Line::Rejected { trial, round: slot.round, reason })?;
            if slot.state == CacheState::Warm { refill(slot.fill, sampler, *sink) } else { Ok(()) }
        });
        let taken = taken?;
        self.write_notes()?;
        match taken {
            Ok(samples) => self.keep(slot, position, (standing, samples)),
            Err(ending) => self.take_ending(standing, ending),
        }
    }

    /// Writes down the samples of a turn. In a search one whose numbers cannot be true must not outrun the others.
    fn keep(
        &mut self,
        slot: &Slot,
        position: u32,
        (standing, mut samples): (&mut Standing, Vec<Sample>),
    ) -> Result<(), Stop> {
        let trial = &self.plan.planned(standing.trial).trial;
        if let Some(reason) = stood_still(trial, &samples) {
            return self.end(standing, Outcome::Refused { reason });
        }
        self.learn(standing.trial, &samples);
        for sample in &mut samples {
            (sample.fill, sample.round, sample.position) = (slot.fill, slot.round, position);
            sample.rung = slot.rung;
        }
        standing.take(&samples, &self.plan.rules);
        for sample in samples {
            self.sink.append(Line::Sample(Box::new(sample)))?;
        }
        for (meter, reason) in self.sampler.missing() {
            let meter = meter.to_owned();
            if standing.missing.insert(meter.clone()) {
                self.sink.append(Line::Missing { trial: standing.trial, meter, reason })?;
            }
        }
        if slot.rung.is_none() {
            return Ok(());
        }
        match self.refutation(slot.state, standing)? {
            Some(reason) => self.end(standing, Outcome::Refused { reason }),
            None => Ok(()),
        }
    }

    /// Writes down what the sampler found beside the samples.
    pub(super) fn write_notes(&mut self) -> Result<(), Stop> {
        self.sampler.notes().into_iter().try_for_each(|line| Ok(self.sink.append(line)?))
    }
}

/// The standard fill again, within the same fill's number: something evicted part of the file.
fn refill(fill: u32, sampler: &mut dyn Sampler, sink: &mut dyn Sink) -> Result<(), Stop> {
    match sampler.fill(fill) {
        Ok(fill) => Ok(sink.append(Line::Fill(fill))?),
        // The next try finds the state unproven again, and says so.
        Err(Ending::Trial(_)) => Ok(()),
        Err(Ending::Run(end) | Ending::Both(_, end)) => Err(Stop::Ended(end)),
    }
}
