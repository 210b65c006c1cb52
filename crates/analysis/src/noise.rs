//! The noise of all trials of a contest, estimated together ([`SharedVariance`]). The intervals of
//! ratios of two trials, and of the location (the centre) of one trial's numbers, come from it.

use crate::stats::{
    Indifference, Observation, SharedLocation, SharedRatio, SharedVariance, Significance, find_stops,
};
use readlab_model::trial::TrialIndex;
use readlab_record::{Record, TrialRecord};

/// The noise of trials that were read in the same rounds, by their index in the record. Controls
/// have other noise, and are not included.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedNoise {
    shared: SharedVariance,
    /// The trials in the order in which the estimator numbers them.
    trials: Vec<TrialIndex>,
}

impl SharedNoise {
    /// Estimates the noise from the numbers of each trial: times, or rates.
    pub fn new<O: Into<Observation>, R: IntoIterator<Item = O>>(
        trials: impl IntoIterator<Item = (TrialIndex, R)>,
    ) -> SharedNoise {
        let (trials, observed): (Vec<TrialIndex>, Vec<R>) = trials.into_iter().unzip();
        SharedNoise { shared: SharedVariance::new(observed), trials }
    }

    /// Estimates the noise from the numbers of trials of a record.
    pub fn of_record<O: Into<Observation>, R: IntoIterator<Item = O>>(
        record: &Record,
        numbers: impl IntoIterator<Item = (TrialIndex, R)>,
    ) -> SharedNoise {
        let noise = SharedNoise::new(numbers);
        let is_decided = noise.trials.iter().any(|trial| is_decided(&record.trials[*trial]));
        noise.with_decision(is_decided)
    }

    /// Estimates the noise from the wall times of trials.
    pub fn from_trials<'a>(trials: impl IntoIterator<Item = &'a TrialRecord>) -> SharedNoise {
        let trials: Vec<&TrialRecord> = trials.into_iter().collect();
        let noise = SharedNoise::new(trials.iter().map(|it| (it.trial.index, &it.samples)));
        noise.with_decision(trials.into_iter().any(is_decided))
    }

    fn with_decision(self, is_decided: bool) -> SharedNoise {
        let shared = if is_decided { self.shared.of_decided_race() } else { self.shared };
        SharedNoise { shared, ..self }
    }

    /// Estimates the noise from the wall times of all measured trials that compete with `it` in the
    /// same state.
    pub fn of_contest(record: &Record, it: &TrialRecord) -> SharedNoise {
        let contest = |it: &TrialRecord| (it.trial.contest(), it.trial.state);
        let competes = |other: &&TrialRecord| {
            other.is_measured() && !other.trial.is_control() && contest(other) == contest(it)
        };
        SharedNoise::from_trials(record.trials.iter().filter(competes))
    }

    fn index_of(&self, trial: TrialIndex) -> Option<usize> {
        self.trials.iter().position(|it| *it == trial)
    }

    /// Whether the noise was estimated with this trial.
    pub fn contains(&self, trial: TrialIndex) -> bool {
        self.trials.contains(&trial)
    }

    /// The reference's number divided by the trial's, within rounds. For times, this is how many
    /// times as fast the trial is. `None` where no round holds both.
    pub fn ratio(&self, trial: TrialIndex, reference: TrialIndex) -> Option<SharedRatio> {
        self.shared.ratio(self.index_of(trial)?, self.index_of(reference)?)
    }

    /// The ratio of a trial that was chosen because it looked the fastest among `comparisons`
    /// others. Its interval is corrected for the choice.
    pub fn ratio_of_chosen(
        &self,
        chosen: TrialIndex,
        other: TrialIndex,
        comparisons: usize,
    ) -> Option<SharedRatio> {
        self.shared.ratio_of_chosen(self.index_of(chosen)?, self.index_of(other)?, comparisons)
    }

    /// The ratio over all these pairs of a trial and its reference.
    pub fn ratio_over(&self, pairs: &[[TrialIndex; 2]]) -> Option<SharedRatio> {
        self.shared.ratio_over(&self.indexes_of(pairs))
    }

    /// Whether the ratio of each of these pairs differs from the ratios of the others.
    pub fn are_unlike_others(&self, pairs: &[[TrialIndex; 2]]) -> Vec<bool> {
        self.shared.are_unlike_others(&self.indexes_of(pairs))
    }

    /// The pairs with the estimator's index of each trial. A trial that is not included gets an
    /// index that the estimator does not have, so that its pair has no ratio.
    fn indexes_of(&self, pairs: &[[TrialIndex; 2]]) -> Vec<[usize; 2]> {
        let index_of = |trial| self.index_of(trial).unwrap_or(usize::MAX);
        pairs.iter().map(|pair| pair.map(index_of)).collect()
    }

    /// Whether a trial is slower or faster than the first trial of a rank, or ties with it; `None`
    /// with fewer than two rounds that hold both.
    pub fn significance_against_first(&self, first: TrialIndex, trial: TrialIndex) -> Option<Significance> {
        self.shared.significance_against_first(self.index_of(first)?, self.index_of(trial)?)
    }

    /// The trials among `running` that the rule for stopping trials of a race would not stop: no
    /// other trial is faster by more than the indifference zone.
    pub fn trials_not_behind(&self, running: &[TrialIndex], zone: Indifference) -> Vec<TrialIndex> {
        let indexes: Vec<usize> = running.iter().filter_map(|trial| self.index_of(*trial)).collect();
        let stops = find_stops(&self.shared, &indexes, zone);
        let is_behind = |index: &usize| stops.iter().any(|stop| stop.trial == *index);
        indexes.into_iter().filter(|index| !is_behind(index)).map(|index| self.trials[index]).collect()
    }

    /// The location (the centre) of a trial's numbers, with its interval; `None` for a trial that
    /// is not included.
    pub fn location(&self, trial: TrialIndex) -> Option<SharedLocation> {
        self.shared.location(self.index_of(trial)?)
    }
}

/// Whether the trial stopped because of a comparison of its readings with those of other trials.
fn is_decided(it: &TrialRecord) -> bool {
    it.stopped.is_some_and(|it| it.why.is_comparison())
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::sample::Sample;
    use readlab_model::trial::CacheState;
    use readlab_protocol::Cache;
    use readlab_record::{StopReason, Stopped, testing};

    /// A warm contest of two trials, a control, and a cold trial. The last number of each row is
    /// the factor by which the trial's times are multiplied.
    fn record() -> Record {
        let mut record = Record::new(testing::header());
        let trials = [
            ("rust/a", CacheState::Warm, Cache::Through, 3),
            ("rust/resident", CacheState::Warm, Cache::None, 1),
            ("rust/a", CacheState::Cold, Cache::Through, 9),
            ("rust/b", CacheState::Warm, Cache::Through, 1),
        ];
        for (name, state, cache, factor) in trials {
            let wall_ns = |round: u64| factor * (1_000_000 + 1_000 * (round % 3));
            let reading = |round| Sample { wall_ns: wall_ns(round), ..Sample::default() };
            testing::add_trial(&mut record, name, state, cache, (0..6).map(reading));
        }
        record
    }

    #[test]
    fn the_ratios_of_a_race_that_was_decided_have_a_smaller_error() {
        let mut record = Record::new(testing::header());
        for (name, walls) in [("rust/a", [11, 9, 12, 10, 8, 13, 9, 12, 11, 10]), ("rust/b", [10; 10])] {
            let readings = walls.map(|wall_ms| Sample { wall_ns: wall_ms * 1_000_000, ..Sample::default() });
            testing::add_trial(&mut record, name, CacheState::Warm, Cache::Through, readings);
        }
        let [a, b] = [0, 1].map(TrialIndex::new);
        let mut half_width = |why| {
            record.trials[a].stopped = Some(Stopped { why, rounds: 10 });
            let noise = SharedNoise::from_trials(&record.trials);
            let numbers = record.trials.iter().map(|it| (it.trial.index, &it.samples));
            assert_eq!(SharedNoise::of_record(&record, numbers), noise);
            noise.ratio(a, b).unwrap().ci95.unwrap().ends.half_width()
        };
        let fixed = half_width(StopReason::MostReadings);
        assert_eq!(half_width(StopReason::Precise), fixed);
        let decided = half_width(StopReason::Decided);
        assert!(decided > fixed, "{decided} {fixed}");
        assert_eq!(half_width(StopReason::NotFirst), decided);
    }

    #[test]
    fn trials_are_found_by_their_index_in_the_record() {
        let (record, [a, control, cold, b]) = (record(), [0, 1, 2, 3].map(TrialIndex::new));
        let noise = SharedNoise::of_contest(&record, &record.trials[b]);
        assert_eq!([a, control, cold, b].map(|it| noise.contains(it)), [true, false, false, true]);
        assert!((noise.ratio(b, a).unwrap().estimate - 3.0).abs() < 1e-9);
        assert_eq!(noise.significance_against_first(b, a), noise.ratio(a, b).unwrap().significance());
        assert!((noise.location(b).unwrap().estimate_ns - 1_001_000.0).abs() < 1.0);
        assert_eq!((noise.ratio(b, cold), noise.location(control)), (None, None));
    }
}
