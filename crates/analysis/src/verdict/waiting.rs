//! What a reading waits for that leaves its processor idle: its device, and how it uses that; a
//! server; a quota.

use super::parts::{TrialFacts, missing};
use super::{DOMINANT, DeviceUse, Judged, Remedy, Verdict, quota, read_ahead, sentence, server};
use readlab_model::sample::Meter;
use readlab_model::trial::CacheState;
use readlab_record::{LimitKind, TrialRecord};

/// What a reading waits for that leaves its processor idle.
pub(super) fn for_what(judged: &Judged) -> Verdict {
    let Judged { it, target, facts, .. } = judged;
    if target.transport().has_server() {
        return Verdict::Server { wait: server::waits_for(judged) };
    }
    let nothing_known = || quota::of_waiting(judged).unwrap_or(Verdict::Latency);
    if it.trial.state == CacheState::Warm {
        return nothing_known();
    }
    if let Some(verdict) = read_ahead::unasked(judged) {
        return verdict;
    }
    let is_of_many = target.tree().is_some() || target.places().is_some();
    let shallow = is_of_many.then(|| busier(judged)).flatten();
    let shallow = shallow.map(|remedy| Verdict::Device { pace: DeviceUse::Shallow { remedy } });
    let short = || read_ahead::short(target);
    if facts.cold_above.is_some() {
        // More in flight helps from wherever the bytes come.
        let ahead =
            short().map_or_else(String::new, |ahead| format!("; {}", sentence::short_read_ahead(&ahead)));
        let why = format!("it waits for what lies below its file system{ahead}");
        return shallow.unwrap_or(Verdict::Unknown { why });
    }
    let Some(device_bytes) = facts.device_bytes else {
        let why = format!("no device meter: {}", missing(it, Meter::DeviceReadBytes));
        return Verdict::Unknown { why };
    };
    if device_bytes == 0.0 {
        return nothing_known();
    }
    // The kernel's setting comes before the way out of those who do not wait for it.
    let is_tree = target.tree().is_some() && !it.trial.bypasses_cache();
    if let Some(ahead) = is_tree.then(short).flatten() {
        return Verdict::Device { pace: DeviceUse::ReadAhead { ahead } };
    }
    if let Some(verdict) = shallow.or_else(|| quota::of_reads(judged)) {
        return verdict;
    }
    let encoded = facts.is_encoded();
    match facts.limit(LimitKind::Device) {
        Some(_) if encoded => Verdict::Decoding,
        Some(_) => Verdict::Device { pace: pace(judged) },
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
fn busier(judged: &Judged) -> Option<Remedy> {
    let of_places = judged.target.places().is_some();
    let is_deeper = |other: &TrialRecord| !of_places || in_flight(other).1 > in_flight(judged.it).1;
    let others = judged.rivals().filter(|other| other.trial.index != judged.it.trial.index);
    judged.best(others.filter(|other| is_deeper(other)))
}

/// Why the device is not busy, by the readings past the cache that keep it busier.
fn pace(judged: &Judged) -> DeviceUse {
    let Judged { record, it, target, .. } = judged;
    if !it.trial.bypasses_cache() {
        let short = read_ahead::short(target);
        return short.map_or(DeviceUse::TooLittle, |ahead| DeviceUse::ReadAhead { ahead });
    }
    let past_cache = record.trials.iter().filter(|other| {
        let is_past = other.trial.bypasses_cache() || other.trial.limit() == Some(LimitKind::Device);
        is_past && other.is_measured() && other.trial.target == it.trial.target
    });
    let (block, depth) = in_flight(it);
    let larger = past_cache.clone().filter(|other| {
        let (other_block, other_depth) = in_flight(other);
        other_block > block && other_depth == depth
    });
    let deeper = past_cache.filter(|other| {
        let (other_block, other_depth) = in_flight(other);
        other_block == block && other_depth > depth
    });
    match (judged.best(larger), judged.best(deeper)) {
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
