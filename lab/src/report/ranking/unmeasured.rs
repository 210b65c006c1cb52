//! The trials without numbers, and why they have none.

use super::super::name::Names;
use crate::record::TrialRecord;

/// Up to so many trials without numbers, each is told by itself.
const SAME_TOLD_SINGLY: usize = 40;

/// A trial without numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmeasured {
    /// Number of the trial.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Its name as short as it may be beside the others of this record.
    pub short: String,
    /// `refused`, `failed`, `unavailable`, or `not measured` when the run ended before.
    pub outcome: &'static str,
    /// Why.
    pub reason: String,
}

impl Unmeasured {
    /// Those without numbers. Who left a search is none of them; and where a search has many that lack the same, one stands
    /// for all.
    pub(super) fn all(others: &[&TrialRecord], names: &Names) -> Vec<Unmeasured> {
        let left_a_search = |trial: &TrialRecord| !trial.searched.is_empty() && trial.stands();
        let mut told: Vec<Unmeasured> = Vec::new();
        let mut more: Vec<usize> = Vec::new();
        for it in
            others.iter().filter(|trial| !left_a_search(trial)).map(|trial| Unmeasured::of(trial, names))
        {
            let same = |had: &Unmeasured| (had.outcome, &had.reason) == (it.outcome, &it.reason);
            match told.iter().position(same).filter(|_| others.len() > SAME_TOLD_SINGLY) {
                Some(at) => more[at] += 1,
                None => {
                    told.push(it);
                    more.push(0);
                }
            }
        }
        for (it, more) in told.iter_mut().zip(more).filter(|(_, more)| *more > 0) {
            it.name += &format!(" and {more} more");
            it.short += &format!(" and {more} more");
        }
        told
    }

    fn of(trial: &TrialRecord, names: &Names) -> Unmeasured {
        let (outcome, reason) = match &trial.outcome {
            None => ("not measured", "the run ended before its first reading"),
            Some(outcome) => (outcome.word(), outcome.reason().unwrap_or("no reading stands")),
        };
        Unmeasured {
            index: trial.trial.index,
            name: trial.trial.id.to_string(),
            short: names.short(&trial.trial),
            outcome,
            reason: reason.to_owned(),
        }
    }
}
