//! Figure: the cost of the page of a large record: time to make it, its size, and time to open it
//! in a browser.
//!
//! The record is a real one: 20 trials of 500 readings each of a small file. Opening is what
//! Chromium takes for the page less what it takes for an empty one, pair by pair, as its own start
//! is no fault of the page's.

use crate::pairs;
use crate::programs::{Programs, Race};
use crate::row::Row;
use anyhow::{Context, bail};
use readlab_model::trial::CacheState;
use readlab_model::units::{Bytes, Nanos};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

pub(super) const ABOUT: &str = "page: a record of 10,000 samples as a page: time to make, size, time to open";

const FILE: Bytes = Bytes(10_000);
const TRIALS: usize = 20;
const READINGS: &str = "500";
const SAMPLES: usize = 10_000;
const REPEATS: usize = 7;
const TIME_MAX: Nanos = Nanos(1_000_000_000);
const SIZE_MAX: Bytes = Bytes(3_000_000);
const CHROMIUM: &str = "chromium";

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let record = record(programs)?;
    let page = programs.folder().join("page.html");
    let make = || programs.report(&record, &page);
    let made = (0..REPEATS).map(|_| timed(make)).collect::<anyhow::Result<Vec<_>>>()?;
    let size = Bytes(std::fs::metadata(&page)?.len());
    let figure = "size of the page";
    let target = format!("below {SIZE_MAX}");
    #[expect(clippy::cast_precision_loss, reason = "megabytes")]
    let sized = Row::judged(figure, &target, size.0 as f64, size.0 < SIZE_MAX.0, size.to_string());
    let opened = opening(programs, &page).map(|walls| below("time to open it in Chromium", &walls));
    let opened = opened.unwrap_or_else(|error| Row::failed("time to open it in Chromium", &error));
    Ok(vec![below("time to make the page", &made), sized, opened])
}

/// A record of this many readings.
pub(super) fn record(programs: &Programs) -> anyhow::Result<PathBuf> {
    let file = programs.lines(FILE)?;
    let buffers: Vec<String> =
        (0..TRIALS).map(|nth| format!("rust/read@buffer={}", 4096 + nth * 512)).collect();
    let trials: Vec<&str> = buffers.iter().map(String::as_str).collect();
    let options = ["--runs", READINGS, "--fills", "5"];
    let state = Some(CacheState::Warm);
    let race = Race { name: "page", trials: &trials, file: &file, state, options: &options };
    let running = programs.start(&race)?;
    let path = running.path().to_owned();
    let found: usize = running.record()?.trials.iter().map(|trial| trial.samples.len()).sum();
    if found != SAMPLES {
        bail!("the record holds {found} samples");
    }
    Ok(path)
}

/// What Chromium takes for the page beyond an empty one, in nanoseconds.
fn opening(programs: &Programs, page: &Path) -> anyhow::Result<Vec<f64>> {
    let empty = programs.folder().join("empty.html");
    std::fs::write(&empty, "<!doctype html><title>empty</title>")?;
    let pair = |_| Ok(timed(|| open(page))? - timed(|| open(&empty))?);
    (0..REPEATS).map(pair).collect()
}

/// Loads a page until its scripts have run, and leaves.
fn open(page: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(CHROMIUM);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom"]);
    command.arg(format!("file://{}", page.display())).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().context(CHROMIUM)?;
    if status.success() { Ok(()) } else { bail!("{CHROMIUM} ended with {status}") }
}

/// How long something takes, in nanoseconds.
fn timed(work: impl Fn() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64() * 1e9)
}

/// A time with the promise of a second.
fn below(figure: &str, walls_ns: &[f64]) -> Row {
    let median_ns = pairs::median(walls_ns);
    let words = Nanos::from_secs_f64(median_ns / 1e9).to_string();
    let target = format!("below {TIME_MAX}");
    Row::judged(figure, &target, median_ns, median_ns < TIME_MAX.as_secs_f64() * 1e9, words)
}
