//! Figure: several readers at once: whether what stops them is told where the limit was made, and
//! whether fio's jobs read the same file at the same rate.

use crate::control_group::{Group, Limit};
use crate::fio;
use crate::paced_server::{self, DeviceUse};
use crate::pairs;
use crate::programs::{Programs, Race};
use crate::row::Row;
use crate::told::Told;
use anyhow::Context;
use readlab_analysis::scaling::Limited;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::{Outcome, Record};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) const ABOUT: &str =
    "readers: what stops several readers is told where the limit was made, and the rate beside fio's jobs";

const REPEATS: usize = 20;
const PAIRS: usize = 7;
const FIO_FILE: Bytes = Bytes(256 << 20);
/// As fio reads.
const DIRECT: &str = "rust/direct/memchr@buffer=128KiB";
const JOBS: u32 = 4;
/// Of a throttled device, and of each connection of a paced server.
const DEVICE_BYTES_PER_S: u64 = 100_000_000;
const CONNECTION_BYTES_PER_S: f64 = 20e6;

/// Where the limit is made.
#[derive(Debug, Clone, Copy)]
enum Made {
    Device,
    Connection,
    Processor,
}

/// A limit as long as it is kept, and what is read under it.
struct Limits {
    target: PathBuf,
    _group: Option<Group>,
}

impl Made {
    const ALL: [Made; 3] = [Made::Device, Made::Connection, Made::Processor];

    fn figure(self) -> &'static str {
        match self {
            Made::Device => "readers of a throttled device: verdict",
            Made::Connection => "readers over paced connections: verdict",
            Made::Processor => "readers of one processor: verdict",
        }
    }

    fn method(self) -> &'static str {
        match self {
            Made::Device => DIRECT,
            Made::Connection => "rust/http/memchr",
            Made::Processor => "rust/read/memchr",
        }
    }

    fn state(self) -> Option<CacheState> {
        match self {
            Made::Device => Some(CacheState::Cold),
            Made::Connection => None,
            Made::Processor => Some(CacheState::Warm),
        }
    }

    fn limits(self, programs: &Programs) -> anyhow::Result<Limits> {
        match self {
            Made::Device => {
                // So long that what the throttle grants after a pause does not matter.
                let target = programs.lines(Bytes(64 << 20))?;
                let group = Group::entered(Limit::device_of(&target, DEVICE_BYTES_PER_S)?, "readers")?;
                Ok(Limits { target, _group: Some(group) })
            }
            Made::Connection => {
                let file = programs.lines(Bytes(4 << 20))?;
                let content = fs::read(&file).with_context(|| file.display().to_string())?;
                let pace = DeviceUse { bytes_per_s: Some(CONNECTION_BYTES_PER_S), delay: Duration::ZERO };
                let target = paced_server::start(content, pace)?.into();
                Ok(Limits { target, _group: None })
            }
            Made::Processor => {
                let target = programs.lines(Bytes(256 << 20))?;
                Ok(Limits { target, _group: Some(Group::entered(Limit::Processor(0), "readers")?) })
            }
        }
    }

    fn is_told_by(self, limited: Limited) -> bool {
        matches!(
            (self, limited),
            (Made::Device, Limited::Shared(_))
                | (Made::Connection, Limited::EachHost(_))
                | (Made::Processor, Limited::Processors(_))
        )
    }
}

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let verdict =
        |made: Made| verdicts(programs, made).unwrap_or_else(|error| Row::failed(made.figure(), &error));
    let mut rows: Vec<Row> = Made::ALL.map(verdict).into();
    rows.push(beside_fio(programs).unwrap_or_else(|error| Row::failed("readers beside fio", &error)));
    Ok(rows)
}

/// A race of one method by some numbers of readers.
struct ReadersRace<'a> {
    target: &'a Path,
    state: Option<CacheState>,
    method: &'a str,
    readers: &'a str,
}

impl ReadersRace<'_> {
    fn record(&self, programs: &Programs) -> anyhow::Result<Record> {
        let &ReadersRace { target, state, method, readers } = self;
        let options = [
            "--method",
            method,
            "--reference",
            method,
            "--readers",
            readers,
            "--runs",
            "8",
            "--budget",
            "20m",
        ];
        let race = Race { name: "readers", trials: &[], file: target, state, options: &options };
        programs.race(&race)
    }
}

/// How often a made limit is told.
fn verdicts(programs: &Programs, made: Made) -> anyhow::Result<Row> {
    let limits = made.limits(programs)?;
    let (target, state, method) = (&limits.target, made.state(), made.method());
    let race = ReadersRace { target, state, method, readers: "1,2" };
    let is_right = |told| made.is_told_by(told);
    let told = Told::count(programs.repeats(REPEATS), method, is_right, || race.record(programs))?;
    told.row(made.figure(), 9, 10)
}

/// The rate of four readers by readlab and of fio's four jobs, in turns.
#[expect(clippy::cast_precision_loss, reason = "rates have three digits")]
fn beside_fio(programs: &Programs) -> anyhow::Result<Row> {
    let file = programs.lines(FIO_FILE)?;
    let mut found = Vec::new();
    let race = ReadersRace {
        target: &file,
        state: Some(CacheState::Cold),
        method: DIRECT,
        readers: &JOBS.to_string(),
    };
    for _ in 0..programs.repeats(PAIRS) {
        let record = race.record(programs)?;
        let is_it = |it: &&readlab_record::TrialRecord| it.trial.id.to_string() == DIRECT;
        let trial = record.trials.iter().find(is_it).context("no trial")?;
        anyhow::ensure!(trial.outcome == Some(Outcome::Measured), "{:?}", trial.outcome);
        let median_ns = pairs::median(&pairs::floats(trial.samples.iter().map(|sample| sample.wall_ns)));
        let rate = f64::from(JOBS) * FIO_FILE.0 as f64 * 1e9 / median_ns;
        let jobs = format!("--numjobs={JOBS}");
        let words = [jobs.as_str(), "--group_reporting", "--bs=128k", "--ioengine=psync", "--loops=3"];
        let told = fio::read(&file, &words)?;
        found.push((rate, told["bw_bytes"].as_f64().context("fio tells a rate")?));
    }
    let ratio = pairs::ratio(&found);
    let ok = ratio.within(0.05) || ratio.holds_one_within(0.05);
    let figure = format!("rate of {JOBS} readers ÷ that of fio's {JOBS} jobs");
    Ok(Row::judged(figure, "within 5 %, or holds 1 at 5 %", ratio.estimate, ok, ratio.words())
        .with(ratio.ci95))
}
