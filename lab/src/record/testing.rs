//! Lines of records made by hand, for the tests of everything that reads records.

use super::{
    CommandRules, Header, Line, Outcome, Record, RunKind, SCHEMA, SCHEMA_VERSION, Start, Trial, TrialRecord,
    Trials,
};
use crate::machine::Machine;
use crate::target::TargetFacts;
use crate::trial::{CacheState, TrialId, TrialIndex, Work};
use readlab_protocol::Cache;
use std::ops::{Index, IndexMut};

/// A race on a machine of which a few things are known.
pub(crate) fn header() -> Header {
    Header {
        schema: SCHEMA.into(),
        version: SCHEMA_VERSION,
        lab: "0.1.0".into(),
        revision: "abcdef".into(),
        kind: RunKind::Race,
        command: vec!["readlab".into(), "race".into(), "a b.txt".into()],
        started: "2026-01-02T03:04:05Z".into(),
        seed: 42,
        reference: None,
        references: Vec::new(),
        machine: Machine {
            system: "linux x86_64".into(),
            kernel: "6.18.0".into(),
            cpu: Some("Example CPU".into()),
            cpus: 2,
            memory_bytes: 24 << 30,
            ..Machine::default()
        },
        agenda: None,
    }
}

pub(crate) fn target(index: usize, facts: TargetFacts) -> Line {
    Line::Target { index, facts: Box::new(facts) }
}

/// A target of which the size is known.
pub(crate) fn sized(index: usize, size_bytes: u64) -> Line {
    target(index, TargetFacts { path: format!("/data/{index}"), size_bytes, ..TargetFacts::default() })
}

/// A trial that counts newlines in the first target, by its name.
pub(crate) fn trial(index: usize, name: &str, state: CacheState, cache: Cache) -> Line {
    let id: TrialId = name.parse().unwrap();
    Line::Trial(Box::new(Trial {
        index: TrialIndex::new(index),
        label: None,
        params: id.params.clone(),
        target: 0,
        work: Work::Newlines,
        state,
        cache,
        decodes: None,
        start: Start::Kept,
        command: CommandRules::default(),
        id,
    }))
}

/// Ends a trial.
pub(crate) fn outcome(record: &mut Record, trial: usize, outcome: Outcome) {
    record.add(Line::Outcome { trial: TrialIndex::new(trial), outcome });
}

/// In tests, the trials are numbered by the test itself.
impl Index<usize> for Trials {
    type Output = TrialRecord;

    fn index(&self, number: usize) -> &TrialRecord {
        self.get(TrialIndex::new(number)).expect("a trial of this number")
    }
}

impl IndexMut<usize> for Trials {
    fn index_mut(&mut self, number: usize) -> &mut TrialRecord {
        self.get_mut(TrialIndex::new(number)).expect("a trial of this number")
    }
}
