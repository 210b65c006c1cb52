//! Where one trial stands while a run goes on: what it has shown so far, and how much of what it
//! needs that is.

use super::unaccounted::LeftOut;
use crate::analysis::stats::{self, Observation};
use crate::measure::plan::Rules;
use crate::record::Sample;
use std::borrow::Borrow;
use std::collections::BTreeSet;

/// Precision is found again when there is one part in so many more readings.
const PRECISION_SLACK: usize = 20;

/// Where one trial stands.
pub(in crate::measure) struct TrialProgress {
    pub(in crate::measure) trial: usize,
    /// Whether its line is in the record.
    pub(in crate::measure) announced: bool,
    /// Whether its outcome is.
    pub(in crate::measure) ended: bool,
    /// Whether that outcome is that it was measured.
    pub(super) measured: bool,
    /// Whether what it does inside was counted.
    pub(super) counted: bool,
    /// Its readings that stand.
    pub(in crate::measure) walls: Vec<Observation>,
    /// What came from the device in them, bytes per second, where anything did.
    pub(super) device_rates: Vec<Observation>,
    /// Processors at work in them.
    busy: Vec<f64>,
    /// Half the interval of their median over the median, as soon as there are enough of them.
    precision: Option<f64>,
    /// With how many readings it is found again: intervals of many change slowly, and each costs a
    /// pass over all.
    precision_from: usize,
    pub(super) fastest_ns: Option<u64>,
    /// What the lab saw of its turns.
    pub(super) turns: Vec<LeftOut>,
    /// Of those in which bytes were not seen to arrive, what CPU time there was to touch them.
    pub(super) not_inspected: Vec<Spent>,
    /// Meters of which the record has been told that they could not be read.
    pub(super) missing: BTreeSet<String>,
}

/// CPU time of a turn.
#[derive(Debug, Clone, Copy)]
pub(in crate::measure) struct Spent {
    /// At most, as children's is counted in ticks.
    pub(super) cpu_most_ns: u64,
    pub(super) readings: u32,
}

impl TrialProgress {
    pub(in crate::measure) fn new(trial: usize) -> TrialProgress {
        let (walls, missing) = (Vec::new(), BTreeSet::new());
        let (announced, ended, measured, counted) = (false, false, false, false);
        let (device_rates, busy) = (Vec::new(), Vec::new());
        let (precision, precision_from, fastest_ns) = (None, 0, None);
        let (turns, not_inspected) = (Vec::new(), Vec::new());
        TrialProgress {
            trial,
            announced,
            ended,
            measured,
            counted,
            walls,
            device_rates,
            busy,
            precision,
            precision_from,
            fastest_ns,
            turns,
            not_inspected,
            missing,
        }
    }

    /// Takes in the readings of a turn.
    #[expect(clippy::cast_precision_loss, reason = "rates have three digits")]
    pub(super) fn take<S: Borrow<Sample>>(&mut self, samples: impl IntoIterator<Item = S>, rules: &Rules) {
        let mut turn = Vec::new();
        for sample in samples {
            let sample = sample.borrow();
            if sample.reading == 0 {
                self.look_at(&std::mem::take(&mut turn));
            }
            turn.push(sample.clone());
            let wall_ns = sample.wall_ns;
            let wall = stats::wall(sample);
            self.walls.push(wall);
            let per_ns = |count: u64| count as f64 / wall.value.max(1.0);
            let device = sample.device_read_bytes.filter(|bytes| *bytes > 0);
            self.device_rates.extend(device.map(|bytes| Observation { value: per_ns(bytes) * 1e9, ..wall }));
            let cpu_ns = sample.cpu_user_ns.zip(sample.cpu_system_ns);
            self.busy.extend(cpu_ns.map(|(user, system)| per_ns(user.saturating_add(system))));
            self.fastest_ns = Some(self.fastest_ns.map_or(wall_ns, |fastest_ns| fastest_ns.min(wall_ns)));
        }
        self.look_at(&turn);
        if self.fewest(rules) >= 1.0 && self.walls.len() >= self.precision_from {
            self.precision = stats::precision(&self.walls, rules.seed);
            self.precision_from = self.walls.len() + self.walls.len() / PRECISION_SLACK;
        }
    }

    /// Takes in what the lab saw of a turn, whether its readings count or not.
    pub(super) fn look_at(&mut self, turn: &[Sample]) {
        self.turns.extend(LeftOut::of(turn));
        let not_inspected = turn.first().filter(|first| first.turn.delivered.is_none());
        let spent = not_inspected.and_then(|first| {
            let cpu_most_ns = first.turn.cpu_ns?.saturating_add(first.turn.cpu_error_ns.unwrap_or(0));
            Some(Spent { cpu_most_ns, readings: first.turn_readings })
        });
        self.not_inspected.extend(spent);
    }

    /// Forgets its readings: it is measured afresh.
    pub(in crate::measure) fn forget(&mut self) {
        self.walls.clear();
        self.device_rates.clear();
        self.busy.clear();
        self.turns.clear();
        self.not_inspected.clear();
        (self.precision, self.precision_from) = (None, 0);
    }

    /// The processors that it keeps busy, whole ones; one where that is not known.
    pub(super) fn processors(&self) -> u64 {
        stats::median(self.busy.iter().copied()).map_or(1, stats::whole_processors)
    }

    /// Whether it needs no more turns.
    pub(super) fn is_settled(&self, rules: &Rules) -> bool {
        self.done(rules) >= 1.0
    }

    /// How much of what it needs it has: 1 when it is settled. Intervals shrink with the root of
    /// the readings, so precision counts by its square.
    #[expect(clippy::cast_precision_loss, reason = "numbers of readings")]
    pub(super) fn done(&self, rules: &Rules) -> f64 {
        if self.ended {
            return 1.0;
        }
        let timed_ns: f64 = self.walls.iter().map(|wall| wall.value).sum();
        let by_time = timed_ns / (rules.max_time.as_secs_f64() * 1e9);
        let by_precision = match self.precision {
            Some(found) if found <= rules.precision => 1.0,
            Some(found) => (rules.precision.max(0.0) / found).powi(2),
            None => 0.0,
        };
        let by_number = self.walls.len() as f64 / f64::from(rules.max_runs);
        by_number.max(self.fewest(rules).min(by_time.max(by_precision)))
    }

    /// How many of the readings and fills it has of those that it needs in any case, as a share.
    #[expect(clippy::cast_precision_loss, reason = "numbers of readings")]
    fn fewest(&self, rules: &Rules) -> f64 {
        let fills: BTreeSet<u32> = self.walls.iter().map(|wall| wall.fill).collect();
        let readings = self.walls.len() as f64 / f64::from(rules.min_runs);
        readings.min(fills.len() as f64 / f64::from(rules.fills))
    }
}
