//! What a reading waits for while its processor is idle: a device, and how the reading uses the
//! device; a server; or a quota.

use super::parts::{TrialFacts, median_wall_ns, missing_meter_words, scaled_turn_time_ns};
use super::{
    DOMINANT_SHARE_MIN, DeviceUse, JudgedTrial, Remedy, Verdict, quota, read_ahead, sentence, server,
};
use readlab_model::sample::Meter;
use readlab_model::trial::CacheState;
use readlab_record::{LimitKind, TrialRecord};

/// The verdict on a reading that waits while its processor is idle.
pub(super) fn verdict_on_wait(judged: &JudgedTrial) -> Verdict {
    let JudgedTrial { trial_record: it, target, facts, .. } = judged;
    if target.transport().has_server() {
        return if may_wait_for_processor(judged) {
            let why = "it waits for the server, or for a processor that others use: its own waits for processors \
                       were not counted";
            Verdict::Unknown { why: why.to_owned() }
        } else {
            // Readlab's own server is in the control groups of this process.
            let by_quota = facts.device_rate.and_then(|_| quota::verdict_on_quota_of_reads(judged));
            by_quota.unwrap_or_else(|| Verdict::Server { wait: server::server_wait(judged) })
        };
    }
    let nothing_known = || quota::verdict_on_quota_while_waiting(judged).unwrap_or(Verdict::Latency);
    if it.trial.state == CacheState::Warm {
        return nothing_known();
    }
    if let Some(read_ahead) = read_ahead::verdict_on_unrequested_bytes(judged) {
        return quota::verdict_on_quota_of_reads(judged).unwrap_or(read_ahead);
    }
    let is_of_many = target.tree().is_some() || target.blocks().is_some();
    let shallow = is_of_many.then(|| remedy_by_more_in_flight(judged)).flatten();
    let shallow = shallow.map(|remedy| Verdict::Device { device_use: DeviceUse::Shallow { remedy } });
    let short = || read_ahead::short_read_ahead(judged);
    // Raced settings show the cause without a meter of the device and without its limit.
    let raced = || read_ahead::verdict_on_raced_read_ahead(judged);
    if facts.cold_cache_names.is_some() {
        // More requests in flight help wherever the bytes come from.
        let ahead = short()
            .map_or_else(String::new, |ahead| format!("; {}", sentence::short_read_ahead_words(&ahead)));
        let why = format!("it waits for what lies below its file system{ahead}");
        return shallow.or_else(raced).unwrap_or(Verdict::Unknown { why });
    }
    let Some(device_bytes) = facts.device_bytes else {
        let why = format!("no device meter: {}", missing_meter_words(it, Meter::DeviceReadBytes));
        return raced().unwrap_or(Verdict::Unknown { why });
    };
    if device_bytes == 0.0 {
        return nothing_known();
    }
    // A short read-ahead is reported first: a reading that bypasses the page cache is then faster
    // only because of this setting.
    if let Some(ahead) = target.tree().and_then(|_| short()) {
        return Verdict::Device { device_use: DeviceUse::ReadAhead { read_ahead: ahead } };
    }
    if let Some(verdict) = shallow.or_else(|| quota::verdict_on_quota_of_reads(judged)) {
        return verdict;
    }
    match facts.limit(LimitKind::Device) {
        // The kernel does not read ahead for blocks: these may wait for the device one by one.
        Some(_) if facts.is_encoded() && target.blocks().is_none() => Verdict::Decoding,
        _ if facts.may_be_encoded() => verdict_on_decoding_or_device(facts),
        Some(_) => Verdict::Device { device_use: device_use(judged) },
        None => {
            let why = "it waits, and no reading past the page cache shows what the device does at best";
            raced().unwrap_or_else(|| Verdict::Unknown { why: why.to_owned() })
        }
    }
}

/// Whether a reading may have waited for a processor for most of its time: some task of the machine
/// did, and the waits of the reading's own threads were not counted, as those of a command.
fn may_wait_for_processor(judged: &JudgedTrial) -> bool {
    let it = judged.trial_record;
    let is_counted = it.samples.iter().any(|sample| sample.turn.delayed_ns.is_some());
    let pressure_ns = scaled_turn_time_ns(it, |sample| sample.turn.cpu_pressure_ns);
    let times = pressure_ns.zip(median_wall_ns(it)).filter(|_| !is_counted);
    times.is_some_and(|(pressure_ns, wall_ns)| pressure_ns >= DOMINANT_SHARE_MIN * wall_ns)
}

/// The verdict on a cold reading of an encoded file that is limited by the kernel's work and its
/// waits. A compressed file cannot be read past the page cache, so no reading shows the device
/// alone. If the device was mostly idle, the reading waited for decoding in the kernel's own
/// threads.
pub(super) fn verdict_on_decoding_or_device(facts: &TrialFacts) -> Verdict {
    match facts.device_busy_share {
        Some(busy) if busy < DOMINANT_SHARE_MIN && facts.is_encoded() => Verdict::Decoding,
        busy => Verdict::DecodingOrDevice { device_busy_share: busy.map(|busy| busy.min(1.0)) },
    }
}

/// The fastest rival on the same files or places that has more requests in flight: a reading that
/// waits for one request at a time is slower than one with several in flight.
fn remedy_by_more_in_flight(judged: &JudgedTrial) -> Option<Remedy> {
    let depth = declared_depth(judged.trial_record)?;
    judged.clear_remedy(judged.rivals().filter(|other| declared_depth(other) > Some(depth)))
}

/// Why the device is not busy, judged by other readings past the page cache that use the device
/// better.
fn device_use(judged: &JudgedTrial) -> DeviceUse {
    let JudgedTrial { record, trial_record: it, .. } = judged;
    if !it.trial.bypasses_cache() {
        let too_little = || DeviceUse::TooLittle {
            read_ahead: read_ahead::kernel_read_ahead(judged),
            remedy: read_ahead::remedy_by_larger_read_ahead(judged),
        };
        let short = read_ahead::short_read_ahead(judged);
        return short.map_or_else(too_little, |ahead| DeviceUse::ReadAhead { read_ahead: ahead });
    }
    let past_cache = record.trials.iter().filter(|other| {
        let is_past = other.trial.bypasses_cache() || other.trial.limit_kind() == Some(LimitKind::Device);
        is_past && other.is_measured() && other.trial.target == it.trial.target
    });
    let (block, depth) = (block_bytes(it), declared_depth(it));
    let larger =
        past_cache.clone().filter(|other| block_bytes(other) > block && declared_depth(other) == depth);
    let deeper = past_cache
        .filter(|other| block_bytes(other) == block && depth.is_some() && declared_depth(other) > depth);
    match (judged.clear_remedy(larger), judged.clear_remedy(deeper)) {
        (Some(larger), Some(deeper)) if deeper.speed_ratio > larger.speed_ratio => {
            DeviceUse::Shallow { remedy: deeper }
        }
        (Some(remedy), _) => DeviceUse::SmallBlocks { remedy },
        (None, Some(remedy)) => DeviceUse::Shallow { remedy },
        (None, None) => DeviceUse::TooLittle { read_ahead: None, remedy: None },
    }
}

/// Bytes of one request.
fn block_bytes(it: &TrialRecord) -> u64 {
    let param = |name| it.trial.params.0.get(name).copied();
    param("buffer_bytes").unwrap_or(0) * param("buffers").unwrap_or(1)
}

/// Number of requests that a trial declares to have in flight, or of files whose bytes it requests
/// ahead; `None` for a method that chooses its number of threads itself, which 0 stands for.
fn declared_depth(it: &TrialRecord) -> Option<u64> {
    let param = |name| it.trial.params.0.get(name).copied();
    let each = param("depth").or_else(|| param("ahead")).unwrap_or(1);
    Some(each.saturating_mul(param("threads").unwrap_or(1))).filter(|depth| *depth > 0)
}
