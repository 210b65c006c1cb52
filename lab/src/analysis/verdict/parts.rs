//! The facts behind a verdict: the medians of a trial's meters, how its time divides, and its share
//! of each limit.

use super::ABOVE_LIMIT;
use super::cpu_time::CpuTime;
use super::limits::{Needs, for_trial};
use crate::analysis::stats::{self, Confidence, Interval, Observation};
use crate::record::{Limit, LimitKind, Metric, Record, Sample, TrialRecord};
use crate::target::TargetFacts;
use crate::trial::{CacheState, Transport};
use serde::Serialize;

/// Bytes that the kernel maps around a fault on a cached file (fault_around_bytes, 64 KiB by
/// default). A mapping of small folios has at least one fault for each such range.
const FAULT_AROUND_BYTES: f64 = 65_536.0;

/// Bytes of a page of memory that a buffer takes one fault for, at most.
const PAGE_BYTES: u64 = 4096;

/// Kernel time beyond this share of the copy's own shows that a reading copies.
const COPIES: f64 = 0.5;

/// One part of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The contender's own code.
    User,
    /// The kernel's copy out of the page cache, as long as the control takes for the same bytes.
    Copy,
    /// Page faults, as long as the control takes for as many.
    Faults,
    /// Opening and closing files, as long as the control takes for the same files.
    Opens,
    /// All else in the kernel.
    Kernel,
    /// No processor works for it, and it wants none.
    Waiting,
    /// It wants a processor, and others have them all.
    Queued,
}

/// How the time of a trial's threads divides; shares from 0 to 1 that add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Parts {
    /// The contender's own code.
    pub user: f64,
    /// The kernel's copy.
    pub copy: f64,
    /// Page faults.
    pub faults: f64,
    /// Opening and closing files, where there are many.
    #[serde(skip_serializing_if = "is_none")]
    pub opens: f64,
    /// The rest of the kernel.
    pub kernel: f64,
    /// Waiting for anything but a processor.
    pub waiting: f64,
    /// Waiting for a processor: as long as a control that never waits for anything else had to;
    /// over a server, where there is no such control, as long as the kernel counted.
    pub queued: f64,
}

/// Whether a part is none of the time, as for what a target does not have.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(share: &f64) -> bool {
    *share <= 0.0
}

impl Parts {
    /// Whether a part is at least so large a share of what is the reading's own doing: all but the
    /// wait for a processor.
    pub(super) fn is_share(&self, part: f64, share: f64) -> bool {
        part >= share * (1.0 - self.queued) && part > 0.0
    }

    /// The parts, the largest first.
    #[must_use]
    pub fn largest_first(&self) -> Vec<(Part, f64)> {
        let mut parts = vec![
            (Part::User, self.user),
            (Part::Copy, self.copy),
            (Part::Faults, self.faults),
            (Part::Opens, self.opens),
            (Part::Kernel, self.kernel),
            (Part::Waiting, self.waiting),
            (Part::Queued, self.queued),
        ];
        // Most targets are a single file.
        parts.retain(|(part, share)| *part != Part::Opens || *share > 0.0);
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        parts
    }
}

/// All numbers that decide about one trial.
#[derive(Debug)]
pub(super) struct TrialFacts<'a> {
    /// Size of the target.
    pub(super) size_bytes: u64,
    /// Bytes requested per second: for a trial that decodes, the decoded bytes.
    pub(super) rate: f64,
    /// Bytes from the device, median.
    pub(super) device_bytes: Option<f64>,
    /// Bytes from the device per second.
    pub(super) device_rate: Option<f64>,
    /// Why there is no device meter.
    pub(super) why_no_device: String,
    /// The caches that a cold reading may come from, by name; `None` where it comes from the
    /// device.
    pub(super) cold_above: Option<String>,
    /// Share of the target that is stored otherwise than it reads.
    pub(super) encoded_share: f64,
    /// Processors at work, median.
    pub(super) busy: Option<f64>,
    /// How the time divides.
    pub(super) parts: Option<Parts>,
    /// Why the CPU times are not known.
    pub(super) why_no_cpu: String,
    /// The limits that this trial cannot do without.
    near: Vec<Near<'a>>,
    /// The trial itself.
    it: &'a TrialRecord,
}

/// A limit and how near a trial comes to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Near<'a> {
    /// The limit.
    pub(super) limit: &'a Limit,
    /// The trial's rate.
    pub(super) rate: f64,
    /// The trial's rate over the limit's.
    pub(super) share: f64,
}

impl<'a> TrialFacts<'a> {
    /// Collects them; `None` where the trial has no sample or its target is lost.
    #[expect(clippy::cast_precision_loss, reason = "shares have three digits")]
    pub(super) fn of(record: &Record, limits: &'a [Limit], it: &'a TrialRecord) -> Option<TrialFacts<'a>> {
        let target = record.targets.get(it.trial.target)?;
        let (size, wall_ns) = (target.size_bytes as f64, wall_ns(it)?.max(1.0));
        let cpu = CpuTime::of(it);
        let busy = cpu.map(|cpu| cpu.total_ns() / wall_ns);
        // Who does not say how many threads it has shows it by the processors it keeps busy.
        let workers = it.trial.threads().max(busy.map_or(1, whole_processors));
        // Of more threads than processors the others can do nothing but wait for one.
        let at_once = (workers as f64).min(record.header.machine.cpus.max(1) as f64);
        let near_by = on_same_mount(record, target);
        let needs = |kind| Needs { kind, trial: &it.trial, threads: workers, near_by: &near_by };
        let limit = |kind| for_trial(limits, &needs(kind));
        let readers = it.trial.readers() as f64;
        let faults = faults(it, size);
        let copy_ns = copy_cpu_ns(record, it).map(|ns| ns * readers);
        let fault_ns = faults.zip(limit(LimitKind::Faults)).map(|(count, each)| count * each.value as f64);
        let opens_ns = opens_cpu_ns(record, it).map(|ns| ns * readers);
        let explained = Explained { copy_ns, fault_ns, opens_ns };
        let queued_ns = |cpu: CpuTime| match target.transport() {
            Transport::File => cpu.total_ns() * (1.0 / available(record, it) - 1.0),
            _ => delayed_ns(it),
        };
        let parts = cpu.map(|cpu| divide(cpu, wall_ns * at_once, explained, queued_ns(cpu)));
        let device_bytes = median(it, Metric::DeviceReadBytes);
        let per_second = |bytes: f64| bytes * 1e9 / wall_ns;
        let (rate, device_rate) =
            (per_second(it.trial.bytes_out(target) as f64), device_bytes.map(per_second));
        // What the kernel reads around blocks comes in larger pieces than the control asks for.
        let most = if target.places.is_some() { per_second(size * readers) } else { f64::MAX };
        let asked_rate = device_rate.map(|rate| rate.min(most));
        let cold = it.trial.state == CacheState::Cold;
        let cold_above = target.cold_above().filter(|_| cold);
        let rates = [
            (LimitKind::Device, asked_rate.filter(|rate| cold && cold_above.is_none() && *rate > 0.0)),
            (LimitKind::Decoding, Some(rate).filter(|_| it.trial.decodes.is_some())),
            (
                LimitKind::Copy,
                Some(per_second(size * readers)).filter(|_| parts.is_some_and(|parts| parts.copy > 0.0)),
            ),
            (LimitKind::Memory, Some(rate).filter(|_| it.trial.work.touches_bytes())),
            (LimitKind::Link, Some(per_second(size * readers)).filter(|_| target.transport().has_server())),
        ];
        let near = rates.into_iter().filter_map(|(kind, rate)| Some(Near::of(limit(kind)?, rate?)));
        // What fewer threads showed is no limit for those who are faster by having more.
        let near = near.filter(|near| {
            let as_many = near.limit.kind == LimitKind::Device || near.limit.threads >= workers;
            as_many || near.share <= ABOVE_LIMIT
        });
        let encoded = target.extents.as_ref().map_or(0, |extents| extents.encoded_bytes);
        let why = |meter| missing(it, meter);
        Some(TrialFacts {
            size_bytes: target.size_bytes,
            near: if size > 0.0 { near.collect() } else { Vec::new() },
            encoded_share: encoded as f64 / size.max(1.0),
            cold_above,
            why_no_device: why(Metric::DeviceReadBytes),
            why_no_cpu: why(Metric::CpuUserNs),
            rate,
            device_bytes,
            device_rate,
            busy,
            parts,
            it,
        })
    }

    /// The limit that the trial comes nearest to.
    pub(super) fn nearest(&self) -> Option<Near<'a>> {
        self.near.iter().copied().max_by(|a, b| a.share.total_cmp(&b.share))
    }

    /// The limit of one kind, with the trial's share of it.
    pub(super) fn limit(&self, kind: LimitKind) -> Option<Near<'a>> {
        self.near.iter().copied().find(|near| near.limit.kind == kind)
    }

    /// The limit that the trial is beyond, so that it is none here: the one that it is the furthest
    /// beyond.
    pub(super) fn beyond(&self) -> Option<Near<'a>> {
        let beyond = self.near.iter().copied().filter(|near| near.share > ABOVE_LIMIT);
        beyond.filter(|near| !self.overlaps(*near)).max_by(|a, b| a.share.total_cmp(&b.share))
    }

    /// The limits that the trial is beyond by its interval and theirs, each with the better figure
    /// and its interval.
    pub(super) fn beaten(&self) -> Vec<(Near<'a>, Interval)> {
        let above = self.near.iter().copied().filter(|near| near.share > ABOVE_LIMIT);
        let clear = above.filter(|near| near.limit.ci95.is_some() && !self.overlaps(*near));
        let with_ends = clear.filter_map(|near| {
            let (shortest, longest) = self.spread().filter(|(shortest, _)| *shortest > 0.0)?;
            Some((near, Interval { low: near.rate / longest, high: near.rate / shortest }))
        });
        with_ends.collect()
    }

    /// Whether the interval of the trial overlaps that of a limit, so that they are not clearly
    /// different. The interval is computed only on demand: for most trials the share alone decides.
    #[expect(clippy::cast_precision_loss, reason = "shares have three digits")]
    pub(super) fn overlaps(&self, near: Near) -> bool {
        let ends = near.limit.ci95.zip(self.spread());
        ends.is_some_and(|([low, high], (shortest, longest))| {
            near.rate / shortest >= low as f64 && near.rate / longest <= high as f64
        })
    }

    /// The ends of the interval of the trial's median time, as shares of the median, the lower one
    /// 0 where times scatter so widely; `None` with too few samples.
    fn spread(&self) -> Option<(f64, f64)> {
        let walls: Vec<Observation> = self.it.samples.iter().map(Observation::from).collect();
        let ends = stats::median_interval(&walls, Confidence::REPORTED)?;
        let median = wall_ns(self.it)?;
        (median > 0.0).then(|| (ends.low.max(0.0) / median, ends.high / median))
    }
}

/// The numbers of the targets on the mount of one.
fn on_same_mount(record: &Record, target: &TargetFacts) -> Vec<usize> {
    let same_mount = |(_, other): &(usize, &TargetFacts)| other.mount == target.mount;
    record.targets.iter().enumerate().filter(same_mount).map(|(index, _)| index).collect()
}

impl<'a> Near<'a> {
    #[expect(clippy::cast_precision_loss, reason = "shares have three digits")]
    fn of(limit: &'a Limit, rate: f64) -> Near<'a> {
        Near { limit, rate, share: rate / limit.value.max(1) as f64 }
    }
}

/// Kernel time that controls explain; `None` where no control does.
#[derive(Debug, Clone, Copy)]
struct Explained {
    copy_ns: Option<f64>,
    fault_ns: Option<f64>,
    opens_ns: Option<f64>,
}

/// Divides the time of all threads into parts. Kernel time is counted once: first as the opening of
/// files, then as page faults, then as the copy, if at least half of the copy's own time is left.
fn divide(cpu: CpuTime, whole_ns: f64, explained: Explained, queued_ns: f64) -> Parts {
    let CpuTime { user_ns: user, system_ns: system } = cpu;
    // CPU times come from another clock than the wall time and may add up to a little more.
    let whole = whole_ns.max(cpu.total_ns());
    let opens = explained.opens_ns.map_or(0.0, |ns| ns.min(system));
    let faults = explained.fault_ns.map_or(0.0, |ns| ns.min(system - opens));
    let left = system - opens - faults;
    let copy = explained.copy_ns.filter(|ns| left >= ns * COPIES).map_or(0.0, |ns| ns.min(left));
    let idle = (whole - user - system).max(0.0);
    let queued = idle.min(queued_ns);
    Parts {
        user: user / whole,
        copy: copy / whole,
        faults: faults / whole,
        opens: opens / whole,
        kernel: (left - copy) / whole,
        waiting: (idle - queued) / whole,
        queued: queued / whole,
    }
}

/// Page faults of a reading that maps its file; `None` for one that has only those of its buffers.
#[expect(clippy::cast_precision_loss, reason = "far fewer faults than 2^52")]
fn faults(it: &TrialRecord, size: f64) -> Option<f64> {
    let param = |name: &str| it.trial.params.0.get(name).copied();
    let each = ["buffers", "depth", "threads"].iter().filter_map(|name| param(name)).product::<u64>();
    let buffers = param("buffer_bytes").map_or(0, |bytes| bytes.saturating_mul(each) / PAGE_BYTES);
    let count = median(it, Metric::MinorFaults)? - buffers as f64;
    (count >= 16.0 && count >= size / FAULT_AROUND_BYTES / 2.0).then_some(count)
}

/// CPU time of the copy alone, for the same bytes by one thread; `None` past the page cache, where
/// nothing is copied, for one that maps its file, and without the control.
#[expect(clippy::cast_precision_loss, reason = "shares have three digits")]
fn copy_cpu_ns(record: &Record, it: &TrialRecord) -> Option<f64> {
    let size = record.targets.get(it.trial.target)?.size_bytes as f64;
    if it.trial.bypasses_cache() || faults(it, size).is_some() {
        return None;
    }
    let same_target = |other: &&TrialRecord| other.trial.target == it.trial.target;
    let control =
        record.trials.iter().filter(same_target).filter(|other| other.trial.limit() == Some(LimitKind::Copy));
    let alone = control.min_by_key(|control| control.trial.threads())?;
    let copy_ns = CpuTime::of(alone).map(CpuTime::total_ns)?;
    // Of many files, the control opens each, too.
    Some((copy_ns - opens_cpu_ns(record, it).unwrap_or_default()).max(0.0))
}

/// CPU time of opening and closing the same files; `None` for a single file, and without the
/// control.
fn opens_cpu_ns(record: &Record, it: &TrialRecord) -> Option<f64> {
    let of_target = |other: &&TrialRecord| {
        other.trial.target == it.trial.target && other.trial.limit() == Some(LimitKind::Opens)
    };
    let controls = || record.trials.iter().filter(of_target);
    let same_state = controls().find(|control| control.trial.state == it.trial.state);
    CpuTime::of(same_state.or_else(|| controls().next())?).map(CpuTime::total_ns)
}

/// The share of time for which a thread that never waits got a processor, by the controls of the
/// same rounds that only work: 1 on an idle machine, and without such controls.
fn available(record: &Record, it: &TrialRecord) -> f64 {
    let works = |other: &&TrialRecord| {
        (other.trial.target, other.trial.state) == (it.trial.target, it.trial.state)
            && matches!(other.trial.limit(), Some(LimitKind::Memory | LimitKind::Copy))
            && other.trial.threads() == 1
    };
    let busy = record
        .trials
        .iter()
        .filter(works)
        .filter_map(|control| Some(CpuTime::of(control)?.total_ns() / wall_ns(control)?.max(1.0)));
    busy.max_by(f64::total_cmp).map_or(1.0, |share| share.clamp(0.01, 1.0))
}

/// How long its threads waited for a processor, median: what the kernel counted in a turn, as a
/// share of that turn.
#[expect(clippy::cast_precision_loss, reason = "shares have three digits")]
fn delayed_ns(it: &TrialRecord) -> f64 {
    let of = |sample: Sample| {
        let (delayed_ns, turn_ns) = (sample.turn.delayed_ns?, sample.turn.wall_ns?);
        Some(sample.wall_ns as f64 * delayed_ns as f64 / turn_ns.max(1) as f64)
    };
    stats::median(it.samples.iter().filter_map(of)).unwrap_or(0.0)
}

/// The processors that so much work keeps busy, a little more than whole ones rounded down.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as many as a machine has processors"
)]
pub fn whole_processors(busy: f64) -> u64 {
    (busy - 0.15).ceil().max(1.0) as u64
}

/// Median wall time.
pub(super) fn wall_ns(it: &TrialRecord) -> Option<f64> {
    median(it, Metric::WallNs)
}

/// The median of a meter over the samples that hold it.
#[expect(clippy::cast_precision_loss, reason = "exact up to 104 days and 9 PB")]
fn median(it: &TrialRecord, metric: Metric) -> Option<f64> {
    stats::median(it.samples.iter().filter_map(|sample| Some(metric.of(&sample)? as f64)))
}

/// Why a meter was not read.
fn missing(it: &TrialRecord, metric: Metric) -> String {
    let none = || "no sample holds them and no reason was recorded".to_owned();
    it.missing.get(metric.name()).cloned().unwrap_or_else(none)
}
