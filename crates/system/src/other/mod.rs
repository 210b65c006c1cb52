//! Systems on which readlab does not measure: what is needed to keep, judge and show records.

pub mod open_file;
pub mod unnamed_file;
