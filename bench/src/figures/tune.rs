//! Figure: whether a search finds a setting as good as an exhaustive measurement does, in a fifth
//! of the readings, and whether it calls two identical contenders different.
//!
//! The search and an exhaustive measurement take turns on the same file. The latter reads every
//! setting of the same space ten times. The results of both then race again, alone, pair by pair,
//! because in both cases the best of many medians is too low by its noise.

use crate::pairs;
use crate::programs::{Programs, Race, RunningLab, measured_trial};
use crate::row::{Row, Share};
use anyhow::Context;
use readlab_analysis::stats::{EXHAUSTIVE_READINGS_PER_CANDIDATE, Significance, count_as_float};
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::{Record, TrialRecord};
use std::collections::BTreeSet;
use std::path::Path;

pub(super) const ABOUT: &str =
    "the search's setting against the best of an exhaustive run of the same space, and A against A";

const FILE_SIZE: Bytes = Bytes(128 << 20);
const OBJECT_SIZE: Bytes = Bytes(64 << 20);
const SMALL_FILE_SIZE: Bytes = Bytes(64 << 10);
const READINGS_SHARE_MAX: f64 = 0.20;
/// Readings by which the best settings of a search and of an exhaustive measurement are compared.
const AFRESH_READINGS: usize = 30;
const TWINS: [&str; 2] = ["first/read/iterator@buffer=64KiB", "second/read/iterator@buffer=64KiB"];
/// Number of races of A against A.
const COMPARISONS: usize = 40;
/// Share of those races that may call the two different.
const DIFFERENT_SHARE_MAX: f64 = 0.05;

/// The space to search, and how good the search must be.
pub(super) struct SearchTask<'a> {
    pub(super) name: &'a str,
    pub(super) state: CacheState,
    pub(super) methods: &'a [&'a str],
    /// Options of the search and of the exhaustive measurement.
    pub(super) options: &'a [&'a str],
    pub(super) space: &'a [&'a str],
    /// Share by which the reading may be longer than the exhaustive best.
    pub(super) tolerance: f64,
}

/// Methods with about seventy settings in each state, so that a fifth of the exhaustive readings is
/// enough for a search.
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

const WARM_TASK: SearchTask<'static> = SearchTask {
    name: "warm",
    state: CacheState::Warm,
    methods: METHODS,
    options: &[],
    space: SPACE,
    tolerance: 0.03,
};
/// The tasks, each with the size of its file.
const SEARCH_TASKS: [(Bytes, SearchTask<'static>); 3] = [
    (FILE_SIZE, WARM_TASK),
    (FILE_SIZE, SearchTask { name: "cold", state: CacheState::Cold, ..WARM_TASK }),
    // The default space, which bounds the memory in flight.
    (
        OBJECT_SIZE,
        SearchTask {
            name: "over S3, warm",
            methods: &["rust/http-ranged", "rust-objects/ranged", "rust-objects/coalesced"],
            options: &["--s3"],
            space: &[],
            tolerance: 0.02,
            ..WARM_TASK
        },
    ),
];

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let found = |(size, task): &(Bytes, SearchTask)| {
        let rows = programs.lines(*size).and_then(|file| compare_with_exhaustive(programs, &file, task));
        Row::all_or_failed(task.name, rows)
    };
    let mut rows: Vec<Row> = SEARCH_TASKS.iter().flat_map(found).collect();
    rows.push(Row::or_failed("two identical contenders", compare_identical_contenders(programs)));
    Ok(rows)
}

/// Searches this state, or both.
pub(super) fn search(
    programs: &Programs,
    file: &Path,
    state: Option<CacheState>,
    options: &[&str],
) -> anyhow::Result<Record> {
    let folder = programs.empty_folder("tune")?;
    let mut command = programs.lab.command("tune");
    if let Some(state) = state {
        command.args(["--state", &state.to_string()]);
    }
    command.args(["--quiet", "--output"]).arg(&folder);
    command.args(options).arg("--").arg(file);
    RunningLab::start(command, &folder)?.record()
}

/// Compares the setting of the search with the exhaustive best, and counts the readings that the
/// search took.
pub(super) fn compare_with_exhaustive(
    programs: &Programs,
    file: &Path,
    task: &SearchTask,
) -> anyhow::Result<Vec<Row>> {
    let &SearchTask { name, state, .. } = task;
    let options = with_methods(task.methods, &[task.options, task.space, &["--budget", "20m"]]);
    let search = search(programs, file, Some(state), &options)?;
    let settings: Vec<String> =
        searched_settings(&search, state).map(|trial| trial.trial.id.to_string()).collect();
    let names: Vec<&str> = settings.iter().map(String::as_str).collect();
    let race =
        |settings: &[&str], reading| race_settings(programs, file, state, settings, task.options, reading);
    let exhaustive = race(&names, Reading::Exhaustive)?;
    let (by_search, by_all) = (best_trial_name(&search, state)?, best_trial_name(&exhaustive, state)?);
    let share = turns_share(&search, settings.len());
    let taken = Row::judged(
        format!("{name}: readings of the search"),
        "at most 20 % of the exhaustive",
        share,
        share <= READINGS_SHARE_MAX,
        format!(
            "{:.1} % of {} of {} settings",
            share * 100.0,
            settings.len() * EXHAUSTIVE_READINGS_PER_CANDIDATE,
            settings.len()
        ),
    );
    let figure = format!("{name}: the search's setting against the exhaustive best");
    let target = format!("within {:.0} %", task.tolerance * 100.0);
    let both = format!("{by_search} against {by_all}");
    if by_search == by_all {
        return Ok(vec![Row::judged(figure, &target, 1.0, true, format!("the same: {by_all}")), taken]);
    }
    let afresh = race(&[&by_search, &by_all], Reading::Afresh)?;
    let ratio = pairs::of_trials(measured_trial(&afresh, &by_search)?, measured_trial(&afresh, &by_all)?)?;
    let words = format!("{:.3} times its time, {both}", ratio.estimate);
    let row = Row::judged(figure, &target, ratio.estimate, ratio.estimate <= 1.0 + task.tolerance, words);
    Ok(vec![row.with_interval(ratio.ci95.map(|it| it.ends)), taken])
}

/// How often each setting is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// As often as the exhaustive measurement of a space reads each setting.
    Exhaustive,
    /// Often enough to tell the best settings apart.
    Afresh,
}

/// Reads settings of one state, each in fills of its own.
pub(super) fn race_settings(
    programs: &Programs,
    file: &Path,
    state: CacheState,
    settings: &[&str],
    options: &[&str],
    reading: Reading,
) -> anyhow::Result<Record> {
    let (name, runs) = match reading {
        Reading::Exhaustive => ("exhaustive", EXHAUSTIVE_READINGS_PER_CANDIDATE),
        Reading::Afresh => ("tune-afresh", AFRESH_READINGS),
    };
    let runs = runs.to_string();
    let often = ["--runs", &runs, "--fills", &runs, "--budget", "60m"];
    let options = with_methods(settings, &[options, &often]);
    programs.race(&Race { name, trials: &[], file, state: Some(state), options: &options })
}

fn with_methods<'a>(methods: &[&'a str], options: &[&[&'a str]]) -> Vec<&'a str> {
    methods.iter().flat_map(|&method| ["--method", method]).chain(options.concat()).collect()
}

/// Every setting of a state: those that were read, and those that the search's model ruled out.
pub(super) fn searched_settings(record: &Record, state: CacheState) -> impl Iterator<Item = &TrialRecord> {
    trials_of(record, state).filter(|trial| !trial.search_samples.is_empty() || is_ruled_out(trial))
}

/// Settings of a state that have neither a reading nor a prediction.
pub(super) fn unknown_settings(record: &Record, state: CacheState) -> impl Iterator<Item = &TrialRecord> {
    let is_unread = |trial: &TrialRecord| trial.search_samples.is_empty() && trial.samples.is_empty();
    trials_of(record, state).filter(move |trial| is_unread(trial) && !is_ruled_out(trial))
}

fn is_ruled_out(trial: &TrialRecord) -> bool {
    trial.outcome.as_ref().is_some_and(|it| it.prediction().is_some())
}

fn trials_of(record: &Record, state: CacheState) -> impl Iterator<Item = &TrialRecord> {
    record.trials.iter().filter(move |it| !it.trial.is_control() && it.trial.state == state)
}

/// The name of the trial of a state with the best median of its reported readings, except the
/// search's reference.
pub(super) fn best_trial_name(record: &Record, state: CacheState) -> anyhow::Result<String> {
    let is_reference = |trial: &TrialRecord| Some(&trial.trial.id) == record.header.reference.as_ref();
    let reported = trials_of(record, state).filter(|trial| !trial.samples.is_empty() && !is_reference(trial));
    Ok(pairs::fastest(reported).context("nothing was measured")?.trial.id.to_string())
}

/// The turns of a search and of its final measurement, divided by the turns of the exhaustive run.
fn turns_share(search: &Record, settings: usize) -> f64 {
    let turns = |trial: &TrialRecord| {
        let samples = trial.search_samples.iter().chain(&trial.samples);
        samples.map(|sample| sample.round).collect::<BTreeSet<_>>().len()
    };
    let reading = search.trials.iter().filter(|trial| !trial.trial.is_control());
    count_as_float(reading.map(turns).sum()) / count_as_float(settings * EXHAUSTIVE_READINGS_PER_CANDIDATE)
}

/// Repeats searches among two contenders that are the same program.
fn compare_identical_contenders(programs: &Programs) -> anyhow::Result<Row> {
    let (file, roster) = (programs.lines(SMALL_FILE_SIZE)?, twin_roster(programs)?);
    let mut different = Share::default();
    for seed in 0..programs.repeats(COMPARISONS) {
        let seed = seed.to_string();
        let options = ["--roster", &roster, "--method", TWINS[0], "--method", TWINS[1], "--seed", &seed];
        let search = search(programs, &file, Some(CacheState::Warm), &options)?;
        let of = |name: &str| {
            search.trials.iter().find(|trial| trial.trial.contender() == name && !trial.samples.is_empty())
        };
        let (first, second) = of("first").zip(of("second")).context("a twin was not measured")?;
        let clear = pairs::of_trials(first, second)?.significance();
        different.count(matches!(clear, Some(Significance::Faster | Significance::Slower)));
    }
    Ok(different.row_at_most("two identical contenders called different", DIFFERENT_SHARE_MAX))
}

/// A roster that lists the lab's own Rust contender under two names.
fn twin_roster(programs: &Programs) -> anyhow::Result<String> {
    let script = |name: &str| -> anyhow::Result<String> {
        let script = programs.folder.join(format!("{name}.sh"));
        let renamed = format!(r#"s/"contender":"rust"/"contender":"{name}"/"#);
        let lab = programs.lab.program.display();
        std::fs::write(&script, format!("'{lab}' contender rust \"$@\" | sed -u '{renamed}'\n"))
            .with_context(|| script.display().to_string())?;
        Ok(script.display().to_string())
    };
    let (first, second) = (script("first")?, script("second")?);
    programs.roster("twins", &[("first", &["/bin/sh", &first]), ("second", &["/bin/sh", &second])])
}
