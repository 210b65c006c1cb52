//! One observed turn: the contender's answer, the meters around the turn, and the page cache before
//! and after. The turn's samples are made from them.

use super::notes::Notes;
use super::pressed::PressedTurn;
use crate::interface::Slot;
use crate::meters::{CpuSplit, MeterError, MeterReadings, WholeTurnCounts};
use crate::next_layer::{LayerBytes, NextLayer};
use crate::residency::ResidencyProof;
use readlab_model::sample::{
    DeliveryMeter, FAULT_AROUND_BYTES, Meter, OWN_FAULTS_MAX, PAGE_BYTES, RequestMeters, Sample, TurnSeen,
};
use readlab_model::target::TargetFacts;
use readlab_model::target::cold_bytes::min_fetched_bytes;
use readlab_model::trial::{Answer, COMMAND};
use readlab_protocol::{SampleLine, TurnRequest};
use readlab_record::{LimitKind, PROGRAM_FILES_BYTES_MAX, Trial};
use readlab_roster::session::Turn;

/// Reason why a reading from a server has no count of device bytes.
const DEVICE_BEHIND_SERVER: &str = "the server reads the device, not the contender";

/// Reason why a control lacks most meters.
const WORK_OUTSIDE_WINDOW: &str = "a control: what it does outside its window would be counted";

/// One answered turn of one reader, with the meters around it.
pub(super) struct MeteredTurn {
    pub(super) request: TurnRequest,
    /// Memory of the buffers that the contender's settings declare.
    pub(super) buffers_bytes: u64,
    /// Delay of this reader's start after the first of the readers that read at the same time.
    pub(super) start_delay_ns: u64,
    pub(super) answer: Turn,
    pub(super) metered: MeterReadings,
}

impl MeteredTurn {
    pub(super) fn reading_count(&self) -> u64 {
        u64::from(self.request.lead) + u64::from(self.request.count)
    }
}

pub(super) struct ObservedTurn<'t> {
    pub(super) trial: &'t Trial,
    pub(super) facts: &'t TargetFacts,
    pub(super) turn: MeteredTurn,
    pub(super) surroundings: CacheBeforeAfter,
}

/// The page cache, the layer below and the device around a turn.
#[derive(Clone, Default)]
pub(super) struct CacheBeforeAfter {
    /// The page cache before the turn; `None` where it could not be read.
    pub(super) before: Option<ResidencyProof>,
    pub(super) after: Option<ResidencyProof>,
    /// Bytes that the layer below the file system counted during the turn; `None` without a layer.
    pub(super) lower_layer: Option<LowerLayerBytes>,
    /// Busy time of the device during the turn; `None` without a known device.
    pub(super) device_busy_ns: Option<Result<u64, String>>,
    /// The bound on memory around the turn, if it has one.
    pub(super) pressed: Option<PressedTurn>,
}

#[derive(Clone)]
pub(super) struct LowerLayerBytes {
    pub(super) layer: NextLayer,
    pub(super) bytes: LayerBytes,
}

/// The minor page faults of a turn's readings. For a command, only faults of the command's process
/// count: the contender that starts it causes some thirty more for each reading, because forking
/// shares its memory.
pub(super) fn minor_faults<'m>(trial: &Trial, metered: &'m MeterReadings) -> &'m Result<u64, MeterError> {
    if trial.contender() == COMMAND { &metered.child_minor_faults } else { &metered.minor_faults }
}

impl ObservedTurn<'_> {
    /// The samples of the turn. Meters around the turn are divided by its number of readings.
    pub(super) fn samples(&self, slot: &Slot, notes: &mut Notes) -> Vec<Sample> {
        let CacheBeforeAfter { before, after, .. } = &self.surroundings;
        let mut common = Sample {
            turn_readings: self.turn.request.lead + self.turn.request.count,
            resident_before: before.as_ref().and_then(ResidencyProof::resident_share),
            resident_after: after.as_ref().and_then(ResidencyProof::resident_share),
            resident_is_estimate: [before, after].into_iter().flatten().any(ResidencyProof::is_estimate),
            pressed: self.surroundings.pressed.as_ref().map(|pressed| pressed.proof),
            turn: self.turn_seen_from_outside(),
            ..slot.empty_sample(self.trial.index)
        };
        for (meter, of_turn) in self.meter_values(notes) {
            let reading = of_turn.map(|count| meter.value_of_reading(count, self.turn.reading_count()));
            meter.field(&mut common).into_iter().for_each(|field| *field = reading);
        }
        let lines = (0..).zip(&self.turn.answer.samples);
        lines.map(|(reading, line)| Sample { reading, ..self.sample(&common, line, notes) }).collect()
    }

    fn meter_values(&self, notes: &mut Notes) -> Vec<(Meter, Option<u64>)> {
        let metered = &self.turn.metered;
        // The values of these meters depend on the target and on the contender.
        let own = [
            (Meter::PeakRssBytes, self.peak_rss_bytes(notes)),
            (
                Meter::MinorFaults,
                self.meter_value(Meter::MinorFaults, minor_faults(self.trial, metered), notes),
            ),
            (Meter::MajorFaults, self.meter_value(Meter::MajorFaults, &metered.major_faults, notes)),
            (Meter::DeviceReadBytes, self.device_read_bytes(notes)),
            (Meter::BelowReadBytes, self.next_layer_bytes(notes)),
            (Meter::DeviceBusyNs, self.device_busy_ns(notes)),
        ];
        let others = metered.other_meters.iter();
        let others = others.map(|(meter, reading)| (*meter, self.meter_value(*meter, reading, notes)));
        let mut values: Vec<(Meter, Option<u64>)> = own.into_iter().chain(others).collect();
        values.extend(self.surroundings.pressed.iter().flat_map(|pressed| pressed.meters(notes)));
        values
    }

    /// One sample: values that the contender reported, and for values that it did not, readlab's
    /// meters.
    fn sample(&self, common: &Sample, line: &SampleLine, notes: &mut Notes) -> Sample {
        let mut cpu = |said: Option<u64>, meter: Meter, part: fn(&CpuSplit) -> u64| match said {
            Some(ns) => Some(ns),
            None => {
                let split = notes.value_or_note(meter.name(), self.turn.metered.cpu_split.as_ref().map(part));
                split.map(|ns| meter.value_of_reading(ns, self.turn.reading_count()))
            }
        };
        Sample {
            wall_ns: line.wall_ns,
            cpu_user_ns: cpu(line.cpu_user_ns, Meter::CpuUserNs, |split| split.user_ns),
            cpu_system_ns: cpu(line.cpu_system_ns, Meter::CpuSystemNs, |split| split.system_ns),
            peak_rss_bytes: common.peak_rss_bytes.or(line.peak_rss_bytes),
            read_bytes: line.read_bytes,
            request: RequestMeters::from(line),
            answer: Answer::from(line),
            ..common.clone()
        }
    }

    /// Readlab's measurements of the whole turn, except those that are in the table of meters:
    /// [`ObservedTurn::meter_values`] has these, with a reason for each that is missing.
    fn turn_seen_from_outside(&self) -> TurnSeen {
        let whole = &self.turn.metered.whole_turn;
        TurnSeen {
            wall_ns: Some(self.turn.answer.lab_wall_ns),
            cpu_ns: whole.cpu_ns.as_ref().ok().copied(),
            cpu_error_ns: whole.cpu_ns.is_ok().then_some(whole.cpu_error_ns),
            delivered: self.delivering_meter(),
            ..TurnSeen::default()
        }
    }

    /// Busy time of the device; if it is missing, the reason becomes a note.
    fn device_busy_ns(&self, notes: &mut Notes) -> Option<u64> {
        notes.value_or_note(
            Meter::DeviceBusyNs.name(),
            self.surroundings.device_busy_ns.as_ref()?.as_ref().copied(),
        )
    }

    /// The meter that shows that enough bytes for every reading reached the contender; `None` if no
    /// meter does.
    fn delivering_meter(&self) -> Option<DeliveryMeter> {
        let bytes = self.facts.size_bytes.saturating_mul(self.turn.reading_count());
        if bytes == 0 {
            return None;
        }
        let by_calls = self.was_delivered_by_read_calls(bytes).then_some(DeliveryMeter::Calls);
        by_calls.or_else(|| self.was_delivered_by_page_faults(bytes).then_some(DeliveryMeter::Faults))
    }

    /// Whether the contender mapped nine tenths of `bytes` bytes by page faults that its buffers and
    /// its own memory do not explain. A program that starts in the turn maps its own files, so its
    /// page faults prove nothing. Bytes of a server are not mapped, and a contender that counts the
    /// bytes that its reads requested maps none.
    fn was_delivered_by_page_faults(&self, bytes: u64) -> bool {
        let counts_reads = self.turn.answer.samples.iter().any(|line| line.read_bytes.is_some());
        if self.trial.starts_program() || counts_reads || self.facts.transport().has_server() {
            return false;
        }
        let buffer_faults = (self.turn.buffers_bytes / PAGE_BYTES).saturating_mul(self.turn.reading_count());
        let other_faults = buffer_faults.saturating_add(OWN_FAULTS_MAX);
        let is_mapped = |&faults: &u64| {
            faults.saturating_sub(other_faults).saturating_mul(FAULT_AROUND_BYTES) >= bytes - bytes / 10
        };
        self.turn.metered.minor_faults.as_ref().is_ok_and(is_mapped)
    }

    /// Whether read calls delivered at least `bytes` bytes. For a command, bytes that its processes
    /// wrote are subtracted, because another process of the command may have read them from a pipe.
    /// A command also reads its program files; beyond their size, surplus bytes come from another
    /// file or from a part that was read twice, so they prove nothing.
    fn was_delivered_by_read_calls(&self, bytes: u64) -> bool {
        let WholeTurnCounts { read_call_bytes: Ok(passed), write_call_bytes, .. } =
            &self.turn.metered.whole_turn
        else {
            return false;
        };
        if self.trial.contender() != COMMAND {
            return *passed >= bytes;
        }
        let from_files = write_call_bytes.as_ref().ok().map(|written| passed.saturating_sub(*written));
        let most = bytes
            .saturating_add(bytes / 100)
            .saturating_add(PROGRAM_FILES_BYTES_MAX * self.turn.reading_count());
        from_files.is_some_and(|from_files| (min_fetched_bytes(bytes)..=most).contains(&from_files))
    }

    /// The high-water mark of memory; `None` if the contender reports the mark of a program that it
    /// started for each reading.
    fn peak_rss_bytes(&self, notes: &mut Notes) -> Option<u64> {
        let is_reported = self.turn.answer.samples.iter().all(|line| line.peak_rss_bytes.is_some());
        if is_reported && !self.turn.metered.whole_turn.was_alone {
            None
        } else {
            self.meter_value(Meter::PeakRssBytes, &self.turn.metered.peak_rss_bytes, notes)
        }
    }

    /// Bytes from the device; missing if a server and not the contender makes the kernel fetch
    /// them.
    fn device_read_bytes(&self, notes: &mut Notes) -> Option<u64> {
        if !self.trial.is_control() && self.facts.transport().has_server() {
            notes.add_missing_meter(Meter::DeviceReadBytes.name(), DEVICE_BEHIND_SERVER);
            return None;
        }
        self.meter_value(Meter::DeviceReadBytes, &self.turn.metered.device_read_bytes, notes)
    }

    /// Bytes that the next layer read; `None` for a control, which reads nothing through that
    /// layer.
    fn next_layer_bytes(&self, notes: &mut Notes) -> Option<u64> {
        let counted = self.surroundings.lower_layer.as_ref().filter(|_| !self.trial.is_control())?;
        notes.value_or_note(Meter::BelowReadBytes.name(), counted.bytes.read_bytes.as_ref().copied())
    }

    /// The value of a meter; if it is missing, the reason becomes a note.
    fn meter_value(&self, meter: Meter, reading: &Result<u64, MeterError>, notes: &mut Notes) -> Option<u64> {
        // Outside their windows, these two controls do nothing that a meter would count.
        let is_plain = matches!(self.trial.limit_kind(), Some(LimitKind::Device | LimitKind::Faults));
        if self.trial.is_control() && !is_plain && !meter.describes_turn() {
            notes.add_missing_meter(meter.name(), WORK_OUTSIDE_WINDOW);
            return None;
        }
        notes.value_or_note(meter.name(), reading.as_ref().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Fixture, metered_turn, observed_turn, sample_line, turn, unread_meters};
    use super::*;
    use crate::round::testing::WARM;
    use readlab_model::target::{Http, TargetKind};
    use readlab_record::StartMode;

    const SLOT: Slot = Slot { state: WARM, fill: 2, round: 5, position: 1, rung: Some(3) };

    /// The samples of a turn with one untimed and `readings` timed readings, and the missing
    /// meters.
    fn samples(name: &str, readings: usize) -> (Vec<Sample>, Vec<(&'static str, String)>) {
        let fixture = Fixture::remote_of_size(1);
        let mut metered = MeterReadings { minor_faults: Ok(9), device_read_bytes: Ok(6), ..unread_meters() };
        metered.other_meters.insert(Meter::Preemptions, Ok(4));
        let turn = metered_turn(turn(vec![sample_line(Some(1)); readings]), metered);
        let mut observed = observed_turn(&fixture.trials(&[(name, WARM)]), turn);
        observed.turn.request.lead = 1;
        let bytes = LayerBytes { read_bytes: Ok(3), arrived_bytes: Ok(3) };
        observed.surroundings.lower_layer =
            Some(LowerLayerBytes { layer: NextLayer::Program { pid: 1 }, bytes });
        let mut notes = Notes::default();
        (observed.samples(&SLOT, &mut notes), notes.take_missing_meters())
    }

    #[test]
    fn a_sample_is_complete_and_has_its_share_of_the_turns_meters() {
        let (samples, missing) = samples("a", 2);
        let shown: Vec<_> =
            samples.iter().map(|it| (it.reading, it.turn_readings, it.minor_faults)).collect();
        assert_eq!(shown, [(0, 3, Some(3)), (1, 3, Some(3))]);
        assert!(samples.iter().all(|it| (it.fill, it.round, it.position, it.rung) == (2, 5, 1, Some(3))));
        assert_eq!((samples[0].device_read_bytes, samples[0].below_read_bytes), (Some(2), Some(1)));
        // Preemptions and steal time are kept for the whole turn, not divided among its readings.
        assert!(samples.iter().all(|it| (it.turn.preemptions, it.turn.steal_ns) == (Some(4), None)));
        let is_missing = |name| missing.iter().any(|(meter, _)| *meter == name);
        assert!(is_missing("major_faults") && is_missing("turn.steal_ns"), "{missing:?}");
        assert!(!is_missing("minor_faults") && !is_missing("turn.preemptions"), "{missing:?}");
    }

    #[test]
    fn bytes_that_a_command_passes_between_its_processes_are_from_no_file() {
        let fixture = Fixture::remote_of_size(1_000);
        let trials = fixture.trials(&[("a", WARM)]);
        let delivered = |name: &str, passed, written| {
            let mut metered = MeterReadings { minor_faults: Ok(0), ..unread_meters() };
            (metered.whole_turn.read_call_bytes, metered.whole_turn.write_call_bytes) =
                (Ok(passed), Ok(written));
            let trial = Trial { id: name.parse().unwrap(), ..trials.nth_trial(0).clone() };
            let observed = observed_turn(&trials, metered_turn(turn(vec![sample_line(Some(1))]), metered));
            let observed = ObservedTurn { trial: &trial, ..observed };
            observed.samples(&SLOT, &mut Notes::default()).remove(0).turn.delivered
        };
        assert_eq!(delivered("command/head -c 530", 1_060, 530), None);
        assert_eq!(delivered("command/sha256sum", 1_070, 70), Some(DeliveryMeter::Calls));
        assert_eq!(delivered("command/head; head; head", 3 << 20, 0), None, "one part, again and again");
        assert_eq!(delivered("rust/read", 1_000, 200), Some(DeliveryMeter::Calls), "its answer, to the lab");
    }

    #[test]
    fn page_faults_prove_that_a_file_was_mapped_only_where_nothing_else_explains_them() {
        let fixture = Fixture::remote_of_size(1);
        let trials = fixture.trials(&[("a", WARM)]);
        let facts = |size_bytes| TargetFacts { size_bytes, ..TargetFacts::default() };
        let delivered = |name: &str, start, facts: &TargetFacts, buffers_bytes, read_bytes, faults| {
            let metered = MeterReadings { minor_faults: Ok(faults), ..unread_meters() };
            let line = SampleLine { read_bytes, ..sample_line(Some(1)) };
            let mut turn = metered_turn(turn(vec![line]), metered);
            turn.buffers_bytes = buffers_bytes;
            let trial =
                Trial { id: name.parse().unwrap(), start_session: start, ..trials.nth_trial(0).clone() };
            let observed = ObservedTurn { trial: &trial, facts, ..observed_turn(&trials, turn) };
            observed.samples(&SLOT, &mut Notes::default()).remove(0).turn.delivered
        };
        let (kept, started) = (StartMode::Kept, StartMode::EachReading);
        // A file of 256 MiB in small pages, mapped by one page fault for each 64 KiB.
        let (large, mapped) = (facts(256 << 20), Some(DeliveryMeter::Faults));
        assert_eq!(delivered("rust/mmap", kept, &large, 0, None, 4_100), mapped);
        assert_eq!(delivered("rust/mmap", kept, &large, 0, None, 3_700), None, "a tenth is missing");
        assert_eq!(delivered("rust/io_uring", kept, &large, 16 << 20, None, 4_200), None, "of its buffers");
        assert_eq!(delivered("rust/mmap", started, &large, 0, None, 4_100), None, "its own program");
        assert_eq!(delivered("command/python3 -c 1", kept, &large, 0, None, 4_100), None);
        let served = TargetFacts { kind: TargetKind::Url(Http::Own), ..large.clone() };
        assert_eq!(delivered("rust/http", kept, &served, 0, None, 4_100), None, "nothing is mapped");
        // As measured on ranges of 8.19 MB: a ring, which maps nothing.
        let ranges = facts(8_192_000);
        assert_eq!(delivered("rust/places-io_uring", kept, &ranges, 0, Some(8_192_000), 142), None);
        assert_eq!(delivered("rust/places-io_uring", kept, &large, 0, Some(256 << 20), 4_300), None);
        assert_eq!(delivered("rust/x", kept, &ranges, 0, None, 153), None, "too few beside its own");
    }

    #[test]
    fn a_control_has_no_meters_because_they_would_count_work_outside_its_window() {
        let (samples, missing) = samples("null", 1);
        assert_eq!((samples[0].minor_faults, samples[0].below_read_bytes), (None, None));
        assert!(missing.contains(&("minor_faults", WORK_OUTSIDE_WINDOW.to_owned())));
    }
}
