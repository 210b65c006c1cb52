//! What is measured: works, answers, trials and their names, targets, samples and their meters.

pub mod sample;
pub mod target;
pub mod trial;
pub mod units;
