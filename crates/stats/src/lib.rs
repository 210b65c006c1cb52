//! Numbers in, numbers out: intervals, ratios, ranks, looks, searches, fits. No files, no clocks,
//! and nothing of what was measured: a number has its place in the rounds ([`Observation`]) and no
//! other context.
//!
//! No number is dropped; outliers are only counted. A reported interval is at 95 %, and `None`
//! where there are too few numbers for one: five are needed of one trial or of one pair, two where
//! all trials of a state show their noise together ([`SharedVariance`]). The same numbers give the
//! same results: what resamples has a seed.
//!
//! Simulations count how often an interval holds the true value. Those that take long draw a tenth
//! in the tests of each commit, with a bound that leaves room for the chance of fewer draws, and
//! everything in a module `ring2`.

mod changepoint;
mod difference;
mod fills;
mod interval;
mod looks;
mod noise;
mod number;
mod observation;
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
pub use interval::{Confidence, Interval, IntervalRule, RuledInterval};
pub use noise::{Noise, NoiseKind};
pub use number::{count, float, whole};
pub use observation::Observation;
pub use ratio::{Ratio, Significance, ratio_at};
pub use regression::{
    AbsoluteErrors, FittedLine, LeastSquares, RelativeErrors, TheilSen, least_squares, theil_sen,
    theil_sen_intervals, weighted_least_squares,
};
pub use scalability::{COUNTS_MIN, FittedLaw, LAW_ROUNDS_MIN, Law};
pub use search::{Behind, EXHAUSTIVE_READINGS, Search, SearchRules, Setting};
pub use shared_variance::{SharedLocation, SharedRatio, SharedVariance};
pub use sign_test::median_interval;
pub use stopping::{Indifference, Stop, stops};
pub use student::{interval_of_mean, mean_and_sd, mean_interval};
pub use summary::{Outliers, Summary, count_summary, median, precision, quantile, summary};
pub use two_groups::{TwoGroups, two_groups};
pub use unpaired::{LogMedian, UnpairedRatio};

/// Fewer observations than this have no interval.
pub const OBSERVATIONS_MIN: usize = 5;
