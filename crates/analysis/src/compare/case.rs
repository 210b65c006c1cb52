//! One case of a comparison: a way of reading on one target with its numbers, and what must agree
//! before the numbers of two cases are compared.

use super::measure::{Measure, Unit};
use crate::noise::SharedNoise;
use crate::stats::{
    self, Interval, IntervalRule, LogMedian, Observation, RuledInterval, SharedRatio, UnpairedRatio,
};
use readlab_model::trial::{CacheState, Params, Transport, TrialIndex, Work};
use readlab_record::Outcome;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One way of reading on one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// What it is called: a suite's label, or the trial's name.
    pub name: String,
    pub names: BTreeSet<String>,
    pub key: ComparisonKey,
    pub figures: BTreeMap<Measure, Figure>,
    /// The noise that it shows together with all cases of its record and state, for times and rates.
    pub noise: BTreeMap<Measure, CaseNoise>,
    /// Why it has none, if it was refused, failed or unavailable.
    pub unmeasured: Option<Outcome>,
}

/// A case among those that show their noise together.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseNoise {
    pub shared: Arc<SharedNoise>,
    /// By which it is found among them: its trial, or the first of those that are one case.
    pub trial: TrialIndex,
}

impl CaseNoise {
    /// The number with its interval; `None` with a single round.
    pub fn location(&self) -> Option<(f64, RuledInterval)> {
        let location = self.shared.location(self.trial)?;
        Some((location.estimate_ns, location.ci95?))
    }

    /// How many times another number this one is, within rounds; `None` where the other is not of
    /// the same record and state, and where no round holds both.
    pub fn over(&self, to: &CaseNoise) -> Option<SharedRatio> {
        // The ratio is that of the reference's number to the trial's.
        let is_shared = Arc::ptr_eq(&self.shared, &to.shared);
        self.shared.ratio(to.trial, self.trial).filter(|_| is_shared)
    }
}

impl Case {
    /// The number by which a measure is compared, and what is known of it; `None` where it has none.
    pub fn cell(&self, measure: Measure, center: Center) -> Option<Cell> {
        let cell = self.figures.get(&measure)?.cell(center);
        let shared = self.noise.get(&measure).filter(|_| center == Center::Median);
        Some(match shared.and_then(CaseNoise::location) {
            Some((value, ci95)) => Cell { value, ci95: Some(ci95.ends), rule: Some(ci95.rule), ..cell },
            None => cell,
        })
    }

    /// Whether it has this name, and this number.
    pub(super) fn has(&self, name: &str, measure: Measure) -> bool {
        self.names.contains(name) && self.figures.contains_key(&measure)
    }
}

/// What must agree before numbers are compared; `None` is not known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ComparisonKey {
    pub path: Option<String>,
    /// Over what its bytes came.
    pub over: Option<Transport>,
    pub digest: Option<String>,
    pub size_bytes: Option<u64>,
    pub work: Option<Work>,
    /// Where they were.
    pub state: Option<CacheState>,
    /// Readers that each read the whole of it in one reading.
    pub readers: Option<u64>,
    pub together: Option<ReadTogether>,
    /// Whether cold is cold above a cache; `None` for another state, and where no layers are
    /// known.
    pub is_above_cache: Option<bool>,
    /// Every parameter in force.
    pub params: Option<Params>,
}

/// The ranks or processes that read at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadTogether {
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
    Samples(Vec<Observation>),
    /// Only the number is known.
    Value {
        value: f64,
        statistic: Statistic,
        /// How its readings scattered, where that was published.
        spread: Spread,
    },
}

/// How readings scattered of which only numbers were published; `None` is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    pub sd: Option<f64>,
    /// How many readings there were.
    pub runs: Option<u64>,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    Mean,
    Median,
    /// Counted once, in a run of its own.
    Count,
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
    pub(super) fn is_mean(&self) -> bool {
        matches!(self, Figure::Value { statistic: Statistic::Mean, .. })
    }

    /// The number by which it is compared, and what is known of it.
    pub fn cell(&self, center: Center) -> Cell {
        let percentiles = self.percentiles();
        let student = |value: f64, sd: Option<f64>, n: Option<u64>, statistic: Statistic| {
            let is_mean = statistic == Statistic::Mean;
            let ci95 =
                sd.zip(n).filter(|_| is_mean).and_then(|(sd, n)| stats::interval_of_mean(value, sd, n));
            let (rule, n) = (ci95.map(|_| IntervalRule::Student), n.and_then(|n| usize::try_from(n).ok()));
            Cell { value, ci95, rule, n, sd, statistic: Some(statistic), percentiles, ratio: None }
        };
        match (self, center) {
            (Figure::Value { value, statistic, spread }, _) => {
                student(*value, spread.sd, spread.runs, *statistic)
            }
            (Figure::Samples(observations), Center::Mean) => {
                let values: Vec<f64> = observations.iter().map(|it| it.value).collect();
                let (value, sd) = stats::mean_and_sd(&values);
                student(value, sd, Some(values.len() as u64), Statistic::Mean)
            }
            (Figure::Samples(observations), Center::Median) => {
                let logs = LogMedian::from_observations(observations);
                let ci95 = logs.and_then(|logs| logs.ci95).map(|ends| ends.map(f64::exp));
                let (value, n) = (self.value(), Some(observations.len()));
                let rule = ci95.map(|_| IntervalRule::SignTest);
                Cell { value, ci95, rule, n, sd: None, statistic: None, percentiles, ratio: None }
            }
        }
    }

    /// Those that were published, or those of the samples.
    fn percentiles(&self) -> Option<Percentiles> {
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

/// One number on one side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// The median, or the number without samples.
    pub value: f64,
    /// Its 95 % interval.
    pub ci95: Option<Interval>,
    /// By which rule that was made.
    pub rule: Option<IntervalRule>,
    /// How many readings; `None` where that is not known.
    pub n: Option<usize>,
    /// Their standard deviation, beside a mean; `None` where that is not known.
    pub sd: Option<f64>,
    /// What it is where it is no median of samples.
    pub statistic: Option<Statistic>,
    /// Percentiles of the readings; `None` where they are not known.
    pub percentiles: Option<Percentiles>,
    /// How many times as good as the first side; `None` on the first side, where that has no
    /// number, and of a mean beside a median.
    pub ratio: Option<UnpairedRatio>,
}

impl Cell {
    /// How many times as good as another one it is; `None` of a mean and a median, whose quotient
    /// means nothing.
    pub(super) fn ratio_to(&self, base: &Cell, measure: Measure) -> Option<UnpairedRatio> {
        let is_mean = |it: &Cell| it.statistic == Some(Statistic::Mean);
        let is_median = |it: &Cell| matches!(it.statistic, None | Some(Statistic::Median));
        if is_mean(self) && is_median(base) || is_median(self) && is_mean(base) {
            return None;
        }
        let log = |value: f64| value.max(1.0).ln();
        let log_of = |it: &Cell| LogMedian { value: log(it.value), ci95: it.ci95.map(|ends| ends.map(log)) };
        let (own, base) = (log_of(self), log_of(base));
        Some(if measure.unit() == Unit::BytesPerSecond { own.over(&base) } else { base.over(&own) })
    }
}
