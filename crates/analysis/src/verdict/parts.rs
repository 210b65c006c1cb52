//! The facts behind a verdict: the medians of a trial's meters, the parts of its time, and its
//! share of each limit.

use super::controls::{available_share, copy_cpu_ns, opens_cpu_ns};
use super::cpu_time::{CpuTime, NoCpuTime, limit_to_threads, whole_processors};
use super::limits::limit_for_trial;
use super::memory::LEFT_SHARE_MAX;
use super::page_faults::{allocates_memory, mapping_faults};
use super::quota::throttled_ratio;
use super::read_ahead::AMPLIFICATION_MIN;
use super::{ABOVE_LIMIT_SHARE, DOMINANT_SHARE_MIN};
use crate::memory::has_greater_bound;
use crate::stats::{self, Confidence, Interval, Observation, float};
use readlab_model::sample::{Meter, Sample};
use readlab_model::target::{Http, TargetFacts, TargetIndex};
use readlab_model::trial::CacheState;
use readlab_record::{Limit, LimitKind, Record, TrialRecord};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;

/// File systems that store most files compressed and list no extents of them.
const COMPRESSING_FILESYSTEMS: [&str; 3] = ["squashfs", "erofs", "cramfs"];

/// If less than this share of a file's bytes comes from the device, the file is stored compressed.
const COMPRESSED_SHARE_MAX: f64 = 0.9;

/// Fetching more than this many times the requested bytes is not explained by the metadata of a
/// file system.
const FETCHED_TIMES_MIN: f64 = 1.1;

/// If the rest of the kernel time is at least this share of the copy control's time, the reading
/// copies.
const COPY_SHARE_MIN: f64 = 0.5;

/// The parts into which the time of a trial's threads is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[serde(rename = "TimeShare")]
pub enum TimePart {
    /// The contender's own code.
    User,
    /// The kernel's copy out of the page cache, estimated by the control for the same bytes.
    Copy,
    /// Page faults on the pages of the file, estimated by the control for the same number.
    Faults,
    /// The kernel's work beyond the copy into one small buffer, where each reading allocates new
    /// memory: page faults, zeroing, and a copy that misses the CPU caches.
    NewMemory,
    /// Opening and closing files, estimated by the control for the same files.
    Opens,
    /// All other kernel time.
    Kernel,
    /// The threads do not run and are not ready to run.
    Waiting,
    /// The threads are ready to run, but other processes use all processors. Estimated from a
    /// control that never waits for anything else; without this control, as over a server, the time
    /// is the kernel's own count.
    Queued,
}

impl TimePart {
    const ALL: [TimePart; 8] = [
        TimePart::User,
        TimePart::Copy,
        TimePart::Faults,
        TimePart::NewMemory,
        TimePart::Opens,
        TimePart::Kernel,
        TimePart::Waiting,
        TimePart::Queued,
    ];
}

/// The parts of the time of a trial's threads, in the order of [`TimePart`]: shares from 0 to 1
/// that add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema)]
#[schemars(schema_with = "shares")]
#[serde(rename = "Parts")]
pub struct TimeParts([f64; TimePart::ALL.len()]);

impl TimeParts {
    pub fn share_of(&self, part: TimePart) -> f64 {
        self.0[part as usize]
    }

    /// Whether a part is at least this share of the time that the reading itself causes, which is
    /// all time except the wait for a processor.
    pub(super) fn reaches_share(&self, part: f64, share: f64) -> bool {
        part >= share * (1.0 - self.share_of(TimePart::Queued)) && part > 0.0
    }

    /// The parts with their shares. Opening files and new memory are left out if they take no time,
    /// because most targets are a single file, and most readings reuse their memory.
    fn without_absent(&self) -> impl Iterator<Item = (TimePart, f64)> {
        let is_rare = |part| matches!(part, TimePart::Opens | TimePart::NewMemory);
        let all = TimePart::ALL.into_iter().zip(self.0);
        all.filter(move |(part, share)| !is_rare(*part) || *share > 0.0)
    }

    /// The parts, the largest first.
    pub fn largest_first(&self) -> Vec<(TimePart, f64)> {
        let mut parts: Vec<(TimePart, f64)> = self.without_absent().collect();
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        parts
    }
}

impl Serialize for TimeParts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.without_absent())
    }
}

fn shares(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "propertyNames": generator.subschema_for::<TimePart>(),
        "additionalProperties": generator.subschema_for::<f64>(),
    })
}

/// All numbers that decide the verdict on one trial.
#[derive(Debug)]
pub(super) struct TrialFacts<'a> {
    pub(super) size_bytes: u64,
    /// Bytes that are delivered per second; for a trial that decodes, the decoded bytes. `None` for
    /// a command of which it is not known which part it reads.
    pub(super) rate: Option<f64>,
    /// Median bytes read from the device.
    pub(super) device_bytes: Option<f64>,
    /// The device bytes divided by the bytes that a reading needs, each counted once.
    pub(super) needed_bytes_ratio: Option<f64>,
    /// Bytes per second from the device. Over readlab's own server they are not counted: cold, it is
    /// the least rate at which they come.
    pub(super) device_rate: Option<f64>,
    /// The device bytes divided by the requested bytes, where clearly more came from the device:
    /// the kernel reads around blocks, in larger pieces than the control requests.
    pub(super) fetched_ratio: Option<f64>,
    /// Whether the trial bypasses the page cache: by its declaration, or because its readings copy
    /// nothing out of the cache and leave nothing in it, as those of a method that chooses by the
    /// file.
    pub(super) bypasses_cache: bool,
    /// The names of the caches that a cold reading may come from; `None` where it comes from the
    /// device.
    pub(super) cold_cache_names: Option<String>,
    /// The share of the target that is stored encoded (compressed or encrypted).
    pub(super) encoded_share: f64,
    /// Whether a file system that lists no extents delivered more bytes than it read from the
    /// device.
    pub(super) is_stored_compressed: bool,
    /// Whether a file system that may compress files, and lists no extents, read many times the
    /// bytes of the blocks: it always reads whole blocks of its own, which may be compressed.
    pub(super) may_be_stored_compressed: bool,
    /// The share of the time in which the device had work; `None` where that was not counted.
    pub(super) device_busy_share: Option<f64>,
    /// The time in which the processor quota was used up, summed over all processors, as a share of
    /// the trial's wall time.
    pub(super) throttled_ratio: f64,
    /// The share of the threads' time in which the processor quota was used up.
    pub(super) throttled_share: f64,
    /// Median number of processors at work.
    pub(super) busy_processors: Option<f64>,
    pub(super) parts: Option<TimeParts>,
    /// Why the CPU times are not known.
    pub(super) why_no_cpu: String,
    /// Whether the same method was also read under a greater bound on memory.
    pub(super) has_greater_bound: bool,
    /// The limits that apply to this trial.
    limits: Vec<LimitShare<'a>>,
    pub(super) trial_record: &'a TrialRecord,
}

/// A limit, and the share of the limit that a trial reaches.
#[derive(Debug, Clone, Copy)]
pub(super) struct LimitShare<'a> {
    pub(super) limit: &'a Limit,
    pub(super) trial_rate: f64,
    /// The trial's rate divided by the limit's.
    pub(super) share: f64,
}

impl<'a> TrialFacts<'a> {
    /// Collects the facts; `None` where the trial has no sample or its target is missing from the
    /// record.
    pub(super) fn from_record(
        record: &Record,
        limits: &'a [Limit],
        it: &'a TrialRecord,
    ) -> Option<TrialFacts<'a>> {
        let target = record.target_of(&it.trial)?;
        let (size, wall_ns) = (float(target.size_bytes), median_wall_ns(it)?.max(1.0));
        let metered = CpuTime::from_trial(it);
        let why_no_cpu = metered.as_ref().err().map_or_else(String::new, |why| why_no_cpu(it, *why));
        let cpu = metered.ok();
        let busy = cpu.map(|cpu| limit_to_threads(cpu.total_ns() / wall_ns, it));
        // The number of busy processors shows the number of threads of a trial that does not
        // declare it. Both are those of one of the ranks or readers, as in the controls.
        let of_one = |busy: f64| whole_processors(busy / float(joint_reader_count(record, target)));
        let workers = it.trial.thread_count().max(busy.map_or(1, of_one));
        let at_once = threads_at_once(record, target, workers);
        let near_by = targets_on_same_mount(record, target);
        let unbounded = record.unbounded_target(it.trial.target);
        let limit = |kind| limit_for_trial(limits, kind, &it.trial, workers, &near_by, unbounded);
        let readers = float(it.trial.reader_count());
        let explained = explain_kernel_time(record, it, size, limit(LimitKind::Faults));
        let parts = cpu.map(|cpu| {
            let queued_ns = queued_ns(record, it, cpu, wall_ns);
            divide_time(cpu, wall_ns * at_once, explained, queued_ns)
        });
        let copies = parts.is_some_and(|parts| parts.share_of(TimePart::Copy) > 0.0);
        let device_bytes = median(it, Meter::DeviceReadBytes);
        let per_second = |bytes: f64| bytes * 1e9 / wall_ns;
        let rate = record.bytes_out(it).map(|bytes| per_second(float(bytes)));
        let device_rate = device_bytes.map(per_second);
        let times = device_bytes.map(|bytes| bytes / (size * readers).max(1.0));
        let needed_bytes_ratio = device_bytes.map(|bytes| bytes / float(target.useful_bytes().max(1)));
        let cold = it.trial.state == CacheState::Cold;
        let may_use_device = cold || it.trial.state == CacheState::Pressed;
        let cold_above = target.unevictable_cache_names().filter(|_| cold);
        let is_of_device = may_use_device && target.unevictable_cache_names().is_none();
        // Limits of the whole target do not apply to a command that may have stopped early.
        let is_whole = record.wholly_read_target(it).is_some();
        let read_rate = Some(per_second(size * readers)).filter(|_| is_whole);
        let rates = [
            (LimitKind::Device, device_rate.filter(|rate| is_of_device && *rate > 0.0)),
            (LimitKind::Decoding, rate.filter(|_| is_whole && it.trial.decoded_format.is_some())),
            (LimitKind::Copy, read_rate.filter(|_| copies)),
            (LimitKind::Memory, rate.filter(|_| it.trial.work.touches_bytes())),
            (LimitKind::Link, read_rate.filter(|_| target.transport().has_server())),
        ];
        let near = rates.into_iter().filter_map(|(kind, rate)| Some(LimitShare::new(limit(kind)?, rate?)));
        // A limit that was measured with fewer threads does not apply to a trial that is faster
        // with more threads.
        let near = near.filter(|near| {
            let as_many = near.limit.kind == LimitKind::Device || near.limit.threads >= workers;
            as_many || near.share <= ABOVE_LIMIT_SHARE
        });
        let sent_bytes = || bytes_fetched_by_own_server(target).filter(|_| cold && is_whole);
        let device_rate = device_rate.or_else(|| sent_bytes().map(per_second));
        let encoded = target.extents.as_ref().map_or(0, |extents| extents.encoded_bytes);
        Some(TrialFacts {
            size_bytes: target.size_bytes,
            // Limits of bytes do not apply to walks that find names.
            limits: if size > 0.0 && !it.trial.work.finds_names() { near.collect() } else { Vec::new() },
            // The extents are those of the whole file, also if blocks of it are read.
            encoded_share: float(encoded) / float(target.cached_bytes().max(1)),
            is_stored_compressed: cold && is_stored_compressed(it, target, device_bytes),
            may_be_stored_compressed: may_use_device
                && reads_whole_compressed_blocks(target)
                && needed_bytes_ratio.is_some_and(|times| times >= AMPLIFICATION_MIN),
            device_busy_share: scaled_turn_time_ns(it, |sample| sample.turn.device_busy_ns)
                .map(|ns| ns / wall_ns),
            throttled_ratio: throttled_ratio(it),
            throttled_share: (throttled_ratio(it) / at_once).min(1.0),
            bypasses_cache: it.trial.bypasses_cache() || !copies && left_nothing_in_cache(it, target),
            cold_cache_names: cold_above,
            why_no_cpu,
            rate,
            device_bytes,
            needed_bytes_ratio,
            device_rate,
            fetched_ratio: times
                .filter(|times| may_use_device && target.blocks().is_some() && *times > FETCHED_TIMES_MIN),
            busy_processors: busy,
            parts,
            has_greater_bound: has_greater_bound(record, it),
            trial_record: it,
        })
    }

    /// Whether the file system decodes most of what this reading gets from the device. The page
    /// cache holds decoded pages, so a warm reading decodes nothing.
    pub(super) fn is_encoded(&self) -> bool {
        matches!(self.trial_record.trial.state, CacheState::Cold | CacheState::Pressed)
            && (self.encoded_share >= DOMINANT_SHARE_MIN || self.is_stored_compressed)
    }

    /// Whether the file system decodes most of what this reading gets from the device, or may do
    /// so.
    pub(super) fn may_be_encoded(&self) -> bool {
        self.is_encoded() || self.may_be_stored_compressed
    }

    /// The limit to which the trial comes nearest.
    pub(super) fn nearest(&self) -> Option<LimitShare<'a>> {
        self.limits.iter().copied().max_by(|a, b| a.share.total_cmp(&b.share))
    }

    /// The limit of this kind, and the share of the limit that the trial reaches.
    pub(super) fn limit(&self, kind: LimitKind) -> Option<LimitShare<'a>> {
        self.limits.iter().copied().find(|near| near.limit.kind == kind)
    }

    /// Whether the trial reaches at least this share of a limit.
    pub(super) fn reaches_limit(&self, kind: LimitKind, share: f64) -> bool {
        self.limit(kind).is_some_and(|near| near.share >= share)
    }

    /// The limit that this trial clearly exceeds by most. A limit that a trial exceeds was measured
    /// too low.
    pub(super) fn most_exceeded_limit(&self) -> Option<LimitShare<'a>> {
        let beyond = self.limits.iter().copied().filter(|near| near.share > ABOVE_LIMIT_SHARE);
        beyond.filter(|near| !self.overlaps(*near)).max_by(|a, b| a.share.total_cmp(&b.share))
    }

    /// The limits that the trial exceeds without an overlap of the intervals, each with the trial's
    /// rate and its interval.
    pub(super) fn exceeded_limits(&self) -> Vec<(LimitShare<'a>, Interval)> {
        // Reads larger than the control's do not show the limit of the control's block size.
        let is_comparable =
            |near: &LimitShare| near.limit.kind != LimitKind::Device || self.fetched_ratio.is_none();
        let above =
            self.limits.iter().copied().filter(|it| it.share > ABOVE_LIMIT_SHARE && is_comparable(it));
        let clear = above.filter(|near| near.limit.ci95.is_some() && !self.overlaps(*near));
        let ends = |near: &LimitShare| self.interval(near.trial_rate).filter(|ends| ends.high.is_finite());
        clear.filter_map(|near| Some((near, ends(&near)?))).collect()
    }

    /// Whether the interval of the trial overlaps that of a limit, so that they are not clearly
    /// different. The interval is computed only on demand: for most trials the share alone decides.
    pub(super) fn overlaps(&self, near: LimitShare) -> bool {
        let ends = near.limit.ci95.zip(self.interval(near.trial_rate));
        ends.is_some_and(|([low, high], own)| own.high >= float(low) && own.low <= float(high))
    }

    /// The interval of one of the trial's rates, from the interval of its median time. The upper
    /// end is infinite where the times scatter very widely; `None` with too few samples.
    fn interval(&self, rate: f64) -> Option<Interval> {
        let walls: Vec<Observation> = self.trial_record.samples.iter().map(Observation::from).collect();
        let ends = stats::median_interval(&walls, Confidence::REPORTED)?;
        let median = median_wall_ns(self.trial_record).filter(|median| *median > 0.0)?;
        Some(Interval { low: rate / (ends.high / median), high: rate / (ends.low.max(0.0) / median) })
    }
}

/// Whether nothing of what the cold readings of a trial fetched is in the page cache after them:
/// they bypassed the cache, or dropped what they had read. An estimate does not show this.
pub(super) fn left_nothing_in_cache(it: &TrialRecord, target: &TargetFacts) -> bool {
    let has_left_nothing = |sample: Sample| {
        let left_share = sample.resident_after.filter(|_| !sample.resident_is_estimate);
        let fetched_bytes = sample.device_read_bytes.filter(|bytes| *bytes > 0);
        left_share.zip(fetched_bytes).is_some_and(|(share, fetched_bytes)| {
            share * float(target.cached_bytes()) <= LEFT_SHARE_MAX * float(fetched_bytes)
        })
    };
    it.trial.state == CacheState::Cold && !it.samples.is_empty() && it.samples.iter().all(has_left_nothing)
}

/// Whether a file system that may compress files, and lists no extents, read fewer bytes from the
/// device than it delivered.
fn is_stored_compressed(it: &TrialRecord, target: &TargetFacts, device_bytes: Option<f64>) -> bool {
    let kind = target.storing_filesystem().unwrap_or_default();
    let zeros = target.extents.as_ref().map_or(0, |extents| extents.hole_bytes + extents.unwritten_bytes);
    let stored_bytes = delivered_bytes(it, target).unwrap_or(0.0) - float(zeros);
    (COMPRESSING_FILESYSTEMS.contains(&kind) || kind == "iso9660")
        && device_bytes.is_some_and(|bytes| bytes > 0.0 && bytes < COMPRESSED_SHARE_MAX * stored_bytes)
}

/// Whether blocks are read of a file system that lists no extents and compresses files: it reads and
/// decodes whole blocks of its own. Those of iso9660 are seldom compressed, and the kernel reads
/// ahead for a plain file there.
fn reads_whole_compressed_blocks(target: &TargetFacts) -> bool {
    let kind = target.storing_filesystem().unwrap_or_default();
    target.blocks().is_some() && target.extents.is_none() && COMPRESSING_FILESYSTEMS.contains(&kind)
}

/// Number of bytes of the file that one cold reading needs, each counted once. A command whose
/// output is not counted may stop early; for such a command, it is the number of bytes left in the
/// cache.
fn delivered_bytes(it: &TrialRecord, target: &TargetFacts) -> Option<f64> {
    let useful_bytes = float(target.useful_bytes());
    if !it.trial.work.may_read_part() {
        return Some(useful_bytes);
    }
    let share = stats::median(it.samples.iter().filter_map(|sample| sample.resident_after))?;
    Some(useful_bytes * share)
}

/// Smallest number of bytes that readlab's own server must get from the device for a cold reading;
/// `None` for other targets, and where nothing shows that it gets any.
fn bytes_fetched_by_own_server(target: &TargetFacts) -> Option<f64> {
    let is_own = matches!(target.http(), Some(Http::Own));
    target.expected_device_bytes().filter(|&bytes| is_own && bytes > 0).map(float)
}

/// The part of a trial's kernel time that controls explain, for a target of this size.
fn explain_kernel_time(
    record: &Record,
    it: &TrialRecord,
    size: f64,
    fault: Option<&Limit>,
) -> ExplainedKernelTime {
    let readers = float(it.trial.reader_count());
    ExplainedKernelTime {
        copy_ns: copy_cpu_ns(record, it).map(|ns| ns * copy_count(record, it, size)),
        fault_ns: mapping_faults(record, it).zip(fault).map(|(count, each)| count * float(each.value)),
        opens_ns: opens_cpu_ns(record, it).map(|ns| ns * readers),
        allocates_memory: allocates_memory(record, it),
    }
}

/// How many times the bytes of the target one reading copies: more than once if its reads also
/// bring the bytes between blocks, less if it reads a part.
fn copy_count(record: &Record, it: &TrialRecord, size: f64) -> f64 {
    let by_reads = median(it, Meter::ReadBytes).map(|bytes| bytes / size.max(1.0));
    let of_part = || record.part_read(it).map(|part| part.share);
    by_reads.or_else(of_part).unwrap_or(float(it.trial.reader_count()))
}

/// How long the threads of a trial waited for a processor that other processes used or a quota
/// withheld.
fn queued_ns(record: &Record, it: &TrialRecord, cpu: CpuTime, wall_ns: f64) -> f64 {
    let by_others = available_share(record, it)
        .map_or_else(|| delayed_ns(it), |share| cpu.total_ns() * (1.0 / share - 1.0));
    by_others.max(throttled_ratio(it) * wall_ns)
}

/// Number of ranks of a fleet, or of readers of one host, that read the target together. CPU times,
/// page faults and the size of the target are sums over all of them.
pub(super) fn joint_reader_count(record: &Record, target: &TargetFacts) -> u64 {
    let of_fleet = || record.fleet.as_ref().map(|fleet| fleet.ranks.len() as u64);
    target.concurrent_readers().map(u64::from).or_else(of_fleet).unwrap_or(1).max(1)
}

/// Number of hosts on which the ranks read the target; 1 without a fleet.
pub(super) fn host_count(record: &Record, target: &TargetFacts) -> u64 {
    let ranks = record.fleet.iter().flat_map(|fleet| &fleet.ranks);
    let hosts: BTreeSet<&str> = ranks.map(|rank| rank.host.as_str()).collect();
    (hosts.len() as u64).clamp(1, joint_reader_count(record, target))
}

/// Number of threads that can run at the same time if each of the ranks or readers has this many.
/// With more threads than processors, the surplus threads can only wait for a processor.
pub(super) fn threads_at_once(record: &Record, target: &TargetFacts, threads_of_each: u64) -> f64 {
    let threads = threads_of_each.saturating_mul(joint_reader_count(record, target));
    let processors = record.header.machine.cpu_count.max(1).saturating_mul(host_count(record, target));
    float(threads.min(processors))
}

/// Indices of the targets on the same mount as this one.
fn targets_on_same_mount(record: &Record, target: &TargetFacts) -> Vec<TargetIndex> {
    let same_mount = |(_, other): &(TargetIndex, &TargetFacts)| other.mount == target.mount;
    record.targets.numbered().filter(same_mount).map(|(index, _)| index).collect()
}

impl<'a> LimitShare<'a> {
    fn new(limit: &'a Limit, rate: f64) -> LimitShare<'a> {
        LimitShare { limit, trial_rate: rate, share: rate / float(limit.value.max(1)) }
    }
}

/// The kernel time that controls explain; `None` without the control.
#[derive(Debug, Clone, Copy)]
struct ExplainedKernelTime {
    copy_ns: Option<f64>,
    fault_ns: Option<f64>,
    opens_ns: Option<f64>,
    allocates_memory: bool,
}

/// Divides the time of all threads into parts. Each nanosecond of kernel time counts once: first as
/// opening files, then as page faults, then as the copy, if at least half of the copy control's
/// time is left.
fn divide_time(cpu: CpuTime, whole_ns: f64, explained: ExplainedKernelTime, queued_ns: f64) -> TimeParts {
    let CpuTime { user_ns: user, system_ns: system } = cpu;
    // CPU times come from another clock than the wall time and may add up to a little more.
    let whole = whole_ns.max(cpu.total_ns());
    let opens = explained.opens_ns.map_or(0.0, |ns| ns.min(system));
    let faults = explained.fault_ns.map_or(0.0, |ns| ns.min(system - opens));
    let left = system - opens - faults;
    let copy = explained.copy_ns.filter(|ns| left >= ns * COPY_SHARE_MIN).map_or(0.0, |ns| ns.min(left));
    let idle = (whole - user - system).max(0.0);
    let queued = idle.min(queued_ns);
    let (rest, new_memory) = match explained.allocates_memory && copy > 0.0 {
        true => (0.0, left - copy),
        false => (left - copy, 0.0),
    };
    let waiting = idle - queued;
    TimeParts([user, copy, faults, new_memory, opens, rest, waiting, queued].map(|ns| ns / whole))
}

/// Median time for which the threads waited for a processor.
fn delayed_ns(it: &TrialRecord) -> f64 {
    scaled_turn_time_ns(it, |sample| sample.turn.delayed_ns).unwrap_or(0.0)
}

/// A time that the kernel counted over a whole turn, scaled to the reading's part of the turn; the
/// median over the samples that hold it.
pub(super) fn scaled_turn_time_ns(it: &TrialRecord, counted: fn(&Sample) -> Option<u64>) -> Option<f64> {
    let of = |sample: Sample| {
        let (counted_ns, turn_ns) = (counted(&sample)?, sample.turn.wall_ns?);
        Some(float(sample.wall_ns) * float(counted_ns) / float(turn_ns.max(1)))
    };
    stats::median(it.samples.iter().filter_map(of))
}

/// The median wall time of a trial in nanoseconds; `None` without readings.
pub fn median_wall_ns(it: &TrialRecord) -> Option<f64> {
    median(it, Meter::WallNs)
}

/// The median of a meter over the samples that hold it.
pub(super) fn median(it: &TrialRecord, metric: Meter) -> Option<f64> {
    stats::median(it.samples.iter().filter_map(|sample| Some(float(metric.read(&sample)?))))
}

fn why_no_cpu(it: &TrialRecord, why: NoCpuTime) -> String {
    match why {
        NoCpuTime::NotMetered => missing_meter_words(it, Meter::CpuUserNs),
        NoCpuTime::BelowResolution { .. } => why.to_string(),
    }
}

/// Why a meter was not read.
pub(super) fn missing_meter_words(it: &TrialRecord, metric: Meter) -> String {
    let none = || "no sample holds them and no reason was recorded".to_owned();
    it.missing_meters.get(metric.name()).cloned().unwrap_or_else(none)
}
