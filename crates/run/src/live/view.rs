//! The state of a run for the live view: the current step, the progress, and the readings so far.
//! It is updated by the lines of the record and the steps of the run.

use super::block::{RankingBlock, RankingKey, RankingRow};
use readlab_measure::interface::{RunProgress, Step};
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
pub(super) enum CurrentActivity {
    /// An activity before or after measuring, as text; `progress` is `None` if it is not known.
    Described {
        text: String,
        progress: Option<ActivityProgress>,
    },
    Step(Step),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ActivityProgress {
    pub(super) done: Bytes,
    /// Bytes of the whole activity; 0 if they are unknown.
    pub(super) total: Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StateProgress {
    pub(super) state: CacheState,
    pub(super) trial_count: usize,
    /// Number of contenders that were started since the state began.
    pub(super) started_count: usize,
    /// The number of the last round that began, from 0; `None` before the first round.
    pub(super) last_round: Option<u32>,
    /// Whether the first round is over.
    pub(super) has_full_round: bool,
}

#[derive(Debug, Clone, Copy)]
struct RowPosition {
    block_index: usize,
    row_index: usize,
}

#[derive(Debug, Clone)]
pub(super) struct View {
    pub(super) current_activity: CurrentActivity,
    pub(super) state: Option<StateProgress>,
    /// Progress of the whole run after the last round; `None` before the first round is over.
    pub(super) progress: Option<RunProgress>,
    /// The rankings, in the order in which they began.
    pub(super) rankings: Vec<RankingBlock>,
    pub(super) warnings: Vec<String>,
    /// Whether the user has asked the run to end.
    pub(super) is_ending: bool,
    targets: Targets<TargetFacts>,
    trial_names: BTreeMap<TrialIndex, String>,
    row_positions: BTreeMap<TrialIndex, RowPosition>,
    /// Whether every file is read only once, and methods are compared over all files.
    is_sweep: bool,
    /// Whether controls have rows, too: true if the run has no other trials.
    pub(super) ranks_controls: bool,
    /// The columns of the meters that are shown.
    pub(super) meter_columns: Vec<LiveColumn>,
}

impl View {
    pub(super) fn new() -> View {
        View {
            current_activity: CurrentActivity::Described { text: String::new(), progress: None },
            state: None,
            progress: None,
            rankings: Vec::new(),
            warnings: Vec::new(),
            is_ending: false,
            targets: Targets::default(),
            trial_names: BTreeMap::new(),
            row_positions: BTreeMap::new(),
            is_sweep: false,
            ranks_controls: false,
            meter_columns: live_columns(),
        }
    }

    /// Learns the names of the trials of a plan, and whether all of them are controls.
    pub(super) fn expect_trials(&mut self, plan: &Plan) {
        let trials = || plan.trials.iter().map(|planned| &planned.trial);
        self.trial_names = trials().map(|trial| (trial.index, printable_name(trial))).collect();
        self.ranks_controls = trials().all(Trial::is_control);
    }

    /// Adds the targets, trials and readings of an interrupted run's record.
    pub(super) fn add_record(&mut self, record: &Record) {
        self.targets.clone_from(&record.targets);
        for it in &record.trials {
            self.add_trial(&it.trial);
            it.search_samples.iter().chain(it.samples.iter()).for_each(|sample| self.add_sample(&sample));
            it.outcome.iter().for_each(|outcome| self.set_outcome(it.trial.index, outcome));
        }
    }

    /// Takes over what one more line of the record says.
    pub(super) fn add_line(&mut self, line: &Line) {
        match line {
            Line::Header(header) => {
                self.is_sweep = header.kind == RunKind::Sweep;
            }
            Line::Target { facts, .. } => self.targets.push((**facts).clone()),
            Line::Trial(trial) => self.add_trial(trial),
            Line::Sample(sample) => self.add_sample(sample),
            Line::Outcome { trial, outcome } => self.set_outcome(*trial, outcome),
            Line::Warning { text } => self.warnings.push(printable(text)),
            _ => {}
        }
    }

    /// Shows the next step of the run.
    pub(super) fn announce_step(&mut self, step: Step) {
        if let Step::State(state, trials) = step {
            self.state = Some(StateProgress {
                state,
                trial_count: trials,
                started_count: 0,
                last_round: None,
                has_full_round: false,
            });
        }
        if let Some(state) = &mut self.state {
            match step {
                Step::Start(_) => state.started_count += 1,
                Step::Turn { round, .. } => state.last_round = Some(round),
                Step::RoundOver(_) => state.has_full_round = true,
                _ => {}
            }
        }
        if let Step::RoundOver(progress) | Step::Count(_, progress) = step {
            self.progress = Some(progress);
        }
        self.current_activity = CurrentActivity::Step(step);
    }

    pub(super) fn trial_name(&self, trial: TrialIndex) -> &str {
        self.trial_names.get(&trial).map_or("", String::as_str)
    }

    /// The target of a ranking; `None` in a sweep.
    pub(super) fn target(&self, key: RankingKey) -> Option<&TargetFacts> {
        self.targets.get(key.target?)
    }

    /// Short name of the target of a ranking; `None` if the key names no target.
    pub(super) fn target_name(&self, key: RankingKey) -> Option<String> {
        target_names(&self.targets).get(key.target?).cloned()
    }

    /// A space and the name of a ranking's target in parentheses; empty if the run has one target.
    pub(super) fn target_suffix(&self, key: RankingKey) -> String {
        let mut pairs = self.targets.iter().zip(self.targets.iter().skip(1));
        let has_several = pairs.any(|(one, next)| one.path != next.path);
        let name = self.target_name(key).filter(|_| has_several);
        name.map_or_else(String::new, |name| format!(" ({})", printable(&name)))
    }

    /// The rankings that have readings, in the order of their first reading.
    pub(super) fn begun_rankings(&self) -> Vec<&RankingBlock> {
        let mut begun: Vec<&RankingBlock> =
            self.rankings.iter().filter(|block| block.earlier_ranking_count.is_some()).collect();
        begun.sort_by_key(|block| block.earlier_ranking_count);
        begun
    }

    /// The largest ranking of the state that is measured; `None` before its first reading.
    pub(super) fn current_ranking(&self) -> Option<&RankingBlock> {
        let state = self.state?.state;
        let of_state = self.begun_rankings().into_iter().filter(|block| block.key.state == state);
        of_state.max_by_key(|block| block.rows.len())
    }

    fn add_trial(&mut self, trial: &Trial) {
        self.trial_names.entry(trial.index).or_insert_with(|| printable_name(trial));
        if trial.is_control() && !self.ranks_controls || self.row_positions.contains_key(&trial.index) {
            return;
        }
        let key = RankingKey::from_trial(trial, self.is_sweep);
        let found = self.rankings.iter().position(|block| block.key == key);
        let block = found.unwrap_or_else(|| {
            self.rankings.push(RankingBlock { key, rows: Vec::new(), earlier_ranking_count: None });
            self.rankings.len() - 1
        });
        let (rows, name) = (&mut self.rankings[block].rows, printable_name(trial));
        let same = rows.iter().position(|row| self.is_sweep && row.name == name);
        let row = same.unwrap_or_else(|| {
            rows.push(RankingRow::new(name));
            rows.len() - 1
        });
        // A command whose output proves nothing may read only a part; whether it reads all bytes is
        // known only at the end.
        if !trial.is_control() && !trial.work.may_read_part() && !trial.work.finds_names() {
            rows[row].reading_bytes =
                self.targets.get(trial.target).map_or(0, |facts| trial.bytes_out(facts));
        }
        self.row_positions.insert(trial.index, RowPosition { block_index: block, row_index: row });
    }

    fn add_sample(&mut self, sample: &Sample) {
        let Some(&RowPosition { block_index, row_index }) = self.row_positions.get(&sample.trial) else {
            return;
        };
        let begun = self.rankings.iter().filter(|block| block.earlier_ranking_count.is_some()).count();
        let block = &mut self.rankings[block_index];
        block.earlier_ranking_count.get_or_insert(begun);
        block.rows[row_index].add_sample(sample, &self.meter_columns);
    }

    fn set_outcome(&mut self, trial: TrialIndex, outcome: &Outcome) {
        // A method that cannot read one file of a sweep still reads the other files.
        if let Some(&RowPosition { block_index, row_index }) =
            self.row_positions.get(&trial).filter(|_| !self.is_sweep)
        {
            self.rankings[block_index].rows[row_index].set_outcome(outcome);
        }
    }
}

/// The name of a trial, safe to print: its label from the suite, or else its id.
fn printable_name(trial: &Trial) -> String {
    printable(&trial.label.clone().unwrap_or_else(|| trial.id.to_string()))
}
