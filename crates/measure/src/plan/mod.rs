//! A plan: the trials that will be measured, the rules for stopping, and the shuffled order of
//! every round. A plan is data and uses neither processes nor clocks; [`super::round`] executes it.

pub mod testing;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use readlab_catalog::roster::Warmup;
use readlab_model::target::TargetIndex;
use readlab_model::trial::{CacheState, TrialId, TrialIndex};
pub use readlab_record::{Budget, Focus, Rules};
use readlab_record::{Contest, Outcome, Trial};
use readlab_roster::methods::ResolvedMethod;

/// Number of fills of the cache for which one process of a contender runs. Each fill places the
/// file's pages elsewhere in memory, and each process has its own pages elsewhere; either changes
/// the times. The times of processes differ much less than those of fills: METHOD.md has the
/// measurement.
pub const FILLS_PER_START: u32 = 5;

/// Smallest number of rounds of every state under an advised budget. The usual and the best method
/// of a language also have this many rounds, unless the difference of their times is clear earlier.
/// With few trials the pooled estimate of the noise is poor, so fewer rounds give wide intervals.
pub const ROUNDS_MIN: u32 = 5;

/// Smallest number of rounds of a state under an advised budget in a race of more than
/// [`FEW_TRIALS_MAX`] trials: the noise estimate is pooled over all trials, so every ratio has an
/// interval after two rounds, and most differences are clear.
const ROUNDS_MIN_OF_MANY_TRIALS: u32 = 2;

/// Largest number of trials whose pooled noise estimate is too poor for two rounds.
const FEW_TRIALS_MAX: usize = 3;

/// Divisor of a state's time under a firm budget. The quotient is reserved for counting system
/// calls and allocations of contenders.
const COUNTING_TIME_DIVISOR: u64 = 8;

/// One trial of a plan, with everything needed to start its contender.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedTrial {
    pub trial: Trial,
    pub resolved_method: ResolvedMethod,
    /// How the contender becomes warm after each start.
    pub warmup: Warmup,
    /// Whether the contender collects garbage between a turn's readings and its answer.
    pub collects_garbage: bool,
    pub role: Role,
    /// Whether the trial is a command of the user's, which may do any work.
    pub is_own_command: bool,
    /// The block of each round in which the trial is read. Trials of one block are read under the
    /// same settings of the system.
    pub block_index: usize,
    /// Whether this is the first trial of something that the user named. If time is short, this
    /// trial is read once before any other trial is read twice.
    pub is_first_named: bool,
    /// Why a prediction leaves no time for the trial; `None` for a trial that is read from the
    /// first round on. A trial with a reason waits until readings of other trials show that there
    /// is time.
    pub wait_reason: Option<String>,
}

/// Purpose of a trial's readings, in addition to the search for the fastest trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// No other purpose.
    Candidate,
    /// The trial is the usual method of its language; the advice for that language compares others
    /// with it.
    Usual,
    /// The baseline that the user named: other trials may be compared with it.
    Baseline,
    /// A baseline that the suite names and the user does not.
    SuiteBaseline,
}

impl Role {
    pub fn is_baseline(self) -> bool {
        matches!(self, Role::Baseline | Role::SuiteBaseline)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The trials that can be measured.
    pub trials: Vec<PlannedTrial>,
    /// The trials that were selected and cannot be measured here, with the reason.
    pub absent_trials: Vec<(Trial, Outcome)>,
    pub states: Vec<CacheState>,
    pub rules: Rules,
}

impl PlannedTrial {
    pub fn on_target(&self, target: TargetIndex) -> PlannedTrial {
        let mut planned = self.clone();
        planned.trial.target = target;
        planned
    }
}

impl Plan {
    pub fn set_baseline(&mut self, id: &TrialId) {
        let is_exact = self.trials.iter().any(|planned| planned.trial.id == *id);
        // The ids of a resumed plan also contain settings that the user's name left to the
        // contender, so no id may be exactly that name.
        let is_named = |other: &TrialId| if is_exact { other == id } else { other.method == id.method };
        let named = self.trials.iter_mut().filter(|planned| is_named(&planned.trial.id));
        named.for_each(|planned| planned.role = Role::Baseline);
    }

    /// Joins this plan with the plan of another target. Trials of the same name and state are
    /// adjacent, so that a trial for which there is no time is left out on both targets.
    pub fn joined_with(mut self, other: Plan) -> Plan {
        self.trials.extend(other.trials);
        self.absent_trials.extend(other.absent_trials);
        let is_new = |state: &CacheState| !self.states.contains(state);
        let states: Vec<CacheState> = other.states.into_iter().filter(is_new).collect();
        self.states.extend(states);
        let named: Vec<(CacheState, TrialId)> =
            self.trials.iter().map(|planned| (planned.trial.state, planned.trial.id.clone())).collect();
        let first_of_name = |planned: &PlannedTrial| {
            let own = (planned.trial.state, &planned.trial.id);
            named.iter().position(|(state, id)| (*state, id) == own)
        };
        self.trials.sort_by_cached_key(first_of_name);
        self.number_trials();
        self
    }

    /// Renumbers all trials; those that can be measured come first.
    pub fn number_trials(&mut self) {
        let absent = self.absent_trials.iter_mut().map(|(trial, _)| trial);
        let planned = self.trials.iter_mut().map(|planned| &mut planned.trial);
        planned.chain(absent).enumerate().for_each(|(index, trial)| trial.index = TrialIndex::new(index));
    }

    /// # Panics
    /// If the plan has no trial of this index.
    pub fn planned_trial(&self, trial: TrialIndex) -> &PlannedTrial {
        let is_it = |planned: &&PlannedTrial| planned.trial.index == trial;
        // The binary search is fast for the thousands of trials of a sweep, and finds the trial in
        // every plan that numbers its trials in order.
        let in_order = self.trials.binary_search_by_key(&trial, |planned| planned.trial.index);
        let found = in_order.ok().map(|at| &self.trials[at]);
        let found = found.or_else(|| self.trials.iter().find(is_it));
        found.expect("only trials of the plan are measured")
    }

    pub fn contest(&self, trial: TrialIndex) -> Contest {
        self.planned_trial(trial).trial.contest()
    }

    pub fn is_control(&self, trial: TrialIndex) -> bool {
        self.planned_trial(trial).trial.is_control()
    }

    pub fn trials_in_state(&self, state: CacheState) -> Vec<TrialIndex> {
        let of_state = self.trials.iter().filter(|planned| planned.trial.state == state);
        of_state.map(|planned| planned.trial.index).collect()
    }

    /// Smallest number of rounds of a state under an advised budget.
    pub fn rounds_min(&self, state: CacheState) -> u32 {
        let is_ranked = |planned: &&PlannedTrial| planned.trial.state == state && !planned.trial.is_control();
        let ranked = self.trials.iter().filter(is_ranked).count();
        let is_race_of_many = self.rules.focus == Focus::First && ranked > FEW_TRIALS_MAX;
        if is_race_of_many { ROUNDS_MIN_OF_MANY_TRIALS } else { ROUNDS_MIN }
    }

    /// The part of a state's time that its rounds may take.
    pub fn rounds_ns(&self, state_ns: u64) -> u64 {
        match self.rules.budget {
            Budget::Firm(_) => state_ns - state_ns / COUNTING_TIME_DIVISOR,
            Budget::Advised(_) => state_ns,
        }
    }

    /// Number of blocks of each round; 1 if no settings of the system are raced.
    pub fn block_count(&self) -> usize {
        self.trials.iter().map(|planned| planned.block_index + 1).max().unwrap_or(1)
    }

    /// The order of one round: the indexes of trials in `live`, shuffled. The order depends only on
    /// the seed, the state and the round, so that it can be reproduced. Blocks are shuffled too,
    /// and the trials of a block stay together; `block_of` returns the block of a trial.
    pub fn round_order(
        &self,
        state: CacheState,
        round: u32,
        live: &[usize],
        block_of: impl Fn(usize) -> usize,
    ) -> Vec<usize> {
        // Cold and unknown states belong to different targets, so nothing compares their orders.
        let stream = u64::from(round) << 1 | u64::from(state == CacheState::Warm);
        let seed = self.rules.seed ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut order, mut blocks) = (live.to_vec(), (0..self.block_count()).collect::<Vec<_>>());
        order.shuffle(&mut random);
        blocks.shuffle(&mut random);
        order.sort_by_key(|&at| blocks.iter().position(|&block| block == block_of(at)));
        order
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{COLD, WARM, plan, rules_for_readings};
    use super::*;

    #[test]
    fn a_joined_plan_has_the_same_trial_of_two_targets_side_by_side() {
        let here = plan(rules_for_readings(3), &[("a", COLD), ("b", COLD), ("a", WARM)]);
        let mut there = plan(rules_for_readings(3), &[("b", COLD), ("c", COLD), ("a", COLD), ("a", WARM)]);
        there.trials = there.trials.iter().map(|planned| planned.on_target(TargetIndex::new(1))).collect();
        let both = here.joined_with(there);
        let trials = both.trials.iter().map(|planned| &planned.trial);
        let found: Vec<_> = trials.clone().map(|it| (it.method(), it.target, it.state)).collect();
        let expected = [
            ("a", 0, COLD),
            ("a", 1, COLD),
            ("b", 0, COLD),
            ("b", 1, COLD),
            ("a", 0, WARM),
            ("a", 1, WARM),
            ("c", 1, COLD),
        ];
        assert_eq!(found, expected.map(|(name, target, state)| (name, TargetIndex::new(target), state)));
        assert_eq!(
            trials.map(|it| it.index).collect::<Vec<_>>(),
            (0..7).map(TrialIndex::new).collect::<Vec<_>>()
        );
        assert_eq!(both.states, [COLD, WARM]);
    }
}
