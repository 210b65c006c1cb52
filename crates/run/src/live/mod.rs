//! What a run shows while it measures: on a terminal the ranking as it grows, elsewhere one line
//! after each round.
//!
//! `view` holds what is known, from the lines of the record and the steps of the run; `render`
//! makes lines of it, for a terminal of any size. Both know no terminal. [`display`] draws the
//! lines, between readings only. The final tables are in `readlab_report`.

mod block;
pub mod display;
mod now;
mod render;
#[cfg(test)]
mod tests;
mod view;

pub use display::{Live, Shown};
