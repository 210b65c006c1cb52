//! Figure: the release build in a fresh clone, without anything built before: its time, the longest
//! chain of crates that wait for each other, and the crates that take longest.
//!
//! The clone is of the last commit. Sources of crates may be in cargo's cache; what is downloaded
//! is the network's time.

use crate::programs::Programs;
use crate::row::Row;
use anyhow::{Context, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

pub(super) const ABOUT: &str =
    "build: the release in a fresh clone: total, longest chain of crates, slowest crates";

const TOTAL_S: f64 = 120.0;
const SLOWEST: usize = 8;
/// What stands before the units in cargo's report of timings, and ends them.
const UNITS: &str = "const UNIT_DATA = ";
const END: &str = ";\n";

/// One crate, or its build script, as cargo timed it.
#[derive(Debug, Clone, Deserialize)]
struct Unit {
    i: usize,
    name: String,
    target: String,
    duration: f64,
    /// Units that could start when this one had ended.
    #[serde(default, alias = "unblocked_units")]
    unlocked_units: Vec<usize>,
    /// Units that could start when its interface was known.
    #[serde(default, alias = "unblocked_rmeta_units")]
    unlocked_rmeta_units: Vec<usize>,
    rmeta_time: Option<f64>,
}

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let folder = programs.folder().join("fresh-clone");
    let built = built(&folder);
    let _ = fs::remove_dir_all(&folder);
    let (seconds, units) = built?;
    let mut rows = vec![
        Row::judged("release build", "at most 120 s", seconds, seconds <= TOTAL_S, format!("{seconds:.0} s")),
        chain(&units),
    ];
    let mut slowest: Vec<&Unit> = units.iter().collect();
    slowest.sort_by(|a, b| b.duration.total_cmp(&a.duration));
    let row = |unit: &&Unit| {
        let name = format!("{}{}", unit.name, unit.target.trim_end());
        Row::unjudged(name, unit.duration, format!("{:.1} s", unit.duration))
    };
    rows.extend(slowest.iter().take(SLOWEST).map(row));
    Ok(rows)
}

/// The time of the build, and its units.
fn built(folder: &Path) -> anyhow::Result<(f64, Vec<Unit>)> {
    let _ = fs::remove_dir_all(folder);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the bench lies in the workspace")?;
    run(Command::new("git").args(["clone", "--quiet"]).arg(root).arg(folder))?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut fetch = Command::new(&cargo);
    run(fetch.args(["fetch", "--quiet", "--locked"]).current_dir(folder))?;
    let mut build = Command::new(&cargo);
    build.args(["build", "--release", "--quiet", "--locked", "--timings", "--package", "readlab"]);
    build.current_dir(folder).env("CARGO_TARGET_DIR", folder.join("target"));
    let start = Instant::now();
    run(&mut build)?;
    let seconds = start.elapsed().as_secs_f64();
    let report = PathBuf::from(folder).join("target/cargo-timings/cargo-timing.html");
    let text = fs::read_to_string(&report).with_context(|| report.display().to_string())?;
    Ok((seconds, units(&text)?))
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().display().to_string();
    let status = command.status().with_context(|| program.clone())?;
    if !status.success() {
        bail!("{program} ended with {status}");
    }
    Ok(())
}

/// The units of cargo's report.
fn units(report: &str) -> anyhow::Result<Vec<Unit>> {
    let after = report.split_once(UNITS).context("cargo's report of timings has another form")?.1;
    let list = after.split_once(END).map_or(after, |(list, _)| list);
    serde_json::from_str(list).context("cargo's report of timings")
}

/// The longest chain of units of which each waits for the one before, as if there were processors
/// for all.
fn chain(units: &[Unit]) -> Row {
    let by_number: BTreeMap<usize, &Unit> = units.iter().map(|unit| (unit.i, unit)).collect();
    let mut known = BTreeMap::new();
    let longest = units.iter().map(|unit| from(unit, &by_number, &mut known)).fold(0.0, f64::max);
    Row::unjudged("longest chain of crates", longest, format!("{longest:.0} s"))
}

/// The time from the start of a unit to the end of all that waits for it.
fn from(unit: &Unit, all: &BTreeMap<usize, &Unit>, known: &mut BTreeMap<usize, f64>) -> f64 {
    if let Some(found) = known.get(&unit.i) {
        return *found;
    }
    let mut longest = unit.duration;
    let interface_s = unit.rmeta_time.unwrap_or(unit.duration);
    for (after, waits) in [(unit.duration, &unit.unlocked_units), (interface_s, &unit.unlocked_rmeta_units)] {
        for next in waits.iter().filter_map(|number| all.get(number)) {
            longest = longest.max(after + from(next, all, known));
        }
    }
    known.insert(unit.i, longest);
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"<script>
const UNIT_DATA = [
  {"i": 0, "name": "a", "version": "1", "mode": "todo", "target": "", "start": 0.0, "duration": 4.0, "rmeta_time": 1.0, "unlocked_units": [], "unlocked_rmeta_units": [1]},
  {"i": 1, "name": "b", "version": "1", "mode": "todo", "target": " bin", "start": 1.0, "duration": 5.0, "rmeta_time": null, "unlocked_units": [2], "unlocked_rmeta_units": []},
  {"i": 2, "name": "c", "version": "1", "mode": "todo", "target": "", "start": 6.0, "duration": 0.5, "rmeta_time": null, "unlocked_units": [], "unlocked_rmeta_units": []}
];
const CONCURRENCY_DATA = [];
"#;

    #[test]
    fn a_chain_begins_with_an_interface_and_goes_on_with_whole_crates() {
        let units = units(REPORT).unwrap();
        assert_eq!(units.len(), 3);
        assert_eq!(chain(&units).value, Some(6.5));
        assert!(super::units("<html>").is_err());
    }
}
