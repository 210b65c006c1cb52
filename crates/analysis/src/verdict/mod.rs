//! The verdict: which resource limits a reading, decided from its meters and the limits of the same
//! record.
//!
//! Pure. A trial's wall time, for each of its threads, is divided into [`TimeParts`]: user code,
//! the copy, page faults, the rest of the kernel, waiting, and waiting for a busy processor, which
//! decides only if it is most of the time. The trial's rate is compared with the limits. The
//! verdict always follows from one of these numbers and the thresholds below. Where a number is
//! missing, the verdict is [`Verdict::Unknown`] with the reason, never a guess.

mod controls;
mod cpu_time;
mod device_bytes;
mod limits;
mod memory;
mod page_faults;
mod parts;
mod quota;
mod read_ahead;
mod sentence;
mod server;
mod threads;
mod waiting;

#[cfg(test)]
mod tests;

pub use cpu_time::{NoCpuTime, busy_processors, whole_processors};
pub use device_bytes::device_bytes_sentences;
pub use limits::{limits, replaced_limit_sentences};
pub use parts::{TimePart, TimeParts, median_wall_ns};
pub use server::ServerWait;

use crate::memory::GreaterBound;
use crate::noise::SharedNoise;
use crate::stats::{SharedRatio, Significance, float};
use parts::{LimitShare, TrialFacts};
use readlab_model::target::TargetFacts;
use readlab_model::target::device::{IoQuota, ReadAhead};
use readlab_model::trial::CacheState;
use readlab_record::{Limit, LimitKind, Record, TrialRecord};
use schemars::JsonSchema;
use serde::Serialize;

/// A reading that reaches this share of a limit is stopped by the limit.
const AT_LIMIT_SHARE_MIN: f64 = 0.85;

/// A reading that reaches this share of a limit is stopped by the limit if their intervals overlap.
const NEAR_LIMIT_SHARE_MIN: f64 = 0.7;

/// Above this share, the limit was measured too low, and no share is reported.
const ABOVE_LIMIT_SHARE: f64 = Limit::BEYOND_FACTOR;

/// A part of the time that is at least this large decides the verdict.
const DOMINANT_SHARE_MIN: f64 = 0.5;

/// Another setting must be this many times as fast to count as a remedy.
const REMEDY_TIMES_MIN: f64 = 1.05;

/// What limits a reading.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Verdict {
    Device {
        /// Whether the device is busy, and if not, why.
        #[serde(rename = "pace")]
        device_use: DeviceUse,
    },
    /// The kernel's copy out of the page cache.
    Copy,
    /// Memory bandwidth: no scan visits the bytes faster.
    Memory,
    /// The contender's own code.
    Processing {
        /// The fastest other scan of the same method in this record, if it is clearly faster.
        #[serde(rename = "lift")]
        faster_scan: Option<Remedy>,
    },
    /// Waiting, while the processor and the device are idle.
    Latency,
    /// The threads, which wait for each other.
    Lock {
        /// The same reading with one thread, which does not wait.
        #[serde(rename = "alone")]
        single_thread: Remedy,
    },
    /// The scheduler: other processes use the processors, or a quota withholds them.
    Scheduler {
        /// The share of the time for which the threads wait for a processor.
        #[serde(rename = "share")]
        waiting_share: f64,
        /// The number of processors that a control group grants, where that is fewer than the
        /// machine has.
        #[serde(skip_serializing_if = "Option::is_none")]
        quota: Option<f64>,
    },
    /// The processor quota of the control groups: the reading is paused until the next period.
    ProcessorQuota {
        /// The share of the quota that the reading uses, if that is visible.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[serde(rename = "used")]
        used_share: Option<f64>,
        /// The share of the threads' time in which the quota was used up.
        #[serde(rename = "throttled")]
        throttled_share: f64,
    },
    /// The I/O quota of the control groups.
    IoQuota {
        /// The quota of bytes or of reads that limits the reading, without the other one of the same
        /// setting.
        quota: IoQuota,
        /// The share of the quota that the reading gets; `None` for a quota of reads per second,
        /// because reads are not counted.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[serde(rename = "share")]
        quota_share: Option<f64>,
        /// The read-ahead that nobody asked for, which uses up a quota of bytes.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[serde(rename = "read_ahead")]
        unrequested: Option<UnrequestedBytes>,
    },
    /// The device, which is busy with bytes that the reading did not request.
    ReadAhead {
        #[serde(flatten)]
        unrequested: UnrequestedBytes,
    },
    /// A bound on memory that is too small for what is read: bytes that more memory would keep come
    /// from the device again.
    MemoryBound {
        /// Bytes from the device divided by the bytes that the reading needs, each counted once.
        #[serde(rename = "reread")]
        reread_ratio: f64,
        /// The bound divided by the working set.
        #[serde(rename = "share")]
        share_of_working_set: f64,
        /// Whether blocks of the file are read, and not all of it.
        is_of_blocks: bool,
        /// A greater bound under which the same method is faster, if one was raced.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[serde(rename = "greater")]
        greater_bound: Option<GreaterBound>,
        /// Another reading under the same bound.
        #[serde(skip_serializing_if = "Option::is_none")]
        remedy: Option<Remedy>,
    },
    /// A mapping under a bound on memory: its page faults fetch many times the bytes that are used,
    /// and evict pages that are needed again.
    Thrash {
        major_faults: f64,
        /// The device bytes divided by the requested bytes.
        amplification: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[serde(rename = "greater")]
        greater_bound: Option<GreaterBound>,
        /// Another reading of the same places that fetches fewer bytes.
        #[serde(skip_serializing_if = "Option::is_none")]
        remedy: Option<Remedy>,
    },
    /// The kernel's search for memory that it can reclaim.
    Reclaim {
        /// An upper bound of the share of the time that the kernel spends on reclaim.
        #[serde(rename = "share")]
        reclaim_share: f64,
        /// Number of pages that were examined for each page that came from the device.
        scanned_per_page: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[serde(rename = "greater")]
        greater_bound: Option<GreaterBound>,
    },
    /// The processors of this machine, reading from a server that could deliver faster.
    Processors {
        /// The greater of two shares: the share of the available processors that the reading uses,
        /// and the share of the time for which its threads work or wait for a processor.
        #[serde(rename = "share")]
        processor_share: f64,
        /// The number of processors that a control group grants, where that is fewer than the
        /// machine has.
        #[serde(skip_serializing_if = "Option::is_none")]
        quota: Option<f64>,
    },
    /// Waiting for the server that delivers the bytes.
    Server {
        #[serde(skip_serializing_if = "ServerWait::is_server")]
        wait: ServerWait,
    },
    /// Decoding: by the trial, of an archive, or by the file system, of a file that it stores
    /// encoded.
    Decoding,
    /// The file system's decoding of an encoded file, or the device that stores the file. The
    /// kernel does both at once, and no reading shows the device alone.
    DecodingOrDevice {
        /// The share of the time in which the device had work, if that was counted. The device
        /// cannot take more of the time than this.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[serde(rename = "busy")]
        device_busy_share: Option<f64>,
    },
    /// Page faults on the pages of the file.
    Faults,
    /// New memory that the reading allocates each time.
    NewMemory {
        /// A reading of the same contender that reuses its memory.
        #[serde(rename = "reuse")]
        remedy: Option<Remedy>,
    },
    /// Finding directory entries and inodes: opening and closing files.
    Metadata,
    /// Several parts of the time, none of which decides.
    Mixed {
        /// The parts of the time with their shares, the largest first.
        shares: Vec<(TimePart, f64)>,
    },
    /// The trial is faster than the limit, so the limit was measured too low.
    BeyondLimit {
        /// The kind of the limit that was measured too low.
        #[serde(rename = "limit")]
        limit_kind: LimitKind,
        #[serde(rename = "name")]
        limit_name: String,
    },
    Unknown {
        why: String,
    },
}

/// How a reading that waits for its device uses the device.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "pace", rename_all = "snake_case")]
pub enum DeviceUse {
    /// The reading is at the limit of the device.
    Saturated,
    /// The requests are too small.
    SmallBlocks {
        /// A reading with larger blocks at the same depth.
        remedy: Remedy,
    },
    /// Too few requests are in flight.
    Shallow {
        /// A reading with the same block and more requests in flight.
        remedy: Remedy,
    },
    /// The kernel reads ahead for the reading, but read-ahead is set to less than the default.
    ReadAhead {
        /// The read-ahead setting of the file system, or of the device.
        #[serde(flatten)]
        read_ahead: ReadAhead,
    },
    /// The requests are too small or too few, and no pair of trials in this record shows which.
    TooLittle {
        /// The kernel's read-ahead for the reading; `None` if there is none or it is not known.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[serde(rename = "ahead")]
        read_ahead: Option<ReadAhead>,
        /// The same method under a larger read-ahead, if that was raced and is faster.
        #[serde(skip_serializing_if = "Option::is_none")]
        remedy: Option<Remedy>,
    },
}

/// Bytes that the kernel reads ahead, and that the reading did not request.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct UnrequestedBytes {
    /// The device bytes divided by the requested bytes.
    #[serde(rename = "times")]
    pub amplification: f64,
    /// Whether the file is mapped, and not read by read calls.
    pub is_mapped: bool,
    /// Another reading of the same places that fetches fewer bytes.
    pub remedy: Option<Remedy>,
}

/// Another trial of the same record that is faster.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Remedy {
    pub name: String,
    /// The other trial's speed divided by this one's.
    #[serde(rename = "times")]
    pub speed_ratio: f64,
}

/// A trial's verdict with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// The limit that the trial comes nearest to.
    pub limit: Option<Limit>,
    /// The trial's rate divided by that limit; `None` where the rate is higher, but not clearly.
    pub share_of_limit: Option<f64>,
    /// What limits the trial.
    pub verdict: Verdict,
    /// The parts of the trial's time; `None` without CPU times.
    pub parts: Option<TimeParts>,
    /// The verdict in one sentence with its numbers.
    pub sentence: String,
}

/// A trial that is judged, with the facts that decide the verdict.
struct JudgedTrial<'a> {
    record: &'a Record,
    trial_record: &'a TrialRecord,
    target: &'a TargetFacts,
    facts: TrialFacts<'a>,
    /// The noise of the trial's contest.
    noise: &'a SharedNoise,
}

/// The verdict on one trial, with the noise of its contest ([`SharedNoise::of_contest`]); `None`
/// for a control and for a trial without accepted samples.
pub fn judge(record: &Record, limits: &[Limit], noise: &SharedNoise, it: &TrialRecord) -> Option<Diagnosis> {
    if it.trial.is_control() || !it.is_measured() {
        return None;
    }
    let target = record.target_of(&it.trial)?;
    let facts = TrialFacts::from_record(record, limits, it)?;
    let judged = JudgedTrial { record, trial_record: it, target, facts, noise };
    let (verdict, facts) = (decide(&judged), &judged.facts);
    let nearest = facts.nearest().filter(|_| !matches!(verdict, Verdict::BeyondLimit { .. }));
    Some(Diagnosis {
        sentence: sentence::verdict_sentence(&verdict, facts),
        limit: nearest.map(|near| near.limit.clone()),
        share_of_limit: nearest.map(|near| near.share).filter(|share| *share <= ABOVE_LIMIT_SHARE),
        parts: facts.parts,
        verdict,
    })
}

/// Tries the rules in order; the first rule that applies gives the verdict.
fn decide(judged: &JudgedTrial) -> Verdict {
    let facts = &judged.facts;
    if judged.trial_record.trial.work.finds_names() {
        return verdict_on_names(judged);
    }
    if facts.size_bytes == 0 {
        return Verdict::Unknown { why: "the target has no bytes".to_owned() };
    }
    if let Some(quota) =
        quota::verdict_on_processor_quota(judged).or_else(|| quota::verdict_on_device_quota(judged))
    {
        return quota;
    }
    if let Some(verdict) = memory::verdict_on_memory_bound(judged) {
        return verdict;
    }
    // The kernel reads around blocks in larger pieces than the control, so the rate may exceed the
    // limit.
    if facts.fetched_ratio.is_some() && facts.reaches_limit(LimitKind::Device, AT_LIMIT_SHARE_MIN) {
        return verdict_at_device_limit(judged);
    }
    if let Some(near) = facts.most_exceeded_limit() {
        return Verdict::BeyondLimit { limit_kind: near.limit.kind, limit_name: near.limit.name.clone() };
    }
    if let Some(verdict) = verdict_at_limit(judged) {
        return verdict;
    }
    let Some(parts) = facts.parts else {
        return Verdict::Unknown { why: format!("no CPU times: {}", facts.why_no_cpu) };
    };
    if let Some(verdict) = verdict_on_processors(judged, parts) {
        return verdict;
    }
    let [queued, waiting] = [TimePart::Queued, TimePart::Waiting].map(|part| parts.share_of(part));
    if queued >= DOMINANT_SHARE_MIN {
        return Verdict::Scheduler {
            waiting_share: queued,
            quota: judged.record.header.machine.effective_cpu_quota(),
        };
    }
    if let Some(single_thread) = threads::remedy_by_single_thread(judged, parts) {
        return Verdict::Lock { single_thread };
    }
    if parts.reaches_share(waiting, DOMINANT_SHARE_MIN) {
        return waiting::verdict_on_wait(judged);
    }
    // Overlapping intervals are not enough here: the time to copy and then visit the bytes can add
    // up to nearly the time of the copy control.
    if facts.reaches_limit(LimitKind::Copy, AT_LIMIT_SHARE_MIN) {
        // With many files, the time of the copy control includes opening each file.
        let opens = parts.reaches_share(parts.share_of(TimePart::Opens), DOMINANT_SHARE_MIN);
        return if opens { Verdict::Metadata } else { Verdict::Copy };
    }
    let shares = parts.largest_first();
    let largest = shares.iter().find(|(part, _)| *part != TimePart::Queued);
    match largest.filter(|(_, share)| parts.reaches_share(*share, DOMINANT_SHARE_MIN)) {
        // A trial at this share of the decoding limit spends that share of its time in decoding
        // that cannot be faster.
        Some((TimePart::User, _)) if facts.reaches_limit(LimitKind::Decoding, DOMINANT_SHARE_MIN) => {
            Verdict::Decoding
        }
        Some((TimePart::User, _)) => Verdict::Processing { faster_scan: judged.remedy_by_scan() },
        Some((TimePart::Copy, _)) => Verdict::Copy,
        Some((TimePart::Faults, _)) => Verdict::Faults,
        Some((TimePart::NewMemory, _)) => Verdict::NewMemory { remedy: page_faults::remedy_by_reuse(judged) },
        // Beyond the copy, the kernel decodes files that the file system stores encoded.
        Some((TimePart::Kernel, _)) if facts.is_encoded() => Verdict::Decoding,
        Some((TimePart::Opens, _)) => Verdict::Metadata,
        Some((TimePart::Kernel, _)) | None
            if facts.may_be_encoded()
                && parts.reaches_share(parts.share_of(TimePart::Kernel) + waiting, DOMINANT_SHARE_MIN) =>
        {
            waiting::verdict_on_decoding_or_device(facts)
        }
        _ => Verdict::Mixed { shares },
    }
}

/// The verdict on a walk that reads no file. Limits of bytes do not apply, and all kernel time is
/// the search for names and inodes.
fn verdict_on_names(judged: &JudgedTrial) -> Verdict {
    let facts = &judged.facts;
    if let Some(quota) = quota::verdict_on_processor_quota(judged) {
        return quota;
    }
    let Some(parts) = facts.parts else {
        return Verdict::Unknown { why: format!("no CPU times: {}", facts.why_no_cpu) };
    };
    let of = |all: &[TimePart]| all.iter().map(|part| parts.share_of(*part)).sum::<f64>();
    let (queued, waiting, user) = (of(&[TimePart::Queued]), of(&[TimePart::Waiting]), of(&[TimePart::User]));
    if queued >= DOMINANT_SHARE_MIN {
        return Verdict::Scheduler {
            waiting_share: queued,
            quota: judged.record.header.machine.effective_cpu_quota(),
        };
    }
    if parts.reaches_share(waiting, DOMINANT_SHARE_MIN) && judged.trial_record.trial.state == CacheState::Cold
    {
        let why =
            "it waits for the tables of its file system, and no control shows how fast these come at best";
        return Verdict::Unknown { why: why.to_owned() };
    }
    if parts.reaches_share(waiting, DOMINANT_SHARE_MIN) {
        return Verdict::Latency;
    }
    let kernel = [TimePart::Kernel, TimePart::Opens, TimePart::Copy, TimePart::Faults, TimePart::NewMemory];
    if parts.reaches_share(of(&kernel), DOMINANT_SHARE_MIN) {
        return Verdict::Metadata;
    }
    if parts.reaches_share(user, DOMINANT_SHARE_MIN) {
        return Verdict::Processing { faster_scan: judged.remedy_by_scan() };
    }
    Verdict::Mixed { shares: parts.largest_first() }
}

/// The verdict on a reading that reaches a limit or comes near it; `None` for any other reading.
fn verdict_at_limit(judged: &JudgedTrial) -> Option<Verdict> {
    let facts = &judged.facts;
    let stops = |near: LimitShare| {
        near.share >= AT_LIMIT_SHARE_MIN || near.share >= NEAR_LIMIT_SHARE_MIN && facts.overlaps(near)
    };
    let at = |kind| facts.limit(kind).is_some_and(stops);
    if at(LimitKind::Device) {
        return Some(verdict_at_device_limit(judged));
    }
    if at(LimitKind::Link) {
        return Some(Verdict::Server { wait: ServerWait::Link });
    }
    if at(LimitKind::Decoding) {
        return Some(Verdict::Decoding);
    }
    at(LimitKind::Memory).then_some(Verdict::Memory)
}

/// The verdict on a reading at the limit of the device. Under a quota of reads per second the
/// control is at the quota, too, and gets fewer bytes if its reads are smaller.
fn verdict_at_device_limit(judged: &JudgedTrial) -> Verdict {
    quota::verdict_on_quota_of_reads(judged)
        .or_else(|| read_ahead::verdict_on_unrequested_bytes(judged))
        .unwrap_or(Verdict::Device { device_use: DeviceUse::Saturated })
}

/// The verdict on a reading that keeps all processors busy that this machine grants it, of a target
/// that a server sends; `None` for any other reading.
fn verdict_on_processors(judged: &JudgedTrial, parts: TimeParts) -> Option<Verdict> {
    let machine = &judged.record.header.machine;
    let hosts = float(parts::host_count(judged.record, judged.target));
    let used = cpu_time::busy_processors(judged.trial_record)
        .map_or(0.0, |busy| busy / (machine.usable_processor_count() * hosts));
    let share = used.max(1.0 - parts.share_of(TimePart::Waiting)).min(1.0);
    if share < AT_LIMIT_SHARE_MIN || !judged.target.transport().has_server() {
        return None;
    }
    let quota = machine.effective_cpu_quota();
    let own_code = quota.is_none() && parts.share_of(TimePart::User) >= DOMINANT_SHARE_MIN;
    Some(if own_code {
        Verdict::Processing { faster_scan: judged.remedy_by_scan() }
    } else {
        Verdict::Processors { processor_share: share, quota }
    })
}

impl<'a> JudgedTrial<'a> {
    /// The measured trials of the same contest, including the judged one.
    fn rivals(&self) -> impl Iterator<Item = &'a TrialRecord> {
        let noise = self.noise;
        self.record.trials.iter().filter(move |other| noise.contains(other.trial.index))
    }

    /// The fastest other scan of the same method with the same settings.
    fn remedy_by_scan(&self) -> Option<Remedy> {
        let trial = &self.trial_record.trial;
        let others = self.rivals().map(|other| (other, &other.trial));
        let scans = others.filter(|(_, other)| {
            (other.contender(), other.method(), &other.params)
                == (trial.contender(), trial.method(), &trial.params)
                && other.scan() != trial.scan()
        });
        self.clear_remedy(scans.map(|(other, _)| other))
    }

    /// The fastest of these trials, if it is clearly faster, and by at least [`REMEDY_TIMES_MIN`].
    fn clear_remedy(&self, others: impl Iterator<Item = &'a TrialRecord>) -> Option<Remedy> {
        let timed = others.filter_map(|other| Some((other, parts::median_wall_ns(other)?)));
        let (fastest, _) = timed.min_by(|a, b| a.1.total_cmp(&b.1))?;
        let remedy = self.remedy(fastest)?;
        let clear = || self.relative_speed(fastest)?.significance();
        (remedy.speed_ratio >= REMEDY_TIMES_MIN && clear() == Some(Significance::Faster)).then_some(remedy)
    }

    /// Another trial as a remedy, with the ratio of the median times.
    fn remedy(&self, other: &TrialRecord) -> Option<Remedy> {
        let times = parts::median_wall_ns(self.trial_record)? / parts::median_wall_ns(other)?.max(1.0);
        Some(Remedy { name: other.trial.id.to_string(), speed_ratio: times })
    }

    /// How many times as fast another trial is, within rounds. A control or a trial of another
    /// contest is compared with the noise of these two trials only.
    fn relative_speed(&self, other: &TrialRecord) -> Option<SharedRatio> {
        let (trial, reference) = (other.trial.index, self.trial_record.trial.index);
        if self.noise.contains(trial) {
            return self.noise.ratio(trial, reference);
        }
        SharedNoise::from_trials([other, self.trial_record]).ratio(trial, reference)
    }
}

impl Diagnosis {
    /// What limits the trial, in two or three words: `copy 93 %`, `processing`.
    pub fn short_cause(&self) -> String {
        sentence::short_cause(self)
    }
}
