//! How much longer each rank takes than the others with each way of reading: what a map of hosts
//! and methods shows. Doubt is not told here; [`super::host_effects()`] names stragglers.

use super::host_effects::mean_lags;
use readlab_model::trial::TrialIndex;
use readlab_record::{FleetTurn, Record};

/// A way of reading, on each rank.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodEffects {
    pub trial: TrialIndex,
    /// How many times as long as the others each rank takes, in their order.
    pub ratios: Vec<f64>,
}

/// Every accepted trial that all ranks took together; none with one rank.
pub fn method_effects(record: &Record) -> Vec<MethodEffects> {
    let ranks = record.fleet.as_ref().map_or(0, |fleet| fleet.ranks.len());
    let accepted = record.trials.iter().filter(|it| ranks > 1 && !it.trial.is_control() && it.is_accepted());
    let effects = accepted.filter_map(|it| {
        let whole: Vec<&FleetTurn> = it.fleet_turns.iter().filter(|turn| turn.ranks.len() == ranks).collect();
        let ratios: Vec<f64> = mean_lags(&whole).into_iter().map(f64::exp).collect();
        (!ratios.is_empty()).then_some(MethodEffects { trial: it.trial.index, ratios })
    });
    effects.collect()
}
