//! One ranking while it grows. Each row holds the readings of a trial and their results so far.
//! Only trials that the final tables also compare share a ranking.

use readlab_analysis::stats::{self, Confidence, Interval, Observation, SharedVariance};
use readlab_model::sample::{Meter, Sample};
use readlab_model::target::TargetIndex;
use readlab_model::trial::{CacheState, Work};
use readlab_model::units::{Bytes, Nanos, Throughput};
use readlab_protocol::Archive;
use readlab_record::{Outcome, Trial};
use readlab_report::{LiveColumn, ONE_READING, wide_rate_words, wide_time_words};
use std::collections::BTreeMap;

/// Properties that all trials of one ranking share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RankingKey {
    pub(super) state: CacheState,
    pub(super) work: Work,
    /// The archive that the trials decode; `None` if they read the bytes as they are.
    pub(super) decoded_archive: Option<Archive>,
    /// Index of the target; `None` in a sweep, whose files are compared together.
    pub(super) target: Option<TargetIndex>,
}

impl RankingKey {
    /// The key of a trial that is compared with others on the same target or, in a sweep, on all
    /// targets.
    pub(super) fn from_trial(trial: &Trial, is_sweep: bool) -> RankingKey {
        let target = (!is_sweep).then_some(trial.target);
        RankingKey { state: trial.state, work: trial.work, decoded_archive: trial.decoded_format, target }
    }
}

#[derive(Debug, Clone)]
pub(super) struct RankingBlock {
    pub(super) key: RankingKey,
    pub(super) rows: Vec<RankingRow>,
    /// Number of rankings that had a reading before this one; `None` before its first reading.
    pub(super) earlier_ranking_count: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standings {
    /// The fastest rows, the fastest first.
    pub(super) best_rows: Vec<RowFigures>,
    /// Number of rows with readings, among the fastest or not.
    pub(super) measured_count: usize,
    /// Number of rows without valid readings, because their trials were not measured.
    pub(super) not_measured_count: usize,
    /// Whether the figures are from readings of a search.
    pub(super) is_of_search: bool,
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
            best_rows: best,
            measured_count: measured,
            not_measured_count: self.rows.iter().filter(|row| row.is_not_measured).count(),
            is_of_search: of_search,
        }
    }

    fn rows_by_median(&self, of_search: bool, most: usize) -> Vec<RowFigures> {
        let medians = self.rows.iter().filter_map(|row| Some((row.median_ns(of_search)?, row)));
        let mut rows: Vec<(f64, &RankingRow)> = medians.collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        // The rungs of a search are not rounds that all trials share.
        let readings = rows.iter().filter(|_| !of_search).map(|(_, row)| &row.reported_walls);
        let shared = SharedVariance::new(readings);
        let figures = |(at, (_, row)): (usize, &(f64, &RankingRow))| {
            let figures = row.figures(of_search)?;
            let by_shared_noise = || Some(shared.location(at)?.ci95?.ends);
            Some(RowFigures { interval_ns: figures.interval_ns.or_else(by_shared_noise), ..figures })
        };
        rows.iter().take(most).enumerate().filter_map(figures).collect()
    }

    fn rows_by_rate(&self) -> Vec<RowFigures> {
        let mut all: Vec<RowFigures> = self.rows.iter().filter_map(RankingRow::joint_figures).collect();
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
    reported_walls: Vec<Observation>,
    /// Wall times of the readings of a search, which are shown until there are reported readings.
    search_walls: Vec<Observation>,
    /// Values of the shown meters in the reported readings.
    meter_values: BTreeMap<Meter, Vec<f64>>,
    /// Bytes of one reading; 0 if a rate would be meaningless.
    pub(super) reading_bytes: u64,
    /// Total bytes of all reported readings.
    total_bytes: u64,
    /// Whether the trial was not measured, so that its readings do not count.
    is_not_measured: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct RowFigures {
    pub(super) name: String,
    /// Median of the readings; in a sweep, their mean.
    pub(super) time: Nanos,
    /// The 95 % interval of the median; `None` with a single round, and for the files of a sweep.
    pub(super) interval_ns: Option<Interval>,
    pub(super) reading_count: usize,
    /// Bytes divided by time; `None` if a rate would be meaningless.
    pub(super) rate: Option<Throughput>,
    /// Medians of the shown meters.
    pub(super) meter_medians: BTreeMap<Meter, f64>,
}

impl RankingRow {
    pub(super) fn new(name: String) -> RankingRow {
        RankingRow { name, ..RankingRow::default() }
    }

    pub(super) fn add_sample(&mut self, sample: &Sample, columns: &[LiveColumn]) {
        if sample.rung.is_some() {
            self.search_walls.push(sample.into());
        } else {
            self.reported_walls.push(sample.into());
            self.total_bytes = self.total_bytes.saturating_add(self.reading_bytes);
            for meter in columns.iter().map(|column| column.meter) {
                let counted = sample.observation(meter).map(|it| it.value);
                self.meter_values.entry(meter).or_default().extend(counted);
            }
        }
    }

    pub(super) fn set_outcome(&mut self, outcome: &Outcome) {
        self.is_not_measured = *outcome != Outcome::Measured;
    }

    /// Whether the row has readings that are reported, and its trial did not end without a result.
    fn is_measured(&self) -> bool {
        !self.is_not_measured && !self.reported_walls.is_empty()
    }

    fn shown_walls(&self, of_search: bool) -> &[Observation] {
        if of_search { &self.search_walls } else { &self.reported_walls }
    }

    /// Median of the row's readings, in nanoseconds; `None` if no reading counts.
    fn median_ns(&self, of_search: bool) -> Option<f64> {
        let walls = self.shown_walls(of_search).iter().map(|wall| wall.value);
        stats::median(walls).filter(|_| !self.is_not_measured)
    }

    /// Figures of the row's readings; `None` if no reading counts.
    fn figures(&self, of_search: bool) -> Option<RowFigures> {
        let time = rounded_nanos(self.median_ns(of_search)?);
        let walls = self.shown_walls(of_search);
        let interval_ns = stats::median_interval(walls, Confidence::REPORTED);
        let has_rate = self.reading_bytes > 0 && time.0 > 0;
        let rate = has_rate.then(|| Throughput::per(Bytes(self.reading_bytes), time));
        let (name, reading_count) = (self.name.clone(), walls.len());
        Some(RowFigures { name, time, interval_ns, reading_count, rate, meter_medians: self.meter_medians() })
    }

    /// Joint figures of the row's readings of different files; `None` if no reading counts.
    fn joint_figures(&self) -> Option<RowFigures> {
        let timed_ns: f64 = self.reported_walls.iter().map(|wall| wall.value).sum();
        let figures = RowFigures {
            name: self.name.clone(),
            time: rounded_nanos(timed_ns / self.reported_walls.len().max(1) as f64),
            interval_ns: None,
            reading_count: self.reported_walls.len(),
            rate: (self.total_bytes > 0)
                .then(|| Throughput::per(Bytes(self.total_bytes), rounded_nanos(timed_ns))),
            meter_medians: self.meter_medians(),
        };
        (!self.reported_walls.is_empty()).then_some(figures)
    }

    fn meter_medians(&self) -> BTreeMap<Meter, f64> {
        let median = |counted: &Vec<f64>| stats::median(counted.iter().copied());
        self.meter_values.iter().filter_map(|(meter, counted)| Some((*meter, median(counted)?))).collect()
    }
}

impl RowFigures {
    /// Half the width of the interval, divided by the time; `None` without an interval.
    pub(super) fn precision(&self) -> Option<f64> {
        Some(self.interval_ns?.half_width() / self.time.0.max(1) as f64)
    }

    /// The precision in percent, or that there is one reading only, or a dash.
    pub(super) fn precision_words(&self) -> String {
        match (self.precision(), self.reading_count) {
            (Some(share), _) => format!("±{:.0} %", share * 100.0),
            (None, 1) => ONE_READING.to_owned(),
            (None, _) => "–".to_owned(),
        }
    }

    /// The ends of the time's interval as text; `None` if the interval is so narrow that its
    /// precision is shown instead.
    pub(super) fn wide_time_text(&self) -> Option<String> {
        wide_time_words(self.time, self.interval_ns?)
    }

    /// The ends of the interval of the rate as text, or of the time if there is no rate; `None` if
    /// the precision is shown instead.
    pub(super) fn wide_speed_text(&self) -> Option<String> {
        match self.rate {
            Some(rate) => wide_rate_words(rate, self.time, self.interval_ns?),
            None => self.wide_time_text(),
        }
    }

    /// Bytes per second; readings per second if there is no rate.
    pub(super) fn speed(&self) -> f64 {
        self.rate.map_or(1.0 / self.time.as_secs_f64().max(1e-9), |rate| rate.0)
    }
}

fn rounded_nanos(ns: f64) -> Nanos {
    Nanos::from_secs_f64(ns / 1e9)
}
