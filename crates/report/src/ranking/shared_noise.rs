//! The ratios and locations of a ranking, by the noise that all its trials show together
//! ([`SharedVariance`]). Controls have other noise, and are not among them.

use readlab_analysis::stats::{SharedLocation, SharedRatio, SharedVariance, Significance};
use readlab_model::trial::TrialIndex;
use readlab_record::TrialRecord;

/// The ranked trials of a ranking, by their index in the record.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct SharedNoise {
    shared: SharedVariance,
    /// In the order in which the estimator knows them.
    trials: Vec<TrialIndex>,
}

impl SharedNoise {
    /// From trials that were read in the same rounds.
    pub(in super::super) fn from_trials<'a>(trials: impl Iterator<Item = &'a TrialRecord>) -> SharedNoise {
        let trials: Vec<&TrialRecord> = trials.collect();
        SharedNoise {
            shared: SharedVariance::new(trials.iter().map(|it| &it.samples)),
            trials: trials.iter().map(|it| it.trial.index).collect(),
        }
    }

    fn place(&self, trial: TrialIndex) -> Option<usize> {
        self.trials.iter().position(|it| *it == trial)
    }

    /// How many times as fast a trial is as a reference; `None` for the reference itself, and where
    /// no round holds both.
    pub(in super::super) fn ratio(&self, trial: TrialIndex, reference: TrialIndex) -> Option<SharedRatio> {
        let (trial, reference) = (self.place(trial)?, self.place(reference)?);
        self.shared.ratio(trial, reference).filter(|_| trial != reference)
    }

    /// The same of a trial that was chosen from itself and so many others because it looked fast.
    pub(in super::super) fn ratio_of_chosen(
        &self,
        chosen: TrialIndex,
        other: TrialIndex,
        comparisons: usize,
    ) -> Option<SharedRatio> {
        let (chosen, other) = (self.place(chosen)?, self.place(other)?);
        self.shared.ratio_of_chosen(chosen, other, comparisons).filter(|_| chosen != other)
    }

    /// How a trial compares with the first of a rank; `None` with fewer than two rounds that hold
    /// both.
    pub(super) fn against_first(&self, first: TrialIndex, trial: TrialIndex) -> Option<Significance> {
        self.shared.against_first(self.place(first)?, self.place(trial)?)
    }

    pub(super) fn location(&self, trial: TrialIndex) -> Option<SharedLocation> {
        self.shared.location(self.place(trial)?)
    }
}
