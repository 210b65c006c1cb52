//! An experiment: from the user's options and a suite to a plan, and the record of its execution.

pub mod candidates;
pub mod fio;
pub mod planner;
pub mod recorder;
pub mod sweep;
