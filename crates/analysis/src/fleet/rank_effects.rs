//! How much longer each rank takes than the others, with simultaneous intervals.
//!
//! The logarithm of a rank's time minus the mean of the others' is averaged over the trials of a
//! round; the rounds are the independent units. The interval is Student's with the error
//! probability divided by the number of ranks (Bonferroni), so that among equal ranks one is named
//! by chance in at most 5 of 100 records.

use crate::rounds::ROUNDS_MIN;
use crate::stats::{Confidence, Interval, count_as_float, float, mean, mean_interval};
use readlab_model::trial::{CacheState, TrialIndex};
use readlab_record::{FleetTurn, Record};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// How much longer one rank takes than the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankEffect {
    pub rank: usize,
    /// The time of the rank divided by that of the others.
    pub ratio: f64,
    /// The simultaneous interval: with a probability of 95 %, the intervals of all ranks hold their
    /// true values.
    pub interval: Interval,
}

impl RankEffect {
    /// Whether the rank is clearly slower than the others.
    pub fn is_straggler(&self) -> bool {
        self.interval.low > 1.0
    }
}

/// The effects of all ranks, the slowest first; empty with one rank or too few rounds.
pub fn rank_effects(record: &Record) -> Vec<RankEffect> {
    let ranks = record.fleet.as_ref().map_or(0, |fleet| fleet.ranks.len());
    let accepted = record.trials.iter().filter(|it| !it.trial.is_control() && it.is_accepted());
    let mut rounds = BTreeMap::<(CacheState, u32), Vec<&FleetTurn>>::new();
    for it in accepted {
        // Turns that only some ranks took are skipped: they compare a rank with other sets of
        // ranks.
        for turn in it.fleet_turns.iter().filter(|turn| turn.ranks.len() == ranks) {
            rounds.entry((it.trial.state, turn.round)).or_default().push(turn);
        }
    }
    if ranks < 2 || rounds.len() < ROUNDS_MIN {
        return Vec::new();
    }
    let confidence = Confidence::with_error(0.05 / count_as_float(ranks));
    let rounds: Vec<Vec<f64>> = rounds.values().map(|turns| mean_log_lags(turns)).collect();
    let effect = |rank: usize| {
        let of_rounds: Vec<f64> = rounds.iter().map(|lags| lags[rank]).collect();
        let interval = mean_interval(&of_rounds, confidence)?.map(f64::exp);
        Some(RankEffect { rank, ratio: mean(&of_rounds).exp(), interval })
    };
    let mut effects: Vec<RankEffect> = (0..ranks).filter_map(effect).collect();
    effects.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    effects
}

/// How much longer each rank takes than the others with one method, without intervals: a row of the
/// map of hosts and methods.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MethodEffects {
    pub trial: TrialIndex,
    /// The time of each rank divided by that of the others, in the order of ranks.
    pub ratios: Vec<f64>,
}

/// The effects for every accepted trial that all ranks took together; empty with one rank.
pub fn method_effects(record: &Record) -> Vec<MethodEffects> {
    let ranks = record.fleet.as_ref().map_or(0, |fleet| fleet.ranks.len());
    let accepted = record.trials.iter().filter(|it| ranks > 1 && !it.trial.is_control() && it.is_accepted());
    let effects = accepted.filter_map(|it| {
        let whole: Vec<&FleetTurn> = it.fleet_turns.iter().filter(|turn| turn.ranks.len() == ranks).collect();
        let ratios: Vec<f64> = mean_log_lags(&whole).into_iter().map(f64::exp).collect();
        (!ratios.is_empty()).then_some(MethodEffects { trial: it.trial.index, ratios })
    });
    effects.collect()
}

/// For each rank, in order: the logarithm of its time minus the mean of the others', averaged over
/// the turns that all ranks took.
fn mean_log_lags(turns: &[&FleetTurn]) -> Vec<f64> {
    let of_turns: Vec<Vec<f64>> = turns.iter().map(|turn| log_lags(turn)).collect();
    let ranks = of_turns.first().map_or(0, Vec::len);
    let mean_of = |rank: usize| mean(&of_turns.iter().map(|lags| lags[rank]).collect::<Vec<_>>());
    (0..ranks).map(mean_of).collect()
}

fn log_lags(turn: &FleetTurn) -> Vec<f64> {
    let logs: Vec<f64> = turn.ranks.iter().map(|timing| float(timing.wall_ns.max(1)).ln()).collect();
    let (sum, others) = (logs.iter().sum::<f64>(), count_as_float(logs.len()) - 1.0);
    logs.iter().map(|log| log - (sum - log) / others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use readlab_protocol::Cache;
    use readlab_record::testing::{header, trial_line};
    use readlab_record::{Fleet, Outcome, Rank, RankTiming, ShareMode};

    /// A record of ranks with these relative times, over rounds that differ by a tenth and readings
    /// that differ by a twentieth.
    fn record(slowness: &[f64], rounds: u32, seed: u64) -> Record {
        let mut noise = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut spread = |share: f64| 1.0 + share * (noise.random::<f64>() - 0.5) * 3.46;
        let mut record = Record::new(header());
        for (index, name) in ["rust/a", "rust/b"].into_iter().enumerate() {
            record.add(trial_line(index, name, CacheState::Cold, Cache::Through));
        }
        let rank = |host: usize| Rank {
            host: format!("h{host}"),
            path: "f".to_owned(),
            start_bytes: None,
            size_bytes: 1,
            digest: None,
            page_cache_number: 0,
        };
        record.fleet = Some(Fleet {
            mpi_library: "m".to_owned(),
            share: ShareMode::Same,
            ranks: (0..slowness.len()).map(rank).collect(),
            witness: None,
        });
        for round in 0..rounds {
            let of_round = spread(0.1);
            for (index, it) in record.trials.iter_mut().enumerate() {
                it.outcome = Some(Outcome::Measured);
                let mut timing = |slow: &f64| RankTiming {
                    wall_ns: (1e8 * slow * of_round * spread(0.05)) as u64,
                    ..RankTiming::default()
                };
                let ranks = slowness.iter().map(&mut timing).collect();
                it.fleet_turns.push(FleetTurn { trial: TrialIndex::new(index), round, ranks });
            }
        }
        record
    }

    #[test]
    fn a_slow_rank_is_named_with_its_ratio_and_the_others_are_not() {
        let mut named = 0;
        for seed in 0..200 {
            let effects = rank_effects(&record(&[1.0, 1.0, 1.1, 1.0], 10, seed));
            let stragglers: Vec<usize> =
                effects.iter().filter(|it| it.is_straggler()).map(|it| it.rank).collect();
            named += usize::from(stragglers == [2]);
            assert!((effects[0].ratio - 1.1).abs() < 0.05, "{effects:?}");
        }
        assert!(named >= 190, "in {named} of 200");
    }

    #[test]
    fn among_equal_ranks_one_is_named_in_at_most_one_of_twenty_records() {
        let names = |seed| rank_effects(&record(&[1.0; 4], 10, seed)).iter().any(RankEffect::is_straggler);
        let named = (0..400).filter(|&seed| names(seed)).count();
        assert!(named <= 20, "in {named} of 400");
    }

    #[test]
    fn one_rank_or_two_rounds_have_no_rank_effects() {
        assert_eq!(rank_effects(&record(&[1.0], 10, 1)), []);
        assert_eq!(rank_effects(&record(&[1.0, 2.0], 2, 1)), []);
    }
}
