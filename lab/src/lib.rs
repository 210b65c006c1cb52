//! The lab: it measures how programs read files, and contains no way of reading.
//!
//! `tests/house.rs` holds the rooms and which of them may use which.

pub mod analysis;
pub mod claims;
pub mod commands;
pub mod contender;
pub mod corpus;
pub mod experiment;
pub mod fleet;
pub mod folder;
pub mod linux;
pub mod live;
pub mod machine;
pub mod markup;
pub mod measure;
pub mod record;
pub mod report;
pub mod suite;
pub mod target;
pub mod terminal;
pub mod trial;
pub mod units;
pub mod verify;
