//! The state of a run for the live view: the current step, the progress, and the readings so far.
//! It is updated by the lines of the record and the steps of the run.

use super::block::{RankingBlock, RankingKey, RankingRow};
use readlab_measure::interface::{Progress, Step};
use readlab_measure::plan::Plan;
use readlab_model::sample::Sample;
use readlab_model::target::{TargetFacts, Targets};
use readlab_model::trial::{CacheState, TrialIndex};
use readlab_model::units::Bytes;
use readlab_record::{Line, Outcome, Record, RunKind, Trial};
use readlab_report::{LiveColumn, live_columns, target_names};
use readlab_system::terminal::printable::printable;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum CurrentWork {
    Activity { text: String, done: Option<ActivityProgress> },
    Step(Step),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ActivityProgress {
    pub(super) bytes: Bytes,
    pub(super) of: Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StateProgress {
    pub(super) state: CacheState,
    pub(super) trials: usize,
    /// Number of contenders that were started since the state began.
    pub(super) started: usize,
    /// The last round that began, from 0; `None` before the first round.
    pub(super) round: Option<u32>,
    pub(super) has_round: bool,
}

#[derive(Debug, Clone, Copy)]
struct RowPosition {
    block: usize,
    row: usize,
}

#[derive(Debug, Clone)]
pub(super) struct View {
    pub(super) now: CurrentWork,
    pub(super) state: Option<StateProgress>,
    /// Progress of the whole run after the last round.
    pub(super) progress: Option<Progress>,
    /// The rankings, in the order in which they began.
    pub(super) blocks: Vec<RankingBlock>,
    pub(super) warnings: Vec<String>,
    pub(super) is_ending: bool,
    targets: Targets<TargetFacts>,
    names: BTreeMap<TrialIndex, String>,
    row_positions: BTreeMap<TrialIndex, RowPosition>,
    /// Whether every file is read only once, and methods are compared over all files.
    is_sweep: bool,
    pub(super) ranks_controls: bool,
    /// The meters that are shown.
    pub(super) columns: Vec<LiveColumn>,
}

impl View {
    pub(super) fn new() -> View {
        View {
            now: CurrentWork::Activity { text: String::new(), done: None },
            state: None,
            progress: None,
            blocks: Vec::new(),
            warnings: Vec::new(),
            is_ending: false,
            targets: Targets::default(),
            names: BTreeMap::new(),
            row_positions: BTreeMap::new(),
            is_sweep: false,
            ranks_controls: false,
            columns: live_columns(),
        }
    }

    pub(super) fn expect_trials(&mut self, plan: &Plan) {
        let trials = || plan.trials.iter().map(|planned| &planned.trial);
        self.names = trials().map(|trial| (trial.index, name(trial))).collect();
        self.ranks_controls = trials().all(Trial::is_control);
    }

    /// Takes the targets, trials and readings of an interrupted run's record.
    pub(super) fn restore(&mut self, record: &Record) {
        self.targets.clone_from(&record.targets);
        for it in &record.trials {
            self.announce(&it.trial);
            it.searched.iter().chain(it.samples.iter()).for_each(|sample| self.add(&sample));
            it.outcome.iter().for_each(|outcome| self.end(it.trial.index, outcome));
        }
    }

    /// Takes one more line of the record.
    pub(super) fn take(&mut self, line: &Line) {
        match line {
            Line::Header(header) => {
                self.is_sweep = header.kind == RunKind::Sweep;
            }
            Line::Target { facts, .. } => self.targets.push((**facts).clone()),
            Line::Trial(trial) => self.announce(trial),
            Line::Sample(sample) => self.add(sample),
            Line::Outcome { trial, outcome } => self.end(*trial, outcome),
            Line::Warning { text } => self.warnings.push(printable(text)),
            _ => {}
        }
    }

    /// Takes the next step of the run.
    pub(super) fn announce_step(&mut self, step: Step) {
        if let Step::State(state, trials) = step {
            self.state = Some(StateProgress { state, trials, started: 0, round: None, has_round: false });
        }
        if let Some(state) = &mut self.state {
            match step {
                Step::Start(_) => state.started += 1,
                Step::Turn { round, .. } => state.round = Some(round),
                Step::RoundOver(_) => state.has_round = true,
                _ => {}
            }
        }
        if let Step::RoundOver(progress) | Step::Count(_, progress) = step {
            self.progress = Some(progress);
        }
        self.now = CurrentWork::Step(step);
    }

    pub(super) fn name(&self, trial: TrialIndex) -> &str {
        self.names.get(&trial).map_or("", String::as_str)
    }

    /// The target of a ranking; `None` in a sweep.
    pub(super) fn target(&self, key: RankingKey) -> Option<&TargetFacts> {
        self.targets.get(key.target?)
    }

    /// Short name of the target of a ranking; `None` if the key names no target.
    pub(super) fn target_name(&self, key: RankingKey) -> Option<String> {
        target_names(&self.targets).get(key.target?).cloned()
    }

    /// The target of a ranking in parentheses; empty if the run has one target.
    pub(super) fn distinction(&self, key: RankingKey) -> String {
        let mut pairs = self.targets.iter().zip(self.targets.iter().skip(1));
        let has_several = pairs.any(|(one, next)| one.path != next.path);
        let name = self.target_name(key).filter(|_| has_several);
        name.map_or_else(String::new, |name| format!(" ({})", printable(&name)))
    }

    /// The rankings that have readings, in the order of their first reading.
    pub(super) fn begun_rankings(&self) -> Vec<&RankingBlock> {
        let mut begun: Vec<&RankingBlock> =
            self.blocks.iter().filter(|block| block.begun_before.is_some()).collect();
        begun.sort_by_key(|block| block.begun_before);
        begun
    }

    /// The largest ranking of the state that is measured; `None` before its first reading.
    pub(super) fn current_ranking(&self) -> Option<&RankingBlock> {
        let state = self.state?.state;
        let of_state = self.begun_rankings().into_iter().filter(|block| block.key.state == state);
        of_state.max_by_key(|block| block.rows.len())
    }

    fn announce(&mut self, trial: &Trial) {
        self.names.entry(trial.index).or_insert_with(|| name(trial));
        if trial.is_control() && !self.ranks_controls || self.row_positions.contains_key(&trial.index) {
            return;
        }
        let key = RankingKey::from_trial(trial, self.is_sweep);
        let found = self.blocks.iter().position(|block| block.key == key);
        let block = found.unwrap_or_else(|| {
            self.blocks.push(RankingBlock { key, rows: Vec::new(), begun_before: None });
            self.blocks.len() - 1
        });
        let (rows, name) = (&mut self.blocks[block].rows, name(trial));
        let same = rows.iter().position(|row| self.is_sweep && row.name == name);
        let row = same.unwrap_or_else(|| {
            rows.push(RankingRow::new(name));
            rows.len() - 1
        });
        // A command whose output proves nothing may read only a part; whether it reads all bytes is
        // known only at the end.
        if !trial.is_control() && !trial.work.may_read_part() && !trial.work.finds_names() {
            rows[row].bytes_each = self.targets.get(trial.target).map_or(0, |facts| trial.bytes_out(facts));
        }
        self.row_positions.insert(trial.index, RowPosition { block, row });
    }

    fn add(&mut self, sample: &Sample) {
        let Some(&RowPosition { block, row }) = self.row_positions.get(&sample.trial) else { return };
        let begun = self.blocks.iter().filter(|block| block.begun_before.is_some()).count();
        let block = &mut self.blocks[block];
        block.begun_before.get_or_insert(begun);
        block.rows[row].take(sample, &self.columns);
    }

    fn end(&mut self, trial: TrialIndex, outcome: &Outcome) {
        // A method that cannot read one file of a sweep still reads the other files.
        if let Some(&RowPosition { block, row }) = self.row_positions.get(&trial).filter(|_| !self.is_sweep) {
            self.blocks[block].rows[row].end(outcome);
        }
    }
}

/// The name of a trial, safe to print: its label from the suite, if any.
fn name(trial: &Trial) -> String {
    printable(&trial.label.clone().unwrap_or_else(|| trial.id.to_string()))
}
