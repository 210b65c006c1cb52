//! Figure: the cost of the lab itself: the shortest window that it can measure, and its CPU time
//! and memory while a contender reads. CPU time and memory are read from /proc during a whole race.
//!
//! The lab consists of the process that was started and those of its descendants with the same
//! command line, which start contenders and end them. All other descendants read, or serve what is
//! read.

use crate::pairs;
use crate::programs::{Programs, Race, RunningLab, measured_trial};
use crate::row::Row;
use anyhow::ensure;
use readlab_analysis::stats::float;
use readlab_model::trial::CacheState;
use readlab_model::units::{Bytes, Nanos};
use readlab_record::Record;
use readlab_system::process::{self, ProcessCounters, ProcessEntry};
use std::time::{Duration, Instant};

pub(super) const ABOUT: &str =
    "what the lab itself costs, in a warm race of the whole line-up on 512 MiB of lines, and over S3";

const FILE_SIZE: Bytes = Bytes(512 << 20);
const OBJECT_SIZE: Bytes = Bytes(256 << 20);
const NULL_NS_MAX: f64 = 5_000.0;
const CPU_SHARE_MAX: f64 = 0.01;
const PEAK_MAX: Bytes = Bytes(32 << 20);
const SAMPLING_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Debug, Default)]
struct LabUsage {
    /// Time during which a contender was reading.
    reading: Duration,
    cpu_ns: u64,
    peak_bytes: u64,
}

/// The CPU time of the lab at a moment at which another process works for it.
#[derive(Debug, Clone, Copy)]
struct LabSnapshot {
    reader: u32,
    at: Instant,
    /// CPU time that the lab's processes have used so far.
    cpu_ns: u64,
}

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let (record, mut rows) = race_and_watch(programs, FILE_SIZE, &[], "")?;
    let null = measured_trial(&record, "rust/null")?;
    let null_ns = pairs::wall_ns(null);
    let words = format!("{}  ({} readings)", Nanos::from_secs_f64(null_ns / 1e9), null.samples.len());
    let is_short = null_ns < NULL_NS_MAX;
    rows.push(Row::judged("null, the empty window", "below 5 µs", null_ns, is_short, words));
    // The lab's own store runs in a separate process.
    rows.extend(race_and_watch(programs, OBJECT_SIZE, &["--s3"], "over S3: ")?.1);
    Ok(rows)
}

fn race_and_watch(
    programs: &Programs,
    size: Bytes,
    options: &[&str],
    prefix: &str,
) -> anyhow::Result<(Record, Vec<Row>)> {
    let file = programs.lines(size)?;
    let options = [options, &["--runs", "5", "--fills", "1"]].concat();
    let state = Some(CacheState::Warm);
    let mut running =
        programs.start(&Race { name: "floor", trials: &[], file: &file, state, options: &options })?;
    let usage = sample_usage(&mut running)?;
    Ok((running.record()?, usage.rows(prefix)?))
}

/// Samples the lab's processes until the lab has ended.
fn sample_usage(running: &mut RunningLab) -> anyhow::Result<LabUsage> {
    let pid = running.id();
    let mut usage = LabUsage::default();
    let mut last: Option<LabSnapshot> = None;
    while !running.is_over()? {
        let snapshot = LabSnapshot::take(pid);
        let peak_bytes = ProcessCounters::open(pid).peak_rss_bytes();
        usage.peak_bytes = peak_bytes.unwrap_or(usage.peak_bytes).max(usage.peak_bytes);
        if let (Some(before), Some(now)) = (last, snapshot)
            && before.reader == now.reader
        {
            usage.reading += now.at.duration_since(before.at);
            usage.cpu_ns += now.cpu_ns.saturating_sub(before.cpu_ns);
        }
        last = snapshot;
        std::thread::sleep(SAMPLING_INTERVAL);
    }
    Ok(usage)
}

impl LabUsage {
    fn rows(&self, prefix: &str) -> anyhow::Result<Vec<Row>> {
        ensure!(!self.reading.is_zero(), "no contender was seen reading");
        let reading = self.reading.as_secs_f64();
        let share = float(self.cpu_ns) / 1e9 / reading;
        let words = format!("{:.2} % of a core, over {reading:.0} s of reading", share * 100.0);
        let figure = format!("{prefix}the lab's own CPU while a contender reads");
        let cpu = Row::judged(figure, "below 1 %", share, share < CPU_SHARE_MAX, words);
        let (peak, figure) = (Bytes(self.peak_bytes), format!("{prefix}the lab's peak memory"));
        let target = format!("below {}", PEAK_MAX.binary_text());
        Ok(vec![cpu, Row::judged(figure, target, float(peak.0), peak < PEAK_MAX, peak.binary_text())])
    }
}

impl LabSnapshot {
    /// Takes a snapshot, or returns `None` while no descendant works or waits for a device. The
    /// parent of every process is read, because not every kernel lists the children of a process.
    fn take(pid: u32) -> Option<LabSnapshot> {
        let command = command_of(pid)?;
        let all = process::all_processes();
        let family: Vec<&ProcessEntry> = all.iter().filter(|it| is_below(it.pid, pid, &all)).collect();
        let is_lab = |it: &ProcessEntry| command_of(it.pid).as_ref() == Some(&command);
        let works = |it: &&&ProcessEntry| it.is_busy && !is_lab(it);
        let reader = family.iter().find(works)?.pid;
        let own = family.iter().filter(|it| is_lab(it)).map(|it| ProcessCounters::open(it.pid));
        let cpu_ns = own.filter_map(|counters| counters.cpu_ns().ok()).sum();
        Some(LabSnapshot { reader, at: Instant::now(), cpu_ns })
    }
}

/// Whether a process is `ancestor` or descends from it.
fn is_below(pid: u32, ancestor: u32, all: &[ProcessEntry]) -> bool {
    let parent = |pid: &u32| all.iter().find(|it| it.pid == *pid).map(|it| it.parent);
    std::iter::successors(Some(pid), parent).any(|it| it == ancestor)
}

fn command_of(pid: u32) -> Option<Vec<u8>> {
    std::fs::read(format!("/proc/{pid}/cmdline")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits for a condition that a running process makes true. Gives up after more than a minute.
    fn wait_until(mut is_true: impl FnMut() -> bool) {
        let came = (0..60_000).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            is_true()
        });
        assert!(came);
    }

    #[test]
    fn a_spinning_child_counts_as_reading_and_uses_more_and_more_cpu_time() {
        let mut sleeper = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let mut spinner =
            std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let own = std::process::id();
        let reader = |pid| LabSnapshot::take(pid).map(|snapshot| snapshot.reader);
        // A sleeper uses CPU time only until it sleeps. A spinner uses it until it is killed.
        wait_until(|| reader(own) == Some(spinner.id()));
        let cpu_ns = |pid| ProcessCounters::open(pid).cpu_ns().unwrap();
        wait_until(|| cpu_ns(spinner.id()) > cpu_ns(sleeper.id()));
        assert!(ProcessCounters::open(own).peak_rss_bytes().unwrap() > 1 << 16);
        for child in [&mut sleeper, &mut spinner] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(reader(spinner.id()), None, "a process that has ended has no child that reads");
    }
}
