//! Limits that no trial measures: fio's read rate of the device, for comparison, if fio is
//! installed; and the speed of the network interface on the way to a server, as its driver reports
//! it.
//!
//! Readlab's own limits are controls of a plan, measured in the same rounds as the other trials;
//! [`readlab_analysis::verdict::limits`] interprets their samples.

use anyhow::{Context, anyhow, bail, ensure};
use readlab_model::target::TargetIndex;
use readlab_model::units::Bytes;
use readlab_record::{Limit, LimitKind, LimitUnit};
use readlab_system::interface;
use readlab_system::program::{self, CommandLine, ProgramError};
use readlab_targets::target::http::RequestVerb;
use readlab_targets::target::web::RemoteTarget;
use serde_json::{Deserializer, Value};
use std::ffi::OsString;
use std::io::{self, Read, Seek};
use std::net::ToSocketAddrs;
use std::path::Path;
use std::time::Duration;

/// Number of readings by fio. The median is recorded.
const FIO_READINGS: usize = 3;

/// The shortest time of a reading that shows a rate: fio's start and end alone take tenths of a
/// second.
const FIO_READING_TIME_MIN: Duration = Duration::from_millis(500);

/// The longest time of a reading by fio, which reads only a part of a larger file.
const FIO_READING_TIME_MAX: Duration = Duration::from_secs(60);

/// The time that fio may take beyond its reading before it is stopped: fio would wait forever for a
/// device that does not answer.
const FIO_EXTRA_TIME_MAX: Duration = Duration::from_secs(5);

/// The block size and the queue depth with which fio reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct FioJob {
    pub(super) block_bytes: u64,
    /// Number of reads in flight.
    pub(super) queue_depth: u64,
}

/// Fio's median read rate with this block size and queue depth: sequential reads through io_uring
/// with O_DIRECT, of a file that is opened read-only. If `time` is too short for whole readings,
/// each reading ends early.
pub(super) fn measure_fio_limit(
    path: &Path,
    target: TargetIndex,
    point: FioJob,
    time: Option<Duration>,
) -> anyhow::Result<Limit> {
    let each = time.map(|time| time / FIO_READINGS as u32);
    let is_too_short = each.is_some_and(|each| each < FIO_READING_TIME_MIN);
    ensure!(!is_too_short, "the time for the whole run was used up");
    // Fio's own start and end belong to the time of each reading.
    let reading = each.map_or(FIO_READING_TIME_MAX, |each| each - FIO_READING_TIME_MIN / 2);
    let FioJob { block_bytes, queue_depth } = point;
    let rates = (0..FIO_READINGS).map(|_| measure_rate_once(path, point, reading));
    let samples = rates.collect::<anyhow::Result<Vec<u64>>>()?;
    let mut sorted = samples.clone();
    sorted.sort_unstable();
    let name = format!("fio@buffer={},depth={queue_depth}", Bytes(block_bytes).exact_text());
    let how = "fio: io_uring, O_DIRECT, sequential; its own rate, after our rounds";
    Ok(Limit {
        value: sorted[FIO_READINGS / 2],
        samples,
        ..limit_without_rate(LimitKind::Device, name, target, how)
    })
}

/// A limit whose rate is not known yet.
fn limit_without_rate(kind: LimitKind, name: String, target: TargetIndex, how: &str) -> Limit {
    Limit {
        kind,
        name,
        target,
        state: None,
        trial: None,
        threads: 1,
        unit: LimitUnit::BytesPerSecond,
        value: 0,
        ci95: None,
        samples: Vec::new(),
        how_measured: how.to_owned(),
    }
}

/// Reads the whole file once, or as much as the time allows; returns bytes per second.
fn measure_rate_once(path: &Path, point: FioJob, time: Duration) -> anyhow::Result<u64> {
    let FioJob { block_bytes, queue_depth } = point;
    let fixed = ["--name=readlab", "--readonly", "--rw=read", "--direct=1", "--ioengine=io_uring"];
    let fixed = fixed.into_iter().chain(["--output-format=json", "--allow_file_create=0"]);
    // Fio separates file names by colons.
    let name = path.to_string_lossy().replace(':', "\\:");
    let set = [
        format!("--bs={block_bytes}"),
        format!("--iodepth={queue_depth}"),
        format!("--filename={name}"),
        format!("--runtime={}ms", time.as_millis()),
    ];
    let args = fixed.map(OsString::from).chain(set.map(OsString::from)).collect();
    let line = CommandLine { program: "fio".into(), args, ..CommandLine::default() };
    let not_started = |cause: io::Error| anyhow!("fio cannot be started: {cause}");
    let mut printed = tempfile::tempfile().map_err(not_started)?;
    let ended = program::run_to_end(&line, Path::new("."), &printed, time + FIO_EXTRA_TIME_MAX);
    let status = ended.map_err(|error| match error {
        ProgramError::Io(cause) => not_started(cause),
        error => anyhow!("fio: {error}"),
    })?;
    if !status.success() {
        let last = program::last_line(printed);
        bail!("fio: {}", last.as_deref().unwrap_or("it failed in silence"));
    }
    let mut said = Vec::new();
    let read = printed.rewind().and_then(|()| printed.read_to_end(&mut said));
    read.map_err(|cause| anyhow!("fio: {}", ProgramError::Io(cause)))?;
    parse_read_rate(&String::from_utf8_lossy(&said))
}

/// The read rate of the first job in fio's JSON, which other messages may precede and follow.
fn parse_read_rate(said: &str) -> anyhow::Result<u64> {
    let no_rate = |why: &str| anyhow!("fio's output has no read rate: {why}");
    let start = said.find('{').ok_or_else(|| no_rate("no JSON"))?;
    let first = Deserializer::from_str(&said[start..]).into_iter::<Value>().next();
    let value = first.transpose().map_err(|error| no_rate(&error.to_string()))?.unwrap_or_default();
    let rate = value["jobs"][0]["read"]["bw_bytes"].as_u64();
    rate.filter(|rate| *rate > 0).ok_or_else(|| no_rate("no jobs[0].read.bw_bytes"))
}

/// The limit that the speed of the link sets; `None` for a server on this machine, which is reached
/// without a link.
pub(super) fn link_limit(remote: &RemoteTarget, target: TargetIndex) -> anyhow::Result<Option<Limit>> {
    let url = remote.source.url(RequestVerb::Head)?;
    let address = url.address().to_socket_addrs()?.next().context("its server has no address")?;
    let found = interface::on_route_to(address)?;
    if found.is_loopback {
        return Ok(None);
    }
    let bits_per_s = found.bits_per_s.with_context(|| {
        format!(
            "nothing says how fast {} is: its driver does not know, as those of virtual machines, or no device is \
             behind it, as in containers",
            found.name
        )
    })?;
    let how = "the speed that the driver of the interface says, not measured";
    let of_link = limit_without_rate(LimitKind::Link, found.name, target, how);
    let value = bits_per_s / 8;
    Ok(Some(Limit { value, samples: vec![value], ..of_link }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_time_fio_is_not_started() {
        let point = FioJob { block_bytes: 4096, queue_depth: 1 };
        let found = measure_fio_limit(
            Path::new("/no/such/file"),
            TargetIndex::new(0),
            point,
            Some(Duration::from_secs(1)),
        );
        assert_eq!(found.unwrap_err().to_string(), "the time for the whole run was used up");
    }

    #[test]
    fn the_read_rate_is_found_behind_messages_and_its_absence_is_reported() {
        let said = "note: both iodepth >= 1\n{\"jobs\":[{\"read\":{\"bw_bytes\":2300000000}}]}\nfio: note\n";
        assert_eq!(parse_read_rate(said).unwrap(), 2_300_000_000);
        for wrong in ["", "{}", "{\"jobs\":[]}", "{\"jobs\":[{\"read\":{\"bw_bytes\":0}}]}"] {
            assert!(parse_read_rate(wrong).is_err(), "{wrong}");
        }
    }
}
