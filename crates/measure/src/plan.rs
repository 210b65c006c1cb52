//! A plan: what will be measured and in which order, by trials, rules for stopping, and the shuffle
//! of every round.
//!
//! A plan is data. It knows no process and no clock; [`super::round`] executes it.

pub mod testing;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use readlab_catalog::roster::Warmup;
use readlab_model::trial::{CacheState, TrialId, TrialIndex};
pub use readlab_record::{Budget, Focus, Rules};
use readlab_record::{Contest, Outcome, Trial};
use readlab_roster::methods::ResolvedMethod;

/// Fills of the cache that one process of a contender reads. Fills differ by the place of the
/// file's pages in memory, and processes by the place of their own pages, but by much less:
/// METHOD.md has the measurement.
pub const FILLS_PER_START: u32 = 5;

/// Rounds that every state gets under an advised budget, and that the ways of a language have until
/// they are told apart: few trials share little noise, and have wide intervals before.
pub const ROUNDS_MIN: u32 = 5;

/// Rounds that a state of a race of more than [`FEW_TRIALS`] gets under an advised budget: the noise
/// that many trials share tells most of them apart after two.
const ROUNDS_MIN_OF_MANY: u32 = 3;

/// So few trials share little noise.
const FEW_TRIALS: usize = 3;

/// One part in this many of a state's firm time is kept for counting what its contenders do inside.
const COUNTING_PART: u64 = 8;

/// One trial of a plan, with what it takes to start its contender.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    pub trial: Trial,
    pub choice: ResolvedMethod,
    /// How its contender becomes ready after each start.
    pub warmup: Warmup,
    /// Whether its contender collects garbage between a turn's readings and its answer.
    pub collects: bool,
    pub role: Role,
    /// Whether it is the first trial of something that the user named: where time is short, it is
    /// read once before any other trial twice.
    pub is_first_named: bool,
    /// Why it may have no reading, where a prediction says that there is no time for it: it waits until
    /// the first readings of others show that there is.
    pub waits: Option<String>,
}

/// What the readings of a trial are for, beside finding the fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// For nothing else.
    Candidate,
    /// It is the usual way of its language: the advice for that language compares others with it.
    Usual,
    /// The others may be compared with it.
    Baseline,
    /// The same of a program that a suite names, and not the user.
    Common,
}

impl Role {
    pub fn is_compared_with(self) -> bool {
        matches!(self, Role::Baseline | Role::Common)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The trials that can be measured.
    pub trials: Vec<Planned>,
    /// The trials that were selected and cannot be measured here, with the reason.
    pub absent: Vec<(Trial, Outcome)>,
    pub states: Vec<CacheState>,
    pub rules: Rules,
}

impl Planned {
    pub fn on(&self, target: usize) -> Planned {
        let mut planned = self.clone();
        planned.trial.target = target;
        planned
    }
}

impl Plan {
    pub fn set_baseline(&mut self, id: &TrialId) {
        let is_exact = self.trials.iter().any(|planned| planned.trial.id == *id);
        // A resumed plan spells out settings that the name leaves to the contender.
        let is_named = |other: &TrialId| if is_exact { other == id } else { other.method == id.method };
        let named = self.trials.iter_mut().filter(|planned| is_named(&planned.trial.id));
        named.for_each(|planned| planned.role = Role::Baseline);
    }

    /// Numbers all trials anew, those that can be measured first.
    pub fn number(&mut self) {
        let absent = self.absent.iter_mut().map(|(trial, _)| trial);
        let planned = self.trials.iter_mut().map(|planned| &mut planned.trial);
        planned.chain(absent).enumerate().for_each(|(index, trial)| trial.index = TrialIndex::new(index));
    }

    /// # Panics
    /// If the plan has no trial of this index.
    pub fn planned(&self, trial: TrialIndex) -> &Planned {
        let is_it = |planned: &&Planned| planned.trial.index == trial;
        // A sweep has thousands of trials, and most plans number theirs in order.
        let in_order = self.trials.binary_search_by_key(&trial, |planned| planned.trial.index);
        let found = in_order.ok().map(|at| &self.trials[at]);
        let found = found.or_else(|| self.trials.iter().find(is_it));
        found.expect("only trials of the plan are measured")
    }

    pub fn contest(&self, trial: TrialIndex) -> Contest {
        self.planned(trial).trial.contest()
    }

    pub fn is_control(&self, trial: TrialIndex) -> bool {
        self.planned(trial).trial.is_control()
    }

    pub fn trials_of(&self, state: CacheState) -> Vec<TrialIndex> {
        let of_state = self.trials.iter().filter(|planned| planned.trial.state == state);
        of_state.map(|planned| planned.trial.index).collect()
    }

    /// Rounds that a state gets under an advised budget.
    pub fn rounds_min(&self, state: CacheState) -> u32 {
        let is_ranked = |planned: &&Planned| planned.trial.state == state && !planned.trial.is_control();
        let ranked = self.trials.iter().filter(is_ranked).count();
        let is_race_of_many = self.rules.focus == Focus::First && ranked > FEW_TRIALS;
        if is_race_of_many { ROUNDS_MIN_OF_MANY } else { ROUNDS_MIN }
    }

    /// What the rounds of a state have of the time of that state.
    pub fn rounds_ns(&self, state_ns: u64) -> u64 {
        match self.rules.budget {
            Budget::Firm(_) => state_ns - state_ns / COUNTING_PART,
            Budget::Advised(_) => state_ns,
        }
    }

    /// The order of one round: `live`, places in a list of trials, shuffled by the seed, the state
    /// and the round alone, so that it can be repeated.
    pub fn order(&self, state: CacheState, round: u32, live: &[usize]) -> Vec<usize> {
        // No record has both a known and an unknown state.
        let stream = u64::from(round) << 1 | u64::from(state == CacheState::Warm);
        let seed = self.rules.seed ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut order = live.to_vec();
        order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        order
    }
}
