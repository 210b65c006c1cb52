//! What is known of a run while it goes on: what is done now, how far it is, and the readings so
//! far. It is updated by the lines of the record and the steps of the run.

use super::block::{Block, Key, Row};
use readlab_measure::interface::{Progress, Step};
use readlab_measure::plan::Plan;
use readlab_model::sample::Sample;
use readlab_model::target::TargetFacts;
use readlab_model::trial::{CacheState, TrialIndex, Work};
use readlab_model::units::Bytes;
use readlab_record::{Line, Outcome, Record, RunKind, Trial};
use readlab_report::{LiveColumn, live_columns};
use readlab_system::terminal::printable::printable;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Now {
    Activity(Activity),
    Step(Step),
}

/// Something that is done before or after the measuring.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Activity {
    pub(super) text: String,
    /// How far it is, where that is known.
    pub(super) done: Option<Done>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) bytes: Bytes,
    pub(super) of: Bytes,
}

/// The state that is measured, and how far it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StateNow {
    pub(super) state: CacheState,
    pub(super) trials: usize,
    /// Contenders that were started since it began.
    pub(super) started: usize,
    /// The last round that was begun, from 0; `None` before the first.
    pub(super) round: Option<u32>,
    pub(super) has_round: bool,
}

/// Where the row of a trial is.
#[derive(Debug, Clone, Copy)]
struct Place {
    block: usize,
    row: usize,
}

#[derive(Debug, Clone)]
pub(super) struct View {
    pub(super) now: Now,
    pub(super) state: Option<StateNow>,
    /// How far the whole run is, as of the last round.
    pub(super) progress: Option<Progress>,
    /// The rankings, in the order in which they began.
    pub(super) blocks: Vec<Block>,
    pub(super) warnings: Vec<String>,
    pub(super) is_ending: bool,
    targets: Vec<TargetFacts>,
    names: BTreeMap<TrialIndex, String>,
    places: BTreeMap<TrialIndex, Place>,
    /// Whether every file is read once, and methods are compared on all of them.
    is_sweep: bool,
    /// Whether controls are all that is measured.
    pub(super) ranks_controls: bool,
    /// The meters that are shown.
    pub(super) columns: Vec<LiveColumn>,
}

impl View {
    pub(super) fn new() -> View {
        View {
            now: Now::Activity(Activity::default()),
            state: None,
            progress: None,
            blocks: Vec::new(),
            warnings: Vec::new(),
            is_ending: false,
            targets: Vec::new(),
            names: BTreeMap::new(),
            places: BTreeMap::new(),
            is_sweep: false,
            ranks_controls: false,
            columns: live_columns(),
        }
    }

    /// Takes what a plan says about the trials to come.
    pub(super) fn expect(&mut self, plan: &Plan) {
        let trials = || plan.trials.iter().map(|planned| &planned.trial);
        self.names = trials().map(|trial| (trial.index, name(trial))).collect();
        self.ranks_controls = trials().all(Trial::is_control);
    }

    /// Takes what the record of an interrupted run holds.
    pub(super) fn recall(&mut self, record: &Record) {
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

    /// Takes what the run does next.
    pub(super) fn about_to(&mut self, step: Step) {
        if let Step::State(state, trials) = step {
            self.state = Some(StateNow { state, trials, started: 0, round: None, has_round: false });
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
        self.now = Now::Step(step);
    }

    pub(super) fn name(&self, trial: TrialIndex) -> &str {
        self.names.get(&trial).map_or("", String::as_str)
    }

    /// The target of a ranking; `None` in a sweep.
    pub(super) fn target(&self, key: Key) -> Option<&TargetFacts> {
        self.targets.get(key.target?)
    }

    /// The rankings that have readings, in the order in which they got their first.
    pub(super) fn begun(&self) -> Vec<&Block> {
        let mut begun: Vec<&Block> = self.blocks.iter().filter(|block| block.place.is_some()).collect();
        begun.sort_by_key(|block| block.place);
        begun
    }

    /// The largest ranking of the state that is measured; `None` before its first reading.
    pub(super) fn current(&self) -> Option<&Block> {
        let state = self.state?.state;
        let of_state = self.begun().into_iter().filter(|block| block.key.state == state);
        of_state.max_by_key(|block| block.rows.len())
    }

    fn announce(&mut self, trial: &Trial) {
        self.names.entry(trial.index).or_insert_with(|| name(trial));
        if trial.is_control() && !self.ranks_controls || self.places.contains_key(&trial.index) {
            return;
        }
        let key = Key::from_trial(trial, self.is_sweep);
        let found = self.blocks.iter().position(|block| block.key == key);
        let block = found.unwrap_or_else(|| {
            self.blocks.push(Block { key, rows: Vec::new(), place: None });
            self.blocks.len() - 1
        });
        let (rows, name) = (&mut self.blocks[block].rows, name(trial));
        let same = rows.iter().position(|row| self.is_sweep && row.name == name);
        let row = same.unwrap_or_else(|| {
            rows.push(Row::new(name));
            rows.len() - 1
        });
        // Whether a command whose output proves nothing reads all is known at the end.
        if !trial.is_control() && trial.work != Work::Output {
            rows[row].bytes_each = self.targets.get(trial.target).map_or(0, |facts| trial.bytes_out(facts));
        }
        self.places.insert(trial.index, Place { block, row });
    }

    fn add(&mut self, sample: &Sample) {
        let Some(&Place { block, row }) = self.places.get(&sample.trial) else { return };
        let begun = self.blocks.iter().filter(|block| block.place.is_some()).count();
        let block = &mut self.blocks[block];
        block.place.get_or_insert(begun);
        block.rows[row].take(sample, &self.columns);
    }

    fn end(&mut self, trial: TrialIndex, outcome: &Outcome) {
        // One file of a sweep that a method cannot read leaves it the others.
        if let Some(&Place { block, row }) = self.places.get(&trial).filter(|_| !self.is_sweep) {
            self.blocks[block].rows[row].end(outcome);
        }
    }
}

/// The name of a trial, safe to print: the one that a suite gives it, if any.
fn name(trial: &Trial) -> String {
    printable(&trial.label.clone().unwrap_or_else(|| trial.id.to_string()))
}
