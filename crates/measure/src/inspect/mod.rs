//! Inspection of what happens inside a trial, in untimed runs: flame graphs and traces of read
//! calls.

pub mod profile;
pub mod trace;
