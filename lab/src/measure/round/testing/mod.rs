//! Whole runs against a script, exact to the digit: plans, a scripted sampler and a recording sink.
//! The sampler and the sink write into one log, which reads like the run.

mod recording_sink;
mod scripted_sampler;

use super::{resume, run};
use crate::contender::methods::ResolvedMethod;
use crate::contender::roster::Warmup;
use crate::measure::interface::{Progress, SampleError, Sink};
use crate::measure::plan::{Budget, Focus, Plan, Planned, Role, Rules};
use crate::record::{CommandRules, EndReason, Line, Outcome, Record, RecordError, Sample, Start, Trial};
use crate::trial::{CacheState, Params, TrialId, TrialIndex, Work};
use crate::units::Nanos;
use readlab_protocol::{Cache, MethodLine, Reads};
use recording_sink::RecordingSink;
pub(in crate::measure) use scripted_sampler::{STEP_NS, ScriptedSampler};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

pub(crate) const WARM: CacheState = CacheState::Warm;
pub(crate) const COLD: CacheState = CacheState::Cold;

/// What the sampler and the sink were called with, in order.
type Log = Rc<RefCell<Vec<String>>>;

/// Rules under which trials are settled by the number of their readings alone.
pub(crate) fn runs(n: u32) -> Rules {
    Rules {
        warmup: 1,
        min_runs: n,
        max_runs: n,
        max_time: Nanos(u64::MAX),
        precision: -1.0,
        fills: 1,
        budget: Budget::Firm(Nanos(u64::MAX)),
        seed: 42,
        counts: 1,
        focus: Focus::Everything,
    }
}

/// A plan of these trials; those called `null`, `resident` and `device` are controls.
pub(crate) fn plan(rules: Rules, trials: &[(&str, CacheState)]) -> Plan {
    let mut planned = Vec::new();
    for (index, &(name, state)) in trials.iter().enumerate() {
        planned.push(planned_trial(index, name, state));
    }
    let mut states: Vec<CacheState> = trials.iter().map(|(_, state)| *state).collect();
    states.dedup();
    Plan { trials: planned, absent: Vec::new(), states, rules }
}

fn planned_trial(index: usize, name: &str, state: CacheState) -> Planned {
    let cache = match name {
        "null" | "resident" | "device" => Cache::None,
        _ => Cache::Through,
    };
    let id: TrialId = format!("rust/{name}").parse().unwrap();
    let method = MethodLine {
        method: name.to_owned(),
        scans: BTreeMap::new(),
        params: Vec::new(),
        about: String::new(),
        cache,
        reads: Reads::File,
        decodes: Vec::new(),
        dictionary: false,
        parts: false,
        lists: false,
        tls: false,
        unavailable: None,
    };
    let trial = Trial {
        index: TrialIndex::new(index),
        label: None,
        params: Params::default(),
        target: 0,
        work: Work::Newlines,
        state,
        cache,
        decodes: None,
        start: Start::Kept,
        command: CommandRules::default(),
        id: id.clone(),
    };
    let choice = ResolvedMethod { id: id.method, params: Params::default(), method };
    let (warmup, role) = (Warmup::Readings, Role::Candidate);
    Planned { trial, choice, warmup, collects: false, role, is_first_named: false }
}

/// A run that is over.
pub(in crate::measure) struct RecordedRun {
    pub(in crate::measure) end: Result<EndReason, RecordError>,
    pub(in crate::measure) log: Vec<String>,
    pub(in crate::measure) lines: Vec<Line>,
    pub(super) progress: Vec<Progress>,
}

/// A whole run.
pub(in crate::measure) fn play(plan: &Plan, sampler: ScriptedSampler) -> RecordedRun {
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
pub(in crate::measure) fn play_by(
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
    pub(in crate::measure) fn only(&self, words: &[&str]) -> Vec<&str> {
        let lines = self.log.iter().map(|line| line.trim_start_matches(['>', ' ']));
        lines.filter(|line| words.iter().any(|word| line.starts_with(word))).collect()
    }

    /// Outcomes by trial.
    pub(in crate::measure) fn outcomes(&self) -> Vec<&str> {
        self.only(&["measured", "refused", "failed", "unavailable"])
    }

    pub(in crate::measure) fn samples(&self) -> Vec<&Sample> {
        let samples = self.lines.iter().filter_map(|line| match line {
            Line::Sample(sample) => Some(sample.as_ref()),
            _ => None,
        });
        samples.collect()
    }

    pub(in crate::measure) fn count_of(&self, trial: TrialIndex) -> usize {
        self.samples().iter().filter(|sample| sample.trial == trial).count()
    }
}

pub(super) fn refused(reason: &str) -> Outcome {
    Outcome::Refused { reason: reason.to_owned() }
}

pub(in crate::measure) fn failed(reason: &str) -> Outcome {
    Outcome::Failed { reason: reason.to_owned() }
}

pub(in crate::measure) fn unproven(times: usize) -> VecDeque<Result<Vec<u64>, SampleError>> {
    (1..=times).map(|n| Err(SampleError::Unproven(format!("try {n}")))).collect()
}
