//! Figure: whether a reading under a bound on memory is what it claims. The share in memory before and
//! after each reading must be that of the bound, for files and for places, on several file systems. Two
//! runs of one curve must agree within the intervals that the curve shows. Bounds that are too small
//! must be said to be what stops a reading, each in a race of its own. Another process that keeps the
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
use readlab_model::sample::Sample;
use readlab_model::target::TargetFacts;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::{Outcome, Record, TrialRecord};
use readlab_system::page_cache;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};

pub(super) const ABOUT: &str = "readings under a bound on memory: the share in memory, two runs of one curve, verdicts, a foreign reader, and fio";

const FILE_SIZE: Bytes = Bytes(128 << 20);
/// It fits beside the smaller file on each file system.
const PLACES_FILE_SIZE: Bytes = Bytes(512 << 20);
const TRIALS: [&str; 4] = [
    "rust/read@buffer=128KiB",
    "rust/mmap",
    "rust/io_uring@buffer=128KiB,depth=16",
    "rust/direct@buffer=1MiB",
];
const PLACES_TRIALS: [&str; 2] = ["rust/places-pread@threads=1", "rust/places-io_uring@depth=16"];
/// With fewer blocks, the memory that the kernel charges in advance is a large part of the bound.
const PLACES_OPTIONS: [&str; 4] = ["--pattern", "random", "--reads", "20000"];
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

/// Readings that wait for bytes that they had before: each method with a bound that is too small.
const REREADING: [[&str; 2]; 8] = [
    ["rust/read@buffer=128KiB", "20%"],
    ["rust/read@buffer=128KiB", "40%"],
    ["rust/read@buffer=128KiB", "50%"],
    ["rust/read@buffer=128KiB", "60%"],
    ["rust/read@buffer=1MiB", "30%"],
    ["rust/read@buffer=1MiB", "50%"],
    ["rust/mmap", "20%"],
    ["rust/mmap", "40%"],
];
/// Bounds under which page faults of a mapping bring far more than the places that are read.
const THRASHING_BOUNDS: [&str; 2] = ["40%", "60%"];
const THRASHING_FILE_SIZE: Bytes = Bytes(1_000_000_000);
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
        .flat_map(|(name, file_system)| Row::all_or_failed(name, shares_on(programs, name, file_system)))
        .collect();
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

/// The shares of readings of a file, and of places of a larger one, on a file system.
fn shares_on(programs: &Programs, name: &str, file_system: FileSystem) -> anyhow::Result<Vec<Row>> {
    let mut cleanup = Cleanup::default();
    let places_file = file_system.make(&mut cleanup, programs, PLACES_FILE_SIZE)?;
    let file = places_file.with_file_name("whole.txt");
    fs::copy(programs.lines(FILE_SIZE)?, &file).with_context(|| file.display().to_string())?;
    File::open(&file)?.sync_all()?;
    let of_files = race(programs, &file, &TRIALS, &["--memory", "25%,50%,75%", "--runs", "3"])?;
    let mut options = [&PLACES_OPTIONS[..], &["--memory", "50%", "--runs", "3"]].concat();
    options.extend(PLACES_TRIALS.iter().flat_map(|trial| ["--method", *trial]));
    let of_places = race(programs, &places_file, &[], &options)?;
    let row = |what: &str, record: &Record| {
        let figure = format!("{name}, {what}: in memory within 5 points of the bound, before and after");
        shares_near_bound(record).row_at_least(figure, 1.0)
    };
    Ok(vec![row("a file", &of_files), row("random places", &of_places)])
}

/// The share of readings that begin and end with as much of the working set in memory as the bound
/// grants. A trial without a reading counts as one reading that does not.
fn shares_near_bound(record: &Record) -> Share {
    let mut share = Share::default();
    for it in pressed_trials(record) {
        if !it.is_measured() {
            share.count(false);
        }
        let target = record.target_of(&it.trial);
        for sample in &it.samples {
            share.count(target.is_some_and(|target| is_near_bound(it, target, &sample)));
        }
    }
    share
}

fn is_near_bound(it: &TrialRecord, target: &TargetFacts, sample: &Sample) -> bool {
    let (Some(memory), Some(proof)) = (&target.memory_bound, &sample.pressed) else { return false };
    let granted = if it.trial.bypasses_cache() { 0.0 } else { memory.share().min(1.0) };
    // The share after a reading is one of the whole file.
    let file_per_working_set = float(target.cached_bytes()) / float(memory.working_set_bytes.max(1));
    let after = sample.resident_after.map(|share| share * file_per_working_set);
    let is_near = |share: f64| (share - granted).abs() <= SHARE_ERROR_MAX;
    is_near(proof.before_share) && after.is_some_and(is_near)
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
            let is_same = |other: &&MemoryPoint| {
                (other.level, &other.trial.trial.id) == (point.level, &point.trial.trial.id)
            };
            let other = second_points.iter().find(is_same);
            let ratio = other.map(|other| rate(&point).over(&rate(other)));
            share.count(ratio.and_then(|it| it.ci95).is_some_and(|ends| ends.holds(1.0)));
        }
    }
    Ok(share.row_at_least("two runs of one curve: the ratio of a point holds 1", HOLDING_SHARE_MIN))
}

/// The rate of a point, with the interval that its curve shows.
fn rate(point: &MemoryPoint) -> LogMedian {
    LogMedian { value: point.rate.ln(), ci95: point.interval.map(|ends| ends.map(f64::ln)), rule: None }
}

/// How often a reading whose bound was made too small on purpose is said to be stopped by that. Each is
/// one of a race of its own.
fn too_small(programs: &Programs) -> anyhow::Result<Row> {
    let (mut share, mut wrong) = (Share::default(), Vec::new());
    let mut judge = |record: &Record, trial: &str, bound: &str, right: &str| {
        let said = pressed_trial(record, trial).and_then(|it| cases::stops_at(record, it));
        let said = said.unwrap_or_else(|error| format!("{error:#}"));
        share.count(said.starts_with(right));
        if !said.starts_with(right) {
            wrong.push(format!("{trial} under {bound}: {said}"));
        }
    };
    let file = programs.lines(FILE_SIZE)?;
    for [trial, bound] in REREADING {
        let record = race(programs, &file, &[trial, "rust/device"], &["--memory", bound, "--runs", "5"])?;
        judge(&record, trial, bound, "memory bound");
    }
    let file = programs.lines(THRASHING_FILE_SIZE)?;
    for bound in THRASHING_BOUNDS {
        let options = [&PLACES_OPTIONS[..], &["--memory", bound, "--runs", "5"]].concat();
        let record = race(programs, &file, &["rust/places-mmap", "rust/places-device"], &options)?;
        judge(&record, "rust/places-mmap", bound, "thrash");
    }
    let row = share.row_at_least("bounds that are too small: the verdict is right", RIGHT_SHARE_MIN);
    Ok(if wrong.is_empty() { row } else { row.and(&format!("  {}", wrong.join("; "))) })
}

/// The points of all curves.
fn points(record: &Record) -> Vec<MemoryPoint<'_>> {
    MemoryCurve::all(record).into_iter().flat_map(|curve| curve.points).collect()
}

/// A process that is ended when the value is dropped.
struct ForeignReader(Child);

impl Drop for ForeignReader {
    fn drop(&mut self) {
        end(&mut self.0);
    }
}

/// How often a process that keeps the file in memory, for which its own group is charged, is named.
fn foreign_reader(programs: &Programs) -> anyhow::Result<Row> {
    let file = programs.lines(FILE_SIZE)?;
    let script = "exec 7<\"$1\"; while :; do cat \"$1\" >/dev/null; done";
    let mut share = Share::default();
    for _ in 0..programs.repeats(FOREIGN_RACES) {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", script, "sh"]).arg(&file).stdin(Stdio::null());
        let reader = ForeignReader(shell.spawn().context("/bin/sh")?);
        let record = race(programs, &file, &TRIALS[..1], &["--memory", "30%", "--runs", "3"])?;
        let name = format!("process {} ", reader.0.id());
        drop(reader);
        for it in pressed_trials(&record) {
            let outcome = it.outcome.as_ref().and_then(Outcome::reason);
            let mut reasons = it.rejected_readings.iter().map(|(_, why)| why.as_str()).chain(outcome);
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
