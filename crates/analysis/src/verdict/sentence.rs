//! The sentence of a verdict, with the numbers that it is based on.

use super::parts::{LimitShare, TimeShare, TrialFacts};
use super::{ABOVE_LIMIT, DeviceUse, Diagnosis, Remedy, ServerWait, Verdict};
use readlab_model::target::device::{IoQuota, ReadAhead};
use readlab_model::units::{Bytes, Throughput};
use readlab_record::LimitKind;

/// Smaller parts are not mentioned.
const SHARE_MIN: f64 = 0.05;

/// The verdict in one sentence.
pub(super) fn write(verdict: &Verdict, facts: &TrialFacts) -> String {
    let text = alone(verdict, facts);
    match &facts.cold_above {
        Some(cache) => format!("{text}; it is held against no device, for cold is cold above {cache}"),
        None => text,
    }
}

/// The same without what it says of a cache below.
fn alone(verdict: &Verdict, facts: &TrialFacts) -> String {
    match verdict {
        Verdict::Device { pace } => device(pace, facts),
        Verdict::Copy => format!(
            "stopped by the copy out of the page cache: {}{}",
            of_limit(LimitKind::Copy, facts),
            times(facts)
        ),
        Verdict::Memory => {
            format!("stopped by memory: {}{}", of_limit(LimitKind::Memory, facts), times(facts))
        }
        Verdict::Processing { lift } => {
            let remedy = lift.as_ref().map_or_else(
                || "; no other scan of this method was faster beyond doubt".to_owned(),
                |Remedy { name, times }| format!("; {name} is {times:.1} times as fast"),
            );
            format!("stopped by its own code{}{remedy}{}", times(facts), distance(facts))
        }
        Verdict::Latency => {
            format!("stopped by waiting, with an idle processor and an idle device{}", times(facts))
        }
        Verdict::Lock { alone: Remedy { name, times: faster } } => format!(
            "stopped by its threads, which wait for each other; {name} waits for nothing and is {faster:.1} times as fast{}",
            times(facts)
        ),
        Verdict::Scheduler { share, quota } => format!(
            "stopped by waiting for a processor, {} of its time: {}{}",
            percent(*share),
            quota.map_or_else(
                || "others use them".to_owned(),
                |quota| format!("others use them, or it has used its quota of {quota:.2}")
            ),
            times(facts)
        ),
        Verdict::ProcessorQuota { used, throttled } => processor_quota(*used, *throttled, facts),
        Verdict::IoQuota { quota, share } => io_quota(quota, *share, facts),
        Verdict::ReadAhead { times, is_mapped, remedy } => {
            read_ahead(*times, *is_mapped, remedy.as_ref(), facts)
        }
        Verdict::Processors { share, quota } => format!(
            "stopped by this machine's processors: it is at {} of what it gets of them{}{}",
            percent(*share),
            quota.map_or_else(String::new, |quota| format!(", a quota of {quota:.2}")),
            times(facts)
        ),
        Verdict::Server { wait } => server(wait, facts),
        Verdict::Decoding => decoding(facts),
        Verdict::DecodingOrDevice { busy } => decoding_or_device(*busy, facts),
        Verdict::Faults => format!("stopped by page faults{}{}", times(facts), distance(facts)),
        Verdict::NewMemory { reuse } => new_memory(reuse.as_ref(), facts),
        Verdict::Metadata => {
            format!("stopped by opening and closing files, not by their bytes{}", times(facts))
        }
        Verdict::Mixed { .. } => format!("no single thing stops it{}{}", times(facts), distance(facts)),
        Verdict::BeyondLimit { limit, name } => beyond(*limit, name, facts),
        Verdict::Unknown { why } => format!("what stops it is not known: {why}"),
    }
}

fn processor_quota(used: Option<f64>, throttled: f64, facts: &TrialFacts) -> String {
    let used = used.map_or_else(String::new, |used| format!("it uses {} of that, and ", percent(used)));
    format!(
        "stopped by its quota of processors: {used}the control groups were throttled for {} of its threads' time \
         (cpu.stat){}",
        percent(throttled),
        times(facts)
    )
}

fn read_ahead(factor: f64, is_mapped: bool, remedy: Option<&Remedy>, facts: &TrialFacts) -> String {
    let advice = if is_mapped { "madvise(MADV_RANDOM)" } else { "posix_fadvise(POSIX_FADV_RANDOM)" };
    let faster = remedy.map_or_else(String::new, |Remedy { name, times }| {
        format!("; {name}, which fetches less, is {times:.1} times as fast")
    });
    format!(
        "stopped by read-ahead that nobody asked for: {factor:.1} times the bytes of its reads come from the device; \
         {advice} turns it off{faster}{}",
        times(facts)
    )
}

fn new_memory(reuse: Option<&Remedy>, facts: &TrialFacts) -> String {
    let faster = reuse.map_or_else(String::new, |Remedy { name, times }| {
        format!(": {name} does, and is {times:.1} times as fast")
    });
    format!(
        "stopped by new memory: each reading makes its own buffer, whose pages the kernel finds, clears and maps; use \
         one buffer again{faster}{}",
        times(facts)
    )
}

/// Of a trial's own decoding beside the decoder alone; of a file system's beside the device.
fn decoding(facts: &TrialFacts) -> String {
    if facts.limit(LimitKind::Decoding).is_some() {
        return format!("stopped by decoding: {}{}", of_limit(LimitKind::Decoding, facts), times(facts));
    }
    let busy = facts
        .device_busy
        .map_or_else(String::new, |busy| format!(", with work for {} of the time", percent(busy.min(1.0))));
    format!(
        "stopped by decoding, by the file system: {}, and the device gives {}{busy}{}",
        stored(facts),
        of_limit(LimitKind::Device, facts),
        times(facts)
    )
}

/// The most that each of the two may take. The kernel decodes in the reading's own time or while
/// that waits.
fn decoding_or_device(busy: Option<f64>, facts: &TrialFacts) -> String {
    let decoding = facts.parts.map_or(1.0, |parts| parts.kernel + parts.waiting + parts.queued);
    let device = busy.map_or_else(
        || "it is not known how long the device had work".to_owned(),
        |busy| format!("the device had work for {} of the time", percent(busy)),
    );
    format!(
        "stopped by decoding, by the file system, or by the device, which nothing shows alone: {}; decoding takes {} of \
         the time at most, and {device}{}",
        stored(facts),
        percent(decoding),
        times(facts)
    )
}

/// How the file is stored that its file system decodes.
fn stored(facts: &TrialFacts) -> String {
    if facts.is_inflated {
        return "it stores the file in fewer bytes than it has".to_owned();
    }
    format!("{} of the file is stored encoded", percent(facts.encoded_share))
}

#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
fn io_quota(quota: &IoQuota, share: Option<f64>, facts: &TrialFacts) -> String {
    let IoQuota { device, setting, .. } = quota;
    let bytes = quota.bytes_per_s.map(|bytes| Throughput(bytes as f64).to_string());
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
    format!(
        "stopped by a quota of its control group, {used} the {granted} of {device} ({setting}){}",
        times(facts)
    )
}

/// `limit not known here: 1.03 GB/s is more than the 94.9 MB/s that rust/device showed`.
#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
fn beyond(kind: LimitKind, name: &str, facts: &TrialFacts) -> String {
    let rates = facts.limit(kind).map_or_else(
        || format!("it is faster than {name}"),
        |LimitShare { limit, rate, .. }| {
            let (rate, shown) = (Throughput(rate), Throughput(limit.value as f64));
            format!("{rate} is more than the {shown} that {name} showed")
        },
    );
    format!("limit not known here: {rates}, so that is no limit of the {}{}", kind.word(), times(facts))
}

fn server(wait: &ServerWait, facts: &TrialFacts) -> String {
    match wait {
        ServerWait::FirstByte { share } => format!(
            "stopped by waiting for the server's first byte, which takes {} of the time{}",
            percent(*share),
            times(facts)
        ),
        ServerWait::Connection { connections, remedy: Remedy { name, times: faster } } => format!(
            "stopped by what {} brings; with more, {name} is {faster:.1} times as fast{}",
            at_once(*connections),
            times(facts)
        ),
        ServerWait::Link => {
            format!("stopped by the link: {}{}", of_limit(LimitKind::Link, facts), times(facts))
        }
        ServerWait::Server => format!("stopped by waiting for the server{}", times(facts)),
        ServerWait::ServerOrNetwork => format!(
            "stopped by waiting for the server or the network before it, which look the same from here{}",
            times(facts)
        ),
    }
}

fn at_once(connections: u64) -> String {
    if connections == 1 { "one connection".to_owned() } else { format!("{connections} connections") }
}

fn device(pace: &DeviceUse, facts: &TrialFacts) -> String {
    let used = of_limit(LimitKind::Device, facts) + &around(facts);
    let remedy = |what: &str, Remedy { name, times }: &Remedy| {
        format!("waits for a device that has room: {used}; {what}: {name} is {times:.1} times as fast")
    };
    match pace {
        DeviceUse::Saturated => format!("stopped by the device: {used}"),
        DeviceUse::SmallBlocks { remedy: it } => remedy("its blocks are too small", it),
        DeviceUse::Shallow { remedy: it } => remedy("it has too few reads in flight", it),
        DeviceUse::ReadAhead { ahead } => {
            format!("waits for a device that has room: {used}; {}{}", short_read_ahead(ahead), times(facts))
        }
        DeviceUse::TooLittle => format!(
            "waits for a device that has room: {used}; it asks for too little at a time{}",
            times(facts)
        ),
    }
}

pub(super) fn short_read_ahead(ahead: &ReadAhead) -> String {
    let bytes = Bytes(ahead.bytes).binary();
    format!("the kernel reads ahead {bytes} at a time, less than usual: {} sets it", ahead.mend())
}

/// `; the kernel fetched 2.5 times the bytes that were asked for`.
fn around(facts: &TrialFacts) -> String {
    facts.fetched_times.map_or_else(String::new, |times| {
        format!("; the kernel fetched {times:.1} times the bytes that were asked for")
    })
}

/// `7.51 GB/s is 93 % of the 8.07 GB/s that rust/copy showed`.
#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
fn of_limit(kind: LimitKind, facts: &TrialFacts) -> String {
    let rate = if kind == LimitKind::Device { facts.device_rate } else { Some(facts.rate) };
    let is_around = kind == LimitKind::Device && facts.fetched_times.is_some();
    match (facts.limit(kind), rate) {
        (Some(LimitShare { limit, share, rate }), Some(_)) if share > ABOVE_LIMIT && is_around => format!(
            "{} is more than the {} that {} showed in smaller pieces",
            Throughput(rate),
            Throughput(limit.value as f64),
            limit.name
        ),
        (Some(LimitShare { limit, share, rate }), Some(_)) if share > ABOVE_LIMIT => format!(
            "{} cannot be told from the {} that {} showed",
            Throughput(rate),
            Throughput(limit.value as f64),
            limit.name
        ),
        // A trial that decodes copies other bytes than it delivers: the share shows which rate is
        // meant.
        (Some(LimitShare { limit, share, .. }), Some(_)) => format!(
            "{} is {} of the {} that {} showed",
            Throughput(share * limit.value as f64),
            percent(share),
            Throughput(limit.value as f64),
            limit.name
        ),
        (_, Some(rate)) => Throughput(rate).to_string(),
        (_, None) => "at a rate that is not known".to_owned(),
    }
}

/// `; of its time 61 % copy, 20 % own code, 12 % waiting`.
fn times(facts: &TrialFacts) -> String {
    let Some(parts) = facts.parts else { return String::new() };
    let shown = parts.largest_first().into_iter().filter(|(_, share)| *share >= SHARE_MIN);
    let shown: Vec<String> =
        shown.map(|(part, share)| format!("{} {}", percent(share), word(part))).collect();
    let busy = facts.busy.map_or_else(String::new, |busy| format!(", {busy:.2} processors busy"));
    format!("; of its time {}{busy}", shown.join(", "))
}

/// `; it reaches 12 % of the memory limit`.
fn distance(facts: &TrialFacts) -> String {
    facts.nearest().filter(|near| near.share <= ABOVE_LIMIT).map_or_else(
        String::new,
        |LimitShare { limit, share, .. }| {
            format!("; it reaches {} of the {} limit", percent(share), limit.kind.word())
        },
    )
}

fn word(part: TimeShare) -> &'static str {
    match part {
        TimeShare::User => "own code",
        TimeShare::Copy => "copy",
        TimeShare::Faults => "page faults",
        TimeShare::NewMemory => "new memory",
        TimeShare::Opens => "opening files",
        TimeShare::Kernel => "other kernel work",
        TimeShare::Waiting => "waiting",
        TimeShare::Queued => "waiting for a processor",
    }
}

/// What stops it in two or three words.
pub(super) fn stops_at(judgement: &Diagnosis) -> String {
    let share = |word: &str| match (&judgement.limit, judgement.share_of_limit) {
        (Some(limit), Some(share)) if limit.kind.word() == word => format!("{word} {}", percent(share)),
        _ => word.to_owned(),
    };
    match &judgement.verdict {
        Verdict::Device { pace: DeviceUse::Saturated } => share("device"),
        Verdict::Device { pace: DeviceUse::SmallBlocks { .. } } => "small blocks".to_owned(),
        Verdict::Device { pace: DeviceUse::Shallow { .. } } => "shallow depth".to_owned(),
        Verdict::Device { pace: DeviceUse::ReadAhead { .. } } => "short read-ahead".to_owned(),
        Verdict::Device { pace: DeviceUse::TooLittle } => "too little in flight".to_owned(),
        Verdict::Copy => share("copy"),
        Verdict::Memory => share("memory"),
        Verdict::Processing { lift: Some(Remedy { times, .. }) } => {
            format!("processing, {times:.1}× by scan")
        }
        Verdict::Processing { lift: None } => "processing".to_owned(),
        Verdict::Latency => "latency".to_owned(),
        Verdict::Lock { .. } => "lock".to_owned(),
        Verdict::Scheduler { share, .. } => format!("scheduler {}", percent(*share)),
        Verdict::ProcessorQuota { used: Some(used), .. } => format!("processor quota {}", percent(*used)),
        Verdict::ProcessorQuota { used: None, .. } => "processor quota".to_owned(),
        Verdict::IoQuota { share: Some(share), .. } => format!("I/O quota {}", percent(*share)),
        Verdict::IoQuota { share: None, .. } => "I/O quota".to_owned(),
        Verdict::ReadAhead { times, .. } => format!("read-ahead, {times:.0}× the bytes"),
        Verdict::NewMemory { .. } => "new memory".to_owned(),
        Verdict::Processors { share, .. } => format!("processors {}", percent(*share)),
        Verdict::Server { wait: ServerWait::FirstByte { share } } => {
            format!("first byte {}", percent(*share))
        }
        Verdict::Server { wait: ServerWait::Connection { connections, remedy } } => {
            format!("{}, {:.1}× by more", at_once(*connections), remedy.times)
        }
        Verdict::Server { wait: ServerWait::Link } => share("link"),
        Verdict::Server { wait: ServerWait::Server } => "server".to_owned(),
        Verdict::Server { wait: ServerWait::ServerOrNetwork } => "server or network".to_owned(),
        Verdict::Decoding => share("decoding"),
        Verdict::DecodingOrDevice { .. } => "decoding or device".to_owned(),
        Verdict::Faults => "faults".to_owned(),
        Verdict::Metadata => "metadata".to_owned(),
        Verdict::Mixed { shares } => match shares.first() {
            Some((part, share)) => format!("mixed, {} {}", percent(*share), word(*part)),
            None => "mixed".to_owned(),
        },
        Verdict::BeyondLimit { .. } => "limit not known".to_owned(),
        Verdict::Unknown { .. } => "unknown".to_owned(),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}
