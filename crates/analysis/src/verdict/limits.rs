//! The limits of a record: the best rates of its controls. Without a control of the device,
//! readings that bypass the page cache show its limit. If a reading is clearly faster than a limit,
//! the rate of the reading replaces the limit.
//!
//! Limits are computed from samples of the same rounds as the readings that are compared with them.

use super::parts::{self, TrialFacts};
use super::server::connection_count;
use crate::noise::SharedNoise;
use crate::stats::{self, Observation, float, whole};
use readlab_model::sample::{Meter, Sample};
use readlab_model::target::TargetIndex;
use readlab_model::trial::{COMMAND, CacheState};
use readlab_model::units::Throughput;
use readlab_record::{Limit, LimitKind, LimitUnit, Record, RunKind, Trial, TrialRecord};
use std::collections::BTreeSet;

/// All limits of the record, in this order: limits shown by trials, limits measured by other means,
/// and readings that exceed a limit and so replace it.
pub fn limits(record: &Record) -> Vec<Limit> {
    let mut limits: Vec<Limit> =
        record.trials.iter().filter_map(|trial| limit_of_trial(record, trial)).collect();
    for limit in &record.limits {
        // If a control was measured again, the better of its two rates is the limit.
        keep_better_limit(&mut limits, limit.clone(), |it| it.trial.is_some() && it.trial == limit.trial);
    }
    let of_readings = |limit: &Limit| comes_from_reading(record, limit);
    let measured: BTreeSet<(LimitKind, TargetIndex)> =
        limits.iter().filter(|it| !of_readings(it)).map(|it| (it.kind, it.target)).collect();
    // Trials on a target whose caches cannot all be evicted show no limit of the device. A reading
    // that bypasses the page cache shows the limit of the device only if no control measured it.
    let is_of_a_cache = |target: TargetIndex| {
        record.targets.get(target).is_some_and(|it| it.unevictable_cache_names().is_some())
    };
    limits.retain(|it| it.kind != LimitKind::Device || !is_of_a_cache(it.target));
    let is_measured = |it: &Limit| {
        let target = record.unbounded_target(it.target).unwrap_or(it.target);
        measured.contains(&(it.kind, it.target)) || measured.contains(&(it.kind, target))
    };
    limits.retain(|it| !of_readings(it) || !is_measured(it));
    let better = limits_from_faster_readings(record, &limits);
    limits.extend(better);
    limits
}

/// Whether a limit comes from a reading, and not from a control.
fn comes_from_reading(record: &Record, limit: &Limit) -> bool {
    limit.trial.and_then(|index| record.trial(index)).is_some_and(|it| !it.trial.is_control())
}

/// The readings that clearly exceed a limit: the fastest one for each exceeded limit.
fn limits_from_faster_readings(record: &Record, limits: &[Limit]) -> Vec<Limit> {
    let mut found: Vec<Limit> = Vec::new();
    let readings = record.trials.iter().filter(|it| !it.trial.is_control() && it.is_measured());
    for it in readings {
        let Some(facts) = TrialFacts::from_record(record, limits, it) else { continue };
        for (near, ends) in facts.exceeded_limits() {
            let beaten = near.limit;
            let value = whole(near.trial_rate);
            let median = parts::median_wall_ns(it).unwrap_or_default();
            let rate = |sample: Sample| whole(near.trial_rate * median / float(sample.wall_ns.max(1)));
            let limit = Limit {
                name: it.trial.id.to_string(),
                trial: Some(it.trial.index),
                value,
                ci95: Some([whole(ends.low), whole(ends.high)]),
                samples: it.samples.iter().map(rate).collect(),
                how_measured: format!(
                    "a reading that was faster than {}, so that its rate stands for the limit",
                    beaten.name
                ),
                ..beaten.clone()
            };
            let place = |it: &Limit| (it.kind, it.target, it.state, it.threads);
            let own = place(&limit);
            keep_better_limit(&mut found, limit, |had| place(had) == own);
        }
    }
    found
}

/// Adds a limit, or replaces the same limit if its value is lower.
fn keep_better_limit(limits: &mut Vec<Limit>, limit: Limit, is_same: impl Fn(&Limit) -> bool) {
    match limits.iter_mut().find(|it| is_same(it)) {
        Some(had) if had.value < limit.value => *had = limit,
        Some(_) => {}
        None => limits.push(limit),
    }
}

/// A sentence for each limit of a target in a state that a faster reading replaced.
pub fn replaced_limit_sentences(
    record: &Record,
    limits: &[Limit],
    target: TargetIndex,
    state: CacheState,
) -> Vec<String> {
    let here = |it: &&Limit| it.target == target && it.state.is_none_or(|own| own == state);
    let better = limits.iter().filter(here).filter(|it| comes_from_reading(record, it));
    let near = better.filter_map(|better| {
        let same = |it: &&Limit| {
            (it.kind, it.threads) == (better.kind, better.threads) && !comes_from_reading(record, it)
        };
        let beaten = limits.iter().filter(here).filter(same).max_by_key(|it| it.value)?;
        let (kind, reached) = (better.kind.word(), Throughput(float(better.value)));
        let (showed, name) = (Throughput(float(beaten.value)), &beaten.name);
        Some(format!("the {kind} limit is what {} reached, {reached}: {name} showed {showed}", better.name))
    });
    near.collect()
}

/// The limit that a trial shows; `None` for an ordinary reading, and without accepted samples.
fn limit_of_trial(record: &Record, it: &TrialRecord) -> Option<Limit> {
    let trial = &it.trial;
    let past_cache = || trial.bypasses_cache().then_some(LimitKind::Device);
    let kind = trial.limit_kind().or_else(past_cache).or_else(|| server_limit_kind(record, it))?;
    if !it.is_accepted() {
        return None;
    }
    // A scan that reads one byte of each page does not measure memory.
    if kind == LimitKind::Memory && !trial.work.touches_bytes() {
        return None;
    }
    let target = record.target_of(trial)?;
    let size_bytes = target.size_bytes;
    // A file system that stores a file encoded reads it through the page cache even with
    // `O_DIRECT`.
    let encoded_bytes = target.extents.as_ref().map_or(0, |extents| extents.encoded_bytes);
    if kind == LimitKind::Device && encoded_bytes > target.cached_bytes() / 2 {
        return None;
    }
    let counted = match kind {
        LimitKind::Opens => target.tree().map(|tree| tree.files),
        LimitKind::Timing => target.blocks().map(|blocks| blocks.read_count),
        _ => trial.params.0.get("calls").copied(),
    };
    let bytes = match kind {
        // The content was not decoded to its end, so its size is unknown.
        LimitKind::Decoding if trial.decoded_format.is_some() && target.decoded.is_none() => return None,
        LimitKind::Decoding => target.bytes_out(trial.decoded_format),
        LimitKind::Loopback | LimitKind::Decryption => trial.params.0.get("span_bytes").copied()?,
        _ => size_bytes,
    };
    let number = |sample: &Sample| sample_value(kind, sample, bytes, counted);
    let observed: Vec<Observation> = it
        .samples
        .iter()
        .filter_map(|sample| Some(Observation { value: number(&sample)?, ..Observation::from(&sample) }))
        .collect();
    let median = stats::median(observed.iter().map(|observation| observation.value))?;
    // A control has its own noise.
    let location = SharedNoise::new([(trial.index, &observed)]).location(trial.index);
    let ci95 = location.and_then(|it| it.ci95).map(|it| it.ends);
    Some(Limit {
        kind,
        name: trial.id.to_string(),
        target: trial.target,
        state: Some(trial.state),
        trial: Some(trial.index),
        threads: trial.thread_count(),
        unit: unit(kind),
        value: whole(median),
        ci95: ci95.map(|ends| [whole(ends.low), whole(ends.high)]),
        samples: observed.iter().map(|observation| whole(observation.value)).collect(),
        how_measured: how_measured(kind).to_owned(),
    })
}

/// The kind of limit that a reading from a server shows; `None` for controls, for commands, for
/// other readings, and in records that `readlab limits` did not make.
fn server_limit_kind(record: &Record, it: &TrialRecord) -> Option<LimitKind> {
    let target = record.target_of(&it.trial)?;
    let is_limit = record.header.kind == RunKind::Limits
        && target.transport().has_server()
        && !it.trial.is_control()
        && it.trial.contender() != COMMAND;
    is_limit.then(|| if connection_count(it) > 1 { LimitKind::Connections } else { LimitKind::Connection })
}

/// One sample as a value of this limit; `None` where a meter is missing.
fn sample_value(kind: LimitKind, sample: &Sample, bytes: u64, counted: Option<u64>) -> Option<f64> {
    let wall_ns = float(sample.wall_ns.max(1));
    let rate = |bytes: u64| (bytes > 0).then(|| float(bytes) * 1e9 / wall_ns);
    let each = |count: u64| (count > 0).then(|| wall_ns / float(count));
    match (kind, unit(kind)) {
        // The bytes read from the device, not the requested bytes: holes cost nothing, and a file
        // system may compress.
        (LimitKind::Device, _) => rate(sample.device_read_bytes?),
        (LimitKind::Faults, _) => each(Meter::MinorFaults.read(sample)?),
        (_, LimitUnit::BytesPerSecond) => rate(bytes),
        (_, LimitUnit::Nanoseconds) => each(counted?),
    }
}

fn unit(kind: LimitKind) -> LimitUnit {
    match kind {
        LimitKind::Faults | LimitKind::Syscall | LimitKind::Opens | LimitKind::Timing => {
            LimitUnit::Nanoseconds
        }
        _ => LimitUnit::BytesPerSecond,
    }
}

fn how_measured(kind: LimitKind) -> &'static str {
    match kind {
        LimitKind::Memory => "the best scan over the file's bytes in anonymous memory",
        LimitKind::Copy => {
            "the file's bytes copied out of the page cache into a small buffer, and not looked at"
        }
        LimitKind::Faults => "the cached file mapped and one byte of every page touched; time for each fault",
        LimitKind::Decoding => {
            "an archive in memory decoded by the fastest decoder at hand; bytes that come out over the window"
        }
        LimitKind::Syscall => "getppid(2) in a loop; time for each call",
        LimitKind::Opens => "the files opened and closed one after the other, and not read; time for each",
        LimitKind::Timing => "the places gone through with a clock around each, and not read; time for each",
        LimitKind::Connection => "the target over one connection that is kept, and not looked at",
        LimitKind::Connections => "ranges of the target over connections that are kept, and not looked at",
        LimitKind::Link => "what the interface says",
        LimitKind::Loopback => "bytes over a TCP connection from a process to itself, and not looked at",
        LimitKind::Decryption => "records of 16 KiB decrypted in memory by AES-256-GCM, on one processor",
        LimitKind::Device => "reads past the page cache (O_DIRECT); bytes from the device over the window",
    }
}

/// The limit that applies to a trial that works with this many threads. It is a limit of the
/// trial's target, measured in rounds of the same state if there are any, and with the same number
/// of threads, else the next larger number, else the largest. Among several, the fastest is taken.
/// A trial's own rate is never its limit. A device limit of another target in `near_by`, on the
/// same mount, applies if the trial's target has none. Under a bound on memory, the limits of the
/// same target without a bound (`unbounded`) apply as well, and those of the device in any state.
pub(super) fn limit_for_trial<'a>(
    limits: &'a [Limit],
    kind: LimitKind,
    trial: &Trial,
    threads: u64,
    near_by: &[TargetIndex],
    unbounded: Option<TargetIndex>,
) -> Option<&'a Limit> {
    let others = || {
        let of_kind = limits.iter().filter(move |limit| limit.kind == kind);
        of_kind.filter(move |limit| limit.trial != Some(trial.index))
    };
    let is_own = move |limit: &Limit| limit.target == trial.target || Some(limit.target) == unbounded;
    let own = others().any(is_own);
    let of_target = || {
        others().filter(move |limit| {
            let elsewhere = kind == LimitKind::Device && !own && near_by.contains(&limit.target);
            is_own(limit) || elsewhere
        })
    };
    let is_pressed = trial.state == CacheState::Pressed;
    let same_rounds = !(is_pressed && kind == LimitKind::Device)
        && of_target().any(|limit| limit.state == Some(trial.state));
    let of_kind = || {
        of_target()
            .filter(move |limit| !same_rounds || limit.state == Some(trial.state) || limit.state.is_none())
    };
    if kind == LimitKind::Device {
        return of_kind().max_by_key(|limit| limit.value);
    }
    let enough = of_kind().map(|limit| limit.threads).filter(|&have| have >= threads).min();
    let threads = enough.or_else(|| of_kind().map(|limit| limit.threads).max())?;
    let same = of_kind().filter(|limit| limit.threads == threads);
    same.max_by_key(|limit| match limit.unit {
        LimitUnit::BytesPerSecond => limit.value,
        LimitUnit::Nanoseconds => u64::MAX - limit.value,
    })
}
