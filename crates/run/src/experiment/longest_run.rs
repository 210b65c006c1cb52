//! The longest time that a suite takes if it is run as it was published: every trial has its most
//! readings or its most time, and no precision ends it earlier.

use super::config::SamplingConfig;
use anyhow::Context;
use readlab_model::units::Nanos;
use readlab_suite::Suite;
use std::fmt;

/// Where a suite limits the readings and not their time, the time at this rate: most drives and
/// methods are faster.
const SLOW_BYTES_PER_S: u64 = 100_000_000;

/// Where a suite names no number of readings.
const READINGS: u32 = 100;

/// Of the time of the readings: the whole run takes this many times as long at most, with the
/// starts of contenders, fills of the cache and evictions.
const WHOLE: u64 = 2;

/// How long it takes at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongestRun {
    trials: u64,
    readings: u32,
    /// Timed readings of one trial in one state.
    pub of_trial: Nanos,
    timed: Nanos,
    /// The rounds of the whole run.
    pub rounds: Nanos,
}

impl LongestRun {
    /// Of this suite with the user's options.
    pub fn of_suite(suite: &Suite, user: &SamplingConfig) -> anyhow::Result<LongestRun> {
        let readings = user.runs.or(user.max_runs).or(suite.max_runs).unwrap_or(READINGS);
        let size_bytes = suite.corpus.map_or(0, |corpus| corpus.size_bytes);
        let slow_ns =
            u128::from(size_bytes) * u128::from(readings) * 1_000_000_000 / u128::from(SLOW_BYTES_PER_S);
        let of_trial = match (user.max_time, &suite.max_time) {
            (Some(own), _) => own,
            (None, Some(text)) => text.parse().with_context(|| format!("{}: max_time", suite.name))?,
            (None, None) => Nanos(u64::try_from(slow_ns).unwrap_or(u64::MAX)),
        };
        let states = user.state.unwrap_or(suite.state).list().len();
        let trials = suite.entries.iter().filter(|entry| !entry.only_with_all).count() as u64;
        let timed = Nanos(of_trial.0.saturating_mul(trials * states as u64));
        let rounds = Nanos(timed.0.saturating_mul(WHOLE));
        Ok(LongestRun { trials, readings, of_trial, timed, rounds })
    }
}

impl fmt::Display for LongestRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LongestRun { trials, readings, of_trial, timed, rounds } = self;
        write!(
            f,
            "{trials} trials, each with up to {readings} readings or {} of them: at most {} of readings and {} of rounds; \
             then what contenders do inside is counted, for half as long at most",
            span(*of_trial),
            span(*timed),
            span(*rounds)
        )
    }
}

/// Hours and minutes, or seconds below two minutes.
fn span(time: Nanos) -> String {
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
    fn the_time_is_that_of_all_trials_in_all_states() {
        let suite = suite("max_runs = 100\nmax_time = \"30s\"\nstate = \"both\"");
        let longest = LongestRun::of_suite(&suite, &SamplingConfig::default()).unwrap();
        assert_eq!((longest.timed, longest.rounds), (Nanos(60_000_000_000), Nanos(120_000_000_000)));
        let said = longest.to_string();
        assert!(
            said.starts_with("1 trials, each with up to 100 readings or 30 s of them: at most 60 s"),
            "{said}"
        );
    }

    #[test]
    fn without_a_time_it_is_that_of_the_readings_at_a_slow_rate() {
        let corpus = "corpus = { kind = \"lines\", size_bytes = 22000000000, seed = 1 }";
        let suite = suite(&format!("max_runs = 10\nstate = \"cold\"\n{corpus}"));
        let longest = LongestRun::of_suite(&suite, &SamplingConfig::default()).unwrap();
        assert_eq!(longest.of_trial, Nanos(2_200_000_000_000));
        assert_eq!(span(longest.rounds), "74 min");
    }
}
