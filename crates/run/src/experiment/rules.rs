//! The rules of a run: number and time of readings, from the user's options and the suite. An
//! option of the user takes precedence over the suite. [`LongestRun`] is the longest time that a
//! suite takes if it is run as it was published, under its bounds on memory, too.
//!
//! [`readlab_measure::plan`] applies the rules to rounds.

use super::memory::{MemoryBounds, time_with_bounds};
use super::options::SamplingOptions;
use anyhow::{Context, ensure};
use readlab_measure::plan::{Budget, Focus, Rules};
use readlab_model::units::Nanos;
use readlab_suite::Suite;
use std::fmt;

/// Maximum time of the timed readings of a trial, unless the user or the suite sets one.
const DEFAULT_MAX_TIME: Nanos = Nanos(30_000_000_000);

/// Advised time of a run, unless the user or the suite sets one.
const DEFAULT_ADVISED_BUDGET: Nanos = Nanos(100_000_000_000);

/// Minimum number of timed readings of a trial, unless the user or the suite sets one.
const DEFAULT_MIN_RUNS: u32 = 10;

/// Maximum number of timed readings of a trial, unless the user or the suite sets one.
const DEFAULT_MAX_RUNS: u32 = 100;

/// The user's rules; rules that the user does not set come from the suite, or else are the
/// defaults. `memory` has the user's bounds on memory.
pub(super) fn merge_rules(
    suite: &Suite,
    user: &SamplingOptions,
    memory: &MemoryBounds,
) -> anyhow::Result<Rules> {
    let time = |text: &String, key| text.parse::<Nanos>().with_context(|| format!("{}: {key}", suite.name));
    let max_time = match (user.max_time, &suite.max_time) {
        (Some(own), _) => own,
        (None, Some(text)) => time(text, "max_time")?,
        (None, None) if suite.is_full => LongestRun::of_suite(suite, user, memory)?.trial_time,
        (None, None) => DEFAULT_MAX_TIME,
    };
    let budget = match (user.budget, &suite.budget) {
        (Some(own), _) => Budget::Firm(own),
        (None, _) if suite.is_full => {
            Budget::Advised(LongestRun::of_suite(suite, user, memory)?.time_before_bounds)
        }
        (None, Some(text)) => Budget::Advised(time(text, "budget")?),
        (None, None) => Budget::Advised(DEFAULT_ADVISED_BUDGET),
    };
    if let (Some(least), Some(most)) = (user.min_runs, user.max_runs) {
        ensure!(least <= most, "--min-runs {least} is more than --max-runs {most}");
    }
    let [min_runs, max_runs] = min_and_max_readings(suite, user);
    let &SamplingOptions { warmup, fills, seed, .. } = user;
    // Published experiments read a fixed number of times, or for a fixed time.
    let precision = if suite.is_full { 0.0 } else { user.precision };
    let counts = suite.counting_runs.unwrap_or(1).max(1);
    // A number of readings that the user sets applies to every trial.
    let is_counted = user.runs.is_some() || user.min_runs.is_some();
    let focus = if is_counted { Focus::Everything } else { suite.focus };
    let indifference = if focus == Focus::First { user.indifference } else { 0.0 };
    Ok(Rules {
        warmup_readings: warmup,
        min_readings: min_runs,
        max_readings: max_runs,
        max_time,
        precision,
        min_fills: fills,
        budget,
        seed,
        counting_runs: counts,
        focus,
        indifference,
    })
}

/// The minimum and maximum number of readings of a trial. If the user sets one of them, the other
/// is adapted.
fn min_and_max_readings(suite: &Suite, user: &SamplingOptions) -> [u32; 2] {
    if let Some(runs) = user.runs {
        return [runs, runs];
    }
    let fewest = user.min_runs.or(suite.min_runs).unwrap_or(DEFAULT_MIN_RUNS);
    match (user.max_runs, suite.max_runs, user.min_runs) {
        (Some(most), _, _) => [fewest.min(most), most],
        (None, Some(most), Some(fewest)) => [fewest, most.max(fewest)],
        (None, Some(most), None) => [fewest.min(most), most],
        (None, None, _) => [fewest, DEFAULT_MAX_RUNS.max(fewest)],
    }
}

/// Assumed read rate for a suite that limits the number of readings and not their time: most drives
/// and methods are faster.
const SLOW_BYTES_PER_S: u64 = 100_000_000;

/// Assumed number of readings of each trial, if neither the user nor the suite gives one.
const ASSUMED_READINGS_PER_TRIAL: u32 = 100;

/// The whole run is assumed to take at most this many times the time of its readings, because
/// contenders are started, and the cache is filled and evicted.
const WHOLE_RUN_FACTOR: u64 = 2;

/// The longest time that a suite takes, and what it is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongestRun {
    trial_count: u64,
    readings_per_trial: u32,
    /// Total time of the timed readings of one trial in one state.
    trial_time: Nanos,
    /// Total time of the timed readings.
    readings_time: Nanos,
    /// Total time of all rounds, if the state under bounds on memory is read like any other state.
    /// A plan that repeats that state for each bound extends this time.
    time_before_bounds: Nanos,
    /// Total time of all rounds, which includes starts, fills and evictions.
    rounds_time: Nanos,
}

impl LongestRun {
    /// The longest time of a suite with the user's options. `memory` has the user's bounds on
    /// memory, which replace those of the suite.
    pub fn of_suite(
        suite: &Suite,
        user: &SamplingOptions,
        memory: &MemoryBounds,
    ) -> anyhow::Result<LongestRun> {
        let readings_per_trial =
            user.runs.or(user.max_runs).or(suite.max_runs).unwrap_or(ASSUMED_READINGS_PER_TRIAL);
        let size_bytes = suite.corpus.map_or(0, |corpus| corpus.size_bytes);
        let slow_ns = u128::from(size_bytes) * u128::from(readings_per_trial) * 1_000_000_000
            / u128::from(SLOW_BYTES_PER_S);
        let trial_time = match (user.max_time, &suite.max_time) {
            (Some(own), _) => own,
            (None, Some(text)) => text.parse().with_context(|| format!("{}: max_time", suite.name))?,
            (None, None) => Nanos(u64::try_from(slow_ns).unwrap_or(u64::MAX)),
        };
        let bounds = if memory.is_given() { memory.bounds.len() } else { suite.memory_bounds.len() };
        let has_bounds = bounds > 0;
        let unbounded_states = user.state.unwrap_or(suite.state).states().len();
        let states = (unbounded_states + usize::from(has_bounds)).max(1);
        let trial_count = suite.entries.iter().filter(|entry| !entry.only_with_all).count() as u64;
        let time_in = |states: usize| trial_time.0.saturating_mul(trial_count * states as u64);
        let readings_time = Nanos(time_in((unbounded_states + bounds).max(1)));
        let time_before_bounds = Nanos(time_in(states).saturating_mul(WHOLE_RUN_FACTOR));
        let rounds_time = if has_bounds {
            time_with_bounds(time_before_bounds, states, bounds)
        } else {
            time_before_bounds
        };
        Ok(LongestRun {
            trial_count,
            readings_per_trial,
            trial_time,
            readings_time,
            time_before_bounds,
            rounds_time,
        })
    }
}

impl fmt::Display for LongestRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LongestRun { trial_count, readings_per_trial, trial_time, readings_time, rounds_time, .. } = self;
        write!(
            f,
            "{trial_count} trials, each with up to {readings_per_trial} readings or {} of them: at most {} of readings and {} of rounds; \
             then what contenders do inside is counted, for half as long at most",
            format_span(*trial_time),
            format_span(*readings_time),
            format_span(*rounds_time)
        )
    }
}

/// A time in hours and minutes, or in seconds below two minutes.
fn format_span(time: Nanos) -> String {
    let seconds = time.0.div_ceil(1_000_000_000);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn suite(head: &str) -> Suite {
        let text = format!(
            "name = \"x\"\nabout = \"\"\ncontrols = false\n{head}\n[[trial]]\ntrial = \"rust/read\"\n"
        );
        Suite::parse(Path::new("x.toml"), &text).unwrap()
    }

    #[test]
    fn the_longest_time_is_for_all_trials_in_all_states() {
        let suite = suite("max_runs = 100\nmax_time = \"30s\"\nstate = \"both\"");
        let longest =
            LongestRun::of_suite(&suite, &SamplingOptions::default(), &MemoryBounds::default()).unwrap();
        assert_eq!(
            (longest.readings_time, longest.rounds_time),
            (Nanos(60_000_000_000), Nanos(120_000_000_000))
        );
        let said = longest.to_string();
        assert!(
            said.starts_with("1 trials, each with up to 100 readings or 30 s of them: at most 60 s"),
            "{said}"
        );
    }

    #[test]
    fn the_longest_time_has_the_readings_under_each_bound_on_memory() {
        let seconds = |seconds: u64| Nanos(seconds * 1_000_000_000);
        let mut suite =
            suite("max_runs = 100\nmax_time = \"30s\"\nstate = \"both\"\nmemory = [\"10%\", \"50%\"]");
        suite.is_full = true;
        let user_bound = MemoryBounds::new(vec!["25%".parse().unwrap()], false).unwrap();
        for (memory, readings, rounds) in [(MemoryBounds::default(), 120, 360), (user_bound, 90, 240)] {
            let user = SamplingOptions::default();
            let longest = LongestRun::of_suite(&suite, &user, &memory).unwrap();
            assert_eq!(
                (longest.readings_time, longest.rounds_time),
                (seconds(readings), seconds(rounds)),
                "{memory:?}"
            );
            // The plan extends this time for the bounds.
            let rules = merge_rules(&suite, &user, &memory).unwrap();
            assert_eq!(rules.budget, Budget::Advised(seconds(180)), "{memory:?}");
        }
    }

    #[test]
    fn without_a_time_limit_the_longest_time_is_for_all_readings_at_a_slow_rate() {
        let corpus = "corpus = { kind = \"lines\", size_bytes = 22000000000, seed = 1 }";
        let suite = suite(&format!("max_runs = 10\nstate = \"cold\"\n{corpus}"));
        let longest =
            LongestRun::of_suite(&suite, &SamplingOptions::default(), &MemoryBounds::default()).unwrap();
        assert_eq!(longest.trial_time, Nanos(2_200_000_000_000));
        assert_eq!(format_span(longest.rounds_time), "74 min");
    }
}
