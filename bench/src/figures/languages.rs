//! Whether the lab tells the time that a contender in another language takes without the lab.
//!
//! In turns: a warm run of the lab, then the contender's own program started by hand on the same file, with as many
//! readings before the clock counts; `readlab request` gives the command, so nothing differs but the lab.

use crate::pairs;
use crate::programs::{Programs, Race};
use crate::row::Row;
use anyhow::{Context, bail};
use readlab::record::Outcome;
use readlab::trial::CacheState;
use readlab::units::Bytes;
use readlab_protocol::Say;
use std::path::Path;
use std::process::{Command, Stdio};

pub(super) const ABOUT: &str =
    "languages: median through the lab ÷ median of the same program started by hand, warm, 64 MiB of lines";

const WAYS: [&str; 6] = [
    "java/BufferedReader@buffer=8192",
    "java/FileInputStream/loop@buffer=8192",
    "java/FileChannel-direct/bulk",
    "swift/read/for-unsafe",
    "swift/data/for-unsafe",
    "swift/dataTask-delegate/for-unsafe",
];

const FILE: Bytes = Bytes(64 << 20);
const PAIRS: usize = 5;
/// Readings before the clock counts, which let a compiler at run time settle.
const WARMUP: &str = "20";
const READINGS: &str = "10";
const TOLERANCE: f64 = 0.03;

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE)?;
    let row = |trial: &&str| {
        compare(programs, &file, trial).unwrap_or_else(|error| Row::failed((*trial).to_owned(), &error))
    };
    Ok(WAYS.iter().map(row).collect())
}

fn compare(programs: &Programs, file: &Path, trial: &str) -> anyhow::Result<Row> {
    let mut found = Vec::new();
    for _ in 0..PAIRS {
        found.push((lab(programs, file, trial)?, alone(programs, file, trial)?));
    }
    let ratio = pairs::ratio(&found);
    let (measured, target) = (ratio.words(), format!("within {:.0} %", TOLERANCE * 100.0));
    Ok(Row::judged(trial, &target, (ratio.estimate, ratio.within(TOLERANCE)), measured).with(ratio.ci95))
}

fn lab(programs: &Programs, file: &Path, trial: &str) -> anyhow::Result<f64> {
    let options = ["--fills", "1", "--warmup", WARMUP, "--runs", READINGS];
    let race =
        Race { name: "languages", trials: &[trial], file, state: Some(CacheState::Warm), options: &options };
    let record = programs.race(&race)?;
    let Some(measured) = record.trials.first() else { bail!("{}", record.warnings.join("; ")) };
    if measured.outcome != Some(Outcome::Measured) {
        bail!("{}", measured.outcome.as_ref().and_then(Outcome::reason).unwrap_or("the run was cut short"));
    }
    Ok(pairs::median(&pairs::floats(measured.samples.iter().map(|sample| sample.wall_ns))))
}

/// The contender's own program, started by a shell as `readlab request` says, told to read as often.
fn alone(programs: &Programs, file: &Path, trial: &str) -> anyhow::Result<f64> {
    let line = programs.request(trial, file)?;
    let line = line.replace("go 0 1", &format!("go {WARMUP} {READINGS}"));
    let done = Command::new("sh").args(["-c", &line]).stdin(Stdio::null()).output().context("sh")?;
    let text = String::from_utf8(done.stdout).context("what the contender says")?;
    let mut walls = Vec::new();
    for line in text.lines() {
        match Say::parse(line)? {
            Say::Sample(sample) => walls.push(sample.wall_ns),
            Say::Failed { reason } | Say::Unavailable { reason } => bail!("{reason}"),
            _ => {}
        }
    }
    Ok(pairs::median(&pairs::floats(walls)))
}
