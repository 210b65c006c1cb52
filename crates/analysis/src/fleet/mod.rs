//! What the turns of a fleet say of its ranks: which of them is slower than the others, how
//! punctually they began, and how well their clocks are known.

mod host_effects;

pub use host_effects::{HostEffect, MethodEffects, host_effects, method_effects};

use super::stats::{float, quantile};
use readlab_record::{FleetTurn, Record};

/// The share of starts that lie within what is told.
const TOLD_SHARE: f64 = 0.95;

/// How well the ranks of a fleet took their turns together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Punctuality {
    pub turns: usize,
    /// Between the first start of a turn and the last, in 95 of 100 turns.
    pub start_spread_ns: f64,
    /// How wrong the time of a job may be by the clocks, at most.
    pub clock_bound_ns: u64,
}

/// The punctuality of a record's turns; `None` where there are none.
pub fn punctuality(record: &Record) -> Option<Punctuality> {
    let turns = || record.trials.iter().flat_map(|trial| &trial.fleet_turns);
    let mut spreads: Vec<f64> = turns().map(|turn| float(turn.start_spread_ns())).collect();
    if spreads.is_empty() {
        return None;
    }
    spreads.sort_by(f64::total_cmp);
    Some(Punctuality {
        turns: spreads.len(),
        start_spread_ns: quantile(&spreads, TOLD_SHARE),
        clock_bound_ns: turns().map(FleetTurn::bound_ns).max().unwrap_or(0),
    })
}
