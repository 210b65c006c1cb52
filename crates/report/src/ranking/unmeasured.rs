//! The unmeasured trials of a ranking, each with the reason.

use super::super::groups;
use super::super::name::ShortNames;
use readlab_model::trial::TrialIndex;
use readlab_record::TrialRecord;

/// Up to this many trials that lack numbers for the same reason have a line each. If there are
/// more, they share one line.
const LISTED_SINGLY_MAX: usize = 3;

/// Largest number of names in a shared line.
const NAMES_SHOWN_MAX: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmeasuredLine {
    /// Index of the trial, or of the first of several.
    pub index: TrialIndex,
    /// The name of the trial without the facts in the heading of the ranking, or the number of
    /// trials.
    pub name: String,
    /// The shortest name that no other trial of this record has.
    pub short_name: String,
    /// The outcome: `refused`, `failed`, `unavailable`, or `not measured` if the run ended before.
    pub outcome: &'static str,
    pub reason: String,
}

impl UnmeasuredLine {
    /// The trials without numbers, in the order of the record, except those that a search dropped.
    /// Many trials with the same reason share one line.
    pub(super) fn all(others: &[&TrialRecord], names: &ShortNames) -> Vec<UnmeasuredLine> {
        let left_a_search = |trial: &TrialRecord| !trial.search_samples.is_empty() && trial.is_accepted();
        let listed = others.iter().filter(|trial| !left_a_search(trial));
        let reasons = listed.map(|trial| UnmeasuredLine::from_trial(trial, names));
        let groups = groups::by_key(reasons.map(|it| ((it.outcome, it.reason.clone()), it)));
        let mut lines: Vec<UnmeasuredLine> =
            groups.into_iter().flat_map(|(_, group)| UnmeasuredLine::merge_same_reason(group)).collect();
        lines.sort_by_key(|it| it.index);
        lines
    }

    /// The lines of trials that have no numbers for the same reason.
    fn merge_same_reason(group: Vec<UnmeasuredLine>) -> Vec<UnmeasuredLine> {
        if group.len() <= LISTED_SINGLY_MAX {
            return group;
        }
        let named: Vec<&str> = group.iter().take(NAMES_SHOWN_MAX).map(|it| it.name.as_str()).collect();
        let count = format!("{} trials", group.len());
        let more = group.len() - named.len();
        let reason = format!("{} ({} and {more} more)", group[0].reason, named.join(", "));
        let UnmeasuredLine { index, outcome, .. } = group[0];
        vec![UnmeasuredLine { index, name: count.clone(), short_name: count, outcome, reason }]
    }

    fn from_trial(trial: &TrialRecord, names: &ShortNames) -> UnmeasuredLine {
        let (outcome, reason) = match &trial.outcome {
            None => ("not measured", "the run ended before its first reading"),
            Some(outcome) => (outcome.word(), outcome.reason().unwrap_or("no reading counts")),
        };
        UnmeasuredLine {
            index: trial.trial.index,
            name: trial.trial.id.to_string(),
            short_name: names.short_name(&trial.trial),
            outcome,
            reason: reason.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn late_trial(index: usize) -> UnmeasuredLine {
        let name = format!("c/{index}");
        UnmeasuredLine {
            index: TrialIndex::new(index),
            short_name: name.clone(),
            name,
            outcome: "unavailable",
            reason: "late".to_owned(),
        }
    }

    #[test]
    fn few_unmeasured_trials_have_a_line_each_and_many_share_one() {
        assert_eq!(UnmeasuredLine::merge_same_reason((0..3).map(late_trial).collect()).len(), 3);
        let lines = UnmeasuredLine::merge_same_reason((0..33).map(late_trial).collect());
        assert_eq!(lines.len(), 1);
        assert_eq!(
            (lines[0].name.as_str(), lines[0].reason.as_str()),
            ("33 trials", "late (c/0, c/1, c/2 and 30 more)")
        );
    }
}
