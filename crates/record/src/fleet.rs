//! Lines about turns that several processes take together: the ranks of a fleet, the differences of
//! their clocks, the times of each rank in a turn, and the processes of a contender on one host.
//!
//! All times are by the clock of rank 0, in nanoseconds. `readlab_fleet::clock` compares clocks.

use readlab_model::trial::TrialIndex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The ranks of an MPI job that take every turn together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fleet {
    #[serde(rename = "library")]
    pub mpi_library: String,
    /// Which part of which file each rank reads.
    pub share: ShareMode,
    /// The ranks that read, in rank order.
    pub ranks: Vec<Rank>,
    /// The rank on the server, which makes the file cold there; `None` if no rank runs on the
    /// server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
}

impl Fleet {
    /// How the ranks of a resumed run differ from the ranks of the record; `None` if they are the
    /// same.
    pub fn change_sentence(&self, ranks: &[Rank], witness: Option<&Witness>) -> Option<String> {
        let (before, now) = (self.ranks.len(), ranks.len());
        if before != now {
            return Some(format!("it had {before} ranks that read, and the launcher started {now}"));
        }
        let of_rank = |(number, (was, is)): (usize, (&Rank, &Rank))| {
            if was.host != is.host {
                return Some(format!("rank {number} was on {}, and is on {}", was.host, is.host));
            }
            (was != is).then(|| format!("rank {number} on {} does not read what it read", is.host))
        };
        let moved = self.ranks.iter().zip(ranks).enumerate().find_map(of_rank);
        let is_watched = self.witness.as_ref() == witness;
        moved.or_else(|| (!is_watched).then(|| "the witness is not that of before".to_owned()))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Witness {
    pub host: String,
    pub path: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[serde(rename = "Share")]
pub enum ShareMode {
    #[default]
    Same,
    /// Each rank reads its part of one file.
    Split,
    /// Each rank reads a file of its own.
    Own,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rank {
    pub host: String,
    pub path: String,
    /// Offset in the file at which the rank's part begins, if it reads a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_bytes: Option<u64>,
    pub size_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Number of the page cache; ranks with the same number share the page cache of their file.
    #[serde(rename = "cache")]
    pub page_cache_number: u32,
}

/// The difference between the clock of a rank and the clock of rank 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankClock {
    pub offset_ns: i64,
    /// Largest error of the offset.
    #[serde(rename = "bound_ns")]
    pub error_bound_ns: u64,
    /// Drift since the previous comparison, in parts per million; 0 if there was none.
    pub drift_ppm: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RankTiming {
    /// Number of the rank. In some trials only some of the ranks take part.
    pub rank: u32,
    /// When the rank sent its contender the request to read.
    pub started_ns: u64,
    /// Time from the start that rank 0 had announced to the actual start.
    pub late_ns: u64,
    pub wall_ns: u64,
    /// Largest error of the times.
    #[serde(rename = "bound_ns")]
    pub error_bound_ns: u64,
}

impl RankTiming {
    pub fn ended_ns(&self) -> u64 {
        self.started_ns.saturating_add(self.wall_ns)
    }
}

/// One turn with the times of each rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetTurn {
    pub trial: TrialIndex,
    /// Number of the round, from 0.
    pub round: u32,
    /// The ranks that took part, in rank order.
    pub ranks: Vec<RankTiming>,
}

impl FleetTurn {
    /// Time from the first start to the last end.
    pub fn job_ns(&self) -> u64 {
        let first = self.ranks.iter().map(|rank| rank.started_ns).min().unwrap_or(0);
        let last = self.ranks.iter().map(RankTiming::ended_ns).max().unwrap_or(0);
        last - first
    }

    /// Largest error of `job_ns`. The first start and the last end may be from different ranks, so
    /// the two largest errors are added.
    pub fn error_bound_ns(&self) -> u64 {
        let mut bounds: Vec<u64> = self.ranks.iter().map(|rank| rank.error_bound_ns).collect();
        bounds.sort_unstable();
        bounds.iter().rev().take(2).sum()
    }

    /// Time between the first and the last start.
    pub fn start_spread_ns(&self) -> u64 {
        let starts = || self.ranks.iter().map(|rank| rank.started_ns);
        starts().max().unwrap_or(0) - starts().min().unwrap_or(0)
    }
}

/// One turn that several processes of a contender took together on one host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadersTurn {
    pub trial: TrialIndex,
    pub round: u32,
    /// The readers in the order in which they got the request to read.
    pub readers: Vec<ReaderTiming>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReaderTiming {
    /// Time from the first reader's start to this reader's start.
    pub began_ns: u64,
    /// Time of the reading by the reader's own clock.
    pub wall_ns: u64,
    /// Time from the reader's start to its answer, by the lab's clock.
    pub answered_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resumed_fleet_must_have_the_same_ranks_hosts_and_files() {
        let rank = |host: &str, path: &str| {
            let (host, path) = (host.to_owned(), path.to_owned());
            Rank { host, path, start_bytes: None, size_bytes: 1, digest: None, page_cache_number: 0 }
        };
        let ranks = [rank("a", "f"), rank("b", "f")];
        let fleet = Fleet {
            mpi_library: String::new(),
            share: ShareMode::Same,
            ranks: ranks.to_vec(),
            witness: None,
        };
        assert_eq!(fleet.change_sentence(&ranks, None), None);
        let change = |ranks: &[Rank]| fleet.change_sentence(ranks, None).unwrap();
        assert_eq!(change(&ranks[..1]), "it had 2 ranks that read, and the launcher started 1");
        assert_eq!(change(&[rank("a", "f"), rank("c", "f")]), "rank 1 was on b, and is on c");
        assert_eq!(change(&[rank("a", "g"), rank("b", "f")]), "rank 0 on a does not read what it read");
        let witness = Witness { host: "s".to_owned(), path: "f".to_owned() };
        assert!(fleet.change_sentence(&ranks, Some(&witness)).unwrap().contains("witness"));
    }

    #[test]
    fn job_time_is_from_the_first_start_to_the_last_end_and_for_one_rank_its_wall_time() {
        let rank = |started_ns, wall_ns, bound_ns| RankTiming {
            started_ns,
            wall_ns,
            error_bound_ns: bound_ns,
            ..RankTiming::default()
        };
        let turn = |ranks| FleetTurn { trial: TrialIndex::new(0), round: 0, ranks };
        let two = turn(vec![rank(1_000, 50, 3), rank(1_010, 20, 4), rank(1_005, 20, 1)]);
        assert_eq!((two.job_ns(), two.start_spread_ns(), two.error_bound_ns()), (50, 10, 7));
        let one = turn(vec![rank(1_000, 50, 0)]);
        assert_eq!((one.job_ns(), one.start_spread_ns(), one.error_bound_ns()), (50, 0, 0));
    }
}
