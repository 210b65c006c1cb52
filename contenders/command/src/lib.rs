//! Any command line as a contender.

mod answer;
mod execution;
mod template;
