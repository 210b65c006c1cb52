//! Lines of records made by hand, for tests of code that reads records.

pub mod scripted;

use super::{
    CommandRules, Header, INDEPENDENT_READERS, Latencies, Line, Outcome, Record, ReferenceCandidate,
    ReferenceReason, RunKind, SCHEMA, SCHEMA_VERSION, StartMode, Trial,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use readlab_model::sample::Sample;
use readlab_model::target::{TargetFacts, TargetIndex};
use readlab_model::trial::{CacheState, TrialId, TrialIndex, Work};
use readlab_protocol::Cache;
use readlab_system::machine::Machine;

/// The header of a race; its references are independent programs.
pub fn header() -> Header {
    let independent =
        |name: &str| ReferenceCandidate { trial: name.parse().unwrap(), why: ReferenceReason::Independent };
    Header {
        schema: SCHEMA.into(),
        version: SCHEMA_VERSION,
        lab_version: "0.1.0".into(),
        revision: "abcdef".into(),
        kind: RunKind::Race,
        command: vec!["readlab".into(), "race".into(), "a b.txt".into()],
        started: "2026-01-02T03:04:05Z".into(),
        seed: 42,
        reference: None,
        reference_candidates: INDEPENDENT_READERS.map(independent).to_vec(),
        machine: Machine {
            system: "linux x86_64".into(),
            kernel: "6.18.0".into(),
            cpu_model: Some("Example CPU".into()),
            cpu_count: 2,
            memory_bytes: 24 << 30,
            ..Machine::default()
        },
        locations: None,
        resume_plan: None,
    }
}

pub fn target_line(index: usize, facts: TargetFacts) -> Line {
    Line::Target { index: TargetIndex::new(index), facts: Box::new(facts) }
}

/// A target with a known size.
pub fn target_line_of_size(index: usize, size_bytes: u64) -> Line {
    target_line(index, TargetFacts { path: format!("/data/{index}"), size_bytes, ..TargetFacts::default() })
}

/// A trial of this name that counts newlines in the first target.
pub fn trial_line(index: usize, name: &str, state: CacheState, cache: Cache) -> Line {
    let id: TrialId = name.parse().unwrap();
    Line::Trial(Box::new(Trial {
        index: TrialIndex::new(index),
        label: None,
        params: id.params.clone(),
        target: TargetIndex::new(0),
        work: Work::Newlines,
        state,
        cache,
        decoded_format: None,
        start_session: StartMode::Kept,
        command_rules: CommandRules::default(),
        id,
    }))
}

pub fn add_outcome(record: &mut Record, trial: usize, outcome: Outcome) {
    record.add(Line::Outcome { trial: TrialIndex::new(trial), outcome });
}

/// Adds a measured trial with one reading in each round; returns its number.
pub fn add_trial(
    record: &mut Record,
    name: &str,
    state: CacheState,
    cache: Cache,
    readings: impl IntoIterator<Item = Sample>,
) -> usize {
    let number = record.trials.len();
    record.add(trial_line(number, name, state, cache));
    for (round, reading) in (0..).zip(readings) {
        record.add(Line::Sample(Box::new(Sample { trial: TrialIndex::new(number), round, ..reading })));
    }
    add_outcome(record, number, Outcome::Measured);
    number
}

/// A histogram of these latencies.
pub fn latencies(times_ns: impl IntoIterator<Item = u64>) -> Latencies {
    let mut histogram = Histogram::<u64>::new_with_max(600_000_000_000, 2).unwrap();
    times_ns.into_iter().for_each(|ns| histogram.record(ns).unwrap());
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
    STANDARD.encode(bytes).try_into().unwrap()
}
