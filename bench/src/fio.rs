//! Runs fio for comparison: one sequential O_DIRECT reading of a whole file, reads of blocks at
//! random places, or all files of a folder one after the other, and fio's report of it.

use anyhow::Context;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Lets fio read a file once with these arguments; returns its report of the reads.
pub(crate) fn read(file: &Path, words: &[&str]) -> anyhow::Result<Value> {
    run(&filename(file), &[&["--rw=read", "--direct=1"], words].concat())
}

/// Lets fio read blocks at random places of a file with these arguments; returns its report of the
/// reads.
pub(crate) fn read_places(file: &Path, words: &[&str]) -> anyhow::Result<Value> {
    run(&filename(file), &[&["--rw=randread"], words].concat())
}

/// Lets fio read all files below a folder, one after the other, in blocks of this size from the
/// page cache; returns its report of the reads.
pub(crate) fn read_files(folder: &Path, block_bytes: usize) -> anyhow::Result<Value> {
    let block = format!("--bs={block_bytes}");
    let one_by_one = ["--file_service_type=sequential", "--openfiles=1", "--invalidate=0"];
    let words = [&["--rw=read", "--ioengine=psync", &block], &one_by_one[..]].concat();
    run(&format!("--opendir={}", folder.display()), &words)
}

fn filename(file: &Path) -> String {
    format!("--filename={}", file.display())
}

fn run(target: &str, words: &[&str]) -> anyhow::Result<Value> {
    let mut command = Command::new("fio");
    command.args(["--name=read", "--readonly", "--output-format=json"]);
    command.args(words).arg(target);
    let done = command.stdin(Stdio::null()).output().context("fio (a Debian package) cannot be started")?;
    anyhow::ensure!(done.status.success(), "fio ended with {}", done.status);
    // It says before that it has found files.
    let begin = done.stdout.iter().position(|byte| *byte == b'{').unwrap_or_default();
    let mut told: Value = serde_json::from_slice(&done.stdout[begin..]).context("what fio says")?;
    Ok(told["jobs"][0]["read"].take())
}
