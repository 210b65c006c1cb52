//! Figure: whether a reading under a bound on memory is what it claims. The share in memory before
//! each reading must be that of the bound, on several file systems. Two runs of one curve must agree.
//! Bounds that are too small must be said to be what stops a reading. Another process that keeps the
//! file in memory must be named. And places must be read as fast as fio reads them in a group with the
//! same page cache.
//!
//! fio keeps memory of its own in the group, which differs from that of the lab's contender. The limit
//! of its group is therefore changed after each run until its files have the same part of the memory.

use super::beside_fio::fio_reads;
use crate::cases;
use crate::made::Cleanup;
use crate::made::control_group::{self, GroupLimit};
use crate::made::file_system::FileSystem;
use crate::pairs;
use crate::programs::{Programs, Race, end, pressed_trial};
use crate::row::{Row, Share};
use anyhow::Context;
use readlab_analysis::memory::{MemoryCurve, MemoryPoint};
use readlab_analysis::stats::{LogMedian, float};
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::{Outcome, Record, TrialRecord};
use readlab_system::page_cache;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

pub(super) const ABOUT: &str = "readings under a bound on memory: the share in memory, two runs of one curve, verdicts, a foreign reader, and fio";

const FILE_SIZE: Bytes = Bytes(128 << 20);
const PLACES_FILE_SIZE: Bytes = Bytes(1_000_000_000);
const TRIALS: [&str; 4] = [
    "rust/read@buffer=128KiB",
    "rust/mmap",
    "rust/io_uring@buffer=128KiB,depth=16",
    "rust/direct@buffer=1MiB",
];
const PLACES_TRIALS: [&str; 2] = ["rust/places-pread@threads=1", "rust/places-io_uring@depth=16"];
const FILE_SYSTEMS: [(&str, FileSystem); 3] =
    [("ext4", FileSystem::Ext4), ("xfs", FileSystem::Xfs), ("btrfs", FileSystem::Btrfs)];
/// Largest difference of the share in memory from that of the bound.
const SHARE_ERROR_MAX: f64 = 0.05;

/// Number of pairs of runs of one curve, of 20 points each.
const CURVE_PAIRS: usize = 2;
/// Points of each curve: three bounds and two ends.
const CURVE_POINTS: usize = 5;
/// Smallest share of points at which the ratio of two runs must hold 1.
const HOLDING_SHARE_MIN: f64 = 0.95;

/// Ten readings wait for the device, each under a bound that is too small: two methods, five bounds.
const SMALL_BOUNDS: &str = "20%,30%,40%,50%,60%";
const WAITING_TRIALS: [&str; 3] = ["rust/read@buffer=128KiB", "rust/read@buffer=1MiB", "rust/device"];
const RIGHT_SHARE_MIN: f64 = 0.9;

const FOREIGN_RACES: usize = 2;

/// Each block of this file is read once, in random order.
const FIO_FILE_SIZE: Bytes = Bytes(64 << 20);
const BLOCK_BYTES: u64 = 4096;
const FIO_TRIAL: &str = "rust/places-pread@threads=1";
const FIO_PAIRS: usize = 5;
/// Runs of fio before the one that counts. After these, the share in memory is steady.
const FIO_UNTIMED_RUNS: usize = 4;
/// About the memory that fio needs beside the page cache. The first limit contains it.
const FIO_NEED_BYTES: u64 = 8 << 20;
/// The random generator takes every block once, in the same order in each run.
const FIO_OPTIONS: &str = "--name=read --readonly --output-format=json --thread --ioengine=psync --rw=randread --bs=4k \
     --random_generator=lfsr --randrepeat=1 --invalidate=0 --fadvise_hint=0";
const FIO_ERROR_MAX: f64 = 0.05;

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let mut rows: Vec<Row> = FILE_SYSTEMS
        .into_iter()
        .map(|(name, file_system)| Row::or_failed(name, shares_on(programs, name, file_system)))
        .collect();
    rows.push(Row::or_failed("random places", shares_of_places(programs)));
    rows.push(Row::or_failed("two runs of one curve", two_runs(programs)));
    rows.push(Row::or_failed("bounds that are too small", too_small(programs)));
    rows.push(Row::or_failed("a foreign reader", foreign_reader(programs)));
    rows.push(Row::or_failed("beside fio", beside_fio(programs)));
    Ok(rows)
}

fn race(programs: &Programs, file: &Path, trials: &[&str], options: &[&str]) -> anyhow::Result<Record> {
    let state = Some(CacheState::Cold);
    programs.race(&Race { name: "pressed", trials, file, state, options })
}

fn pressed_trials(record: &Record) -> impl Iterator<Item = &TrialRecord> {
    record.trials.iter().filter(|it| it.trial.state == CacheState::Pressed)
}

fn shares_on(programs: &Programs, name: &str, file_system: FileSystem) -> anyhow::Result<Row> {
    let mut cleanup = Cleanup::default();
    let file = file_system.make(&mut cleanup, programs, FILE_SIZE)?;
    let record = race(programs, &file, &TRIALS, &["--memory", "25%,50%,75%", "--runs", "5"])?;
    let figure = format!("{name}: in memory within 5 points of the bound");
    Ok(shares_near_bound(&record).row_at_least(figure, 1.0))
}

fn shares_of_places(programs: &Programs) -> anyhow::Result<Row> {
    let file = programs.lines(PLACES_FILE_SIZE)?;
    let mut options = vec!["--pattern", "random", "--reads", "20000", "--memory", "50%", "--runs", "5"];
    options.extend(PLACES_TRIALS.iter().flat_map(|trial| ["--method", *trial]));
    let record = race(programs, &file, &[], &options)?;
    Ok(shares_near_bound(&record).row_at_least("random places: in memory within 5 points of the bound", 1.0))
}

/// The share of readings that begin with as much of the working set in memory as the bound grants. A
/// trial without a reading counts as one reading that does not.
fn shares_near_bound(record: &Record) -> Share {
    let mut share = Share::default();
    for it in pressed_trials(record) {
        let target = record.target_of(&it.trial);
        let bound = target.and_then(|target| target.memory.as_ref()).map(|memory| memory.share().min(1.0));
        let granted = bound.map(|bound| if it.trial.bypasses_cache() { 0.0 } else { bound });
        if !it.is_measured() {
            share.count(false);
        }
        for sample in &it.samples {
            let found = sample.pressed.map(|proof| proof.before_share).zip(granted);
            share.count(found.is_some_and(|(found, granted)| (found - granted).abs() <= SHARE_ERROR_MAX));
        }
    }
    share
}

/// How often the ratio of the same point in two runs holds 1.
fn two_runs(programs: &Programs) -> anyhow::Result<Row> {
    let file = programs.lines(FILE_SIZE)?;
    let options = ["--memory", "25%,50%,100%", "--runs", "8", "--fills", "8"];
    let race = Race { name: "pressed", trials: &TRIALS, file: &file, state: None, options: &options };
    let mut share = Share::default();
    for _ in 0..programs.repeats(CURVE_PAIRS) {
        let [first, second] = [programs.race(&race)?, programs.race(&race)?];
        let (first_points, second_points) = (points(&first), points(&second));
        for _ in first_points.len()..CURVE_POINTS * TRIALS.len() {
            share.count(false);
        }
        for point in first_points {
            let is_same =
                |other: &&MemoryPoint| (other.level, &other.it.trial.id) == (point.level, &point.it.trial.id);
            let other = second_points.iter().find(is_same);
            let wall = |point: &MemoryPoint| LogMedian::from_observations(&point.it.samples);
            let ratio = other.and_then(|other| Some(wall(other)?.over(&wall(&point)?)));
            share.count(ratio.and_then(|it| it.ci95).is_some_and(|ends| ends.holds(1.0)));
        }
    }
    Ok(share.row_at_least("two runs of one curve: the ratio of a point holds 1", HOLDING_SHARE_MIN))
}

/// How often a reading whose bound was made too small on purpose is said to be stopped by that.
fn too_small(programs: &Programs) -> anyhow::Result<Row> {
    let file = programs.lines(FILE_SIZE)?;
    let record = race(programs, &file, &WAITING_TRIALS, &["--memory", SMALL_BOUNDS, "--runs", "5"])?;
    let is_right =
        |it: &TrialRecord| cases::stops_at(&record, it).is_ok_and(|words| words.starts_with("memory bound"));
    let share: Share = pressed_trials(&record).map(is_right).collect();
    Ok(share.row_at_least("bounds that are too small: the verdict is right", RIGHT_SHARE_MIN))
}

/// The points of all curves.
fn points(record: &Record) -> Vec<MemoryPoint<'_>> {
    MemoryCurve::all(record).into_iter().flat_map(|curve| curve.points).collect()
}

/// How often a process that keeps the file in memory, for which its own group is charged, is named.
fn foreign_reader(programs: &Programs) -> anyhow::Result<Row> {
    let file = programs.lines(FILE_SIZE)?;
    let script = "exec 7<\"$1\"; while :; do cat \"$1\" >/dev/null; done";
    let mut share = Share::default();
    for _ in 0..programs.repeats(FOREIGN_RACES) {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", script, "sh"]).arg(&file).stdin(Stdio::null());
        let mut shell = shell.spawn().context("/bin/sh")?;
        let record = race(programs, &file, &TRIALS[..1], &["--memory", "30%", "--runs", "3"]);
        let name = format!("process {} ", shell.id());
        end(&mut shell);
        let record = record?;
        for it in pressed_trials(&record) {
            let outcome = it.outcome.as_ref().and_then(Outcome::reason);
            let mut reasons = it.rejected.iter().map(|(_, why)| why.as_str()).chain(outcome);
            share.count(reasons.any(|why| why.contains("other control groups") && why.contains(&name)));
        }
    }
    Ok(share.row_at_least("a foreign reader that keeps the file in memory is named", 1.0))
}

/// Reads per second of the lab divided by those of fio, with the same page cache for the same blocks.
fn beside_fio(programs: &Programs) -> anyhow::Result<Row> {
    let mut cleanup = Cleanup::default();
    let (file, cache_bytes) = (programs.lines(FIO_FILE_SIZE)?, FIO_FILE_SIZE.0 / 2);
    let read_count = FIO_FILE_SIZE.0 / BLOCK_BYTES;
    let reads = read_count.to_string();
    let mut options = vec!["--pattern", "random", "--reads", &reads, "--block", "4KiB", "--work", "discard"];
    options.extend(["--method", FIO_TRIAL, "--memory", "50%", "--runs", "3"]);
    let limit = GroupLimit::Memory(cache_bytes + FIO_NEED_BYTES);
    let group = control_group::make(&mut cleanup, limit, &file, "fio")?;
    let mut found = Vec::new();
    for _ in 0..programs.repeats(FIO_PAIRS) {
        let record = race(programs, &file, &[], &options)?;
        let ours = float(read_count) * 1e9 / pairs::wall_ns(pressed_trial(&record, FIO_TRIAL)?);
        found.push((ours, fio_reads_per_s(&group, &file, cache_bytes)?));
    }
    Ok(pairs::ratio(&found)
        .row_within("places with half of them in memory: reads/s, ours ÷ fio's", FIO_ERROR_MAX))
}

/// Reads per second of fio in a group with this number of bytes for the page cache.
fn fio_reads_per_s(group: &Path, file: &Path, cache_bytes: u64) -> anyhow::Result<f64> {
    let mut limit_bytes = cache_bytes + FIO_NEED_BYTES;
    control_group::change_memory(group, limit_bytes)?;
    page_cache::evict(&File::open(file)?).with_context(|| file.display().to_string())?;
    for _ in 0..FIO_UNTIMED_RUNS {
        run_fio_in(group, file)?;
        limit_bytes = (limit_bytes + cache_bytes).saturating_sub(control_group::page_cache_bytes(group)?);
        control_group::change_memory(group, limit_bytes)?;
    }
    run_fio_in(group, file)
}

/// Runs fio once in a group. Returns its reads per second.
fn run_fio_in(group: &Path, file: &Path) -> anyhow::Result<f64> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "echo $$ >\"$0\" && exec fio \"$@\""]).arg(group);
    command.args(FIO_OPTIONS.split_whitespace()).arg(format!("--filename={}", file.display()));
    fio_reads(&mut command)?["iops"].as_f64().context("fio does not say its reads per second")
}
