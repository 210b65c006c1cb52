//! Statistics of plain numbers: intervals, ratios, ranks, interim analyses, searches and fits. No
//! files and no clocks. A number comes with its round and its fill of the page cache
//! ([`Observation`]); the crate knows nothing else about what was measured.
//!
//! No number is left out; outliers are only counted. A reported interval has 95 % confidence, or 99
//! % for a ratio in a race that ended because of its readings, and is `None` where there are too
//! few numbers: a single trial or a single pair needs five, trials of a state that share their
//! noise need two ([`SharedVariance`]). The same numbers give the same results: resampling uses a
//! fixed seed.
//!
//! Simulations count how often an interval holds the true value. In the tests of each commit, long
//! simulations run a tenth of their draws, with a bound that allows for the larger chance error.
//! The modules `ring2` run all draws.

mod changepoint;
mod difference;
mod fills;
mod interim;
mod interval;
mod noise;
mod noise_model;
mod number;
mod observation;
mod over_pairs;
mod paired;
mod ratio;
mod regression;
mod scalability;
mod search;
mod shared_variance;
mod sign_test;
mod signed_rank;
#[cfg(test)]
mod simulation;
mod spread;
mod stopping;
mod stopping_race;
mod student;
mod summary;
#[cfg(test)]
mod testing;
mod turns;
mod two_groups;
mod two_way;
mod unpaired;

pub use changepoint::{Steadiness, Trend, steadiness};
pub use difference::{Difference, difference};
pub use fills::{FillMedian, FillSpread, fill_spread};
pub use interval::{Confidence, Interval, IntervalRule, IntervalWithRule};
pub use noise::{NoiseKind, SeededRandom};
pub use noise_model::{ModelCoverage, NoiseModel, TrueMedians};
pub use number::{count_as_float, float, mean, sorted, whole};
pub use observation::Observation;
pub use ratio::{Ratio, Significance, ratio_interval};
pub use regression::{
    AbsoluteErrors, FittedLine, LeastSquares, RelativeErrors, TheilSen, least_squares, theil_sen,
    theil_sen_intervals, weighted_least_squares,
};
pub use scalability::{FittedLaw, LAW_ROUNDS_MIN, READER_COUNTS_MIN, ScalabilityLaw};
pub use search::{EXHAUSTIVE_READINGS_PER_CANDIDATE, PredictedRatio, Search, SearchRules, SearchSetting};
pub use shared_variance::{SharedLocation, SharedRatio, SharedVariance};
pub use sign_test::median_interval;
pub use stopping::{Indifference, Stop, find_stops};
pub use stopping_race::{RaceAverages, TrueTimes};
pub use student::{interval_of_mean, mean_and_sd, mean_interval};
pub use summary::{Outliers, Summary, count_summary, median, precision, quantile, summary};
pub use two_groups::{TwoGroups, two_groups};
pub use unpaired::LogMedian;

/// With fewer observations than this, there is no interval.
pub const OBSERVATIONS_MIN: usize = 5;
