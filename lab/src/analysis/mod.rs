//! The analysis of recorded samples: statistics, comparisons of records, verdicts. Pure: no files,
//! clocks or processes.

pub mod compare;
pub mod file_cost;
pub mod fleet;
pub mod latency;
pub mod readers;
pub mod scaling;
pub mod stats;
pub mod verdict;
