//! One side of a comparison: a machine and its cases, from a record or from a publication.

use super::case::{Case, CaseNoise, ComparisonKey, Figure, ReadTogether, Statistic};
use super::measure::Measure;
use super::series;
use crate::stats::{Observation, SharedVariance};
use readlab_model::target::TargetFacts;
use readlab_model::trial::CacheState;
use readlab_record::{Record, Start, TrialRecord};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A machine and what was measured on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// What it is called: the name that was given, or the machine's in a publication.
    pub name: String,
    /// In one line: where it was measured, and where that is written.
    pub about: String,
    /// What is known of the machine, by names of the record's `machine`.
    pub facts: BTreeMap<String, Value>,
    /// What a reader of its numbers should know.
    pub notes: Vec<String>,
    /// What was measured.
    pub cases: Vec<Case>,
}

/// Facts of a machine that change from minute to minute and say nothing about which machine it is.
const FLEETING: [&str; 3] = ["memory_available_bytes", "load_1min", "clock_overhead_ns"];

impl Side {
    /// Of a record, under the name that was given.
    pub fn of_record(record: &Record, name: &str, place: &str) -> Side {
        let header = &record.header;
        let mut notes = Vec::new();
        if record.end.is_none() {
            notes.push("the run was cut short".to_owned());
        }
        let readings = || record.trials.iter().filter(|it| !it.trial.is_control());
        let mut cases: Vec<Case> = Vec::new();
        // Controls are compared where there is nothing else: in a record of limits.
        let only_controls = readings().next().is_none();
        for it in record.trials.iter().filter(|it| only_controls || !it.trial.is_control()) {
            let case = case(record, it);
            let same = |other: &&mut Case| {
                let place = |it: &Case| ComparisonKey { path: None, ..it.key.clone() };
                other.names == case.names && place(other) == place(&case)
            };
            match cases.iter_mut().find(same) {
                Some(other) => merge(other, case),
                None => cases.push(case),
            }
        }
        share_noise(&mut cases);
        cases.extend(series::cases(record));
        let about = format!("{} · {place}", header.machine.summary());
        Side { name: name.to_owned(), about, facts: facts(record), notes, cases }
    }
}

/// The numbers whose noise is that of the time.
const TIMED: [Measure; 2] = [Measure::Wall, Measure::Rate];

/// Finds what the cases of each state show together of their noise. They share rounds.
fn share_noise(cases: &mut [Case]) {
    let mut by_state: BTreeMap<Option<CacheState>, Vec<usize>> = BTreeMap::new();
    for (at, case) in cases.iter().enumerate() {
        by_state.entry(case.key.state).or_default().push(at);
    }
    for (all, measure) in by_state.values().flat_map(|all| TIMED.map(|measure| (all, measure))) {
        let has_samples = |at: &&usize| matches!(cases[**at].figures.get(&measure), Some(Figure::Samples(_)));
        let sharing: Vec<usize> = all.iter().filter(has_samples).copied().collect();
        if sharing.is_empty() {
            continue;
        }
        let observations = sharing.iter().filter_map(|&at| match cases[at].figures.get(&measure) {
            Some(Figure::Samples(observations)) => Some(observations),
            _ => None,
        });
        let shared = Arc::new(SharedVariance::new(observations));
        for (place, at) in sharing.into_iter().enumerate() {
            cases[at].noise.insert(measure, CaseNoise { shared: Arc::clone(&shared), place });
        }
    }
}

/// Several files of one content, as a sweep has them, are one case.
fn merge(into: &mut Case, from: Case) {
    for (measure, figure) in from.figures {
        match (into.figures.get_mut(&measure), figure) {
            (Some(Figure::Samples(all)), Figure::Samples(more)) => all.extend(more),
            (None, figure) => {
                into.figures.insert(measure, figure);
            }
            _ => {}
        }
    }
    into.unmeasured = into.unmeasured.take().or(from.unmeasured);
}

/// Whether a target that is cold is so above a cache, where that was looked for.
pub(super) fn is_above_cache(target: &TargetFacts) -> Option<bool> {
    (!target.layers.is_empty()).then(|| target.cold_above().is_some())
}

fn case(record: &Record, it: &TrialRecord) -> Case {
    let trial = &it.trial;
    let target = record.targets.get(trial.target);
    let id = trial.id.to_string();
    let is_accepted = it.is_accepted();
    let whole = record.read_whole(it);
    let bytes = whole.map_or(0, |target| trial.bytes_in(target));
    let figure = |measure: Measure| Some((measure, figure(it, measure, bytes)?));
    Case {
        name: trial.label.clone().unwrap_or_else(|| id.clone()),
        // One that is started for each reading is another case than the same trial kept running.
        names: trial.label.iter().cloned().chain((trial.start == Start::Kept).then_some(id)).collect(),
        key: ComparisonKey {
            path: target.map(|target| target.path.clone()),
            over: target.map(TargetFacts::transport),
            digest: target.and_then(|target| target.digest.clone()),
            size_bytes: target.map(|target| target.size_bytes),
            work: Some(trial.work),
            state: Some(trial.state),
            readers: Some(trial.readers()),
            together: target.map(|it| ReadTogether {
                count: it.together().unwrap_or(1),
                has_copies: it.copies_in.is_some(),
            }),
            is_above_cache: target.filter(|_| trial.state == CacheState::Cold).and_then(is_above_cache),
            params: Some(trial.params.clone()),
        },
        figures: if is_accepted {
            Measure::OF_RECORDS.into_iter().filter_map(figure).collect()
        } else {
            BTreeMap::new()
        },
        noise: BTreeMap::new(),
        unmeasured: it.outcome.clone().filter(|_| !is_accepted),
    }
}

fn figure(it: &TrialRecord, measure: Measure, bytes: u64) -> Option<Figure> {
    if let Some(value) = it.counts.get(measure.word()).and_then(|count| count.value) {
        #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
        return Some(Figure::of_value(value as f64, Statistic::Count));
    }
    let observed = it.samples.iter().filter_map(|sample| {
        let value = measure.value_in(&sample, bytes)?;
        Some(Observation { value, fill: sample.fill, round: sample.round })
    });
    let observed: Vec<Observation> = observed.collect();
    (!observed.is_empty()).then_some(Figure::Samples(observed))
}

/// The machine, who read, and where the file lay.
fn facts(record: &Record) -> BTreeMap<String, Value> {
    let machine = serde_json::to_value(&record.header.machine).expect("a machine's keys are strings");
    let mut facts: BTreeMap<String, Value> = match machine {
        Value::Object(facts) => {
            facts.into_iter().filter(|(name, _)| !FLEETING.contains(&name.as_str())).collect()
        }
        _ => BTreeMap::new(),
    };
    facts.insert("lab".to_owned(), format!("{} ({})", record.header.lab, record.header.revision).into());
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
