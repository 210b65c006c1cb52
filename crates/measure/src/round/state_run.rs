//! One state of a run: its trials with their progress, and its time.

use super::state_clock::StateClock;
use super::trial_progress::TrialProgress;
use crate::plan::{Focus, Plan};
use readlab_model::trial::CacheState;
use readlab_record::Contest;
use std::collections::BTreeMap;

pub(crate) struct StateRun {
    pub(crate) state: CacheState,
    pub(crate) progresses: Vec<TrialProgress>,
    pub(crate) clock: StateClock,
    /// Duration of the longest start of a contender so far, untimed reading included.
    pub(crate) longest_start_ns: u64,
    /// Number of turns in the rounds so far.
    pub(super) turn_count: u64,
    /// Total duration of these turns, preparation included.
    pub(super) total_turns_ns: u64,
    /// Whether the cache could not be filled under the settings of some block.
    pub(super) is_unfillable: bool,
    /// Whether a fill or a start was paid for and no turn followed: then the end of a firm budget
    /// waits for one turn, because without it this time gives no number.
    pub(super) owes_turn: bool,
}

impl StateRun {
    /// A state of which this run has started no trial yet.
    pub(super) fn new(state: CacheState, progresses: Vec<TrialProgress>, clock: StateClock) -> StateRun {
        StateRun {
            state,
            progresses,
            clock,
            longest_start_ns: 0,
            turn_count: 0,
            total_turns_ns: 0,
            is_unfillable: false,
            owes_turn: false,
        }
    }

    /// Called after a fill or a start: one turn is owed, unless the state has readings.
    pub(crate) fn owe_first_turn(&mut self) {
        self.owes_turn = self.progresses.iter().all(|it| it.wall_times.is_empty());
    }

    /// The trials of the next round, as indexes into `progresses`: trials that are not settled, and
    /// the controls, because every round is compared with them.
    pub(super) fn live_trials(&self, plan: &Plan) -> Vec<usize> {
        self.live_trials_among(plan, |_| true)
    }

    /// The trials of the next round that `is_eligible` accepts.
    pub(super) fn live_trials_among(
        &self,
        plan: &Plan,
        is_eligible: fn(&TrialProgress) -> bool,
    ) -> Vec<usize> {
        let is_control = |it: &TrialProgress| plan.is_control(it.trial);
        let is_open = |it: &TrialProgress| is_eligible(it) && !it.is_settled(&plan.rules);
        let any_other = self.progresses.iter().any(|it| is_open(it) && !is_control(it));
        let only_controls = self.progresses.iter().all(is_control);
        let leaders = self.leaders(plan);
        let takes_part = |at: usize| {
            let it = &self.progresses[at];
            if is_control(it) && !only_controls {
                any_other && !it.has_ended && is_eligible(it)
            } else if self.is_comparison_partner(at, &leaders, plan) {
                any_other && !it.is_over(&plan.rules) && is_eligible(it)
            } else {
                is_open(it)
            }
        };
        (0..self.progresses.len()).filter(|&at| takes_part(at)).collect()
    }

    /// Whether the other trials of a round are compared with this trial, so that it needs a reading
    /// in the same round.
    fn is_comparison_partner(&self, at: usize, leaders: &BTreeMap<Contest, usize>, plan: &Plan) -> bool {
        let trial = self.progresses[at].trial;
        let is_leader = || leaders.get(&plan.contest(trial)) == Some(&at);
        plan.rules.focus == Focus::First && (plan.planned_trial(trial).role.is_baseline() || is_leader())
    }

    /// The trial with the lowest median in each contest, among the trials that may have further
    /// rounds.
    pub(super) fn leaders(&self, plan: &Plan) -> BTreeMap<Contest, usize> {
        let mut leaders = BTreeMap::<Contest, (f64, usize)>::new();
        for (at, it) in self.progresses.iter().enumerate() {
            let takes_part = it.competes() && !it.is_over(&plan.rules) && !plan.is_control(it.trial);
            let Some(median_ns) = it.median_ns().filter(|_| takes_part) else { continue };
            let leader = leaders.entry(plan.contest(it.trial)).or_insert((median_ns, at));
            if median_ns < leader.0 {
                *leader = (median_ns, at);
            }
        }
        leaders.into_iter().map(|(contest, (_, at))| (contest, at)).collect()
    }

    pub(crate) fn set_aside_others(&mut self, is_in: impl Fn(&TrialProgress) -> bool) -> Vec<TrialProgress> {
        let (inside, outside) = self.progresses.drain(..).partition(is_in);
        self.progresses = inside;
        outside
    }
}
