//! The only place where time passes: states of the cache, made and proven; meters; rounds.

pub mod cache;
pub mod residency;
