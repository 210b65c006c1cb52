//! Experiments: planning, executing, resuming, and watching them while they run.

pub mod experiment;
pub mod live;
