//! Scripted records of sweeps: files of many sizes whose times are computed from a few numbers.

use super::scripted::Script;
use crate::Claim;
use readlab_model::sample::Sample;
use readlab_model::target::TargetIndex;
use readlab_model::trial::{CacheState, TrialIndex};
use readlab_protocol::Cache;
use readlab_record::{Header, Line, Outcome, Record, RunKind, WriteTimes, WriteWay, testing};

/// How long it takes to read or write a file, and how many of its bytes come from the device.
#[derive(Debug, Clone, Copy)]
struct TimeModel {
    /// The rate of large files.
    bytes_per_s: f64,
    fixed_ns: f64,
    /// The rate of files of 100 kB to 1 MB divided by `bytes_per_s`.
    band_rate_ratio: f64,
    /// The rate of files of 2 MB to 500 MB divided by `bytes_per_s`.
    middle_rate_ratio: f64,
    /// The relative scatter of times.
    time_scatter: f64,
    /// The share of the bytes of files of 100 kB to 1 MB that comes from the device.
    device_share: f64,
    /// The relative scatter of `device_share`.
    device_scatter: f64,
}

const EVEN_TIMES: TimeModel = TimeModel {
    bytes_per_s: 3e9,
    fixed_ns: 0.0,
    band_rate_ratio: 1.0,
    middle_rate_ratio: 1.0,
    time_scatter: 1e-4,
    device_share: 1.0,
    device_scatter: 0.0,
};

/// The models of reads, of writes, and of reads that bypass the page cache.
#[derive(Debug, Clone, Copy)]
struct Sweep {
    read: TimeModel,
    write: TimeModel,
    direct: TimeModel,
}

fn sweep_of_reads(read: TimeModel) -> Sweep {
    Sweep { read, write: EVEN_TIMES, direct: EVEN_TIMES }
}

fn sweep_of_writes(write: TimeModel) -> Sweep {
    Sweep { read: EVEN_TIMES, write, direct: EVEN_TIMES }
}

/// The sweeps that make a claim hold, that contradict it, and that decide nothing.
struct Scripts {
    /// The first words of the claim.
    claim_start: &'static str,
    holds: Sweep,
    fails: Sweep,
    noisy: Sweep,
}

fn scripts() -> Vec<Scripts> {
    let line = |claim_start, of: fn(TimeModel) -> Sweep, holds, fails, noisy| Scripts {
        claim_start,
        holds: of(holds),
        fails: of(fails),
        noisy: of(noisy),
    };
    let rate = |bytes_per_s| TimeModel { bytes_per_s, ..EVEN_TIMES };
    let fixed = |fixed_ns| TimeModel { fixed_ns, ..EVEN_TIMES };
    let band = |band_rate_ratio| TimeModel { band_rate_ratio, ..EVEN_TIMES };
    let device = |device_share| TimeModel { device_share, ..EVEN_TIMES };
    let noisy = |times, time_scatter| TimeModel { time_scatter, ..times };
    let unsure = |device_share| TimeModel { device_share, device_scatter: 0.2, ..EVEN_TIMES };
    let steep = TimeModel { middle_rate_ratio: 3.0, ..EVEN_TIMES };
    vec![
        line("the newer machine reads", sweep_of_reads, rate(4e9), rate(1e9), noisy(rate(2.2e9), 0.2)),
        line(
            "the newer machine does not write",
            sweep_of_writes,
            rate(2e9),
            rate(5e9),
            noisy(rate(2.9e9), 0.2),
        ),
        line("reading a file has a fixed", sweep_of_reads, fixed(1e5), fixed(1e7), noisy(fixed(1e6), 0.05)),
        line("writing a file has a fixed", sweep_of_writes, fixed(1e5), fixed(1e7), noisy(fixed(1e6), 0.05)),
        line(
            "the rate by the slope and the median rate agree for reads",
            sweep_of_reads,
            EVEN_TIMES,
            fixed(3e6),
            noisy(EVEN_TIMES, 0.3),
        ),
        line(
            "the rate by the slope and the median rate agree for writes",
            sweep_of_writes,
            EVEN_TIMES,
            fixed(3e6),
            noisy(EVEN_TIMES, 0.3),
        ),
        line("files of 100 kB", sweep_of_reads, band(3.0), EVEN_TIMES, noisy(band(2.0), 0.2)),
        line("files of 2 MB", sweep_of_reads, EVEN_TIMES, steep, noisy(EVEN_TIMES, 0.4)),
        line("writes have no such band", sweep_of_writes, EVEN_TIMES, band(3.0), noisy(band(1.25), 0.2)),
        line("a cache", sweep_of_reads, device(0.2), EVEN_TIMES, unsure(0.5)),
        line("the drive", sweep_of_reads, EVEN_TIMES, device(0.5), unsure(0.95)),
        line("the line", sweep_of_reads, fixed(-1e3), fixed(1e7), noisy(EVEN_TIMES, 0.05)),
        line(
            "the disk",
            |direct| Sweep { read: EVEN_TIMES, write: EVEN_TIMES, direct },
            EVEN_TIMES,
            rate(9e9),
            noisy(rate(3.3e9), 0.3),
        ),
    ]
}

const SIZES: [u64; 14] = [
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    20_000_000,
    100_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
];
const FILES_PER_SIZE: usize = 5;

/// The record of a script for a claim about a sweep.
pub(super) fn record(claim: &Claim, script: Script) -> Record {
    let scripts = scripts();
    let found = scripts.iter().find(|it| claim.statement.starts_with(it.claim_start));
    let it = found.unwrap_or_else(|| panic!("no script for '{}'", claim.statement));
    record_of(script.choose(it.holds, it.fails, it.noisy))
}

/// Files with a fixed cost of 100 µs whose times scatter by a tenth: the errors grow with the size.
pub(super) fn record_with_errors_in_proportion() -> Record {
    let times = TimeModel { fixed_ns: 1e5, time_scatter: 0.1, ..EVEN_TIMES };
    record_of(Sweep { read: times, write: times, direct: EVEN_TIMES })
}

fn record_of(sweep: Sweep) -> Record {
    let mut record = Record::new(Header { kind: RunKind::Sweep, ..testing::header() });
    for nth in 0..SIZES.len() * FILES_PER_SIZE {
        add_file(&mut record, nth, sweep);
    }
    record
}

fn add_file(record: &mut Record, nth: usize, sweep: Sweep) {
    let size_bytes = SIZES[nth % SIZES.len()];
    record.add(testing::target_line_of_size(nth, size_bytes));
    let times = WriteTimes { write_ns: sweep.write.wall_ns(nth, size_bytes), sync_ns: None };
    record.add(Line::Write { target: TargetIndex::new(nth), way: WriteWay::Plain, times });
    for (method, name, times) in
        [(0, "rust/read@buffer=1MiB", sweep.read), (1, "rust/direct@buffer=1MiB", sweep.direct)]
    {
        let index = 2 * nth + method;
        let Line::Trial(mut trial) = testing::trial_line(index, name, CacheState::Cold, Cache::Through)
        else {
            unreachable!("a trial is a line of a trial")
        };
        trial.target = TargetIndex::new(nth);
        record.add(Line::Trial(trial));
        let sample = Sample {
            trial: TrialIndex::new(index),
            turn_readings: 1,
            wall_ns: times.wall_ns(nth, size_bytes),
            device_read_bytes: Some(times.device_bytes(nth, size_bytes)),
            ..Sample::default()
        };
        record.add(Line::Sample(Box::new(sample)));
        testing::add_outcome(record, index, Outcome::Measured);
    }
}

impl TimeModel {
    fn wall_ns(&self, nth: usize, size_bytes: u64) -> u64 {
        let size = size_bytes as f64;
        let factor = match size_bytes {
            100_000..=1_000_000 => self.band_rate_ratio,
            2_000_000..=500_000_000 => self.middle_rate_ratio,
            _ => 1.0,
        };
        let even = size * 1e9 / (self.bytes_per_s * factor);
        ((even + self.fixed_ns) * scatter(nth, self.time_scatter)).round() as u64
    }

    fn device_bytes(&self, nth: usize, size_bytes: u64) -> u64 {
        let is_band = (100_000..=1_000_000).contains(&size_bytes);
        let share = if is_band { self.device_share * scatter(nth, self.device_scatter) } else { 1.0 };
        (size_bytes as f64 * share) as u64
    }
}

/// One of two factors. Successive files of one size have different factors.
fn scatter(nth: usize, noise: f64) -> f64 {
    if (nth + nth / SIZES.len()).is_multiple_of(2) { 1.0 + noise } else { 1.0 / (1.0 + noise) }
}
