//! Figure: the time of the first ring of tests where everything is built: its parts, and its
//! longest tests.
//!
//! `tests/times.sh` measures it with a clock. The fifty longest lines of its output are the rows.

use crate::programs::{Programs, output};
use crate::row::Row;
use anyhow::{Context, ensure};
use std::path::Path;
use std::process::Command;

pub(super) const ABOUT: &str = "the first ring of tests where all is built, and its longest tests";

const RING_S_MAX: f64 = 300.0;
/// The parts of the first ring, as the Makefile names them.
const PARTS: [&str; 5] = ["format", "lints", "build", "ring1", "examples"];

pub(super) fn measure(_: &Programs) -> anyhow::Result<Vec<Row>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the bench is in the workspace")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    for words in ["clippy --workspace --all-targets -- -D warnings", "test --workspace --no-run"] {
        output(Command::new(&cargo).args(words.split(' ')).current_dir(root))?;
    }
    let times = || parse(&output(&mut Command::new(root.join("tests/times.sh")))?);
    let mut found = times()?;
    // In the first run, tests may still build contenders.
    if total(&found)? > RING_S_MAX {
        found = times()?;
    }
    let row = |(seconds, name): &(f64, String)| Row::unjudged(name, *seconds, format!("{seconds:.1} s"));
    let total = Row::judged_seconds("first ring, built", Some(RING_S_MAX), &[total(&found)?]);
    Ok(std::iter::once(total).chain(found.iter().map(row)).collect())
}

/// The seconds of parts and tests, the longest first.
fn parse(text: &str) -> anyhow::Result<Vec<(f64, String)>> {
    let line = |line: &str| {
        let (seconds, name) = line.split_once(' ')?;
        Some((seconds.parse().ok()?, name.to_owned()))
    };
    text.lines().map(|text| line(text).with_context(|| format!("no seconds and name: {text}"))).collect()
}

/// The sum of the parts. A part that is shorter than the fiftieth line is not included.
fn total(times: &[(f64, String)]) -> anyhow::Result<f64> {
    let parts: Vec<f64> = times
        .iter()
        .filter(|(_, name)| PARTS.contains(&name.as_str()))
        .map(|(seconds, _)| *seconds)
        .collect();
    ensure!(!parts.is_empty(), "no part is among the longest");
    Ok(parts.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_summed_and_tests_are_not() {
        let times = parse("80.50 ring1\n9.25 lints\n3.000 cli::race::x\n").unwrap();
        assert_eq!(times.len(), 3);
        assert_eq!(total(&times).unwrap(), 89.75);
        assert!(total(&times[2..]).is_err());
        assert!(parse("lints").is_err() && parse("x lints").is_err());
    }
}
