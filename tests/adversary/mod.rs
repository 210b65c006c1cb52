//! Tests of attacks that could give a wrong number: contenders with false time, work or memory,
//! caches below the page cache, machines that are too busy, foreign servers and records.
//!
//! Each file has one kind of attack. The table in METHOD.md has a row for each, with its detection
//! and with the attacks that are still not detected.

mod behind_programs;
mod clocks;
mod contract;
mod first_reading;
mod holders;
mod layers;
mod left_behind;
mod mounts;
mod records;
mod servers;
mod slow_servers;
mod verdicts;
