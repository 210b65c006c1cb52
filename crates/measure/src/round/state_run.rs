//! One state of a run: its trials, how far each of them is, and its time.

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
    /// The longest start of a contender so far, with its untimed reading.
    pub(crate) longest_start_ns: u64,
    /// Turns of its rounds so far, and the time of them with all that belongs to a turn.
    pub(super) turns: u64,
    pub(super) turns_ns: u64,
}

impl StateRun {
    /// The trials of the next round, as places in `progresses`: those that are not settled, and
    /// with them the controls, which every round is compared with.
    pub(super) fn live(&self, plan: &Plan) -> Vec<usize> {
        self.live_among(plan, |_| true)
    }

    /// The same among the trials that `is_eligible` accepts.
    pub(super) fn live_among(&self, plan: &Plan, is_eligible: fn(&TrialProgress) -> bool) -> Vec<usize> {
        let is_control = |it: &TrialProgress| plan.is_control(it.trial);
        let is_open = |it: &TrialProgress| is_eligible(it) && !it.is_settled(&plan.rules);
        let any_other = self.progresses.iter().any(|it| is_open(it) && !is_control(it));
        let only_controls = self.progresses.iter().all(is_control);
        let leaders = self.leaders(plan);
        let takes_part = |at: usize| {
            let it = &self.progresses[at];
            if is_control(it) && !only_controls {
                any_other && !it.ended && is_eligible(it)
            } else if self.is_compared_with(at, &leaders, plan) {
                any_other && !it.is_over(&plan.rules) && is_eligible(it)
            } else {
                is_open(it)
            }
        };
        (0..self.progresses.len()).filter(|&at| takes_part(at)).collect()
    }

    /// Whether the rounds of other trials need a reading of this one beside theirs.
    fn is_compared_with(&self, at: usize, leaders: &BTreeMap<Contest, usize>, plan: &Plan) -> bool {
        let trial = self.progresses[at].trial;
        let is_leader = || leaders.get(&plan.contest(trial)) == Some(&at);
        plan.rules.focus == Focus::First && (plan.planned(trial).role.is_compared_with() || is_leader())
    }

    /// The trial with the lowest median in each contest, of those that may have further rounds.
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

    pub(crate) fn set_aside(&mut self, is_in: impl Fn(&TrialProgress) -> bool) -> Vec<TrialProgress> {
        let (inside, outside) = self.progresses.drain(..).partition(is_in);
        self.progresses = inside;
        outside
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{WARM, plan, runs};
    use super::*;

    #[test]
    fn controls_take_part_as_long_as_another_trial_does() {
        let plan = plan(runs(2), &[("null", WARM), ("a", WARM), ("b", WARM)]);
        let progresses = plan.trials_of(WARM).into_iter().map(TrialProgress::new).collect();
        let clock = StateClock::start(&plan, WARM, 0, 1);
        let mut state_run =
            StateRun { state: WARM, progresses, clock, longest_start_ns: 0, turns: 0, turns_ns: 0 };
        assert_eq!(state_run.live(&plan), [0, 1, 2]);
        state_run.progresses[1].ended = true;
        assert_eq!(state_run.live(&plan), [0, 2]);
        assert_eq!(state_run.live_among(&plan, |it| it.announced), [] as [usize; 0]);
        state_run.progresses[2].ended = true;
        assert_eq!(state_run.live(&plan), [] as [usize; 0]);
    }
}
