//! One case of a comparison: a way of reading on one target with its numbers, and what must agree
//! before the numbers of two cases are compared.

use super::measure::Measure;
use crate::stats::{
    self, Interval, IntervalRule, LogMedian, Observation, RuledInterval, SharedRatio, SharedVariance,
};
use readlab_model::trial::{CacheState, Params, Transport, Work};
use readlab_record::Outcome;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One way of reading on one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// What it is called: a suite's label, or the trial's name.
    pub name: String,
    /// Everything that it is called.
    pub names: BTreeSet<String>,
    /// What must agree before numbers are compared.
    pub key: ComparisonKey,
    /// Its numbers.
    pub figures: BTreeMap<Measure, Figure>,
    /// The noise that it shows together with all cases of its record and state, for times and rates.
    pub noise: BTreeMap<Measure, CaseNoise>,
    /// Why it has none, if it was refused, failed or unavailable.
    pub unmeasured: Option<Outcome>,
}

/// A case among those that show their noise together.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseNoise {
    pub shared: Arc<SharedVariance>,
    /// Its place among them.
    pub place: usize,
}

impl CaseNoise {
    /// The number with its interval; `None` with a single round.
    pub fn location(&self) -> Option<(f64, RuledInterval)> {
        let location = self.shared.location(self.place)?;
        Some((location.estimate_ns, location.ci95?))
    }

    /// How many times another number this one is, within rounds; `None` where the other is not of
    /// the same record and state, and where no round holds both.
    pub fn over(&self, to: &CaseNoise) -> Option<SharedRatio> {
        // The ratio is that of the reference's number to the trial's.
        let is_shared = Arc::ptr_eq(&self.shared, &to.shared);
        self.shared.ratio(to.place, self.place).filter(|_| is_shared)
    }
}

impl Case {
    /// The number by which a measure is compared, and what is known of it; `None` where it has none.
    pub fn located(&self, measure: Measure, center: Center) -> Option<Located> {
        let located = self.figures.get(&measure)?.located(center);
        let shared = self.noise.get(&measure).filter(|_| center == Center::Median);
        Some(match shared.and_then(CaseNoise::location) {
            Some((value, ci95)) => Located { value, ci95: Some(ci95.ends), rule: Some(ci95.rule), ..located },
            None => located,
        })
    }
}

/// What must agree before numbers are compared; `None` is not known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ComparisonKey {
    /// Where the target was.
    pub path: Option<String>,
    /// Over what its bytes came.
    pub over: Option<Transport>,
    /// Digest of its content.
    pub digest: Option<String>,
    /// Its size.
    pub size_bytes: Option<u64>,
    /// What was done with the bytes.
    pub work: Option<Work>,
    /// Where they were.
    pub state: Option<CacheState>,
    /// Readers that each read the whole of it in one reading.
    pub readers: Option<u64>,
    /// Who read it at the same time.
    pub together: Option<ReadTogether>,
    /// Whether cold is cold above a cache; `None` for another state, and in records of before that
    /// was found out.
    pub is_above_cache: Option<bool>,
    /// Every parameter in force.
    pub params: Option<Params>,
}

/// The ranks or processes that read at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadTogether {
    /// How many they were.
    pub count: u32,
    /// Whether each had a copy of its own.
    pub has_copies: bool,
}

impl std::fmt::Display for ReadTogether {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = if self.has_copies { " of copies" } else { "" };
        write!(f, "{}{of}", self.count)
    }
}

/// A number, with what it comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Figure {
    /// Raw samples.
    Samples(Vec<Observation>),
    /// Only the number is known.
    Value {
        /// The number.
        value: f64,
        /// What it is.
        statistic: Statistic,
        /// How its readings scattered, where that was published.
        spread: Spread,
    },
}

/// How readings scattered of which only numbers were published; `None` is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    /// Standard deviation.
    pub sd: Option<f64>,
    /// How many readings there were.
    pub runs: Option<u64>,
    /// The percentiles of [`PERCENTS`].
    pub percentiles: Option<Percentiles>,
}

/// The percentiles that are published and shown.
pub const PERCENTS: [u8; 7] = [0, 25, 50, 75, 90, 99, 100];

/// The values of [`PERCENTS`], in this order.
pub type Percentiles = [f64; PERCENTS.len()];

/// By which number readings are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Center {
    /// The median, with its interval
    #[default]
    Median,
    /// The mean, with its standard deviation, as most publications give it
    Mean,
}

/// What a number without samples is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// Arithmetic mean of several readings.
    Mean,
    /// Median of several readings.
    Median,
    /// Counted once, in a run of its own.
    Count,
    /// Slope of a regression line.
    Slope,
    /// The largest.
    Most,
}

impl Figure {
    /// A number of which nothing else is known.
    pub fn of_value(value: f64, statistic: Statistic) -> Figure {
        Figure::Value { value, statistic, spread: Spread::default() }
    }

    /// The median, or the single number.
    pub fn value(&self) -> f64 {
        match self {
            Figure::Value { value, .. } => *value,
            Figure::Samples(observations) => {
                stats::median(observations.iter().map(|it| it.value)).unwrap_or(f64::NAN)
            }
        }
    }

    /// Whether it is a published mean, with which only means are compared.
    pub fn is_mean(&self) -> bool {
        matches!(self, Figure::Value { statistic: Statistic::Mean, .. })
    }

    /// The number by which it is compared, and what is known of it.
    pub fn located(&self, center: Center) -> Located {
        match (self, center) {
            (Figure::Value { value, statistic, spread }, _) => {
                let is_mean = *statistic == Statistic::Mean;
                let ends = spread.sd.zip(spread.runs).filter(|_| is_mean);
                let ci95 = ends.and_then(|(sd, runs)| stats::interval_of_mean(*value, sd, runs));
                let n = spread.runs.and_then(|runs| usize::try_from(runs).ok());
                let rule = ci95.map(|_| IntervalRule::Student);
                Located { value: *value, ci95, rule, n, sd: spread.sd, statistic: Some(*statistic) }
            }
            (Figure::Samples(observations), Center::Median) => {
                let logs = LogMedian::from_observations(observations);
                let ci95 = logs.and_then(|logs| logs.ci95).map(|ends| ends.map(f64::exp));
                let (rule, n) = (ci95.map(|_| IntervalRule::SignTest), Some(observations.len()));
                Located { value: self.value(), ci95, rule, n, sd: None, statistic: None }
            }
            (Figure::Samples(observations), Center::Mean) => {
                let values: Vec<f64> = observations.iter().map(|it| it.value).collect();
                let (value, sd) = stats::mean_and_sd(&values);
                let runs = values.len() as u64;
                let ci95 = sd.and_then(|sd| stats::interval_of_mean(value, sd, runs));
                let (rule, n) = (ci95.map(|_| IntervalRule::Student), Some(values.len()));
                Located { value, ci95, rule, n, sd, statistic: Some(Statistic::Mean) }
            }
        }
    }

    /// Its percentiles: those that were published, or those of the samples.
    pub fn percentiles(&self) -> Option<Percentiles> {
        match self {
            Figure::Value { spread, .. } => spread.percentiles,
            Figure::Samples(observations) => {
                let mut sorted: Vec<f64> = observations.iter().map(|it| it.value).collect();
                sorted.sort_unstable_by(f64::total_cmp);
                Some(PERCENTS.map(|percent| stats::quantile(&sorted, f64::from(percent) / 100.0)))
            }
        }
    }
}

/// The number by which a figure is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Located {
    /// The number.
    pub value: f64,
    /// Its 95 % interval, where there is one.
    pub ci95: Option<Interval>,
    /// By which rule that was made.
    pub rule: Option<IntervalRule>,
    /// How many readings there were; `None` where that is not known.
    pub n: Option<usize>,
    /// Their standard deviation; `None` where that is not known, and beside a median.
    pub sd: Option<f64>,
    /// What the number is where it is no median of samples.
    pub statistic: Option<Statistic>,
}

impl Located {
    /// Whether a quotient of the two means something: a mean and a median are not compared.
    pub fn is_comparable(&self, other: &Located) -> bool {
        let is_mean = |it: &Located| it.statistic == Some(Statistic::Mean);
        let is_median = |it: &Located| matches!(it.statistic, None | Some(Statistic::Median));
        !(is_mean(self) && is_median(other) || is_median(self) && is_mean(other))
    }

    /// What it takes part in quotients with.
    pub fn log(&self) -> LogMedian {
        let log = |value: f64| value.max(1.0).ln();
        LogMedian { value: log(self.value), ci95: self.ci95.map(|ends| ends.map(log)) }
    }
}
