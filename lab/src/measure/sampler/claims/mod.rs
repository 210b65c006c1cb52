//! What a contender claims of its CPU time and its memory, held against what the kernel counted of
//! the same turn. That its windows fit the turn is judged over many turns, by
//! [`crate::measure::round`].

use crate::contender::session::Turn;
use crate::machine::memory::Memory;
use crate::measure::meters::{Metered, tick_ns};
use readlab_protocol::{SampleLine, TurnRequest};

/// A claim may exceed the kernel's count by two clock ticks, and by one part in so many: on some
/// kernels the CPU time of a thread that runs is brought up to date by ticks only.
const SLACK_PARTS: u64 = 100;

/// A claim may be so many times below the kernel's count of the readings' part: collecting garbage,
/// draining a command's output and the like lie outside of windows.
const BELOW_FACTOR: u64 = 4;

/// High-water marks are read in KiB and counted in batches by the kernel.
const PEAK_SLACK_BYTES: u64 = 4 << 20;

/// Why what was claimed in a turn cannot be true; `None` where it can.
pub(super) fn refuted(ask: TurnRequest, turn: &Turn, metered: &Metered) -> Option<String> {
    too_much_cpu(turn, metered).or_else(|| too_little_cpu(ask, turn, metered)).or_else(|| peak(turn, metered))
}

/// The CPU time claimed in a turn; `None` where none was.
fn claimed_cpu_ns(turn: &Turn) -> Option<u64> {
    let of = |line: &SampleLine| match (line.cpu_user_ns, line.cpu_system_ns) {
        (None, None) => None,
        (user, system) => Some(user.unwrap_or(0).saturating_add(system.unwrap_or(0))),
    };
    turn.samples.iter().filter_map(of).reduce(u64::saturating_add)
}

fn too_much_cpu(turn: &Turn, metered: &Metered) -> Option<String> {
    let claimed_ns = claimed_cpu_ns(turn)?;
    // Where the kernel does not tell, no more than all processors can have worked.
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let (counted_ns, who) = match metered.whole.cpu_ns {
        Ok(ns) => (ns, "the kernel counted"),
        Err(_) => (turn.seen_ns.saturating_mul(processors), "all processors together had"),
    };
    let slack_ns = 2 * tick_ns() + metered.whole.cpu_error_ns + counted_ns / SLACK_PARTS;
    (claimed_ns > counted_ns.saturating_add(slack_ns))
        .then(|| format!("it claims {claimed_ns} ns of CPU time in a turn for which {who} {counted_ns} ns"))
}

fn too_little_cpu(ask: TurnRequest, turn: &Turn, metered: &Metered) -> Option<String> {
    let (claimed_ns, counted_ns) = (claimed_cpu_ns(turn)?, *metered.whole.cpu_ns.as_ref().ok()?);
    let readings = u64::from(ask.lead) + u64::from(ask.count);
    let of_readings_ns = counted_ns / readings.max(1) * u64::from(ask.count);
    let slack_ns = 2 * tick_ns() + metered.whole.cpu_error_ns;
    let least_ns = (of_readings_ns / BELOW_FACTOR).saturating_sub(slack_ns);
    (claimed_ns < least_ns).then(|| {
        format!("it claims {claimed_ns} ns of CPU time in readings for which the kernel counted {of_readings_ns} ns")
    })
}

fn peak(turn: &Turn, metered: &Metered) -> Option<String> {
    let claimed = turn.samples.iter().filter_map(|line| line.peak_rss_bytes).max()?;
    let (most, who) = match metered.peak_rss_bytes {
        // It ran no other program whose peak this could be.
        Ok(own) if metered.whole.alone => {
            (own.saturating_add(PEAK_SLACK_BYTES), "the kernel's high-water mark was")
        }
        _ => (Memory::read().total_bytes, "this machine has"),
    };
    let impossible = claimed > most && most > 0;
    impossible.then(|| format!("it claims a peak of {claimed} bytes of memory where {who} {most} bytes"))
}

#[cfg(test)]
mod tests;
