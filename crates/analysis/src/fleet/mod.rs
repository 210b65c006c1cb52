//! What the turns of a fleet show of its ranks: which ranks are slower than the others, how
//! punctually they started, and how well their clocks are known.

mod rank_effects;

pub use rank_effects::{MethodEffects, RankEffect, method_effects, rank_effects};

use super::stats::{float, quantile, sorted};
use readlab_record::{FleetTurn, Record};

/// The reported spread of starts is not exceeded in this share of all turns.
const START_SPREAD_QUANTILE: f64 = 0.95;

/// How closely together the ranks of a fleet started their turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Punctuality {
    pub turn_count: usize,
    /// The time between the first and the last start of a turn: the 95 % quantile over turns.
    pub start_spread_ns: f64,
    /// The largest error that the clocks may add to the time of a job.
    pub clock_error_bound_ns: u64,
}

/// The punctuality of a record's turns; `None` for a record without turns of a fleet.
pub fn punctuality(record: &Record) -> Option<Punctuality> {
    let turns = || record.trials.iter().flat_map(|trial| &trial.fleet_turns);
    let spreads = sorted(turns().map(|turn| float(turn.start_spread_ns())));
    (!spreads.is_empty()).then(|| Punctuality {
        turn_count: spreads.len(),
        start_spread_ns: quantile(&spreads, START_SPREAD_QUANTILE),
        clock_error_bound_ns: turns().map(FleetTurn::error_bound_ns).max().unwrap_or(0),
    })
}
