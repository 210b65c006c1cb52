//! Reasons why the samples of a turn did not start from the state that they claim: pages that were
//! or were not resident, bytes that did or did not come from the device. Such a turn is repeated
//! ([`crate::attempt`]).

use super::observed_turn::ObservedTurn;
use crate::interface::SampleError;
use crate::meters::Missing;
use crate::next_layer::{LayerBytes, NextLayer};
use readlab_model::sample::Sample;
use readlab_model::target::cold_bytes::least_fetched;
use readlab_model::trial::{CacheState, Work};
use readlab_system::memory::page_bytes;

impl ObservedTurn<'_> {
    /// Checks that these samples started from the state that they claim.
    pub(super) fn check_state(&self, samples: &[Sample]) -> Result<(), SampleError> {
        self.state_violation(samples).map_or(Ok(()), |reason| Err(SampleError::Unproven(reason)))
    }

    /// Why these samples did not start from the state that they claim; `None` if they did.
    fn state_violation(&self, samples: &[Sample]) -> Option<String> {
        if self.trial.is_control() || self.facts.size_bytes == 0 {
            return None;
        }
        match self.trial.state {
            CacheState::Warm => samples
                .iter()
                .find_map(|sample| self.warm_violation(sample))
                .or_else(|| self.arrival_violation(NextLayer::too_much)),
            CacheState::Unknown => None,
            CacheState::Cold => match &self.before {
                // A method past the page cache is proven by its bytes alone.
                Some(proof) if !proof.is_cold() && !self.trial.bypasses_cache() => {
                    Some(format!("{proof} before the reading"))
                }
                _ => self
                    .arrival_violation(NextLayer::too_little)
                    .or_else(|| samples.iter().find_map(|sample| self.cold_violation(sample))),
            },
        }
    }

    /// Checks that as many bytes arrived at the layer below as belong to the state, where that
    /// counts them.
    fn arrival_violation(
        &self,
        why: impl FnOnce(&NextLayer, u64, &LayerBytes) -> Option<String>,
    ) -> Option<String> {
        let below = self.below.as_ref()?;
        let read_bytes = self.part_bytes().unwrap_or(self.facts.size_bytes);
        let size_bytes = read_bytes.saturating_mul(self.turn.readings());
        why(&below.layer, size_bytes, &below.bytes)
    }

    /// The bytes of the part that was read, where a part may do: what a command as it is reads is
    /// its own affair. It is what the turn has brought into the cache, of which an estimate shows
    /// nothing for certain; `None` where that is not known, and for trials that read all.
    fn part_bytes(&self) -> Option<u64> {
        let after = self.after.filter(|_| self.reads_part() && !self.trial.bypasses_cache())?;
        let pages = if after.is_estimate() { 0 } else { after.resident };
        Some(pages.saturating_mul(page_bytes()).min(self.facts.size_bytes))
    }

    fn reads_part(&self) -> bool {
        self.trial.work == Work::Output && self.trial.state == CacheState::Cold
    }

    /// The least that a cold reading must fetch from the device; `None` where that is not known. Of
    /// a part that may lie in holes, only what cannot.
    fn expected_bytes(&self) -> Option<u64> {
        let whole_bytes = self.facts.expected_device_bytes()?;
        let Some(part_bytes) = self.part_bytes() else { return Some(whole_bytes) };
        let elsewhere_bytes = self.facts.size_bytes.saturating_sub(whole_bytes);
        Some(part_bytes.saturating_sub(elsewhere_bytes))
    }

    /// Checks that the bytes came from the device. That nothing was resident was proven before the
    /// turn.
    fn cold_violation(&self, sample: &Sample) -> Option<String> {
        let expected_bytes = self.expected_bytes().map(least_fetched);
        match (sample.device_read_bytes, expected_bytes) {
            (Some(device_bytes), Some(expected_bytes)) if device_bytes < expected_bytes => Some(format!(
                "only {device_bytes} bytes came from the device, at least {expected_bytes} were expected"
            )),
            (Some(_), Some(1..)) => None,
            // No bytes can be expected: all that can be proven is that nothing was resident.
            (Some(_), _) => self.before.filter(|proof| !proof.is_cold()).map(|proof| {
                format!("{proof} before the reading, and no meter shows where its bytes came from")
            }),
            (None, _) => self.unmetered_violation(),
        }
    }

    /// Checks a cold sample without a count of device bytes: what is read through the page cache is
    /// resident afterwards and was not before. A method past the page cache leaves no trace.
    fn unmetered_violation(&self) -> Option<String> {
        const UNKNOWN: &str = "how many bytes came from the device cannot be read";
        if self.trial.bypasses_cache() {
            return Some(format!("{UNKNOWN}, and a method past the page cache leaves no other trace"));
        }
        match &self.after {
            Some(proof) if proof.resident >= least_fetched(proof.pages) => None,
            Some(_) if self.reads_part() => None,
            Some(proof) => {
                Some(format!("{UNKNOWN}, and {proof} after the reading: it need not have read the file"))
            }
            None => Some(format!("{UNKNOWN}, nor what is in the cache after the reading")),
        }
    }

    /// Checks that everything was resident and nothing waited for the device.
    fn warm_violation(&self, sample: &Sample) -> Option<String> {
        for (when, proof) in [("before", &self.before), ("after", &self.after)] {
            if let Some(proof) = proof.as_ref().filter(|proof| !proof.is_warm()) {
                return Some(format!("{proof} {when} the reading"));
            }
        }
        if let Err(why) = &self.turn.metered.device_read_bytes
            && why.is_of_family()
            && !self.facts.transport().has_server()
        {
            return Some(format!("how many bytes came from the device is not known: {why}"));
        }
        let metered = &self.turn.metered;
        let major_faults = of_turn(sample.major_faults, &metered.major_faults);
        let device_bytes = of_turn(sample.device_read_bytes, &metered.device_read_bytes);
        // The kernel counts a fault as major, too, that waited for another process at its page.
        let is_from_memory = self.facts.device.is_some() && device_bytes == Some(0);
        match (major_faults.filter(|_| !is_from_memory), device_bytes) {
            // A contender that reads from a server maps nothing of the file.
            (Some(faults), _) if faults > 0 && !self.facts.transport().has_server() => {
                Some(format!("{faults} page faults waited for the device"))
            }
            (_, Some(bytes)) if bytes > 0 => Some(format!("{bytes} bytes came from the device")),
            _ => None,
        }
    }
}

/// What a meter shows of the whole turn, where a sample has its share of that: one fault among ten
/// readings is none of each.
fn of_turn(of_sample: Option<u64>, metered: &Result<u64, Missing>) -> Option<u64> {
    of_sample.map(|share| metered.as_ref().map_or(share, |&whole| whole.max(share)))
}

#[cfg(test)]
mod tests {
    use super::super::observed_turn::{LowerLayerBytes, MeteredTurn};
    use super::super::testing::{Fixture, metered};
    use super::*;
    use crate::meters::{Metered, Missing};
    use crate::residency::{Means, ResidencyProof};
    use crate::round::testing::{COLD, WARM};
    use readlab_model::target::TargetFacts;
    use readlab_model::target::device::Device;
    use readlab_model::target::extents::Extents;
    use readlab_model::trial::TrialIndex;
    use readlab_protocol::TurnRequest;
    use readlab_record::Trial;
    use readlab_roster::session::Turn;
    use readlab_system::process::FamilyError;

    fn resident(resident: u64) -> Option<ResidencyProof> {
        Some(ResidencyProof { means: Means::Mincore, file_pages: 10, pages: 10, resident, dirty: None })
    }

    /// Why a sample is not one of this state, with so many of ten pages resident before and after.
    fn violation(state: CacheState, pages: [u64; 2], sample: &Sample) -> Option<String> {
        violation_on(None, state, pages, sample)
    }

    /// The same of a file on this device.
    fn violation_on(
        device: Option<Device>,
        state: CacheState,
        pages: [u64; 2],
        sample: &Sample,
    ) -> Option<String> {
        violation_below(device, state, pages, sample, None)
    }

    /// The same where so many bytes came over the network.
    fn violation_below(
        device: Option<Device>,
        state: CacheState,
        pages: [u64; 2],
        sample: &Sample,
        arrived: Option<u64>,
    ) -> Option<String> {
        let meters = Meters { metered: metered(), device, arrived };
        violation_metered(meters, state, pages, sample)
    }

    /// What was counted besides the sample.
    struct Meters {
        metered: Metered,
        device: Option<Device>,
        arrived: Option<u64>,
    }

    /// The same of a turn around which this was metered.
    fn violation_metered(
        meters: Meters,
        state: CacheState,
        pages: [u64; 2],
        sample: &Sample,
    ) -> Option<String> {
        let Meters { metered, device, arrived } = meters;
        let below = arrived.map(|bytes| LowerLayerBytes {
            layer: NextLayer::Nfs { source: "nas:/x".to_owned() },
            bytes: LayerBytes { read: Ok(bytes), arrived: Ok(bytes) },
        });
        let fixture = Fixture::of_size(40_960);
        let trials = fixture.trials(&[("a", state)]);
        let facts = TargetFacts { device, ..trials.facts(TrialIndex::new(0)).clone() };
        let mut observed = observed(trials.trial(TrialIndex::new(0)), &facts, pages, below);
        observed.turn.metered = metered;
        observed.state_violation(std::slice::from_ref(sample))
    }

    /// A turn of one reading.
    fn observed<'t>(
        trial: &'t Trial,
        facts: &'t TargetFacts,
        pages: [u64; 2],
        below: Option<LowerLayerBytes>,
    ) -> ObservedTurn<'t> {
        let answer = Turn { samples: Vec::new(), counts: Vec::new(), latencies: None, seen_ns: 1 };
        ObservedTurn {
            trial,
            facts,
            turn: MeteredTurn {
                request: TurnRequest { lead: 0, count: 1 },
                began_ns: 0,
                answer,
                metered: metered(),
            },
            before: resident(pages[0]),
            after: resident(pages[1]),
            below,
            device_busy: None,
        }
    }

    /// The same of a command as it is, of a plain file of ten pages with so many bytes in holes.
    fn violation_of_command(hole_bytes: u64, pages: [u64; 2], device_bytes: Option<u64>) -> Option<String> {
        let fixture = Fixture::of_size(40_960);
        let trials = fixture.trials(&[("a", COLD)]);
        let trial = Trial { work: Work::Output, ..trials.trial(TrialIndex::new(0)).clone() };
        let extents = Extents { count: 1, hole_bytes, ..Extents::default() };
        let facts = TargetFacts { extents: Some(extents), ..trials.facts(TrialIndex::new(0)).clone() };
        let sample = Sample { device_read_bytes: device_bytes, ..Sample::default() };
        observed(&trial, &facts, pages, None).state_violation(std::slice::from_ref(&sample))
    }

    #[test]
    fn an_estimate_of_what_a_command_left_asks_for_no_bytes() {
        let fixture = Fixture::of_size(40_960);
        let trials = fixture.trials(&[("a", COLD)]);
        let trial = Trial { work: Work::Output, ..trials.trial(TrialIndex::new(0)).clone() };
        let facts =
            TargetFacts { extents: Some(Extents::default()), ..trials.facts(TrialIndex::new(0)).clone() };
        let sample = Sample { device_read_bytes: Some(0), ..Sample::default() };
        let mut turn = observed(&trial, &facts, [0, 5], None);
        assert!(turn.state_violation(std::slice::from_ref(&sample)).is_some());
        turn.after = turn.after.map(|proof| ResidencyProof { file_pages: 1000, ..proof });
        assert_eq!(turn.state_violation(std::slice::from_ref(&sample)), None);
    }

    #[test]
    fn a_command_as_it_is_is_cold_by_the_part_that_it_brought_into_the_cache() {
        let of = |pages, bytes| violation_of_command(0, pages, Some(bytes));
        assert_eq!(of([0, 2], 8192), None, "the first two pages");
        assert_eq!(of([0, 0], 0), None, "it reads nothing of the content");
        let why = of([0, 5], 4096).unwrap();
        assert_eq!(why, "only 4096 bytes came from the device, at least 20276 were expected");
        assert!(of([1, 2], 8192).unwrap().contains("before the reading"));
        assert!(of([0, 10], 8192).is_some(), "of the whole, the whole must come");
        assert_eq!(violation_of_command(20_480, [0, 5], Some(0)), None, "the part may be a hole");
        assert!(violation_of_command(20_480, [0, 8], Some(0)).is_some(), "that much is in no hole");
        assert_eq!(violation_of_command(0, [0, 2], None), None, "what it left was not there before");
    }

    #[test]
    fn a_warm_sample_has_all_pages_before_and_after_and_nothing_from_the_device() {
        let sample = Sample::default();
        assert_eq!(violation(WARM, [10, 10], &sample), None);
        assert!(violation(WARM, [9, 10], &sample).unwrap().contains("before the reading"));
        assert!(violation(WARM, [10, 9], &sample).unwrap().contains("after the reading"));
        let faulted = Sample { major_faults: Some(1), ..Sample::default() };
        assert_eq!(violation(WARM, [10, 10], &faulted).unwrap(), "1 page faults waited for the device");
        let from_memory = Sample { device_read_bytes: Some(0), ..faulted.clone() };
        assert!(violation(WARM, [10, 10], &from_memory).is_some(), "no device is known whose bytes count");
        let device = Device {
            name: "vda".to_owned(),
            model: None,
            rotational: None,
            read_ahead_bytes: None,
            scheduler: None,
        };
        assert_eq!(violation_on(Some(device), WARM, [10, 10], &from_memory), None);
        let fetched = Sample { device_read_bytes: Some(512), ..Sample::default() };
        assert_eq!(violation(WARM, [10, 10], &fetched).unwrap(), "512 bytes came from the device");
    }

    #[test]
    fn one_fault_among_the_readings_of_a_turn_is_judged_before_it_is_divided() {
        let fixture = Fixture::of_size(40_960);
        let trials = fixture.trials(&[("a", WARM)]);
        let answer = Turn { samples: Vec::new(), counts: Vec::new(), latencies: None, seen_ns: 1 };
        let violation = |major_faults, device_read_bytes| {
            let metered = Metered {
                major_faults: Ok(major_faults),
                device_read_bytes: Ok(device_read_bytes),
                ..metered()
            };
            let request = TurnRequest { lead: 0, count: 10 };
            let turn = MeteredTurn { request, began_ns: 0, answer: answer.clone(), metered };
            let (trial, facts) = (trials.trial(TrialIndex::new(0)), trials.facts(TrialIndex::new(0)));
            let (before, after) = (resident(10), resident(10));
            let observed = ObservedTurn { trial, facts, turn, before, after, below: None, device_busy: None };
            // Of ten readings each has a tenth.
            let share = |of: u64| Some(of / 10);
            let (major_faults, device_read_bytes) = (share(major_faults), share(device_read_bytes));
            observed.state_violation(&[Sample { major_faults, device_read_bytes, ..Sample::default() }])
        };
        assert_eq!(violation(0, 0), None);
        assert_eq!(violation(1, 0).unwrap(), "1 page faults waited for the device");
        assert_eq!(violation(0, 9).unwrap(), "9 bytes came from the device");
    }

    #[test]
    fn a_warm_sample_of_a_family_that_was_not_seen_is_not_proven() {
        let sample = Sample::default();
        let hidden = Missing::from(FamilyError::NotListed("proc is mounted with hidepid".to_owned()));
        let metered = Metered { device_read_bytes: Err(hidden), ..metered() };
        let why = violation_metered(Meters { metered, device: None, arrived: None }, WARM, [10, 10], &sample);
        let why = why.unwrap();
        assert!(why.contains("the processes that it started are not visible: proc is mounted"), "{why}");
    }

    #[test]
    fn a_cold_sample_of_a_network_file_came_over_the_network() {
        let sample = Sample::default();
        let violation = |state, arrived| violation_below(None, state, [0, 10], &sample, Some(arrived));
        assert_eq!(violation(COLD, 40_960), None);
        let why = violation(COLD, 40_000).unwrap();
        assert_eq!(why, "40000 bytes of 40960 came over the network: the rest came from a cache");
        let warm = |arrived| violation_below(None, WARM, [10, 10], &sample, Some(arrived));
        assert_eq!(warm(0), None);
        assert!(warm(40_960).unwrap().contains("came over the network during the reading"));
    }

    #[test]
    fn a_cold_sample_without_a_count_of_the_device_must_leave_the_file_in_the_cache() {
        let sample = Sample::default();
        assert_eq!(violation(COLD, [0, 10], &sample), None);
        assert!(violation(COLD, [1, 10], &sample).unwrap().contains("before the reading"));
        assert!(violation(COLD, [0, 5], &sample).unwrap().contains("it need not have read the file"));
    }
}
