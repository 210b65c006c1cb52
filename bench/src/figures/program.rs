//! Figure: the size of the program that `make dist` ships, and the time of `readlab --help`.

use crate::pairs;
use crate::programs::Programs;
use crate::row::Row;
use anyhow::Context;
use readlab_model::units::{Bytes, Nanos};
use std::time::Instant;

pub(super) const ABOUT: &str =
    "program: size of the stripped program of 'make dist', time of 'readlab --help'";

const SIZE_MAX: Bytes = Bytes(15 << 20);
const HELP_MAX: Nanos = Nanos(10_000_000);
const REPEATS: usize = 51;

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let size = size(programs).unwrap_or_else(|error| Row::failed("stripped program", &error));
    Ok(vec![size, help(programs)?])
}

fn size(programs: &Programs) -> anyhow::Result<Row> {
    let program = programs.folder().with_file_name("dist").join("readlab");
    let about = program.metadata().with_context(|| format!("{}: 'make dist' makes it", program.display()))?;
    let size = Bytes(about.len());
    #[expect(clippy::cast_precision_loss, reason = "megabytes")]
    Ok(Row::judged(
        "stripped program",
        &format!("below {SIZE_MAX}"),
        size.0 as f64,
        size < SIZE_MAX,
        size.to_string(),
    ))
}

fn help(programs: &Programs) -> anyhow::Result<Row> {
    let mut walls = Vec::new();
    for _ in 0..REPEATS {
        let start = Instant::now();
        programs.help()?;
        walls.push(Nanos::from(start.elapsed()).0);
    }
    let median = pairs::median(&pairs::floats(walls));
    let words = Nanos::from_secs_f64(median / 1e9).to_string();
    let within = Nanos::from_secs_f64(median / 1e9) < HELP_MAX;
    Ok(Row::judged("readlab --help, median", &format!("below {HELP_MAX}"), median, within, words))
}
