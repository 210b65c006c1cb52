//! The sentence of a verdict, with the numbers that it is based on.

use super::parts::{LimitShare, TimePart, TrialFacts};
use super::{ABOVE_LIMIT_SHARE, DeviceUse, Diagnosis, Remedy, ServerWait, UnrequestedBytes, Verdict};
use crate::memory::GreaterBound;
use crate::stats::float;
use readlab_model::target::device::{IoQuota, ReadAhead};
use readlab_model::units::{Bytes, Throughput};
use readlab_record::LimitKind;
use std::fmt;

/// Smaller parts of the time are not mentioned.
const SHOWN_SHARE_MIN: f64 = 0.05;

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {:.1} times as fast", self.name, self.speed_ratio)
    }
}

pub(super) fn verdict_sentence(verdict: &Verdict, facts: &TrialFacts) -> String {
    let has_times = match verdict {
        Verdict::Device { device_use: pace } => {
            matches!(pace, DeviceUse::ReadAhead { .. } | DeviceUse::TooLittle { .. })
        }
        Verdict::Unknown { .. } => false,
        _ => true,
    };
    let times = if has_times { time_share_words(facts) } else { String::new() };
    let after = match verdict {
        Verdict::Processing { faster_scan: Some(remedy) } => {
            format!("; {remedy}{}", nearest_limit_words(facts))
        }
        Verdict::Processing { faster_scan: None } => {
            format!("; no other scan of this method was faster beyond doubt{}", nearest_limit_words(facts))
        }
        Verdict::Faults | Verdict::Mixed { .. } => nearest_limit_words(facts),
        _ => String::new(),
    };
    let above = facts.cold_cache_names.as_ref();
    let above = above.map(|it| format!("; it is held against no device, for cold is cold above {it}"));
    format!("{}{times}{after}{}", limiting_cause(verdict, facts), above.unwrap_or_default())
}

/// The first part of the sentence: what limits the trial. The parts of the time and the note on a
/// cache below follow.
fn limiting_cause(verdict: &Verdict, facts: &TrialFacts) -> String {
    match verdict {
        Verdict::Device { device_use: pace } => device_words(pace, facts),
        Verdict::Copy => {
            format!("stopped by the copy out of the page cache: {}", limit_words(LimitKind::Copy, facts))
        }
        Verdict::Memory => format!("stopped by memory: {}", limit_words(LimitKind::Memory, facts)),
        Verdict::Processing { .. } => "stopped by its own code".to_owned(),
        Verdict::Latency => "stopped by waiting, with an idle processor and an idle device".to_owned(),
        Verdict::Lock { single_thread: Remedy { name, speed_ratio: times } } => format!(
            "stopped by its threads, which wait for each other; {name} waits for nothing and is {times:.1} times as fast"
        ),
        Verdict::Scheduler { waiting_share: share, quota } => {
            let quota = quota.map(|it| format!(", or it has used its quota of {it:.2}")).unwrap_or_default();
            let share = percent(*share);
            format!("stopped by waiting for a processor, {share} of its time: others use them{quota}")
        }
        Verdict::ProcessorQuota { used_share: used, throttled_share: throttled } => {
            let used = used.map(|it| format!("it uses {} of that, and ", percent(it))).unwrap_or_default();
            format!(
                "stopped by its quota of processors: {used}the control groups were throttled for {} of its threads' \
                 time (cpu.stat)",
                percent(*throttled)
            )
        }
        Verdict::IoQuota { quota, quota_share: share, unrequested } => {
            let used = io_quota_words(quota, *share, facts);
            let by = match unrequested {
                Some(it) => format!(
                    "; read-ahead that nobody asked for uses up {:.1} times the bytes of its reads; {}",
                    it.amplification,
                    read_ahead_off_words(it)
                ),
                None if quota.bytes_per_s.is_some() => fetched_words(facts),
                None => String::new(),
            };
            used + &by
        }
        Verdict::ReadAhead { unrequested } => format!(
            "stopped by read-ahead that nobody asked for: {:.1} times the bytes of its reads come from the device; {}",
            unrequested.amplification,
            read_ahead_off_words(unrequested)
        ),
        Verdict::MemoryBound {
            reread_ratio: reread,
            share_of_working_set: share,
            is_of_blocks,
            greater_bound: greater,
            remedy,
        } => {
            let advice = if facts.may_be_encoded() {
                "the file system reads an encoded file through the page cache, also with O_DIRECT"
            } else if *is_of_blocks {
                "O_DIRECT brings no more than the blocks, and leaves the memory to other files"
            } else {
                "O_DIRECT with large blocks, or RWF_DONTCACHE, leaves the memory to other files"
            };
            format!(
                "stopped by a bound on memory that is too small: {} of the working set comes from the device again in \
                 each reading, with memory for {} of it{}; {advice}{}",
                percent(*reread),
                percent(*share),
                greater_bound_words(greater.as_ref(), facts),
                faster_words(remedy.as_ref(), "under the same bound")
            )
        }
        Verdict::Thrash { major_faults, amplification, greater_bound: greater, remedy } => format!(
            "stopped by a mapping that thrashes: its {major_faults:.0} major page faults bring {amplification:.1} times \
             the bytes that it reads, and evict what would be read again; madvise(MADV_RANDOM) or O_DIRECT brings no \
             more than the blocks{}{}",
            faster_words(remedy.as_ref(), "which fetches less"),
            greater_bound_words(greater.as_ref(), facts)
        ),
        Verdict::Reclaim { reclaim_share: share, scanned_per_page, greater_bound: greater } => format!(
            "stopped by the kernel's search for memory to reclaim, up to {} of its time: {scanned_per_page:.1} pages are \
             examined for each page that comes from the device; O_DIRECT or RWF_DONTCACHE needs no such memory{}",
            percent(*share),
            greater_bound_words(greater.as_ref(), facts)
        ),
        Verdict::Processors { processor_share: share, quota } => {
            let quota = quota.map(|it| format!(", a quota of {it:.2}")).unwrap_or_default();
            let share = percent(*share);
            format!("stopped by this machine's processors: it is at {share} of what it gets of them{quota}")
        }
        Verdict::Server { wait } => server_words(wait, facts),
        Verdict::Decoding => decoding_words(facts),
        Verdict::DecodingOrDevice { device_busy_share: busy } => decoding_or_device_words(*busy, facts),
        Verdict::Faults => "stopped by page faults".to_owned(),
        Verdict::NewMemory { remedy } => {
            let faster = remedy.as_ref().map(|Remedy { name, speed_ratio: times }| {
                format!(": {name} does, and is {times:.1} times as fast")
            });
            format!(
                "stopped by new memory: each reading makes its own buffer, whose pages the kernel finds, clears and \
                 maps; use one buffer again{}",
                faster.unwrap_or_default()
            )
        }
        Verdict::Metadata if facts.trial_record.trial.work.finds_names() => {
            "stopped by the kernel's search for names and inodes".to_owned()
        }
        Verdict::Metadata => "stopped by opening and closing files, not by their bytes".to_owned(),
        Verdict::Mixed { .. } => "no single thing stops it".to_owned(),
        Verdict::BeyondLimit { limit_kind: limit, limit_name: name } => {
            beyond_limit_words(*limit, name, facts)
        }
        Verdict::Unknown { why } => format!("what stops it is not known: {why}"),
    }
}

/// The words `; with memory for 100 % of the working set (268 MB) it is 6.1 times as fast`; other
/// words if no greater bound helps, or none was raced.
fn greater_bound_words(greater: Option<&GreaterBound>, facts: &TrialFacts) -> String {
    let Some(GreaterBound { share_of_working_set: share, cache_bytes, speed_ratio: times }) = greater else {
        return match facts.has_greater_bound {
            true => "; no greater bound of this run makes it faster by more than 5 % beyond doubt".to_owned(),
            false => "; a greater bound (--memory) shows how much memory helps".to_owned(),
        };
    };
    let (share, bytes) = (percent(*share), Bytes(*cache_bytes));
    format!("; with memory for {share} of the working set ({bytes}) it is {times:.1} times as fast")
}

/// The words `; rust/direct, which fetches less, is 3.2 times as fast`; empty without a remedy.
fn faster_words(remedy: Option<&Remedy>, why: &str) -> String {
    let words = remedy
        .map(|Remedy { name, speed_ratio: times }| format!("; {name}, {why}, is {times:.1} times as fast"));
    words.unwrap_or_default()
}

/// The words about decoding. Decoding by a trial is compared with the limit of the decoder,
/// decoding by a file system with the limit of the device.
fn decoding_words(facts: &TrialFacts) -> String {
    if facts.limit(LimitKind::Decoding).is_some() {
        return format!("stopped by decoding: {}", limit_words(LimitKind::Decoding, facts));
    }
    let busy =
        facts.device_busy_share.map(|it| format!(", with work for {} of the time", percent(it.min(1.0))));
    let busy = busy.unwrap_or_default();
    let (stored, device) = (storage_words(facts), limit_words(LimitKind::Device, facts));
    format!("stopped by decoding, by the file system: {stored}, and the device gives {device}{busy}")
}

/// The words with the largest shares of the time that decoding and the device may each take. The
/// kernel decodes in the reading's own CPU time or while the reading waits.
fn decoding_or_device_words(busy: Option<f64>, facts: &TrialFacts) -> String {
    let beside = [TimePart::Kernel, TimePart::Waiting, TimePart::Queued];
    let decoding =
        facts.parts.map_or(1.0, |parts| beside.map(|part| parts.share_of(part)).iter().sum::<f64>());
    let device = busy.map_or_else(
        || "it is not known how long the device had work".to_owned(),
        |busy| format!("the device had work for {} of the time", percent(busy)),
    );
    format!(
        "stopped by decoding, by the file system, or by the device, which nothing shows alone: {}; decoding takes {} of \
         the time at most, and {device}",
        storage_words(facts),
        percent(decoding)
    )
}

/// Words that say how much of the file is stored encoded, or that the file takes less space than its
/// size, or may do so.
fn storage_words(facts: &TrialFacts) -> String {
    if facts.is_stored_compressed {
        return "it stores the file in fewer bytes than it has".to_owned();
    }
    if facts.may_be_stored_compressed {
        return "it reads whole blocks of its own, which may be compressed".to_owned();
    }
    format!("{} of the file is stored encoded", percent(facts.encoded_share))
}

/// The words `madvise(MADV_RANDOM) turns it off; rust/direct, which fetches less, is 3.2 times as
/// fast`.
fn read_ahead_off_words(unrequested: &UnrequestedBytes) -> String {
    let advice =
        if unrequested.is_mapped { "madvise(MADV_RANDOM)" } else { "posix_fadvise(POSIX_FADV_RANDOM)" };
    format!("{advice} turns it off{}", faster_words(unrequested.remedy.as_ref(), "which fetches less"))
}

fn io_quota_words(quota: &IoQuota, share: Option<f64>, facts: &TrialFacts) -> String {
    let IoQuota { device, setting, .. } = quota;
    let bytes = quota.bytes_per_s.map(|bytes| Throughput(float(bytes)).to_string());
    let reads = quota.reads_per_s.map(|reads| format!("{reads} reads/s"));
    let granted = bytes.or(reads).unwrap_or_default();
    let used = match (share, facts.device_rate) {
        (Some(share), Some(rate)) if quota.bytes_per_s.is_some() => {
            let share = if share < 1.0 { percent(share) } else { "all".to_owned() };
            format!("{} is {share} of", Throughput(rate))
        }
        (Some(share), _) => format!("it gets {} of", percent(share)),
        (None, _) => "which cannot be told from the device itself:".to_owned(),
    };
    format!("stopped by a quota of its control group, {used} the {granted} of {device} ({setting})")
}

/// The sentence `limit not known here: 1.03 GB/s is more than the 94.9 MB/s that rust/device
/// showed`.
fn beyond_limit_words(kind: LimitKind, name: &str, facts: &TrialFacts) -> String {
    let rates = facts.limit(kind).map_or_else(
        || format!("it is faster than {name}"),
        |LimitShare { limit, trial_rate: rate, .. }| {
            let (rate, shown) = (Throughput(rate), Throughput(float(limit.value)));
            format!("{rate} is more than the {shown} that {name} showed")
        },
    );
    format!("limit not known here: {rates}, so that is no limit of the {}", kind.word())
}

fn server_words(wait: &ServerWait, facts: &TrialFacts) -> String {
    match wait {
        ServerWait::FirstByte { share } => {
            let share = percent(*share);
            format!("stopped by waiting for the server's first byte, which takes {share} of the time")
        }
        ServerWait::Connection { connections, remedy } => {
            format!("stopped by what {} brings; with more, {remedy}", connections_words(*connections))
        }
        ServerWait::Link => format!("stopped by the link: {}", limit_words(LimitKind::Link, facts)),
        ServerWait::Server => "stopped by waiting for the server".to_owned(),
        ServerWait::ServerOrNetwork => {
            "stopped by waiting for the server or the network before it, which look the same from here"
                .to_owned()
        }
    }
}

fn connections_words(connections: u64) -> String {
    if connections == 1 { "one connection".to_owned() } else { format!("{connections} connections") }
}

fn device_words(pace: &DeviceUse, facts: &TrialFacts) -> String {
    let used = limit_words(LimitKind::Device, facts) + &fetched_words(facts);
    let why = match pace {
        DeviceUse::Saturated => return format!("stopped by the device: {used}"),
        DeviceUse::SmallBlocks { remedy } => format!("its blocks are too small: {remedy}"),
        DeviceUse::Shallow { remedy } => format!("it has too few reads in flight: {remedy}"),
        DeviceUse::ReadAhead { read_ahead: ahead } => short_read_ahead_words(ahead),
        DeviceUse::TooLittle { read_ahead: ahead, remedy } => {
            too_little_words(ahead.as_ref(), remedy.as_ref())
        }
    };
    format!("waits for a device that has room: {used}; {why}")
}

/// Says that a reading asks for too little, and how to make the kernel ask for more.
fn too_little_words(ahead: Option<&ReadAhead>, remedy: Option<&Remedy>) -> String {
    let ahead = ahead.map_or_else(String::new, |ahead| {
        let bytes = Bytes(ahead.bytes).binary_text();
        let (large, command) =
            (Bytes(ReadAhead::LARGE_BYTES).binary_text(), ahead.command_to_set(ReadAhead::LARGE_BYTES));
        let larger = (ahead.bytes < ReadAhead::LARGE_BYTES).then(|| format!(", and {command} sets {large}"));
        format!(": the kernel reads ahead {bytes} for it{}", larger.unwrap_or_default())
    });
    let faster = remedy
        .map(|Remedy { name, speed_ratio: times }| format!("; under {name} it is {times:.1} times as fast"));
    format!("it asks for too little at a time{ahead}{}", faster.unwrap_or_default())
}

pub(super) fn short_read_ahead_words(ahead: &ReadAhead) -> String {
    let bytes = Bytes(ahead.bytes).binary_text();
    format!(
        "the kernel reads ahead {bytes} at a time, less than usual: {} sets it",
        ahead.command_to_set_default()
    )
}

/// The words `; the kernel fetched 2.5 times the bytes that were asked for`; empty unless clearly
/// more bytes came from the device than a reading of blocks requested.
fn fetched_words(facts: &TrialFacts) -> String {
    let times = facts.fetched_ratio;
    let words = times.map(|it| format!("; the kernel fetched {it:.1} times the bytes that were asked for"));
    words.unwrap_or_default()
}

/// The words `7.51 GB/s is 93 % of the 8.07 GB/s that rust/copy showed`; other words if the trial
/// exceeds the limit, or if the limit or the trial's rate is not known.
fn limit_words(kind: LimitKind, facts: &TrialFacts) -> String {
    // Of what readlab's own server reads, only the least rate is known.
    let device_rate = || facts.device_bytes.and(facts.device_rate);
    let own = if kind == LimitKind::Device { device_rate() } else { facts.rate };
    let (Some(LimitShare { limit, share, trial_rate: rate }), Some(_)) = (facts.limit(kind), own) else {
        return own.map_or_else(|| "at a rate that is not known".to_owned(), |it| Throughput(it).to_string());
    };
    let (name, value) = (&limit.name, float(limit.value));
    if share <= ABOVE_LIMIT_SHARE {
        // A trial that decodes copies other bytes than it delivers: the share shows which rate is
        // meant.
        let (rate, share) = (Throughput(share * value), percent(share));
        return format!("{rate} is {share} of the {} that {name} showed", Throughput(value));
    }
    let is_around = kind == LimitKind::Device && facts.fetched_ratio.is_some();
    let (is, pieces) =
        if is_around { ("is more than", " in smaller pieces") } else { ("cannot be told from", "") };
    format!("{} {is} the {} that {name} showed{pieces}", Throughput(rate), Throughput(value))
}

/// The words `; of its time 61 % copy, 20 % own code, 12 % waiting`; empty if the parts of the time
/// are not known.
fn time_share_words(facts: &TrialFacts) -> String {
    let Some(parts) = facts.parts else { return String::new() };
    let shown = parts.largest_first().into_iter().filter(|(_, share)| *share >= SHOWN_SHARE_MIN);
    let shown: Vec<String> =
        shown.map(|(part, share)| format!("{} {}", percent(share), time_part_word(part))).collect();
    let busy = facts.busy_processors.map(|it| format!(", {it:.2} processors busy")).unwrap_or_default();
    format!("; of its time {}{busy}", shown.join(", "))
}

/// The words `; it reaches 12 % of the memory limit`, for the nearest limit of any kind; empty if
/// there is none, or if the trial clearly exceeds it.
fn nearest_limit_words(facts: &TrialFacts) -> String {
    let near = facts.nearest().filter(|near| near.share <= ABOVE_LIMIT_SHARE);
    let words =
        |it: LimitShare| format!("; it reaches {} of the {} limit", percent(it.share), it.limit.kind.word());
    near.map(words).unwrap_or_default()
}

fn time_part_word(part: TimePart) -> &'static str {
    match part {
        TimePart::User => "own code",
        TimePart::Copy => "copy",
        TimePart::Faults => "page faults",
        TimePart::NewMemory => "new memory",
        TimePart::Opens => "opening files",
        TimePart::Kernel => "other kernel work",
        TimePart::Waiting => "waiting",
        TimePart::Queued => "waiting for a processor",
    }
}

/// What limits the trial, in two or three words.
pub(super) fn short_cause(judgement: &Diagnosis) -> String {
    let share = |word: &str| match (&judgement.limit, judgement.share_of_limit) {
        (Some(limit), Some(share)) if limit.kind.word() == word => format!("{word} {}", percent(share)),
        _ => word.to_owned(),
    };
    match &judgement.verdict {
        Verdict::Device { device_use: DeviceUse::Saturated } => share("device"),
        Verdict::Device { device_use: DeviceUse::SmallBlocks { .. } } => "small blocks".to_owned(),
        Verdict::Device { device_use: DeviceUse::Shallow { .. } } => "shallow depth".to_owned(),
        Verdict::Device { device_use: DeviceUse::ReadAhead { .. } } => "short read-ahead".to_owned(),
        Verdict::Device { device_use: DeviceUse::TooLittle { .. } } => "too little in flight".to_owned(),
        Verdict::Copy => share("copy"),
        Verdict::Memory => share("memory"),
        Verdict::Processing { faster_scan: Some(Remedy { speed_ratio: times, .. }) } => {
            format!("processing, {times:.1}× by scan")
        }
        Verdict::Processing { faster_scan: None } => "processing".to_owned(),
        Verdict::Latency => "latency".to_owned(),
        Verdict::Lock { .. } => "lock".to_owned(),
        Verdict::Scheduler { waiting_share: share, .. } => format!("scheduler {}", percent(*share)),
        Verdict::ProcessorQuota { used_share: Some(used), .. } => {
            format!("processor quota {}", percent(*used))
        }
        Verdict::ProcessorQuota { used_share: None, .. } => "processor quota".to_owned(),
        Verdict::IoQuota { quota_share: Some(share), .. } => format!("I/O quota {}", percent(*share)),
        Verdict::IoQuota { quota_share: None, .. } => "I/O quota".to_owned(),
        Verdict::ReadAhead { unrequested: UnrequestedBytes { amplification: times, .. } } => {
            format!("read-ahead, {times:.0}× the bytes")
        }
        Verdict::MemoryBound { reread_ratio: reread, .. } => {
            format!("memory bound, {} again", percent(*reread))
        }
        Verdict::Thrash { amplification, .. } => format!("thrash, {amplification:.0}× the bytes"),
        Verdict::Reclaim { reclaim_share: share, .. } => format!("reclaim {}", percent(*share)),
        Verdict::NewMemory { .. } => "new memory".to_owned(),
        Verdict::Processors { processor_share: share, .. } => format!("processors {}", percent(*share)),
        Verdict::Server { wait: ServerWait::FirstByte { share } } => {
            format!("first byte {}", percent(*share))
        }
        Verdict::Server { wait: ServerWait::Connection { connections, remedy } } => {
            format!("{}, {:.1}× by more", connections_words(*connections), remedy.speed_ratio)
        }
        Verdict::Server { wait: ServerWait::Link } => share("link"),
        Verdict::Server { wait: ServerWait::Server } => "server".to_owned(),
        Verdict::Server { wait: ServerWait::ServerOrNetwork } => "server or network".to_owned(),
        Verdict::Decoding => share("decoding"),
        Verdict::DecodingOrDevice { .. } => "decoding or device".to_owned(),
        Verdict::Faults => "faults".to_owned(),
        Verdict::Metadata => "metadata".to_owned(),
        Verdict::Mixed { shares } => match shares.first() {
            Some((part, share)) => format!("mixed, {} {}", percent(*share), time_part_word(*part)),
            None => "mixed".to_owned(),
        },
        Verdict::BeyondLimit { .. } => "limit not known".to_owned(),
        Verdict::Unknown { .. } => "unknown".to_owned(),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}
