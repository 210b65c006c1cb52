//! What is looked at inside a trial, in runs that nobody times: flame graphs and traces of read
//! calls.

pub mod profile;
pub mod trace;
