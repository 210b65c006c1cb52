//! The ranks of a ranking: which trials tie, by their ratios within rounds.

use super::reference::Reference;
use super::row::{MeasuredRow, RankingRow};
use readlab_analysis::stats::{self, OBSERVATIONS_MIN, Significance};
use readlab_record::Samples;
use std::collections::BTreeSet;

/// The rank of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rank {
    /// From 1; trials that tie share it.
    pub place: usize,
    /// How the trial compares with the first of its rank.
    pub tie: TieStatus,
}

/// How a trial compares with the first of its rank, by their ratio within rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TieStatus {
    First,
    /// It is not shown to be slower.
    Tied,
}

impl Rank {
    /// `1`; `1=` when tied.
    pub fn word(self) -> String {
        match self.tie {
            TieStatus::First => self.place.to_string(),
            TieStatus::Tied => format!("{}=", self.place),
        }
    }
}

/// Fills in the ratios to the reference, and the ranks by comparisons with the first trial of each
/// rank. The rows are in the order of their medians. A trial with fewer rounds than an interval
/// needs has no rank.
pub(super) fn compare(rows: &mut [MeasuredRow], reference: Option<&Reference>) {
    let reference = reference.and_then(|it| rows.iter().find(|measured| measured.row.index == it.index));
    let reference: Option<&Samples> = reference.map(|it| &it.trial.samples);
    let comparisons = rows.len().saturating_sub(1);
    let (mut first, mut ranked): (Option<First>, usize) = (None, 0);
    for MeasuredRow { row, trial } in rows.iter_mut() {
        let samples = &trial.samples;
        if let Some(reference) = reference.filter(|reference| !std::ptr::eq(*reference, samples)) {
            row.ratio = stats::ratio(reference, samples);
        }
        let place = ranked + 1;
        match &first {
            _ if row.wall.median_ci95.is_none() => row.missing_rounds = missing(rounds(samples).len()),
            None => first = Some(First::new(row, place, samples)),
            Some(before) => match before.against(samples, comparisons) {
                // The rounds compared it with the fastest, which is before the first of this rank.
                Against::Tied if before.place == 1 && trial.is_not_first() => {
                    first = Some(First::new(row, place, samples));
                }
                Against::Tied => row.rank = Some(Rank { place: before.place, tie: TieStatus::Tied }),
                Against::Slower => first = Some(First::new(row, place, samples)),
                Against::Unknown { missing_rounds } => row.missing_rounds = missing_rounds,
            },
        }
        if trial.is_not_first() {
            row.missing_rounds = 0;
        }
        ranked += usize::from(row.rank.is_some());
    }
}

/// The rounds that a trial was read in.
fn rounds(samples: &Samples) -> BTreeSet<u32> {
    samples.iter().map(|sample| sample.round).collect()
}

/// How many more rounds an interval needs, at least one.
fn missing(rounds: usize) -> usize {
    OBSERVATIONS_MIN.saturating_sub(rounds).max(1)
}

/// The first trial of a rank.
struct First<'a> {
    place: usize,
    samples: &'a Samples,
}

/// How a trial with a higher median compares with the first of a rank.
enum Against {
    Tied,
    Slower,
    /// Too few rounds hold both.
    Unknown {
        missing_rounds: usize,
    },
}

impl<'a> First<'a> {
    fn new(row: &mut RankingRow, place: usize, samples: &'a Samples) -> First<'a> {
        row.rank = Some(Rank { place, tie: TieStatus::First });
        First { place, samples }
    }

    fn against(&self, samples: &Samples, comparisons: usize) -> Against {
        match stats::against_first(self.samples, samples, comparisons) {
            Some(Significance::Slower) => Against::Slower,
            // A higher median, and yet faster within rounds, gives no order.
            Some(Significance::Tie | Significance::Faster) => Against::Tied,
            None => {
                let both = rounds(self.samples).intersection(&rounds(samples)).count();
                Against::Unknown { missing_rounds: missing(both) }
            }
        }
    }
}
