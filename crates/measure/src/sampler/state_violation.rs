//! The rules for the cache state of a sample, by resident pages and by bytes from the device. A
//! broken rule gives a reason why the samples of a turn did not start from the cache state that
//! they claim; the turn is then repeated ([`crate::attempt`]).

use super::observed_turn::ObservedTurn;
use crate::interface::SampleError;
use crate::meters::MeterError;
use crate::next_layer::{LayerBytes, NextLayer};
use crate::residency::ResidencyProof;
use readlab_model::sample::Sample;
use readlab_model::target::cold_bytes::min_fetched_bytes;
use readlab_model::trial::CacheState;
use readlab_system::memory::page_bytes;

impl ObservedTurn<'_> {
    pub(super) fn check_state(&self, samples: &[Sample]) -> Result<(), SampleError> {
        self.state_violation(samples).map_or(Ok(()), |reason| Err(SampleError::Unproven(reason)))
    }

    /// Why these samples did not start from the cache state that they claim; `None` if they did.
    fn state_violation(&self, samples: &[Sample]) -> Option<String> {
        if self.trial.is_control() {
            return None;
        }
        if self.trial.work.finds_names() {
            return self.names_violation(samples);
        }
        if self.facts.size_bytes == 0 {
            return None;
        }
        match self.trial.state {
            CacheState::Warm => samples
                .iter()
                .find_map(|sample| self.warm_violation(sample))
                .or_else(|| self.arrival_violation(NextLayer::why_not_warm)),
            CacheState::Pressed => self
                .surroundings
                .pressed_violation()
                .or_else(|| samples.iter().find_map(|sample| self.missing_bytes_violation(sample))),
            CacheState::Unknown => None,
            CacheState::Cold => match &self.surroundings.before {
                // A method that bypasses the page cache is proven by its device bytes alone.
                Some(proof) if !proof.is_cold() && !self.trial.bypasses_cache() => {
                    Some(format!("{proof} before the reading"))
                }
                _ => self
                    .arrival_violation(NextLayer::why_not_cold)
                    .or_else(|| samples.iter().find_map(|sample| self.cold_violation(sample))),
            },
        }
    }

    /// Why samples that find names did not start from the cache state that they claim; `None` if
    /// they did. It is not known how many bytes a file system fetches for names, but a cold reading
    /// must fetch at least one byte, and a warm reading none.
    fn names_violation(&self, samples: &[Sample]) -> Option<String> {
        match self.trial.state {
            CacheState::Warm => samples.iter().find_map(|sample| self.warm_violation(sample)),
            // A bound on memory bounds no names.
            CacheState::Pressed | CacheState::Unknown => None,
            CacheState::Cold => match &self.surroundings.before {
                Some(proof) if !proof.is_cold() => Some(format!("{proof} before the reading")),
                None => Some("which names are in memory is not known".to_owned()),
                Some(_) => samples.iter().find_map(|sample| self.names_cold_violation(sample)),
            },
        }
    }

    fn names_cold_violation(&self, sample: &Sample) -> Option<String> {
        match sample.device_read_bytes {
            None => Some(
                "how many bytes came from the device cannot be read, and names leave no other trace".into(),
            ),
            Some(0) if self.facts.device.is_some() => {
                Some("no byte came from the device: what the folders list was still in memory".into())
            }
            Some(_) => None,
        }
    }

    /// Checks the bytes that arrived at the layer below, if they are counted; `why` returns a
    /// reason if their number contradicts the cache state.
    fn arrival_violation(
        &self,
        why: impl FnOnce(&NextLayer, u64, &LayerBytes) -> Option<String>,
    ) -> Option<String> {
        let below = self.surroundings.lower_layer.as_ref()?;
        let read_bytes = self.part_bytes().unwrap_or(self.facts.size_bytes);
        let size_bytes = read_bytes.saturating_mul(self.turn.reading_count());
        why(&below.layer, size_bytes, &below.bytes)
    }

    /// Bytes of the part of the target that was read, for trials that may read only a part, such as
    /// a user's own command: the bytes of the pages that the turn brought into the cache, or 0 if
    /// their number is an estimate. `None` if the part is not known, and for trials that read all
    /// bytes.
    fn part_bytes(&self) -> Option<u64> {
        let after =
            self.surroundings.after.filter(|_| self.may_read_part() && !self.trial.bypasses_cache())?;
        let part_bytes = if after.is_estimate() { 0 } else { after.resident_bytes() };
        Some(part_bytes.min(self.facts.size_bytes))
    }

    fn may_read_part(&self) -> bool {
        self.trial.work.may_read_part() && self.trial.state == CacheState::Cold
    }

    /// Smallest number of bytes that a cold reading must fetch from the device; `None` if that is
    /// not known. If only a part of a file with holes is read, all holes are assumed to be in the
    /// part.
    fn min_device_bytes(&self) -> Option<u64> {
        let whole_bytes = self.facts.expected_device_bytes()?;
        let Some(part_bytes) = self.part_bytes() else { return Some(whole_bytes) };
        let elsewhere_bytes = self.facts.size_bytes.saturating_sub(whole_bytes);
        Some(part_bytes.saturating_sub(elsewhere_bytes))
    }

    /// Checks that the bytes came from the device. The proof before the turn has shown already that
    /// no page was resident.
    fn cold_violation(&self, sample: &Sample) -> Option<String> {
        let expected_bytes = self.min_device_bytes().map(min_fetched_bytes);
        match (sample.device_read_bytes, expected_bytes) {
            (Some(device_bytes), Some(expected_bytes)) if device_bytes < expected_bytes => Some(format!(
                "only {device_bytes} bytes came from the device, at least {expected_bytes} were expected"
            )),
            (Some(_), Some(1..)) => None,
            // If no bytes are expected from the device, the only possible proof is that no page was
            // resident.
            (Some(_), _) => self.surroundings.before.filter(|proof| !proof.is_cold()).map(|proof| {
                format!("{proof} before the reading, and no meter shows where its bytes came from")
            }),
            (None, _) => self.unmetered_violation(),
        }
    }

    /// Checks, for a reading under a bound, that the bytes that were not in memory before came from
    /// the device. A contender that keeps the content itself, or does not read, fetches fewer
    /// bytes.
    fn missing_bytes_violation(&self, sample: &Sample) -> Option<String> {
        if self.trial.work.may_read_part() {
            return None;
        }
        let resident_bytes = self.surroundings.before?.resident_bytes();
        let absent_bytes = self.facts.expected_device_bytes()?.saturating_sub(resident_bytes);
        let expected_bytes = min_fetched_bytes(absent_bytes);
        match sample.device_read_bytes {
            Some(device_bytes) if device_bytes < expected_bytes => Some(format!(
                "only {device_bytes} bytes came from the device, and at least {expected_bytes} were not in memory"
            )),
            None if expected_bytes > 0 => Some(
                "how many bytes came from the device cannot be read, and a bound leaves no other trace"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    /// Checks a cold sample without a count of device bytes: pages that are read through the page
    /// cache are resident afterwards and were not before. A method that bypasses the page cache
    /// leaves no trace.
    fn unmetered_violation(&self) -> Option<String> {
        const NO_DEVICE_COUNT: &str = "how many bytes came from the device cannot be read";
        if self.trial.bypasses_cache() {
            return Some(format!(
                "{NO_DEVICE_COUNT}, and a method past the page cache leaves no other trace"
            ));
        }
        match &self.surroundings.after {
            Some(proof) if proof.resident_pages >= self.least_resident_pages(proof) => None,
            Some(_) if self.may_read_part() => None,
            Some(proof) => Some(format!(
                "{NO_DEVICE_COUNT}, and {proof} after the reading: it need not have read the file"
            )),
            None => Some(format!("{NO_DEVICE_COUNT}, nor what is in the cache after the reading")),
        }
    }

    /// Smallest number of resident pages after a reading through the page cache that read all its
    /// bytes. Blocks of a list may share pages. An estimate does not show which pages are resident,
    /// so after an estimate the number is that of a reading of the whole file.
    fn least_resident_pages(&self, after: &ResidencyProof) -> u64 {
        match self.facts.blocks() {
            Some(_) if !after.is_estimate() => {
                min_fetched_bytes(self.facts.useful_bytes().div_ceil(page_bytes()))
            }
            _ => min_fetched_bytes(after.checked_pages),
        }
    }

    /// Checks that every page was resident and nothing waited for the device.
    fn warm_violation(&self, sample: &Sample) -> Option<String> {
        for (when, proof) in [("before", &self.surroundings.before), ("after", &self.surroundings.after)] {
            if let Some(proof) = proof.as_ref().filter(|proof| !proof.is_warm()) {
                return Some(format!("{proof} {when} the reading"));
            }
        }
        if let Err(why) = &self.turn.metered.device_read_bytes
            && why.has_unseen_processes()
            && !self.facts.transport().has_server()
        {
            return Some(format!("how many bytes came from the device is not known: {why}"));
        }
        let metered = &self.turn.metered;
        let major_faults = whole_turn_count(sample.major_faults, &metered.major_faults);
        let device_bytes = whole_turn_count(sample.device_read_bytes, &metered.device_read_bytes);
        // Major faults do not count if no byte came from the device: the kernel also counts a fault
        // as major if it waited for another process that faulted on the same page.
        let is_from_memory = self.facts.device.is_some() && device_bytes == Some(0);
        match (major_faults.filter(|_| !is_from_memory), device_bytes) {
            // A contender that reads from a server does not map the file.
            (Some(faults), _) if faults > 0 && !self.facts.transport().has_server() => {
                Some(format!("{faults} page faults waited for the device"))
            }
            (_, Some(bytes)) if bytes > 0 => Some(format!("{bytes} bytes came from the device")),
            _ => None,
        }
    }
}

/// The meter's value for the whole turn; `None` if the sample has no value. The share in a sample
/// may be zero, for example of one page fault in ten readings.
fn whole_turn_count(of_sample: Option<u64>, metered: &Result<u64, MeterError>) -> Option<u64> {
    of_sample.map(|share| metered.as_ref().map_or(share, |&whole| whole.max(share)))
}

#[cfg(test)]
mod tests {
    use super::super::observed_turn::LowerLayerBytes;
    use super::super::pressed::PressedTurn;
    use super::super::testing::{Fixture, metered_turn, observed_turn, turn, unread_meters};
    use super::*;
    use crate::meters::MeterReadings;
    use crate::residency::ResidencyMeans;
    use crate::round::testing::{COLD, WARM};
    use readlab_model::target::TargetFacts;
    use readlab_model::target::device::Device;
    use readlab_model::target::extents::Extents;
    use readlab_model::target::places::RangesFacts;
    use readlab_model::trial::Work;
    use readlab_record::Trial;
    use readlab_system::process::FamilyError;
    use readlab_targets::target::filesystem::RemoteCounter;

    /// A turn that reads a file of ten pages, and one sample of that turn.
    struct TurnCase {
        work: Work,
        state: CacheState,
        /// Number of resident pages before and after the turn, out of `file_pages`.
        resident_pages: [u64; 2],
        file_pages: u64,
        readings: u32,
        sample: Sample,
        metered: MeterReadings,
        device: Option<Device>,
        extents: Option<Extents>,
        ranges: Option<RangesFacts>,
        /// Bytes that came over the network.
        network_bytes: Option<u64>,
        /// Whether a pressed turn has its bound.
        is_bounded: bool,
    }

    impl TurnCase {
        fn new(state: CacheState, pages: [u64; 2]) -> TurnCase {
            TurnCase {
                work: Work::Newlines,
                state,
                resident_pages: pages,
                file_pages: 10,
                readings: 1,
                sample: Sample::default(),
                metered: unread_meters(),
                device: None,
                extents: None,
                ranges: None,
                network_bytes: None,
                is_bounded: true,
            }
        }

        fn violation(self) -> Option<String> {
            let fixture = Fixture::remote_of_size(40_960);
            let trials = fixture.trials(&[("a", self.state)]);
            let observed = observed_turn(&trials, metered_turn(turn(Vec::new()), self.metered));
            let trial = Trial { work: self.work, ..observed.trial.clone() };
            let facts = TargetFacts {
                device: self.device,
                extents: self.extents,
                ranges: self.ranges,
                ..observed.facts.clone()
            };
            let mut observed = ObservedTurn { trial: &trial, facts: &facts, ..observed };
            observed.turn.request.count = self.readings;
            let (means, file_pages, pages) = (ResidencyMeans::Map, self.file_pages, 10);
            let proof = |resident| ResidencyProof {
                means,
                file_pages,
                checked_pages: pages,
                resident_pages: resident,
                dirty_pages: None,
            };
            [observed.surroundings.before, observed.surroundings.after] =
                self.resident_pages.map(|it| Some(proof(it)));
            observed.surroundings.pressed = self.is_bounded.then(PressedTurn::default);
            observed.surroundings.lower_layer = self.network_bytes.map(|bytes| LowerLayerBytes {
                layer: NextLayer::Remote { counter: RemoteCounter::Nfs, source: "nas:/x".to_owned() },
                bytes: LayerBytes { read_bytes: Ok(bytes), arrived_bytes: Ok(bytes) },
            });
            observed.state_violation(&[self.sample])
        }
    }

    fn violation(state: CacheState, pages: [u64; 2]) -> Option<String> {
        TurnCase::new(state, pages).violation()
    }

    /// The turn of a user's own command, on a plain file with `hole_bytes` bytes in holes.
    fn command_case(hole_bytes: u64, pages: [u64; 2], device_read_bytes: Option<u64>) -> TurnCase {
        let extents = Some(Extents { count: 1, hole_bytes, ..Extents::default() });
        let sample = Sample { device_read_bytes, ..Sample::default() };
        TurnCase { work: Work::Output, extents, sample, ..TurnCase::new(COLD, pages) }
    }

    #[test]
    fn an_estimate_of_pages_left_by_a_command_demands_no_bytes() {
        assert!(command_case(0, [0, 5], Some(0)).violation().is_some());
        assert_eq!(TurnCase { file_pages: 1000, ..command_case(0, [0, 5], Some(0)) }.violation(), None);
    }

    #[test]
    fn a_users_command_is_cold_by_the_pages_that_it_brought_into_the_cache() {
        for (hole_bytes, pages, device_bytes, why) in [
            (0, [0, 2], Some(8192), "the first two pages"),
            (0, [0, 0], Some(0), "it reads nothing of the content"),
            (20_480, [0, 5], Some(0), "the part may be a hole"),
            (0, [0, 2], None, "what it left was not there before"),
        ] {
            assert_eq!(command_case(hole_bytes, pages, device_bytes).violation(), None, "{why}");
        }
        let why = command_case(0, [0, 5], Some(4096)).violation().unwrap();
        assert_eq!(why, "only 4096 bytes came from the device, at least 20276 were expected");
        assert!(command_case(0, [1, 2], Some(8192)).violation().unwrap().contains("before the reading"));
        assert!(
            command_case(0, [0, 10], Some(8192)).violation().is_some(),
            "of the whole, the whole must come"
        );
        assert!(command_case(20_480, [0, 8], Some(0)).violation().is_some(), "that much is in no hole");
    }

    #[test]
    fn cold_ranges_that_no_meter_proves_leave_at_least_their_own_pages() {
        // The ranges cover one byte more than a page.
        let ranges = RangesFacts {
            list_path: String::new(),
            is_sorted: false,
            read_count: 10,
            shortest_bytes: 4096,
            longest_bytes: 4097,
            repeated_bytes: 40_960 - 4097,
            pages_bytes: 8192,
            file_bytes: 40_960,
        };
        let of = |pages, file_pages| {
            let ranges = Some(ranges.clone());
            TurnCase { ranges, file_pages, ..TurnCase::new(COLD, pages) }.violation()
        };
        assert_eq!(of([0, 2], 10), None);
        assert!(of([0, 1], 10).unwrap().contains("it need not have read the file"));
        assert!(of([1, 2], 10).unwrap().contains("before the reading"));
        assert!(of([0, 2], 1000).is_some(), "an estimate does not see which pages came");
        assert!(violation(COLD, [0, 2]).is_some(), "a whole file");
    }

    #[test]
    fn a_warm_sample_has_all_pages_resident_before_and_after_and_no_bytes_from_the_device() {
        assert_eq!(violation(WARM, [10, 10]), None);
        assert!(violation(WARM, [9, 10]).unwrap().contains("before the reading"));
        assert!(violation(WARM, [10, 9]).unwrap().contains("after the reading"));
        let of = |major_faults, device_read_bytes, device| {
            let sample = Sample { major_faults, device_read_bytes, ..Sample::default() };
            TurnCase { sample, device, ..TurnCase::new(WARM, [10, 10]) }.violation()
        };
        assert_eq!(of(Some(1), None, None).unwrap(), "1 page faults waited for the device");
        assert!(of(Some(1), Some(0), None).is_some(), "no device is known whose bytes count");
        assert_eq!(of(Some(1), Some(0), Some(Device::default())), None);
        assert_eq!(of(None, Some(512), None).unwrap(), "512 bytes came from the device");
    }

    #[test]
    fn one_page_fault_in_a_turn_is_judged_before_it_is_divided_by_readings() {
        let violation = |faults: u64, bytes: u64| {
            let metered =
                MeterReadings { major_faults: Ok(faults), device_read_bytes: Ok(bytes), ..unread_meters() };
            // Each of the ten readings has a tenth.
            let (major_faults, device_read_bytes) = (Some(faults / 10), Some(bytes / 10));
            let sample = Sample { major_faults, device_read_bytes, ..Sample::default() };
            TurnCase { readings: 10, metered, sample, ..TurnCase::new(WARM, [10, 10]) }.violation()
        };
        assert_eq!(violation(0, 0), None);
        assert_eq!(violation(1, 0).unwrap(), "1 page faults waited for the device");
        assert_eq!(violation(0, 9).unwrap(), "9 bytes came from the device");
    }

    #[test]
    fn a_warm_sample_of_processes_that_were_not_seen_is_not_proven() {
        let hidden = MeterError::from(FamilyError::NotListed("proc is mounted with hidepid".to_owned()));
        let metered = MeterReadings { device_read_bytes: Err(hidden), ..unread_meters() };
        let why = TurnCase { metered, ..TurnCase::new(WARM, [10, 10]) }.violation().unwrap();
        assert!(why.contains("the processes that it started are not visible: proc is mounted"), "{why}");
    }

    #[test]
    fn a_sample_of_a_network_file_is_judged_by_bytes_from_the_network() {
        let violation = |state, pages, bytes| {
            TurnCase { network_bytes: Some(bytes), ..TurnCase::new(state, pages) }.violation()
        };
        assert_eq!(violation(COLD, [0, 10], 40_960), None);
        let why = violation(COLD, [0, 10], 40_000).unwrap();
        assert_eq!(why, "40000 bytes of 40960 came over the network: the rest came from a cache");
        assert_eq!(violation(WARM, [10, 10], 0), None);
        let why = violation(WARM, [10, 10], 40_960).unwrap();
        assert!(why.contains("came over the network during the reading"), "{why}");
    }

    #[test]
    fn names_are_cold_if_none_was_cached_and_the_device_was_read_and_warm_otherwise() {
        let of = |state, pages, device_read_bytes| {
            let sample = Sample { device_read_bytes, ..Sample::default() };
            let device = Some(Device::default());
            TurnCase { work: Work::Stat, sample, device, ..TurnCase::new(state, pages) }.violation()
        };
        assert_eq!(of(COLD, [0, 3], Some(4096)), None, "a reading may leave any names in memory");
        assert!(of(COLD, [1, 3], Some(4096)).unwrap().contains("before the reading"));
        assert!(of(COLD, [0, 3], Some(0)).unwrap().contains("still in memory"));
        assert!(of(COLD, [0, 3], None).unwrap().contains("cannot be read"));
        assert_eq!(of(WARM, [10, 10], Some(0)), None);
        assert!(of(WARM, [9, 10], Some(0)).unwrap().contains("before the reading"));
        assert_eq!(of(WARM, [10, 10], Some(512)).unwrap(), "512 bytes came from the device");
    }

    #[test]
    fn a_pressed_sample_needs_the_proof_of_its_bound() {
        let unbounded = TurnCase { is_bounded: false, ..TurnCase::new(CacheState::Pressed, [5, 5]) };
        assert_eq!(unbounded.violation().unwrap(), "the pressed state was not made");
    }

    #[test]
    fn what_was_not_in_memory_before_a_pressed_reading_must_come_from_the_device() {
        let violation = |work, pages, device_read_bytes| {
            let extents = Some(Extents { count: 1, ..Extents::default() });
            let sample = Sample { device_read_bytes, ..Sample::default() };
            TurnCase { work, extents, sample, ..TurnCase::new(CacheState::Pressed, pages) }.violation()
        };
        let whole = Work::Newlines;
        assert_eq!(violation(whole, [5, 5], Some(20_480)), None);
        assert_eq!(violation(whole, [10, 10], Some(0)), None);
        assert_eq!(violation(whole, [0, 0], Some(40_960)), None, "past the page cache");
        assert!(violation(whole, [5, 5], Some(10_000)).unwrap().starts_with("only 10000 bytes came from"));
        assert!(violation(whole, [0, 0], Some(0)).unwrap().ends_with("were not in memory"));
        assert!(violation(whole, [5, 5], None).unwrap().starts_with("how many bytes came from the device"));
        assert_eq!(violation(Work::Output, [0, 0], Some(0)), None, "it may read a part");
    }

    #[test]
    fn a_cold_sample_without_a_count_of_the_device_must_leave_the_file_in_the_cache() {
        assert_eq!(violation(COLD, [0, 10]), None);
        assert!(violation(COLD, [1, 10]).unwrap().contains("before the reading"));
        assert!(violation(COLD, [0, 5]).unwrap().contains("it need not have read the file"));
    }
}
