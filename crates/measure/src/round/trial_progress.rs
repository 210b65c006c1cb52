//! The progress of one trial in a run: its results so far, and its share of the readings that it
//! needs.

use super::unaccounted::TurnTiming;
use crate::plan::Rules;
use readlab_analysis::stats::{self, Observation};
use readlab_analysis::verdict::whole_processors;
use readlab_model::sample::Sample;
use readlab_model::trial::TrialIndex;
use readlab_record::{StopReason, Stopped};
use std::borrow::Borrow;
use std::collections::BTreeSet;

/// Divisor of the number of readings. Precision is computed again when the number has grown by the
/// quotient.
const PRECISION_GROWTH_DIVISOR: usize = 20;

#[derive(Default)]
pub(crate) struct TrialProgress {
    pub(crate) trial: TrialIndex,
    /// Whether the trial's line is in the record.
    pub(crate) is_announced: bool,
    /// Whether the trial's outcome is in the record.
    pub(crate) has_ended: bool,
    /// Why a comparison with other trials stopped the trial; `None` if it was not stopped.
    pub(super) stop_reason: Option<StopReason>,
    /// Number of rounds that the trial had when it stopped; `None` unless it stopped because
    /// another trial is faster.
    pub(super) rounds_at_stop: Option<u32>,
    /// Whether the stopped trial has further rounds, only to narrow its interval.
    pub(super) has_refining_rounds: bool,
    /// Whether the trial's outcome is `Measured`.
    pub(super) is_measured: bool,
    pub(super) is_counted: bool,
    pub(crate) wall_times: Vec<Observation>,
    /// Bytes per second from the device, for the readings in which bytes came from it.
    pub(super) device_rates: Vec<Observation>,
    /// Average number of processors that worked during each reading.
    busy_processors: Vec<f64>,
    /// Half-width of the interval of the median wall time, divided by the median; `None` with too
    /// few readings.
    precision: Option<f64>,
    /// Number of readings at which the precision is computed again: intervals of many readings
    /// change slowly, and each computation is a pass over all readings.
    next_precision_reading_count: usize,
    pub(super) fastest_ns: Option<u64>,
    pub(super) turns: Vec<TurnTiming>,
    /// CPU time of the turns in which no meter showed that the bytes arrived.
    pub(super) undelivered_turns: Vec<TurnCpu>,
    /// Meters that the record lists as missing.
    pub(super) missing_meters: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TurnCpu {
    /// An upper bound of the CPU time, because the kernel counts CPU time of children in ticks.
    pub(super) cpu_max_ns: u64,
    pub(super) reading_count: u32,
}

impl TrialProgress {
    pub(crate) fn new(trial: TrialIndex) -> TrialProgress {
        TrialProgress { trial, ..TrialProgress::default() }
    }

    pub(super) fn add_samples<S: Borrow<Sample>>(
        &mut self,
        samples: impl IntoIterator<Item = S>,
        rules: &Rules,
    ) {
        let mut turn = Vec::new();
        for sample in samples {
            let sample = sample.borrow();
            if sample.reading == 0 {
                self.observe_turn(&std::mem::take(&mut turn));
            }
            turn.push(sample.clone());
            let wall_ns = sample.wall_ns;
            let wall = Observation::from(sample);
            self.wall_times.push(wall);
            let per_ns = |count: u64| stats::float(count) / wall.value.max(1.0);
            let device = sample.device_read_bytes.filter(|bytes| *bytes > 0);
            self.device_rates.extend(device.map(|bytes| Observation { value: per_ns(bytes) * 1e9, ..wall }));
            let cpu_ns = sample.cpu_user_ns.zip(sample.cpu_system_ns);
            self.busy_processors.extend(cpu_ns.map(|(user, system)| per_ns(user.saturating_add(system))));
            self.fastest_ns = Some(self.fastest_ns.map_or(wall_ns, |fastest_ns| fastest_ns.min(wall_ns)));
        }
        self.observe_turn(&turn);
        if self.share_of_minimum(rules) >= 1.0 && self.wall_times.len() >= self.next_precision_reading_count {
            self.precision = stats::precision(&self.wall_times);
            self.next_precision_reading_count =
                self.wall_times.len() + self.wall_times.len() / PRECISION_GROWTH_DIVISOR;
        }
    }

    /// Adds readlab's own observations of a turn, whether its readings are recorded or not.
    pub(super) fn observe_turn(&mut self, turn: &[Sample]) {
        self.turns.extend(TurnTiming::from_turn(turn));
        let undelivered = turn.first().filter(|first| first.turn.delivered.is_none());
        self.undelivered_turns.extend(undelivered.and_then(|first| {
            let cpu_max_ns = first.turn.cpu_ns?.saturating_add(first.turn.cpu_error_ns.unwrap_or(0));
            Some(TurnCpu { cpu_max_ns, reading_count: first.turn_readings })
        }));
    }

    /// Forgets the trial's readings, because it is measured afresh.
    pub(crate) fn forget_readings(&mut self) {
        self.wall_times.clear();
        self.device_rates.clear();
        self.busy_processors.clear();
        self.turns.clear();
        self.undelivered_turns.clear();
        (self.precision, self.next_precision_reading_count) = (None, 0);
    }

    /// Number of processors that the trial keeps busy; 1 if the number is not known.
    pub(super) fn busy_processor_count(&self) -> u64 {
        stats::median(self.busy_processors.iter().copied()).map_or(1, whole_processors)
    }

    /// Whether the trial needs no more turns.
    pub(super) fn is_settled(&self, rules: &Rules) -> bool {
        self.share_done(rules) >= 1.0
    }

    fn is_stopped(&self) -> bool {
        self.stop_reason.is_some() && !self.has_refining_rounds
    }

    /// Whether the trial may still become the winner.
    pub(super) fn competes(&self) -> bool {
        !self.has_ended && self.stop_reason.is_none()
    }

    /// Whether further rounds would improve the trial's interval: the trial has fewer rounds than
    /// the minimum number of readings, and is not settled by precision, readings or time. A stopped
    /// trial may be imprecise, too.
    pub(super) fn is_imprecise(&self, rules: &Rules) -> bool {
        !self.has_ended && self.round_count() < rules.min_readings && self.share_of_needed(rules) < 1.0
    }

    /// Whether the trial may have no more turns: it ended, was stopped, or has the maximum of
    /// readings or time.
    pub(super) fn is_over(&self, rules: &Rules) -> bool {
        let is_full = self.share_of_max_readings(rules) >= 1.0
            || self.share_of_minimum(rules) >= 1.0 && self.share_of_max_time(rules) >= 1.0;
        self.has_ended || self.is_stopped() || is_full
    }

    pub(super) fn round_count(&self) -> u32 {
        self.distinct_count(|wall| wall.round)
    }

    fn distinct_count(&self, number: fn(&Observation) -> u32) -> u32 {
        let numbers: BTreeSet<u32> = self.wall_times.iter().map(number).collect();
        u32::try_from(numbers.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn median_ns(&self) -> Option<f64> {
        stats::median(self.wall_times.iter().map(|wall| wall.value))
    }

    pub(super) fn describe_stop(&self, rules: &Rules) -> Stopped {
        let is_precise = self.precision.is_some_and(|found| found <= rules.precision);
        let why = match self.stop_reason {
            Some(why) => why,
            None if self.share_of_max_readings(rules) >= 1.0 => StopReason::MostReadings,
            None if self.share_of_minimum(rules) < 1.0 => StopReason::Budget,
            None if is_precise => StopReason::Precise,
            None if self.share_of_max_time(rules) >= 1.0 => StopReason::MostTime,
            None => StopReason::Budget,
        };
        Stopped { why, rounds: self.round_count() }
    }

    /// Share of the readings that the trial needs, 1 when it is settled. Intervals shrink with the
    /// square root of the number of readings, so precision counts by its square.
    pub(super) fn share_done(&self, rules: &Rules) -> f64 {
        if self.has_ended || self.is_stopped() { 1.0 } else { self.share_of_needed(rules) }
    }

    /// Share of the readings that the trial needs, even if it has no further turns.
    fn share_of_needed(&self, rules: &Rules) -> f64 {
        let by_precision = match self.precision {
            Some(found) if found <= rules.precision => 1.0,
            Some(found) => (rules.precision.max(0.0) / found).powi(2),
            None => 0.0,
        };
        self.share_of_max_readings(rules)
            .max(self.share_of_minimum(rules).min(self.share_of_max_time(rules).max(by_precision)))
    }

    fn share_of_max_readings(&self, rules: &Rules) -> f64 {
        stats::count_as_float(self.wall_times.len()) / f64::from(rules.max_readings)
    }

    /// Total wall time of the readings, as a share of a trial's maximum time.
    fn share_of_max_time(&self, rules: &Rules) -> f64 {
        let timed_ns: f64 = self.wall_times.iter().map(|wall| wall.value).sum();
        timed_ns / (rules.max_time.as_secs_f64() * 1e9)
    }

    /// Number of readings and fills, as a share of the minimum of each; the smaller of the two.
    fn share_of_minimum(&self, rules: &Rules) -> f64 {
        let readings = stats::count_as_float(self.wall_times.len()) / f64::from(rules.min_readings);
        readings.min(f64::from(self.distinct_count(|wall| wall.fill)) / f64::from(rules.min_fills))
    }
}
