//! The live view of a run: on a terminal the growing rankings, elsewhere lines about rounds.
//!
//! `view` holds the state of the run, from the lines of the record and the steps of the run;
//! `render` makes lines from it, for a terminal of any size. Neither uses a terminal. [`display`]
//! draws the lines, only between readings. The final tables are in `readlab_report`.

mod block;
pub mod display;
mod now;
mod render;
#[cfg(test)]
mod tests;
mod view;

pub use display::{LiveView, ShownProgress};
