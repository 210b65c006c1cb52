//! The warm-up of a contender that becomes faster while it runs: it reads untimed until the times
//! of its readings no longer change. [`readlab_analysis::stats`] defines steadiness.

use super::trials::TURN_READINGS_MAX;
use readlab_analysis::stats::{Steadiness, steadiness};
use readlab_model::trial::TrialIndex;
use readlab_model::units::Nanos;
use readlab_record::{WarmedUp, WarmupEnd};
use std::ops::ControlFlow;
use std::time::Duration;

/// Longest duration of the warm-up after each start.
const WARMUP_TIME_MAX: Duration = Duration::from_secs(5);

/// Divisor of the whole run's time. One warm-up of all contenders of a state may take the quotient.
const WARMUP_TIME_DIVISOR: u32 = 20;

/// Largest number of readings of a warm-up. A contender that is not steady after these readings has
/// no steady level.
const WARMUP_READINGS_MAX: usize = 300;

/// Duration of one turn of a warm-up: as many short readings as fit, so that most of the turn is
/// not spent waking up.
const WARMUP_TURN_NS: u64 = 200_000_000;

pub(super) struct WarmUpUntilSteady {
    pub(super) walls_ns: Vec<u64>,
    pub(super) time_limit: Duration,
}

/// Longest warm-up of one of `contenders` contenders: five seconds, or, if that is less, an equal
/// share of a twentieth of the run's time.
pub(super) fn time_limit(run: Nanos, contenders: usize) -> Duration {
    let all = Duration::from_nanos(run.0) / WARMUP_TIME_DIVISOR;
    WARMUP_TIME_MAX.min(all / u32::try_from(contenders.max(1)).unwrap_or(u32::MAX))
}

impl WarmUpUntilSteady {
    /// The number of readings in the next turn, or why the warm-up ends: the readings are steady,
    /// or its time or readings are used up.
    pub(super) fn next_step(&self, elapsed: Duration) -> ControlFlow<WarmupEnd, u32> {
        let end = match steadiness(&self.walls_ns) {
            Steadiness::Steady { .. } => WarmupEnd::Steady,
            Steadiness::NoSteadyState => WarmupEnd::NoSteadyState,
            Steadiness::TooShort => WarmupEnd::TooFewReadings,
        };
        let is_out = elapsed >= self.time_limit || self.walls_ns.len() >= WARMUP_READINGS_MAX;
        if end == WarmupEnd::Steady || is_out {
            return ControlFlow::Break(end);
        }
        let last_ns = self.walls_ns.last().copied().unwrap_or(0).max(1);
        let readings = (WARMUP_TURN_NS / last_ns).clamp(1, TURN_READINGS_MAX);
        ControlFlow::Continue(u32::try_from(readings).expect("at most ten"))
    }

    pub(super) fn warmed_up(&self, trial: TrialIndex, elapsed: Duration, end: WarmupEnd) -> WarmedUp {
        let readings = u32::try_from(self.walls_ns.len()).unwrap_or(u32::MAX);
        WarmedUp { trial, readings, wall_ns: Nanos::from(elapsed).0, end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_readings_share_a_turn_and_long_ones_have_one_each() {
        let next_step = |last_ns| {
            WarmUpUntilSteady { walls_ns: vec![last_ns], time_limit: WARMUP_TIME_MAX }
                .next_step(Duration::ZERO)
        };
        assert_eq!(next_step(1), ControlFlow::Continue(10));
        assert_eq!(next_step(50_000_000), ControlFlow::Continue(4));
        assert_eq!(next_step(900_000_000), ControlFlow::Continue(1));
    }

    #[test]
    fn a_warm_up_ends_when_the_time_or_the_readings_are_used_up() {
        let warm_up = WarmUpUntilSteady { walls_ns: vec![5; 3], time_limit: Duration::from_secs(1) };
        assert_eq!(warm_up.next_step(Duration::from_secs(1)), ControlFlow::Break(WarmupEnd::TooFewReadings));
        let walls_ns = (0..300).map(|n| 1_000_000 - n * 3_000).collect();
        let warm_up = WarmUpUntilSteady { walls_ns, time_limit: WARMUP_TIME_MAX };
        assert!(matches!(warm_up.next_step(Duration::ZERO), ControlFlow::Break(_)));
        let warmed_up = warm_up.warmed_up(TrialIndex::new(4), Duration::ZERO, WarmupEnd::NoSteadyState);
        assert_eq!(warmed_up.readings, 300);
        // The time limit is a part of the run's time.
        assert_eq!(time_limit(Nanos(u64::MAX), 1), WARMUP_TIME_MAX);
        assert_eq!(time_limit(Nanos(40_000_000_000), 4), Duration::from_millis(500));
    }
}
