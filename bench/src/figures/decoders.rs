//! Figure: decoders beside the programs of their formats, on lines out of the page cache: what such
//! a program takes by the lab and by a plain clock around it, and how fast our method is beside it.
//!
//! The programs test the file (`gzip -t`): they decode, check, and write nothing, as our methods do
//! with the work `discard`. zstd also has a benchmark of its own, in memory; beside it stands the
//! control `decoder`. Their libraries may be older than ours.

use crate::pairs;
use crate::programs::{Programs, Race};
use crate::row::Row;
use anyhow::{Context, ensure};
use readlab_model::trial::{COMMAND, CacheState};
use readlab_model::units::{Bytes, Nanos};
use readlab_protocol::Archive;
use readlab_record::{Record, TrialRecord};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

pub(super) const ABOUT: &str = "decoders: beside gzip, zstd, lz4, xz, bzip2 and brotli: what the lab and a clock say they take, and ours";

const CONTENT: Bytes = Bytes(64 << 20);
const PAIRS: usize = 7;
const RUNS: usize = 5;
/// How far the lab's time of a program may be from that of a plain clock.
const CLOCK: f64 = 0.03;

/// A format, and the program that tests such a file.
const TESTS: [(Archive, &str); 6] = [
    (Archive::Gzip, "gzip -t"),
    (Archive::Zstd, "zstd -q -t"),
    (Archive::Lz4, "lz4 -q -t"),
    (Archive::Xz, "xz -t"),
    (Archive::Bzip2, "bzip2 -t"),
    (Archive::Brotli, "brotli -t"),
];

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (archive, test) in TESTS {
        let found = beside(programs, archive, test);
        rows.extend(found.unwrap_or_else(|error| vec![Row::failed(format!("{archive}: {test}"), &error)]));
    }
    let in_memory = "zstd -b ÷ control decoder, time in memory";
    rows.push(in_memory_zstd(programs, in_memory).unwrap_or_else(|error| Row::failed(in_memory, &error)));
    Ok(rows)
}

/// A program by the lab and by a clock, and our method beside it.
fn beside(programs: &Programs, archive: Archive, test: &str) -> anyhow::Result<Vec<Row>> {
    let file = programs.packed_lines(CONTENT, archive)?;
    let (command, method) = (format!("{test} {{}}"), format!("rust/{archive}"));
    let (mut by_clock, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..programs.repeats(PAIRS) {
        let clock_ns = clock(test, &file)?;
        let its = race(programs, &file, &["--check", "none", "--command", &command])?;
        by_clock.push((median(&its, |trial| trial.trial.contender() == COMMAND)?, clock_ns));
        let own = race(programs, &file, &["--work", "discard", "--method", &method])?;
        ours.push((clock_ns, median(&own, |trial| trial.trial.contender() != COMMAND)?));
    }
    let (by_clock, ours) = (pairs::ratio(&by_clock), pairs::ratio(&ours));
    let figure = format!("time of {test}, by the lab ÷ by a clock");
    let ok = by_clock.within(CLOCK);
    Ok(vec![
        Row::judged(figure, "within 3 %", by_clock.estimate, ok, by_clock.words()).with(by_clock.ci95),
        Row::unjudged(format!("{test} ÷ {method}, warm"), ours.estimate, ours.words()).with(ours.ci95),
    ])
}

fn race(programs: &Programs, file: &Path, words: &[&str]) -> anyhow::Result<Record> {
    let runs = RUNS.to_string();
    let options = [&["--runs", &runs, "--fills", &runs, "--budget", "5m"], words].concat();
    let state = Some(CacheState::Warm);
    programs.race(&Race { name: "decoders", trials: &[], file, state, options: &options })
}

/// The median time of the one measured trial of this kind that decodes or is a command.
fn median(record: &Record, is_it: impl Fn(&TrialRecord) -> bool) -> anyhow::Result<f64> {
    let mut trials = record.trials.iter().filter(|it| it.is_measured() && !it.trial.is_control());
    let found = trials.find(|it| is_it(it)).context("it was not measured")?;
    Ok(pairs::wall_ns(found))
}

/// The median time of a program, from before its start until after its end.
fn clock(test: &str, file: &Path) -> anyhow::Result<f64> {
    let (program, words) = test.split_once(' ').context("a program and its words")?;
    let mut taken_ns = Vec::new();
    for _ in 0..=RUNS {
        let mut command = Command::new(program);
        command.args(words.split(' ')).arg(file).stdin(Stdio::null()).stdout(Stdio::null());
        let begun = Instant::now();
        let ended = command.status().with_context(|| program.to_owned())?;
        taken_ns.push(Nanos::from(begun.elapsed()).0);
        ensure!(ended.success(), "{command:?} ended with {ended}");
    }
    // The first brings the file into the cache.
    Ok(pairs::median(&pairs::floats(taken_ns.into_iter().skip(1))))
}

/// What the benchmark of zstd says beside the control on the same file.
fn in_memory_zstd(programs: &Programs, figure: &str) -> anyhow::Result<Row> {
    let (plain, file) = (programs.lines(CONTENT)?, programs.packed_lines(CONTENT, Archive::Zstd)?);
    let mut found = Vec::new();
    for _ in 0..programs.repeats(PAIRS) {
        let theirs_ns = CONTENT_MB / benchmark_mb_per_s(&plain)? * 1e9;
        let record = race(programs, &file, &["--work", "discard", "--method", "rust/zstd"])?;
        let is_decoder = |it: &&TrialRecord| it.trial.method() == "decoder" && it.is_measured();
        let control = record.trials.iter().find(is_decoder).context("the control was not measured")?;
        found.push((theirs_ns, pairs::wall_ns(control)));
    }
    let ratio = pairs::ratio(&found);
    Ok(Row::unjudged(figure, ratio.estimate, ratio.words()).with(ratio.ci95))
}

/// The content in the unit of the benchmark.
const CONTENT_MB: f64 = (64 << 20) as f64 / 1e6;

/// `zstd -b FILE` compresses and decodes, and prints ` 3#NAME : 400 -> 100 (x4.00), 200.5 MB/s,
/// 1234.5 MB/s`, decoding last. It does not decode files whose heads have no size.
fn benchmark_mb_per_s(file: &Path) -> anyhow::Result<f64> {
    let mut command = Command::new("zstd");
    command.args(["-b3", "-i2"]).arg(file).stdin(Stdio::null());
    let done = command.output().context("zstd (a Debian package) cannot be started")?;
    ensure!(done.status.success(), "zstd ended with {}", done.status);
    let told = [done.stdout, done.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    rate_in(&told).with_context(|| format!("zstd told no rate: {told:?}"))
}

/// The last number before `MB/s`.
fn rate_in(told: &str) -> Option<f64> {
    let (before, _) = told.rsplit_once("MB/s")?;
    before.split_whitespace().last()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rate_counts() {
        let told = "\r 3#lines.zst : 100 -> 400 (4.000), 1000.5 MB/s \r 3#lines.zst : 1234.5 MB/s \n";
        assert_eq!(rate_in(told), Some(1234.5));
        assert_eq!(rate_in("no rate"), None);
    }
}
