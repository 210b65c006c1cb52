//! Statistics of samples: medians with intervals, ratios, lines, steady states. Uses no files and
//! no clocks.
//!
//! Every number that a table or a page shows is computed here from the record's samples, and
//! nowhere else; nothing is dropped on the way, outliers are only counted. An interval is always at
//! 95 %, and `None` where there are too few samples to draw one. Randomness comes from a seed that
//! the caller takes from the record, so that the same record gives the same page.

mod bootstrap;
mod changepoint;
mod fills;
mod ratio;
mod regression;
mod search;
mod student;
mod summary;
#[cfg(test)]
pub(crate) mod testing;
mod unpaired;

pub use bootstrap::{Bootstrap, Interval, OBSERVATIONS_MIN, Observation};
pub use changepoint::{Steadiness, Trend, steadiness};
pub use fills::{FillMedian, FillSpread, fill_spread};
pub use ratio::{Ratio, Significance, ratio};
pub use regression::{FittedLine, LeastSquares, least_squares, theil_sen};
pub use search::{EXHAUSTIVE_READINGS, Search, SearchRules};
pub use summary::{Outliers, Summary, median, precision, quantile, summary, wall, whole_processors};
pub use unpaired::{LogMedian, UnpairedRatio};
