//! A trial of a record: its definition, its samples and findings, and how it ended.

use super::command_rules::CommandRules;
use super::conduct::SideEffects;
use super::fleet::{FleetTurn, ReadersTurn};
use super::inside::{FlameGraph, Trace};
use super::latencies::TurnLatencies;
use super::limit::LimitKind;
use super::line::{StopReason, Stopped, WarmedUp};
use super::samples::Samples;
use readlab_model::target::{TargetFacts, TargetIndex};
use readlab_model::trial::{COMMAND, CacheState, MethodId, Params, TrialId, TrialIndex, Work};
use readlab_protocol::{Archive, Cache};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "TrialLine", into = "TrialLine")]
pub struct Trial {
    /// The trial's number in this record; samples refer to it.
    pub index: TrialIndex,
    /// The contender, method and scan, with all parameters that were given.
    pub id: TrialId,
    /// The name that a suite gives the trial, if any.
    pub label: Option<String>,
    /// Every parameter in force, defaults included, with units in the names.
    pub params: Params,
    /// Number of the target in this record.
    pub target: TargetIndex,
    /// What is done with the bytes.
    pub work: Work,
    /// Where the bytes are when the clock starts.
    pub state: CacheState,
    /// How the method uses the page cache.
    pub cache: Cache,
    /// The archive format that the trial decodes; `None` if it reads the bytes as they are.
    pub decoded_format: Option<Archive>,
    pub start_session: StartMode,
    /// The user's rules for a command that does not speak the protocol.
    pub command_rules: CommandRules,
}

/// When the contender of a trial is started.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename = "Start")]
pub enum StartMode {
    /// Once for several fills of the cache; code that its runtime compiled stays compiled.
    #[default]
    #[serde(rename = "kept")]
    Kept,
    /// Before each reading, as for a program that reads one file and ends. The start is outside of
    /// the window, and nothing of the runtime is warm in it.
    #[serde(rename = "each reading")]
    EachReading,
}

/// A trial as a line of a record. The line has the name of the trial, which is for people, and the
/// parts of the name, from which the trial is read back.
#[derive(Serialize, Deserialize, JsonSchema)]
struct TrialLine {
    index: TrialIndex,
    id: TrialId,
    label: Option<String>,
    contender: String,
    method: String,
    scan: Option<String>,
    params: Params,
    target: TargetIndex,
    work: Work,
    state: CacheState,
    cache: Cache,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "decodes")]
    decoded_format: Option<Archive>,
    #[serde(default, skip_serializing_if = "readlab_model::is_default")]
    start: StartMode,
    #[serde(default, skip_serializing_if = "readlab_model::is_default")]
    command: CommandRules,
}

impl From<TrialLine> for Trial {
    fn from(line: TrialLine) -> Trial {
        let TrialLine { contender, method, scan, .. } = line;
        Trial {
            index: line.index,
            id: TrialId { method: MethodId { contender, method, scan }, params: line.id.params },
            label: line.label,
            params: line.params,
            target: line.target,
            work: line.work,
            state: line.state,
            cache: line.cache,
            decoded_format: line.decoded_format,
            start_session: line.start,
            command_rules: line.command,
        }
    }
}

impl From<Trial> for TrialLine {
    fn from(trial: Trial) -> TrialLine {
        let MethodId { contender, method, scan } = trial.id.method.clone();
        TrialLine {
            index: trial.index,
            id: trial.id,
            label: trial.label,
            contender,
            method,
            scan,
            params: trial.params,
            target: trial.target,
            work: trial.work,
            state: trial.state,
            cache: trial.cache,
            decoded_format: trial.decoded_format,
            start: trial.start_session,
            command: trial.command_rules,
        }
    }
}

/// Trials of one contest do the same work with the same bytes, so one of them can be faster than
/// another. The decoded content of an archive and the archive's own bytes are different contests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contest {
    target: TargetIndex,
    decoded_format: Option<Archive>,
    work: Work,
}

impl Trial {
    pub fn contender(&self) -> &str {
        &self.id.method.contender
    }

    /// The name of the method; for a command, the command with `{}` for the path.
    pub fn method(&self) -> &str {
        &self.id.method.method
    }

    /// The name of the scan, if the method has several.
    pub fn scan(&self) -> Option<&str> {
        self.id.method.scan.as_deref()
    }

    /// The work that the contender is asked for, and that its samples prove.
    pub fn requested_work(&self) -> Work {
        self.command_rules.requested_work(self.work)
    }

    /// True for a control, which measures the machine or the lab and has no rank.
    pub fn is_control(&self) -> bool {
        self.cache == Cache::None
    }

    /// The limit that this trial measures; `None` for a reading, and for a control that measures no
    /// limit.
    pub fn limit_kind(&self) -> Option<LimitKind> {
        if self.is_control() { LimitKind::of_control(self.method()) } else { None }
    }

    /// True if each reading starts a program, whose libraries and runtime cause page faults of their
    /// own.
    pub fn starts_program(&self) -> bool {
        self.contender() == COMMAND || self.start_session == StartMode::EachReading
    }

    /// Number of readers that each read the whole target in one reading; 1 if the method has no
    /// readers.
    pub fn reader_count(&self) -> u64 {
        self.params.0.get("readers").copied().unwrap_or(1).max(1)
    }

    /// Number of threads that the trial declares, for all its readers together; 1 if it declares
    /// none.
    pub fn thread_count(&self) -> u64 {
        self.params.0.get("threads").copied().unwrap_or(1).saturating_mul(self.reader_count())
    }

    /// Bytes of the target that one reading reads, by all its readers together.
    pub fn bytes_in(&self, target: &TargetFacts) -> u64 {
        target.size_bytes.saturating_mul(self.reader_count())
    }

    /// Bytes that one reading delivers, by all its readers together. Rates are computed from these.
    pub fn bytes_out(&self, target: &TargetFacts) -> u64 {
        target.bytes_out(self.decoded_format).saturating_mul(self.reader_count())
    }

    /// Whether the size of what a reading delivers is known. An archive whose content is compared with
    /// nothing may not have been decoded to its end before the race.
    pub fn is_delivery_known(&self, target: &TargetFacts) -> bool {
        !self.work.may_read_part() || self.decoded_format.is_none() || target.decoded.is_some()
    }

    pub fn contest(&self) -> Contest {
        Contest { target: self.target, decoded_format: self.decoded_format, work: self.work }
    }

    /// True if the two trials differ only in the cache state.
    pub fn reads_like(&self, other: &Trial) -> bool {
        (&self.id, &self.params) == (&other.id, &other.params) && self.contest() == other.contest()
    }

    pub fn method_id(&self) -> &MethodId {
        &self.id.method
    }

    /// True if this trial reads from the device even if the file is cached.
    pub fn bypasses_cache(&self) -> bool {
        match self.cache {
            Cache::Bypass => true,
            Cache::ByParam => self.params.0.get("direct") == Some(&1),
            Cache::Through | Cache::None => false,
        }
    }
}

/// The prediction of a search model for a setting that was not read. The prediction is the reason
/// for a choice, and not a measurement of this trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prediction {
    /// Predicted time as a multiple of the time of the setting that the search chose.
    pub ratio: f64,
    /// The interval in which the model expects the ratio in 95 of 100 cases.
    pub ci95: [f64; 2],
    /// Root-mean-square error of the model for readings that it was not fitted to: 0.05 for 5 %.
    pub model_error: f64,
}

impl Prediction {
    /// Whether the model expects the setting to be slower than the chosen one.
    fn is_slower(&self) -> bool {
        self.ci95[0] > 1.0
    }
}

/// How a trial ended. A failure is recorded like a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The trial's samples are accepted.
    Measured,
    /// The answer or a time was wrong, or the cache state could not be proven. The trial's numbers
    /// are not reported.
    Refused { reason: String },
    /// The contender crashed, hung, or could not read.
    Failed { reason: String },
    /// The trial cannot work on this machine or on this target.
    Unavailable { reason: String },
    /// A search did not read this setting: its model predicts that the setting is not among the
    /// fastest, or the time was up before the model could tell.
    RuledOut {
        #[serde(flatten)]
        prediction: Prediction,
    },
}

impl Outcome {
    pub fn word(&self) -> &'static str {
        match self {
            Outcome::Measured => "measured",
            Outcome::Refused { .. } => "refused",
            Outcome::Failed { .. } => "failed",
            Outcome::Unavailable { .. } => "unavailable",
            Outcome::RuledOut { .. } => "ruled out",
        }
    }

    /// The prediction for a trial that a search ruled out.
    pub fn prediction(&self) -> Option<Prediction> {
        match self {
            Outcome::RuledOut { prediction } => Some(*prediction),
            _ => None,
        }
    }

    pub fn reason(&self) -> Option<&str> {
        match self {
            Outcome::Measured => None,
            Outcome::Refused { reason } | Outcome::Failed { reason } | Outcome::Unavailable { reason } => {
                Some(reason)
            }
            Outcome::RuledOut { prediction } if prediction.is_slower() => {
                Some("by the model of the search, from the readings of settings like it")
            }
            Outcome::RuledOut { .. } => {
                Some("the search ended before it was read, and its model does not tell it from the best")
            }
        }
    }
}

/// One count from an untimed run, with the method of counting, because the method affects the
/// count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Count")]
pub struct UntimedCount {
    /// The count, or `None` with the reason in `how`.
    pub value: Option<u64>,
    /// The method of counting, or the reason why there is no count.
    pub how: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TrialRecord {
    pub trial: Trial,
    pub samples: Samples,
    /// The readings of a search, which decided what is measured. No number is reported from them: a
    /// trial that was chosen because some readings were fast is on average slower than in those
    /// readings.
    pub search_samples: Samples,
    /// The rejected readings: round and reason.
    pub rejected_readings: Vec<(u32, String)>,
    /// Warm-ups until steady, one for each start of the contender.
    pub warmups: Vec<WarmedUp>,
    /// The untimed cold reading of a command whose measured readings are all warm. Its time is not
    /// reported.
    pub cold_probe: Samples,
    /// What the contender did besides reading.
    pub conduct: SideEffects,
    /// Meters that could not be read, with the reason.
    pub missing_meters: BTreeMap<String, String>,
    /// Counts from untimed runs: the median over all runs that counted.
    pub counts: BTreeMap<String, UntimedCount>,
    /// The counts of every run that counted, in the order of the runs.
    pub count_runs: BTreeMap<String, Vec<u64>>,
    /// The latencies of single reads, one histogram for each turn; empty if the target is not
    /// places.
    pub latencies: Vec<TurnLatencies>,
    /// Where the CPU time went; `None` if not requested.
    pub flame_graph: Option<FlameGraph>,
    /// The calls that read the bytes; `None` if not requested.
    pub trace: Option<Trace>,
    /// Why the lab stopped reading the trial; `None` if the run was interrupted first.
    pub stopped: Option<Stopped>,
    pub fleet_turns: Vec<FleetTurn>,
    pub readers_turns: Vec<ReadersTurn>,
    /// How the trial ended; `None` if the run was interrupted.
    pub outcome: Option<Outcome>,
}

impl TrialRecord {
    /// Adds the counts of one untimed run. A run that could not count does not change the counts of
    /// other runs.
    pub(super) fn add_counts(&mut self, counts: BTreeMap<String, UntimedCount>) {
        for (name, count) in counts {
            let Some(value) = count.value else {
                self.counts.entry(name).or_insert(count);
                continue;
            };
            let runs = self.count_runs.entry(name.clone()).or_default();
            runs.push(value);
            let mut sorted = runs.clone();
            sorted.sort_unstable();
            let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
            let value = Some(low + (high - low).div_ceil(2));
            self.counts.insert(name, UntimedCount { value, how: count.how });
        }
    }

    /// Continues a trial after an interruption. A trial that is not the fastest stays stopped.
    pub(super) fn reopen(&mut self) {
        self.outcome = None;
        self.stopped = self.stopped.filter(|stopped| stopped.why == StopReason::NotFirst);
    }

    /// Remarks for readers of the trial's numbers: what its contender did besides reading, and
    /// repeated requests. One remark a line.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = self.conduct.words();
        remarks.extend(repeated_requests_sentence(&self.samples));
        remarks
    }

    /// True if the trial's samples are accepted: it was measured, or the run was interrupted before
    /// it ended.
    pub fn is_accepted(&self) -> bool {
        matches!(self.outcome, None | Some(Outcome::Measured))
    }

    /// True if the trial has samples and they are accepted.
    pub fn is_measured(&self) -> bool {
        !self.samples.is_empty() && self.is_accepted()
    }
}

/// States how often requests were repeated in the readings of a trial; `None` if no request was
/// repeated.
fn repeated_requests_sentence(samples: &Samples) -> Option<String> {
    let with: Vec<u64> = samples.iter().filter_map(|it| it.request.retries).filter(|it| *it > 0).collect();
    let all = with.iter().fold(0_u64, |sum, retries| sum.saturating_add(*retries));
    let requests = if all == 1 { "1 request".to_owned() } else { format!("{all} requests") };
    (!with.is_empty()).then(|| format!("repeated {requests} in {} of {} readings", with.len(), samples.len()))
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;
    use crate::{Line, Record};
    use readlab_model::sample::{RequestMeters, Sample};

    fn record_with_counts(values: &[Option<u64>]) -> TrialRecord {
        let mut record = Record::new(testing::header());
        record.add(testing::trial_line(0, "rust/read", CacheState::Warm, Cache::Through));
        for value in values {
            let how = if value.is_some() { "beans" } else { "no rights" }.to_owned();
            let counts = BTreeMap::from([("mallocs".to_owned(), UntimedCount { value: *value, how })]);
            record.add(Line::Counts { trial: TrialIndex::new(0), counts });
        }
        record.trials.into_iter().next().unwrap()
    }

    #[test]
    fn of_several_runs_the_count_is_the_median_and_all_are_kept() {
        let it = record_with_counts(&[Some(5), Some(1), None, Some(9), Some(8)]);
        assert_eq!(it.counts["mallocs"], UntimedCount { value: Some(7), how: "beans".to_owned() });
        assert_eq!(it.count_runs["mallocs"], [5, 1, 9, 8]);
        assert_eq!(
            record_with_counts(&[Some(u64::MAX), Some(u64::MAX)]).counts["mallocs"].value,
            Some(u64::MAX)
        );
    }

    #[test]
    fn a_count_that_no_run_has_keeps_its_reason() {
        let it = record_with_counts(&[None, None]);
        assert_eq!(it.counts["mallocs"], UntimedCount { value: None, how: "no rights".to_owned() });
        assert!(it.count_runs.is_empty());
        assert_eq!(record_with_counts(&[None, Some(3)]).counts["mallocs"].value, Some(3));
    }

    #[test]
    fn readings_with_a_repeated_request_are_counted() {
        let with = |retries| Sample {
            request: RequestMeters { retries, ..RequestMeters::default() },
            ..Sample::default()
        };
        let all =
            |counts: &[Option<u64>]| repeated_requests_sentence(&counts.iter().copied().map(with).collect());
        assert_eq!(all(&[None, Some(0)]), None);
        assert_eq!(all(&[Some(1), Some(0)]).unwrap(), "repeated 1 request in 1 of 2 readings");
        assert_eq!(all(&[Some(1), Some(4), None]).unwrap(), "repeated 5 requests in 2 of 3 readings");
    }
}
