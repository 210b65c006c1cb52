//! The noise that the trials of a contest show together: from it the ratio of two of them and the
//! location of one have their intervals ([`SharedVariance`]).

use crate::stats::{Observation, SharedLocation, SharedRatio, SharedVariance, Significance};
use readlab_model::trial::TrialIndex;
use readlab_record::{Record, TrialRecord};

/// Trials that were read in the same rounds, by their index in the record. Controls have other
/// noise, and are not among them.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedNoise {
    shared: SharedVariance,
    /// In the order in which the estimator knows them.
    trials: Vec<TrialIndex>,
}

impl SharedNoise {
    /// From the numbers of each trial: times, or rates.
    pub fn new<O: Into<Observation>, R: IntoIterator<Item = O>>(
        trials: impl IntoIterator<Item = (TrialIndex, R)>,
    ) -> SharedNoise {
        let (trials, observed): (Vec<TrialIndex>, Vec<R>) = trials.into_iter().unzip();
        SharedNoise { shared: SharedVariance::new(observed), trials }
    }

    /// By the wall times of trials.
    pub fn from_trials<'a>(trials: impl IntoIterator<Item = &'a TrialRecord>) -> SharedNoise {
        SharedNoise::new(trials.into_iter().map(|it| (it.trial.index, &it.samples)))
    }

    /// By the wall times of all measured trials that compete with one in its state.
    pub fn of_contest(record: &Record, it: &TrialRecord) -> SharedNoise {
        let contest = |it: &TrialRecord| (it.trial.contest(), it.trial.state);
        let competes = |other: &&TrialRecord| {
            other.is_measured() && !other.trial.is_control() && contest(other) == contest(it)
        };
        SharedNoise::from_trials(record.trials.iter().filter(competes))
    }

    fn place(&self, trial: TrialIndex) -> Option<usize> {
        self.trials.iter().position(|it| *it == trial)
    }

    /// Whether a trial is among them.
    pub fn holds(&self, trial: TrialIndex) -> bool {
        self.trials.contains(&trial)
    }

    /// The reference's number over the trial's, within rounds: of times, how many times as fast the
    /// trial is. `None` where no round holds both.
    pub fn ratio(&self, trial: TrialIndex, reference: TrialIndex) -> Option<SharedRatio> {
        self.shared.ratio(self.place(trial)?, self.place(reference)?)
    }

    /// The same of a trial that was chosen from itself and so many others because it looked fast.
    pub fn ratio_of_chosen(
        &self,
        chosen: TrialIndex,
        other: TrialIndex,
        comparisons: usize,
    ) -> Option<SharedRatio> {
        self.shared.ratio_of_chosen(self.place(chosen)?, self.place(other)?, comparisons)
    }

    /// How a trial compares with the first of a rank; `None` with fewer than two rounds that hold
    /// both.
    pub fn against_first(&self, first: TrialIndex, trial: TrialIndex) -> Option<Significance> {
        self.shared.against_first(self.place(first)?, self.place(trial)?)
    }

    /// Where the number of a trial lies; `None` if it is not among them.
    pub fn location(&self, trial: TrialIndex) -> Option<SharedLocation> {
        self.shared.location(self.place(trial)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::sample::Sample;
    use readlab_model::trial::CacheState;
    use readlab_protocol::Cache;
    use readlab_record::{Line, testing};

    /// A warm contest of two trials, a control, and a cold trial, each by the factor of its times.
    fn record() -> Record {
        let mut record = Record::new(testing::header());
        let trials = [
            ("rust/a", CacheState::Warm, Cache::Through, 3),
            ("rust/resident", CacheState::Warm, Cache::None, 1),
            ("rust/a", CacheState::Cold, Cache::Through, 9),
            ("rust/b", CacheState::Warm, Cache::Through, 1),
        ];
        for (index, (name, state, cache, factor)) in trials.into_iter().enumerate() {
            record.add(testing::trial(index, name, state, cache));
            for round in 0..6 {
                let wall_ns = factor * (1_000_000 + 1_000 * u64::from(round % 3));
                let trial = TrialIndex::new(index);
                record.add(Line::Sample(Box::new(Sample { trial, round, wall_ns, ..Sample::default() })));
            }
        }
        record
    }

    #[test]
    fn trials_are_found_by_their_index_in_the_record() {
        let (record, [a, control, cold, b]) = (record(), [0, 1, 2, 3].map(TrialIndex::new));
        let noise = SharedNoise::of_contest(&record, &record.trials[b]);
        assert_eq!([a, control, cold, b].map(|it| noise.holds(it)), [true, false, false, true]);
        assert!((noise.ratio(b, a).unwrap().estimate - 3.0).abs() < 1e-9);
        assert_eq!(noise.against_first(b, a), noise.ratio(a, b).unwrap().clear());
        assert!((noise.location(b).unwrap().estimate_ns - 1_001_000.0).abs() < 1.0);
        assert_eq!((noise.ratio(b, cold), noise.location(control)), (None, None));
    }
}
