//! Everything that tries to get a wrong number past the lab: contenders that lie about time, work
//! or memory, caches below the page cache, machines too busy to measure on, foreign servers and
//! records.
//!
//! One kind of attack a file. The table in METHOD.md has a row for each: how it is caught, and what
//! still cannot be.

mod clocks;
mod contract;
#[path = "../common/fake.rs"]
mod fake;
mod holders;
#[path = "../common/home.rs"]
mod home;
mod layers;
mod left_behind;
mod records;
mod servers;
mod slow_servers;
mod verdicts;
