//! Limits that are measured again: when the rounds of a state are over and a reading was clearly
//! faster than the control that should have limited it, that control gets a few more turns, and the
//! record a line with what they showed.
//!
//! Which of the two figures is the limit, and what it means for a reading, is decided by the
//! verdict.

use super::clock::StageClock;
use super::resume_state::NextRound;
use super::trial_progress::TrialProgress;
use super::{Run, RunStop};
use crate::analysis::stats::{self, Bootstrap, Interval, Observation};
use crate::measure::attempt;
use crate::measure::interface::{Step, TrialEnd};
use crate::measure::plan::ROUNDS_MIN;
use crate::record::{EndReason, Limit, LimitKind, LimitUnit, Line, Sample};
use crate::trial::CacheState;
use crate::units::Throughput;

/// A control and the reading that it should have limited.
struct BeatenLimit {
    kind: LimitKind,
    control: usize,
    by: usize,
}

impl Run<'_> {
    /// Rounds from this one on until everybody is settled or time is up; then the controls again
    /// that a reading is beyond.
    pub(in crate::measure) fn rounds_and_limits(
        &mut self,
        state: CacheState,
        first: NextRound,
        (progresses, clock): (&mut [TrialProgress], &StageClock),
    ) -> Result<EndReason, RunStop> {
        let end = self.rounds(state, first, (progresses, clock))?;
        for beaten in self.beaten(progresses) {
            let is_up = clock.is_firmly_up(self.sampler.elapsed_ns());
            if !is_up && !self.past.is_measured_again(progresses[beaten.control].trial) {
                self.measure_again(state, &beaten, progresses)?;
            }
        }
        Ok(end)
    }

    /// The controls that a reading is clearly beyond, each with the fastest such reading.
    fn beaten(&self, progresses: &[TrialProgress]) -> Vec<BeatenLimit> {
        let mut found: Vec<BeatenLimit> = Vec::new();
        for (by, reading) in progresses.iter().enumerate().filter(|(_, it)| self.may_beat(it)) {
            for kind in [LimitKind::Device, LimitKind::Memory, LimitKind::Decoding] {
                let Some(control) = self.control_of(kind, reading, progresses) else { continue };
                if !self.is_beyond(kind, reading, &progresses[control]) {
                    continue;
                }
                let rate = |at: usize| self.rate(kind, &progresses[at]).unwrap_or_default();
                match found.iter_mut().find(|had| had.control == control) {
                    Some(had) if rate(had.by) < rate(by) => had.by = by,
                    Some(_) => {}
                    None => found.push(BeatenLimit { kind, control, by }),
                }
            }
        }
        found
    }

    /// Whether a trial is a reading that will stand.
    fn may_beat(&self, it: &TrialProgress) -> bool {
        let trial = &self.plan.planned(it.trial).trial;
        let refused = it.fastest_ns.is_none_or(|ns| self.ceiling.beyond(trial, ns).is_some());
        !it.ended && !trial.is_control() && !refused
    }

    /// The control that limits a reading: with as many threads as it keeps busy or more, of these
    /// the fewest.
    fn control_of(
        &self,
        kind: LimitKind,
        reading: &TrialProgress,
        progresses: &[TrialProgress],
    ) -> Option<usize> {
        let own = &self.plan.planned(reading.trial).trial;
        let applies = match kind {
            LimitKind::Memory => own.work.touches_bytes() && own.decodes.is_none(),
            LimitKind::Decoding => own.decodes.is_some(),
            _ => true,
        };
        let workers = own.threads().max(reading.processors());
        let fits = |it: &TrialProgress| {
            let control = &self.plan.planned(it.trial).trial;
            let visits = kind != LimitKind::Memory || control.work.touches_bytes();
            let same =
                control.target == own.target && (kind == LimitKind::Device || control.decodes == own.decodes);
            let enough = kind == LimitKind::Device || control.threads() >= workers;
            !it.ended && control.limit() == Some(kind) && visits && same && enough
        };
        let controls = progresses.iter().enumerate().filter(|(_, it)| applies && fits(it));
        // Of the device all are limits, and the fastest is the limit.
        let fastest =
            |it: &TrialProgress| self.rate(kind, it).map_or(u64::MAX, |rate| u64::MAX - whole(rate));
        let best = controls.min_by_key(|(_, it)| match kind {
            LimitKind::Device => (0, fastest(it)),
            _ => (self.plan.planned(it.trial).trial.threads(), fastest(it)),
        });
        best.map(|(at, _)| at)
    }

    /// Whether a reading is so much faster than a control that their intervals lie apart.
    fn is_beyond(&self, kind: LimitKind, reading: &TrialProgress, control: &TrialProgress) -> bool {
        let rates = self.rate(kind, reading).zip(self.rate(kind, control));
        let apart = || {
            let ends =
                self.interval(&self.rates(kind, reading)).zip(self.interval(&self.rates(kind, control)));
            ends.is_some_and(|(reading, control)| reading.low > control.high)
        };
        rates.is_some_and(|(rate, limit)| rate > limit * Limit::BEYOND) && apart()
    }

    fn interval(&self, rates: &[Observation]) -> Option<Interval> {
        Bootstrap::quick(self.plan.rules.seed).median_interval(rates)
    }

    /// The readings of a trial as numbers of a limit; none where a meter or the number of bytes is
    /// not known.
    fn rates(&self, kind: LimitKind, it: &TrialProgress) -> Vec<Observation> {
        if kind == LimitKind::Device {
            return it.device_rates.clone();
        }
        let trial = &self.plan.planned(it.trial).trial;
        let Some(bytes) = self.sampler.bytes(it.trial) else { return Vec::new() };
        #[expect(clippy::cast_precision_loss, reason = "rates have three digits")]
        let bytes = bytes.saturating_mul(trial.readers()) as f64;
        let rate = |wall: &Observation| Observation { value: bytes * 1e9 / wall.value.max(1.0), ..*wall };
        it.walls.iter().map(rate).collect()
    }

    /// The median of these.
    fn rate(&self, kind: LimitKind, it: &TrialProgress) -> Option<f64> {
        stats::median(self.rates(kind, it).iter().map(|it| it.value))
    }

    /// A few more turns of a control. What it showed before stands, whatever they bring.
    fn measure_again(
        &mut self,
        state: CacheState,
        beaten: &BeatenLimit,
        progresses: &[TrialProgress],
    ) -> Result<(), RunStop> {
        let control = &progresses[beaten.control];
        let mut again = TrialProgress::new(control.trial);
        for turn in 0..ROUNDS_MIN {
            self.sink.about_to(Step::Turn(control.trial, turn, 0, 1));
            let taken = attempt::proven(self.sampler, (control.trial, state), |_, _| Ok::<(), RunStop>(()))?;
            let mut samples = match taken {
                Ok(samples) => samples,
                Err(TrialEnd::Trial(_)) => break,
                Err(TrialEnd::Run(end) | TrialEnd::Both(_, end)) => return Err(RunStop::Ended(end)),
            };
            samples.iter_mut().for_each(|sample: &mut Sample| (sample.round, sample.fill) = (turn, turn));
            again.take(&samples, &self.plan.rules);
            self.write_notes()?;
            // Why a meter could not be read was said in the rounds.
            self.sampler.missing();
        }
        let by = &progresses[beaten.by];
        let Some(limit) = self.limit(state, beaten.kind, (&again, by)) else { return Ok(()) };
        let shown = |it| Throughput(self.rate(beaten.kind, it).unwrap_or_default());
        let text = format!(
            "the {} limit was beaten: {} reached {}, and {} showed {}; measured again, it showed {}",
            limit.kind.word(),
            self.plan.planned(by.trial).trial.id,
            shown(by),
            limit.name,
            shown(control),
            shown(&again),
        );
        self.sink.append(Line::Limit(Box::new(limit)))?;
        Ok(self.sink.append(Line::Warning { text })?)
    }

    /// What a control showed that was measured again because of a reading; `None` where it showed
    /// nothing.
    fn limit(
        &self,
        state: CacheState,
        kind: LimitKind,
        (again, by): (&TrialProgress, &TrialProgress),
    ) -> Option<Limit> {
        let trial = &self.plan.planned(again.trial).trial;
        let rates = self.rates(kind, again);
        let ends = self.interval(&rates);
        Some(Limit {
            kind,
            name: trial.id.to_string(),
            target: trial.target,
            state: Some(state),
            trial: Some(trial.index),
            threads: trial.threads(),
            unit: LimitUnit::BytesPerSecond,
            value: whole(self.rate(kind, again)?),
            ci95: ends.map(|ends| [whole(ends.low), whole(ends.high)]),
            samples: rates.iter().map(|it| whole(it.value)).collect(),
            how: format!(
                "measured again after the rounds, as {} was faster",
                self.plan.planned(by.trial).trial.id
            ),
        })
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "float casts saturate")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}
