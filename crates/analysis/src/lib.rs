//! The analysis of recorded samples: comparisons of records, verdicts, and the statistics of the
//! crate `readlab_stats`. Pure: no files, clocks or processes.

pub mod compare;
pub mod file_cost;
pub mod fleet;
pub mod latency;
pub mod locations;
pub mod memory;
pub mod noise;
pub mod readers;
mod rounds;
pub mod scaling;
pub mod settings;
pub mod verdict;

pub use readlab_stats as stats;
pub use rounds::Estimate;
