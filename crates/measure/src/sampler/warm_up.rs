//! The warm-up of a contender that becomes faster while it runs: it reads untimed until its
//! readings stay at one level. What steady means lives in [`readlab_analysis::stats`].

use super::trials::COUNT_MAX;
use readlab_analysis::stats::{Steadiness, steadiness};
use readlab_model::trial::TrialIndex;
use readlab_model::units::Nanos;
use readlab_record::{WarmedUp, WarmupEnd};
use std::time::Duration;

/// Longest time for which a contender reads until it is steady, each time it is started.
const WARMUP_TIME: Duration = Duration::from_secs(5);

/// Share of the time of the whole run that all these contenders of a state together may take to
/// become steady, once.
const WARMUP_SHARE: u32 = 20;

/// Most readings until steady: a level that takes longer to find does not exist.
const WARMUP_READINGS_MAX: usize = 300;

/// Time of the readings in one turn of a warm-up: as many short readings as fit, so that most of a
/// turn is not waking up.
const WARMUP_TURN_NS: u64 = 200_000_000;

pub(super) struct UntilSteady {
    pub(super) walls_ns: Vec<u64>,
    pub(super) time_limit: Duration,
}

#[derive(Debug, PartialEq)]
pub(super) enum Next {
    /// So many readings in one turn.
    Read(u32),
    /// Nothing: it is over.
    End(WarmupEnd),
}

/// How long one of so many contenders may take to become steady, in a run of this time: five
/// seconds, or its part of a twentieth of the whole run.
pub(super) fn time_limit(run: Nanos, contenders: usize) -> Duration {
    let all = Duration::from_nanos(run.0) / WARMUP_SHARE;
    WARMUP_TIME.min(all / u32::try_from(contenders.max(1)).unwrap_or(u32::MAX))
}

impl UntilSteady {
    /// What comes next after so much time: another turn, unless the readings are steady, or there
    /// is no time or reading left.
    pub(super) fn next(&self, elapsed: Duration) -> Next {
        let end = match steadiness(&self.walls_ns) {
            Steadiness::Steady { .. } => WarmupEnd::Steady,
            Steadiness::NoSteadyState => WarmupEnd::NoSteadyState,
            Steadiness::TooShort => WarmupEnd::TooFewReadings,
        };
        let is_out = elapsed >= self.time_limit || self.walls_ns.len() >= WARMUP_READINGS_MAX;
        if end == WarmupEnd::Steady || is_out {
            return Next::End(end);
        }
        let last_ns = self.walls_ns.last().copied().unwrap_or(0).max(1);
        let readings = (WARMUP_TURN_NS / last_ns).clamp(1, COUNT_MAX);
        Next::Read(u32::try_from(readings).expect("at most ten"))
    }

    /// What the record says of it when it has ended.
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
        let next =
            |last_ns| UntilSteady { walls_ns: vec![last_ns], time_limit: WARMUP_TIME }.next(Duration::ZERO);
        assert_eq!(next(1), Next::Read(10));
        assert_eq!(next(50_000_000), Next::Read(4));
        assert_eq!(next(900_000_000), Next::Read(1));
    }

    #[test]
    fn it_ends_when_the_time_or_the_readings_are_used_up() {
        let warm_up = UntilSteady { walls_ns: vec![5; 3], time_limit: Duration::from_secs(1) };
        assert_eq!(warm_up.next(Duration::from_secs(1)), Next::End(WarmupEnd::TooFewReadings));
        let walls_ns = (0..300).map(|n| 1_000_000 - n * 3_000).collect();
        let warm_up = UntilSteady { walls_ns, time_limit: WARMUP_TIME };
        assert!(matches!(warm_up.next(Duration::ZERO), Next::End(_)));
        let warmed_up = warm_up.warmed_up(TrialIndex::new(4), Duration::ZERO, WarmupEnd::NoSteadyState);
        assert_eq!(warmed_up.readings, 300);
        // The time is a part of the run.
        assert_eq!(time_limit(Nanos(u64::MAX), 1), WARMUP_TIME);
        assert_eq!(time_limit(Nanos(40_000_000_000), 4), Duration::from_millis(500));
    }
}
