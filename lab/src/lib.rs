//! The laboratory: it measures how programs read files, and knows no way of reading.
//!
//! The modules in the order of one measurement; who may know whom is checked by `tests/house.rs`.

pub mod machine;
pub mod record;
pub mod report;
pub mod stats;
pub mod target;
pub mod trial;
pub mod units;
