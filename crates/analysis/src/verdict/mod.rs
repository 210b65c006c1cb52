//! The verdict: which resource limits a reading, decided from its meters and the limits of the same
//! record.
//!
//! Pure. A trial's wall time, for each of its threads, is cut into [`Parts`]: user code, the copy,
//! page faults, the rest of the kernel, waiting, and waiting for a processor that others use, which
//! decides only where it is most of the time. Its rate is laid beside the limits. What decides is
//! always one of these numbers, against the thresholds below; where a number is missing the verdict
//! is [`Verdict::Unknown`] with the reason, never a guess.

mod controls;
mod cpu_time;
mod device_bytes;
mod faults;
mod limits;
mod parts;
mod quota;
mod read_ahead;
mod sentence;
mod server;
mod threads;
mod waiting;

#[cfg(test)]
mod tests;

pub use cpu_time::{NoCpuTime, processors_busy, whole_processors};
pub use device_bytes::explain_device_bytes;
pub use limits::{limits, replaced};
pub use parts::{Parts, TimeShare};
pub use server::ServerWait;

use crate::noise::SharedNoise;
use crate::stats::{SharedRatio, Significance};
use parts::{LimitShare, TrialFacts};
use readlab_model::target::TargetFacts;
use readlab_model::target::device::{IoQuota, ReadAhead};
use readlab_record::{Limit, LimitKind, Record, TrialRecord};
use schemars::JsonSchema;
use serde::Serialize;

/// At this share of a limit a reading stops at it.
const AT_LIMIT: f64 = 0.85;

/// And at this one where its interval and that of the limit overlap.
const NEAR_LIMIT: f64 = 0.7;

/// Above this share the limit was measured too low, and no share is reported.
const ABOVE_LIMIT: f64 = Limit::BEYOND;

/// A part of the time that is this large decides.
const DOMINANT: f64 = 0.5;

/// Another setting must be this many times as fast to count as a remedy.
const REMEDY: f64 = 1.05;

/// What limits a reading.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Verdict {
    Device {
        /// Whether it is busy, and if not, why.
        pace: DeviceUse,
    },
    /// The kernel's copy out of the page cache.
    Copy,
    /// Memory: no scan visits its bytes faster.
    Memory,
    /// The contender's own code.
    Processing {
        /// Another scan of the same method in this record that is faster beyond doubt, the fastest
        /// of them.
        lift: Option<Remedy>,
    },
    /// Waiting, with an idle processor and an idle device.
    Latency,
    /// Its threads, which wait for each other.
    Lock {
        /// The same with one thread, which does not wait.
        alone: Remedy,
    },
    /// The scheduler, which gives its processors to others, or none beyond a quota.
    Scheduler {
        /// The share of its time for which it waits for a processor.
        share: f64,
        /// How many a control group grants, where that is fewer than there are.
        #[serde(skip_serializing_if = "Option::is_none")]
        quota: Option<f64>,
    },
    /// The quota of processors of its control groups: it stands still until the next period.
    ProcessorQuota {
        /// The share of its quota that it uses, if that is visible.
        #[serde(skip_serializing_if = "Option::is_none")]
        used: Option<f64>,
        /// Share of its threads' time in which the quota was used up.
        throttled: f64,
    },
    /// The quota of reads of its control groups.
    IoQuota {
        quota: IoQuota,
        /// How much of it the reading gets; `None` for a quota of reads per second, for reads are
        /// not counted.
        #[serde(skip_serializing_if = "Option::is_none")]
        share: Option<f64>,
    },
    /// The device, busy with bytes that were not asked for.
    ReadAhead {
        /// So many times the bytes that were asked for come from it.
        times: f64,
        /// Whether the file is mapped, rather than read by calls.
        is_mapped: bool,
        /// Another reading of the same places that fetches less.
        remedy: Option<Remedy>,
    },
    /// The processors of this machine, over a server that could give more.
    Processors {
        /// The share of what it gets of them that it uses, or of its time for which it works or
        /// waits for one: the greater of the two.
        share: f64,
        /// How many a control group grants, where that is fewer than there are.
        #[serde(skip_serializing_if = "Option::is_none")]
        quota: Option<f64>,
    },
    /// Waiting for the server that gives the bytes.
    Server {
        #[serde(skip_serializing_if = "ServerWait::is_server")]
        wait: ServerWait,
    },
    /// Decoding: the trial's own of an archive, or the file system's of what it stores otherwise
    /// than it reads.
    Decoding,
    /// The decoding of what the file system stores encoded, or the device that gives it: the kernel
    /// does both meanwhile, and nothing shows the device alone.
    DecodingOrDevice {
        /// The share of its time in which the device had work, if that was counted: no more than
        /// this is the device's.
        #[serde(skip_serializing_if = "Option::is_none")]
        busy: Option<f64>,
    },
    /// Page faults on the file's pages.
    Faults,
    /// Memory that it makes for each reading.
    NewMemory {
        /// A reading of the same contender that uses its memory again.
        reuse: Option<Remedy>,
    },
    /// Finding names and inodes: opening and closing files.
    Metadata,
    /// Several parts, none of which decides.
    Mixed {
        /// The parts of the time, largest first.
        shares: Vec<(TimeShare, f64)>,
    },
    /// It is faster than what should have limited it: the limit is not known here.
    BeyondLimit {
        /// What was measured too low.
        limit: LimitKind,
        name: String,
    },
    Unknown {
        why: String,
    },
}

/// How a reading that waits for its device uses it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "pace", rename_all = "snake_case")]
pub enum DeviceUse {
    /// It is busy.
    Saturated,
    /// The requests are too small.
    SmallBlocks {
        /// The same depth with larger blocks.
        remedy: Remedy,
    },
    /// Too few requests are in flight.
    Shallow {
        /// The same block with more of them in flight.
        remedy: Remedy,
    },
    /// The kernel reads ahead for it, and somebody has set that to less than usual.
    ReadAhead {
        /// The setting of the file system, or of the device.
        #[serde(flatten)]
        ahead: ReadAhead,
    },
    /// The requests are too small or too few; no pair of trials in this record decides which.
    TooLittle,
}

/// Another trial of the same record that is faster.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Remedy {
    pub name: String,
    /// So many times as fast.
    pub times: f64,
}

/// A trial's verdict with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// The limit it comes nearest to, of those it cannot do without.
    pub limit: Option<Limit>,
    /// Its rate over that limit; `None` where it is higher, but not clearly.
    pub share_of_limit: Option<f64>,
    /// What stops it.
    pub verdict: Verdict,
    /// How its time divides; `None` without CPU times.
    pub parts: Option<Parts>,
    /// The verdict in one sentence with its numbers.
    pub sentence: String,
}

/// A trial that is judged, with what decides about it.
struct Judged<'a> {
    record: &'a Record,
    it: &'a TrialRecord,
    target: &'a TargetFacts,
    facts: TrialFacts<'a>,
    /// That of its contest.
    noise: &'a SharedNoise,
}

/// The verdict on one trial, by the noise of its contest ([`SharedNoise::of_contest`]); `None` for a
/// control and for a trial without accepted samples.
pub fn judge(record: &Record, limits: &[Limit], noise: &SharedNoise, it: &TrialRecord) -> Option<Diagnosis> {
    if it.trial.is_control() || !it.is_measured() {
        return None;
    }
    let target = record.targets.get(it.trial.target)?;
    let facts = TrialFacts::from_record(record, limits, it)?;
    let judged = Judged { record, it, target, facts, noise };
    let (verdict, facts) = (decide(&judged), &judged.facts);
    let nearest = facts.nearest().filter(|_| !matches!(verdict, Verdict::BeyondLimit { .. }));
    Some(Diagnosis {
        sentence: sentence::write(&verdict, facts),
        limit: nearest.map(|near| near.limit.clone()),
        share_of_limit: nearest.map(|near| near.share).filter(|share| *share <= ABOVE_LIMIT),
        parts: facts.parts,
        verdict,
    })
}

/// The rules, in the order in which they are tried.
fn decide(judged: &Judged) -> Verdict {
    let facts = &judged.facts;
    if facts.size_bytes == 0 {
        return Verdict::Unknown { why: "the target has no bytes".to_owned() };
    }
    if let Some(quota) = quota::of_processors(judged).or_else(|| quota::of_device(judged)) {
        return quota;
    }
    if facts.fetched_times.is_some() && facts.is_at(LimitKind::Device, AT_LIMIT) {
        return Verdict::Device { pace: DeviceUse::Saturated };
    }
    if let Some(near) = facts.beyond() {
        return Verdict::BeyondLimit { limit: near.limit.kind, name: near.limit.name.clone() };
    }
    if let Some(verdict) = at_limit(judged) {
        return verdict;
    }
    let Some(parts) = facts.parts else {
        return Verdict::Unknown { why: format!("no CPU times: {}", facts.why_no_cpu) };
    };
    if let Some(verdict) = over_server(judged, parts) {
        return verdict;
    }
    let [queued, waiting] = [TimeShare::Queued, TimeShare::Waiting].map(|part| parts.of(part));
    if queued >= DOMINANT {
        return Verdict::Scheduler { share: queued, quota: judged.record.header.machine.quota() };
    }
    if let Some(alone) = threads::alone(judged, parts) {
        return Verdict::Lock { alone };
    }
    if parts.is_share(waiting, DOMINANT) {
        return waiting::for_what(judged);
    }
    // An overlap is not enough here: who copies and then visits comes near the copy's rate by both
    // together.
    if facts.is_at(LimitKind::Copy, AT_LIMIT) {
        // Of many files the copy's rate has opening each in it.
        let opens = parts.is_share(parts.of(TimeShare::Opens), DOMINANT);
        return if opens { Verdict::Metadata } else { Verdict::Copy };
    }
    let shares = parts.largest_first();
    let largest = shares.iter().find(|(part, _)| *part != TimeShare::Queued);
    match largest.filter(|(_, share)| parts.is_share(*share, DOMINANT)) {
        // It takes this share of its time to decode as fast as can be.
        Some((TimeShare::User, _)) if facts.is_at(LimitKind::Decoding, DOMINANT) => Verdict::Decoding,
        Some((TimeShare::User, _)) => Verdict::Processing { lift: judged.lift() },
        Some((TimeShare::Copy, _)) => Verdict::Copy,
        Some((TimeShare::Faults, _)) => Verdict::Faults,
        Some((TimeShare::NewMemory, _)) => Verdict::NewMemory { reuse: faults::reusing(judged) },
        // Beyond the copy, the kernel decodes what the file system stores encoded.
        Some((TimeShare::Kernel, _)) if facts.is_encoded() => Verdict::Decoding,
        Some((TimeShare::Opens, _)) => Verdict::Metadata,
        None if facts.is_encoded() && parts.is_share(parts.of(TimeShare::Kernel) + waiting, DOMINANT) => {
            waiting::decoding(facts)
        }
        _ => Verdict::Mixed { shares },
    }
}

/// The verdict on a reading that is near a limit that nothing else can explain.
fn at_limit(judged: &Judged) -> Option<Verdict> {
    let facts = &judged.facts;
    let stops = |near: LimitShare| near.share >= AT_LIMIT || near.share >= NEAR_LIMIT && facts.overlaps(near);
    let at = |kind| facts.limit(kind).is_some_and(stops);
    if at(LimitKind::Device) {
        let explained = read_ahead::unasked(judged).or_else(|| quota::of_reads(judged));
        return Some(explained.unwrap_or(Verdict::Device { pace: DeviceUse::Saturated }));
    }
    if at(LimitKind::Link) {
        return Some(Verdict::Server { wait: ServerWait::Link });
    }
    if at(LimitKind::Decoding) {
        return Some(Verdict::Decoding);
    }
    at(LimitKind::Memory).then_some(Verdict::Memory)
}

/// The verdict on a reading from a server that takes all that it gets of this machine's processors.
fn over_server(judged: &Judged, parts: Parts) -> Option<Verdict> {
    let machine = &judged.record.header.machine;
    let used = cpu_time::processors_busy(judged.it).map_or(0.0, |busy| busy / machine.processors());
    let share = used.max(1.0 - parts.of(TimeShare::Waiting)).min(1.0);
    if share < AT_LIMIT || !judged.target.transport().has_server() {
        return None;
    }
    let quota = machine.quota();
    let own_code = quota.is_none() && parts.of(TimeShare::User) >= DOMINANT;
    Some(if own_code {
        Verdict::Processing { lift: judged.lift() }
    } else {
        Verdict::Processors { share, quota }
    })
}

impl<'a> Judged<'a> {
    /// The measured trials of its contest, itself included.
    fn rivals(&self) -> impl Iterator<Item = &'a TrialRecord> {
        let noise = self.noise;
        self.record.trials.iter().filter(move |other| noise.holds(other.trial.index))
    }

    /// The fastest other scan of the same method with the same settings.
    fn lift(&self) -> Option<Remedy> {
        let trial = &self.it.trial;
        let others = self.rivals().map(|other| (other, &other.trial));
        let scans = others.filter(|(_, other)| {
            (other.contender(), other.method(), &other.params)
                == (trial.contender(), trial.method(), &trial.params)
                && other.scan() != trial.scan()
        });
        self.best(scans.map(|(other, _)| other))
    }

    /// The fastest of these trials, if it is faster by more than [`REMEDY`], and beyond doubt.
    fn best(&self, others: impl Iterator<Item = &'a TrialRecord>) -> Option<Remedy> {
        let timed = others.filter_map(|other| Some((other, parts::wall_ns(other)?)));
        let (fastest, _) = timed.min_by(|a, b| a.1.total_cmp(&b.1))?;
        let remedy = self.remedy(fastest)?;
        let clear = || self.ratio(fastest)?.clear();
        (remedy.times >= REMEDY && clear() == Some(Significance::Faster)).then_some(remedy)
    }

    /// Another trial, with how many times as fast it is by the medians.
    fn remedy(&self, other: &TrialRecord) -> Option<Remedy> {
        let times = parts::wall_ns(self.it)? / parts::wall_ns(other)?.max(1.0);
        Some(Remedy { name: other.trial.id.to_string(), times })
    }

    /// How many times as fast another trial is within rounds. One of another contest, and a control,
    /// has noise of its own.
    fn ratio(&self, other: &TrialRecord) -> Option<SharedRatio> {
        let (trial, reference) = (other.trial.index, self.it.trial.index);
        if self.noise.holds(trial) {
            return self.noise.ratio(trial, reference);
        }
        SharedNoise::from_trials([other, self.it]).ratio(trial, reference)
    }
}

impl Diagnosis {
    /// What stops it, in two or three words: `copy 93 %`, `processing`.
    pub fn stops_at(&self) -> String {
        sentence::stops_at(self)
    }
}
