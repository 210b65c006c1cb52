//! The rules for when enough is measured. `readlab_measure::plan` derives rounds and fills.

use readlab_model::units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rules that decide when enough has been measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rules {
    /// Untimed readings of every contender after each of its starts.
    #[serde(rename = "warmup")]
    pub warmup_readings: u32,
    /// The fewest timed readings of a settled trial.
    #[serde(rename = "min_runs")]
    pub min_readings: u32,
    /// Timed readings after which a trial is settled even if its interval is wide.
    #[serde(rename = "max_runs")]
    pub max_readings: u32,
    /// Time of timed readings after which a trial is settled even if its interval is wide.
    pub max_time: Nanos,
    /// Half-width of the median's confidence interval, as a share of the median, at which a trial
    /// is settled.
    pub precision: f64,
    /// The fewest fills of the cache over which warm readings are spread.
    #[serde(rename = "fills")]
    pub min_fills: u32,
    pub budget: Budget,
    /// Seed of all shuffling.
    pub seed: u64,
    /// Untimed runs that count system calls and other events inside a contender.
    #[serde(default = "default_counts", skip_serializing_if = "is_default_counts")]
    #[serde(rename = "counts")]
    pub counting_runs: u32,
    /// The trials on which the rounds concentrate.
    #[serde(default, skip_serializing_if = "readlab_model::is_default")]
    pub focus: Focus,
    /// Indifference zone: a trial that is slower than the fastest by at most this share is as good as
    /// the fastest, so that trials of a race may stop. 0 if every difference matters.
    #[serde(default, skip_serializing_if = "readlab_model::is_default")]
    pub indifference: f64,
}

fn default_counts() -> u32 {
    1
}

fn is_default_counts(counts: &u32) -> bool {
    *counts == 1
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Focus {
    #[default]
    Everything,
    /// Only trials that may be the fastest; other trials stop after a few rounds.
    First,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Budget {
    /// The lab's own goal: each state still gets the rounds that an interval needs.
    Advised(Nanos),
    /// The user's limit: the run stops there, even in the middle of a round.
    Firm(Nanos),
}

impl Budget {
    pub fn time(self) -> Nanos {
        match self {
            Budget::Advised(time) | Budget::Firm(time) => time,
        }
    }
}

impl Rules {
    /// The rules of a sweep: each file is read once, and no reading is repeated.
    pub fn one_reading(seed: u64) -> Rules {
        Rules {
            warmup_readings: 0,
            min_readings: 1,
            max_readings: 1,
            max_time: Nanos(u64::MAX),
            precision: 1.0,
            min_fills: 1,
            budget: Budget::Advised(Nanos(u64::MAX)),
            seed,
            counting_runs: 1,
            focus: Focus::Everything,
            indifference: 0.0,
        }
    }

    /// Number of rounds from one fill of the cache to the next. `min_readings` readings are spread
    /// over at least `min_fills` fills, because the precision of a median depends on the number of
    /// fills: two rounds for each fill would halve that number.
    pub fn rounds_per_fill(&self) -> u32 {
        (self.min_readings / self.min_fills.max(1)).max(1)
    }

    /// The number of readings of one turn, at most `requested`: a divisor of `max_readings`, and so
    /// small that these readings are spread over `min_fills` fills.
    pub fn readings_per_turn(&self, requested: u32) -> u32 {
        let most = requested.min(self.max_readings / self.min_fills.max(1));
        (1..=most).rev().find(|readings| self.max_readings.is_multiple_of(*readings)).unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_spread_over_as_many_fills_as_they_allow() {
        for (min_runs, fills, rounds) in
            [(10, 10, 1), (12, 10, 1), (19, 10, 1), (20, 10, 2), (5, 10, 1), (10, 3, 3), (6, 1, 6)]
        {
            let rules = Rules { min_readings: min_runs, min_fills: fills, ..Rules::one_reading(0) };
            assert_eq!(rules.rounds_per_fill(), rounds, "{min_runs} readings, {fills} fills");
        }
    }
}
