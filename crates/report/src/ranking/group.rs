//! The groups of a ranking: the trials that share a rank, with the one of the best median first.

use super::{Ranking, RankingRow};

/// The trials that share a rank.
#[derive(Debug, Clone, PartialEq)]
pub struct RankGroup<'a> {
    /// The rank, from 1.
    pub place: usize,
    /// The trial with the best median.
    pub best: &'a RankingRow,
    /// The trials that tie with it, in the order of their medians.
    pub others: Vec<&'a RankingRow>,
}

impl Ranking {
    /// The rows without a rank, in the order of their medians: those that were read in one round.
    pub fn unranked(&self) -> Vec<&RankingRow> {
        self.rows.iter().filter(|row| row.rank.is_none()).collect()
    }

    /// The rows without a rank that may be the fastest: none of lower median has a rank.
    pub fn unranked_before_first(&self) -> Vec<&RankingRow> {
        self.rows.iter().take_while(|row| row.rank.is_none()).collect()
    }

    /// The groups in the order of their ranks. Rows without a rank are in none.
    pub fn groups(&self) -> Vec<RankGroup<'_>> {
        let mut groups: Vec<RankGroup> = Vec::new();
        for row in &self.rows {
            let Some(rank) = row.rank else { continue };
            match groups.iter_mut().find(|group| group.place == rank.place) {
                Some(group) => group.others.push(row),
                None => groups.push(RankGroup { place: rank.place, best: row, others: Vec::new() }),
            }
        }
        groups
    }
}
