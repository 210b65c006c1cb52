//! Figure: a race of a hundred thousand samples: whether the lab's memory and number of open files
//! stay constant, and its record complete.

use crate::programs::{Programs, Race};
use crate::row::Row;
use crate::running::Running;
use anyhow::Context;
use readlab_analysis::stats::float;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use std::fs;
use std::thread;
use std::time::Duration;

pub(super) const ABOUT: &str =
    "soak: 100,000 samples of a file of 10 kB; memory, open files and the record of the lab";

const FILE: Bytes = Bytes(10_000);
const TRIALS: [&str; 2] = ["rust/read@buffer=64KiB", "rust/mmap"];
const EACH: usize = 50_000;
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// The lab's limit of memory, whatever the number of samples.
const PEAK_MAX: Bytes = Bytes(32 << 20);

/// What the lab held at one moment.
#[derive(Debug, Clone, Copy)]
struct Held {
    resident_bytes: u64,
    files: usize,
}

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE)?;
    let runs = EACH.to_string();
    let options = ["--runs", &runs, "--fills", "5", "--max-time", "1h", "--budget", "1h"];
    let race =
        Race { name: "soak", trials: &TRIALS, file: &file, state: Some(CacheState::Warm), options: &options };
    let mut running = programs.start(&race)?;
    let seen = watched(&mut running)?;
    let record = running.record()?;
    let samples: usize =
        record.trials.iter().filter(|it| !it.trial.is_control()).map(|it| it.samples.len()).sum();
    let wanted = EACH * TRIALS.len();
    // The first tenth is start and warm-up.
    let settled = &seen[seen.len() / 10..];
    let (first, last) =
        (settled.first().context("it was over at once")?, settled.last().context("as above")?);
    let peak = Bytes(settled.iter().map(|held| held.resident_bytes).max().unwrap_or_default());
    let files = |most: bool| {
        let all = settled.iter().map(|held| held.files);
        if most { all.max() } else { all.min() }.unwrap_or_default()
    };
    let grown = format!(
        "{} after a tenth, {} at the end, {peak} at most",
        Bytes(first.resident_bytes),
        Bytes(last.resident_bytes)
    );
    Ok(vec![
        Row::judged(
            "samples in the record",
            &format!("{wanted}"),
            float(samples as u64),
            samples == wanted,
            format!("{samples}"),
        ),
        Row::judged("memory of the lab", &format!("below {PEAK_MAX}"), float(peak.0), peak < PEAK_MAX, grown),
        Row::judged(
            "open files of the lab",
            "as many at the end",
            float(last.files as u64),
            last.files <= first.files,
            format!(
                "{} after a tenth, {} at the end, {} to {} between",
                first.files,
                last.files,
                files(false),
                files(true)
            ),
        ),
    ])
}

/// What the lab held from its start to its end.
fn watched(running: &mut Running) -> anyhow::Result<Vec<Held>> {
    let mut seen = Vec::new();
    while !running.is_over()? {
        // It may end between the two reads.
        seen.extend(held(running.id()));
        thread::sleep(LOOK_EVERY);
    }
    Ok(seen)
}

fn held(process: u32) -> Option<Held> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(Held {
        resident_bytes: kib * 1024,
        files: fs::read_dir(format!("/proc/{process}/fd")).ok()?.count(),
    })
}
