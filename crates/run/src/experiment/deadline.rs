//! Deadlines of steps that come before measuring. By default a step has no time limit; if the user
//! set a time, the step uses up part of the run's `--budget`.

use super::config::RunConfig;
use readlab_model::units::Nanos;
use readlab_record::{Budget, Rules};
use readlab_system::interrupt;
use std::io::{Error, ErrorKind, Result};
use std::time::{Duration, Instant};

/// The time limits of a step of the preparation. The step is given up when one of them is over.
pub struct Deadline {
    /// Name of the step, for the error message.
    step: &'static str,
    /// The user's time for the whole run.
    budget: Option<TimeLimit>,
    /// The time that one trial may take for its minimum of readings.
    trial_minimum: Option<TimeLimit>,
}

#[derive(Clone)]
struct TimeLimit {
    begun: Instant,
    time: Duration,
    /// The option that sets the limit, for the error message.
    option_words: String,
}

/// Divisor of the time that is left of the budget. Decoding for the right answer may take the
/// quotient; the rest is for the readings.
const DECODING_TIME_DIVISOR: u32 = 2;

/// Divisor of the time that is left of the budget. Readings whose answers nothing is compared with
/// may take the quotient.
const UNCOMPARED_TIME_DIVISOR: u32 = 10;

/// The longest time of all readings whose answers nothing is compared with.
const UNCOMPARED_TIME_MAX: Duration = Duration::from_secs(5);

/// A reading is given up early if it would take this many times the time that is left. The factor
/// is above 1, because the rest may be faster than the beginning.
const HOPELESS_FACTOR: u32 = 3;

/// Divisor of the time that is left when a reading begins. After the quotient its rate is known.
const RATE_TIME_DIVISOR: u32 = 10;

/// Number of bytes before which the rate of a reading is not known, because it may begin late.
const RATE_BYTES_MIN: u64 = 64 << 20;

const READING_STEP: &str = "reading it once for the right answer";
const DECODING_STEP: &str = "decoding it once for the right answer";
pub(super) const ASKING_STEP: &str = "asking for it";
pub(super) const COPYING_STEP: &str = "copying it";
pub const WRITING_STEP: &str = "writing it";

impl Deadline {
    /// The deadline of a step of a run that began at `begun`: the user's time for the whole run. An
    /// advised budget is no limit.
    pub fn for_step(step: &'static str, rules: &Rules, begun: Instant) -> Deadline {
        let budget = match rules.budget {
            Budget::Advised(_) => None,
            Budget::Firm(time) => {
                Some(TimeLimit { begun, time: time.into(), option_words: "--budget".to_owned() })
            }
        };
        Deadline { step, budget, trial_minimum: None }
    }

    /// The deadline of the first reading, which finds the expected answer: the rest of the budget
    /// of a run that began at `begun`, and the time that one trial may take for its minimum of
    /// readings.
    pub(super) fn for_first_reading(config: &RunConfig, begun: Instant) -> Deadline {
        let runs = config.rules.min_readings;
        let trial_minimum = config.user.sampling.max_time.map(|time| TimeLimit {
            begun: Instant::now(),
            time: Nanos(time.0.saturating_mul(u64::from(runs))).into(),
            option_words: format!("{runs} readings of --max-time"),
        });
        Deadline { trial_minimum, ..Deadline::for_step(READING_STEP, &config.rules, begun) }
    }

    /// The deadline of the first reading of a resumed run. The run had taken the time `earlier`
    /// when it was interrupted.
    pub(super) fn for_resumed_reading(rules: &Rules, begun: Instant, earlier: Duration) -> Deadline {
        let mut deadline = Deadline::for_step(READING_STEP, rules, begun);
        deadline.budget.iter_mut().for_each(|limit| limit.time = limit.time.saturating_sub(earlier));
        deadline
    }

    /// The deadline of decoding after the first reading, if trials without it go on. It takes only
    /// a part of the budget that is left, so that these trials are still read.
    pub(super) fn for_optional_decoding(&self) -> Deadline {
        let budget = self.budget.as_ref().map(|limit| TimeLimit {
            begun: Instant::now(),
            time: limit.left() / DECODING_TIME_DIVISOR,
            option_words: format!("half of what was left of {}", limit.option_words),
        });
        Deadline { budget, ..self.for_needed_decoding() }
    }

    /// The deadline of decoding without which the run cannot go on.
    pub(super) fn for_needed_decoding(&self) -> Deadline {
        let (budget, trial_minimum) = (self.budget.clone(), self.trial_minimum.clone());
        Deadline { step: DECODING_STEP, budget, trial_minimum }
    }

    /// The longest time of the reading of each of so many targets, if nothing is compared with their
    /// answers.
    pub(super) fn uncompared_reading_time(&self, target_count: usize) -> Duration {
        let of_budget = self.budget.as_ref().map(|limit| limit.left() / UNCOMPARED_TIME_DIVISOR);
        let of_all = of_budget.map_or(UNCOMPARED_TIME_MAX, |time| time.min(UNCOMPARED_TIME_MAX));
        of_all / u32::try_from(target_count.max(1)).unwrap_or(u32::MAX)
    }

    fn limits(&self) -> impl Iterator<Item = &TimeLimit> {
        self.budget.iter().chain(&self.trial_minimum)
    }

    /// Why the step must end, if one of its limits is over.
    pub(super) fn timeout(&self) -> Option<Error> {
        let over = self.limits().find(|limit| limit.begun.elapsed() > limit.time)?;
        let TimeLimit { time, option_words, .. } = over;
        let text = format!("{} took longer than {} ({option_words})", self.step, Nanos::from(*time));
        Some(Error::new(ErrorKind::TimedOut, text))
    }

    /// An error if the user wants to stop, or if one of the limits is over.
    pub fn check(&self) -> Result<()> {
        interrupt::check()?;
        self.timeout().map_or(Ok(()), Err)
    }

    /// Like `check`, for a reading that has taken `elapsed` for its first `done_bytes`. Gives up
    /// as soon as the rate so far leaves no hope.
    pub(super) fn check_reading(&self, elapsed: Duration, done_bytes: u64, size_bytes: u64) -> Result<()> {
        self.check()?;
        if done_bytes < RATE_BYTES_MIN {
            return Ok(());
        }
        let rest_bytes = u128::from(size_bytes.saturating_sub(done_bytes));
        let rest_ns = elapsed.as_nanos() * rest_bytes / u128::from(done_bytes);
        let rest = Duration::from_nanos(u64::try_from(rest_ns).unwrap_or(u64::MAX));
        let is_hopeless = |limit: &&TimeLimit| {
            let left = limit.left();
            elapsed * RATE_TIME_DIVISOR >= left + elapsed && rest > left * HOPELESS_FACTOR
        };
        let Some(TimeLimit { time, option_words, .. }) = self.limits().find(is_hopeless) else {
            return Ok(());
        };
        let (whole, time) = (Nanos::from(elapsed + rest), Nanos::from(*time));
        let text = format!("{} would take about {whole}, longer than {time} ({option_words})", self.step);
        Err(Error::new(ErrorKind::TimedOut, text))
    }
}

impl TimeLimit {
    fn left(&self) -> Duration {
        self.time.saturating_sub(self.begun.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_measure::plan::testing::rules_for_readings;

    const SECOND: Duration = Duration::from_secs(1);

    /// The deadline of a first reading that began with the run, and has this budget.
    fn reading_within(budget: Duration) -> Deadline {
        let rules = Rules { budget: Budget::Firm(budget.into()), ..rules_for_readings(10) };
        Deadline::for_step(READING_STEP, &rules, Instant::now())
    }

    #[test]
    fn decoding_leaves_half_of_the_budget_to_the_readings_if_they_can_do_without_it() {
        let reading = reading_within(SECOND * 1000);
        let optional = reading.for_optional_decoding();
        assert!(optional.budget.as_ref().unwrap().time <= SECOND * 500);
        assert_eq!(reading.for_needed_decoding().budget.unwrap().time, SECOND * 1000);
        let late = reading_within(Duration::ZERO).for_optional_decoding();
        let reason = late.timeout().unwrap().to_string();
        assert!(reason.starts_with("decoding it once for the right answer took longer than"), "{reason}");
        assert!(reason.ends_with("(half of what was left of --budget)"), "{reason}");
    }

    #[test]
    fn a_reading_is_given_up_when_its_rate_leaves_no_hope() {
        const GB: u64 = 1_000_000_000;
        let deadline = reading_within(SECOND * 1000);
        let check = |elapsed_s: u32, done_bytes| {
            deadline.check_reading(SECOND * elapsed_s, done_bytes, 1000 * GB).map_err(|it| it.to_string())
        };
        assert_eq!(check(200, 0), Ok(()), "it began late");
        assert_eq!(check(10, GB), Ok(()), "its rate is not known yet");
        assert_eq!(check(200, 100 * GB), Ok(()), "the rest may be faster");
        let reason = check(200, 10 * GB).unwrap_err();
        assert!(reason.contains("would take about") && reason.ends_with("(--budget)"), "{reason}");
    }

    #[test]
    fn a_reading_whose_answer_nothing_is_compared_with_takes_a_small_part_of_the_time() {
        assert!(reading_within(SECOND * 10).uncompared_reading_time(1) <= SECOND);
        assert_eq!(reading_within(SECOND * 1000).uncompared_reading_time(1), UNCOMPARED_TIME_MAX);
        assert_eq!(reading_within(SECOND * 1000).uncompared_reading_time(5), UNCOMPARED_TIME_MAX / 5);
    }
}
