//! One ranking while it grows: its rows, which are the readings of trials and what they show so far, and
//! what can be compared, as in the final tables.

use readlab_analysis::stats::{self, Observation, SharedVariance};
use readlab_model::sample::{Meter, Sample};
use readlab_model::trial::{CacheState, Work};
use readlab_model::units::{Bytes, Nanos, Throughput};
use readlab_protocol::Archive;
use readlab_record::{Outcome, Trial};
use readlab_report::LiveColumn;
use std::collections::BTreeMap;

/// What the trials of one ranking have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) state: CacheState,
    pub(super) work: Work,
    pub(super) decodes: Option<Archive>,
    /// `None` in a sweep, whose files are compared together.
    pub(super) target: Option<usize>,
}

impl Key {
    /// Of a trial that is compared with others on the same target, or on all targets.
    pub(super) fn from_trial(trial: &Trial, on_all: bool) -> Key {
        let target = (!on_all).then_some(trial.target);
        Key { state: trial.state, work: trial.work, decodes: trial.decodes, target }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) key: Key,
    pub(super) rows: Vec<Row>,
    /// How many others had a reading before it; `None` before its first.
    pub(super) place: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standings {
    /// The fastest, first.
    pub(super) best: Vec<Figures>,
    /// The rows with readings, whether they are among the fastest or not.
    pub(super) measured: usize,
    /// The rows without any that counts, because they ended so.
    pub(super) out: usize,
    /// Whether these are the readings of a search.
    pub(super) of_search: bool,
}

impl Block {
    /// Whether it holds only readings of a search so far.
    fn is_of_search(&self) -> bool {
        !self.rows.iter().any(Row::is_measured) && self.rows.iter().any(|row| row.median_ns(true).is_some())
    }

    /// The fastest rows, `most` of them. Intervals are shown for these only.
    pub(super) fn standings(&self, most: usize) -> Standings {
        let of_search = self.is_of_search();
        let mut best = match self.key.target {
            Some(_) => self.by_median(of_search, most),
            None => self.by_rate(),
        };
        let measured = match self.key.target {
            Some(_) => self.rows.iter().filter(|row| row.median_ns(of_search).is_some()).count(),
            None => best.len(),
        };
        best.truncate(most);
        Standings { best, measured, out: self.rows.iter().filter(|row| row.is_out).count(), of_search }
    }

    fn by_median(&self, of_search: bool, most: usize) -> Vec<Figures> {
        let medians = self.rows.iter().filter_map(|row| Some((row.median_ns(of_search)?, row)));
        let mut rows: Vec<(f64, &Row)> = medians.collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        // The rungs of a search are no rounds that all have in common.
        let readings = rows.iter().filter(|_| !of_search).map(|(_, row)| &row.walls);
        let shared = SharedVariance::new(readings);
        let figures = |(at, (_, row)): (usize, &(f64, &Row))| {
            let figures = row.figures(of_search)?;
            let precision = figures.precision.or_else(|| precision_among(&shared, at));
            Some(Figures { precision, ..figures })
        };
        rows.iter().take(most).enumerate().filter_map(figures).collect()
    }

    fn by_rate(&self) -> Vec<Figures> {
        let mut all: Vec<Figures> = self.rows.iter().filter_map(Row::figures_of_files).collect();
        all.sort_by(|a, b| b.speed().total_cmp(&a.speed()));
        all
    }
}

/// Half the interval of a trial's time over that time, by the noise of all trials; `None` of one
/// round.
fn precision_among(shared: &SharedVariance, trial: usize) -> Option<f64> {
    let location = shared.location(trial)?;
    Some(location.ci95?.ends.half_width() / location.estimate_ns)
}

/// The readings of one trial; in a sweep, those of all files by one method.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    /// The name of the trial, safe to print.
    pub(super) name: String,
    /// The readings that are reported.
    walls: Vec<Observation>,
    /// Those of a search, which are shown until there are others.
    searched: Vec<Observation>,
    /// What the meters that are shown counted in the readings that are reported.
    metered: BTreeMap<Meter, Vec<f64>>,
    /// What one reading brings; 0 where that is no rate.
    pub(super) bytes_each: u64,
    /// What all reported readings brought.
    bytes: u64,
    /// Why its readings do not count.
    is_out: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figures {
    pub(super) name: String,
    /// The median of the readings; in a sweep, their mean.
    pub(super) time: Nanos,
    /// Half the 95 % interval of the median over the median; `None` with too few readings.
    pub(super) precision: Option<f64>,
    /// Bytes over that time; `None` where nothing is read.
    pub(super) rate: Option<Throughput>,
    /// The medians of the meters that are shown.
    pub(super) metered: BTreeMap<Meter, f64>,
}

impl Row {
    pub(super) fn new(name: String) -> Row {
        Row { name, ..Row::default() }
    }

    pub(super) fn take(&mut self, sample: &Sample, columns: &[LiveColumn]) {
        if sample.rung.is_some() {
            self.searched.push(sample.into());
        } else {
            self.walls.push(sample.into());
            self.bytes = self.bytes.saturating_add(self.bytes_each);
            for meter in columns.iter().map(|column| column.meter) {
                let counted = sample.observation(meter).map(|it| it.value);
                self.metered.entry(meter).or_default().extend(counted);
            }
        }
    }

    /// How its trial ended.
    pub(super) fn end(&mut self, outcome: &Outcome) {
        self.is_out = *outcome != Outcome::Measured;
    }

    /// Whether it has readings that are reported.
    fn is_measured(&self) -> bool {
        !self.is_out && !self.walls.is_empty()
    }

    /// The median of its readings, in nanoseconds; `None` where none counts.
    fn median_ns(&self, of_search: bool) -> Option<f64> {
        let walls = if of_search { &self.searched } else { &self.walls };
        stats::median(walls.iter().map(|wall| wall.value)).filter(|_| !self.is_out)
    }

    /// What its readings show; `None` where none counts.
    fn figures(&self, of_search: bool) -> Option<Figures> {
        let median_ns = self.median_ns(of_search)?;
        let walls = if of_search { &self.searched } else { &self.walls };
        Some(self.with_time(median_ns, stats::precision(walls)))
    }

    /// What its readings of different files show together; `None` where none counts.
    fn figures_of_files(&self) -> Option<Figures> {
        let timed_ns: f64 = self.walls.iter().map(|wall| wall.value).sum();
        let figures = Figures {
            name: self.name.clone(),
            time: nanos(timed_ns / self.walls.len().max(1) as f64),
            precision: None,
            rate: Some(Throughput::per(Bytes(self.bytes), nanos(timed_ns))),
            metered: self.medians(),
        };
        (!self.walls.is_empty()).then_some(figures)
    }

    fn with_time(&self, time_ns: f64, precision: Option<f64>) -> Figures {
        let time = nanos(time_ns);
        let is_rate = self.bytes_each > 0 && time.0 > 0;
        let rate = is_rate.then(|| Throughput::per(Bytes(self.bytes_each), time));
        Figures { name: self.name.clone(), time, precision, rate, metered: self.medians() }
    }

    fn medians(&self) -> BTreeMap<Meter, f64> {
        let median = |counted: &Vec<f64>| stats::median(counted.iter().copied());
        self.metered.iter().filter_map(|(meter, counted)| Some((*meter, median(counted)?))).collect()
    }
}

impl Figures {
    pub(super) fn speed(&self) -> f64 {
        self.rate.map_or(1.0 / self.time.as_secs_f64().max(1e-9), |rate| rate.0)
    }
}

fn nanos(ns: f64) -> Nanos {
    Nanos::from_secs_f64(ns / 1e9)
}
