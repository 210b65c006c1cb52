//! One ranking while it grows: its rows, which hold the readings of trials and their results so
//! far. Only trials that the final tables also compare share a ranking.

use readlab_analysis::stats::{self, Confidence, Interval, Observation, SharedVariance};
use readlab_model::sample::{Meter, Sample};
use readlab_model::target::TargetIndex;
use readlab_model::trial::{CacheState, Work};
use readlab_model::units::{Bytes, Nanos, Throughput};
use readlab_protocol::Archive;
use readlab_record::{Outcome, Trial};
use readlab_report::{LiveColumn, ONE_READING, wide_rate, wide_time};
use std::collections::BTreeMap;

/// Properties that all trials of one ranking share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RankingKey {
    pub(super) state: CacheState,
    pub(super) work: Work,
    pub(super) decodes: Option<Archive>,
    /// Index of the target; `None` in a sweep, whose files are compared together.
    pub(super) target: Option<TargetIndex>,
}

impl RankingKey {
    /// The key of a trial that is compared with others on the same target or, with `on_all`, on all
    /// targets.
    pub(super) fn from_trial(trial: &Trial, on_all: bool) -> RankingKey {
        let target = (!on_all).then_some(trial.target);
        RankingKey { state: trial.state, work: trial.work, decodes: trial.decodes, target }
    }
}

#[derive(Debug, Clone)]
pub(super) struct RankingBlock {
    pub(super) key: RankingKey,
    pub(super) rows: Vec<RankingRow>,
    /// Number of rankings that had a reading before this one; `None` before its first reading.
    pub(super) begun_before: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standings {
    /// The fastest rows, the fastest first.
    pub(super) best: Vec<RowFigures>,
    /// Number of rows with readings, among the fastest or not.
    pub(super) measured: usize,
    /// Number of rows without valid readings, because their trials were not measured.
    pub(super) not_measured: usize,
    /// Whether the figures are from readings of a search.
    pub(super) of_search: bool,
}

impl RankingBlock {
    /// Whether the ranking holds only readings of a search so far.
    fn is_of_search(&self) -> bool {
        !self.rows.iter().any(RankingRow::is_measured)
            && self.rows.iter().any(|row| row.median_ns(true).is_some())
    }

    /// The `most` fastest rows. Intervals are computed only for these.
    pub(super) fn standings(&self, most: usize) -> Standings {
        let of_search = self.is_of_search();
        let mut best = match self.key.target {
            Some(_) => self.rows_by_median(of_search, most),
            None => self.rows_by_rate(),
        };
        let measured = match self.key.target {
            Some(_) => self.rows.iter().filter(|row| row.median_ns(of_search).is_some()).count(),
            None => best.len(),
        };
        best.truncate(most);
        Standings {
            best,
            measured,
            not_measured: self.rows.iter().filter(|row| row.is_not_measured).count(),
            of_search,
        }
    }

    fn rows_by_median(&self, of_search: bool, most: usize) -> Vec<RowFigures> {
        let medians = self.rows.iter().filter_map(|row| Some((row.median_ns(of_search)?, row)));
        let mut rows: Vec<(f64, &RankingRow)> = medians.collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        // The rungs of a search are not rounds that all trials share.
        let readings = rows.iter().filter(|_| !of_search).map(|(_, row)| &row.walls);
        let shared = SharedVariance::new(readings);
        let figures = |(at, (_, row)): (usize, &(f64, &RankingRow))| {
            let figures = row.figures(of_search)?;
            let by_shared_noise = || Some(shared.location(at)?.ci95?.ends);
            Some(RowFigures { ends_ns: figures.ends_ns.or_else(by_shared_noise), ..figures })
        };
        rows.iter().take(most).enumerate().filter_map(figures).collect()
    }

    fn rows_by_rate(&self) -> Vec<RowFigures> {
        let mut all: Vec<RowFigures> = self.rows.iter().filter_map(RankingRow::figures_of_files).collect();
        all.sort_by(|a, b| b.speed().total_cmp(&a.speed()));
        all
    }
}

/// The readings of one trial; in a sweep, of all files by one method.
#[derive(Debug, Clone, Default)]
pub(super) struct RankingRow {
    /// Name of the trial, safe to print.
    pub(super) name: String,
    /// Wall times of the readings that are reported.
    walls: Vec<Observation>,
    /// Wall times of a search, which are shown until there are reported readings.
    searched: Vec<Observation>,
    /// Values of the shown meters in the reported readings.
    metered: BTreeMap<Meter, Vec<f64>>,
    /// Bytes of one reading; 0 if a rate would be meaningless.
    pub(super) bytes_each: u64,
    /// Total bytes of all reported readings.
    bytes: u64,
    /// Whether the trial was not measured, so that its readings do not count.
    is_not_measured: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct RowFigures {
    pub(super) name: String,
    /// Median of the readings; in a sweep, their mean.
    pub(super) time: Nanos,
    /// The 95 % interval of the median; `None` with a single round, and for files of a sweep.
    pub(super) ends_ns: Option<Interval>,
    pub(super) readings: usize,
    /// Bytes over that time; `None` if the trial reads nothing.
    pub(super) rate: Option<Throughput>,
    /// Medians of the shown meters.
    pub(super) metered: BTreeMap<Meter, f64>,
}

impl RankingRow {
    pub(super) fn new(name: String) -> RankingRow {
        RankingRow { name, ..RankingRow::default() }
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

    /// Takes the outcome of the row's trial.
    pub(super) fn end(&mut self, outcome: &Outcome) {
        self.is_not_measured = *outcome != Outcome::Measured;
    }

    /// Whether the row has readings that are reported.
    fn is_measured(&self) -> bool {
        !self.is_not_measured && !self.walls.is_empty()
    }

    fn walls(&self, of_search: bool) -> &[Observation] {
        if of_search { &self.searched } else { &self.walls }
    }

    /// Median of the row's readings, in nanoseconds; `None` if no reading counts.
    fn median_ns(&self, of_search: bool) -> Option<f64> {
        let walls = self.walls(of_search).iter().map(|wall| wall.value);
        stats::median(walls).filter(|_| !self.is_not_measured)
    }

    /// Figures of the row's readings; `None` if no reading counts.
    fn figures(&self, of_search: bool) -> Option<RowFigures> {
        let time = nanos(self.median_ns(of_search)?);
        let walls = self.walls(of_search);
        let ends_ns = stats::median_interval(walls, Confidence::REPORTED);
        let has_rate = self.bytes_each > 0 && time.0 > 0;
        let rate = has_rate.then(|| Throughput::per(Bytes(self.bytes_each), time));
        let (name, readings) = (self.name.clone(), walls.len());
        Some(RowFigures { name, time, ends_ns, readings, rate, metered: self.medians() })
    }

    /// Joint figures of the row's readings of different files; `None` if no reading counts.
    fn figures_of_files(&self) -> Option<RowFigures> {
        let timed_ns: f64 = self.walls.iter().map(|wall| wall.value).sum();
        let figures = RowFigures {
            name: self.name.clone(),
            time: nanos(timed_ns / self.walls.len().max(1) as f64),
            ends_ns: None,
            readings: self.walls.len(),
            rate: (self.bytes > 0).then(|| Throughput::per(Bytes(self.bytes), nanos(timed_ns))),
            metered: self.medians(),
        };
        (!self.walls.is_empty()).then_some(figures)
    }

    fn medians(&self) -> BTreeMap<Meter, f64> {
        let median = |counted: &Vec<f64>| stats::median(counted.iter().copied());
        self.metered.iter().filter_map(|(meter, counted)| Some((*meter, median(counted)?))).collect()
    }
}

impl RowFigures {
    /// Half-width of the interval, divided by the time.
    pub(super) fn precision(&self) -> Option<f64> {
        Some(self.ends_ns?.half_width() / self.time.0.max(1) as f64)
    }

    /// The precision in percent, or why there is none.
    pub(super) fn precision_words(&self) -> String {
        match (self.precision(), self.readings) {
            (Some(share), _) => format!("±{:.0} %", share * 100.0),
            (None, 1) => ONE_READING.to_owned(),
            (None, _) => "–".to_owned(),
        }
    }

    /// The ends of the time; `None` if their precision says more.
    pub(super) fn wide_time(&self) -> Option<String> {
        wide_time(self.time, self.ends_ns?)
    }

    /// The ends of the rate, or of the time where there is no rate; `None` if their precision says
    /// more.
    pub(super) fn wide_speed(&self) -> Option<String> {
        match self.rate {
            Some(rate) => wide_rate(rate, self.time, self.ends_ns?),
            None => self.wide_time(),
        }
    }

    pub(super) fn speed(&self) -> f64 {
        self.rate.map_or(1.0 / self.time.as_secs_f64().max(1e-9), |rate| rate.0)
    }
}

fn nanos(ns: f64) -> Nanos {
    Nanos::from_secs_f64(ns / 1e9)
}
