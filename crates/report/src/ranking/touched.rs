//! The readings that are known to have touched the bytes, rather than to have answered from memory,
//! counted by the meter that shows it.

use readlab_model::sample::Delivered;
use readlab_record::{Touch, TrialRecord, VisitCost};
use std::collections::BTreeMap;

/// Readings by what the meters of their turns say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched(BTreeMap<Touch, usize>);

impl Touched {
    /// Counts the accepted readings, with the controls among all trials as the measure; `None`
    /// where turns were not metered, as in old records.
    pub(super) fn count<'a>(
        all: &[&TrialRecord],
        ranked: impl Iterator<Item = &'a TrialRecord>,
    ) -> Option<Touched> {
        let mut visit = VisitCost::default();
        for control in all.iter().filter(|it| it.trial.is_control()) {
            control.samples.iter().for_each(|sample| visit.learn(&control.trial, &sample));
        }
        let mut found = BTreeMap::new();
        let mut is_metered = false;
        for it in ranked {
            for sample in &it.samples {
                is_metered |= !sample.turn.is_unknown();
                *found.entry(visit.touch(&it.trial, &sample)).or_insert(0) += 1;
            }
        }
        is_metered.then_some(Touched(found))
    }

    /// What is proven and what is not, in words.
    pub fn words(&self) -> String {
        let of = |touch| self.0.get(&touch).copied().unwrap_or(0);
        let all: usize = self.0.values().sum();
        let by = [
            (of(Touch::Delivered(Delivered::Calls)), "by read calls"),
            (of(Touch::Delivered(Delivered::Faults)), "by page faults"),
            (of(Touch::CpuTime), "by CPU time"),
        ];
        let known: usize = by.iter().map(|(n, _)| n).sum();
        let by: Vec<String> = by.iter().filter(|(n, _)| *n > 0).map(|(n, by)| format!("{n} {by}")).collect();
        let how = if by.is_empty() { String::new() } else { format!(" ({})", by.join(", ")) };
        let rest = if known < all { "; of the others the meters cannot tell" } else { "" };
        format!("{known} of {all} readings touched the bytes{how}{rest}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_proven_is_said() {
        let found = [(Touch::Delivered(Delivered::Calls), 20), (Touch::CpuTime, 7), (Touch::Unknown, 3)];
        let words = Touched(found.into()).words();
        assert_eq!(
            words,
            "27 of 30 readings touched the bytes (20 by read calls, 7 by CPU time); of the others the meters cannot tell"
        );
        assert_eq!(
            Touched([(Touch::Unknown, 2)].into()).words(),
            "0 of 2 readings touched the bytes; of the others the meters cannot tell"
        );
    }
}
