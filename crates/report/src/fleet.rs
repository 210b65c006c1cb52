//! A fleet in words and as a table: its ranks, how punctual they were, and which ranks are
//! stragglers.

use super::words::{self, Number};
use readlab_analysis::fleet::{MethodEffects, RankEffect, method_effects, punctuality, rank_effects};
use readlab_model::units::Nanos;
use readlab_record::{Fleet, FleetTurn, Rank, RankClock, Record, ShareMode};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq)]
pub struct FleetView {
    /// Sentences on the hosts that took part, and on how punctual they were.
    pub lines: Vec<String>,
    pub ranks: Vec<Rank>,
    /// The time of each rank divided by that of the others; ranks without a known ratio are left
    /// out.
    effects: Vec<RankEffect>,
    /// How long each rank takes with each method.
    pub method_effects: Vec<MethodEffects>,
}

impl FleetView {
    /// The view of a record's fleet; `None` for a record without a fleet.
    pub fn from_record(record: &Record) -> Option<FleetView> {
        let fleet = record.fleet.as_ref()?;
        let effects = rank_effects(record);
        let mut lines = vec![fleet_line(fleet)];
        lines.extend(fleet.witness.as_ref().map(|it| {
            let what = "cold on the server before each cold turn, and proves it";
            format!("witness: {} makes {} {what}", it.host, it.path)
        }));
        lines.extend(punctuality_words(record));
        lines.extend(straggler_words(fleet, &effects));
        let ranks = fleet.ranks.clone();
        Some(FleetView { lines, ranks, effects, method_effects: method_effects(record) })
    }

    pub(super) fn rank_effect(&self, rank: usize) -> Option<Number> {
        let effect = self.effects.iter().find(|it| it.rank == rank)?;
        Some(Number::new(effect_words(effect), effect.ratio))
    }
}

/// The fleet as the JSON export has it, with the turns of every trial.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Fleet")]
pub(super) struct FleetExport<'a> {
    library: &'a str,
    share: ShareMode,
    ranks: &'a [Rank],
    #[serde(rename = "host_effects")]
    rank_effects: Vec<RankEffectExport>,
    method_effects: Vec<MethodEffects>,
    clocks: Vec<Clocks<'a>>,
    turns: Vec<&'a FleetTurn>,
}

/// The time of a rank divided by that of the others.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HostEffect")]
struct RankEffectExport {
    rank: usize,
    ratio: f64,
    /// The simultaneous interval: with 95 % confidence, the intervals of all ranks hold the true
    /// values.
    simultaneous_ci95: [f64; 2],
    is_straggler: bool,
}

/// The differences between the clocks of the ranks before a round.
#[derive(Serialize, JsonSchema)]
struct Clocks<'a> {
    round: u32,
    ranks: &'a [RankClock],
}

impl<'a> FleetExport<'a> {
    pub(super) fn new(fleet: &'a Fleet, record: &'a Record) -> FleetExport<'a> {
        let effect = |effect: RankEffect| RankEffectExport {
            rank: effect.rank,
            ratio: effect.ratio,
            simultaneous_ci95: [effect.interval.low, effect.interval.high],
            is_straggler: effect.is_straggler(),
        };
        FleetExport {
            library: &fleet.mpi_library,
            share: fleet.share,
            ranks: &fleet.ranks,
            rank_effects: rank_effects(record).into_iter().map(effect).collect(),
            method_effects: method_effects(record),
            clocks: record.clocks.iter().map(|(round, ranks)| Clocks { round: *round, ranks }).collect(),
            turns: record.trials.iter().flat_map(|trial| &trial.fleet_turns).collect(),
        }
    }
}

/// The line that says how many ranks on how many hosts took part, and what each rank read.
fn fleet_line(fleet: &Fleet) -> String {
    let hosts = fleet.ranks.iter().map(|rank| rank.host.as_str()).collect::<BTreeSet<_>>().len();
    let what = match fleet.share {
        ShareMode::Same => "all read one file",
        ShareMode::Split => "each reads its part of one file",
        ShareMode::Own => "each reads a file of its own",
    };
    let [ranks, hosts] = [(fleet.ranks.len(), "rank"), (hosts, "host")].map(|(n, of)| words::plural(n, of));
    format!("fleet: {ranks} on {hosts} by {}; {what}; bytes and times are of all together", fleet.mpi_library)
}

fn punctuality_words(record: &Record) -> Option<String> {
    let found = punctuality(record)?;
    let (spread, bound) = (Nanos(found.start_spread_ns as u64), Nanos(found.clock_error_bound_ns));
    let turns = words::plural(found.turn_count, "turn");
    Some(format!("together: ranks began within {spread} in 95 % of {turns}; clocks are known to {bound}"))
}

/// A line that names the stragglers, or the slowest rank if there are none; `None` if no rank has a
/// known ratio.
fn straggler_words(fleet: &Fleet, effects: &[RankEffect]) -> Option<String> {
    let name = |effect: &RankEffect| format!("{} (rank {})", fleet.ranks[effect.rank].host, effect.rank);
    let stragglers: Vec<String> = effects
        .iter()
        .filter(|it| it.is_straggler())
        .map(|it| format!("{} takes {} times as long as the others", name(it), effect_words(it)))
        .collect();
    let first = effects.first()?;
    Some(if stragglers.is_empty() {
        let (name, times) = (name(first), effect_words(first));
        format!("straggler: none; the slowest, {name}, takes {times} times as long as the others")
    } else {
        format!("straggler: {}", stragglers.join("; "))
    })
}

fn effect_words(effect: &RankEffect) -> String {
    words::with_ends(effect.ratio, Some(effect.interval), |ratio| format!("{ratio:.2}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::trial::{CacheState, TrialIndex};
    use readlab_protocol::Cache;
    use readlab_record::{Outcome, RankTiming, testing};

    #[test]
    fn a_straggler_is_named_with_its_ratio_and_how_punctual_all_were() {
        let mut record = Record::new(testing::header());
        record.add(testing::trial_line(0, "rust/a", CacheState::Cold, Cache::Through));
        assert_eq!(FleetView::from_record(&record), None);
        let rank = |host: &str| Rank {
            host: host.to_owned(),
            path: "f".to_owned(),
            start_bytes: None,
            size_bytes: 1,
            digest: None,
            page_cache_number: 0,
        };
        let ranks = vec![rank("a"), rank("b")];
        record.fleet = Some(Fleet {
            mpi_library: "Open MPI v4".to_owned(),
            share: ShareMode::Same,
            ranks,
            witness: None,
        });
        let trial = &mut record.trials[TrialIndex::new(0)];
        trial.outcome = Some(Outcome::Measured);
        for round in 0..6 {
            let timing = |rank, started_ns, wall_ns| RankTiming {
                rank,
                started_ns,
                wall_ns,
                late_ns: 0,
                error_bound_ns: 300,
            };
            let ranks = vec![timing(0, 1_000, 1_000_000 + u64::from(round)), timing(1, 51_000, 1_500_000)];
            trial.fleet_turns.push(FleetTurn { trial: TrialIndex::new(0), round, ranks });
        }
        let view = FleetView::from_record(&record).unwrap();
        assert_eq!(
            view.lines,
            [
                "fleet: 2 ranks on 2 hosts by Open MPI v4; all read one file; bytes and times are of all together",
                "together: ranks began within 50.0 µs in 95 % of 6 turns; clocks are known to 600 ns",
                "straggler: b (rank 1) takes 1.50 [1.50, 1.50] times as long as the others",
            ]
        );
        assert_eq!(view.rank_effect(1).unwrap().text, "1.50 [1.50, 1.50]");
    }
}
