//! A scripted sampler and a recording sink, for tests of whole runs with exact numbers. The sampler
//! and the sink write into one log, which lists the steps of the run. The sampler's clock advances
//! by fixed and scripted times only.

use super::{resume, run};
use crate::counts::Counts;
use crate::interface::{CleanUpError, RunProgress, SampleError, Sampler, Sink, Slot, Step, TrialEnd};
pub(crate) use crate::plan::testing::{COLD, WARM, plan, rules_for_readings};
use crate::plan::{Plan, Rules};
use readlab_model::sample::Sample;
use readlab_model::target::TargetIndex;
use readlab_model::trial::{Answer, CacheState, Params, TrialIndex};
use readlab_record::{EndReason, Fill, Line, Outcome, Record, RecordError, UntimedCount, testing};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// Time that every call except a turn takes.
pub(crate) const CALL_NS: u64 = 1_000;

/// Window of a reading without a script.
const DEFAULT_WALL_NS: u64 = 100;

/// Calls of the sampler and the sink, in order.
type Log = Rc<RefCell<Vec<String>>>;

type Alteration = Box<dyn FnMut(&mut Sample)>;

type Turns = VecDeque<Result<Vec<u64>, SampleError>>;

/// A sampler whose results come from a script; a call without a script succeeds.
#[derive(Default)]
pub(crate) struct ScriptedSampler {
    pub(crate) log: Log,
    pub(crate) names: BTreeMap<TrialIndex, String>,
    pub(crate) now_ns: u64,
    pub(crate) open_ends: BTreeMap<TrialIndex, TrialEnd>,
    pub(crate) warm_up_ends: BTreeMap<TrialIndex, TrialEnd>,
    pub(crate) turns: BTreeMap<TrialIndex, Turns>,
    pub(crate) wall_ns_by_trial: BTreeMap<TrialIndex, u64>,
    pub(crate) sample_alterations: BTreeMap<TrialIndex, Alteration>,
    pub(crate) count_ends: BTreeMap<TrialIndex, TrialEnd>,
    pub(crate) refusals: BTreeMap<TrialIndex, &'static str>,
    pub(crate) counted_names: BTreeSet<String>,
    pub(crate) count_again_calls: BTreeMap<TrialIndex, u64>,
    pub(crate) fills: VecDeque<Result<(), TrialEnd>>,
    pub(crate) settings_ends: BTreeMap<TrialIndex, TrialEnd>,
    pub(crate) missing_meters: VecDeque<Vec<(&'static str, String)>>,
    /// Additional time of a start.
    pub(crate) start_ns: u64,
    /// Additional time of a fill.
    pub(crate) fill_ns: u64,
    /// Additional time of a count.
    pub(crate) count_ns: u64,
    /// The trials that each call of `launch` names.
    pub(crate) launches: Rc<RefCell<Vec<Vec<TrialIndex>>>>,
    /// The turn, from 0, before which the user ends the run; `None` if the user does not end it.
    pub(crate) user_ends_before_turn: Option<usize>,
    /// The result of each inspection; without a script, nothing is inspected.
    pub(crate) inspections: VecDeque<Result<Vec<Line>, EndReason>>,
    /// Error of the clean-up after the last reading.
    pub(crate) clean_up_error: Option<CleanUpError>,
}

/// Methods that build the script; they identify trials by number.
impl ScriptedSampler {
    /// Makes the start of a trial end the trial or the run.
    pub(crate) fn ending_at_open(mut self, trial: usize, end: TrialEnd) -> Self {
        self.open_ends.insert(TrialIndex::new(trial), end);
        self
    }

    pub(crate) fn ending_at_warm_up(mut self, trial: usize, end: TrialEnd) -> Self {
        self.warm_up_ends.insert(TrialIndex::new(trial), end);
        self
    }

    /// Makes a turn end the trial or the run, after turns with these windows.
    pub(crate) fn ending_at_turn(self, trial: usize, walls: &[u64], end: TrialEnd) -> Self {
        let before = walls.iter().map(|&wall_ns| Ok(vec![wall_ns]));
        self.with_turns(trial, before.chain([Err(end.into())]))
    }

    pub(crate) fn ending_at_count(mut self, trial: usize, end: TrialEnd) -> Self {
        self.count_ends.insert(TrialIndex::new(trial), end);
        self
    }

    /// Sets the first turns of a trial: the windows of each turn in nanoseconds, or why the turn
    /// has none.
    pub(crate) fn with_turns(
        mut self,
        trial: usize,
        turns: impl IntoIterator<Item = Result<Vec<u64>, SampleError>>,
    ) -> Self {
        self.turns.insert(TrialIndex::new(trial), turns.into_iter().collect());
        self
    }

    /// Sets the first turns of a trial, with one window each.
    pub(crate) fn with_windows(self, trial: usize, walls: impl IntoIterator<Item = u64>) -> Self {
        self.with_turns(trial, walls.into_iter().map(|wall_ns| Ok(vec![wall_ns])))
    }

    /// Sets the window of all turns that have no script.
    pub(crate) fn with_default_windows(mut self, walls: impl IntoIterator<Item = (usize, u64)>) -> Self {
        self.wall_ns_by_trial
            .extend(walls.into_iter().map(|(trial, wall_ns)| (TrialIndex::new(trial), wall_ns)));
        self
    }

    /// Makes `bytes` come from the device in each reading of these trials.
    pub(crate) fn with_device_reads(self, bytes: u64, trials: impl IntoIterator<Item = usize>) -> Self {
        let read = move |sample: &mut Sample| sample.device_read_bytes = Some(bytes);
        trials.into_iter().fold(self, |sampler, trial| sampler.with_alteration(trial, read))
    }

    pub(crate) fn with_alteration(mut self, trial: usize, alter: impl FnMut(&mut Sample) + 'static) -> Self {
        self.sample_alterations.insert(TrialIndex::new(trial), Box::new(alter));
        self
    }

    pub(crate) fn with_refusal(mut self, trial: usize, reason: &'static str) -> Self {
        self.refusals.insert(TrialIndex::new(trial), reason);
        self
    }

    fn log(&self, line: String) {
        self.log.borrow_mut().push(line);
    }

    fn log_call(&mut self, what: &str, trial: TrialIndex) {
        self.now_ns += CALL_NS;
        self.log(format!("  {what} {}", self.names[&trial]));
    }
}

impl Sampler for ScriptedSampler {
    fn launch(&mut self, next: &[TrialIndex]) {
        self.launches.borrow_mut().push(next.to_vec());
    }

    fn open(&mut self, trial: TrialIndex) -> Result<Params, TrialEnd> {
        self.log_call("open", trial);
        self.now_ns += self.start_ns;
        self.open_ends.remove(&trial).map_or_else(|| Ok(Params([("depth".to_owned(), 1)].into())), Err)
    }

    fn warm_up(&mut self, trial: TrialIndex) -> Result<(), TrialEnd> {
        self.log_call("rehearse", trial);
        self.warm_up_ends.remove(&trial).map_or(Ok(()), Err)
    }

    fn apply_settings(&mut self, trial: TrialIndex) -> Result<(), TrialEnd> {
        self.log_call("settings of", trial);
        self.settings_ends.remove(&trial).map_or(Ok(()), Err)
    }

    fn fill(&mut self, fill: u32) -> Result<Fill, TrialEnd> {
        self.now_ns += CALL_NS + self.fill_ns;
        self.log(format!("  fill {fill}"));
        let filled = self.fills.pop_front().unwrap_or(Ok(()));
        let how = "scripted".to_owned();
        filled.map(|()| Fill {
            fill,
            target: TargetIndex::new(0),
            how,
            wall_ns: CALL_NS,
            resident_after: Some(1.0),
        })
    }

    fn take_turn(&mut self, trial: TrialIndex, slot: &Slot) -> Result<Vec<Sample>, SampleError> {
        self.log(format!("  turn {} {}", self.names[&trial], slot.state));
        let scripted = self.turns.get_mut(&trial).and_then(VecDeque::pop_front);
        let walls = scripted.unwrap_or_else(|| {
            Ok(vec![self.wall_ns_by_trial.get(&trial).copied().unwrap_or(DEFAULT_WALL_NS)])
        })?;
        self.now_ns += walls.iter().sum::<u64>();
        let visits = !["null", "device"].contains(&self.names[&trial].as_str());
        let sample = |(reading, wall_ns)| Sample {
            reading,
            wall_ns,
            answer: Answer { newlines: visits.then_some(1), ..Answer::default() },
            ..slot.empty_sample(trial)
        };
        let mut samples: Vec<Sample> = (0..).zip(walls).map(sample).collect();
        if let Some(alter) = self.sample_alterations.get_mut(&trial) {
            samples.iter_mut().for_each(alter);
        }
        Ok(samples)
    }

    fn count(&mut self, trials: &[TrialIndex]) -> Vec<Result<Counts, TrialEnd>> {
        let mut longest_ns = 0;
        let mut counts = Vec::new();
        for &trial in trials {
            self.log_call("count", trial);
            if !self.is_counted(trial) {
                let readings_ns = 4 * self.wall_ns_by_trial.get(&trial).copied().unwrap_or_default();
                longest_ns = longest_ns.max(self.count_ns + readings_ns);
            }
            self.counted_names.insert(self.names[&trial].clone());
            counts.push(
                self.count_ends.get(&trial).map_or_else(|| Ok(syscall_counts(7)), |end| Err(end.clone())),
            );
        }
        self.now_ns += longest_ns;
        counts
    }

    /// Each count is one more than the one before.
    fn count_again(&mut self, trials: &[TrialIndex]) -> Vec<Result<Counts, TrialEnd>> {
        self.now_ns += self.count_ns;
        let mut counts = Vec::new();
        for &trial in trials {
            self.log_call("count again", trial);
            let again = self.count_again_calls.entry(trial).or_default();
            *again += 1;
            counts.push(Ok(syscall_counts(7 + *again)));
        }
        counts
    }

    /// Trials of the same name make the same readings.
    fn is_counted(&self, trial: TrialIndex) -> bool {
        self.counted_names.contains(&self.names[&trial])
    }

    fn has_inspections(&self) -> bool {
        !self.inspections.is_empty()
    }

    fn inspect(&mut self, trial: TrialIndex) -> Result<Vec<Line>, EndReason> {
        self.log_call("inspect", trial);
        self.inspections.pop_front().unwrap_or_else(|| Ok(Vec::new()))
    }

    fn uninspected_lines(&mut self, trial: TrialIndex, reason: &str) -> Vec<Line> {
        self.log_call("not inspected", trial);
        self.log.borrow_mut().last_mut().unwrap().push_str(&format!(": {reason}"));
        Vec::new()
    }

    fn bytes_per_reading(&self, _trial: TrialIndex) -> Option<u64> {
        Some(1_000)
    }

    fn refusal(&self, trial: TrialIndex) -> Option<Outcome> {
        self.refusals.get(&trial).map(|reason| refused_outcome(reason))
    }

    fn close_session(&mut self, trial: TrialIndex) {
        self.log(format!("  close {}", self.names[&trial]));
    }

    fn clean_up(&mut self) -> Result<(), CleanUpError> {
        self.clean_up_error.take().map_or(Ok(()), Err)
    }

    fn drain_missing_meters(&mut self) -> Vec<(String, String)> {
        let missing = self.missing_meters.pop_front().unwrap_or_default().into_iter();
        missing.map(|(meter, reason)| (meter.to_owned(), reason)).collect()
    }

    fn elapsed_ns(&self) -> u64 {
        self.now_ns
    }
}

fn syscall_counts(value: u64) -> Counts {
    [("syscalls".to_owned(), UntimedCount { value: Some(value), how: "scripted".to_owned() })].into()
}

/// Keeps the lines of the record, and writes lines and steps into the log.
struct RecordingSink {
    log: Log,
    lines: Vec<Line>,
    names: BTreeMap<TrialIndex, String>,
    /// Number of lines after which the record is full.
    lines_max: usize,
    /// The turn, from 0, before which the user ends the run; `None` if the user does not end it.
    user_ends_before_turn: Option<usize>,
    turn_count: usize,
    progress_reports: Vec<RunProgress>,
}

impl Sink for RecordingSink {
    fn append(&mut self, line: Line) -> Result<(), RecordError> {
        if self.lines.len() >= self.lines_max {
            let cause = std::io::ErrorKind::StorageFull.into();
            return Err(RecordError::Io { path: "record".into(), cause });
        }
        let name = |trial: &TrialIndex| &self.names[trial];
        let text = match &line {
            Line::Trial(trial) => format!("trial {} {}", name(&trial.index), trial.params),
            Line::Fill(fill) => format!("filled {}", fill.fill),
            Line::Sample(sample) => format!(
                "sample {}{} {} ns, fill {} round {} position {}",
                sample.rung.map_or_else(String::new, |rung| format!("of rung {rung} ")),
                name(&sample.trial),
                sample.wall_ns,
                sample.fill,
                sample.round,
                sample.position
            ),
            Line::Rejected { trial, round, reason } => {
                format!("rejected {} round {round}: {reason}", name(trial))
            }
            Line::Missing { trial, meter, reason } => format!("missing {} {meter}: {reason}", name(trial)),
            Line::Counts { trial, counts } => {
                format!("counts {} {:?}", name(trial), counts["syscalls"].value)
            }
            Line::Stopped { trial, stopped } => {
                format!("stopped {} {:?} after {} rounds", name(trial), stopped.why, stopped.rounds)
            }
            Line::Outcome { trial, outcome } => match outcome.reason() {
                Some(reason) => format!("{} {}: {reason}", outcome.word(), name(trial)),
                None => format!("{} {}", outcome.word(), name(trial)),
            },
            Line::Limit(limit) => format!("limit {} {}", limit.name, limit.value),
            Line::Warning { text } => format!("warning {text}"),
            Line::Trace { trial, .. } => format!("trace {}", name(trial)),
            Line::End { reason, wall_ns } => format!("end {reason:?} after {wall_ns} ns"),
            _ => "not of a run".to_owned(),
        };
        self.log.borrow_mut().push(format!("> {text}"));
        self.lines.push(line);
        Ok(())
    }

    fn announce_step(&mut self, step: Step) {
        self.turn_count += usize::from(matches!(step, Step::Turn { .. }));
        if let Step::Count(_, progress) | Step::RoundOver(progress) = step {
            self.progress_reports.push(progress);
        }
        let name = |trial: TrialIndex| &self.names[&trial];
        self.log.borrow_mut().push(match step {
            Step::State(state, trials) => format!("stage {state} {trials}"),
            Step::Fill(fill) => format!("fill {fill}"),
            Step::Start(trial) => format!("start {}", name(trial)),
            Step::Count(trial, _) => format!("count {}", name(trial)),
            Step::Inspect(trial) => format!("inspect {}", name(trial)),
            Step::Turn { trial, round, position, trial_count: of } => {
                format!("round {round} {}/{of} {}", position + 1, name(trial))
            }
            Step::RoundOver(progress) => format!("round over {:.0} %", progress.share * 100.0),
        });
    }

    fn wants_end(&mut self) -> Result<bool, RecordError> {
        Ok(self.user_ends_before_turn.is_some_and(|turn| self.turn_count >= turn))
    }
}

pub(crate) struct RecordedRun {
    pub(crate) end: Result<EndReason, RecordError>,
    pub(crate) log: Vec<String>,
    pub(crate) lines: Vec<Line>,
    pub(super) progress_reports: Vec<RunProgress>,
    trial_count: usize,
}

pub(crate) fn play(plan: &Plan, sampler: ScriptedSampler) -> RecordedRun {
    play_until_full(plan, sampler, usize::MAX)
}

pub(crate) fn play_trials(
    rules: Rules,
    trials: &[(&str, CacheState)],
    sampler: ScriptedSampler,
) -> RecordedRun {
    play(&plan(rules, trials), sampler)
}

/// A run whose record is full after `lines_max` lines.
pub(super) fn play_until_full(plan: &Plan, sampler: ScriptedSampler, lines_max: usize) -> RecordedRun {
    play_with(plan, sampler, lines_max, |sampler, sink| run(plan, sampler, sink))
}

/// The rest of a run whose first part recorded these lines.
pub(super) fn play_resumed(plan: &Plan, lines: &[Line], sampler: ScriptedSampler) -> RecordedRun {
    play_with(plan, sampler, usize::MAX, |sampler, sink| {
        resume(plan, &record_from_lines(lines), sampler, sink)
    })
}

/// Executes `run`, which may be a race, a search or a sequence, with this sampler and a sink that
/// is full after `lines_max` lines.
pub(crate) fn play_with(
    plan: &Plan,
    mut sampler: ScriptedSampler,
    lines_max: usize,
    run: impl FnOnce(&mut ScriptedSampler, &mut dyn Sink) -> Result<EndReason, RecordError>,
) -> RecordedRun {
    let trials = plan.trials.iter().map(|planned| &planned.trial);
    let trials = trials.chain(plan.absent_trials.iter().map(|(trial, _)| trial));
    let names: BTreeMap<_, _> = trials.map(|trial| (trial.index, trial.method().to_owned())).collect();
    sampler.names.clone_from(&names);
    let (log, user_ends_at) = (Rc::clone(&sampler.log), sampler.user_ends_before_turn);
    let mut sink = RecordingSink {
        log,
        lines: Vec::new(),
        names,
        lines_max,
        user_ends_before_turn: user_ends_at,
        turn_count: 0,
        progress_reports: Vec::new(),
    };
    let end = run(&mut sampler, &mut sink);
    let log = sampler.log.take();
    RecordedRun {
        end,
        log,
        lines: sink.lines,
        progress_reports: sink.progress_reports,
        trial_count: plan.trials.len(),
    }
}

impl RecordedRun {
    /// The lines of the log that begin with one of these words, without marks and indents.
    pub(crate) fn log_lines(&self, words: &[&str]) -> Vec<&str> {
        let lines = self.log.iter().map(|line| line.trim_start_matches(['>', ' ']));
        lines.filter(|line| words.iter().any(|word| line.starts_with(word))).collect()
    }

    pub(crate) fn outcomes(&self) -> Vec<&str> {
        self.log_lines(&["measured", "refused", "failed", "unavailable", "ruled out"])
    }

    pub(crate) fn samples(&self) -> Vec<&Sample> {
        let samples = self.lines.iter().filter_map(|line| match line {
            Line::Sample(sample) => Some(sample.as_ref()),
            _ => None,
        });
        samples.collect()
    }

    pub(crate) fn samples_of(&self, trial: usize) -> Vec<&Sample> {
        let mut samples = self.samples();
        samples.retain(|sample| sample.trial == TrialIndex::new(trial));
        samples
    }

    /// Number of readings of each trial of the plan.
    pub(crate) fn reading_counts(&self) -> Vec<usize> {
        (0..self.trial_count).map(|trial| self.samples_of(trial).len()).collect()
    }

    /// The lines of the record up to the first for which `is_last` holds.
    pub(super) fn lines_until(&self, is_last: impl Fn(&Line) -> bool) -> &[Line] {
        &self.lines[..=self.lines.iter().position(is_last).unwrap()]
    }
}

pub(super) fn record_from_lines(lines: &[Line]) -> Record {
    let mut record = Record::new(testing::header());
    lines.iter().cloned().for_each(|line| record.add(line));
    record
}

pub(super) fn refused_outcome(reason: &str) -> Outcome {
    Outcome::Refused { reason: reason.to_owned() }
}

pub(crate) fn failed_end(reason: &str) -> TrialEnd {
    TrialEnd::Trial(Outcome::Failed { reason: reason.to_owned() })
}

pub(crate) fn unproven_turns(times: usize) -> Vec<Result<Vec<u64>, SampleError>> {
    (1..=times).map(|n| Err(SampleError::Unproven(format!("try {n}")))).collect()
}
