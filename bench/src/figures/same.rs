//! Figure: eight identical commands with different spellings, raced as a user would race them. It
//! shows how many pairs are called different, with all rules that stop a race early, and how often
//! the ratios of the winner, which was chosen because it looked fast, hold 1. In a race of twelve
//! rounds it shows how wide the intervals are for the pairs of readings that they have.

use crate::pairs;
use crate::pairwise::{Pairwise, half_width};
use crate::programs::{Lab, Programs, Race};
use crate::row::{Row, Share};
use anyhow::Context;
use readlab_analysis::stats::{Confidence, Observation, ratio_interval};
use readlab_model::sample::Sample;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::{Record, TrialRecord};
use std::path::Path;
use std::time::Instant;

pub(super) const ABOUT: &str =
    "pairs called different in races of eight identical commands, 64 MiB, both states";

const FILE_SIZE: Bytes = Bytes(64 << 20);
const STATES: [CacheState; 2] = [CacheState::Cold, CacheState::Warm];
const RACES: usize = 20;
const REFERENCE: &str = "command/wc -l {}";
/// Spellings of the same program with the same work. They race against `wc -l {}`, which takes part
/// in every race.
const SPELLINGS: [&str; 7] = [
    "wc --lines {}",
    "wc -l -- {}",
    "wc --lines -- {}",
    "/usr/bin/wc -l {}",
    "/usr/bin/wc --lines {}",
    "/usr/bin/wc -l -- {}",
    "/usr/bin/wc --lines -- {}",
];
const DIFFERENT_SHARE_MAX: f64 = 0.03;
const WINNER_HOLDS_MIN: f64 = 0.9;
/// The number of rounds of a race that no comparison ends.
const FIXED_ROUNDS: &str = "12";
/// Largest half-width of a ratio's interval, divided by that of the signed-rank test for the same
/// pairs.
const WIDTH_RATIO_MAX: f64 = 1.05;

struct RaceResult {
    pairwise: Pairwise,
    seconds: f64,
}

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE_SIZE)?;
    let races = programs.in_turns(programs.repeats(RACES), |lab, seed| race(programs, lab, &file, seed))?;
    let mut rows = Vec::new();
    for (lab, results) in &races {
        let figure = format!("half-width of -r {FIXED_ROUNDS} ÷ signed rank");
        let width = Row::or_failed(figure.clone(), width_row(programs, lab, &file, figure));
        let found = race_rows(results).into_iter().chain([width]);
        rows.extend(found.map(|row| row.for_revision(lab.revision)));
    }
    Ok(rows)
}

fn race(programs: &Programs, lab: &Lab, file: &Path, seed: usize) -> anyhow::Result<RaceResult> {
    let seed = seed.to_string();
    let options = with_spellings(&["--seed", &seed]);
    let start = Instant::now();
    let race = Race { name: "same", trials: &[], file, state: None, options: &options };
    let record = programs.start_with(lab, &race)?.finish()?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(RaceResult { pairwise: Pairwise::compare(lab, &record)?, seconds })
}

fn with_spellings<'a>(options: &[&'a str]) -> Vec<&'a str> {
    let mut options = options.to_vec();
    options.extend(["--method", REFERENCE]);
    options.extend(SPELLINGS.iter().flat_map(|spelling| ["--command", *spelling]));
    options
}

fn race_rows(races: &[RaceResult]) -> Vec<Row> {
    let mut rows = Vec::new();
    for state in STATES.map(|state| state.to_string()) {
        let share = |of_race: fn(&Pairwise, &str) -> Share| {
            races.iter().map(|it| of_race(&it.pairwise, &state)).fold(Share::default(), Share::plus)
        };
        let different = share(Pairwise::distinguished_pairs);
        rows.push(different.row_at_most(format!("{state}: pairs called different"), DIFFERENT_SHARE_MAX));
        let ties = share(Pairwise::ties_of_first);
        rows.push(ties.row_at_least(format!("{state}: ratios of the winner hold 1"), WINNER_HOLDS_MIN));
    }
    let seconds: Vec<f64> = races.iter().map(|it| it.seconds).collect();
    rows.push(Row::judged_seconds("time of a race", None, &seconds));
    rows
}

/// Races a fixed number of warm rounds, and compares the reported intervals with those of the
/// signed-rank test for the same pairs.
fn width_row(programs: &Programs, lab: &Lab, file: &Path, figure: String) -> anyhow::Result<Row> {
    let options = with_spellings(&["--runs", FIXED_ROUNDS]);
    let state = Some(CacheState::Warm);
    let race = Race { name: "same-fixed", trials: &[], file, state, options: &options };
    let path = programs.start_with(lab, &race)?.finish()?;
    let (record, export) = (Record::read(&path)?, lab.export(&path)?);
    let mut widths = Vec::new();
    for trial in export.measured() {
        let reference = export.measured().find(|it| trial.is_compared_with(&it.id));
        let Some((reported, reference)) = trial.interval().zip(reference) else { continue };
        let [slow, fast] = [reference, trial].map(|it| independent_rounds(&record.trials[it.index]));
        let by_ranks = ratio_interval(slow, fast, Confidence::REPORTED).context("too few rounds")?;
        widths.push(half_width(reported) / half_width(by_ranks));
    }
    let width = pairs::median(widths.iter().copied());
    let words = format!("{width:.2}, median of {} ratios", widths.len());
    Ok(Row::judged(figure, format!("at most {WIDTH_RATIO_MAX:.2}"), width, width <= WIDTH_RATIO_MAX, words))
}

/// The wall times of a trial, each in a fill of its own.
fn independent_rounds(trial: &TrialRecord) -> Vec<Observation> {
    let observation = |sample: Sample| Observation { fill: sample.round, ..Observation::from(&sample) };
    trial.samples.iter().map(observation).collect()
}
