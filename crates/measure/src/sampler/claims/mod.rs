//! Checks a contender's claims against the kernel and the turn: its CPU time and memory against the
//! kernel's counts of the same turn, and its single reads against the reads of the turn.
//! [`crate::round`] judges over many turns whether windows fit the turn.

use super::observed_turn::MeteredTurn;
use crate::interface::Slot;
use crate::meters::tick_ns;
use readlab_model::sample::RequestMeters;
use readlab_model::target::places::BlockReads;
use readlab_protocol::SampleLine;
use readlab_record::{Line, Trial};
use readlab_roster::session::Turn;
use readlab_system::machine::memory::MachineMemory;

/// Divisor of the kernel's count of CPU time. A claim may exceed the count by the quotient and two
/// clock ticks, because some kernels update the CPU time of a running thread only at ticks.
const CPU_SLACK_DIVISOR: u64 = 100;

/// A claimed CPU time may be this many times smaller than the kernel's count for the readings:
/// garbage collection, reading a command's output and similar work happen outside of windows.
const CPU_UNDERSTATED_FACTOR: u64 = 4;

/// Tolerance of high-water marks, because the kernel counts them in batches and shows them in KiB.
const PEAK_SLACK_BYTES: u64 = 4 << 20;

/// Divisor of a window. A single read may seem longer than its window by the quotient, because
/// histogram values are rounded up.
const ROUNDING_DIVISOR: u64 = 50;

/// Why the claims of a turn cannot be true; `None` if they can.
pub(super) fn refute_claims(turn: &MeteredTurn) -> Option<String> {
    why_cpu_too_much(turn)
        .or_else(|| why_cpu_too_little(turn))
        .or_else(|| why_peak_impossible(turn))
        .or_else(|| why_requests_impossible(turn))
}

/// Why claims about requests cannot be true: a part of the time is longer than the window, or there
/// are at least as many retries as requests. `None` if they can be true.
fn why_requests_impossible(turn: &MeteredTurn) -> Option<String> {
    turn.answer.samples.iter().find_map(|line| {
        let meters = RequestMeters::from(line);
        if let Some((name, ns)) = meters.phase_longer_than(line.wall_ns) {
            return Some(format!("it claims {name} of {ns} in a window of {} ns", line.wall_ns));
        }
        let (requests, retries) = (meters.requests?, meters.retries?);
        (retries >= requests && retries > 0)
            .then(|| format!("it claims {retries} repeated requests among {requests}"))
    })
}

fn claimed_cpu_ns(turn: &MeteredTurn) -> Option<u64> {
    let of = |line: &SampleLine| match (line.cpu_user_ns, line.cpu_system_ns) {
        (None, None) => None,
        (user, system) => Some(user.unwrap_or(0).saturating_add(system.unwrap_or(0))),
    };
    turn.answer.samples.iter().filter_map(of).reduce(u64::saturating_add)
}

fn why_cpu_too_much(turn: &MeteredTurn) -> Option<String> {
    let claimed_ns = claimed_cpu_ns(turn)?;
    // If the kernel's count is missing, the time of all processors together is the limit.
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let (counted_ns, who) = match turn.metered.whole_turn.cpu_ns {
        Ok(ns) => (ns, "the kernel counted"),
        Err(_) => (turn.answer.lab_wall_ns.saturating_mul(processors), "all processors together had"),
    };
    let slack_ns = 2 * tick_ns() + turn.metered.whole_turn.cpu_error_ns + counted_ns / CPU_SLACK_DIVISOR;
    (claimed_ns > counted_ns.saturating_add(slack_ns))
        .then(|| format!("it claims {claimed_ns} ns of CPU time in a turn for which {who} {counted_ns} ns"))
}

fn why_cpu_too_little(turn: &MeteredTurn) -> Option<String> {
    let (claimed_ns, counted_ns) = (claimed_cpu_ns(turn)?, *turn.metered.whole_turn.cpu_ns.as_ref().ok()?);
    let of_readings_ns = counted_ns / turn.reading_count().max(1) * u64::from(turn.request.count);
    let slack_ns = 2 * tick_ns() + turn.metered.whole_turn.cpu_error_ns;
    let least_ns = (of_readings_ns / CPU_UNDERSTATED_FACTOR).saturating_sub(slack_ns);
    (claimed_ns < least_ns).then(|| {
        format!("it claims {claimed_ns} ns of CPU time in readings for which the kernel counted {of_readings_ns} ns")
    })
}

fn why_peak_impossible(turn: &MeteredTurn) -> Option<String> {
    let claimed = turn.answer.samples.iter().filter_map(|line| line.peak_rss_bytes).max()?;
    let (most, whose) = match turn.metered.peak_rss_bytes {
        // The contender ran no other program, so this peak is its own.
        Ok(own) if turn.metered.whole_turn.was_alone => {
            (own.saturating_add(PEAK_SLACK_BYTES), "the kernel's high-water mark was")
        }
        _ => (MachineMemory::read().total_bytes, "this machine has"),
    };
    let impossible = claimed > most && most > 0;
    impossible.then(|| format!("it claims a peak of {claimed} bytes of memory where {whose} {most} bytes"))
}

/// Why the latencies of single reads cannot be true; `None` if they can, or if none were reported.
pub(super) fn refute_latencies(turn: &Turn, blocks: Option<BlockReads>) -> Option<String> {
    let counts = turn.latencies.as_ref()?.counts();
    let counted: u64 = counts.iter().map(|count| count.read_count).sum();
    let reads = blocks.map_or(0, |blocks| blocks.read_count) * turn.samples.len() as u64;
    if counted != reads {
        return Some(format!("its latencies are of {counted} reads, and it read {reads} blocks"));
    }
    let untimed: u64 =
        counts.iter().filter(|count| count.latency_ns == 0).map(|count| count.read_count).sum();
    if untimed > 0 {
        return Some(format!("{untimed} of its {counted} reads took 0 ns, which no read does"));
    }
    let longest_ns = counts.last().map_or(0, |count| count.latency_ns);
    let window_ns = turn.samples.iter().map(|sample| sample.wall_ns).max().unwrap_or(0);
    (longest_ns > window_ns + window_ns / ROUNDING_DIVISOR)
        .then(|| format!("its longest read took {longest_ns} ns, in a window of {window_ns} ns"))
}

/// Why the number of bytes that the reads claim to have requested cannot be true: it is less than
/// the number of different bytes in the blocks, or no blocks are read. `None` if it can be true, or
/// if none was reported.
pub(super) fn refute_read_bytes(turn: &Turn, useful_bytes: Option<u64>) -> Option<String> {
    let claimed = turn.samples.iter().filter_map(|sample| sample.read_bytes).min()?;
    match useful_bytes {
        Some(useful) if claimed < useful => {
            Some(format!("it says that its reads asked for {claimed} bytes, and the blocks have {useful}"))
        }
        Some(_) => None,
        None => Some("it says what its reads asked for, and no places are read".to_owned()),
    }
}

/// Latencies of single reads as lines of the record, one line for each reader. Reads of a search
/// and of controls are not reported.
pub(super) fn latency_lines(trial: &Trial, slot: &Slot, turns: &[MeteredTurn]) -> Vec<Line> {
    let is_reported = slot.rung.is_none() && !trial.is_control();
    let reported = turns.iter().filter(|_| is_reported).filter_map(|turn| turn.answer.latencies.clone());
    let line =
        |histogram| Line::Latencies { trial: trial.index, fill: slot.fill, round: slot.round, histogram };
    reported.map(line).collect()
}

#[cfg(test)]
mod tests;
