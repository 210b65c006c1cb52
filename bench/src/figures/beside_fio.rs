//! Figure: whether cold readings by the lab take the same time as fio for the same task: a file in
//! order, by one reader and by several, and blocks at random places of a device of fixed speed.
//!
//! The lab and fio take turns on the same file, with the same block size, depth and number of jobs.
//! For one sequential reading, fio's time is the sum of its read latencies, because fio reports its
//! run time in whole milliseconds. With one read in flight, this sum leaves out opening the file
//! and allocating a buffer, which take less than a thousandth here. Random reads use a device that
//! answers one read after the other, each in the same time. Between reads fio does more than the
//! lab, which would show if the device did not set the pace.

use crate::made::Cleanup;
use crate::made::paced::{self, Pace};
use crate::pairs;
use crate::programs::{Programs, Race, measured_trial};
use crate::row::Row;
use anyhow::{Context, ensure};
use readlab_analysis::latency::LatencySummary;
use readlab_analysis::stats::float;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::TrialRecord;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

pub(super) const ABOUT: &str = "cold reads of the lab beside those of fio: same file, block size and depth";

const LARGE_FILE_SIZE: Bytes = Bytes(500_000_000);
const FILE_SIZE: Bytes = Bytes(256 << 20);
const PAIRS: usize = 7;
const READER_COUNT: f64 = 4.0;
/// Time that the device of fixed speed takes for a read.
const READ_TIME: Duration = Duration::from_micros(200);
/// Number of reads of that device by the lab.
const READ_COUNT: f64 = 10_000.0;

struct Comparison {
    name: &'static str,
    size: Bytes,
    /// Whether the file is on a device of fixed speed.
    is_paced: bool,
    trial: &'static str,
    /// Whether the trial is the only one of a suite, rather than one of a race with controls.
    is_alone: bool,
    options: &'static str,
    fio: &'static str,
    quantities: &'static [Quantity],
}

/// A number that both programs measure, and how near to fio's result the lab's must be.
struct Quantity {
    name: &'static str,
    ours: fn(&TrialRecord, Bytes) -> Option<f64>,
    theirs: fn(&Value) -> Option<f64>,
    promise: Promise,
}

enum Promise {
    Within(f64),
    AtLeast(f64),
}

const READING_TIME: Quantity = Quantity {
    name: "time",
    ours: |trial, _| Some(pairs::wall_ns(trial)),
    theirs: |fio| Some(fio["lat_ns"]["mean"].as_f64()? * fio["lat_ns"]["N"].as_f64()?),
    promise: Promise::Within(0.03),
};
const READ_RATE: Quantity = Quantity {
    name: "rate",
    ours: |trial, size| Some(float(size.0) * 1e9 / pairs::wall_ns(trial)),
    theirs: |fio| fio["bw_bytes"].as_f64(),
    promise: Promise::AtLeast(0.97),
};
const READERS_RATE: Quantity = Quantity {
    ours: |trial, size| Some(READER_COUNT * float(size.0) * 1e9 / pairs::wall_ns(trial)),
    promise: Promise::Within(0.05),
    ..READ_RATE
};
const READS_PER_S: Quantity = Quantity {
    name: "reads/s",
    ours: |trial, _| Some(READ_COUNT * 1e9 / pairs::wall_ns(trial)),
    theirs: |fio| fio["iops"].as_f64(),
    promise: Promise::Within(0.03),
};
const P50_LATENCY: Quantity = Quantity {
    name: "p50",
    ours: |trial, _| quantile(trial, "p50"),
    theirs: |fio| fio["clat_ns"]["percentile"]["50.000000"].as_f64(),
    promise: Promise::Within(0.05),
};
const P99_LATENCY: Quantity = Quantity {
    name: "p99",
    ours: |trial, _| quantile(trial, "p99"),
    theirs: |fio| fio["clat_ns"]["percentile"]["99.000000"].as_f64(),
    ..P50_LATENCY
};

const SEQUENTIAL_READS: Comparison = Comparison {
    name: "100 MB, 1 MiB, one in flight",
    size: Bytes(100_000_000),
    is_paced: false,
    trial: "rust/direct@buffer=1MiB",
    is_alone: true,
    options: "--work discard --warmup 0 --runs 5",
    fio: "--rw=read --ioengine=psync --bs=1M",
    quantities: &[READING_TIME],
};
const RANDOM_READS: Comparison = Comparison {
    name: "random 4 KiB, one in flight",
    size: FILE_SIZE,
    is_paced: true,
    trial: "rust/places-direct@threads=1",
    is_alone: false,
    options: "--pattern random --reads 10000 --work discard --runs 1 --allow-device",
    // fio runs as long as the lab reads, after a ramp for the reads that a device may grant for
    // free.
    fio: "--ioengine=psync --rw=randread --bs=4k --percentile_list=50:99 --randrepeat=0 --ramp_time=1 --runtime=2 --time_based",
    quantities: &[READS_PER_S, P50_LATENCY, P99_LATENCY],
};
const COMPARISONS: [Comparison; 6] = [
    SEQUENTIAL_READS,
    Comparison { name: "500 MB, 1 MiB, one in flight", size: LARGE_FILE_SIZE, ..SEQUENTIAL_READS },
    Comparison {
        name: "500 MB, 1 MiB, 8 in flight",
        size: LARGE_FILE_SIZE,
        trial: "rust/device@buffer=1MiB,depth=8",
        fio: "--rw=read --ioengine=io_uring --bs=1M --iodepth=8",
        quantities: &[READ_RATE],
        ..SEQUENTIAL_READS
    },
    Comparison {
        name: "4 readers, 128 KiB",
        size: FILE_SIZE,
        trial: "rust/direct/memchr@buffer=128KiB",
        is_alone: false,
        options: "--readers 4 --runs 8 --budget 20m",
        fio: "--rw=read --ioengine=psync --bs=128k --numjobs=4 --group_reporting --loops=3",
        quantities: &[READERS_RATE],
        ..SEQUENTIAL_READS
    },
    RANDOM_READS,
    Comparison {
        name: "random 4 KiB, 16 in flight",
        trial: "rust/places-io_uring@depth=16,direct=1",
        fio: "--ioengine=io_uring --iodepth=16 --rw=randread --bs=4k --percentile_list=50:99 --randrepeat=0 --ramp_time=1 --runtime=2 --time_based",
        ..RANDOM_READS
    },
];

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    Ok(COMPARISONS.iter().flat_map(|it| Row::all_or_failed(it.name, it.measure(programs))).collect())
}

impl Comparison {
    fn measure(&self, programs: &Programs) -> anyhow::Result<Vec<Row>> {
        let mut cleanup = Cleanup::default();
        let mut file = programs.lines(self.size)?;
        if self.is_paced {
            file = paced::device(&mut cleanup, &programs.folder, &file, Pace::Every(READ_TIME))?;
        }
        let trials: &[&str] = if self.is_alone { &[self.trial] } else { &[] };
        let mut options: Vec<&str> = self.options.split_whitespace().collect();
        if !self.is_alone {
            options.extend(["--method", self.trial]);
        }
        let mut found = vec![Vec::new(); self.quantities.len()];
        for _ in 0..programs.repeats(PAIRS) {
            let state = Some(CacheState::Cold);
            let record =
                programs.race(&Race { name: "beside-fio", trials, file: &file, state, options: &options })?;
            let (ours, theirs) = (measured_trial(&record, self.trial)?, run_fio(&file, self.fio)?);
            for (quantity, found) in self.quantities.iter().zip(&mut found) {
                let ours = (quantity.ours)(ours, self.size).context("the lab has too few reads")?;
                found.push((ours, (quantity.theirs)(&theirs).context("fio does not say it")?));
            }
        }
        let row = |(quantity, found): (&Quantity, &Vec<(f64, f64)>)| {
            let (ratio, figure) =
                (pairs::ratio(found), format!("{}: {}, ours ÷ fio's", self.name, quantity.name));
            match quantity.promise {
                Promise::Within(share) => ratio.row_within(figure, share),
                Promise::AtLeast(least) => ratio.row_at_least(figure, least),
            }
        };
        Ok(self.quantities.iter().zip(&found).map(row).collect())
    }
}

fn quantile(trial: &TrialRecord, name: &str) -> Option<f64> {
    LatencySummary::from_turns(&trial.latencies)?.quantile(name).map(|it| float(it.latency_ns))
}

fn run_fio(file: &Path, words: &str) -> anyhow::Result<Value> {
    let mut command = Command::new("fio");
    command.args(["--name=read", "--readonly", "--output-format=json", "--direct=1"]);
    command.args(words.split_whitespace()).arg(format!("--filename={}", file.display()));
    fio_reads(&mut command)
}

/// What fio says of its reads, as JSON.
pub(super) fn fio_reads(command: &mut Command) -> anyhow::Result<Value> {
    let done = command.stdin(Stdio::null()).output().context("fio (a Debian package) cannot be started")?;
    ensure!(done.status.success(), "fio ended with {}", done.status);
    // Notes of fio may precede the JSON.
    let begin = done.stdout.iter().position(|byte| *byte == b'{').unwrap_or_default();
    let mut said: Value = serde_json::from_slice(&done.stdout[begin..]).context("what fio says")?;
    Ok(said["jobs"][0]["read"].take())
}
