//! Runs fio for comparison: one sequential O_DIRECT reading of a whole file, or reads of blocks at
//! random places, and fio's report of it.

use anyhow::Context;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Lets fio read a file once with these arguments; returns its report of the reads.
pub(crate) fn read(file: &Path, words: &[&str]) -> anyhow::Result<Value> {
    run(file, &[&["--rw=read", "--direct=1"], words].concat())
}

/// Lets fio read blocks at random places of a file with these arguments; returns its report of the
/// reads.
pub(crate) fn read_places(file: &Path, words: &[&str]) -> anyhow::Result<Value> {
    run(file, &[&["--rw=randread"], words].concat())
}

fn run(file: &Path, words: &[&str]) -> anyhow::Result<Value> {
    let mut command = Command::new("fio");
    command.args(["--name=read", "--readonly", "--output-format=json"]);
    command.args(words).arg(format!("--filename={}", file.display()));
    let done = command.stdin(Stdio::null()).output().context("fio (a Debian package) cannot be started")?;
    anyhow::ensure!(done.status.success(), "fio ended with {}", done.status);
    let mut told: Value = serde_json::from_slice(&done.stdout).context("what fio says")?;
    Ok(told["jobs"][0]["read"].take())
}
