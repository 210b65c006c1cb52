//! The turns of a session: readings with a clock around each timed one; samples are printed after
//! the last one of a turn.
//!
//! Tokio's runtime is the usual one of several threads. The connections' tasks decrypt and receive
//! on other processors, while the task that reads visits what has arrived. The runtime belongs to
//! the program, not to a reading: it is made before the first window.

use crate::failure::Failure;
use crate::message::{self, Sample};
use crate::method::Reader;
use crate::request::Request;
use std::io::{self, BufRead};
use std::mem::MaybeUninit;
use std::time::Instant;
use tokio::runtime::{Builder, Runtime};

/// Takes turns until the end of the input.
pub(crate) fn serve(request: Request) -> Result<(), Failure> {
    let runtime =
        Builder::new_multi_thread().enable_all().build().map_err(|error| Failure::from_error(&error))?;
    // A client that is kept starts its tasks in the runtime.
    let entered = runtime.enter();
    let about = |why: Failure| why.about(request.shown());
    let reader = (request.method.open)(&request).map_err(about)?;
    drop(entered);
    message::ready(&request.params)?;
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| Failure::from_error(&error))?;
        let (lead, count) = parse_turn(&line)?;
        let samples = turn(&runtime, &*reader, lead, count).map_err(about)?;
        message::turn(&samples)?;
    }
    Ok(())
}

/// LEAD and COUNT of a turn.
fn parse_turn(line: &str) -> Result<(u32, u32), Failure> {
    let words = line.strip_prefix("go ").and_then(|words| words.split_once(' '));
    let digits = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?;
    match words.and_then(|(lead, count)| digits(lead).zip(digits(count))) {
        Some((lead, count)) if count > 0 => Ok((lead, count)),
        _ => Err(Failure::new(format!("expected `go LEAD COUNT` with COUNT above 0, got {line:?}"))),
    }
}

fn turn(runtime: &Runtime, reader: &dyn Reader, lead: u32, count: u32) -> Result<Vec<Sample>, Failure> {
    for _ in 0..lead {
        runtime.block_on(reader.read())?;
    }
    (0..count).map(|_| timed(runtime, reader)).collect()
}

fn timed(runtime: &Runtime, reader: &dyn Reader) -> Result<Sample, Failure> {
    let before = CpuTime::now()?;
    let start = Instant::now();
    let reading = runtime.block_on(reader.read())?;
    let end = Instant::now();
    let after = CpuTime::now()?;
    let until = |instant: Instant| u64::try_from((instant - start).as_nanos()).unwrap_or(u64::MAX);
    Ok(Sample {
        wall_ns: until(end),
        cpu_user_ns: after.user_ns.saturating_sub(before.user_ns),
        cpu_system_ns: after.system_ns.saturating_sub(before.system_ns),
        first_byte_ns: reading.tally.first_byte.map(until),
        requests: reading.requests,
        retries: reading.retries,
        answer: reading.tally.answer(),
    })
}

/// CPU time of all threads of this process so far.
struct CpuTime {
    user_ns: u64,
    system_ns: u64,
}

impl CpuTime {
    fn now() -> Result<CpuTime, Failure> {
        let mut usage = MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: the pointer is valid for writing one `rusage`.
        if unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) } != 0 {
            return Err(Failure::from_error(&io::Error::last_os_error()));
        }
        // SAFETY: the call has filled it in.
        let usage = unsafe { usage.assume_init() };
        Ok(CpuTime { user_ns: nanoseconds(usage.ru_utime), system_ns: nanoseconds(usage.ru_stime) })
    }
}

fn nanoseconds(time: libc::timeval) -> u64 {
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_usec.cast_unsigned() * 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_has_a_count() {
        assert_eq!(parse_turn("go 0 1").ok(), Some((0, 1)));
        assert_eq!(parse_turn("go 3 16").ok(), Some((3, 16)));
        for bad in ["", "stop", "go 0 0", "go 1", "go +1 1", "go 1 1 1", "go 4294967296 1", "go  1"] {
            assert!(parse_turn(bad).is_err(), "{bad}");
        }
    }
}
