//! One case of a comparison: a trial on one target with its numbers, and the key that must agree
//! before the numbers of two cases are compared.

use super::measure::{Measure, Unit};
use crate::noise::SharedNoise;
use crate::stats::{
    self, Interval, IntervalRule, IntervalWithRule, LogMedian, Observation, Ratio, SharedRatio, Significance,
};
use readlab_model::target::memory::MemoryBound;
use readlab_model::trial::{CacheState, Params, Transport, TrialIndex, Work};
use readlab_record::Outcome;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A trial on one target, or the trials of several targets with the same content, merged into one.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The name that is shown: a suite's label, or the trial's name.
    pub name: String,
    /// The names by which the case is matched with cases of other sides.
    pub names: BTreeSet<String>,
    pub key: ComparisonKey,
    pub figures: BTreeMap<Measure, Figure>,
    /// The noise shared by all cases of the same record and state, for times and rates.
    pub noise: BTreeMap<Measure, CaseNoise>,
    /// Why the case has no numbers, if it was refused, failed or unavailable.
    pub why_unmeasured: Option<Outcome>,
}

/// A case and the shared noise that its intervals are computed from.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseNoise {
    pub shared: Arc<SharedNoise>,
    /// The index of the case in the shared noise: its trial, or the first trial of several that are
    /// one case.
    pub trial: TrialIndex,
}

impl CaseNoise {
    /// The estimated number with its interval; `None` with a single round.
    pub fn estimate(&self) -> Option<(f64, IntervalWithRule)> {
        let location = self.shared.location(self.trial)?;
        Some((location.estimate_ns, location.ci95?))
    }

    /// This case's number divided by that of another case, within rounds; `None` if the other case
    /// is of another record or state, and if no round holds both.
    pub fn ratio_to(&self, to: &CaseNoise) -> Option<SharedRatio> {
        // [`SharedNoise::ratio`] divides the reference's number by the trial's, so the arguments
        // are swapped.
        let is_shared = Arc::ptr_eq(&self.shared, &to.shared);
        self.shared.ratio(to.trial, self.trial).filter(|_| is_shared)
    }
}

impl Case {
    /// The case's number for a measure, with its interval; `None` where the case lacks that
    /// measure.
    pub fn cell(&self, measure: Measure, center: Center) -> Option<Cell> {
        let cell = self.figures.get(&measure)?.cell(center);
        let shared = self.noise.get(&measure).filter(|_| center == Center::Median);
        Some(match shared.and_then(CaseNoise::estimate) {
            Some((value, ci95)) => Cell { value, ci95: Some(ci95.ends), rule: Some(ci95.rule), ..cell },
            None => cell,
        })
    }

    pub(super) fn has_figure(&self, name: &str, measure: Measure) -> bool {
        self.names.contains(name) && self.figures.contains_key(&measure)
    }
}

/// What must agree before numbers are compared; a field that is `None` is not known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ComparisonKey {
    /// The path or URL of the target.
    #[serde(rename = "target")]
    pub path: Option<String>,
    /// The transport: files, HTTP or another.
    #[serde(skip)]
    pub transport: Option<Transport>,
    pub digest: Option<String>,
    pub size_bytes: Option<u64>,
    pub work: Option<Work>,
    pub state: Option<CacheState>,
    /// The bound on memory under which the target was read; `None` in other states than pressed.
    #[serde(skip)]
    pub memory_bound: Option<MemoryBound>,
    /// Number of readers that each read the whole target in one reading.
    #[serde(skip)]
    pub reader_count: Option<u64>,
    #[serde(skip)]
    pub concurrent_readers: Option<ConcurrentReaders>,
    /// Whether cold readings may come from a cache below the page cache; `None` in other states,
    /// and where the layers below are not known.
    #[serde(skip)]
    pub is_above_cache: Option<bool>,
    /// The values of all parameters, defaults included.
    #[serde(skip)]
    pub params: Option<Params>,
}

/// How many ranks or processes read at the same time, and whether each read a copy of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConcurrentReaders {
    pub count: u32,
    /// Whether each had its own copy of the target.
    pub has_copies: bool,
}

impl std::fmt::Display for ConcurrentReaders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = if self.has_copies { " of copies" } else { "" };
        write!(f, "{}{of}", self.count)
    }
}

/// A number of a case, with its samples where they are known.
#[derive(Debug, Clone, PartialEq)]
pub enum Figure {
    Samples(Vec<Observation>),
    /// A published number without its samples.
    Value {
        value: f64,
        statistic: Statistic,
        /// The published scatter of the readings.
        spread: Spread,
    },
}

/// The published scatter of readings without samples; a field that is `None` is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    pub sd: Option<f64>,
    /// Number of readings.
    pub reading_count: Option<u64>,
    pub percentiles: Option<Percentiles>,
}

/// The percentiles that are published and shown.
pub const PERCENTS: [u8; 7] = [0, 25, 50, 75, 90, 99, 100];

/// The values of the percentiles in [`PERCENTS`], in the same order.
pub type Percentiles = [f64; PERCENTS.len()];

/// Which centre of the readings is compared: their median or their mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Center {
    /// The median, with its interval
    #[default]
    Median,
    /// The mean, with its standard deviation, as most publications give it
    Mean,
}

/// Which statistic a number without samples is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    Mean,
    Median,
    /// A count from a separate run.
    Count,
    Slope,
    /// The maximum.
    Most,
}

impl Figure {
    /// A number without samples and without a known scatter.
    pub fn of_value(value: f64, statistic: Statistic) -> Figure {
        Figure::Value { value, statistic, spread: Spread::default() }
    }

    /// The median of the samples, or the published number.
    pub fn value(&self) -> f64 {
        match self {
            Figure::Value { value, .. } => *value,
            Figure::Samples(observations) => {
                stats::median(observations.iter().map(|it| it.value)).unwrap_or(f64::NAN)
            }
        }
    }

    /// Whether the figure is a published mean. A mean is compared only with means.
    pub(super) fn is_mean(&self) -> bool {
        matches!(self, Figure::Value { statistic: Statistic::Mean, .. })
    }

    /// The number that is compared, with its interval.
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
                student(*value, spread.sd, spread.reading_count, *statistic)
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

    /// The published percentiles, or those of the samples.
    fn percentiles(&self) -> Option<Percentiles> {
        match self {
            Figure::Value { spread, .. } => spread.percentiles,
            Figure::Samples(observations) => {
                let sorted = stats::sorted(observations.iter().map(|it| it.value));
                Some(PERCENTS.map(|percent| stats::quantile(&sorted, f64::from(percent) / 100.0)))
            }
        }
    }
}

// One number of one side. A field that is `None` is not known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Cell {
    // The median or mean of the samples, or the published number.
    pub value: f64,
    #[serde(serialize_with = "Interval::serialize_ends")]
    #[schemars(with = "Option<[f64; 2]>")]
    pub ci95: Option<Interval>,
    #[serde(rename = "interval")]
    pub rule: Option<IntervalRule>,
    /// Number of readings.
    pub n: Option<usize>,
    // Standard deviation of the readings; `None` for a median.
    pub sd: Option<f64>,
    /// Percentiles by names such as `p50`.
    #[serde(serialize_with = "serialize_percentiles")]
    #[schemars(with = "Option<BTreeMap<String, f64>>")]
    pub percentiles: Option<Percentiles>,
    // `None` for a median of samples, which is serialized as `median`.
    #[serde(serialize_with = "serialize_statistic")]
    #[schemars(with = "Statistic")]
    pub statistic: Option<Statistic>,
    // `None` on the first side, where the first side lacks the number, and between a mean and a
    // median.
    #[serde(serialize_with = "serialize_ratio")]
    #[schemars(with = "Option<CellRatio>")]
    pub ratio: Option<Ratio>,
}

/// How many times as good this number is as that of the first side.
#[derive(Serialize, JsonSchema)]
struct CellRatio {
    estimate: f64,
    #[serde(serialize_with = "Interval::serialize_ends")]
    #[schemars(with = "Option<[f64; 2]>")]
    ci95: Option<Interval>,
    /// The rule by which both numbers' intervals were computed; `null` if two different rules were
    /// used.
    #[serde(rename = "interval")]
    rule: Option<IntervalRule>,
    #[serde(rename = "clear")]
    significance: Option<Significance>,
}

fn serialize_percentiles<S: Serializer>(all: &Option<Percentiles>, serializer: S) -> Result<S::Ok, S::Error> {
    let names = PERCENTS.map(|percent| format!("p{percent}"));
    all.map(|values| names.into_iter().zip(values).collect::<BTreeMap<_, _>>()).serialize(serializer)
}

fn serialize_statistic<S: Serializer>(it: &Option<Statistic>, serializer: S) -> Result<S::Ok, S::Error> {
    it.unwrap_or(Statistic::Median).serialize(serializer)
}

fn serialize_ratio<S: Serializer>(it: &Option<Ratio>, serializer: S) -> Result<S::Ok, S::Error> {
    let ratio = |it: Ratio| {
        let clear = it.significance();
        CellRatio { estimate: it.estimate, ci95: it.ci95, rule: it.rule, significance: clear }
    };
    it.map(ratio).serialize(serializer)
}

impl Cell {
    /// How many times as good as `base` this number is; `None` if the quotient means nothing.
    pub(super) fn ratio_to(&self, base: &Cell, measure: Measure) -> Option<Ratio> {
        if self.is_of_other_statistic(base) || self.has_no_quotient(base) {
            return None;
        }
        let log_of = |it: &Cell| LogMedian::from_estimate(it.value, it.ci95, it.rule);
        let (own, base) = (log_of(self), log_of(base));
        Some(if measure.unit() == Unit::BytesPerSecond { own.over(&base) } else { base.over(&own) })
    }

    /// Whether one number is a mean and the other a median.
    pub(super) fn is_of_other_statistic(&self, base: &Cell) -> bool {
        let is_mean = |it: &Cell| it.statistic == Some(Statistic::Mean);
        let is_median = |it: &Cell| matches!(it.statistic, None | Some(Statistic::Median));
        is_mean(self) && is_median(base) || is_median(self) && is_mean(base)
    }

    /// Whether one number is 0 or less, as a count or a fitted cost may be, and the other is not the
    /// same. Two zeros are equal, so their ratio is 1.
    pub(super) fn has_no_quotient(&self, base: &Cell) -> bool {
        let are_zero = self.value == 0.0 && base.value == 0.0;
        self.value.min(base.value) <= 0.0 && !are_zero
    }
}
