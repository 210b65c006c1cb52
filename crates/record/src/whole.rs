//! Whether a reading read all of its target, so that its size over its time is a rate. Most
//! readings prove it by their answer. The output of a command that is taken as it is proves
//! nothing: it may have stopped after the first lines.

use super::{Trial, TrialRecord};
use readlab_model::sample::Sample;
use readlab_model::target::TargetFacts;
use readlab_model::target::cold_bytes::least_fetched;
use readlab_model::trial::{CacheState, Work};

impl Trial {
    /// Whether a reading is known to have read its whole target: by its answer, by the bytes that
    /// meters saw arrive, or cold by those that the device gave.
    pub fn read_whole(&self, sample: &Sample, target: &TargetFacts) -> bool {
        let from_device = || {
            let least = target.expected_device_bytes().map(least_fetched).filter(|&bytes| bytes > 0);
            self.state == CacheState::Cold
                && least.is_some_and(|least| sample.device_read_bytes.is_some_and(|bytes| bytes >= least))
        };
        self.work != Work::Output || sample.turn.delivered.is_some() || from_device()
    }
}

impl TrialRecord {
    /// Whether all of its readings are known to have read their whole target.
    pub fn read_whole(&self, target: &TargetFacts) -> bool {
        self.samples.iter().all(|sample| self.trial.read_whole(&sample, target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Line, testing};
    use readlab_model::sample::{Delivered, TurnSeen};
    use readlab_model::target::extents::Extents;
    use readlab_protocol::Cache;

    #[test]
    fn a_command_whose_output_proves_nothing_is_not_known_to_have_read_all() {
        let trial = |work, state| {
            let Line::Trial(line) = testing::trial(0, "command/head -n 10", state, Cache::Through) else {
                panic!("a trial")
            };
            Trial { work, ..*line }
        };
        let target = TargetFacts {
            size_bytes: 1_000_000,
            extents: Some(Extents::default()),
            ..TargetFacts::default()
        };
        let of_device = |bytes| Sample { device_read_bytes: Some(bytes), ..Sample::default() };
        let read = |work, state, sample: &Sample| trial(work, state).read_whole(sample, &target);
        assert!(read(Work::Newlines, CacheState::Warm, &of_device(0)), "its answer proves it");
        assert!(!read(Work::Output, CacheState::Warm, &of_device(0)));
        assert!(!read(Work::Output, CacheState::Warm, &of_device(1_000_000)), "that is of the device alone");
        assert!(!read(Work::Output, CacheState::Cold, &of_device(131_072)));
        assert!(read(Work::Output, CacheState::Cold, &of_device(990_000)));
        let turn = TurnSeen { delivered: Some(Delivered::Calls), ..TurnSeen::default() };
        assert!(read(Work::Output, CacheState::Warm, &Sample { turn, ..of_device(0) }));
    }
}
