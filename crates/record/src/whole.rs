//! Decides whether the readings of a trial read the whole target, or which part, because a rate
//! needs the number of bytes that were read. The answers of most trials prove that they read the
//! whole target. A command whose output is not counted proves nothing: the command may have stopped
//! after the first lines, and counts of bytes or faults do not distinguish the file from a pipe, a
//! library, or a part that is read twice. For a cold reading, the share of the file in the page
//! cache afterwards shows what was read. A warm reading of the same command reads the same bytes.
//! If only warm readings are measured, an untimed cold reading shows the share.

use super::{Record, Samples, Trial, TrialRecord};
use readlab_model::sample::{DeliveryMeter, Sample};
use readlab_model::target::cold_bytes::min_fetched_bytes;
use readlab_model::target::{TargetFacts, TargetIndex};
use readlab_model::trial::CacheState;

/// A reading that leaves at least this share of the target in the cache read the whole target.
const RESIDENT_SHARE_MIN: f64 = 0.99;

/// The kernel reads ahead at most this many read-ahead windows beyond the end of the last read.
const READ_AHEAD_WINDOWS_MAX: u64 = 2;

/// Read-ahead may add at most the number of read bytes divided by this.
const READ_AHEAD_DIVISOR: u64 = 50;

/// Largest number of bytes that a program fetches of its own files: its executable, libraries and
/// settings, which the kernel may have evicted.
pub const PROGRAM_FILES_BYTES_MAX: u64 = 1 << 20;

/// The part of the target that is read by a command whose output is not counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartRead {
    /// The share of the target, 0 to 1: the median share that cold readings brought into an empty
    /// cache, including the kernel's read-ahead.
    pub share: f64,
    /// Number of bytes that a reading of the trial reads; `None` if the number may be smaller than
    /// the share suggests: a warm reading reads nothing ahead, and most of a small part may be
    /// read-ahead.
    pub bytes: Option<u64>,
}

impl Record {
    /// The target of a trial if all its readings are known to have read the whole target.
    pub fn wholly_read_target(&self, it: &TrialRecord) -> Option<&TargetFacts> {
        // A walk that finds names reads no file.
        let target = self.target_of(&it.trial).filter(|_| !it.trial.work.finds_names())?;
        let is_known = || self.cold_readings_like(it).any(|cold| have_filled_cache(cold, target));
        (!it.trial.work.may_read_part() || is_known()).then_some(target)
    }

    /// The part of the target that is read by a command whose output is not counted; `None` if no
    /// reading shows the part, and for trials that are known to read the whole target.
    pub fn part_read(&self, it: &TrialRecord) -> Option<PartRead> {
        let is_asked =
            it.trial.work.may_read_part() && !it.trial.is_control() && it.trial.decoded_format.is_none();
        let target = self.target_of(&it.trial).filter(|_| is_asked)?;
        if self.wholly_read_target(it).is_some() {
            return None;
        }
        let share = self.cold_readings_like(it).find_map(|cold| median_share_brought_in(cold, target))?;
        let bytes = (share * target.size_bytes as f64) as u64;
        let is_exact = it.trial.state == CacheState::Cold || is_beyond_read_ahead(bytes, target);
        Some(PartRead { share, bytes: (bytes > 0 && is_exact).then_some(bytes) })
    }

    /// Bytes of the target that one reading reads, by all its readers together; `None` if that is
    /// not known.
    pub fn bytes_in(&self, it: &TrialRecord) -> Option<u64> {
        self.bytes_read(it, Trial::bytes_in)
    }

    /// Bytes that one reading delivers, by all its readers together, from which rates are computed;
    /// `None` if that is not known.
    pub fn bytes_out(&self, it: &TrialRecord) -> Option<u64> {
        let is_known = self.target_of(&it.trial).is_some_and(|target| it.trial.is_delivery_known(target));
        self.bytes_read(it, Trial::bytes_out).filter(|_| is_known)
    }

    fn bytes_read(&self, it: &TrialRecord, of_whole: fn(&Trial, &TargetFacts) -> u64) -> Option<u64> {
        match self.wholly_read_target(it) {
            Some(target) => Some(of_whole(&it.trial, target)),
            None => self.part_read(it)?.bytes,
        }
    }

    /// The number of the target that differs from this one only in having no bound on memory;
    /// `None` if this one has no bound.
    pub fn unbounded_target(&self, target: TargetIndex) -> Option<TargetIndex> {
        let bounded = self.targets.get(target).filter(|facts| facts.memory_bound.is_some())?;
        let unbounded = TargetFacts { memory_bound: None, ..bounded.clone() };
        self.targets.numbered().find(|(_, facts)| **facts == unbounded).map(|(index, _)| index)
    }

    /// The cold readings that show what a trial reads: those of the trial itself if it is cold;
    /// otherwise those of the cold trial of the same command without a bound on memory; or the
    /// untimed cold reading of the trial.
    fn cold_readings_like<'a>(&'a self, it: &'a TrialRecord) -> impl Iterator<Item = &'a Samples> {
        let target = self.unbounded_target(it.trial.target).unwrap_or(it.trial.target);
        let own = Trial { target, ..it.trial.clone() };
        let cold_readings = move |like: &'a TrialRecord| {
            let is_cold = like.trial.state == CacheState::Cold;
            let is_its_own = it.trial.state != CacheState::Cold || like.trial.index == it.trial.index;
            let readings = if is_cold { &like.samples } else { &like.cold_probe };
            (is_its_own && like.trial.reads_like(&own)).then_some(readings)
        };
        self.trials.iter().filter_map(cold_readings)
    }
}

/// True if each cold reading took the whole target from the device, and one of them left it in the
/// cache: the kernel may drop pages at any time. False for several simultaneous readers, because
/// nothing shows which of them did so.
fn have_filled_cache(readings: &Samples, target: &TargetFacts) -> bool {
    let is_left = |sample: Sample| sample.resident_after.is_some_and(|share| share >= RESIDENT_SHARE_MIN);
    target.concurrent_readers().is_none_or(|readers| readers == 1)
        && target.blocks().is_none()
        && readings.iter().any(is_left)
        && readings.iter().all(|sample| came_from_device(&sample, target))
        && readings.iter().all(|sample| exceeds_read_ahead(&sample, target))
}

/// The median share of the target that cold readings brought into the cache; `None` for several
/// simultaneous readers, and if a reading fetched more than the readings whose share is known.
fn median_share_brought_in(readings: &Samples, target: &TargetFacts) -> Option<f64> {
    let is_shown =
        target.concurrent_readers().is_none_or(|readers| readers == 1) && target.blocks().is_none();
    // A command that once fetched nothing into an empty cache reads nothing of the target. What the
    // command fetched another time was its own files, which the kernel had evicted.
    let fetched_nothing = |it: Sample| it.resident_after == Some(0.0) && it.device_read_bytes == Some(0);
    let reads_nothing = readings.iter().any(fetched_nothing);
    let samples = readings.iter().filter(|_| is_shown);
    let mut shares: Vec<f64> =
        samples.filter_map(|sample| share_brought_in(&sample, target, reads_nothing)).collect();
    shares.sort_by(f64::total_cmp);
    // A reading that fetched as much as another one left in the cache may have lost pages.
    let most = *shares.last()?;
    let is_alike = |sample: Sample| {
        let kept = Sample { resident_after: sample.resident_after.and(Some(most)), ..sample };
        share_brought_in(&kept, target, reads_nothing).is_some()
    };
    readings.iter().all(is_alike).then(|| shares[shares.len() / 2])
}

/// The share of the target that a cold reading left in the cache; `None` if the share is an
/// estimate, or if more bytes came from the device than stayed in the cache, because some bypassed
/// it or were evicted.
fn share_brought_in(sample: &Sample, target: &TargetFacts, reads_nothing: bool) -> Option<f64> {
    let share = sample.resident_after.filter(|_| !sample.resident_is_estimate)?;
    let left = share * target.size_bytes as f64;
    let programs_bytes = if share > 0.0 || reads_nothing { PROGRAM_FILES_BYTES_MAX } else { 0 };
    let has_stayed = |fetched: u64| fetched <= (left * 1.01) as u64 + programs_bytes;
    sample.device_read_bytes.is_none_or(has_stayed).then_some(share)
}

fn came_from_device(sample: &Sample, target: &TargetFacts) -> bool {
    let least = target.expected_device_bytes().map(min_fetched_bytes).filter(|&bytes| bytes > 0);
    least.is_some_and(|least| sample.device_read_bytes.is_some_and(|bytes| bytes >= least))
}

/// True if the kernel's read-ahead alone cannot have filled the cache for a command that stopped
/// early: the target is much larger than the read-ahead, or read calls delivered as many bytes.
fn exceeds_read_ahead(sample: &Sample, target: &TargetFacts) -> bool {
    is_beyond_read_ahead(target.size_bytes, target) || sample.turn.delivered == Some(DeliveryMeter::Calls)
}

/// True if this many bytes of a target are far more than the kernel's read-ahead can add to them.
fn is_beyond_read_ahead(bytes: u64, target: &TargetFacts) -> bool {
    let files = target.tree().map_or(1, |tree| tree.files);
    let window = target.read_ahead();
    let unasked_bytes =
        window.map(|window| window.bytes.saturating_mul(READ_AHEAD_WINDOWS_MAX).saturating_mul(files));
    unasked_bytes.is_some_and(|unasked| unasked <= bytes / READ_AHEAD_DIVISOR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Line, testing};
    use readlab_model::sample::TurnSeen;
    use readlab_model::target::TargetKind;
    use readlab_model::target::device::{Device, ReadAhead};
    use readlab_model::target::extents::Extents;
    use readlab_model::target::memory::MemoryFacts;
    use readlab_model::target::tree::TreeFacts;
    use readlab_model::trial::{TrialIndex, Work};
    use readlab_protocol::Cache;

    const MIB: u64 = 1 << 20;

    /// Adds a cold and a warm trial of one command, with one reading each, on a target with a
    /// read-ahead of 128 KiB; returns for each whether its rate is known.
    fn rates_known(name: &str, facts: TargetFacts, cold: Sample, warm: Sample) -> [bool; 2] {
        let record = record_of_command(name, facts, vec![cold], warm);
        [0, 1].map(|index| record.wholly_read_target(&record.trials[TrialIndex::new(index)]).is_some())
    }

    /// The parts that a cold and a warm trial of a command read.
    fn parts_read(facts: TargetFacts, cold: Sample) -> [Option<PartRead>; 2] {
        let record = record_of_command("command/head {}", facts, vec![cold], reading(1.0, 0, None));
        [0, 1].map(|index| record.part_read(&record.trials[TrialIndex::new(index)]))
    }

    fn record_of_command(name: &str, facts: TargetFacts, cold: Vec<Sample>, warm: Sample) -> Record {
        let mut record = Record::new(testing::header());
        let device = Device { read_ahead_bytes: Some(128 << 10), ..Device::default() };
        let extents = Some(Extents::default());
        record.add(testing::target_line(0, TargetFacts { device: Some(device), extents, ..facts }));
        for (state, readings) in [(CacheState::Cold, cold), (CacheState::Warm, vec![warm])] {
            let added = testing::add_trial(&mut record, name, state, Cache::Through, readings);
            record.trials[TrialIndex::new(added)].trial.work = Work::Output;
        }
        record
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
        let own = ReadAhead { bytes: 4 * MIB, setting_path: "bdi/read_ahead_kb".into() };
        TargetFacts { own_read_ahead: Some(own), ..file(size_bytes) }
    }

    /// A reading that left this share of the file in the cache.
    fn reading(share: f64, device_bytes: u64, delivered: Option<DeliveryMeter>) -> Sample {
        let turn = TurnSeen { delivered, ..TurnSeen::default() };
        let (resident_after, device_read_bytes) = (Some(share), Some(device_bytes));
        Sample { resident_after, device_read_bytes, turn, ..Sample::default() }
    }

    #[test]
    fn the_target_without_a_bound_is_found_by_its_other_facts() {
        let bound = "50%".parse().unwrap();
        let memory = MemoryFacts { bound, cache_bytes: 5, working_set_bytes: 10, is_shared: false };
        let mut record = Record::new(testing::header());
        record.targets =
            [file(9), file(10), TargetFacts { memory_bound: Some(memory), ..file(10) }].into_iter().collect();
        let targets = [0, 1, 2].map(TargetIndex::new);
        assert_eq!(targets.map(|target| record.unbounded_target(target)), [None, None, Some(targets[1])]);
    }

    #[test]
    fn a_command_has_a_rate_only_if_it_filled_an_empty_cache() {
        let (calls, faults) = (Some(DeliveryMeter::Calls), Some(DeliveryMeter::Faults));
        let (large, small) = (64 * MIB, MIB);
        let warm = |delivered| reading(1.0, 0, delivered);
        let cases = [
            ("sha256sum {}", file(large), reading(1.0, large, calls), warm(calls), true),
            ("rg -c x {}", file(large), reading(1.0, large, None), warm(faults), true),
            ("cat {} | sha256sum", file(large), reading(1.0, large, calls), warm(calls), true),
            ("sha256sum {}", file(small), reading(1.0, small, calls), warm(calls), true),
            ("sha256sum {}/*", folder(16 * MIB, 1_000), reading(1.0, 16 * MIB, calls), warm(None), true),
            ("rg x {}", folder(640 * MIB, 10), reading(1.0, 640 * MIB, None), warm(None), true),
            // Commands that read only a part, whether the bytes came through read calls, pipes or
            // page faults.
            ("head -c 34M {}", file(large), reading(0.53, 34 * MIB, calls), warm(calls), false),
            ("head -c 34M {} twice", file(large), reading(0.53, 34 * MIB, calls), warm(calls), false),
            ("part, other file", file(large), reading(0.53, large, calls), warm(calls), false),
            ("head -n 10 {}", file(small), reading(0.12, 131_072, faults), warm(faults), false),
            ("wc -c {}", file(small), reading(0.0, 0, faults), warm(faults), false),
            ("find {} | wc -l", folder(16 * MIB, 18), reading(0.0, 0, calls), warm(calls), false),
            (
                "grep --include=*.t x {}",
                folder(16 * MIB, 18),
                reading(0.25, 4 * MIB, None),
                warm(faults),
                false,
            ),
            // Read-ahead alone fills the cache with small files.
            ("head -n 1 {}", file(MIB / 10), reading(1.0, MIB / 10, faults), warm(faults), false),
            ("head -n 1 {}/*", folder(16 * MIB, 1_000), reading(1.0, 16 * MIB, None), warm(faults), false),
            ("head -n 1 {}", of_btrfs(16 * MIB), reading(1.0, 16 * MIB, faults), warm(faults), false),
            ("rg -c x {}", of_btrfs(640 * MIB), reading(1.0, 640 * MIB, None), warm(None), true),
            // Another process filled the cache.
            ("true", file(large), reading(1.0, 0, None), warm(None), false),
        ];
        for (name, facts, cold, warm, is_whole) in cases {
            assert_eq!(rates_known(&format!("command/{name}"), facts, cold, warm), [is_whole; 2], "{name}");
        }
    }

    #[test]
    fn a_part_is_the_share_that_was_cached_and_small_parts_have_no_warm_rate() {
        let of_half = |share| Some(PartRead { share, bytes: Some(32 * MIB) });
        assert_eq!(parts_read(file(64 * MIB), reading(0.5, 32 * MIB, None)), [of_half(0.5); 2]);
        // A cold reading of the first line brings a window of read-ahead into the cache. A warm one
        // reads a page.
        let [cold, warm] = parts_read(file(8 * MIB), reading(1.0 / 64.0, MIB / 8, None));
        assert_eq!(cold.unwrap(), PartRead { share: 1.0 / 64.0, bytes: Some(MIB / 8) });
        assert_eq!(warm.unwrap(), PartRead { share: 1.0 / 64.0, bytes: None });
        let nothing = Some(PartRead { share: 0.0, bytes: None });
        assert_eq!(parts_read(file(MIB), reading(0.0, 0, None)), [nothing; 2], "wc -c");
        assert_eq!(
            parts_read(file(64 * MIB), reading(1.0, 64 * MIB, Some(DeliveryMeter::Calls))),
            [None; 2],
            "the whole"
        );
    }

    #[test]
    fn where_only_warm_readings_are_measured_an_untimed_cold_one_shows_the_part() {
        let mut record =
            record_of_command("command/head {}", file(64 * MIB), Vec::new(), reading(1.0, 0, None));
        let warm = TrialIndex::new(1);
        let part = |record: &Record| record.part_read(&record.trials[warm]);
        assert_eq!(part(&record), None);
        record.add(Line::ColdProbe(Box::new(Sample { trial: warm, ..reading(0.5, 32 * MIB, None) })));
        assert_eq!(part(&record), Some(PartRead { share: 0.5, bytes: Some(32 * MIB) }));
        assert!(record.trials[warm].samples.len() == 1, "it is no sample of the trial");
        let whole = Sample { trial: warm, ..reading(1.0, 64 * MIB, Some(DeliveryMeter::Calls)) };
        record.trials[warm].cold_probe = [whole].into_iter().collect();
        assert!(record.wholly_read_target(&record.trials[warm]).is_some());
    }

    #[test]
    fn a_part_is_unknown_if_fetched_bytes_left_the_cache_or_pages_were_sampled() {
        for (cold, why) in [
            (reading(0.5, 64 * MIB, None), "half of it bypassed the cache, or was evicted"),
            (reading(0.0, 4096, None), "the fetched bytes are not in the cache"),
            (Sample { resident_is_estimate: true, ..reading(0.5, 32 * MIB, None) }, "an estimate"),
            (Sample { resident_after: None, ..reading(0.5, 32 * MIB, None) }, "residency is not known"),
        ] {
            assert_eq!(parts_read(file(64 * MIB), cold), [None; 2], "{why}");
        }
        let readers = TargetFacts { reader_count: Some(2), ..file(64 * MIB) };
        assert_eq!(parts_read(readers, reading(0.5, 32 * MIB, None)), [None; 2], "which of two read it");
    }

    #[test]
    fn a_reading_that_lost_pages_reads_what_another_one_left_in_the_cache() {
        let calls = Some(DeliveryMeter::Calls);
        let read = |cold: [Sample; 3]| {
            let record =
                record_of_command("command/a {}", file(64 * MIB), cold.to_vec(), reading(1.0, 0, None));
            let cold = &record.trials[TrialIndex::new(0)];
            (record.wholly_read_target(cold).is_some(), record.part_read(cold).map(|part| part.share))
        };
        let [whole, lost] = [1.0, 0.95].map(|share| reading(share, 64 * MIB, calls));
        assert_eq!(read([lost.clone(), whole.clone(), lost.clone()]), (true, None));
        assert_eq!(
            read([lost.clone(), lost.clone(), lost]),
            (false, None),
            "each may have read a part twice"
        );
        let part = reading(0.5, 32 * MIB, calls);
        assert!(!read([whole, part.clone(), part.clone()]).0, "one read a part");
        let lost = reading(0.4, 32 * MIB, calls);
        assert_eq!(read([part.clone(), lost, part.clone()]), (false, Some(0.5)));
        let more = reading(0.4, 60 * MIB, calls);
        assert_eq!(read([part.clone(), more, part]), (false, None), "more than the others");
    }

    #[test]
    fn a_command_that_once_fetched_nothing_reads_nothing_of_the_target() {
        let share_of = |cold: [&Sample; 2]| {
            let cold = cold.map(Sample::clone).to_vec();
            let record = record_of_command("command/stat {}", file(MIB), cold, reading(1.0, 0, None));
            [0, 1].map(|index| Some(record.part_read(&record.trials[TrialIndex::new(index)])?.share))
        };
        let (nothing, its_own_files) = (reading(0.0, 0, None), reading(0.0, 65_536, None));
        let more = reading(0.0, 2 * MIB, None);
        assert_eq!(share_of([&its_own_files, &nothing]), [Some(0.0); 2]);
        assert_eq!(share_of([&its_own_files; 2]), [None; 2], "each may have bypassed the cache");
        assert_eq!(share_of([&nothing, &more]), [None; 2], "more than a program's own files");
    }

    #[test]
    fn a_rate_is_unknown_for_several_readers_and_unknown_residency() {
        let whole = || reading(1.0, 64 * MIB, Some(DeliveryMeter::Calls));
        let readers = TargetFacts { reader_count: Some(2), ..file(64 * MIB) };
        assert_eq!(rates_known("command/a", readers, whole(), whole()), [false; 2], "which of two read it");
        let unseen = Sample { resident_after: None, ..whole() };
        assert_eq!(rates_known("command/a", file(64 * MIB), unseen, whole()), [false; 2]);
    }
}
