//! One side of a comparison: a machine and its cases, from a record or from a publication.

use super::case::{Case, CaseNoise, ComparisonKey, ConcurrentReaders, Figure, Statistic};
use super::measure::Measure;
use super::series;
use crate::noise::SharedNoise;
use crate::stats::{Observation, float};
use crate::verdict::busy_processors;
use clap::ValueEnum;
use readlab_model::target::TargetFacts;
use readlab_model::trial::{CacheState, TrialIndex};
use readlab_record::{Record, StartMode, TrialRecord};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

// A machine and what was measured on it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Side {
    // The record's name as the caller gave it, or the machine's name in a publication.
    pub name: String,
    /// One line that says where the side was measured.
    pub about: String,
    /// The known facts of the machine, by the names of the record's `machine`.
    #[serde(rename = "machine")]
    pub facts: BTreeMap<String, Value>,
    // Remarks on the side's numbers, one sentence each.
    pub notes: Vec<String>,
    #[serde(skip)]
    pub cases: Vec<Case>,
}

/// Facts of a machine that change from minute to minute and do not identify the machine.
const CHANGING_FACTS: [&str; 3] = ["memory_available_bytes", "load_1min", "clock_overhead_ns"];

impl Side {
    pub fn of_record(record: &Record, name: &str, place: &str) -> Side {
        let mut cases: Vec<(TrialIndex, Case)> = Vec::new();
        // Controls are compared only in a record that holds nothing but controls: a record of
        // limits.
        let only_controls = record.trials.iter().all(|it| it.trial.is_control());
        let is_compared = |it: &&TrialRecord| only_controls || !it.trial.is_control();
        let mut trials: Vec<&TrialRecord> = record.trials.iter().filter(is_compared).collect();
        let has_locations = record.header.locations.is_some();
        if has_locations {
            // The trials of all locations alternate in the record. A side lists them location by
            // location.
            trials.sort_by_key(|it| it.trial.target);
        }
        for it in trials {
            let case = case(record, it);
            let same = |(_, other): &&mut (TrialIndex, Case)| {
                // A file that a run reads at two locations is two cases, though the content is one.
                let path = |it: &Case| it.key.path.clone().filter(|_| has_locations);
                let place = |it: &Case| ComparisonKey { path: path(it), ..it.key.clone() };
                other.names == case.names && place(other) == place(&case)
            };
            match cases.iter_mut().find(same) {
                Some((_, other)) => merge_case(other, case),
                None => cases.push((it.trial.index, case)),
            }
        }
        share_noise(record, &mut cases);
        let cases = cases.into_iter().map(|(_, case)| case).chain(series::cases(record)).collect();
        let about = format!("{} · {place}", record.header.machine.summary());
        let cut_short = record.end.is_none().then(|| "the run was cut short".to_owned());
        let notes = cut_short.into_iter().collect();
        Side { name: name.to_owned(), about, facts: facts(record), notes, cases }
    }
}

/// The measures whose intervals come from the noise that all trials share.
pub(super) const SHARED_NOISE_MEASURES: [Measure; 2] = [Measure::Wall, Measure::Rate];

/// Estimates the noise of all cases of a state together, because they were read in the same rounds.
/// A case is identified by its first trial.
fn share_noise(record: &Record, cases: &mut [(TrialIndex, Case)]) {
    let states: BTreeSet<Option<CacheState>> = cases.iter().map(|(_, case)| case.key.state).collect();
    for (state, measure) in
        states.into_iter().flat_map(|state| SHARED_NOISE_MEASURES.map(|measure| (state, measure)))
    {
        let observed = cases.iter().filter_map(|(trial, case)| match case.figures.get(&measure)? {
            Figure::Samples(observed) if case.key.state == state => Some((*trial, observed)),
            _ => None,
        });
        let shared = Arc::new(SharedNoise::of_record(record, observed));
        for (trial, case) in cases.iter_mut().filter(|(trial, _)| shared.contains(*trial)) {
            case.noise.insert(measure, CaseNoise { shared: Arc::clone(&shared), trial: *trial });
        }
    }
}

/// Merges the trials of several files with the same content, as in a sweep, into one case.
fn merge_case(into: &mut Case, from: Case) {
    for (measure, figure) in from.figures {
        match (into.figures.get_mut(&measure), figure) {
            (Some(Figure::Samples(all)), Figure::Samples(more)) => all.extend(more),
            (None, figure) => {
                into.figures.insert(measure, figure);
            }
            _ => {}
        }
    }
    into.why_unmeasured = into.why_unmeasured.take().or(from.why_unmeasured);
}

/// Whether cold readings may come from a cache below the page cache; `None` where the layers below
/// were not examined.
pub(super) fn is_above_cache(target: &TargetFacts) -> Option<bool> {
    (!target.layers.is_empty()).then(|| target.unevictable_cache_names().is_some())
}

fn case(record: &Record, it: &TrialRecord) -> Case {
    let trial = &it.trial;
    let target = record.target_of(trial);
    // Under the settings that were found at the start, the trial is also comparable with the same
    // trial of a run that raced no settings.
    let has_initial_settings = target.is_none_or(TargetFacts::has_initial_settings);
    // A trial that is started for each reading is not the same case as one that keeps running.
    let with_start = |name: String| match trial.start_session {
        StartMode::Kept => name,
        StartMode::EachReading => format!("{name} (each reading)"),
    };
    let id = has_initial_settings.then(|| with_start(trial.id.to_string()));
    let label = trial.label.clone().filter(|_| has_initial_settings);
    let name = with_start(record.trial_name(trial));
    let memory = target.and_then(|target| target.memory_bound.as_ref());
    // The names do not contain the bound on memory; the comparison key distinguishes bounds.
    let with_memory = |name: &String| match memory {
        Some(memory) => format!("{name}+{}", memory.words()),
        None => name.clone(),
    };
    let shown_name = label.as_ref().or(id.as_ref()).map_or_else(|| name.clone(), with_memory);
    let is_accepted = it.is_accepted();
    let bytes = rate_bytes(record, it).unwrap_or(0);
    let figure = |measure: Measure| Some((measure, figure(it, measure, bytes)?));
    let measures = Measure::value_variants().iter().copied();
    Case {
        name: shown_name,
        names: label.into_iter().chain(id).chain([name]).collect(),
        key: ComparisonKey {
            path: target.map(|target| target.path.clone()),
            transport: target.map(TargetFacts::transport),
            digest: target.and_then(|target| target.digest.clone()),
            size_bytes: target.map(|target| target.size_bytes),
            work: Some(trial.work),
            state: Some(trial.state),
            memory_bound: memory.map(|memory| memory.bound),
            reader_count: Some(trial.reader_count()),
            concurrent_readers: target.map(|it| ConcurrentReaders {
                count: it.concurrent_readers().unwrap_or(1),
                has_copies: it.copies_folder.is_some(),
            }),
            is_above_cache: target.filter(|_| trial.state == CacheState::Cold).and_then(is_above_cache),
            params: Some(trial.params.clone()),
        },
        figures: measures.filter(|_| is_accepted).filter_map(figure).collect(),
        noise: BTreeMap::new(),
        why_unmeasured: it.outcome.clone().filter(|_| !is_accepted),
    }
}

/// The bytes that a rate counts. Of an archive these are the stored bytes, which publications and
/// data sheets of drives count too.
fn rate_bytes(record: &Record, it: &TrialRecord) -> Option<u64> {
    match it.trial.decoded_format {
        Some(_) => record.bytes_in(it),
        None => record.bytes_out(it),
    }
}

fn figure(it: &TrialRecord, measure: Measure, bytes: u64) -> Option<Figure> {
    if let Some(value) = it.counts.get(measure.word()).and_then(|count| count.value) {
        return Some(Figure::of_value(float(value), Statistic::Count));
    }
    // A CPU time is left out if the window is shorter than the clock of CPU time can measure.
    if measure == Measure::Cpu && busy_processors(it).is_err() {
        return None;
    }
    let observed = it.samples.iter().filter_map(|sample| {
        let value = measure.value_in(&sample, bytes)?;
        Some(Observation { value, fill: sample.fill, round: sample.round })
    });
    let observed: Vec<Observation> = observed.collect();
    (!observed.is_empty()).then_some(Figure::Samples(observed))
}

/// The facts of the machine, of readlab, of the contenders and of the file system.
fn facts(record: &Record) -> BTreeMap<String, Value> {
    let machine = serde_json::to_value(&record.header.machine).expect("a machine's keys are strings");
    let mut facts: BTreeMap<String, Value> = serde_json::from_value(machine).unwrap_or_default();
    facts.retain(|name, _| !CHANGING_FACTS.contains(&name.as_str()));
    facts.insert(
        "lab".to_owned(),
        format!("{} ({})", record.header.lab_version, record.header.revision).into(),
    );
    for receipt in &record.contenders {
        let words = format!("{}, {}", receipt.version, receipt.runtime);
        facts.insert(format!("contender {}", receipt.contender), words.into());
    }
    if let Some(target) = record.targets.first() {
        facts.insert("filesystem".to_owned(), target.filesystem.clone().into());
        facts.insert("mount".to_owned(), target.mount.clone().into());
    }
    facts
}
