//! The ranks of a ranking: which trials tie, by their ratios within rounds.

use super::reference::Reference;
use super::row::MeasuredRow;
use crate::analysis::stats::{self, Bootstrap, Significance};
use crate::record::Samples;

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
    /// It is the first.
    First,
    /// The interval of their ratio holds 1.
    Tied,
    /// Too few rounds hold both for an interval.
    Undecided,
}

impl Rank {
    /// `1`; `1=` when tied, `1?` when undecided.
    #[must_use]
    pub fn word(self) -> String {
        match self.tie {
            TieStatus::First => self.place.to_string(),
            TieStatus::Tied => format!("{}=", self.place),
            TieStatus::Undecided => format!("{}?", self.place),
        }
    }
}

/// Fills in the ratios to the reference, and the ranks by the ratios to the first trial of each
/// rank. The rows are in the order of their medians.
pub(super) fn compare(rows: &mut [MeasuredRow], reference: Option<&Reference>, bootstrap: Bootstrap) {
    let reference = reference.and_then(|it| rows.iter().find(|measured| measured.row.index == it.index));
    let reference: Option<&Samples> = reference.map(|it| &it.trial.samples);
    let mut first: Option<First> = None;
    for (at, MeasuredRow { row, trial }) in rows.iter_mut().enumerate() {
        let samples = &trial.samples;
        if let Some(reference) = reference.filter(|reference| !std::ptr::eq(*reference, samples)) {
            row.ratio = stats::ratio(reference, samples, bootstrap);
        }
        let shared = first.as_ref().and_then(|first| first.shared_rank(samples, bootstrap));
        row.rank = Some(shared.unwrap_or(Rank { place: at + 1, tie: TieStatus::First }));
        if shared.is_none() {
            first = Some(First { place: at + 1, samples });
        }
    }
}

/// The first trial of a rank.
struct First<'a> {
    place: usize,
    samples: &'a Samples,
}

impl First<'_> {
    /// The rank of another trial with a higher median if it shares this one; `None` if it is
    /// clearly slower.
    fn shared_rank(&self, samples: &Samples, bootstrap: Bootstrap) -> Option<Rank> {
        let ratio = stats::ratio(self.samples, samples, bootstrap);
        let tie = match ratio.and_then(|ratio| ratio.clear()) {
            Some(Significance::Slower) => return None,
            // A higher median, and yet faster within rounds, gives no order.
            Some(Significance::Tie | Significance::Faster) => TieStatus::Tied,
            None => TieStatus::Undecided,
        };
        Some(Rank { place: self.place, tie })
    }
}
