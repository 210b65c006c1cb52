//! Whole runs against a script, exact to the digit: plans, a scripted sampler and a recording sink.
//! The sampler and the sink write into one log, which reads like the run.

mod recording_sink;
mod scripted_sampler;

use super::{resume, run};
use crate::interface::{Progress, SampleError, Sink};
use crate::plan::Plan;
pub(crate) use crate::plan::testing::{COLD, WARM, plan, runs};
use readlab_model::sample::Sample;
use readlab_model::trial::TrialIndex;
use readlab_record::{EndReason, Line, Outcome, Record, RecordError};
use recording_sink::RecordingSink;
pub(crate) use scripted_sampler::{STEP_NS, ScriptedSampler};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// What the sampler and the sink were called with, in order.
type Log = Rc<RefCell<Vec<String>>>;

/// A run that is over.
pub(crate) struct RecordedRun {
    pub(crate) end: Result<EndReason, RecordError>,
    pub(crate) log: Vec<String>,
    pub(crate) lines: Vec<Line>,
    pub(super) progress: Vec<Progress>,
}

/// A whole run.
pub(crate) fn play(plan: &Plan, sampler: ScriptedSampler) -> RecordedRun {
    play_until_full(plan, sampler, usize::MAX)
}

/// A run whose record takes only so many lines.
pub(super) fn play_until_full(plan: &Plan, sampler: ScriptedSampler, full_after: usize) -> RecordedRun {
    play_by(plan, sampler, full_after, |sampler, sink| run(plan, sampler, sink))
}

/// The rest of a run that was recorded in part.
pub(super) fn play_rest(plan: &Plan, record: &Record, sampler: ScriptedSampler) -> RecordedRun {
    play_by(plan, sampler, usize::MAX, |sampler, sink| resume(plan, record, sampler, sink))
}

/// A run that is executed by `run`, with a record that takes only so many lines.
pub(crate) fn play_by(
    plan: &Plan,
    mut sampler: ScriptedSampler,
    full_after: usize,
    run: impl FnOnce(&mut ScriptedSampler, &mut dyn Sink) -> Result<EndReason, RecordError>,
) -> RecordedRun {
    let trials = plan.trials.iter().map(|planned| &planned.trial);
    let trials = trials.chain(plan.absent.iter().map(|(trial, _)| trial));
    sampler.names = trials.map(|trial| (trial.index, trial.method().to_owned())).collect();
    let mut sink = RecordingSink {
        log: Rc::clone(&sampler.log),
        lines: Vec::new(),
        names: sampler.names.clone(),
        full_after,
        user_ends_at: sampler.user_ends_at,
        turns: 0,
        progress: Vec::new(),
    };
    let end = run(&mut sampler, &mut sink);
    let log = sampler.log.borrow().clone();
    RecordedRun { end, log, lines: sink.lines, progress: sink.progress }
}

impl RecordedRun {
    /// The lines of the log that begin with one of these words, without marks and indents.
    pub(crate) fn only(&self, words: &[&str]) -> Vec<&str> {
        let lines = self.log.iter().map(|line| line.trim_start_matches(['>', ' ']));
        lines.filter(|line| words.iter().any(|word| line.starts_with(word))).collect()
    }

    /// Outcomes by trial.
    pub(crate) fn outcomes(&self) -> Vec<&str> {
        self.only(&["measured", "refused", "failed", "unavailable"])
    }

    pub(crate) fn samples(&self) -> Vec<&Sample> {
        let samples = self.lines.iter().filter_map(|line| match line {
            Line::Sample(sample) => Some(sample.as_ref()),
            _ => None,
        });
        samples.collect()
    }

    pub(crate) fn count_of(&self, trial: TrialIndex) -> usize {
        self.samples().iter().filter(|sample| sample.trial == trial).count()
    }
}

pub(super) fn refused(reason: &str) -> Outcome {
    Outcome::Refused { reason: reason.to_owned() }
}

pub(crate) fn failed(reason: &str) -> Outcome {
    Outcome::Failed { reason: reason.to_owned() }
}

pub(crate) fn unproven(times: usize) -> VecDeque<Result<Vec<u64>, SampleError>> {
    (1..=times).map(|n| Err(SampleError::Unproven(format!("try {n}")))).collect()
}
