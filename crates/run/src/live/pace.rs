//! How often something is drawn: so seldom that drawing takes at most its share of one processor.

use std::time::{Duration, Instant};

/// Between two drawings there are so many times the time of the first: 0.5 % of one processor.
const REST: u32 = 200;

/// The shortest time between two drawings: a person sees no more, and the terminal has work too.
const REST_MIN: Duration = Duration::from_millis(20);

/// When the next drawing is due.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pace {
    due: Option<Instant>,
}

impl Pace {
    /// Whether something may be drawn now.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.due.is_none_or(|due| now >= due)
    }

    pub(super) fn drawn(&mut self, begun: Instant, ended: Instant) {
        let rest = ended.saturating_duration_since(begun).saturating_mul(REST);
        self.due = Some(ended + rest.max(REST_MIN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_slowly_is_drawn_seldom() {
        let begun = Instant::now();
        let after = |ms| begun + Duration::from_millis(ms);
        let mut pace = Pace::default();
        assert!(pace.is_due(begun));
        pace.drawn(begun, begun);
        assert!(!pace.is_due(after(19)) && pace.is_due(after(20)));
        pace.drawn(begun, after(10));
        assert!(!pace.is_due(after(2_009)) && pace.is_due(after(2_010)), "ten of two thousand");
    }
}
