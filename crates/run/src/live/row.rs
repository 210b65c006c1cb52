//! One row of the ranking while it grows: the readings of a trial, and what they show so far.

use readlab_analysis::stats::{self, Observation};
use readlab_model::sample::Sample;
use readlab_model::units::{Bytes, Nanos, Throughput};
use readlab_record::Outcome;

/// The readings of one trial; in a sweep, those of all files by one method.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    /// The name of the trial, safe to print.
    pub(super) name: String,
    /// The readings that are reported.
    walls: Vec<Observation>,
    /// Those of a search, which are shown until there are others.
    searched: Vec<Observation>,
    /// What one reading brings; 0 where that is no rate.
    pub(super) bytes_each: u64,
    /// What all reported readings brought.
    bytes: u64,
    /// Why its readings do not count.
    is_out: bool,
}

/// What the readings of a row show so far.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figures {
    pub(super) name: String,
    /// The median of the readings; in a sweep, their mean.
    pub(super) time: Nanos,
    /// Half the 95 % interval of the median over the median; `None` with too few readings.
    pub(super) precision: Option<f64>,
    /// Bytes over that time; `None` where nothing is read.
    pub(super) rate: Option<Throughput>,
}

impl Row {
    pub(super) fn new(name: String) -> Row {
        Row { name, ..Row::default() }
    }

    /// Adds a reading.
    pub(super) fn take(&mut self, sample: &Sample) {
        if sample.rung.is_some() {
            self.searched.push(sample.into());
        } else {
            self.walls.push(sample.into());
            self.bytes = self.bytes.saturating_add(self.bytes_each);
        }
    }

    /// How its trial ended.
    pub(super) fn end(&mut self, outcome: &Outcome) {
        self.is_out = *outcome != Outcome::Measured;
    }

    /// Whether it has no reading that counts, and will have none.
    pub(super) fn is_out(&self) -> bool {
        self.is_out
    }

    /// Whether it has readings that are reported.
    pub(super) fn is_measured(&self) -> bool {
        !self.is_out && !self.walls.is_empty()
    }

    /// The median of its readings, in nanoseconds; `None` where none counts.
    pub(super) fn median_ns(&self, of_search: bool) -> Option<f64> {
        let walls = if of_search { &self.searched } else { &self.walls };
        stats::median(walls.iter().map(|wall| wall.value)).filter(|_| !self.is_out)
    }

    /// The readings that are reported.
    pub(super) fn walls(&self) -> &[Observation] {
        &self.walls
    }

    /// What its readings show; `None` where none counts.
    pub(super) fn figures(&self, of_search: bool) -> Option<Figures> {
        let median_ns = self.median_ns(of_search)?;
        let walls = if of_search { &self.searched } else { &self.walls };
        Some(self.with_time(median_ns, stats::precision(walls)))
    }

    /// What its readings of different files show together; `None` where none counts.
    pub(super) fn figures_of_files(&self) -> Option<Figures> {
        let timed_ns: f64 = self.walls.iter().map(|wall| wall.value).sum();
        let figures = Figures {
            name: self.name.clone(),
            time: nanos(timed_ns / count(self.walls.len())),
            precision: None,
            rate: Some(Throughput::per(Bytes(self.bytes), nanos(timed_ns))),
        };
        (!self.walls.is_empty()).then_some(figures)
    }

    fn with_time(&self, time_ns: f64, precision: Option<f64>) -> Figures {
        let time = nanos(time_ns);
        let is_rate = self.bytes_each > 0 && time.0 > 0;
        let rate = is_rate.then(|| Throughput::per(Bytes(self.bytes_each), time));
        Figures { name: self.name.clone(), time, precision, rate }
    }
}

impl Figures {
    /// How fast it is, to compare it with others.
    pub(super) fn speed(&self) -> f64 {
        self.rate.map_or(1.0 / self.time.as_secs_f64().max(1e-9), |rate| rate.0)
    }
}

fn nanos(ns: f64) -> Nanos {
    Nanos::from_secs_f64(ns / 1e9)
}

#[expect(clippy::cast_precision_loss, reason = "a number of readings")]
fn count(readings: usize) -> f64 {
    readings.max(1) as f64
}
