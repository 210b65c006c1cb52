//! The turns of a session: readings with a clock around each timed one; samples are printed after
//! the last one of a turn.
//!
//! A runtime or a pool of threads belongs to the program, not to a reading: it is made before the
//! first window.

use crate::failure::Failure;
use crate::message::{self, Sample};
use crate::method::Reader;
use crate::request::Request;
use std::io::{self, BufRead};
use std::mem::MaybeUninit;
use std::time::Instant;

/// Takes turns until the end of the input.
pub(crate) fn serve(request: &Request) -> Result<(), Failure> {
    let mut reader = (request.method.open)(request)?;
    message::ready(&request.params)?;
    for line in io::stdin().lock().lines() {
        let (lead, count) = parse_turn(&line?)?;
        let samples = turn(&mut *reader, lead, count).map_err(|why| why.about(&request.path))?;
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

fn turn(reader: &mut dyn Reader, lead: u32, count: u32) -> Result<Vec<Sample>, Failure> {
    for _ in 0..lead {
        reader.read()?;
    }
    (0..count).map(|_| timed(reader)).collect()
}

fn timed(reader: &mut dyn Reader) -> Result<Sample, Failure> {
    let before = CpuTime::now()?;
    let start = Instant::now();
    let answer = reader.read()?;
    let end = Instant::now();
    let after = CpuTime::now()?;
    Ok(Sample {
        wall_ns: u64::try_from((end - start).as_nanos()).unwrap_or(u64::MAX),
        cpu_user_ns: after.user_ns.saturating_sub(before.user_ns),
        cpu_system_ns: after.system_ns.saturating_sub(before.system_ns),
        answer,
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
            return Err(io::Error::last_os_error().into());
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
