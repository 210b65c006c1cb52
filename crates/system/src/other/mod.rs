//! Systems that nothing is measured on: what a record needs to be kept, judged and shown.

pub mod open_file;
pub mod unnamed_file;
