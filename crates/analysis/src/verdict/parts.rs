//! The facts behind a verdict: the medians of a trial's meters, how its time divides, and its share
//! of each limit.

use super::controls::{available, copy_cpu_ns, opens_cpu_ns};
use super::cpu_time::{CpuTime, NoCpuTime, of_threads, whole_processors};
use super::faults::{of_mapping, of_new_memory};
use super::limits::for_trial;
use super::quota::throttled;
use super::{ABOVE_LIMIT, DOMINANT};
use crate::stats::{self, Confidence, Interval, Observation, float};
use readlab_model::sample::{Meter, Sample};
use readlab_model::target::TargetFacts;
use readlab_model::trial::CacheState;
use readlab_record::{Limit, LimitKind, Record, TrialRecord};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// A file of which fewer bytes come from the device is stored in fewer.
const INFLATED: f64 = 0.9;

/// So many times the bytes asked for are more than the tables of a file system.
const FETCHED_MORE: f64 = 1.1;

/// Kernel time beyond this share of the copy's own shows that a reading copies.
const COPIES: f64 = 0.5;

/// A part of the time of a trial's threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeShare {
    /// The contender's own code.
    User,
    /// The kernel's copy out of the page cache, as long as the control takes for the same bytes.
    Copy,
    /// Page faults on the file's pages, as long as the control takes for as many.
    Faults,
    /// The kernel's work beyond the copy into one small buffer, where each reading makes itself new
    /// memory: page faults, zeros, and a copy that misses the processor's caches.
    NewMemory,
    /// Opening and closing files, as long as the control takes for the same files.
    Opens,
    /// All else in the kernel.
    Kernel,
    /// No processor works for it, and it wants none.
    Waiting,
    /// It wants a processor, and others have them all: as long as a control that never waits for
    /// anything else had to; where there is no such control, as over a server, as long as the kernel
    /// counted.
    Queued,
}

impl TimeShare {
    const ALL: [TimeShare; 8] = [
        TimeShare::User,
        TimeShare::Copy,
        TimeShare::Faults,
        TimeShare::NewMemory,
        TimeShare::Opens,
        TimeShare::Kernel,
        TimeShare::Waiting,
        TimeShare::Queued,
    ];
}

/// How the time of a trial's threads divides, in the order of [`TimeShare`]; shares from 0 to 1 that
/// add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema)]
#[schemars(schema_with = "shares")]
pub struct Parts([f64; TimeShare::ALL.len()]);

impl Parts {
    pub fn of(&self, part: TimeShare) -> f64 {
        self.0[part as usize]
    }

    /// Whether a part is at least so large a share of what is the reading's own doing: all but the
    /// wait for a processor.
    pub(super) fn is_share(&self, part: f64, share: f64) -> bool {
        part >= share * (1.0 - self.of(TimeShare::Queued)) && part > 0.0
    }

    /// The parts, without those that most readings do not have: most targets are a single file, and
    /// most readings reuse their memory.
    fn shown(&self) -> impl Iterator<Item = (TimeShare, f64)> {
        let is_rare = |part| matches!(part, TimeShare::Opens | TimeShare::NewMemory);
        let all = TimeShare::ALL.into_iter().zip(self.0);
        all.filter(move |(part, share)| !is_rare(*part) || *share > 0.0)
    }

    /// The parts, the largest first.
    pub fn largest_first(&self) -> Vec<(TimeShare, f64)> {
        let mut parts: Vec<(TimeShare, f64)> = self.shown().collect();
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        parts
    }
}

impl Serialize for Parts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.shown())
    }
}

fn shares(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "propertyNames": generator.subschema_for::<TimeShare>(),
        "additionalProperties": generator.subschema_for::<f64>(),
    })
}

/// All numbers that decide about one trial.
#[derive(Debug)]
pub(super) struct TrialFacts<'a> {
    pub(super) size_bytes: u64,
    /// Bytes requested per second: for a trial that decodes, the decoded bytes.
    pub(super) rate: f64,
    /// Bytes from the device, median.
    pub(super) device_bytes: Option<f64>,
    pub(super) device_rate: Option<f64>,
    /// How many times the bytes that were asked for came from the device, where that is more: the
    /// kernel reads around blocks, in larger pieces than the control asks for.
    pub(super) fetched_times: Option<f64>,
    /// The caches that a cold reading may come from, by name; `None` where it comes from the
    /// device.
    pub(super) cold_above: Option<String>,
    /// Share of the target that is stored otherwise than it reads.
    pub(super) encoded_share: f64,
    /// Whether its file system, which lists no extents, gave more bytes than it fetched.
    pub(super) is_inflated: bool,
    /// Share of its time in which the device had work; `None` where that was not counted.
    pub(super) device_busy: Option<f64>,
    /// Time in which their quota of processors was used up, over all processors, as a share of the
    /// trial's.
    pub(super) throttled: f64,
    /// Share of its threads' time in which their quota of processors was used up.
    pub(super) throttled_share: f64,
    /// Processors at work, median.
    pub(super) busy: Option<f64>,
    pub(super) parts: Option<Parts>,
    /// Why the CPU times are not known.
    pub(super) why_no_cpu: String,
    /// The limits that this trial cannot do without.
    near: Vec<LimitShare<'a>>,
    it: &'a TrialRecord,
}

/// A limit and how near a trial comes to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct LimitShare<'a> {
    pub(super) limit: &'a Limit,
    pub(super) rate: f64,
    /// That rate over the limit's.
    pub(super) share: f64,
}

impl<'a> TrialFacts<'a> {
    /// Collects them; `None` where the trial has no sample or its target is lost.
    pub(super) fn from_record(
        record: &Record,
        limits: &'a [Limit],
        it: &'a TrialRecord,
    ) -> Option<TrialFacts<'a>> {
        let target = record.targets.get(it.trial.target)?;
        let (size, wall_ns) = (float(target.size_bytes), wall_ns(it)?.max(1.0));
        let metered = CpuTime::from_trial(it);
        let why_no_cpu = metered.as_ref().err().map_or_else(String::new, |why| why_no_cpu(it, *why));
        let cpu = metered.ok();
        let busy = cpu.map(|cpu| of_threads(cpu.total_ns() / wall_ns, it));
        // Who does not say how many threads it has shows it by the processors it keeps busy.
        let workers = it.trial.threads().max(busy.map_or(1, whole_processors));
        // Of more threads than processors the others can do nothing but wait for one.
        let at_once = float(workers).min(float(record.header.machine.cpus.max(1)));
        let near_by = on_same_mount(record, target);
        let limit = |kind| for_trial(limits, kind, &it.trial, workers, &near_by);
        let readers = float(it.trial.readers());
        let explained = explained(record, it, size, limit(LimitKind::Faults));
        let parts = cpu.map(|cpu| {
            let queued_ns = queued_ns(record, it, cpu, wall_ns);
            divide(cpu, wall_ns * at_once, explained, queued_ns)
        });
        let device_bytes = median(it, Meter::DeviceReadBytes);
        let per_second = |bytes: f64| bytes * 1e9 / wall_ns;
        let (rate, device_rate) =
            (per_second(float(it.trial.bytes_out(target))), device_bytes.map(per_second));
        let times = device_bytes.map(|bytes| bytes / (size * readers).max(1.0));
        let cold = it.trial.state == CacheState::Cold;
        let cold_above = target.cold_above().filter(|_| cold);
        // A command that may have stopped early has no rate.
        let is_whole = record.read_whole(it).is_some();
        let read_rate = Some(per_second(size * readers)).filter(|_| is_whole);
        let rates = [
            (LimitKind::Device, device_rate.filter(|rate| cold && cold_above.is_none() && *rate > 0.0)),
            (LimitKind::Decoding, Some(rate).filter(|_| is_whole && it.trial.decodes.is_some())),
            (LimitKind::Copy, read_rate.filter(|_| parts.is_some_and(|it| it.of(TimeShare::Copy) > 0.0))),
            (LimitKind::Memory, Some(rate).filter(|_| it.trial.work.touches_bytes())),
            (LimitKind::Link, read_rate.filter(|_| target.transport().has_server())),
        ];
        let near = rates.into_iter().filter_map(|(kind, rate)| Some(LimitShare::new(limit(kind)?, rate?)));
        // What fewer threads showed is no limit for those who are faster by having more.
        let near = near.filter(|near| {
            let as_many = near.limit.kind == LimitKind::Device || near.limit.threads >= workers;
            as_many || near.share <= ABOVE_LIMIT
        });
        let encoded = target.extents.as_ref().map_or(0, |extents| extents.encoded_bytes);
        Some(TrialFacts {
            size_bytes: target.size_bytes,
            near: if size > 0.0 { near.collect() } else { Vec::new() },
            encoded_share: float(encoded) / size.max(1.0),
            is_inflated: cold && is_inflated(target, device_bytes),
            device_busy: of_turn_ns(it, |sample| sample.turn.device_busy_ns).map(|ns| ns / wall_ns),
            throttled: throttled(it),
            throttled_share: (throttled(it) / at_once).min(1.0),
            cold_above,
            why_no_cpu,
            rate,
            device_bytes,
            device_rate,
            fetched_times: times.filter(|times| cold && target.places().is_some() && *times > FETCHED_MORE),
            busy,
            parts,
            it,
        })
    }

    /// Whether the file system decodes most of the target for this reading: the page cache has it
    /// decoded.
    pub(super) fn is_encoded(&self) -> bool {
        self.it.trial.state == CacheState::Cold && (self.encoded_share >= DOMINANT || self.is_inflated)
    }

    /// The limit that the trial comes nearest to.
    pub(super) fn nearest(&self) -> Option<LimitShare<'a>> {
        self.near.iter().copied().max_by(|a, b| a.share.total_cmp(&b.share))
    }

    /// The limit of one kind, with the trial's share of it.
    pub(super) fn limit(&self, kind: LimitKind) -> Option<LimitShare<'a>> {
        self.near.iter().copied().find(|near| near.limit.kind == kind)
    }

    /// Whether the trial reaches this share of a limit.
    pub(super) fn is_at(&self, kind: LimitKind, share: f64) -> bool {
        self.limit(kind).is_some_and(|near| near.share >= share)
    }

    /// The limit that this trial exceeds most; a limit that is exceeded limits nothing.
    pub(super) fn beyond(&self) -> Option<LimitShare<'a>> {
        let beyond = self.near.iter().copied().filter(|near| near.share > ABOVE_LIMIT);
        beyond.filter(|near| !self.overlaps(*near)).max_by(|a, b| a.share.total_cmp(&b.share))
    }

    /// The limits that the trial exceeds although both intervals are considered, each with the
    /// higher figure and its interval.
    pub(super) fn beaten(&self) -> Vec<(LimitShare<'a>, Interval)> {
        // Larger pieces than the control's say nothing of its own.
        let is_comparable =
            |near: &LimitShare| near.limit.kind != LimitKind::Device || self.fetched_times.is_none();
        let above = self.near.iter().copied().filter(|it| it.share > ABOVE_LIMIT && is_comparable(it));
        let clear = above.filter(|near| near.limit.ci95.is_some() && !self.overlaps(*near));
        let ends = |near: &LimitShare| self.interval(near.rate).filter(|ends| ends.high.is_finite());
        clear.filter_map(|near| Some((near, ends(&near)?))).collect()
    }

    /// Whether the interval of the trial overlaps that of a limit, so that they are not clearly
    /// different. The interval is computed only on demand: for most trials the share alone decides.
    pub(super) fn overlaps(&self, near: LimitShare) -> bool {
        let ends = near.limit.ci95.zip(self.interval(near.rate));
        ends.is_some_and(|([low, high], own)| own.high >= float(low) && own.low <= float(high))
    }

    /// The interval of a rate of the trial, by that of its median time, without an upper end where
    /// times scatter so widely; `None` with too few samples.
    fn interval(&self, rate: f64) -> Option<Interval> {
        let walls: Vec<Observation> = self.it.samples.iter().map(Observation::from).collect();
        let ends = stats::median_interval(&walls, Confidence::REPORTED)?;
        let median = wall_ns(self.it).filter(|median| *median > 0.0)?;
        Some(Interval { low: rate / (ends.high / median), high: rate / (ends.low.max(0.0) / median) })
    }
}

/// Whether a file system that may store files compressed, and has no extents that say so, fetched
/// fewer bytes than it gave.
fn is_inflated(target: &TargetFacts, device_bytes: Option<f64>) -> bool {
    let kind = target.filesystem.as_deref().unwrap_or_default();
    let zeros = target.extents.as_ref().map_or(0, |extents| extents.hole_bytes + extents.unwritten_bytes);
    let stored_bytes = float(target.size_bytes.saturating_sub(zeros));
    ["squashfs", "erofs", "cramfs"].contains(&kind)
        && device_bytes.is_some_and(|bytes| bytes > 0.0 && bytes < INFLATED * stored_bytes)
}

/// What controls explain of a trial's time in the kernel, of a target of this size.
fn explained(record: &Record, it: &TrialRecord, size: f64, fault: Option<&Limit>) -> Explained {
    let readers = float(it.trial.readers());
    Explained {
        copy_ns: copy_cpu_ns(record, it).map(|ns| ns * readers),
        fault_ns: of_mapping(it, size).zip(fault).map(|(count, each)| count * float(each.value)),
        opens_ns: opens_cpu_ns(record, it).map(|ns| ns * readers),
        new_memory: of_new_memory(it, size).is_some(),
    }
}

/// How long the threads of a trial waited for a processor that others used, or that a quota kept
/// from them.
fn queued_ns(record: &Record, it: &TrialRecord, cpu: CpuTime, wall_ns: f64) -> f64 {
    let by_others =
        available(record, it).map_or_else(|| delayed_ns(it), |share| cpu.total_ns() * (1.0 / share - 1.0));
    by_others.max(throttled(it) * wall_ns)
}

/// The numbers of the targets on the mount of one.
fn on_same_mount(record: &Record, target: &TargetFacts) -> Vec<usize> {
    let same_mount = |(_, other): &(usize, &TargetFacts)| other.mount == target.mount;
    record.targets.iter().enumerate().filter(same_mount).map(|(index, _)| index).collect()
}

impl<'a> LimitShare<'a> {
    fn new(limit: &'a Limit, rate: f64) -> LimitShare<'a> {
        LimitShare { limit, rate, share: rate / float(limit.value.max(1)) }
    }
}

/// Kernel time that controls explain; `None` where no control does.
#[derive(Debug, Clone, Copy)]
struct Explained {
    copy_ns: Option<f64>,
    fault_ns: Option<f64>,
    opens_ns: Option<f64>,
    new_memory: bool,
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
    let (rest, new_memory) = match explained.new_memory && copy > 0.0 {
        true => (0.0, left - copy),
        false => (left - copy, 0.0),
    };
    let waiting = idle - queued;
    Parts([user, copy, faults, new_memory, opens, rest, waiting, queued].map(|ns| ns / whole))
}

/// How long its threads waited for a processor, median.
fn delayed_ns(it: &TrialRecord) -> f64 {
    of_turn_ns(it, |sample| sample.turn.delayed_ns).unwrap_or(0.0)
}

/// What the kernel counted in a turn, as a share of that turn and of the reading's time; the median
/// over the samples that hold it.
pub(super) fn of_turn_ns(it: &TrialRecord, counted: fn(&Sample) -> Option<u64>) -> Option<f64> {
    let of = |sample: Sample| {
        let (counted_ns, turn_ns) = (counted(&sample)?, sample.turn.wall_ns?);
        Some(float(sample.wall_ns) * float(counted_ns) / float(turn_ns.max(1)))
    };
    stats::median(it.samples.iter().filter_map(of))
}

/// Median wall time.
pub(super) fn wall_ns(it: &TrialRecord) -> Option<f64> {
    median(it, Meter::WallNs)
}

/// The median of a meter over the samples that hold it.
pub(super) fn median(it: &TrialRecord, metric: Meter) -> Option<f64> {
    stats::median(it.samples.iter().filter_map(|sample| Some(float(metric.read(&sample)?))))
}

fn why_no_cpu(it: &TrialRecord, why: NoCpuTime) -> String {
    match why {
        NoCpuTime::NotMetered => missing(it, Meter::CpuUserNs),
        NoCpuTime::BelowResolution { .. } => why.to_string(),
    }
}

/// Why a meter was not read.
pub(super) fn missing(it: &TrialRecord, metric: Meter) -> String {
    let none = || "no sample holds them and no reason was recorded".to_owned();
    it.missing.get(metric.name()).cloned().unwrap_or_else(none)
}
