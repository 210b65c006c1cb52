//! Figure: a file of 2 GiB through every method of every contender in a control group of 256 MiB. A
//! method may fail with a reason if it needs more memory. A wrong number, or a lab that is killed
//! too, is an error.

use crate::control_group::{Group, Limit};
use crate::outcomes;
use crate::programs::{Programs, Race};
use crate::row::Row;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::Record;
use std::path::Path;

pub(super) const ABOUT: &str =
    "memory: 2 GiB through every method within 256 MiB; answers checked; needs root and control groups";

const FILE: Bytes = Bytes(2 << 30);
const LIMIT: Bytes = Bytes(256 << 20);
const ONCE: [&str; 12] =
    ["--method", "*", "--work", "discard", "--warmup", "0", "--runs", "1", "--fills", "1", "--budget", "20m"];

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE)?;
    Ok(vec![outcomes::row(format!("{FILE} within {LIMIT}"), race(programs, &file))])
}

fn race(programs: &Programs, file: &Path) -> anyhow::Result<Record> {
    let group = Group::with(Limit::Memory(LIMIT), "memory")?;
    let race = Race { name: "memory", trials: &[], file, state: Some(CacheState::Cold), options: &ONCE };
    let running = programs.start(&race)?;
    // At its very start: whatever it starts is born in the group.
    group.take(running.id())?;
    running.record()
}
