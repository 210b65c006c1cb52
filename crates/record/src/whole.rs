//! Whether the readings of a trial read all of its target, so that its size over their time is a
//! rate. Most prove it by their answer. The output of a command that is taken as it is proves
//! nothing: it may have stopped after the first lines, and no count of bytes or faults tells a file
//! from a pipe, from a library or from the same part once more. What it left in a cache that was
//! empty before shows what it read; warm, the same command reads the same bytes.

use super::{Record, TrialRecord};
use readlab_model::sample::{Delivered, Sample};
use readlab_model::target::TargetFacts;
use readlab_model::target::cold_bytes::least_fetched;
use readlab_model::trial::{CacheState, Work};

/// What must be in the cache afterwards.
const WHOLE_MIN: f64 = 0.99;

/// Behind where reading ended, the kernel has fetched so many windows of read-ahead at most.
const WINDOWS_MAX: u64 = 2;

/// Of the target's bytes, read-ahead alone may account for this part: one in so many.
const UNASKED_PART: u64 = 50;

impl Record {
    /// The target of a trial if all readings are known to have read all of it.
    pub fn read_whole(&self, it: &TrialRecord) -> Option<&TargetFacts> {
        let target = self.targets.get(it.trial.target)?;
        let is_known = || match it.trial.state {
            CacheState::Cold => it.filled_cache(target),
            _ => self.trials.iter().any(|cold| {
                let is_its_cold = cold.trial.state == CacheState::Cold && cold.trial.reads_like(&it.trial);
                is_its_cold && cold.filled_cache(target)
            }),
        };
        (it.trial.work != Work::Output || is_known()).then_some(target)
    }
}

impl TrialRecord {
    /// Whether each of its cold readings took all of the target from the device and left it in the
    /// cache. Of readers at the same time it is not known which of them did.
    fn filled_cache(&self, target: &TargetFacts) -> bool {
        let is_filled = |sample: &Sample| {
            sample.resident_after.is_some_and(|share| share >= WHOLE_MIN) && came_from_device(sample, target)
        };
        target.together().is_none_or(|readers| readers == 1)
            && target.places().is_none()
            && !self.samples.is_empty()
            && self.samples.iter().all(|sample| is_filled(&sample) && was_asked_for(&sample, target))
    }
}

fn came_from_device(sample: &Sample, target: &TargetFacts) -> bool {
    let least = target.expected_device_bytes().map(least_fetched).filter(|&bytes| bytes > 0);
    least.is_some_and(|least| sample.device_read_bytes.is_some_and(|bytes| bytes >= least))
}

/// Whether it is not the kernel's read-ahead that filled the cache for a command that stopped
/// early: the target is large beside what that fetches, or as many bytes passed through read calls.
fn was_asked_for(sample: &Sample, target: &TargetFacts) -> bool {
    let files = target.tree().map_or(1, |tree| tree.files);
    let window = target.read_ahead();
    let unasked_bytes = window.map(|window| window.bytes.saturating_mul(WINDOWS_MAX).saturating_mul(files));
    unasked_bytes.is_some_and(|bytes| bytes <= target.size_bytes / UNASKED_PART)
        || sample.turn.delivered == Some(Delivered::Calls)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Line, Trial, testing};
    use readlab_model::sample::TurnSeen;
    use readlab_model::target::TargetKind;
    use readlab_model::target::device::{Device, ReadAhead};
    use readlab_model::target::extents::Extents;
    use readlab_model::target::tree::TreeFacts;
    use readlab_model::trial::TrialIndex;
    use readlab_protocol::Cache;

    const MIB: u64 = 1 << 20;

    /// A cold and a warm trial of one command on a target with a read-ahead of 128 KiB, with one
    /// reading each: whether their rates are known.
    fn known(name: &str, facts: TargetFacts, cold: Sample, warm: Sample) -> [bool; 2] {
        let mut record = Record::new(testing::header());
        let device = Device { read_ahead_bytes: Some(128 << 10), ..Device::default() };
        let extents = Some(Extents::default());
        record.add(testing::target(0, TargetFacts { device: Some(device), extents, ..facts }));
        for (index, state) in [CacheState::Cold, CacheState::Warm].into_iter().enumerate() {
            let Line::Trial(line) = testing::trial(index, name, state, Cache::Through) else {
                panic!("a trial")
            };
            record.add(Line::Trial(Box::new(Trial { work: Work::Output, ..*line })));
        }
        for (index, sample) in [cold, warm].into_iter().enumerate() {
            record.add(Line::Sample(Box::new(Sample { trial: TrialIndex::new(index), ..sample })));
        }
        [0, 1].map(|index| record.read_whole(&record.trials[TrialIndex::new(index)]).is_some())
    }

    fn file(size_bytes: u64) -> TargetFacts {
        TargetFacts { size_bytes, ..TargetFacts::default() }
    }

    fn folder(size_bytes: u64, files: u64) -> TargetFacts {
        let tree = TreeFacts { files, ..TreeFacts::default() };
        TargetFacts { kind: TargetKind::Tree(tree), ..file(size_bytes) }
    }

    /// The file system reads ahead further than the device is set to.
    fn of_btrfs(size_bytes: u64) -> TargetFacts {
        let own = ReadAhead { bytes: 4 * MIB, setting: "bdi/read_ahead_kb".into() };
        TargetFacts { own_read_ahead: Some(own), ..file(size_bytes) }
    }

    fn left(share: f64, device_bytes: u64, delivered: Option<Delivered>) -> Sample {
        let turn = TurnSeen { delivered, ..TurnSeen::default() };
        let (resident_after, device_read_bytes) = (Some(share), Some(device_bytes));
        Sample { resident_after, device_read_bytes, turn, ..Sample::default() }
    }

    #[test]
    fn a_command_has_a_rate_where_it_filled_an_empty_cache_and_reading_less_does_not() {
        let (calls, faults) = (Some(Delivered::Calls), Some(Delivered::Faults));
        let (large, small) = (64 * MIB, MIB);
        let warm = |delivered| left(1.0, 0, delivered);
        let cases = [
            ("sha256sum {}", file(large), left(1.0, large, calls), warm(calls), true),
            ("rg -c x {}", file(large), left(1.0, large, None), warm(faults), true),
            ("cat {} | sha256sum", file(large), left(1.0, large, calls), warm(calls), true),
            ("sha256sum {}", file(small), left(1.0, small, calls), warm(calls), true),
            ("sha256sum {}/*", folder(16 * MIB, 1_000), left(1.0, 16 * MIB, calls), warm(None), true),
            ("rg x {}", folder(640 * MIB, 10), left(1.0, 640 * MIB, None), warm(None), true),
            // Parts: whatever went through calls, pipes or faults.
            ("head -c 34M {}", file(large), left(0.53, 34 * MIB, calls), warm(calls), false),
            ("head -c 34M {} twice", file(large), left(0.53, 34 * MIB, calls), warm(calls), false),
            ("part, other file", file(large), left(0.53, large, calls), warm(calls), false),
            ("head -n 10 {}", file(small), left(0.12, 131_072, faults), warm(faults), false),
            ("wc -c {}", file(small), left(0.0, 0, faults), warm(faults), false),
            ("find {} | wc -l", folder(16 * MIB, 18), left(0.0, 0, calls), warm(calls), false),
            ("grep --include=*.t x {}", folder(16 * MIB, 18), left(0.25, 4 * MIB, None), warm(faults), false),
            // Read-ahead alone fills the cache with small files.
            ("head -n 1 {}", file(MIB / 10), left(1.0, MIB / 10, faults), warm(faults), false),
            ("head -n 1 {}/*", folder(16 * MIB, 1_000), left(1.0, 16 * MIB, None), warm(faults), false),
            ("head -n 1 {}", of_btrfs(16 * MIB), left(1.0, 16 * MIB, faults), warm(faults), false),
            ("rg -c x {}", of_btrfs(640 * MIB), left(1.0, 640 * MIB, None), warm(None), true),
            // Somebody else filled it.
            ("true", file(large), left(1.0, 0, None), warm(None), false),
        ];
        for (name, facts, cold, warm, is_whole) in cases {
            assert_eq!(known(&format!("command/{name}"), facts, cold, warm), [is_whole; 2], "{name}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_not_known() {
        let whole = || left(1.0, 64 * MIB, Some(Delivered::Calls));
        let readers = TargetFacts { readers: Some(2), ..file(64 * MIB) };
        assert_eq!(known("command/a", readers, whole(), whole()), [false; 2], "which of two read it");
        let unseen = Sample { resident_after: None, ..whole() };
        assert_eq!(known("command/a", file(64 * MIB), unseen, whole()), [false; 2]);
    }
}
