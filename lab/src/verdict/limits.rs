//! The limits of a record: what its controls, and its readings past the page cache, show the machine to do at best.
//!
//! Everything is computed from samples of the same rounds as the readings that are compared with it.

use crate::record::{Limit, LimitKind, LimitUnit, Metric, Record, Sample, TrialRecord};
use crate::stats::{self, Bootstrap, Observation};
use crate::trial::CacheState;

/// Every limit of the record, in the order of its trials, then those that something else measured.
#[must_use]
pub fn limits(record: &Record) -> Vec<Limit> {
    let of_trials = record.trials.iter().filter_map(|trial| of_trial(record, trial));
    let all = of_trials.chain(record.limits.iter().cloned());
    // What may come from a cache below shows nothing of a device.
    let of_a_cache =
        |limit: &Limit| record.targets.get(limit.target).is_some_and(|target| target.cold_above().is_some());
    all.filter(|limit| limit.kind != LimitKind::Device || !of_a_cache(limit)).collect()
}

/// What a trial shows to be possible; `None` for an ordinary reading, and where its samples do not stand.
fn of_trial(record: &Record, it: &TrialRecord) -> Option<Limit> {
    let trial = &it.trial;
    let kind = trial.limit().or_else(|| trial.bypasses_cache().then_some(LimitKind::Device))?;
    if !it.stands() {
        return None;
    }
    // A scan that looks at one byte of a page is no measure of memory.
    if kind == LimitKind::Memory && !trial.work.touches_bytes() {
        return None;
    }
    let target = record.targets.get(trial.target)?;
    let size_bytes = target.size_bytes;
    // A file system that stores a file encoded reads it through the page cache whatever it is asked.
    let encoded_bytes = target.extents.as_ref().map_or(0, |extents| extents.encoded_bytes);
    if kind == LimitKind::Device && encoded_bytes > size_bytes / 2 {
        return None;
    }
    let calls = trial.params.0.get("calls").copied();
    let bytes = if kind == LimitKind::Decoding { target.bytes_out(trial.decodes) } else { size_bytes };
    let number = |sample: &Sample| number(kind, sample, bytes, calls);
    let observed: Vec<Observation> = it
        .samples
        .iter()
        .filter_map(|sample| Some(Observation { value: number(&sample)?, ..stats::wall(sample) }))
        .collect();
    let median = stats::median(observed.iter().map(|observation| observation.value))?;
    let ci95 = Bootstrap::new(record.header.seed).median_interval(&observed);
    Some(Limit {
        kind,
        name: trial.id.to_string(),
        target: trial.target,
        state: Some(trial.state),
        trial: Some(trial.index),
        threads: threads(it),
        unit: unit(kind),
        value: whole(median),
        ci95: ci95.map(|ends| [whole(ends.low), whole(ends.high)]),
        samples: observed.iter().map(|observation| whole(observation.value)).collect(),
        how: how(kind).to_owned(),
    })
}

/// One sample as a number of this limit; `None` where a meter is missing.
#[expect(clippy::cast_precision_loss, reason = "rates and costs have three digits")]
fn number(kind: LimitKind, sample: &Sample, bytes: u64, calls: Option<u64>) -> Option<f64> {
    let wall_ns = sample.wall_ns.max(1) as f64;
    let rate = |bytes: u64| (bytes > 0).then(|| bytes as f64 * 1e9 / wall_ns);
    let each = |count: u64| (count > 0).then(|| wall_ns / count as f64);
    match kind {
        LimitKind::Memory | LimitKind::Copy | LimitKind::Decoding => rate(bytes),
        // What came from the device, not what was asked for: holes cost nothing, and a file system may compress.
        LimitKind::Device => rate(sample.device_read_bytes?),
        LimitKind::Faults => each(Metric::MinorFaults.of(sample)?),
        LimitKind::Syscall => each(calls?),
    }
}

/// Threads that a trial says it works with; one where it says nothing.
pub(super) fn threads(it: &TrialRecord) -> u64 {
    it.trial.params.0.get("threads").copied().unwrap_or(1)
}

fn unit(kind: LimitKind) -> LimitUnit {
    match kind {
        LimitKind::Memory | LimitKind::Copy | LimitKind::Device | LimitKind::Decoding => {
            LimitUnit::BytesPerSecond
        }
        LimitKind::Faults | LimitKind::Syscall => LimitUnit::Nanoseconds,
    }
}

fn how(kind: LimitKind) -> &'static str {
    match kind {
        LimitKind::Memory => "the best scan over the file's bytes in anonymous memory",
        LimitKind::Copy => {
            "the file's bytes copied out of the page cache into a small buffer, and not looked at"
        }
        LimitKind::Faults => "the cached file mapped and one byte of every page touched; time for each fault",
        LimitKind::Decoding => {
            "an archive in memory decoded whole by the fastest decoder at hand; bytes that come out over the window"
        }
        LimitKind::Syscall => "getppid(2) in a loop; time for each call",
        LimitKind::Device => "reads past the page cache (O_DIRECT); bytes from the device over the window",
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "float casts saturate")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// The limit that holds for a trial: of its target, from the rounds of its state where there are such, with as many
/// threads if that was measured, else with the next more, else with the most; of these the fastest.
pub(super) fn for_trial(
    limits: &[Limit],
    kind: LimitKind,
    (target, state, threads): (usize, CacheState, u64),
) -> Option<&Limit> {
    let of_target = || limits.iter().filter(move |limit| limit.kind == kind && limit.target == target);
    let same_rounds = of_target().any(|limit| limit.state == Some(state));
    let of_kind = || {
        of_target().filter(move |limit| !same_rounds || limit.state == Some(state) || limit.state.is_none())
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
