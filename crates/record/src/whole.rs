//! Decides whether the readings of a trial read the whole target, so that size divided by time is a
//! rate. Most trials prove this by their answer. The output of a command that is not counted proves
//! nothing: the command may have stopped after the first lines, and counts of bytes or faults do
//! not distinguish the file from a pipe, a library, or the same part read twice. For a cold
//! reading, the share of the file in the page cache afterwards shows what was read. Warm, the same
//! command reads the same bytes.

use super::{Record, TrialRecord};
use readlab_model::sample::{Delivered, Sample};
use readlab_model::target::TargetFacts;
use readlab_model::target::cold_bytes::least_fetched;
use readlab_model::trial::{CacheState, Work};

/// Smallest share of the target that must be in the cache afterwards.
const RESIDENT_MIN: f64 = 0.99;

/// The kernel has read ahead at most this many windows beyond the point where reading ended.
const READ_AHEAD_WINDOWS_MAX: u64 = 2;

/// Read-ahead alone may account for at most one part in this many of the target's bytes.
const READ_AHEAD_PART: u64 = 50;

impl Record {
    /// The target of a trial if all its readings are known to have read the whole target.
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
    /// True if each cold reading took the whole target from the device and left it in the cache.
    /// For several simultaneous readers it is not known which of them did so.
    fn filled_cache(&self, target: &TargetFacts) -> bool {
        let is_filled = |sample: &Sample| {
            sample.resident_after.is_some_and(|share| share >= RESIDENT_MIN)
                && came_from_device(sample, target)
        };
        target.together().is_none_or(|readers| readers == 1)
            && target.places().is_none()
            && !self.samples.is_empty()
            && self.samples.iter().all(|sample| is_filled(&sample) && exceeds_read_ahead(&sample, target))
    }
}

fn came_from_device(sample: &Sample, target: &TargetFacts) -> bool {
    let least = target.expected_device_bytes().map(least_fetched).filter(|&bytes| bytes > 0);
    least.is_some_and(|least| sample.device_read_bytes.is_some_and(|bytes| bytes >= least))
}

/// True if the kernel's read-ahead alone cannot have filled the cache for a command that stopped
/// early: the target is large compared to the read-ahead, or as many bytes passed through read
/// calls.
fn exceeds_read_ahead(sample: &Sample, target: &TargetFacts) -> bool {
    let files = target.tree().map_or(1, |tree| tree.files);
    let window = target.read_ahead();
    let unasked_bytes =
        window.map(|window| window.bytes.saturating_mul(READ_AHEAD_WINDOWS_MAX).saturating_mul(files));
    unasked_bytes.is_some_and(|bytes| bytes <= target.size_bytes / READ_AHEAD_PART)
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

    /// Adds a cold and a warm trial of one command, with one reading each, on a target with a
    /// read-ahead of 128 KiB; returns for each whether its rate is known.
    fn rates_known(name: &str, facts: TargetFacts, cold: Sample, warm: Sample) -> [bool; 2] {
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

    /// A target whose file system has a larger read-ahead than its device.
    fn of_btrfs(size_bytes: u64) -> TargetFacts {
        let own = ReadAhead { bytes: 4 * MIB, setting: "bdi/read_ahead_kb".into() };
        TargetFacts { own_read_ahead: Some(own), ..file(size_bytes) }
    }

    fn sample_leaving(share: f64, device_bytes: u64, delivered: Option<Delivered>) -> Sample {
        let turn = TurnSeen { delivered, ..TurnSeen::default() };
        let (resident_after, device_read_bytes) = (Some(share), Some(device_bytes));
        Sample { resident_after, device_read_bytes, turn, ..Sample::default() }
    }

    #[test]
    fn a_command_has_a_rate_only_if_it_filled_an_empty_cache() {
        let (calls, faults) = (Some(Delivered::Calls), Some(Delivered::Faults));
        let (large, small) = (64 * MIB, MIB);
        let warm = |delivered| sample_leaving(1.0, 0, delivered);
        let cases = [
            ("sha256sum {}", file(large), sample_leaving(1.0, large, calls), warm(calls), true),
            ("rg -c x {}", file(large), sample_leaving(1.0, large, None), warm(faults), true),
            ("cat {} | sha256sum", file(large), sample_leaving(1.0, large, calls), warm(calls), true),
            ("sha256sum {}", file(small), sample_leaving(1.0, small, calls), warm(calls), true),
            (
                "sha256sum {}/*",
                folder(16 * MIB, 1_000),
                sample_leaving(1.0, 16 * MIB, calls),
                warm(None),
                true,
            ),
            ("rg x {}", folder(640 * MIB, 10), sample_leaving(1.0, 640 * MIB, None), warm(None), true),
            // Commands that read only a part, whichever bytes went through calls, pipes or faults.
            ("head -c 34M {}", file(large), sample_leaving(0.53, 34 * MIB, calls), warm(calls), false),
            ("head -c 34M {} twice", file(large), sample_leaving(0.53, 34 * MIB, calls), warm(calls), false),
            ("part, other file", file(large), sample_leaving(0.53, large, calls), warm(calls), false),
            ("head -n 10 {}", file(small), sample_leaving(0.12, 131_072, faults), warm(faults), false),
            ("wc -c {}", file(small), sample_leaving(0.0, 0, faults), warm(faults), false),
            ("find {} | wc -l", folder(16 * MIB, 18), sample_leaving(0.0, 0, calls), warm(calls), false),
            (
                "grep --include=*.t x {}",
                folder(16 * MIB, 18),
                sample_leaving(0.25, 4 * MIB, None),
                warm(faults),
                false,
            ),
            // Read-ahead alone fills the cache with small files.
            ("head -n 1 {}", file(MIB / 10), sample_leaving(1.0, MIB / 10, faults), warm(faults), false),
            (
                "head -n 1 {}/*",
                folder(16 * MIB, 1_000),
                sample_leaving(1.0, 16 * MIB, None),
                warm(faults),
                false,
            ),
            ("head -n 1 {}", of_btrfs(16 * MIB), sample_leaving(1.0, 16 * MIB, faults), warm(faults), false),
            ("rg -c x {}", of_btrfs(640 * MIB), sample_leaving(1.0, 640 * MIB, None), warm(None), true),
            // Another process filled the cache.
            ("true", file(large), sample_leaving(1.0, 0, None), warm(None), false),
        ];
        for (name, facts, cold, warm, is_whole) in cases {
            assert_eq!(rates_known(&format!("command/{name}"), facts, cold, warm), [is_whole; 2], "{name}");
        }
    }

    #[test]
    fn a_rate_is_unknown_for_several_readers_and_unknown_residency() {
        let whole = || sample_leaving(1.0, 64 * MIB, Some(Delivered::Calls));
        let readers = TargetFacts { readers: Some(2), ..file(64 * MIB) };
        assert_eq!(rates_known("command/a", readers, whole(), whole()), [false; 2], "which of two read it");
        let unseen = Sample { resident_after: None, ..whole() };
        assert_eq!(rates_known("command/a", file(64 * MIB), unseen, whole()), [false; 2]);
    }
}
