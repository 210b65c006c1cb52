//! The rules that decide when enough is measured. [`crate::measure::plan`] derives rounds and fills
//! from them.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// When enough has been measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
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
    /// Time for the whole run.
    pub budget: Budget,
    /// Seed of every shuffle.
    pub seed: u64,
    /// Untimed runs in which is counted what a contender does inside.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub counts: u32,
    /// Which trials the rounds are for. Since version 4.
    #[serde(default, skip_serializing_if = "Focus::is_everything")]
    pub focus: Focus,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(counts: &u32) -> bool {
    *counts == 1
}

/// Which trials the rounds are for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Focus {
    /// For all alike.
    #[default]
    Everything,
    /// For those that may be the fastest; the others stop after a few rounds.
    First,
}

impl Focus {
    fn is_everything(&self) -> bool {
        *self == Focus::Everything
    }
}

/// Time for the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Budget {
    /// A wish of the lab's own: each state still gets the rounds without which there is no
    /// interval.
    Advised(Nanos),
    /// The user's word: the run stops there, even in the middle of a round.
    Firm(Nanos),
}
