//! Divides `--budget` among the states of a run: when each state must end, and how much of its time
//! is used up. The callers pass the current time.

use crate::plan::{Budget, Plan};
use readlab_analysis::stats::float;
use readlab_model::trial::CacheState;

/// Divisor of the time left of a firm budget. Starts of contenders may take the quotient; the rest
/// is for their readings, because each contender needs several turns.
const STARTING_TIME_DIVISOR: u64 = 4;

/// The time of one state: this state and the states after it get equal parts of the time left.
pub(crate) struct StateClock {
    budget: Budget,
    start_ns: u64,
    end_ns: u64,
    counting_end_ns: u64,
    /// Number of rounds that are taken even if an advised budget is used up.
    rounds_min: u32,
}

impl StateClock {
    /// The clock of a state that begins now; `parts` is the number of parts of the run that are
    /// left, this state included.
    pub(crate) fn start(plan: &Plan, state: CacheState, now_ns: u64, parts: usize) -> StateClock {
        let budget = plan.rules.budget;
        let left_ns = budget.time().0.saturating_sub(now_ns);
        let part_ns = left_ns / parts.max(1) as u64;
        StateClock {
            budget,
            start_ns: now_ns,
            end_ns: now_ns.saturating_add(plan.rounds_ns(part_ns)),
            counting_end_ns: now_ns.saturating_add(part_ns),
            rounds_min: plan.rounds_min(state),
        }
    }

    /// The clock of the first part of this state; `share`, 0 to 1, is the part's share of the
    /// state's time.
    pub(crate) fn clock_of_first_part(&self, share: f64) -> StateClock {
        let part_ns = (float(self.end_ns.saturating_sub(self.start_ns)) * share) as u64;
        StateClock { end_ns: self.start_ns + part_ns, ..*self }
    }

    pub(crate) fn is_over(&self, rounds_done: u32, now_ns: u64) -> bool {
        now_ns >= self.end_ns && self.min_rounds_share_done(rounds_done) >= 1.0
    }

    fn is_firm(&self) -> bool {
        matches!(self.budget, Budget::Firm(_))
    }

    /// The share of the minimum number of rounds that is done; 1 with a firm budget, which has no
    /// minimum.
    fn min_rounds_share_done(&self, rounds_done: u32) -> f64 {
        if self.is_firm() { 1.0 } else { f64::from(rounds_done) / f64::from(self.rounds_min) }
    }

    /// Whether the time of the state is used up. Only rounds that decide the race may follow.
    pub(crate) fn is_time_used_up(&self, now_ns: u64) -> bool {
        now_ns >= self.end_ns
    }

    /// Whether a firm budget is used up, so that not even one more turn may begin.
    pub(crate) fn is_firm_time_up(&self, now_ns: u64) -> bool {
        self.is_firm() && now_ns >= self.end_ns
    }

    /// Time in nanoseconds after which no contender is started for the rounds that begin now.
    /// Starts may take only a part of the time left of a firm budget: a contender that is started
    /// and never read gives no number and takes time from the others.
    pub(crate) fn start_deadline_ns(&self, now_ns: u64) -> u64 {
        let part_ns = self.left_ns(now_ns) / STARTING_TIME_DIVISOR;
        if self.is_firm() { now_ns.saturating_add(part_ns) } else { u64::MAX }
    }

    /// Whether a firm budget leaves the state at most `time_ns` from now.
    pub(crate) fn firm_time_ends_within(&self, now_ns: u64, time_ns: u64) -> bool {
        self.is_firm() && now_ns.saturating_add(time_ns) >= self.end_ns
    }

    pub(crate) fn is_counting_time_up(&self, now_ns: u64) -> bool {
        self.is_firm() && now_ns >= self.counting_end_ns
    }

    /// The share of the state that is done, 0 to 1, on the assumption that no trial is settled
    /// before the time of the state is used up.
    pub(crate) fn share_done(&self, rounds_done: u32, now_ns: u64) -> f64 {
        self.share_used(now_ns).min(self.min_rounds_share_done(rounds_done))
    }

    pub(crate) fn since_start_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.start_ns)
    }

    pub(crate) fn left_ns(&self, now_ns: u64) -> u64 {
        self.end_ns.saturating_sub(now_ns)
    }

    /// The share of the state's time that is used up, 0 to 1.
    pub(crate) fn share_used(&self, now_ns: u64) -> f64 {
        let whole_ns = self.end_ns.saturating_sub(self.start_ns).max(1);
        (float(self.since_start_ns(now_ns)) / float(whole_ns)).min(1.0)
    }
}
