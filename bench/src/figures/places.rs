//! Figure: blocks at random places beside fio: reads per second, and the median and the 99th
//! percentile of single reads, on a device of fixed speed, on the device as it is and held by a
//! control group, and from the page cache; and whether what stops a reading is told.
//!
//! In turns on the same file: the lab's reading, then fio with as many reads of the same size and
//! as many in flight. A control group grants reads at the ticks of the kernel's timer, and after a
//! pause a burst of them for free, which the lab has spent before it begins; fio therefore leaves
//! out its first second. How far fio is from itself there is shown beside.

use crate::control_group::{Group, Limit};
use crate::fio;
use crate::paced_device::PacedDevice;
use crate::paced_file::DeviceUse;
use crate::pairs;
use crate::programs::{Programs, Race};
use crate::row::Row;
use anyhow::Context;
use readlab_analysis::latency::LatencySummary;
use readlab_analysis::verdict;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::{Outcome, Record, TrialRecord};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) const ABOUT: &str = "places: random reads of 4 KiB beside fio (reads/s, p50, p99), and verdicts";

const FILE: Bytes = Bytes(1_000_000_000);
/// What the device of fixed speed holds, in memory.
const SMALL: Bytes = Bytes(256 << 20);
const PAIRS: usize = 9;
const VERDICTS: usize = 10;
const RATE_TOLERANCE: f64 = 0.03;
const LATENCY_TOLERANCE: f64 = 0.05;
/// Of the device of fixed speed, and of the control group.
const READS_PER_S: u64 = 5_000;

/// What sets the pace of reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speed {
    /// The device as it is, or the page cache.
    AsItIs,
    /// A control group.
    Granted,
    /// A device that answers one read after the other, each in the same time.
    Fixed,
}

/// What is read, at its speed for as long as this is there.
struct Ground {
    target: PathBuf,
    _group: Option<Group>,
    _device: Option<PacedDevice>,
}

/// The same reading by the lab and by fio.
struct Case {
    name: &'static str,
    method: &'static str,
    fio: &'static [&'static str],
    state: CacheState,
    reads: &'static str,
    speed: Speed,
}

const PSYNC: &[&str] = &["--ioengine=psync", "--direct=1"];
const RING: &[&str] = &["--ioengine=io_uring", "--direct=1", "--iodepth=16"];

/// As long as the lab's reads of a device of fixed speed.
const RAMPED: [&str; 3] = ["--ramp_time=1", "--runtime=2", "--time_based"];

const CASES: [Case; 6] = [
    Case {
        name: "device of fixed speed, one in flight",
        method: "rust/places-direct@threads=1",
        fio: PSYNC,
        state: CacheState::Cold,
        reads: "10000",
        speed: Speed::Fixed,
    },
    Case {
        name: "device of fixed speed, 16 in flight",
        method: "rust/places-io_uring@depth=16,direct=1",
        fio: RING,
        state: CacheState::Cold,
        reads: "10000",
        speed: Speed::Fixed,
    },
    Case {
        name: "device held by a control group, 16 in flight",
        method: "rust/places-io_uring@depth=16,direct=1",
        fio: RING,
        state: CacheState::Cold,
        reads: "10000",
        speed: Speed::Granted,
    },
    Case {
        name: "device as it is, one in flight",
        method: "rust/places-direct@threads=1",
        fio: PSYNC,
        state: CacheState::Cold,
        reads: "20000",
        speed: Speed::AsItIs,
    },
    Case {
        name: "device as it is, 16 in flight",
        method: "rust/places-io_uring@depth=16,direct=1",
        fio: RING,
        state: CacheState::Cold,
        reads: "60000",
        speed: Speed::AsItIs,
    },
    Case {
        name: "page cache, one in flight",
        method: "rust/places-pread@threads=1",
        fio: &["--ioengine=psync", "--direct=0", "--invalidate=0"],
        state: CacheState::Warm,
        reads: "200000",
        speed: Speed::AsItIs,
    },
];

/// A reading whose limit was made, or is known.
struct Made {
    name: &'static str,
    method: &'static str,
    /// Methods that show the limit, besides the controls.
    beside: &'static [&'static str],
    state: CacheState,
    speed: Speed,
    /// Enough that the kernel's count of processor time is fine.
    reads: &'static str,
    block: &'static str,
    right: &'static [&'static str],
}

const MADE: [Made; 4] = [
    Made {
        name: "one read in flight",
        method: "rust/places-direct@threads=1",
        beside: &["rust/places-io_uring@depth=64,direct=1"],
        state: CacheState::Cold,
        speed: Speed::AsItIs,
        reads: "4096",
        block: "4KiB",
        right: &["shallow depth"],
    },
    Made {
        name: "many reads in flight of a device held by a control group",
        method: "rust/places-io_uring@depth=16,direct=1",
        beside: &[],
        state: CacheState::Cold,
        speed: Speed::Granted,
        reads: "4096",
        block: "4KiB",
        right: &["device"],
    },
    Made {
        name: "cached blocks, summed byte by byte",
        method: "rust/places-pread/scalar@threads=1",
        beside: &[],
        state: CacheState::Warm,
        speed: Speed::AsItIs,
        reads: "20000",
        // Of smaller ones the call itself takes as long as the sum.
        block: "64KiB",
        right: &["processing"],
    },
    Made {
        name: "cached blocks, discarded",
        method: "rust/places-pread@threads=1",
        beside: &[],
        state: CacheState::Warm,
        speed: Speed::AsItIs,
        reads: "100000",
        block: "4KiB",
        right: &["copy"],
    },
];

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for case in &CASES {
        let found = beside_fio(programs, case);
        rows.extend(found.unwrap_or_else(|error| vec![Row::failed(case.name, &error)]));
    }
    for made in &MADE {
        let figure = format!("verdict: {}", made.name);
        rows.push(verdicts(programs, made, &figure).unwrap_or_else(|error| Row::failed(figure, &error)));
    }
    Ok(rows)
}

/// What a reading shows of the reads.
struct Shown {
    reads_per_s: f64,
    p50_ns: f64,
    p99_ns: f64,
}

fn beside_fio(programs: &Programs, case: &Case) -> anyhow::Result<Vec<Row>> {
    let ground = Ground::at(programs, case.speed)?;
    let (mut both, mut fio_twice) = (Vec::new(), Vec::new());
    for _ in 0..programs.repeats(PAIRS) {
        let ours = lab(programs, &ground.target, case)?;
        let theirs = fio_once(&ground.target, case)?;
        if case.speed == Speed::Granted {
            fio_twice.push((fio_once(&ground.target, case)?.p50_ns, theirs.p50_ns));
        }
        both.push((ours, theirs));
    }
    let row = |what: &str, of: fn(&Shown) -> f64, tolerance: f64| {
        let found: Vec<(f64, f64)> = both.iter().map(|(ours, theirs)| (of(ours), of(theirs))).collect();
        let ratio = pairs::ratio(&found);
        let figure = format!("{}: {what}, ours ÷ fio's", case.name);
        let target = format!("within {:.0} %", tolerance * 100.0);
        // Between reads fio does more than the lab, which shows unless the device sets the pace.
        if case.speed != Speed::Fixed {
            return Row::unjudged(figure, ratio.estimate, ratio.words()).with(ratio.ci95);
        }
        Row::judged(figure, &target, ratio.estimate, ratio.within(tolerance), ratio.words()).with(ratio.ci95)
    };
    let mut rows = vec![
        row("reads/s", |it| it.reads_per_s, RATE_TOLERANCE),
        row("p50", |it| it.p50_ns, LATENCY_TOLERANCE),
        row("p99", |it| it.p99_ns, LATENCY_TOLERANCE),
    ];
    if !fio_twice.is_empty() {
        let ratio = pairs::ratio(&fio_twice);
        let figure = format!("{}: p50, fio's ÷ fio's", case.name);
        rows.push(Row::unjudged(figure, ratio.estimate, ratio.words()).with(ratio.ci95));
    }
    Ok(rows)
}

impl Ground {
    fn at(programs: &Programs, speed: Speed) -> anyhow::Result<Ground> {
        let file = programs.lines(if speed == Speed::Fixed { SMALL } else { FILE })?;
        let mut ground = Ground { target: file.clone(), _group: None, _device: None };
        match speed {
            Speed::AsItIs => {}
            Speed::Granted => {
                ground._group = Some(Group::entered(Limit::reads_of(&file, READS_PER_S)?, "places")?);
            }
            Speed::Fixed => {
                let interval = Duration::from_secs(1) / u32::try_from(READS_PER_S)?;
                let device = PacedDevice::make(programs.folder(), &file, DeviceUse::Every(interval))?;
                ground.target = device.path().to_owned();
                ground._device = Some(device);
            }
        }
        Ok(ground)
    }
}

fn race(programs: &Programs, file: &Path, state: CacheState, options: &[&str]) -> anyhow::Result<Record> {
    programs.race(&Race { name: "places", trials: &[], file, state: Some(state), options })
}

fn trial<'r>(record: &'r Record, method: &str) -> anyhow::Result<&'r TrialRecord> {
    let method = method.split(['/', '@']).nth(1).context("a method has a name")?;
    let is_it = |it: &&TrialRecord| it.trial.method() == method;
    let trial = record.trials.iter().find(is_it).with_context(|| format!("no trial of {method}"))?;
    anyhow::ensure!(trial.outcome == Some(Outcome::Measured), "{method}: {:?}", trial.outcome);
    Ok(trial)
}

fn lab(programs: &Programs, file: &Path, case: &Case) -> anyhow::Result<Shown> {
    let options = [
        "--pattern",
        "random",
        "--reads",
        case.reads,
        "--work",
        "discard",
        "--method",
        case.method,
        "--runs",
        "1",
        "--allow-device",
    ];
    let record = race(programs, file, case.state, &options)?;
    let trial = trial(&record, case.method)?;
    let wall_ns = pairs::wall_ns(trial);
    let latency = LatencySummary::from_turns(&trial.latencies).context("single reads were not timed")?;
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let quantile = |name| latency.quantile(name).map(|it| it.ns as f64).context("too few reads");
    let reads: f64 = case.reads.parse()?;
    Ok(Shown { reads_per_s: reads * 1e9 / wall_ns, p50_ns: quantile("p50")?, p99_ns: quantile("p99")? })
}

fn fio_once(file: &Path, case: &Case) -> anyhow::Result<Shown> {
    let reads = format!("--number_ios={}", case.reads);
    let extent = if case.speed == Speed::AsItIs { &[reads.as_str()] } else { &RAMPED[..] };
    let common = ["--bs=4k", "--percentile_list=50:99", "--randrepeat=0"];
    let words = [case.fio, &common, extent].concat();
    let read = fio::read_places(file, &words)?;
    let number = |value: &Value| value.as_f64().context("fio tells no number");
    let percentile = |name: &str| number(&read["clat_ns"]["percentile"][name]);
    Ok(Shown {
        reads_per_s: number(&read["iops"])?,
        p50_ns: percentile("50.000000")?,
        p99_ns: percentile("99.000000")?,
    })
}

/// How often the verdict is right.
fn verdicts(programs: &Programs, made: &Made, figure: &str) -> anyhow::Result<Row> {
    let ground = Ground::at(programs, made.speed)?;
    let repeats = programs.repeats(VERDICTS);
    let is_scanned = made.method.contains("scalar");
    let (mut right, mut others) = (0, BTreeSet::new());
    for _ in 0..repeats {
        let work = if is_scanned { "sum" } else { "discard" };
        let mut options = vec!["--pattern", "random", "--reads", made.reads, "--block", made.block];
        options.extend(["--work", work, "--runs", "8"]);
        let methods = [made.method].into_iter().chain(made.beside.iter().copied());
        options.extend(methods.flat_map(|method| ["--method", method]));
        let record = race(programs, &ground.target, made.state, &options)?;
        let judged = verdict::judge(&record, &verdict::limits(&record), trial(&record, made.method)?);
        let word = judged.context("no verdict")?.stops_at();
        if made.right.iter().any(|right| word.starts_with(right)) {
            right += 1;
        } else {
            others.insert(word);
        }
    }
    let others: Vec<String> = others.into_iter().collect();
    let words = format!("{} in {right} of {repeats}; else {}", made.right.join(" or "), others.join("; "));
    let ok = right * 10 >= repeats * 9;
    Ok(Row::judged(figure.to_owned(), "right in 9 of 10", f64::from(u32::try_from(right)?), ok, words))
}
