//! The rules of a run: how many readings and how long, from the user's options and the suite. An
//! option of the user takes precedence over the suite.
//!
//! What the rules mean for a round lives in [`readlab_measure::plan`].

use super::config::SamplingConfig;
use super::longest_run::LongestRun;
use anyhow::{Context, ensure};
use readlab_measure::plan::{Budget, Focus, Rules};
use readlab_model::units::Nanos;
use readlab_suite::Suite;

/// Time of timed readings of a trial, unless the user or the suite sets one.
const MAX_TIME: Nanos = Nanos(30_000_000_000);

/// Time of a run, unless the user or the suite sets one. It is advice, not a limit.
const ADVISED_BUDGET: Nanos = Nanos(100_000_000_000);

/// Timed readings of a trial at least, unless the user or the suite sets a number.
const MIN_RUNS: u32 = 10;

/// Timed readings of a trial at most, unless the user or the suite sets a number.
const MAX_RUNS: u32 = 100;

/// The user's rules; where the user sets none, those of the suite, else the usual ones.
pub(super) fn rules(suite: &Suite, user: &SamplingConfig) -> anyhow::Result<Rules> {
    let time = |text: &String, key| text.parse::<Nanos>().with_context(|| format!("{}: {key}", suite.name));
    let max_time = match (user.max_time, &suite.max_time) {
        (Some(own), _) => own,
        (None, Some(text)) => time(text, "max_time")?,
        (None, None) if suite.is_full => LongestRun::of_suite(suite, user)?.of_trial,
        (None, None) => MAX_TIME,
    };
    let budget = match (user.budget, &suite.budget) {
        (Some(own), _) => Budget::Firm(own),
        (None, _) if suite.is_full => Budget::Advised(LongestRun::of_suite(suite, user)?.rounds),
        (None, Some(text)) => Budget::Advised(time(text, "budget")?),
        (None, None) => Budget::Advised(ADVISED_BUDGET),
    };
    if let (Some(least), Some(most)) = (user.min_runs, user.max_runs) {
        ensure!(least <= most, "--min-runs {least} is more than --max-runs {most}");
    }
    let [min_runs, max_runs] = numbers_of_readings(suite, user);
    let &SamplingConfig { warmup, fills, seed, .. } = user;
    // Published experiments read a fixed number of times, or for a fixed time.
    let precision = if suite.is_full { 0.0 } else { user.precision };
    let counts = suite.counts.unwrap_or(1).max(1);
    // Who asks for a number of readings asks for it of every trial.
    let is_counted = user.runs.is_some() || user.min_runs.is_some();
    let focus = if is_counted { Focus::Everything } else { suite.focus };
    let indifference = if focus == Focus::First { user.indifference } else { 0.0 };
    Ok(Rules {
        warmup,
        min_runs,
        max_runs,
        max_time,
        precision,
        fills,
        budget,
        seed,
        counts,
        focus,
        indifference,
    })
}

/// The fewest and the most readings of a trial. Where the user sets one of them, the other gives
/// way.
fn numbers_of_readings(suite: &Suite, user: &SamplingConfig) -> [u32; 2] {
    if let Some(runs) = user.runs {
        return [runs, runs];
    }
    let fewest = user.min_runs.or(suite.min_runs).unwrap_or(MIN_RUNS);
    match (user.max_runs, suite.max_runs, user.min_runs) {
        (Some(most), _, _) => [fewest.min(most), most],
        (None, Some(most), Some(fewest)) => [fewest, most.max(fewest)],
        (None, Some(most), None) => [fewest.min(most), most],
        (None, None, _) => [fewest, MAX_RUNS.max(fewest)],
    }
}
