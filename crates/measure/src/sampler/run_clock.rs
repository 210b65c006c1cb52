//! The time of a run, earlier parts of an interrupted run included: the time that is used, and the
//! limit of a single wait.

use crate::plan::Budget;
use std::time::{Duration, Instant};

/// Work that began within a firm budget may end this much time after the budget.
pub(super) const GRACE_TIME: Duration = Duration::from_secs(5);

pub(super) struct RunClock {
    /// Time that the run took before it was interrupted.
    pub(super) earlier_time: Duration,
    started: Instant,
    budget: Budget,
}

impl RunClock {
    pub(super) fn start(budget: Budget) -> RunClock {
        RunClock { earlier_time: Duration::ZERO, started: Instant::now(), budget }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.earlier_time + self.started.elapsed()
    }

    /// Whether a wait without a usual limit must end: [`GRACE_TIME`] after the end of a firm budget.
    pub(super) fn is_wait_over(&self) -> bool {
        match self.budget {
            Budget::Firm(time) => self.elapsed() > Duration::from(time).saturating_add(GRACE_TIME),
            Budget::Advised(_) => false,
        }
    }

    /// Whether a firm budget is used up.
    pub(super) fn is_firm_time_up(&self) -> bool {
        matches!(self.budget, Budget::Firm(time) if self.elapsed() >= Duration::from(time))
    }

    /// The limit of a wait whose usual limit is `usual`: with a firm budget at most the time left,
    /// or `needed` if that is longer, plus [`GRACE_TIME`].
    pub(super) fn wait_limit(&self, usual: Duration, needed: Duration) -> Duration {
        match self.budget {
            Budget::Firm(time) => {
                let left = Duration::from(time).saturating_sub(self.elapsed());
                usual.min(left.max(needed).saturating_add(GRACE_TIME))
            }
            Budget::Advised(_) => usual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::units::Nanos;

    #[test]
    fn a_wait_ends_at_most_a_grace_time_after_the_users_budget() {
        let (hour, second) = (Duration::from_secs(3600), Duration::from_secs(1));
        let ten_seconds = Nanos(10_000_000_000);
        let mut clock = RunClock::start(Budget::Firm(ten_seconds));
        let limit = clock.wait_limit(hour, Duration::ZERO);
        assert!(limit > 9 * second && limit <= 10 * second + GRACE_TIME, "{limit:?}");
        assert_eq!(clock.wait_limit(second, Duration::ZERO), second, "a shorter limit stays");
        assert!(!clock.is_firm_time_up());
        clock.earlier_time = hour;
        assert!(clock.is_firm_time_up());
        assert_eq!(clock.wait_limit(hour, Duration::ZERO), GRACE_TIME);
        assert_eq!(clock.wait_limit(hour, 20 * second), 20 * second + GRACE_TIME, "a slow file is read");
        assert_eq!(RunClock::start(Budget::Advised(ten_seconds)).wait_limit(hour, second), hour);
    }

    #[test]
    fn a_wait_without_a_limit_is_over_a_grace_time_after_a_firm_budget_alone() {
        let is_over =
            |budget, earlier_time| RunClock { earlier_time, ..RunClock::start(budget) }.is_wait_over();
        let (budget, hour) = (Nanos(10_000_000_000), Duration::from_secs(3600));
        assert!(!is_over(Budget::Firm(budget), Duration::from(budget)));
        assert!(is_over(Budget::Firm(budget), Duration::from(budget) + GRACE_TIME));
        assert!(!is_over(Budget::Advised(budget), hour));
    }
}
