//! The record: everything that a run finds, in an append-only file of JSON lines, each flushed.
//!
//! The record omits nothing and rounds nothing: raw samples, refusals with both answers, the reason
//! for each meter without a number, the machine, the seed, the command. Every number of a page or a
//! table is computed from it. A killed run leaves a shorter record; [`Record::read`] reads it up to
//! its last complete line. Serialized names are fixed: a new meaning needs a new
//! [`SCHEMA_VERSION`], and a record of another version is refused.

mod check;
mod command_rules;
mod conduct;
mod draft;
mod file;
mod fleet;
mod header;
pub mod history;
mod inside;
mod joint_sample;
mod latencies;
mod limit;
mod line;
mod resume_plan;
mod rules;
mod samples;
mod sweep_series;
mod touched;
mod trial;
mod trials;
mod whole;

pub mod testing;
#[cfg(test)]
mod tests;

pub use check::LINE_BYTES_MAX;
pub use command_rules::{Check, CommandRules};
pub use conduct::{LeftBehind, OwnScheduling, SideEffects};
pub use file::{RecordError, RecordWriter, unlock_written_record};
pub use fleet::{
    Fleet, FleetTurn, Rank, RankClock, RankTiming, ReaderTiming, ReadersTurn, ShareMode, Witness,
};
pub use header::{
    Header, INDEPENDENT_READERS, LocationOptions, Receipt, ReferenceCandidate, ReferenceReason, RunKind,
    SCHEMA, SCHEMA_VERSION,
};
pub use inside::{Distribution, FlameGraph, HotSpot, Trace};
pub use joint_sample::{joint_answer, joint_sample};
pub use latencies::{Latencies, LatenciesError, LatencyCount, TurnLatencies};
pub use limit::{Limit, LimitKind, LimitUnit};
pub use line::{
    EndReason, Fill, Line, Resumption, SettingsChange, StopReason, Stopped, WarmedUp, WarmupEnd, WriteTimes,
    WriteWay,
};
pub use resume_plan::{RequestedName, ResumePlan, TargetRef};
pub use rules::{Budget, Focus, Rules};
pub use samples::Samples;
pub use sweep_series::{SweepPoint, SweepSeries};
pub use touched::{TouchProof, VisitCost};
pub use trial::{Contest, Outcome, Prediction, StartMode, Trial, TrialRecord, UntimedCount};
pub use trials::Trials;
pub use whole::{PROGRAM_FILES_BYTES_MAX, PartRead};

use readlab_model::target::{TargetFacts, TargetIndex, Targets};
use readlab_model::trial::TrialIndex;

/// A whole run, read from its record.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub header: Header,
    /// The targets. A record that announces them in another order than that of their numbers is
    /// refused.
    pub targets: Targets<TargetFacts>,
    pub contenders: Vec<Receipt>,
    /// The trials with their findings, in the order in which they were announced.
    pub trials: Trials,
    pub fills: Vec<Fill>,
    /// The changes of settings of the system, in order.
    pub settings_changes: Vec<SettingsChange>,
    /// The files that the lab wrote: number of the target, method of writing, and times.
    pub writes: Vec<(TargetIndex, WriteWay, WriteTimes)>,
    /// Limits that were not measured by a trial.
    pub limits: Vec<Limit>,
    /// The ranks that took every turn together; `None` if one host measured alone.
    pub fleet: Option<Fleet>,
    /// The clocks of the ranks: the round, and one difference for each rank.
    pub clocks: Vec<(u32, Vec<RankClock>)>,
    pub warnings: Vec<String>,
    /// The points at which an interrupted run was resumed, in order.
    pub resumptions: Vec<Resumption>,
    /// Why the run ended and how long it took; `None` if it was interrupted.
    pub end: Option<(EndReason, u64)>,
}

/// The last words of the warning that a target changed during a run.
pub const WHILE_RACED_WORDS: &str = "while it was raced";

impl Record {
    pub fn new(header: Header) -> Record {
        Record {
            header,
            targets: Targets::default(),
            contenders: Vec::new(),
            trials: Trials::default(),
            fills: Vec::new(),
            settings_changes: Vec::new(),
            writes: Vec::new(),
            limits: Vec::new(),
            fleet: None,
            clocks: Vec::new(),
            warnings: Vec::new(),
            resumptions: Vec::new(),
            end: None,
        }
    }

    /// How a target changed, if that ended the run.
    pub fn target_change(&self) -> Option<&str> {
        let has_ended = matches!(self.end, Some((EndReason::TargetChanged, _)));
        let mut warnings = self.warnings.iter().rev().map(String::as_str);
        warnings.find(|text| has_ended && text.ends_with(WHILE_RACED_WORDS))
    }

    /// The name of a trial with the settings of the system and the bound on memory under which it
    /// is read, if there are any: `rust/read@buffer=64KiB+read-ahead=4MiB`, `rust/mmap+memory=50%`.
    pub fn trial_name(&self, trial: &Trial) -> String {
        let target = self.target_of(trial);
        let settings = target.and_then(TargetFacts::settings_words);
        let memory = target.and_then(TargetFacts::memory_words);
        let conditions = settings.into_iter().chain(memory);
        conditions.fold(trial.id.to_string(), |name, words| format!("{name}+{words}"))
    }

    pub fn target_of(&self, trial: &Trial) -> Option<&TargetFacts> {
        self.targets.get(trial.target)
    }

    pub fn trial(&self, index: TrialIndex) -> Option<&TrialRecord> {
        self.trials.get(index)
    }

    /// Adds one more line. Lines about a trial that was never announced are dropped.
    pub fn add(&mut self, line: Line) {
        match line {
            Line::Header(_) => {}
            Line::Target { facts, .. } => self.targets.push(*facts),
            Line::Contender(receipt) => self.contenders.push(receipt),
            Line::Trial(trial) => self.trials.announce(*trial),
            Line::Fill(fill) => self.fills.push(fill),
            Line::Settings(applied) => self.settings_changes.push(applied),
            Line::Write { target, way: how, times } => self.writes.push((target, how, times)),
            Line::Limit(limit) => self.limits.push(*limit),
            Line::Fleet(fleet) => self.fleet = Some(*fleet),
            Line::Clocks { round, ranks } => self.clocks.push((round, ranks)),
            Line::FleetTurn(turn) => self.update_trial(turn.trial, |trial| trial.fleet_turns.push(*turn)),
            Line::ReadersTurn(turn) => self.update_trial(turn.trial, |trial| trial.readers_turns.push(*turn)),
            Line::Warning { text } => self.warnings.push(text),
            Line::Resumed(resumption) => {
                self.end = None;
                resumption
                    .reopened_trials
                    .iter()
                    .for_each(|&trial| self.update_trial(trial, TrialRecord::reopen));
                self.resumptions.push(resumption);
            }
            Line::End { reason, wall_ns } => self.end = Some((reason, wall_ns)),
            Line::Warmup(warmed) => self.update_trial(warmed.trial, |trial| trial.warmups.push(warmed)),
            Line::ColdProbe(sample) => {
                self.update_trial(sample.trial, |trial| trial.cold_probe.push(&sample))
            }
            Line::Sample(sample) => self.update_trial(sample.trial, |trial| match sample.rung {
                Some(_) => trial.search_samples.push(&sample),
                None => trial.samples.push(&sample),
            }),
            Line::Rejected { trial, round, reason } => {
                self.update_trial(trial, |trial| trial.rejected_readings.push((round, reason)));
            }
            Line::Missing { trial, meter, reason } => self.update_trial(trial, |trial| {
                trial.missing_meters.insert(meter, reason);
            }),
            Line::LeftBehind { trial, left } => {
                self.update_trial(trial, |trial| trial.conduct.left_behind.add(left))
            }
            Line::Scheduling { trial, scheduling } => self.update_trial(trial, |trial| {
                let known = &mut trial.conduct.scheduling;
                if !known.contains(&scheduling) {
                    known.push(*scheduling);
                }
            }),
            Line::Counts { trial, counts } => self.update_trial(trial, |trial| trial.add_counts(counts)),
            Line::Latencies { trial, fill, round, histogram: latencies } => {
                self.update_trial(trial, |trial| {
                    trial.latencies.push(TurnLatencies { fill, round, latencies })
                });
            }
            Line::FlameGraph { trial, graph } => {
                self.update_trial(trial, |trial| trial.flame_graph = Some(*graph))
            }
            Line::Trace { trial, trace } => self.update_trial(trial, |trial| trial.trace = Some(*trace)),
            Line::Stopped { trial, stopped } => {
                self.update_trial(trial, |trial| trial.stopped = Some(stopped))
            }
            Line::Outcome { trial, outcome } => {
                self.update_trial(trial, |trial| trial.outcome = Some(outcome))
            }
        }
    }

    fn update_trial(&mut self, trial: TrialIndex, change: impl FnOnce(&mut TrialRecord)) {
        if let Some(found) = self.trials.get_mut(trial) {
            change(found);
        }
    }
}
