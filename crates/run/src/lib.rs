//! An experiment: planned, executed, resumed, and watched while it runs.

pub mod experiment;
pub mod live;
