//! The time of a run, which may have been interrupted before: the time that is used, and how long a
//! single wait may be.

use crate::plan::Budget;
use std::time::{Duration, Instant};

/// Time by which work that was begun within a firm budget may exceed the budget.
pub(super) const GRACE_TIME: Duration = Duration::from_secs(5);

pub(super) struct RunClock {
    /// Time that the run took before it was interrupted.
    pub(super) earlier: Duration,
    started: Instant,
    budget: Budget,
}

impl RunClock {
    pub(super) fn start(budget: Budget) -> RunClock {
        RunClock { earlier: Duration::ZERO, started: Instant::now(), budget }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.earlier + self.started.elapsed()
    }

    /// The limit of a wait whose usual limit is `usual`: no later than the user's budget and
    /// [`GRACE_TIME`], unless the awaited work is known to need longer.
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
        clock.earlier = hour;
        assert_eq!(clock.wait_limit(hour, Duration::ZERO), GRACE_TIME);
        assert_eq!(clock.wait_limit(hour, 20 * second), 20 * second + GRACE_TIME, "a slow file is read");
        assert_eq!(RunClock::start(Budget::Advised(ten_seconds)).wait_limit(hour, second), hour);
    }
}
