//! The rules for when enough is measured. `readlab_measure::plan` derives rounds and fills.

use readlab_model::units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When enough has been measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rules {
    /// Readings before the timed ones, for every contender each time it is started.
    pub warmup: u32,
    /// Timed readings below which no trial is settled.
    pub min_runs: u32,
    /// Timed readings after which a trial is settled whatever its interval.
    pub max_runs: u32,
    /// Time of timed readings after which a trial is settled whatever its interval.
    pub max_time: Nanos,
    /// Half-width of the median's interval, as a share of the median, at which a trial is settled.
    pub precision: f64,
    /// Fills of the cache over which warm readings are spread, at least.
    pub fills: u32,
    pub budget: Budget,
    /// Seed of every shuffle.
    pub seed: u64,
    /// Untimed runs in which is counted what a contender does inside.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub counts: u32,
    /// Which trials the rounds are for.
    #[serde(default, skip_serializing_if = "readlab_model::is_default")]
    pub focus: Focus,
    /// A trial that is slower than the fastest by this share is as good: trials of a race stop by it.
    /// 0 where every difference matters.
    #[serde(default, skip_serializing_if = "readlab_model::is_default")]
    pub indifference: f64,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(counts: &u32) -> bool {
    *counts == 1
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Focus {
    #[default]
    Everything,
    /// For those that may be the fastest; the others stop after a few rounds.
    First,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Budget {
    /// A wish of the lab's own: each state still gets the rounds that an interval needs.
    Advised(Nanos),
    /// The user's word: the run stops there, even in the middle of a round.
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
    /// The rules by which each file is read once and nothing is repeated, as in a sweep.
    pub fn one_reading(seed: u64) -> Rules {
        Rules {
            warmup: 0,
            min_runs: 1,
            max_runs: 1,
            max_time: Nanos(u64::MAX),
            precision: 1.0,
            fills: 1,
            budget: Budget::Advised(Nanos(u64::MAX)),
            seed,
            counts: 1,
            focus: Focus::Everything,
            indifference: 0.0,
        }
    }

    /// Rounds between two fills of the cache, so that the fewest readings are spread over the
    /// fewest fills or over more: medians of fills say as much as there are fills, and those of two
    /// rounds each are half as many.
    pub fn rounds_per_fill(&self) -> u32 {
        (self.min_runs / self.fills.max(1)).max(1)
    }

    /// How many of the `requested` readings one turn may have: few enough that the most readings
    /// are spread over the fewest fills, and a divisor of the most readings.
    pub fn readings_per_turn(&self, requested: u32) -> u32 {
        let most = requested.min(self.max_runs / self.fills.max(1));
        (1..=most).rev().find(|readings| self.max_runs.is_multiple_of(*readings)).unwrap_or(1)
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
            let rules = Rules { min_runs, fills, ..Rules::one_reading(0) };
            assert_eq!(rules.rounds_per_fill(), rounds, "{min_runs} readings, {fills} fills");
        }
    }
}
