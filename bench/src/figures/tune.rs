//! Figure: whether a search finds a setting as good as an exhaustive measurement does, in a fifth
//! of the readings; and whether it calls two identical contenders different.
//!
//! In turns on the same file: the search, then every setting of the same space ten times. The
//! results of both are then raced again, alone, pair by pair: the best of many medians is too low
//! because of its noise, in both cases.

use crate::pairs;
use crate::programs::{Programs, Race, Search};
use crate::row::Row;
use anyhow::Context;
use readlab_analysis::stats::{self, EXHAUSTIVE_READINGS, Significance};
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::{Record, TrialRecord};
use std::collections::BTreeSet;

pub(super) const ABOUT: &str =
    "tune: the search's setting against the best of an exhaustive run of the same space, and A against A";
pub(super) const ABOUT_OBJECTS: &str = "tune-objects: the same over S3";

const SMALL: Bytes = Bytes(64 << 10);
const SHARE: f64 = 0.20;
const TWINS: [&str; 2] = ["first/read/iterator@buffer=64KiB", "second/read/iterator@buffer=64KiB"];
/// The number of races of A against A, and how many of them may be called different.
const COMPARISONS: usize = 200;
const DIFFERENT: f64 = 0.05;

/// What is searched, and how good the search must be.
struct Ground {
    name: &'static str,
    size: Bytes,
    state: CacheState,
    methods: &'static [&'static str],
    /// Of the search and of what it is compared with.
    options: &'static [&'static str],
    space: &'static [&'static str],
    /// So much longer a reading may take.
    tolerance: f64,
}

/// Seventy settings or so in each state, so that a fifth of their readings is enough for a search.
const METHODS: &[&str] = &[
    "rust/buffered",
    "rust/read",
    "rust/pread",
    "rust/vectored",
    "rust/mmap",
    "rust/io_uring",
    "rust/direct",
];
const SPACE: &[&str] = &[
    "--space",
    "buffer=16KiB|64KiB|256KiB|1MiB|4MiB,depth=1|4|16|64,threads=1..all,populate=0|1,sequential=0|1,direct=0|1",
];

const GROUNDS: [Ground; 2] = [
    Ground {
        name: "warm",
        size: Bytes(256 << 20),
        state: CacheState::Warm,
        methods: METHODS,
        options: &[],
        space: SPACE,
        tolerance: 0.03,
    },
    Ground {
        name: "cold",
        size: Bytes(256 << 20),
        state: CacheState::Cold,
        methods: METHODS,
        options: &[],
        space: SPACE,
        tolerance: 0.03,
    },
];

/// The usual space, which bounds the memory in flight.
const OBJECTS: Ground = Ground {
    name: "over S3, warm",
    size: Bytes(64 << 20),
    state: CacheState::Warm,
    methods: &["rust/http-ranged", "rust-objects/ranged", "rust-objects/coalesced"],
    options: &["--s3"],
    space: &[],
    tolerance: 0.02,
};

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for ground in &GROUNDS {
        let found = against_exhaustive(programs, ground);
        rows.extend(found.unwrap_or_else(|error| vec![Row::failed(ground.name, &error)]));
    }
    let twins = identical(programs);
    rows.push(twins.unwrap_or_else(|error| Row::failed("two identical contenders", &error)));
    Ok(rows)
}

pub(super) fn measure_objects(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    against_exhaustive(programs, &OBJECTS)
}

/// The setting of the search against the exhaustive best, and how many readings the search took.
fn against_exhaustive(programs: &Programs, ground: &Ground) -> anyhow::Result<Vec<Row>> {
    let &Ground { name, state, options: own, .. } = ground;
    let file = &programs.lines(ground.size)?;
    let named = |methods: &[&str]| -> Vec<String> {
        methods.iter().flat_map(|method| ["--method".to_owned(), (*method).to_owned()]).collect()
    };
    let with = |methods: &[String], options: &[&str]| -> Vec<String> {
        let options = own.iter().chain(options).map(|option| (*option).to_owned());
        methods.iter().cloned().chain(options).collect()
    };
    let options = with(&named(ground.methods), &[ground.space, &["--budget", "20m"]].concat());
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let search = programs.tune(&Search { name: "tune", file, state, options: &options })?;
    let settings: Vec<String> = searched(&search).map(|trial| trial.trial.id.to_string()).collect();
    let names: Vec<&str> = settings.iter().map(String::as_str).collect();
    let readings = EXHAUSTIVE_READINGS.to_string();
    let race = |name, trials: &[&str], options: &[&str]| {
        let options = with(&named(trials), options);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        programs.race(&Race { name, trials: &[], file, state: Some(state), options: &options })
    };
    let exhaustive =
        race("exhaustive", &names, &["--runs", &readings, "--fills", &readings, "--budget", "60m"])?;
    let (by_search, by_all) = (best(&search)?, best(&exhaustive)?);
    let share = share(&search, settings.len());
    let taken = Row::judged(
        format!("{name}: readings of the search"),
        "at most 20 % of the exhaustive",
        share,
        share <= SHARE,
        format!(
            "{:.1} % of {} of {} settings",
            share * 100.0,
            settings.len() * EXHAUSTIVE_READINGS,
            settings.len()
        ),
    );
    let figure = format!("{name}: the search's setting against the exhaustive best");
    let target = format!("within {:.0} %", ground.tolerance * 100.0);
    let both = format!("{by_search} against {by_all}");
    if by_search == by_all {
        return Ok(vec![Row::judged(figure, &target, 1.0, true, format!("the same: {by_all}")), taken]);
    }
    let afresh = race("tune-afresh", &[&by_search, &by_all], &["--runs", "30", "--fills", "30"])?;
    let of = |id: &str| {
        let found = afresh.trials.iter().find(|trial| trial.trial.id.to_string() == id);
        found.with_context(|| format!("{id} was not measured"))
    };
    let ratio = stats::ratio(&of(&by_search)?.samples, &of(&by_all)?.samples);
    let ratio = ratio.context("no round holds both")?;
    let words = format!("{:.3} times its time, {both}", ratio.estimate);
    let row = Row::judged(figure, &target, ratio.estimate, ratio.estimate <= 1.0 + ground.tolerance, words);
    Ok(vec![row.with(ratio.ci95), taken])
}

/// The settings that a search read.
fn searched(record: &Record) -> impl Iterator<Item = &TrialRecord> {
    record.trials.iter().filter(|trial| !trial.trial.is_control() && !trial.searched.is_empty())
}

/// The name of the trial with the best median of the reported readings, without the search's
/// reference.
fn best(record: &Record) -> anyhow::Result<String> {
    let is_reference = |trial: &TrialRecord| Some(&trial.trial.id) == record.header.reference.as_ref();
    let told = record
        .trials
        .iter()
        .filter(|trial| !trial.trial.is_control() && !trial.samples.is_empty() && !is_reference(trial));
    let median =
        |trial: &&TrialRecord| pairs::median(&pairs::floats(trial.samples.iter().map(|it| it.wall_ns)));
    let best = told.min_by(|a, b| median(a).total_cmp(&median(b))).context("nothing was measured")?;
    Ok(best.trial.id.to_string())
}

/// The turns of a search and of its fresh measurement over those of the exhaustive run.
#[expect(clippy::cast_precision_loss, reason = "a few thousand turns")]
fn share(search: &Record, settings: usize) -> f64 {
    let turns = |trial: &TrialRecord| {
        let samples = trial.searched.iter().chain(&trial.samples);
        samples.map(|sample| sample.round).collect::<BTreeSet<_>>().len()
    };
    let reading = search.trials.iter().filter(|trial| !trial.trial.is_control());
    reading.map(turns).sum::<usize>() as f64 / (settings * EXHAUSTIVE_READINGS) as f64
}

/// Searches among two contenders that are the same program, again and again.
#[expect(clippy::cast_precision_loss, reason = "a few hundred comparisons")]
fn identical(programs: &Programs) -> anyhow::Result<Row> {
    let file = programs.lines(SMALL)?;
    let roster = programs.twins(["first", "second"])?;
    let mut different = 0;
    for seed in 0..COMPARISONS {
        let seed = seed.to_string();
        let options = ["--roster", &roster, "--method", TWINS[0], "--method", TWINS[1], "--seed", &seed];
        let search = programs.tune(&Search {
            name: "twins",
            file: &file,
            state: CacheState::Warm,
            options: &options,
        })?;
        let of = |name: &str| {
            search.trials.iter().find(|trial| trial.trial.contender() == name && !trial.samples.is_empty())
        };
        let (first, second) = of("first").zip(of("second")).context("a twin was not measured")?;
        let ratio = stats::ratio(&first.samples, &second.samples);
        let clear = ratio.and_then(|ratio| ratio.clear());
        different += usize::from(matches!(clear, Some(Significance::Faster | Significance::Slower)));
    }
    let share = different as f64 / COMPARISONS as f64;
    let words = format!("{different} of {COMPARISONS} called different");
    Ok(Row::judged("two identical contenders", "at most 5 %", share, share <= DIFFERENT, words))
}
