//! The progress of one trial in a run: what it has shown so far, and how much of what it needs that
//! is.

use super::unaccounted::UnaccountedTime;
use crate::plan::Rules;
use readlab_analysis::stats::{self, Observation};
use readlab_analysis::verdict::whole_processors;
use readlab_model::sample::Sample;
use readlab_model::trial::TrialIndex;
use readlab_record::{StopReason, Stopped};
use std::borrow::Borrow;
use std::collections::BTreeSet;

/// Precision is computed again when there is one part in this many more readings.
const PRECISION_SLACK: usize = 20;

#[derive(Default)]
pub(crate) struct TrialProgress {
    pub(crate) trial: TrialIndex,
    /// Whether its line is in the record.
    pub(crate) announced: bool,
    /// Whether its outcome is in the record.
    pub(crate) ended: bool,
    /// Why it has no further rounds, where that was decided by comparing it with others.
    pub(super) stopped: Option<StopReason>,
    /// How many rounds it had then; `None` if it did not stop because another one is faster.
    pub(super) stopped_after: Option<u32>,
    /// Whether it has further rounds all the same, for its interval alone.
    pub(super) is_refined: bool,
    /// Whether its outcome is that it was measured.
    pub(super) measured: bool,
    pub(super) counted: bool,
    pub(crate) walls: Vec<Observation>,
    /// Bytes per second from the device in them, where any came.
    pub(super) device_rates: Vec<Observation>,
    /// Processors that worked in them.
    busy: Vec<f64>,
    /// Half the interval of their median over the median, as soon as there are enough of them.
    precision: Option<f64>,
    /// With how many readings it is computed again: intervals of many readings change slowly, and
    /// each costs a pass over all.
    precision_from: usize,
    pub(super) fastest_ns: Option<u64>,
    pub(super) turns: Vec<UnaccountedTime>,
    /// The CPU time of those turns in which no meter showed that the bytes arrived.
    pub(super) undelivered: Vec<TurnCpu>,
    /// Meters that are recorded as missing.
    pub(super) missing: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TurnCpu {
    /// An upper bound, because the kernel counts that of children in ticks.
    pub(super) cpu_most_ns: u64,
    pub(super) readings: u32,
}

impl TrialProgress {
    pub(crate) fn new(trial: TrialIndex) -> TrialProgress {
        TrialProgress { trial, ..TrialProgress::default() }
    }

    #[expect(clippy::cast_precision_loss, reason = "rates have three digits")]
    pub(super) fn take<S: Borrow<Sample>>(&mut self, samples: impl IntoIterator<Item = S>, rules: &Rules) {
        let mut turn = Vec::new();
        for sample in samples {
            let sample = sample.borrow();
            if sample.reading == 0 {
                self.observe_turn(&std::mem::take(&mut turn));
            }
            turn.push(sample.clone());
            let wall_ns = sample.wall_ns;
            let wall = Observation::from(sample);
            self.walls.push(wall);
            let per_ns = |count: u64| count as f64 / wall.value.max(1.0);
            let device = sample.device_read_bytes.filter(|bytes| *bytes > 0);
            self.device_rates.extend(device.map(|bytes| Observation { value: per_ns(bytes) * 1e9, ..wall }));
            let cpu_ns = sample.cpu_user_ns.zip(sample.cpu_system_ns);
            self.busy.extend(cpu_ns.map(|(user, system)| per_ns(user.saturating_add(system))));
            self.fastest_ns = Some(self.fastest_ns.map_or(wall_ns, |fastest_ns| fastest_ns.min(wall_ns)));
        }
        self.observe_turn(&turn);
        if self.fewest(rules) >= 1.0 && self.walls.len() >= self.precision_from {
            self.precision = stats::precision(&self.walls);
            self.precision_from = self.walls.len() + self.walls.len() / PRECISION_SLACK;
        }
    }

    /// Adds what the lab saw of a turn, whether its readings are recorded or not.
    pub(super) fn observe_turn(&mut self, turn: &[Sample]) {
        self.turns.extend(UnaccountedTime::measured(turn));
        let undelivered = turn.first().filter(|first| first.turn.delivered.is_none());
        self.undelivered.extend(undelivered.and_then(|first| {
            let cpu_most_ns = first.turn.cpu_ns?.saturating_add(first.turn.cpu_error_ns.unwrap_or(0));
            Some(TurnCpu { cpu_most_ns, readings: first.turn_readings })
        }));
    }

    /// Forgets its readings, because it is measured afresh.
    pub(crate) fn forget(&mut self) {
        self.walls.clear();
        self.device_rates.clear();
        self.busy.clear();
        self.turns.clear();
        self.undelivered.clear();
        (self.precision, self.precision_from) = (None, 0);
    }

    /// The number of processors that it keeps busy; one if that is not known.
    pub(super) fn processors(&self) -> u64 {
        stats::median(self.busy.iter().copied()).map_or(1, whole_processors)
    }

    /// Whether it needs no more turns.
    pub(super) fn is_settled(&self, rules: &Rules) -> bool {
        self.done(rules) >= 1.0
    }

    fn is_stopped(&self) -> bool {
        self.stopped.is_some() && !self.is_refined
    }

    /// Whether it may still be found the fastest.
    pub(super) fn competes(&self) -> bool {
        !self.ended && self.stopped.is_none()
    }

    /// Whether further rounds would give it a better interval: it has neither the fewest readings that
    /// a trial should have nor the precision, whether it was stopped or not.
    pub(super) fn is_rough(&self, rules: &Rules) -> bool {
        !self.ended && self.rounds() < rules.min_runs && self.share_had(rules) < 1.0
    }

    /// Whether it may have no more turns: it ended, was stopped, or has the most that a trial may
    /// have.
    pub(super) fn is_over(&self, rules: &Rules) -> bool {
        let is_full = self.by_number(rules) >= 1.0 || self.fewest(rules) >= 1.0 && self.by_time(rules) >= 1.0;
        self.ended || self.is_stopped() || is_full
    }

    pub(super) fn rounds(&self) -> u32 {
        self.distinct(|wall| wall.round)
    }

    fn distinct(&self, number: fn(&Observation) -> u32) -> u32 {
        let numbers: BTreeSet<u32> = self.walls.iter().map(number).collect();
        u32::try_from(numbers.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn median_ns(&self) -> Option<f64> {
        stats::median(self.walls.iter().map(|wall| wall.value))
    }

    pub(super) fn stop(&self, rules: &Rules) -> Stopped {
        let is_precise = self.precision.is_some_and(|found| found <= rules.precision);
        let why = match self.stopped {
            Some(why) => why,
            None if self.by_number(rules) >= 1.0 => StopReason::MostReadings,
            None if self.fewest(rules) < 1.0 => StopReason::Budget,
            None if is_precise => StopReason::Precise,
            None if self.by_time(rules) >= 1.0 => StopReason::MostTime,
            None => StopReason::Budget,
        };
        Stopped { why, rounds: self.rounds() }
    }

    /// How much of what it needs it has: 1 when it is settled. Intervals shrink with the root of
    /// the readings, so precision counts by its square.
    pub(super) fn done(&self, rules: &Rules) -> f64 {
        if self.ended || self.is_stopped() { 1.0 } else { self.share_had(rules) }
    }

    /// The same, whether it has further turns or not.
    fn share_had(&self, rules: &Rules) -> f64 {
        let by_precision = match self.precision {
            Some(found) if found <= rules.precision => 1.0,
            Some(found) => (rules.precision.max(0.0) / found).powi(2),
            None => 0.0,
        };
        self.by_number(rules).max(self.fewest(rules).min(self.by_time(rules).max(by_precision)))
    }

    /// The share that it has of the most readings.
    #[expect(clippy::cast_precision_loss, reason = "numbers of readings")]
    fn by_number(&self, rules: &Rules) -> f64 {
        self.walls.len() as f64 / f64::from(rules.max_runs)
    }

    /// The share of a trial's time that its readings took.
    fn by_time(&self, rules: &Rules) -> f64 {
        let timed_ns: f64 = self.walls.iter().map(|wall| wall.value).sum();
        timed_ns / (rules.max_time.as_secs_f64() * 1e9)
    }

    /// The share that it has of the readings and fills which it needs in any case.
    #[expect(clippy::cast_precision_loss, reason = "numbers of readings")]
    fn fewest(&self, rules: &Rules) -> f64 {
        let readings = self.walls.len() as f64 / f64::from(rules.min_runs);
        readings.min(f64::from(self.distinct(|wall| wall.fill)) / f64::from(rules.fills))
    }
}
