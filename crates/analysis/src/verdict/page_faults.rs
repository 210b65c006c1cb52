//! The origin of a reading's page faults: a mapping of the file, memory that the reading allocates,
//! or neither: a process that starts or answers causes page faults as well. Bytes that pass through
//! read calls, or that a contender counts as requested by its reads, are not read by page faults.

use super::parts::{joint_reader_count, median};
use super::{JudgedTrial, Remedy};
use crate::stats::float;
use readlab_model::sample::{DeliveryMeter, FAULT_AROUND_BYTES, Meter, OWN_FAULTS_MAX, PAGE_BYTES};
use readlab_record::{Record, TrialRecord};

/// The size of the largest page that the kernel gives a program by default.
const HUGE_PAGE_BYTES: f64 = 2_097_152.0;

/// Fewer page faults than this prove nothing: every process has some.
const FAULTS_MIN: f64 = 16.0;

/// Most page faults of the start of a program, such as an interpreter. They differ from program to
/// program, and no meter separates them from those of the reading.
const START_FAULTS_MAX: u64 = 16_384;

/// Memory of a kept process apart from the bytes of the target, if no other trial shows it.
const OWN_MEMORY_BYTES: u64 = 16 << 20;

/// If the peak memory of a process exceeds its own memory by at least this share of the bytes, the
/// process held all of them at once.
const HELD_SHARE_MIN: f64 = 0.9;

/// Number of page faults of a reading that maps its file; `None` for a reading whose page faults
/// come only from allocated memory or from the process itself. A mapping of small folios has at
/// least one page fault for each range of [`FAULT_AROUND_BYTES`].
pub(super) fn mapping_faults(record: &Record, it: &TrialRecord) -> Option<f64> {
    let reader = ReaderFaults::from_trial(record, it).filter(|_| !requests_bytes(it))?;
    let is_mapping = reader.causes_fault_each(reader.beyond_own, float(FAULT_AROUND_BYTES));
    is_mapping.then_some(reader.beyond_own * reader.reader_count)
}

/// Whether a reading may map the file: no reads were seen, and there are enough page faults, of
/// which the process may have caused some itself, or their number is not known, or the process held
/// all bytes beside its buffers. A mapping of huge pages has few page faults.
pub(super) fn may_map_file(record: &Record, it: &TrialRecord) -> bool {
    let maps = |reader: ReaderFaults| {
        reader.causes_fault_each(reader.beyond_buffers, float(FAULT_AROUND_BYTES))
            || held_bytes(record, it).is_some_and(|held| {
                held - float(it.trial.params.buffers_bytes()) >= HELD_SHARE_MIN * reader.size_bytes
            })
    };
    !requests_bytes(it) && ReaderFaults::from_trial(record, it).is_none_or(maps)
}

/// Whether reads were seen that request the bytes.
fn requests_bytes(it: &TrialRecord) -> bool {
    reads_by_calls(it) || median(it, Meter::ReadBytes).is_some()
}

/// Whether a reading by read calls allocates new memory as large as the target each time; false for
/// a reading that reuses its memory, and for a mapping.
pub(super) fn allocates_memory(record: &Record, it: &TrialRecord) -> bool {
    let is_new = |reader: ReaderFaults| {
        let holds_all =
            || held_bytes(record, it).is_some_and(|held| held >= HELD_SHARE_MIN * reader.size_bytes);
        reader.causes_fault_each(reader.beyond_own, float(PAGE_BYTES))
            || reader.causes_fault_each(reader.beyond_buffers, HUGE_PAGE_BYTES) && holds_all()
    };
    reads_by_calls(it) && ReaderFaults::from_trial(record, it).is_some_and(is_new)
}

/// The fastest rival with the same contender and scan that reads by read calls and reuses its
/// memory.
pub(super) fn remedy_by_reuse(judged: &JudgedTrial) -> Option<Remedy> {
    let trial = &judged.trial_record.trial;
    judged.clear_remedy(judged.rivals().filter(|other| {
        (other.trial.scan(), other.trial.contender()) == (trial.scan(), trial.contender())
            && reads_by_calls(other)
            && !allocates_memory(judged.record, other)
    }))
}

/// Whether all bytes of every reading were observed to pass through read calls.
pub(super) fn reads_by_calls(it: &TrialRecord) -> bool {
    !it.samples.is_empty()
        && it.samples.iter().all(|sample| sample.turn.delivered == Some(DeliveryMeter::Calls))
}

/// The page faults of one of the ranks or readers that read a target together, and its part of the
/// bytes.
struct ReaderFaults {
    reader_count: f64,
    size_bytes: f64,
    /// Number of page faults beyond those that the buffers in the trial's parameters cause.
    beyond_buffers: f64,
    /// Number of page faults beyond those of the buffers and those that the process causes itself.
    beyond_own: f64,
}

impl ReaderFaults {
    fn from_trial(record: &Record, it: &TrialRecord) -> Option<ReaderFaults> {
        let target = record.target_of(&it.trial)?;
        let reader_count = float(joint_reader_count(record, target));
        let buffers = it.trial.params.buffers_bytes() / PAGE_BYTES;
        let own = if it.trial.starts_program() { START_FAULTS_MAX } else { OWN_FAULTS_MAX };
        let beyond_buffers = median(it, Meter::MinorFaults)? / reader_count - float(buffers);
        Some(ReaderFaults {
            reader_count,
            size_bytes: float(target.size_bytes) / reader_count,
            beyond_buffers,
            beyond_own: beyond_buffers - float(own),
        })
    }

    /// Whether this number of page faults is enough for half of the bytes, with one page fault for
    /// each `page_bytes`.
    fn causes_fault_each(&self, faults: f64, page_bytes: f64) -> bool {
        faults >= FAULTS_MIN && faults >= self.size_bytes / page_bytes / 2.0
    }
}

/// The peak memory of the process of a trial beyond its own memory; `None` if the peak is not known.
fn held_bytes(record: &Record, it: &TrialRecord) -> Option<f64> {
    Some(median(it, Meter::PeakRssBytes)? - own_memory_bytes(record, it))
}

/// Memory that the process of a trial has apart from the bytes of the target: the smallest peak of
/// the same contender's other trials on the target. Commands are different programs, so no other
/// command shows it.
fn own_memory_bytes(record: &Record, it: &TrialRecord) -> f64 {
    if it.trial.starts_program() {
        return float(START_FAULTS_MAX * PAGE_BYTES);
    }
    let is_other = |other: &&TrialRecord| {
        (other.trial.contender(), other.trial.target) == (it.trial.contender(), it.trial.target)
            && other.trial.index != it.trial.index
            && !other.trial.is_control()
    };
    let others = record.trials.iter().filter(is_other);
    let peaks = others.filter_map(|other| median(other, Meter::PeakRssBytes));
    peaks.reduce(f64::min).unwrap_or(float(OWN_MEMORY_BYTES))
}
