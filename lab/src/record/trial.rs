//! A trial: what it is, what it is counted in, how it ended, and all that was found about it.

use super::conduct::Conduct;
use super::inside::{FlameGraph, Trace};
use super::limit::LimitKind;
use super::samples::Samples;
use super::warm::WarmedUp;
use crate::target::TargetFacts;
use crate::trial::{CacheState, MethodId, Params, TrialId, Work};
use readlab_protocol::{Archive, Cache};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A trial as it is about to be measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Its number in this record; samples refer to it.
    pub index: usize,
    /// Its name, with all parameters that were given.
    pub id: TrialId,
    /// Name that a suite gives it, if any.
    pub label: Option<String>,
    /// Who reads.
    pub contender: String,
    /// How bytes are brought.
    pub method: String,
    /// How bytes are visited.
    pub scan: Option<String>,
    /// Every parameter in force, defaults included, with units in the names.
    pub params: Params,
    /// Number of the target in this record.
    pub target: usize,
    /// What is done with the bytes.
    pub work: Work,
    /// Where the bytes are when the clock starts.
    pub state: CacheState,
    /// How the method stands to the page cache.
    pub cache: Cache,
    /// The archive whose content it reads; `None` for one that reads the target's bytes as they
    /// are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decodes: Option<Archive>,
}

impl Trial {
    /// Whether this is a control: it shows what the machine or the lab does, and stands outside
    /// every ranking.
    #[must_use]
    pub fn is_control(&self) -> bool {
        self.cache == Cache::None
    }

    /// The limit that it measures; `None` for a reading, and for a control that measures none.
    #[must_use]
    pub fn limit(&self) -> Option<LimitKind> {
        if self.is_control() { LimitKind::of_control(&self.method) } else { None }
    }

    /// How many readers each read the whole target in one reading, by the parameter in force; one
    /// where the method has none.
    #[must_use]
    pub fn readers(&self) -> u64 {
        self.params.0.get("readers").copied().unwrap_or(1).max(1)
    }

    /// Threads that it says it works with, those of all its readers; one where it says nothing.
    #[must_use]
    pub fn threads(&self) -> u64 {
        self.params.0.get("threads").copied().unwrap_or(1).saturating_mul(self.readers())
    }

    /// Bytes of the target that one reading takes in, by all its readers together.
    #[must_use]
    pub fn bytes_in(&self, target: &TargetFacts) -> u64 {
        target.size_bytes.saturating_mul(self.readers())
    }

    /// Bytes that one reading brings out of the target, by all its readers together: of these rates
    /// are made.
    #[must_use]
    pub fn bytes_out(&self, target: &TargetFacts) -> u64 {
        target.bytes_out(self.decodes).saturating_mul(self.readers())
    }

    /// Who reads and how, as one name.
    #[must_use]
    pub fn method_id(&self) -> &MethodId {
        &self.id.method
    }

    /// Whether this setting of the method goes to the device even when the file is cached.
    #[must_use]
    pub fn bypasses_cache(&self) -> bool {
        match self.cache {
            Cache::Bypass => true,
            Cache::ByParam => self.params.0.get("direct") == Some(&1),
            Cache::Through | Cache::None => false,
        }
    }
}

/// How a trial ended. Failure is data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// Its samples stand.
    Measured,
    /// It answered wrongly, lied about time, or its cache state could not be proven: its numbers
    /// are not told.
    Refused {
        /// Why, in one line.
        reason: String,
    },
    /// It crashed, hung, or could not read.
    Failed {
        /// Why, in one line.
        reason: String,
    },
    /// It cannot work on this machine or on this target.
    Unavailable {
        /// Why, in one line.
        reason: String,
    },
}

impl Outcome {
    /// The word used in files and tables.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Outcome::Measured => "measured",
            Outcome::Refused { .. } => "refused",
            Outcome::Failed { .. } => "failed",
            Outcome::Unavailable { .. } => "unavailable",
        }
    }

    /// Why it was not measured.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Outcome::Measured => None,
            Outcome::Refused { reason } | Outcome::Failed { reason } | Outcome::Unavailable { reason } => {
                Some(reason)
            }
        }
    }
}

/// One count from an untimed run, with the way it was counted: ways of counting change counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// How many, or `None` with the reason in `how`.
    pub value: Option<u64>,
    /// The way of counting, or why there is none.
    pub how: String,
}

/// One trial with all that was found about it.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialRecord {
    /// The question.
    pub trial: Trial,
    /// The readings that stand.
    pub samples: Samples,
    /// The readings of a search, which decided who is measured: no number is told from them, for
    /// who is chosen by being fast in some readings looks faster there than it is.
    pub searched: Samples,
    /// The readings that were thrown away: round and reason.
    pub rejected: Vec<(u32, String)>,
    /// Warm-ups until steady, one for each start of the contender.
    pub warmups: Vec<WarmedUp>,
    /// What its contender did beside reading.
    pub conduct: Conduct,
    /// Meters that could not be read, with the reason.
    pub missing: BTreeMap<String, String>,
    /// Counts from untimed runs.
    pub counts: BTreeMap<String, Count>,
    /// Where the processor's time went; `None` where nobody asked.
    pub flame_graph: Option<FlameGraph>,
    /// The calls that brought the bytes; `None` where nobody asked.
    pub trace: Option<Trace>,
    /// How it ended; `None` when the run was cut short.
    pub outcome: Option<Outcome>,
}

impl TrialRecord {
    /// Whether what was read of it stands: it was measured, or the run was cut short while it was.
    #[must_use]
    pub fn stands(&self) -> bool {
        matches!(self.outcome, None | Some(Outcome::Measured))
    }

    /// Whether it has readings, and they stand.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        !self.samples.is_empty() && self.stands()
    }
}
