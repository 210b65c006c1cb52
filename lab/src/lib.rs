//! The laboratory: it measures how programs read files, and knows no way of reading.
//!
//! The modules in the order of one measurement; who may know whom is checked by `tests/house.rs`.

pub mod cli;
pub mod commands;
pub mod compare;
pub mod contender;
pub mod corpus;
pub mod doctor;
pub mod folder;
pub mod history;
pub mod interrupt;
pub mod limits;
pub mod machine;
pub mod measure;
pub mod notice;
pub mod perf;
pub mod presence;
pub mod printable;
pub mod profile;
pub mod progress;
pub mod published;
pub mod record;
pub mod report;
pub mod scratch;
pub mod server;
pub mod snippet;
pub mod space;
pub mod stats;
pub mod suite;
pub mod sweep;
pub mod target;
pub mod trace;
pub mod trial;
pub mod units;
pub mod verdict;
