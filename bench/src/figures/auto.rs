//! Figure: whether `auto` is as fast as the best fixed method, wherever the file is and whatever
//! part of it is cached, and `files-auto` for many files.
//!
//! For each case the fixed methods race once to find the best. Then the best method and `auto` race
//! again, alone, pair by pair. (The best of many noisy medians is too low because of its noise. In
//! a new race it is not.) They race several times, because the memory that a process gets may
//! double the time of all its readings. Each race gives one ratio. If the ratios do not decide the
//! case, the two race again, more often, and only the new races count. So the repetition cannot
//! select the result. The lab has no state "half cached". The bench makes this state before each
//! reading, and lets the methods take turns within this process.

use crate::made::Cleanup;
use crate::made::file_system::FileSystem;
use crate::pairs::{self, PairRatio};
use crate::programs::{Programs, Race, measured_trial};
use crate::row::Row;
use anyhow::Context;
use readlab_analysis::stats::{self, Confidence};
use readlab_measure::cache::{EvictionScope, PageCache, TargetCache};
use readlab_model::trial::{CacheState, TrialId};
use readlab_model::units::Bytes;
use readlab_record::Record;
use readlab_rust::method::registry;
use readlab_rust::{Reading, Work};
use std::fs::File;
use std::io::Read;
use std::path::Path;

pub(super) const ABOUT: &str = "the best fixed method's time against that of rust/auto, pair by pair; against memory, wc -l and the device; of many files";

/// How much longer than the best fixed method `auto` may take.
const TOLERANCE: f64 = 0.03;

const SINGLE_THREADED: [&str; 6] = [
    "rust/buffered@buffer=64KiB",
    "rust/read@buffer=128KiB",
    "rust/mmap",
    "rust/direct@buffer=1MiB",
    "rust/io_uring@buffer=128KiB,depth=16,direct=1,registered=1",
    "rust/io_uring@buffer=1MiB,depth=8,direct=1,registered=1",
];

const MULTI_THREADED: [&str; 2] = ["rust/pread@threads=all", "rust/mmap@threads=all"];

const ONE_THREAD: &str = "rust/auto@threads=1";
const ALL_THREADS: &str = "rust/auto";

const LARGE_FILE_SIZE: Bytes = Bytes(250_000_000);

/// States and sizes on the default file system.
const STATES_AND_SIZES: [(CacheState, Bytes); 5] = [
    (CacheState::Warm, Bytes(10_000)),
    (CacheState::Warm, Bytes(100_000_000)),
    (CacheState::Warm, LARGE_FILE_SIZE),
    (CacheState::Cold, Bytes(1_000_000)),
    (CacheState::Cold, LARGE_FILE_SIZE),
];

/// Other file systems, with the states that a file can have there.
const OTHER_FILE_SYSTEMS: [(&str, FileSystem, &[CacheState]); 4] = [
    ("on tmpfs", FileSystem::Memory, &[CacheState::Warm]),
    ("on btrfs with zstd", FileSystem::Compressed, &[CacheState::Warm, CacheState::Cold]),
    ("on xfs", FileSystem::Xfs, &[CacheState::Warm, CacheState::Cold]),
    ("on overlayfs", FileSystem::Overlay, &[CacheState::Warm, CacheState::Cold]),
];
const OTHER_FILE_SYSTEMS_SIZE: Bytes = Bytes(128 << 20);

const FILES_AUTO: &str = "rust/files-auto/memchr";
const OTHER_FILES_METHODS: [&str; 5] = [
    "rust/read/memchr@buffer=64KiB",
    "rust/files-threads/memchr@threads=all",
    "rust/files-threads/memchr@threads=64",
    "rust/files-io_uring/memchr",
    "rust/files-ahead/memchr",
];
const SOURCE_FILES: usize = 5_000;

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (state, size) in STATES_AND_SIZES {
        let file = programs.lines(size)?;
        for auto in [ONE_THREAD, ALL_THREADS] {
            rows.push(compare(programs, &file, state, auto, &format!("{state} {size}")));
        }
    }
    for auto in [ONE_THREAD, ALL_THREADS] {
        let figure = format!("{auto}, half cached {LARGE_FILE_SIZE}");
        rows.push(Row::or_failed(figure.clone(), compare_half_cached(programs, auto, figure)));
    }
    for (name, file_system, states) in OTHER_FILE_SYSTEMS {
        let mut cleanup = Cleanup::default();
        match file_system.make(&mut cleanup, programs, OTHER_FILE_SYSTEMS_SIZE) {
            Err(error) => rows.push(Row::failed(name, &error)),
            Ok(file) => rows.extend(
                states
                    .iter()
                    .map(|&state| compare(programs, &file, state, ALL_THREADS, &format!("{state} {name}"))),
            ),
        }
    }
    rows.extend(Row::all_or_failed("limits", compare_with_limits(programs)));
    for state in [CacheState::Cold, CacheState::Warm] {
        let figure = format!("files-auto, {state}, {SOURCE_FILES} files of source code");
        rows.push(Row::or_failed(figure.clone(), compare_files_auto(programs, state, figure)));
    }
    Ok(rows)
}

/// The fixed methods that `auto` with this number of threads is compared with.
fn fixed_methods(auto: &str) -> Vec<&'static str> {
    if auto == ONE_THREAD {
        SINGLE_THREADED.to_vec()
    } else {
        [&SINGLE_THREADED[..], &MULTI_THREADED].concat()
    }
}

/// The time of the best fixed method over that of `auto`, in races of those two alone.
fn compare(programs: &Programs, file: &Path, state: CacheState, auto: &str, case: &str) -> Row {
    let figure = format!("{auto}, {case}");
    let race = |name, trials: &[&str], runs| {
        let options = ["--runs", runs, "--fills", runs];
        programs.race(&Race { name, trials, file, state: Some(state), options: &options })
    };
    let found = || {
        let heat = race("auto-heat", &fixed_methods(auto), "5")?;
        let best = pairs::fastest(heat.trials.iter().filter(|it| it.is_measured()));
        let best = best.context("no fixed method was measured")?.trial.id.to_string();
        let ratio = measure_until_decided(|races| {
            mean_over_races(
                (0..races).map(|_| ratio_of(&race("auto-final", &[auto, &best], "5")?, &best, auto)),
            )
        })?;
        Ok(comparison_row(figure.clone(), &ratio, &best))
    };
    Row::or_failed(&figure, found())
}

fn comparison_row(figure: String, ratio: &PairRatio, best: &str) -> Row {
    ratio.row_at_least(figure, 1.0 - TOLERANCE).and(&format!("  {best}"))
}

fn ratio_of(record: &Record, slow: &str, fast: &str) -> anyhow::Result<f64> {
    Ok(pairs::of_trials(measured_trial(record, slow)?, measured_trial(record, fast)?)?.estimate)
}

/// The geometric mean of ratios, each from its own race.
fn mean_over_races(ratios: impl Iterator<Item = anyhow::Result<f64>>) -> anyhow::Result<PairRatio> {
    let logs = ratios.map(|ratio| Ok(ratio?.ln())).collect::<anyhow::Result<Vec<f64>>>()?;
    let ci95 = stats::mean_interval(&logs, Confidence::REPORTED).map(|ends| ends.map(f64::exp));
    Ok(PairRatio { estimate: stats::mean_and_sd(&logs).0.exp(), ci95 })
}

/// The ratio of few races, or rounds. If they do not decide whether `auto` keeps up, and the
/// half-width of the interval exceeds 2 %, it is measured anew with more races.
fn measure_until_decided(measure: impl Fn(usize) -> anyhow::Result<PairRatio>) -> anyhow::Result<PairRatio> {
    const FEW_RACES: usize = 5;
    const MANY_RACES: usize = 10;
    const HALF_WIDTH_MAX: f64 = 0.02;
    let ratio = measure(FEW_RACES)?;
    let least = 1.0 - TOLERANCE;
    let is_decided = ratio.ci95.is_some_and(|ends| {
        ends.low >= least || ends.high < least || ends.half_width() <= HALF_WIDTH_MAX * ratio.estimate
    });
    if is_decided { Ok(ratio) } else { measure(MANY_RACES) }
}

/// How much of the limits `auto` reaches, in races of `auto` and all limits for each state.
fn compare_with_limits(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    const RACES: usize = 4;
    const WC_COMMAND: &str = "command/wc -l {}";
    const MEMORY_LIMITS: [&str; 2] = ["rust/resident", "rust/resident@threads=all"];
    const DEVICE_LIMITS: [&str; 5] = [
        "rust/device@buffer=128KiB,depth=16",
        "rust/device@buffer=128KiB,depth=32",
        "rust/device@buffer=512KiB,depth=8",
        "rust/device@buffer=1MiB,depth=8",
        "rust/device@buffer=1MiB,depth=4,threads=2",
    ];
    let file = programs.lines(Bytes(256 << 20))?;
    let races = |trials: &[&str], state| {
        let options = ["--runs", "5", "--fills", "5"];
        let race = Race { name: "auto-limits", trials, file: &file, state: Some(state), options: &options };
        (0..RACES).map(|_| programs.race(&race)).collect::<anyhow::Result<Vec<Record>>>()
    };
    let warm =
        races(&[ONE_THREAD, ALL_THREADS, MEMORY_LIMITS[0], MEMORY_LIMITS[1], WC_COMMAND], CacheState::Warm)?;
    let cold = races(&[&[ALL_THREADS], &DEVICE_LIMITS[..]].concat(), CacheState::Cold)?;
    let time = |setting: &&str| {
        pairs::median(cold.iter().map(|it| measured_trial(it, setting).map_or(f64::INFINITY, pairs::wall_ns)))
    };
    let device =
        DEVICE_LIMITS.iter().min_by(|a, b| time(a).total_cmp(&time(b))).context("a device has settings")?;
    let row = |(records, auto, limit, least): (&[Record], &str, &str, f64)| {
        let figure = format!("{auto} against {limit}, 256 MiB");
        let found = mean_over_races(records.iter().map(|record| ratio_of(record, limit, auto)));
        Row::or_failed(figure.clone(), found.map(|ratio| ratio.row_at_least(figure, least)))
    };
    let targets = [
        (&warm[..], ONE_THREAD, MEMORY_LIMITS[0], 0.95),
        (&warm, ALL_THREADS, MEMORY_LIMITS[1], 0.95),
        (&warm, ONE_THREAD, WC_COMMAND, 2.0),
        (&warm, ALL_THREADS, WC_COMMAND, 3.0),
        (&cold, ALL_THREADS, device, 0.95),
    ];
    Ok(targets.into_iter().map(row).collect())
}

/// The time of the best other method over that of `files-auto`, in the same rounds.
fn compare_files_auto(programs: &Programs, state: CacheState, figure: String) -> anyhow::Result<Row> {
    let folder = programs.source_tree(SOURCE_FILES)?;
    let mut options = vec!["--runs", "20", "--fills", "5", "--budget", "20m"];
    options.extend([FILES_AUTO].iter().chain(&OTHER_FILES_METHODS).flat_map(|method| ["--method", method]));
    let race = Race { name: "auto-files", trials: &[], file: &folder, state: Some(state), options: &options };
    let record = programs.race(&race)?;
    let auto = measured_trial(&record, FILES_AUTO)?;
    let others = record
        .trials
        .iter()
        .filter(|it| it.is_measured() && !it.trial.is_control() && it.trial.method() != auto.trial.method());
    let ratios = others.filter_map(|other| Some((other, pairs::of_trials(other, auto).ok()?)));
    let lowest = ratios.min_by(|(_, a), (_, b)| a.estimate.total_cmp(&b.estimate));
    let (other, ratio) = lowest.context("no other was measured")?;
    let ratio = PairRatio { estimate: ratio.estimate, ci95: ratio.ci95.map(|it| it.ends) };
    Ok(comparison_row(figure, &ratio, &other.trial.id.to_string()))
}

fn compare_half_cached(programs: &Programs, auto: &str, figure: String) -> anyhow::Result<Row> {
    let file = programs.lines(LARGE_FILE_SIZE)?;
    let fixed = fixed_methods(auto);
    let heat = half_cached_walls(&file, &fixed, 5)?;
    let medians = heat.into_iter().map(pairs::median);
    let best = fixed.iter().zip(medians).min_by(|(_, a), (_, b)| a.total_cmp(b));
    let (&best, _) = best.context("no fixed method")?;
    let ratio = measure_until_decided(|rounds| {
        let fresh = half_cached_walls(&file, &[best, auto], rounds)?;
        let pairs: Vec<(f64, f64)> = fresh[0].iter().copied().zip(fresh[1].iter().copied()).collect();
        Ok(pairs::ratio(&pairs))
    })?;
    Ok(comparison_row(figure, &ratio, best))
}

fn half_cached_walls(file: &Path, methods: &[&str], rounds: usize) -> anyhow::Result<Vec<Vec<f64>>> {
    let cache = PageCache::open(file, EvictionScope::OfFile)?;
    let mut readings =
        methods.iter().map(|method| reading_of_trial(method, file)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut walls = vec![Vec::new(); methods.len()];
    for _ in 0..rounds {
        for (reading, walls) in readings.iter_mut().zip(&mut walls) {
            cache.evict()?;
            std::io::copy(&mut File::open(file)?.take(LARGE_FILE_SIZE.0 / 2), &mut std::io::sink())?;
            walls.push(stats::float(reading.sample()?.wall_ns));
        }
    }
    Ok(walls)
}

/// The trial of this name as a reading within this process, with the best available scan.
fn reading_of_trial(name: &str, file: &Path) -> anyhow::Result<Reading> {
    let id = TrialId::parse_written(name)?;
    let method = registry::find(&id.method.method).with_context(|| format!("{name}: no such method"))?;
    let scan = method.scans(Work::Newlines)[0];
    let spelled = |(given, &value): (&String, &u64)| {
        let param = method.params.iter().find(|param| param.name == given);
        param.map(|param| (param.name, value)).with_context(|| format!("{name}: no parameter {given}"))
    };
    let settings = id.params.0.iter().map(spelled).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Reading::new(method.name, scan, Work::Newlines, file, settings)?)
}
