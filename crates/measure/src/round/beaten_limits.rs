//! Beaten limits. If a reading was clearly faster than the control that should have limited it, the
//! control gets a few more turns after the rounds of the state, and the record gets a line with
//! their result.
//!
//! The verdict decides whether the control's rate in the rounds or in these turns is the limit.

use super::state_run::StateRun;
use super::trial_progress::TrialProgress;
use super::{Run, RunResult};
use crate::attempt;
use crate::interface::{Slot, Step};
use crate::plan::ROUNDS_MIN;
use readlab_analysis::stats::{self, Confidence, Observation, float, whole};
use readlab_model::trial::TrialIndex;
use readlab_model::units::Throughput;
use readlab_record::{Limit, LimitKind, LimitUnit, Line};

/// If a trial fetches more than this many times the bytes that it reads, the kernel reads larger
/// pieces for it than for the control `device`, so the control shows no limit for it.
const FETCHED_RATIO_MAX: f64 = 1.1;

/// A control and the trial that it should have limited, as indexes into the progresses of the
/// state.
struct BeatenLimit {
    kind: LimitKind,
    control: usize,
    beaten_by: usize,
}

impl Run<'_> {
    /// Measures again each control that a trial beats, while there is time.
    pub(super) fn remeasure_beaten_limits(&mut self, state_run: &StateRun) -> RunResult {
        for beaten in self.beaten_limits(&state_run.progresses) {
            let is_up = self.is_firm_time_up(&state_run.clock)?;
            let control = state_run.progresses[beaten.control].trial;
            if !is_up && !self.resumed.was_measured_again(control) {
                self.measure_again(&beaten, state_run)?;
            }
        }
        Ok(())
    }

    /// The controls that a trial clearly beats, each with the fastest of these trials.
    fn beaten_limits(&self, progresses: &[TrialProgress]) -> Vec<BeatenLimit> {
        let mut found: Vec<BeatenLimit> = Vec::new();
        for (by, reading) in progresses.iter().enumerate().filter(|(_, it)| self.may_beat_a_limit(it)) {
            for kind in [LimitKind::Device, LimitKind::Memory, LimitKind::Decoding] {
                let Some(control) = self.limiting_control(kind, reading, progresses) else { continue };
                let is_unlike = kind == LimitKind::Device && self.fetches_more_than_it_reads(reading);
                if is_unlike || !self.is_clearly_faster(kind, reading, &progresses[control]) {
                    continue;
                }
                let rate = |at: usize| self.median_rate(kind, &progresses[at]).unwrap_or_default();
                match found.iter_mut().find(|had| had.control == control) {
                    Some(had) if rate(had.beaten_by) < rate(by) => had.beaten_by = by,
                    Some(_) => {}
                    None => found.push(BeatenLimit { kind, control, beaten_by: by }),
                }
            }
        }
        found
    }

    /// Whether a trial is no control, and nothing known now refutes its readings.
    fn may_beat_a_limit(&self, it: &TrialProgress) -> bool {
        let trial = &self.planned_trial(it).trial;
        let bytes = self.visited_bytes(it.trial);
        let refused = it.fastest_ns.is_none_or(|ns| self.plausibility.is_beyond_ceiling(trial, bytes, ns));
        !it.has_ended && !trial.is_control() && !refused
    }

    /// The control that limits a trial: the one with the fewest threads among the controls with at
    /// least as many threads as the trial keeps busy.
    fn limiting_control(
        &self,
        kind: LimitKind,
        reading: &TrialProgress,
        progresses: &[TrialProgress],
    ) -> Option<usize> {
        let own = &self.planned_trial(reading).trial;
        let applies = match kind {
            LimitKind::Memory => own.work.touches_bytes() && own.decoded_format.is_none(),
            LimitKind::Decoding => own.decoded_format.is_some(),
            _ => true,
        };
        let workers = own.thread_count().max(reading.busy_processor_count());
        let fits = |it: &TrialProgress| {
            let control = &self.planned_trial(it).trial;
            let visits = kind != LimitKind::Memory || control.work.touches_bytes();
            let same = control.target == own.target
                && (kind == LimitKind::Device || control.decoded_format == own.decoded_format);
            let enough = kind == LimitKind::Device || control.thread_count() >= workers;
            !it.has_ended && control.limit_kind() == Some(kind) && visits && same && enough
        };
        let controls = progresses.iter().enumerate().filter(|(_, it)| applies && fits(it));
        // Every control of the device shows a rate that the device can reach. The fastest one is
        // nearest to the limit of the device.
        let fastest =
            |it: &TrialProgress| self.median_rate(kind, it).map_or(u64::MAX, |rate| u64::MAX - whole(rate));
        let best = controls.min_by_key(|(_, it)| match kind {
            LimitKind::Device => (0, fastest(it)),
            _ => (self.planned_trial(it).trial.thread_count(), fastest(it)),
        });
        best.map(|(at, _)| at)
    }

    /// Whether a trial is faster than a control by more than [`Limit::BEYOND_FACTOR`], and their
    /// intervals do not overlap.
    fn is_clearly_faster(&self, kind: LimitKind, reading: &TrialProgress, control: &TrialProgress) -> bool {
        let rates = self.median_rate(kind, reading).zip(self.median_rate(kind, control));
        let interval =
            |it: &TrialProgress| stats::median_interval(&self.rates(kind, it), Confidence::REPORTED);
        let apart = || {
            let ends = interval(reading).zip(interval(control));
            ends.is_some_and(|(reading, control)| reading.low > control.high)
        };
        rates.is_some_and(|(rate, limit)| rate > limit * Limit::BEYOND_FACTOR) && apart()
    }

    /// Whether the kernel fetches many more bytes than a trial reads.
    fn fetches_more_than_it_reads(&self, it: &TrialProgress) -> bool {
        let asked_bytes = float(self.visited_bytes(it.trial));
        let wall_ns = stats::median(it.wall_times.iter().map(|wall| wall.value));
        let fetched_bytes = self.median_rate(LimitKind::Device, it).zip(wall_ns);
        let fetched_bytes = fetched_bytes.map(|(bytes_per_s, wall_ns)| bytes_per_s * wall_ns / 1e9);
        asked_bytes > 0.0 && fetched_bytes.is_some_and(|bytes| bytes > FETCHED_RATIO_MAX * asked_bytes)
    }

    /// The readings of a trial as rates, in the unit of the limit; empty if a meter or the number
    /// of bytes is missing.
    fn rates(&self, kind: LimitKind, it: &TrialProgress) -> Vec<Observation> {
        if kind == LimitKind::Device {
            return it.device_rates.clone();
        }
        let trial = &self.planned_trial(it).trial;
        let Some(bytes) = self.sampler.bytes_per_reading(it.trial) else { return Vec::new() };
        let bytes = float(bytes.saturating_mul(trial.reader_count()));
        let rate = |wall: &Observation| Observation { value: bytes * 1e9 / wall.value.max(1.0), ..*wall };
        it.wall_times.iter().map(rate).collect()
    }

    fn median_rate(&self, kind: LimitKind, it: &TrialProgress) -> Option<f64> {
        stats::median(self.rates(kind, it).iter().map(|it| it.value))
    }

    /// Takes a few more turns of a control and records the limit that they show. Earlier readings
    /// of the control are kept.
    fn measure_again(&mut self, beaten: &BeatenLimit, state_run: &StateRun) -> RunResult {
        let (control, by) = (&state_run.progresses[beaten.control], &state_run.progresses[beaten.beaten_by]);
        let again = self.take_further_turns(control.trial)?;
        let Some(limit) = self.limit_of_control(beaten.kind, &again, by) else { return Ok(()) };
        let shown = |it| Throughput(self.median_rate(beaten.kind, it).unwrap_or_default());
        let text = format!(
            "the {} limit was beaten: {} reached {}, and {} showed {}; measured again, it showed {}",
            limit.kind.word(),
            self.planned_trial(by).trial.id,
            shown(by),
            limit.name,
            shown(control),
            shown(&again),
        );
        self.sink.append(Line::Limit(Box::new(limit)))?;
        Ok(self.sink.append(Line::Warning { text })?)
    }

    /// The readings of a few more turns of a control; fewer if a turn ends without samples.
    fn take_further_turns(&mut self, control: TrialIndex) -> RunResult<TrialProgress> {
        let mut again = TrialProgress::new(control);
        let state = self.plan.planned_trial(control).trial.state;
        for round in 0..ROUNDS_MIN {
            self.sink.announce_step(Step::Turn { trial: control, round, position: 0, trial_count: 1 });
            let slot = Slot { round, fill: round, ..Slot::unrecorded(state) };
            let taken = attempt::take_until_proven(self.sampler, control, &slot, |_, _| RunResult::Ok(()))?;
            match taken {
                Ok(samples) => again.add_samples(&samples, &self.plan.rules),
                Err(end) => {
                    end.outcome()?;
                    break;
                }
            }
            self.write_notes()?;
            // The rounds have already recorded why a meter could not be read.
            self.sampler.drain_missing_meters();
        }
        Ok(again)
    }

    /// The limit shown by the further readings of a control; `None` if they show none. `by` is the
    /// trial that beat the control.
    fn limit_of_control(&self, kind: LimitKind, again: &TrialProgress, by: &TrialProgress) -> Option<Limit> {
        let trial = &self.planned_trial(again).trial;
        let rates = self.rates(kind, again);
        let ends = stats::median_interval(&rates, Confidence::REPORTED);
        Some(Limit {
            kind,
            name: trial.id.to_string(),
            target: trial.target,
            state: Some(trial.state),
            trial: Some(trial.index),
            threads: trial.thread_count(),
            unit: LimitUnit::BytesPerSecond,
            value: whole(self.median_rate(kind, again)?),
            ci95: ends.map(|ends| [whole(ends.low), whole(ends.high)]),
            samples: rates.iter().map(|it| whole(it.value)).collect(),
            how_measured: format!(
                "measured again after the rounds, as {} was faster",
                self.planned_trial(by).trial.id
            ),
        })
    }
}
