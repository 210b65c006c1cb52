//! Untimed readings before the timed ones: at least one, and of contenders that become faster while
//! they run as many as it takes until the readings stay at one level. What steady means lives in
//! [`crate::analysis::stats`].

use super::{COUNT_MAX, ProcessSampler};
use crate::analysis::stats::{Steadiness, steadiness};
use crate::contender::roster::Warmup;
use crate::measure::interface::SampleError;
use crate::record::{Line, WarmedUp, WarmupEnd};
use readlab_protocol::TurnRequest;
use std::time::{Duration, Instant};

/// Longest time for which a contender reads until it is steady, each time it is started.
const WARMUP_TIME: Duration = Duration::from_secs(5);

/// Share of the time for the whole run that all such contenders of a state together may take to
/// become steady, once.
const WARMUP_SHARE: u32 = 20;

/// Most readings until steady: a level that takes longer to find is none.
const WARMUP_READINGS_MAX: usize = 300;

/// Readings of a warm-up in one turn: as many as fit this time, so that short ones are not all
/// waking up.
const WARMUP_TURN_NS: u64 = 200_000_000;

impl ProcessSampler<'_> {
    /// One untimed reading whose answer is checked; and the first time, if the contender is one of
    /// those, as many as it takes to be steady.
    pub(super) fn warm_up_until_ready(&mut self, trial: usize) -> Result<(), SampleError> {
        self.not_refused(trial)?;
        self.ensure_running(trial)?;
        let first_ns = self.warmup_turn(trial, 1)?;
        self.has_let_go(trial)?;
        let contender = self.contenders.contender(self.planned(trial).contender());
        let until_steady = contender.is_some_and(|contender| contender.warmup == Warmup::UntilSteady);
        if until_steady && !self.seat(trial)?.warm {
            let warmed = self.until_steady(trial, first_ns)?;
            self.notes.push(Line::Warmup(warmed));
            self.seat(trial)?.warm = true;
        }
        Ok(())
    }

    /// Reads until the readings stay at one level, or for as long as may be.
    fn until_steady(&mut self, trial: usize, mut walls_ns: Vec<u64>) -> Result<WarmedUp, SampleError> {
        let (began, patience) = (Instant::now(), self.warmup_time(trial));
        loop {
            let end = match steadiness(&walls_ns) {
                Steadiness::Steady { .. } => WarmupEnd::Steady,
                Steadiness::NoSteadyState => WarmupEnd::NoSteadyState,
                Steadiness::TooShort => WarmupEnd::TooFewReadings,
            };
            let readings = u32::try_from(walls_ns.len()).unwrap_or(u32::MAX);
            if end == WarmupEnd::Steady
                || began.elapsed() >= patience
                || walls_ns.len() >= WARMUP_READINGS_MAX
            {
                let wall_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
                return Ok(WarmedUp { trial, readings, wall_ns, end });
            }
            let last_ns = walls_ns.last().copied().unwrap_or(0).max(1);
            let count = u32::try_from((WARMUP_TURN_NS / last_ns).clamp(1, COUNT_MAX)).expect("at most ten");
            walls_ns.extend(self.warmup_turn(trial, count)?);
        }
    }

    /// Readings whose times are for the warm-up alone; every answer is checked.
    fn warmup_turn(&mut self, trial: usize, count: u32) -> Result<Vec<u64>, SampleError> {
        let (turn, _) = self.metered_turn(trial, TurnRequest { lead: 0, count })?;
        self.compare(self.planned(trial), &turn)?;
        Ok(turn.samples.iter().map(|sample| sample.wall_ns).collect())
    }

    /// How long a contender may take to become steady: five seconds, or its part of a twentieth of
    /// the whole run.
    fn warmup_time(&self, trial: usize) -> Duration {
        let state = self.planned(trial).state;
        let warms_up = |name: &str| {
            self.contenders.contender(name).is_some_and(|contender| contender.warmup == Warmup::UntilSteady)
        };
        let trials = self.plan.trials.iter().map(|planned| &planned.trial);
        let such = trials.filter(|trial| trial.state == state && warms_up(trial.contender())).count();
        let all = Duration::from_nanos(self.plan.rules.budget.time().0) / WARMUP_SHARE;
        WARMUP_TIME.min(all / u32::try_from(such.max(1)).unwrap_or(u32::MAX))
    }
}
