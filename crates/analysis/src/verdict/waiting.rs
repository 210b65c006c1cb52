//! What a reading waits for that leaves its processor idle: its device, and how it uses that; a
//! server; a quota.

use super::parts::TrialFacts;
use super::{DOMINANT, DeviceUse, Remedy, Verdict, best, quota, read_ahead, sentence, server};
use readlab_model::trial::CacheState;
use readlab_record::{LimitKind, Record, TrialRecord};

/// What a reading waits for that leaves its processor idle.
pub(super) fn for_what(record: &Record, trial: &TrialRecord, facts: &TrialFacts) -> Verdict {
    let target = record.targets.get(trial.trial.target);
    if target.is_some_and(|target| target.transport().has_server()) {
        return Verdict::Server { wait: server::waits_for(record, trial) };
    }
    let nothing_known = || quota::of_waiting(record, facts).unwrap_or(Verdict::Latency);
    if trial.trial.state == CacheState::Warm {
        return nothing_known();
    }
    if let Some(verdict) = read_ahead::unasked(record, trial, facts) {
        return verdict;
    }
    let is_of_many = target.is_some_and(|target| target.tree().is_some() || target.places().is_some());
    let shallow = is_of_many.then(|| busier(record, trial)).flatten();
    let shallow = shallow.map(|remedy| Verdict::Device { pace: DeviceUse::Shallow { remedy } });
    if facts.cold_above.is_some() {
        // More in flight helps from wherever the bytes come.
        let ahead = read_ahead::short(record, trial)
            .map_or_else(String::new, |ahead| format!("; {}", sentence::short_read_ahead(&ahead)));
        let why = format!("it waits for what lies below its file system{ahead}");
        return shallow.unwrap_or(Verdict::Unknown { why });
    }
    let Some(device_bytes) = facts.device_bytes else {
        return Verdict::Unknown { why: format!("no device meter: {}", facts.why_no_device) };
    };
    if device_bytes == 0.0 {
        return nothing_known();
    }
    // The kernel's setting comes before the way out of those who do not wait for it.
    let is_tree = target.is_some_and(|target| target.tree().is_some()) && !trial.trial.bypasses_cache();
    if let Some(ahead) = is_tree.then(|| read_ahead::short(record, trial)).flatten() {
        return Verdict::Device { pace: DeviceUse::ReadAhead { ahead } };
    }
    if let Some(shallow) = shallow {
        return shallow;
    }
    if let Some(quota) = quota::of_reads(record, trial, facts) {
        return quota;
    }
    let encoded = facts.is_encoded();
    match facts.limit(LimitKind::Device) {
        Some(_) if encoded => Verdict::Decoding,
        Some(_) => Verdict::Device { pace: pace(record, trial) },
        None if encoded => decoding(facts),
        None => {
            let why = "it waits, and no reading past the page cache shows what the device does at best";
            Verdict::Unknown { why: why.to_owned() }
        }
    }
}

/// The verdict on a cold reading of what is stored encoded that the kernel's work and its waits
/// stop. Such a file cannot be read past the page cache, so no reading shows the device alone.
/// Where that had no work, somebody else worked for the reading: the kernel's threads that decode.
pub(super) fn decoding(facts: &TrialFacts) -> Verdict {
    match facts.device_busy {
        Some(busy) if busy < DOMINANT => Verdict::Decoding,
        busy => Verdict::DecodingOrDevice { busy: busy.map(|busy| busy.min(1.0)) },
    }
}

/// The fastest other reading of the same files or places for the same work: who waits for single
/// ones is slower than who has more of them in flight. Of places it is known who has.
fn busier(record: &Record, it: &TrialRecord) -> Option<Remedy> {
    let place = |other: &TrialRecord| (other.trial.target, other.trial.work, other.trial.state);
    let is_other = |other: &&TrialRecord| {
        place(other) == place(it) && !other.trial.is_control() && other.trial.index != it.trial.index
    };
    let of_places = record.targets.get(it.trial.target).is_some_and(|target| target.places().is_some());
    let is_deeper = |other: &&TrialRecord| !of_places || in_flight(other).1 > in_flight(it).1;
    best(
        record,
        it,
        record.trials.iter().filter(is_other).filter(is_deeper).filter(|other| other.is_measured()),
    )
}

/// Why the device is not busy, by the readings past the cache that keep it busier.
fn pace(record: &Record, it: &TrialRecord) -> DeviceUse {
    let (block, depth) = in_flight(it);
    let others = record.trials.iter().filter(|other| {
        let past_cache = other.trial.bypasses_cache() || other.trial.limit() == Some(LimitKind::Device);
        past_cache && other.is_measured() && other.trial.target == it.trial.target
    });
    let faster = |fits: &dyn Fn(u64, u64) -> bool| {
        let fitting = others.clone().filter(|other| {
            let (block, depth) = in_flight(other);
            fits(block, depth)
        });
        best(record, it, fitting)
    };
    if !it.trial.bypasses_cache() {
        let short = read_ahead::short(record, it);
        return short.map_or(DeviceUse::TooLittle, |ahead| DeviceUse::ReadAhead { ahead });
    }
    let larger = faster(&|other_block, other_depth| other_block > block && other_depth == depth);
    let deeper = faster(&|other_block, other_depth| other_block == block && other_depth > depth);
    match (larger, deeper) {
        (Some(larger), Some(deeper)) if deeper.times > larger.times => DeviceUse::Shallow { remedy: deeper },
        (Some(remedy), _) => DeviceUse::SmallBlocks { remedy },
        (None, Some(remedy)) => DeviceUse::Shallow { remedy },
        (None, None) => DeviceUse::TooLittle,
    }
}

/// Bytes of one request, and requests in flight.
fn in_flight(it: &TrialRecord) -> (u64, u64) {
    let param = |name| it.trial.params.0.get(name).copied();
    let block = param("buffer_bytes").unwrap_or(0) * param("buffers").unwrap_or(1);
    (block, param("depth").unwrap_or(1) * param("threads").unwrap_or(1))
}
